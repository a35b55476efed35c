//! Prints the scene that a file of `fuzz/corpus/scene_step` encodes, as text; with `--run` it is also run, and the time
//! of each step is printed: `cargo run -p sinew-fuzz --example scene -- [--run] FILE..`

use std::time::Instant;

fn main() -> std::io::Result<()> {
    let (options, files): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|word| word.starts_with("--"));
    for file in files {
        println!("# {file}");
        let Some((scene, text)) = sinew_fuzz::scene::generated(&std::fs::read(&file)?) else {
            println!("# nothing is left of it");
            continue;
        };
        println!("{text}");
        if options.is_empty() {
            continue;
        }
        let mut world = scene.build().expect("it was built once");
        for _ in 0..60 {
            let input = scene.input(world.settings(), world.state().tick);
            let begin = Instant::now();
            let report = world.step(&input);
            let (ms, counts) = (1e3 * begin.elapsed().as_secs_f64(), report.counts);
            println!("# {ms:.3} ms, faults {:?}, {counts:?}", report.faults);
        }
    }
    Ok(())
}
