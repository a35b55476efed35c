//! Nodes connected by distance constraints: the part of a particle body that runs in SIMD lanes. A sheet or rope
//! without other constraints (*bare*) can be taken over for a complete step, so that its nodes stay in a structure of
//! arrays from substep to substep (`contact/cloth/mod.rs`).

use crate::deformable::cloth::cuthill_mckee::cuthill_mckee_order;
use crate::deformable::cloth::distance_lanes::{DistanceLanes, PADS, Places};
use crate::deformable::cloth::fused_substep::{After, Touched};
use crate::deformable::cloth::grid_strips::grid_strips;
use crate::deformable::cloth::self_contact::{Foreseen, SelfContactStep};
use crate::deformable::cloth::soa::ParticleSoa;
use crate::deformable::pbd::{Distance, Rows};
use crate::math::{Block, Blocks, Real, Vec3};

/// Rounds in which the last substep of a step enforces the stretch limit of a sheet with self-contact, alternating with
/// contacts.
const ROUNDS: u32 = 2;

/// Nodes, edges and braces.
#[derive(Clone, Debug)]
pub struct DistanceNetwork {
    /// Positions, velocities and masses.
    pub soa: ParticleSoa,
    /// `Rows::distances` and `Rows::skip_constraints` in lanes.
    edges: DistanceLanes,
    skip_constraints: DistanceLanes,
    /// Positions and inverse masses for rows that are not in strips. (slot_count, and pads) [m, 1/kg]
    pub(crate) places: Vec<Block>,
    /// All rows are in strips.
    woven: bool,
    /// Stretch limit that the last substep enforces, and its number of sweeps.
    pub(crate) limit: (Real, u32),
}

impl DistanceNetwork {
    /// Rows between arbitrary nodes, by index.
    pub fn new(rows: &Rows, masses: &[Real], limit: (Real, u32)) -> Self {
        let order: Vec<u32> = (0..masses.len() as u32).collect();
        let soa = ParticleSoa::new(&order, masses);
        let count = soa.slot_count();
        // lanes without a row act on two points one metre apart with zero inverse mass
        let pads = (0..PADS).map(|k| [(k % 2) as Real, 0.0, 0.0, 0.0]);
        let places = std::iter::repeat_n([0.0; 4], count).chain(pads).collect();
        let (edges, skip_constraints) =
            (DistanceLanes::new(&rows.distances, count), DistanceLanes::new(&rows.skip_constraints, count));
        Self { soa, edges, skip_constraints, places, woven: false, limit }
    }

    /// Arranges the rows in strips where they form a grid, and otherwise renumbers the nodes for locality; there must
    /// be no other constraints.
    pub fn lay_strips(&mut self, rows: &Rows, masses: &[Real]) {
        if let Some(grid_strips) = grid_strips(masses.len(), [&rows.distances, &rows.skip_constraints]) {
            self.soa = ParticleSoa::new(&grid_strips.order, masses);
            self.edges = DistanceLanes::strips(&rows.distances, &grid_strips.strands[0]);
            self.skip_constraints = DistanceLanes::strips(&rows.skip_constraints, &grid_strips.strands[1]);
            self.places = Vec::new();
            self.woven = true;
            return;
        }
        let order = cuthill_mckee_order(masses.len(), rows.distances.iter().map(|row| row.nodes));
        self.soa = ParticleSoa::new(&order, masses);
        let slots = self.soa.slots();
        let moved = |list: &[Distance]| {
            let to = |row: &Distance| Distance { nodes: row.nodes.map(|n| slots[n as usize]), ..*row };
            let mut list: Vec<Distance> = list.iter().map(to).collect();
            list.sort_by_key(|row| row.nodes[0].min(row.nodes[1]));
            list
        };
        let mut rows = Rows {
            distances: moved(&rows.distances),
            skip_constraints: moved(&rows.skip_constraints),
            ..Rows::default()
        };
        rows.colour(masses.len());
        let count = self.soa.slot_count();
        (self.edges, self.skip_constraints) =
            (DistanceLanes::new(&rows.distances, count), DistanceLanes::new(&rows.skip_constraints, count));
    }

    /// Constants of the rows for a substep h [s] and the current inverse masses.
    pub fn prepare(&mut self, h: Real, lanes: bool) {
        let stale = self.soa.take_stale();
        let w = self.soa.inverse_masses();
        self.edges.prepare(|slot| w[slot as usize], (h, lanes), stale);
        self.skip_constraints.prepare(|slot| w[slot as usize], (h, lanes), stale);
    }

    /// Resets the impulses of the previous substep, when a substep has several sweeps.
    pub fn forget(&mut self) {
        self.edges.begin();
        self.skip_constraints.begin();
    }

    /// One sweep; `once`: the only one of its substep.
    pub fn sweep(&mut self, once: bool, lanes: bool) {
        self.edges.sweep(places(self.woven, &mut self.soa, &mut self.places), once, lanes);
        self.skip_constraints.sweep(places(self.woven, &mut self.soa, &mut self.places), once, lanes);
    }

    /// Removes stretch beyond the limit: the corrections of a pair are equal and opposite, so that momentum is
    /// conserved.
    pub fn hold_back(&mut self, lanes: bool) {
        let (limit, sweeps) = self.limit;
        if limit.is_finite() {
            self.edges.limit(places(self.woven, &mut self.soa, &mut self.places), limit, sweeps, lanes);
        }
    }

