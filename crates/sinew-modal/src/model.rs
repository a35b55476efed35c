//! The model: parameters, one step, the response of rows.

use crate::frame::{Bent, Frame, MODES, Shape};
use sinew::deformable::{Approximation, BodyMut, BodyRef, Coordinates, Deformable, StepContext, Traits};
use sinew::{CustomModel, Geometry, Real, SoftBody, SoftModel, TetMesh, Vec3};
use sinew_math::{Wide3, WideMat3, narrow, widen};
use sinew_reduce::{Body, Mass, Material, ModeStep, Modes, Rayleigh, Wanted};

/// Name of the model in saves: `ModelRegistry::default().with(NAME, make)`.
pub const NAME: &str = "modal";

/// Largest ω h of a mode with an exact step: beyond it an impulse changes its mean speed by less than a tenth.
const EXACT: f64 = 4.0;

/// Matter, modes and damping.
///
/// ```
/// use sinew_modal::Params;
/// let firm = Params { young: 1e6, damping: [1e-4, 0.0], ..Params::default() };
/// assert_eq!((firm.poisson, firm.modes), (0.3, 24));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Young's modulus [Pa].
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Density [kg/m³].
    pub density: f64,
    /// Count of modes, the lowest ones; 1 to 256.
    pub modes: u32,
    /// Rayleigh's α₁ [s] and α₂ [1/s].
    pub damping: [f64; 2],
}

impl Default for Params {
    fn default() -> Self {
        Self { young: 1e5, poisson: 0.3, density: 1000.0, modes: 24, damping: [1e-3, 0.0] }
    }
}

impl Params {
    fn bytes(&self) -> Vec<u8> {
        let numbers = [self.young, self.poisson, self.density, f64::from(self.modes), self.damping[0], self.damping[1]];
        numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
    }

    fn of(bytes: &[u8]) -> Option<Self> {
        let (numbers, []) = bytes.as_chunks::<8>() else { return None };
        let &[young, poisson, density, modes, stiffness, mass] = numbers else { return None };
        let [young, poisson, density, modes, stiffness, mass] =
            [young, poisson, density, modes, stiffness, mass].map(f64::from_le_bytes);
        Some(Self { young, poisson, density, modes: modes as u32, damping: [stiffness, mass] })
    }
}

/// A soft body of this mesh.
///
/// # Errors
/// What a mesh or a number has that cannot be reduced.
pub fn body(mesh: TetMesh, params: &Params) -> Result<SoftBody, String> {
    let geometry = Geometry::Tets(mesh);
    // refused here rather than by the world
    make(&geometry, &params.bytes())?;
    Ok(SoftBody::new(geometry, SoftModel::Custom(custom(params))))
}

/// The model for a soft body of tetrahedra.
pub fn custom(params: &Params) -> CustomModel {
    CustomModel::new(NAME, params.bytes(), make)
}

/// Builds the model from tetrahedra and the bytes of its parameters, for a registry of models.
///
/// # Errors
/// What a mesh or a number has that cannot be reduced.
pub fn make(geometry: &Geometry, bytes: &[u8]) -> Result<Box<dyn Deformable>, String> {
    let params = Params::of(bytes).ok_or("its parameters are not those of a modal body")?;
    let Geometry::Tets(mesh) = geometry else { return Err("a modal body needs tetrahedra".to_owned()) };
    if !(1..=MODES as u32).contains(&params.modes) {
        return Err(format!("{} modes: 1 to {MODES} are possible", params.modes));
    }
    Modal::new(mesh, &params).map(|m| Box::new(m) as Box<dyn Deformable>).map_err(|e| e.to_string())
}

#[derive(Debug)]
struct Modal {
    shape: Shape,
    masses: Vec<Real>,
    lambda: Vec<f64>,
    damping: Rayleigh,
    /// Steps of the modes for `h`; built by `predict` when it changes.
    steps: Vec<Step>,
    h: f64,
    frame: Frame,
    /// Mean speeds of the step and speeds at its end, without rows. Written by `predict`. (modes)
    free: Vec<[f64; 2]>,
    /// (modes)
    speeds: Vec<f64>,
    pushes: Vec<f64>,
}

/// One mode in a step of h: carry and push of displacement and speed.
#[derive(Clone, Copy, Debug)]
struct Step {
    carry: [[f64; 2]; 2],
    push: [f64; 2],
}

