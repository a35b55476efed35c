//! S4: times the lattice of springs and the plain C++ loops of the peers.

use sinew::kernels::Pool;
use sinew_peers::Times;
use sinew_peers::lattice::{Body, RATIO};
use std::process::Command;

/// Alternations between Sinew and the baseline.
const ROUNDS: usize = 3;
/// Loops of the baseline for which a ratio is printed; all run on one thread.
const LOOPS: [&str; 2] = ["scatter-AoS3", "scatter-xyzw-SSE"];

/// Runs Sinew, and alternately the baseline when there is one.
pub fn run(steps: usize, threads: usize, baseline: Option<&str>) {
    let pool = Pool::new(threads);
    let mut plain = Body::new(0.0, &pool);
    let mut damped = Body::new(RATIO, &pool);
    println!(
        "S4, {} nodes (shuffled), {} springs, {threads} thread(s), {ROUNDS} rounds of {steps} steps",
        plain.nodes(),
        plain.springs
    );
    println!("{:<36} {:>9} {:>9} {:>10}", "", "min ms", "median ms", "ns/spring");
    let mut ours = [Vec::new(), Vec::new()];
    let mut theirs = LOOPS.map(|_| Vec::new());
    for _ in 0..ROUNDS {
        ours[0].push(best(&plain.time(steps)));
        ours[1].push(best(&damped.time(steps)));
        let table = baseline.and_then(baseline_table).unwrap_or_default();
        for (name, times) in LOOPS.iter().zip(&mut theirs) {
            times.extend(times_of(&table, name));
        }
    }
    let springs = plain.springs as f64;
    let mut least = Vec::new();
    for (name, times) in ["sinew, springs", "sinew, springs and dashpots"].iter().zip(&ours) {
        least.push(print(name, times, springs));
    }
    for (name, times) in LOOPS.iter().zip(&theirs).filter(|(_, times)| !times.is_empty()) {
        let [min, median] = print(&format!("baseline {name}"), times, springs);
        println!("{:<36} {:>9.2} {:>9.2}", "  sinew, springs / baseline", least[0][0] / min, least[0][1] / median);
    }
    println!(
        "bytes a spring: 2 x 12 (index, k, kL) streamed, 2 x 16 gathered; flops 2 x 18, of them a root and a division each"
    );
    println!("largest |x|: springs {:.4} m, springs and dashpots {:.4} m", plain.reach(), damped.reach());
}

/// Minimum and median time of a step [ms].
fn best(ms: &[f64]) -> [f64; 2] {
    let Times { min, median, .. } = Times::of(ms);
    [min, median]
}

/// Prints the minimum of each column; returns them [ms].
fn print(name: &str, times: &[[f64; 2]], springs: f64) -> [f64; 2] {
    let best = [0, 1].map(|k| times.iter().map(|t| t[k]).fold(f64::INFINITY, f64::min));
    println!("{name:<36} {:>9.4} {:>9.4} {:>10.2}", best[0], best[1], best[0] * 1e6 / springs);
    best
}

/// The output of the baseline.
fn baseline_table(path: &str) -> Option<String> {
    let output = Command::new(path).arg("S4").output().map_err(|error| eprintln!("{path}: {error}")).ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The columns `ms_min` and `ms_median` of the peers' table.
fn times_of(table: &str, name: &str) -> Option<[f64; 2]> {
    let line = table.lines().find(|line| line.split(',').nth(2) == Some(name))?;
    let mut columns = line.split(',').skip(10).map(str::parse);
    Some([columns.next()?.ok()?, columns.next()?.ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peers_table_is_read_by_the_name_of_the_loop() {
        let table = "# x\nbaseline-cpp,S4,loop,1,2,0,0,3,0.100,1,0.6016,0.6267,9.05,\"note\"";
        assert_eq!(times_of(table, "loop"), Some([0.6016, 0.6267]));
        assert_eq!(times_of(table, "other"), None);
    }
}