    /// Copies positions from the structure of arrays to the blocks that the rows use.
    pub fn spill(&mut self, lanes: bool) {
        if !self.woven {
            self.soa.spill(&mut self.places, lanes);
        }
    }

    /// Copies them back.
    pub fn collect(&mut self, lanes: bool) {
        if !self.woven {
            self.soa.collect(&self.places, lanes);
        }
    }

    /// Takes over a bare body for a step of substeps h [s], with its forces, if there are any [N], and gravity [m/s²];
    /// `keep`: factor on the velocities by damping in each substep.
    pub fn load(&mut self, x: Blocks<'_>, v: Blocks<'_>, load: (&[Vec3], Vec3), (h, keep, lanes): (Real, Real, bool)) {
        self.soa.learn_pins(|node| v.get(node)[3]);
        let [a, b, c, _] = x.get(x.len() as u32 / 2);
        self.soa.load(Vec3::new(a, b, c), x, v, lanes);
        self.soa.push(load.0, load.1);
        self.prepare(h, lanes);
        self.soa.start(lanes);
        self.soa.begin(h, keep, lanes);
        self.spill(lanes);
    }

    /// Self-contact of the sheet, on goals; the overlap of pairs that are too close is corrected in positions as well
    /// (`self_contact.rs`).
    fn fold(&mut self, touched: &mut Touched<'_>, [again, places_alone, lanes]: [bool; 3]) {
        let Touched { touches, coupled, params, self_contact: Some(self_contact) } = touched else { return };
        let (step, beside) = (SelfContactStep { params, again, places_alone, lanes }, Foreseen { touches, coupled });
        let count = self.soa.slot_count();
        let mut goals = std::mem::take(if self.woven { &mut self_contact.p } else { &mut self.places });
        if self.woven {
            goals.resize(count, [0.0; 4]);
            self.soa.spill(&mut goals, step.lanes);
        }
        let stale = self_contact.is_stale(&goals[..count], step.params.h);
        if stale || !self_contact.is_empty() {
            self_contact.x.resize(count, [0.0; 4]);
            self.soa.spill_x(&mut self_contact.x, step.lanes);
        }
        if stale {
            self_contact.list(&goals[..count], step.params.h, step.lanes);
        }
        if !self_contact.is_empty() && self_contact.touch(&mut goals[..count], step, beside) {
            self.soa.collect_x(&self_contact.x, step.lanes);
            if self.woven {
                self.soa.collect(&goals, step.lanes);
            }
        }
        *(if self.woven { &mut self_contact.p } else { &mut self.places }) = goals;
    }

    /// The part of a substep after the rows of a bare body: velocities, contacts, positions (`fused_substep.rs`). In
    /// the last substep the stretch limit is enforced first, in rounds for a sheet with self-contact; the excess that
    /// contacts leave is removed in positions only (`settle`).
    pub(crate) fn fused_substep(
        &mut self,
        mut touched: Touched<'_>,
        (h, keep, last, lanes): (Real, Real, bool, bool),
    ) -> Real {
        let (limit, sweeps) = self.limit;
        let limits = last && limit.is_finite() && sweeps > 0;
        let (rounds, sweeps) = match (limits, touched.self_contact.is_some()) {
            (false, _) => (1, 0),
            (true, true) => (ROUNDS.min(sweeps), sweeps),
            (true, false) => (1, sweeps.div_ceil(2)),
        };
        let mut squares = 0.0;
        for round in 0..rounds {
            let sweeps = (round + 1) * sweeps / rounds - round * sweeps / rounds;
            self.edges.limit(places(self.woven, &mut self.soa, &mut self.places), limit, sweeps, lanes);
            self.fold(&mut touched, [round + 1 < rounds, false, lanes]);
            if let (Some(self_contact), false) = (touched.self_contact.as_deref_mut(), last) {
                self_contact.pass();
            }
            let after = match (round + 1 < rounds, last) {
                (true, _) => After::Stay,
                (false, true) => After::End,
                (false, false) => After::Next(keep),
            };
            let places = (!self.woven).then_some(&mut self.places[..]);
            squares += self.soa.fused_substep(places, touched.again(), (h, after, lanes));
        }
        if limits {
            self.settle(touched, lanes);
        }
        squares
    }

    /// Removes the stretch that contacts leave beyond the limit at the end of a step, in positions only: nodes that are
    /// clamped between two bodies stick to both and have stretched single edges beyond the limit again. Nodes move
    /// along the sheet and therefore along the surface that they rest on, by less than a tenth of an edge. In a sheet
    /// with self-contact its layers support them.
    fn settle(&mut self, mut touched: Touched<'_>, lanes: bool) {
        let (limit, sweeps) = self.limit;
        self.edges.limit(places(self.woven, &mut self.soa, &mut self.places), limit, sweeps / 2, lanes);
        // goals are final positions: no other contact follows
        touched.touches = &mut [];
        self.fold(&mut touched, [true, true, lanes]);
        self.soa.settle((!self.woven).then_some(&self.places[..]), lanes);
    }
}

fn places<'a>(woven: bool, soa: &'a mut ParticleSoa, blocks: &'a mut [Block]) -> Places<'a> {
    if woven { Places::Columns(soa) } else { Places::Blocks(blocks) }
}
