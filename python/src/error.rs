//! Exceptions, with the words of the engine.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::{PyErr, create_exception};
use sinew::Error;
use sinew_scene::open::OpenError;
use sinew_scene::reading::ReadingError;
use sinew_wire::WireError;

create_exception!(sinew_physics, SinewError, PyValueError, "The engine refused a value; the message names it.");
create_exception!(sinew_physics, SceneError, SinewError, "A scene that cannot be read or built.");
create_exception!(sinew_physics, SaveError, SinewError, "Bytes that are no whole save, snapshot or recording.");
create_exception!(sinew_physics, StaleError, SinewError, "A body that was removed, or an array of an older numbering.");
create_exception!(sinew_physics, BusyError, PyRuntimeError, "Another thread uses this world.");

/// An error of the engine.
pub fn engine(error: Error) -> PyErr {
    match error {
        Error::StaleBody(_) | Error::StaleConstraint(_) => StaleError::new_err(error.to_string()),
        _ => SinewError::new_err(error.to_string()),
    }
}

/// An error of bytes.
pub fn wire(error: WireError) -> PyErr {
    SaveError::new_err(error.to_string())
}

/// An error of a scene.
pub fn open(error: OpenError) -> PyErr {
    SceneError::new_err(error.to_string())
}

/// An error of a reading.
pub fn reading(error: ReadingError) -> PyErr {
    SinewError::new_err(error.to_string())
}

/// A value that the bindings refuse.
pub fn bad(message: impl Into<String>) -> PyErr {
    SinewError::new_err(message.into())
}
