//! The connection of one viewer: scene descriptions, status messages and frames out, commands in. Only the latest of
//! each is queued for a viewer, so a slow one skips frames and delays no other.

use crate::command::ViewerCommand;
use crate::layer::{Demand, Layers};
use crate::limits::{EXCESS, MISSED, NOTES, PIECE, PING, RATE, SLOW};
use crate::meter::{Allowance, Metered};
use crate::session::QueuedCommand;
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

/// The output of the encoder: the latest of each kind.
#[derive(Clone, Debug)]
pub struct Published {
    /// The scene as JSON; a new one for every build.
    pub scene: watch::Receiver<Bytes>,
    /// The status of the session, as JSON.
    pub status: watch::Receiver<Bytes>,
    /// The latest frame.
    pub frame: watch::Receiver<Bytes>,
}

/// State shared by all connections.
#[derive(Clone, Debug)]
pub struct Hub {
    /// Messages to the viewers.
    pub published: Published,
    /// Commands of the viewers.
    pub commands: SyncSender<QueuedCommand>,
    /// Subscribed layers.
    pub demand: Arc<Demand>,
}

/// Registration of a counted viewer; dropping it counts the viewer out, whether the connection was established or not.
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

/// Pings that are due and pings that were answered, by number.
#[derive(Debug, Default)]
struct Pulse {
    due: AtomicU32,
    answered: AtomicU32,
    changed: Notify,
}

impl Pulse {
    /// Completes when too many pings are unanswered. Time counts even while a ping cannot be sent: the viewer then
    /// reads nothing.
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

    /// Handles a pong; one that matches no ping is ignored.
    fn hear(&self, bytes: &[u8]) {
        let Ok(number) = bytes.try_into().map(u32::from_le_bytes) else { return };
        if number <= self.due.load(Ordering::Relaxed) {
            self.answered.fetch_max(number, Ordering::Relaxed);
        }
    }
}

/// Serves one viewer until it leaves or is disconnected.
pub async fn serve(socket: Socket, hub: Hub, mut seat: Seat) {
    let (mut out, incoming) = socket.split();
    let (notes, note_queue) = mpsc::channel(NOTES);
    let pulse = Pulse::default();
    let number = seat.viewer.number;
    let why = tokio::select! {
        () = speak(&mut out, hub.published, note_queue, number, &pulse) => None,
        why = seat.listen(incoming, notes, &pulse) => why,
        () = pulse.watch() => Some("two pings without an answer"),
    };
    // counted out first, because sending a close frame may have to wait
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

/// An outgoing message.
enum Said {
    Text(Bytes),
    Frame(Bytes),
    Ping(Message),
}

/// Sends a message in fragments, so that the copy made for this viewer is never larger than one of them.
async fn in_pieces(out: &mut Out, kind: Data, mut rest: Bytes) -> Option<()> {
    let mut kind = kind;
    // before the first snapshot the message is empty
    while !rest.is_empty() {
        let piece = rest.split_to(rest.len().min(PIECE));
        send(out, Message::Frame(Frame::message(piece, OpCode::Data(kind), rest.is_empty()))).await?;
        kind = Data::Continue;
    }
    Some(())
}

/// Sends a message; `None` when the viewer is gone or does not accept it in time.
async fn send(out: &mut Out, message: Message) -> Option<()> {
    tokio::time::timeout(SLOW, out.send(message)).await.ok()?.ok()
}

/// The next message to send; `None` when the server ends.
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
    /// Reads commands until the viewer leaves; returns a reason when it must be disconnected. Messages of every kind
    /// count in the rate: the reply to a ping costs as much as a command.
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
            match ViewerCommand::read(&text) {
                Ok(command) => self.pass(command),
                // a viewer that does not read its refusals gets no more of them
                Err(why) => _ = notes.try_send(json!({ "kind": "refused", "why": why }).to_string()),
            }
        }
        None
    }

    fn pass(&mut self, command: ViewerCommand) {
        if let ViewerCommand::Layers { on } = &command {
            let wanted = Layers::read(on).unwrap_or_default();
            self.hub.demand.change(self.layers, wanted);
            self.layers = wanted;
            return;
        }
        // beyond the quota the queue holds enough commands of this viewer, and this one is dropped
        if self.viewer.queue()
            && self.hub.commands.try_send(QueuedCommand { viewer: self.viewer.clone(), command }).is_err()
        {
            self.viewer.dequeue();
        }
    }
}
