//! Exact steps of one mode under a force that is constant over the step.
//!
//! ```text
//!   z̈ + d ż + λ z = f,   (z, ż) ← A (z, ż) + B f,   roots r = −d/2 ± √(d²/4 − λ)
//! ```
//!
//! No step limit, no numerical damping. Close to λ = 0 and d = 0 the sums of the exponential series are used, close to
//! critical damping the series of sinh; elsewhere the closed forms, written without differences of close numbers.

use crate::error::{ReduceError, not_negative, positive};

/// Coefficients of a step.
///
/// ```
/// use sinew_reduce::ModeStep;
/// // a mode without stiffness falls: z = f h²/2
/// let fall = ModeStep::new(0.0, 0.0, 0.5).unwrap();
/// assert_eq!(fall.advance([0.0, 0.0], 8.0), [1.0, 4.0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModeStep {
    /// A, by rows.
    pub carry: [[f64; 2]; 2],
    /// B.
    pub push: [f64; 2],
}

impl ModeStep {
    /// For λ [1/s²], rate of damping d [1/s] and step h [s].
    pub fn new(lambda: f64, rate: f64, h: f64) -> Result<Self, ReduceError> {
        not_negative("lambda", lambda)?;
        not_negative("the damping rate", rate)?;
        positive("the step", h)?;
        let half = 0.5 * rate;
        let gap = half * half - lambda;
        let small = (lambda * h * h).max(half * half * h * h) < 1e-2;
        // s = ∫ of the impulse response is the answer to a unit force; r the impulse response at h, q its rate
        let [s, r, q] = if small {
            series(lambda, rate, h)
        } else if (gap * h * h).abs() < 1e-4 {
            critical(lambda, half, gap, h)
        } else if gap > 0.0 {
            overdamped(lambda, half, gap.sqrt(), h)
        } else {
            let w = (-gap).sqrt();
            let (sin, cos) = (w * h).sin_cos();
            let e = (-half * h).exp();
            let r = e * sin / w;
            let q = e * cos - half * r;
            [(1.0 - q - rate * r) / lambda, r, q]
        };
        // z(h) of a unit displacement is 1 − λ s, its speed −λ r
        Ok(Self { carry: [[1.0 - lambda * s, r], [-lambda * r, q]], push: [s, r] })
    }

    /// One step of amplitude and speed.
    pub fn advance(&self, [z, speed]: [f64; 2], force: f64) -> [f64; 2] {
        let [[a, b], [c, d]] = self.carry;
        [a * z + b * speed + self.push[0] * force, c * z + d * speed + self.push[1] * force]
    }
}

/// Powers of the system matrix, applied to a unit push.
fn series(lambda: f64, rate: f64, h: f64) -> [f64; 3] {
    // r = Σ r_n with r_1 = h; each derivative of z̈ = −d ż − λ z
    let (mut s, mut r, mut q) = (0.0, 0.0, 1.0);
    let (mut below, mut term) = (0.0, 1.0);
    for n in 1..=16 {
        // term is z⁽ⁿ⁾(0) hⁿ⁻¹/(n−1)!, below the one before it
        let step = h / n as f64;
        r += term * step;
        s += term * step * h / (n as f64 + 1.0);
        let next = -(rate * term + lambda * below) * step;
        q += next;
        below = term * step;
        term = next;
    }
    [s, r, q]
}

fn critical(lambda: f64, half: f64, gap: f64, h: f64) -> [f64; 3] {
    let g = gap * h * h;
    let sinh = 1.0 + g / 6.0 * (1.0 + g / 20.0 * (1.0 + g / 42.0));
    let cosh = 1.0 + g / 2.0 * (1.0 + g / 12.0 * (1.0 + g / 30.0));
    let e = (-half * h).exp();
    let r = e * h * sinh;
    let q = e * cosh - half * r;
    [(1.0 - q - 2.0 * half * r) / lambda, r, q]
}

fn overdamped(lambda: f64, half: f64, w: f64, h: f64) -> [f64; 3] {
    let (slow, fast) = (-lambda / (half + w), -(half + w));
    let (a, b) = ((slow * h).exp(), (fast * h).exp());
    // ∫ e^(rt)
    let area = |root: f64| if root == 0.0 { h } else { (root * h).exp_m1() / root };
    let r = (a - b) / (2.0 * w);
    let q = (slow * a - fast * b) / (2.0 * w);
    [(area(slow) - area(fast)) / (2.0 * w), r, q]
}
