//! P4: the cost of reading a file. A file of n bytes may take less than 64 MB + 20 n of memory and one second per
//! megabyte, whatever its content; a small file that claims to be large, or that refers to itself, must be refused
//! within 10 ms. Time is CPU time where Linux reports it, the minimum of several runs, so that other load on the
//! machine does not affect the result.

use crate::{TALLY, large, small};
use std::time::Instant;

/// Memory that any file may take [bytes], and per byte of the file.
const FLOOR: usize = 64 << 20;
pub const SHARE: usize = 20;
/// Time that a file may take per byte [s].
const SECONDS: f64 = 1e-6;
/// Time limit of the refusal of a false claim [s].
const REFUSED: f64 = 0.010;

/// Reads a file; true when it was accepted.
type Reader = Box<dyn Fn(&[u8]) -> bool>;

/// A file, and its reader.
pub struct Case {
    pub name: String,
    pub bytes: Vec<u8>,
    /// Allowed memory per byte of the file [bytes].
    pub share: usize,
    pub read: Reader,
}

/// Cost of reading: minimum time of several runs [s], maximum memory [bytes], and whether the file was accepted.
struct Cost {
    seconds: f64,
    memory: usize,
    taken: bool,
}

/// CPU time of this thread [s]; `None` where the system does not report it.
fn processor() -> Option<f64> {
    // the counter is updated when the thread yields
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(1e-9 * text.split_whitespace().next()?.parse::<f64>().ok()?)
}

/// Other load on the machine makes a run longer, never shorter: the minimum of several is taken.
fn cost(case: &Case, times: usize, enough: f64) -> Cost {
    let mut cost = Cost { seconds: f64::INFINITY, memory: 0, taken: false };
    for _ in 0..times {
        TALLY.forget_peak();
        let (before, worked, clock) = (TALLY.held(), processor(), Instant::now());
        cost.taken = (case.read)(&case.bytes);
        let wall = clock.elapsed().as_secs_f64();
        let own = worked.zip(processor()).map_or(wall, |(start, end)| end - start);
        cost.seconds = cost.seconds.min(own);
        cost.memory = cost.memory.max(TALLY.peak() - before);
        if cost.seconds < enough {
            break;
        }
    }
    cost
}

/// Runs all files, large and small.
pub fn p4(less: u32) -> Result<String, String> {
    let mut wrong = Vec::new();
    let (mut slowest, mut hungriest) = ((0.0, String::new()), (0.0, String::new()));
    let cases = large::cases((2 << 20) / less as usize);
    let count = cases.len();
    for case in cases {
        let n = case.bytes.len();
        let allowed = SECONDS * n as f64;
        let cost = cost(&case, 3, allowed);
        let (pace, hunger) = (cost.seconds / n as f64, cost.memory as f64 / n as f64);
        println!("p4: {:<40} {n:>9} bytes, {:>8.4} s a MB, {hunger:>6.1} bytes a byte", case.name, 1e6 * pace);
        if pace > slowest.0 {
            slowest = (pace, case.name.clone());
        }
        if hunger > hungriest.0 {
            hungriest = (hunger, case.name.clone());
        }
        if cost.memory > FLOOR + case.share * n {
            wrong.push(format!("{}: {} bytes of memory for {n}", case.name, cost.memory));
        }
        if cost.seconds > allowed {
            wrong.push(format!("{}: {:.3} s for {n} bytes", case.name, cost.seconds));
        }
    }
    let claims = small::cases();
    let mut longest = (0.0, String::new());
    for case in &claims {
        // deep nesting needs a long file: the time limit then depends on the size
        let allowed = REFUSED.max(SECONDS * case.bytes.len() as f64);
        let cost = cost(case, 5, allowed);
        if cost.seconds > longest.0 {
            longest = (cost.seconds, case.name.clone());
        }
        if cost.taken {
            wrong.push(format!("{}: was taken", case.name));
        }
        if cost.seconds > allowed || cost.memory > FLOOR {
            wrong.push(format!("{}: {:.4} s, {} bytes of memory", case.name, cost.seconds, cost.memory));
        }
    }
    let message = format!(
        "{count} files of about {} MB: at most {:.2} s a MB ({}) and {:.1} bytes a byte ({}); {} claims refused, {:.2} ms at most ({})",
        (2.0 / f64::from(less)),
        1e6 * slowest.0,
        slowest.1,
        hungriest.0,
        hungriest.1,
        claims.len(),
        1e3 * longest.0,
        longest.1
    );
    if wrong.is_empty() { Ok(message) } else { Err(format!("{message}; {} not:\n{}", wrong.len(), wrong.join("\n"))) }
}
