"""Calibration: parameters of a scene from measured readings, by nonlinear least squares.

A run is compared with a recording of readings over time. All columns of the Jacobian are one :class:`Batch`. The covariance
says how well the data determine each parameter, and the correlations whether they can be told apart.

>>> import numpy as np
>>> from sinew_physics import Scene, World, shape
>>> from sinew_physics.fit import Parameter, Recording, fit
>>> scene = Scene(settings={"gravity": [0, -1, 0]})
>>> scene.parameter("g", 9.0)
>>> scene.dynamic("ball", shape.ball(radius=0.1), gravity_scale="$g")
>>> times = np.linspace(0.1, 0.5, 9)
>>> fallen = Recording(times, {"ball.velocity.y": -9.81 * times})
>>> found = fit(scene, fallen, {"parameters.g": Parameter(5, 1, 20)})
>>> round(found.values["parameters.g"], 2)
9.81
"""

from __future__ import annotations

import csv
import html
import os
from dataclasses import dataclass, field
from typing import Any, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._sinew import Batch, World

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Parameter:
    """What is fitted: where the search begins, its bounds, and whether it is searched by its logarithm."""

    start: float
    low: float
    high: float
    log: bool = True

    def __post_init__(self) -> None:
        if not (np.isfinite([self.start, self.low, self.high]).all() and self.low < self.high):
            raise ValueError(f"bounds {self.low}, {self.high} and start {self.start} must be finite, low below high")
        if not self.low <= self.start <= self.high:
            raise ValueError(f"start {self.start} must be between {self.low} and {self.high}")
        if self.log and self.low <= 0:
            raise ValueError(f"low {self.low} must be above 0 for a parameter that is searched by its logarithm")

    def inner(self, x: float) -> float:
        return float(np.log(x)) if self.log else float(x)

    def outer(self, u: float) -> float:
        return float(np.exp(u)) if self.log else float(u)


@dataclass
class Recording:
    """Measured readings: times [s], and for each reading (as of ``World.read``) one number a time.

    ``sigma`` is the standard deviation of the noise, by reading; without it every reading is weighed by its own range.
    """

    times: Any
    readings: Mapping[str, Any]
    sigma: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.times = np.asarray(self.times, float)
        self.readings = {name: np.asarray(values, float) for name, values in self.readings.items()}
        if self.times.ndim != 1 or len(self.times) == 0 or not np.isfinite(self.times).all():
            raise ValueError("times must be a list of finite numbers")
        if (np.diff(self.times) <= 0).any() or self.times[0] < 0:
            raise ValueError("times must ascend, from 0 on")
        if not self.readings:
            raise ValueError("a recording needs at least one reading")
        for name, values in self.readings.items():
            if values.shape != self.times.shape:
                raise ValueError(f"'{name}' has the shape {values.shape}, but there are {len(self.times)} times")
            if not np.isfinite(values).all():
                raise ValueError(f"'{name}' has values that are not finite")

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str], time: str = "time_s") -> Recording:
        """A table with a column of times and one column a reading, as ``sinew run --csv --read`` writes it."""
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        if not rows or time not in rows[0]:
            raise ValueError(f"{path}: needs a column '{time}' and at least one line")
        names = [name for name in rows[0] if name not in (time, "tick")]
        return cls([float(row[time]) for row in rows], {name: [float(row[name]) for row in rows] for name in names})

    @classmethod
    def of(cls, world: World, readings: list[str], times: ArrayLike) -> Recording:
        """Readings of a run of a world."""
        values = []
        for time in np.asarray(times, float):
            world.step_until(float(time))
            values.append(world.read(*readings))
        columns = np.array(values).T
        if len(columns) != len(readings):
            raise ValueError("give vectors by component, as ball.position.y")
        return cls(times, dict(zip(readings, columns)))

    def noisy(self, share: float, rng: np.random.Generator) -> Recording:
        """With Gaussian noise of this share of the range of each reading: for tests of a calibration."""
        sigma = {name: share * float(np.ptp(values)) for name, values in self.readings.items()}
        values = {name: v + rng.normal(0, sigma[name], len(v)) for name, v in self.readings.items()}
        return Recording(self.times, values, sigma)


