"""Twin experiments: our own run with noise gives its parameters back, and the covariance covers the error."""

import numpy as np
import pytest

pytest.importorskip("scipy")

from sinew_physics import Scene, geometry, shape  # noqa: E402
from sinew_physics.fit import Parameter, Recording, fit  # noqa: E402


def hanging() -> Scene:
    """A soft bar that is held at its top and sways under its weight."""
    scene = Scene(settings={"dt": 0.01})
    scene.parameter("E", 1e4)
    scene.parameter("nu", 0.3)
    scene.soft("bar", geometry.block(cells=[2, 4, 2], size=[0.06, 0.12, 0.06]), position=[0, 0, 0],
               material={"youngs_modulus": "$E", "poisson_ratio": "$nu", "density": 1000}, damping=2.0,
               pinned_regions=[{"min": [-1, 0.0599, -1], "max": [1, 1, 1]}])
    return scene


def sliding() -> Scene:
    """A box that slides until friction stops it."""
    scene = Scene(settings={"dt": 0.01})
    scene.parameter("mu", 0.3)
    scene.fixed("floor", shape.half_space(), surface=1.0)
    scene.dynamic("box", shape.box(half_extents=[0.1, 0.05, 0.1]), position=[0, 0.05, 0], velocity=[1.5, 0, 0],
                  surface="$mu")
    scene._tables["settings"]["pairs"] = {"friction": "minimum"}
    return scene


def test_stiffness_comes_back_from_a_noisy_run():
    times = np.arange(0.02, 0.42, 0.02)
    readings = ["bar.node.0.position.y", "bar.node.0.position.x", "bar.node.9.position.x"]
    truth = {"E": 1.7e4, "nu": 0.38}
    clean = Recording.of(hanging().build(**truth), readings, times)
    measured = clean.noisy(0.01, np.random.default_rng(1))
    found = fit(hanging(), measured, {"parameters.E": Parameter(8e3, 2e3, 1e5),
                                      "parameters.nu": Parameter(0.2, 0.05, 0.45, log=False)})
    assert found.converged and found.values["parameters.E"] == pytest.approx(truth["E"], rel=0.02)
    # residuals are as large as the noise, and errors within four deviations
    assert found.residual == pytest.approx(1, abs=0.3)
    for name, true in truth.items():
        path = f"parameters.{name}"
        assert abs(found.values[path] - true) < 4 * found.deviations[path] + 1e-3 * true, found
    assert found.identifiable["parameters.E"]
    page = found.html()
    assert page.count("<svg") == 3 and "parameters.nu" in page


def test_friction_comes_back_and_the_covariance_covers_the_error():
    times = np.arange(0.05, 0.35, 0.025)
    clean = Recording.of(sliding().build(mu=0.42), ["box.position.x"], times)
    inside = 0
    for seed in range(10):
        measured = clean.noisy(0.01, np.random.default_rng(seed))
        found = fit(sliding(), measured, {"parameters.mu": Parameter(0.2, 0.05, 0.9)})
        value, deviation = found.values["parameters.mu"], found.deviations["parameters.mu"]
        assert value == pytest.approx(0.42, rel=0.03)
        inside += abs(value - 0.42) < 2 * deviation
    # two deviations cover 95 % of the errors; 10 repetitions with at most 6 covered would be one in ten million
    assert inside >= 7, inside


def test_what_the_data_do_not_show_is_told():
    # how far a box slides does not depend on its mass
    times = np.arange(0.05, 0.3, 0.025)
    measured = Recording.of(sliding().build(), ["box.position.x"], times).noisy(0.01, np.random.default_rng(0))
    found = fit(sliding(), measured, {"bodies.box.mass": Parameter(2, 0.5, 20), "parameters.mu": Parameter(0.2, 0.05, 0.9)})
    assert found.identifiable == {"bodies.box.mass": False, "parameters.mu": True}


def test_refusals(tmp_path):
    with pytest.raises(ValueError, match="ascend"):
        Recording([0.2, 0.1], {"a": [1, 2]})
    with pytest.raises(ValueError, match="shape"):
        Recording([0.1, 0.2], {"a": [1, 2, 3]})
    with pytest.raises(ValueError, match="not finite"):
        Recording([0.1, 0.2], {"a": [1, np.nan]})
    with pytest.raises(ValueError, match="between"):
        Parameter(5, 1, 2)
    with pytest.raises(ValueError, match="logarithm"):
        Parameter(0.5, 0, 2)
    measured = Recording([0.1, 0.2], {"box.position.x": [0.1, 0.2]})
    with pytest.raises(ValueError, match="mu"):
        fit(sliding(), measured, {"parameters.mmu": Parameter(0.2, 0.05, 0.9)})
    with pytest.raises(ValueError, match="unknown reading"):
        fit(sliding(), Recording([0.1, 0.2], {"bix.position.x": [1, 2]}), {"parameters.mu": Parameter(0.2, 0.05, 0.9)})
    path = tmp_path / "pull.csv"
    path.write_text("tick,time_s,box.position.x\n1,0.1,0.5\n2,0.2,0.6\n")
    assert Recording.from_csv(path).readings["box.position.x"].tolist() == [0.5, 0.6]
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="time_s"):
        Recording.from_csv(path)
