//! The input of one step, and the state hash after it.

use super::described::Described;
use super::shape::ShapeForm;
use serde::{Deserialize, Serialize};
use sinew::{Command, Input};

/// One step of a recording.
#[derive(Serialize, Deserialize)]
pub(crate) struct StepForm {
    /// Tick after the step. First, so that a reader can take it alone.
    pub tick: u64,
    /// Hash of the world after the step, little-endian.
    pub hash: [u8; 8],
    /// Two bytes of the hash of each column, to name the one that differs.
    pub prints: Vec<u8>,
    commands: Vec<Described<Command>>,
}

impl StepForm {
    /// Input before the step; the result is filled in after it. A shape that has no form is found here, before the step
    /// is made.
    pub fn of(input: &Input) -> Result<Self, String> {
        for command in &input.commands {
            if let Command::AddRigid(rigid) = command {
                rigid.colliders.iter().try_for_each(|c| ShapeForm::of(&c.shape).map(|_| ()))?;
            }
        }
        let commands = input.commands.iter().cloned().map(Described).collect();
        Ok(Self { tick: 0, hash: [0; 8], prints: Vec::new(), commands })
    }

    /// The input again.
    pub fn input(self) -> Input {
        Input { commands: self.commands.into_iter().map(|command| command.0).collect() }
    }
}
