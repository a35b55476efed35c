"""Environments of Gymnasium: tasks with soft bodies, alone or many at a time.

A task is a scene, what a hand does with an action, what is observed, and a reward; it knows many worlds at once, so that
:class:`SinewEnv` is the case of one world of :class:`SinewVectorEnv`.

>>> from sinew_physics.gym import LiftSoftCube, SinewEnv
>>> env = SinewEnv(LiftSoftCube())
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
>>> observation.shape
(12,)
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ._scene import Scene, geometry, shape
from ._sinew import Batch, Command, World

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


class Task:
    """A task for n worlds. Actions are from -1 to 1."""

    #: Numbers of an action and of an observation.
    actions: int
    observations: int
    #: Steps of the engine in a step of the environment.
    skip: int = 2
    #: Steps of the environment in an episode.
    length: int = 100

    def scene(self) -> Scene:
        """The scene."""
        raise NotImplementedError

    def bind(self, batch: Batch) -> None:
        """Takes the arrays that ``observe`` and ``reward`` read."""
        raise NotImplementedError

    def draw(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """What is random about an episode."""
        return np.zeros(0)

    def expand(self, batch: Batch, drawn: NDArray[np.float64]) -> None:
        """Puts what was drawn, one row a world, into the scenes; called by full resets only."""

    def hand(self) -> NDArray[np.float64]:
        """Where the hand is at the start."""
        raise NotImplementedError

    def move(self, hand: NDArray[np.float64], action: NDArray[np.float64], time: float) -> NDArray[np.float64]:
        """Where hands (n, k) are after an action that lasts a time [s]."""
        raise NotImplementedError

    def commands(self, hand: NDArray[np.float64]) -> list[Command]:
        """Commands that bring one hand there."""
        raise NotImplementedError

    def observe(self, hand: NDArray[np.float64]) -> NDArray[Any]:
        """Observations (n, observations)."""
        raise NotImplementedError

    def reward(self, hand: NDArray[np.float64], drawn: NDArray[np.float64]) -> tuple[NDArray[Any], Bools]:
        """Rewards (n,), and whether the task is done."""
        raise NotImplementedError


class LiftSoftCube(Task):
    """Two fingers close on a soft cube and lift it; friction alone holds it. Action: speed of closing, speed of lifting."""

    actions, observations = 2, 12
    side, top = 0.06, 0.15

    def scene(self) -> Scene:
        half = self.side / 2
        finger = shape.box(half_extents=[0.01, 0.03, 0.03])
        scene = Scene("lift-soft-cube", settings={"dt": 0.01, "substeps": 4})
        scene.fixed("floor", shape.half_space(), surface=0.5)
        scene.soft("cube", geometry.block(cells=[2, 2, 2], size=[self.side] * 3),
                   {"youngs_modulus": 3e4, "poisson_ratio": 0.3, "density": 500}, position=[0, half, 0], surface=1.0)
        for name, x in (("left", -0.05), ("right", 0.05)):
            scene.kinematic(name, finger, position=[x, half, 0], surface=1.0)
        return scene

    def bind(self, batch: Batch) -> None:
        self.center, self.velocity = batch.bind("cube.center"), batch.bind("cube.velocity")
        self.left, self.right = batch.bind("left.force"), batch.bind("right.force")

    def hand(self) -> NDArray[np.float64]:
        return np.array([0.05, self.side / 2])

    def move(self, hand: NDArray[np.float64], action: NDArray[np.float64], time: float) -> NDArray[np.float64]:
        moved = hand + np.stack([-0.1 * action[:, 0], 0.3 * action[:, 1]], axis=1) * time
        return np.clip(moved, [0.034, self.side / 2], [0.09, 0.3])

    def commands(self, hand: NDArray[np.float64]) -> list[Command]:
        gap, height = hand
        return [Command.target("left", [-gap, height, 0]), Command.target("right", [gap, height, 0])]

    def observe(self, hand: NDArray[np.float64]) -> NDArray[Any]:
        forces = np.stack([self.left[:, 0], self.left[:, 1], self.right[:, 0], self.right[:, 1]], axis=1)
        return np.concatenate([10 * self.center, self.velocity, 10 * hand, forces], axis=1)

    def reward(self, hand: NDArray[np.float64], drawn: NDArray[np.float64]) -> tuple[NDArray[Any], Bools]:
        lifted = (self.center[:, 1] - self.side / 2) / self.top
        squeeze = np.abs(self.left[:, 0]) / 20
        return np.clip(lifted, 0, 1) - 0.01 * squeeze, lifted > 1


class FoldCloth(Task):
    """Two corners of a cloth are held; they are to be laid on the opposite edge. Action: velocity of the held edge."""

    actions, observations = 3, 15
    cells, side = 10, 0.3

    def scene(self) -> Scene:
        n = self.cells
        scene = Scene("fold-cloth", settings={"dt": 0.01, "substeps": 4})
        scene.fixed("floor", shape.half_space(), surface=0.6)
        scene.soft("cloth", geometry.sheet(cells=[n, n], size=[self.side, self.side]), position=[0, 0.006, 0],
                   model={"kind": "pbd_sheet", "stretch": 2000, "bend": 2e-5, "density": 0.15}, thickness=0.004,
                   damping=0.5, surface=0.6, pinned=[0, n])
        return scene

    def bind(self, batch: Batch) -> None:
        self.nodes = batch.bind("cloth.nodes")
        n = self.cells
        self.held, self.goal = [0, n], [n * (n + 1), n * (n + 1) + n]
        self.start = self.nodes[0, self.held].astype(float).copy()

    def hand(self) -> NDArray[np.float64]:
        return np.zeros(3)

    def move(self, hand: NDArray[np.float64], action: NDArray[np.float64], time: float) -> NDArray[np.float64]:
        return np.clip(hand + 0.6 * action * time, [-0.4, 0, -0.4], [0.4, 0.3, 0.4])

    def commands(self, hand: NDArray[np.float64]) -> list[Command]:
        return [Command.node_targets("cloth", self.held, self.start + hand)]

    def observe(self, hand: NDArray[np.float64]) -> NDArray[Any]:
        corners = self.nodes[:, self.held + self.goal].reshape(len(hand), 12)
        return np.concatenate([10 * corners, 10 * hand], axis=1)

    def reward(self, hand: NDArray[np.float64], drawn: NDArray[np.float64]) -> tuple[NDArray[Any], Bools]:
        apart = np.linalg.norm(self.nodes[:, self.held] - self.nodes[:, self.goal], axis=2).mean(axis=1) / self.side
        return -apart, apart < 0.1


class RetractTissue(Task):
    """A flap of tissue, held at one edge, covers a target; it is pulled away by the other edge without too much force.
    Action: velocity of the pulled edge."""

    actions, observations = 3, 10
    size = (0.08, 0.006, 0.06)

    def scene(self) -> Scene:
        x, y, z = self.size
        scene = Scene("retract-tissue", settings={"dt": 0.01, "substeps": 4})
        scene.fixed("bed", shape.half_space(), surface=0.1)
        ends = [{"min": [-1, -1, -1], "max": [-x / 2 + 1e-4, 1, 1]}, {"min": [x / 2 - 1e-4, -1, -1], "max": [1, 1, 1]}]
        scene.soft("flap", geometry.block(cells=[8, 1, 6], size=[x, y, z]),
                   {"youngs_modulus": 2e4, "poisson_ratio": 0.4, "density": 1000}, position=[0, y / 2 + 0.001, 0],
                   damping=1.0, surface=0.1, pinned_regions=ends)
        return scene

    def bind(self, batch: Batch) -> None:
        self.nodes, self.pull = batch.bind("flap.nodes"), batch.bind("flap.reaction.size")
        self.held = [int(i) for i in np.flatnonzero(self.nodes[0, :, 0] > self.size[0] / 2 - 1e-3)]
        self.start = self.nodes[0, self.held].astype(float).copy()
        grid = np.linspace(-0.01, 0.01, 5)
        self.target = np.stack(np.meshgrid(grid + 0.015, grid), axis=-1).reshape(-1, 2)

    def hand(self) -> NDArray[np.float64]:
        return np.zeros(3)

    def move(self, hand: NDArray[np.float64], action: NDArray[np.float64], time: float) -> NDArray[np.float64]:
        return np.clip(hand + 0.2 * action * time, [-0.1, 0, -0.05], [0.01, 0.08, 0.05])

    def commands(self, hand: NDArray[np.float64]) -> list[Command]:
        return [Command.node_targets("flap", self.held, self.start + hand)]

    def seen(self) -> NDArray[Any]:
        """Share of the target that no node of the flap covers, seen from above."""
        apart = self.nodes[:, None, :, ::2] - self.target[None, :, None, :]
        return (np.linalg.norm(apart, axis=3).min(axis=2) > 0.008).mean(axis=1)

    def observe(self, hand: NDArray[np.float64]) -> NDArray[Any]:
        edge = self.nodes[:, self.held].mean(axis=1)
        middle = self.nodes.mean(axis=1)
        return np.concatenate([20 * edge, 20 * middle, 20 * hand, self.seen()[:, None]], axis=1)

    def reward(self, hand: NDArray[np.float64], drawn: NDArray[np.float64]) -> tuple[NDArray[Any], Bools]:
        seen = self.seen()
        return seen - 0.05 * np.minimum(self.pull, 10), seen >= 1


class PalpateLump(Task):
    """A hard lump lies somewhere in a soft phantom; a probe presses it and is to end above the lump, which only the force
    shows. Action: velocity of the probe along the phantom and downwards."""

    actions, observations = 2, 4
    size = (0.12, 0.03, 0.04)

    def scene(self) -> Scene:
        x, y, z = self.size
        scene = Scene("palpate-lump", settings={"dt": 0.01, "substeps": 4})
        scene.parameter("lump", [0.0, y / 2, 0.0])
        bottom = [{"min": [-1, -1, -1], "max": [1, -y / 2 + 1e-4, 1]}]
        flesh = {"geometry": geometry.block(cells=[12, 3, 4], size=[x, y, z]), "position": [0, y / 2, 0], "damping": 2.0,
                 "material": {"youngs_modulus": 1e4, "poisson_ratio": 0.4, "density": 1000}, "surface": 0.1,
                 "pinned_regions": bottom, "reach": 0.004}
        lump = {"kind": "fixed", "shape": shape.ball(radius=0.009), "position": "$lump"}
        scene.combined("phantom", group=30, bones={"lump": lump}, flesh={"body": flesh})
        scene.kinematic("probe", shape.ball(radius=0.008), position=[0, y + 0.012, 0], surface=0.1)
        return scene

    def expand(self, batch: Batch, drawn: NDArray[np.float64]) -> None:
        batch.expand("parameters.lump", [[float(x), self.size[1] / 2, 0.0] for x in drawn[:, 0]])

    def bind(self, batch: Batch) -> None:
        self.force = batch.bind("probe.force")

    def hand(self) -> NDArray[np.float64]:
        return np.array([0.0, self.size[1] + 0.012])

    def move(self, hand: NDArray[np.float64], action: NDArray[np.float64], time: float) -> NDArray[np.float64]:
        reach = self.size[0] / 2 - 0.01
        moved = hand + np.stack([0.15 * action[:, 0], -0.1 * action[:, 1]], axis=1) * time
        return np.clip(moved, [-reach, self.size[1] + 0.002], [reach, self.size[1] + 0.012])

    def commands(self, hand: NDArray[np.float64]) -> list[Command]:
        return [Command.target("probe", [hand[0], hand[1], 0])]

    def observe(self, hand: NDArray[np.float64]) -> NDArray[Any]:
        return np.concatenate([20 * hand, self.force[:, :2]], axis=1)

    def draw(self, rng: np.random.Generator) -> NDArray[np.float64]:
        return rng.uniform(-0.04, 0.04, 1)

    def reward(self, hand: NDArray[np.float64], drawn: NDArray[np.float64]) -> tuple[NDArray[Any], Bools]:
        apart = np.abs(hand[:, 0] - drawn[:, 0]) / self.size[0]
        return -apart, np.zeros(len(hand), bool)


class SinewVectorEnv(VectorEnv):
    """n environments of a task on a :class:`Batch`. An environment that ended begins anew in its next step."""

    def __init__(self, task: Task, num_envs: int, threads: int = 0) -> None:
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": ["rgb_array"], "render_fps": 50}
        self.task, self.num_envs, self.render_mode = task, num_envs, "rgb_array"
        self._world = World.from_scene(task.scene())
        self._time = task.skip * self._world.dt
        self._batch = Batch(self._world, num_envs, threads)
        task.bind(self._batch)
        self.single_action_space = gymnasium.spaces.Box(-1, 1, (task.actions,), np.float32)
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (task.observations,), np.float32)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._rng = np.random.default_rng()
        self._steps = np.zeros(num_envs, int)
        self._ended = np.zeros(num_envs, bool)
        self._hand = np.tile(task.hand(), (num_envs, 1))
        self._drawn = np.stack([task.draw(self._rng) for _ in range(num_envs)])

    def reset(self, *, seed: int | list[int] | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed if isinstance(seed, int) else None)
        seeds = seed if isinstance(seed, list) else [None if seed is None else seed + i for i in range(self.num_envs)]
        if len(seeds) != self.num_envs:
            raise ValueError(f"{len(seeds)} seeds for {self.num_envs} environments")
        rngs = [self._rng if s is None else np.random.default_rng(s) for s in seeds]
        if isinstance(seed, int):
            self._rng = np.random.default_rng(seed)
        self._drawn = np.stack([self.task.draw(rng) for rng in rngs])
        self.task.expand(self._batch, self._drawn)
        self._batch.reset()
        self._steps[:], self._ended[:] = 0, False
        self._hand[:] = self.task.hand()
        self._run(np.zeros((self.num_envs, self.task.actions)))
        return self._observe(), {}

    def _run(self, actions: NDArray[np.float64]) -> None:
        """The steps of the engine in a step of the environment. An episode begins with one of them with hands that rest:
        forces are those of a step."""
        for _ in range(self.task.skip):
            self._hand = self.task.move(self._hand, actions, self._time / self.task.skip)
            self._batch.step(1, [self.task.commands(hand) for hand in self._hand])

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        actions = np.clip(np.asarray(actions, float).reshape(self.num_envs, self.task.actions), -1, 1)
        if not np.isfinite(actions).all():
            raise ValueError("actions must be finite")
        fresh = self._ended.copy()
        if fresh.any():
            self._batch.reset(fresh)
            self._hand[fresh], self._steps[fresh] = self.task.hand(), 0
        # a world that begins anew ignores the action of the episode before
        self._run(np.where(fresh[:, None], 0, actions))
        observation = self._observe()
        reward, terminated = self.task.reward(self._hand, self._drawn)
        reward = np.where(fresh, 0.0, reward)
        terminated = np.asarray(terminated, bool) & ~fresh
        self._steps += ~fresh
        # a body that was frozen ends the episode: its world is not to be learned from
        frozen = np.zeros(self.num_envs, bool)
        frozen[self._batch.frozen] = True
        truncated = ((self._steps >= self.task.length) | frozen) & ~fresh
        self._ended = terminated | truncated
        return observation, reward, terminated, truncated, {}

    def _observe(self) -> Floats:
        return self.task.observe(self._hand).astype(np.float32)

    def render(self) -> Any:
        """Pictures of all worlds."""
        return tuple(self._batch.world(i).render(320, 240, samples=1) for i in range(self.num_envs))

    @property
    def hashes(self) -> list[str]:
        """Hashes of the worlds."""
        return self._batch.hashes


class SinewEnv(gymnasium.Env):
    """One environment of a task."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}

    def __init__(self, task: Task, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self._one = SinewVectorEnv(task, 1, 1)
        self.action_space = self._one.single_action_space
        self.observation_space = self._one.single_observation_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        observation, info = self._one.reset(seed=int(self.np_random.integers(2**31)))
        return observation[0], info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self._one.step(np.asarray(action)[None])
        return observation[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), info

    def render(self) -> Any:
        return self._one.render()[0] if self.render_mode == "rgb_array" else None

    @property
    def hash(self) -> str:
        """Hash of the world."""
        return self._one.hashes[0]
