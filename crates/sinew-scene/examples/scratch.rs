use sinew::*;
fn main() {
    for (implicit, c) in [(false, 40.0), (true, 0.0), (true, 40.0), (false, 1.0)] {
        let mut world = World::new(Settings { dt: 1e-3, sleep_time: Real::INFINITY, ..Settings::default() }).unwrap();
        let id = world.add_rigid(RigidBody::dynamic().mass(1.0).inertia(Sym3::diagonal(Vec3::splat(1e-3))).at([0.0, -1.0, 0.0])).unwrap();
        let links = 8u32;
        let points: Vec<Vec3> = (0..=links).map(|k| Vec3::new(0.0, -(k as Real) / links as Real, 0.0)).collect();
        let model = SoftModel::Springs(spring::Params {
            stiffness: spring::Stiffness::Uniform(800.0),
            dashpot: if c > 0.0 { spring::Dashpot::Coefficient(c) } else { spring::Dashpot::None },
            mass: spring::Mass::Total(1e-3),
            bending: 0.0,
            integrator: if implicit { spring::Integrator::Implicit } else { spring::Integrator::SymplecticEuler },
            ..spring::Params::default()
        });
        let rope = world.add_soft(SoftBody::new(Geometry::Rope(points), model).pinned(vec![0])).unwrap();
        world.add_attach(Attach::anchor(Site::Node { body: rope, node: links }, Some(id))).unwrap();
        for k in 0..=6000 {
            if k == 5000 {
                let push = Command::Velocity { body: id, velocity: Vec3::X * 0.06, spin: Vec3::ZERO };
                world.step(&Input::none().with(push));
            } else {
                world.step(&Input::none());
            }
            if k % 500 == 0 {
                let b = world.body(id).unwrap();
                println!("{implicit} {c} {k} y {} x {} v {} soft {:?} it {} end {:?}", b.center_of_mass().y, b.center_of_mass().x, b.velocity(), world.report().soft, world.report().counts.iterations, world.body(rope).unwrap().node_positions()[8]);
            }
        }
    }
}
