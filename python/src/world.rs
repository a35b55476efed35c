//! Worlds.

use crate::array::{out_rows, vec3};
use crate::body::{Bodies, Body};
use crate::command::{Orders, named};
use crate::error::{BusyError, SinewError, bad, engine, open, reading, wire};
use crate::origin::Origin;
use crate::report;
use crate::text::{Notation, change, text_of};
use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBytes, PyDict, PyType};
use sinew::{BodySpec, Fault, Input, LedgerDetail, QueryFilter, Settings};
use sinew_render::{Camera, Options, automatic, render};
use sinew_scene::file::{About, Syntax, override_settings, write, write_scene};
use sinew_scene::open::open_text;
use sinew_scene::reading::{Reading, readings};
use sinew_scene::{AnyScene, gallery};
use sinew_wire::Recorder;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

/// Signals (Ctrl-C) are looked for after this much stepping.
const SIGNALS: Duration = Duration::from_millis(50);

/// Bodies, constraints and their motion.
#[pyclass(frozen, module = "sinew_physics")]
pub struct World {
    inner: Mutex<Inner>,
}

/// What the mutex guards.
pub struct Inner {
    pub world: sinew::World,
    pub origin: Option<Origin>,
    recorder: Option<Recorder>,
    /// Whether the motions of the scene are made.
    scripted: bool,
    /// Faults of the last call of `step`, with their ticks.
    faults: Vec<(u64, Fault)>,
    /// Readings that were found before, by their names, of this revision of the world.
    known: Vec<(String, Vec<Reading>)>,
    revision: u64,
}

impl Inner {
    pub fn new(world: sinew::World, origin: Option<Origin>) -> Self {
        let revision = world.revision();
        Self { world, origin, recorder: None, scripted: true, faults: Vec::new(), known: Vec::new(), revision }
    }

    /// The input of the next step: the motions of the scene, then what was ordered.
    pub fn input(&self, orders: &Orders, first: bool) -> Input {
        let mut input = match &self.origin {
            Some(origin) if self.scripted => origin.opened.scene.input(&self.world, self.world.state().tick),
            _ => Input::none(),
        };
        if first {
            input.commands.extend(orders.first.commands.iter().cloned());
        }
        input.commands.extend(orders.each.commands.iter().cloned());
        input
    }

    fn step(&mut self, input: &Input) -> PyResult<()> {
        match &mut self.recorder {
            Some(recorder) => _ = recorder.step(&mut self.world, input).map_err(wire)?,
            None => _ = self.world.step(input),
        }
        let report = self.world.report();
        self.faults.extend(report.faults.iter().map(|fault| (report.tick, *fault)));
        Ok(())
    }

    /// Readings by a name; found once for each revision.
    fn reading(&mut self, name: &str) -> PyResult<&[Reading]> {
        if self.revision != self.world.revision() {
            self.known.clear();
            self.revision = self.world.revision();
        }
        let at = match self.known.iter().position(|(known, _)| known == name) {
            Some(at) => at,
            None => {
                let found = readings(&[name.to_owned()], &self.world).map_err(reading)?;
                self.known.push((name.to_owned(), found));
                self.known.len() - 1
            }
        };
        Ok(&self.known[at].1)
    }

    fn values(&mut self, name: &str) -> PyResult<Vec<f64>> {
        self.reading(name)?;
        let found = self.known.iter().find(|(known, _)| known == name).map(|(_, list)| list);
        Ok(found.into_iter().flatten().map(|r| r.value(&self.world)).collect())
    }
}

impl World {
    pub fn from_inner(inner: Inner) -> Self {
        Self { inner: Mutex::new(inner) }
    }

    /// The world, unless another thread has it.
    pub fn lock(&self) -> PyResult<MutexGuard<'_, Inner>> {
        self.inner.try_lock().map_err(|e| match e {
            TryLockError::WouldBlock => BusyError::new_err(
                "another thread steps or reads this world: use one world a thread, or wait for its step to end",
            ),
            TryLockError::Poisoned(_) => SinewError::new_err("a call on this world failed inside: build it again"),
        })
    }
}

