//! ICD Fig. 4: a rope over a wheel, a teapot at each end.
//!
//! The rope is a strip of 2 x 25 nodes: 48 faces, 121 distances (97 edges and the 24 other diagonals), 47 folds. It hangs
//! over a wheel on a hinge and holds the teapots by anchors; the right one is twice as heavy.

use super::{Scene, no_input, refused};
use sinew::{
    AttachTarget, Attachment, Bending, BodyId, DistanceSet, Error, Geometry, Joint, Quat, Real, RigidBody, Settings,
    Shape, Site, SoftBody, SoftModel, SurfaceMaterial, TriMesh, Vec3, World, spring,
};

/// Teapots on a rope.
pub(super) const TEAPOTS: Scene = Scene {
    name: "teapots",
    about: "Two teapots hang on a rope over a wheel: the heavy one pulls, and friction turns the wheel.",
    figure: "ICD Fig. 4",
    build: || teapots(Rig::default()),
    input: no_input,
    seconds: 1.0,
    text: None,
};

/// What may differ from the paper's scene.
#[derive(Clone, Copy, Debug)]
pub struct Rig {
    /// Friction between rope and wheel.
    pub friction: Real,
    /// Masses of the left and the right teapot [kg].
    pub pots: [Real; 2],
    /// The wheel cannot turn.
    pub locked: bool,
}

impl Default for Rig {
    fn default() -> Self {
        Self { friction: 0.7, pots: [1.0, 2.0], locked: false }
    }
}

const PAIRS: u32 = 25;
/// Radius of the wheel [m].
pub const WHEEL: Real = 0.3;
/// Distance at which the rope touches [m].
const THICKNESS: Real = 0.005;
const WIDTH: Real = 0.06;
/// Length of the rope [m].
const ROPE: Real = 2.2;

/// The scene.
///
/// # Errors
/// A rig that the engine refuses.
pub fn teapots(rig: Rig) -> Result<World, Error> {
    // nodes of 4 g carry 2 kg: with 8 substeps the rope is 12% longer than it should be, with 20 it is 2%
    let mut world = World::new(Settings { dt: 0.02, substeps: 20, ..Settings::default() })?;
    let grip = SurfaceMaterial::friction(rig.friction);
    let upright = Quat::from_rotation_x(std::f64::consts::FRAC_PI_2 as Real);
    let wheel = Shape::cylinder(0.06, WHEEL);
    if rig.locked {
        world.add_rigid(RigidBody::fixed().shape(wheel).turned(upright).material(grip).named("wheel"))?;
    } else {
        let wheel = RigidBody::dynamic().shape(wheel).turned(upright).mass(2.0).material(grip).named("wheel");
        let wheel = world.add_rigid(wheel.can_sleep(false))?;
        world.add_joint(Joint::hinge(None, Some(wheel)).anchor(Vec3::ZERO).axis(Vec3::Z))?;
    }
    let rope = add_rope(&mut world, grip)?;
    for (k, name) in ["left", "right"].into_iter().enumerate() {
        let ends = [[0, 1], [2 * PAIRS - 2, 2 * PAIRS - 1]][k];
        add_pot(&mut world, name, rig.pots[k], rope, ends)?;
    }
    Ok(world)
}

/// The strip, laid over the wheel.
fn add_rope(world: &mut World, grip: SurfaceMaterial) -> Result<BodyId, Error> {
    let mut mesh = TriMesh::strip(ROPE, WIDTH, PAIRS).map_err(refused("rope"))?;
    let flat = mesh.clone();
    // chords of the arc must not cut into the wheel
    let chord = 0.5 * ROPE / (PAIRS - 1) as Real;
    let radius = ((WHEEL + THICKNESS) * (WHEEL + THICKNESS) + chord * chord).sqrt() + 1e-3;
    let quarter = std::f64::consts::FRAC_PI_2 as Real;
    for p in &mut mesh.vertices {
        let turn = (p.x / radius).clamp(-quarter, quarter);
        let rest = p.x - radius * turn;
        (p.x, p.y) = (radius * turn.sin(), radius * turn.cos() - rest.abs());
    }
    let model = spring::Params {
        stiffness: spring::Stiffness::Uniform(1.0),
        mass: spring::Mass::Total(0.2),
        ..Default::default()
    };
    let (edges, folds) = (flat.edges(), flat.folds());
    let body = SoftBody::new(Geometry::Sheet(mesh), SoftModel::Springs(model));
    let rope = world.add_soft(body.thickness(THICKNESS).material(grip).named("rope"))?;
    let others = (0..PAIRS - 1).map(|i| [2 * i + 2, 2 * i + 1]);
    world.add_distance_set(DistanceSet::new(rope, edges.into_iter().chain(others).collect::<Vec<_>>()))?;
    world.add_bending(Bending::new(rope, folds, 1e-4).flat(&flat).damping(0.01))?;
    Ok(rope)
}

/// A teapot under two end nodes of the rope.
fn add_pot(world: &mut World, name: &str, mass: Real, rope: BodyId, ends: [u32; 2]) -> Result<(), Error> {
    let nodes = ends.map(|node| Site::Node { body: rope, node });
    let [a, b] = [world.site_position(&nodes[0])?, world.site_position(&nodes[1])?];
    let clay = TriMesh::teapot(0.24, 14).map_err(refused("teapot"))?;
    let top = clay.vertices.iter().fold(0.0, |top: Real, p| top.max(p.y));
    let shape = Shape::convex_hull(clay.vertices);
    let at = 0.5 * (a + b) - Vec3::Y * (top + 0.01);
    let pot = RigidBody::dynamic().shape(shape).mass(mass).at(at).named(name).can_sleep(false);
    let pot = world.add_rigid(pot)?;
    world.add_attachment(Attachment::new(nodes.map(|n| (n, AttachTarget::Here(Some(pot))))))?;
    Ok(())
}
