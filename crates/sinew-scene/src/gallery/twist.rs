//! A chain of single oriented particles that carries torsion.

use super::{Scene, named};
use sinew::oriented::{Grain, Groups, Params};
use sinew::{Command, Error, Geometry, Input, Real, Settings, SoftBody, SoftModel, Vec3, World};

/// One end is wound up, held, and let go.
pub const TWIST_CHAIN: Scene = Scene {
    name: "twist-chain",
    about: "One end of a chain of single ellipsoids is wound up and let go: particles one abreast carry the torsion.",
    figure: "OP Fig. 4.3",
    build: twist_chain,
    input: wind,
    seconds: 8.0,
};

const COUNT: usize = 25;
/// Distance of neighbours [m].
const GAP: Real = 0.06;
/// Spin of the end while it is wound up [rad/s].
const RATE: Real = 1.5;
/// Ticks at which winding ends, and at which the end turns back.
const HELD: u64 = 120;
const BACK: u64 = 240;

fn twist_chain() -> Result<World, Error> {
    let mut world = World::new(Settings::default())?;
    let points: Vec<Vec3> = (0..COUNT).map(|k| Vec3::X * (GAP * (k as Real - 0.5 * (COUNT - 1) as Real))).collect();
    let grain = Grain { radii: Vec3::new(0.03, 0.02, 0.008), density: 1000.0 };
    let params = Params { frequency: 30.0, damping: 3.0, ..Params::default() };
    let chain = SoftBody::new(Geometry::Rope(points), SoftModel::Oriented(grain, Groups::Links, params));
    // weightless: nothing but the twist is to be seen
    let chain = chain.at([0.0, 0.5, 0.0]).pinned([0, COUNT as u32 - 1]).gravity_scale(0.0).named("chain");
    world.add_soft(chain)?;
    Ok(world)
}

fn wind(world: &World, tick: u64) -> Input {
    let rate = match tick {
        0 => RATE,
        HELD => 0.0,
        BACK => -2.0 * RATE,
        300 => 0.0,
        _ => return Input::none(),
    };
    let Some(body) = named(world, "chain") else { return Input::none() };
    Input::none().with(Command::NodeSpin { body, node: COUNT as u32 - 1, spin: Vec3::X * rate })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Angle between neighbours [rad], below a half turn.
    fn steps(world: &World) -> Vec<Real> {
        let body = world.bodies().next().unwrap();
        let turns: Vec<_> = (0..COUNT as u32).map(|k| body.particle_rotation(k).unwrap()).collect();
        turns.windows(2).map(|q| q[0].angle_between(q[1])).collect()
    }

    #[test]
    fn the_twist_spreads_along_particles_one_abreast() {
        let mut world = twist_chain().unwrap();
        while world.state().tick < BACK {
            let input = wind(&world, world.state().tick);
            world.step(&input);
        }
        assert!(world.report().faults.is_empty());
        // 2 s at the rate, by 24 links; the two at the ends are stiffer than the others by their shares, 4 : 3
        let whole = RATE * HELD as Real / 60.0;
        let each = whole / (22.0 + 2.0 * 0.75);
        let found = steps(&world);
        assert!((found.iter().sum::<Real>() / whole - 1.0).abs() < 1e-2, "{found:?}");
        assert!(found[1..23].iter().all(|s| (s / each - 1.0).abs() < 0.05), "{each}: {found:?}");
        // back again
        while world.state().tick < 600 {
            let input = wind(&world, world.state().tick);
            world.step(&input);
        }
        assert!(steps(&world).iter().sum::<Real>() < 0.05 * whole, "{:?}", steps(&world));
    }
}
