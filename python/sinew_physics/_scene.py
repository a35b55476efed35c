"""Scenes from Python: the tables of a scene file, with functions for the usual ones.

A table is a dict; all keys of ``docs/scene-files.md`` are keywords here, and the engine checks them with the messages of
scene files. Nothing is known here that the engine does not know.
"""

from __future__ import annotations

from typing import Any, Sequence

from ._sinew import World

Table = dict[str, Any]
Vector = Sequence[float]


class _Kinds:
    """Tables with ``kind``: ``shape.ball(radius=0.1)`` is ``{"kind": "ball", "radius": 0.1}``."""

    def __init__(self, about: str) -> None:
        self.__doc__ = about

    def __getattr__(self, kind: str) -> Any:
        if kind.startswith("_"):
            raise AttributeError(kind)

        def table(**keys: Any) -> Table:
            return {"kind": kind, **keys}

        table.__name__ = kind
        table.__doc__ = f"The table of kind '{kind}', with these keys."
        return table


shape = _Kinds("Shapes of rigid bodies: ball(radius), box(half_extents), capsule(half_height, radius), half_space(), ..")
geometry = _Kinds("Geometries of soft bodies: block(cells, size), ball(radius, cells), sheet(cells, size), rope(..), ..")
law = _Kinds("Friction laws: coulomb(), stribeck(..), karnopp(..), dahl(..), lugre(..), ..")


class Scene:
    """A scene that is put together table by table.

    >>> from sinew_physics import Scene, geometry, shape
    >>> scene = Scene(settings={"substeps": 4})
    >>> scene.fixed("floor", shape.half_space())
    >>> scene.dynamic("brick", shape.box(half_extents=[0.1, 0.05, 0.05]), position=[0, 1, 0], mass=2)
    >>> scene.soft("jelly", geometry.block(cells=[4, 4, 4], size=[0.2, 0.2, 0.2]), "jelly", position=[1, 0.3, 0])
    >>> world = scene.build()
    >>> world.step(120)
    >>> round(float(world.bodies["brick"].position[1]), 3)
    0.05
    """

    def __init__(self, name: str = "", *, settings: Table | None = None, **head: Any) -> None:
        self._tables: Table = dict(head)
        if name:
            self._tables["name"] = name
        if settings:
            self._tables["settings"] = dict(settings)

    def _add(self, table: str, name: str, keys: Table) -> None:
        entries = self._tables.setdefault(table, {})
        if name in entries:
            raise ValueError(f"{table}.{name} is there already: give each its own name")
        entries[name] = {key: value for key, value in keys.items() if value is not None}

    def body(self, name: str, **keys: Any) -> None:
        """A body: the table ``[bodies.NAME]``."""
        self._add("bodies", name, keys)

    def fixed(self, name: str, shape: Table | str | None = None, **keys: Any) -> None:
        """A rigid body that does not move."""
        self.body(name, kind="fixed", shape=shape, **keys)

    def kinematic(self, name: str, shape: Table | str | None = None, **keys: Any) -> None:
        """A rigid body that goes where commands and motions say."""
        self.body(name, kind="kinematic", shape=shape, **keys)

    def dynamic(self, name: str, shape: Table | str | None = None, **keys: Any) -> None:
        """A rigid body that forces move."""
        self.body(name, kind="dynamic", shape=shape, **keys)

    def soft(self, name: str, geometry: Table, material: Table | str | None = None, **keys: Any) -> None:
        """A deformable body: ``model``, ``pinned``, ``pinned_regions``, ``loads``, ``surface``, .. are keys."""
        self.body(name, kind="soft", geometry=geometry, material=material, **keys)

    def particles(self, name: str, **keys: Any) -> None:
        """Bare particles."""
        self.body(name, kind="particles", **keys)

    def combined(self, name: str, **keys: Any) -> None:
        """Bones in tissue: the table ``[combined.NAME]``."""
        self._add("combined", name, keys)

    def joint(self, name: str, kind: str, **keys: Any) -> None:
        """A joint or another constraint: ``hinge``, ``slider``, ``ball``, ``fixed``, ``rod``, ``rope``, ``spring``,
        ``attach``, ``seam``, ``distance_set``, ``bending``, ``volume``, ``patch``."""
        self._add("joints", name, {"kind": kind, **keys})

    def motion(self, name: str, kind: str, **keys: Any) -> None:
        """A scripted motion: ``target``, ``force``, ``impulse``, ``motor``, ``nodes``, ``spin``."""
        self._add("motions", name, {"kind": kind, **keys})

    def parameter(self, name: str, value: Any, low: float | None = None, high: float | None = None) -> None:
        """A named value: tables refer to it as ``"$name"``."""
        self._add("parameters", name, {"value": value, "low": low, "high": high})

    def camera(self, eye: Vector, target: Vector, field_of_view: float | None = None) -> None:
        """Where pictures are taken from."""
        keys = {"eye": eye, "target": target, "field_of_view": field_of_view}
        self._tables["camera"] = {key: value for key, value in keys.items() if value is not None}

    def to_dict(self) -> Table:
        """All tables, as in a scene file in JSON."""
        return self._tables

    def build(self, **parameters: Any) -> World:
        """The world of this scene; ``parameters`` change its named values."""
        return World.from_scene(self, **parameters)
