//! S5, rigid boxes on the ground: a pyramid that should stand, a pile that falls and tumbles, a stack that should
//! stand. The scenes are given as plain numbers, so that every engine uses the same ones; then in Sinew, with its
//! default settings and sleeping off.
//!
//! World frame, y up. Positions are f32 lists in the order in which the boxes are added: solvers depend on that order.

use crate::{Reading, Record, Scene, Times};
use sinew::{BodyId, Input, Real, RigidBody, Settings, Shape, SurfaceMaterial, Vec3, World as Physics};
use std::time::Instant;

/// Time step [s].
pub const DT: Real = 1.0 / 60.0;
/// Gravity along y [m/s²].
pub const GRAVITY: Real = -9.81;
/// Coulomb friction of every box and of the ground.
pub const FRICTION: Real = 0.5;
/// Mass of a box [kg].
pub const BOX_MASS: Real = 1.0;
/// Half the edge of a box [m].
pub const BOX_HALF: Real = 0.5;
/// Half extents of the ground box [m].
pub const GROUND_HALF: [Real; 3] = [100.0, 1.0, 100.0];
/// Centre of the ground box [m]: its top face is y = 0.
pub const GROUND_CENTRE: [Real; 3] = [0.0, -1.0, 0.0];

const PYRAMID_ROWS: usize = 45;
/// Distance between the centres of neighbours in a row of the pyramid [m].
const PYRAMID_SPACING: Real = 1.1;
const PILE_LAYERS: usize = 16;
const PILE_SIDE: usize = 8;
/// Distance between the centres of neighbours in the pile, in all three directions [m].
const PILE_SPACING: Real = 1.2;
/// Width of the band in which a box of the pile is displaced, in x and in z [m].
const PILE_JITTER: Real = 0.2;
const STACK_HEIGHT: usize = 20;

/// One construction of S5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// 1035 boxes in 45 rows, one box deep.
    Pyramid,
    /// 1024 boxes in 16 staggered layers, with gaps and a fixed jitter: they fall.
    Pile,
    /// 20 boxes, one upon the other.
    Stack,
}

impl Build {
    /// All constructions, in the order of the peers' tables.
    pub const ALL: [Build; 3] = [Build::Pyramid, Build::Pile, Build::Stack];

    /// The name in the peers' tables.
    pub fn name(self) -> &'static str {
        match self {
            Build::Pyramid => "pyramid1035",
            Build::Pile => "pile1024",
            Build::Stack => "stack20",
        }
    }

    /// Centres of the boxes at the start [m].
    pub fn positions(self) -> Vec<[Real; 3]> {
        match self {
            Build::Pyramid => pyramid(),
            Build::Pile => pile(),
            Build::Stack => stack(),
        }
    }
}

fn pyramid() -> Vec<[Real; 3]> {
    let mut centres = Vec::new();
    for row in 0..PYRAMID_ROWS {
        let count = PYRAMID_ROWS - row;
        let middle = (count - 1) as Real * 0.5;
        for i in 0..count {
            centres.push([(i as Real - middle) * PYRAMID_SPACING, BOX_HALF + row as Real, 0.0]);
        }
    }
    centres
}

fn pile() -> Vec<[Real; 3]> {
    let mut jitter = Lcg(1);
    let middle = (PILE_SIDE - 1) as Real * 0.5;
    let mut centres = Vec::new();
    for layer in 0..PILE_LAYERS {
        // every second layer is offset by half the spacing
        let stagger = (layer % 2) as Real * PILE_SPACING * 0.5;
        let y = 1.0 + layer as Real * PILE_SPACING;
        for i in 0..PILE_SIDE {
            for j in 0..PILE_SIDE {
                // x before z: the order of the random numbers is part of the scene
                let [dx, dz] = [jitter.draw() * PILE_JITTER, jitter.draw() * PILE_JITTER];
                let x = (i as Real - middle) * PILE_SPACING + dx + stagger;
                let z = (j as Real - middle) * PILE_SPACING + dz + stagger;
                centres.push([x, y, z]);
            }
        }
    }
    centres
}

fn stack() -> Vec<[Real; 3]> {
    (0..STACK_HEIGHT).map(|i| [0.0, BOX_HALF + i as Real, 0.0]).collect()
}

/// The random number generator of the peers (Numerical Recipes, 32 bits): its sequence is the same in every language.
struct Lcg(u32);

impl Lcg {
    /// The next random number in [−0.5, 0.5).
    fn draw(&mut self) -> Real {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // 24 bits: all that an f32 holds exactly
        (self.0 >> 8) as Real / 16_777_216.0 - 0.5
    }
}

