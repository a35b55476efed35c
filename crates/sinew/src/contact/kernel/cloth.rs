//! Contacts of all nodes of a cloth with balls and planes: every node is tested in every substep, eight at a time.
//!
//! Candidate lists that are built once a step miss nodes that a fold brings into contact (cloth study, section 4: 8 to
//! 15 mm). With d the vector from the centre of a ball, l = |d|, R the contact distance of a node and u its relative
//! velocity there, there is no contact in a substep h while d·u h + (l − R) l > 0. Because R l ≤ (R² + l²)/2 that is
//! certain while
//!
//! ```text
//!   l² > R²  and  l² + 2 h d·u > R²
//! ```
//!
//! without a square root. Groups of eight with a node that fails this test are solved, with n, gap, biases, μ and
//! k = w + 1/M + r² max(I⁻¹) as in `contact/kernel/node.rs`. Velocities v receive λ and a, and positions are integrated
//! with v + e:
//!
//! ```text
//!   λ = max(0, −(n·u + open)/k),   a = −u_t/k cut back to |a| ≤ μ λ
//!   e = w (λ' − λ) n − rate·s,     λ' = max(0, −(n·u + bias)/k)
//! ```
//!
//! This is the combined result of the correcting and the relaxing visit of `contact/kernel/node.rs`, since the second
//! does not depend on the first: λ' − (n·u + k λ' + open)/k = −(n·u + open)/k. s is the tangential displacement since
//! the node stuck. While it sticks, e restores it at `rate`. While it slides, s has the length that the largest
//! friction can hold, along the slip (there the visits of `contact/kernel/node.rs` have the direction of s + h u, which
//! is the same where the slip keeps its direction). Between two colliders the second includes the e of the first along
//! its normal, and is solved last.
//!
//! A dynamic body receives the impulses of several groups at once, as many as are light compared with it (Jacobi); its
//! velocity is updated before the next ones. It receives the impulses of the nodes with opposite sign, for velocities
//! and for positions.

use crate::contact::kernel::node::{Side, cut, level, seen, turned};
use crate::contact::kernel::node_law::{NodeLaw, NodeVisit};
use crate::contact::kernel::rigid_batch::ContactParams;
use crate::contact::law;
use crate::friction::{Coefficients, Law};
use crate::math::lane3::{V3, add, along, cross, dot, load3, root_and_inverse, scale, splat3, store3, sub};
use crate::math::{Eight, Eight3, LANES, Lane, Mat3, Quat, Real, Vec3};
use crate::state::{ClothContactMemory, contact_flag};

/// Tangential displacement that counts as zero [m]. The displacement of a sticking node is reduced by a fraction in
/// each substep, without end: it would become subnormal, and processors are slow with subnormal numbers.
const NO_SLIP: Real = 1e-12;

/// Largest tangential displacement [m]: with a very soft friction spring that of a sliding node would overflow.
const LARGEST_DISPLACEMENT: Real = 0.5;

/// The rigid side of the contacts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClothCollider {
    /// Slot of the body and index of the collider.
    pub slot: u32,
    pub collider: u32,
    pub static_friction: Real,
    pub kinetic_friction: Real,
    pub law: Law,
    /// Centre of a ball or a point of a plane, and the outward normal of a plane; body axes [m].
    pub core: Vec3,
    pub normal: Vec3,
    pub flat: bool,
    /// Distance from the centre or from the plane at which a node is in contact [m].
    pub radius: Real,
}

/// Contact state of eight nodes with a collider.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeContactLanes {
    /// Tangential displacement since the node stuck, in the axes that [`ClothContacts::axes`] rotates into those of the
    /// body [m].
    pub tangential_displacement: Eight3,
    /// 1 while slipping.
    pub slipping: Eight,
    /// Impulses of the step, as vectors in world axes and along the normals [N·s].
    pub sum: Eight3,
    pub pressed: Eight,
    /// Largest penetration of the step [m].
    pub deepest: Eight,
}

const FREE: NodeContactLanes = NodeContactLanes {
    tangential_displacement: [[0.0; LANES]; 3],
    slipping: [0.0; LANES],
    sum: [[0.0; LANES]; 3],
    pressed: [0.0; LANES],
    deepest: [0.0; LANES],
};

