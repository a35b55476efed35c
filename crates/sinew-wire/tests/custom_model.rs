//! A user's model in a world and in a save: a reduced body whose four coordinates are control points of an affine motion,
//! x(X) = Σ w_k(X) q_k, with a full mass matrix.

use sinew::deformable::{Approximation, BodyMut, BodyRef, Coordinates, Deformable, StepContext, Traits};
use sinew::*;
use sinew_wire::{load, load_with, save};

/// Distance of the control points from the centre, divided by √3 [m].
const CAGE: Real = 0.3;
/// Distance of the surface's vertices from the centre [m].
const TIP: Real = 0.1;
/// Edge of the homogeneous cube that gives the inertia [m].
const EDGE: Real = 0.2;
/// [kg]
const MASS: Real = 2.0;
const GRAVITY: Real = 9.81;
/// Height of the lowest vertex above the box at the start [m].
const DROP: Real = 0.2;

/// A homogeneous cube of edge a that moves affinely. With control points c s_k at the corners of a regular tetrahedron,
/// w_k = ¼ + s_k·X/(4c) and, with μ = a²/(12 c²),
///
/// ```text
///   M_kl = m/16 (1 + μ (4δ_kl − 1)),   (M⁻¹)_kl = (1 − 1/μ + 4δ_kl/μ)/m
/// ```
///
/// Its energy is ½ κ |E|² of Green's strain E of F = Σ q_k ∇w_kᵀ.
#[derive(Debug)]
struct Affine {
    /// Row sums of M [kg].
    masses: Vec<Real>,
    /// 1/m [1/kg].
    inverse: Real,
    mu: Real,
    /// ∇w_k [1/m].
    slopes: Vec<Vec3>,
    /// κ [J].
    stiffness: Real,
    /// Largest stable step [s].
    stable_step: Real,
}

fn vec(b: Block) -> Vec3 {
    Vec3::new(b[0], b[1], b[2])
}

impl Affine {
    /// From mass [kg], edge [m] and κ [J] as f64, little-endian.
    fn make(geometry: &Geometry, params: &[u8]) -> Result<Box<dyn Deformable>, String> {
        let numbers: Vec<Real> =
            params.chunks_exact(8).filter_map(|b| Some(f64::from_le_bytes(b.try_into().ok()?) as Real)).collect();
        let ([mass, edge, stiffness], 4) = (&numbers[..], geometry.nodes().len()) else {
            return Err("three numbers and four control points are needed".into());
        };
        let cage = geometry.nodes()[0].length_squared() / 3.0;
        let inertia = mass * edge * edge / 12.0;
        Ok(Box::new(Self {
            masses: vec![0.25 * mass; 4],
            inverse: 1.0 / mass,
            mu: edge * edge / (12.0 * cage),
            slopes: geometry.nodes().iter().map(|x| *x / (4.0 * cage)).collect(),
            stiffness: *stiffness,
            stable_step: 0.5 * (inertia / stiffness).sqrt(),
        }))
    }

    /// M⁻¹ f.
    fn accelerate(&self, force: &[Vec3], mut add: impl FnMut(usize, Vec3)) {
        let sum: Vec3 = force.iter().copied().fold(Vec3::ZERO, |sum, f| sum + f);
        for (k, f) in force.iter().enumerate() {
            add(k, (sum * (1.0 - 1.0 / self.mu) + *f * (4.0 / self.mu)) * self.inverse);
        }
    }

    /// Columns of F.
    fn gradient(&self, x: &[Block]) -> [Vec3; 3] {
        let column = |axis: usize| {
            x.iter().zip(&self.slopes).fold(Vec3::ZERO, |sum, (x, slope)| sum + vec(*x) * slope.to_array()[axis])
        };
        [column(0), column(1), column(2)]
    }

    /// Green's strain.
    fn strain(f: &[Vec3; 3]) -> [[Real; 3]; 3] {
        let unit = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
        [0, 1, 2].map(|i| [0, 1, 2].map(|j| 0.5 * (f[i].dot(f[j]) - unit(i, j))))
    }
}

impl Deformable for Affine {
    fn masses(&self) -> &[Real] {
        &self.masses
    }

    fn traits(&self) -> Traits {
        Traits {
            coordinates: Coordinates::Own,
            response: Approximation::Exact,
            stable_step: self.stable_step,
            ..Traits::default()
        }
    }

    fn predict(&mut self, ctx: &StepContext<'_>, body: BodyMut<'_>) {
        let mut force = [Vec3::ZERO; 4];
        self.forces(body.read(), &mut force);
        for (total, given) in force.iter_mut().zip(body.force) {
            *total += *given;
        }
        self.accelerate(&force, |k, a| {
            let v = &mut body.v[k];
            (v[0], v[1], v[2]) = (v[0] + a.x * ctx.h, v[1] + a.y * ctx.h, v[2] + a.z * ctx.h);
        });
    }

    fn respond(&self, _body: BodyRef<'_>, impulses: &[(u32, Vec3)], add: &mut dyn FnMut(u32, Vec3)) {
        let mut on = [Vec3::ZERO; 4];
        impulses.iter().for_each(|(k, p)| on[*k as usize] += *p);
        self.accelerate(&on, |k, change| add(k as u32, change));
    }

    fn energy(&self, body: BodyRef<'_>) -> Real {
        let strain = Self::strain(&self.gradient(body.x));
        0.5 * self.stiffness * strain.iter().flatten().map(|e| e * e).sum::<Real>()
    }

