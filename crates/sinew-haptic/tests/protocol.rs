//! Bad datagrams and bad devices: the force stays bounded, and every case is counted.

use sinew_haptic::protocol::{DATAGRAM, FromDevice, Receiver, ReceiverReport, Refusal, ToDevice};
use sinew_haptic::*;

mod common;
use common::{Wall, tool};

/// A fixed sequence of numbers (xorshift).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }
}

/// A datagram of a device that moves well, damaged in one of many ways or not at all.
fn damaged(draw: &mut Draw, sequence: u32) -> ([u8; DATAGRAM], usize) {
    let t = f64::from(sequence) * 1e-3;
    let pose = Frame::at(Wide3::new(0.01 * t.sin(), -0.002, 0.0));
    let good = FromDevice { sequence, time: u64::from(sequence) * 1000, pose, ..FromDevice::default() };
    let mut bytes = good.encode();
    let mut length = DATAGRAM;
    let special = [f32::NAN, f32::INFINITY, f32::MAX, -f32::MAX, 1e-40, 1.0, -3.0, 0.0];
    match draw.below(10) {
        0 => bytes.iter_mut().for_each(|b| *b = draw.next() as u8),
        1 => bytes[draw.below(64) as usize] ^= 1 << draw.below(8),
        2 => length = draw.below(65) as usize,
        3 | 4 => {
            let at = 16 + 4 * draw.below(10) as usize;
            bytes[at..at + 4].copy_from_slice(&special[draw.below(8) as usize].to_le_bytes());
        }
        5 => bytes[4..8].copy_from_slice(&(draw.next() as u32).to_le_bytes()),
        _ => {}
    }
    (bytes, length)
}

/// A million datagrams, two in five of them damaged, through receiver, intake and loop onto a wall.
#[test]
fn a_million_bad_datagrams_keep_the_force_bounded() {
    let limits = WorkspaceSettings { max_force: 3.0, max_torque: 0.2, ..WorkspaceSettings::default() };
    let settings = ToolSettings { workspace: limits, ..tool(960.0, true) };
    let mut fast = FastLoop::new(LocalSettings { sweeps: 3, ..Default::default() }, &[settings]).expect("usual");
    let mut snapshot = Snapshot::new(0.017);
    Wall::default().step(&[Frame::default()], 0.017, &mut snapshot).expect("a wall");
    let mut receiver = Receiver::new(0);
    let mut draw = Draw(0x5eed_1234_5678_9abc);
    let mut most = 0.0_f64;
    for sequence in 0..1_000_000_u32 {
        let (bytes, length) = damaged(&mut draw, sequence);
        let reading = receiver.take(&bytes[..length]).ok().map(|d| d.reading());
        if sequence % 17 == 0 {
            snapshot.time = fast.time();
            fast.arrive(&snapshot);
        }
        let sent = fast.tick(&[reading], 1e-3)[0];
        assert!(sent.is_finite(), "datagram {sequence}");
        most = most.max(sent.force.length());
        assert!(sent.force.length() <= 3.0 + 1e-9, "datagram {sequence}: {sent:?}");
    }
    let ReceiverReport { taken, refused, old, .. } = receiver.report();
    // fifty good ones: all are used, and the wall holds the coupling. Where the tool is depends on the jumps that were taken
    // for a device put elsewhere.
    let used = fast.report(0).intake.used;
    for sequence in 1_000_000..1_000_050_u32 {
        let pose = Frame::at(Wide3::Y * -0.002);
        let good = FromDevice { sequence, pose, ..FromDevice::default() };
        snapshot.time = fast.time();
        fast.arrive(&snapshot);
        fast.tick(&[receiver.take(&good.encode()).ok().map(|d| d.reading())], 1e-3);
    }
    let report = fast.report(0);
    assert_eq!(taken + refused + old, 1_000_000);
    assert!(taken > 500_000 && refused > 250_000 && old > 1000, "{:?}", receiver.report());
    assert!(report.intake.jumped > 10_000 && most > 1.0, "{:?}, {most} N", report.intake);
    let law = 960.0 * (-report.pose.position.y).max(0.0);
    // one may still be a jump from the last damaged one
    assert!(report.intake.used - used >= 49);
    assert!((report.force.hand.force.y - law).abs() < 1e-3, "{:?}", report.force);
}

