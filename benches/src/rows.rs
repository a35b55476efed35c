//! Nanoseconds of one constraint row in one sweep: scalar and vectorized (SIMD lanes), for the three most common kinds
//! of rows.

use sinew::kernels::{Pass, RowLanes, sweep};
use sinew::{Block, Bounds, RowBuffer, Term, Vec3};
use std::time::Instant;

/// A kind of row: its name and the number of 16-byte blocks that it reads and writes.
const SHAPES: [(&str, usize); 3] = [("node-node", 2), ("node-rigid", 3), ("rigid-rigid", 4)];

/// Prints bytes, floating-point operations and nanoseconds per row and sweep, best of `repeats`.
pub fn run(repeats: usize) {
    println!("rows: 12,598 of each shape on 2,601 nodes or bodies, best of {repeats}");
    println!("{:<12} {:>9} {:>9} {:>12} {:>12} {:>7}", "shape", "bytes", "flops", "scalar ns", "lanes ns", "ratio");
    for (name, blocks) in SHAPES {
        let (rows, v) = scene(blocks);
        let scalar = best(repeats, || {
            let (mut rows, mut v) = (rows.clone(), v.clone());
            let clock = Instant::now();
            sweep(&mut rows, &mut v, Pass::Correct);
            clock.elapsed().as_secs_f64()
        });
        let mut lanes = RowLanes::default();
        assert!(lanes.build(&rows, &v), "rows of up to four blocks go into lanes");
        let mut velocity = v.clone();
        let wide = best(repeats, || {
            let clock = Instant::now();
            lanes.sweep(&mut velocity, Pass::Correct, true);
            clock.elapsed().as_secs_f64()
        });
        // ids (in and out, except for pairs of nodes), velocities read and written, the numbers of the row; an axis of
        // four numbers, or a Jacobian and a response per block
        let bytes = if blocks == 2 { 2 * (4 + 32) + 16 + 28 } else { blocks * (8 + 32) + blocks * 24 + 28 };
        let flops = if blocks == 2 { 8 + 7 + 2 + 12 } else { blocks * 12 + 7 };
        let each = 1e9 / rows.len() as f64;
        println!(
            "{name:<12} {bytes:>9} {flops:>9} {:>12.2} {:>12.2} {:>7.2}",
            scalar * each,
            wide * each,
            scalar / wide
        );
    }
}

fn best(repeats: usize, mut run: impl FnMut() -> f64) -> f64 {
    (0..repeats).map(|_| run()).fold(f64::INFINITY, f64::min)
}

/// Rows along the edges and to the second neighbours of a 51 x 51 grid, as in a cloth, each end with its blocks.
fn scene(blocks: usize) -> (RowBuffer, Vec<Block>) {
    const SIDE: u32 = 51;
    let per_end = [1, if blocks == 2 { 1 } else { 2 }];
    let first_rigid = blocks == 4;
    let stride = if blocks == 2 { 1 } else { 2 };
    let mut rows = RowBuffer::default();
    let mut link = |a: u32, b: u32, axis: Vec3| {
        let mut terms = Vec::new();
        let mut side = |body: u32, sign: f32, rigid: bool| {
            let block = body * stride;
            terms.push(Term { block, jacobian: axis * sign, response: axis * sign * 2.0 });
            if rigid {
                let arm = Vec3::new(0.1, -0.2, 0.3).cross(axis) * sign;
                terms.push(Term { block: block + 1, jacobian: arm, response: arm * 5.0 });
            }
        };
        side(a, -1.0, first_rigid);
        side(b, 1.0, per_end[1] == 2);
        rows.push(&terms, 0.01, 0.01, 0.001, Bounds::Between { low: -1.0, high: 1.0 });
    };
    for (dx, dz) in [(1, 0), (0, 1), (1, 1), (2, 0), (0, 2)] {
        let axis = Vec3::new(dx as f32, 0.1, dz as f32).normalize();
        for z in 0..SIDE - dz {
            for x in 0..SIDE - dx {
                link(z * SIDE + x, (z + dz) * SIDE + x + dx, axis);
            }
        }
    }
    let v = (0..SIDE * SIDE * stride).map(|i| [(i % 7) as f32 * 0.1, 0.3, -(((i % 5) as f32) * 0.1), 2.0]).collect();
    (rows, v)
}
