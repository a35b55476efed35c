//! Random probes pressed deep into soft blocks (`tests/common/probes.rs`): a table of where contact is lost, the force
//! drops or the reported penetration is wrong, and how many of the probes are good.
//!
//! `cargo run --release -p sinew --example probes -- [count] [finest mesh, 1 to 3] [speed in mm/s] [first]`

#[path = "../tests/common/probes.rs"]
mod probes;

use probes::{Verdict, drawn, run};
use sinew::Real;

fn main() {
    let number = |k: usize, or: Real| std::env::args().nth(k).and_then(|n| n.parse().ok()).unwrap_or(or);
    let (count, finest, speed, first) = (number(1, 200.0), number(2, 3.0), number(3, 20.0), number(4, 0.0));
    let (mut held, mut steady, mut right, mut good, mut all) = (0, 0, 0, 0, 0);
    println!("    k  tool, mm         model         cells  lost mm  drop %  at mm  error mm  true mm  force N");
    for (k, scene) in drawn(count as usize).enumerate().skip(first as usize) {
        if scene.cells[0] as Real > 10.0 * (2.0 as Real).powf(finest - 1.0) {
            continue;
        }
        let scene = probes::Scene { speed: speed * 1e-3, ..scene };
        let v = Verdict::of(&run(scene, 0.04, 1e-3));
        all += 1;
        held += u32::from(v.is_held());
        steady += u32::from(v.is_steady());
        right += u32::from(v.is_true());
        good += u32::from(v.is_good());
        println!(
            "{} {k:3}  {:<15}  {:<12}  {:5}  {:7.1}  {:6.1}  {:5.1}  {:8.3}  {:7.3}  {:7.3}",
            if v.is_good() { ' ' } else { '*' },
            format!("{:.3?}", scene.tool),
            format!("{:?}", scene.model),
            scene.cells[0],
            v.lost * 1e3,
            v.drop * 100.0,
            v.dropped * 1e3,
            v.error * 1e3,
            v.truth * 1e3,
            v.force
        );
    }
    println!("of {all}: contact held {held}, force steady {steady}, penetration true {right}, all three {good}");
}
