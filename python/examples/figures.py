"""Prints the overhead of a step and of reading, and the time of a batch on 1 and 2 threads. Run it on an idle machine."""

import time

import numpy as np

from sinew_physics import Batch, Scene, World, geometry


def least(call, repeats: int = 2000) -> float:
    """Shortest time of a call [µs]."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return 1e6 * best


empty = World()
print(f"step of an empty world        {least(empty.step):8.2f} µs, in one call of 1000: {least(lambda: empty.step(1000), 20) / 1000:.2f} µs each")
scene = Scene()
scene.soft("cloud", geometry.block(cells=[24, 24, 23], size=[1, 1, 1]), "jelly")
body = scene.build().bodies["cloud"]
out, view = np.empty_like(body.nodes), body.view()
print(f"{len(out)} positions: new array {least(lambda: body.nodes):8.2f} µs, filled {least(lambda: body.fill(out)):.2f} µs, view {least(lambda: view.array):.2f} µs")
world = World.from_scene("press")
world.step(30)
for threads in (1, 2):
    batch = Batch(world, 64, threads)
    start = time.perf_counter()
    batch.step(60)
    print(f"batch of 64, 60 steps, {threads} threads: {time.perf_counter() - start:.2f} s")
