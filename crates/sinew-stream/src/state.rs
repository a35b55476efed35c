//! Rigid bodies, tools with their wrenches, and readings: what a frame has beside points, as a rule in one packet.
//!
//! ```text
//! rigid u16 | tools u16 | readings u16
//! rigid:    body u16 | position 3 f32 [m] | rotation x y z w 4 i16 (32767 is 1)                              22 bytes
//! tool:     tool u16 | flags u16 | position | rotation | force 3 f32 [N] | torque 3 f32 [N m]                48 bytes
//! reading:  number u16 | value f32                                                                            6 bytes
//! ```

use crate::DecodeError;
use crate::bytes::{Reader, put_vector};
use crate::payload::{Header, Kind, LARGEST};

/// Pose of a rigid body.
///
/// An example is at [`State`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rigid {
    /// Number of the body.
    pub body: u16,
    /// Position [m].
    pub position: [f32; 3],
    /// Unit quaternion x y z w.
    pub rotation: [f32; 4],
}

/// A tool: pose, state and the wrench on the hand.
///
/// An example is at [`State`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tool {
    /// Number of the tool.
    pub tool: u16,
    /// Bits of its state: closed, cutting, ...
    pub flags: u16,
    /// Position [m].
    pub position: [f32; 3],
    /// Unit quaternion x y z w.
    pub rotation: [f32; 4],
    /// Force [N].
    pub force: [f32; 3],
    /// Torque [N·m].
    pub torque: [f32; 3],
}

/// One number of a run, for charts.
///
/// An example is at [`State`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// Which reading: an index into the list that the description of the scene has.
    pub reading: u16,
    /// Its value, in the unit of that list.
    pub value: f32,
}

/// What a frame has beside points.
///
/// ```
/// use sinew_stream::payload::{Header, Kind};
/// use sinew_stream::state::{Rigid, State, write, read};
/// let rigid = Rigid { body: 4, position: [1.0, 2.0, 3.0], rotation: [0.0, 0.0, 0.0, 1.0] };
/// let state = State { rigid: vec![rigid], ..State::default() };
/// let header = Header { kind: Kind::State, body: 0, revision: 0, tick: 9, first: 0, stride: 1 };
/// let (mut bytes, mut packets) = (Vec::new(), 0);
/// write(header, &state, &mut bytes, |_| packets += 1);
/// assert_eq!(packets, 1);
/// assert_eq!(read(&bytes[Header::SIZE..])?, state);
/// # Ok::<(), sinew_stream::DecodeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Rigid bodies.
    pub rigid: Vec<Rigid>,
    /// Tools.
    pub tools: Vec<Tool>,
    /// Readings.
    pub readings: Vec<Reading>,
}

const COUNTS: usize = 6;
const RIGID: usize = 22;
const TOOL: usize = 48;
const READING: usize = 6;
const ROOM: usize = LARGEST - Header::SIZE - COUNTS;

impl State {
    /// True if there is nothing to send.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rigid.is_empty() && self.tools.is_empty() && self.readings.is_empty()
    }
}

/// Lengths of the three lists of a packet.
type Counts = [usize; 3];

/// How many of each list go into the next packet: tools first, they are the fewest and the fastest.
fn share(left: Counts) -> Counts {
    let mut room = ROOM;
    let mut take = |count: usize, size: usize| {
        let taken = count.min(room / size);
        room -= taken * size;
        taken
    };
    let tools = take(left[1], TOOL);
    let rigid = take(left[0], RIGID);
    [rigid, tools, take(left[2], READING)]
}

/// Appends as many packets as the state needs, and calls `end` after each.
pub fn write(header: Header, state: &State, out: &mut Vec<u8>, mut end: impl FnMut(&mut Vec<u8>)) {
    let all = [state.rigid.len(), state.tools.len(), state.readings.len()];
    let shares = || {
        let mut done = [0; 3];
        std::iter::from_fn(move || {
            let taken = share([all[0] - done[0], all[1] - done[1], all[2] - done[2]]);
            let from = done;
            (0..3).for_each(|list| done[list] += taken[list]);
            (done != from).then_some((from, done))
        })
    };
    let stride = shares().count().min(usize::from(u16::MAX));
    for (first, (from, to)) in shares().take(stride).enumerate() {
        Header { kind: Kind::State, first: first as u16, stride: stride as u16, ..header }.write(out);
        for list in 0..3 {
            out.extend(((to[list] - from[list]) as u16).to_be_bytes());
        }
        for rigid in &state.rigid[from[0]..to[0]] {
            out.extend(rigid.body.to_be_bytes());
            put_pose(out, rigid.position, rigid.rotation);
        }
        for tool in &state.tools[from[1]..to[1]] {
            out.extend(tool.tool.to_be_bytes());
            out.extend(tool.flags.to_be_bytes());
            put_pose(out, tool.position, tool.rotation);
            put_vector(out, tool.force);
            put_vector(out, tool.torque);
        }
        for reading in &state.readings[from[2]..to[2]] {
            out.extend(reading.reading.to_be_bytes());
            out.extend(reading.value.to_be_bytes());
        }
        end(out);
    }
}

