//! What the cases share: settings, bodies, floors and slopes; tracks of a quantity over time and what is read from them.
//!
//! A case computes in f64 whatever the engine's reals are.

use sinew::{
    BodyId, BodyView, Error, Input, Quat, Real, RigidBody, Settings, Shape, SurfaceMaterial, Sym3, Vec3, World,
};

/// Size of gravity in all cases [m/s²].
pub const G: f64 = 9.81;

/// The engine as shipped, at 1 ms.
pub fn settings() -> Settings {
    Settings { dt: 0.001, ..Settings::default() }
}

/// At 1 ms and never asleep: for cases in which sleep would hide creep.
pub fn sleepless() -> Settings {
    Settings { sleep_time: Real::INFINITY, ..settings() }
}

/// At 1 ms without gravity, never asleep: free space.
pub fn free_space() -> Settings {
    Settings { gravity: Vec3::ZERO, ..sleepless() }
}

/// A number for the engine.
pub fn real(x: f64) -> Real {
    x as Real
}

/// A number from the engine.
#[allow(clippy::useless_conversion, reason = "the conversion is needed in the f32 build")]
pub fn num(x: Real) -> f64 {
    f64::from(x)
}

/// A number of the engine with the digits that it has: the shortest decimal that is the same real again. Widened to 64 bits
/// a number of 32 has nine more, which mean nothing.
pub fn short(x: Real) -> f64 {
    x.to_string().parse().unwrap_or(num(x))
}

/// A vector for the engine.
pub fn vec3(x: f64, y: f64, z: f64) -> Vec3 {
    Vec3::new(real(x), real(y), real(z))
}

/// A turn about an axis of length one [rad].
pub fn turn(axis: Vec3, angle: f64) -> Quat {
    Quat::from_axis_angle(axis, real(angle))
}

/// A dynamic box by its full sizes [m] and mass [kg].
pub fn block(size: [f64; 3], mass: f64) -> RigidBody {
    let [x, y, z] = size.map(|s| real(0.5 * s));
    RigidBody::dynamic().shape(Shape::cuboid(x, y, z)).mass(real(mass))
}

/// A dynamic solid ball by its radius [m] and mass [kg].
pub fn ball(radius: f64, mass: f64) -> RigidBody {
    RigidBody::dynamic().shape(Shape::ball(real(radius))).mass(real(mass))
}

/// A body without a shape: mass [kg] and principal moments of inertia [kg·m²].
pub fn bare(mass: f64, inertia: [f64; 3]) -> RigidBody {
    let [x, y, z] = inertia;
    RigidBody::dynamic().mass(real(mass)).inertia(Sym3::diagonal(vec3(x, y, z)))
}

/// Adds a fixed half-space whose surface is y = 0.
pub fn floor(world: &mut World, material: SurfaceMaterial) -> Result<BodyId, Error> {
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(material))
}

/// A plane through the origin, tilted about z so that downhill is towards +x.
#[derive(Clone, Copy, Debug)]
pub struct Slope {
    /// From the level to the slope.
    pub rotation: Quat,
    /// Unit vector downhill.
    pub down: Vec3,
    /// Unit vector out of the slope.
    pub normal: Vec3,
}

impl Slope {
    /// By its angle [rad].
    pub fn new(angle: f64) -> Self {
        let rotation = turn(Vec3::Z, -angle);
        Self { rotation, down: rotation * Vec3::X, normal: rotation * Vec3::Y }
    }

    /// Adds the fixed half-space below the slope.
    pub fn ground(&self, world: &mut World, material: SurfaceMaterial) -> Result<BodyId, Error> {
        world.add_rigid(RigidBody::fixed().shape(Shape::half_space(self.normal)).material(material))
    }

    /// Puts a body on the slope, its origin at a height above it [m].
    pub fn place(&self, body: RigidBody, height: f64) -> RigidBody {
        let rotation = self.rotation * body.pose.rotation;
        body.at(self.normal * real(height)).turned(rotation)
    }

    /// How far downhill a point is [m].
    pub fn along(&self, point: Vec3) -> f64 {
        num(point.dot(self.down))
    }
}

/// A quantity over time: samples at the start and after each step.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// Times [s].
    pub t: Vec<f64>,
    /// Values.
    pub y: Vec<f64>,
}

impl Track {
    /// One sample more.
    pub fn push(&mut self, time: f64, value: f64) {
        self.t.push(time);
        self.y.push(value);
    }

