//! Bodies of a world, by name.

use crate::array::{fill_rows, out_index, out_rows, out3, out4};
use crate::command::named;
use crate::error::{StaleError, bad, engine};
use crate::world::World;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadwriteArray2};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sinew::{BodyId, BodyView, Motion, Real, Vec3};

/// A body of a world. It stays valid until the body is removed.
#[pyclass(frozen, module = "sinew_physics")]
pub struct Body {
    world: Py<World>,
    id: BodyId,
}

impl Body {
    pub fn new(world: Py<World>, id: BodyId) -> Self {
        Self { world, id }
    }

    pub fn id(&self) -> BodyId {
        self.id
    }

    /// Reads the body.
    fn read<R>(&self, read: impl FnOnce(BodyView<'_>, &sinew::World) -> R) -> PyResult<R> {
        let inner = self.world.get().lock()?;
        let view = inner.world.body(self.id).map_err(engine)?;
        Ok(read(view, &inner.world))
    }
}

/// A column of a body: rows of three reals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Column {
    Nodes,
    NodeVelocities,
    Surface,
}

impl Column {
    pub fn named(name: &str) -> PyResult<Self> {
        match name {
            "nodes" => Ok(Self::Nodes),
            "node_velocities" => Ok(Self::NodeVelocities),
            "surface" => Ok(Self::Surface),
            other => Err(bad(format!("column '{other}': expected nodes, node_velocities or surface"))),
        }
    }

    /// Calls `read` with the rows.
    pub fn of<R>(self, body: BodyView<'_>, read: impl FnOnce(&[Vec3]) -> R) -> R {
        match self {
            Self::Nodes => read(body.node_positions()),
            Self::NodeVelocities => read(body.node_velocities()),
            Self::Surface => {
                let mut out = Vec::new();
                if let Some(surface) = body.surface() {
                    surface.positions(body.node_positions(), &mut out);
                }
                read(&out)
            }
        }
    }
}

#[pymethods]
impl Body {
    /// Its name; empty without one.
    #[getter]
    fn name(&self) -> PyResult<String> {
        self.read(|b, _| b.name().to_owned())
    }

    /// Its slot: its number in arrays of contacts.
    #[getter]
    fn slot(&self) -> u32 {
        self.id.to_parts().0
    }

    /// "dynamic", "kinematic", "fixed", "soft" or "particles".
    #[getter]
    fn kind(&self) -> PyResult<&'static str> {
        self.read(|b, _| match (b.is_rigid(), b.is_soft(), b.motion()) {
            (false, true, _) => "soft",
            (false, false, _) => "particles",
            (true, _, Motion::Dynamic) => "dynamic",
            (true, _, Motion::Kinematic) => "kinematic",
            (true, _, _) => "fixed",
        })
    }

    /// Mass [kg]; 0 for fixed and kinematic bodies.
    #[getter]
    fn mass(&self) -> PyResult<Real> {
        self.read(|b, _| b.mass())
    }

    /// Origin of a rigid body, centre of mass of nodes [m].
    #[getter]
    fn position<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<Real>>> {
        self.read(|b, _| out3(py, b.position()))
    }

    /// Centre of mass [m].
    #[getter]
    fn center<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<Real>>> {
        self.read(|b, _| out3(py, b.center_of_mass()))
    }

    /// Orientation as a quaternion (x, y, z, w).
    #[getter]
    fn rotation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<Real>>> {
        self.read(|b, _| out4(py, b.rotation()))
    }

    /// Velocity of the centre of mass [m/s].
    #[getter]
    fn velocity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<Real>>> {
        self.read(|b, _| out3(py, b.velocity()))
    }

    /// Angular velocity of a rigid body, world axes [rad/s].
    #[getter]
    fn spin<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<Real>>> {
        self.read(|b, _| out3(py, b.spin()))
    }

    /// Total contact force on it, mean over the last step [N].
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<Real>>> {
        self.read(|b, world| out3(py, world.report().contact_force_on(b.id())))
    }

    /// Force of its pinned nodes and axes on it, mean over the last step [N].
    #[getter]
    fn reaction<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<Real>>> {
        self.read(|b, _| out3(py, b.reaction()))
    }

    /// Kinetic energy [J].
    #[getter]
    fn kinetic_energy(&self) -> PyResult<Real> {
        self.read(|b, _| b.kinetic_energy())
    }

    /// Elastic energy of a soft body [J].
    #[getter]
    fn elastic_energy(&self) -> PyResult<Real> {
        self.read(|b, world| world.elastic(b.id()).map(|e| e.energy()))?.map_err(engine)
    }

    /// True when it sleeps.
    #[getter]
    fn asleep(&self) -> PyResult<bool> {
        self.read(|b, _| b.is_asleep())
    }

    /// True when a fault has frozen it.
    #[getter]
    fn frozen(&self) -> PyResult<bool> {
        self.read(|b, _| b.is_frozen())
    }

    /// Positions of the nodes, an array (n, 3) [m]; no rows for rigid bodies.
    #[getter]
    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<Real>>> {
        self.read(|b, _| out_rows(py, b.node_positions()))?
    }

    /// Velocities of the nodes, an array (n, 3) [m/s].
    #[getter]
    fn node_velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<Real>>> {
        self.read(|b, _| out_rows(py, b.node_velocities()))?
    }

    /// Masses of the nodes, an array (n,) [kg].
    #[getter]
    fn node_masses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<Real>>> {
        self.read(|b, _| PyArray1::from_slice(py, b.node_masses()))
    }

    /// Positions of the surface points, an array (m, 3) [m].
    #[getter]
    fn surface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<Real>>> {
        self.read(|b, _| Column::Surface.of(b, |rows| out_rows(py, rows)))?
    }

    /// Triangles of the surface, an array (t, 3) of surface points.
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        self.read(|b, _| out_index(py, b.surface().map_or(&[], |s| s.triangles())))?
    }

    /// Cauchy stress of each element, an array (e, 6): xx, yy, zz, xy, yz, xz, world axes [Pa]. No rows for models
    /// without elements.
    #[getter]
    fn stress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<Real>>> {
        let list = self.read(|b, world| world.elastic(b.id()).map(|e| e.stress()))?.map_err(engine)?;
        let flat: Vec<Real> =
            list.iter().map(|s| s.stress).flat_map(|s| [s.xx, s.yy, s.zz, s.xy, s.yz, s.xz]).collect();
        PyArray1::from_vec(py, flat).reshape([list.len(), 6])
    }

    /// Fills an array (n, 3) of float32 with a column: "nodes", "node_velocities" or "surface".
    #[pyo3(signature = (out, column="nodes"))]
    fn fill(&self, mut out: PyReadwriteArray2<'_, Real>, column: &str) -> PyResult<()> {
        let column = Column::named(column)?;
        self.read(|b, _| column.of(b, |rows| fill_rows(&mut out, rows)))?
    }

    /// An array that is filled again whenever it is read, and refuses when the numbering of the body has changed.
    #[pyo3(signature = (column="nodes"))]
    fn view(slf: Bound<'_, Self>, column: &str) -> PyResult<View> {
        let py = slf.py();
        let column = Column::named(column)?;
        let body = slf.get();
        let (array, topology) = body.read(|b, _| (column.of(b, |rows| out_rows(py, rows)), b.topology()))?;
        Ok(View { column, topology, array: array?.unbind(), body: slf.unbind() })
    }

    /// What this body does to another: force, normal, area, center, peak pressure (areas need `point_forces`).
    fn on<'py>(&self, py: Python<'py>, other: &Body) -> PyResult<Bound<'py, PyDict>> {
        let grip = self.read(|b, world| world.grasp_force(b.id(), other.id, &mut Vec::new()))?.map_err(engine)?;
        let out = PyDict::new(py);
        out.set_item("force", out3(py, grip.force))?;
        out.set_item("normal", grip.normal)?;
        out.set_item("area", grip.area)?;
        out.set_item("center", out3(py, grip.center))?;
        out.set_item("peak", grip.peak)?;
        Ok(out)
    }

    fn __repr__(&self) -> PyResult<String> {
        let kind = self.kind()?;
        self.read(|b, _| format!("<Body '{}': {kind}, {} nodes>", b.name(), b.node_positions().len()))
    }

    fn __eq__(&self, other: &Body) -> bool {
        self.id == other.id && self.world.is(&other.world)
    }

    fn __hash__(&self) -> u64 {
        let (index, generation) = self.id.to_parts();
        u64::from(index) << 32 | u64::from(generation)
    }
}

