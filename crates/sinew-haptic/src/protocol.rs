//! The datagrams of devices: 64 bytes each way, little endian, by UDP.
//!
//! Device to loop, `SNH1`:
//!
//! | bytes | what |
//! | --- | --- |
//! | 0..4 | `SNH1`; the digit is the version |
//! | 4..8 | sequence number, u32, plus one a datagram, wraps |
//! | 8..16 | time of the device, u64 [µs] |
//! | 16..28 | position, 3 f32 [m] |
//! | 28..44 | orientation, quaternion x y z w, 4 f32 |
//! | 44..56 | velocity, 3 f32 [m/s]; for display, forces do not depend on it |
//! | 56..58 | buttons, u16, one bit each |
//! | 58..60 | gripper, u16, 0 closed to 65535 open |
//! | 60..62 | flags, u16: bit 0, the hand is on the handle |
//! | 62..64 | number of the device, u16 |
//!
//! Loop to device, `SNF1`:
//!
//! | bytes | what |
//! | --- | --- |
//! | 0..4 | `SNF1` |
//! | 4..8 | sequence number that it answers, u32 |
//! | 8..16 | time that it answers, u64 [µs]: the difference on arrival is the delay of the loop |
//! | 16..28 | force, 3 f32 [N] |
//! | 28..40 | torque, 3 f32 [N·m] |
//! | 40..44 | force of the gripper, f32 [N] |
//! | 44..48 | stiffness of the coupling, f32 [N/m] |
//! | 48..52 | effective tick, f32 [s] |
//! | 52..54 | status, u16: bit 0 silent, 1 stalled, 2 limited, 3 damping acts |
//! | 54..56 | number of the device, u16 |
//! | 56..64 | zero |
//!
//! A device holds the last force for at most 20 ms and then lets go. There is no answer without a datagram, no connection
//! and no repeat: a lost datagram is replaced by the next.

use crate::device::Reading;
use sinew_math::{Frame, Wrench};
use sinew_math::{Wide3, WideQuat};

/// Bytes of a datagram.
pub const DATAGRAM: usize = 64;

/// Why a datagram was refused.
///
/// An example is at [`Receiver`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Its length.
    #[error("{0} bytes instead of 64")]
    Length(usize),
    /// It does not begin with the mark of the protocol.
    #[error("it does not begin with SNH or SNF")]
    Foreign,
    /// Another version.
    #[error("version {0:?}, this side speaks 1")]
    Version(char),
    /// A number is NaN or infinite.
    #[error("a number is not finite")]
    NotFinite,
    /// The quaternion is not of unit length within 1 %.
    #[error("the quaternion is not of unit length")]
    Orientation,
    /// It is a repeat, or older than one that came before.
    #[error("it came late or twice")]
    Old,
    /// It belongs to another device.
    #[error("it is of device {0}")]
    Device(u16),
}

/// A datagram of a device.
///
/// ```
/// use sinew_haptic::{Frame, Wide3, protocol::FromDevice};
/// let sent = FromDevice { sequence: 7, pose: Frame::at(Wide3::new(0.5, 0.25, -1.0)), ..FromDevice::default() };
/// assert_eq!(FromDevice::decode(&sent.encode()), Ok(sent));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FromDevice {
    /// Sequence number.
    pub sequence: u32,
    /// Time of the device [µs].
    pub time: u64,
    /// Pose.
    pub pose: Frame,
    /// Velocity [m/s].
    pub velocity: Wide3,
    /// Buttons.
    pub buttons: u16,
    /// Opening of the gripper.
    pub gripper: u16,
    /// Flags.
    pub flags: u16,
    /// Number of the device.
    pub device: u16,
}

/// A datagram to a device.
///
/// ```
/// use sinew_haptic::{Wide3, Wrench, protocol::ToDevice};
/// let wrench = Wrench { force: Wide3::new(0.5, -1.0, 2.0), torque: Wide3::ZERO };
/// let sent = ToDevice { sequence: 7, wrench, ..ToDevice::default() };
/// assert_eq!(ToDevice::decode(&sent.encode()), Ok(sent));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ToDevice {
    /// Sequence number of the datagram that it answers.
    pub sequence: u32,
    /// Time of the datagram that it answers [µs].
    pub time: u64,
    /// Force and torque on the hand.
    pub wrench: Wrench,
    /// Force of the gripper [N].
    pub gripper_force: f64,
    /// Stiffness of the coupling [N/m].
    pub stiffness: f64,
    /// Effective tick of the loop [s].
    pub effective_tick: f64,
    /// Status bits.
    pub status: u16,
    /// Number of the device.
    pub device: u16,
}

