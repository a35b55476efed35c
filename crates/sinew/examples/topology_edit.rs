//! Times of edits in place: a cube of tetrahedra is cut by planes, some forty element copies an edit.
//!
//! `cargo run --profile test -p sinew --example topology_edit [cells [edits]]`
//!
//! Each edit copies the elements that a blade crosses in one tick, with copies of the nodes behind it, and gives both
//! parts their fill fractions. Printed are the times of the edits, of the steps between them (two threads), and of one
//! update of the surface.

use sinew::*;
use std::time::{Duration, Instant};

/// Element copies of an edit.
const COPIES: usize = 40;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut given = std::env::args().skip(1).map(|word| word.parse::<usize>());
    let cells = given.next().transpose()?.unwrap_or(27) as u32;
    let edits = given.next().transpose()?.unwrap_or(400);
    let springs = spring::Params {
        stiffness: spring::Stiffness::Young(3e3),
        dashpot: spring::Dashpot::Time(1e-4),
        mass: spring::Mass::Density(1000.0),
        volume: spring::VolumeForce::Bulk { modulus: 3e3 },
        ..spring::Params::default()
    };
    let elements = fem::Params { youngs_modulus: 3e3, poisson_ratio: 0.3, density: 1000.0, damping: 1e-3 };
    for (name, model) in [("springs", SoftModel::Springs(springs)), ("corotational", SoftModel::Corotational(elements))]
    {
        measure(name, model, cells, edits)?;
    }
    Ok(())
}

fn measure(name: &str, model: SoftModel, cells: u32, edits: usize) -> Result<(), Box<dyn std::error::Error>> {
    let mesh = TetMesh::block([cells; 3], Vec3::splat(0.1))?;
    let (tets, nodes) = (mesh.tets.len(), mesh.vertices.len());
    // the elements that a plane in the middle of a layer of cells crosses, in the order in which a blade passes them
    let layer = 0.1 / cells as Real;
    let middle = |t: &[u32; 4]| t.iter().map(|&n| mesh.vertices[n as usize]).sum::<Vec3>() * 0.25;
    let mut path: Vec<u32> = (0..tets as u32).collect();
    path.sort_by_key(|&e| {
        let at = (middle(&mesh.tets[e as usize]) + Vec3::splat(0.05)) / layer;
        (at.x as u32, at.y as u32, at.z as u32, e)
    });
    let mut world = World::new(Settings { dt: 1e-3, threads: 2, ..Settings::default() })?;
    let body =
        SoftBody::new(Geometry::Tets(mesh.clone()), model).pin_region([-0.06, -0.06, -0.06], [0.06, -0.049, 0.06]);
    let body = world.add_soft(body.with_reserve(nodes as u32 / 2 + 4 * 40 * 400, 40 * edits as u32 + 1))?;
    world.step(&Input::none());

    let (mut edit, mut delta) = (TopologyEdit::new(), TopologyDelta::default());
    let (mut times, mut steps): (Vec<Duration>, Vec<Duration>) = (Vec::new(), Vec::new());
    let (mut count, mut elements) = (nodes as u32, tets as u32);
    // node of the other side of the cut
    let mut other = vec![u32::MAX; nodes];
    for (k, chunk) in path.chunks(COPIES).take(edits).enumerate() {
        edit.clear();
        let start = Instant::now();
        for &e in chunk {
            let tet = mesh.tets[e as usize];
            let side = middle(&tet).x;
            let copy = tet.map(|n| {
                // nodes on one side of the middle get a copy, the others are common: the tip of the crack
                if mesh.vertices[n as usize].x < side {
                    return n;
                }
                if other[n as usize] == u32::MAX {
                    other[n as usize] = count;
                    edit.nodes.push(NewNode::Copy(n));
                    count += 1;
                }
                other[n as usize]
            });
            let part = 0.25 + 0.5 * ((e % 13) as Real / 13.0);
            edit.fill.push((e, part));
            edit.fill.push((elements, 1.0 - part));
            edit.appended.push(Corners::from(&copy));
            elements += 1;
        }
        let made = start.elapsed();
        world.edit_elements(body, &edit, &mut delta)?;
        times.push(start.elapsed() - made);
        if k % 10 == 0 {
            let start = Instant::now();
            world.step(&Input::none());
            steps.push(start.elapsed());
        }
    }
    let start = Instant::now();
    world.update_surface(body)?;
    let surface = start.elapsed();
    let finite = world.body(body)?.node_positions().iter().all(|x| x.is_finite());
    println!(
        "{name}: {nodes} nodes, {tets} elements; after {} edits {count} and {elements}, finite: {finite}",
        times.len()
    );
    println!("  edit of {COPIES} copies: {}", spread(&mut times));
    println!("  step of 1 ms, two threads: {}", spread(&mut steps));
    println!("  update of the surface: {:.1} ms", surface.as_secs_f64() * 1e3);
    Ok(())
}

/// Mean, median, 99.9th percentile and largest.
fn spread(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let us = |t: Duration| t.as_secs_f64() * 1e6;
    let at = |part: f64| us(times[((times.len() - 1) as f64 * part).round() as usize]);
    let mean = times.iter().copied().map(us).sum::<f64>() / times.len() as f64;
    format!("mean {mean:.1} us, median {:.1}, p99.9 {:.1}, largest {:.1}", at(0.5), at(0.999), at(1.0))
}