/// Whether a group of nodes is in contact.
#[derive(Clone, Copy, Debug, PartialEq)]
enum TangentialMemory {
    /// Not in this step; the data is of another one.
    Never,
    Now,
    /// It was in contact in this step and has separated.
    Past,
}

/// The body of colliders, while it is coupled with a cloth.
#[derive(Clone, Debug)]
pub(crate) struct CoupledBody {
    pub slot: u32,
    /// Positions are relative to the origin of the cloth.
    pub side: Side,
    /// It moves: its velocity enters the relative velocity, and its axes rotate.
    pub moves: bool,
    /// Number of groups whose impulses are accumulated before its velocity is updated (Jacobi).
    pub jacobi_groups: u32,
    /// Number of groups accumulated so far.
    waiting: u32,
    /// Accumulated linear and angular impulses [N·s, N·m·s]: those of velocities, and those that only correct
    /// positions.
    push: [Eight3; 4],
    /// Rounding remainder of its velocity [m/s].
    pub rest: Vec3,
    /// Linear and angular velocity that only move positions [m/s, rad/s].
    pub lift: [Vec3; 2],
}

impl CoupledBody {
    pub fn new(slot: u32, side: Side, moves: bool, jacobi_groups: u32, rest: Vec3) -> Self {
        Self { slot, side, moves, jacobi_groups, waiting: 0, push: [FREE.sum; 4], rest, lift: [Vec3::ZERO; 2] }
    }

    /// Applies the accumulated impulses.
    pub fn answer(&mut self) {
        if self.waiting == 0 {
            return;
        }
        self.waiting = 0;
        let sum = |a: &Eight3| Vec3::new(a[0].iter().sum(), a[1].iter().sum(), a[2].iter().sum());
        let [push, twist, lift, turn] = [0, 1, 2, 3].map(|k| sum(&self.push[k]));
        self.push = [FREE.sum; 4];
        let side = &mut self.side;
        // compensated sum: hundreds of impulses in a substep, each below the last bit, would be lost for the body but
        // not for the nodes
        let whole = self.rest - push * side.inv_mass;
        let after = side.v + whole;
        self.rest = whole - (after - side.v);
        side.v = after;
        side.w -= side.inertia.mul(twist);
        self.lift[0] -= lift * side.inv_mass;
        self.lift[1] -= side.inertia.mul(turn);
    }
}

/// Eight nodes in a substep: positions [m], velocities, and additional velocities that only move positions [m/s].
pub(crate) struct Eights<L: Lane> {
    pub x: L::Parts<V3<L>>,
    pub v: L::Parts<V3<L>>,
    pub e: L::Parts<V3<L>>,
}

/// Which of several visits of a substep this is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// It is the first collider: no correction of positions yet.
    pub first: bool,
    /// The same substep will be solved again.
    pub again: bool,
}

/// Sums of a collider and a cloth over a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Total {
    /// Impulses of the nodes in contact, and their normal parts [N·s].
    pub impulse: Vec3,
    pub pressed: Real,
    /// Largest penetration [m].
    pub deepest: Real,
    pub touching: bool,
}

/// All nodes of a cloth and one collider, for a step.
#[derive(Debug, Default)]
pub(crate) struct ClothContacts {
    pub collider: ClothCollider,
    /// Index of the body among the coupled bodies.
    pub coupled: usize,
    /// Rotates tangential displacements into the axes of the body: they are in world axes while the body is at rest.
    pub axes: Quat,
    /// The force of the pair was above the threshold in the previous step.
    pub above_threshold: bool,
    cloth_contacts: Vec<NodeContactLanes>,
    holds: Vec<TangentialMemory>,
    /// Groups with a node that State has a contact of. (group_count)
    known: Vec<bool>,
    /// Contact memory after the step, by node, and the sums of the impulses. Written by `keep`.
    pub kept: Vec<ClothContactMemory>,
    pub total: Total,
    /// Core and normal in this substep, positions relative to the origin of the cloth.
    core: Vec3,
    normal: Vec3,
}

impl ClothContacts {
    /// Resets everything for this collider and a cloth with this number of groups.
    pub fn reset(&mut self, collider: ClothCollider, groups: usize) {
        (self.collider, self.above_threshold, self.axes) = (collider, false, Quat::IDENTITY);
        self.cloth_contacts.resize(groups, FREE);
        self.holds.clear();
        self.holds.resize(groups, TangentialMemory::Never);
        self.known.clear();
        self.known.resize(groups, false);
    }

