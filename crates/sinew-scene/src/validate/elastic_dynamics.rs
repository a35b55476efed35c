//! Elastic bodies in motion: frequencies, waves, spin (E11, E12, E18).

use super::soft_tools::{FOUR_LINEAR, FOUR_NEO, Kind, Rig, Stuff, TEN, TEN_NEO, cells, dynamics, plane, statics};
use super::tools::{cross, distance, num, turn, vec3, wide};
use super::{Case, Reading, Readings};
use sinew::{Error, SoftBody, Vec3};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

const MODES: &str = "Natural frequencies of a cantilever";
const WAVES: &str = "Wave speeds";
const SPIN: &str = "Rotation invariance and spinning bar";

const LOCKED: &str = "four-node tetrahedra lock in bending: 24x4x4 cells are 40% too stiff; ten-node ones are not";
const THIN: &str =
    "one cell across is too few points (3% free, 19% held); perhaps the half neighbourhood of surface points";

/// E11, E12, E18.
pub const CASES: &[Case] = &[
    Case::elastic("E11", MODES, "corotational", || e11(Kind::Fast, [24, 4, 4])).known(LOCKED),
    Case::elastic("E11", MODES, "solid tet10 corotational", || e11(TEN, [10, 1, 1])),
    Case::elastic("E11", MODES, "solid tet10 neo-hookean", || e11(TEN_NEO, [10, 1, 1])),
    Case::elastic("E12", WAVES, "corotational", || e12(Kind::Fast)),
    Case::elastic("E12", WAVES, "solid tet4 neo-hookean", || e12(FOUR_NEO)),
    Case::elastic("E12", WAVES, "springs", || e12(Kind::Springs)),
    Case::elastic("E12", WAVES, "meshless", || e12(Kind::Meshless)).known(THIN),
    Case::elastic("E18", SPIN, "corotational", || e18(Kind::Fast)),
    Case::elastic("E18", SPIN, "solid tet4 neo-hookean", || e18(FOUR_NEO)),
    Case::elastic("E18", SPIN, "springs", || e18(Kind::Springs)),
    Case::elastic("E18", SPIN, "pbd", || e18_rest(Kind::Pbd)),
    Case::elastic("E18", SPIN, "shape-matching", || e18_rest(Kind::Shape)),
    Case::elastic("E18", SPIN, "meshless", || e18_rest(Kind::Meshless)),
    Case::elastic("E18", SPIN, "solid tet4 linear", e18_linear),
];

/// Mode of a clamped beam of length one, and its β.
fn shape(beta: f64, x: f64) -> f64 {
    let ratio = (beta.cosh() + beta.cos()) / (beta.sinh() + beta.sin());
    let b = beta * x;
    b.cosh() - b.cos() - ratio * (b.sinh() - b.sin())
}

fn e11(kind: Kind, count: [u32; 3]) -> Readings {
    let right = [
        ("f1 Timoshenko", 1.875_104, 0.506_874_4, 0.02, 4e-3),
        ("f2 Timoshenko", 4.694_091, 3.039_810_3, 0.03, 1e-3),
        ("f3 Timoshenko", 7.854_757, 8.001_612_9, 0.05, 5e-4),
    ];
    let mut readings = Vec::new();
    for (name, beta, f, tolerance, dt) in right {
        let mut rig = free_to_swing(kind, count, dt)?;
        let mode = |p: Vec3| shape(beta, num(p.x) + 0.5);
        rig.kick(Vec3::Y, |p| 0.01 * TAU * f * mode(p))?;
        let track = rig.follow(2.1 / f, Vec3::Y, mode)?;
        readings.push(Reading::relative(name, 1.0 / track.period(), f, tolerance));
    }
    Ok(readings)
}

/// The beam of the cases without damping.
fn free_to_swing(kind: Kind, count: [u32; 3], dt: f64) -> Result<Rig, Error> {
    let stuff = Stuff { e: 1e6, nu: 0.3, rho: 1000.0 };
    let held = |b: SoftBody| b.pin_region([-0.501, -1.0, -1.0], [-0.499, 1.0, 1.0]);
    Rig::new(dynamics(dt), kind, cells(count, [1.0, 0.1, 0.1])?, stuff, held)
}

fn e12(kind: Kind) -> Readings {
    let stuff = Stuff { e: 1e6, nu: 0.3, rho: 1000.0 };
    let frequency = |held: bool| -> Result<f64, Error> {
        let pin = |b: SoftBody| if held { b.pin_region([-0.501, -1.0, -1.0], [-0.499, 1.0, 1.0]) } else { b };
        let mesh = cells([20, 1, 1], [1.0, 0.1, 0.1])?;
        let mut rig = Rig::new(dynamics(2e-4), kind, mesh, stuff, pin)?;
        let mode = |p: Vec3| {
            let x = num(p.x) + 0.5;
            if held { (FRAC_PI_2 * x).sin() } else { (PI * x).cos() }
        };
        rig.kick(Vec3::X, |p| 0.1 * mode(p))?;
        Ok(1.0 / rig.follow(0.3, Vec3::X, mode)?.period())
    };
    let (fixed, free) = (frequency(true)?, frequency(false)?);
    Ok(vec![
        Reading::relative("c0 bar", 2.0 * free, 31.622_777, 0.02),
        Reading::relative("f fixed-free", fixed, 7.905_694, 0.02),
        Reading::relative("f free-free", free, 15.811_388, 0.02),
    ])
}

