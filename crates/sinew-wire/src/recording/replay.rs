//! Playing a recording and checking every hash.

use super::prints;
use crate::columns;
use crate::diff::{ColumnDiff, diff};
use crate::error::{Kind, Section, WireError};
use crate::form::StepForm;
use crate::frame::{self, Record};
use crate::save::{build, read_settings};
use sinew::{Command, Input, ModelRegistry, State, World};

/// How a replayed step came out.
///
/// An example is at [`Replay`](crate::Replay).
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Bit for bit as recorded.
    Matched {
        /// Tick after the step.
        tick: u64,
    },
    /// Not as recorded.
    Diverged(Divergence),
}

/// How a replayed step differs from the recorded one.
///
/// An example is at [`Replay`](crate::Replay).
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// Tick after the step: the first tick whose state is not the recorded one, if this is the first divergence.
    pub tick: u64,
    /// First column that differs; none when only the numbering of bodies or constraints does.
    pub column: Option<&'static str>,
    /// Hash as recorded.
    pub recorded: u64,
    /// Hash as replayed.
    pub replayed: u64,
    /// All that differs, recorded against replayed: only where the recording has a keyframe for this tick.
    pub columns: Vec<ColumnDiff>,
}

/// What came of a whole replay.
///
/// An example is at [`Replay`](crate::Replay).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplaySummary {
    /// Steps replayed.
    pub steps: u64,
    /// Steps that matched bit for bit.
    pub matched: u64,
    /// The first that did not.
    pub first_divergence: Option<Divergence>,
    /// False when the file was cut off before its end mark; all that is there was replayed.
    pub complete: bool,
}

/// Replays a whole recording.
///
/// # Errors
/// Whatever [`Replay::open`] refuses, or a step that does not decode.
///
/// ```
/// # fn main() -> Result<(), sinew_wire::WireError> {
/// let mut world = sinew::World::default();
/// let mut recorder = sinew_wire::Recorder::new(&world)?;
/// recorder.step(&mut world, &sinew::Input::none())?;
/// let summary = sinew_wire::replay(&recorder.finish())?;
/// assert!(summary.complete && summary.first_divergence.is_none());
/// # Ok(()) }
/// ```
pub fn replay(bytes: &[u8]) -> Result<ReplaySummary, WireError> {
    Replay::open(bytes)?.finish()
}

/// A recording being played: an iterator over its steps, each checked against the recorded hash.
///
/// ```
/// use sinew::{Input, RigidBody, Shape, World};
/// use sinew_wire::{Outcome, Recorder, Replay};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.5)))?;
/// let mut recorder = Recorder::new(&world)?.keyframe_every(10);
/// for _ in 0..25 {
///     recorder.step(&mut world, &Input::none())?;
/// }
/// let bytes = recorder.finish();
///
/// let mut replay = Replay::open(&bytes)?;
/// replay.seek(24)?;
/// assert_eq!(replay.world().state().tick, 24);
/// assert_eq!(replay.next(), Some(Ok(Outcome::Matched { tick: 25 })));
/// assert_eq!(replay.world().hash(), world.hash());
/// assert!(replay.next().is_none());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Replay<'a> {
    records: Vec<Record<'a>>,
    /// Tick of the world after each record.
    ticks: Vec<u64>,
    complete: bool,
    threads: Option<u32>,
    world: World,
    /// Record to be read next.
    next: usize,
}

impl<'a> Replay<'a> {
    /// Number of bytes that [`Replay::check_start`] needs for the complete header.
    pub const START: usize = frame::LONGEST_HEADER;

    /// Refuses bytes that no recording begins with, before the rest is read: an input may have no end.
    ///
    /// # Errors
    /// As [`Replay::open`] for the header. Fewer bytes than a header are no error.
    ///
    /// ```
    /// use sinew_wire::{Replay, WireError};
    /// assert_eq!(Replay::check_start(&[0; 16]), Err(WireError::Foreign));
    /// assert_eq!(Replay::check_start(b"SIN"), Ok(()));
    /// ```
    pub fn check_start(bytes: &[u8]) -> Result<(), WireError> {
        match frame::read_header(bytes, Kind::Recording) {
            Ok(_) | Err(WireError::Truncated { section: Section::Header }) => Ok(()),
            Err(other) => Err(other),
        }
    }