    /// Loads the memory of a node: its tangential displacement since it stuck, in the axes of the lanes [m].
    pub fn remember(&mut self, slot: u32, tangential_displacement: Vec3, slipping: bool) {
        self.known[slot as usize / LANES] = true;
        // invalid numbers are discarded, as for manifolds
        if !(tangential_displacement.length_squared() < 1.0) || (tangential_displacement == Vec3::ZERO && !slipping) {
            return;
        }
        let (group, lane) = (slot as usize / LANES, slot as usize % LANES);
        let grip = self.grip(group);
        for k in 0..3 {
            grip.tangential_displacement[k][lane] = tangential_displacement[k];
        }
        grip.slipping[lane] = if slipping { 1.0 } else { 0.0 };
    }

    /// The contact state and lane of a node whose group was in contact in this step.
    pub fn find(&self, slot: u32) -> Option<(&NodeContactLanes, usize)> {
        let group = slot as usize / LANES;
        (self.holds[group] != TangentialMemory::Never).then(|| (&self.cloth_contacts[group], slot as usize % LANES))
    }

    /// Writes the contact memory of a step of so many substeps, by node; `columns`: lane slots of the nodes, `back`:
    /// rotation from world axes into those of the body.
    pub fn keep(&mut self, sheet: u32, columns: &[u32], back: Quat, substeps: u32) {
        let Self { collider, axes, above_threshold, cloth_contacts, holds, kept, total, .. } = self;
        let (back, axes) = (Mat3::from_quat(back), Mat3::from_quat(*axes));
        // the mean of the substeps: in the last one the node may have separated
        let share = 1.0 / substeps as Real;
        let above_threshold = if *above_threshold { contact_flag::ABOVE_THRESHOLD } else { 0 };
        kept.clear();
        *total = Total::default();
        for (node, &slot) in columns.iter().enumerate() {
            let (group, lane) = (slot as usize / LANES, slot as usize % LANES);
            if holds[group] == TangentialMemory::Never {
                continue;
            }
            let grip = &cloth_contacts[group];
            let pick = |a: &Eight3| Vec3::new(a[0][lane], a[1][lane], a[2][lane]);
            let (pressed, slipping, tangential_displacement) =
                (grip.pressed[lane], grip.slipping[lane] > 0.0, pick(&grip.tangential_displacement));
            total.deepest = total.deepest.max(grip.deepest[lane]);
            if !(pressed > 0.0 || slipping || tangential_displacement != Vec3::ZERO) {
                continue;
            }
            let sum = pick(&grip.sum);
            let touching = pressed > 0.0;
            if touching {
                (total.impulse, total.pressed, total.touching) = (total.impulse + sum, total.pressed + pressed, true);
            }
            kept.push(ClothContactMemory {
                body: collider.slot,
                sheet,
                collider: collider.collider,
                node: node as u32,
                impulse: back * (sum * share),
                tangential_displacement: axes * tangential_displacement,
                flags: above_threshold | if touching { contact_flag::TOUCHING } else { 0 },
                slipping: u32::from(slipping),
            });
        }
    }

    /// Whether this group has been in contact in this step or in the one before.
    pub fn has_met(&self, group: usize) -> bool {
        self.known[group] || self.holds[group] != TangentialMemory::Never
    }

    /// Displacement that this contact will give to a node in a substep, for its position, goal and inverse mass [m]: the
    /// law of `visit` without memory.
    pub fn foresee(&self, coupled: &CoupledBody, [x, goal]: [Vec3; 2], weight: Real, p: &ContactParams) -> Vec3 {
        let (d, side) = (x - self.core, &coupled.side);
        let (n, from) =
            if self.collider.flat { (self.normal, self.normal.dot(d)) } else { (d.normalize_or_zero(), d.length()) };
        let arm = x - side.x;
        let body = if coupled.moves { side.v + side.w.cross(arm) } else { Vec3::ZERO };
        let u = (goal - x) * p.inv_h - body;
        let own = if coupled.moves { side.inv_mass + arm.length_squared() * side.most } else { 0.0 };
        let inverse = 1.0 / (weight + own);
        let un = n.dot(u);
        let pressed = law::normal_impulse((), 0.0, inverse, un + law::open_bias((), from - self.collider.radius, p));
        let slip = u - n * un;
        let limit = self.collider.static_friction * pressed;
        let part = law::onto_disc((), slip.length_squared() * inverse * inverse, limit);
        (n * pressed - slip * (inverse * part)) * (weight * p.h)
    }

