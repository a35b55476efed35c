"""Bad input: an exception that names the culprit, never a crash, and the world goes on."""

import pickle
import threading

import numpy as np
import pytest

from sinew_physics import BusyError, Command, SaveError, Scene, SceneError, SinewError, StaleError, World, shape


@pytest.fixture
def world() -> World:
    scene = Scene()
    scene.fixed("floor", shape.half_space())
    scene.dynamic("ball", shape.ball(radius=0.1), position=[0, 1, 0])
    scene.soft("rope", {"kind": "rope", "from": [1, 1, 0], "to": [2, 1, 0], "segments": 5}, pinned=[0],
               model={"kind": "pbd_cord", "stretch": 5000, "bend": 0, "density": 0.1, "compression": 0.2})
    return scene.build()


def test_scenes_that_cannot_be():
    with pytest.raises(SceneError, match="did you mean 'stack'"):
        World.from_scene("stak")
    with pytest.raises(SceneError, match="did you mean 'dynamic'"):
        World.from_scene({"bodies": {"a": {"kind": "dynamc"}}})
    with pytest.raises(SceneError, match="bodies.a.shape.radius"):
        World.from_scene({"bodies": {"a": {"kind": "dynamic", "shape": shape.ball(radius=float("nan"))}}})
    with pytest.raises(SceneError, match="No such file"):
        World.from_scene("nowhere.toml")
    with pytest.raises(SceneError, match="depht"):
        World.from_scene("press", depht=0.1)
    with pytest.raises(SinewError, match="leave the key out"):
        World.from_scene({"bodies": {"a": None}})
    with pytest.raises(SinewError, match="not int"):
        World.from_scene(7)
    endless = []
    endless.append(endless)
    with pytest.raises(SceneError, match="nested deeper"):
        World.from_scene({"bodies": endless})
    with pytest.raises(SceneError, match="from 1 to 1000"):
        World(substeps=0)
    with pytest.raises(ValueError, match="is there already"):
        scene = Scene()
        scene.fixed("a")
        scene.fixed("a")


def test_commands_that_cannot_be(world):
    hash = world.hash
    for bad, words in [
        (lambda: Command.force("ball", [1, 2]), "expected 3 numbers, found fewer"),
        (lambda: Command.force("ball", np.zeros(4)), "found more"),
        (lambda: Command.force("ball", [0, float("nan"), 0]), r"force\[1\] is NaN"),
        (lambda: Command.force("ball", [0, 1e300, 0]), "finite"),
        (lambda: Command.force("ball", "abc"), "something else"),
        (lambda: Command.force("ball", 3), "found no list"),
        (lambda: Command.force(3, [0, 0, 0]), "name of a body"),
        (lambda: Command.target("ball", [0, 0, 0], [0, 0, 0, 0]), "length 0"),
        (lambda: Command.node_targets("rope", [0, 1], [[0, 0, 0]]), "2 nodes and 1 positions"),
        (lambda: world.step(1, [Command.force("bal", [0, 0, 0])]), "did you mean 'ball'"),
        (lambda: world.step(1, [Command.force("rope", [0, 0, 0])]), "body of nodes"),
        (lambda: world.step(1, [Command.target("ball", [0, 0, 0])]), "not kinematic"),
        (lambda: world.step(1, [Command.node_force("rope", 99, [0, 0, 0])]), "has 6 nodes"),
        (lambda: world.step(1, [3]), "list of Command"),
        (lambda: world.read("ball.heigth"), "unknown reading"),
        (lambda: world.set("substep", 3), "did you mean"),
        (lambda: world.step_until(float("inf")), "finite"),
        (lambda: (world.set("point_forces", False), world.contacts), "point_forces"),
        (lambda: world.render(0, 10), "width"),
        (lambda: world.render(eye=[0, 0, 1]), "both eye and target"),
        (lambda: world.cast_ray([0, 0, 0], [0, 0, 0], 1), "longer than 0"),
        (lambda: world.set_ledger("all"), "expected none"),
        (lambda: world.stop_recording(), "record"),
        (lambda: world.to_scene("yaml"), "toml or json"),
    ]:
        with pytest.raises(SinewError, match=words):
            bad()
            pytest.fail(words)
    with pytest.raises((OverflowError, TypeError)):
        world.step(-1)
    assert world.hash == hash, "a refused command changes nothing"


def test_arrays_that_do_not_fit(world):
    rope = world.bodies["rope"]
    with pytest.raises(TypeError):
        rope.fill(np.zeros((6, 3)))
    with pytest.raises(SinewError, match="shape"):
        rope.fill(np.zeros((5, 3), np.float32))
    with pytest.raises(SinewError, match="contiguous"):
        rope.fill(np.zeros((6, 6), np.float32)[:, ::2])
    with pytest.raises(SinewError, match="expected nodes"):
        rope.view("velocity")
    fixed = np.zeros((6, 3), np.float32)
    fixed.flags.writeable = False
    with pytest.raises((SinewError, TypeError)):
        rope.fill(fixed)
    view = rope.view()
    view.array.flags.writeable = False
    with pytest.raises(SinewError):
        view.array


def test_bodies_that_are_gone(world):
    ball, view = world.bodies["ball"], world.bodies["rope"].view()
    world.remove("ball")
    world.remove(world.bodies["rope"])
    for use in (lambda: ball.position, lambda: view.array, lambda: world.remove(ball),
                lambda: world.step(1, [Command.force(ball, [0, 0, 0])])):
        with pytest.raises(StaleError, match="removed"):
            use()
    with pytest.raises(KeyError):
        world.bodies["ball"]
    world.step(5)


def test_bytes_that_are_no_saves(world):
    save, state = world.save(), world.snapshot()
    for bad in (b"", b"SINEW", save[:-3], save[:40] + b"x" + save[41:], state):
        with pytest.raises(SaveError):
            World.load(bad)
    with pytest.raises(SaveError):
        world.restore(save)
    with pytest.raises(SaveError):
        World.from_scene("stack").restore(state)
    with pytest.raises((SaveError, pickle.UnpicklingError, EOFError)):
        pickle.loads(pickle.dumps(world).replace(save[60:80], bytes(20)))


def test_a_second_thread_gets_an_exception():
    world = World.from_scene("stack")
    refused, started = [], threading.Event()

    def run():
        started.set()
        while True:
            try:
                return world.step(20000)
            except BusyError:
                pass  # the other thread was first

    thread = threading.Thread(target=run)
    thread.start()
    started.wait()
    while thread.is_alive() and not refused:
        try:
            world.step(1)
        except BusyError as error:
            refused.append(str(error))
    try:
        world.hash
    except BusyError:
        pass
    thread.join()
    assert refused and "another thread" in refused[0]
    world.step(1)


def test_a_body_that_goes_insane_is_reported():
    scene = Scene(settings={"max_speed": 5})
    scene.dynamic("stone", shape.ball(radius=0.1))
    world = scene.build()
    world.step(120)
    assert world.bodies["stone"].frozen
    fault = world.report["faults"][0]
    assert fault["body"] == "stone" and fault["kind"] == "too_fast"
