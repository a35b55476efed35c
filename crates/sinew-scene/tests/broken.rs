//! Broken scene files, each with the exact message it gives.

use sinew_scene::file::{Syntax, read_text, read_text_with};
use std::time::{Duration, Instant};

/// A text and all its faults.
type Case = (&'static str, &'static [&'static str]);

const CASES: &[Case] = &[
    (
        "a = \n[b\n",
        &[
            "s.toml:1:5: expected a value: a number, text in quotes, true, false, a list or a table",
            "s.toml:2:3: expected ']' behind the name of the table",
        ],
    ),
    ("seconds =\n", &["s.toml:1:10: expected a value: a number, text in quotes, true, false, a list or a table"]),
    ("seconds = 1\nseconds = 2\n", &["s.toml:2:1: 'seconds' is here twice"]),
    ("[bodies.a]\nkind = fixed\n", &["s.toml:2:8: this word needs quotes: text stands in quotes"]),
    ("[bodies.a]\n[bodies.a]\n", &["s.toml:2:9: 'a' is here twice: this table is there already"]),
    ("seconds = 1\nseconds.a = 2\n", &["s.toml:2:1: 'seconds' has a value already"]),
    (
        "[bodies.a]\nposition = [1,\n 2 3,\n]\nname = 'a\n[bodies.b]\nmass = 1 2\n",
        &[
            "s.toml:3:4: expected ',' or ']'",
            "s.toml:5:8: a line ends within this text",
            "s.toml:7:10: expected the end of the line",
        ],
    ),
    ("seconds = 2020-01-01\n", &["s.toml:1:11: dates have no meaning in a scene"]),
    ("seconds = 99999999999999999999\n", &["s.toml:1:11: this whole number does not fit in 64 bits"]),
    ("second = 5\n", &["s.toml:1:1: second: unknown key 'second'; did you mean 'seconds'?"]),
    (
        "zzzzzzzzzz = 5\n",
        &[
            "s.toml:1:1: zzzzzzzzzz: unknown key 'zzzzzzzzzz'; known: bodies, combined, joints, tools, motions, name, about, figure, seconds, settings, camera, state",
        ],
    ),
    ("seconds = 'five'\n", &["s.toml:1:11: seconds: expected a number from 0.000001 to 1000000000, found 'five'"]),
    ("seconds = -1\n", &["s.toml:1:11: seconds: expected a number from 0.000001 to 1000000000, found -1"]),
    ("[settings]\nsubstep = 8\n", &["s.toml:2:1: settings.substep: unknown key 'substep'; did you mean 'substeps'?"]),
    (
        "[settings]\nsubsteps = 0\n",
        &["s.toml:2:12: settings.substeps: expected a whole number from 1 to 1000, found 0"],
    ),
    (
        "[settings]\nsweeps = 2.5\n",
        &["s.toml:2:10: settings.sweeps: expected a whole number from 1 to 10000, found 2.5"],
    ),
    ("[settings]\ndt = 0\n", &["s.toml:2:6: settings.dt: expected a number from 0.000000001 to 10, found 0"]),
    (
        "[settings]\ngravity = [0, -9.81]\n",
        &[
            "s.toml:2:11: settings.gravity: expected a list of 3, each a number from -100000 to 100000, found a list of 2",
        ],
    ),
    (
        "[settings]\ngravity = [0, 'down', 0]\n",
        &["s.toml:2:15: settings.gravity[1]: expected a number from -100000 to 100000, found 'down'"],
    ),
    (
        "[settings]\ngravity = [0, nan, 0]\n",
        &["s.toml:2:15: settings.gravity[1]: expected a number from -100000 to 100000, found NaN"],
    ),
    ("[settings]\nlanes = 'yes'\n", &["s.toml:2:9: settings.lanes: expected true or false, found 'yes'"]),
    (
        "[settings]\ncontact = { kind = 'sofd' }\n",
        &["s.toml:2:20: settings.contact.kind: unknown word 'sofd'; did you mean 'soft'?"],
    ),
    (
        "[settings]\njoint = { kind = 'baumgarte' }\n",
        &["s.toml:2:9: settings.joint: missing key 'share': expected a number from 0 to 1"],
    ),
    (
        "[bodies.ball]\nmass = 1\n",
        &[
            "s.toml:1:1: bodies.ball: missing key 'kind': expected one of 'dynamic', 'kinematic', 'fixed', 'particles', 'soft'",
        ],
    ),
    (
        "[bodies.ball]\nkind = 'dynamc'\n",
        &["s.toml:2:8: bodies.ball.kind: unknown word 'dynamc'; did you mean 'dynamic'?"],
    ),
    ("bodies = 3\n", &["s.toml:1:10: bodies: expected a table of names, found 3"]),
    ("[bodies]\nball = 3\n", &["s.toml:2:8: bodies.ball: expected a body (a table), found 3"]),
    (
        "[bodies.ball]\nkind = 'dynamic'\nshape = { kind = 'sphere', radius = 1 }\n",
        &[
            "s.toml:3:18: bodies.ball.shape.kind: unknown word 'sphere'; known: ball, box, capsule, cylinder, cone, half_space, hull, mesh_hull, compound, mesh, height_field, voxels, mesh_voxels, sdf",
        ],
    ),
    (
        "[bodies.ball]\nkind = 'dynamic'\nshape = 'ball'\n",
        &["s.toml:3:9: bodies.ball.shape: missing key 'radius': expected a number above 0"],
    ),
    (
        "[bodies.ball]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = -1 }\n",
        &["s.toml:3:35: bodies.ball.shape.radius: expected a number above 0, found -1"],
    ),
    (
        "[bodies.ball]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 1 }\nmass = 0\n",
        &["s.toml:4:8: bodies.ball.mass: expected a number above 0, found 0"],
    ),
    (
        "[bodies.ball]\nkind = 'dynamic'\n",
        &[
            "s.toml:1:1: bodies.ball: rigid body 'ball': a dynamic body needs a mass above 0: give .mass(kg), or a solid shape with a density",
        ],
    ),
    (
        "[bodies.ball]\nkind = 'fixed'\nshape = 'half_space'\nsurface = { friction = 0.2, kinetic_friction = 0.5 }\n",
        &["s.toml:4:48: bodies.ball.surface.kinetic_friction: expected at most the static coefficient"],
    ),
    (
        "[bodies.ball]\nkind = 'fixed'\nshape = 'half_space'\nsurface = { law = { kind = 'dahl', stiffness = -1 } }\n",
        &["s.toml:4:48: bodies.ball.surface.law.stiffness: expected a number above 0, found -1"],
    ),
    (
        "[bodies.ball]\nkind = 'fixed'\nshape = 'half_space'\nsurface = { law = { kind = 'lugre', curve = { speed = 0 } } }\n",
        &["s.toml:4:55: bodies.ball.surface.law.curve.speed: expected a number above 0, found 0"],
    ),
    (
        "[bodies.ball]\nkind = 'fixed'\nshape = 'half_space'\nsurface = { law = 'lugres' }\n",
        &["s.toml:4:19: bodies.ball.surface.law: unknown word 'lugres'; did you mean 'lugre'?"],
    ),
    (
        "[bodies.ball]\nkind = 'fixed'\nshape = 'half_space'\nsurface = { grain = { direction = [0, 0, 0], across = 2 } }\n",
        &["s.toml:4:21: bodies.ball.surface.grain: expected a direction that is not zero"],
    ),
    (
        "[settings.pairs]\ntable = [{ families = [1, 0], surface = 0.1 }]\n",
        &["s.toml:2:27: settings.pairs.table[0].families[1]: expected a whole number from 1 to 4294967295, found 0"],
    ),
    (
        "[bodies.ball]\nkind = 'fixed'\nshape = 'half_space'\nsurface = { restitution = 2 }\n",
        &["s.toml:4:27: bodies.ball.surface.restitution: expected a number from 0 to 1, found 2"],
    ),
    (
        "[bodies.ball]\nkind = 'fixed'\nshape = 'half_space'\nrotation = [1, 1, 1, 1]\n",
        &["s.toml:4:12: bodies.ball.rotation: expected a quaternion [x, y, z, w] of length 1, its length is 2.0000"],
    ),
    (
        "[bodies.ball]\nkind = 'fixed'\nshape = 'half_space'\nrotation = { axis = [0, 0, 0], degrees = 3 }\n",
        &["s.toml:4:21: bodies.ball.rotation.axis: this axis has no direction"],
    ),
    (
        "[bodies.ball]\nkind = 'fixed'\nshape = 'half_space'\nrotation = { axis = [0, 1, 0] }\n",
        &["s.toml:4:21: bodies.ball.rotation.axis: a turn takes either 'degrees' or 'radians'"],
    ),
    (
        "[bodies.j]\nkind = 'soft'\ngeometry = { kind = 'block', cells = [1, 1, 1], size = [1, 1, 1] }\nmaterial = 'jely'\n",
        &["s.toml:4:12: bodies.j.material: unknown material 'jely'; did you mean 'jelly'?"],
    ),
    (
        "[bodies.j]\nkind = 'soft'\ngeometry = { kind = 'block', cells = [1, 1, 1], size = [1, 1, 1] }\nmaterial = { preset = 'jelly', youngs_modulus = 'soft' }\n",
        &["s.toml:4:49: bodies.j.material.youngs_modulus: expected a number above 0, found 'soft'"],
    ),
    (
        "[bodies.j]\nkind = 'soft'\ngeometry = { kind = 'block', cells = [1, 1, 1], size = [1, 1, 1] }\nmaterial = { preset = 'jelly', poisson_ratio = 0.5 }\n",
        &["s.toml:4:48: bodies.j.material.poisson_ratio: expected a number from 0 to below 0.5, found 0.5"],
    ),
    (
        "[bodies.j]\nkind = 'soft'\nmaterial = 'jelly'\n",
        &["s.toml:1:1: bodies.j: missing key 'geometry': expected a geometry (a table)"],
    ),
    (
        "[bodies.j]\nkind = 'soft'\ngeometry = { kind = 'sheet', cells = [2, 2], size = [1, 1] }\nmaterial = 'jelly'\n",
        &["s.toml:1:1: bodies.j: soft body 'j': the model 'corotational' takes tetrahedra, not a sheet of triangles"],
    ),
    (
        "[bodies.j]\nkind = 'soft'\ngeometry = { kind = 'block', cells = [1, 1, 1], size = [1, 1, 1] }\nmodel = { kind = 'solid', law = 'neohookean' }\n",
        &["s.toml:4:33: bodies.j.model.law: unknown word 'neohookean'; did you mean 'neo_hookean'?"],
    ),
    (
        "[bodies.j]\nkind = 'soft'\ngeometry = { kind = 'block', cells = [1000, 1000, 1000], size = [1, 1, 1] }\n",
        &[
            "s.toml:3:12: bodies.j.geometry: this block would have about 1.0e9 nodes, at most 500000 are allowed: fewer cells",
        ],
    ),
    (
        "[bodies.j]\nkind = 'soft'\ngeometry = { kind = 'ball', radius = 1, cells = 4000000000 }\n",
        &["s.toml:3:49: bodies.j.geometry.cells: expected a whole number from 1 to 1000, found 4000000000"],
    ),
    (
        "[bodies.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 1 }\nrepeat = { count = [10000, 10000, 10000], step = [1, 1, 1] }\n",
        &["s.toml:1:1: bodies.b: a scene has at most 100000 bodies"],
    ),
    (
        "[bodies.j]\nkind = 'soft'\ngeometry = { kind = 'tets', vertices = [[0,0,0],[1,0,0],[0,1,0],[0,0,6]], tets = [[0, 2, 1, 3]] }\nmaterial = 'jelly'\n",
        &["s.toml:3:12: bodies.j.geometry: tetrahedron 0: volume -1e0 m³ is not positive; run 'sinew mesh repair'"],
    ),
    (
        "[bodies.j]\nkind = 'soft'\ngeometry = { kind = 'file', file = 'nowhere.obj' }\n",
        &["s.toml:3:12: bodies.j.geometry: 'nowhere.obj' does not exist"],
    ),
    (
        "[bodies.j]\nkind = 'soft'\ngeometry = { kind = 'block', cells = [1, 1, 1], size = [1, 1, 1] }\nmaterial = 'jelly'\npinned = [99]\n",
        &["s.toml:1:1: bodies.j: soft body 'j': pinned node 99 does not exist, there are 8"],
    ),
    (
        "[bodies.ball]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 1 }\n[joints.h]\nkind = 'hinge'\nb = 'bal'\n",
        &["s.toml:6:5: joints.h.b: unknown body 'bal'; did you mean 'ball'?"],
    ),
    (
        "[joints.h]\nkind = 'hinge'\n",
        &["s.toml:1:1: joints.h: hinge: both sides are the world: name at least one body"],
    ),
    (
        "[bodies.ball]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 1 }\n[joints.h]\nkind = 'hinge'\nb = 'ball'\nlimits = [1, -1]\n",
        &["s.toml:4:1: joints.h: joint.limits.low is 1, but must be at most the upper limit"],
    ),
    (
        "[bodies.ball]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 1 }\n[joints.h]\nkind = 'ball'\nb = 'ball'\nmotor = { kind = 'velocity', target = 1 }\n",
        &[
            "s.toml:7:1: joints.h.motor: unknown key 'motor'; known: kind, a, b, anchor, axis, frames, break_force, collide, stabilization",
        ],
    ),
    (
        "[bodies.p]\nkind = 'particles'\npositions = [[0, 0, 0]]\n[joints.r]\nkind = 'rod'\na = { kind = 'world', point = [0, 1, 0] }\nb = { kind = 'node', body = 'p', node = 7 }\nlength = 1\n",
        &["s.toml:4:1: joints.r: site: node 7 does not exist, the body has 1"],
    ),
    (
        "[parameters]\nsize = 1\n[bodies.ball]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = '$sise' }\n",
        &["s.toml:5:35: bodies.ball.shape.radius: unknown parameter 'sise'; did you mean 'size'?"],
    ),
    (
        "[parameters]\nsize = 'big'\n[bodies.ball]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = '$size' }\n",
        &["s.toml:5:35: bodies.ball.shape.radius: expected a number above 0, found 'big'"],
    ),
    ("include = ['nowhere.toml']\n", &["s.toml:1:12: include: 'nowhere.toml' does not exist"]),
    ("include = 'base.toml'\n", &["s.toml:1:11: include: expected a list of file names, found 'base.toml'"]),
    (
        "[bodies.ball]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 1 }\n[motions.m]\nkind = 'target'\nbody = 'ball'\nkeys = [{ time = 0, position = [0, 0, 0] }]\n",
        &["s.toml:6:8: motions.m.body: 'ball' is not a kinematic body"],
    ),
    (
        "[bodies.ball]\nkind = 'kinematic'\nshape = { kind = 'ball', radius = 1 }\n[motions.m]\nkind = 'target'\nbody = 'ball'\nkeys = [{ time = 1, position = [0, 0, 0] }, { time = 1, position = [1, 0, 0] }]\n",
        &["s.toml:4:1: motions.m: the time of key 1 is 1, but must be after 1"],
    ),
    (
        "seconds = 'x'\n[settings]\nsubstep = 3\n[bodies.ball]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0 }\nmas = 3\n",
        &[
            "s.toml:1:11: seconds: expected a number from 0.000001 to 1000000000, found 'x'",
            "s.toml:3:1: settings.substep: unknown key 'substep'; did you mean 'substeps'?",
            "s.toml:6:35: bodies.ball.shape.radius: expected a number above 0, found 0",
            "s.toml:7:1: bodies.ball.mas: unknown key 'mas'; did you mean 'mass'?",
        ],
    ),
];

/// Bones in tissue, oriented particles, friction laws and pairs.
const NEWER: &[Case] = &[
    ("[combined.f]\ngroup = 3\n", &["s.toml:1:1: combined.f: missing key 'bones': expected a table of names"]),
    (
        "[combined.f.bones]\n",
        &["s.toml:1:11: combined.f: combined body 'f': it has no bones: add one, or use a soft body"],
    ),
    ("[combined.f]\nbones = 3\n", &["s.toml:2:9: combined.f.bones: expected a table of names, found 3"]),
    (
        "[combined.f]\ngroup = 32\n[combined.f.bones.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.01 }\n",
        &["s.toml:2:9: combined.f.group: expected a whole number from 0 to 31, found 32"],
    ),
    (
        "[combined.f.bones.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.01 }\ntissue = { spacing = 0.01 }\n",
        &["s.toml:4:10: combined.f.bones.b.tissue: missing key 'thickness': expected a number above 0"],
    ),
    (
        "[combined.f.bones.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.01 }\ntissue = { spacing = 0.01, thickness = 0 }\n",
        &["s.toml:4:40: combined.f.bones.b.tissue.thickness: expected a number above 0, found 0"],
    ),
    (
        "[combined.f.bones.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.01 }\ntissue = { spacing = 0.01, thickness = 0.01, cell = 2 }\n",
        &["s.toml:4:46: combined.f.bones.b.tissue.cell: unknown key 'cell'; did you mean 'cells'?"],
    ),
    (
        "[combined.f.bones.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.01 }\ntissue = { spacing = 0.01, thickness = 0.01, facing = [0, 0, 0] }\n",
        &["s.toml:1:11: combined.f: combined body 'f'.bones[0].tissue.facing: [0, 0, 0]: it has no direction"],
    ),
    (
        "[combined.f.bones.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.01 }\ntissue = { spacing = 0.01, thickness = 0.01, model = 'pbd_solid' }\n",
        &[
            "s.toml:4:54: combined.f.bones.b.tissue.model: unknown word 'pbd_solid'; known: corotational, solid, springs, oriented",
        ],
    ),
    (
        "[combined.f.bones.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.01 }\ntissue = { spacing = 0.01, thickness = 0.01, model = { kind = 'oriented', group_size = 0 } }\n",
        &["s.toml:4:88: combined.f.bones.b.tissue.model.group_size: expected a whole number from 1 to 100, found 0"],
    ),
    (
        "[combined.f.bones.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.01 }\nrepeat = { count = [2, 1, 1], step = [1, 0, 0] }\n",
        &["s.toml:4:10: combined.f.bones.b.repeat: bones have no copies: each has a table"],
    ),
    (
        "[combined.f.bones.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.01 }\n[combined.f.flesh.x]\ngeometry = { kind = 'block', cells = [1, 1, 1], size = [1, 1, 1] }\nmaterial = 'jelly'\n",
        &["s.toml:4:1: combined.f.flesh.x: missing key 'reach': expected a number of at least 0"],
    ),
    (
        "[combined.f.bones.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.01 }\n[combined.f.flesh.x]\ngeometry = { kind = 'block', cells = [1, 1, 1], size = [1, 1, 1] }\nmaterial = 'jelly'\nreach = 0.1\n",
        &[
            "s.toml:1:11: combined.f: combined body 'f': flesh[0]: none of its nodes lies within 0.1 m of a bone; widen the reach",
        ],
    ),
    (
        "[combined.f.bones.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.01 }\n[joints.h]\nkind = 'hinge'\nb = 'f c'\n",
        &["s.toml:6:5: joints.h.b: unknown body 'f c'; did you mean 'f b'?"],
    ),
    (
        "[bodies.'f b']\nkind = 'fixed'\n[combined.f.bones.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.01 }\n",
        &["s.toml:3:11: combined.f: there is a body 'f b' already: rename the bone"],
    ),
    (
        "[combined.f.bones.b]\nkind = 'soft'\n",
        &["s.toml:2:8: combined.f.bones.b.kind: unknown word 'soft'; known: dynamic, kinematic, fixed"],
    ),
    (
        "[combined.f.bones.b]\nkind = 'fixed'\nshape = 'half_space'\ntissue = { spacing = 0.01, thickness = 0.01 }\n",
        &[
            "s.toml:1:11: combined.f: combined body 'f'.bones[0].colliders[0]: a half-space has no end: no tissue goes around it",
        ],
    ),
    (
        "[bodies.c]\nkind = 'soft'\ngeometry = { kind = 'rope', from = [0, 0, 0], to = [1, 0, 0], segments = 4 }\nmodel = { kind = 'oriented', radii = [0.1, 0, 0.1] }\n",
        &["s.toml:4:44: bodies.c.model.radii[1]: expected a number above 0, found 0"],
    ),
    (
        "[bodies.c]\nkind = 'soft'\ngeometry = { kind = 'rope', from = [0, 0, 0], to = [1, 0, 0], segments = 4 }\nmodel = { kind = 'oriented', group = 'link' }\n",
        &["s.toml:4:38: bodies.c.model.group: unknown word 'link'; did you mean 'links'?"],
    ),
    (
        "[bodies.c]\nkind = 'soft'\ngeometry = { kind = 'rope', from = [0, 0, 0], to = [1, 0, 0], segments = 4 }\nmodel = { kind = 'oriented', frequency = -1 }\n",
        &["s.toml:4:42: bodies.c.model.frequency: expected a number above 0, found -1"],
    ),
    (
        "[bodies.c]\nkind = 'soft'\ngeometry = { kind = 'rope', from = [0, 0, 0], to = [1, 0, 0], segments = 4 }\nmodel = { kind = 'oriented', group = { kind = 'explicit', groups = [{ nodes = [0, 9] }] } }\n",
        &["s.toml:1:1: bodies.c: soft body 'c': groups[0]: node 9 does not exist (the body has 5)"],
    ),
    (
        "[bodies.c]\nkind = 'soft'\ngeometry = { kind = 'rope', from = [0, 0, 0], to = [1, 0, 0], segments = 4 }\nmodel = { kind = 'pbd_cord', stretch = 100, density = 0.1 }\n[motions.m]\nkind = 'spin'\nbody = 'c'\nnode = 0\nkeys = [{ time = 0, spin = [1, 0, 0] }]\n",
        &["s.toml:7:8: motions.m.body: 'c' has no oriented particle 0"],
    ),
    (
        "[settings.pairs]\nfriction = 'mimimum'\n",
        &["s.toml:2:12: settings.pairs.friction: unknown word 'mimimum'; did you mean 'minimum'?"],
    ),
    (
        "[settings.pairs]\ntable = [{ families = [1, 2] }]\n",
        &["s.toml:2:10: settings.pairs.table[0]: missing key 'surface': expected a surface: its friction, or a table"],
    ),
    (
        "[settings.pairs]\ntable = [{ families = [1, 2], surface = { law = { kind = 'elasto-plastic', elastic_share = 1.5 } } }]\n",
        &[
            "s.toml:2:92: settings.pairs.table[0].surface.law.elastic_share: expected a number above 0 and below 1, found 1.5",
        ],
    ),
    (
        "[bodies.b]\nkind = 'fixed'\nshape = 'half_space'\nsurface = { law = { kind = 'karnopp', deadband = 1e-3 } }\n",
        &["s.toml:4:39: bodies.b.surface.law.deadband: unknown key 'deadband'; did you mean 'dead_band'?"],
    ),
    (
        "[bodies.b]\nkind = 'fixed'\nshape = 'half_space'\nsurface = { law = { kind = 'stribeck', curve = { exponent = 0 } } }\n",
        &["s.toml:4:61: bodies.b.surface.law.curve.exponent: expected a number above 0, found 0"],
    ),
];

#[test]
fn every_broken_file_gives_its_message() {
    let mut wrong = Vec::new();
    for (text, expected) in CASES.iter().chain(NEWER) {
        let message: Vec<String> = match read_text(text, "s.toml", Syntax::Toml) {
            Ok(_) => vec!["it was read".to_owned()],
            Err(problems) => problems.iter().map(|p| p.to_string()).collect(),
        };
        if message != *expected {
            wrong.push(format!("{text:?} {message:?}"));
        }
    }
    assert!(CASES.len() >= 40);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_number_beyond_the_build_is_refused() {
    let read = read_text("[settings]\ngravity = [0, -1e300, 0]\n", "s.toml", Syntax::Toml);
    if size_of::<sinew::Real>() == 4 {
        let message = "s.toml:2:15: settings.gravity[1]: -1e300 is too large for the numbers of this build";
        assert_eq!(read.expect_err("too large").to_string(), message);
    }
}

#[test]
fn a_message_shows_the_line_and_a_mark() {
    let problems = read_text("[bodies.ball]\nkind = 'fixed'\nmas = 1\n", "s.toml", Syntax::Toml).expect_err("a slip");
    let message =
        "s.toml:3:1: bodies.ball.mas: unknown key 'mas'; did you mean 'mass'?\n 3 | mas = 1\n   | ^^^\n1 error";
    assert_eq!(problems.render(), message);
}

#[test]
fn json_faults_have_their_places_too() {
    let text = "{\n  \"bodies\": {\"ball\": {\"kind\": \"fixed\", \"mas\": 1}}\n}";
    let problems = read_text(text, "s.json", Syntax::Json).expect_err("a slip").to_string();
    assert_eq!(problems, "s.json:2:40: bodies.ball.mas: unknown key 'mas'; did you mean 'mass'?");
    let problems = read_text("{\"bodies\": null}", "s.json", Syntax::Json).expect_err("null").to_string();
    assert_eq!(problems, "s.json:1:12: bodies: expected a table of names, found null; leave the key out instead");
}

#[test]
fn a_bad_change_points_at_itself() {
    let text = "[bodies.ball]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 1 }\n";
    let message = |set: &str| {
        let done = read_text_with(text, "s.toml", Syntax::Toml, &[set.to_owned()]);
        done.map(|_| "it was read".to_owned()).unwrap_or_else(|problems| problems.to_string())
    };
    assert_eq!(message("bodies.bal.mass=2"), "--set:1:1: bodies.bal: unknown body 'bal'; did you mean 'ball'?");
    assert_eq!(message("bodies.ball.mass=x"), "--set:1:18: bodies.ball.mass: expected a number above 0, found 'x'");
    assert_eq!(message("bodies.ball.mas=2"), "--set:1:1: bodies.ball.mas: unknown key 'mas'; did you mean 'mass'?");
    assert_eq!(message("bodies.ball"), "--set:1:1: expected PATH=VALUE, as in bodies.ball.mass=2");
    assert_eq!(
        message("settings.gravity.y=1"),
        "--set:1:1: settings.gravity: 'gravity' is not in the file: set the whole list"
    );
}

#[test]
fn hostile_files_are_refused_at_once() {
    let deep = format!("a = {}", "[".repeat(200_000));
    let tables = format!("a = {}", "{ b = ".repeat(100_000));
    let many: String = (0..20_000).map(|i| format!("k{i} = 1\n")).collect();
    let words = format!("[bodies.x]\nkind = '{}'\n", "y".repeat(1_000_000));
    let bomb = format!(
        "[parameters]\np = [{}]\n[bodies.x]\nkind = 'fixed'\nq = [{}]\n",
        "0,".repeat(10_000),
        "'$p',".repeat(10_000)
    );
    let long =
        "[bodies.j]\nkind = 'soft'\ngeometry = { kind = 'cylinder', radius = 1e-9, height = 1e9, cells = 1000 }\n";
    for text in [&deep, &tables, &many, &words, &bomb, long] {
        let clock = Instant::now();
        let problems = read_text(text, "s.toml", Syntax::Toml).expect_err("hostile");
        let message: usize = problems.iter().map(|p| p.render().len()).sum();
        assert!(clock.elapsed() < Duration::from_secs(10), "{:?}: {}", clock.elapsed(), &text[..40]);
        assert!(message < 100_000, "{message} letters of faults: {}", &text[..40]);
    }
    for text in ["[".repeat(1_000_000), "{\"a\":".repeat(200_000)] {
        read_text(&text, "s.json", Syntax::Json).expect_err("hostile");
    }
}

#[test]
fn a_file_cut_anywhere_is_refused_or_read_but_never_a_panic() {
    let text = include_str!("../../../scenes/pudding.toml");
    for end in (0..text.len()).step_by(7) {
        let _ = read_text(&text[..end], "s.toml", Syntax::Toml);
    }
}
