//! Rows: the common form of all constraints. A row contains numbers only, no bodies and no constraint kinds.
//!
//! The impulse λ [N·s, or N·m·s] of a row is within its bounds and satisfies
//!
//! ```text
//!   J·v + bias + softness·λ = 0        (or λ at a bound and the residual pushing against it)
//! ```
//!
//! while v contains all impulses so far, v = v_free + Σ response·λ. J and the response act on *velocity blocks*: a node
//! is one block, a rigid body two (linear, then angular). The sign of `bias` follows C/h: positive for an open gap
//! (approach is allowed), negative in penetration. Errata of ICD Alg. 1, 4.2 and 4.3 (`docs/errata.md`) are applied
//! here.

use crate::math::{Block, Real, Vec3, hold, vec};
use crate::solver::soft::{Softness, spring};

/// Index of a row in its buffer.
pub type RowId = u32;

/// One block of a row: the Jacobian there and the velocity change of that block for a unit impulse.
///
/// An example is at [`RowBuffer`](crate::RowBuffer).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// Velocity block.
    pub block: u32,
    /// Jacobian on that block [1 or m].
    pub jacobian: Vec3,
    /// Velocity change per unit impulse [1/kg, or rad/(kg·m²)·…].
    pub response: Vec3,
}

/// Admissible impulses of a row.
///
/// An example is at [`RowBuffer`](crate::RowBuffer).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bounds {
    /// Any value: a joint.
    Free,
    /// At least this [N·s]: a contact has 0.
    AtLeast(Real),
    /// Between two values [N·s]: a motor, a string, a limit.
    Between {
        /// Minimum impulse.
        low: Real,
        /// Maximum impulse.
        high: Real,
    },
    /// This row and the next are one vector in a disc of radius `friction · λ(normal) + radius`.
    Disc {
        /// The row whose impulse bounds the disc.
        normal: RowId,
        /// Friction coefficient.
        friction: Real,
        /// Constant part of the radius [N·s].
        radius: Real,
    },
    /// Second component of the disc of the previous row.
    Mate,
}

/// The numbers of one row; its terms are stored in the buffer.
///
/// An example is at [`RowBuffer`](crate::RowBuffer).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    start: u32,
    count: u32,
    /// Target velocity with opposite sign: the row drives J·v to −bias [m/s or rad/s].
    pub bias: Real,
    /// Part of the bias that only corrects position error: left out when relaxing [m/s or rad/s].
    pub correction: Real,
    /// Softness [1/kg]: adds softness·λ to the row; 0 is rigid.
    pub softness: Real,
    /// True when softness is part of the law (a spring) and stays in relaxing sweeps; else it only softens the error
    /// correction.
    pub spring: bool,
    /// Stiffness of a spring whose elastic energy the ledger counts [N/m, N·m/rad]; else 0.
    pub stiffness: Real,
    /// Bounds of the impulse.
    pub bounds: Bounds,
    /// J·response + softness; kept positive.
    pub diagonal: Real,
    /// Accumulated impulse [N·s].
    pub impulse: Real,
    /// Solved together with others (`solver/direct.rs`): sweeps leave it out.
    pub(crate) direct: bool,
}

/// The law of a row, before its response J·M⁻¹·Jᵀ is known.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wish {
    /// Keeps an error at zero; the second value is the second-order motion that J·v does not contain [m/s].
    Held(Real, Real, Softness),
    /// A spring with an error [m or rad], stiffness and damping, over a substep [s].
    Spring(Real, Real, Real, Real),
    /// Bias and softness as given; the softness is part of the law.
    Law(Real, Real),
    /// Lets a gap close within the substep, but not become negative: its bias [m/s].
    Gap(Real),
}

/// Bias, correction and softness of a row.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    bias: Real,
    correction: Real,
    softness: Real,
    spring: bool,
    stiffness: Real,
}

impl Wish {
    fn numbers(self, answer: Real) -> Numbers {
        match self {
            Self::Held(error, bend, soft) => {
                let correction = error * soft.rate;
                Numbers {
                    bias: correction + bend,
                    correction,
                    softness: soft.relative * answer,
                    spring: false,
                    stiffness: 0.0,
                }
            }
            Self::Spring(error, stiffness, damping, h) => {
                let (rate, softness) = spring(stiffness, damping, h);
                Numbers { bias: error * rate, correction: 0.0, softness, spring: true, stiffness }
            }
            Self::Gap(bias) => Numbers { bias, correction: 0.0, softness: 0.0, spring: false, stiffness: 0.0 },
            Self::Law(bias, softness) => Numbers { bias, correction: 0.0, softness, spring: true, stiffness: 0.0 },
        }
    }
}

