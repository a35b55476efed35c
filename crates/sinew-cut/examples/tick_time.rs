//! Time of a tick: a cube of 27³ cells (113,000 tetrahedra) of 0.1 m, two blades of 40 mm at 50 mm/s, ticks of 1 ms.
//!
//! `cargo run --release -p sinew-cut --example tick_time`

use std::time::Instant;

use sinew_cut::{Body, Front, Move, Options, Point, StrokeId, lattice};
use sinew_tally::Tally;

#[global_allocator]
static TALLY: Tally = Tally::new();

/// A blade of 40 mm: it enters at the middle of a face and cuts to the opposite one, trembling by 0.05 mm.
fn blade(which: usize, y: f64) -> [Point; 5] {
    let tremble = 5e-5 * (y * 3000.0).sin();
    std::array::from_fn(|k| {
        let along = 0.03 + 0.01 * k as f64;
        match which {
            0 => Point::new(along, y, 0.0437 + 0.1 * (along - 0.05) + tremble),
            _ => Point::new(y, 0.0613 - 0.2 * (along - 0.05) + tremble, along),
        }
    })
}

/// Time of this thread on a processor [s]: other programs do not count.
#[cfg(target_os = "linux")]
fn processor_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes the structure that it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

#[cfg(not(target_os = "linux"))]
fn processor_time() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

fn main() -> Result<(), sinew_cut::CutError> {
    let (rest, tets) = lattice::six([27, 27, 27], 0.1 / 27.0);
    let start = Instant::now();
    let mut body = Body::new(&rest, &tets, &Options::default())?;
    println!("{} nodes, {} tetrahedra, {:.0} ms to build", rest.len(), tets.len(), start.elapsed().as_secs_f64() * 1e3);
    let normals = [[Point::new(-0.1, 0.0, 1.0).normalize(); 4], [Point::new(0.0, 1.0, 0.2).normalize(); 4]];
    let from = -0.002;
    let mut ids: Vec<StrokeId> = Vec::new();
    for which in 0..2 {
        let points = blade(which, from);
        ids.push(body.begin(&Front { points: &points, normals: &normals[which], ..Front::default() })?);
    }
    let mut times = Vec::with_capacity(4096);
    let (mut splits, mut area, mut most) = (0, 0.0, 0);
    let mut allocations = 0;
    let mut changed = [0_usize; 3];
    for tick in 1..=2080 {
        let y = from + 5e-5 * f64::from(tick);
        let points = [blade(0, y), blade(1, y)];
        let moves: [Move; 2] = std::array::from_fn(|which| Move {
            stroke: ids[which],
            front: Front { points: &points[which], normals: &normals[which], ..Front::default() },
            last: tick == 2080,
        });
        let before = TALLY.count();
        let start = processor_time();
        let edit = body.tick(&moves)?;
        times.push((processor_time() - start) * 1e6);
        allocations += TALLY.count() - before;
        splits += edit.report.splits;
        most = most.max(edit.report.splits);
        area += edit.report.area;
        changed[0] += edit.new_nodes.len();
        changed[1] += edit.new_triangles.len();
        changed[2] += edit.changed_elements.len();
    }
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[(share * (times.len() - 1) as f64) as usize];
    println!("splits {splits}, at most {most} a tick, area {area:.6} m², allocations {allocations}");
    println!("new nodes {}, triangles {}, changed elements {}", changed[0], changed[1], changed[2]);
    println!(
        "processor time of a tick: mean {mean:.1}, median {:.1}, p99 {:.1}, p99.9 {:.1}, max {:.1} us",
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0)
    );
    if let Err(broken) = body.check() {
        println!("broken: {broken}");
    }
    println!("pieces {}", body.pieces().len());
    Ok(())
}
