//! Loads and nodes held along some axes, against laws: Hooke's law, equilibrium, the divergence theorem, symmetry.

use sinew::*;

const E: Real = 1e5;
const NU: Real = 0.3;
const SIDE: Real = 0.1;
const FAR: Real = 1.0;

/// Without sleep: forces of supports are those of the last step.
fn awake(gravity: Vec3) -> World {
    World::new(Settings { gravity, sleep_time: Real::INFINITY, ..Settings::default() }).unwrap()
}

fn empty_space() -> World {
    awake(Vec3::ZERO)
}

/// Nodes and triangles at coordinate `at` of an axis.
fn plane(axis: usize, at: Real) -> Region {
    let (mut min, mut max) = (Vec3::splat(-FAR), Vec3::splat(FAR));
    (min[axis], max[axis]) = (at - 1e-4, at + 1e-4);
    Region { min, max }
}

fn all() -> Region {
    Region { min: Vec3::splat(-FAR), max: Vec3::splat(FAR) }
}

fn held(axis: usize, at: Real) -> PinnedAxes {
    PinnedAxes { region: plane(axis, at), x: axis == 0, y: axis == 1, z: axis == 2 }
}

/// Solids by name, with whether they are swept.
fn solids(mesh: &TetMesh) -> Vec<(&'static str, bool, SoftBody)> {
    let solid = |law, elements, integrator| {
        let params = fem::SolidParams {
            youngs_modulus: E,
            poisson_ratio: NU,
            law,
            elements,
            integrator,
            ..fem::SolidParams::default()
        };
        SoftBody::new(Geometry::Tets(mesh.clone()), SoftModel::Solid(params))
    };
    use fem::{Elements, Integrator, Law};
    let params = fem::Params { youngs_modulus: E, poisson_ratio: NU, density: 1000.0, damping: 0.0 };
    vec![
        ("corotational", false, SoftBody::new(Geometry::Tets(mesh.clone()), SoftModel::Corotational(params))),
        ("four nodes", false, solid(Law::NeoHookean, Elements::Tet4, Integrator::Implicit)),
        ("ten nodes", false, solid(Law::Corotational, Elements::Tet10, Integrator::Implicit)),
        // the slowest vibration is critically damped
        ("explicit", true, solid(Law::Corotational, Elements::Tet4, Integrator::Explicit).damping(80.0)),
    ]
}

fn run(world: &mut World, steps: usize, swept: bool) {
    for _ in 0..steps {
        let report = world.step(&Input::none());
        assert!(report.faults.is_empty());
        assert_eq!(report.soft.iter().all(|s| !s.implicit), swept);
    }
}

/// Mean position along an axis of the nodes that a region of the rest shape holds.
fn mean(world: &World, body: BodyId, rest: &[Vec3], region: Region, axis: usize) -> Real {
    let now = world.body(body).unwrap().node_positions();
    let there: Vec<Real> = (0..now.len()).filter(|&n| region.contains(rest[n])).map(|n| now[n][axis]).collect();
    there.iter().sum::<Real>() / there.len() as Real
}

