//! Untwist: islands that lean on nothing keep their momentum and their spin in sweeps. Part of `solve`.
//!
//! Positions move with the corrected velocity c and momentum stays with the relaxed one, v (`solve.rs`). Both come from
//! pushes between the same points, so that Σ m c = Σ m v; but angular momentum grows in a substep by h D,
//!
//! ```text
//!   D = Σ m c × v + Σ_rigid (δ × I ω − I (δ × ω)) + E/h,   δ = ω_c − ω
//! ```
//!
//! the second sum for bodies whose inertia turns with them, E what rounding of the rows added. We move along c + u × a
//! instead, u = v − mean of v: the least change Σ m |u × a|² that has no momentum and takes D away,
//!
//! ```text
//!   S a = −D,   S = Σ m (u² 1 − u uᵀ)
//! ```
//!
//! never larger than Σ m |c − v|² but for E, because it is a projection of it. Sums are in doubles and about the centre of
//! the island. D is 1e-8 of the spin a substep. Taken out of v as a turn of the island it is below the last bit of single
//! precision and lost; c has a thousand times more room, because a substep moves a point by a thousandth of its distance
//! from the middle or less. Momentum that rounding took goes to the heaviest rigid body, whose velocity keeps what is below
//! its last bit (`v_rest`).

use crate::deformable::oriented;
use crate::math::{
    Block, Quat, Real, Sym3, Wide3, WideMat3, add, narrow, wide_outer, wide_pseudo_inverse, widen, widen_rotation,
};
use crate::model::Model;
use crate::state::{State, contact_flag};
use crate::work::Work;

/// Part of the largest stiffness of S below which a direction has none: all move along one line.
const LINE: f64 = 1e-4;

/// Part of the velocity of an island that flies as one, which rounding leaves between its parts.
#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
const NOISE: f64 = 64.0 * Real::EPSILON as f64;

/// Part of Σ m v² that Σ m u² must have. Sums of doubles leave δ = Σ m u, some 1e-16 of Σ m |v| instead of none, and the turn
/// makes h (δ × a) × v of spin from it, which is to be a thousandth of the D that it takes away.
const SUMS: f64 = 1e3 * f64::EPSILON;

/// Bodies of sweep islands that lean on nothing, by island. Written by `detect`.
#[derive(Debug, Default)]
pub(crate) struct Loose {
    /// Root of the island and slot of the body, ascending.
    members: Vec<(u32, u32)>,
    /// What an island has. (slots, read at roots)
    marks: Vec<Mark>,
    /// Momentum and spin before the rows, in the order of islands. Written by `see`.
    before: Vec<Sums>,
}

/// An island as a whole.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// [kg]
    mass: f64,
    /// [m]
    centre: Wide3,
    /// [N·s]
    momentum: Wide3,
    /// About the centre [N·m·s].
    spin: Wide3,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Mark {
    /// Rows that may correct.
    rows: bool,
    /// Rows with something that nobody moves, or whose law is not known here.
    leans: bool,
}

/// Lists the loose islands. Comes after islands are known and implicit ones sorted out.
pub(crate) fn list(model: &Model, state: &State, work: &mut Work) {
    let Work { loose, islands, active, active_rigid, active_nodes, contacts, velocity, soft, .. } = work;
    loose.members.clear();
    loose.marks.clear();
    loose.marks.resize(active.len(), Mark::default());
    for m in contacts.iter().filter(|m| !m.has(contact_flag::SENSOR) && m.count > 0) {
        let leans = m.has(contact_flag::CLASSIC) || !active[m.key.a as usize] || !active[m.key.b as usize];
        for slot in [m.key.a, m.key.b].into_iter().filter(|&s| active[s as usize]) {
            let mark = &mut loose.marks[islands.root(slot) as usize];
            (mark.rows, mark.leans) = (true, mark.leans || leans);
        }
    }
    for (_, constraint) in model.constraints.iter().filter(|(slot, _)| state.broken[*slot as usize] == 0) {
        let (mut leans, mut one) = (!constraint.is_inner(), None);
        constraint.slots(|s| {
            leans |= !active[s as usize];
            one = one.or(Some(s).filter(|&s| active[s as usize]));
        });
        if let Some(one) = one {
            let mark = &mut loose.marks[islands.root(one) as usize];
            (mark.rows, mark.leans) = (true, mark.leans || leans);
        }
    }
    for &slot in active_nodes.iter() {
        let Some(nodes) = model.nodes_at(slot) else { continue };
        let pinned = || velocity[model.blocks_of(nodes)].iter().any(|v| v[3] == 0.0);
        // velocities of a sheet in columns are not here; it takes out what its own rows gain (`landing.rs`)
        let out = soft[slot as usize].as_ref().is_some_and(|held| held.cloth.residence.is_resident());
        loose.marks[islands.root(slot) as usize].leans |= out || pinned();
    }
    for &slot in active_rigid.iter().chain(active_nodes.iter()) {
        let root = islands.root(slot);
        if loose.marks[root as usize] == (Mark { rows: true, leans: false }) {
            loose.members.push((root, slot));
        }
    }
    loose.members.sort_unstable();
}

/// Looks at the loose islands before rows push.
pub(crate) fn see(model: &Model, work: &mut Work) {
    let Work { loose, velocity, pose, .. } = work;
    loose.before.clear();
    for island in loose.members.chunk_by(|a, b| a.0 == b.0) {
        loose.before.push(Sums::of(model, island, velocity, pose));
    }
}

