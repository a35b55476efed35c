//! Scene files give the worlds that they describe, and worlds give files that describe them.

use sinew::{BodySpec, Geometry, Input, NewNode, Shape, TopologyDelta, TopologyEdit, TriMesh, World};
use sinew_scene::file::{self, About, SceneFile, Syntax};
use sinew_scene::gallery;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes")
}

fn open(name: &str) -> SceneFile {
    let path = folder().join(format!("{name}.toml"));
    file::read(&path).unwrap_or_else(|problems| panic!("{}", problems.render()))
}

fn text(text: &str) -> SceneFile {
    file::read_text(text, "t.toml", Syntax::Toml).unwrap_or_else(|problems| panic!("{}", problems.render()))
}

fn run(scene: &SceneFile, world: &mut World, steps: u32) {
    for _ in 0..steps {
        let input = scene.input(world.settings(), world.state().tick);
        world.step(&input);
    }
}

/// The usual build.
fn is_f32() -> bool {
    size_of::<sinew::Real>() == 4
}

#[test]
fn every_file_of_the_gallery_is_read_and_runs_without_faults() {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder()).expect("scenes/") {
        let path = entry.expect("an entry").path();
        if Syntax::of(&path).is_none() {
            continue;
        }
        seen += 1;
        let scene = file::read(&path).unwrap_or_else(|problems| panic!("{}", problems.render()));
        let mut world = scene.build().expect("it was built once");
        run(&scene, &mut world, 10);
        assert_eq!(world.report().faults, [], "{}", path.display());
        assert!(!scene.about().is_empty(), "{}", path.display());
    }
    assert!(seen >= 16, "{seen}");
}

#[test]
fn the_schema_in_the_documentation_is_the_one_the_reader_uses() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scene.schema.json");
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    // defaults have more digits in f64
    assert!(
        !is_f32() || kept == file::json_schema(),
        "docs/scene.schema.json is old: sinew check --schema > docs/scene.schema.json"
    );
    // it is JSON, by the reader's own word: a scene it is not
    let faults = file::read_text(&kept, "schema.json", Syntax::Json).expect_err("no scene");
    assert!(faults.iter().all(|p| p.message.starts_with("unknown key")), "{faults}");
}

/// Writes a world, reads it, and lets both run on.
fn round_trip(name: &str, before: u32, after: u32, syntax: Syntax) {
    let built_in = gallery::find(name).expect(name);
    let mut world = (built_in.build)().expect(name);
    for _ in 0..before {
        world.step(&(built_in.input)(&world, world.state().tick));
    }
    let about = About { name: name.to_owned(), about: built_in.about.to_owned(), ..About::default() };
    let written = file::write(&world, &about, syntax).expect(name);
    let copy = file::read_text(&written, name, syntax).unwrap_or_else(|problems| panic!("{}", problems.render()));
    let mut copy = copy.build().expect(name);
    assert_eq!(copy.settings(), world.settings(), "{name}");
    assert_eq!(copy.hash(), world.hash(), "{name}, written after {before} steps");
    for _ in 0..after {
        let input = (built_in.input)(&world, world.state().tick);
        world.step(&input);
        copy.step(&input);
    }
    assert_eq!(copy.hash(), world.hash(), "{name}, {after} steps later");
}

#[test]
fn a_running_world_goes_on_from_its_file_with_the_same_bits() {
    // in the grip of jaws, and of anchors
    round_trip("two-tools", 300, 60, Syntax::Toml);
    round_trip("grab-liver", 150, 30, Syntax::Json);
    for scene in gallery::scenes() {
        // the pile is 1024 boxes: enough at its start
        let (before, after) = if scene.name == "pile" { (0, 0) } else { (20, 10) };
        round_trip(scene.name, before, after, Syntax::Toml);
    }
    round_trip("pudding", 20, 10, Syntax::Json);
    round_trip("terrain", 20, 10, Syntax::Json);
}

