//! Cost and convergence of a compliance query: `cargo run --release -p sinew --example compliance_cost`.
//!
//! A block of 10,000 tetrahedra is pressed over a round patch of its top. Printed are the shortest times of a step and of
//! a query at the default number of iterations, and how far the work of the forces, fᵀu, is below that of a solve to
//! rounding after a number of iterations.

use sinew::*;
use std::time::Instant;

const ITERATIONS: [u32; 6] = [5, 10, 20, 30, 40, 80];
const ROUNDS: usize = 40;

#[derive(Clone, Copy, Debug)]
enum Hold {
    Pinned,
    OnTheGround,
    Free,
}

fn block(hold: Hold, youngs_modulus: Real) -> Result<(World, Vec<SiteForce>), Error> {
    let size = Vec3::new(0.06, 0.03, 0.06);
    let mesh = TetMesh::block([16, 8, 16], size)?;
    let tets = mesh.tets.len();
    let gravity = if matches!(hold, Hold::Free) { Vec3::ZERO } else { Settings::default().gravity };
    let mut world = World::new(Settings { gravity, sleep_time: Real::INFINITY, ..Settings::default() })?;
    let matter = ElasticMaterial::new(youngs_modulus, 0.45, 1000.0).damping(0.002);
    let mut body = SoftBody::corotational(mesh, matter).at([0.0, 0.5 * size.y, 0.0]);
    match hold {
        Hold::Pinned => body = body.pin_region([-1.0; 3], [1.0, -0.499 * size.y, 1.0]),
        Hold::OnTheGround => {
            world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
        }
        Hold::Free => {}
    }
    let body = world.add_soft(body)?;
    for _ in 0..60 {
        world.step(&Input::none());
    }
    let x = world.body(body)?.node_positions();
    let top = x.iter().fold(Real::NEG_INFINITY, |top, x| top.max(x.y));
    let pressed = x.iter().enumerate().filter(|(_, x)| x.y > top - 2e-3 && x.x.abs().max(x.z.abs()) < 8e-3);
    let force = Vec3::new(0.0, -5e-3, 0.0);
    let forces: Vec<SiteForce> =
        pressed.map(|(k, _)| SiteForce { site: Site::Node { body, node: k as u32 }, force }).collect();
    println!("{hold:?}, E = {youngs_modulus} Pa: {tets} tetrahedra, {} nodes, {} pressed", x.len(), forces.len());
    Ok((world, forces))
}

fn work(forces: &[SiteForce], out: &[SiteResponse]) -> f64 {
    forces.iter().zip(out).map(|(f, r)| f64::from(f.force.dot(r.displacement))).sum()
}

fn main() -> Result<(), Error> {
    for (hold, youngs_modulus) in [
        (Hold::Pinned, 1e4),
        (Hold::Pinned, 1e5),
        (Hold::OnTheGround, 1e4),
        (Hold::OnTheGround, 1e5),
        (Hold::Free, 1e4),
    ] {
        let (mut world, forces) = block(hold, youngs_modulus)?;
        let (mut scratch, mut out) = (ComplianceScratch::default(), Vec::new());
        let exact = ComplianceOptions { iterations: 5000, tolerance: 1e-6, ..Default::default() };
        let report = world.compliance(&forces, &exact, &mut scratch, &mut out)?;
        let whole = work(&forces, &out);
        println!("  solved to rounding: {} iterations, {} rows", report.iterations, report.rows);
        for iterations in ITERATIONS {
            let options = ComplianceOptions { iterations, tolerance: 0.0, ..Default::default() };
            let report = world.compliance(&forces, &options, &mut scratch, &mut out)?;
            let below = 100.0 * (1.0 - work(&forces, &out) / whole);
            println!("  {iterations:>3} iterations: {below:>7.3} % below, residual {:.1e}", report.residual);
        }
        let (mut step, mut first, mut again) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        for _ in 0..ROUNDS {
            let mut timed = |least: &mut f64, run: &mut dyn FnMut(&mut World) -> Result<(), Error>| {
                let clock = Instant::now();
                let done = run(&mut world);
                *least = least.min(1e3 * clock.elapsed().as_secs_f64());
                done
            };
            let mut query = |world: &mut World| {
                world.compliance(&forces, &ComplianceOptions::default(), &mut scratch, &mut out).map(|_| ())
            };
            timed(&mut step, &mut |world| {
                world.step(&Input::none());
                Ok(())
            })?;
            timed(&mut first, &mut query)?;
            timed(&mut again, &mut query)?;
        }
        let default = world.compliance(&forces, &ComplianceOptions::default(), &mut scratch, &mut out)?;
        println!(
            "  step {step:.2} ms ({} iterations), query {first:.2} ms, again at the same state {again:.2} ms ({} iterations, residual {:.1e})",
            world.report().counts.iterations,
            default.iterations,
            default.residual
        );
    }
    Ok(())
}