/// Takes D out of `position_velocity` for every loose island, and gives back the momentum that rounding took.
pub(crate) fn conserve_angular_momentum(h: Real, model: &Model, work: &mut Work) {
    let Work { loose, velocity, position_velocity, pose, v_remainder, .. } = work;
    for (island, before) in loose.members.chunk_by(|a, b| a.0 == b.0).zip(&loose.before) {
        let after = Sums::of(model, island, velocity, pose);
        let mut gained = after.spin - before.spin;
        let rigid = |slot: u32| model.rigid_at(slot).map(|r| (slot as usize, r.mass));
        let heaviest = island.iter().filter_map(|m| rigid(m.1)).reduce(|a, b| if b.1 > a.1 { b } else { a });
        if let Some((slot, mass)) = heaviest {
            let back = before.momentum - after.momentum;
            v_remainder[slot] += narrow(back) / mass;
            gained += (vec(pose[2 * slot]) - after.centre).cross(back);
        }
        let mean = after.momentum / after.mass;
        let Some(turn) = way_out(model, island, (velocity, position_velocity, pose), mean, gained / wide(h)) else {
            continue;
        };
        for &(_, slot) in island {
            each_block(model, slot, |block, _| {
                let push = narrow((vec(velocity[block]) - mean).cross(turn));
                add(&mut position_velocity[block], push);
            });
        }
    }
}

impl Sums {
    fn of(model: &Model, island: &[(u32, u32)], v: &[Block], pose: &[Block]) -> Self {
        let mut sums = Self::default();
        let each = |see: &mut dyn FnMut(usize, f64)| island.iter().for_each(|m| each_block(model, m.1, &mut *see));
        each(&mut |block, m| {
            sums.mass += m;
            sums.centre += vec(pose[block]) * m;
        });
        sums.centre /= sums.mass;
        each(&mut |block, m| {
            let push = vec(v[block]) * m;
            sums.momentum += push;
            sums.spin += (vec(pose[block]) - sums.centre).cross(push);
        });
        for &(_, slot) in island {
            if let Some(rigid) = model.rigid_at(slot) {
                sums.spin += own_spin(rigid.inertia, 2 * slot as usize + 1, v, pose);
            }
            let Some(nodes) = model.nodes_at(slot) else { continue };
            for (k, &radii) in nodes.radii.iter().enumerate() {
                let inertia = Sym3::diagonal(oriented::inertia_of(nodes.mass[k], radii));
                sums.spin += own_spin(inertia, model.spin_block(nodes.start + k as u32) as usize, v, pose);
            }
        }
        sums
    }
}

/// I ω of a block with an orientation, I in its own axes [N·m·s].
fn own_spin(inertia: Sym3, block: usize, v: &[Block], pose: &[Block]) -> Wide3 {
    let q = widen_rotation(Quat::from_array(pose[block]));
    let local = q.inverse() * vec(v[block]);
    let [x, y, z] = [inertia.to_mat().x_axis, inertia.to_mat().y_axis, inertia.to_mat().z_axis].map(widen);
    q * (x * local.x + y * local.y + z * local.z)
}

/// a, from the mean velocity [m/s] and what rounding gained a second [N·m]; none when there is nothing to take out.
fn way_out(
    model: &Model,
    island: &[(u32, u32)],
    (v, c, pose): (&[Block], &[Block], &[Block]),
    mean: Wide3,
    gained: Wide3,
) -> Option<Wide3> {
    let (mut twist, mut s) = (gained, WideMat3::ZERO);
    let (mut apart, mut size) = (0.0, 0.0);
    for &(_, slot) in island {
        each_block(model, slot, |block, m| {
            let u = vec(v[block]) - mean;
            // c − v, not c: what is parallel to v cancels without rounding
            twist += (vec(c[block]) - vec(v[block])).cross(u) * m;
            (apart, size) = (apart + u.length_squared() * m, size + vec(v[block]).length_squared() * m);
            s += (WideMat3::from_diagonal(Wide3::splat(u.length_squared())) - wide_outer(u, u)) * m;
        });
        twist += own_twist(model, slot, v, c, pose);
    }
    let turn = -(wide_pseudo_inverse(&s, LINE).inverse * twist);
    // an island that flies as one has nothing but rounding in u: what it would take to turn that would take it apart
    let moves = apart > (NOISE * NOISE).max(SUMS) * size;
    (twist != Wide3::ZERO && turn.is_finite() && moves).then_some(turn)
}

/// What the turn that correction adds does to the momentum that a rigid body has by its own spin, a second [N·m].
fn own_twist(model: &Model, slot: u32, v: &[Block], c: &[Block], pose: &[Block]) -> Wide3 {
    let Some(rigid) = model.rigid_at(slot).filter(|r| r.gyroscopic) else { return Wide3::ZERO };
    let at = 2 * slot as usize + 1;
    let q = pose[at];
    let inertia = rigid.inertia.rotated(Quat::from_xyzw(q[0], q[1], q[2], q[3]));
    let of = |w: Wide3| widen(inertia.mul(narrow(w)));
    let (w, more) = (vec(v[at]), vec(c[at]) - vec(v[at]));
    more.cross(of(w)) - of(more.cross(w))
}

/// Calls `see` with the blocks of a body that have a place, and their masses [kg].
#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
fn each_block(model: &Model, slot: u32, mut see: impl FnMut(usize, f64)) {
    if let Some(rigid) = model.rigid_at(slot) {
        see(2 * slot as usize, rigid.mass as f64);
    }
    if let Some(nodes) = model.nodes_at(slot) {
        for (n, &m) in nodes.span().zip(&nodes.mass) {
            see(model.node_block(n as u32) as usize, m as f64);
        }
    }
}

#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
fn wide(x: Real) -> f64 {
    x as f64
}

fn vec(b: Block) -> Wide3 {
    widen(crate::math::vec(b))
}
