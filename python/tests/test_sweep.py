"""Sweeps from Python: the runs of the command line, cached and repeated."""

import pytest

from sinew_physics import SceneError, SinewError, World, sweep

DEPTHS = [0.07, 0.1, 0.15]


def test_a_sweep_is_its_single_runs(tmp_path):
    table = sweep("press", {"parameters.depth": DEPTHS}, ["plate.position.y"], steps=60, jobs=2, cache=tmp_path)
    assert table["columns"] == ["plate.position.y"] and len(table["runs"]) == 3
    for run, depth in zip(table["runs"], DEPTHS):
        single = World.from_scene("press", depth=depth)
        single.step(60)
        assert run["hash"] == single.hash and run["readings"] == single.read("plate.position.y") and not run["cached"]
    again = sweep("press", ["parameters.depth=0.07|0.1|0.15"], ["plate.position.y"], steps=60, cache=tmp_path, verify=1)
    assert [run["hash"] for run in again["runs"]] == [run["hash"] for run in table["runs"]]
    assert all(run["cached"] for run in again["runs"]) and again["differing"] == []


def test_refusals():
    with pytest.raises(SinewError, match="PATH=a:b:n"):
        sweep("press", ["parameters.depth"])
    with pytest.raises(SinewError, match="unknown reading"):
        sweep("press", {"parameters.depth": DEPTHS}, ["plat.position"])
    with pytest.raises(SceneError, match="did you mean"):
        sweep("pres", {"parameters.depth": DEPTHS})
    with pytest.raises(SinewError, match="has no values"):
        sweep("press", {"parameters.depth": []})
    with pytest.raises(SinewError, match="above 0"):
        sweep("press", {"parameters.depth": DEPTHS}, seconds=0)
    table = sweep("press", {"settings.substeps": [4, 0]}, steps=2)
    assert "from 1 to 1000" in table["runs"][1]["error"] and "hash" in table["runs"][0]