/// Loads act from a file as they do from code, and a world with them is written and read.
#[test]
fn loads_and_pinned_axes_come_back_from_a_file() {
    let text = "
[settings]
gravity = [0, 0, 0]
[bodies.block]
kind = 'soft'
geometry = { kind = 'block', cells = [2, 2, 2], size = [0.1, 0.1, 0.1] }
material = { youngs_modulus = 1e5, poisson_ratio = 0.3, density = 1000 }
pinned_axes = [
  { region = { min = [-1, -0.051, -1], max = [1, -0.049, 1] }, y = true },
  { region = { min = [-0.051, -1, -1], max = [-0.049, 1, 1] }, x = true, z = true },
]
loads = [
  { region = { min = [-1, 0.049, -1], max = [1, 0.051, 1] }, pressure = 1000 },
  { faces = [0, 1], force = [0.1, 0, 0], ramp = 0.5 },
]
";
    let scene = file::read_text(text, "loads", Syntax::Toml).unwrap_or_else(|problems| panic!("{}", problems.render()));
    let mut world = scene.build().expect("it is a scene");
    for _ in 0..20 {
        world.step(&Input::none());
    }
    // pressed by 1 % of Young's modulus
    let middle = world.bodies().next().expect("one body").center_of_mass().y;
    assert!((middle + 0.5 * 0.01 * 0.1).abs() < 2e-4, "{middle}");
    let written = file::write(&world, &About::default(), Syntax::Toml).expect("it can be written");
    let copy =
        file::read_text(&written, "copy", Syntax::Toml).unwrap_or_else(|problems| panic!("{}", problems.render()));
    let mut copy = copy.build().expect("it was built once");
    for _ in 0..20 {
        world.step(&Input::none());
        copy.step(&Input::none());
        assert_eq!(copy.hash(), world.hash());
    }
    let nowhere = text.replace("0.049, -1], max = [1, 0.051", "5, -1], max = [1, 6");
    let problems = file::read_text(&nowhere, "loads", Syntax::Toml).map(|scene| scene.build().is_err());
    assert!(problems.is_err() || problems.is_ok_and(|refused| refused), "a load on nothing is refused");
}

#[test]
fn laws_grain_and_pairs_come_back_from_a_file_as_they_were() {
    use sinew::friction::{Curve, Dahl, ElastoPlastic, Karnopp, Law, LuGre, Viscous};
    use sinew::{PairRule, PairRules, Pairing, RigidBody, Settings, Shape, SurfaceMaterial, Vec3};
    let curve = Curve { speed: 0.02, exponent: 1.0, viscosity: 0.1 };
    let bristle = LuGre { stiffness: 3e4, damping: 20.0, curve };
    let odd = [
        Law::Viscous(Viscous { viscosity: 0.7, exponent: 1.5 }),
        Law::Karnopp(Karnopp { dead_band: 2e-3, curve }),
        Law::Dahl(Dahl { stiffness: 2e4, exponent: 1.5 }),
        Law::LuGre(bristle),
        Law::ElastoPlastic(ElastoPlastic { bristle, elastic_share: 0.7 }),
    ];
    let table =
        vec![Pairing { families: [4, 2], surface: SurfaceMaterial::friction(0.3).law(odd[0]).restitution(0.1) }];
    let pairs = PairRules { friction: PairRule::Mean, restitution: PairRule::Product, table };
    let mut world = World::new(Settings { pairs, ..Settings::default() }).expect("sane");
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).named("floor")).expect("a floor");
    for (k, law) in Law::all().into_iter().chain(odd).enumerate() {
        let material =
            SurfaceMaterial { static_friction: 0.6, ..SurfaceMaterial::friction(0.4).law(law).family(k as u32) };
        let material = if k % 3 == 0 { material.grain(Vec3::Z, 0.5) } else { material };
        let body = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.05, 0.1)).material(material);
        let body = body.at([0.5 * k as sinew::Real, 0.05, 0.0]).velocity([0.3, 0.0, 0.2]).named(format!("b{k}"));
        world.add_rigid(body).expect("a box");
    }
    for syntax in [Syntax::Toml, Syntax::Json] {
        let written = file::write(&world, &About::default(), syntax).expect("it can be said");
        let scene = file::read_text(&written, "t", syntax).unwrap_or_else(|p| panic!("{}", p.render()));
        let mut copy = scene.build().expect("built once");
        assert_eq!(copy.settings(), world.settings());
        let bodies = |w: &World| format!("{:?}", w.blueprint().expect("a plan").bodies);
        assert!(bodies(&copy) == bodies(&world), "{written}");
        for _ in 0..30 {
            copy.step(&Input::none());
        }
        let mut first = World::build(world.blueprint().expect("a plan"), world.state()).expect("the same world");
        for _ in 0..30 {
            first.step(&Input::none());
        }
        assert_eq!(copy.hash(), first.hash());
    }
}