fn e18(kind: Kind) -> Readings {
    let stuff = Stuff { e: 1e6, nu: 0.3, rho: 1000.0 };
    let size = [1.0, 0.1, 0.1];
    let mut worst = 0.0f64;
    for (axis, angle) in [(Vec3::Z, FRAC_PI_2), (vec3(0.6, 0.0, 0.8), 2.0)] {
        let turned = |b: SoftBody| b.turned(turn(axis, angle));
        let rig = Rig::new(dynamics(1e-3), kind, cells([10, 1, 1], size)?, stuff, turned)?;
        let forces = rig.world.elastic(rig.id)?.forces().unwrap_or_default();
        worst = forces.iter().map(|f| num(f.length())).fold(worst, f64::max);
    }
    // spun, with its stretching damped; two turns to settle, then ten to keep. Backward Euler adds a stretch of the order
    // of spin² times step times (step + damping time): both are small
    let turns = |count: f64| (count * TAU / 5.0 * 2000.0) as u32;
    let mesh = cells([10, 1, 1], size)?;
    let corners = kind.corners(&mesh);
    let body = kind.damped(mesh, stuff, 1e-3).spin([0.0, 0.0, 5.0]);
    let mut rig = Rig::of(dynamics(5e-4), body, corners)?;
    rig.steps(turns(2.0));
    let settled = spin(&rig)?;
    // to the spin of the list: it fell a little when the bar grew longer
    let longer = (distance(end(&rig, -0.5)?, end(&rig, 0.5)?) - 1.0) * (5.0 / settled).powi(2);
    rig.steps(turns(10.0));
    Ok(vec![
        Reading::at_most("|f| at rest, any rotation", worst, 1e-6 * 1e6 * 0.01),
        Reading::relative("elongation", longer, 0.002_083_333, 0.03),
        Reading::relative("spin rate after 10 turns", spin(&rig)?, settled, 0.01),
    ])
}

/// A turned body stays as it is: for models with goals instead of forces, and those that do not claim the stretch.
fn e18_rest(kind: Kind) -> Readings {
    let stuff = Stuff { e: 1e6, nu: 0.3, rho: 1000.0 };
    let turned = |b: SoftBody| b.turned(turn(vec3(0.6, 0.0, 0.8), 2.0));
    let mut rig = Rig::new(dynamics(1.0 / 60.0), kind, cells([10, 1, 1], [1.0, 0.1, 0.1])?, stuff, turned)?;
    rig.steps(60);
    let x = rig.world.body(rig.id)?.node_positions();
    let most = x.iter().zip(&rig.rest).map(|(x, rest)| num((*x - *rest).length())).fold(0.0, f64::max);
    // a force of 1e-6 E A on the whole bar of 10 kg is 1 mm/s²
    Ok(vec![Reading::at_most("moved within 1 s, turned at rest", most, 5e-4)])
}

/// Mean place of an end.
fn end(rig: &Rig, x: f64) -> Result<[f64; 3], Error> {
    let moved = rig.moved(plane(0, x))?;
    Ok([moved[0] + x, moved[1], moved[2]])
}

/// Spin about z by the angular momentum over the moment of inertia now [rad/s].
fn spin(rig: &Rig) -> Result<f64, Error> {
    let body = rig.world.body(rig.id)?;
    let (centre, speed) = (body.center_of_mass(), body.velocity());
    let (mut l, mut inertia) = (0.0, 0.0);
    for ((x, v), m) in body.node_positions().iter().zip(body.node_velocities()).zip(body.node_masses()) {
        let arm = wide(*x - centre);
        l += num(*m) * cross(arm, wide(*v - speed))[2];
        inertia += num(*m) * (arm[0] * arm[0] + arm[1] * arm[1]);
    }
    Ok(l / inertia)
}

fn e18_linear() -> Readings {
    let stuff = Stuff { e: 1e6, nu: 0.3, rho: 1000.0 };
    let turned = |b: SoftBody| b.turned(turn(Vec3::Z, FRAC_PI_2));
    let rig = Rig::new(statics(), FOUR_LINEAR, cells([2, 1, 1], [1.0, 0.1, 0.1])?, stuff, turned)?;
    let all = rig.world.elastic(rig.id)?.stress();
    let strain = all.first().map_or(f64::NAN, |s| num(s.strain.to_mat().x_axis.x));
    Ok(vec![Reading::absolute("linear FEM false strain at 90 deg", strain, -1.0, 1e-5)])
}
