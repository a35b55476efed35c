//! One viewer: scenes, states and frames out, orders in. The latest of each is all that waits for a viewer, so a slow one
//! misses frames and holds back nobody.

use crate::layer::{Demand, Layers};
use crate::limits::{EXCESS, MISSED, NOTES, PIECE, PING, RATE, SLOW};
use crate::meter::{Allowance, Metered};
use crate::order::Order;
use crate::session::Letter;
use crate::viewer::Viewer;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::body::Bytes;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc, watch};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};

/// The connection of a viewer.
pub type Socket = WebSocketStream<Metered<TokioIo<Upgraded>>>;

/// What the encoder publishes: the latest of each.
#[derive(Clone, Debug)]
pub struct Published {
    /// The scene as JSON; a new one for every model.
    pub scene: watch::Receiver<Bytes>,
    /// How it runs, as JSON.
    pub status: watch::Receiver<Bytes>,
    /// The latest frame.
    pub frame: watch::Receiver<Bytes>,
}

/// What every connection shares.
#[derive(Clone, Debug)]
pub struct Hub {
    /// What goes out.
    pub published: Published,
    /// What comes in.
    pub letters: SyncSender<Letter>,
    /// Which layers are wanted.
    pub demand: Arc<Demand>,
}

/// The place of a viewer that has been counted in; dropping it counts out, whether the talk began or not.
#[derive(Debug)]
pub struct Seat {
    viewer: Viewer,
    layers: Layers,
    hub: Hub,
}

impl Seat {
    /// For a viewer that has just been counted in.
    pub fn new(hub: Hub, number: u32) -> Self {
        Self { viewer: Viewer::new(number), layers: Layers::default(), hub }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.hub.demand.leave(self.layers);
        self.viewer.leave();
    }
}

/// Pings that are due and those that were answered, by number.
#[derive(Debug, Default)]
struct Pulse {
    due: AtomicU32,
    answered: AtomicU32,
    changed: Notify,
}

impl Pulse {
    /// Ends when pings go without an answer. Time counts even while a ping cannot be sent: the viewer reads nothing then.
    async fn watch(&self) {
        let mut clock = tokio::time::interval(PING);
        loop {
            clock.tick().await;
            let due = self.due.load(Ordering::Relaxed);
            if due - self.answered.load(Ordering::Relaxed) >= MISSED {
                return;
            }
            self.due.store(due + 1, Ordering::Relaxed);
            self.changed.notify_one();
        }
    }

    /// The next ping.
    async fn next(&self) -> Message {
        self.changed.notified().await;
        Message::Ping(self.due.load(Ordering::Relaxed).to_le_bytes().to_vec().into())
    }

    /// A pong; one that answers no ping counts for nothing.
    fn hear(&self, bytes: &[u8]) {
        let Ok(number) = bytes.try_into().map(u32::from_le_bytes) else { return };
        if number <= self.due.load(Ordering::Relaxed) {
            self.answered.fetch_max(number, Ordering::Relaxed);
        }
    }
}

/// Talks with one viewer until it leaves or must.
pub async fn talk(socket: Socket, hub: Hub, mut seat: Seat) {
    let (mut out, incoming) = socket.split();
    let (notes, told) = mpsc::channel(NOTES);
    let pulse = Pulse::default();
    let number = seat.viewer.number;
    let why = tokio::select! {
        () = speak(&mut out, hub.published, told, number, &pulse) => None,
        why = seat.listen(incoming, notes, &pulse) => why,
        () = pulse.watch() => Some("two pings without an answer"),
    };
    // counted out first: a close frame may have to wait
    drop(seat);
    if let Some(reason) = why {
        let close = CloseFrame { code: CloseCode::Policy, reason: reason.into() };
        let _ = tokio::time::timeout(Duration::from_millis(100), out.send(Message::Close(Some(close)))).await;
    }
}

type Out = SplitSink<Socket, Message>;

