//! Cost of oriented particles as a chain grows: `cargo run --release -p sinew --example oriented_cost`.
//!
//! A single chain of ellipsoids swings about its pinned end; the minimum time of some steps on one thread, and the
//! exponent of the growth of the time with the number of particles.

use sinew::oriented::{Ellipsoid, Groups, Params};
use sinew::*;
use std::time::Instant;

const COUNTS: [usize; 5] = [500, 2_000, 5_000, 20_000, 50_000];
const STEPS: usize = 3;

fn chain(count: usize, groups: Groups) -> Result<World, Error> {
    let mut world = World::new(Settings { threads: 1, ..Settings::default() })?;
    let points = (0..count).map(|k| Vec3::X * (0.05 * k as Real)).collect();
    let grain = Ellipsoid { radii: Vec3::new(0.02, 0.01, 0.01), density: 1000.0 };
    let model = SoftModel::Oriented(grain, groups, Params { frequency: 30.0, ..Params::default() });
    world.add_soft(SoftBody::new(Geometry::Rope(points), model).pinned([0]))?;
    Ok(world)
}

fn main() -> Result<(), Error> {
    for groups in [Groups::Links, Groups::Neighbours] {
        println!("{groups:?}, {} passes, {} substeps", Params::default().iterations, Settings::default().substeps);
        let mut before: Option<(usize, f64)> = None;
        for count in COUNTS {
            let mut world = chain(count, groups.clone())?;
            world.step(&Input::none());
            let mut least = f64::INFINITY;
            for _ in 0..STEPS {
                let clock = Instant::now();
                world.step(&Input::none());
                least = least.min(1e3 * clock.elapsed().as_secs_f64());
            }
            let power = before.map(|(n, t)| (least / t).ln() / (count as f64 / n as f64).ln());
            let power = power.map_or(String::new(), |p| format!(", grows with the power {p:.2}"));
            println!("{count:>6} particles: {least:.3} ms a step, {:.3} us each{power}", 1e3 * least / count as f64);
            before = Some((count, least));
        }
    }
    Ok(())
}
