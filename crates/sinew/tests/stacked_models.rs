//! Models of every kind stacked on a finite element block: one island, one solve, for every model on top.

use sinew::shape_matching::{Clusters, Damping, Mode};
use sinew::{
    BodyId, ElasticMaterial, Geometry, Input, Real, RigidBody, Settings, Shape, SoftBody, SoftModel, TetMesh, Vec3,
    World, fem, pbd, shape_matching, spring,
};

/// Edges of the block below and of the one on it [m].
const SIDES: [Real; 2] = [0.12, 0.1];
/// Density of all blocks [kg/m³].
const DENSITY: Real = 1000.0;
/// Young's modulus of all blocks [Pa].
const YOUNG: Real = 1e5;

fn block(model: SoftModel, side: Real, bottom: Real) -> SoftBody {
    let mesh = TetMesh::block([4; 3], Vec3::splat(side)).unwrap();
    let surface = ElasticMaterial::new(YOUNG, 0.3, DENSITY).friction(0.6).surface();
    SoftBody::new(Geometry::Tets(mesh), model).material(surface).at([0.0, bottom + 0.5 * side, 0.0])
}

fn finite_elements() -> SoftModel {
    SoftModel::Corotational(fem::Params { youngs_modulus: YOUNG, poisson_ratio: 0.3, density: DENSITY, damping: 0.02 })
}

fn guests() -> [(&'static str, SoftModel); 3] {
    let damping = Damping::Internal { rate: 5.0 };
    let springs = spring::Params {
        stiffness: spring::Stiffness::Young(YOUNG),
        dashpot: spring::Dashpot::Ratio(0.1),
        mass: spring::Mass::Density(DENSITY),
        ..Default::default()
    };
    let solid = pbd::Solid { youngs_modulus: YOUNG, poisson_ratio: 0.35, density: DENSITY };
    let follow =
        shape_matching::Params { mode: Mode::Quadratic { beta: 0.7 }, frequency: 60.0, damping, ..Default::default() };
    [
        ("springs", SoftModel::Springs(springs)),
        ("pbd", SoftModel::Pbd(pbd::Structure::Solid(solid), pbd::Params { damping, ..Default::default() })),
        ("shape matching", SoftModel::ShapeMatching(DENSITY, Clusters::One, follow)),
    ]
}

/// The floor, a block of finite elements, a body of another model on it and a rigid slab on top.
fn stack(guest: SoftModel) -> (World, [BodyId; 4]) {
    let mut world = World::new(Settings { dt: 0.02, sleep_time: Real::INFINITY, ..Settings::default() }).unwrap();
    let surface = ElasticMaterial::new(YOUNG, 0.3, DENSITY).friction(0.6).surface();
    let floor = RigidBody::fixed().shape(Shape::cuboid(1.0, 0.05, 1.0)).at([0.0, -0.05, 0.0]).material(surface);
    let floor = world.add_rigid(floor).unwrap();
    let [low, high] = SIDES;
    let below = world.add_soft(block(finite_elements(), low, 0.002)).unwrap();
    let above = world.add_soft(block(guest, high, low + 0.004)).unwrap();
    let slab = RigidBody::dynamic().shape(Shape::cuboid(0.04, 0.01, 0.04)).mass(0.5).material(surface);
    let slab = world.add_rigid(slab.at([0.0, low + high + 0.016, 0.0])).unwrap();
    (world, [floor, below, above, slab])
}

/// Lowest and highest node of a body [m].
fn heights(world: &World, body: BodyId) -> [Real; 2] {
    let y = world.body(body).unwrap().node_positions().iter().map(|p| p.y).collect::<Vec<_>>();
    [y.iter().copied().fold(Real::INFINITY, Real::min), y.iter().copied().fold(-Real::INFINITY, Real::max)]
}

/// Mean upward force on a body from contacts over some steps [N].
fn carried(world: &mut World, body: BodyId, steps: usize) -> Real {
    let mut sum = 0.0;
    for _ in 0..steps {
        sum += world.step(&Input::none()).contact_force_on(body).y;
    }
    sum / steps as Real
}

#[test]
fn a_body_of_any_model_rests_on_a_finite_element_block_and_transmits_the_weight() {
    for (name, model) in guests() {
        let (mut world, [floor, below, above, slab]) = stack(model);
        let mut deepest: Real = 0.0;
        for step in 0..200 {
            let report = world.step(&Input::none());
            // landed
            if step > 20 {
                deepest = deepest.max(report.penetration);
            }
            assert!(report.faults.is_empty(), "{name}: {:?}", report.faults);
        }
        // a millimetre is a thirtieth of an element
        assert!(deepest < 1e-3, "{name}: {deepest} m deep");
        let (low, high) = (heights(&world, below), heights(&world, above));
        assert!(
            low[0] > -1e-3 && high[0] > low[1] - 5e-3 && high[1] > SIDES[0] + 0.8 * SIDES[1],
            "{name}: {low:?} {high:?}"
        );
        let weight = 9.81 * (DENSITY * SIDES.map(|s| s * s * s).iter().sum::<Real>() + 0.5);
        let force = -carried(&mut world, floor, 20);
        assert!((force / weight - 1.0).abs() < 0.01, "{name}: {force} N of {weight} N on the floor");
        let force = carried(&mut world, slab, 20);
        assert!((force / (9.81 * 0.5) - 1.0).abs() < 0.02, "{name}: {force} N under the slab");
    }
}
