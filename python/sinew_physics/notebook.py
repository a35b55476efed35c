"""The viewer's page in a notebook: the `sinew` command serves it, an IFrame shows it."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import tempfile
from typing import Any

from ._sinew import SinewError, World


def show(scene: Any, *, command: str = "sinew", width: str = "100%", height: int = 500) -> Any:
    """Opens a scene (a built-in name, a path, or a :class:`World` as it is now) in a frame of the notebook.

    Needs IPython and the `sinew` command, built with npm. The server listens on this machine only and ends with Python.
    """
    from IPython.display import IFrame

    url = serve(scene, command=command)
    return IFrame(url, width=width, height=height)


def serve(scene: Any, *, command: str = "sinew") -> str:
    """Starts the viewer's server and gives its address."""
    program = shutil.which(command)
    if program is None:
        raise SinewError(f"the command '{command}' is not there: build it by `cargo build --release` and put it into PATH")
    if isinstance(scene, World):
        folder = tempfile.mkdtemp(prefix="sinew-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        path = os.path.join(folder, "world.json")
        with open(path, "w") as file:
            file.write(scene.to_scene("json"))
        scene = path
    server = subprocess.Popen([program, "view", "--port", "0", os.fspath(scene)], stdout=subprocess.PIPE, text=True)
    atexit.register(server.terminate)
    assert server.stdout is not None
    for line in server.stdout:
        if found := re.search(r"http://\S+", line):
            return found.group().rstrip(";")
    raise SinewError(f"`{command} view` ended without an address (exit code {server.wait()})")
