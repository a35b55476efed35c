"""Learns to lift a soft cube by the cross-entropy method: an open-loop policy of a few numbers, a batch for each generation.

    python cem.py [generations]
"""

import sys

import numpy as np

from sinew_physics.gym import LiftSoftCube, SinewVectorEnv

#: Times at which the actions of a policy may change, as shares of an episode.
KNOTS = 4


def play(env: SinewVectorEnv, policies: np.ndarray, length: int) -> np.ndarray:
    """Mean reward of an episode of each policy (n, KNOTS, 2)."""
    env.reset(seed=0)
    total, alive = np.zeros(len(policies)), np.ones(len(policies), bool)
    for step in range(length):
        _, reward, terminated, truncated, _ = env.step(policies[:, step * KNOTS // length])
        total += reward * alive
        # the rest of an episode that is done is as good as its end
        total += (length - step - 1) * (alive & terminated)
        alive &= ~(terminated | truncated)
    return total / length


def learn(generations: int, population: int = 24, elite: int = 6, length: int = 60, threads: int = 0) -> list[float]:
    """Mean reward of each generation's elite."""
    task = LiftSoftCube()
    task.length = length
    env = SinewVectorEnv(task, population, threads)
    rng = np.random.default_rng(1)
    mean, spread = np.zeros((KNOTS, 2)), np.ones((KNOTS, 2))
    best = []
    for generation in range(generations):
        policies = np.clip(rng.normal(mean, spread, (population, KNOTS, 2)), -1, 1)
        rewards = play(env, policies, length)
        order = np.argsort(-rewards, kind="stable")[:elite]
        mean, spread = policies[order].mean(axis=0), policies[order].std(axis=0) + 0.05
        best.append(float(rewards[order].mean()))
        print(f"generation {generation}: elite {best[-1]:.3f}, all {rewards.mean():.3f}")
    return best


if __name__ == "__main__":
    learn(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
