//! Friction laws (FC 5.2), for one contact and eight at a time: `sinew-friction` by another name.

pub(crate) use sinew_friction::{AnisotropyFrame, StickSpring, Traction, Visit, VisitLanes};
pub use sinew_friction::{
    Coefficients, Contact, Coulomb, Curve, Dahl, Eight, ElastoPlastic, FrictionResult, Karnopp, Law, LuGre, Memory,
    NumberError, Stiction, Stribeck, Viscous,
};
