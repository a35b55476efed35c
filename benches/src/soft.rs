//! S2 and S7: prints the runs of soft bodies that carry a box, and of soft-soft contact.

use sinew_peers::quantile;
use sinew_peers::soft::{self, Fineness, Run};

fn print(run: &Run, name: &str) {
    let mut sorted = run.ms.clone();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| quantile(&sorted, share);
    let n = run.ms.len() as f64;
    println!(
        "{name}: median {:.2} ms, p99 {:.2}, max {:.2}; detect {:.2}, predict {:.2}, solve {:.2}; {:.1} iterations in {:.2} passes a step, at most {} contacts; penetration at most {:.2} mm, {} inverted",
        at(0.5),
        at(0.99),
        at(1.0),
        run.phases[0] / n,
        run.phases[1] / n,
        run.phases[2] / n,
        run.iterations as f64 / n,
        run.passes as f64 / n,
        run.contacts,
        run.deepest * 1e3,
        run.inverted
    );
}

/// Four soft cylinders, two below and two above a free box.
pub fn s2(tolerance: Option<f32>) {
    let carried = soft::s2(tolerance.unwrap_or(soft::TOLERANCE));
    print(&carried.run, "S2");
    println!(
        "    box at {:.4} m (right: 0.440), moves {:.1e} m a step, upper cylinders at {:.3} and {:.3} m; forces on it sum to {:.2} N",
        carried.height,
        carried.jitter,
        carried.run.height(2),
        carried.run.height(3),
        carried.force
    );
}

/// A soft cylinder falls across another, fine and coarse.
pub fn s7(tolerance: Option<f32>) {
    for fineness in Fineness::ALL {
        let run = soft::s7(fineness, tolerance.unwrap_or(soft::TOLERANCE));
        print(&run, &format!("S7 {}", fineness.name()));
        println!("    lower at {:.3} m, upper at {:.3} m", run.height(0), run.height(1));
    }
}
