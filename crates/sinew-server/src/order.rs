//! What a viewer may say, and whether it makes sense. `docs/protocol.md` has every order.

use crate::layer::Layers;
use serde::Deserialize;
use sinew::Real;

/// Slowest and fastest run [simulated seconds in a second].
pub const SPEEDS: [f64; 2] = [0.05, 4.0];
/// Places beyond this are no places of a scene [m].
const FAR: Real = 1e4;
/// Longest name of a scene or knob [bytes].
const NAME: usize = 64;

/// What the page may say.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "command", rename_all = "lowercase", deny_unknown_fields)]
pub enum Order {
    /// Stop or go on.
    Pause {
        /// True stops.
        on: bool,
    },
    /// One step while paused.
    Step,
    /// The scene from its start.
    Reset,
    /// Simulated seconds in a second.
    Speed {
        /// Within [`SPEEDS`].
        value: f64,
    },
    /// Another scene.
    Scene {
        /// Its name.
        name: String,
    },
    /// Take hold of a body.
    Grab {
        /// Slot of the body.
        slot: u32,
        /// Where it was hit [m].
        at: [Real; 3],
    },
    /// Move the hand.
    Drag {
        /// To there [m].
        to: [Real; 3],
    },
    /// Let go.
    Release,
    /// Turn a knob of the scene.
    Tune {
        /// Its name.
        knob: String,
        /// The new value, within the knob's range.
        value: f64,
    },
    /// Which parts of a frame this viewer wants beyond the picture itself.
    Layers {
        /// Their names.
        on: Vec<String>,
    },
}

impl Order {
    /// Reads an order.
    ///
    /// # Errors
    /// What is wrong with it, for the viewer.
    pub fn read(text: &str) -> Result<Self, String> {
        let order: Self = serde_json::from_str(text).map_err(|e| format!("not an order: {e}"))?;
        order.check()?;
        Ok(order)
    }

    /// Refuses numbers that make no sense anywhere; what depends on the scene is judged by the session.
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
    fn sensible_orders_are_read() {
        assert_eq!(Order::read(r#"{"command":"pause","on":true}"#), Ok(Order::Pause { on: true }));
        assert_eq!(Order::read(r#"{"command":"step"}"#), Ok(Order::Step));
        assert!(Order::read(r#"{"command":"layers","on":["nodes","strain"]}"#).is_ok());
    }

    #[test]
    fn orders_that_make_no_sense_are_refused_with_the_culprit() {
        for (text, culprit) in [
            ("hello", "not an order"),
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
            let told = Order::read(text).expect_err(text);
            assert!(told.contains(culprit), "{text}: {told}");
        }
        let long = format!(r#"{{"command":"scene","name":"{}"}}"#, "x".repeat(65));
        assert!(Order::read(&long).is_err());
    }
}