async fn speak(out: &mut Out, mut published: Published, mut notes: mpsc::Receiver<String>, viewer: u32, pulse: &Pulse) {
    published.scene.mark_changed();
    published.status.mark_changed();
    published.frame.mark_changed();
    let mut said = Said::Text(json!({ "kind": "you", "viewer": viewer }).to_string().into());
    loop {
        let sent = match said {
            Said::Text(bytes) => in_pieces(out, Data::Text, bytes).await,
            Said::Frame(bytes) => in_pieces(out, Data::Binary, bytes).await,
            Said::Ping(ping) => send(out, ping).await,
        };
        if sent.is_none() {
            return;
        }
        said = match next(&mut published, &mut notes, pulse).await {
            Some(said) => said,
            None => return,
        };
    }
}

/// What goes out.
enum Said {
    Text(Bytes),
    Frame(Bytes),
    Ping(Message),
}

/// Sends a message in pieces: what is copied for this viewer is never more than one of them.
async fn in_pieces(out: &mut Out, kind: Data, mut rest: Bytes) -> Option<()> {
    let mut kind = kind;
    // before the first shot there is nothing yet
    while !rest.is_empty() {
        let piece = rest.split_to(rest.len().min(PIECE));
        send(out, Message::Frame(Frame::message(piece, OpCode::Data(kind), rest.is_empty()))).await?;
        kind = Data::Continue;
    }
    Some(())
}

/// Sends; nothing when the viewer is gone or does not take it in time.
async fn send(out: &mut Out, message: Message) -> Option<()> {
    tokio::time::timeout(SLOW, out.send(message)).await.ok()?.ok()
}

/// What is to be sent next; nothing when the server ends.
async fn next(published: &mut Published, notes: &mut mpsc::Receiver<String>, pulse: &Pulse) -> Option<Said> {
    tokio::select! {
        biased;
        ping = pulse.next() => Some(Said::Ping(ping)),
        note = notes.recv() => Some(Said::Text(note?.into())),
        changed = published.scene.changed() => {
            changed.ok()?;
            Some(Said::Text(published.scene.borrow_and_update().clone()))
        }
        changed = published.status.changed() => {
            changed.ok()?;
            Some(Said::Text(published.status.borrow_and_update().clone()))
        }
        changed = published.frame.changed() => {
            changed.ok()?;
            Some(Said::Frame(published.frame.borrow_and_update().clone()))
        }
    }
}

impl Seat {
    /// Reads orders until the viewer leaves; a reason when it must. Messages of every kind count: the answer to a ping
    /// costs as much as an order.
    async fn listen(
        &mut self,
        mut incoming: SplitStream<Socket>,
        notes: mpsc::Sender<String>,
        pulse: &Pulse,
    ) -> Option<&'static str> {
        let mut messages = Allowance::new(RATE);
        while let Some(Ok(message)) = incoming.next().await {
            let left = messages.take(1.0, Instant::now());
            if left < -EXCESS {
                return Some("too many messages");
            }
            let text = match message {
                Message::Pong(bytes) => {
                    pulse.hear(&bytes);
                    continue;
                }
                Message::Text(text) if left >= 0.0 => text,
                _ => continue,
            };
            match Order::read(&text) {
                Ok(order) => self.pass(order),
                // a viewer that does not read its notes gets no more of them
                Err(why) => _ = notes.try_send(json!({ "kind": "refused", "why": why }).to_string()),
            }
        }
        None
    }

    fn pass(&mut self, order: Order) {
        if let Order::Layers { on } = &order {
            let wanted = Layers::read(on).unwrap_or_default();
            self.hub.demand.change(self.layers, wanted);
            self.layers = wanted;
            return;
        }
        // beyond its share the world is busy with orders of this viewer, and this one is lost
        if self.viewer.queue() && self.hub.letters.try_send(Letter { viewer: self.viewer.clone(), order }).is_err() {
            self.viewer.dequeue();
        }
    }
}
