//! Shots at thin targets, and whether surfaces cross: shared by `tests/never_through.rs` (a sample) and the exporter of
//! frames for the oracle. Crossings are determined here by plain geometry; nothing of the engine's own detection is
//! used.
#![allow(dead_code, reason = "each user takes its own part")]

use sinew::*;

/// Steps of a shot.
pub const STEPS: u32 = 24;
/// Bodies that are shot.
pub const BULLETS: [&str; 5] = ["ball", "block", "cloth", "rope", "jelly"];
/// Targets.
pub const TARGETS: [&str; 4] = ["plate", "mesh", "cloth", "jelly"];

/// Numbers between 0 and 1, the same for the same shot.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> Real {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as Real / 16_777_216.0
    }
}

/// True for frozen, fixed and kinematic bodies: two of them cannot be separated.
pub fn held(body: &BodyView<'_>) -> bool {
    body.is_frozen() || body.is_rigid() && body.motion() != Motion::Dynamic
}

/// Shot `number`: bullets and targets in turn, 1 to 100 thicknesses of the target per step, from all sides above it.
pub struct Shot {
    pub world: World,
    pub bullet: BodyId,
    pub name: String,
    /// Height below which a bullet has passed through [m]; none where the target deforms.
    pub floor: Option<Real>,
}

pub fn shot(number: u32, settings: Settings) -> Shot {
    let (bullet, target) = (BULLETS[number as usize % 5], TARGETS[number as usize / 5 % 4]);
    let mut dice = Dice(u64::from(number) * 7919 + 13);
    for _ in 0..4 {
        dice.roll();
    }
    let mut world = World::new(settings).unwrap();
    let (thickness, top, floor) = add_target(&mut world, target);
    let pace = 1.0 + 99.0 * dice.roll();
    let speed = pace * thickness / world.settings().dt;
    let lean = Vec3::new(dice.roll() - 0.5, 0.0, dice.roll() - 0.5) * 0.8;
    let way = (lean - Vec3::Y).normalize();
    // it would reach the target within the first three steps
    let height = top + 0.12 + 2.0 * dice.roll() * speed * world.settings().dt * -way.y;
    let meet = Vec3::new(dice.roll() - 0.5, 0.0, dice.roll() - 0.5) * 0.3;
    let at = meet + way * ((height - top) / way.y) + Vec3::Y * top;
    let spin = Vec3::new(dice.roll() - 0.5, dice.roll() - 0.5, dice.roll() - 0.5) * 40.0;
    let bullet = add_bullet(&mut world, bullet, (at, way * speed, spin));
    let name = format!("{number} {} at {target}, {pace:.1} thicknesses a step", BULLETS[number as usize % 5]);
    Shot { world, bullet, name, floor }
}

fn add_target(world: &mut World, target: &str) -> (Real, Real, Option<Real>) {
    match target {
        "plate" => {
            world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(0.8, 0.005, 0.8)).named("plate")).unwrap();
            (0.01, 0.005, Some(0.005))
        }
        "mesh" => {
            let mut mesh = TriMesh::sheet([12, 12], [1.6, 1.6], Diagonals::Alternating).unwrap();
            mesh.vertices.iter_mut().for_each(|v| v.y = 0.1 * (v.x * v.x - v.z * v.z));
            let shape = Shape::tri_mesh(mesh.vertices, mesh.triangles);
            world.add_rigid(RigidBody::fixed().shape(shape).named("mesh")).unwrap();
            (0.01, 0.064, Some(-0.07))
        }
        "cloth" => {
            let mesh = TriMesh::sheet([14, 14], [1.2, 1.2], Diagonals::Alternating).unwrap();
            let rim = |v: &Vec3| v.x.abs() > 0.599 || v.z.abs() > 0.599;
            let pinned: Vec<u32> =
                (0..mesh.vertices.len() as u32).filter(|&i| rim(&mesh.vertices[i as usize])).collect();
            let body = sheet(mesh).thickness(0.002).pinned(pinned).named("cloth");
            world.add_soft(body).unwrap();
            (0.004, 0.002, None)
        }
        _ => {
            let mesh = TetMesh::block([8, 1, 8], Vec3::new(0.8, 0.1, 0.8)).unwrap();
            let low: Vec<u32> =
                (0..mesh.vertices.len() as u32).filter(|&i| mesh.vertices[i as usize].y < -0.049).collect();
            let body = SoftBody::corotational(mesh, ElasticMaterial::new(1e5, 0.3, 1000.0)).pinned(low).named("slab");
            world.add_soft(body).unwrap();
            (0.01, 0.05, None)
        }
    }
}

