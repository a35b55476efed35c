//! P4: what a file may cost. A file of n bytes takes less than 64 MB + 20 n of memory and a second a megabyte, whatever is in
//! it; a small one that claims to be large, or that repeats itself, is refused within 10 ms. Time is that of the processor where Linux
//! tells it, the least of several: other work on the machine must not decide.

use crate::{TALLY, large, small};
use std::time::Instant;

/// Memory that any file may take [bytes], and for each of its own bytes.
const FLOOR: usize = 64 << 20;
pub const SHARE: usize = 20;
/// Time that a file may take for each of its bytes [s].
const SECONDS: f64 = 1e-6;
/// Time in which a claim is refused [s].
const REFUSED: f64 = 0.010;

/// Reads a file; true when it was taken.
type Reader = Box<dyn Fn(&[u8]) -> bool>;

/// A file, and what reads it.
pub struct Case {
    pub name: String,
    pub bytes: Vec<u8>,
    /// Memory for each of its bytes [bytes].
    pub share: usize,
    pub read: Reader,
}

/// What reading took: the least time of several [s], the most memory [bytes], and whether the file was taken.
struct Cost {
    seconds: f64,
    memory: usize,
    taken: bool,
}

/// Time that this thread had a processor [s]; none where the system does not tell.
fn processor() -> Option<f64> {
    // the count is brought up to date when the thread gives way
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(1e-9 * text.split_whitespace().next()?.parse::<f64>().ok()?)
}

/// Other work on the machine makes a reading longer, never shorter: the least of some is taken.
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

/// All files, large and small.
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
        // nesting needs room: such a file may take its time by its size
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
    let told = format!(
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
    if wrong.is_empty() { Ok(told) } else { Err(format!("{told}; {} not:\n{}", wrong.len(), wrong.join("\n"))) }
}
