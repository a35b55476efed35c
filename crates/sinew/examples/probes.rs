//! Random probes pressed deep into soft blocks (`tests/common/probes.rs`): a table of where contact is lost, the force
//! drops or the reported penetration is wrong, and how many of the probes are good.
//!
//! `cargo run --release -p sinew --example probes -- [count] [finest mesh, 1 to 3] [speed in mm/s] [first]`
//!
//! With `look K FROM TO`: the contacts of probe K in every step between two depths [mm].

#[path = "../tests/common/probes.rs"]
mod probes;

use probes::{Run, Scene, Verdict, drawn, run};
use sinew::Real;

/// Prints the contacts of a probe in every step between two depths [m], in axes of the tool from its tip.
fn look(scene: Scene, from: Real, to: Real) {
    println!("{scene:?}");
    let mut run = Run::new(scene);
    while run.depth() < to {
        if run.depth() + scene.speed * scene.dt < from {
            run.step();
            continue;
        }
        let s = run.sample();
        let (mm, pose) = (1e3, run.pose());
        println!(
            "{:6.2} mm {:8.4} N, penetration {:7.3} mm, true {:7.3}",
            s.depth * mm,
            s.force,
            s.reported * mm,
            s.truth * mm
        );
        for c in &run.world.report().contacts {
            let (at, n) = (pose.unpoint(c.point) * mm, pose.rotation.inverse() * c.normal);
            println!("      {:8.4} N gap {:7.3} mm normal {n:6.3} at {at:7.2}", c.normal_force(), c.gap * mm);
        }
    }
}

fn main() {
    if std::env::args().nth(1).is_some_and(|a| a == "look") {
        let number = |k: usize| std::env::args().nth(k).and_then(|n| n.parse().ok()).unwrap_or(0.0);
        let scene = drawn(1 + number(2) as usize).last().map(|scene| Scene { speed: 0.02, ..scene });
        return scene.into_iter().for_each(|scene| look(scene, number(3) * 1e-3, number(4) * 1e-3));
    }
    let number = |k: usize, or: Real| std::env::args().nth(k).and_then(|n| n.parse().ok()).unwrap_or(or);
    let (count, finest, speed, first) = (number(1, 200.0), number(2, 3.0), number(3, 20.0), number(4, 0.0));
    let (mut held, mut steady, mut right, mut good, mut all) = (0, 0, 0, 0, 0);
    println!("    k  tool, mm         model         cells  lost mm  drop %  at mm  error mm  true mm  force N");
    for (k, scene) in drawn(count as usize).enumerate().skip(first as usize) {
        if scene.cells[0] as Real > 10.0 * (2.0 as Real).powf(finest - 1.0) {
            continue;
        }
        let scene = Scene { speed: speed * 1e-3, ..scene };
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