    /// Position and normal of the collider in a substep.
    pub fn place(&mut self, side: &Side) {
        self.core = side.x + side.turn * self.collider.core;
        self.normal = side.turn * self.collider.normal;
    }

    /// The contact state of a group that is in contact now.
    #[inline(always)]
    fn grip(&mut self, group: usize) -> &mut NodeContactLanes {
        let grip = &mut self.cloth_contacts[group];
        if self.holds[group] == TangentialMemory::Never {
            *grip = FREE;
        }
        self.holds[group] = TangentialMemory::Now;
        grip
    }

    /// A group that is not in contact now: after separation the stick point is discarded.
    #[inline(always)]
    fn let_go(&mut self, group: usize) {
        if self.holds[group] == TangentialMemory::Now {
            let grip = &mut self.cloth_contacts[group];
            (grip.tangential_displacement, grip.slipping) = (FREE.tangential_displacement, FREE.slipping);
            self.holds[group] = TangentialMemory::Past;
        }
    }

    /// Tests eight nodes, and solves them if one is in contact. Adds up the squares of the normal impulses.
    #[inline(always)]
    pub fn meet<L: Lane>(
        &mut self,
        t: L::Token,
        group: usize,
        (nodes, w, m): (&mut Eights<L>, &Eight, &Eight),
        (coupled, squares): (&mut CoupledBody, &mut L::Parts<[L; 1]>),
        (p, turn): (&ContactParams, Turn),
    ) {
        let none = L::splat(t, 0.0);
        let nothing = Seen { d: [none; 3], u: [none; 3], square: none, rate: none };
        let (mut clear, mut seen) = (true, L::parts(nothing));
        let mut at = 0;
        while at < LANES {
            seen[at] = self.see(t, nodes.x[at], nodes.v[at], coupled);
            let e = if turn.first { none } else { self.along(t, &seen[at], nodes.e[at]).min(none) };
            clear &= self.is_clear(t, &seen[at], e, (L::load(t, &w[at..]), p.h));
            at += L::COUNT;
        }
        if clear {
            self.let_go(group);
            return;
        }
        self.grip(group);
        let mut at = 0;
        while at < LANES {
            let masses = (L::load(t, &w[at..]), L::load(t, &m[at..]));
            let solve_normal = self.visit(t, (group, at), (nodes, &seen[at], masses), coupled, (p, turn));
            squares[at][0] = squares[at][0] + solve_normal * solve_normal;
            at += L::COUNT;
        }
        if coupled.side.inv_mass > 0.0 {
            coupled.waiting += 1;
            if coupled.waiting >= coupled.jacobi_groups {
                coupled.answer();
            }
        }
    }

    /// Position and velocity of nodes relative to the collider.
    #[inline(always)]
    fn see<L: Lane>(&self, t: L::Token, x: V3<L>, v: V3<L>, coupled: &CoupledBody) -> Seen<L> {
        let (d, u) = (sub(x, splat3::<L>(t, self.core)), relative(t, coupled, x, v));
        if self.collider.flat {
            let n = splat3::<L>(t, self.normal);
            return Seen { d, u, square: dot(n, d), rate: dot(n, u) };
        }
        Seen { d, u, square: dot(d, d), rate: dot(d, u) }
    }

    /// Component of a velocity along d for a ball, or along the normal of a plane.
    #[inline(always)]
    fn along<L: Lane>(&self, t: L::Token, seen: &Seen<L>, e: V3<L>) -> L {
        if self.collider.flat { dot(splat3::<L>(t, self.normal), e) } else { dot(seen.d, e) }
    }

    /// True when no free node of these reaches the collider within the substep h [s]; `e`: additional approach
    /// velocity.
    #[inline(always)]
    fn is_clear<L: Lane>(&self, t: L::Token, seen: &Seen<L>, e: L, (w, h): (L, Real)) -> bool {
        let (none, one) = (L::splat(t, 0.0), L::splat(t, 1.0));
        let ClothCollider { flat, radius, .. } = self.collider;
        let (far, time) = if flat { (radius, h) } else { (radius * radius, 2.0 * h) };
        let left = seen.square - L::splat(t, far);
        let left = left.min(left + (seen.rate + e) * L::splat(t, time));
        w.select_gt(none, left, one).all_gt(none)
    }

