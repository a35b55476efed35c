//! Elastic laws and their elements: patch test, shear, stretch, the stiffness matrix (E13, E14, E16, E28).

use super::soft_tools::{FOUR_LINEAR, FOUR_NEO, Kind, Rig, STOP, Stuff, TEN, TEN_NEO, cells, statics};
use super::tools::{cross, distance, num, real, vec3, wide};
use super::{Case, Reading, Readings};
use sinew::fem::{Elements, Law};
use sinew::{Command, Error, Vec3};

const PATCH: &str = "Solid patch test";
const SHEAR: &str = "Pure shear / Poynting";
const LAWS: &str = "Hyperelastic bar: neo-Hookean, StVK, Mooney";
const MATRIX: &str = "Stiffness matrix sanity";

const ROUNDED: &str = "in f32 a strain of 1e-3 between places of 0.5 m has about 2e-4 of rounding in it";

const SUMMED: &str = "inner points end 2.5 mm off, farther than the field moves them; perhaps since forces are sums over points; not understood";
const INCONSISTENT: &str =
    "springs, constraints and goals are no integral of a strain: a uniform one is not kept on any mesh";

/// E13, E14, E16, E28.
pub const CASES: &[Case] = &[
    Case::elastic("E13", PATCH, "corotational", || e13(Kind::Fast, false)),
    Case::elastic("E13", PATCH, "solid tet4 linear", || e13(FOUR_LINEAR, true)).known(ROUNDED),
    Case::elastic("E13", PATCH, "solid tet10 corotational", || e13(TEN, false)),
    Case::elastic("E13", PATCH, "solid tet4 neo-hookean", || e13(FOUR_NEO, false)),
    Case::elastic("E13", PATCH, "meshless", || e13(Kind::Meshless, false)).known(SUMMED),
    Case::elastic("E13", PATCH, "springs", e13_not).known(INCONSISTENT),
    Case::elastic("E13", PATCH, "pbd", e13_not).known(INCONSISTENT),
    Case::elastic("E13", PATCH, "shape-matching", e13_not).known(INCONSISTENT),
    Case::elastic("E14", SHEAR, "solid linear", || e14(Law::Linear)),
    Case::elastic("E14", SHEAR, "solid log neo-hookean", || e14(Law::LogNeoHookean)),
    Case::elastic("E16", LAWS, "solid laws", e16),
    Case::elastic("E28", MATRIX, "corotational", || e28(Kind::Fast)),
    Case::elastic("E28", MATRIX, "solid tet10 corotational", || e28(TEN)),
    Case::elastic("E28", MATRIX, "solid tet10 neo-hookean", || e28(TEN_NEO)),
    Case::elastic("E28", MATRIX, "springs", || e28(Kind::Springs)),
    Case::elastic("E28", MATRIX, "meshless", || e28(Kind::Meshless)),
];

fn e13(kind: Kind, stress: bool) -> Readings {
    let mut mesh = cells([3, 3, 3], [1.0, 1.0, 1.0])?;
    // the eight inner nodes out of their places
    let inside = |p: Vec3| num(p.abs().max_element()) < 0.49;
    for (i, p) in mesh.vertices.iter_mut().filter(|p| inside(**p)).enumerate() {
        let k = i as f64;
        *p += vec3(0.06 * (2.1 * k).sin(), 0.06 * (3.7 * k + 1.0).sin(), 0.06 * (1.3 * k + 2.0).sin());
    }
    let stuff = Stuff { e: 1e6, nu: 0.25, rho: 1000.0 };
    let mut rig = Rig::new(statics(), kind, mesh, stuff, |b| {
        let wide = 0.6;
        [Vec3::X, Vec3::Y, Vec3::Z].into_iter().fold(b.damping(STOP), |b, axis| {
            let rest = (Vec3::ONE - axis) * wide;
            b.pin_region(-rest - axis * 0.51, rest - axis * 0.49).pin_region(-rest + axis * 0.49, rest + axis * 0.51)
        })
    })?;
    let field = |p: Vec3| {
        let [x, y, z] = wide(p);
        let u = |a: f64, b: f64, c: f64| 1e-3 * (2.0 * a + b + c) / 2.0;
        [x + u(x, y, z), y + u(y, z, x), z + u(z, x, y)]
    };
    let goals: Vec<[f64; 3]> = rig.rest.iter().map(|p| field(*p)).collect();
    for (node, (rest, goal)) in rig.rest.iter().zip(&goals).enumerate() {
        if !inside(*rest) {
            let position = vec3(goal[0], goal[1], goal[2]);
            rig.input.commands.push(Command::NodeTarget { body: rig.id, node: node as u32, position });
        }
    }
    rig.steps(6);
    let x = rig.world.body(rig.id)?.node_positions();
    let error = x.iter().zip(&goals).map(|(x, goal)| distance(wide(*x), *goal)).fold(0.0, f64::max);
    let mut readings = vec![Reading::at_most("interior node error", error, fine())];
    if stress {
        let all = rig.world.elastic(rig.id)?.stress();
        let worst = |pick: &dyn Fn(&sinew::Sym3) -> f64, right: f64| {
            let off = |value: &f64| (value - right).abs();
            let values = all.iter().map(|s| pick(&s.stress));
            values.max_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(f64::NAN)
        };
        readings.push(Reading::relative(
            "sigma xx,yy,zz",
            worst(&|s| num(s.to_mat().x_axis.x), 2000.0),
            2000.0,
            fine(),
        ));
        readings.push(Reading::relative("tau", worst(&|s| num(s.to_mat().x_axis.y), 400.0), 400.0, fine()));
    }
    Ok(readings)
}

