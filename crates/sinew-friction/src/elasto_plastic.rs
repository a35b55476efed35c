//! Elasto-plastic: LuGre's bristle, but its yield is switched by α(z, v) (FC 5.16, 5.17 with the errata: |z|, α = 0
//! when z and v oppose, z_max = g(v)/σ₀; Dupont, Hayward, Armstrong and Altpeter 2002):
//!
//! ```text
//!   ż = v − α(z, v) σ₀ |v|/g(v) z,  α = 0 up to z_ba, then ½ + ½ sin(π (|z| − ½(z_max + z_ba))/(z_max − z_ba)), then 1
//! ```
//!
//! Below z_ba it is a spring and there is no creep. Here z_ba = `elastic_share` · z_max(v), so that it lies below z_max
//! at every speed.

use super::bristle::{At, Yields, drag};
use super::{Answer, Ask, Bristle, Coefficients, LuGre, Rule, length};
use sinew_math::{Lane, NumberError, Real};
use sinew_spec::{ANY, SHARE, check, record};
use std::f64::consts::PI;

/// A bristle with a purely elastic range.
///
/// An example is at [`friction::LuGre`](crate::LuGre).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElastoPlastic {
    /// The bristle and its curve.
    pub bristle: LuGre,
    /// z_ba/z_max: the elastic fraction of the largest stretch, between 0 and 1.
    pub elastic_share: Real,
}

/// A fraction with neither of its ends.
const INNER_SHARE: sinew_spec::Rule = SHARE.above().below();

record!(ElastoPlastic, "elasto-plastic friction", "A bristle that first is a spring.", ElastoPlastic::default(), {
    bristle: ANY, "The bristle and its curve.";
    elastic_share: INNER_SHARE, "Part of the largest stretch that is a spring.";
});

impl Default for ElastoPlastic {
    fn default() -> Self {
        Self { bristle: LuGre::default(), elastic_share: 0.9 }
    }
}

impl ElastoPlastic {
    /// Checked.
    pub fn new(bristle: LuGre, elastic_share: Real) -> Result<Self, NumberError> {
        let law = Self { bristle, elastic_share };
        check(&law, "elasto-plastic").map(|()| law)
    }
}

impl Yields for ElastoPlastic {
    #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
    #[inline(always)]
    fn rate<L: Lane>(&self, t: L::Token, ask: &Ask<L>, at: At<L>) -> L {
        let (zero, one, half) = (L::splat(t, 0.0), L::splat(t, 1.0), L::splat(t, 0.5));
        let full = self.bristle.full_rate(t, ask, at.speed);
        // |z|/z_max, and its normalised position between z_ba and z_max: −½ to ½
        let reached = length(at.stretch) * full;
        let span = 1.0 / (1.0 - self.elastic_share);
        let middle = L::splat(t, 0.5 * (1.0 + self.elastic_share));
        let w = ((reached - middle) * L::splat(t, span)).min(half).max(-half) * L::splat(t, PI as Real);
        // sin w by its series, with an error of 4e-6 at the end of its range
        let w2 = w * w;
        let mut sine = L::splat(t, 1.0 / 362_880.0);
        for c in [-1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0] {
            sine = sine * w2 + L::splat(t, c);
        }
        let switch = (half + half * w * sine).min(one).max(zero);
        // exactly zero in the elastic range
        let switch = reached.select_gt(L::splat(t, self.elastic_share), switch, zero);
        let along = at.stretch[0] * at.slip[0] + at.stretch[1] * at.slip[1];
        along.select_gt(zero, switch * full, zero)
    }
}

impl Rule for ElastoPlastic {
    #[inline(always)]
    fn answer<L: Lane>(&self, t: L::Token, ask: &Ask<L>) -> Answer<L> {
        drag(t, ask, self.bristle.numbers(t), self)
    }

    fn steady(&self, c: Coefficients, speed: Real) -> Real {
        self.bristle.steady(c, speed)
    }

    fn bristle(&self) -> Option<Bristle> {
        Some(Bristle { stiffness: self.bristle.stiffness, damping: self.bristle.damping })
    }
}
