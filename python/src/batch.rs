//! Many worlds of one scene, each stepped by one thread.

use crate::body::Column;
use crate::command::{Orders, named};
use crate::error::{BusyError, SinewError, bad, engine, open, reading, wire};
use crate::origin::Origin;
use crate::text::change;
use crate::world::{Inner, World};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyList;
use sinew::{BodyId, Real, Settings, State};
use sinew_scene::reading::{Reading, readings};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Most worlds of a batch.
const MOST: usize = 100_000;

/// n worlds that begin as copies of one. Results are those of n single runs, bit for bit, for any number of threads.
#[pyclass(frozen, module = "sinew_physics")]
pub struct Batch {
    inner: Mutex<Worlds>,
}

struct Worlds {
    worlds: Vec<One>,
    /// The scene that worlds are built from again by `expand`.
    origin: Option<Origin>,
    threads: usize,
    bound: Vec<Filled>,
}

/// A world of the batch, and the state it is reset to.
struct One {
    inner: Inner,
    start: State,
    /// Changes of `expand`.
    sets: Vec<String>,
}

/// An array that is filled after every call.
struct Filled {
    name: String,
    what: What,
    array: Py<PyAny>,
}

enum What {
    /// Rows of a body: reals.
    Column(BodyId, Column),
    /// Position and quaternion of a rigid body: seven reals.
    Pose(BodyId),
    /// Readings: 64-bit numbers.
    Readings(Vec<Reading>),
}

impl Batch {
    fn lock(&self) -> PyResult<MutexGuard<'_, Worlds>> {
        self.inner.try_lock().map_err(|e| match e {
            TryLockError::WouldBlock => BusyError::new_err("another thread uses this batch: wait for its step to end"),
            TryLockError::Poisoned(_) => SinewError::new_err("a call on this batch failed inside: build it again"),
        })
    }
}

/// A copy for a batch: a world of one thread.
fn one(world: &sinew::World, origin: Option<&Origin>) -> PyResult<One> {
    let mut copy = sinew_wire::save(world).and_then(|bytes| sinew_wire::load(&bytes)).map_err(wire)?;
    copy.set_settings(Settings { threads: 1, ..copy.settings().clone() }).map_err(engine)?;
    Ok(One { start: copy.snapshot(), inner: Inner::new(copy, origin.cloned()), sets: Vec::new() })
}

#[pymethods]
impl Batch {
    /// n copies of a world as it is now, with its motions. `threads` 0: one for each processor.
    #[new]
    #[pyo3(signature = (world, n, threads=0))]
    fn new(world: &World, n: usize, threads: usize) -> PyResult<Self> {
        if !(1..=MOST).contains(&n) {
            return Err(bad(format!("n is {n}, but must be from 1 to {MOST}")));
        }
        let inner = world.lock()?;
        let origin = inner.origin.clone();
        let worlds = (0..n).map(|_| one(&inner.world, origin.as_ref())).collect::<PyResult<_>>()?;
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if threads == 0 { processors } else { threads.min(MOST) };
        Ok(Self { inner: Mutex::new(Worlds { worlds, origin, threads, bound: Vec::new() }) })
    }

    /// Number of worlds.
    fn __len__(&self) -> PyResult<usize> {
        Ok(self.lock()?.worlds.len())
    }

    /// Threads that step.
    #[getter]
    fn threads(&self) -> PyResult<usize> {
        Ok(self.lock()?.threads)
    }

