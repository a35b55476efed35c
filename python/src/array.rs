//! Vectors, quaternions and arrays between the engine and NumPy. All reals are float32, as in the engine.

use crate::error::bad;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadwriteArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use sinew::{Pose, Quat, Real, Vec3};

/// Numbers of any sequence; `what` names it in errors.
fn numbers<const N: usize>(what: &str, value: &Bound<'_, PyAny>) -> PyResult<[Real; N]> {
    let wrong = |why: String| bad(format!("{what}: expected {N} numbers{why}"));
    let mut out = [0.0; N];
    let mut count = 0;
    for item in value.try_iter().map_err(|_| wrong(", found no list".into()))? {
        let number: f64 = item?.extract().map_err(|_| wrong(", found something else in the list".into()))?;
        let number = number as Real;
        if !number.is_finite() {
            return Err(bad(format!("{what}[{count}] is {number}, but must be finite")));
        }
        if count < N {
            out[count] = number;
        }
        count += 1;
        if count > N {
            break;
        }
    }
    if count == N { Ok(out) } else { Err(wrong(format!(", found {}", if count > N { "more" } else { "fewer" }))) }
}

/// Three numbers.
pub fn vec3(what: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec3> {
    numbers::<3>(what, value).map(Vec3::from_array)
}

/// Three numbers, or a default.
pub fn vec3_or(what: &str, value: Option<&Bound<'_, PyAny>>, otherwise: Vec3) -> PyResult<Vec3> {
    value.map_or(Ok(otherwise), |v| vec3(what, v))
}

/// A pose of a place and a quaternion (x, y, z, w), which is normalised; without one: not turned.
pub fn pose(position: &Bound<'_, PyAny>, rotation: Option<&Bound<'_, PyAny>>) -> PyResult<Pose> {
    let position = vec3("position", position)?;
    let Some(rotation) = rotation else { return Ok(Pose::at(position)) };
    let [x, y, z, w] = numbers::<4>("rotation", rotation)?;
    let turn = Quat::from_xyzw(x, y, z, w);
    let length = turn.length();
    if !(length > 1e-6) {
        return Err(bad("rotation: a quaternion (x, y, z, w) of length 0 is no rotation"));
    }
    Ok(Pose::new(position, turn.normalize()))
}

/// Rows of three finite numbers.
pub fn rows3(what: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<Vec3>> {
    let rows = value.try_iter().map_err(|_| bad(format!("{what}: expected rows of three numbers")))?;
    rows.enumerate().map(|(i, row)| vec3(&format!("{what}[{i}]"), &row?)).collect()
}

/// A new array (3,).
pub fn out3(py: Python<'_>, v: Vec3) -> Bound<'_, PyArray1<Real>> {
    PyArray1::from_slice(py, &v.to_array())
}

/// A new array (4,): x, y, z, w.
pub fn out4(py: Python<'_>, q: Quat) -> Bound<'_, PyArray1<Real>> {
    PyArray1::from_slice(py, &q.to_array())
}

/// A new array (n, 3).
pub fn out_rows<'py>(py: Python<'py>, rows: &[Vec3]) -> PyResult<Bound<'py, PyArray2<Real>>> {
    PyArray1::from_slice(py, bytemuck::cast_slice(rows)).reshape([rows.len(), 3])
}

/// A new array (n, 3) of numbers of points.
pub fn out_index<'py>(py: Python<'py>, rows: &[[u32; 3]]) -> PyResult<Bound<'py, PyArray2<u32>>> {
    PyArray1::from_slice(py, bytemuck::cast_slice(rows)).reshape([rows.len(), 3])
}

/// Fills an array (n, 3) that exists.
pub fn fill_rows(array: &mut PyReadwriteArray2<'_, Real>, rows: &[Vec3]) -> PyResult<()> {
    let shape = array.shape().to_vec();
    if shape != [rows.len(), 3] {
        return Err(bad(format!("the array has the shape {shape:?}, but must have [{}, 3]", rows.len())));
    }
    let to = array.as_slice_mut().map_err(|_| bad("the array must be contiguous, row by row"))?;
    to.copy_from_slice(bytemuck::cast_slice(rows));
    Ok(())
}
