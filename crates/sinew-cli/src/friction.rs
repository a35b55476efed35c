//! `sinew friction`: the bench of FC 5.3. A mass of 1 kg is pulled by a constant and a sine, once with each law; curves,
//! loops and runs as plots and CSV, and the time of one update.

use crate::failure::{Failure, named};
use crate::interrupt;
use crate::output::Table;
use crate::place;
use crate::plot::Plot;
use crate::screen::screen;
use sinew::friction::{Coefficients, Contact, Eight, Law, Memory};
use sinew_scene::friction_bench::{Bench, Sample};
use sinew_scene::open::law_named;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Which laws, and where to.
#[derive(clap::Args)]
pub struct Args {
    /// Laws: coulomb, viscous, stiction, stribeck, karnopp, dahl, lugre, elasto-plastic; none: all of them
    #[arg(value_name = "LAW")]
    laws: Vec<String>,
    /// Folder for the plots and tables; made if it is not there
    #[arg(long, value_name = "DIR", default_value = "friction")]
    out: PathBuf,
}

/// Runs the bench.
pub fn friction(args: &Args) -> Result<(), Failure> {
    let laws = if args.laws.is_empty() {
        Law::all().to_vec()
    } else {
        args.laws.iter().map(|name| law_named(name)).collect::<Result<Vec<_>, _>>()?
    };
    place::folder(&args.out)?;
    let bench = Bench::default();
    let mut table = Table::new(1, ["law", "ns alone", "ns of eight", "x at 5 s [mm]", "drift 6-10 s [um]"]);
    let mut all = Vec::new();
    interrupt::install();
    for law in laws {
        if interrupt::requested() {
            return Err(Failure::Stopped(format!("stopped before the law {}", law.name())));
        }
        let run = bench.run(law);
        write_law(&args.out, &bench, law, &run)?;
        let at = |time: f64| run[((time / bench.h).round() as usize).clamp(1, run.len()) - 1].x;
        let [alone, eight] = cost(law);
        table.row(vec![
            law.name().to_owned(),
            format!("{alone:.1}"),
            format!("{eight:.1}"),
            format!("{:.3}", 1e3 * at(5.0)),
            format!("{:.3}", 1e6 * (at(10.0) - at(6.0))),
        ]);
        all.push((law.name(), run));
    }
    let mut compared = Plot::new("Place under 1 N + 2.5 N (then 1.25 N) sine, 1 kg", "time [s]", "place [m]");
    for (name, run) in &all {
        compared = compared.line(name, run.iter().map(|s| [s.time, s.x]));
    }
    place::save(&args.out.join("places.svg"), compared.svg().as_bytes())?;
    let mut out = screen();
    table.write(&mut out)?;
    writeln!(out, "plots and tables are in {}", named(&args.out))?;
    out.flush()?;
    Ok(())
}

/// Four plots and three tables of a law.
fn write_law(folder: &Path, bench: &Bench, law: Law, run: &[Sample]) -> Result<(), Failure> {
    let name = law.name();
    let steady = bench.steady(law);
    let loops = [bench.cycle(law, 20e-6), bench.cycle(law, 40e-6)];
    let save = |what: &str, plot: Plot| place::save(&folder.join(format!("{name}-{what}.svg")), plot.svg().as_bytes());
    let force = "friction [N]";
    save(
        "velocity",
        Plot::new(format!("{name}: friction in steady slip"), "velocity [m/s]", force)
            .line(name, steady.iter().map(|s| [s.v, s.friction])),
    )?;
    let [small, large] = &loops;
    save(
        "displacement",
        Plot::new(format!("{name}: friction over a cycle of place at 1 Hz"), "place [m]", force)
            .line("20 um", small.iter().map(|s| [s.x, s.friction]))
            .line("40 um", large.iter().map(|s| [s.x, s.friction])),
    )?;
    let over = |what: &str, unit: &str| Plot::new(format!("{name}: {what} under the pull"), "time [s]", unit);
    save("place", over("place", "place [m]").line(name, run.iter().map(|s| [s.time, s.x])))?;
    save("speed", over("velocity", "velocity [m/s]").line(name, run.iter().map(|s| [s.time, s.v])))?;
    save(
        "force",
        over("forces", "force [N]")
            .line("pull", run.iter().map(|s| [s.time, s.pull]))
            .line("friction", run.iter().map(|s| [s.time, s.friction])),
    )?;
    for (what, samples) in [("steady", &steady[..]), ("cycle", &small[..]), ("run", run)] {
        let mut text = String::from("time_s,pull_n,x_m,v_m_s,friction_n\n");
        for s in samples {
            let _ = writeln!(text, "{:.6},{},{},{},{}", s.time, s.pull, s.x, s.v, s.friction);
        }
        place::save(&folder.join(format!("{name}-{what}.csv")), text.as_bytes())?;
    }
    Ok(())
}

/// Updates a round, and rounds; the fastest round counts, so that a busy machine hardly shows.
const UPDATES: usize = 200;
const ROUNDS: usize = 60;
/// Batches of eight in a scene.
const MANY: usize = 16;

/// Time of one update [ns]: alone, and as one of eight. Slip of ±50 mm/s and more, so that some stick and most slide.
fn cost(law: Law) -> [f64; 2] {
    let pair = Coefficients { holding: 0.6, slipping: 0.4 };
    let speed = |i: usize| (i % 100) as sinew::Real * 1e-3 - 0.05;
    let eight = Eight {
        h: 5e-3,
        normal: [1.0; 8],
        holding: [pair.holding; 8],
        kinetic: [pair.slipping; 8],
        velocity: [[0.0; 8]; 2],
        response: [5e-3; 8],
        stretch: [[0.0; 8]; 2],
        slipping: [0.0; 8],
        force: [[0.0; 8]; 2],
    };
    let mut memory = Memory::default();
    let best = |work: &mut dyn FnMut(usize)| {
        let mut least = f64::INFINITY;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            for i in 0..UPDATES {
                work(i);
            }
            least = least.min(start.elapsed().as_secs_f64());
        }
        least * 1e9 / UPDATES as f64
    };
    // contacts of a scene do not wait for each other
    let mut many = vec![eight; MANY];
    let together = best(&mut |i| {
        for (k, eight) in many.iter_mut().enumerate() {
            eight.velocity = [[speed(i + k); 8], [0.01; 8]];
        }
        law.friction_eights(std::hint::black_box(&mut many));
    });
    let alone = best(&mut |i| {
        let contact = Contact { h: 5e-3, normal: 1.0, coefficients: pair, free: [speed(i), 0.01], response: 5e-3 };
        memory = law.friction(std::hint::black_box(&contact), memory).memory;
    });
    [alone, together / (8 * MANY) as f64]
}
