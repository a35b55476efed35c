//! Conservation of momentum: islands without contact or constraint to a fixed body conserve linear and angular momentum
//! in sweeps. Part of `solve`.
//!
//! Positions move with the corrected velocity c and momentum is that of the relaxed velocity v (`step/solve.rs`). Both
//! result from impulses between the same points, so that Σ m c = Σ m v; but angular momentum grows in a substep by h D,
//!
//! ```text
//!   D = Σ m c × v + Σ_rigid δ × I ω + E/h,   δ = ω_c − ω
//! ```
//!
//! the second sum for bodies whose inertia and angular velocity rotate with them (`free_motion::move_rigid`), E the contribution of rounding in the rows. Positions are
//! moved with c + u × a instead, u = v − mean of v: the smallest change Σ m |u × a|² without linear momentum that
//! removes D,
//!
//! ```text
//!   S a = −D,   S = Σ m (u² 1 − u uᵀ)
//! ```
//!
//! never larger than Σ m |c − v|² except for E, because it is a projection of it. Sums are in double precision and
//! about the centre of mass of the island. D is 1e-8 of the angular momentum a substep. Removed from v as a rotation of
//! the island it would be below the last bit of single precision and lost; c has a thousand times more resolution,
//! because a substep moves a point by a thousandth of its distance from the centre or less. Linear momentum lost by
//! rounding is returned to the heaviest rigid body, whose velocity keeps a rounding remainder (`v_remainder`).

use crate::deformable::{Coordinates, rotation};
use crate::math::{
    Block, Quat, Real, Sym3, Wide3, WideMat3, add, narrow, wide_outer, wide_pseudo_inverse, widen, widen_rotation,
};
use crate::model::Model;
use crate::state::{State, contact_flag};
use crate::tuning::momentum::{LINE, NOISE, SUMS};
use crate::work::{BodyWork, ContactWork, IslandWork, SoftWork};

/// Bodies of sweep islands without contact or constraint to a fixed body, by island. Written by `plan`.
#[derive(Debug, Default)]
pub(crate) struct FreeIslands {
    /// Root of the island and slot of the body, ascending.
    members: Vec<(u32, u32)>,
    /// Properties of an island. (slots, read at roots)
    marks: Vec<Mark>,
    /// Linear and angular momentum before the rows, in the order of islands. Written by `see`.
    before: Vec<Sums>,
}

/// Sums over an island.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// [kg]
    mass: f64,
    /// [m]
    centre: Wide3,
    /// [N·s]
    momentum: Wide3,
    /// Angular momentum about the centre [N·m·s].
    spin: Wide3,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Mark {
    /// It has rows that may correct positions.
    rows: bool,
    /// It has rows with a body that is not active, or whose law is not known here.
    leans: bool,
}

/// Lists the loose islands. Runs after the islands are known and implicit ones are separated.
pub(crate) fn list(
    model: &Model,
    state: &State,
    bodies: &mut BodyWork,
    contact: &ContactWork,
    island: &mut IslandWork,
    soft: &SoftWork,
) {
    let free_islands = &mut island.free_islands;
    let BodyWork { islands, active, active_rigid, active_nodes, velocity, .. } = bodies;
    let contacts = &contact.contacts;
    let soft = &soft.models;
    free_islands.members.clear();
    free_islands.marks.clear();
    free_islands.marks.resize(active.len(), Mark::default());
    for m in contacts.iter().filter(|m| !m.has(contact_flag::SENSOR) && m.count > 0) {
        let leans = m.has(contact_flag::CLASSIC) || !active[m.key.a as usize] || !active[m.key.b as usize];
        for slot in [m.key.a, m.key.b].into_iter().filter(|&s| active[s as usize]) {
            let mark = &mut free_islands.marks[islands.root(slot) as usize];
            (mark.rows, mark.leans) = (true, mark.leans || leans);
        }
    }
    for (_, constraint) in model.constraints.iter().filter(|(slot, _)| state.broken[*slot as usize] == 0) {
        let (mut leans, mut one) = (!constraint.traits().internal, None);
        constraint.slots(|s| {
            leans |= !active[s as usize];
            one = one.or(Some(s).filter(|&s| active[s as usize]));
        });
        if let Some(one) = one {
            let mark = &mut free_islands.marks[islands.root(one) as usize];
            (mark.rows, mark.leans) = (true, mark.leans || leans);
        }
    }
    for &slot in active_nodes.iter() {
        let Some(nodes) = model.nodes_at(slot) else { continue };
        let pinned = || velocity[model.blocks_of(nodes)].iter().any(|v| v[3] == 0.0);
        // velocities of a cloth in SoA are not stored here; it removes the momentum that its own rows add
        // (`deformable/cloth/fused_substep.rs`)
        let out = soft[slot as usize].as_ref().is_some_and(|held| held.cloth.residence.is_resident());
        let own = nodes.coordinates == Coordinates::Own;
        free_islands.marks[islands.root(slot) as usize].leans |= out || own || pinned();
    }
    for &slot in active_rigid.iter().chain(active_nodes.iter()) {
        // damping takes momentum away, and rows then act on m (1 + c h)
        let damped = model.rigid_at(slot).is_some_and(|r| r.is_damped())
            || model.nodes_at(slot).is_some_and(|n| n.is_bare() && n.traits.damping > 0.0);
        free_islands.marks[islands.root(slot) as usize].leans |= damped;
    }
    for &slot in active_rigid.iter().chain(active_nodes.iter()) {
        let root = islands.root(slot);
        if free_islands.marks[root as usize] == (Mark { rows: true, leans: false }) {
            free_islands.members.push((root, slot));
        }
    }
    free_islands.members.sort_unstable();
}