fn add_bullet(world: &mut World, bullet: &str, (at, velocity, spin): (Vec3, Vec3, Vec3)) -> BodyId {
    let soft = |body: SoftBody| body.at(at).velocity(velocity).named("bullet");
    let rigid = |shape: Shape| RigidBody::dynamic().shape(shape).at(at).velocity(velocity).spin(spin).named("bullet");
    match bullet {
        "ball" => world.add_rigid(rigid(Shape::ball(0.05))).unwrap(),
        "block" => world.add_rigid(rigid(Shape::cuboid(0.05, 0.03, 0.04))).unwrap(),
        "cloth" => {
            let mesh = TriMesh::sheet([5, 5], [0.2, 0.2], Diagonals::Alternating).unwrap();
            world.add_soft(soft(sheet(mesh).thickness(0.002))).unwrap()
        }
        "rope" => {
            let points = (0..11).map(|k| Vec3::new(0.03 * k as Real - 0.15, 0.0, 0.0)).collect();
            let cord = pbd::Cord { stretch: 5000.0, bend: 1e-4, density: 0.1, compression: 0.2 };
            let model = SoftModel::Pbd(pbd::Structure::Cord(cord), pbd::Params::default());
            world.add_soft(soft(SoftBody::new(Geometry::Rope(points), model).thickness(0.004))).unwrap()
        }
        _ => {
            let mesh = TetMesh::block([3; 3], Vec3::splat(0.08)).unwrap();
            world.add_soft(soft(SoftBody::corotational(mesh, ElasticMaterial::new(1e5, 0.3, 1000.0)))).unwrap()
        }
    }
}

fn sheet(mesh: TriMesh) -> SoftBody {
    let cloth = pbd::Sheet {
        stretch: 2000.0,
        bend: 1e-5,
        density: 0.3,
        compression: 0.2,
        skip_stiffness: 0.0,
        stretch_limit: Real::INFINITY,
    };
    SoftBody::new(Geometry::Sheet(mesh), SoftModel::Pbd(pbd::Structure::Sheet(cloth), pbd::Params::default()))
}

/// Every surface of a world as triangles and edges, in doubles.
#[derive(Default)]
pub struct Frame {
    pub vertices: Vec<[f64; 3]>,
    /// Body of each vertex, in the order of the world's bodies.
    pub owner: Vec<u32>,
    pub triangles: Vec<[u32; 3]>,
    pub edges: Vec<[u32; 2]>,
}

impl Frame {
    pub fn of(world: &World) -> Self {
        let mut frame = Self::default();
        for (number, body) in world.bodies().enumerate() {
            let first = frame.vertices.len() as u32;
            if let Some(surface) = body.surface() {
                let points = (0..surface.len() as u32).map(|s| body.surface_point(s).unwrap());
                frame.vertices.extend(points.map(|p| p.to_array().map(f64::from)));
                frame.add_triangles(first, surface.triangles());
                if surface.triangles().is_empty() && body.is_soft() {
                    frame.edges.extend((1..surface.len() as u32).map(|i| [first + i - 1, first + i]));
                }
            } else if let Ok(pose) = body.pose() {
                for (place, shape) in body.shapes() {
                    let first = frame.vertices.len() as u32;
                    let Some(mesh) = tessellate(shape) else { continue };
                    let placed = mesh.vertices.iter().map(|&v| pose.point(place.point(v)).to_array().map(f64::from));
                    frame.vertices.extend(placed);
                    frame.add_triangles(first, &mesh.triangles);
                }
            }
            frame.owner.resize(frame.vertices.len(), number as u32);
        }
        frame
    }

    fn add_triangles(&mut self, first: u32, triangles: &[[u32; 3]]) {
        let mut edges: Vec<[u32; 2]> = Vec::new();
        for &[a, b, c] in triangles {
            self.triangles.push([a, b, c].map(|k| first + k));
            edges.extend([[a, b], [b, c], [c, a]].map(|[p, q]| [first + p.min(q), first + p.max(q)]));
        }
        edges.sort_unstable();
        edges.dedup();
        self.edges.extend(edges);
    }

