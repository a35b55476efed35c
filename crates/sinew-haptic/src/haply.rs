//! Messages of Haply's Inverse Service (version 3): JSON texts, one for each message of a web socket on port 10001.
//!
//! The service sends the state of all devices after each message that it gets; a client that sends forces at 1 kHz gets
//! states at 1 kHz. A force lasts until the next message only. Positions are metres, right-handed. Version 3.5 calls the
//! number of a force `vector`, before it was `values`: both are read, one is written.
//!
//! Both sides are here: a client, and what a service sends, so that a simulated device can be one.

use crate::device::Reading;
use crate::error::Error;
use serde_json::{Value, json};
use sinew_math::{Frame, Wrench};
use sinew_math::{Wide3, WideQuat};

/// Longest text that is read, in bytes.
pub const LONGEST: usize = 1 << 16;

/// State of one Inverse3 with its grip.
///
/// ```
/// use sinew_haptic::{Frame, Wide3, haply::State};
/// let state = State { device: "049D".into(), ..State::default() };
/// let read = State::parse_all(&state.print())?;
/// assert_eq!(read, [state]);
/// # Ok::<(), sinew_haptic::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Name of the device.
    pub device: String,
    /// Position of the cursor and orientation of the grip.
    pub pose: Frame,
    /// Velocity of the cursor [m/s].
    pub velocity: Wide3,
    /// Buttons of the grip: a, b, c from bit 0 on.
    pub buttons: u16,
}

/// A force for one device.
///
/// ```
/// use sinew_haptic::{Wide3, haply::Force};
/// let force = Force { device: "049D".into(), force: Wide3::new(0.0, 1.5, 0.0) };
/// assert_eq!(Force::parse_all(&force.print(true))?, [force.clone()]);
/// assert!(force.print(true).contains("\"vector\"") && force.print(false).contains("\"values\""));
/// # Ok::<(), sinew_haptic::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Force {
    /// Name of the device.
    pub device: String,
    /// Force on the hand [N].
    pub force: Wide3,
}

fn bad(place: impl Into<String>, reason: impl Into<String>) -> Error {
    Error::Message { place: place.into(), reason: reason.into() }
}

fn document(text: &str) -> Result<Value, Error> {
    if text.len() > LONGEST {
        return Err(bad("message", format!("{} bytes, at most {LONGEST} are read", text.len())));
    }
    serde_json::from_str(text).map_err(|e| bad("message", e.to_string()))
}

/// Numbers of an object by their names; all must be finite.
fn numbers<const N: usize>(value: &Value, names: [&str; N], place: &str) -> Result<[f64; N], Error> {
    let mut out = [0.0; N];
    for (x, name) in out.iter_mut().zip(names) {
        let number = value.get(name).and_then(Value::as_f64).filter(|x| x.is_finite());
        *x = number.ok_or_else(|| bad(format!("{place}.{name}"), "a number is missing or not finite"))?;
    }
    Ok(out)
}

fn vector(value: &Value, place: &str) -> Result<Wide3, Error> {
    numbers(value, ["x", "y", "z"], place).map(Wide3::from_array)
}

fn name(value: &Value, place: &str) -> Result<String, Error> {
    let id = value.get("device_id").and_then(Value::as_str);
    id.map(str::to_owned).ok_or_else(|| bad(format!("{place}.device_id"), "a text is missing"))
}

fn list<'a>(message: &'a Value, key: &str) -> &'a [Value] {
    message.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn printed(v: Wide3) -> Value {
    json!({ "x": v.x, "y": v.y, "z": v.z })
}

