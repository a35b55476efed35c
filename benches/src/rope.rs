//! S3: prints both ropes with both step lengths, beside the analytical solution.

use sinew_peers::Times;
use sinew_peers::rope::{Make, RUN, WHEEL, ideal, run};

/// Runs it for 0.8 s at 20 ms and at 1/240 s.
pub fn s3(substeps: Option<u32>) {
    let [near, far] = [ideal(WHEEL, 0.8), ideal(RUN, 0.8)];
    println!(
        "S3, after 0.8 s without slip: {:.3} m/s, {:.3} rad/s with the rope at {WHEEL} m; {:.3}, {:.3} at {RUN} m",
        near[0], near[1], far[0], far[1]
    );
    for make in Make::ALL {
        for (step, enough) in make.steps() {
            let substeps = substeps.unwrap_or(enough);
            let run = run(make, step, substeps);
            let (Times { median, p99, .. }, [heavy, light]) = (Times::of(&run.ms), run.ends);
            println!(
                "S3 {make:?}, {:.2} ms, {substeps} substeps: median {median:.3} ms, p99 {p99:.3}; heavy {heavy:.3} m/s, light {light:.3}, wheel {:.3} rad/s, stretch at most {:.2} %, {:.2} mm into the wheel",
                1e3 * step,
                run.wheel,
                100.0 * run.stretch,
                1e3 * run.depth
            );
        }
    }
}
