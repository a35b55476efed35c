//! Reports of a step as dicts and arrays of Python.

use crate::array::{out_rows, out3};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sinew::{BodyId, Event, Fault, FaultKind, Ledger, Phase, RayHit, World};

/// A dict of fields of a struct.
macro_rules! fields {
    ($py:expr, $from:expr, $($name:ident),* $(,)?) => {{
        let out = PyDict::new($py);
        $(out.set_item(stringify!($name), $from.$name)?;)*
        out
    }};
}

/// How a body is called: by its name, or by its slot as `#3`.
fn called(world: &World, id: BodyId) -> String {
    match world.body(id) {
        Ok(body) if !body.name().is_empty() => body.name().to_owned(),
        _ => format!("#{}", id.to_parts().0),
    }
}

/// The report of the last step.
pub fn report<'py>(py: Python<'py>, world: &World, faults: &[(u64, Fault)]) -> PyResult<Bound<'py, PyDict>> {
    let r = world.report();
    let out = PyDict::new(py);
    out.set_item("tick", r.tick)?;
    let seconds = PyDict::new(py);
    for phase in Phase::ALL {
        seconds.set_item(phase.name(), r.time(phase))?;
    }
    out.set_item("seconds", seconds)?;
    let c = &r.counts;
    let counts = fields!(
        py,
        c,
        awake,
        asleep,
        islands,
        pairs,
        manifolds,
        fresh_manifolds,
        contacts,
        contact_rows,
        constraint_rows,
        internal_rows,
        colours,
        sweeps,
        substeps,
        implicit_islands,
        iterations,
        passes,
        near_features,
        guard_rounds,
        stopped,
        held_back,
        cut_short,
        rolled_back,
        impact_substeps,
    );
    out.set_item("counts", counts)?;
    let energies = fields!(py, r.energies, kinetic, gravity);
    energies.set_item("elastic", sinew_scene::links::elastic_energy(world))?;
    out.set_item("energies", energies)?;
    out.set_item("penetration", r.penetration)?;
    out.set_item("residuals", PyArray1::from_slice(py, &r.residuals))?;
    let mut pairs = Vec::new();
    for p in &r.pairs {
        let pair = PyDict::new(py);
        pair.set_item("a", called(world, p.a))?;
        pair.set_item("b", called(world, p.b))?;
        pair.set_item("force", out3(py, p.force))?;
        pair.set_item("normal", p.normal)?;
        pairs.push(pair);
    }
    out.set_item("pairs", pairs)?;
    let mut constraints = Vec::new();
    for c in &r.constraints {
        let one = PyDict::new(py);
        one.set_item("slot", c.id.to_parts().0)?;
        one.set_item("force", out3(py, c.force))?;
        one.set_item("torque", out3(py, c.torque))?;
        one.set_item("largest", c.largest)?;
        constraints.push(one);
    }
    out.set_item("constraints", constraints)?;
    out.set_item("events", r.events.iter().map(|e| event(py, world, e)).collect::<PyResult<Vec<_>>>()?)?;
    out.set_item("faults", faults.iter().map(|(t, f)| fault(py, world, *t, f)).collect::<PyResult<Vec<_>>>()?)?;
    Ok(out)
}

fn event<'py>(py: Python<'py>, world: &World, event: &Event) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let two = |kind: &str, a: BodyId, b: BodyId| {
        out.set_item("kind", kind)?;
        out.set_item("a", called(world, a))?;
        out.set_item("b", called(world, b))
    };
    match *event {
        Event::ContactBegan { a, b } => two("contact_began", a, b)?,
        Event::ContactEnded { a, b } => two("contact_ended", a, b)?,
        Event::ForceAbove { a, b, force } => {
            two("force_above", a, b)?;
            out.set_item("force", force)?;
        }
        Event::SensorBegan { sensor, other } => two("sensor_began", sensor, other)?,
        Event::SensorEnded { sensor, other } => two("sensor_ended", sensor, other)?,
        Event::Broke { constraint, force } => {
            out.set_item("kind", "broke")?;
            out.set_item("constraint", constraint.to_parts().0)?;
            out.set_item("force", force)?;
        }
        Event::Refused { command } => {
            out.set_item("kind", "refused")?;
            out.set_item("command", command)?;
        }
        Event::Slept(body) | Event::Woke(body) | Event::Added(body) | Event::TopologyChanged { body, .. } => {
            let kind = match event {
                Event::Slept(_) => "slept",
                Event::Woke(_) => "woke",
                Event::Added(_) => "added",
                _ => "topology_changed",
            };
            out.set_item("kind", kind)?;
            out.set_item("body", called(world, body))?;
        }
        _ => out.set_item("kind", format!("{event:?}"))?,
    }
    Ok(out)
}

fn fault<'py>(py: Python<'py>, world: &World, tick: u64, fault: &Fault) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let kind = match fault.what {
        FaultKind::NonFinite => "non_finite",
        FaultKind::TooFast => "too_fast",
        FaultKind::ContactRefused => "contact_refused",
        FaultKind::Tangled => "tangled",
        FaultKind::JointOpen { .. } => "joint_open",
        _ => "other",
    };
    out.set_item("tick", tick)?;
    out.set_item("body", called(world, fault.body))?;
    out.set_item("kind", kind)?;
    out.set_item("phase", fault.phase.name())?;
    out.set_item("field", fault.field)?;
    Ok(out)
}

/// Contact points as arrays; `a` and `b` are slots of bodies.
pub fn contacts<'py>(py: Python<'py>, world: &World) -> PyResult<Bound<'py, PyDict>> {
    let list = &world.report().contacts;
    let out = PyDict::new(py);
    out.set_item("a", PyArray1::from_vec(py, list.iter().map(|c| c.a.to_parts().0).collect()))?;
    out.set_item("b", PyArray1::from_vec(py, list.iter().map(|c| c.b.to_parts().0).collect()))?;
    let rows = |of: fn(&sinew::ContactForce) -> sinew::Vec3| out_rows(py, &list.iter().map(of).collect::<Vec<_>>());
    out.set_item("point", rows(|c| c.point)?)?;
    out.set_item("normal", rows(|c| c.normal)?)?;
    out.set_item("force", rows(|c| c.force)?)?;
    out.set_item("velocity", rows(|c| c.velocity)?)?;
    out.set_item("gap", PyArray1::from_vec(py, list.iter().map(|c| c.gap).collect()))?;
    Ok(out)
}

/// Causes of the changes of energy [J]: of the last step, and since the start.
pub fn ledger<'py>(py: Python<'py>, world: &World) -> PyResult<Bound<'py, PyDict>> {
    let book = &world.report().ledger;
    let entries = |ledger: &Ledger| {
        let out = PyDict::new(py);
        for (name, value) in Ledger::NAMES.into_iter().zip(ledger.values()) {
            out.set_item(name, value)?;
        }
        Ok::<_, PyErr>(out)
    };
    let out = PyDict::new(py);
    out.set_item("step", entries(&book.step)?)?;
    out.set_item("total", entries(&book.total)?)?;
    out.set_item("turnover", book.turnover)?;
    let m = &book.momentum;
    out.set_item(
        "momentum",
        fields!(py, m, linear, external, unexplained, angular, angular_external, angular_unexplained),
    )?;
    Ok(out)
}

/// A hit of a ray.
pub fn ray_hit<'py>(py: Python<'py>, world: &World, hit: &RayHit) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("body", called(world, hit.body))?;
    out.set_item("distance", hit.distance)?;
    out.set_item("point", out3(py, hit.point))?;
    out.set_item("normal", out3(py, hit.normal))?;
    Ok(out)
}