fn put_pose(out: &mut Vec<u8>, position: [f32; 3], rotation: [f32; 4]) {
    put_vector(out, position);
    for part in rotation {
        out.extend(((part.clamp(-1.0, 1.0) * 32_767.0).round() as i16).to_be_bytes());
    }
}

fn read_rotation(reader: &mut Reader<'_>) -> Result<[f32; 4], DecodeError> {
    let mut rotation = [0.0f32; 4];
    for part in &mut rotation {
        *part = f32::from(reader.u16()? as i16);
    }
    let size = rotation.iter().map(|part| part * part).sum::<f32>().sqrt();
    // numbers of a unit quaternion have this length up to their rounding
    if !(16_384.0..=65_536.0).contains(&size) {
        return Err(DecodeError::Value("rotation is not a unit quaternion"));
    }
    Ok(rotation.map(|part| part / size))
}

/// Decodes one packet; lists have at most as many entries as the packet has room for.
///
/// # Errors
/// Lengths that do not add up, rotations that are none, numbers that are not finite.
pub fn read(contents: &[u8]) -> Result<State, DecodeError> {
    let mut reader = Reader::new(contents);
    let [rigid, tools, readings] = [reader.u16()?, reader.u16()?, reader.u16()?].map(usize::from);
    if reader.rest().len() != rigid * RIGID + tools * TOOL + readings * READING {
        return Err(DecodeError::Length);
    }
    let mut state = State::default();
    for _ in 0..rigid {
        let (body, position) = (reader.u16()?, reader.vector()?);
        state.rigid.push(Rigid { body, position, rotation: read_rotation(&mut reader)? });
    }
    for _ in 0..tools {
        state.tools.push(Tool {
            tool: reader.u16()?,
            flags: reader.u16()?,
            position: reader.vector()?,
            rotation: read_rotation(&mut reader)?,
            force: reader.vector()?,
            torque: reader.vector()?,
        });
    }
    for _ in 0..readings {
        state.readings.push(Reading { reading: reader.u16()?, value: reader.f32()? });
    }
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header { kind: Kind::State, body: 0, revision: 0, tick: 0, first: 0, stride: 1 };

    fn packets(state: &State) -> Vec<Vec<u8>> {
        let (mut out, mut packets) = (Vec::new(), Vec::new());
        write(HEADER, state, &mut out, |out| packets.push(std::mem::take(out)));
        packets
    }

    fn turn(angle: f32) -> [f32; 4] {
        [0.0, (angle / 2.0).sin() * 0.6, (angle / 2.0).sin() * 0.8, (angle / 2.0).cos()]
    }

    #[test]
    fn rigid_bodies_tools_wrenches_and_readings_share_a_packet() {
        let state = State {
            rigid: (0..10).map(|body| Rigid { body, position: [0.1; 3], rotation: turn(0.3) }).collect(),
            tools: vec![Tool { tool: 1, flags: 3, rotation: turn(2.0), force: [1.0, 2.0, 3.0], ..Tool::default() }],
            readings: vec![Reading { reading: 7, value: 0.25 }],
        };
        let packets = packets(&state);
        assert_eq!(packets.len(), 1);
        let found = read(&packets[0][Header::SIZE..]).unwrap();
        assert_eq!((found.readings, found.tools[0].force), (state.readings, [1.0, 2.0, 3.0]));
        // half a number of 32767 an axis: an angle below 2 * 0.5 * sqrt(4)/32767 rad
        for (a, b) in found.rigid[3].rotation.iter().zip(turn(0.3)) {
            assert!((a - b).abs() < 2.0 / 32_767.0);
        }
    }

    #[test]
    fn a_large_state_is_split_into_packets_that_stand_alone() {
        let state = State {
            rigid: (0..500).map(|body| Rigid { body, position: [1.0; 3], rotation: turn(1.0) }).collect(),
            tools: (0..30).map(|tool| Tool { tool, rotation: turn(0.0), ..Tool::default() }).collect(),
            readings: (0..300).map(|reading| Reading { reading, value: 1.0 }).collect(),
        };
        let packets = packets(&state);
        assert!(packets.iter().all(|packet| packet.len() <= LARGEST));
        let mut counts = [0; 3];
        for packet in &packets {
            let found = read(&packet[Header::SIZE..]).unwrap();
            counts[0] += found.rigid.len();
            counts[1] += found.tools.len();
            counts[2] += found.readings.len();
        }
        assert_eq!(counts, [500, 30, 300]);
        assert_eq!(super::tests::packets(&State::default()).len(), 0);
    }

    #[test]
    fn bad_states_are_refused() {
        let rigid = Rigid { body: 0, position: [0.0; 3], rotation: [0.0; 4] };
        let packet = packets(&State { rigid: vec![rigid], ..State::default() }).remove(0);
        let error = DecodeError::Value("rotation is not a unit quaternion");
        assert_eq!(read(&packet[Header::SIZE..]), Err(error));
        assert_eq!(read(&[0xFF; 6]), Err(DecodeError::Length));
        let nan = Reading { reading: 0, value: f32::NAN };
        let packet = packets(&State { readings: vec![nan], ..State::default() }).remove(0);
        assert!(read(&packet[Header::SIZE..]).is_err());
    }
}