@dataclass
class Fit:
    """The result of a calibration."""

    #: Fitted values by path.
    values: dict[str, float]
    #: Standard deviations by path, in the unit of the value.
    deviations: dict[str, float]
    #: Covariance of the values in the order of the paths; of the logarithms where they were searched so.
    covariance: Reals
    #: Root mean square residual, as a share of sigma or range.
    residual: float
    #: Readings of the fitted run, and of the recording.
    fitted: dict[str, Reals]
    recording: Recording
    #: Whether the search converged, and in how many evaluations.
    converged: bool
    evaluations: int
    parameters: dict[str, Parameter]

    @property
    def correlation(self) -> Reals:
        """Correlations of the parameters."""
        scale = np.sqrt(np.diag(self.covariance))
        finite = np.isfinite(scale) & (scale > 0)
        out = np.eye(len(scale))
        both = np.ix_(finite, finite)
        out[both] = self.covariance[both] / np.outer(scale[finite], scale[finite])
        return out

    @property
    def identifiable(self) -> dict[str, bool]:
        """Whether the data determine a parameter: within 20 % of its value (or of its bounds, without logarithm), apart
        from the others (no correlation above 0.99)."""
        relative = {p: self.deviations[p] / (abs(self.values[p]) if q.log else q.high - q.low)
                    for p, q in self.parameters.items()}
        alone = np.abs(self.correlation - np.eye(len(self.values))) < 0.99
        return {p: bool(relative[p] < 0.2 and alone[i].all()) for i, p in enumerate(self.values)}

    def html(self) -> str:
        """A report with a table and plots, as one page without scripts."""
        rows = "".join(
            f"<tr><td>{html.escape(p)}</td><td>{v:.6g}</td><td>{self.deviations[p]:.2g}</td>"
            f"<td>{'yes' if self.identifiable[p] else 'no'}</td></tr>"
            for p, v in self.values.items()
        )
        plots = "".join(
            f"<h2>{html.escape(name)}</h2>" + _plot(np.asarray(self.recording.times), np.asarray(measured), self.fitted[name])
            for name, measured in self.recording.readings.items()
        )
        return (
            "<!doctype html><meta charset='utf-8'><title>Calibration</title><style>body{font:15px sans-serif;margin:2em}"
            "td,th{padding:2px 12px;text-align:left}</style><h1>Calibration</h1>"
            f"<p>Residual {self.residual:.3g} of the noise or range, {self.evaluations} evaluations, "
            f"{'converged' if self.converged else 'not converged'}.</p>"
            "<table><tr><th>parameter</th><th>value</th><th>standard deviation</th><th>determined</th></tr>"
            f"{rows}</table>{plots}<p>Points: measured. Line: fitted run.</p>"
        )


def _plot(times: Reals, measured: Reals, fitted: Reals) -> str:
    """Points and a line as SVG."""
    low, high = min(measured.min(), fitted.min()), max(measured.max(), fitted.max())
    span, length = (high - low) or 1.0, (times[-1] - times[0]) or 1.0

    def place(t: float, y: float) -> tuple[float, float]:
        return 60 + 520 * (t - times[0]) / length, 190 - 170 * (y - low) / span

    line = " ".join("{:.1f},{:.1f}".format(*place(t, y)) for t, y in zip(times, fitted))
    dots = "".join("<circle cx='{:.1f}' cy='{:.1f}' r='2'/>".format(*place(t, y)) for t, y in zip(times, measured))
    return (
        f"<svg width='600' height='220'><polyline points='{line}' fill='none' stroke='#c33'/>{dots}"
        f"<text x='2' y='25'>{high:.4g}</text><text x='2' y='190'>{low:.4g}</text>"
        f"<text x='60' y='212'>{times[0]:.3g} s</text><text x='530' y='212'>{times[-1]:.3g} s</text></svg>"
    )


def _covariance(jacobian: Reals, variance: float) -> Reals:
    """Covariance of the parameters: infinite for those that change nothing."""
    seen = np.linalg.norm(jacobian, axis=0) > 1e-12
    out = np.diag(np.where(seen, 0.0, np.inf))
    sizes, axes = np.linalg.eigh(jacobian[:, seen].T @ jacobian[:, seen])
    # a direction that the data do not show gets a large variance, not none
    out[np.ix_(seen, seen)] = variance * (axes / np.maximum(sizes, 1e-14 * sizes.max(initial=1e-300))) @ axes.T
    return out


