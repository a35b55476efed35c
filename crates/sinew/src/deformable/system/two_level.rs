//! The coarse spaces of a body (`coarse.rs`): many control points without contact, few with contact.

use super::coarse::{Coarse, POINTS, TOUCHING_POINTS, pays};
use super::dilatation::Dilatations;
use super::rows::Rows;
use crate::deformable::SmoothMotions;
use crate::deformable::fem::tet_kernel::RestTet;
use crate::math::{Block, Real, Vec3};

/// Coarse spaces and whether they are in use.
#[derive(Clone, Debug)]
pub(in crate::deformable) struct TwoLevel {
    /// Rest positions. (node_count) [m]
    pub(super) rest: Vec<Block>,
    /// None for a small body.
    alone: Option<Coarse>,
    /// None where `alone` has no more points.
    touching: Option<Coarse>,
    /// Mean of K_ii/m [1/s²].
    stiffness_a_mass: Real,
    /// True when they reduce the cost in the current step. Written by `prepare`.
    in_use: bool,
}

impl TwoLevel {
    /// Coarse spaces of these nodes, some of which are the corners of tetrahedra that determine the rotation of the
    /// body.
    pub fn new(nodes: &[Vec3], tets: &[RestTet], stiffness_a_mass: Real) -> Self {
        let alone = Coarse::new(nodes, tets, POINTS);
        let fewer = alone.as_ref().is_some_and(|c| c.points() > TOUCHING_POINTS);
        let touching = fewer.then(|| Coarse::new(nodes, tets, TOUCHING_POINTS)).flatten();
        let rest = nodes.iter().map(|x| [x.x, x.y, x.z, 0.0]).collect();
        Self { rest, alone, touching, stiffness_a_mass, in_use: false }
    }

    /// Determines whether they reduce the cost at this factor h (h + β); true when their inputs have changed and they
    /// need the matrix at rest.
    pub fn prepare(&mut self, factor: Real, v: &[Block]) -> bool {
        self.in_use = self.alone.is_some() && pays(factor, self.stiffness_a_mass);
        self.in_use && self.alone.as_ref().is_some_and(|c| !c.fits(factor, v))
    }

    /// Computes the spaces from the matrix at rest.
    pub fn rebuild(&mut self, factor: Real, v: &[Block], rest: &Rows, averaged: Option<&Dilatations>) {
        for coarse in [&mut self.alone, &mut self.touching].into_iter().flatten() {
            coarse.rebuild(factor, v, rest, averaged);
        }
    }

    /// Rotates them with the body at x.
    pub fn turn(&mut self, x: &[Block], lanes: bool) {
        for coarse in [&mut self.alone, &mut self.touching].into_iter().flatten().filter(|_| self.in_use) {
            coarse.turn(x, lanes);
        }
    }

    /// Adds the coarse correction of a residual.
    pub fn correct(&self, residual: &[Block], z: &mut [Block]) {
        if let Some(coarse) = self.alone.as_ref().filter(|_| self.in_use) {
            coarse.correct(residual, z);
        }
    }

    /// The motions for a body in contact.
    pub fn smooth(&self) -> Option<&dyn SmoothMotions> {
        let fewest = self.touching.as_ref().or(self.alone.as_ref()).filter(|_| self.in_use);
        fewest.map(|coarse| coarse as &dyn SmoothMotions)
    }
}