/// Rows in sweep order, with their terms.
///
/// ```
/// use sinew::*;
/// // a node of 2 kg that may not move along x: one row, and the response of the node to a unit impulse
/// let mut rows = RowBuffer::default();
/// let term = Term { block: 0, jacobian: Vec3::X, response: Vec3::X * 0.5 };
/// rows.push(&[term], 0.0, 0.0, 0.0, Bounds::Free);
/// assert_eq!((rows.len(), rows.rows()[0].diagonal), (1, 0.5));
/// ```
#[derive(Clone, Debug, Default)]
pub struct RowBuffer {
    rows: Vec<Row>,
    terms: Vec<Term>,
}

impl RowBuffer {
    /// Removes all rows, keeps the allocated memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.terms.clear();
    }

    /// Memory for this number of rows and terms in total.
    pub(crate) fn reserve(&mut self, rows: usize, terms: usize) {
        hold(&mut self.rows, rows);
        hold(&mut self.terms, terms);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows in order.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The rows in order, to update bias, bounds or impulse.
    pub fn rows_mut(&mut self) -> &mut [Row] {
        &mut self.rows
    }

    /// The terms of a row.
    pub fn terms(&self, id: RowId) -> &[Term] {
        let row = &self.rows[id as usize];
        &self.terms[row.start as usize..(row.start + row.count) as usize]
    }

    /// Adds a row. Terms with neither Jacobian nor response may be left out by the caller. A row without response (all
    /// blocks fixed) gets an infinite diagonal, so that its impulse does not change.
    pub fn push(&mut self, terms: &[Term], bias: Real, correction: Real, softness: Real, bounds: Bounds) -> RowId {
        let start = self.terms.len() as u32;
        self.terms.extend_from_slice(terms);
        let answer: Real = terms.iter().map(|t| t.jacobian.dot(t.response)).sum();
        let diagonal = if answer > 0.0 { answer + softness } else { Real::INFINITY };
        self.rows.push(Row {
            start,
            count: terms.len() as u32,
            bias,
            correction,
            softness,
            spring: false,
            stiffness: 0.0,
            bounds,
            diagonal,
            impulse: 0.0,
            direct: false,
        });
        (self.rows.len() - 1) as RowId
    }

    /// Adds a term to the row being written; [`RowBuffer::close`] completes it.
    pub(crate) fn add_term(&mut self, term: Term) {
        self.terms.push(term);
    }

    /// Adds a term to the row being written, or adds it to the existing term on the same block: a sweep treats the
    /// terms of a row as independent.
    pub(crate) fn merge_term(&mut self, term: Term) {
        let from = self.open_from();
        match self.terms[from..].iter_mut().find(|t| t.block == term.block) {
            Some(t) => (t.jacobian, t.response) = (t.jacobian + term.jacobian, t.response + term.response),
            None => self.terms.push(term),
        }
    }

    /// The terms of the row being written.
    pub(crate) fn open_terms(&mut self) -> &mut [Term] {
        let from = self.open_from();
        &mut self.terms[from..]
    }

    /// Completes the row being written. A spring's softness is part of its law.
    pub(crate) fn close(&mut self, wish: Wish, bounds: Bounds) -> RowId {
        let start = self.open_from();
        let answer: Real = self.terms[start..].iter().map(|t| t.jacobian.dot(t.response)).sum();
        let Numbers { bias, correction, softness, spring, stiffness } = wish.numbers(answer);
        let diagonal = if answer > 0.0 { answer + softness } else { Real::INFINITY };
        let (start, count) = (start as u32, (self.terms.len() - start) as u32);
        let (impulse, direct) = (0.0, false);
        self.rows.push(Row {
            start,
            count,
            bias,
            correction,
            softness,
            spring,
            stiffness,
            bounds,
            diagonal,
            impulse,
            direct,
        });
        (self.rows.len() - 1) as RowId
    }

    /// Start index of the terms of the row being written.
    fn open_from(&self) -> usize {
        self.rows.last().map_or(0, |r| (r.start + r.count) as usize)
    }

    /// J·v of a row [m/s or rad/s].
    pub fn relative_velocity(&self, id: RowId, v: &[Block]) -> Real {
        let on = |t: &Term| t.jacobian.dot(vec(v[t.block as usize]));
        self.terms(id).iter().map(on).sum()
    }

    /// Renumbers the blocks of all terms.
    pub(crate) fn renumber(&mut self, mut number: impl FnMut(u32) -> u32) {
        for term in &mut self.terms {
            term.block = number(term.block);
        }
    }

    /// Adds a row whose softness is part of its law: a spring or a soft motor.
    pub fn push_spring(&mut self, terms: &[Term], bias: Real, softness: Real, bounds: Bounds) -> RowId {
        let id = self.push(terms, bias, 0.0, softness, bounds);
        self.rows[id as usize].spring = true;
        id
    }
}