/// A block of side 0.1 m on rollers at three faces, its top pressed: strain −p/E down, ν p/E sideways.
#[test]
fn a_pressed_block_on_rollers_has_the_strain_of_hookes_law() {
    let mesh = TetMesh::block([3, 3, 3], Vec3::splat(SIDE)).unwrap();
    // small strains: the law of the model and the change of the loaded area are of second order
    let pressure = 1e-3 * E;
    for turn in [Quat::IDENTITY, Quat::from_axis_angle(Vec3::new(1.0, 2.0, -2.0) / 3.0, 0.7)] {
        for (name, swept, body) in solids(&mesh) {
            let mut world = empty_space();
            let body = body
                .turned(turn)
                .pin_axes(held(0, -0.5 * SIDE))
                .pin_axes(held(1, -0.5 * SIDE))
                .pin_axes(held(2, -0.5 * SIDE))
                .load(Load::pressure(plane(1, 0.5 * SIDE), pressure));
            let body = world.add_soft(body).unwrap();
            let back = turn.inverse();
            let placed = |world: &World| -> Vec<Vec3> {
                world.body(body).unwrap().node_positions().iter().map(|x| back * *x).collect()
            };
            let rest = placed(&world);
            run(&mut world, 180, swept);
            let now = placed(&world);
            for (axis, expected) in [(1, -1e-3), (0, NU * 1e-3), (2, NU * 1e-3)] {
                for n in (0..rest.len()).filter(|&n| plane(axis, 0.5 * SIDE).contains(rest[n])) {
                    let strain = (now[n][axis] - rest[n][axis]) / SIDE;
                    // second order, and rounding of positions
                    let tolerance = 5e-3 * 1e-3 + 4.0 * Real::EPSILON;
                    assert!((strain - expected).abs() < tolerance, "{name}, axis {axis}: {strain}");
                }
            }
            // the supports carry the load
            let carried = world.report().constraints.iter().fold(Vec3::ZERO, |sum, c| sum + c.force);
            let load = turn * Vec3::new(0.0, pressure * SIDE * SIDE, 0.0);
            assert!((carried - load).length() < 5e-3 * load.length(), "{name}: {carried} for {load}");
        }
    }
}

/// A force over a face, over nodes of a region without a triangle, and a weight: the supports carry their sum.
#[test]
fn supports_carry_the_force_and_the_weight() {
    let mesh = TetMesh::block([2, 3, 2], Vec3::splat(SIDE)).unwrap();
    let force = Vec3::new(0.4, -2.0, 0.7);
    for (name, swept, body) in solids(&mesh) {
        // a node inside the block: by mass
        let inside = Region { min: Vec3::splat(-0.02), max: Vec3::splat(0.02) };
        let body = body
            .pin_axes(PinnedAxes { region: plane(1, -0.5 * SIDE), x: true, y: true, z: true })
            .load(Load::force(plane(1, 0.5 * SIDE), force * 0.75))
            .load(Load::force(inside, force * 0.25));
        let mut world = awake(Vec3::NEG_Y * 9.81);
        let body = world.add_soft(body).unwrap();
        run(&mut world, 180, swept);
        let carried = world.report().constraints.iter().fold(Vec3::ZERO, |sum, c| sum + c.force);
        let load = force + world.settings().gravity * world.body(body).unwrap().mass();
        assert!((carried + load).length() < 2e-3 * load.length(), "{name}: {carried} for {load}");
    }
}

/// The integral of the normal over a closed surface is zero: uniform pressure moves no body, and turns none.
#[test]
fn a_closed_surface_under_pressure_has_no_resultant() {
    let mesh = TetMesh::block([3, 2, 4], Vec3::new(0.1, 0.07, 0.13)).unwrap();
    let pressure = 0.1 * E;
    let turn = Quat::from_axis_angle(Vec3::new(2.0, 1.0, -2.0) / 3.0, 1.1);
    let mut bodies = solids(&mesh);
    // a skin that is not the boundary of its mesh
    let mut skinned = bodies[0].2.clone();
    skinned.skin = Some(Skin { mesh: TriMesh::ball(0.03, 3).unwrap(), offset: 0.0 });
    bodies.push(("skin", false, skinned));
    for (name, swept, body) in bodies {
        let mut world = empty_space();
        let body = world.add_soft(body.turned(turn).load(Load::pressure(all(), pressure))).unwrap();
        let start = world.body(body).unwrap().center_of_mass();
        run(&mut world, 30, swept);
        let view = world.body(body).unwrap();
        // against the momentum that the pressure on one face would give in this time
        let impulse = pressure * 0.07 * 0.1 * 30.0 / 60.0;
        assert!(view.velocity().length() * view.mass() < 1e-5 * impulse, "{name}: {}", view.velocity());
        assert!(view.angular_momentum().length() < 1e-5 * impulse * 0.1, "{name}: {}", view.angular_momentum());
        assert!((view.center_of_mass() - start).length() < 1e-5, "{name}");
        // it shrinks: nothing else holds the load
        let size = view.node_positions().iter().map(|x| (*x - start).length()).fold(0.0, Real::max);
        assert!(name == "skin" || size < 0.98 * 0.5 * Vec3::new(0.1, 0.07, 0.13).length(), "{name}: {size}");
    }
}

