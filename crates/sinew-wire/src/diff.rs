//! What differs between two states, column by column.

use sinew::State;

/// A column in which two states differ.
///
/// ```
/// use sinew::{Input, Particles, Vec3, World};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// world.add_particles(Particles::new(vec![Vec3::ZERO, Vec3::X]))?;
/// let before = world.snapshot();
/// world.step(&Input::none());
/// let found = sinew_wire::diff(&before, world.state());
/// // time went on, and the particles began to fall
/// assert!(found.iter().any(|c| c.column == "tick"));
/// assert!(found.iter().any(|c| c.column == "node_v" && c.differing > 0 && c.unit == "m/s"));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnDiff {
    /// Name of the column.
    pub column: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Number of entries that differ in at least one bit; those that only one of the two has count as well.
    pub differing: usize,
    /// The first of them: a body slot, node, constraint slot or contact.
    pub first: usize,
    /// Entries in the first and in the second state.
    pub lengths: (usize, usize),
}

/// The columns in which two states differ, in the order of [`State::columns`]. Bits are compared, not values: 0 and −0
/// differ, a NaN equals itself.
///
/// ```
/// use sinew::{Input, RigidBody, Shape, World};
/// # fn main() -> Result<(), sinew::Error> {
/// let mut world = World::default();
/// world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.5)))?;
/// let before = world.snapshot();
/// world.step(&Input::none());
/// let found = sinew_wire::diff(&before, world.state());
/// let x = found.iter().find(|d| d.column == "x").expect("it falls");
/// assert_eq!((x.differing, x.first, x.unit), (1, 0, "m"));
/// # Ok(()) }
/// ```
pub fn diff(a: &State, b: &State) -> Vec<ColumnDiff> {
    let mut found = Vec::new();
    for (a, b) in a.columns().zip(b.columns()) {
        let lengths = (a.bytes.len() / a.stride, b.bytes.len() / b.stride);
        let (shorter, longer) = (lengths.0.min(lengths.1), lengths.0.max(lengths.1));
        let entries = a.bytes.chunks_exact(a.stride).zip(b.bytes.chunks_exact(b.stride));
        let mut unequal = entries.enumerate().filter(|(_, (a, b))| a != b).map(|(i, _)| i);
        let first = unequal.next();
        let differing = usize::from(first.is_some()) + unequal.count() + (longer - shorter);
        if differing > 0 {
            let first = first.unwrap_or(shorter);
            found.push(ColumnDiff { column: a.name, unit: a.unit, differing, first, lengths });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::Vec3;

    #[test]
    fn entries_are_counted_and_the_first_is_named() {
        let a = State { x: vec![Vec3::ZERO; 5], flags: vec![0; 5], ..State::default() };
        assert_eq!(diff(&a, &a), []);
        let mut b = a.clone();
        b.x[2].y = -0.0;
        b.x[4].z = 1.0;
        b.flags.push(0);
        let found = diff(&a, &b);
        let x = ColumnDiff { column: "x", unit: "m", differing: 2, first: 2, lengths: (5, 5) };
        let flags = ColumnDiff { column: "flags", unit: "bits", differing: 1, first: 5, lengths: (5, 6) };
        assert_eq!(found, [x, flags]);
    }
}
