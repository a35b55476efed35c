//! Generational ids, for the public interface. Inside the step only dense indices are used.

/// A body of a world.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)))?;
/// assert_eq!(BodyId::from_parts(ball.to_parts().0, ball.to_parts().1), ball);
/// world.remove_body(ball)?;
/// // the id of a removed body is rejected, also when its slot has been reused
/// world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)))?;
/// assert!(matches!(world.body(ball), Err(Error::StaleBody(_))));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// A constraint (joint, custom rows) of a world.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let door = world.add_rigid(RigidBody::dynamic().shape(Shape::cuboid(0.4, 1.0, 0.02)))?;
/// let hinge = world.add_joint(Joint::hinge(None, Some(door)).anchor([-0.4, 0.0, 0.0]).axis(Vec3::Y))?;
/// world.remove_constraint(hinge)?;
/// assert!(world.is_broken(hinge).is_err());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstraintId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

macro_rules! raw_parts {
    ($id:ident) => {
        impl $id {
            /// Index and generation, for files and network protocols.
            pub fn to_parts(self) -> (u32, u32) {
                (self.index, self.generation)
            }
            /// From index and generation; an invalid pair is detected at the next use.
            pub fn from_parts(index: u32, generation: u32) -> Self {
                Self { index, generation }
            }
        }
    };
}
raw_parts!(BodyId);
raw_parts!(ConstraintId);

/// The generation of a body's slot and the topology number of the body. Two values that are equal belong to the same
/// nodes, elements and surface cells, numbered in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub generation: u32,
    pub topology: u32,
}

/// Slots with generations: an index is reused, an id never.
#[derive(Clone, Debug)]
pub(crate) struct Slots<T> {
    items: Vec<Option<T>>,
    generations: Vec<u32>,
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { items: Vec::new(), generations: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    /// Number of slots, free ones included: the length of all arrays indexed by slot.
    pub fn slot_count(&self) -> usize {
        self.items.len()
    }

    /// From generations and items by slot.
    pub fn from_parts(parts: Vec<(u32, Option<T>)>) -> Self {
        let mut slots = Self::default();
        for (generation, item) in parts {
            if item.is_none() {
                slots.free.push(slots.items.len() as u32);
            }
            slots.items.push(item);
            slots.generations.push(generation);
        }
        slots.free.reverse();
        slots
    }

    /// Takes the lowest free slot, so that the layout depends on the edits alone.
    pub fn insert(&mut self, item: T) -> (u32, u32) {
        if let Some(at) = self.free.pop() {
            self.items[at as usize] = Some(item);
            return (at, self.generations[at as usize]);
        }
        self.items.push(Some(item));
        self.generations.push(1);
        (self.items.len() as u32 - 1, 1)
    }

    pub fn remove(&mut self, index: u32, generation: u32) -> Option<T> {
        self.get(index, generation)?;
        self.generations[index as usize] += 1;
        self.free.push(index);
        self.free.sort_unstable_by(|a, b| b.cmp(a));
        self.items[index as usize].take()
    }

    /// Gives the item of a slot a new id.
    pub fn renew(&mut self, index: u32) -> u32 {
        self.generations[index as usize] += 1;
        self.generations[index as usize]
    }

    pub fn get(&self, index: u32, generation: u32) -> Option<&T> {
        if self.generations.get(index as usize) != Some(&generation) {
            return None;
        }
        self.items[index as usize].as_ref()
    }

    pub fn get_mut(&mut self, index: u32, generation: u32) -> Option<&mut T> {
        if self.generations.get(index as usize) != Some(&generation) {
            return None;
        }
        self.items[index as usize].as_mut()
    }

    /// By slot, for the inside of the step.
    pub fn at(&self, index: u32) -> Option<&T> {
        self.items.get(index as usize).and_then(Option::as_ref)
    }

    pub fn at_mut(&mut self, index: u32) -> Option<&mut T> {
        self.items.get_mut(index as usize).and_then(Option::as_mut)
    }

    pub fn generation(&self, index: u32) -> u32 {
        self.generations[index as usize]
    }

    /// Generations of all slots and which of them are in use: part of the identity of a save file.
    pub fn layout(&self) -> impl Iterator<Item = (u32, bool)> + '_ {
        self.generations.iter().zip(&self.items).map(|(&g, i)| (g, i.is_some()))
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.items.iter().enumerate().filter_map(|(i, item)| Some((i as u32, item.as_ref()?)))
    }
}

/// Ids are described by what they name: a file has the name instead.
macro_rules! described_id {
    ($id:ident, $what:literal) => {
        impl sinew_spec::Spec for $id {
            fn kind(_: &sinew_spec::Rule) -> sinew_spec::Kind {
                sinew_spec::Kind::Id($what)
            }

            fn put(&self, to: &mut dyn sinew_spec::Sink) {
                to.count(u64::from(self.index));
                to.count(u64::from(self.generation));
            }

            fn take(from: &mut dyn sinew_spec::Source) -> Option<Self> {
                let [index, generation] = [from.count()?, from.count()?].map(u32::try_from);
                Some(Self { index: index.ok()?, generation: generation.ok()? })
            }
        }
    };
}
described_id!(BodyId, "body");
described_id!(ConstraintId, "joint");

impl BodyId {
    /// No body of any world: stands for the required body in a description.
    pub(crate) const NONE: Self = Self { index: u32::MAX, generation: 0 };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_id_stays_invalid_when_its_slot_is_reused() {
        let mut slots = Slots::default();
        let (a, ga) = slots.insert("a");
        slots.insert("b");
        assert_eq!(slots.remove(a, ga), Some("a"));
        let (c, gc) = slots.insert("c");
        assert_eq!(c, a);
        assert!(slots.get(a, ga).is_none());
        assert_eq!(slots.get(c, gc), Some(&"c"));
        assert!(slots.remove(a, ga).is_none());
    }
}
