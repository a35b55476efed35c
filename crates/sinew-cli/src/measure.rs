//! What a run amounts to: figures gathered step by step, and the object that `--json` writes.

use crate::books::Books;
use crate::frozen::Frozen;
use crate::grips::{Pressing, grips};
use crate::output::short;
use crate::stretch::Edges;
use serde::Serialize;
use sinew::{BodySpec, ConstraintId, ConstraintSpec, Input, Motion, Phase, Report, Slot, Vec3, World};
use sinew_scene::census::Census;
use sinew_scene::faults::is_finite;
use sinew_scene::links::{Link, links, soft_energy};
use sinew_scene::validate::tools::{num, wide};
use std::collections::BTreeMap;

/// What `run --json` writes: the fields are a contract.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Name of the scene.
    pub scene: String,
    /// Which of several runs this is; only in benchmarks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Steps made.
    pub steps: u64,
    /// Step [s].
    pub dt: f64,
    /// Substeps of a step.
    pub substeps: u32,
    /// Worker threads.
    pub threads: u32,
    pub counts: BodyCounts,
    pub constraints: RowCounts,
    pub ms: Times,
    /// Root mean square change of impulse of each sweep of a step, mean over the steps [N·s].
    pub residual_by_iteration: Vec<f64>,
    /// Deepest penetration of the run [m].
    pub penetration_max: f64,
    /// Largest stretch of an edge of a sheet or rope, of a distance set or of a rod or rope on nodes, as a share of its
    /// length; 0 where there is none.
    pub stretch_max: f64,
    /// Change of total momentum as a share of what there was; nothing when the outside can take or give some.
    pub momentum_error: Option<f64>,
    pub energy: Energy,
    /// Causes of all changes of energy.
    pub ledger: Books,
    /// What soft bodies do to rigid ones in the last step.
    pub grips: Vec<Pressing>,
    /// Bodies that were frozen, over the whole run.
    pub faults: u64,
    /// Which, when and why; at most 100.
    pub frozen: Vec<Frozen>,
    /// True when there is an edge, rod or rope whose stretch was measured.
    #[serde(skip)]
    pub measures_stretch: bool,
    /// Whether all of the last state is finite.
    pub finite: bool,
    /// Hash of the last state, hexadecimal.
    pub state_hash: String,
}

/// Sizes of the model at the end of the run.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct BodyCounts {
    pub rigid: usize,
    pub nodes: usize,
    pub faces: usize,
    pub springs: usize,
    pub tets: usize,
}

/// Scalar rows of a step: a contact point has three.
#[derive(Clone, Debug, Serialize)]
pub struct RowCounts {
    pub max: u64,
    pub mean: f64,
    /// Of the step with the most rows: the parts add up to `max`.
    pub by_kind: BTreeMap<&'static str, u64>,
}

/// Wall time of a step [ms].
#[derive(Clone, Debug, Serialize)]
pub struct Times {
    pub mean: f64,
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
    /// Mean of each phase.
    pub by_phase: ByPhase,
}

/// Mean time of each phase [ms], in their order.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByPhase(pub [f64; Phase::ALL.len()]);

impl Serialize for ByPhase {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Phase::ALL.iter().zip(self.0).map(|(phase, ms)| (phase.name(), ms)))
    }
}

/// Energies at the end of the run [J].
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Energy {
    pub kinetic: f64,
    pub elastic: f64,
    pub gravity: f64,
}

/// Gathers the figures of a run.
pub struct Measure {
    times: Vec<f64>,
    phases: [f64; Phase::ALL.len()],
    rows_sum: u64,
    /// Of contacts, of joints and others, and inside position based bodies: the step with the most.
    most_rows: [u64; 3],
    residuals: Vec<(f64, u64)>,
    penetration: f64,
    stretch: f64,
    faults: u64,
    frozen: Vec<Frozen>,
    books: Books,
    links: Vec<Link>,
    edges: Edges,
    /// Momentum at the start and its measure, while nothing outside can change it.
    momentum: Option<([f64; 3], f64)>,
}

impl Measure {
    /// Begins with a world before its first step.
    pub fn new(world: &World) -> Self {
        Self {
            times: Vec::new(),
            phases: [0.0; Phase::ALL.len()],
            rows_sum: 0,
            most_rows: [0; 3],
            residuals: Vec::new(),
            penetration: 0.0,
            stretch: 0.0,
            faults: 0,
            frozen: Vec::new(),
            books: Books::default(),
            links: links(world),
            edges: Edges::of(world),
            momentum: is_closed(world).then(|| momentum(world)),
        }
    }

    /// Takes in a step that was just made with this input.
    pub fn note(&mut self, world: &World, input: &Input, ms: f64) {
        let report = world.report();
        self.times.push(ms);
        for (sum, seconds) in self.phases.iter_mut().zip(report.seconds) {
            *sum += 1e3 * seconds;
        }
        self.note_rows(report);
        self.penetration = self.penetration.max(short(report.penetration));
        self.faults += report.faults.len() as u64;
        Frozen::note(world, &mut self.frozen);
        self.books.note(world);
        self.stretch = self.stretch.max(self.edges.stretch(world));
        for link in self.links.iter().filter(|l| l.on_nodes) {
            self.stretch = self.stretch.max(link.stretch(world));
        }
        // commands may apply forces
        if !input.commands.is_empty() {
            self.momentum = None;
        }
    }

    fn note_rows(&mut self, report: &Report) {
        let counts = &report.counts;
        let rows = [counts.contact_rows, counts.constraint_rows, counts.internal_rows].map(u64::from);
        self.rows_sum += rows.iter().sum::<u64>();
        if rows.iter().sum::<u64>() > self.most_rows.iter().sum() {
            self.most_rows = rows;
        }
        for (i, &r) in report.residuals.iter().enumerate() {
            if i == self.residuals.len() {
                self.residuals.push((0.0, 0));
            }
            self.residuals[i].0 += num(r);
            self.residuals[i].1 += 1;
        }
    }