    /// Makes k steps of every world. `commands`: one list for all worlds, or n lists.
    #[pyo3(signature = (k=1, commands=None))]
    fn step(&self, py: Python<'_>, k: u64, commands: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let mut guard = self.lock()?;
        let batch = &mut *guard;
        let orders = batch.orders(commands)?;
        let next = AtomicUsize::new(0);
        let threads = batch.threads.min(batch.worlds.len());
        // the next free world to the next free thread: which thread makes a step has no influence on it
        let cells: Vec<Mutex<&mut One>> = batch.worlds.iter_mut().map(Mutex::new).collect();
        let work = || {
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                let Some(Ok(mut one)) = cells.get(i).map(Mutex::lock) else { break };
                let own = &orders[i.min(orders.len() - 1)];
                for step in 0..k {
                    let input = one.inner.input(own, step == 0);
                    one.inner.world.step(&input);
                }
            }
        };
        py.detach(|| {
            std::thread::scope(|scope| {
                for _ in 1..threads {
                    scope.spawn(work);
                }
                work();
            });
        });
        drop(cells);
        batch.fill(py)
    }

    /// An array that is filled after every `step`, `reset` and `expand`: "NAME.nodes", "NAME.node_velocities" and
    /// "NAME.surface" (n, rows, 3), "NAME.pose" (n, 7) with position and quaternion (x, y, z, w), or a reading (n,), of a
    /// vector (n, 3).
    fn bind<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyAny>> {
        let mut batch = self.lock()?;
        if let Some(bound) = batch.bound.iter().find(|b| b.name == column) {
            return Ok(bound.array.bind(py).clone());
        }
        let first = &batch.worlds[0].inner.world;
        let n = batch.worlds.len();
        let (what, shape) = what(column, first)?;
        let shape: Vec<usize> = std::iter::once(n).chain(shape).collect();
        let array = match &what {
            What::Readings(_) => PyArrayDyn::<f64>::zeros(py, shape, false).into_any(),
            _ => PyArrayDyn::<Real>::zeros(py, shape, false).into_any(),
        };
        batch.bound.push(Filled { name: column.to_owned(), what, array: array.clone().unbind() });
        batch.fill(py)?;
        Ok(array)
    }

    /// Gives every world its own value of a path of the scene, as of `--set`: `expand("parameters.stiffness", [..])`. The
    /// worlds are built anew from the scene and begin at time 0.
    fn expand(&self, py: Python<'_>, path: &str, values: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut guard = self.lock()?;
        let batch = &mut *guard;
        let Some(origin) = &batch.origin else {
            return Err(bad("expand needs a world of a scene: World.from_scene(..)"));
        };
        let list: Vec<Bound<'_, PyAny>> = values.try_iter()?.collect::<PyResult<_>>()?;
        if list.len() != batch.worlds.len() {
            return Err(bad(format!("{} values for {} worlds: give one for each", list.len(), batch.worlds.len())));
        }
        // all of them before any of them: a refusal leaves the batch as it was
        let mut built = Vec::new();
        for (old, value) in batch.worlds.iter().zip(&list) {
            let kept = old.sets.iter().filter(|set| set.split_once('=').is_none_or(|(old, _)| old != path)).cloned();
            let sets: Vec<String> = kept.chain([change(path, value)?]).collect();
            let all = origin.sets.iter().chain(&sets).cloned().collect();
            let own = Origin::new(origin.name.clone(), origin.text.clone(), all).map_err(open)?;
            let world = own.opened.world().map_err(open)?;
            built.push(One { sets, ..one(&world, Some(&own))? });
        }
        let bound: Vec<String> = batch.bound.iter().map(|b| b.name.clone()).collect();
        for name in &bound {
            let old = what(name, &batch.worlds[0].inner.world)?.1;
            for one in &built {
                if what(name, &one.inner.world)?.1 != old {
                    return Err(bad(format!("{path} changes the size of '{name}', which is bound")));
                }
            }
        }
        batch.worlds = built;
        batch.fill(py)
    }

    /// Worlds go back to their start: all, or those whose entry of the mask is true.
    #[pyo3(signature = (mask=None))]
    fn reset(&self, py: Python<'_>, mask: Option<PyReadonlyArray1<'_, bool>>) -> PyResult<()> {
        let mut guard = self.lock()?;
        let batch = &mut *guard;
        let wanted = match &mask {
            Some(mask) if mask.len() != batch.worlds.len() => {
                return Err(bad(format!("the mask has {} entries for {} worlds", mask.len(), batch.worlds.len())));
            }
            Some(mask) => mask.as_array().iter().copied().collect(),
            None => vec![true; batch.worlds.len()],
        };
        for (one, _) in batch.worlds.iter_mut().zip(wanted).filter(|(_, wanted)| *wanted) {
            let start = std::mem::take(&mut one.start);
            let done = one.inner.world.restore(&start);
            one.start = start;
            done.map_err(engine)?;
        }
        batch.fill(py)
    }

    /// Hashes of all worlds, as of `World.hash`.
    #[getter]
    fn hashes(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.worlds.iter().map(|one| format!("{:016x}", one.inner.world.hash())).collect())
    }

    /// Readings of all worlds, an array (n, columns) of float64.
    #[pyo3(signature = (*names))]
    fn read<'py>(&self, py: Python<'py>, names: Vec<String>) -> PyResult<Bound<'py, PyAny>> {
        let batch = self.lock()?;
        let list = readings(&names, &batch.worlds[0].inner.world).map_err(reading)?;
        let flat: Vec<f64> =
            batch.worlds.iter().flat_map(|one| list.iter().map(|r| r.value(&one.inner.world))).collect();
        Ok(PyArray1::from_vec(py, flat).reshape([batch.worlds.len(), list.len()])?.into_any())
    }

    /// A copy of one of the worlds.
    fn world(&self, i: usize) -> PyResult<World> {
        let batch = self.lock()?;
        let one = batch.worlds.get(i).ok_or_else(|| bad(format!("world {i} of {}", batch.worlds.len())))?;
        let copy = sinew_wire::save(&one.inner.world).and_then(|bytes| sinew_wire::load(&bytes)).map_err(wire)?;
        Ok(World::from_inner(Inner::new(copy, one.inner.origin.clone())))
    }

    /// Numbers of the worlds in which a body is frozen.
    #[getter]
    fn frozen(&self) -> PyResult<Vec<usize>> {
        let batch = self.lock()?;
        let frozen = |one: &One| one.inner.world.bodies().any(|b| b.is_frozen());
        Ok(batch.worlds.iter().enumerate().filter(|(_, one)| frozen(one)).map(|(i, _)| i).collect())
    }

    fn __repr__(&self) -> PyResult<String> {
        let batch = self.lock()?;
        Ok(format!("<Batch of {} worlds, {} threads>", batch.worlds.len(), batch.threads))
    }
}