def fit(
    scene: Any,
    recording: Recording,
    parameters: Mapping[str, Parameter],
    *,
    set: dict[str, Any] | None = None,
    threads: int = 0,
    step: float = 1e-2,
    loss: str = "linear",
    max_evaluations: int = 50,
) -> Fit:
    """Fits parameters, by paths as of ``--set`` (``parameters.E``, ``bodies.jelly.material.youngs_modulus``).

    ``step`` is that of the central differences: of the logarithm, or as a share of the bounds. The engine computes in 32
    bits, so it should not be below 1e-3. ``loss`` is that of ``scipy.optimize.least_squares``.
    """
    from scipy.optimize import least_squares

    if not parameters:
        raise ValueError("give at least one parameter")
    paths, list_ = list(parameters), list(parameters.values())
    names = list(recording.readings)
    times = np.asarray(recording.times)
    measured = np.stack([np.asarray(recording.readings[name]) for name in names])
    # a reading that does not change still needs a scale
    scales = np.array([recording.sigma.get(name) or float(np.ptp(v)) or 1.0 for name, v in zip(names, measured)])
    if measured.size <= len(paths):
        raise ValueError(f"{measured.size} measured numbers do not determine {len(paths)} parameters")
    steps = np.array([step if p.log else step * (p.high - p.low) for p in list_])
    start = World.from_scene(scene, set=set)
    ticks = np.maximum(np.round(times / start.dt).astype(int), 0)

    def run(points: Reals) -> Reals:
        """Readings of one run for each row of points: (runs, readings, times)."""
        batch = Batch(start, len(points), threads)
        for k, (path, parameter) in enumerate(zip(paths, list_)):
            batch.expand(path, [parameter.outer(u) for u in points[:, k]])
        out, now = np.empty((len(points), len(names), len(times))), 0
        for i, tick in enumerate(ticks):
            batch.step(int(tick - now))
            now = tick
            out[:, :, i] = batch.read(*names)
        return out

    low = np.array([p.inner(p.low) for p in list_])
    high = np.array([p.inner(p.high) for p in list_])
    last: dict[str, Any] = {}

    def evaluate(u: Reals) -> None:
        if "u" in last and np.array_equal(last["u"], u):
            return
        # central differences, one-sided at the bounds
        ahead, behind = np.minimum(u + steps, high) - u, u - np.maximum(u - steps, low)
        points = np.concatenate([[u], u + np.diag(ahead), u - np.diag(behind)])
        values = run(points)
        residuals = ((values - measured) / scales[:, None]).reshape(len(points), -1)
        if not np.isfinite(residuals).all():
            raise ValueError("a run has readings that are not finite: narrow the bounds")
        n = len(u)
        last.update(u=u.copy(), values=values[0], r=residuals[0],
                    J=((residuals[1:n + 1] - residuals[n + 1:]) / (ahead + behind)[:, None]).T)

    def residuals(u: Reals) -> Reals:
        evaluate(u)
        return last["r"]

    def jacobian(u: Reals) -> Reals:
        evaluate(u)
        return last["J"]

    begin = np.array([p.inner(p.start) for p in list_])
    done = least_squares(residuals, begin, jacobian, bounds=(low, high), loss=loss, max_nfev=max_evaluations,
                         x_scale="jac", ftol=1e-8, xtol=1e-8)
    evaluate(done.x)
    free = measured.size - len(paths)
    variance = float(last["r"] @ last["r"]) / free
    covariance = _covariance(last["J"], variance)
    spread = np.sqrt(np.diag(covariance))
    values = {path: p.outer(u) for path, p, u in zip(paths, list_, done.x)}
    deviations = {path: float(s * (values[path] if p.log else 1)) for path, p, s in zip(paths, list_, spread)}
    return Fit(values, deviations, covariance, float(np.sqrt(np.mean(last["r"] ** 2))), dict(zip(names, last["values"])),
               recording, bool(done.success), int(done.nfev), dict(parameters))
