//! Modal bodies by themselves and in a world: momentum, energy, contact, saves.

use sinew::deformable::Alone;
use sinew::*;
use sinew_modal::{NAME, Params, body, make};

fn bar() -> TetMesh {
    TetMesh::block([6, 2, 2], Vec3::new(0.6, 0.2, 0.2)).unwrap()
}

fn alone(params: &Params) -> Alone {
    let mesh = bar();
    let nodes = mesh.vertices.clone();
    let spec = body(mesh.clone(), params).unwrap();
    let SoftModel::Custom(model) = &spec.model else { panic!("a model of the user's kind") };
    let built = make(&Geometry::Tets(mesh), model.params()).unwrap();
    Alone::new(Boxed(built), &nodes)
}

/// A boxed model as a model.
#[derive(Debug)]
struct Boxed(Box<dyn sinew::deformable::Deformable>);

impl sinew::deformable::Deformable for Boxed {
    fn masses(&self) -> &[Real] {
        self.0.masses()
    }
    fn traits(&self) -> sinew::deformable::Traits {
        self.0.traits()
    }
    fn predict(&mut self, ctx: &sinew::deformable::StepContext<'_>, body: sinew::deformable::BodyMut<'_>) {
        self.0.predict(ctx, body);
    }
    fn advance(&mut self, ctx: &sinew::deformable::StepContext<'_>, body: sinew::deformable::BodyMut<'_>) {
        self.0.advance(ctx, body);
    }
    fn energy(&self, body: sinew::deformable::BodyRef<'_>) -> Real {
        self.0.energy(body)
    }
    fn forces(&self, body: sinew::deformable::BodyRef<'_>, out: &mut [Vec3]) -> bool {
        self.0.forces(body, out)
    }
}

fn momenta(body: &Alone) -> [[f64; 3]; 2] {
    let masses = body.model.masses();
    let wide = |v: &[Real; 4]| [f64::from(v[0]), f64::from(v[1]), f64::from(v[2])];
    let (mut p, mut l) = ([0.0; 3], [0.0; 3]);
    for ((x, v), m) in body.x.iter().zip(&body.v).zip(masses) {
        let (x, v, m) = (wide(x), wide(v), f64::from(*m));
        for a in 0..3 {
            let [b, c] = [(a + 1) % 3, (a + 2) % 3];
            p[a] += m * v[a];
            l[a] += m * (x[b] * v[c] - x[c] * v[b]);
        }
    }
    [p, l]
}

/// A force off the centre for one step, then nothing: linear and angular momentum stay, while the bar rings and turns.
#[test]
fn a_free_bar_keeps_its_momentum_while_it_rings() {
    let mut body = alone(&Params { damping: [0.0; 2], ..Params::default() });
    let h = 1.0 / 240.0;
    body.force[3] = Vec3::new(30.0, 200.0, -90.0);
    body.step(h);
    body.force[3] = Vec3::ZERO;
    let [p, l] = momenta(&body);
    let size = |v: [f64; 3]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let wanted = size([30.0, 200.0, -90.0]) / 240.0;
    assert!((size(p) / wanted - 1.0).abs() < 1e-5, "{p:?}");
    assert!(f64::from(body.energy()) > 1e-4, "{}", body.energy());
    for _ in 0..2000 {
        body.step(h);
    }
    let [p1, l1] = momenta(&body);
    for a in 0..3 {
        assert!((p1[a] - p[a]).abs() < 2e-5 * wanted, "{p:?} {p1:?}");
        // arms grow as it flies: so does the rounding of x × p
        assert!((l1[a] - l[a]).abs() < 1e-3 * size(l), "{l:?} {l1:?}");
    }
}

/// Sixty seconds in steps of 1/240 s without damping: the energy of a bar that rings symmetrically, by its nodes.
#[test]
fn a_free_bar_without_damping_keeps_its_energy_for_a_minute() {
    let mut body = alone(&Params { damping: [0.0; 2], modes: 8, ..Params::default() });
    let rest: Vec<[Real; 4]> = body.x.clone();
    // stretched about its centre: no momentum and no angular momentum
    for (v, x) in body.v.iter_mut().zip(&rest) {
        (v[0], v[1]) = (0.5 * x[0], 0.3 * x[0] * x[0]);
    }
    body.step(1.0 / 240.0);
    let total = |body: &Alone| {
        let kinetic: f64 = body
            .v
            .iter()
            .zip(body.model.masses())
            .map(|(v, m)| 0.5 * f64::from(*m) * v[..3].iter().map(|v| f64::from(*v) * f64::from(*v)).sum::<f64>())
            .sum();
        kinetic + f64::from(body.energy())
    };
    let start = total(&body);
    for _ in 0..14_400 {
        body.step(1.0 / 240.0);
    }
    let end = total(&body);
    assert!((end / start - 1.0).abs() < 2e-4, "{start} J, {end} J");
}