impl Step {
    fn new(lambda: f64, rate: f64, h: f64) -> Self {
        if h * lambda.sqrt() <= EXACT
            && let Ok(ModeStep { carry, push }) = ModeStep::new(lambda, rate, h)
        {
            return Self { carry, push };
        }
        let by = 1.0 / (1.0 + h * rate + h * h * lambda);
        // z⁺ = by ((1 + h d) z + h ż + h² f), ż⁺ = (z⁺ − z)/h
        let carry = [[by * (1.0 + h * rate), by * h], [-by * h * lambda, by]];
        Self { carry, push: [by * h * h, by * h] }
    }
}

impl Modal {
    fn new(mesh: &TetMesh, params: &Params) -> Result<Self, sinew_reduce::ReduceError> {
        let nodes = mesh.vertices.iter().map(|x| widen(*x).to_array()).collect();
        let tets = sinew_reduce::TetMesh { nodes, tets: mesh.tets.clone() };
        let material = Material::isotropic(params.young, params.poisson, params.density)?;
        let damping = Rayleigh::new(params.damping[0], params.damping[1])?;
        let body = Body::new(tets, &material, Mass::Lumped, &[])?;
        let modes = Modes::new(&body, Wanted::Count(params.modes as usize))?;
        let masses = body.lumped().to_vec();
        let total: f64 = masses.iter().sum();
        let places: Vec<Wide3> = mesh.vertices.iter().map(|x| widen(*x)).collect();
        let centre = places.iter().zip(&masses).fold(Wide3::ZERO, |sum, (x, m)| sum + *x * *m) / total;
        let count = modes.lambda().len();
        let at = |node: usize, mode: usize| {
            let column = modes.shapes().column(mode);
            Wide3::new(column[3 * node], column[3 * node + 1], column[3 * node + 2])
        };
        let shape = Shape {
            rest: places.iter().map(|x| *x - centre).collect(),
            modes: (0..places.len()).flat_map(|k| (0..count).map(move |i| (k, i))).map(|(k, i)| at(k, i)).collect(),
            masses,
            total,
            count,
        };
        Ok(Self {
            frame: Frame::new(&shape),
            #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
            masses: shape.masses.iter().map(|m| *m as Real).collect(),
            lambda: modes.lambda().to_vec(),
            damping,
            steps: Vec::with_capacity(count),
            h: 0.0,
            free: vec![[0.0; 2]; count],
            speeds: vec![0.0; count],
            pushes: vec![0.0; count],
            shape,
        })
    }

    fn prepare(&mut self, h: f64) {
        if self.h != h {
            self.h = h;
            self.steps.clear();
            let damping = self.damping;
            self.steps.extend(self.lambda.iter().map(|&l| Step::new(l, damping.rate(l), h)));
        }
    }
}

impl Deformable for Modal {
    fn masses(&self) -> &[Real] {
        &self.masses
    }

    fn traits(&self) -> Traits {
        Traits {
            coordinates: Coordinates::Own,
            response: Approximation::Exact,
            kicks_in_advance: true,
            ..Traits::default()
        }
    }

    fn predict(&mut self, ctx: &StepContext<'_>, body: BodyMut<'_>) {
        let h = f64::from(ctx.h);
        self.prepare(h);
        self.frame.find(&self.shape, body.x);
        let [mut velocity, mut spin] = self.frame.motion(&self.shape, body.v, &mut self.speeds);
        let (mut force, mut torque) = (Wide3::ZERO, Wide3::ZERO);
        self.pushes.fill(0.0);
        let back = self.frame.turn.transpose();
        for (k, f) in body.force.iter().enumerate() {
            let f = widen(*f);
            if f == Wide3::ZERO {
                continue;
            }
            force += f;
            torque += self.frame.arms[k].cross(f);
            let local = back * f;
            self.shape.at(k).iter().zip(&mut self.pushes).for_each(|(w, p)| *p += w.dot(local));
        }
        velocity += force * (h / self.shape.total);
        let twist = self.frame.inverse * torque;
        spin += twist * h;
        for (i, step) in self.steps.iter().enumerate() {
            // of the force on the mode, what its share of rotation takes
            let push = self.pushes[i] - self.frame.spins[i].dot(torque);
            let (z, s) = (self.frame.z[i], self.speeds[i]);
            let [[a, b], [c, d]] = step.carry;
            let end = [a * z + b * s + step.push[0] * push, c * z + d * s + step.push[1] * push];
            self.free[i] = [(end[0] - z) / h, end[1]];
            self.speeds[i] = self.free[i][0];
        }
        self.frame.spread(&self.shape, [velocity, spin], &self.speeds, body.v);
    }