/// Writes and reads numbers in order.
struct Cursor<B> {
    bytes: B,
    at: usize,
}

impl<B: AsRef<[u8]>> Cursor<B> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        // all sizes are constants that add up to at most 64
        out.copy_from_slice(&self.bytes.as_ref()[self.at..self.at + N]);
        self.at += N;
        out
    }

    fn real(&mut self) -> f64 {
        f64::from(f32::from_le_bytes(self.take()))
    }

    fn vector(&mut self) -> Wide3 {
        Wide3::new(self.real(), self.real(), self.real())
    }

    fn short(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }
}

impl Cursor<[u8; DATAGRAM]> {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    fn reals(&mut self, numbers: &[f64]) {
        for x in numbers {
            self.put(&(*x as f32).to_le_bytes());
        }
    }
}

/// The bytes of a datagram with this mark, after the mark.
fn opened<'a>(bytes: &'a [u8], mark: &[u8; 3]) -> Result<Cursor<&'a [u8]>, Refusal> {
    if bytes.len() != DATAGRAM {
        return Err(Refusal::Length(bytes.len()));
    }
    if &bytes[..3] != mark {
        return Err(Refusal::Foreign);
    }
    if bytes[3] != b'1' {
        return Err(Refusal::Version(char::from(bytes[3])));
    }
    Ok(Cursor { bytes, at: 4 })
}

impl FromDevice {
    /// The bytes of the datagram. Numbers are rounded to f32.
    pub fn encode(&self) -> [u8; DATAGRAM] {
        let mut out = Cursor { bytes: [0; DATAGRAM], at: 0 };
        out.put(b"SNH1");
        out.put(&self.sequence.to_le_bytes());
        out.put(&self.time.to_le_bytes());
        out.reals(&self.pose.position.to_array());
        out.reals(&self.pose.rotation.to_array());
        out.reals(&self.velocity.to_array());
        for x in [self.buttons, self.gripper, self.flags, self.device] {
            out.put(&x.to_le_bytes());
        }
        out.bytes
    }

    /// Reads a datagram; refuses what is not one.
    pub fn decode(bytes: &[u8]) -> Result<Self, Refusal> {
        let mut from = opened(bytes, b"SNH")?;
        let sequence = u32::from_le_bytes(from.take());
        let time = u64::from_le_bytes(from.take());
        let position = from.vector();
        let (axis, w) = (from.vector(), from.real());
        let velocity = from.vector();
        let rotation = WideQuat::from_xyzw(axis.x, axis.y, axis.z, w);
        if !(position.is_finite() && rotation.is_finite() && velocity.is_finite()) {
            return Err(Refusal::NotFinite);
        }
        let pose = Frame { position, rotation };
        if !pose.is_valid() {
            return Err(Refusal::Orientation);
        }
        let [buttons, gripper, flags, device] = std::array::from_fn(|_| from.short());
        Ok(Self { sequence, time, pose, velocity, buttons, gripper, flags, device })
    }

    /// The reading that the fast loop takes.
    pub fn reading(&self) -> Reading {
        let pose = Frame { rotation: self.pose.rotation.normalize(), ..self.pose };
        Reading { pose, buttons: self.buttons, gripper: f64::from(self.gripper) / 65535.0 }
    }
}

impl ToDevice {
    /// The bytes of the datagram. Numbers are rounded to f32; a wrench that is not finite is sent as zero.
    pub fn encode(&self) -> [u8; DATAGRAM] {
        let mut out = Cursor { bytes: [0; DATAGRAM], at: 0 };
        let wrench = if self.wrench.is_finite() { self.wrench } else { Wrench::ZERO };
        out.put(b"SNF1");
        out.put(&self.sequence.to_le_bytes());
        out.put(&self.time.to_le_bytes());
        out.reals(&wrench.force.to_array());
        out.reals(&wrench.torque.to_array());
        out.reals(&[self.gripper_force, self.stiffness, self.effective_tick]);
        out.put(&self.status.to_le_bytes());
        out.put(&self.device.to_le_bytes());
        out.bytes
    }