/// A load at both ends for a long time with damping: modes find their static deflection, W Λ⁻¹ Wᵀ f, at any step.
#[test]
fn a_pulled_bar_finds_its_static_length_at_any_step() {
    let length = |h: Real, steps: u32| {
        let mut body = alone(&Params { damping: [0.02, 5.0], modes: 60, ..Params::default() });
        let nodes = body.x.clone();
        for (f, x) in body.force.iter_mut().zip(&nodes) {
            if x[0].abs() > 0.299 {
                *f = Vec3::X * (4.0 / 9.0 * x[0].signum());
            }
        }
        (0..steps).for_each(|_| body.step(h));
        let end = |side: Real| {
            let on: Vec<Real> =
                nodes.iter().zip(&body.x).filter(|(r, _)| r[0] * side > 0.299).map(|(r, x)| x[0] - r[0]).collect();
            on.iter().sum::<Real>() / on.len() as Real
        };
        end(1.0) - end(-1.0)
    };
    let [coarse, fine] = [length(1.0 / 30.0, 400), length(1.0 / 1000.0, 4000)];
    assert!((coarse / fine - 1.0).abs() < 1e-3, "{coarse} {fine}");
    // F L/(E A) = 4 · 0.6/(1e5 · 0.04)
    assert!((fine / 6e-4 - 1.0).abs() < 0.08, "{fine}");
}

fn dropped() -> (World, BodyId) {
    let mut world = World::default();
    world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(2.0, 0.5, 2.0)).at([0.0, -0.5, 0.0])).unwrap();
    let params = Params { damping: [2e-3, 1.0], ..Params::default() };
    let id = world.add_soft(body(bar(), &params).unwrap().at([0.0, 0.3, 0.0])).unwrap();
    (world, id)
}

/// 0.6 x 0.2 x 0.2 m of water's density: 24 kg.
#[test]
fn a_bar_falls_on_a_box_and_rests_with_its_weight() {
    let (mut world, id) = dropped();
    let mut mean = 0.0;
    for step in 0..360 {
        let report = world.step(&Input::none());
        assert!(report.faults.is_empty());
        if step >= 300 {
            mean += report.contact_force_on(id).y / 60.0;
        }
    }
    let body = world.body(id).unwrap();
    assert!((mean / (24.0 * 9.81) - 1.0).abs() < 0.02, "{mean} N");
    assert!(body.velocity().length() < 0.02, "{}", body.velocity());
    let lowest = body.node_positions().iter().map(|x| x.y).fold(Real::INFINITY, Real::min);
    assert!((-5e-3..5e-3).contains(&lowest), "{lowest} m");
}

#[test]
fn a_saved_bar_continues_with_the_same_bits() -> Result<(), Box<dyn std::error::Error>> {
    let (mut world, _) = dropped();
    (0..20).for_each(|_| {
        world.step(&Input::none());
    });
    let bytes = sinew_wire::save(&world)?;
    let mut twin = sinew_wire::load_with(&bytes, &ModelRegistry::default().with(NAME, make))?;
    let mut touched = 0;
    for _ in 0..40 {
        touched += world.step(&Input::none()).counts.contacts;
        twin.step(&Input::none());
        assert_eq!(twin.hash(), world.hash());
    }
    assert!(touched > 0);
    Ok(())
}

#[test]
fn what_cannot_be_reduced_is_refused_by_name() {
    let told = |mesh: TetMesh, params: Params| body(mesh, &params).unwrap_err();
    assert!(told(bar(), Params { poisson: 0.5, ..Params::default() }).contains("poisson = 0.5"));
    assert!(told(bar(), Params { modes: 300, ..Params::default() }).contains("300 modes"));
    let two = TetMesh::block([1, 1, 1], Vec3::ONE).unwrap();
    assert!(told(two, Params { modes: 60, ..Params::default() }).contains("60 modes are wanted"));
    assert!(told(bar(), Params { damping: [-1.0, 0.0], ..Params::default() }).contains("alpha_1"));
}
