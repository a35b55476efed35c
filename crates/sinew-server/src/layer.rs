//! Layers: optional parts of a frame, encoded only while a viewer subscribes to them. All viewers get the same frame,
//! with the union of the subscribed layers.

use std::sync::atomic::{AtomicU32, Ordering};

/// Names of the layers, by bit.
pub const NAMES: [&str; 8] =
    ["nodes", "contacts", "constraints", "strain", "velocities", "residuals", "energies", "pressure"];

/// A set of layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layers(u8);

impl Layers {
    /// Positions of the nodes (phyxels), including those of tetrahedra.
    pub const NODES: Self = Self(1);
    /// Contact points with forces.
    pub const CONTACTS: Self = Self(1 << 1);
    /// Forces of constraints.
    pub const CONSTRAINTS: Self = Self(1 << 2);
    /// Norm of the strain at surface points.
    pub const STRAIN: Self = Self(1 << 3);
    /// Velocities of bodies and surface points.
    pub const VELOCITIES: Self = Self(1 << 4);
    /// Residual of every solver sweep.
    pub const RESIDUALS: Self = Self(1 << 5);
    /// Elastic energy, and the ledger.
    pub const ENERGIES: Self = Self(1 << 6);
    /// Contact pressure of soft bodies.
    pub const PRESSURE: Self = Self(1 << 7);
    /// All layers.
    pub const ALL: Self = Self(u8::MAX >> (8 - NAMES.len()));

    /// Parses layer names.
    ///
    /// # Errors
    /// The first name that is not a layer.
    pub fn read(names: &[String]) -> Result<Self, String> {
        let mut set = 0;
        for name in names {
            let bit = NAMES.iter().position(|known| known == name);
            set |= 1 << bit.ok_or_else(|| format!("layers.on: '{name}', allowed are {}", NAMES.join(", ")))?;
        }
        Ok(Self(set))
    }

    /// True when all layers of `other` are contained.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    fn bits(self) -> impl Iterator<Item = usize> {
        (0..NAMES.len()).filter(move |bit| self.0 & (1 << bit) != 0)
    }
}

/// The number of viewers, and of subscribers per layer.
#[derive(Debug, Default)]
pub struct Demand {
    viewers: AtomicU32,
    wanted: [AtomicU32; NAMES.len()],
}

impl Demand {
    /// Layers with at least one subscriber.
    pub fn layers(&self) -> Layers {
        let mut set = 0;
        for (bit, count) in self.wanted.iter().enumerate() {
            set |= u8::from(count.load(Ordering::Relaxed) > 0) << bit;
        }
        Layers(set)
    }

    /// Number of viewers.
    pub fn viewers(&self) -> u32 {
        self.viewers.load(Ordering::Relaxed)
    }

    /// Counts a viewer in, unless there are already `most`.
    pub fn enter(&self, most: u32) -> bool {
        let more = |n| (n < most).then_some(n + 1);
        self.viewers.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// Counts a viewer out.
    pub fn leave(&self, held: Layers) {
        self.change(held, Layers::default());
        self.viewers.fetch_sub(1, Ordering::Relaxed);
    }

    /// A viewer changes its subscriptions.
    pub fn change(&self, from: Layers, to: Layers) {
        to.bits().for_each(|bit| _ = self.wanted[bit].fetch_add(1, Ordering::Relaxed));
        from.bits().for_each(|bit| _ = self.wanted[bit].fetch_sub(1, Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_is_encoded_while_it_has_a_subscriber() {
        let demand = Demand::default();
        assert!(demand.enter(2) && demand.enter(2) && !demand.enter(2));
        demand.change(Layers::default(), Layers::NODES);
        demand.change(Layers::default(), Layers::NODES);
        demand.change(Layers::NODES, Layers::STRAIN);
        assert!(demand.layers().has(Layers::NODES) && demand.layers().has(Layers::STRAIN));
        demand.leave(Layers::NODES);
        assert!(!demand.layers().has(Layers::NODES));
        assert_eq!(demand.viewers(), 1);
    }
}
