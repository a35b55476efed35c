//! Friction laws.

use serde::{Deserialize, Serialize};
use sinew::Real;
use sinew::friction::{Coulomb, Curve, Dahl, ElastoPlastic, Karnopp, Law, LuGre, Stiction, Stribeck, Viscous};

/// Speed, exponent, viscosity.
type CurveForm = (Real, Real, Real);

/// [`Law`]; parameters in the order of their declaration.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) enum LawForm {
    Coulomb,
    Viscous(Real, Real),
    Stiction,
    Stribeck(CurveForm),
    Karnopp(Real, CurveForm),
    Dahl(Real, Real),
    LuGre(Real, Real, CurveForm),
    ElastoPlastic(Real, Real, CurveForm, Real),
}

fn curve_form(curve: Curve) -> CurveForm {
    let Curve { speed, exponent, viscosity } = curve;
    (speed, exponent, viscosity)
}

fn curve((speed, exponent, viscosity): CurveForm) -> Curve {
    Curve { speed, exponent, viscosity }
}

impl From<Law> for LawForm {
    fn from(law: Law) -> Self {
        match law {
            Law::Coulomb(Coulomb) => Self::Coulomb,
            Law::Viscous(Viscous { viscosity, exponent }) => Self::Viscous(viscosity, exponent),
            Law::Stiction(Stiction) => Self::Stiction,
            Law::Stribeck(Stribeck { curve }) => Self::Stribeck(curve_form(curve)),
            Law::Karnopp(Karnopp { dead_band, curve }) => Self::Karnopp(dead_band, curve_form(curve)),
            Law::Dahl(Dahl { stiffness, exponent }) => Self::Dahl(stiffness, exponent),
            Law::LuGre(LuGre { stiffness, damping, curve }) => Self::LuGre(stiffness, damping, curve_form(curve)),
            Law::ElastoPlastic(ElastoPlastic { bristle, elastic_share }) => {
                let LuGre { stiffness, damping, curve } = bristle;
                Self::ElastoPlastic(stiffness, damping, curve_form(curve), elastic_share)
            }
        }
    }
}

impl From<LawForm> for Law {
    fn from(form: LawForm) -> Self {
        match form {
            LawForm::Coulomb => Law::Coulomb(Coulomb),
            LawForm::Viscous(viscosity, exponent) => Law::Viscous(Viscous { viscosity, exponent }),
            LawForm::Stiction => Law::Stiction(Stiction),
            LawForm::Stribeck(c) => Law::Stribeck(Stribeck { curve: curve(c) }),
            LawForm::Karnopp(dead_band, c) => Law::Karnopp(Karnopp { dead_band, curve: curve(c) }),
            LawForm::Dahl(stiffness, exponent) => Law::Dahl(Dahl { stiffness, exponent }),
            LawForm::LuGre(stiffness, damping, c) => Law::LuGre(LuGre { stiffness, damping, curve: curve(c) }),
            LawForm::ElastoPlastic(stiffness, damping, c, elastic_share) => {
                let bristle = LuGre { stiffness, damping, curve: curve(c) };
                Law::ElastoPlastic(ElastoPlastic { bristle, elastic_share })
            }
        }
    }
}
