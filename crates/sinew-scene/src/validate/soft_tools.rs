//! What the cases of soft bodies share: bodies of every model, loads on faces, statics, mean displacements.
//!
//! Statics: with a damping that stops every node before each step, an implicit step is one step of Newton's method (the
//! mass over the square of the step is small beside the stiffness). Few large steps then give the equilibrium.

use super::tools::{num, real, vec3, wide};
use sinew::fem::{Elements, Law};
use sinew::{
    BodyId, Command, Error, Geometry, Implicit, Input, Real, Settings, SoftBody, SoftModel, TetMesh, Vec3, World, fem,
    meshless, pbd, shape_matching, spring,
};

/// Young's modulus [Pa], Poisson's ratio, density [kg/m³].
#[derive(Clone, Copy, Debug)]
pub struct Stuff {
    /// Young's modulus [Pa].
    pub e: f64,
    /// Poisson's ratio.
    pub nu: f64,
    /// Density [kg/m³].
    pub rho: f64,
}

/// A model of a volume, with parameters that do not blur physics: no damping of its own, implicit where it can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// The fast corotational tetrahedra.
    Fast,
    /// The general elements.
    Solid(Law, Elements),
    /// Van Gelder springs.
    Springs,
    /// Position based dynamics.
    Pbd,
    /// Shape matching in overlapping blocks.
    Shape,
    /// Moving least squares.
    Meshless,
}

/// Ten-node tetrahedra, Hooke's law in the turned frame.
pub const TEN: Kind = Kind::Solid(Law::Corotational, Elements::Tet10);
/// Ten-node tetrahedra, stable neo-Hookean.
pub const TEN_NEO: Kind = Kind::Solid(Law::NeoHookean, Elements::Tet10);
/// Ten-node tetrahedra, Hooke's law as it is.
pub const TEN_LINEAR: Kind = Kind::Solid(Law::Linear, Elements::Tet10);
/// Four-node tetrahedra, Hooke's law as it is.
pub const FOUR_LINEAR: Kind = Kind::Solid(Law::Linear, Elements::Tet4);
/// Four-node tetrahedra, stable neo-Hookean.
pub const FOUR_NEO: Kind = Kind::Solid(Law::NeoHookean, Elements::Tet4);
/// Four-node tetrahedra with averaged dilatation, stable neo-Hookean.
pub const AVERAGED_NEO: Kind = Kind::Solid(Law::NeoHookean, Elements::Tet4Averaged);

impl Kind {
    /// A body of this model.
    pub fn body(self, mesh: TetMesh, stuff: Stuff) -> SoftBody {
        self.damped(mesh, stuff, 0.0)
    }

    /// A body whose deformations are damped with a time β [s]: a mode of angular frequency ω by βω/2 of critical.
    pub fn damped(self, mesh: TetMesh, stuff: Stuff, beta: f64) -> SoftBody {
        let (youngs_modulus, poisson_ratio, density) = (real(stuff.e), real(stuff.nu), real(stuff.rho));
        let beta = real(beta);
        let model = match self {
            Kind::Fast => {
                SoftModel::Corotational(fem::Params { youngs_modulus, poisson_ratio, density, damping: beta })
            }
            Kind::Solid(law, elements) => SoftModel::Solid(fem::SolidParams {
                youngs_modulus,
                poisson_ratio,
                density,
                stiffness_damping: beta,
                law,
                elements,
                ..fem::SolidParams::default()
            }),
            Kind::Springs => SoftModel::Springs(spring::Params {
                stiffness: spring::Stiffness::Young(youngs_modulus),
                dashpot: if beta > 0.0 { spring::Dashpot::Time(beta) } else { spring::Dashpot::None },
                mass: spring::Mass::Density(density),
                integrator: spring::Integrator::Implicit,
                ..spring::Params::default()
            }),
            Kind::Pbd => {
                let poisson_ratio = poisson_ratio.max(0.25);
                let solid = pbd::Solid { youngs_modulus, poisson_ratio, density };
                let params = pbd::Params { row_damping: beta, ..pbd::Params::default() };
                SoftModel::Pbd(pbd::Structure::Solid(solid), params)
            }
            Kind::Shape => SoftModel::ShapeMatching(
                density,
                shape_matching::Clusters::Regions { width: 2, spacing: 1 },
                shape_matching::Params::default(),
            ),
            Kind::Meshless => SoftModel::Meshless(
                meshless::Params {
                    youngs_modulus,
                    poisson_ratio,
                    density,
                    damping: beta,
                    scheme: meshless::Scheme::Implicit,
                    ..meshless::Params::default()
                },
                1.0,
            ),
        };
        SoftBody::new(Geometry::Tets(mesh), model)
    }