    /// Checks all checksums and the order of the sections, and builds the world at the start. A recording that was cut
    /// off is opened up to its last whole section: see [`Replay::is_complete`].
    ///
    /// # Errors
    /// Damage anywhere, another precision or format, a recording that was cut off before its first state.
    pub fn open(bytes: &'a [u8]) -> Result<Self, WireError> {
        let contents = frame::read(bytes, Kind::Recording)?;
        let start = [Section::Settings, Section::Model, Section::State];
        for (i, section) in start.into_iter().enumerate() {
            match (contents.records.get(i), contents.cut) {
                (Some(r), _) if r.section == section => {}
                (Some(r), _) => return Err(WireError::malformed(r.section, format!("stands where {section} belongs"))),
                (None, Some(section)) => return Err(WireError::Truncated { section }),
                (None, None) => return Err(WireError::malformed(section, "is missing")),
            }
        }
        let ticks = ticks(&contents.records)?;
        let world = world_at(&contents.records, start.len() - 1, None)?;
        let complete = contents.cut.is_none();
        Ok(Self { records: contents.records, ticks, complete, threads: None, world, next: start.len() })
    }

    /// Replays with this many threads instead of those of the recording. The result does not depend on it.
    ///
    /// # Errors
    /// A number that the settings refuse.
    pub fn threads(mut self, threads: u32) -> Result<Self, WireError> {
        self.threads = Some(threads);
        let settings = sinew::Settings { threads, ..self.world.settings().clone() };
        self.world.set_settings(settings).map_err(WireError::refused(Section::Settings))?;
        Ok(self)
    }

    /// The world where the replay stands.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Gives the world away, to go on from here.
    pub fn into_world(self) -> World {
        self.world
    }

    /// False when the file was cut off before its end mark.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Number of steps in the recording.
    pub fn step_count(&self) -> usize {
        self.records.iter().filter(|r| r.section == Section::Step).count()
    }

    /// Goes to the first place where the world has this tick: to the keyframe before it, then by steps. The next item is
    /// the step after it.
    ///
    /// # Errors
    /// A tick that is not in the recording, or a keyframe that does not build; the replay then stays where it is.
    pub fn seek(&mut self, tick: u64) -> Result<(), WireError> {
        let stops = |i: usize| matches!(self.records[i].section, Section::Step | Section::State);
        let Some(target) = (0..self.records.len()).find(|&i| stops(i) && self.ticks[i] == tick) else {
            let known = || (0..self.records.len()).filter(|&i| stops(i)).map(|i| self.ticks[i]);
            let (first, last) = (known().min().unwrap_or(0), known().max().unwrap_or(0));
            return Err(WireError::NoSuchTick { tick, first, last });
        };
        // the keyframe of the target itself stands behind it
        let own = self.keyframe_of(target);
        let is_start = |&i: &usize| matches!(self.records[i].section, Section::State | Section::Keyframe);
        let start = own.or_else(|| (0..=target).rev().find(is_start)).unwrap_or(0);
        let mut world = world_at(&self.records, start, self.threads)?;
        for record in self.records.iter().take(target + 1).skip(start + 1) {
            if record.section == Section::Step {
                world.step(&read_input(read_step(record)?, self.threads)?);
            }
        }
        self.world = world;
        self.next = start.max(target) + 1;
        Ok(())
    }

    /// Plays to the end.
    ///
    /// # Errors
    /// A step or state that does not decode.
    pub fn finish(self) -> Result<ReplaySummary, WireError> {
        let mut summary = ReplaySummary { complete: self.complete, ..ReplaySummary::default() };
        for outcome in self {
            summary.steps += 1;
            match outcome? {
                Outcome::Matched { .. } => summary.matched += 1,
                Outcome::Diverged(d) => _ = summary.first_divergence.get_or_insert(d),
            }
        }
        Ok(summary)
    }

    /// The keyframe of the tick that a step ends with.
    fn keyframe_of(&self, step: usize) -> Option<usize> {
        let behind = step + 1..self.records.len();
        let stop = behind.clone().find(|&i| matches!(self.records[i].section, Section::Step | Section::State));
        (behind.start..stop.unwrap_or(behind.end)).find(|&i| self.records[i].section == Section::Keyframe)
    }