    fn respond(&self, _: BodyRef<'_>, impulses: &[(u32, Vec3)], add: &mut dyn FnMut(u32, Vec3)) {
        let (shape, frame) = (&self.shape, &self.frame);
        let count = shape.count;
        let (mut push, mut twist, mut modes) = (Wide3::ZERO, Wide3::ZERO, [0.0; MODES]);
        for &(node, p) in impulses {
            let (k, p) = (node as usize, widen(p));
            push += p;
            twist += frame.arms[k].cross(p);
            (0..count).for_each(|i| modes[i] += frame.mode(shape, k, i).dot(p));
        }
        let by = 1.0 / (self.h * self.h);
        modes.iter_mut().zip(&self.steps).for_each(|(m, step)| *m *= step.push[0] * by);
        let (shift, mut turn) = (push / shape.total, frame.inverse * twist);
        for (q, m) in frame.spins.iter().zip(&modes) {
            turn -= *q * *m;
        }
        for (k, arm) in frame.arms.iter().enumerate() {
            let bent = shape.at(k).iter().zip(&modes).fold(Wide3::ZERO, |sum, (w, m)| sum + *w * *m);
            add(k as u32, narrow(shift + turn.cross(*arm) + frame.turn * bent));
        }
    }

    fn advance(&mut self, ctx: &StepContext<'_>, body: BodyMut<'_>) {
        let h = f64::from(ctx.h);
        let [velocity, spin] = self.frame.motion(&self.shape, body.v, &mut self.speeds);
        let momentum = self.frame.inverse.inverse() * spin;
        for (i, step) in self.steps.iter().enumerate() {
            let [mean, end] = self.free[i];
            let more = self.speeds[i] - mean;
            self.frame.z[i] += h * self.speeds[i];
            // the force of the rows: of the mean speed it has made s/h, of the speed at the end r
            self.speeds[i] = end + more * h * step.push[1] / step.push[0];
        }
        self.frame.centre += velocity * h;
        self.frame.turn = turned(spin * h) * self.frame.turn;
        self.frame.place(&self.shape, body.x);
        self.frame.find(&self.shape, body.x);
        let spin = self.frame.inverse * momentum;
        self.frame.spread(&self.shape, [velocity, spin], &self.speeds, body.v);
    }

    fn refresh(&mut self, body: BodyRef<'_>) {
        self.frame.turn = WideMat3::IDENTITY;
        self.frame.find(&self.shape, body.x);
    }

    fn energy(&self, body: BodyRef<'_>) -> Real {
        let bent = Bent::of(&self.shape, body.x, self.frame.turn);
        let sum: f64 = bent.z.iter().zip(&self.lambda).map(|(z, l)| 0.5 * l * z * z).sum();
        #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
        let sum = sum as Real;
        sum
    }

    fn forces(&self, body: BodyRef<'_>, out: &mut [Vec3]) -> bool {
        let bent = Bent::of(&self.shape, body.x, self.frame.turn);
        for (k, out) in out.iter_mut().enumerate() {
            let mut sum = Wide3::ZERO;
            for ((w, z), l) in self.shape.at(k).iter().zip(&bent.z).zip(&self.lambda) {
                sum -= *w * (l * z);
            }
            *out += narrow(bent.turn * sum * self.shape.masses[k]);
        }
        true
    }
}

/// exp of a rotation vector, by the rational form of half the angle: orthogonal to rounding for any size.
fn turned(angle: Wide3) -> WideMat3 {
    // Cayley's map takes 2 tan(φ/2): for the angles of a step its series to the fifth order is exact to rounding
    let square = 0.25 * angle.length_squared();
    let half = angle * (0.5 * (1.0 + square * (1.0 / 3.0 + square * (2.0 / 15.0 + square * (17.0 / 315.0)))));
    let cross = WideMat3::from_cols(
        Wide3::new(0.0, half.z, -half.y),
        Wide3::new(-half.z, 0.0, half.x),
        Wide3::new(half.y, -half.x, 0.0),
    );
    let by = 2.0 / (1.0 + half.length_squared());
    WideMat3::IDENTITY + (cross + cross * cross) * by
}
