//! Elastic bodies pressed by rigid ones: a ball on a floor, a punch on a block, a cylinder between plates.

use super::cloth::rings;
use super::soft_tools::{Kind, Rig, STOP, Stuff, TEN, plane, refused, statics};
use super::tools::{G, floor, free_space, num, real, sleepless, vec3, wide};
use super::{Case, Reading, Readings};
use sinew::{Command, Error, Input, Pose, RigidBody, Settings, Shape, SoftBody, SurfaceMaterial, TetMesh, Vec3, World};
use std::f64::consts::PI;

const HERTZ: &str = "Hertz: soft sphere on rigid plane";
const PUNCH: &str = "Flat punch and point load on half-space";
const BONDED: &str = "Compression of a cylinder: lubricated vs bonded ends";

const WIDE: &str = "a, from the spread of the contact forces, is 5 to 8% too large whether nodes are 1.6 or 0.5 mm apart; F and delta are right; not understood";
const FAR: &str = "u is 9 to 12% too small with the bottom at 0.3, 0.5 or 0.8 m, so it is not the size of the block; perhaps rings that grow by 2 to 4 each are too coarse for 1/r";

/// E20, E21, E29.
pub const CASES: &[Case] = &[
    Case::elastic("E20", HERTZ, "solid tet10 corotational", || e20(TEN)).known(WIDE),
    Case::elastic("E21", PUNCH, "solid tet10 corotational", || e21(TEN)).known(FAR),
    Case::elastic("E29", BONDED, "solid tet10 corotational", || e29(TEN)),
];

/// A map of the unit ball onto itself that keeps angles and makes what is near −y `finer` times smaller (Möbius).
fn drawn_down(p: [f64; 3], finer: f64) -> [f64; 3] {
    let b = -(finer - 1.0) / (finer + 1.0);
    let square = p.iter().map(|c| c * c).sum::<f64>();
    // x → ((1 − b²) x + (1 + 2 b·x + |x|²) b)/(1 + 2 b·x + b² |x|²)
    let along = 1.0 + 2.0 * b * p[1];
    let below = along + b * b * square;
    let share = (1.0 - b * b) / below;
    [share * p[0], share * p[1] + (along + square) * b / below, share * p[2]]
}

/// A ball of 0.05 m that weighs 1 N lies on a floor: its surface has nodes 0.8 mm apart there. Steps of 50 ms, to rest.
fn e20(kind: Kind) -> Readings {
    let (radius, e, nu) = (0.05, 1e5, 0.45);
    let mut mesh = TetMesh::ball(1.0, 4).map_err(|e| refused(&e))?;
    for p in &mut mesh.vertices {
        let [x, y, z] = drawn_down(wide(*p), 12.0);
        *p = vec3(x, y, z) * real(radius);
    }
    let rho = 1.0 / G / num(mesh.volume());
    let mut world = World::new(Settings { dt: 0.05, ..sleepless() })?;
    let smooth = SurfaceMaterial::friction(0.0);
    floor(&mut world, smooth)?;
    let body = kind.damped(mesh, Stuff { e, nu, rho }, 0.01).at(vec3(0.0, radius, 0.0)).material(smooth);
    let id = world.add_soft(body)?;
    let start = num(world.body(id)?.center_of_mass().y);
    for _ in 0..14 {
        world.step(&Input::none());
    }
    // the mean square of the distance from the axis, weighted by force, is 2/5 a²
    let (mut force, mut square) = (0.0, 0.0);
    for contact in &world.report().contacts {
        let (p, f) = (wide(contact.point), num(contact.normal_force()));
        force += f;
        square += f * (p[0] * p[0] + p[2] * p[2]);
    }
    let a = (2.5 * square / force).sqrt();
    let delta = start - num(world.body(id)?.center_of_mass().y);
    Ok(vec![
        Reading::relative("F", force, 1.0, 0.01),
        Reading::relative("a", a, 0.006_687_3, 0.05),
        Reading::relative("delta", delta, 0.000_894_41, 0.05),
        Reading::relative("p0", 1.5 * force / (PI * a * a), 10_677.0, 0.1),
    ])
}

/// A round block below y = 0: rings of nodes at these radii, levels at these depths, both from 0 [m].
fn round(radii: &[f64], depths: &[f64]) -> TetMesh {
    let disc = rings(radii);
    let count = disc.vertices.len() as u32;
    let lower = |depth: &f64| disc.vertices.iter().map(|p| *p - Vec3::Y * real(*depth)).collect::<Vec<_>>();
    let mut mesh = TetMesh { vertices: depths.iter().flat_map(lower).collect(), tets: Vec::new() };
    for level in 0..depths.len() as u32 - 1 {
        for triangle in &disc.triangles {
            // sorted by number, so that neighbours split their common side alike
            let mut t = triangle.map(|v| v + level * count);
            t.sort_unstable();
            let [i, j, k] = t;
            let [a, b, c] = t.map(|v| v + count);
            for mut tet in [[i, j, k, c], [i, j, b, c], [i, a, b, c]] {
                let [p, q, r, s] = tet.map(|v| mesh.vertices[v as usize]);
                if (q - p).cross(r - p).dot(s - p) < 0.0 {
                    tet.swap(2, 3);
                }
                mesh.tets.push(tet);
            }
        }
    }
    mesh
}

/// A half-space: a round block whose bottom is held.
fn half_space(kind: Kind, radii: &[f64], depths: &[f64]) -> Result<Rig, Error> {
    let stuff = Stuff { e: 1e5, nu: 0.45, rho: 1000.0 };
    let bottom = depths.last().map_or(0.0, |d| -d);
    let held = |b: SoftBody| {
        let (low, high) = (vec3(-9.0, bottom - 1e-4, -9.0), vec3(9.0, bottom + 1e-4, 9.0));
        b.pin_region(low, high).damping(STOP).material(SurfaceMaterial::friction(0.0))
    };
    Rig::new(statics(), kind, round(radii, depths), stuff, held)
}

