//! The model: bodies and constraints by slot, and the order of the nodes.

use super::body::BodyForm;
use super::constraint::ConstraintForm;
use serde::{Deserialize, Serialize};
use sinew::{Blueprint, Settings, Slot, State};

/// Generations beyond this are no count of removals but damage, and would run over.
const GENERATIONS: u32 = u32::MAX / 2;

/// [`Slot`].
#[derive(Serialize, Deserialize)]
struct SlotForm<T> {
    generation: u32,
    item: Option<T>,
}

/// [`Blueprint`] without its settings.
#[derive(Serialize, Deserialize)]
pub(crate) struct ModelForm {
    bodies: Vec<SlotForm<BodyForm>>,
    constraints: Vec<SlotForm<ConstraintForm>>,
    node_order: Vec<u32>,
}

impl ModelForm {
    pub fn of(blueprint: &Blueprint) -> Result<Self, String> {
        let Blueprint { settings: _, bodies, constraints, node_order } = blueprint;
        let mut form = Self { bodies: Vec::new(), constraints: Vec::new(), node_order: node_order.clone() };
        for Slot { generation, item } in bodies {
            let item = item.as_ref().map(BodyForm::of).transpose()?;
            form.bodies.push(SlotForm { generation: *generation, item });
        }
        for Slot { generation, item } in constraints {
            form.constraints.push(SlotForm { generation: *generation, item: item.as_ref().map(ConstraintForm::of) });
        }
        Ok(form)
    }

    /// Without motors: they are steered while the world runs, and a snapshot is good for any of their targets.
    pub fn without_motors(mut self) -> Self {
        for slot in &mut self.constraints {
            if let Some(ConstraintForm::Joint(joint)) = &mut slot.item {
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
        let mut bodies = Vec::with_capacity(self.bodies.len());
        for SlotForm { generation, item } in self.bodies {
            bodies.push(Slot { generation: sane(generation)?, item: item.map(BodyForm::build).transpose()? });
        }
        let mut constraints = Vec::with_capacity(self.constraints.len());
        for SlotForm { generation, item } in self.constraints {
            constraints.push(Slot { generation: sane(generation)?, item: item.map(ConstraintForm::build) });
        }
        Ok(Blueprint { settings, bodies, constraints, node_order: self.node_order })
    }
}

fn sane(generation: u32) -> Result<u32, String> {
    if (1..=GENERATIONS).contains(&generation) {
        Ok(generation)
    } else {
        Err(format!("a slot of generation {generation}"))
    }
}
