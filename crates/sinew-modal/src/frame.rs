//! Frame and modal coordinates from nodes, and nodes from them.

use sinew::{Block, Real};
use sinew_math::{Wide3, WideMat3, wide_outer};

/// Largest count of modes: a response needs one number each on the stack.
pub(crate) const MODES: usize = 256;

/// What does not change: masses, rest shape about its centre of mass, modes.
#[derive(Debug)]
pub(crate) struct Shape {
    /// [kg]
    pub masses: Vec<f64>,
    pub total: f64,
    /// X [m].
    pub rest: Vec<Wide3>,
    /// W, all modes of a node together. (nodes × modes) [1/√kg]
    pub modes: Vec<Wide3>,
    pub count: usize,
}

impl Shape {
    /// Modes at a node.
    pub fn at(&self, node: usize) -> &[Wide3] {
        &self.modes[node * self.count..][..self.count]
    }
}

pub(crate) fn wide(b: &Block) -> Wide3 {
    #[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
    Wide3::new(b[0] as f64, b[1] as f64, b[2] as f64)
}

#[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
pub(crate) fn put(b: &mut Block, v: Wide3) {
    [b[0], b[1], b[2]] = [v.x as Real, v.y as Real, v.z as Real];
}

/// The frame at the present shape.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// Centre of mass [m].
    pub centre: Wide3,
    /// R.
    pub turn: WideMat3,
    /// Inverse inertia about the centre, of the present shape [1/(kg·m²)].
    pub inverse: WideMat3,
    /// r = x − c [m]. (nodes)
    pub arms: Vec<Wide3>,
    /// z [m·√kg]. (modes)
    pub z: Vec<f64>,
    /// Q: rotations that are taken out of the modes. (modes)
    pub spins: Vec<Wide3>,
    /// Σ m r × R W of each mode. (modes)
    twists: Vec<Wide3>,
}

impl Frame {
    /// Space for a shape: later calls allocate nothing.
    pub fn new(shape: &Shape) -> Self {
        let (nodes, modes) = (shape.rest.len(), shape.count);
        Self {
            arms: vec![Wide3::ZERO; nodes],
            z: vec![0.0; modes],
            spins: vec![Wide3::ZERO; modes],
            twists: vec![Wide3::ZERO; modes],
            turn: WideMat3::IDENTITY,
            ..Self::default()
        }
    }

    /// From the places of the nodes.
    pub fn find(&mut self, shape: &Shape, x: &[Block]) {
        let bent = Bent::of(shape, x, self.turn);
        (self.centre, self.turn) = (bent.centre, bent.turn);
        self.z.copy_from_slice(&bent.z[..shape.count]);
        let mut inertia = WideMat3::ZERO;
        self.twists.fill(Wide3::ZERO);
        let back = self.turn.transpose();
        for (k, x) in x.iter().enumerate() {
            let (r, m) = (wide(x) - self.centre, shape.masses[k]);
            self.arms[k] = r;
            inertia += (WideMat3::from_diagonal(Wide3::splat(r.length_squared())) - wide_outer(r, r)) * m;
            let local = back * r * m;
            shape.at(k).iter().zip(&mut self.twists).for_each(|(w, twist)| *twist += local.cross(*w));
        }
        self.inverse = inertia.inverse();
        for (spin, twist) in self.spins.iter_mut().zip(&mut self.twists) {
            *twist = self.turn * *twist;
            *spin = self.inverse * *twist;
        }
    }

    /// W̃ of a mode at a node.
    pub fn mode(&self, shape: &Shape, node: usize, mode: usize) -> Wide3 {
        self.turn * shape.at(node)[mode] - self.spins[mode].cross(self.arms[node])
    }