/// A mesh with its mirror images at the planes x = x₀ and z = z₀ of its least coordinates.
fn mirrored(quarter: &TetMesh) -> TetMesh {
    let least = quarter.vertices.iter().fold(Vec3::splat(FAR), |least, p| least.min(*p));
    let mut mesh = quarter.clone();
    for axis in [0, 2] {
        let mut image = Vec::new();
        for k in 0..mesh.vertices.len() {
            let mut p = mesh.vertices[k];
            p[axis] = 2.0 * least[axis] - p[axis];
            if (p[axis] - least[axis]).abs() < 1e-6 {
                image.push(k as u32);
            } else {
                image.push(mesh.vertices.len() as u32);
                mesh.vertices.push(p);
            }
        }
        for t in 0..mesh.tets.len() {
            let [a, b, c, d] = mesh.tets[t].map(|n| image[n as usize]);
            mesh.tets.push([b, a, c, d]);
        }
    }
    mesh
}

/// A quarter with symmetry planes deforms as that part of the whole body: base held, a part of the top pressed.
#[test]
fn a_quarter_with_symmetry_planes_equals_the_whole() {
    let quarter = TetMesh::block([2, 3, 2], Vec3::splat(SIDE)).unwrap();
    let whole = mirrored(&quarter);
    let pressed = Region { min: Vec3::new(-0.11, 0.049, -0.11), max: Vec3::new(0.01, 0.051, 0.01) };
    for ((name, swept, part), (_, _, full)) in solids(&quarter).into_iter().zip(solids(&whole)) {
        let make = |body: SoftBody, planes: bool| {
            let base = plane(1, -0.5 * SIDE);
            let body = body.pin_region(base.min, base.max).load(Load::pressure(pressed, 0.05 * E));
            let body = if planes { body.pin_axes(held(0, -0.5 * SIDE)).pin_axes(held(2, -0.5 * SIDE)) } else { body };
            let mut world = empty_space();
            let id = world.add_soft(body).unwrap();
            let rest = world.body(id).unwrap().node_positions().to_vec();
            run(&mut world, 240, swept);
            let moved: Vec<Vec3> =
                world.body(id).unwrap().node_positions().iter().zip(&rest).map(|(x, r)| *x - *r).collect();
            (rest, moved)
        };
        let ((rest, quarter), (full_rest, full)) = (make(part, true), make(full, false));
        let largest = full.iter().map(|u| u.length()).fold(0.0, Real::max);
        assert!(largest > 2e-3, "{name}: {largest}");
        for (p, u) in rest.iter().zip(&quarter) {
            let same = full_rest.iter().position(|q| (*q - *p).length() < 1e-5).expect("the node is in both");
            assert!((full[same] - *u).length() < 5e-3 * largest, "{name} at {p}: {u} and {}", full[same]);
        }
    }
}

/// A sheet pulled by its end, its other end on rollers: the strain of plane stress.
#[test]
fn a_pulled_sheet_on_rollers_has_the_strain_of_plane_stress() {
    let mesh = TriMesh::sheet([6, 3], [0.2, 0.1], Diagonals::Alternating).unwrap();
    let across = |mesh: &TriMesh| {
        let extent = |axis: usize| mesh.vertices.iter().map(|p| p[axis]).fold(0.0, Real::max);
        (0..3).find(|&axis| extent(axis) < 1e-6).expect("a sheet is flat")
    };
    let (out, thickness) = (across(&mesh), 0.002);
    let material = fem::PlaneStress::Isotropic { youngs_modulus: E, poisson_ratio: NU };
    let params = fem::MembraneParams { material, thickness, ..fem::MembraneParams::default() };
    let mut world = empty_space();
    let body = SoftBody::new(Geometry::Sheet(mesh.clone()), SoftModel::Membrane(params));
    let force = 1e-3 * E * thickness * 0.1;
    let flat = PinnedAxes { region: all(), x: out == 0, y: out == 1, z: out == 2 };
    let body = body.pin_axes(held(0, -0.1)).pin_axes(flat);
    // the end without triangles inside the region: by mass, half as much at its corners
    let body = world.add_soft(body.load(Load::force(plane(0, 0.1), Vec3::X * force))).unwrap();
    run(&mut world, 240, false);
    let end = mean(&world, body, &mesh.vertices, plane(0, 0.1), 0);
    assert!((end - 0.1 - 2e-4).abs() < 5e-3 * 2e-4 + Real::EPSILON, "{end}");
}

