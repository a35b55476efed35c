//! The peer scenes as plain numbers, so that every engine is given the same ones.
//!
//! S5, rigid boxes on the ground: a pyramid that should stand, a pile that falls and tumbles, a stack that should stand.
//! World frame, y up. Positions are f32 lists in the order in which the boxes are added: solvers depend on that order.

/// Time step [s].
pub const DT: f32 = 1.0 / 60.0;
/// Gravity along y [m/s²].
pub const GRAVITY: f32 = -9.81;
/// Coulomb friction of every box and of the ground [1].
pub const FRICTION: f32 = 0.5;
/// Mass of a box [kg].
pub const BOX_MASS: f32 = 1.0;
/// Half the edge of a box [m].
pub const BOX_HALF: f32 = 0.5;
/// Half extents of the ground box [m].
pub const GROUND_HALF: [f32; 3] = [100.0, 1.0, 100.0];
/// Centre of the ground box [m]: its top face is y = 0.
pub const GROUND_CENTRE: [f32; 3] = [0.0, -1.0, 0.0];

const PYRAMID_ROWS: usize = 45;
/// Distance between the centres of neighbours in a row of the pyramid [m].
const PYRAMID_SPACING: f32 = 1.1;
const PILE_LAYERS: usize = 16;
const PILE_SIDE: usize = 8;
/// Distance between the centres of neighbours in the pile, in all three directions [m].
const PILE_SPACING: f32 = 1.2;
/// Width of the band in which a box of the pile is displaced, in x and in z [m].
const PILE_JITTER: f32 = 0.2;
const STACK_HEIGHT: usize = 20;

/// One construction of S5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// 1035 boxes in 45 rows, one box deep.
    Pyramid,
    /// 1024 boxes in 16 staggered layers, with gaps and a fixed jitter: they fall.
    Pile,
    /// 20 boxes, one upon the other.
    Stack,
}

impl Scene {
    /// All constructions, in the order of the peers' tables.
    pub const ALL: [Scene; 3] = [Scene::Pyramid, Scene::Pile, Scene::Stack];

    /// The name in the peers' tables.
    pub fn name(self) -> &'static str {
        match self {
            Scene::Pyramid => "pyramid1035",
            Scene::Pile => "pile1024",
            Scene::Stack => "stack20",
        }
    }

    /// Centres of the boxes at the start [m].
    pub fn positions(self) -> Vec<[f32; 3]> {
        match self {
            Scene::Pyramid => pyramid(),
            Scene::Pile => pile(),
            Scene::Stack => stack(),
        }
    }
}

fn pyramid() -> Vec<[f32; 3]> {
    let mut centres = Vec::new();
    for row in 0..PYRAMID_ROWS {
        let count = PYRAMID_ROWS - row;
        let middle = (count - 1) as f32 * 0.5;
        for i in 0..count {
            centres.push([(i as f32 - middle) * PYRAMID_SPACING, BOX_HALF + row as f32, 0.0]);
        }
    }
    centres
}

fn pile() -> Vec<[f32; 3]> {
    let mut jitter = Lcg(1);
    let middle = (PILE_SIDE - 1) as f32 * 0.5;
    let mut centres = Vec::new();
    for layer in 0..PILE_LAYERS {
        // every second layer stands over the gaps of the one below
        let stagger = (layer % 2) as f32 * PILE_SPACING * 0.5;
        let y = 1.0 + layer as f32 * PILE_SPACING;
        for i in 0..PILE_SIDE {
            for j in 0..PILE_SIDE {
                // x before z: the order of the draws is part of the scene
                let [dx, dz] = [jitter.draw() * PILE_JITTER, jitter.draw() * PILE_JITTER];
                let x = (i as f32 - middle) * PILE_SPACING + dx + stagger;
                let z = (j as f32 - middle) * PILE_SPACING + dz + stagger;
                centres.push([x, y, z]);
            }
        }
    }
    centres
}

fn stack() -> Vec<[f32; 3]> {
    (0..STACK_HEIGHT).map(|i| [0.0, BOX_HALF + i as f32, 0.0]).collect()
}

/// The peers' generator (Numerical Recipes, 32 bits): its draws are the same in every language.
struct Lcg(u32);

impl Lcg {
    /// The next number in [−0.5, 0.5).
    fn draw(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // 24 bits: all that an f32 holds exactly
        (self.0 >> 8) as f32 / 16_777_216.0 - 0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scenes_have_as_many_boxes_as_their_names_say() {
        for scene in Scene::ALL {
            assert!(scene.name().ends_with(&scene.positions().len().to_string()), "{scene:?}");
        }
    }

    #[test]
    fn no_two_boxes_overlap_at_the_start() {
        for scene in Scene::ALL {
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
        let sum: f32 = Scene::Pyramid.positions().iter().map(|p| p[0]).sum();
        assert!(sum.abs() < 1e-3, "{sum}");
        assert_eq!(Scene::Stack.positions()[0], [0.0, BOX_HALF, 0.0]);
    }
}
