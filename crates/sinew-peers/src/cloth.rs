//! S1: a cloth on a sphere, in the peers' variants: fixed, free (the sphere is pushed along a plane), momentum (no
//! gravity).

use crate::{Reading, Record, Scene, Times};
use sinew::{
    BodyId, Geometry, Input, Phase, Real, RigidBody, Settings, Shape, SoftBody, SoftModel, SurfaceMaterial, TriMesh,
    Vec3, World, pbd,
};
use std::time::Instant;

/// Step [s].
const STEP: Real = 0.02;
/// Radius of the sphere [m].
const RADIUS: f64 = 0.5;

/// The mesh of the cloth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mesh {
    /// Regular grid, equal masses except at the boundary.
    Regular,
    /// Displaced vertices, random diagonals, shuffled indices: no two edges or masses are equal.
    Irregular,
}

/// The obstacle of the cloth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// A fixed sphere.
    Fixed,
    /// A sphere of 2 kg on a plane, 0.3 m beside the centre of the cloth.
    Free,
    /// A sphere of 2 kg without gravity; the cloth arrives at 3 m/s.
    Momentum,
}

impl Variant {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Fixed, Self::Free, Self::Momentum];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Free => "free",
            Self::Momentum => "momentum",
        }
    }

    /// Steps that the peers make.
    pub fn steps(self) -> usize {
        if self == Self::Momentum { 50 } else { 200 }
    }
}

/// Substeps that limit the stretch of the cloth to a twentieth: the usual number, and the maximum during the impact. On
/// the irregular mesh the worst edge needs shorter ones. A free sphere decelerates the cloth less than a fixed one.
pub fn substeps(variant: Variant, mesh: Mesh) -> [u32; 2] {
    match (mesh, variant) {
        (Mesh::Regular, Variant::Free) => [7, 18],
        (Mesh::Regular, _) => [9, 18],
        (Mesh::Irregular, Variant::Free) => [10, 24],
        (Mesh::Irregular, _) => [12, 28],
    }
}

/// Pseudo-random numbers in [−0.5, 0.5), the same on every platform.
struct Draws(u32);

impl Draws {
    fn next(&mut self) -> Real {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as Real / 16_777_216.0 - 0.5
    }
}

/// A square of `side` x `side` nodes in the plane y = 0, `size` wide [m].
pub fn sheet(side: u32, size: Real, mesh: Mesh) -> TriMesh {
    let step = size / (side - 1) as Real;
    let mut draws = Draws(7);
    let mut out = TriMesh::default();
    for i in 0..side {
        for j in 0..side {
            let mut at = Vec3::new(i as Real * step - size / 2.0, 0.0, j as Real * step - size / 2.0);
            let inside = (1..side - 1).contains(&i) && (1..side - 1).contains(&j);
            if mesh == Mesh::Irregular && inside {
                at += Vec3::new(draws.next(), 0.0, draws.next()) * (0.4 * step);
            }
            out.vertices.push(at);
        }
    }
    for i in 0..side - 1 {
        for j in 0..side - 1 {
            let a = i * side + j;
            let (b, c, d) = (a + 1, a + side, a + side + 1);
            if mesh == Mesh::Irregular && draws.next() < 0.0 {
                out.triangles.extend([[a, b, c], [b, d, c]]);
            } else {
                out.triangles.extend([[a, b, d], [a, d, c]]);
            }
        }
    }
    if mesh == Mesh::Irregular {
        shuffle(&mut out, &mut draws);
    }
    out
}

/// Permutes the indices of all vertices.
fn shuffle(mesh: &mut TriMesh, draws: &mut Draws) {
    let count = mesh.vertices.len();
    let mut order: Vec<u32> = (0..count as u32).collect();
    for i in (1..count).rev() {
        order.swap(i, ((draws.next() + 0.5) * (i + 1) as Real) as usize);
    }
    let mut vertices = vec![Vec3::ZERO; count];
    for (old, &new) in order.iter().enumerate() {
        vertices[new as usize] = mesh.vertices[old];
    }
    mesh.vertices = vertices;
    for corner in mesh.triangles.iter_mut().flatten() {
        *corner = order[*corner as usize];
    }
}