#[test]
fn a_scene_is_written_with_its_motions_and_goes_on_by_them() {
    let scene = open("press");
    let mut world = scene.build().expect("press");
    run(&scene, &mut world, 40);
    let written = file::write_scene(&world, &About::default(), &scene, Syntax::Toml).expect("press");
    let copy_scene = text(&written);
    let mut copy = copy_scene.build().expect("press");
    assert_eq!(copy_scene.camera(), scene.camera());
    run(&scene, &mut world, 40);
    run(&copy_scene, &mut copy, 40);
    assert_eq!(copy.hash(), world.hash());
}

#[test]
fn a_world_written_without_its_state_starts_from_its_rigid_bodies() {
    let built_in = gallery::find("chain").expect("chain");
    let mut world = (built_in.build)().expect("chain");
    for _ in 0..10 {
        world.step(&Input::none());
    }
    let about = About { bodies_only: true, ..About::default() };
    let written = file::write(&world, &about, Syntax::Toml).expect("chain");
    let copy = text(&written).build().expect("chain");
    for (a, b) in world.bodies().zip(copy.bodies()) {
        assert!((a.position() - b.position()).length() < 1e-5, "{}", a.name());
        assert_eq!(a.velocity(), b.velocity(), "{}", a.name());
    }
    assert_eq!(copy.state().tick, 0);
}

const BALL: &str = "[parameters]\nsize = 0.5\n[bodies.floor]\nkind = 'fixed'\nshape = 'half_space'\n\
    [bodies.ball]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = '$size' }\nmass = 1\nposition = [0, 2, 0]\nsurface = 0.2\n";

fn with(sets: &[&str]) -> World {
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    let scene = file::read_text_with(BALL, "ball.toml", Syntax::Toml, &sets);
    scene.unwrap_or_else(|problems| panic!("{}", problems.render())).build().expect("built once")
}

fn ball(world: &World) -> sinew::BodyView<'_> {
    world.bodies().find(|b| b.name() == "ball").expect("the ball")
}

#[test]
fn changes_of_the_command_line_arrive() {
    assert_eq!(ball(&with(&["bodies.ball.mass=2"])).mass(), 2.0);
    assert_eq!(ball(&with(&["bodies.ball.position.y = 3"])).position().y, 3.0);
    assert_eq!(ball(&with(&["bodies.ball.position[1]=4"])).position().y, 4.0);
    assert_eq!(ball(&with(&["bodies.ball.position=[1,2,3]"])).position().x, 1.0);
    assert_eq!(with(&["settings.gravity=[0, -1.6, 0]"]).settings().gravity.y, -1.6);
    assert_eq!(with(&["settings.contact.kind=soft", "settings.contact.frequency=60"]).settings().substeps, 4);
    let big = with(&["parameters.size=0.75"]);
    let radius = ball(&big).shapes().next().map(|(_, shape)| shape.clone());
    assert_eq!(radius, Some(sinew::Shape::ball(0.75)));
    // a number that stands for a table becomes one
    with(&["bodies.ball.surface.restitution=0.5"]);
    with(&["bodies.ball.kind=kinematic"]);
}

#[test]
fn json_says_the_same_as_toml() {
    let json = r#"{"parameters": {"size": 0.5}, "bodies": {
        "floor": {"kind": "fixed", "shape": "half_space"},
        "ball": {"kind": "dynamic", "shape": {"kind": "ball", "radius": "$size"}, "mass": 1, "position": [0, 2, 0], "surface": 0.2}
    }}"#;
    let scene = file::read_text(json, "ball.json", Syntax::Json).unwrap_or_else(|p| panic!("{}", p.render()));
    let (mut a, mut b) = (scene.build().expect("json"), with(&[]));
    for _ in 0..60 {
        a.step(&Input::none());
        b.step(&Input::none());
    }
    assert_eq!(a.hash(), b.hash());
}