    /// Velocity, spin and speeds of the modes of the nodes' velocities.
    pub fn motion(&self, shape: &Shape, v: &[Block], speeds: &mut [f64]) -> [Wide3; 2] {
        let weighed = |sum: Wide3, (v, m): (&Block, &f64)| sum + wide(v) * *m;
        let velocity = v.iter().zip(&shape.masses).fold(Wide3::ZERO, weighed) / shape.total;
        let mut momentum = Wide3::ZERO;
        for (k, v) in v.iter().enumerate() {
            momentum += self.arms[k].cross(wide(v)) * shape.masses[k];
        }
        let spin = self.inverse * momentum;
        // W̃ᵀ M v, and its Gram matrix 1 − Aᵀ I⁻¹ A by Woodbury's formula, A the twists
        let back = self.turn.transpose();
        speeds.fill(0.0);
        for (k, v) in v.iter().enumerate() {
            let rest = back * (wide(v) - velocity - spin.cross(self.arms[k])) * shape.masses[k];
            shape.at(k).iter().zip(speeds.iter_mut()).for_each(|(w, s)| *s += w.dot(rest));
        }
        let (mut small, mut right) = (self.inverse.inverse(), Wide3::ZERO);
        for (twist, speed) in self.twists.iter().zip(speeds.iter()) {
            small -= wide_outer(*twist, *twist);
            right += *twist * *speed;
        }
        let lift = small.inverse() * right;
        self.twists.iter().zip(speeds).for_each(|(twist, speed)| *speed += twist.dot(lift));
        [velocity, spin]
    }

    /// Velocities of the nodes.
    pub fn spread(&self, shape: &Shape, [velocity, spin]: [Wide3; 2], speeds: &[f64], v: &mut [Block]) {
        // what the modes have of rotation is taken out at once
        let taken = self.spins.iter().zip(speeds).fold(Wide3::ZERO, |sum, (q, s)| sum + *q * *s);
        for (k, v) in v.iter_mut().enumerate() {
            let bent = shape.at(k).iter().zip(speeds).fold(Wide3::ZERO, |sum, (w, s)| sum + *w * *s);
            put(v, velocity + (spin - taken).cross(self.arms[k]) + self.turn * bent);
        }
    }

    /// Places of the nodes for the present centre, rotation and z.
    pub fn place(&self, shape: &Shape, x: &mut [Block]) {
        for (k, x) in x.iter_mut().enumerate() {
            let bent = shape.at(k).iter().zip(&self.z).fold(shape.rest[k], |sum, (w, z)| sum + *w * *z);
            put(x, self.centre + self.turn * bent);
        }
    }
}

/// Centre, rotation and modal coordinates of a shape, without space of its own.
#[derive(Debug)]
pub(crate) struct Bent {
    pub centre: Wide3,
    pub turn: WideMat3,
    pub z: [f64; MODES],
}

impl Bent {
    /// `before`: the rotation of a shape that is turned inside out.
    pub fn of(shape: &Shape, x: &[Block], before: WideMat3) -> Self {
        let weighed = |sum: Wide3, (x, m): (&Block, &f64)| sum + wide(x) * *m;
        let centre = x.iter().zip(&shape.masses).fold(Wide3::ZERO, weighed) / shape.total;
        let mut stretch = WideMat3::ZERO;
        for (k, x) in x.iter().enumerate() {
            stretch += wide_outer(wide(x) - centre, shape.rest[k]) * shape.masses[k];
        }
        let turn = rotation(stretch, before);
        let (back, mut z) = (turn.transpose(), [0.0; MODES]);
        for (k, x) in x.iter().enumerate() {
            let moved = (back * (wide(x) - centre) - shape.rest[k]) * shape.masses[k];
            shape.at(k).iter().zip(&mut z).for_each(|(w, z)| *z += w.dot(moved));
        }
        Self { centre, turn, z }
    }
}

/// The polar rotation by Newton's iteration (Higham 1986); the one before when the shape is turned inside out.
fn rotation(stretch: WideMat3, before: WideMat3) -> WideMat3 {
    let size = stretch.determinant().cbrt();
    if !(size > 0.0) {
        return before;
    }
    let mut r = stretch * (1.0 / size);
    for _ in 0..40 {
        let next = (r + r.inverse().transpose()) * 0.5;
        let change = next - r;
        r = next;
        if change.x_axis.length_squared() + change.y_axis.length_squared() + change.z_axis.length_squared() < 1e-28 {
            break;
        }
    }
    r
}