/// Nodes are dense at the rim of the punch, where the pressure is singular; for the load at a point, around the reading.
fn e21(kind: Kind) -> Readings {
    let radii = [0.0, 0.004, 0.008, 0.012, 0.016, 0.02, 0.025, 0.035, 0.07, 0.2, 0.8];
    let depths = [0.0, 0.004, 0.01, 0.02, 0.04, 0.09, 0.25, 0.8];
    let mut rig = half_space(kind, &radii, &depths)?;
    // a small load at the middle, and 50 times the answer
    rig.input.commands.push(Command::NodeForce { body: rig.id, node: 0, force: Vec3::NEG_Y * 0.02 });
    rig.steps(2);
    let ring = |p: Vec3| plane(1, 0.0)(p) && (num(p.x).hypot(num(p.z)) - 0.02).abs() < 1e-5;
    let sunk = -50.0 * rig.moved(ring)?[1];
    // a punch that moves down by 1 mm
    let radii = [0.0, 0.0035, 0.0065, 0.0085, 0.01, 0.0115, 0.015, 0.025, 0.06, 0.15, 0.4];
    let depths = [0.0, 0.0015, 0.004, 0.009, 0.02, 0.05, 0.13, 0.4];
    let mut rig = half_space(kind, &radii, &depths)?;
    let shape = Shape::cylinder(0.01, 0.01 + 1e-5);
    let punch = RigidBody::kinematic().shape(shape).material(SurfaceMaterial::friction(0.0)).at([0.0, 0.01, 0.0]);
    let punch = rig.world.add_rigid(punch)?;
    for k in 1..=7 {
        let down = 1e-3 * (f64::from(k) / 2.0).min(1.0);
        let pose = Pose::at(vec3(0.0, 0.01 - down, 0.0));
        rig.world.step(&Input::none().target(punch, pose));
    }
    let force = num(rig.world.report().contact_force_on(punch).y);
    Ok(vec![
        Reading::relative("F punch", force, 2.507_837, 0.05),
        Reading::relative("u(r=0.02)", sunk, 0.000_126_93, 0.05),
    ])
}

/// Apparent stiffness over E of a cylinder as high as its radius, pressed by 1%: ends slide, or are held.
fn e29(kind: Kind) -> Readings {
    let (size, press) = (0.05, 0.01);
    let stuff = |nu: f64| Stuff { e: 1e5, nu, rho: 1000.0 };
    let sized = |cells: u32| TetMesh::cylinder(real(size), real(size), cells).map_err(|e| refused(&e));
    let area = |mesh: &TetMesh| num(mesh.volume()) / size;
    // between a floor and a plate without friction
    let mut world = World::new(Settings { dt: 0.01, ..free_space() })?;
    let smooth = SurfaceMaterial::friction(0.0);
    floor(&mut world, smooth)?;
    let plate = RigidBody::kinematic().shape(Shape::cuboid(0.1, 0.02, 0.1)).material(smooth);
    let plate = world.add_rigid(plate.at(vec3(0.0, size + 0.02, 0.0)))?;
    let mesh = sized(3)?;
    let across = area(&mesh);
    world.add_soft(kind.damped(mesh, stuff(0.45), 0.02).material(smooth).at(vec3(0.0, 0.5 * size, 0.0)))?;
    for k in 1..=100 {
        let down = press * size * (f64::from(k) / 50.0).min(1.0);
        let pose = Pose::at(vec3(0.0, size + 0.02 - down, 0.0));
        world.step(&Input::none().target(plate, pose));
    }
    let force = num(world.report().contact_force_on(plate).y);
    let mut readings = vec![Reading::relative("lubricated", force / (across * press) / 1e5, 1.0, 0.03)];
    for (nu, right) in [(0.3, 1.1185), (0.45, 1.369), (0.49, 1.503)] {
        let ratio = bonded(kind, sized(5)?, stuff(nu), press)? / 1e5;
        readings.push(Reading::relative(&format!("bonded nu={nu}"), ratio, right, 0.03));
    }
    Ok(readings)
}

/// Apparent Young's modulus of a cylinder whose ends are held while the upper one moves down [Pa].
fn bonded(kind: Kind, mesh: TetMesh, stuff: Stuff, press: f64) -> Result<f64, Error> {
    let size = 0.05;
    let across = num(mesh.volume()) / size;
    let half = 0.5 * size;
    let held = |b: SoftBody| {
        let thin = 1e-5;
        let side = |y: f64| [vec3(-1.0, y - thin, -1.0), vec3(1.0, y + thin, 1.0)];
        let ([a, c], [d, e]) = (side(-half), side(half));
        b.pin_region(a, c).pin_region(d, e).damping(STOP)
    };
    let mut rig = Rig::new(statics(), kind, mesh, stuff, held)?;
    for (node, p) in rig.rest.iter().enumerate().filter(|(_, p)| plane(1, half)(**p)) {
        let position = *p - Vec3::Y * real(press * size);
        rig.input.commands.push(Command::NodeTarget { body: rig.id, node: node as u32, position });
    }
    rig.steps(5);
    let forces = rig.world.elastic(rig.id)?.forces().unwrap_or_default();
    let up: f64 = rig.rest.iter().zip(&forces).filter(|(p, _)| plane(1, half)(**p)).map(|(_, f)| num(f.y)).sum();
    Ok(up / (across * press))
}