#[test]
fn a_kinematic_body_follows_its_keys() {
    let scene = open("press");
    let mut world = scene.build().expect("press");
    let at = |world: &World| world.bodies().find(|b| b.name() == "plate").expect("plate").position().y;
    run(&scene, &mut world, 30);
    // half way down after half a second
    assert!((at(&world) - 0.2).abs() < 1e-4, "{}", at(&world));
    run(&scene, &mut world, 36);
    assert!((at(&world) - 0.1).abs() < 1e-4, "{}", at(&world));
    run(&scene, &mut world, 114);
    // a period later it is where it was after one second
    assert!((at(&world) - 0.1).abs() < 1e-4, "{}", at(&world));
}

/// A folder of this test's own.
fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sinew-scene-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn files_include_files_and_are_stronger_than_these() {
    let folder = scratch("include");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    write("base.toml", BALL);
    write(
        "main.toml",
        "include = ['base.toml']\n[bodies.ball]\nmass = 3\nshape = { kind = 'box', half_extents = [1, 1, 1] }\n",
    );
    let world =
        file::read(folder.join("main.toml")).unwrap_or_else(|p| panic!("{}", p.render())).build().expect("main");
    assert_eq!((ball(&world).mass(), ball(&world).position().y), (3.0, 2.0));

    write("a.toml", "include = ['b.toml']\n");
    write("b.toml", "include = ['a.toml']\n");
    let refusal = file::read(folder.join("a.toml")).expect_err("a circle").to_string();
    assert!(refusal.contains("b.toml:1:12: include: ") && refusal.contains("includes itself"), "{refusal}");

    // a fault of an included file is reported at its position in that file
    write("bad.toml", "[bodies.x]\nkind = 'fixed'\nmas = 1\n");
    write("outer.toml", "include = ['bad.toml']\n");
    let refusal = file::read(folder.join("outer.toml")).expect_err("a slip").to_string();
    assert!(refusal.contains("bad.toml:3:1: bodies.x.mas: unknown key 'mas'; did you mean 'mass'?"), "{refusal}");
    std::fs::remove_dir_all(folder).expect("the folder goes");
}

