//! Scenes that ask for trouble, each with what must come of it: a refusal that names the culprit, or a second of motion in
//! which every place stays finite and nothing gets further than gravity, its own speed and the push out of an overlap explain.

use sinew::{FaultKind, Motion, Report, Settings, World};
use sinew_scene::file::{Syntax, read_text};
use sinew_scene::validate::tools::num;

/// What must come of a scene.
#[derive(Clone, Copy, Debug)]
enum Expected {
    /// A message that holds these words.
    Refused(&'static str),
    /// It runs, nobody is frozen, and nothing gets further than the bound.
    Runs,
    /// It runs; a body that goes mad may be frozen, all others keep to the bound.
    Contained,
    /// One of the two: the number is beyond what a model can be asked for, or it is not.
    RefusedOrContained,
    /// The same without a bound: the number may be a speed or a force that takes a body anywhere.
    RefusedOrFinite,
}
use Expected::{Contained, Refused, RefusedOrContained, RefusedOrFinite, Runs};

struct Case {
    name: String,
    text: String,
    expected: Expected,
}

fn case(name: impl Into<String>, expected: Expected, text: impl Into<String>) -> Case {
    Case { name: name.into(), text: text.into(), expected }
}

const STEPS: u32 = 60;
const FLOOR: &str = "[bodies.floor]\nkind = 'fixed'\nshape = 'half_space'\nsurface = 0.5\n";
const BOX: &str = "shape = { kind = 'box', half_extents = [0.1, 0.1, 0.1] }\n";

/// How far from the origin a world reaches [m].
fn reach(world: &World) -> f64 {
    let places = world.bodies().filter(|b| !b.is_frozen()).flat_map(|b| {
        let nodes = b.node_positions();
        if nodes.is_empty() { vec![b.position()] } else { nodes.to_vec() }
    });
    places.map(|x| num(x.length())).fold(0.0, f64::max)
}

fn fastest(world: &World) -> f64 {
    world.bodies().map(|b| num(b.velocity().length())).fold(0.0, f64::max)
}

/// The way that gravity, the first velocities and the push out of overlaps explain [m]; twice it, because a push may come with
/// a turn, and a tenth of a metre for bodies that unroll. Each pair comes apart at the push speed at most: in a heap the first
/// and the last of a row of bodies come apart at as many times that speed as there are pairs between.
fn bound(world: &World, settings: &Settings) -> f64 {
    let (dt, g) = (num(settings.dt), num(settings.gravity.length()));
    let time = f64::from(STEPS) * dt;
    let movers = world.bodies().filter(|b| b.motion() == Motion::Dynamic).count().max(1);
    let push = num(settings.push_speed) * movers as f64;
    reach(world) + 2.0 * (0.5 * g * time * time + (fastest(world) + push) * time) + 0.1
}

fn is_mad(report: &Report) -> bool {
    // a joint that a million times its mass opens is reported, and nothing is frozen
    report.faults.iter().any(|f| !matches!(f.what, FaultKind::JointOpen { .. }))
}

/// Runs a case; a word on what went wrong.
fn judge(case: &Case) -> Result<(), String> {
    let scene = match (read_text(&case.text, "case.toml", Syntax::Toml), case.expected) {
        (Err(problems), Refused(words)) if problems.to_string().contains(words) => return Ok(()),
        (Err(_), RefusedOrContained | RefusedOrFinite) => return Ok(()),
        (Err(problems), expected) => return Err(format!("expected {expected:?}, refused: {problems}")),
        (Ok(_), Refused(words)) => return Err(format!("was not refused; expected '{words}'")),
        (Ok(scene), _) => scene,
    };
    let mut world = scene.build().map_err(|e| e.to_string())?;
    let limit = bound(&world, world.settings());
    for _ in 0..STEPS {
        let input = scene.input(world.settings(), world.state().tick);
        let mad = is_mad(world.step(&input));
        if mad && matches!(case.expected, Runs) {
            return Err(format!("frozen: {:?}", world.report().faults));
        }
        let finite =
            |b: sinew::BodyView<'_>| b.position().is_finite() && b.node_positions().iter().all(|x| x.is_finite());
        if !world.bodies().all(finite) {
            return Err(format!("not finite after step {}", world.state().tick));
        }
        let far = reach(&world);
        if far > limit && !matches!(case.expected, RefusedOrFinite) {
            return Err(format!("{far} m away after step {}, {limit} m are explained", world.state().tick));
        }
    }
    Ok(())
}

/// Runs a family and tells all that went wrong at once.
fn check(cases: &[Case], least: usize) {
    assert!(cases.len() >= least, "{} cases", cases.len());
    let wrong: Vec<String> =
        cases.iter().filter_map(|case| judge(case).err().map(|why| format!("{}: {why}", case.name))).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

const TET_MODELS: [&str; 7] =
    ["corotational", "solid", "springs", "pbd_solid", "shape_matching", "meshless", "oriented"];

#[test]
fn rest_shapes_without_volume_are_refused() {
    let flaws = [
        ("flat", "[[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.1, 0.1, 0]]", "[[0, 1, 2, 3]]", "volume"),
        ("turned inside out", "[[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, -0.1]]", "[[0, 1, 2, 3]]", "volume"),
        (
            "with two nodes in one place",
            "[[0, 0, 0], [0.1, 0, 0], [0.1, 0, 0], [0, 0, 0.1]]",
            "[[0, 1, 2, 3]]",
            "volume",
        ),
        ("with a node twice", "[[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]", "[[0, 1, 1, 3]]", "volume"),
        ("with a node that is not there", "[[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]]", "[[0, 1, 2, 3]]", "3"),
        ("in one point", "[[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]", "[[0, 1, 2, 3]]", "volume"),
        ("of nothing", "[]", "[]", "no"),
    ];
    let mut cases = Vec::new();
    for model in TET_MODELS {
        for (flaw, vertices, tets, word) in flaws {
            let text = format!(
                "[bodies.s]\nkind = 'soft'\ngeometry = {{ kind = 'tets', vertices = {vertices}, tets = {tets} }}\n\
                 material = 'jelly'\nmodel = '{model}'\n"
            );
            cases.push(case(format!("{model}: a tetrahedron {flaw}"), Refused(word), text));
        }
    }
    check(&cases, 49);
}

#[test]
fn slivers_run_or_are_refused_and_stay_where_they_are() {
    let mut cases = Vec::new();
    for model in TET_MODELS {
        for height in ["1e-3", "1e-5", "1e-7"] {
            let text = format!(
                "{FLOOR}[bodies.s]\nkind = 'soft'\ngeometry = {{ kind = 'tets', vertices = [[0, 0, 0], [0.1, 0, 0], \
                 [0, {height}, 0], [0, 0, 0.1]], tets = [[0, 2, 1, 3]] }}\nmaterial = 'jelly'\nmodel = '{model}'\n\
                 position = [0, 0.2, 0]\n"
            );
            cases.push(case(format!("{model}: {height} m thick"), RefusedOrContained, text));
        }
    }
    check(&cases, 21);
}

#[test]
fn poissons_ratio_is_followed_up_to_its_edge_and_refused_beyond() {
    let mut cases = Vec::new();
    for model in ["corotational", "solid", "meshless", "springs", "shape_matching", "oriented"] {
        for (ratio, expected) in [
            ("-1", Refused("poisson_ratio")),
            ("-0.1", Refused("poisson_ratio")),
            ("0", Runs),
            ("0.49", Runs),
            ("0.4999", Runs),
            ("0.5", Refused("poisson_ratio")),
            ("0.6", Refused("poisson_ratio")),
        ] {
            let text = format!(
                "{FLOOR}[bodies.s]\nkind = 'soft'\ngeometry = {{ kind = 'block', cells = [2, 2, 2], size = [0.1, 0.1, 0.1] }}\n\
                 material = {{ preset = 'jelly', poisson_ratio = {ratio} }}\nmodel = '{model}'\nposition = [0, 0.1, 0]\n"
            );
            cases.push(case(format!("{model}: {ratio}"), expected, text));
        }
    }
    for (ratio, expected) in [("0.2", Refused("poisson_ratio")), ("0.25", Runs), ("0.4999", Runs), ("0.5", Runs)] {
        let text = format!(
            "{FLOOR}[bodies.s]\nkind = 'soft'\ngeometry = {{ kind = 'block', cells = [2, 2, 2], size = [0.1, 0.1, 0.1] }}\n\
             material = 'jelly'\nmodel = {{ kind = 'pbd_solid', poisson_ratio = {ratio} }}\nposition = [0, 0.1, 0]\n"
        );
        cases.push(case(format!("pbd_solid: {ratio}"), expected, text));
    }
    check(&cases, 46);
}

fn brick(name: &str, mass: &str, height: f64) -> String {
    format!("[bodies.{name}]\nkind = 'dynamic'\n{BOX}mass = {mass}\nposition = [0, {height}, 0]\n")
}

#[test]
fn a_million_to_one_in_mass_does_not_throw_anything() {
    let jelly = "[bodies.s]\nkind = 'soft'\ngeometry = { kind = 'block', cells = [2, 2, 2], size = [0.2, 0.2, 0.2] }\n\
                 material = 'jelly'\nposition = [0, 0.101, 0]\n";
    let rope = "[bodies.s]\nkind = 'soft'\ngeometry = { kind = 'rope', from = [0, 1, 0], to = [0, 0.5, 0], segments = 5 }\n\
                model = { kind = 'pbd_cord', stretch = 5000, density = 1e-3 }\nthickness = 0.01\npinned = [0]\n";
    let link = "[joints.j]\nkind = 'ball'\na = 'top'\nb = 'low'\nanchor = [0, 0.5, 0]\n";
    let hook = "[joints.k]\nkind = 'ball'\nb = 'top'\nanchor = [0, 1, 0]\n";
    let hang = "[joints.j]\nkind = 'attach'\npairs = [{ point = { kind = 'node', body = 's', node = 5 }, to = { kind = 'here', body = 'low' } }]\n";
    let mut cases = Vec::new();
    for (light, heavy) in [("1e-3", "1e3"), ("1e-6", "1"), ("1", "1e6")] {
        let name = |what: &str| format!("{what}, {light} and {heavy} kg");
        let stack = |low: &str, top: &str| format!("{FLOOR}{}{}", brick("low", low, 0.1), brick("top", top, 0.3));
        cases.push(case(name("heavy on light"), Runs, stack(light, heavy)));
        cases.push(case(name("light on heavy"), Runs, stack(heavy, light)));
        let chain = |low: &str, top: &str| format!("{}{}{link}{hook}", brick("low", low, 0.3), brick("top", top, 0.7));
        cases.push(case(name("heavy below light"), Runs, chain(heavy, light)));
        cases.push(case(name("light below heavy"), Runs, chain(light, heavy)));
        cases.push(case(name("heavy on jelly"), Contained, format!("{FLOOR}{jelly}{}", brick("low", heavy, 0.31))));
        cases.push(case(name("light on jelly"), Runs, format!("{FLOOR}{jelly}{}", brick("low", light, 0.31))));
        cases.push(case(name("heavy on a thread"), Contained, format!("{rope}{}{hang}", brick("low", heavy, 0.4))));
        cases.push(case(name("light on a thread"), Runs, format!("{rope}{}{hang}", brick("low", light, 0.4))));
    }
    check(&cases, 24);
}

#[test]
fn friction_without_end_holds_and_does_not_throw() {
    let mut cases = Vec::new();
    for law in ["coulomb", "viscous", "stiction", "stribeck", "karnopp", "dahl", "lugre", "elasto-plastic"] {
        let surface = format!("surface = {{ friction = 1e6, law = '{law}' }}\n");
        let text = format!(
            "{FLOOR}[bodies.b]\nkind = 'dynamic'\n{BOX}{surface}position = [0, 0.1, 0]\nvelocity = [3, 0, 0]\n\
             [bodies.s]\nkind = 'soft'\ngeometry = {{ kind = 'block', cells = [1, 1, 1], size = [0.2, 0.2, 0.2] }}\n\
             material = 'jelly'\n{surface}position = [1, 0.101, 0]\nvelocity = [-3, 0, 0]\n"
        );
        cases.push(case(law, Runs, text));
    }
    check(&cases, 8);
}

#[test]
fn steps_of_no_length_are_refused_and_long_ones_run() {
    let pile = format!("{FLOOR}{}{}", brick("a", "1", 0.1), brick("b", "1", 0.3));
    let jelly = format!(
        "{FLOOR}[bodies.s]\nkind = 'soft'\ngeometry = {{ kind = 'block', cells = [2, 2, 2], size = [0.2, 0.2, 0.2] }}\n\
         material = 'jelly'\nposition = [0, 0.2, 0]\n"
    );
    let rope = "[bodies.s]\nkind = 'soft'\ngeometry = { kind = 'rope', from = [0, 1, 0], to = [0.5, 1, 0], segments = 5 }\n\
                model = { kind = 'pbd_cord', stretch = 5000, density = 0.1 }\npinned = [0]\n";
    let springs = jelly.replace("material = 'jelly'", "material = 'jelly'\nmodel = 'springs'");
    let mut cases = Vec::new();
    for (name, scene) in [("bricks", pile.as_str()), ("jelly", &jelly), ("rope", rope), ("springs", &springs)] {
        for (dt, expected) in [
            ("0", Refused("settings.dt")),
            ("-0.01", Refused("settings.dt")),
            ("nan", Refused("settings.dt")),
            ("inf", Refused("settings.dt")),
            ("11", Refused("settings.dt")),
            ("1e-45", RefusedOrContained),
            ("1e-9", Contained),
            ("0.1", Contained),
            ("1", Contained),
            ("10", Contained),
        ] {
            cases.push(case(format!("{name}, dt = {dt}"), expected, format!("[settings]\ndt = {dt}\n{scene}")));
        }
    }
    check(&cases, 40);
}

const SHAPES: [(&str, &str); 6] = [
    ("balls", "{ kind = 'ball', radius = 0.1 }"),
    ("boxes", "{ kind = 'box', half_extents = [0.1, 0.1, 0.1] }"),
    ("capsules", "{ kind = 'capsule', half_height = 0.1, radius = 0.1 }"),
    ("cylinders", "{ kind = 'cylinder', half_height = 0.1, radius = 0.1 }"),
    ("cones", "{ kind = 'cone', half_height = 0.1, radius = 0.1 }"),
    ("hulls", "{ kind = 'hull', points = [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2]] }"),
];

fn heap(shape: &str, count: usize) -> String {
    format!(
        "{FLOOR}[bodies.b]\nkind = 'dynamic'\nshape = {shape}\nmass = 1\nposition = [0, 0.5, 0]\n\
         repeat = {{ count = [{count}, 1, 1], step = [0, 0, 0] }}\n"
    )
}

#[test]
fn many_bodies_in_one_point_come_apart_at_the_push_speed_of_each_pair_at_most() {
    let mut cases: Vec<Case> = SHAPES.iter().map(|(name, shape)| case(*name, Runs, heap(shape, 25))).collect();
    for (name, shape) in SHAPES {
        cases.push(case(
            format!("{name}, intersection_free"),
            Contained,
            format!("[settings]\nintersection_free = true\n{}", heap(shape, 5)),
        ));
    }
    let places = vec!["[0, 0.5, 0]"; 50].join(", ");
    cases.push(case(
        "nodes",
        Runs,
        format!("{FLOOR}[bodies.p]\nkind = 'particles'\npositions = [{places}]\nradius = 0.05\n"),
    ));
    for model in TET_MODELS {
        let text = format!(
            "{FLOOR}[bodies.s]\nkind = 'soft'\ngeometry = {{ kind = 'block', cells = [1, 1, 1], size = [0.1, 0.1, 0.1] }}\n\
             material = 'jelly'\nmodel = '{model}'\nposition = [0, 0.5, 0]\nrepeat = {{ count = [5, 1, 1], step = [0, 0, 0] }}\n"
        );
        cases.push(case(format!("{model} blocks"), Runs, text));
    }
    check(&cases, 20);
}

/// Pairs grow with the square of the bodies, and so does memory (55 MB for 600 balls, all pairs of them): ten thousand in one
/// point would take some 12 GB.
#[test]
#[ignore = "half a million pairs a step; `cargo xtask full` runs it"]
fn a_thousand_bodies_in_one_point_come_apart_at_the_push_speed_of_each_pair_at_most() {
    check(&[case("balls", Contained, heap(SHAPES[0].1, 1000)), case("boxes", Contained, heap(SHAPES[1].1, 200))], 2);
}

#[test]
fn deep_overlaps_at_the_start_are_pushed_apart_and_not_shot() {
    let jelly = |at: &str| {
        format!(
            "[bodies.s]\nkind = 'soft'\ngeometry = {{ kind = 'block', cells = [2, 2, 2], size = [0.2, 0.2, 0.2] }}\n\
             material = 'jelly'\nposition = {at}\n"
        )
    };
    let cloth = "[bodies.c]\nkind = 'soft'\ngeometry = { kind = 'sheet', cells = [4, 4], size = [0.4, 0.4] }\n\
                 model = { kind = 'pbd_sheet', stretch = 1000, density = 0.2 }\nthickness = 0.005\nposition = [0, 0.3, 0]\n";
    let scenes = [
        ("a box nine tenths in the floor", format!("{FLOOR}{}", brick("a", "1", -0.08))),
        ("a box below the floor", format!("{FLOOR}{}", brick("a", "1", -0.5))),
        ("two boxes in one place", format!("{FLOOR}{}{}", brick("a", "1", 0.1), brick("b", "1", 0.1))),
        (
            "a ball in the middle of a fixed box",
            format!(
                "[bodies.w]\nkind = 'fixed'\n{BOX}[bodies.b]\nkind = 'dynamic'\nshape = {{ kind = 'ball', radius = 0.02 }}\n"
            ),
        ),
        ("a jelly half in the floor", format!("{FLOOR}{}", jelly("[0, 0, 0]"))),
        ("a jelly below the floor", format!("{FLOOR}{}", jelly("[0, -0.3, 0]"))),
        ("a box in a jelly", format!("{FLOOR}{}{}", jelly("[0, 0.101, 0]"), brick("a", "1", 0.15))),
        (
            "a jelly in a fixed box",
            format!(
                "[bodies.w]\nkind = 'fixed'\nshape = {{ kind = 'box', half_extents = [0.5, 0.5, 0.5] }}\n{}",
                jelly("[0, 0, 0]")
            ),
        ),
        (
            "two jellies in one place",
            format!("{FLOOR}{}{}", jelly("[0, 0.101, 0]"), jelly("[0.01, 0.101, 0]").replace("bodies.s", "bodies.t")),
        ),
        ("a cloth through a box", format!("{FLOOR}{cloth}{}", brick("a", "1", 0.3))),
        ("a cloth through a jelly", format!("{FLOOR}{cloth}{}", jelly("[0, 0.3, 0]"))),
        ("two cloths in one place", format!("{FLOOR}{cloth}{}", cloth.replace("bodies.c", "bodies.d"))),
    ];
    let mut cases = Vec::new();
    for (name, text) in scenes {
        cases.push(case(
            format!("{name}, intersection_free"),
            Contained,
            format!("[settings]\nintersection_free = true\n{text}"),
        ));
        cases.push(case(name, Runs, text));
    }
    check(&cases, 24);
}

/// `count` bricks in a ring, each tied to the next.
fn ring(count: usize, kind: &str) -> String {
    let mut text = String::new();
    for i in 0..count {
        let angle = std::f64::consts::TAU * i as f64 / count as f64;
        let (x, y) = (angle.cos() * 0.1 * count as f64, 3.0 + angle.sin() * 0.1 * count as f64);
        text += &format!("[bodies.b{i}]\nkind = 'dynamic'\n{BOX}mass = 1\nposition = [{x:.6}, {y:.6}, 0]\n");
    }
    for i in 0..count {
        let next = (i + 1) % count;
        text += &format!(
            "[joints.j{i}]\nkind = '{kind}'\na = 'b{i}'\nb = 'b{next}'\nanchor = [0, 3, 0]\naxis = [0, 0, 1]\n"
        );
    }
    text
}

#[test]
fn joints_in_a_circle_and_joints_that_contradict_each_other_hold_still() {
    let mut cases = Vec::new();
    for kind in ["fixed", "ball", "hinge", "slider"] {
        for count in [2, 3, 4, 8] {
            cases.push(case(format!("{count} bricks by {kind}"), Runs, ring(count, kind)));
        }
        let own = format!("{}[joints.j]\nkind = '{kind}'\na = 'a'\nb = 'a'\n", brick("a", "1", 0.5));
        cases.push(case(format!("{kind} from a body to itself"), Refused("joints.j"), own));
        let world = format!("[joints.j]\nkind = '{kind}'\n");
        cases.push(case(format!("{kind} from the world to the world"), Refused("joints.j"), world));
        let twice = format!("[joints.j]\nkind = '{kind}'\nb = 'a'\n[joints.k]\nkind = '{kind}'\nb = 'a'\n");
        cases.push(case(format!("{kind} twice"), Runs, format!("{}{twice}", brick("a", "1", 0.5))));
        let axis = format!("[joints.j]\nkind = '{kind}'\nb = 'a'\naxis = [0, 0, 0]\n");
        cases.push(case(format!("{kind} without axis"), RefusedOrContained, format!("{}{axis}", brick("a", "1", 0.5))));
    }
    // three rods whose lengths make no triangle
    let rod = |name: &str, a: &str, b: &str, length: f64| {
        let site = |body: &str| format!("{{ kind = 'body', body = '{body}' }}");
        format!("[joints.{name}]\nkind = 'rod'\na = {}\nb = {}\nlength = {length}\n", site(a), site(b))
    };
    let three = format!("{}{}{}", brick("a", "1", 0.5), brick("b", "1", 1.0), brick("c", "1", 1.5));
    let rods = format!("{}{}{}", rod("j", "a", "b", 0.5), rod("k", "b", "c", 0.5), rod("l", "c", "a", 3.0));
    cases.push(case("rods that make no triangle", Contained, format!("{three}{rods}")));
    let same = rod("j", "a", "b", 0.0);
    cases.push(case("a rod of no length", Refused("distance.max"), format!("{three}{same}")));
    let lengths = format!("{}{}", rod("j", "a", "b", 0.4), rod("k", "a", "b", 0.6));
    cases.push(case("two rods of other lengths", Contained, format!("{three}{lengths}")));
    check(&cases, 35);
}

/// Contacts whose normal or points are not unique (Erleben, "Methodology for Assessing Mesh-Based Contact Point Methods", 2018,
/// has the idea: edges that are parallel, corners that meet corners, spikes, one body just at the end of another).
#[test]
fn contacts_without_a_clear_normal_do_not_throw_bodies() {
    let at = |name: &str, kind: &str, shape: &str, place: &str, turn: &str| {
        format!("[bodies.{name}]\nkind = '{kind}'\nshape = {shape}\nposition = {place}\nrotation = {turn}\n")
    };
    let cube = "{ kind = 'box', half_extents = [0.1, 0.1, 0.1] }";
    let (plain, edge) = ("[0, 0, 0, 1]", "{ axis = [0, 0, 1], degrees = 45 }");
    let other_edge = "{ axis = [1, 0, 0], degrees = 45 }";
    // the corner of a cube straight down
    let corner = "{ axis = [0.7071068, 0, -0.7071068], degrees = 54.735610 }";
    let low = |turn: &str| at("low", "fixed", cube, "[0, 0, 0]", turn);
    let (flat_edge, corners) = (0.1 + 0.1 * 2.0_f64.sqrt(), 0.1 * 3.0_f64.sqrt());
    let spike = "{ kind = 'hull', points = [[0, 0, 0], [0.01, 0.5, 0.01], [-0.01, 0.5, 0.01], [0, 0.5, -0.01]] }";
    let cone = "{ kind = 'cone', half_height = 0.1, radius = 0.1 }";
    let tip = "{ axis = [0, 0, 1], degrees = 180 }";
    let cylinder = "{ kind = 'cylinder', half_height = 0.1, radius = 0.1 }";
    let lying = "{ axis = [0, 0, 1], degrees = 90 }";
    let top = |shape: &str, place: String, turn: &str| at("top", "dynamic", shape, &place, turn);
    let scenes = [
        ("face on the same face", low(plain) + &top(cube, "[0, 0.2, 0]".into(), plain)),
        ("face on half of a face", low(plain) + &top(cube, "[0.1, 0.2, 0]".into(), plain)),
        ("faces that share an edge only", low(plain) + &top(cube, "[0.2, 0.2, 0]".into(), plain)),
        ("faces that share a corner only", low(plain) + &top(cube, "[0.2, 0.2, 0.2]".into(), plain)),
        ("edge on face", low(plain) + &top(cube, format!("[0, {flat_edge}, 0]"), edge)),
        ("edge along an edge", low(edge) + &top(cube, format!("[0, {}, 0]", 0.2 * 2.0_f64.sqrt()), edge)),
        ("edge across an edge", low(edge) + &top(cube, format!("[0, {}, 0]", 0.2 * 2.0_f64.sqrt()), other_edge)),
        ("edge on a face's edge", low(plain) + &top(cube, format!("[0.1, {flat_edge}, 0]"), edge)),
        ("corner on face", low(plain) + &top(cube, format!("[0, {}, 0]", 0.1 + corners), corner)),
        ("corner on corner", low(corner) + &top(cube, format!("[0, {}, 0]", 2.0 * corners), corner)),
        ("corner on edge", low(edge) + &top(cube, format!("[0, {}, 0]", 0.1 * 2.0_f64.sqrt() + corners), corner)),
        ("corner on a face's corner", low(plain) + &top(cube, format!("[0.1, {}, 0.1]", 0.1 + corners), corner)),
        ("spike on face", low(plain) + &top(spike, "[0, 0.1, 0]".into(), plain)),
        ("spike on corner", low(corner) + &top(spike, format!("[0, {corners}, 0]"), plain)),
        ("spike on edge", low(edge) + &top(spike, format!("[0, {}, 0]", 0.1 * 2.0_f64.sqrt()), plain)),
        ("spike deep in a face", low(plain) + &top(spike, "[0, -0.05, 0]".into(), plain)),
        ("cone on its tip", low(plain) + &top(cone, "[0, 0.2, 0]".into(), tip)),
        ("tip on tip", at("low", "fixed", cone, "[0, 0, 0]", plain) + &top(cone, "[0, 0.2, 0]".into(), tip)),
        ("cylinder on its side", low(plain) + &top(cylinder, "[0, 0.2, 0]".into(), lying)),
        ("cylinder on its rim", low(plain) + &top(cylinder, format!("[0, {flat_edge}, 0]"), edge)),
        (
            "cylinder across a cylinder",
            at("low", "fixed", cylinder, "[0, 0, 0]", lying) + &top(cylinder, "[0, 0.2, 0]".into(), other_edge),
        ),
        (
            "ball on an edge",
            low(edge)
                + &top("{ kind = 'ball', radius = 0.1 }", format!("[0, {}, 0]", 0.1 + 0.1 * 2.0_f64.sqrt()), plain),
        ),
        (
            "ball with its middle on a face",
            low(plain) + &top("{ kind = 'ball', radius = 0.1 }", "[0, 0.1, 0]".into(), plain),
        ),
        (
            "ball with its middle on a corner",
            low(plain) + &top("{ kind = 'ball', radius = 0.1 }", "[0.1, 0.1, 0.1]".into(), plain),
        ),
        (
            "flat box on flat box",
            at("low", "fixed", "{ kind = 'box', half_extents = [1, 1e-4, 1] }", "[0, 0, 0]", plain)
                + &top("{ kind = 'box', half_extents = [0.1, 1e-4, 0.1] }", "[0, 2e-4, 0]".into(), plain),
        ),
        (
            "needle on face",
            low(plain) + &top("{ kind = 'capsule', half_height = 0.1, radius = 1e-4 }", "[0, 0.2, 0]".into(), plain),
        ),
    ];
    let mut cases = Vec::new();
    for (name, text) in scenes {
        cases.push(case(
            format!("{name}, intersection_free"),
            Contained,
            format!("[settings]\nintersection_free = true\n{text}"),
        ));
        cases.push(case(name, Runs, text));
    }
    check(&cases, 52);
}

#[test]
fn nodes_in_one_place_and_faces_without_area_are_refused_or_held_together() {
    let sheet = |vertices: &str, model: &str| {
        format!(
            "{FLOOR}[bodies.s]\nkind = 'soft'\ngeometry = {{ kind = 'surface', surface = {{ kind = 'triangles', \
             vertices = {vertices}, triangles = [[0, 1, 2], [1, 3, 2]] }} }}\nmaterial = 'silk'\nmodel = {model}\nposition = [0, 0.3, 0]\n"
        )
    };
    let flaws = [
        ("two corners in one place", "[[0, 0, 0], [0.1, 0, 0], [0.1, 0, 0], [0.1, 0, 0.1]]"),
        ("all in a line", "[[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0], [0.3, 0, 0]]"),
        ("all in one point", "[[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]"),
        ("a face on the other", "[[0, 0, 0], [0.1, 0, 0], [0, 0, 0.1], [0, 0, 0]]"),
    ];
    let mut cases = Vec::new();
    for model in [
        "'membrane'",
        "{ kind = 'pbd_sheet', stretch = 1000, density = 0.2, bend = 1e-3 }",
        "'springs'",
        "'shape_matching'",
    ] {
        for (flaw, vertices) in flaws {
            cases.push(case(format!("{model}: {flaw}"), RefusedOrContained, sheet(vertices, model)));
        }
    }
    let cord = |points: &str| {
        format!(
            "[bodies.s]\nkind = 'soft'\ngeometry = {{ kind = 'line', points = {points} }}\nmodel = {{ kind = 'pbd_cord', stretch = 1000, density = 0.1, bend = 1e-3 }}\n"
        )
    };
    cases.push(case("a cord of no length", RefusedOrContained, cord("[[0, 0, 0], [0, 0, 0], [0, 0, 0]]")));
    cases.push(case("a cord folded onto itself", Contained, cord("[[0, 0, 0], [0.1, 0, 0], [0, 0, 0], [0.1, 0, 0]]")));
    for model in ["shape_matching", "meshless", "oriented"] {
        for (what, points) in [
            ("one point", "[[0, 0, 0]]"),
            ("points in one place", "[[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]"),
            ("points in a line", "[[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0], [0.3, 0, 0], [0.4, 0, 0]]"),
            ("points in a plane", "[[0, 0, 0], [0.1, 0, 0], [0, 0, 0.1], [0.1, 0, 0.1], [0.2, 0, 0.1]]"),
        ] {
            let text = format!(
                "{FLOOR}[bodies.s]\nkind = 'soft'\ngeometry = {{ kind = 'points', points = {points} }}\nmaterial = 'jelly'\nmodel = '{model}'\nposition = [0, 0.3, 0]\n"
            );
            cases.push(case(format!("{model}: {what}"), RefusedOrContained, text));
        }
    }
    check(&cases, 30);
}

/// One scene with a number for every key; `@` stands where another may come.
const NUMBERS: &[(&str, &str, &str)] = &[
    ("settings.gravity", "9.81", "[settings]\ngravity = [0, @, 0]\n"),
    ("settings.contact_margin", "0.01", "[settings]\ncontact_margin = @\n"),
    ("settings.push_speed", "3", "[settings]\npush_speed = @\n"),
    ("settings.max_speed", "100", "[settings]\nmax_speed = @\n"),
    ("settings.contact.frequency", "30", "[settings]\ncontact = { kind = 'soft', frequency = @ }\n"),
    (
        "settings.contact.damping_ratio",
        "10",
        "[settings]\ncontact = { kind = 'soft', frequency = 30, damping_ratio = @ }\n",
    ),
    ("settings.minimum_gap", "1e-4", "[settings]\nintersection_free = true\nminimum_gap = @\n"),
    (
        "bodies.b.mass",
        "1",
        "[bodies.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.1 }\nmass = @\nposition = [0, 0.2, 0]\n",
    ),
    (
        "bodies.b.shape.radius",
        "0.1",
        "[bodies.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = @ }\nmass = 1\nposition = [0, 0.2, 0]\n",
    ),
    (
        "bodies.b.shape.half_extents",
        "0.1",
        "[bodies.b]\nkind = 'dynamic'\nshape = { kind = 'box', half_extents = [0.1, @, 0.1] }\nposition = [0, 0.2, 0]\n",
    ),
    (
        "bodies.b.position",
        "0.5",
        "[bodies.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.1 }\nposition = [0, @, 0]\n",
    ),
    (
        "bodies.b.velocity",
        "1",
        "[bodies.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.1 }\nvelocity = [0, @, 0]\n",
    ),
    (
        "bodies.b.spin",
        "1",
        "[bodies.b]\nkind = 'dynamic'\nshape = { kind = 'box', half_extents = [0.1, 0.2, 0.3] }\nspin = [1, @, 1]\n",
    ),
    (
        "bodies.b.linear_damping",
        "1",
        "[bodies.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.1 }\nlinear_damping = @\n",
    ),
    ("bodies.b.surface", "0.5", "[bodies.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.1 }\nsurface = @\n"),
    (
        "bodies.s.material.youngs_modulus",
        "1e4",
        "[bodies.s]\nkind = 'soft'\ngeometry = { kind = 'block', cells = [1, 1, 1], size = [0.1, 0.1, 0.1] }\nmaterial = { preset = 'jelly', youngs_modulus = @ }\nposition = [0, 0.2, 0]\n",
    ),
    (
        "bodies.s.material.density",
        "1000",
        "[bodies.s]\nkind = 'soft'\ngeometry = { kind = 'block', cells = [1, 1, 1], size = [0.1, 0.1, 0.1] }\nmaterial = { preset = 'jelly', density = @ }\nposition = [0, 0.2, 0]\n",
    ),
    (
        "bodies.s.material.damping",
        "0.01",
        "[bodies.s]\nkind = 'soft'\ngeometry = { kind = 'block', cells = [1, 1, 1], size = [0.1, 0.1, 0.1] }\nmaterial = { preset = 'jelly', damping = @ }\nposition = [0, 0.2, 0]\n",
    ),
    (
        "bodies.s.geometry.size",
        "0.1",
        "[bodies.s]\nkind = 'soft'\ngeometry = { kind = 'block', cells = [1, 1, 1], size = [0.1, @, 0.1] }\nmaterial = 'jelly'\nposition = [0, 0.2, 0]\n",
    ),
    (
        "bodies.s.model.stretch",
        "1000",
        "[bodies.s]\nkind = 'soft'\ngeometry = { kind = 'sheet', cells = [2, 2], size = [0.2, 0.2] }\nmodel = { kind = 'pbd_sheet', stretch = @, density = 0.2 }\nposition = [0, 0.2, 0]\n",
    ),
    (
        "bodies.s.model.frequency",
        "10",
        "[bodies.s]\nkind = 'soft'\ngeometry = { kind = 'block', cells = [1, 1, 1], size = [0.1, 0.1, 0.1] }\nmaterial = 'jelly'\nmodel = { kind = 'shape_matching', frequency = @ }\nposition = [0, 0.2, 0]\n",
    ),
    (
        "bodies.s.model.support",
        "2",
        "[bodies.s]\nkind = 'soft'\ngeometry = { kind = 'block', cells = [2, 2, 2], size = [0.1, 0.1, 0.1] }\nmaterial = 'jelly'\nmodel = { kind = 'meshless', support = @ }\nposition = [0, 0.2, 0]\n",
    ),
    (
        "joints.j.length",
        "0.5",
        "[bodies.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.1 }\nposition = [0, 0.5, 0]\n[joints.j]\nkind = 'rod'\na = { kind = 'world', point = [0, 1, 0] }\nb = { kind = 'body', body = 'b' }\nlength = @\n",
    ),
    (
        "joints.j.stiffness",
        "100",
        "[bodies.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.1 }\nposition = [0, 0.5, 0]\n[joints.j]\nkind = 'spring'\na = { kind = 'world', point = [0, 1, 0] }\nb = { kind = 'body', body = 'b' }\nlength = 0.4\nstiffness = @\n",
    ),
    (
        "joints.j.motor.target",
        "1",
        "[bodies.b]\nkind = 'dynamic'\nshape = { kind = 'box', half_extents = [0.1, 0.1, 0.1] }\nposition = [0, 0.5, 0]\n[joints.j]\nkind = 'hinge'\nb = 'b'\naxis = [0, 0, 1]\nmotor = { kind = 'velocity', target = @ }\n",
    ),
    (
        "motions.m.keys",
        "1",
        "[bodies.b]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.1 }\nposition = [0, 0.5, 0]\n[motions.m]\nkind = 'force'\nbody = 'b'\nkeys = [{ time = 0, force = [@, 0, 0] }]\n",
    ),
];

#[test]
fn numbers_that_are_none_are_refused_by_name_wherever_they_stand() {
    let mut cases = Vec::new();
    for (key, usual, text) in NUMBERS {
        cases.push(case(format!("{key} = {usual}"), Contained, text.replace('@', usual)));
        cases.push(case(format!("{key} = nan"), Refused(key), text.replace('@', "nan")));
        // forever is a length, a strength and a frequency of some things; it never moves anybody to nowhere
        for wild in ["inf", "-inf"] {
            cases.push(case(format!("{key} = {wild}"), RefusedOrFinite, text.replace('@', wild)));
        }
    }
    check(&cases, 100);
}

#[test]
fn numbers_beyond_all_measure_are_refused_or_contained() {
    let mut cases = Vec::new();
    for (key, _, text) in NUMBERS {
        for wild in ["0", "-1", "1e-45", "1e-38", "1e-20", "1e12", "1e20", "3e38", "1e39"] {
            cases.push(case(format!("{key} = {wild}"), RefusedOrFinite, format!("{}{FLOOR}", text.replace('@', wild))));
        }
    }
    check(&cases, 200);
}
