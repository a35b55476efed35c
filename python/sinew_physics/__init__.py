"""Sinew: interactive physics of coupled rigid and deformable bodies.

>>> from sinew_physics import World
>>> world = World.from_scene("stack")
>>> world.step(60)
>>> world.tick
60

Lengths are metres, masses kilograms, times seconds; y is up. Arrays are float32, as in the engine.
"""

from ._scene import Scene, geometry, law, shape
from ._sinew import (
    Batch,
    Bodies,
    Body,
    BusyError,
    Command,
    SaveError,
    SceneError,
    SinewError,
    StaleError,
    View,
    World,
    __version__,
    replay,
    scenes,
    sweep,
)

__all__ = [
    "Batch",
    "Bodies",
    "Body",
    "BusyError",
    "Command",
    "SaveError",
    "Scene",
    "SceneError",
    "SinewError",
    "StaleError",
    "View",
    "World",
    "__version__",
    "geometry",
    "law",
    "replay",
    "scenes",
    "shape",
    "sweep",
]
