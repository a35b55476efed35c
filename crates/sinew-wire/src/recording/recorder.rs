//! Writing a recording.

use super::prints;
use crate::columns;
use crate::error::{Kind, Section, WireError};
use crate::form::StepForm;
use crate::frame::{self, Writer};
use crate::save::{model_body, settings_body};
use sinew::{Input, Report, Settings, World};

/// Steps between two keyframes, unless set by [`Recorder::keyframe_every`].
pub const KEYFRAME_STEPS: u32 = 100;

/// Records a world while it runs.
///
/// Bodies, joints and settings may also be changed between two steps, outside of [`Input`]: the recorder notices by the
/// world's hash and settings and writes the world down anew. Two things it cannot see: a motor set by
/// `World::set_motor` on a body that is awake (use `Command::Motor`), and `World::set_force_threshold`.
///
/// ```
/// use sinew::{Input, RigidBody, Shape, World};
/// use sinew_wire::{Recorder, replay};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.5)))?;
/// let mut recorder = Recorder::new(&world)?;
/// for _ in 0..10 {
///     let report = recorder.step(&mut world, &Input::none().force(ball, [1.0, 0.0, 0.0]))?;
///     assert!(report.faults.is_empty());
/// }
/// let summary = replay(&recorder.finish())?;
/// assert_eq!((summary.steps, summary.matched), (10, 10));
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Recorder {
    out: Writer,
    every: u32,
    since_keyframe: u32,
    /// The world as the last step left it.
    hash: u64,
    settings: Settings,
    /// What was last written.
    written_settings: Settings,
    written_model: u64,
}

impl Recorder {
    /// Begins with the world as it is.
    ///
    /// # Errors
    /// Custom rows are code and cannot be recorded.
    pub fn new(world: &World) -> Result<Self, WireError> {
        let blueprint = world.blueprint().map_err(WireError::refused(Section::Model))?;
        let model = model_body(&blueprint)?;
        let mut out = Writer::new(Kind::Recording);
        out.put(Section::Settings, &settings_body(world.settings())?);
        out.put(Section::Model, &model);
        out.put(Section::State, &columns::write(world.state()));
        Ok(Self {
            out,
            every: KEYFRAME_STEPS,
            since_keyframe: 0,
            hash: world.hash(),
            settings: world.settings().clone(),
            written_settings: world.settings().clone(),
            written_model: frame::hash(&model),
        })
    }

    /// Steps between two keyframes; 0 writes none. More: a smaller file, slower seeking.
    pub fn keyframe_every(mut self, steps: u32) -> Self {
        self.every = steps;
        self
    }

    /// Makes a step of the world and records it.
    ///
    /// # Errors
    /// An input or an edit that has no form in this format; the step was not made then.
    pub fn step<'w>(&mut self, world: &'w mut World, input: &Input) -> Result<&'w Report, WireError> {
        let form = StepForm::of(input).map_err(WireError::unsupported(Section::Step))?;
        if world.hash() != self.hash || *world.settings() != self.settings {
            self.put_world(world, Section::State)?;
        }
        world.step(input);
        self.put_step(form, world)?;
        Ok(world.report())
    }

    /// Records a step that was already made: `input` is what it was given, `world` what came of it. Edits outside of
    /// [`Input`] are not noticed here.
    ///
    /// # Errors
    /// As [`Recorder::step`].
    pub fn record(&mut self, input: &Input, world: &World) -> Result<(), WireError> {
        let form = StepForm::of(input).map_err(WireError::unsupported(Section::Step))?;
        self.put_step(form, world)
    }

    /// The bytes since the last call, to be appended to a file or sent on. All parts and [`Recorder::finish`], one behind
    /// the other, are the recording; so far as they go, they replay.
    pub fn take(&mut self) -> Vec<u8> {
        self.out.take()
    }

    /// Marks the end and gives the bytes that were not taken yet.
    pub fn finish(self) -> Vec<u8> {
        self.out.finish()
    }

    fn put_step(&mut self, mut form: StepForm, world: &World) -> Result<(), WireError> {
        self.hash = world.hash();
        if *world.settings() != self.settings {
            self.settings = world.settings().clone();
        }
        form.tick = world.state().tick;
        form.hash = self.hash.to_le_bytes();
        form.prints = prints(world.state());
        self.out.put(Section::Step, &frame::encode(Section::Step, &form)?);
        self.since_keyframe += 1;
        if self.since_keyframe == self.every {
            self.put_world(world, Section::Keyframe)?;
        }
        Ok(())
    }

    /// Writes the state, and before it what changed of settings and model.
    fn put_world(&mut self, world: &World, section: Section) -> Result<(), WireError> {
        // all of it before any of it: a refusal leaves the recording as it was
        let blueprint = world.blueprint().map_err(WireError::refused(Section::Model))?;
        let model = model_body(&blueprint)?;
        let settings = settings_body(&blueprint.settings)?;
        if blueprint.settings != self.written_settings {
            self.out.put(Section::Settings, &settings);
            self.written_settings = blueprint.settings;
        }
        let print = frame::hash(&model);
        if print != self.written_model {
            self.out.put(Section::Model, &model);
            self.written_model = print;
        }
        self.out.put(section, &columns::write(world.state()));
        self.since_keyframe = 0;
        Ok(())
    }
}
