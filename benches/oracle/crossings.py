"""Searches for intersecting surfaces in frames of worlds: an oracle that is independent of the engine.

    python3 -m venv venv && venv/bin/pip install ipctk
    cargo run --release -p sinew-scene --example crossings -- shots 1000 | venv/bin/python benches/oracle/crossings.py

Reads frames from stdin (format: crates/sinew-scene/examples/crossings.rs), calls ipctk.has_intersections for each, and
prints how many frames have intersections. Pairs of bodies that are both fixed, kinematic or frozen are left out,
because no constraint can separate them; so are the parts of one rigid body, and pairs that a joint or their groups
allow to overlap. Exit code 1 when a frame has intersections.
"""

import sys

import ipctk
import numpy


def frames(stream):
    while line := stream.readline():
        name, counts = line.decode().rstrip("\n").split("\t")
        vertices, edges, triangles, pairs = map(int, counts.split())

        def take(count, kind, columns):
            data = stream.read(count * columns * numpy.dtype(kind).itemsize)
            return numpy.frombuffer(data, kind).reshape(count, columns)

        x = take(vertices, "<f8", 3)
        owner = take(vertices, "<u4", 2)
        yield name, x, owner, take(edges, "<u4", 2), take(triangles, "<u4", 3), take(pairs, "<u4", 2)


def crosses(x, owner, edges, triangles, pairs):
    x = numpy.asfortranarray(x)
    mesh = ipctk.CollisionMesh(x, edges.astype(numpy.int32), triangles.astype(numpy.int32))
    body, kind = owner[:, 0].tolist(), owner[:, 1].tolist()
    if any(kind):
        held = [k & 1 for k in kind]
        # shapes of a rigid body may overlap; soft surfaces may not intersect themselves
        part = [b if k & 2 else -1 - i for i, (b, k) in enumerate(zip(body, kind))]
        apart = {(a, b) for a, b in pairs.tolist()} | {(b, a) for a, b in pairs.tolist()}

        def can_collide(i, j):
            return not (held[i] and held[j] or part[i] == part[j] or (body[i], body[j]) in apart)

        mesh.can_collide = can_collide
    return ipctk.has_intersections(mesh, x)


def main():
    ipctk.set_logger_level(ipctk.LoggerLevel.error)
    # with more threads, the others would wait for can_collide, which waits for the interpreter lock of this thread
    ipctk.set_num_threads(1)
    seen, bad = 0, []
    for name, *frame in frames(sys.stdin.buffer):
        seen += 1
        if crosses(*frame):
            bad.append(name)
            print(f"crosses: {name}", flush=True)
    print(f"{seen} frames, {len(bad)} with crossings (ipctk {ipctk.__version__})")
    return 1 if bad or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