    /// The last value.
    pub fn last(&self) -> f64 {
        self.y.last().copied().unwrap_or(f64::NAN)
    }

    /// The part within a span of time [s].
    pub fn between(&self, from: f64, to: f64) -> Self {
        let keep = |t: &f64| (from..=to).contains(t);
        let pairs = self.t.iter().zip(&self.y).filter(|(t, _)| keep(t));
        let (t, y) = pairs.map(|(t, y)| (*t, *y)).unzip();
        Self { t, y }
    }

    /// Mean of what rings, by a Hann window: a plain mean over a span that is no whole number of periods keeps a part of
    /// the last one, up to amplitude · period / (pi · span).
    pub fn smooth_mean(&self) -> f64 {
        let n = self.y.len() as f64;
        let weight = |i: usize| (std::f64::consts::PI * (i as f64 + 0.5) / n).sin().powi(2);
        let sum: f64 = self.y.iter().enumerate().map(|(i, y)| weight(i) * y).sum();
        // the weights have a mean of one half
        sum / (0.5 * n)
    }

    /// Rate of change: slope of the least-squares line.
    pub fn rate(&self) -> f64 {
        self.fit::<2>()[1]
    }

    /// Second derivative: from the least-squares parabola.
    pub fn acceleration(&self) -> f64 {
        2.0 * self.fit::<3>()[2]
    }

    /// Least-squares polynomial with N coefficients, lowest first.
    pub fn fit<const N: usize>(&self) -> [f64; N] {
        // normal equations with a right side, on a time of about one for their condition
        let scale = self.t.iter().fold(f64::MIN_POSITIVE, |m, t| m.max(t.abs()));
        let mut a = [[0.0; N]; N];
        let mut b = [0.0; N];
        for (t, y) in self.t.iter().zip(&self.y) {
            let powers: [f64; N] = std::array::from_fn(|k| (t / scale).powi(k as i32));
            for i in 0..N {
                for j in 0..N {
                    a[i][j] += powers[i] * powers[j];
                }
                b[i] += powers[i] * y;
            }
        }
        let c = solve(a, b);
        std::array::from_fn(|k| c[k] / scale.powi(k as i32))
    }

    /// Times at which the value passes zero, either way, interpolated between samples [s].
    pub fn crossings(&self) -> Vec<f64> {
        let mut found = Vec::new();
        for i in 1..self.y.len() {
            let (a, b) = (self.y[i - 1], self.y[i]);
            if (a < 0.0 && b >= 0.0) || (a > 0.0 && b <= 0.0) {
                found.push(self.t[i - 1] + (self.t[i] - self.t[i - 1]) * a / (a - b));
            }
        }
        found
    }

    /// Period of an oscillation about zero, mean over all whole half periods [s].
    pub fn period(&self) -> f64 {
        let c = self.crossings();
        if c.len() < 2 { f64::NAN } else { 2.0 * (c[c.len() - 1] - c[0]) / (c.len() - 1) as f64 }
    }