    /// Reads a datagram; refuses what is not one.
    pub fn decode(bytes: &[u8]) -> Result<Self, Refusal> {
        let mut from = opened(bytes, b"SNF")?;
        let sequence = u32::from_le_bytes(from.take());
        let time = u64::from_le_bytes(from.take());
        let wrench = Wrench { force: from.vector(), torque: from.vector() };
        let [gripper_force, stiffness, effective_tick] = std::array::from_fn(|_| from.real());
        let [status, device] = std::array::from_fn(|_| from.short());
        if !(wrench.is_finite() && gripper_force.is_finite() && stiffness.is_finite() && effective_tick.is_finite()) {
            return Err(Refusal::NotFinite);
        }
        Ok(Self { sequence, time, wrench, gripper_force, stiffness, effective_tick, status, device })
    }
}

/// Counts of a receiver.
///
/// An example is at [`Receiver`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverReport {
    /// Datagrams taken.
    pub taken: u64,
    /// Datagrams refused for their form or numbers.
    pub refused: u64,
    /// Datagrams refused as late or repeated.
    pub old: u64,
    /// Numbers that are missing between those taken.
    pub lost: u64,
    /// Times that the sequence began anew.
    pub restarts: u64,
}

/// The stream of datagrams of one device: order, repeats, losses, restarts.
///
/// ```
/// use sinew_haptic::protocol::{FromDevice, Receiver, Refusal};
/// let mut receiver = Receiver::new(0);
/// let datagram = |sequence| FromDevice { sequence, ..FromDevice::default() }.encode();
/// assert!(receiver.take(&datagram(u32::MAX)).is_ok());
/// // numbers wrap; a repeat is refused
/// assert!(receiver.take(&datagram(1)).is_ok());
/// assert_eq!(receiver.take(&datagram(u32::MAX)).err(), Some(Refusal::Old));
/// assert_eq!((receiver.report().lost, receiver.report().old), (1, 1));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    device: u16,
    last: Option<u32>,
    /// Refused datagrams in a row, each newer than the one before: a device that began anew.
    anew: u32,
    anew_last: u32,
    report: ReceiverReport,
}

/// So many in a row are a device that began anew.
const RESTART: u32 = 20;
/// Most datagrams that may be lost in a row; after a longer pause the sequence begins anew.
const FARTHEST: u32 = 1000;

impl Receiver {
    /// For a device of this number.
    pub fn new(device: u16) -> Self {
        Self { device, last: None, anew: 0, anew_last: 0, report: ReceiverReport::default() }
    }

    /// Takes or refuses a datagram.
    pub fn take(&mut self, bytes: &[u8]) -> Result<FromDevice, Refusal> {
        let result = FromDevice::decode(bytes).and_then(|d| self.order(&d).map(|()| d));
        match result {
            Ok(_) => self.report.taken += 1,
            Err(Refusal::Old) => self.report.old += 1,
            Err(_) => self.report.refused += 1,
        }
        result
    }

    fn order(&mut self, datagram: &FromDevice) -> Result<(), Refusal> {
        if datagram.device != self.device {
            return Err(Refusal::Device(datagram.device));
        }
        let sequence = datagram.sequence;
        if let Some(last) = self.last {
            // numbers wrap; one that is far ahead is as doubtful as one that is behind
            let ahead = sequence.wrapping_sub(last);
            if ahead == 0 || ahead > FARTHEST {
                let follows = self.anew > 0 && sequence.wrapping_sub(self.anew_last).wrapping_sub(1) < FARTHEST;
                self.anew = if follows { self.anew + 1 } else { 1 };
                self.anew_last = sequence;
                if self.anew < RESTART {
                    return Err(Refusal::Old);
                }
                self.report.restarts += 1;
            } else {
                self.report.lost += u64::from(ahead - 1);
            }
        }
        (self.last, self.anew) = (Some(sequence), 0);
        Ok(())
    }

    /// Counts.
    pub fn report(&self) -> ReceiverReport {
        self.report
    }
}