/// A load that rises is a fraction of its value, and keeps its body awake.
#[test]
fn a_ramped_load_rises_linearly_from_time_zero() {
    let mesh = TetMesh::block([2, 2, 2], Vec3::splat(SIDE)).unwrap();
    let (_, _, body) = solids(&mesh).swap_remove(0);
    let body = body.pin_axes(PinnedAxes { region: plane(1, -0.5 * SIDE), x: true, y: true, z: true });
    let mut world = empty_space();
    world.add_soft(body.load(Load::force(plane(1, 0.5 * SIDE), Vec3::X * 3.0).ramp(4.0))).unwrap();
    for (time, fraction) in [(1.0, 0.25), (2.0, 0.5), (4.0, 1.0), (5.0, 1.0)] {
        while world.time() < time - 1e-6 {
            world.step(&Input::none());
        }
        let carried = world.report().constraints.iter().fold(Vec3::ZERO, |sum, c| sum + c.force);
        assert!((carried.x + 3.0 * fraction).abs() < 0.01, "{time} s: {carried}");
    }
}

#[test]
fn loads_are_replaced_and_kept_by_a_rebuilt_world() {
    let mesh = TetMesh::block([2, 2, 2], Vec3::splat(SIDE)).unwrap();
    let (_, _, body) = solids(&mesh).swap_remove(0);
    let mut world = empty_space();
    let load = |p: Real| Load::pressure(plane(1, 0.5 * SIDE), p).ramp(0.5);
    let id = world.add_soft(body.pin_axes(held(1, -0.5 * SIDE)).load(load(100.0))).unwrap();
    for k in 0..40 {
        if k == 20 {
            world.set_loads(id, vec![load(300.0)]).unwrap();
        }
        world.step(&Input::none());
    }
    let mut twin = World::build(world.blueprint().unwrap(), world.state()).unwrap();
    for _ in 0..20 {
        world.step(&Input::none());
        twin.step(&Input::none());
        assert_eq!(twin.hash(), world.hash());
    }
    // without loads it goes back
    let pressed = world.body(id).unwrap().center_of_mass().y;
    world.set_loads(id, Vec::new()).unwrap();
    run(&mut world, 60, false);
    assert!(world.body(id).unwrap().center_of_mass().y > pressed + 1e-5);
}

#[test]
fn loads_and_pins_that_act_on_nothing_are_refused_by_name() {
    let mesh = TetMesh::block([2, 2, 2], Vec3::splat(SIDE)).unwrap();
    let body = || solids(&mesh).swap_remove(0).2.named("cube");
    let nowhere = Region { min: Vec3::splat(5.0), max: Vec3::splat(6.0) };
    let interior = Region { min: Vec3::splat(-0.01), max: Vec3::splat(0.01) };
    for (body, expected) in [
        (body().load(Load::pressure(interior, 1.0)), "soft body 'cube'.loads[0]: no triangle"),
        (body().load(Load::force(nowhere, Vec3::X)), "soft body 'cube'.loads[0]: no triangle and no node"),
        (body().load(Load { region: Some(all()), ..Load::default() }), "neither a pressure nor a force"),
        (body().load(Load { faces: vec![999], pressure: 1.0, ..Load::default() }), "no triangle 999"),
        (body().pin_axes(PinnedAxes { region: nowhere, x: true, y: false, z: false }), "pinned_axes[0]: no node"),
        (body().pin_axes(PinnedAxes { region: all(), x: false, y: false, z: false }), "it holds no axis"),
    ] {
        let error = world_error(body);
        assert!(error.contains(expected), "{error}");
    }
}

fn world_error(body: SoftBody) -> String {
    World::default().add_soft(body).expect_err("it acts on nothing").to_string()
}

