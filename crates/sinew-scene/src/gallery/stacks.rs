//! Boxes and blocks that stand, or should: stacks, a pyramid, a pile, dominoes, an arch.

use super::{Scene, floor, named, no_input};
use sinew::{Command, Error, Input, Quat, Real, RigidBody, Settings, Shape, SurfaceMaterial, Vec3, World};

/// 1035 boxes in 45 rows.
pub const PYRAMID: Scene = Scene {
    name: "pyramid",
    about: "A wall of 1035 boxes in 45 rows: it must not creep, and it falls asleep.",
    figure: "",
    build: pyramid,
    input: no_input,
    seconds: 10.0,
    text: None,
};

/// 1024 boxes that fall and tumble.
pub const PILE: Scene = Scene {
    name: "pile",
    about: "1024 boxes fall in 16 staggered layers and tumble into a heap.",
    figure: "",
    build: pile,
    input: no_input,
    seconds: 10.0,
    text: None,
};

/// A curved row of dominoes.
pub const DOMINO: Scene = Scene {
    name: "domino",
    about: "A curved row of 40 dominoes: the first is pushed, and the wave must reach the last.",
    figure: "",
    build: domino,
    input: domino_input,
    seconds: 8.0,
    text: None,
};

/// An arch without mortar.
pub const ARCH: Scene = Scene {
    name: "arch",
    about: "An arch of 25 wedge-shaped stones without mortar: friction and weight alone must hold it.",
    figure: "",
    build: arch,
    input: no_input,
    seconds: 10.0,
    text: None,
};

/// Half the edge of a box [m].
const BOX_HALF: Real = 0.5;
const PYRAMID_ROWS: usize = 45;
const PYRAMID_SPACING: Real = 1.1;
const PILE_LAYERS: usize = 16;
const PILE_SIDE: usize = 8;
const PILE_SPACING: Real = 1.2;
const PILE_JITTER: Real = 0.2;

fn pyramid() -> Result<World, Error> {
    let rows = (0..PYRAMID_ROWS).flat_map(|row| {
        let count = PYRAMID_ROWS - row;
        let middle = (count - 1) as Real * 0.5;
        (0..count).map(move |i| Vec3::new((i as Real - middle) * PYRAMID_SPACING, BOX_HALF + row as Real, 0.0))
    });
    boxes(rows)
}

fn pile() -> Result<World, Error> {
    let mut jitter = Lcg(1);
    let middle = (PILE_SIDE - 1) as Real * 0.5;
    let mut centres = Vec::new();
    for layer in 0..PILE_LAYERS {
        // every second layer stands over the gaps of the one below
        let stagger = (layer % 2) as Real * PILE_SPACING * 0.5;
        let y = 1.0 + layer as Real * PILE_SPACING;
        for i in 0..PILE_SIDE {
            for j in 0..PILE_SIDE {
                // x before z: the order of the draws is part of the scene
                let [dx, dz] = [jitter.draw() * PILE_JITTER, jitter.draw() * PILE_JITTER];
                let x = (i as Real - middle) * PILE_SPACING + dx + stagger;
                let z = (j as Real - middle) * PILE_SPACING + dz + stagger;
                centres.push(Vec3::new(x, y, z));
            }
        }
    }
    boxes(centres)
}

/// Boxes of 1 m and 1 kg on a broad slab. The peers' benchmark has the same numbers in the same order.
fn boxes(centres: impl IntoIterator<Item = Vec3>) -> Result<World, Error> {
    let mut world = World::new(Settings::default())?;
    let surface = SurfaceMaterial::friction(0.5);
    let slab = Shape::cuboid(100.0, 1.0, 100.0);
    world.add_rigid(RigidBody::fixed().shape(slab).at([0.0, -1.0, 0.0]).material(surface).named("floor"))?;
    for at in centres {
        let shape = Shape::cuboid(BOX_HALF, BOX_HALF, BOX_HALF);
        world.add_rigid(RigidBody::dynamic().shape(shape).mass(1.0).at(at).material(surface))?;
    }
    Ok(world)
}