#[test]
fn meshes_come_from_files_beside_the_scene() {
    let folder = scratch("mesh");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    write("corner.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
    write(
        "m.toml",
        "[bodies.hard]\nkind = 'dynamic'\nshape = { kind = 'mesh_hull', surface = { kind = 'file', file = 'corner.obj', scale = 2 } }\n\
         [bodies.soft]\nkind = 'soft'\ngeometry = { kind = 'file', file = 'corner.obj', edge = 0.3 }\nmaterial = 'rubber'\n",
    );
    let scene = file::read(folder.join("m.toml")).unwrap_or_else(|p| panic!("{}", p.render()));
    let world = scene.build().expect("m");
    let hard = world.bodies().next().expect("hard");
    // 2 x 2 x 2 / 6 m³ of water
    assert!((hard.mass() / (8000.0 / 6.0) - 1.0).abs() < 1e-3, "{}", hard.mass());
    assert!(scene.counts().nodes > 10);
    std::fs::remove_dir_all(folder).expect("the folder goes");
}

#[test]
fn a_surface_as_voxels_is_the_one_of_the_library_or_refused_by_name() {
    let ground = |cell: &str| {
        let surface = "{ kind = 'ball', radius = 0.5, cells = 8 }";
        let text = format!(
            "[bodies.ground]\nkind = 'fixed'\nshape = {{ kind = 'mesh_voxels', cell = {cell}, surface = {surface} }}\n"
        );
        file::read_text(&text, "v.toml", Syntax::Toml)
    };
    let world = ground("0.1").unwrap_or_else(|p| panic!("{}", p.render())).build().expect("v");
    let body = world.bodies().next().expect("ground");
    let ball = TriMesh::ball(0.5, 8).expect("ball");
    let (Some((_, Shape::Voxels { cells: got, .. })), Ok(Shape::Voxels { cells: want, .. })) =
        (body.shapes().next(), Shape::voxelized(&ball.vertices, &ball.triangles, 0.1))
    else {
        panic!("no voxels")
    };
    assert_eq!(*got, want);
    let refusal = ground("1e-4").expect_err("too many").to_string();
    assert!(refusal.contains("bodies.ground.shape") && refusal.contains("larger cells"), "{refusal}");
}

/// A balloon of cloth, a curtain on anchors sewn to a second one, and a soft block hinged to a bar.
const SEWN: &str = r#"
[bodies.floor]
kind = "fixed"
shape = "half_space"

[bodies.balloon]
kind = "soft"
geometry = { kind = "surface", surface = { kind = "ball", radius = 0.1, cells = 6 } }
model = { kind = "springs" }
thickness = 0.002
position = [0, 0.5, 0]
gravity_scale = 0.1

[bodies.left]
kind = "soft"
geometry = { kind = "sheet", cells = [4, 4], size = [0.4, 0.4] }
model = { kind = "pbd_sheet", stretch = 2000, bend = 0, density = 0.2 }
position = [1, 1, 0]

[bodies.right]
kind = "soft"
geometry = { kind = "sheet", cells = [4, 4], size = [0.4, 0.4] }
model = { kind = "pbd_sheet", stretch = 2000, bend = 0, density = 0.2 }
position = [1.4, 1, 0]

[bodies.bar]
kind = "dynamic"
shape = { kind = "box", half_extents = [0.2, 0.01, 0.01] }
position = [-1, 1, 0]

[bodies.block]
kind = "soft"
geometry = { kind = "block", cells = [2, 2, 2], size = [0.1, 0.1, 0.1] }
material = "rubber"
position = [-1, 0.93, 0]

[joints.skin]
kind = "distance_set"
body = "balloon"
push = 0

[joints.folds]
kind = "bending"
body = "balloon"
stiffness = 1e-4

[joints.air]
kind = "volume"
body = "balloon"
inside = { kind = "gas", pressure = 200 }

[joints.hook]
kind = "attach"
pairs = [
    { point = { kind = "node", body = "left", node = 0 } },
    { point = { kind = "surfel", body = "left", surfel = 4 }, to = { kind = "here", body = "bar" } },
    { point = { kind = "node", body = "right", node = 24 }, to = { kind = "at", site = { kind = "world", point = [1.6, 1.1, 0.2] } } },
]
stiffness = 500
damping = 1

[joints.seam]
kind = "seam"
a = "left"
b = "right"
reach = 0.01

[joints.grip]
kind = "patch"
free = "hinge"
body = "block"
surfels = [0, 1, 2, 3]
to = "bar"
axis = [0, 0, 1]
"#;

#[test]
fn constraints_on_nodes_are_read_held_and_written_back_bit_by_bit() {
    let scene = text(SEWN);
    let mut world = scene.build().expect("sewn");
    let ids: Vec<_> = world.blueprint().expect("plain data").constraints.into_iter().map(|s| s.item).collect();
    assert_eq!(ids.len(), 6);
    run(&scene, &mut world, 20);
    assert_eq!(world.report().faults, []);
    // the seam: five points of an edge of each sheet lie on each other
    let forces: Vec<_> = world.report().constraints.iter().map(|c| c.largest).collect();
    assert!(forces.iter().filter(|f| **f > 0.0).count() >= 5, "{forces:?}");
    for syntax in [Syntax::Toml, Syntax::Json] {
        let written = file::write(&world, &About::default(), syntax).expect("sewn");
        let copy = file::read_text(&written, "copy", syntax).unwrap_or_else(|problems| panic!("{}", problems.render()));
        let mut copy = copy.build().expect("sewn");
        let mut twin = scene.build().expect("sewn");
        run(&scene, &mut twin, 20);
        assert_eq!(copy.hash(), twin.hash());
        for _ in 0..10 {
            twin.step(&Input::none());
            copy.step(&Input::none());
        }
        assert_eq!(copy.state().first_difference(twin.state()), None);
    }
}

#[test]
fn fill_fractions_and_a_reserve_are_read_and_written_back_bit_by_bit() {
    const BLOCK: &str = "[bodies.block]\nkind = 'soft'\nmaterial = 'jelly'\n\
                         geometry = { kind = 'block', cells = [1, 1, 1], size = [0.1, 0.1, 0.1] }\n";
    let mass = |world: &World| world.bodies().next().expect("the block").mass();
    let full = text(BLOCK).build().expect("full");
    let scene = text(&format!("{BLOCK}fill = [1, 0.5, 0.5, 0.5, 0.5, 1]\nreserve = {{ nodes = 9, elements = 7 }}\n"));
    let mut world = scene.build().expect("with a reserve");
    assert!((mass(&world) / mass(&full) - 4.0 / 6.0).abs() < 1e-6);
    for syntax in [Syntax::Toml, Syntax::Json] {
        let written = file::write(&world, &About::default(), syntax).expect("it can be said");
        let copy = file::read_text(&written, "copy", syntax).unwrap_or_else(|problems| panic!("{}", problems.render()));
        let mut copy = copy.build().expect("the same");
        assert_eq!(copy.hash(), world.hash());
        let bodies = |w: &World| format!("{:?}", w.blueprint().expect("plain data").bodies);
        assert!(bodies(&copy) == bodies(&world), "{written}");
        let mut twin = World::build(world.blueprint().expect("plain data"), world.state()).expect("the same world");
        for _ in 0..10 {
            twin.step(&Input::none());
            copy.step(&Input::none());
        }
        assert_eq!(copy.state().first_difference(twin.state()), None);
    }
    // node 8 is a copy of a corner of element 2, which is split
    let id = world.bodies().next().expect("the block").id();
    let item = world.blueprint().expect("plain data").bodies.swap_remove(0).item;
    let Some(BodySpec::Soft(soft)) = item else { panic!("it is soft") };
    let Geometry::Tets(mesh) = &soft.geometry else { panic!("{}", soft.geometry.name()) };
    let [a, b, c, d] = mesh.tets[2];
    let edit = TopologyEdit::new().node(NewNode::Copy(a)).append(&[8, b, c, d]).fill(2, 0.25).fill(6, 0.25);
    world.edit_elements(id, &edit, &mut TopologyDelta::default()).expect("within the reserve");
    let refused = file::write(&world, &About::default(), Syntax::Toml).expect_err("a file has no edits").to_string();
    assert!(refused.contains("save the world instead"), "{refused}");
    let wrong = format!("{BLOCK}fill = [1, 1, 0, 1, 1, 1]\n");
    let problems = file::read_text(&wrong, "t", Syntax::Toml).expect_err("an empty element").render();
    assert!(problems.contains("fill[2]") && problems.contains("above 0 and at most 1"), "{problems}");
}

#[test]
fn pinned_nodes_follow_their_keys_and_pull_the_others() {
    let scene = text(
        r#"
        [bodies.rope]
        kind = "soft"
        geometry = { kind = "rope", from = [0, 1, 0], to = [0, 0.5, 0], segments = 5 }
        model = { kind = "pbd_cord", stretch = 5000, bend = 0, density = 0.1 }
        pinned = [0]

        [motions.pull]
        kind = "nodes"
        body = "rope"
        nodes = [0]
        keys = [{ time = 0, positions = [[0, 1, 0]] }, { time = 1, positions = [[2, 1, 0]] }]
        "#,
    );
    let mut world = scene.build().expect("rope");
    let top = |world: &World| world.bodies().next().expect("the rope").node_positions()[0];
    run(&scene, &mut world, 30);
    // half a second at 2 m/s
    assert!((top(&world).x - 1.0).abs() < 1e-4, "{}", top(&world));
    run(&scene, &mut world, 60);
    assert!((top(&world).x - 2.0).abs() < 1e-4, "it stays at the last key: {}", top(&world));
    let tail = world.bodies().next().expect("the rope").node_positions()[5];
    assert!(tail.x > 1.0, "{tail}");
}

/// A finger of two bones, one with a pad of finite elements, one with a coat of balls, and flesh around both.
const FINGER: &str = r#"
[bodies.floor]
kind = "fixed"
shape = "half_space"

[combined.finger]
group = 7

[combined.finger.bones.upper]
kind = "kinematic"
shape = { kind = "box", half_extents = [0.03, 0.01, 0.01] }
position = [0, 0.3, 0]
tissue = { spacing = 0.01, thickness = 0.008, facing = [0, 1, 0], material = { youngs_modulus = 5e4, poisson_ratio = 0.4, density = 1000, friction = 0.7 } }

[combined.finger.bones.lower]
kind = "dynamic"
shape = { kind = "capsule", half_height = 0.02, radius = 0.01 }
position = [0.05, 0.27, 0]
tissue = { spacing = 0.01, thickness = 0.01, model = { kind = "oriented", frequency = 60, group_size = 4 } }

[combined.finger.flesh.wrap]
geometry = { kind = "block", cells = [5, 2, 2], size = [0.1, 0.05, 0.05] }
model = { kind = "solid", youngs_modulus = 2e4, law = "neo_hookean" }
position = [0, 0.3, 0]
reach = 0.002

[joints.middle]
kind = "hinge"
a = "finger upper"
b = "finger lower"
anchor = [0.04, 0.29, 0]
axis = [0, 0, 1]
motor = { kind = "velocity", target = -1, max_force = 0.05 }

[motions.up]
kind = "target"
body = "finger upper"
smooth = true
keys = [{ time = 0, position = [0, 0.3, 0] }, { time = 1, position = [0, 0.4, 0] }]
"#;

#[test]
fn bones_in_tissue_come_from_a_file_and_go_back_into_one() {
    let scene = text(FINGER);
    let mut world = scene.build().expect("finger");
    let names: Vec<&str> = world.bodies().map(|b| b.name()).collect();
    let right = ["floor", "finger upper", "finger lower", "finger tissue 0", "finger tissue 1", "finger wrap"];
    assert_eq!(names, right);
    run(&scene, &mut world, 20);
    assert_eq!(world.report().faults, []);
    let written = file::write_scene(&world, &About::default(), &scene, Syntax::Toml).expect("it can be said");
    assert!(written.contains("[joints.middle]"), "joints keep their names");
    let copy_scene = text(&written);
    let mut copy = copy_scene.build().expect("the copy");
    assert_eq!(copy.hash(), world.hash());
    run(&scene, &mut world, 20);
    run(&copy_scene, &mut copy, 20);
    assert_eq!(copy.hash(), world.hash());
}

#[test]
fn a_file_of_bones_in_tissue_builds_what_the_builder_builds() {
    use sinew::{Combined, RigidBody, Settings, Shape, SoftModel, Tissue, TissueModel, fem};
    let flesh = fem::Params { youngs_modulus: 5e4, poisson_ratio: 0.4, density: 1000.0, damping: 0.0 };
    let tissue = Tissue::new(TissueModel::Solid(SoftModel::Corotational(flesh)), 0.01, 0.01).cells(2);
    let bone = RigidBody::dynamic().shape(Shape::capsule(0.02, 0.01)).at([0.0, 1.0, 0.0]).named("thumb bone");
    let mut built = World::new(Settings::default()).expect("sane");
    built.add_combined(Combined::new("thumb").covered(bone, tissue)).expect("a thumb");
    let thumb = "[combined.thumb.bones.bone]\nkind = 'dynamic'\nshape = { kind = 'capsule', half_height = 0.02, radius = 0.01 }\n\
        position = [0, 1, 0]\ntissue = { spacing = 0.01, thickness = 0.01, cells = 2, \
        model = { kind = 'corotational', youngs_modulus = 5e4, poisson_ratio = 0.4, density = 1000, damping = 0 } }\n";
    let mut read = text(thumb).build().expect("a thumb");
    for _ in 0..20 {
        built.step(&Input::none());
        read.step(&Input::none());
    }
    assert_eq!(read.hash(), built.hash());
}

#[test]
fn a_constraint_of_a_table_entry_has_a_word_names_and_a_way_back() {
    let scene = text(
        "[bodies.left]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.1 }\nposition = [0, -1, 0]\n\
         [bodies.right]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.1 }\nposition = [1, -1, 0]\n\
         [joints.rope]\nkind = 'pulley'\nlength = 2\na = { kind = 'body', body = 'left' }\nover_a = { kind = 'world', \
         point = [0, 0, 0] }\nb = { kind = 'body', body = 'right' }\nover_b = { kind = 'world', point = [1, 0, 0] }\n",
    );
    let mut world = scene.build().expect("it was built once");
    run(&scene, &mut world, 30);
    // equal masses: the rope holds both
    for body in world.bodies() {
        assert!((body.position().y + 1.0).abs() < 1e-3, "{}", body.position().y);
    }
    let again = file::write(&scene.build().expect("again"), &About::default(), Syntax::Toml).expect("it has a form");
    assert!(again.contains("kind = \"pulley\"") && again.contains("\"right\""), "{again}");
    assert_eq!(text(&again).build().expect("again").hash(), scene.build().expect("again").hash());
    let wrong = "[joints.rope]\nkind = 'pulley'\nlength = 2\na = { kind = 'body', body = 'lost' }\n";
    let problems = file::read_text(wrong, "t.toml", Syntax::Toml).expect_err("ends are missing").to_string();
    assert!(problems.contains("missing key 'over_b'"), "{problems}");
}

#[test]
fn a_tool_of_a_file_presses_what_its_hand_presses() {
    let scene = text(
        r#"
[settings]
dt = 0.002
gravity = [0, 0, 0]

[bodies.floor]
kind = "fixed"
shape = "half_space"

[tools.probe]
body = { shape = { kind = "ball", radius = 0.005 }, mass = 0.02, position = [0, 0.01, 0] }
coupling = { stiffness = 400 }

[motions.hand]
kind = "tool"
tool = "probe"
keys = [{ time = 0, position = [0, 0.01, 0] }, { time = 0.2, position = [0, 0.001, 0] }]
"#,
    );
    let mut world = scene.build().expect("it was built once");
    run(&scene, &mut world, 400);
    let tool = world.tools().next().expect("a tool");
    let tool = world.tool(tool).expect("it is there");
    // 4 mm of 400 N/m, less what the tool sinks in
    let depth = f64::from(tool.pose.position.y - tool.commanded.position.y);
    assert!((tool.on_hand.force.y - 400.0 * depth).abs() < 1e-3, "{}", tool.on_hand.force);
    assert!((tool.contact.force.y - tool.on_hand.force.y).abs() < 1e-2 && depth > 3.5e-3, "{depth}");
}

#[test]
fn faults_of_tools_are_told_with_their_places() {
    let faults = |text: &str| {
        let problems = file::read_text(text, "t.toml", Syntax::Toml).expect_err("it is wrong");
        problems.iter().map(|p| format!("{}: {}", p.path, p.message)).collect::<Vec<_>>().join("\n")
    };
    let probe = "[tools.probe]\nbody = { shape = { kind = 'ball', radius = 0.005 } }\n";
    let told = faults(&format!("{probe}coupling = {{ stiffness = 0 }}\n"));
    assert!(told.contains("tools.probe.coupling.stiffness"), "{told}");
    let told = faults(&format!("{probe}grasper = {{ jaws = [{{ shape = 'ball' }}] }}\n"));
    assert!(told.contains("tools.probe"), "{told}");
    let key = "keys = [{ time = 0, position = [0, 0, 0] }]\n";
    let told = faults(&format!("{probe}[motions.hand]\nkind = 'tool'\ntool = 'prob'\n{key}"));
    assert!(told.contains("motions.hand.tool") && told.contains("probe"), "{told}");
    let told = faults(&format!("{probe}[bodies.probe]\nkind = 'dynamic'\nshape = {{ kind = 'ball', radius = 1 }}\n"));
    assert!(told.contains("'probe' already"), "{told}");
}
