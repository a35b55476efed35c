//! One viewer: scenes, states and frames out, orders in. The latest of each is all that waits for a viewer, so a slow one
//! misses frames and holds back nobody.

use crate::layer::{Demand, Layers};
use crate::order::Order;
use crate::session::Letter;
use axum::body::Bytes;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

/// Longest order that is read in bytes.
pub const ORDER_LIMIT: usize = 4096;
/// Orders a second that are obeyed; a page sends at most one a picture.
const RATE: f64 = 200.0;
/// So many orders beyond the rate end the talk.
const PATIENCE: f64 = 2000.0;
/// A viewer that takes nothing for so long is let go.
const SLOW: Duration = Duration::from_secs(20);
/// Notes for one viewer that may wait.
const NOTES: usize = 4;

/// What the encoder publishes: the latest of each.
#[derive(Clone, Debug)]
pub struct Published {
    /// The scene as JSON; a new one for every model.
    pub scene: watch::Receiver<Utf8Bytes>,
    /// How it runs, as JSON.
    pub status: watch::Receiver<Utf8Bytes>,
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
    /// Who wants what.
    pub demand: Arc<Demand>,
}

/// The place of a viewer that has been counted in; dropping it counts out, whether the talk began or not.
#[derive(Debug)]
pub struct Seat {
    viewer: u32,
    layers: Layers,
    hub: Hub,
}

impl Seat {
    /// For a viewer that has just been counted in.
    pub fn new(hub: Hub, viewer: u32) -> Self {
        Self { viewer, layers: Layers::default(), hub }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.hub.demand.leave(self.layers);
        let told = self.hub.letters.try_send(Letter::Gone(self.viewer));
        // its hand must let go even when the queue is full: somebody waits for a place in it, but not this thread
        if let (Err(TrySendError::Full(letter)), Ok(runtime)) = (told, Handle::try_current()) {
            let letters = self.hub.letters.clone();
            runtime.spawn_blocking(move || _ = letters.send(letter));
        }
    }
}

/// Talks with one viewer until it goes.
pub async fn talk(socket: WebSocket, hub: Hub, mut seat: Seat) {
    let (out, incoming) = socket.split();
    let (notes, told) = mpsc::channel(NOTES);
    tokio::select! {
        () = speak(out, hub.published, told, seat.viewer) => {}
        () = seat.listen(incoming, notes) => {}
    }
}

async fn speak(
    mut out: SplitSink<WebSocket, Message>,
    mut published: Published,
    mut notes: mpsc::Receiver<String>,
    viewer: u32,
) {
    published.scene.mark_changed();
    published.status.mark_changed();
    published.frame.mark_changed();
    let mut message = Message::Text(json!({ "kind": "you", "viewer": viewer }).to_string().into());
    loop {
        match tokio::time::timeout(SLOW, out.send(message)).await {
            Ok(Ok(())) => {}
            _ => return,
        }
        message = match next(&mut published, &mut notes).await {
            Some(message) => message,
            None => return,
        };
    }
}

/// What is to be said next; nothing when the server ends.
async fn next(published: &mut Published, notes: &mut mpsc::Receiver<String>) -> Option<Message> {
    loop {
        let message = tokio::select! {
            biased;
            note = notes.recv() => Message::Text(note?.into()),
            changed = published.scene.changed() => {
                changed.ok()?;
                Message::Text(published.scene.borrow_and_update().clone())
            }
            changed = published.status.changed() => {
                changed.ok()?;
                Message::Text(published.status.borrow_and_update().clone())
            }
            changed = published.frame.changed() => {
                changed.ok()?;
                Message::Binary(published.frame.borrow_and_update().clone())
            }
        };
        // before the first shot there is nothing yet
        let empty = matches!(&message, Message::Text(text) if text.is_empty())
            || matches!(&message, Message::Binary(bytes) if bytes.is_empty());
        if !empty {
            return Some(message);
        }
    }
}

impl Seat {
    async fn listen(&mut self, mut incoming: SplitStream<WebSocket>, notes: mpsc::Sender<String>) {
        let (mut left, mut last) = (RATE, Instant::now());
        while let Some(Ok(message)) = incoming.next().await {
            let Message::Text(text) = message else { continue };
            let now = Instant::now();
            left = (left + RATE * (now - last).as_secs_f64()).min(RATE) - 1.0;
            last = now;
            if left < -PATIENCE {
                return;
            }
            if left < 0.0 {
                continue;
            }
            match Order::read(&text) {
                Ok(order) => self.pass(order),
                // a viewer that does not read its notes gets no more of them
                Err(why) => _ = notes.try_send(json!({ "kind": "refused", "why": why }).to_string()),
            }
        }
    }

    fn pass(&mut self, order: Order) {
        if let Order::Layers { on } = &order {
            let wanted = Layers::read(on).unwrap_or_default();
            self.hub.demand.change(self.layers, wanted);
            self.layers = wanted;
            return;
        }
        // when the queue is full the world is busy, and this order is lost
        let _ = self.hub.letters.try_send(Letter::Order(self.viewer, order));
    }
}