    /// Largest value.
    pub fn max(&self) -> f64 {
        self.y.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Smallest value.
    pub fn min(&self) -> f64 {
        self.y.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Largest distance from the first value.
    pub fn drift(&self) -> f64 {
        let first = self.y.first().copied().unwrap_or(f64::NAN);
        // f64::max would swallow a NaN
        self.y.iter().map(|y| (y - first).abs()).fold(0.0, |m, d| if d > m || d.is_nan() { d } else { m })
    }

    /// First time from which on the test always holds [s].
    pub fn settles(&self, holds: impl Fn(f64) -> bool) -> f64 {
        match self.y.iter().rposition(|y| !holds(*y)) {
            None => self.t.first().copied().unwrap_or(f64::NAN),
            Some(i) => self.t.get(i + 1).copied().unwrap_or(f64::INFINITY),
        }
    }

    /// First time at which the test holds [s].
    pub fn first(&self, holds: impl Fn(f64) -> bool) -> f64 {
        self.y.iter().position(|y| holds(*y)).map_or(f64::INFINITY, |i| self.t[i])
    }

    /// The value at a time, interpolated [s].
    pub fn at(&self, time: f64) -> f64 {
        let i = self.t.partition_point(|t| *t < time).clamp(1, self.t.len() - 1);
        let share = (time - self.t[i - 1]) / (self.t[i] - self.t[i - 1]);
        self.y[i - 1] + share * (self.y[i] - self.y[i - 1])
    }

    /// An angle without its jumps of a whole turn.
    pub fn unwrapped(mut self) -> Self {
        let turn = std::f64::consts::TAU;
        for i in 1..self.y.len() {
            let jump = self.y[i] - self.y[i - 1];
            self.y[i] -= turn * (jump / turn).round();
        }
        self
    }
}

/// Solves a small linear system (Gauss with pivots).
fn solve<const N: usize>(mut a: [[f64; N]; N], mut b: [f64; N]) -> [f64; N] {
    for k in 0..N {
        let pivot = (k..N).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap_or(k);
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..N {
            let f = a[i][k] / a[k][k];
            let row = a[k];
            for (left, above) in a[i].iter_mut().zip(row).skip(k) {
                *left -= f * above;
            }
            b[i] -= f * b[k];
        }
    }
    for k in (0..N).rev() {
        for j in k + 1..N {
            b[k] -= a[k][j] * b[j];
        }
        b[k] /= a[k][k];
    }
    b
}

/// Runs a world for a time [s] and samples N quantities at the start and after each step.
pub fn track<const N: usize>(
    world: &mut World,
    seconds: f64,
    mut look: impl FnMut(&World) -> Result<[f64; N], Error>,
) -> Result<[Track; N], Error> {
    let mut tracks: [Track; N] = std::array::from_fn(|_| Track::default());
    let mut sample = |world: &World| -> Result<(), Error> {
        for (track, y) in tracks.iter_mut().zip(look(world)?) {
            track.push(world.time(), y);
        }
        Ok(())
    };
    sample(world)?;
    for _ in 0..step_count(world, seconds) {
        world.step(&Input::none());
        sample(world)?;
    }
    Ok(tracks)
}

/// Tracks N quantities of one body.
pub fn track_body<const N: usize>(
    world: &mut World,
    body: BodyId,
    seconds: f64,
    mut look: impl FnMut(BodyView<'_>) -> [f64; N],
) -> Result<[Track; N], Error> {
    track(world, seconds, |world| Ok(look(world.body(body)?)))
}

/// Runs a world for a time [s].
pub fn run(world: &mut World, seconds: f64) {
    for _ in 0..step_count(world, seconds) {
        world.step(&Input::none());
    }
}

/// Steps of a time [s].
pub fn step_count(world: &World, seconds: f64) -> u64 {
    (seconds / num(world.settings().dt)).round() as u64
}

/// Kinetic and gravity energy of all dynamic bodies, in f64 from the state [J].
pub fn energy(world: &World) -> f64 {
    let gravity = world.settings().gravity;
    let mut sum = 0.0;
    for body in world.bodies() {
        let m = num(body.mass());
        sum += 0.5 * m * dot(body.velocity(), body.velocity()) + 0.5 * dot(body.spin(), body.angular_momentum());
        sum -= m * dot(gravity, body.center_of_mass());
    }
    sum
}

/// Total momentum [kg·m/s] and angular momentum about the origin [kg·m²/s] of all bodies.
pub fn momenta(world: &World) -> ([f64; 3], [f64; 3]) {
    let (mut p, mut l) = ([0.0; 3], [0.0; 3]);
    for body in world.bodies() {
        let m = num(body.mass());
        let (x, v) = (wide(body.center_of_mass()), wide(body.velocity()));
        let (arm, spin) = (cross(x, v), wide(body.angular_momentum()));
        for k in 0..3 {
            p[k] += m * v[k];
            l[k] += m * arm[k] + spin[k];
        }
    }
    (p, l)
}

/// A vector of the engine in f64.
pub fn wide(v: Vec3) -> [f64; 3] {
    [num(v.x), num(v.y), num(v.z)]
}

/// Dot product in f64.
pub fn dot(a: Vec3, b: Vec3) -> f64 {
    let (a, b) = (wide(a), wide(b));
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Cross product.
pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Euclidean distance [m].
pub fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

/// Where a yes-or-no question changes from no (at `low`) to yes (at `high`), to one part in 2^`halvings` of the span.
pub fn bisect(
    mut low: f64,
    mut high: f64,
    halvings: u32,
    mut yes: impl FnMut(f64) -> Result<bool, Error>,
) -> Result<f64, Error> {
    // a question that does not change in the span has no answer
    if yes(low)? || !yes(high)? {
        return Ok(f64::NAN);
    }
    for _ in 0..halvings {
        let middle = 0.5 * (low + high);
        if yes(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(0.5 * (low + high))
}
