//! A device behind a UDP socket: a thread reads and answers datagrams, the loop exchanges values with it without waiting.

use crate::device::{Device, Reading};
use crate::exchange::{Publisher, Subscriber, exchange};
use crate::protocol::{DATAGRAM, Receiver, ReceiverReport, ToDevice};
use sinew_math::Wrench;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Another sender is listened to after so long without a good datagram of the one before.
const LEFT: Duration = Duration::from_secs(1);
/// The thread looks this often whether it shall end.
const LOOK: Duration = Duration::from_millis(50);

/// A device whose datagrams arrive at a socket. Each good datagram is answered with the newest wrench.
///
/// ```
/// use sinew_haptic::{Device, Frame, UdpDevice, Wide3, Wrench, protocol::{FromDevice, ToDevice}};
/// let mut device = UdpDevice::open("127.0.0.1:0", 0)?;
/// device.write(&Wrench { force: Wide3::Y, torque: Wide3::ZERO });
/// let hand = std::net::UdpSocket::bind("127.0.0.1:0")?;
/// hand.set_read_timeout(Some(std::time::Duration::from_secs(10)))?;
/// let sent = FromDevice { sequence: 5, pose: Frame::at(Wide3::X * 0.5), ..FromDevice::default() };
/// hand.send_to(&sent.encode(), device.address())?;
/// let mut bytes = [0; 64];
/// hand.recv(&mut bytes)?;
/// let answer = ToDevice::decode(&bytes).expect("a good answer");
/// assert_eq!((answer.sequence, answer.wrench.force), (5, Wide3::Y));
/// assert_eq!(device.read().expect("it came").pose.position, Wide3::X * 0.5);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct UdpDevice {
    readings: Subscriber<Received>,
    wrenches: Publisher<Wrench>,
    report: ReceiverReport,
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Received {
    reading: Reading,
    report: ReceiverReport,
}

impl UdpDevice {
    /// Listens at an address for the device of a number. An address of this machine alone (127.0.0.1) keeps others off: the
    /// protocol has no encryption.
    pub fn open(address: impl ToSocketAddrs, number: u16) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        socket.set_read_timeout(Some(LOOK))?;
        let address = socket.local_addr()?;
        let (publisher, readings) = exchange(Received::default());
        let (wrenches, subscriber) = exchange(Wrench::ZERO);
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("sinew-device".to_owned())
            .spawn(move || serve(&socket, number, publisher, subscriber, &flag))?;
        Ok(Self { readings, wrenches, report: ReceiverReport::default(), address, stop, thread: Some(thread) })
    }

    /// The address that it listens at.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Counts of datagrams, as of the last reading.
    pub fn report(&self) -> ReceiverReport {
        self.report
    }
}

impl Device for UdpDevice {
    fn read(&mut self) -> Option<Reading> {
        let received = *self.readings.newest()?;
        self.report = received.report;
        Some(received.reading)
    }

    fn write(&mut self, wrench: &Wrench) {
        self.wrenches.publish(|w| *w = *wrench);
    }
}

impl Drop for UdpDevice {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // a thread that panicked has ended too
            let _ = thread.join();
        }
    }
}

fn serve(
    socket: &UdpSocket,
    number: u16,
    mut readings: Publisher<Received>,
    mut wrenches: Subscriber<Wrench>,
    stop: &AtomicBool,
) {
    let mut receiver = Receiver::new(number);
    let mut wrench = Wrench::ZERO;
    let mut peer: Option<(SocketAddr, Instant)> = None;
    // one byte more: a longer datagram is refused for its length, not cut
    let mut bytes = [0; DATAGRAM + 1];
    while !stop.load(Ordering::Relaxed) {
        let Ok((length, from)) = socket.recv_from(&mut bytes) else { continue };
        if peer.is_some_and(|(known, last)| known != from && last.elapsed() < LEFT) {
            continue;
        }
        let Ok(datagram) = receiver.take(&bytes[..length]) else { continue };
        peer = Some((from, Instant::now()));
        let received = Received { reading: datagram.reading(), report: receiver.report() };
        readings.publish(|r| *r = received);
        if let Some(newest) = wrenches.newest() {
            wrench = *newest;
        }
        let answer = ToDevice {
            sequence: datagram.sequence,
            time: datagram.time,
            wrench,
            device: number,
            ..ToDevice::default()
        };
        // a lost answer is replaced by the next one
        let _ = socket.send_to(&answer.encode(), from);
    }
}