/// The peers' generator (Numerical Recipes, 32 bits): its draws are the same in every language.
pub(super) struct Lcg(pub u32);

impl Lcg {
    /// The next number in [−0.5, 0.5).
    pub fn draw(&mut self) -> Real {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // 24 bits: all that an f32 holds exactly
        (self.0 >> 8) as Real / 16_777_216.0 - 0.5
    }
}

const DOMINO_COUNT: usize = 40;
/// Half thickness, height and width of a domino [m].
const DOMINO_HALF: [Real; 3] = [0.0625, 0.5, 0.25];
/// Way from one domino to the next along the row [m].
const DOMINO_SPACING: Real = 0.5;
/// Radius of the row's bend [m].
const DOMINO_BEND: Real = 8.0;
/// When the first is pushed.
const DOMINO_TICK: u64 = 20;

fn domino() -> Result<World, Error> {
    let mut world = World::new(Settings::default())?;
    let surface = SurfaceMaterial::friction(0.5);
    floor(&mut world, surface)?;
    let [x, y, z] = DOMINO_HALF;
    for i in 0..DOMINO_COUNT {
        let angle = i as Real * DOMINO_SPACING / DOMINO_BEND;
        let (sin, cos) = angle.sin_cos();
        let at = Vec3::new(DOMINO_BEND * sin, y, DOMINO_BEND * (1.0 - cos));
        let body = RigidBody::dynamic().shape(Shape::cuboid(x, y, z)).mass(1.0).material(surface);
        // the thin side faces along the row
        let body = body.at(at).turned(Quat::from_rotation_y(-angle)).named(format!("domino {i}"));
        world.add_rigid(body)?;
    }
    Ok(world)
}

fn domino_input(world: &World, tick: u64) -> Input {
    if tick != DOMINO_TICK {
        return Input::none();
    }
    let Some(body) = named(world, "domino 0") else { return Input::none() };
    // near its top, along the row
    let point = Vec3::new(0.0, 1.8 * DOMINO_HALF[1], 0.0);
    Input::none().with(Command::Impulse { body, impulse: Vec3::new(0.5, 0.0, 0.0), point })
}

const STONE_COUNT: usize = 25;
/// Inner and outer radius of the arch, and half its width [m]. A half circle stands when it is thicker than about a tenth
/// of its radius (Heyman); this one is twice that.
const ARCH_INNER: Real = 3.6;
const ARCH_OUTER: Real = 4.4;
const ARCH_HALF_WIDTH: Real = 0.5;
/// Half the gap between two stones [rad]: faces that touch exactly have no clear way apart.
const ARCH_GAP: Real = 5e-5;

fn arch() -> Result<World, Error> {
    // the joints carry tons: more substeps let them give less
    let mut world = World::new(Settings { substeps: 8, ..Settings::default() })?;
    let surface = SurfaceMaterial::friction(0.8);
    floor(&mut world, surface)?;
    let step = std::f64::consts::PI as Real / STONE_COUNT as Real;
    let on_arch = |radius: Real, angle: Real| Vec3::new(-radius * angle.cos(), radius * angle.sin(), 0.0);
    for i in 0..STONE_COUNT {
        let (from, to) = (i as Real * step + ARCH_GAP, (i + 1) as Real * step - ARCH_GAP);
        let middle = on_arch(0.5 * (ARCH_INNER + ARCH_OUTER), 0.5 * (from + to));
        let mut points = Vec::new();
        for radius in [ARCH_INNER, ARCH_OUTER] {
            for angle in [from, to] {
                for z in [-ARCH_HALF_WIDTH, ARCH_HALF_WIDTH] {
                    points.push(on_arch(radius, angle) - middle + Vec3::new(0.0, 0.0, z));
                }
            }
        }
        let stone = RigidBody::dynamic().shape(Shape::convex_hull(points)).density(2000.0).material(surface);
        world.add_rigid(stone.at(middle).named(format!("stone {i}")))?;
    }
    Ok(world)
}