    /// Normals, gaps and impulses of a substep. Returns the normal impulses. Square roots and divisions depend on each
    /// other as little as possible: they take most of the time.
    #[inline(always)]
    fn visit<L: Lane>(
        &mut self,
        t: L::Token,
        (group, at): (usize, usize),
        (nodes, seen, (w, m)): (&mut Eights<L>, &Seen<L>, (L, L)),
        coupled: &mut CoupledBody,
        (p, turn): (&ContactParams, Turn),
    ) -> L {
        let (none, one, tiny) = (L::splat(t, 0.0), L::splat(t, 1.0), L::splat(t, 1e-24));
        let Self { collider, cloth_contacts, normal, .. } = self;
        let (grip, side) = (&mut cloth_contacts[group], &coupled.side);
        let (x, v, e, u) = (nodes.x[at], nodes.v[at], nodes.e[at], seen.u);
        // normal, distance and normal velocity
        let (n, from, un) = if collider.flat {
            (splat3::<L>(t, *normal), seen.square, seen.rate)
        } else {
            let (length, per) = root_and_inverse(t, seen.square + tiny);
            (scale(seen.d, per), length, seen.rate * per)
        };
        // a pinned node gets a large gap, and a non-zero inverse mass because of the division
        let gap = w.select_gt(none, from - L::splat(t, collider.radius), L::splat(t, 1e9));
        let weight = w.select_gt(none, w, one);
        let (k, inverse) = if coupled.moves {
            let arm = sub(x, splat3::<L>(t, side.x));
            let k = weight + L::splat(t, side.inv_mass) + dot(arm, arm) * L::splat(t, side.most);
            (k, one.div(k))
        } else {
            (weight, m)
        };

        // normals
        let (open, bias) = (law::open_bias(t, gap, p), law::normal_bias(t, gap, none, L::splat(t, p.bias_rate), p));
        let besides = if turn.first { un } else { un + dot(n, e) };
        let firm = law::normal_impulse(t, none, inverse, besides + bias);
        let solve_normal = law::normal_impulse(t, none, inverse, un + open);

        // friction: the fraction of the slip that it can remove; the length of the slip is that of u without un
        let (still, moving) = (L::splat(t, collider.static_friction), L::splat(t, collider.kinetic_friction));
        let slipping = L::load(t, &grip.slipping[at..]);
        let mut friction = law::coefficient(t, slipping, [still, moving]);
        let slip = along(u, n, none - un);
        let held = load3(t, &grip.tangential_displacement, at);
        let held = level(t, n, if coupled.moves { turned(t, &side.turn, held) } else { held });
        let own = (!collider.law.is_plain())
            .then(|| own_friction(t, (collider, p.h), at, (n, solve_normal, k, friction), (slip, held, slipping)));
        if let Some(own) = &own {
            friction = own.coefficient;
        }
        let limit = friction * solve_normal * k;
        let square = solve_normal.select_gt(none, (dot(u, u) - un * un).max(none), none);
        let (_, per) = root_and_inverse(t, square + tiny);
        let over = square.select_gt(limit * limit, one, none);
        let part = over.select_gt(none, limit * per, one);

        // the tangential displacement since the node stuck, and whether it slides
        let most = law::displacement_limit(t, friction * firm, k, p).min(L::splat(t, LARGEST_DISPLACEMENT));
        // a sliding node discards it; others rarely need the limit
        let stretch = dot(held, held);
        let sticks = stretch.select_gt(L::splat(t, NO_SLIP * NO_SLIP), one - over, none);
        let held = cut(t, scale(held, sticks), stretch * sticks, most);
        let back = scale(held, L::splat(t, -p.friction_rate));
        let mut tangential_displacement = along(along(held, back, L::splat(t, p.h)), slip, over * most * per);
        let creep = (one - part) * square * per * L::splat(t, p.h);
        let slips = law::slips(t, over, slipping, creep, most);
        let mut slips = firm.select_gt(none, slips, none);

        let solve_friction = solve_normal.select_gt(none, part * inverse, none);
        let mut impulse = along(scale(n, solve_normal), slip, none - solve_friction);
        let mut beyond = along(scale(n, firm - solve_normal), back, inverse);
        if let Some(own) = &own {
            slips = if collider.law.decides_slip() { own.slips } else { slips };
            if collider.law.has_bristle() {
                (impulse, beyond) = (along(own.across, n, solve_normal), scale(n, firm - solve_normal));
                tangential_displacement = own.displacement;
            }
        }
        nodes.v[at] = along(v, impulse, weight);
        nodes.e[at] = along(e, beyond, weight);

        if !turn.again {
            let tangential_displacement = if coupled.moves {
                turned(t, &side.turn.transpose(), tangential_displacement)
            } else {
                tangential_displacement
            };
            store3(tangential_displacement, &mut grip.tangential_displacement, at);
            slips.store(&mut grip.slipping[at..]);
        }
        store3(add(load3(t, &grip.sum, at), impulse), &mut grip.sum, at);
        (L::load(t, &grip.pressed[at..]) + solve_normal).store(&mut grip.pressed[at..]);
        L::load(t, &grip.deepest[at..]).max(none - gap).store(&mut grip.deepest[at..]);
        if side.inv_mass > 0.0 {
            // a substep that is solved again moves no body yet
            let beyond = if turn.again { [none; 3] } else { beyond };
            let arm = sub(x, splat3::<L>(t, side.x));
            for (to, more) in coupled.push.iter_mut().zip([impulse, cross(arm, impulse), beyond, cross(arm, beyond)]) {
                store3(add(load3(t, to, at), more), to, at);
            }
        }
        solve_normal
    }
}