    /// Sums up.
    pub fn summary(&self, scene: &str, world: &World) -> Summary {
        let settings = world.settings();
        let steps = self.times.len() as u64;
        let per_step = 1.0 / steps.max(1) as f64;
        let energies = world.report().energies;
        let [contact, joint, inner] = self.most_rows;
        let by_kind = [("contact", contact), ("joint", joint), ("inner", inner)];
        Summary {
            scene: scene.to_owned(),
            variant: None,
            steps,
            dt: short(settings.dt),
            substeps: settings.substeps,
            threads: settings.threads,
            counts: counts(world),
            constraints: RowCounts {
                max: self.most_rows.iter().sum(),
                mean: self.rows_sum as f64 * per_step,
                by_kind: by_kind.into_iter().collect(),
            },
            ms: Times::of(&self.times, self.phases.map(|sum| sum * per_step)),
            residual_by_iteration: self.residuals.iter().map(|(sum, count)| sum / *count as f64).collect(),
            penetration_max: self.penetration,
            stretch_max: self.stretch,
            momentum_error: self.momentum.map(|(start, scale)| change(start, momentum(world).0) / scale),
            energy: Energy {
                kinetic: short(energies.kinetic),
                // an empty sum would be -0
                elastic: self.links.iter().fold(soft_energy(world), |sum, l| sum + l.energy(world)),
                gravity: short(energies.gravity),
            },
            ledger: self.books.clone(),
            grips: grips(world),
            faults: self.faults,
            frozen: self.frozen.clone(),
            measures_stretch: !self.edges.is_empty() || self.links.iter().any(|l| l.on_nodes && !l.is_spring()),
            finite: is_finite(world),
            state_hash: format!("{:016x}", world.hash()),
        }
    }
}

impl Times {
    fn of(times: &[f64], phases: [f64; Phase::ALL.len()]) -> Self {
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        Self {
            mean: times.iter().sum::<f64>() / times.len().max(1) as f64,
            p50: percentile(&sorted, 0.5),
            p99: percentile(&sorted, 0.99),
            max: sorted.last().copied().unwrap_or(0.0),
            by_phase: ByPhase(phases),
        }
    }
}

/// The smallest value that this share of the sorted values does not pass.
pub fn percentile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

fn counts(world: &World) -> BodyCounts {
    // a world with custom rows has no blueprint to count
    let census = Census::of(world).unwrap_or_default();
    BodyCounts {
        rigid: world.bodies().filter(|b| b.is_rigid()).count(),
        nodes: world.bodies().map(|b| b.node_positions().len()).sum(),
        faces: world.bodies().filter_map(|b| b.surface()).map(|s| s.triangles().len()).sum(),
        springs: census.springs + links(world).iter().filter(|l| l.is_spring()).count(),
        tets: census.tets,
    }
}

/// True when nothing outside the bodies can take or give momentum: no gravity, nothing fixed, no drag.
fn is_closed(world: &World) -> bool {
    let Ok(blueprint) = world.blueprint() else { return false };
    let alone = |b: &BodySpec| {
        matches!(b, BodySpec::Rigid(r) if r.motion == Motion::Dynamic && r.linear_damping == 0.0)
            || matches!(b, BodySpec::Particles(p) if p.pinned.is_empty() && p.damping == 0.0)
    };
    let inner = |(index, slot): (usize, &Slot<ConstraintSpec>)| {
        let id = ConstraintId::from_parts(index as u32, slot.generation);
        slot.item.is_none() || world.is_internal(id).is_ok_and(|internal| internal)
    };
    world.settings().gravity == Vec3::ZERO
        && blueprint.bodies.iter().filter_map(|s| s.item.as_ref()).all(alone)
        && blueprint.constraints.iter().enumerate().all(inner)
}

/// Total momentum and the sum of its sizes [kg·m/s].
fn momentum(world: &World) -> ([f64; 3], f64) {
    let (mut total, mut sizes) = ([0.0; 3], f64::MIN_POSITIVE);
    for body in world.bodies() {
        let p = wide(body.velocity()).map(|v| num(body.mass()) * v);
        for (sum, p) in total.iter_mut().zip(p) {
            *sum += p;
        }
        sizes += change(p, [0.0; 3]);
    }
    (total, sizes)
}

fn change(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_of_the_list() {
        let list: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(percentile(&list, 0.5), 50.0);
        assert_eq!(percentile(&list, 0.99), 99.0);
        assert_eq!(percentile(&list, 1.0), 100.0);
        assert_eq!(percentile(&[3.0], 0.5), 3.0);
        assert_eq!(percentile(&[], 0.5), 0.0);
    }

    #[test]
    fn a_pudding_on_the_floor_holds_elastic_energy() {
        let scene = sinew_scene::gallery::find("pudding").expect("pudding");
        let mut world = (scene.build)().expect("pudding");
        // nothing but rounding of places
        let before = soft_energy(&world);
        for _ in 0..120 {
            world.step(&Input::none());
        }
        let after = soft_energy(&world);
        assert!(after > 1e-4 && before < 1e-3 * after, "{before} J, then {after} J");
    }

    #[test]
    fn only_worlds_without_an_outside_have_a_momentum_error() {
        let closed = |name: &str| {
            let scene = sinew_scene::gallery::find(name).expect(name);
            is_closed(&(scene.build)().expect(name))
        };
        assert!(closed("swarm"));
        assert!(!closed("stack") && !closed("cradle") && !closed("mixed-particles"));
    }
}
