//! Contact memory: the features of two bodies in contact, the impulses there and the tangential displacements from the
//! stick points.
//!
//! It is part of State because the next step depends on it: warm start, static friction, and the points that are reused
//! while the relative motion of a pair is small.

use super::contact_flag;
use crate::math::{Real, Vec3};
use bytemuck::{Pod, Zeroable};

/// Maximum number of points of one manifold: four support any planar contact.
pub(crate) const MAX_POINTS: usize = 4;

/// Bits of `ContactMemory::flags`.
pub(crate) mod flag {
    /// In contact: transmitted a force in the last step.
    pub const TOUCHING: u32 = 1;
    /// At least one side is a sensor: reported, never solved.
    pub const SENSOR: u32 = 2;
    /// The pair's force was above the threshold.
    pub const ABOVE_THRESHOLD: u32 = 4;
    /// Body b is a set of nodes: `collider_b` is the kind of feature, `sub_b` its index, `local_b` its weights.
    pub const NODE: u32 = 8;
    /// Body a is a set of nodes too, likewise; the normal is in world axes.
    pub const SURFACE: u32 = 32;
    /// Handled by the method of `Settings::contact_method`, not by constraint rows.
    pub const CLASSIC: u32 = 16;
}

/// Identity of a contact: its two bodies, colliders and parts. The sorted order of keys is the order of all contacts in
/// the solver.
///
/// An example is at [`ContactMemory`](crate::ContactMemory).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
pub struct ContactKey {
    /// Slot of the first body (the smaller slot; the rigid one if the other is nodes).
    pub a: u32,
    /// Slot of the second body.
    pub b: u32,
    /// Collider of a.
    pub collider_a: u32,
    /// Collider of b.
    pub collider_b: u32,
    /// Part of collider a: triangle, child.
    pub sub_a: u32,
    /// Part of collider b, or the node.
    pub sub_b: u32,
}

impl ContactKey {
    /// The two colliders, in sorting order.
    pub(crate) fn pair(&self) -> (u32, u32, u32, u32) {
        (self.a, self.b, self.collider_a, self.collider_b)
    }

    /// True when one of the two bodies is marked; `marks` is indexed by slot.
    pub(crate) fn anyone(&self, marks: &[bool]) -> bool {
        marks[self.a as usize] || marks[self.b as usize]
    }
}

/// The contacts of a key's two colliders; `contacts` is sorted.
pub(crate) fn of_pair<'a>(contacts: &'a [ContactMemory], key: &ContactKey) -> &'a [ContactMemory] {
    let from = &contacts[contacts.partition_point(|m| m.key.pair() < key.pair())..];
    // few of many: linear scan instead of a second binary search
    &from[..from.iter().take_while(|m| m.key.pair() == key.pair()).count()]
}

/// One point of a manifold.
///
/// An example is at [`ContactMemory`](crate::ContactMemory).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct PointMemory {
    /// Point on a, relative to its centre of mass, body axes [m].
    pub local_a: Vec3,
    /// Point on b, likewise [m].
    pub local_b: Vec3,
    /// Impulse per substep along normal and two tangents [N·s].
    pub impulse: [Real; 3],
    /// Tangential displacement from the stick point, along the two tangents [m].
    pub tangential_displacement: [Real; 2],
    /// Features of a and b, to identify the point in the next step.
    pub feature: [u32; 2],
    /// 1 while slipping.
    pub slipping: u32,
    /// Padding: the record has no implicit padding.
    pub spare: u32,
}

/// One manifold: up to four points with one normal.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
/// world.add_rigid(RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.1, 0.1)).at([0.0, 0.1, 0.0]))?;
/// for _ in 0..30 {
///     world.step(&Input::none());
/// }
/// // one manifold, and the impulses that the next step starts from
/// let memory = &world.state().contacts[0];
/// assert_eq!((memory.key.a, memory.key.b, memory.used().len()), (0, 1, 4));
/// assert!(memory.used().iter().all(|point| point.impulse[0] > 0.0));
/// # Ok(()) }
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct ContactMemory {
    /// Identity: bodies, colliders and parts.
    pub key: ContactKey,
    /// Number of points in use.
    pub count: u32,
    /// In contact, sensor, and others.
    pub flags: u32,
    /// Normal from a to b, axes of a; of a at the time of `found_rotation` where only a is round.
    pub normal: Vec3,
    /// First tangent, likewise.
    pub tangent: Vec3,
    /// Position of b relative to a when the points were computed [m].
    pub found_position: Vec3,
    /// Rotation of b relative to a when the points were computed.
    pub found_rotation: [Real; 4],
    /// Impulses against rolling (two tangents) and spinning [N·m·s].
    pub roll: [Real; 3],
    /// Radii by which the surfaces of a and b are offset from their points, along the normal [m] (round shapes).
    pub radius: [Real; 2],
    /// The points.
    pub points: [PointMemory; MAX_POINTS],
}

impl ContactMemory {
    /// The points in use.
    pub fn used(&self) -> &[PointMemory] {
        &self.points[..self.count as usize]
    }

    /// True when normal, tangent and tangential displacement are fixed to b and not to a: only a is round. Their axes
    /// are then those of a at the time of `found_rotation`. Friction that is carried by a ball turns with its spin about
    /// the normal, and pushes it sideways: the drift of a pinched ball grew by e every 2.5 s.
    pub(crate) fn follows_b(&self) -> bool {
        self.radius[0] > 0.0 && self.radius[1] == 0.0
    }

    pub(crate) fn has(&self, bit: u32) -> bool {
        self.flags & bit != 0
    }

    /// False for a stored manifold with invalid numbers, which is discarded. Every manifold is tested in every step: no
    /// branches.
    pub(crate) fn is_valid(&self) -> bool {
        if self.count > 4 || self.has(contact_flag::CLASSIC) {
            return false;
        }
        let mut ok = below(self.normal.as_ref(), Real::INFINITY) & below(self.tangent.as_ref(), Real::INFINITY);
        ok &= below(self.found_position.as_ref(), Real::INFINITY) & below(&self.found_rotation, 1e9);
        ok &= below(&self.roll, 1e9) & below(&self.radius, 1e9);
        for p in self.used() {
            ok &= below(p.local_a.as_ref(), Real::INFINITY) & below(p.local_b.as_ref(), Real::INFINITY);
            ok &= below(&p.impulse, 1e20) & below(&p.tangential_displacement, 1e20);
        }
        ok
    }
}

/// True when all absolute values are smaller than `most`; false for NaN.
fn below<const N: usize>(list: &[Real; N], most: Real) -> bool {
    list.iter().fold(true, |ok, v| ok & (v.abs() < most))
}