    /// Number of nodes before those in the middles of edges.
    pub fn corners(self, mesh: &TetMesh) -> usize {
        match self {
            Kind::Solid(_, elements) if elements.quadratic() => mesh.vertices.len(),
            _ => usize::MAX,
        }
    }
}

/// A block of cells by its full sizes [m], centred on the origin.
pub fn cells(count: [u32; 3], size: [f64; 3]) -> Result<TetMesh, Error> {
    TetMesh::block(count, vec3(size[0], size[1], size[2])).map_err(|e| refused(&e))
}

/// Why a mesh was refused, as an error of the engine.
pub fn refused(why: &dyn std::fmt::Display) -> Error {
    Error::BadShape { shape: "mesh".to_owned(), reason: why.to_string() }
}

/// Damping that stops a node within a step [1/s].
pub const STOP: Real = 1e9;

/// Statics in steps of 10 s: see above. The CG is solved to what rounding allows.
pub fn statics() -> Settings {
    let implicit = Implicit { tolerance: 1e-6, iterations: 4000, ..Implicit::default() };
    Settings {
        dt: 10.0,
        gravity: Vec3::ZERO,
        sleep_time: Real::INFINITY,
        implicit,
        // one step to the rest shape: neither cut in pieces nor softened
        max_substeps: 1,
        ..Settings::default()
    }
}

/// Statics of a body that nothing holds, in steps of dt [s]: its mass must tame what rounding pushes it about with, so
/// the step is only a few times the time of its slowest vibration.
pub fn adrift(dt: f64) -> Settings {
    Settings { dt: real(dt), ..statics() }
}

/// Dynamics without gravity in steps of dt [s].
pub fn dynamics(dt: f64) -> Settings {
    let implicit = Implicit { tolerance: 1e-5, iterations: 1000, ..Implicit::default() };
    let gravity = Vec3::ZERO;
    Settings { dt: real(dt), gravity, sleep_time: Real::INFINITY, implicit, ..Settings::default() }
}

/// One soft body in a world, its places at rest, and its loads.
#[derive(Debug)]
pub struct Rig {
    /// The world.
    pub world: World,
    /// The body.
    pub id: BodyId,
    /// Nodes at rest [m].
    pub rest: Vec<Vec3>,
    /// What is done to it in every step.
    pub input: Input,
    corners: usize,
}

impl Rig {
    /// A body of tetrahedra in a world of its own; `shape` sets what else it needs.
    pub fn new(
        settings: Settings,
        kind: Kind,
        mesh: TetMesh,
        stuff: Stuff,
        shape: impl FnOnce(SoftBody) -> SoftBody,
    ) -> Result<Self, Error> {
        let corners = kind.corners(&mesh);
        Self::of(settings, shape(kind.body(mesh, stuff)), corners)
    }

    /// Any body; nodes from `corners` on lie in the middles of edges.
    pub fn of(settings: Settings, body: SoftBody, corners: usize) -> Result<Self, Error> {
        let mut world = World::new(settings)?;
        let id = world.add_soft(body)?;
        let rest = world.body(id)?.node_positions().to_vec();
        Ok(Self { world, id, rest, input: Input::none(), corners })
    }

    /// Adds a uniform traction [Pa] on the faces of the boundary all of whose nodes are picked by their place at rest.
    /// Faces with nodes in the middles of edges take all of it there (the consistent load).
    pub fn pull(&mut self, pick: impl Fn(Vec3) -> bool, traction: Vec3) -> Result<(), Error> {
        self.pull_by(pick, |_| traction)
    }

    /// The same with a traction of the place at rest [Pa].
    pub fn pull_by(&mut self, pick: impl Fn(Vec3) -> bool, traction: impl Fn(Vec3) -> Vec3) -> Result<(), Error> {
        let body = self.world.body(self.id)?;
        let Some(surface) = body.surface() else { return Ok(()) };
        for triangle in surface.triangles() {
            let nodes = triangle.map(|surfel| surface.shares(surfel)[0].node);
            let [a, b, c] = nodes.map(|n| self.rest[n as usize]);
            if ![a, b, c].into_iter().all(&pick) {
                continue;
            }
            // of a face in four only the one in its middle stands for all
            let middles = nodes.iter().filter(|n| **n as usize >= self.corners).count();
            let share = match middles {
                0 => 1.0,
                3 => 4.0,
                _ => continue,
            };
            let area = 0.5 * (b - a).cross(c - a).length() * share;
            for node in nodes {
                let force = traction(self.rest[node as usize]) * (area / 3.0);
                self.input.commands.push(Command::NodeForce { body: self.id, node, force });
            }
        }
        Ok(())
    }

