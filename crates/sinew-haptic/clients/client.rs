//! A device for Sinew's fast loop: 64-byte datagrams by UDP (docs/haptics.md).
//!
//! Replace `read_device` and `write_device` by calls of the device's library. Usage: client [HOST:PORT]

use sinew_haptic::protocol::{DATAGRAM, FromDevice, ToDevice};
use sinew_haptic::{Frame, Wide3, Wrench};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// A force lasts so long without an answer.
const HOLD: Duration = Duration::from_millis(20);

fn read_device(t: f64) -> Frame {
    Frame::at(Wide3::X * (0.01 * t.sin()))
}

fn write_device(_wrench: &Wrench) {}

fn main() -> std::io::Result<()> {
    let to = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:9471".to_owned());
    let link = UdpSocket::bind("0.0.0.0:0")?;
    link.connect(to)?;
    link.set_nonblocking(true)?;
    let (start, mut answered) = (Instant::now(), Instant::now());
    for n in 0_u32.. {
        let now = start.elapsed();
        let pose = read_device(now.as_secs_f64());
        let datagram = FromDevice {
            sequence: n,
            time: now.as_micros() as u64,
            pose,
            gripper: u16::MAX,
            flags: 1,
            ..FromDevice::default()
        };
        // a full buffer or a loop that is not there yet loses this datagram; the next one replaces it
        let _ = link.send(&datagram.encode());
        let mut bytes = [0; DATAGRAM + 1];
        while let Ok(length) = link.recv(&mut bytes) {
            if let Ok(answer) = ToDevice::decode(&bytes[..length]) {
                write_device(&answer.wrench);
                answered = Instant::now();
            }
        }
        if answered.elapsed() > HOLD {
            write_device(&Wrench::ZERO);
        }
        let next = start + Duration::from_millis(u64::from(n) + 1);
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    Ok(())
}
