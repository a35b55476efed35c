"""Batches: the bits of single runs, arrays, resets, parameters of each world."""

import numpy as np
import pytest

from sinew_physics import Batch, Command, SinewError, World


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_batch_is_n_single_runs_bit_for_bit(threads):
    start = World.from_scene("press")
    start.step(5)
    batch = Batch(start, 6, threads)
    pushes = [[Command.node_force("ball", 3, [0.02 * i, 0, 0])] for i in range(6)]
    batch.step(20, pushes)
    batch.step(10)
    for i in range(6):
        single = start.copy()
        single.step(20, pushes[i])
        single.step(10)
        assert batch.hashes[i] == single.hash
    assert len(set(batch.hashes)) == 6


def test_bound_arrays_follow_the_worlds():
    batch = Batch(World.from_scene("press"), 3)
    nodes, height, force = batch.bind("ball.nodes"), batch.bind("plate.position.y"), batch.bind("ball.force")
    pose = batch.bind("plate.pose")
    assert nodes.shape[0] == 3 and nodes.shape[2] == 3 and height.shape == (3,) and force.shape == (3, 3)
    batch.step(30)
    world = batch.world(1)
    assert np.array_equal(nodes[1], world.bodies["ball"].nodes)
    assert np.array_equal(pose[1][:3], world.bodies["plate"].position)
    assert height[0] == pytest.approx(float(world.bodies["plate"].position[1]), abs=1e-6)
    assert batch.bind("ball.nodes") is nodes
    assert batch.read("plate.position", "energy.kinetic").shape == (3, 4)


def test_a_mask_resets_some_worlds():
    batch = Batch(World.from_scene("stack"), 4)
    start = batch.hashes
    batch.step(10)
    moved = batch.hashes
    batch.reset(np.array([True, False, True, False]))
    assert batch.hashes == [start[0], moved[1], start[2], moved[3]]
    batch.reset()
    assert batch.hashes == start


def test_each_world_has_its_own_parameter():
    batch = Batch(World.from_scene("press"), 3, 2)
    depths = np.array([0.06, 0.1, 0.2])
    batch.expand("parameters.depth", depths)
    height = batch.bind("plate.position.y")
    batch.step(60)
    for i, depth in enumerate(depths):
        single = World.from_scene("press", depth=depth)
        single.step(60)
        assert batch.hashes[i] == single.hash
    assert np.all(np.diff(height) > 0)


def test_refusals():
    world = World.from_scene("stack")
    with pytest.raises(SinewError, match="from 1 to"):
        Batch(world, 0)
    batch = Batch(world, 2)
    with pytest.raises(SinewError, match="3 values for 2 worlds"):
        batch.expand("settings.substeps", [1, 2, 3])
    with pytest.raises(SinewError, match="mask has 3 entries"):
        batch.reset(np.array([True, True, True]))
    with pytest.raises(TypeError):
        batch.reset(np.array([1, 0]))
    with pytest.raises(SinewError, match="unknown reading"):
        batch.bind("nobody.position")
    with pytest.raises(SinewError, match="needs a world of a scene"):
        Batch(World.load(world.save()), 2).expand("settings.substeps", [1, 2])
    hashes = batch.hashes
    with pytest.raises(SinewError, match="substeps"):
        batch.expand("settings.substeps", [4, 0])
    assert batch.hashes == hashes
