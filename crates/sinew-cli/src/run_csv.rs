//! `--csv`: one line a step, with the usual columns or with those that `--read` names.

use crate::failure::Failure;
use crate::output::{seconds, short};
use crate::place::{Draft, Place};
use sinew::{Ledger, Phase, World};
use sinew_scene::escape::escaped;
use sinew_scene::links::elastic_energy;
use sinew_scene::reading::Reading;

/// A table that grows while the world runs.
pub struct Csv {
    out: Draft,
    readings: Vec<Reading>,
}

impl Csv {
    /// Begins a table of these readings; without any, of the usual columns.
    pub fn create(place: Place, readings: Vec<Reading>) -> Result<Self, Failure> {
        Ok(Self { out: place.begin()?, readings })
    }

    /// The headings.
    pub fn head(&mut self) -> Result<(), Failure> {
        let head = if self.readings.is_empty() {
            let head = "tick,time_s,contacts,contact_rows,constraint_rows,penetration_m,kinetic_j,gravity_j,awake,asleep,faults";
            let phases: Vec<String> = phase_columns().map(|p| format!("{}_ms", p.name())).collect();
            // new columns are at the end: old ones keep their numbers
            let ledger: Vec<String> = Ledger::NAMES.iter().map(|name| format!("ledger_{name}_j")).collect();
            format!("{head},{},elastic_j,{}\n", phases.join(","), ledger.join(","))
        } else {
            let names: Vec<String> = self.readings.iter().map(|r| quoted(r.name())).collect();
            format!("tick,time_s,{}\n", names.join(","))
        };
        self.out.put(head.as_bytes())
    }

    /// The line of the step that was just made.
    pub fn line(&mut self, world: &World) -> Result<(), Failure> {
        let mut line = format!("{},{}", world.state().tick, seconds(world.time()));
        if self.readings.is_empty() {
            usual(world, &mut line);
        }
        self.readings.iter().for_each(|r| line.push_str(&format!(",{}", r.value(world))));
        line.push('\n');
        self.out.put(line.as_bytes())
    }

    /// Gives the file its name.
    pub fn finish(self) -> Result<(), Failure> {
        self.out.finish()
    }
}

/// The phases in the order of their columns: those that came later are at the end, so that old columns keep their numbers.
fn phase_columns() -> impl Iterator<Item = Phase> {
    let late = [Phase::Plan, Phase::Cloth];
    Phase::ALL.into_iter().filter(move |p| !late.contains(p)).chain(late)
}

fn usual(world: &World, line: &mut String) {
    let r = world.report();
    let (c, e) = (&r.counts, &r.energies);
    line.push_str(&format!(",{},{},{}", c.contacts, c.contact_rows, c.constraint_rows));
    for x in [r.penetration, e.kinetic, e.gravity] {
        line.push_str(&format!(",{}", short(x)));
    }
    line.push_str(&format!(",{},{},{}", c.awake, c.asleep, r.faults.len()));
    for phase in phase_columns() {
        line.push_str(&format!(",{:.6}", 1e3 * r.seconds[phase as usize]));
    }
    line.push_str(&format!(",{}", elastic_energy(world)));
    for entry in r.ledger.total.values() {
        line.push_str(&format!(",{entry}"));
    }
}

/// A heading that may hold a comma or a quote, and control characters of a name.
pub fn quoted(name: &str) -> String {
    let name = escaped(name);
    if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.into_owned() }
}
