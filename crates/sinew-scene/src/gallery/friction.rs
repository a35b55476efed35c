//! Friction laws at work: crossed cylinders, here; a block on a belt, soft balls on a slope and soft pads that lift a plate are
//! files. Each has its law and runs with any other one ([`with_law`]; `--set parameters.law=NAME` on the command line).

use super::cylinders::cylinders_of;
use super::{Scene, no_input};
use sinew::friction::{Curve, Karnopp, Law};
use sinew::{BodySpec, Error, Real, SurfaceMaterial, Vec3, World};

/// The upper cylinder stays.
pub(super) const CYLINDERS_FRICTION: Scene = Scene {
    name: "cylinders-friction",
    about: "A soft cylinder slides along one that is held at both ends until friction stops it (Karnopp).",
    figure: "FC Fig. 5.16",
    build: || sliding_cylinders(0.6),
    input: no_input,
    seconds: 2.0,
    text: None,
};

/// The upper cylinder leaves.
pub(super) const CYLINDERS_SLIPPERY: Scene = Scene {
    name: "cylinders-slippery",
    about: "The same two cylinders without friction: the upper one slides off the end.",
    figure: "FC Fig. 5.16",
    build: || sliding_cylinders(0.0),
    input: no_input,
    seconds: 2.0,
    text: None,
};

/// The same world with another friction law on all its surfaces; coefficients stay.
///
/// # Errors
/// A law with parameters that cannot be, or a world with rows of its own.
pub fn with_law(world: &World, law: Law) -> Result<World, Error> {
    let mut plan = world.blueprint()?;
    for spec in plan.bodies.iter_mut().filter_map(|slot| slot.item.as_mut()) {
        match spec {
            BodySpec::Rigid(body) => body.colliders.iter_mut().for_each(|c| c.material.law = law),
            BodySpec::Particles(body) => body.material.law = law,
            BodySpec::Soft(body) => body.material.law = law,
        }
    }
    World::build(plan, world.state())
}

/// FC leaves the Stribeck effect out for soft bodies.
fn dry_karnopp() -> Law {
    let curve = Curve { viscosity: 0.0, ..Curve::default() };
    Law::Karnopp(Karnopp { dead_band: 1e-3, curve })
}

/// The upper cylinder sets out along the lower one's axis: to its end there are 0.125 m. Twenty times as stiff as in
/// `cylinders-coarse`, where the lower one sags by 8 cm and throws the upper one off.
fn sliding_cylinders(friction: Real) -> Result<World, Error> {
    let surface = SurfaceMaterial::friction(friction).law(dry_karnopp());
    cylinders_of([4, 5, 23], 6e5, surface, Vec3::new(0.0, 0.0, 0.3))
}