    fn forces(&self, body: BodyRef<'_>, out: &mut [Vec3]) -> bool {
        let f = self.gradient(body.x);
        let strain = Self::strain(&f);
        for (out, slope) in out.iter_mut().zip(&self.slopes) {
            for (i, column) in f.iter().enumerate() {
                let along: Real = (0..3).map(|j| strain[i][j] * slope.to_array()[j]).sum();
                *out -= *column * (self.stiffness * along);
            }
        }
        true
    }
}

/// An octahedron with its tip down on the control points of a tetrahedron.
fn body(stiffness: f64) -> Result<SoftBody, Error> {
    let corner = |x: Real, y: Real, z: Real| Vec3::new(x, y, z) * CAGE;
    let vertices =
        vec![corner(1.0, 1.0, 1.0), corner(-1.0, 1.0, -1.0), corner(1.0, -1.0, -1.0), corner(-1.0, -1.0, 1.0)];
    let cage = TetMesh { vertices, tets: vec![[0, 1, 2, 3]] };
    let tips = [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z].map(|t| t * TIP).to_vec();
    let mut triangles = Vec::new();
    for octant in 0..8_u32 {
        let [x, y, z] = [octant & 1, octant >> 1 & 1, octant >> 2 & 1];
        let (a, b, c) = (x, 2 + y, 4 + z);
        triangles.push(if (x + y + z) % 2 == 0 { [a, b, c] } else { [a, c, b] });
    }
    let params: Vec<u8> = [f64::from(MASS), f64::from(EDGE), stiffness].iter().flat_map(|p| p.to_le_bytes()).collect();
    let model = SoftModel::Custom(CustomModel::new("affine", params, Affine::make));
    let mut body = SoftBody::new(Geometry::Tets(cage), model).at([0.0, TIP + DROP, 0.0]);
    body.skin = Some(Skin { mesh: TriMesh { vertices: tips, triangles }, offset: 0.0 });
    Ok(body)
}

fn drop_on_box(stiffness: f64) -> Result<(World, BodyId), Error> {
    let mut world = World::default();
    world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(1.0, 0.5, 1.0)).at([0.0, -0.5, 0.0]))?;
    let body = world.add_soft(body(stiffness)?)?;
    Ok((world, body))
}

/// Before the impact the centre falls with g t. The tip then stays on the box: its velocity is zero at all times, and the
/// constraint takes the share 1/(1 + 12 d²/a²) of the momentum of a uniform fall, for a tip at distance d from the centre,
/// until the other vertices, at the height of the centre, reach the box too.
#[test]
fn a_reduced_body_falls_and_its_tip_stops_with_the_response_of_its_mass_matrix() -> Result<(), Error> {
    // forces of this stiffness change the speed by less than a millionth
    let (mut world, body) = drop_on_box(1e-9)?;
    let dt = world.settings().dt;
    let kept = 1.0 - 1.0 / (1.0 + 12.0 * TIP * TIP / (EDGE * EDGE));
    let impact = (2.0 * DROP / GRAVITY).sqrt();
    // the centre falls the distance of the tip with kept g t
    let second = (impact * impact + 2.0 * TIP / (kept * GRAVITY)).sqrt();
    let (mut falling, mut touching) = (0, 0);
    for step in 1..40 {
        world.step(&Input::none());
        let t = dt * step as Real;
        let speed = -world.body(body)?.velocity().y;
        // the step of the impact is not tested: contacts act on an open gap within it
        if t < impact - dt {
            assert!((speed - GRAVITY * t).abs() < 1e-3 * GRAVITY * t, "{t} s: {speed} m/s");
            falling += 1;
        } else if t > impact + dt && t < second {
            let expected = kept * GRAVITY * t;
            assert!((speed - expected).abs() < 0.02 * expected, "{t} s: {speed} m/s, expected {expected} m/s");
            touching += 1;
        }
    }
    assert!(falling >= 10 && touching >= 2, "{falling} {touching}");
    Ok(())
}

#[test]
fn a_saved_body_of_a_users_model_continues_with_the_same_bits() -> Result<(), Box<dyn std::error::Error>> {
    let (mut world, _) = drop_on_box(200.0)?;
    (0..20).for_each(|_| {
        world.step(&Input::none());
    });
    let bytes = save(&world)?;
    let registry = ModelRegistry::default().with("affine", Affine::make);
    let mut twin = load_with(&bytes, &registry)?;
    assert_eq!(save(&twin)?, bytes);
    let mut touched = 0;
    for _ in 0..60 {
        touched += world.step(&Input::none()).counts.contacts;
        twin.step(&Input::none());
        assert_eq!(twin.hash(), world.hash());
    }
    assert!(touched > 0);
    Ok(())
}

#[test]
fn a_save_with_an_unknown_model_is_refused_by_its_name() -> Result<(), Box<dyn std::error::Error>> {
    let (world, _) = drop_on_box(200.0)?;
    let bytes = save(&world)?;
    let other = ModelRegistry::default().with("other", Affine::make);
    for refused in [load(&bytes), load_with(&bytes, &other)] {
        let told = refused.map(|_| ()).unwrap_err().to_string();
        assert!(told.contains("'affine'"), "{told}");
    }
    Ok(())
}

#[test]
fn wrong_parameters_are_refused_by_the_constructor() -> Result<(), Error> {
    let mut wrong = body(200.0)?;
    wrong.model = SoftModel::Custom(CustomModel::new("affine", [1, 2, 3], Affine::make));
    let told = World::default().add_soft(wrong).unwrap_err().to_string();
    assert!(told.contains("'affine'") && told.contains("three numbers"), "{told}");
    Ok(())
}