/// The cloth of S1: 1 kg on 2 m x 2 m, 1 mm thick. Inextensible in tension, to rounding; 10 N/m in compression.
pub fn cloth(mesh: TriMesh) -> SoftBody {
    let (stretch, compression) = (1e5, 1e-4);
    let matter =
        pbd::Sheet { stretch, bend: 0.0, density: 0.25, compression, skip_stiffness: 1e5, stretch_limit: 0.03 };
    let params = pbd::Params { iterations: 1, ..pbd::Params::default() };
    let model = SoftModel::Pbd(pbd::Structure::Sheet(matter), params);
    SoftBody::new(Geometry::Sheet(mesh), model).material(SurfaceMaterial::friction(0.5)).thickness(5e-4)
}

fn settings([substeps, sheet_substeps]: [u32; 2], gravity: Real) -> Settings {
    Settings {
        dt: STEP,
        substeps,
        sheet_substeps,
        gravity: Vec3::new(0.0, -gravity, 0.0),
        sleep_time: Real::INFINITY,
        point_forces: false,
        ..Settings::default()
    }
}

/// A run with its readings, each the worst of all steps.
pub struct Run {
    world: World,
    mesh: TriMesh,
    edges: Vec<([u32; 2], f64)>,
    cloth: BodyId,
    ball: BodyId,
    /// Times of the steps [ms].
    pub ms: Vec<f64>,
    /// Time of each phase, sum of all steps [ms].
    pub phases: [f64; Phase::ALL.len()],
    /// Maximum stretch of an edge, as a fraction of its rest length.
    pub stretch: f64,
    /// Maximum depth of a node in the sphere [m].
    pub node_depth: f64,
    /// Maximum depth of the centre of a triangle in the sphere [m].
    pub face_depth: f64,
    /// Maximum speed of the sphere [m/s].
    pub ball_speed: Real,
    /// Maximum number of contacts in a step.
    pub contacts: u32,
}

impl Run {
    /// The cloth of this mesh above its sphere, with the usual and the maximum number of substeps; `start` 0: the
    /// peers' initial position, others: offset by up to 5 mm; `own`: with self-contact.
    pub fn new(variant: Variant, mesh: TriMesh, substeps: [u32; 2], start: u32, own: bool) -> Self {
        let gravity = if variant == Variant::Momentum { 0.0 } else { 9.81 };
        let mut world = World::new(settings(substeps, gravity)).expect("settings");
        let rough = SurfaceMaterial::friction(0.5);
        let ball = RigidBody::dynamic().shape(Shape::ball(RADIUS as Real)).mass(2.0).at([0.0, 0.5, 0.0]);
        let (ball, place, velocity) = match variant {
            Variant::Fixed => {
                let ball = RigidBody::fixed().shape(Shape::ball(RADIUS as Real)).at([0.0, 1.0, 0.0]);
                (ball, [0.0, 1.6, 0.0], 0.0)
            }
            Variant::Free => {
                let ground = RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(rough);
                world.add_rigid(ground).expect("ground");
                (ball, [0.3, 1.15, 0.0], 0.0)
            }
            Variant::Momentum => (ball, [0.0, 1.15, 0.0], -3.0),
        };
        let ball = world.add_rigid(ball.material(rough)).expect("ball");
        let mut draws = Draws(start);
        let beside = if start == 0 { Vec3::ZERO } else { Vec3::new(draws.next(), 0.0, draws.next()) * 0.01 };
        let body = cloth(mesh.clone()).self_contact(own).at(Vec3::from(place) + beside).velocity([0.0, velocity, 0.0]);
        let cloth = world.add_soft(body).expect("cloth");
        let length = |[a, b]: [u32; 2]| f64::from(mesh.vertices[a as usize].distance(mesh.vertices[b as usize]));
        let edges = mesh.edges().into_iter().map(|e| (e, length(e))).collect();
        Self {
            world,
            mesh,
            edges,
            cloth,
            ball,
            ms: Vec::new(),
            phases: [0.0; Phase::ALL.len()],
            stretch: 0.0,
            node_depth: 0.0,
            face_depth: 0.0,
            ball_speed: 0.0,
            contacts: 0,
        }
    }

