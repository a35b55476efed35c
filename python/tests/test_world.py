"""Worlds: the same bits as the command line, arrays, pickles, edits."""

import copy
import json
import pathlib
import pickle

import numpy as np
import pytest

import sinew_physics as sp
from sinew_physics import Command, Scene, World, geometry, shape

ROOT = pathlib.Path(__file__).resolve().parents[2]
HASHES = json.loads((ROOT / "docs/hashes.json").read_text())
# one of each kind that is fast: rigid, soft of several models, joints, files, scripts of Rust, friction laws
SAMPLE = ["stack", "domino", "dent", "ball-incline", "stick-slip", "ropes", "cradle", "swarm", "grasp-block", "press"]


def brick_and_jelly() -> World:
    scene = Scene(settings={"point_forces": True})
    scene.fixed("floor", shape.half_space())
    scene.dynamic("brick", shape.box(half_extents=[0.1, 0.05, 0.05]), position=[1, 0.1, 0], mass=2)
    scene.soft("jelly", geometry.block(cells=[3, 3, 3], size=[0.1, 0.1, 0.1]), "jelly", position=[0, 0.06, 0])
    return scene.build()


@pytest.mark.parametrize("name", SAMPLE)
def test_a_scene_has_the_hash_of_the_command_line(name):
    world = World.from_scene(name)
    for until, wanted in zip(HASHES["ticks"][:2], HASHES["f32"][name]):
        world.step(until - world.tick)
        assert world.hash == wanted, until


def test_every_scene_is_listed():
    assert {name for name, _ in sp.scenes()} == set(HASHES["f32"])


def test_a_brick_falls_by_the_integrator():
    scene = Scene()
    scene.dynamic("brick", shape.box(half_extents=[0.1, 0.1, 0.1]), position=[0, 5, 0])
    world = scene.build()
    world.step(60)
    # the velocity of symplectic Euler is exact: g t
    assert world.bodies["brick"].velocity[1] == pytest.approx(-9.81 * world.time, rel=1e-5)


def test_contact_forces_carry_the_weight():
    world = brick_and_jelly()
    world.step(240)
    jelly, brick, floor = (world.bodies[name] for name in ("jelly", "brick", "floor"))
    assert brick.force[1] == pytest.approx(2 * 9.81, rel=0.02)
    assert jelly.force[1] == pytest.approx(9.81 * jelly.mass, rel=0.02)
    on = jelly.on(floor)
    assert on["normal"] == pytest.approx(9.81 * jelly.mass, rel=0.02) and 0 < on["area"] < 0.02
    contacts = world.contacts
    assert contacts["force"].shape == (len(contacts["a"]), 3)
    assert np.abs(contacts["force"][:, 1]).sum() == pytest.approx(9.81 * (2 + jelly.mass), rel=0.02)
    # reading by name and by attribute are one
    assert world.read("brick.position.y") == [pytest.approx(float(brick.position[1]), abs=1e-6)]
    assert len(world.read("brick.position", "energy.kinetic")) == 4


def test_arrays_have_the_shapes_and_types_of_their_bodies():
    jelly = brick_and_jelly().bodies["jelly"]
    assert jelly.nodes.shape == (64, 3) and jelly.nodes.dtype == np.float32
    assert jelly.triangles.shape == (108, 3) and jelly.triangles.max() < len(jelly.surface)
    assert jelly.node_masses.sum() == pytest.approx(jelly.mass, rel=1e-5)
    assert jelly.stress.shape[1] == 6 and np.abs(jelly.stress).max() < 1.0
    # volume of the surface by the divergence theorem
    a, b, c = (jelly.surface[jelly.triangles[:, k]].astype(float) for k in range(3))
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6 == pytest.approx(1e-3, rel=1e-4)


def test_a_view_follows_the_world_in_one_array():
    world = brick_and_jelly()
    jelly = world.bodies["jelly"]
    view, out = jelly.view(), np.empty((64, 3), np.float32)
    first = view.array
    before = first.copy()
    world.step(10)
    assert view.array is not None and np.array_equal(view.array, jelly.nodes)
    assert np.shares_memory(view.array, first) and not np.array_equal(first, before)
    jelly.fill(out)
    assert np.array_equal(out, np.asarray(view))


def test_snapshot_and_copy_go_on_with_the_same_bits():
    world = brick_and_jelly()
    world.step(30)
    state, twin = world.snapshot(), copy.deepcopy(world)
    world.step(50)
    wanted = world.hash
    world.restore(state)
    world.step(50)
    twin.step(50)
    assert world.hash == wanted == twin.hash
    assert World.load(world.save()).hash == wanted


