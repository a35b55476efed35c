//! Friction: laws, grain, and how two surfaces become a pair.

use super::form::{
    ANY, FINITE, FieldInfo, Fields, NOT_NEGATIVE, POSITIVE, Record, Rule, SHARE, from_to, kinds, record, words,
};
use super::schema::Schemas;
use super::tree::Entry;
use sinew::friction::{Coulomb, Curve, Dahl, ElastoPlastic, Karnopp, Law, LuGre, Stiction, Stribeck, Viscous};
use sinew::{Grain, PairRule, PairRules, Pairing, SurfaceMaterial, Vec3};

/// A share with neither of its ends.
const INNER_SHARE: Rule = Rule { open_low: true, ..SHARE }.below();
const FAMILY: Rule = from_to(1.0, 4_294_967_295.0);

/// A law without parameters.
macro_rules! bare {
    ($type:ident, $name:literal, $about:literal) => {
        impl Record for $type {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;

            fn read_fields(_: &mut Fields<'_, '_, '_>) -> Option<Self> {
                Some($type)
            }

            fn write_fields(&self, _: &mut Vec<Entry>) {}

            fn describe(_: &mut Vec<FieldInfo>, _: &mut Schemas) {}
        }
    };
}

bare!(Coulomb, "Coulomb friction", "Friction against slip.");
bare!(Stiction, "stiction", "Holds more than it rubs.");

kinds!(Law, "friction law", "How friction depends on slip (docs/friction.md). Stiffness, damping and viscosity are per newton of normal force.", {
    "coulomb" => Coulomb(Coulomb), "The same at every speed, with both coefficients and a stick point.";
    "viscous" => Viscous(Viscous), "Grows with speed.";
    "stiction" => Stiction(Stiction), "At contacts the same as coulomb.";
    "stribeck" => Stribeck(Stribeck), "Falls from the static to the kinetic coefficient as slip begins.";
    "karnopp" => Karnopp(Karnopp), "The same with a band of speeds that counts as rest.";
    "dahl" => Dahl(Dahl), "A bristle that yields with displacement.";
    "lugre" => LuGre(LuGre), "A bristle with damping and the Stribeck curve.";
    "elasto-plastic" => ElastoPlastic(ElastoPlastic), "A bristle that first is a spring and does not creep.";
});

record!(Viscous, "viscous friction", "Grows with speed.", base |_| Viscous::default(), {
    viscosity: NOT_NEGATIVE, "Viscosity per newton of normal force [(s/m)^exponent].";
    exponent: POSITIVE, "Exponent of the speed.";
});

record!(Stribeck, "Stribeck friction", "Falls as slip begins.", base |_| Stribeck::default(), {
    curve: ANY, "The fall, and the rise with speed.";
});

record!(Karnopp, "Karnopp friction", "A dead band about rest.", base |_| Karnopp::default(), {
    dead_band: POSITIVE, "Speed below which it is at rest [m/s].";
    curve: ANY, "The curve outside of the band.";
});

record!(Dahl, "Dahl friction", "A bristle that yields with displacement.", base |_| Dahl::default(), {
    stiffness: POSITIVE, "Stiffness per newton of normal force [1/m].";
    exponent: POSITIVE, "Exponent of the yield: above 1 ductile, below 1 brittle.";
});

record!(LuGre, "LuGre friction", "A bristle with damping.", base |_| LuGre::default(), {
    stiffness: POSITIVE, "Stiffness per newton of normal force [1/m].";
    damping: NOT_NEGATIVE, "Damping of the bristle per newton of normal force [s/m].";
    curve: ANY, "Where it yields, and the viscous part.";
});

record!(ElastoPlastic, "elasto-plastic friction", "A bristle that first is a spring.", base |_| ElastoPlastic::default(), {
    bristle: ANY, "The bristle and its curve.";
    elastic_share: INNER_SHARE, "Part of the largest stretch that is a spring.";
});

record!(Curve, "friction curve", "How friction falls as slip begins, and rises again with speed.", base |_| Curve::default(), {
    speed: POSITIVE, "Stribeck speed: width of the transition from static to kinetic friction [m/s].";
    exponent: POSITIVE, "Exponent of the fall: 2 (Gauss) or 1 (Tustin).";
    viscosity: NOT_NEGATIVE, "Viscosity per newton of normal force [s/m].";
});

record!(Grain, "grain", "Another friction across a direction than along it.", base |_| Grain { direction: Vec3::X, across: 1.0 }, needs {
    direction: FINITE, "The direction, in the axes of the body; not zero.";
    across: from_to(0.01, 100.0), "Coefficient across it / coefficient along it.";
}, {});

words!(PairRule, {
    "geometric_mean" => GeometricMean, "The root of the product.";
    "product" => Product, "The product.";
    "minimum" => Minimum, "The smaller.";
    "mean" => Mean, "Half of the sum.";
    "maximum" => Maximum, "The larger.";
});

record!(PairRules, "pair rules", "How the numbers of two surfaces become those of the pair.", base |_| PairRules::default(), {
    friction: ANY, "For both friction coefficients.";
    restitution: ANY, "For restitution.";
    table: ANY, "Pairs with numbers of their own; the first that fits counts.";
});

record!(Pairing, "pair of surfaces", "Two families of surfaces with numbers of their own.", base |_| Pairing { families: [1, 1], surface: SurfaceMaterial::default() }, needs {
    families: FAMILY, "The two families, in any order.";
    surface: ANY, "Friction, restitution, resistances and law of the pair.";
}, {});