/// Sums over the loose islands before rows act.
pub(crate) fn see(model: &Model, bodies: &BodyWork, island: &mut IslandWork) {
    let free_islands = &mut island.free_islands;
    let BodyWork { velocity, pose, .. } = bodies;
    free_islands.before.clear();
    for island in free_islands.members.chunk_by(|a, b| a.0 == b.0) {
        free_islands.before.push(Sums::of(model, island, velocity, pose));
    }
}

/// Removes D from `position_velocity` for every loose island, and restores the linear momentum lost by rounding.
pub(crate) fn conserve_angular_momentum(h: Real, model: &Model, bodies: &mut BodyWork, island: &IslandWork) {
    let free_islands = &island.free_islands;
    let BodyWork { velocity, position_velocity, pose, v_remainder, .. } = bodies;
    for (island, before) in free_islands.members.chunk_by(|a, b| a.0 == b.0).zip(&free_islands.before) {
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
                sums.spin += spin_of(rigid.inertia, 2 * slot as usize + 1, v, pose);
            }
            let Some(nodes) = model.nodes_at(slot) else { continue };
            for (k, &radii) in nodes.radii.iter().enumerate() {
                let inertia = Sym3::diagonal(rotation::inertia_of(nodes.mass[k], radii));
                sums.spin += spin_of(inertia, model.spin_block(nodes.start + k as u32) as usize, v, pose);
            }
        }
        sums
    }
}

/// I ω of a block with an orientation, I in its own axes [N·m·s].
fn spin_of(inertia: Sym3, block: usize, v: &[Block], pose: &[Block]) -> Wide3 {
    let q = widen_rotation(Quat::from_array(pose[block]));
    let local = q.inverse() * vec(v[block]);
    let [x, y, z] = [inertia.to_mat().x_axis, inertia.to_mat().y_axis, inertia.to_mat().z_axis].map(widen);
    q * (x * local.x + y * local.y + z * local.z)
}

/// The vector a, from the mean velocity [m/s] and the angular momentum gained by rounding per second [N·m]; none when
/// there is nothing to remove.
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
            // c − v, not c: the part parallel to v cancels without rounding
            twist += (vec(c[block]) - vec(v[block])).cross(u) * m;
            (apart, size) = (apart + u.length_squared() * m, size + vec(v[block]).length_squared() * m);
            s += (WideMat3::from_diagonal(Wide3::splat(u.length_squared())) - wide_outer(u, u)) * m;
        });
        twist += own_twist(model, slot, v, c, pose);
    }
    let turn = -(wide_pseudo_inverse(&s, LINE).inverse * twist);
    // an island that moves as one rigid body has nothing but rounding in u: the rotation needed to remove D would pull
    // it apart
    let moves = apart > (NOISE * NOISE).max(SUMS) * size;
    (twist != Wide3::ZERO && turn.is_finite() && moves).then_some(turn)
}

/// Rate of change, by the rotation that correction adds, of the angular momentum of a rigid body's own rotation [N·m].
fn own_twist(model: &Model, slot: u32, v: &[Block], c: &[Block], pose: &[Block]) -> Wide3 {
    let Some(rigid) = model.rigid_at(slot).filter(|r| r.gyroscopic) else { return Wide3::ZERO };
    let at = 2 * slot as usize + 1;
    let q = pose[at];
    let inertia = rigid.inertia.rotated(Quat::from_xyzw(q[0], q[1], q[2], q[3]));
    let (w, more) = (vec(v[at]), vec(c[at]) - vec(v[at]));
    more.cross(widen(inertia.mul(narrow(w))))
}

/// Calls `see` with the blocks of a body that have a position, and their masses [kg].
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
