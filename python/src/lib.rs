//! Sinew from Python: the module `sinew_physics._sinew`. The package around it (`sinew_physics/`) has builders,
//! environments and calibration; `sinew_physics/_sinew.pyi` has the types of everything here.
//!
//! A world is behind a mutex that is never waited for: a second thread that uses a world while it is stepped gets the
//! exception `BusyError`. Arrays belong to NumPy and are filled; no array sees the memory of the engine.

mod array;
mod batch;
mod body;
mod command;
mod error;
mod origin;
mod report;
mod sweep;
mod text;
mod world;

use pyo3::prelude::*;

/// The extension module.
#[pymodule(gil_used = true)]
fn _sinew(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<world::World>()?;
    module.add_class::<body::Body>()?;
    module.add_class::<body::Bodies>()?;
    module.add_class::<body::View>()?;
    module.add_class::<command::Command>()?;
    module.add_class::<batch::Batch>()?;
    module.add_function(wrap_pyfunction!(world::scenes, module)?)?;
    module.add_function(wrap_pyfunction!(world::replay, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sweep, module)?)?;
    module.add("SinewError", py.get_type::<error::SinewError>())?;
    module.add("SceneError", py.get_type::<error::SceneError>())?;
    module.add("SaveError", py.get_type::<error::SaveError>())?;
    module.add("StaleError", py.get_type::<error::StaleError>())?;
    module.add("BusyError", py.get_type::<error::BusyError>())?;
    Ok(())
}