/// What a column is, and the shape of one world's part.
fn what(column: &str, world: &sinew::World) -> PyResult<(What, Vec<usize>)> {
    if let Some((name, what)) = column.rsplit_once('.')
        && let Ok(id) = named(world, name)
    {
        let body = world.body(id).map_err(engine)?;
        if what == "pose" {
            return Ok((What::Pose(id), vec![7]));
        }
        if let Ok(rows) = Column::named(what) {
            let count = rows.of(body, <[_]>::len);
            return Ok((What::Column(id, rows), vec![count, 3]));
        }
    }
    let list = readings(&[column.to_owned()], world).map_err(reading)?;
    let shape = if list.len() == 1 { vec![] } else { vec![list.len()] };
    Ok((What::Readings(list), shape))
}

impl Worlds {
    /// One entry for all worlds, or one for each.
    fn orders(&self, commands: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Orders>> {
        let first = &self.worlds[0].inner.world;
        let Some(commands) = commands else { return Ok(vec![Orders::default()]) };
        let lists = commands.cast::<PyList>().ok().filter(|list| !list.is_empty());
        let lists = lists.filter(|list| list.iter().all(|item| item.is_instance_of::<PyList>()));
        let Some(lists) = lists else { return Ok(vec![Orders::of(first, Some(commands))?]) };
        if lists.len() != self.worlds.len() {
            return Err(bad(format!("{} lists of commands for {} worlds", lists.len(), self.worlds.len())));
        }
        self.worlds.iter().zip(lists.iter()).map(|(one, list)| Orders::of(&one.inner.world, Some(&list))).collect()
    }

    /// Fills all arrays that are bound.
    fn fill(&self, py: Python<'_>) -> PyResult<()> {
        self.bound.iter().try_for_each(|bound| bound.fill(py, &self.worlds))
    }
}

impl Filled {
    fn fill(&self, py: Python<'_>, worlds: &[One]) -> PyResult<()> {
        let name = &self.name;
        match &self.what {
            What::Readings(list) => {
                let array = self.array.bind(py).cast::<PyArrayDyn<f64>>()?;
                let mut out = array.try_readwrite().map_err(|e| bad(format!("the array of '{name}': {e}")))?;
                let to = out.as_slice_mut().map_err(|_| bad(format!("the array of '{name}' is not contiguous")))?;
                let values = worlds.iter().flat_map(|one| list.iter().map(|r| r.value(&one.inner.world)));
                to.iter_mut().zip(values).for_each(|(to, value)| *to = value);
            }
            What::Column(..) | What::Pose(_) => {
                let array = self.array.bind(py).cast::<PyArrayDyn<Real>>()?;
                let mut out = array.try_readwrite().map_err(|e| bad(format!("the array of '{name}': {e}")))?;
                let to = out.as_slice_mut().map_err(|_| bad(format!("the array of '{name}' is not contiguous")))?;
                let part = to.len() / worlds.len();
                for (one, to) in worlds.iter().zip(to.chunks_mut(part.max(1))) {
                    self.part(&one.inner.world, to)?;
                }
            }
        }
        Ok(())
    }

    /// The part of one world.
    fn part(&self, world: &sinew::World, to: &mut [Real]) -> PyResult<()> {
        match &self.what {
            What::Column(id, column) => {
                let body = world.body(*id).map_err(engine)?;
                column.of(body, |rows| {
                    let from: &[Real] = bytemuck::cast_slice(rows);
                    if from.len() != to.len() {
                        let name = &self.name;
                        return Err(bad(format!(
                            "'{name}' has {} rows now, and {} when it was bound",
                            from.len() / 3,
                            to.len() / 3
                        )));
                    }
                    to.copy_from_slice(from);
                    Ok(())
                })
            }
            What::Pose(id) => {
                let body = world.body(*id).map_err(engine)?;
                to[..3].copy_from_slice(&body.position().to_array());
                to[3..].copy_from_slice(&body.rotation().to_array());
                Ok(())
            }
            What::Readings(_) => Ok(()),
        }
    }
}