@pytest.mark.parametrize("scene", ["press", "grip", "wheel", "ball-incline"])
def test_a_pickle_goes_on_with_motions_and_parameters(scene):
    parameters = {"press": {"depth": 0.08}, "ball-incline": {"law": "dahl"}}.get(scene, {})
    world = World.from_scene(scene, **parameters)
    world.step(40)
    twin = pickle.loads(pickle.dumps(world))
    assert (twin.tick, twin.hash, twin.scene) == (world.tick, world.hash, world.scene)
    world.step(80)
    twin.step(80)
    assert twin.hash == world.hash


def test_parameters_and_settings_change_the_scene():
    soft, stiff = (World.from_scene("press", depth=d, set={"settings.substeps": 6}) for d in (0.06, 0.2))
    for world in (soft, stiff):
        world.step_until(1.0)
    assert soft.bodies["plate"].position[1] == pytest.approx(0.06, abs=1e-3)
    assert stiff.bodies["plate"].position[1] == pytest.approx(0.2, abs=1e-3)


def test_the_same_scene_from_name_path_text_and_dict():
    text = (ROOT / "scenes/press.toml").read_text()
    path = ROOT / "scenes/press.toml"
    hashes = set()
    for scene in ("press", str(path), path, text):
        world = World.from_scene(scene)
        world.step(20)
        hashes.add(world.hash)
    assert len(hashes) == 1
    again = World.from_scene(World.from_scene("press").to_scene("json"))
    again.step(20)
    assert {again.hash} == hashes


def test_commands_push_and_steer():
    scene = Scene(settings={"gravity": [0, 0, 0]})
    scene.dynamic("ball", shape.ball(radius=0.1), mass=2)
    scene.kinematic("hand", shape.ball(radius=0.1), position=[0, 5, 0])
    world = scene.build()
    world.step(1, [Command.impulse("ball", [6, 0, 0])])
    assert world.bodies["ball"].velocity[0] == pytest.approx(3, rel=1e-5)
    world.step(60, Command.force(world.bodies["ball"], [0, 4, 0]))
    # a force acts in each of the steps: v = F t / m
    assert world.bodies["ball"].velocity[1] == pytest.approx(2 * 60 * world.dt, rel=1e-4)
    world.step(1, [Command.target("hand", [0.01, 5, 0], [0, 0, 0, 2])])
    assert world.bodies["hand"].position[0] == pytest.approx(0.01, abs=1e-6)
    world.step(1, [Command.remove("hand")])
    assert "hand" not in world.bodies and len(world.bodies) == 1


def test_a_recording_replays():
    world = World.from_scene("press")
    world.record()
    world.step(50)
    assert sp.replay(world.stop_recording()) == {"steps": 50, "matched": 50, "complete": True}


def test_bodies_are_added_to_a_running_world():
    world = brick_and_jelly()
    world.step(5)
    ball = world.add("ball", kind="dynamic", shape=shape.ball(radius=0.05), position=[0, 1, 0], mass=1)
    sheet = world.add("sheet", kind="soft", geometry=geometry.sheet(cells=[4, 4], size=[0.2, 0.2]),
                      material="cotton", model="membrane", position=[3, 1, 0], pinned=[0])
    world.step(60)
    assert ball.position[1] < 1 and sheet.kind == "soft" and sheet.nodes.shape == (25, 3)
    assert list(world.bodies) == ["floor", "brick", "jelly", "ball", "sheet"]


def test_report_and_ledger():
    world = brick_and_jelly()
    world.set_ledger("world")
    world.step(20)
    report = world.report
    assert report["tick"] == 20 and report["faults"] == [] and report["counts"]["contacts"] > 0
    book = world.ledger
    assert abs(book["total"]["unexplained"]) < 1e-3 * book["turnover"]


def test_a_picture():
    world = World.from_scene("stack")
    picture = world.render(64, 40, samples=1)
    assert picture.shape == (40, 64, 3) and picture.dtype == np.uint8 and picture.std() > 5
    assert world._repr_png_().startswith(b"\x89PNG")


def test_rays_hit_bodies():
    hit = brick_and_jelly().cast_ray([1, 5, 0], [0, -1, 0], 10)
    assert hit["body"] == "brick" and hit["distance"] == pytest.approx(4.85, abs=1e-3)