#[pymethods]
impl World {
    /// An empty world; `settings` as in scene files.
    #[new]
    #[pyo3(signature = (**settings))]
    fn new(settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut sets = Vec::new();
        for (name, value) in settings.iter().flat_map(|table| table.iter()) {
            sets.push(change(&format!("settings.{}", name.extract::<String>()?), &value)?);
        }
        let (settings, _) = override_settings(&Settings::default(), &sets).map_err(|e| open(e.into()))?;
        Ok(Self::from_inner(Inner::new(sinew::World::new(settings).map_err(engine)?, None)))
    }

    /// The world of a scene: the name of a built-in one, a path, a text in TOML or JSON, a dict, or a Scene.
    #[classmethod]
    #[pyo3(signature = (scene, *, set=None, **parameters))]
    fn from_scene(
        _cls: &Bound<'_, PyType>,
        scene: &Bound<'_, PyAny>,
        set: Option<&Bound<'_, PyDict>>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let origin = Origin::of(scene, set, parameters)?;
        let world = origin.opened.world().map_err(open)?;
        Ok(Self::from_inner(Inner::new(world, Some(origin))))
    }

    /// Makes n steps. Forces among the commands act in each of them, all other commands in the first.
    #[pyo3(signature = (n=1, commands=None))]
    fn step(&self, py: Python<'_>, n: u64, commands: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let mut guard = self.lock()?;
        let inner = &mut *guard;
        let orders = Orders::of(&inner.world, commands)?;
        inner.faults.clear();
        let mut done = 0;
        while done < n {
            py.detach(|| {
                let clock = Instant::now();
                while done < n {
                    let input = inner.input(&orders, done == 0);
                    inner.step(&input)?;
                    done += 1;
                    if done < n && clock.elapsed() > SIGNALS {
                        break;
                    }
                }
                Ok::<(), PyErr>(())
            })?;
            if done < n {
                py.check_signals()?;
            }
        }
        Ok(())
    }