#[test]
fn numbers_out_of_form_are_refused_by_name() {
    let good = FromDevice::default().encode();
    let change = |at: usize, byte: u8| {
        let mut bytes = good;
        bytes[at] = byte;
        FromDevice::decode(&bytes).expect_err("it is bad")
    };
    assert_eq!(change(3, b'2'), Refusal::Version('2'));
    assert_eq!(change(0, b'X'), Refusal::Foreign);
    assert_eq!(FromDevice::decode(&good[..63]), Err(Refusal::Length(63)));
    let mut nan = FromDevice::default();
    nan.pose.position.y = f64::NAN;
    assert_eq!(FromDevice::decode(&nan.encode()), Err(Refusal::NotFinite));
    nan.pose = Frame { rotation: WideQuat::from_xyzw(0.0, 0.0, 0.0, 0.5), ..Frame::default() };
    assert_eq!(FromDevice::decode(&nan.encode()), Err(Refusal::Orientation));
    let mut other = Receiver::new(3);
    assert_eq!(other.take(&good), Err(Refusal::Device(0)));
    let broken = ToDevice { wrench: Wrench { force: Wide3::NAN, torque: Wide3::ZERO }, ..ToDevice::default() };
    assert_eq!(ToDevice::decode(&broken.encode()).expect("zero is sent").wrench, Wrench::ZERO);
}

#[test]
fn a_device_that_begins_anew_is_taken_after_twenty_datagrams_and_one_that_floods_changes_nothing() {
    let mut receiver = Receiver::new(0);
    let datagram = |sequence: u32| FromDevice { sequence, ..FromDevice::default() }.encode();
    receiver.take(&datagram(900_000)).expect("the first");
    let taken = (0..100).filter(|k| receiver.take(&datagram(*k)).is_ok()).count();
    assert_eq!((taken, receiver.report().restarts), (81, 1));
    // the same datagram a hundred thousand times
    let taken = (0..100_000).filter(|_| receiver.take(&datagram(100)).is_ok()).count();
    assert_eq!(taken, 1);
}

/// The clients in three languages have the offsets of this table.
#[test]
fn bytes_are_those_of_the_documented_table() {
    let rotation = WideQuat::from_xyzw(0.5, -0.5, 0.5, 0.5);
    let datagram = FromDevice {
        sequence: 0x0403_0201,
        time: 0x0807_0605_0403_0201,
        pose: Frame { position: Wide3::new(1.0, 2.0, -3.0), rotation },
        velocity: Wide3::new(0.25, 0.0, 0.0),
        buttons: 5,
        gripper: 0xffff,
        flags: 1,
        device: 2,
    };
    let bytes = datagram.encode();
    assert_eq!(&bytes[..16], b"SNH1\x01\x02\x03\x04\x01\x02\x03\x04\x05\x06\x07\x08");
    assert_eq!(bytes[16..20], 1.0_f32.to_le_bytes());
    assert_eq!(bytes[24..28], (-3.0_f32).to_le_bytes());
    assert_eq!(bytes[32..36], (-0.5_f32).to_le_bytes());
    assert_eq!(bytes[44..48], 0.25_f32.to_le_bytes());
    assert_eq!(bytes[56..64], [5, 0, 0xff, 0xff, 1, 0, 2, 0]);
    let wrench = Wrench { force: Wide3::X, torque: Wide3::Z };
    let answer = ToDevice { wrench, status: 6, device: 2, ..ToDevice::default() }.encode();
    assert_eq!((&answer[..4], answer[16..20].to_vec()), (&b"SNF1"[..], 1.0_f32.to_le_bytes().to_vec()));
    assert_eq!(answer[36..40], 1.0_f32.to_le_bytes());
    assert_eq!(answer[52..64], [6, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}
