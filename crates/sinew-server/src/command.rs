//! Commands of a viewer and their validation. `docs/protocol.md` documents every command.

use crate::layer::Layers;
use serde::Deserialize;
use sinew::Real;

/// Minimum and maximum speed [simulated seconds per second].
pub const SPEEDS: [f64; 2] = [0.05, 4.0];
/// Coordinates beyond this are refused [m].
const FAR: Real = 1e4;
/// Maximum length of the name of a scene or knob [bytes].
const NAME: usize = 64;

/// A command of the page.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "command", rename_all = "lowercase", deny_unknown_fields)]
pub enum ViewerCommand {
    /// Pause or resume.
    Pause {
        /// True pauses.
        on: bool,
    },
    /// One step while paused.
    Step,
    /// Restart the scene from its initial state.
    Reset,
    /// Set the speed [simulated seconds per second].
    Speed {
        /// Within [`SPEEDS`].
        value: f64,
    },
    /// Load another scene.
    Scene {
        /// Its name.
        name: String,
    },
    /// Grab a body.
    Grab {
        /// Slot of the body.
        slot: u32,
        /// The picked point [m].
        at: [Real; 3],
    },
    /// Move the grab target.
    Drag {
        /// New target position [m].
        to: [Real; 3],
    },
    /// Release the grab.
    Release,
    /// Set an adjustable parameter (knob) of the scene.
    Tune {
        /// Its name.
        knob: String,
        /// The new value, within the range of the knob.
        value: f64,
    },
    /// Subscribe to optional parts of a frame.
    Layers {
        /// Their names.
        on: Vec<String>,
    },
}

impl ViewerCommand {
    /// Parses a command.
    ///
    /// # Errors
    /// What is wrong with it, for the viewer.
    pub fn read(text: &str) -> Result<Self, String> {
        let command: Self = serde_json::from_str(text).map_err(|e| format!("not a command: {e}"))?;
        command.check()?;
        Ok(command)
    }

    /// Refuses values that are invalid in every scene; the session checks what depends on the scene.
    fn check(&self) -> Result<(), String> {
        match self {
            Self::Speed { value } if !(SPEEDS[0]..=SPEEDS[1]).contains(value) => {
                Err(format!("speed.value: {value}, from {} to {} is allowed", SPEEDS[0], SPEEDS[1]))
            }
            Self::Grab { at: place, .. } | Self::Drag { to: place } if !place.iter().all(|x| x.abs() <= FAR) => {
                Err(format!("place: {place:?}, finite and within {FAR} m is allowed"))
            }
            Self::Tune { value, .. } if !value.is_finite() => Err(format!("tune.value: {value}, finite is allowed")),
            Self::Tune { knob: name, .. } | Self::Scene { name } if name.len() > NAME => {
                Err(format!("name of {} bytes, {NAME} are allowed", name.len()))
            }
            Self::Layers { on } => Layers::read(on).map(|_| ()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_commands_are_parsed() {
        assert_eq!(ViewerCommand::read(r#"{"command":"pause","on":true}"#), Ok(ViewerCommand::Pause { on: true }));
        assert_eq!(ViewerCommand::read(r#"{"command":"step"}"#), Ok(ViewerCommand::Step));
        assert!(ViewerCommand::read(r#"{"command":"layers","on":["nodes","strain"]}"#).is_ok());
    }

    #[test]
    fn invalid_commands_are_refused_with_the_offending_value() {
        for (text, culprit) in [
            ("hello", "not a command"),
            ("{}", "command"),
            (r#"{"command":"explode"}"#, "explode"),
            (r#"{"command":"pause","on":true,"why":1}"#, "why"),
            (r#"{"command":"speed","value":-3}"#, "speed.value"),
            (r#"{"command":"speed","value":1e999}"#, "number out of range"),
            (r#"{"command":"grab","slot":1,"at":[1e39,0,0]}"#, "place"),
            (r#"{"command":"grab","slot":-1,"at":[0,0,0]}"#, "-1"),
            (r#"{"command":"drag","to":[0,0]}"#, "length 2"),
            (r#"{"command":"drag","to":[0,20000,0]}"#, "place"),
            (r#"{"command":"layers","on":["x-ray"]}"#, "x-ray"),
        ] {
            let message = ViewerCommand::read(text).expect_err(text);
            assert!(message.contains(culprit), "{text}: {message}");
        }
        let long = format!(r#"{{"command":"scene","name":"{}"}}"#, "x".repeat(65));
        assert!(ViewerCommand::read(&long).is_err());
    }
}
