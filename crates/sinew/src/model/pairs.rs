//! Combination of two surface materials: a rule for all pairs, and a table for pairs whose coefficients were measured
//! together.
//!
//! No rule follows from physics: a coefficient belongs to a pair and not to a surface. The product is that of ICD 4.4
//! and Bullet; the geometric mean gives a pair of equal surfaces the coefficient of each, and so do minimum, mean and
//! maximum.

use super::SurfaceMaterial;
use crate::error::Error;
use crate::math::Real;
use sinew_spec::{ANY, from_to, record, words};

/// Rule for the coefficient of a pair from those of two surfaces.
///
/// ```
/// use sinew::*;
/// assert_eq!(PairRule::Product.of(0.5, 0.5), 0.25);
/// assert_eq!(PairRule::Maximum.of(0.2, 0.5), 0.5);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PairRule {
    /// √(a b).
    #[default]
    GeometricMean,
    /// a b (ICD 4.4).
    Product,
    /// The smaller: one side of low friction is enough.
    Minimum,
    /// (a + b)/2.
    Mean,
    /// The larger: one side of high friction is enough.
    Maximum,
}

impl PairRule {
    /// The coefficient of the pair.
    pub fn of(self, a: Real, b: Real) -> Real {
        match self {
            PairRule::GeometricMean => (a * b).sqrt(),
            PairRule::Product => a * b,
            PairRule::Minimum => a.min(b),
            PairRule::Mean => 0.5 * (a + b),
            PairRule::Maximum => a.max(b),
        }
    }
}

/// A pair of families of surfaces with its own coefficients.
///
/// An example is at [`PairRules`](crate::PairRules).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pairing {
    /// The two families ([`SurfaceMaterial::family`]), in any order; 0 is none.
    pub families: [u32; 2],
    /// Coefficients, restitution, resistances and law of the pair. Its family and grain are not used: grain belongs to
    /// a body.
    pub surface: SurfaceMaterial,
}

/// Rules for the combination of surface materials in a world.
///
/// ```
/// use sinew::*;
/// // glass on steel has low friction, regardless of their friction with others
/// let surface = SurfaceMaterial::friction(0.1);
/// let table = vec![Pairing { families: [1, 2], surface }];
/// let pairs = PairRules { friction: PairRule::Minimum, table, ..PairRules::default() };
/// let (glass, steel, wood) =
///     (SurfaceMaterial::friction(0.9).family(1), SurfaceMaterial::friction(0.6).family(2), SurfaceMaterial::friction(0.4));
/// assert_eq!(pairs.combine(&glass, &steel).static_friction, 0.1);
/// assert_eq!(pairs.combine(&glass, &wood).static_friction, 0.4);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PairRules {
    /// For both friction coefficients. Default geometric mean.
    pub friction: PairRule,
    /// For restitution. Default maximum.
    pub restitution: PairRule,
    /// Pairs with given values instead of the rules; the first matching entry counts. Default none.
    pub table: Vec<Pairing>,
}

impl Default for PairRules {
    fn default() -> Self {
        Self { friction: PairRule::GeometricMean, restitution: PairRule::Maximum, table: Vec::new() }
    }
}

impl PairRules {
    /// The material of a pair: that of the table; otherwise coefficients and restitution by the rules, the larger
    /// resistances, and the law that comes later in [`crate::friction::Law::all`] (of equal ones that of the first
    /// body).
    pub fn combine(&self, a: &SurfaceMaterial, b: &SurfaceMaterial) -> SurfaceMaterial {
        let grain = SurfaceMaterial::stronger_grain(a, b).map(|(_, grain)| grain);
        let families = [a.family, b.family];
        if let Some(own) = self.find(families) {
            return SurfaceMaterial { family: 0, grain, ..own.surface };
        }
        SurfaceMaterial {
            static_friction: self.friction.of(a.static_friction, b.static_friction),
            kinetic_friction: self.friction.of(a.kinetic_friction, b.kinetic_friction),
            restitution: self.restitution.of(a.restitution, b.restitution),
            rolling_resistance: a.rolling_resistance.max(b.rolling_resistance),
            spinning_resistance: a.spinning_resistance.max(b.spinning_resistance),
            law: if b.law.rank() > a.law.rank() { b.law } else { a.law },
            family: 0,
            grain,
        }
    }

    fn find(&self, [a, b]: [u32; 2]) -> Option<&Pairing> {
        if a == 0 || b == 0 {
            return None;
        }
        self.table.iter().find(|p| p.families == [a, b] || p.families == [b, a])
    }

    /// The surfaces of the table, whose coefficients depend on each other. Ranges are checked by their description.
    pub(crate) fn check(&self, whose: &str) -> Result<(), Error> {
        sinew_spec::check(self, whose)?;
        self.table.iter().enumerate().try_for_each(|(i, p)| p.surface.check(&format!("{whose}.table[{i}].surface")))
    }
}

words!(PairRule, {
    "geometric_mean" => GeometricMean, "The root of the product.";
    "product" => Product, "The product.";
    "minimum" => Minimum, "The smaller.";
    "mean" => Mean, "Half of the sum.";
    "maximum" => Maximum, "The larger.";
});

record!(PairRules, "pair rules", "How the numbers of two surfaces become those of the pair.", PairRules::default(), {
    friction: ANY, "For both friction coefficients.";
    restitution: ANY, "For restitution.";
    table: ANY, "Pairs with numbers of their own; the first that fits counts.";
});

record!(Pairing, "pair of surfaces", "Two families of surfaces with numbers of their own.",
    Pairing { families: [1, 1], surface: SurfaceMaterial::default() }, needs {
    families: from_to(1.0, 4_294_967_295.0), "The two families, in any order.";
    surface: ANY, "Friction, restitution, resistances and law of the pair.";
}, {});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_except_the_product_preserves_equal_coefficients() {
        for rule in [PairRule::GeometricMean, PairRule::Minimum, PairRule::Mean, PairRule::Maximum] {
            assert!((rule.of(0.3, 0.3) - 0.3).abs() < 1e-7, "{rule:?}");
        }
        assert!((PairRule::Product.of(0.3, 0.5) - 0.15).abs() < 1e-7);
    }

    #[test]
    fn the_table_overrides_the_rule_in_either_order_of_the_pair() {
        let [ice, rubber] = [1, 2].map(|family| SurfaceMaterial { family, ..SurfaceMaterial::friction(0.9) });
        let table = vec![Pairing { families: [2, 1], surface: SurfaceMaterial::friction(0.05) }];
        let rules = PairRules { friction: PairRule::Minimum, table, ..PairRules::default() };
        for (a, b, mu) in
            [(ice, rubber, 0.05), (rubber, ice, 0.05), (ice, ice, 0.9), (ice, SurfaceMaterial::friction(0.4), 0.4)]
        {
            assert_eq!(rules.combine(&a, &b).static_friction, mu);
        }
        let wrong =
            PairRules { table: vec![Pairing { families: [0, 1], surface: SurfaceMaterial::default() }], ..rules };
        assert!(
            wrong.check("settings.pairs").is_err_and(|e| e.to_string().contains("settings.pairs.table[0].families"))
        );
    }
}
