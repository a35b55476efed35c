//! The energy ledger of a run for `--json`: causes of all changes of energy, and what has none (`docs/ledger.md`).

use serde::Serialize;
use sinew::{BodyLedger, Ledger, World};

/// Entries of a ledger by name [J].
#[derive(Clone, Copy, Debug, Default)]
pub struct Entries(Ledger);

impl Serialize for Entries {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Ledger::NAMES.iter().zip(self.0.values()))
    }
}

/// The ledger of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Books {
    /// Sums over the run [J].
    pub entries: Entries,
    /// Energy that changed its form, summed over the steps: the scale for `unexplained` [J].
    pub turnover: f64,
    /// `|unexplained|` as a share of the turnover.
    pub unexplained_share: f64,
    /// Largest unexplained change of momentum in a step [N·s].
    pub momentum_unexplained: f64,
    /// The same of angular momentum about the origin [N·m·s]; only with `--ledger`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub angular_unexplained: Option<f64>,
    /// Balance of each body over the run; only with `--ledger`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<Balance>,
}

/// Balance of a body over the run [J].
#[derive(Clone, Debug, Serialize)]
pub struct Balance {
    pub body: String,
    /// Slot of the body, and that of a body of its island in the last step in which it moved.
    pub slot: u32,
    pub island: u32,
    pub stored: f64,
    pub external: f64,
    pub exchange: f64,
    pub internal: f64,
    pub unexplained: f64,
}

impl Books {
    /// Takes in a step.
    pub fn note(&mut self, world: &World) {
        let found = &world.report().ledger;
        self.entries = Entries(found.total);
        self.turnover = found.turnover;
        self.unexplained_share = found.total.unexplained.abs() / found.turnover.max(f64::MIN_POSITIVE);
        self.momentum_unexplained = self.momentum_unexplained.max(size(found.momentum.unexplained));
        for body in &found.bodies {
            self.note_body(world, body);
        }
        if !found.bodies.is_empty() {
            let so_far = self.angular_unexplained.unwrap_or(0.0);
            self.angular_unexplained = Some(so_far.max(size(found.momentum.angular_unexplained)));
        }
    }

    fn note_body(&mut self, world: &World, found: &BodyLedger) {
        let slot = found.body.to_parts().0;
        let at = match self.bodies.binary_search_by_key(&slot, |b| b.slot) {
            Ok(at) => at,
            Err(at) => {
                let body = world.body(found.body).map_or_else(|_| String::new(), |b| b.name().to_owned());
                let [stored, external, exchange, internal, unexplained] = [0.0; 5];
                let island = found.island;
                self.bodies
                    .insert(at, Balance { body, slot, island, stored, external, exchange, internal, unexplained });
                at
            }
        };
        let to = &mut self.bodies[at];
        to.island = found.island;
        to.stored += found.stored;
        to.external += found.external;
        to.exchange += found.exchange;
        to.internal += found.internal;
        to.unexplained += found.unexplained;
    }

    /// Entries that are not zero, for people.
    pub fn list(&self) -> String {
        let parts = Ledger::NAMES.iter().zip(self.entries.0.values()).skip(3).filter(|(_, v)| *v != 0.0);
        parts.map(|(name, v)| format!("{name} {v:.4}")).collect::<Vec<_>>().join(", ")
    }
}

fn size(v: [f64; 3]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}