    /// Edges that pass through triangles with which they share no vertex.
    pub fn crossings(&self) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        let corner = |k: u32| self.vertices[k as usize];
        let bounds = |ids: &[u32]| {
            let mut b = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
            for &id in ids {
                for (k, x) in corner(id).into_iter().enumerate() {
                    (b[0][k], b[1][k]) = (b[0][k].min(x), b[1][k].max(x));
                }
            }
            b
        };
        let boxes: Vec<_> = self.triangles.iter().map(|t| bounds(t)).collect();
        for (e, edge) in self.edges.iter().enumerate() {
            let around = bounds(edge);
            for (t, triangle) in self.triangles.iter().enumerate() {
                let apart = (0..3).any(|k| boxes[t][0][k] > around[1][k] || around[0][k] > boxes[t][1][k]);
                if apart || edge.iter().any(|k| triangle.contains(k)) {
                    continue;
                }
                if goes_through(edge.map(corner), triangle.map(corner)) {
                    found.push((e as u32, t as u32));
                }
            }
        }
        found
    }
}

/// By the signs of tetrahedra alone, and these are exact (Shewchuk 1997, crate `robust`): in a flat face every edge
/// lies in the planes of its neighbours, and the result would depend on rounding. An end in the plane is no crossing.
fn goes_through([p, q]: [[f64; 3]; 2], [a, b, c]: [[f64; 3]; 3]) -> bool {
    let side = |a: [f64; 3], b: [f64; 3], c: [f64; 3], d: [f64; 3]| {
        let at = |[x, y, z]: [f64; 3]| robust::Coord3D { x, y, z };
        robust::orient3d(at(a), at(b), at(c), at(d))
    };
    let (low, high) = (side(a, b, c, p), side(a, b, c, q));
    if low == 0.0 || high == 0.0 || (low > 0.0) == (high > 0.0) {
        return false;
    }
    let around = [side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)];
    around.iter().all(|s| *s >= 0.0) || around.iter().all(|s| *s <= 0.0)
}

/// Triangles of a shape, inscribed where it is round; none for unbounded shapes.
pub fn tessellate(shape: &Shape) -> Option<TriMesh> {
    match shape {
        Shape::Ball { radius } => Some(round(|v| v * *radius)),
        Shape::Capsule { half_height, radius } => {
            Some(round(|v| v * *radius + Vec3::Y * if v.y >= 0.0 { *half_height } else { -half_height }))
        }
        Shape::Box { half_extents } => {
            let mesh = TetMesh::block([1; 3], *half_extents * 2.0).ok()?;
            Some(TriMesh { triangles: mesh.boundary_faces(), vertices: mesh.vertices })
        }
        Shape::TriMesh { vertices, triangles } => {
            Some(TriMesh { vertices: vertices.to_vec(), triangles: triangles.to_vec() })
        }
        _ => None,
    }
}

/// A ball of triangles, 12 by 24, transformed by `place`.
fn round(place: impl Fn(Vec3) -> Vec3) -> TriMesh {
    let (rings, sides) = (12u32, 24u32);
    let mut mesh = TriMesh::default();
    for i in 0..=rings {
        for j in 0..sides {
            let (up, about) = (std::f64::consts::PI * f64::from(i) / 12.0, std::f64::consts::TAU * f64::from(j) / 24.0);
            // slightly inside: rounding must not push corners out
            let v = [up.sin() * about.cos(), up.cos(), up.sin() * about.sin()].map(|x| (x * 0.9999) as Real);
            mesh.vertices.push(place(Vec3::from_array(v)));
        }
    }
    // one vertex per pole
    let at = |i: u32, j: u32| if i == 0 || i == rings { i * sides } else { i * sides + j % sides };
    for i in 0..rings {
        for j in 0..sides {
            if i > 0 {
                mesh.triangles.push([at(i, j), at(i, j + 1), at(i + 1, j)]);
            }
            if i + 1 < rings {
                mesh.triangles.push([at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)]);
            }
        }
    }
    mesh
}