impl State {
    /// All devices of a message of the service. The grip of the same place in its list gives orientation and buttons,
    /// wired or wireless.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, Error> {
        let message = document(text)?;
        let grips: Vec<&Value> =
            list(&message, "verse_grip").iter().chain(list(&message, "wireless_verse_grip")).collect();
        let mut states = Vec::new();
        for (k, device) in list(&message, "inverse3").iter().enumerate() {
            let place = format!("inverse3[{k}]");
            let state = device.get("state").ok_or_else(|| bad(format!("{place}.state"), "an object is missing"))?;
            let position = state.get("cursor_position").unwrap_or(&Value::Null);
            let position = vector(position, &format!("{place}.state.cursor_position"))?;
            let velocity = match state.get("cursor_velocity") {
                Some(v) => vector(v, &format!("{place}.state.cursor_velocity"))?,
                None => Wide3::ZERO,
            };
            let (rotation, buttons) = match grips.get(k) {
                Some(grip) => Self::grip(grip, k)?,
                None => (WideQuat::IDENTITY, 0),
            };
            let pose = Frame { position, rotation };
            states.push(Self { device: name(device, &place)?, pose, velocity, buttons });
        }
        Ok(states)
    }

    fn grip(grip: &Value, k: usize) -> Result<(WideQuat, u16), Error> {
        let place = format!("verse_grip[{k}].state");
        let state = grip.get("state").unwrap_or(&Value::Null);
        let rotation = match state.get("orientation") {
            Some(q) => WideQuat::from_array(numbers(q, ["x", "y", "z", "w"], &format!("{place}.orientation"))?),
            None => WideQuat::IDENTITY,
        };
        if !(Frame { position: Wide3::ZERO, rotation }).is_valid() {
            return Err(bad(format!("{place}.orientation"), "the quaternion is not of unit length"));
        }
        let pressed = |key: &str| state.get("buttons").and_then(|b| b.get(key)).and_then(Value::as_bool) == Some(true);
        let mut buttons = 0;
        for (bit, key) in ["a", "b", "c"].into_iter().enumerate() {
            buttons |= u16::from(pressed(key)) << bit;
        }
        // the grip with a cable has one button
        buttons |= u16::from(state.get("button").and_then(Value::as_bool) == Some(true));
        Ok((rotation.normalize(), buttons))
    }

    /// The message of a service with this device alone.
    pub fn print(&self) -> String {
        let q = self.pose.rotation;
        let bit = |k: u16| self.buttons >> k & 1 == 1;
        json!({
            "inverse3": [{
                "device_id": self.device,
                "state": {
                    "cursor_position": printed(self.pose.position),
                    "cursor_velocity": printed(self.velocity),
                },
            }],
            "wireless_verse_grip": [{
                "device_id": self.device,
                "state": {
                    "orientation": { "x": q.x, "y": q.y, "z": q.z, "w": q.w },
                    "buttons": { "a": bit(0), "b": bit(1), "c": bit(2) },
                },
            }],
        })
        .to_string()
    }

    /// The reading that the fast loop takes.
    pub fn reading(&self) -> Reading {
        Reading { pose: self.pose, buttons: self.buttons, gripper: 1.0 }
    }
}

impl Force {
    /// A force for a device; torque is left out, the device has none.
    pub fn of(device: &str, wrench: &Wrench) -> Self {
        let force = if wrench.is_finite() { wrench.force } else { Wide3::ZERO };
        Self { device: device.to_owned(), force }
    }

    /// The message of a client; `vector` as of version 3.5 of the service.
    pub fn print(&self, vector: bool) -> String {
        let key = if vector { "vector" } else { "values" };
        let command = json!({ "set_cursor_force": { key: printed(self.force) } });
        json!({ "inverse3": [{ "device_id": self.device, "commands": command }] }).to_string()
    }

    /// All forces of a message of a client.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, Error> {
        let message = document(text)?;
        let mut forces = Vec::new();
        for (k, device) in list(&message, "inverse3").iter().enumerate() {
            let place = format!("inverse3[{k}]");
            let Some(command) = device.get("commands").and_then(|c| c.get("set_cursor_force")) else { continue };
            let value = command.get("vector").or_else(|| command.get("values")).unwrap_or(&Value::Null);
            let force = vector(value, &format!("{place}.commands.set_cursor_force.vector"))?;
            forces.push(Self { device: name(device, &place)?, force });
        }
        Ok(forces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_both_kinds_of_grip_are_read() {
        let text = r#"{"inverse3":[{"device_id":"A1","state":{"cursor_position":{"x":0.01,"y":-0.1,"z":0.2}}}],
            "verse_grip":[{"device_id":"G","state":{"orientation":{"w":0,"x":1,"y":0,"z":0},"button":true,"hall":3}}]}"#;
        let state = &State::parse_all(text).expect("a state")[0];
        assert_eq!((state.device.as_str(), state.buttons), ("A1", 1));
        assert_eq!(state.pose.rotation, WideQuat::from_xyzw(1.0, 0.0, 0.0, 0.0));
        assert_eq!(state.pose.position, Wide3::new(0.01, -0.1, 0.2));
    }

    #[test]
    fn errors_name_the_place() {
        let no_z = r#"{"inverse3":[{"device_id":"A","state":{"cursor_position":{"x":0,"y":0,"z":null}}}]}"#;
        let error = State::parse_all(no_z).expect_err("no z").to_string();
        assert!(error.starts_with("inverse3[0].state.cursor_position.z"), "{error}");
        assert!(Force::parse_all("{").is_err());
        assert!(State::parse_all(&"[".repeat(LONGEST + 1)).is_err());
        assert_eq!(State::parse_all("{}").expect("no devices"), []);
    }
}
