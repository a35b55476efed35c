//! The model: bodies and constraints by slot, and the order of the nodes.

use super::described::Described;
use serde::{Deserialize, Serialize};
use sinew::{Blueprint, BodySpec, ConstraintSpec, Settings, Slot, State};

/// Generations beyond this are no count of removals but damage, and would run over.
const GENERATIONS: u32 = u32::MAX / 2;

/// [`Slot`].
#[derive(Serialize, Deserialize)]
struct SlotForm<T> {
    generation: u32,
    item: Option<T>,
}

/// An item of a slot. Boxed: an empty slot takes two bytes in a file and shall not take hundreds in memory.
type Boxed<T> = Described<Box<T>>;

/// [`Blueprint`] without its settings.
#[derive(Serialize, Deserialize)]
pub(crate) struct ModelForm {
    bodies: Vec<SlotForm<Boxed<BodySpec>>>,
    constraints: Vec<SlotForm<Boxed<ConstraintSpec>>>,
    node_order: Vec<u32>,
}

impl ModelForm {
    pub fn of(blueprint: &Blueprint) -> Self {
        let Blueprint { settings: _, bodies, constraints, node_order } = blueprint;
        Self { bodies: forms(bodies), constraints: forms(constraints), node_order: node_order.clone() }
    }

    /// Without motors: they are steered while the world runs, and a snapshot is good for any of their targets.
    pub fn without_motors(mut self) -> Self {
        for slot in &mut self.constraints {
            if let Some(Described(spec)) = &mut slot.item
                && let ConstraintSpec::Joint(joint) = &mut **spec
            {
                joint.motor = None;
            }
        }
        self
    }

    /// The blueprint, if it can belong to this state. Slots are counted against the state first: an empty slot takes two
    /// bytes in a file and hundreds in the engine, its columns in the state take their full size in both.
    pub fn build(self, settings: Settings, state: &State) -> Result<Blueprint, String> {
        let counts =
            [("bodies", self.bodies.len(), state.x.len()), ("constraints", self.constraints.len(), state.broken.len())];
        for (what, has, needs) in counts {
            if has != needs {
                return Err(format!("{has} slots for {what}, the state has {needs}"));
            }
        }
        let mut order = self.node_order.clone();
        order.sort_unstable();
        if !order.is_sorted_by(|a, b| a < b) {
            return Err("the node order names a body twice".into());
        }
        let (bodies, constraints) = (slots(self.bodies)?, slots(self.constraints)?);
        Ok(Blueprint { settings, bodies, constraints, node_order: self.node_order })
    }
}

fn forms<T: Clone>(slots: &[Slot<T>]) -> Vec<SlotForm<Boxed<T>>> {
    let form = |Slot { generation, item }: &Slot<T>| SlotForm {
        generation: *generation,
        item: item.clone().map(|item| Described(Box::new(item))),
    };
    slots.iter().map(form).collect()
}

fn slots<T>(forms: Vec<SlotForm<Boxed<T>>>) -> Result<Vec<Slot<T>>, String> {
    let mut slots = Vec::with_capacity(forms.len());
    for SlotForm { generation, item } in forms {
        slots.push(Slot { generation: sane(generation)?, item: item.map(|item| *item.0) });
    }
    Ok(slots)
}

fn sane(generation: u32) -> Result<u32, String> {
    if (1..=GENERATIONS).contains(&generation) {
        Ok(generation)
    } else {
        Err(format!("a slot of generation {generation}"))
    }
}