/// A column of a body as an array that follows the world.
#[pyclass(frozen, module = "sinew_physics")]
pub struct View {
    body: Py<Body>,
    column: Column,
    topology: u32,
    array: Py<PyArray2<Real>>,
}

#[pymethods]
impl View {
    /// The array, filled with the present values. It is the same array each time.
    #[getter]
    fn array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<Real>>> {
        let array = self.array.bind(py);
        let mut out = array.try_readwrite().map_err(|e| bad(format!("the array of this view: {e}")))?;
        self.body.get().read(|b, _| {
            if b.topology() != self.topology {
                return Err(StaleError::new_err(format!(
                    "the numbering of '{}' has changed since this view was made: take a new one",
                    b.name()
                )));
            }
            self.column.of(b, |rows| fill_rows(&mut out, rows))
        })??;
        drop(out);
        Ok(array.clone())
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = self.array(py)?.into_any();
        match (dtype, copy) {
            (Some(dtype), _) => array.call_method1("astype", (dtype,)),
            (None, Some(true)) => array.call_method0("copy"),
            _ => Ok(array),
        }
    }
}

/// The bodies of a world, by name; those without a name as "#3", by slot.
#[pyclass(frozen, mapping, module = "sinew_physics")]
pub struct Bodies {
    world: Py<World>,
}

impl Bodies {
    pub fn new(world: Py<World>) -> Self {
        Self { world }
    }
}

#[pymethods]
impl Bodies {
    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<Body> {
        let found = named(&self.world.get().lock()?.world, name);
        let id = found.map_err(|e| PyKeyError::new_err(e.value(py).to_string()))?;
        Ok(Body::new(self.world.clone_ref(py), id))
    }

    fn __contains__(&self, name: &str) -> PyResult<bool> {
        Ok(named(&self.world.get().lock()?.world, name).is_ok())
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.world.get().lock()?.world.bodies().count())
    }

    /// Names, in the order of slots.
    fn keys(&self) -> PyResult<Vec<String>> {
        let inner = self.world.get().lock()?;
        let word = |b: BodyView<'_>| match b.name() {
            "" => format!("#{}", b.id().to_parts().0),
            name => name.to_owned(),
        };
        Ok(inner.world.bodies().map(word).collect())
    }

    /// Bodies, in the order of slots.
    fn values(&self, py: Python<'_>) -> PyResult<Vec<Body>> {
        let inner = self.world.get().lock()?;
        Ok(inner.world.bodies().map(|b| Body::new(self.world.clone_ref(py), b.id())).collect())
    }

    /// Names and bodies.
    fn items(&self, py: Python<'_>) -> PyResult<Vec<(String, Body)>> {
        Ok(self.keys()?.into_iter().zip(self.values(py)?).collect())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.keys()?.into_pyobject(py)?.try_iter()?.into_any())
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("<Bodies {:?}>", self.keys()?))
    }
}