/// Every kind of model carries its weight, and a box on it, at its pinned nodes.
#[test]
fn pinned_nodes_carry_the_weight_and_what_lies_on_it() {
    let mesh = TetMesh::block([2, 2, 2], Vec3::splat(SIDE)).unwrap();
    let sheet = TriMesh::sheet([6, 6], [0.3, 0.3], Diagonals::Alternating).unwrap();
    let rim: Vec<u32> = (0..49).filter(|n| n % 7 == 0 || n % 7 == 6 || n / 7 == 0 || n / 7 == 6).collect();
    let springs = spring::Params { stiffness: spring::Stiffness::Young(E), ..spring::Params::default() };
    let pbd = |structure| SoftModel::Pbd(structure, pbd::Params::default());
    let low = plane(1, -0.5 * SIDE);
    let mut bodies: Vec<(&str, SoftBody)> =
        solids(&mesh).into_iter().map(|(name, _, body)| (name, body.pin_region(low.min, low.max))).collect();
    let tets = || Geometry::Tets(mesh.clone());
    bodies.push(("springs", SoftBody::new(tets(), SoftModel::Springs(springs)).pin_region(low.min, low.max)));
    let solid = pbd(pbd::Structure::Solid(pbd::Solid { youngs_modulus: E, poisson_ratio: NU, density: 1000.0 }));
    bodies.push(("pbd solid", SoftBody::new(tets(), solid).pin_region(low.min, low.max)));
    let fabric = pbd::Sheet {
        stretch: 1e4,
        bend: 0.0,
        density: 0.3,
        compression: 0.1,
        skip_stiffness: 0.0,
        stretch_limit: Real::INFINITY,
    };
    let cloth = SoftBody::new(Geometry::Sheet(sheet), pbd(pbd::Structure::Sheet(fabric)));
    // air keeps a cloth out of SoA
    let airy = cloth.clone().air(Air::default());
    bodies.push(("cloth", cloth.pinned(rim.clone())));
    bodies.push(("cloth by rows", airy.pinned(rim)));
    for (name, body) in bodies {
        for extra in [0.0, 0.2] {
            let mut world = awake(Vec3::NEG_Y * 9.81);
            let id = world.add_soft(body.clone().damping(30.0)).unwrap();
            if extra > 0.0 {
                let top = world.body(id).unwrap().node_positions().iter().map(|x| x.y).fold(-1.0, Real::max);
                let brick = RigidBody::dynamic().shape(Shape::cuboid(0.04, 0.01, 0.04)).mass(extra);
                world.add_rigid(brick.at([0.0, top + 0.0101, 0.0])).unwrap();
            }
            for _ in 0..480 {
                world.step(&Input::none());
            }
            let view = world.body(id).unwrap();
            let weight = 9.81 * (view.node_masses().iter().sum::<Real>() + extra);
            let error = (view.reaction() - Vec3::Y * weight).length() / weight;
            assert!(error < 0.01, "{name}, {extra} kg on it: {} N for {weight} N", view.reaction());
        }
    }
}

/// Axes count as supports, loads as what they carry, and a body that is not held has no reaction.
#[test]
fn reactions_of_pinned_axes_balance_the_loads() {
    let mesh = TetMesh::block([2, 2, 2], Vec3::splat(SIDE)).unwrap();
    for (name, swept, body) in solids(&mesh) {
        let mut world = empty_space();
        let free = world.add_soft(body.clone().at([1.0, 0.0, 0.0])).unwrap();
        let pressed = body.pin_axes(held(1, -0.5 * SIDE)).load(Load::pressure(plane(1, 0.5 * SIDE), 0.01 * E));
        let pressed = world.add_soft(pressed).unwrap();
        run(&mut world, 180, swept);
        let load = 0.01 * E * SIDE * SIDE;
        let reaction = world.body(pressed).unwrap().reaction();
        // the loaded area grows by 2 ν p/E
        assert!((reaction - Vec3::Y * load).length() < 0.01 * load, "{name}: {reaction}");
        assert_eq!(world.body(free).unwrap().reaction(), Vec3::ZERO);
    }
}
