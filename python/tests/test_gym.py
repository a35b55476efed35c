"""Environments: the checker of Gymnasium, the same bits for the same seed, tasks that can be done, and one that is learned."""

import importlib.util
import pathlib

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from sinew_physics.gym import FoldCloth, LiftSoftCube, PalpateLump, RetractTissue, SinewEnv, SinewVectorEnv  # noqa: E402

TASKS = [LiftSoftCube, FoldCloth, RetractTissue, PalpateLump]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.filterwarnings("ignore")
def test_the_checker_of_gymnasium_accepts_it(task):
    check_env(SinewEnv(task(), render_mode="rgb_array"), skip_render_check=True)


@pytest.mark.parametrize("task", TASKS)
def test_the_same_seed_gives_the_same_bits(task):
    env = SinewEnv(task())
    actions = np.random.default_rng(3).uniform(-1, 1, (6, task.actions))
    hashes = set()
    for _ in range(2):
        env.reset(seed=5)
        rewards = [env.step(action)[1] for action in actions]
        hashes.add((env.hash, *rewards))
    assert len(hashes) == 1 and np.isfinite(rewards).all()


def test_a_vector_of_environments_is_as_many_single_ones():
    vector, single = SinewVectorEnv(LiftSoftCube(), 3, 2), SinewEnv(LiftSoftCube())
    vector.reset(seed=1)
    actions = np.random.default_rng(3).uniform(-1, 1, (5, 3, 2)).astype(np.float32)
    for action in actions:
        observations, rewards, *_ = vector.step(action)
    single.reset(seed=1)
    for action in actions:
        observation, reward, *_ = single.step(action[1])
    assert vector.hashes[1] == single.hash
    assert np.array_equal(observations[1], observation) and rewards[1] == reward


def test_a_cube_that_is_held_is_lifted():
    env = SinewEnv(LiftSoftCube())
    env.reset(seed=0)
    for step in range(80):
        _, reward, terminated, _, _ = env.step([1 if step < 25 else 0.1, 0 if step < 25 else 1])
        if terminated:
            break
    assert terminated and reward > 0.9, reward
    # without closing nothing is lifted
    env.reset(seed=0)
    for step in range(60):
        _, reward, terminated, _, _ = env.step([0, 1])
    assert not terminated and abs(reward) < 0.05


def test_a_cloth_is_folded_and_tissue_retracted():
    env = SinewEnv(FoldCloth())
    env.reset(seed=0)
    _, first, *_ = env.step([0, 0, 0])
    towards = np.sign(env._one.task.nodes[0, -1, 2] - env._one.task.nodes[0, 0, 2])
    for step in range(60):
        _, reward, terminated, _, _ = env.step([0, 0.4 if step < 15 else -0.25, towards * 0.5])
        if terminated:
            break
    assert reward > 0.5 * first, (first, reward)
    env = SinewEnv(RetractTissue())
    env.reset(seed=0)
    seen = []
    for _ in range(60):
        observation, reward, terminated, _, _ = env.step([-0.5, 0.3, 0])
        seen.append(observation[-1])
        if terminated:
            break
    assert seen[0] == 0 and seen[-1] > 0.5, seen


def test_the_force_shows_where_the_lump_is():
    env = SinewEnv(PalpateLump())
    env.reset(seed=2)
    lump = float(env._one._drawn[0, 0])

    def pressed(x):
        env._one._batch.reset()
        env._one._hand[:] = [[x, env._one.task.size[1] + 0.012]]
        for _ in range(25):
            observation, *_ = env.step([0, 1])
        return observation[3]

    away = lump - 0.035 * np.sign(lump or 1)
    assert pressed(lump) > 1.1 * pressed(away)


def test_an_environment_that_ended_begins_anew():
    task = LiftSoftCube()
    task.length = 3
    vector = SinewVectorEnv(task, 2, 1)
    start, _ = vector.reset(seed=0)
    for _ in range(3):
        *_, truncated, _ = vector.step(np.ones((2, 2), np.float32))
    assert truncated.all()
    observation, reward, terminated, truncated, _ = vector.step(np.ones((2, 2), np.float32))
    assert np.allclose(observation[:, :6], start[:, :6], atol=1e-5) and not truncated.any() and not reward.any()
    with pytest.raises(ValueError, match="finite"):
        vector.step(np.full((2, 2), np.nan))


def test_the_cross_entropy_method_learns():
    path = pathlib.Path(__file__).parents[1] / "examples/cem.py"
    spec = importlib.util.spec_from_file_location("cem", path)
    cem = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cem)
    best = cem.learn(4, population=16, elite=4, length=50)
    assert best[-1] > best[0] + 0.1, best