/// Friction of eight nodes by a law other than Coulomb's.
struct OwnFriction<L> {
    /// Coefficient of friction that the law has at this slip.
    coefficient: L,
    /// Impulse of a bristle [N·s], its stretch [m], and whether it yields.
    across: V3<L>,
    displacement: V3<L>,
    slips: L,
}

/// The friction law of a collider at nodes with normal n, normal impulse, response and Coulomb's coefficient; and with
/// slip, tangential displacement and state of slip.
#[inline(always)]
fn own_friction<L: Lane>(
    t: L::Token,
    (collider, h): (&ClothCollider, Real),
    at: usize,
    (n, pressed, k, plain): (V3<L>, L, L, L),
    (slip, displacement, slipping): (V3<L>, V3<L>, L),
) -> OwnFriction<L> {
    let (none, one) = (L::splat(t, 0.0), L::splat(t, 1.0));
    let coefficients = Coefficients { holding: collider.static_friction, slipping: collider.kinetic_friction };
    let own = NodeLaw { law: collider.law, coefficients, h };
    let mut visit = NodeVisit::default();
    pressed.store(&mut visit.pressed[at..]);
    k.store(&mut visit.response[at..]);
    slipping.store(&mut visit.slipping[at..]);
    store3(n, &mut visit.normal, at);
    store3(slip, &mut visit.slip, at);
    store3(displacement, &mut visit.displacement, at);
    let of = own.tractions(&visit, 0.0, at..at + L::COUNT);
    let radius = L::load(t, &of.radius[at..]);
    let coefficient = pressed.select_gt(none, radius.div(pressed.select_gt(none, pressed, one)), plain);
    let wish = along(slip, load3(t, &of.bias, at), one);
    let across = [0, 1, 2].map(|c| pressed.select_gt(none, none - wish[c].div(k), none));
    // the slip that is left moves the positions
    store3(along(slip, across, k), &mut visit.slip, at);
    own.follow(&mut visit, at..at + L::COUNT);
    let displacement = load3(t, &visit.displacement, at);
    OwnFriction { coefficient, across, displacement, slips: L::load(t, &visit.slipping[at..]) }
}

/// Nodes relative to a collider: vector from its core, velocity, and l² and d·u of a ball, or n·d and n·u of a plane.
#[derive(Clone, Copy, Debug)]
struct Seen<L> {
    d: V3<L>,
    u: V3<L>,
    square: L,
    rate: L,
}

/// Velocity of nodes relative to the material point of the body.
#[inline(always)]
fn relative<L: Lane>(t: L::Token, coupled: &CoupledBody, x: V3<L>, v: V3<L>) -> V3<L> {
    if !coupled.moves {
        return v;
    }
    seen(t, &coupled.side, sub(x, splat3::<L>(t, coupled.side.x)), v)
}