    /// Steps the world and measures after every step.
    pub fn steps(&mut self, count: usize) {
        for _ in 0..count {
            let start = Instant::now();
            let report = self.world.step(&Input::none());
            self.ms.push(start.elapsed().as_secs_f64() * 1e3);
            assert!(report.faults.is_empty(), "{:?}", report.faults);
            for (sum, phase) in self.phases.iter_mut().zip(Phase::ALL) {
                *sum += report.seconds[phase as usize] * 1e3;
            }
            self.contacts = self.contacts.max(report.counts.contacts);
            self.look();
        }
    }

    /// Updates the peers' measures after a step.
    fn look(&mut self) {
        let x = self.world.body(self.cloth).expect("cloth").node_positions();
        let ball = self.world.body(self.ball).expect("ball");
        let centre = wide(ball.position());
        self.ball_speed = self.ball_speed.max(ball.velocity().length());
        let far = |p: [f64; 3]| {
            let d = [p[0] - centre[0], p[1] - centre[1], p[2] - centre[2]];
            (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt()
        };
        for &([a, b], rest) in &self.edges {
            let (a, b) = (wide(x[a as usize]), wide(x[b as usize]));
            let d = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
            self.stretch = self.stretch.max((d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt() / rest - 1.0);
        }
        for &p in x {
            self.node_depth = self.node_depth.max(RADIUS - far(wide(p)));
        }
        for corners in &self.mesh.triangles {
            let [a, b, c] = corners.map(|i| wide(x[i as usize]));
            let middle = [0, 1, 2].map(|k| (a[k] + b[k] + c[k]) / 3.0);
            self.face_depth = self.face_depth.max(RADIUS - far(middle));
        }
    }

    /// The world, for another driver.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// Positions of the nodes [m] and triangles of the cloth.
    pub fn surface(&self) -> (Vec<[f64; 3]>, &[[u32; 3]]) {
        let cloth = self.world.body(self.cloth).expect("cloth");
        (cloth.node_positions().iter().map(|&p| wide(p)).collect(), &self.mesh.triangles)
    }

    /// Total momentum along y [kg·m/s].
    pub fn momentum(&self) -> f64 {
        let cloth = self.world.body(self.cloth).expect("cloth");
        let masses = cloth.node_masses();
        let of_cloth: f64 =
            cloth.node_velocities().iter().zip(masses).map(|(v, m)| f64::from(v.y) * f64::from(*m)).sum();
        let ball = self.world.body(self.ball).expect("ball");
        of_cloth + f64::from(ball.velocity().y) * 2.0
    }
}

fn wide(v: Vec3) -> [f64; 3] {
    [f64::from(v.x), f64::from(v.y), f64::from(v.z)]
}

/// The substeps as text.
pub fn substep_text([usual, most]: [u32; 2]) -> String {
    if usual == most { format!("{usual} substeps") } else { format!("{usual} to {most} substeps") }
}

/// All variants on the peers' mesh.
pub fn records(give: &mut dyn FnMut(Record)) {
    for variant in Variant::ALL {
        let substeps = substeps(variant, Mesh::Regular);
        let mut run = Run::new(variant, sheet(51, 2.0, Mesh::Regular), substeps, 0, false);
        run.steps(variant.steps());
        let mut readings = vec![
            Reading::new("pen_max", 1e3 * run.node_depth.max(run.face_depth), "mm"),
            Reading::new("stretch_max", 1e2 * run.stretch, "%"),
        ];
        if variant == Variant::Momentum {
            readings.push(Reading::new("p1y", run.momentum(), ""));
        }
        give(Record {
            scene: Scene::S1,
            variant: variant.name().to_owned(),
            sizes: [run.mesh.vertices.len(), run.mesh.triangles.len(), 0, run.edges.len()],
            h_ms: 1e3 * f64::from(STEP),
            effort: substep_text(substeps),
            ms: Times::of(&run.ms),
            steps: run.ms.len(),
            readings,
        });
    }
}