/// By its nature not.
fn e13_not() -> Readings {
    Ok(vec![Reading::not_applicable("interior node error", 0.0, fine())])
}

/// 1e-6 in f32, 1e-12 in f64: the list's tolerance of the patch test.
fn fine() -> f64 {
    if std::mem::size_of::<sinew::Real>() == 4 { 1e-6 } else { 1e-12 }
}

/// Cauchy stress of a cube under a uniform deformation, by its columns.
fn stress_of(law: Law, stuff: Stuff, f: [Vec3; 3]) -> Result<[[f64; 3]; 3], Error> {
    let kind = Kind::Solid(law, Elements::Tet4);
    let rig = Rig::new(statics(), kind, cells([1, 1, 1], [1.0, 1.0, 1.0])?, stuff, |b| b)?;
    let places: Vec<Vec3> = rig.rest.iter().map(|p| f[0] * p.x + f[1] * p.y + f[2] * p.z).collect();
    let all = rig.world.elastic(rig.id)?.at(&places).stress();
    let m = all.first().map_or(sinew::Mat3::NAN, |s| s.stress.to_mat());
    Ok([wide(m.x_axis), wide(m.y_axis), wide(m.z_axis)])
}

fn e14(law: Law) -> Readings {
    let stuff = Stuff { e: 1e6, nu: 0.3, rho: 1000.0 };
    let s = stress_of(law, stuff, [Vec3::X, vec3(0.1, 1.0, 0.0), Vec3::Z])?;
    let mu = 1e6 / 2.6;
    let mut readings = vec![Reading::relative("tau", s[0][1], 0.1 * mu, 0.005)];
    if law != Law::Linear {
        readings.push(Reading::relative("s11-s22", s[0][0] - s[1][1], 0.01 * mu, 0.005));
    }
    Ok(readings)
}

/// Nominal stress [Pa] and lateral stretch of a bar pulled to a stretch, free sideways.
fn pulled(law: Law, stuff: Stuff, stretch: f64) -> Result<[f64; 2], Error> {
    let stress =
        |side: f64| stress_of(law, stuff, [vec3(stretch, 0.0, 0.0), vec3(0.0, side, 0.0), vec3(0.0, 0.0, side)]);
    let side = super::tools::bisect(0.4, 1.6, 40, |side| Ok(stress(side)?[1][1] > 0.0))?;
    Ok([stress(side)?[0][0] * side * side, side])
}