    /// Plays the step in record `at`.
    fn play(&mut self, at: usize) -> Result<Outcome, WireError> {
        let step = read_step(&self.records[at])?;
        let (tick, recorded, wanted) = (step.tick, u64::from_le_bytes(step.hash), step.prints.clone());
        self.world.step(&read_input(step, self.threads)?);
        let replayed = self.world.hash();
        if replayed == recorded {
            return Ok(Outcome::Matched { tick });
        }
        // a keyframe contains the columns; without one only their hashes are compared
        let state = self.world.state();
        let columns = match self.keyframe_of(at) {
            Some(key) => diff(&columns::read(Section::Keyframe, self.records[key].body)?, state),
            None => Vec::new(),
        };
        let column = columns.first().map(|d| d.column).or_else(|| first_unlike(state, &wanted));
        Ok(Outcome::Diverged(Divergence { tick, column, recorded, replayed, columns }))
    }
}

impl Iterator for Replay<'_> {
    type Item = Result<Outcome, WireError>;

    /// The next step. After an error there is none.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let at = self.next;
            let section = self.records.get(at)?.section;
            self.next += 1;
            let outcome = match section {
                Section::Step => self.play(at).map(Some),
                // the world was changed from outside: it goes on from here
                Section::State => world_at(&self.records, at, self.threads).map(|world| {
                    self.world = world;
                    None
                }),
                _ => Ok(None),
            };
            match outcome {
                Ok(None) => {}
                Ok(Some(outcome)) => return Some(Ok(outcome)),
                Err(e) => {
                    self.next = self.records.len();
                    return Some(Err(e));
                }
            }
        }
    }
}

/// Tick of the world after each record; steps and keyframes that do not follow each other are refused.
fn ticks(records: &[Record<'_>]) -> Result<Vec<u64>, WireError> {
    let mut ticks = Vec::with_capacity(records.len());
    let mut now = 0u64;
    for record in records {
        let section = record.section;
        let (found, wanted) = match section {
            Section::Settings | Section::Model => (now, now),
            Section::State => (columns::tick(section, record.body)?, u64::MAX),
            Section::Keyframe => (columns::tick(section, record.body)?, now),
            Section::Step => (read_tick(record.body)?, now.saturating_add(1)),
            _ => return Err(WireError::malformed(section, "has no place in a recording")),
        };
        if section != Section::State && found != wanted {
            return Err(WireError::malformed(section, format!("has tick {found} where {wanted} belongs")));
        }
        now = found;
        ticks.push(now);
    }
    Ok(ticks)
}

fn read_tick(body: &[u8]) -> Result<u64, WireError> {
    let found = postcard::take_from_bytes::<u64>(body);
    found.map(|(tick, _)| tick).map_err(|e| WireError::malformed(Section::Step, format!("does not decode: {e}")))
}

fn read_step(record: &Record<'_>) -> Result<StepForm, WireError> {
    frame::decode(Section::Step, record.body)
}

fn read_input(step: StepForm, threads: Option<u32>) -> Result<Input, WireError> {
    let mut input = step.input();
    for command in &mut input.commands {
        if let (Command::Settings(settings), Some(threads)) = (command, threads) {
            settings.threads = threads;
        }
    }
    Ok(input)
}

/// The world of a state or keyframe, with the settings and the model that were last written before it.
fn world_at(records: &[Record<'_>], at: usize, threads: Option<u32>) -> Result<World, WireError> {
    let last = |section: Section| {
        let found = records[..at].iter().rev().find(|r| r.section == section);
        found.map(|r| r.body).ok_or_else(|| WireError::malformed(section, "is missing"))
    };
    let mut settings = read_settings(last(Section::Settings)?)?;
    settings.threads = threads.unwrap_or(settings.threads);
    // recordings have no registry: a user's model is refused by its name
    build(settings, last(Section::Model)?, records[at].section, records[at].body, &ModelRegistry::default())
}

/// The first column whose hash is not the recorded one.
fn first_unlike(state: &State, recorded: &[u8]) -> Option<&'static str> {
    let found = prints(state);
    let at = found.chunks(2).zip(recorded.chunks(2)).position(|(a, b)| a != b)?;
    state.columns().nth(at).map(|c| c.name)
}