    /// Steps until a time since the start [s].
    #[pyo3(signature = (time, commands=None))]
    fn step_until(&self, py: Python<'_>, time: f64, commands: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        if !time.is_finite() {
            return Err(bad(format!("time is {time}, but must be finite")));
        }
        let (now, dt) = self.lock().map(|inner| (inner.world.time(), f64::from(inner.world.settings().dt)))?;
        self.step(py, ((time - now) / dt).round().max(0.0) as u64, commands)
    }

    /// The bodies, by name.
    #[getter]
    fn bodies(slf: Bound<'_, Self>) -> Bodies {
        Bodies::new(slf.unbind())
    }

    /// Steps since the start.
    #[getter]
    fn tick(&self) -> PyResult<u64> {
        Ok(self.lock()?.world.state().tick)
    }

    /// Time since the start [s].
    #[getter]
    fn time(&self) -> PyResult<f64> {
        Ok(self.lock()?.world.time())
    }

    /// Length of a step [s].
    #[getter]
    fn dt(&self) -> PyResult<f64> {
        Ok(f64::from(self.lock()?.world.settings().dt))
    }

    /// Hash of state and numbering: 16 hexadecimal digits, as the command line prints them.
    #[getter]
    fn hash(&self) -> PyResult<String> {
        Ok(format!("{:016x}", self.lock()?.world.hash()))
    }

    /// Incremented by every edit of the model.
    #[getter]
    fn revision(&self) -> PyResult<u64> {
        Ok(self.lock()?.world.revision())
    }

    /// Name of the scene; empty without one.
    #[getter]
    fn scene(&self) -> PyResult<String> {
        Ok(self.lock()?.origin.as_ref().map_or(String::new(), |o| o.opened.scene.name().to_owned()))
    }

    /// How long the scene is worth watching [s]; 5 without one.
    #[getter]
    fn seconds(&self) -> PyResult<f64> {
        Ok(self.lock()?.origin.as_ref().map_or(5.0, |o| o.opened.scene.seconds()))
    }

    /// Whether steps make the scripted motions of the scene.
    #[getter]
    fn scripted(&self) -> PyResult<bool> {
        Ok(self.lock()?.scripted)
    }

    #[setter]
    fn set_scripted(&self, scripted: bool) -> PyResult<()> {
        self.lock()?.scripted = scripted;
        Ok(())
    }

    /// Worker threads of a step; no result depends on them.
    #[getter]
    fn threads(&self) -> PyResult<u32> {
        Ok(self.lock()?.world.settings().threads)
    }

    #[setter]
    fn set_threads(&self, threads: u32) -> PyResult<()> {
        let mut inner = self.lock()?;
        let settings = Settings { threads, ..inner.world.settings().clone() };
        inner.world.set_settings(settings).map_err(engine)
    }

    /// Changes a setting of the running world, by its name in scene files: `set("substeps", 8)`.
    fn set(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let set = change(&format!("settings.{}", name.trim_start_matches("settings.")), value)?;
        let mut inner = self.lock()?;
        let (settings, _) = override_settings(inner.world.settings(), &[set]).map_err(|e| open(e.into()))?;
        inner.world.set_settings(settings).map_err(engine)
    }

    /// Readings by their names, as of `sinew run --read`: a number each, three for a vector without component.
    #[pyo3(signature = (*names))]
    fn read(&self, names: Vec<String>) -> PyResult<Vec<f64>> {
        let mut inner = self.lock()?;
        let mut out = Vec::with_capacity(names.len());
        for name in &names {
            out.extend(inner.values(name)?);
        }
        Ok(out)
    }

    /// The report of the last step, with the faults of all steps of the last call.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = self.lock()?;
        report::report(py, &inner.world, &inner.faults)
    }

    /// Contact points of the last step as arrays; needs the setting `point_forces`.
    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = self.lock()?;
        if !inner.world.settings().point_forces {
            return Err(bad("contact points need the setting point_forces: world.set(\"point_forces\", True)"));
        }
        report::contacts(py, &inner.world)
    }

    /// Causes of all changes of energy since the start [J]; made after `set_ledger`.
    #[getter]
    fn ledger<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        report::ledger(py, &self.lock()?.world)
    }

    /// How much of the ledger steps make: "none", "world" or "bodies".
    fn set_ledger(&self, detail: &str) -> PyResult<()> {
        let detail = match detail {
            "none" => LedgerDetail::None,
            "world" => LedgerDetail::World,
            "bodies" => LedgerDetail::Bodies,
            other => return Err(bad(format!("ledger '{other}': expected none, world or bodies"))),
        };
        self.lock()?.world.set_ledger(detail);
        Ok(())
    }

    /// Adds a body to the running world, described as in `[bodies.NAME]` of a scene file.
    #[pyo3(signature = (name, **table))]
    fn add(slf: Bound<'_, Self>, name: &str, table: Option<&Bound<'_, PyDict>>) -> PyResult<Body> {
        let py = slf.py();
        let bodies = PyDict::new(py);
        bodies.set_item(name, table.cloned().unwrap_or_else(|| PyDict::new(py)))?;
        let scene = PyDict::new(py);
        scene.set_item("bodies", bodies)?;
        let text = text_of(&scene, Notation::Json)?;
        let drawn = open_text(&text, "body.json", Syntax::Json, &[]).and_then(|o| o.world()).map_err(open)?;
        let spec = drawn.blueprint().map_err(engine)?.bodies.into_iter().find_map(|slot| slot.item);
        let id = {
            let world = &mut slf.get().lock()?.world;
            match spec {
                Some(BodySpec::Rigid(body)) => world.add_rigid(body),
                Some(BodySpec::Particles(body)) => world.add_particles(body),
                Some(BodySpec::Soft(body)) => world.add_soft(*body),
                None => return Err(bad(format!("'{name}' makes no body"))),
            }
            .map_err(engine)?
        };
        Ok(Body::new(slf.unbind(), id))
    }

    /// Removes a body with its constraints.
    fn remove(&self, body: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut inner = self.lock()?;
        let id = match body.cast::<Body>() {
            Ok(body) => body.get().id(),
            Err(_) => named(&inner.world, &body.extract::<String>()?)?,
        };
        inner.world.remove_body(id).map_err(engine)
    }

    /// The state as bytes: for `restore` of this world, or of one with the same bodies.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &sinew_wire::snapshot(&self.lock()?.world)))
    }

    /// Goes back to a snapshot; a refused one leaves the world as it was.
    fn restore(&self, snapshot: &[u8]) -> PyResult<()> {
        sinew_wire::restore(&mut self.lock()?.world, snapshot).map_err(wire)
    }

    /// The whole world as bytes: settings, bodies, constraints and state.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &sinew_wire::save(&self.lock()?.world).map_err(wire)?))
    }

    /// The world of `save`. It has no scripted motions: those are in pickles.
    #[classmethod]
    fn load(_cls: &Bound<'_, PyType>, save: &[u8]) -> PyResult<Self> {
        Ok(Self::from_inner(Inner::new(sinew_wire::load(save).map_err(wire)?, None)))
    }

    /// The world as a scene file; with `state` it goes on with the same bits.
    #[pyo3(signature = (format="toml", state=true))]
    fn to_scene(&self, format: &str, state: bool) -> PyResult<String> {
        let syntax = match format {
            "toml" => Syntax::Toml,
            "json" => Syntax::Json,
            other => return Err(bad(format!("format '{other}': expected toml or json"))),
        };
        let inner = self.lock()?;
        let about = About { bodies_only: !state, ..About::default() };
        let text = match inner.origin.as_ref().map(|o| &o.opened.scene) {
            Some(AnyScene::File(file)) => write_scene(&inner.world, &about, file, syntax),
            _ => write(&inner.world, &about, syntax),
        };
        text.map_err(engine)
    }

    /// Begins a recording of inputs and hashes with the world as it is.
    fn record(&self) -> PyResult<()> {
        let mut inner = self.lock()?;
        inner.recorder = Some(Recorder::new(&inner.world).map_err(wire)?);
        Ok(())
    }

    /// Ends the recording and gives its bytes, for `replay` and `sinew replay`.
    fn stop_recording<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let recorder = self.lock()?.recorder.take();
        let recorder = recorder.ok_or_else(|| bad("nothing is recorded: call record() first"))?;
        Ok(PyBytes::new(py, &recorder.finish()))
    }

    /// A second world in the same state, with the same motions.
    fn copy(&self) -> PyResult<Self> {
        let inner = self.lock()?;
        let world = sinew_wire::save(&inner.world).and_then(|bytes| sinew_wire::load(&bytes)).map_err(wire)?;
        let scripted = inner.scripted;
        Ok(Self::from_inner(Inner { scripted, ..Inner::new(world, inner.origin.clone()) }))
    }

    fn __copy__(&self) -> PyResult<Self> {
        self.copy()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.copy()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Pickled<'py>)> {
        let inner = self.lock()?;
        let save = PyBytes::new(py, &sinew_wire::save(&inner.world).map_err(wire)?);
        let origin = inner.origin.clone().map(|o| (o.name, o.text, o.sets));
        Ok((py.get_type::<Self>().getattr("_unpickle")?, (origin, save, inner.scripted)))
    }

    #[staticmethod]
    fn _unpickle(origin: Option<(String, Option<String>, Vec<String>)>, save: &[u8], scripted: bool) -> PyResult<Self> {
        let origin = origin.map(|(name, text, sets)| Origin::new(name, text, sets)).transpose().map_err(open)?;
        let world = sinew_wire::load(save).map_err(wire)?;
        Ok(Self::from_inner(Inner { scripted, ..Inner::new(world, origin) }))
    }

    /// The first body on a ray, or None.
    #[pyo3(signature = (origin, direction, length))]
    fn cast_ray<'py>(
        &self,
        py: Python<'py>,
        origin: &Bound<'_, PyAny>,
        direction: &Bound<'_, PyAny>,
        length: f64,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let (origin, direction) = (vec3("origin", origin)?, vec3("direction", direction)?);
        let inner = self.lock()?;
        let hit = inner.world.cast_ray(origin, direction, length as f32, &QueryFilter::default()).map_err(engine)?;
        hit.map(|hit| report::ray_hit(py, &inner.world, &hit)).transpose()
    }

    /// A picture as an array (height, width, 3) of bytes. Without eye and target the camera shows all moving bodies.
    #[pyo3(signature = (width=960, height=600, samples=2, eye=None, target=None, field_of_view=32.0))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn render<'py>(
        &self,
        py: Python<'py>,
        width: u32,
        height: u32,
        samples: u32,
        eye: Option<&Bound<'_, PyAny>>,
        target: Option<&Bound<'_, PyAny>>,
        field_of_view: f64,
    ) -> PyResult<Bound<'py, PyArray3<u8>>> {
        let guard = self.lock()?;
        let inner = &*guard;
        let options = Options { width, height, samples, ..Options::default() };
        let field_of_view = field_of_view as f32;
        let camera = match (eye, target) {
            (None, None) => None,
            (Some(eye), Some(target)) => {
                Some(Camera { eye: vec3("eye", eye)?, target: vec3("target", target)?, field_of_view })
            }
            _ => return Err(bad("a camera needs both eye and target")),
        };
        let picture = py.detach(|| {
            let camera = camera.or_else(|| own_camera(inner)).unwrap_or_else(|| automatic(&inner.world, &options));
            render(&inner.world, &camera, &options)
        });
        let picture = picture.map_err(|e| bad(e.to_string()))?;
        PyArray1::from_vec(py, picture.pixels).reshape([height as usize, width as usize, 3])
    }

    fn _repr_png_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let guard = self.lock()?;
        let inner = &*guard;
        let png = py.detach(|| {
            let options = Options { width: 640, height: 400, samples: 2, ..Options::default() };
            let camera = own_camera(inner).unwrap_or_else(|| automatic(&inner.world, &options));
            let picture = render(&inner.world, &camera, &options).map_err(|e| bad(e.to_string()))?;
            let mut png = Vec::new();
            picture.write_png(&mut png).map_err(|e| PyMemoryError::new_err(e.to_string()))?;
            Ok::<_, PyErr>(png)
        })?;
        Ok(PyBytes::new(py, &png))
    }

    /// Positions of the nodes of all bodies, an array (n, 3) in the order of the state [m].
    fn all_nodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(out_rows(py, &self.lock()?.world.state().node_x)?.into_any())
    }

    fn __repr__(&self) -> PyResult<String> {
        let inner = self.lock()?;
        let (bodies, nodes) = (inner.world.bodies().count(), inner.world.state().node_x.len());
        let name = inner.origin.as_ref().map_or("", |o| o.opened.scene.name());
        Ok(format!("<World '{name}': {bodies} bodies, {nodes} nodes, {:.4} s>", inner.world.time()))
    }
}

/// Origin, save and whether scripts run.
type Pickled<'py> = (Option<(String, Option<String>, Vec<String>)>, Bound<'py, PyBytes>, bool);

/// The camera of a scene file.
fn own_camera(inner: &Inner) -> Option<Camera> {
    let AnyScene::File(file) = &inner.origin.as_ref()?.opened.scene else { return None };
    file.camera().map(|c| Camera { eye: c.eye, target: c.target, field_of_view: c.field_of_view })
}

/// Names of the built-in scenes, with what each shows.
#[pyfunction]
pub fn scenes() -> Vec<(&'static str, &'static str)> {
    gallery::scenes().iter().map(|s| (s.name, s.about)).collect()
}

/// Plays a recording and compares every hash.
#[pyfunction]
pub fn replay<'py>(py: Python<'py>, recording: &[u8]) -> PyResult<Bound<'py, PyDict>> {
    let summary = py.detach(|| sinew_wire::replay(recording)).map_err(wire)?;
    let out = PyDict::new(py);
    out.set_item("steps", summary.steps)?;
    out.set_item("matched", summary.matched)?;
    out.set_item("complete", summary.complete)?;
    Ok(out)
}