fn e16() -> Readings {
    let stuff = |nu: f64| Stuff { e: 1e5, nu, rho: 1000.0 };
    // ν = 0.4999 stands for incompressible
    let firm = |l: f64| pulled(Law::LogNeoHookean, stuff(0.4999), l);
    let soft = |l: f64| pulled(Law::LogNeoHookean, stuff(0.45), l);
    let hooke = |l: f64| pulled(Law::StVenantKirchhoff, stuff(0.3), l);
    let [p, side] = soft(1.5)?;
    // St Venant-Kirchhoff collapses where its push is largest
    let mut collapse = (0.0, f64::NAN);
    for k in 0..=200 {
        let l = 0.52 + 0.001 * f64::from(k);
        let [push, _] = hooke(l)?;
        if -push > collapse.0 {
            collapse = (-push, l);
        }
    }
    Ok(vec![
        Reading::relative("incompr. P(1.5)", firm(1.5)?[0], 35_185.185, 0.01),
        Reading::relative("incompr. P(0.7)", firm(0.7)?[0], -44_693.878, 0.01),
        Reading::relative("compr. P(1.5)", p, 35_861.435, 0.01),
        Reading::relative("compr. lateral", side, 0.830_679, 0.01),
        Reading::relative("compr. J", 1.5 * side * side, 1.035_041, 0.01),
        Reading::relative("compr. P(0.7)", soft(0.7)?[0], -43_393.876, 0.01),
        Reading::relative("StVK P(1.5)", hooke(1.5)?[0], 93_750.0, 0.01),
        Reading::relative("StVK collapse stretch", collapse.1, 0.577_350_3, 0.01),
    ])
}

fn e28(kind: Kind) -> Readings {
    let stuff = Stuff { e: 1.0, nu: 0.3, rho: 1.0 };
    let count = if kind.corners(&cells([1, 1, 1], [1.0; 3])?) == usize::MAX { [2, 2, 2] } else { [1, 1, 1] };
    let rig = Rig::new(statics(), kind, cells(count, [1.0, 1.0, 1.0])?, stuff, |b| b)?;
    let forces = |places: &[Vec3]| -> Result<Vec<f64>, Error> {
        let forces = rig.world.elastic(rig.id)?.at(places).forces().unwrap_or_default();
        Ok(forces.into_iter().flat_map(wide).collect())
    };
    // columns by central differences
    let n = 3 * rig.rest.len();
    let step = 1e-3;
    let mut k = vec![vec![0.0; n]; n];
    for j in 0..n {
        let moved = |by: f64| {
            let mut x = rig.rest.clone();
            x[j / 3][j % 3] += real(by);
            forces(&x)
        };
        let (ahead, back) = (moved(step)?, moved(-step)?);
        for i in 0..n {
            k[i][j] = (back[i] - ahead[i]) / (2.0 * step);
        }
    }
    let values = eigenvalues(k);
    let largest = values.iter().copied().fold(0.0, f64::max);
    let zeros = values.iter().filter(|v| v.abs() < 1e-3 * largest).count();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);

    // a bent and stretched body
    let bent: Vec<Vec3> =
        rig.rest.iter().map(|p| *p * 1.1 + Vec3::new(p.y * p.y, 0.2 * p.x * p.z, 0.1 * p.x)).collect();
    let f = forces(&bent)?;
    let (mut sum, mut torque, mut most) = ([0.0; 3], [0.0; 3], 0.0f64);
    for (p, f) in bent.iter().zip(f.chunks_exact(3)) {
        let t = cross(wide(*p), [f[0], f[1], f[2]]);
        for a in 0..3 {
            sum[a] += f[a];
            torque[a] += t[a];
            most = most.max(f[a].abs());
        }
    }
    let size = |v: [f64; 3]| distance(v, [0.0; 3]) / most;
    Ok(vec![
        Reading::absolute("zero modes", zeros as f64, 6.0, 0.0),
        Reading::holds("no negative mode", least > -1e-3 * largest),
        Reading::at_most("sum of forces", size(sum), 1e-6),
        Reading::at_most("sum of torques", size(torque), 1e-6),
    ])
}

/// Eigenvalues of a matrix that is symmetric but for rounding (Jacobi's turns).
fn eigenvalues(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    for _ in 0..12 {
        for p in 0..n {
            for q in p + 1..n {
                let off = 0.5 * (a[p][q] + a[q][p]);
                let angle = 0.5 * (2.0 * off).atan2(a[q][q] - a[p][p]);
                let (s, c) = angle.sin_cos();
                for row in &mut a {
                    let (x, y) = (row[p], row[q]);
                    (row[p], row[q]) = (c * x - s * y, s * x + c * y);
                }
                for i in 0..n {
                    let (x, y) = (a[p][i], a[q][i]);
                    (a[p][i], a[q][i]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    (0..n).map(|i| a[i][i]).collect()
}
