//! Sweeps: one scene with many values. A run is a pure function of its [`Plan`] entry to a hash and readings, so runs are
//! distributed over threads in any order, cached by their content, and repeated elsewhere for comparison.
//!
//! ```
//! use sinew_sweep::{Axis, Options, Plan, sweep};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut plan = Plan::new("press", None, &[])?;
//! plan.axes.push("parameters.depth=0.08:0.12:3".parse::<Axis>()?);
//! plan.reads.push("plate.position.y".to_owned());
//! plan.steps = 5;
//! let table = sweep(&plan, &Options { jobs: 2, ..Options::default() }, |_| {}, || false)?;
//! assert_eq!((table.columns.len(), table.rows.len()), (1, 3));
//! assert!(table.rows.iter().all(|row| row.outcome.is_ok()));
//! # Ok(()) }
//! ```

#![forbid(unsafe_code)]

mod axis;
mod cache;
mod run;

pub use axis::{Axis, AxisError};
pub use run::{Done, Options, Row, SweepError, Table, sweep};

use sinew_scene::AnyScene;
use sinew_scene::file::Syntax;
use sinew_scene::open::{OpenError, Opened, open, open_text};
use std::path::Path;
use twox_hash::XxHash3_64;

/// Most runs of a sweep.
pub const MOST_RUNS: usize = 1_000_000;

/// What is run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of a built-in scene, or the path of a file.
    pub scene: String,
    /// Text of the scene; none: that of the name.
    pub text: Option<String>,
    /// Changes of all runs, each as `path=value`.
    pub sets: Vec<String>,
    /// What is varied: every value of one with every value of the others, the last one fastest.
    pub axes: Vec<Axis>,
    /// Readings at the end of each run.
    pub reads: Vec<String>,
    /// Steps of each run.
    pub steps: u64,
    /// The contents that the scene was read from, for the keys of the cache.
    content: u64,
}

impl Plan {
    /// A plan without axes and readings: one run, as long as the scene.
    ///
    /// # Errors
    /// A scene that cannot be opened.
    pub fn new(scene: &str, text: Option<String>, sets: &[String]) -> Result<Self, OpenError> {
        let mut plan = Self {
            scene: scene.to_owned(),
            text,
            sets: sets.to_vec(),
            axes: Vec::new(),
            reads: Vec::new(),
            steps: 0,
            content: 0,
        };
        let opened = plan.opened(&[])?;
        plan.content = content(&opened.scene);
        plan.steps = plan.steps_of(opened.scene.seconds())?;
        Ok(plan)
    }

    /// Steps of a time [s], at least one.
    ///
    /// # Errors
    /// A scene that cannot be built.
    #[allow(clippy::useless_conversion, reason = "the conversion is needed in the f32 build")]
    pub fn steps_of(&self, seconds: f64) -> Result<u64, OpenError> {
        let dt = f64::from(self.opened(&[])?.world()?.settings().dt);
        Ok(((seconds / dt).round() as u64).max(1))
    }

    /// Number of runs; none when there are more than [`MOST_RUNS`].
    pub fn runs(&self) -> Option<usize> {
        let count = self.axes.iter().try_fold(1_usize, |n, axis| n.checked_mul(axis.values.len()));
        count.filter(|n| *n <= MOST_RUNS)
    }

    /// The values of a run, one for each axis.
    pub fn values(&self, mut run: usize) -> Vec<&str> {
        let mut out = vec![""; self.axes.len()];
        for (axis, out) in self.axes.iter().zip(&mut out).rev() {
            *out = &axis.values[run % axis.values.len()];
            run /= axis.values.len();
        }
        out
    }

    /// The scene with changes.
    fn opened(&self, more: &[String]) -> Result<Opened, OpenError> {
        let sets: Vec<String> = self.sets.iter().chain(more).cloned().collect();
        match &self.text {
            Some(text) => {
                let brace = text.trim_start().starts_with('{');
                let usual = if brace { Syntax::Json } else { Syntax::Toml };
                open_text(text, &self.scene, Syntax::of(Path::new(&self.scene)).unwrap_or(usual), &sets)
            }
            None => open(&self.scene, &sets),
        }
    }

    /// Changes of a run.
    fn changes(&self, run: usize) -> Vec<String> {
        self.axes.iter().zip(self.values(run)).map(|(axis, value)| format!("{}={value}", axis.path)).collect()
    }
}

/// Hash of all files of a scene. A built-in scene belongs to the version of the engine, which is in the keys too.
fn content(scene: &AnyScene) -> u64 {
    let AnyScene::File(file) = scene else { return 0 };
    // a file that cannot be read any more gives no bytes: it was read a moment ago, and the runs will tell
    let bytes = file.files().iter().flat_map(|path| std::fs::read(path).unwrap_or_default());
    XxHash3_64::oneshot(&bytes.collect::<Vec<u8>>())
}
