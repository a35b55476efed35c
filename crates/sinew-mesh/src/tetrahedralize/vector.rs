//! Vectors of three f64. The mesher works in f64 for either build, so that both precisions give the same mesh.

use std::ops::{Add, Index, IndexMut, Mul, Neg, Sub};

/// A point or a direction [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Vector(pub [f64; 3]);

impl Vector {
    pub const ZERO: Self = Self([0.0; 3]);

    pub fn dot(self, other: Self) -> f64 {
        self[0] * other[0] + self[1] * other[1] + self[2] * other[2]
    }

    pub fn cross(self, other: Self) -> Self {
        Self([
            self[1] * other[2] - self[2] * other[1],
            self[2] * other[0] - self[0] * other[2],
            self[0] * other[1] - self[1] * other[0],
        ])
    }

    pub fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    pub fn min(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self[i].min(other[i])))
    }

    pub fn max(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self[i].max(other[i])))
    }

    pub fn lerp(self, other: Self, part: f64) -> Self {
        self + (other - self) * part
    }
}

/// Six times the signed volume of a tetrahedron [m³].
pub(super) fn orient(a: Vector, b: Vector, c: Vector, d: Vector) -> f64 {
    (b - a).cross(c - a).dot(d - a)
}

impl Index<usize> for Vector {
    type Output = f64;
    fn index(&self, axis: usize) -> &f64 {
        &self.0[axis]
    }
}

impl IndexMut<usize> for Vector {
    fn index_mut(&mut self, axis: usize) -> &mut f64 {
        &mut self.0[axis]
    }
}

impl Add for Vector {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self[i] + other[i]))
    }
}

impl Sub for Vector {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self[i] - other[i]))
    }
}

impl Mul<f64> for Vector {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self(self.0.map(|x| x * factor))
    }
}

impl Neg for Vector {
    type Output = Self;
    fn neg(self) -> Self {
        self * -1.0
    }
}