    /// Steps with its loads.
    pub fn steps(&mut self, count: u32) {
        for _ in 0..count {
            self.world.step(&self.input);
        }
    }

    /// Steps with its loads times a share that grows to one, and then more steps.
    pub fn ramp(&mut self, from: f64, rising: u32, more: u32) {
        for k in 1..=rising {
            let share = real(from + (1.0 - from) * f64::from(k) / f64::from(rising));
            let mut input = self.input.clone();
            for command in &mut input.commands {
                if let Command::NodeForce { force, .. } = command {
                    *force *= share;
                }
            }
            self.world.step(&input);
        }
        self.steps(more);
    }

    /// Mean displacement of the nodes that are picked by their place at rest [m].
    pub fn moved(&self, pick: impl Fn(Vec3) -> bool) -> Result<[f64; 3], Error> {
        let x = self.world.body(self.id)?.node_positions();
        let (mut sum, mut count) = ([0.0; 3], 0.0);
        for (rest, x) in self.rest.iter().zip(x).filter(|(rest, _)| pick(**rest)) {
            let (from, to) = (wide(*rest), wide(*x));
            (0..3).for_each(|k| sum[k] += to[k] - from[k]);
            count += 1.0;
        }
        Ok(sum.map(|s| s / count))
    }

    /// Turn about an axis of the nodes of a section, by least squares for small turns [rad].
    pub fn twist(&self, axis: usize, pick: impl Fn(Vec3) -> bool) -> Result<f64, Error> {
        let x = self.world.body(self.id)?.node_positions();
        let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
        let (mut moment, mut square) = (0.0, 0.0);
        for (rest, x) in self.rest.iter().zip(x).filter(|(rest, _)| pick(**rest)) {
            let (a, b) = (wide(*rest), wide(*x));
            moment += a[j] * (b[k] - a[k]) - a[k] * (b[j] - a[j]);
            square += a[j] * a[j] + a[k] * a[k];
        }
        Ok(moment / square)
    }

    /// Steps and follows a mean over the nodes, Σ m φ(rest) u·direction/Σ m φ², of a mode φ.
    pub fn follow(
        &mut self,
        seconds: f64,
        direction: Vec3,
        mode: impl Fn(Vec3) -> f64,
    ) -> Result<super::tools::Track, Error> {
        let mut track = super::tools::Track::default();
        let dt = num(self.world.settings().dt);
        for k in 0..(seconds / dt).round() as u32 {
            self.world.step(&self.input);
            let body = self.world.body(self.id)?;
            let (mut sum, mut square) = (0.0, 0.0);
            for ((rest, x), m) in self.rest.iter().zip(body.node_positions()).zip(body.node_masses()) {
                let phi = mode(*rest) * num(*m);
                sum += phi * super::tools::dot(*x - *rest, direction);
                square += phi * mode(*rest);
            }
            track.t.push(f64::from(k + 1) * dt);
            track.y.push(sum / square);
        }
        Ok(track)
    }

    /// One step in which every node is kicked to a velocity along a direction, given by its place at rest [m/s].
    pub fn kick(&mut self, direction: Vec3, speed: impl Fn(Vec3) -> f64) -> Result<(), Error> {
        let dt = self.world.settings().dt;
        let masses = self.world.body(self.id)?.node_masses();
        let push = |(node, (rest, m)): (usize, (&Vec3, &Real))| Command::NodeForce {
            body: self.id,
            node: node as u32,
            force: direction * (real(speed(*rest)) * *m / dt),
        };
        let input = Input { commands: self.rest.iter().zip(masses).enumerate().map(push).collect() };
        self.world.step(&input);
        Ok(())
    }
}

/// Pick of a plane across an axis [m].
pub fn plane(axis: usize, at: f64) -> impl Fn(Vec3) -> bool + Copy {
    move |p| (num(p[axis]) - at).abs() < 1e-5 * (1.0 + at.abs())
}