/// The result of a run of one scene, in any engine.
pub struct Run {
    /// The scene's name in the tables.
    pub name: &'static str,
    /// Wall time of each step [ms].
    pub ms: Vec<f64>,
    /// Maximum lateral distance of a box from its initial position, at the end [m].
    pub drift: f64,
    /// Height of the highest centre at the end [m].
    pub top: f64,
    /// Kinetic energy of translation at the end [J].
    pub kinetic: f64,
    /// Maximum number of contact points in a step.
    pub contacts: usize,
}

/// One scene in Sinew, stepped by a driver.
pub struct World {
    build: Build,
    physics: Physics,
    boxes: Vec<BodyId>,
    start: Vec<[Real; 3]>,
    contacts: usize,
}

impl World {
    /// Builds the scene.
    pub fn new(build: Build, threads: usize) -> Self {
        let settings = Settings {
            dt: DT,
            gravity: Vec3::new(0.0, GRAVITY, 0.0),
            threads: threads as u32,
            sleep_time: Real::INFINITY,
            // contact forces per pair, as Rapier stores them
            point_forces: false,
            ..Settings::default()
        };
        let mut physics = Physics::new(settings).expect("sane settings");
        let surface = SurfaceMaterial::friction(FRICTION);
        let [x, y, z] = GROUND_HALF;
        let ground = RigidBody::fixed().shape(Shape::cuboid(x, y, z)).at(GROUND_CENTRE).material(surface);
        physics.add_rigid(ground).expect("sane ground");
        let half = BOX_HALF;
        let start = build.positions();
        let boxes = start
            .iter()
            .map(|&at| {
                let shape = Shape::cuboid(half, half, half);
                let body = RigidBody::dynamic().shape(shape).mass(BOX_MASS).at(at).material(surface);
                physics.add_rigid(body).expect("sane box")
            })
            .collect();
        Self { build, physics, boxes, start, contacts: 0 }
    }

    /// Steps once; wall time [ms].
    pub fn step(&mut self) -> f64 {
        let clock = Instant::now();
        self.physics.step(&Input::none());
        let ms = clock.elapsed().as_secs_f64() * 1e3;
        self.contacts = self.contacts.max(self.physics.report().counts.contacts as usize);
        ms
    }

    /// The world, for another driver.
    pub fn world_mut(&mut self) -> &mut Physics {
        &mut self.physics
    }

    /// Measures the final state.
    pub fn finish(&self, ms: Vec<f64>) -> Run {
        let mut run =
            Run { name: self.build.name(), ms, drift: 0.0, top: f64::MIN, kinetic: 0.0, contacts: self.contacts };
        for (&id, start) in self.boxes.iter().zip(&self.start) {
            let body = self.physics.body(id).expect("no box was removed");
            let at = body.position();
            run.drift = run.drift.max(f64::from((at.x - start[0]).hypot(at.z - start[2])));
            run.top = run.top.max(f64::from(at.y));
            run.kinetic += 0.5 * f64::from(BOX_MASS * body.velocity().length_squared());
        }
        run
    }
}

/// All constructions, 600 steps each.
pub fn records(give: &mut dyn FnMut(Record)) {
    const STEPS: usize = 600;
    for build in Build::ALL {
        let mut world = World::new(build, 1);
        let ms = (0..STEPS).map(|_| world.step()).collect();
        let run = world.finish(ms);
        give(Record {
            scene: Scene::S5,
            variant: run.name.to_owned(),
            sizes: [world.boxes.len(), 0, 0, run.contacts],
            h_ms: 1e3 * f64::from(DT),
            effort: "4 substeps".to_owned(),
            ms: Times::of(&run.ms),
            steps: STEPS,
            readings: vec![
                Reading::new("maxLateralDrift", run.drift, ""),
                Reading::new("topY_end", run.top, ""),
                Reading::new("KE_end", run.kinetic, ""),
            ],
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_boxes_of_every_scene_is_that_in_its_name() {
        for scene in Build::ALL {
            assert!(scene.name().ends_with(&scene.positions().len().to_string()), "{scene:?}");
        }
    }

    #[test]
    fn no_two_boxes_overlap_at_the_start() {
        for scene in Build::ALL {
            let centres = scene.positions();
            for (i, a) in centres.iter().enumerate() {
                for b in &centres[..i] {
                    let apart = (0..3).any(|k| (a[k] - b[k]).abs() >= 2.0 * BOX_HALF);
                    assert!(apart, "{scene:?}: {a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn the_pyramid_is_centred_and_the_stack_stands_on_the_ground() {
        let sum: Real = Build::Pyramid.positions().iter().map(|p| p[0]).sum();
        assert!(sum.abs() < 1e-3, "{sum}");
        assert_eq!(Build::Stack.positions()[0], [0.0, BOX_HALF, 0.0]);
    }
}
