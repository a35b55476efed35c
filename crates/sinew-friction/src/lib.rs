//! Friction laws (FC 5.2), one file each, with a common interface.
//!
//! A contact carries the normal force N and slips with the velocity v in its plane. Its response to friction is linear
//! over a step, v = v_free − response · F. A law gives F as a function of v and of its state z; both are unknown and
//! solved simultaneously:
//!
//! ```text
//!   F = N f(z', v),   z' = the state after the step,   v = v_free − response · F
//! ```
//!
//! Solved here for v, so that a bristle of any stiffness is stable at any step. Every law is linear in N: stiffness,
//! damping and viscosity are *per newton of normal force* ([1/m], [s/m]), as in the tyre models (Canudas de Wit and
//! Tsiotras 1999). The break-away stretch of a bristle is then the same under any load, and the sum over contact points
//! does not depend on how many there are. Published figures in N and N/m are divided by the load they were measured
//! with.
//!
//! F points along v (or along the force that friction balances): the friction on the slipping body is −F. All vectors
//! lie in the contact plane and laws are isotropic there. Kernels are written once over `Lane`: one contact, or eight
//! at a time with the same bits.

mod anisotropy;
mod bristle;
mod coulomb;
mod curve;
mod dahl;
mod elasto_plastic;
mod karnopp;
mod lugre;
mod plain;
mod stiction;
mod stribeck;
#[cfg(test)]
mod tests;
mod traction;
mod viscous;

#[doc(hidden)]
pub use anisotropy::AnisotropyFrame;
pub use coulomb::Coulomb;
pub use curve::Curve;
pub use dahl::Dahl;
pub use elasto_plastic::ElastoPlastic;
pub use karnopp::Karnopp;
pub use lugre::LuGre;
pub use stiction::Stiction;
pub use stribeck::Stribeck;
#[doc(hidden)]
pub use traction::{StickSpring, Traction, Visit, VisitLanes};
pub use viscous::Viscous;

pub use sinew_math::NumberError;

use sinew_math::{Kernel, LANES, Lane, Real, check, not_negative, run_wide};

/// The list of laws: one line each. Its order is that of FC 5.2, of [`Law::all`] and of the format of saves.
macro_rules! laws {
    ($d:tt $(#[$doc:meta])* { $($(#[$law_doc:meta])* $law:ident $default:expr, $word:literal, $about:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Law {
            $($(#[$law_doc])* $law($law),)*
        }

        sinew_spec::kinds!(
            Law,
            "friction law",
            "How friction depends on slip (docs/friction.md). Stiffness, damping and viscosity are per newton of normal force.",
            { $($word => $law($law), $about;)* }
        );

        /// One match over all laws.
        macro_rules! each {
            ($d law:expr, $d rule:ident => $d do:expr) => {
                match $d law {
                    $(Law::$law($d rule) => $d do,)*
                }
            };
        }

        /// Number of laws.
        const COUNT: usize = [$($word),*].len();

        impl Law {
            /// All laws with parameters of dry metal.
            pub fn all() -> [Self; COUNT] {
                [$(Law::$law($default)),*]
            }

            /// Its index in [`Law::all`].
            pub fn rank(&self) -> usize {
                enum Index {
                    $($law),*
                }
                match self {
                    $(Law::$law(_) => Index::$law as usize,)*
                }
            }

            /// Name in files and on the command line.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Law::$law(_) => $word,)*
                }
            }
        }
    };
}

laws!($
/// A friction law with its parameters. Coefficients are not among them: they belong to the pair ([`Coefficients`]).
///
/// An example is at [`friction::Coefficients`](crate::Coefficients).
{
    /// F = μ N against slip (FC 5.1).
    Coulomb Coulomb, "coulomb", "The same at every speed, with both coefficients and a stick point.";
    /// Coulomb and a part that grows with speed (FC 5.3).
    Viscous Viscous::default(), "viscous", "Grows with speed.";
    /// Sticks up to μ_s N, slips with μ_k N (FC 5.4).
    Stiction Stiction, "stiction", "At contacts the same as coulomb.";
    /// Stiction with a curve that falls from μ_s to μ_k as slip begins (FC 5.5, 5.6).
    Stribeck Stribeck::default(), "stribeck", "Falls from the static to the kinetic coefficient as slip begins.";
    /// The same with a band of speeds that counts as rest (FC 5.7).
    Karnopp Karnopp::default(), "karnopp", "The same with a band of speeds that counts as rest.";
    /// A bristle that yields with displacement (FC 5.8).
    Dahl Dahl::default(), "dahl", "A bristle that yields with displacement.";
    /// Dahl's bristle with damping and the Stribeck curve (FC 5.13).
    LuGre LuGre::default(), "lugre", "A bristle with damping and the Stribeck curve.";
    /// LuGre's bristle with an elastic part that does not creep (FC 5.16).
    ElastoPlastic ElastoPlastic::default(), "elasto-plastic", "A bristle that first is a spring and does not creep.";
});

impl Default for Law {
    fn default() -> Self {
        Law::Coulomb(Coulomb)
    }
}

/// Friction coefficients of a pair.
///
/// ```
/// # use sinew_friction::*;
/// // one contact of 10 N, with a free slip velocity of 1 m/s at the end of the step
/// let contact = Contact {
///     h: 1e-3,
///     normal: 10.0,
///     coefficients: Coefficients { holding: 0.6, slipping: 0.4 },
///     free: [1.0, 0.0],
///     response: 1.0,
/// };
/// for law in Law::all() {
///     let result: FrictionResult = law.friction(&contact, Memory::default());
///     // friction is against the slip, and no law adds speed
///     assert!(result.velocity[0] <= 1.0 && result.velocity[0] >= 0.0, "{}: {result:?}", law.name());
/// }
/// // in steady slip Coulomb's friction is the coefficient
/// assert_eq!(Law::Coulomb(Coulomb).steady(contact.coefficients, 1.0), 0.4);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coefficients {
    /// While sticking, μ_s.
    pub holding: Real,
    /// While slipping, μ_k: at most μ_s.
    pub slipping: Real,
}

impl Coefficients {
    /// The same for sticking and slipping.
    pub fn both(mu: Real) -> Self {
        Self { holding: mu, slipping: mu }
    }

    /// Rejects invalid values, and names the parameter.
    pub fn check(&self, whose: &str) -> Result<(), NumberError> {
        not_negative(&format!("{whose}.holding"), self.holding)?;
        let ok = self.slipping >= 0.0 && self.slipping <= self.holding;
        check(&format!("{whose}.slipping"), self.slipping, ok, "at least 0 and at most the holding one")
    }
}

/// A contact over one step, as input of a friction law.
///
/// An example is at [`friction::Coefficients`](crate::Coefficients).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Time step [s].
    pub h: Real,
    /// Normal force N [N].
    pub normal: Real,
    /// Coefficients of the pair.
    pub coefficients: Coefficients,
    /// Slip velocity at the end of the step if there were no friction [m/s].
    pub free: [Real; 2],
    /// Response: decrease of the slip velocity per newton of friction [m/s/N]: h/m for a mass. 0: the slip is imposed.
    pub response: Real,
}

/// State of a law at a contact.
///
/// An example is at [`friction::Coefficients`](crate::Coefficients).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memory {
    /// Stretch of the bristle [m]; unchanged by laws without a bristle.
    pub stretch: [Real; 2],
    /// Slipping at the end of the last step.
    pub slipping: bool,
}

/// Result of a law over one step.
///
/// An example is at [`friction::Coefficients`](crate::Coefficients).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionResult {
    /// Friction, along the slip that it resists [N].
    pub force: [Real; 2],
    /// Slip velocity at the end of the step [m/s].
    pub velocity: [Real; 2],
    /// State after the step.
    pub memory: Memory,
}

/// Eight contacts of one law; arrays by contact.
///
/// An example is at [`friction::Coefficients`](crate::Coefficients).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eight {
    /// Time step [s].
    pub h: Real,
    /// Normal forces [N].
    pub normal: [Real; LANES],
    /// μ_s.
    pub holding: [Real; LANES],
    /// μ_k.
    pub kinetic: [Real; LANES],
    /// Slip velocities without friction [m/s]; after the call those with it.
    pub velocity: [[Real; LANES]; 2],
    /// Responses [m/s/N].
    pub response: [Real; LANES],
    /// Stretch of the bristles [m].
    pub stretch: [[Real; LANES]; 2],
    /// 1 while slipping.
    pub slipping: [Real; LANES],
    /// Friction [N]. Output.
    pub force: [[Real; LANES]; 2],
}

/// Input of a law in lanes: forces per newton of load, response times load.
#[derive(Clone, Copy, Debug)]
struct Ask<L> {
    h: L,
    inv_h: L,
    /// Compliance, response · N: decrease of the slip velocity by a friction coefficient of 1 [m/s].
    give: L,
    holding: L,
    kinetic: L,
    free: [L; 2],
    stretch: [L; 2],
    slipping: L,
}

/// Result of a law in lanes: coefficient of friction as a vector, slip, state.
#[derive(Clone, Copy, Debug)]
struct Answer<L> {
    traction: [L; 2],
    velocity: [L; 2],
    stretch: [L; 2],
    slipping: L,
}

/// Interface of a law.
trait Rule {
    /// Evaluates the law over a step.
    fn answer<L: Lane>(&self, t: L::Token, ask: &Ask<L>) -> Answer<L>;
    /// F/N in steady slip at a speed [m/s].
    fn steady(&self, c: Coefficients, speed: Real) -> Real;
    /// The bristle whose stretch is its state, if it has one.
    fn bristle(&self) -> Option<Bristle> {
        None
    }
}

/// Bristle of a law, per newton of normal force.
struct Bristle {
    /// [1/m]
    stiffness: Real,
    /// [s/m]
    damping: Real,
}

impl Law {
    /// True when its state is the stretch of a bristle, which determines its force.
    pub fn has_bristle(&self) -> bool {
        each!(self, l => l.bristle()).is_some()
    }

    /// Stiffness per newton of normal force of its bristle [1/m]; 0 without one.
    pub fn stiffness(&self) -> Real {
        each!(self, l => l.bristle()).map_or(0.0, |b| b.stiffness)
    }

    /// Damping per newton of normal force of its bristle [s/m]; 0 without one.
    pub fn damping(&self) -> Real {
        each!(self, l => l.bristle()).map_or(0.0, |b| b.damping)
    }

    /// F/N in steady slip at a speed [m/s].
    pub fn steady(&self, c: Coefficients, speed: Real) -> Real {
        each!(self, l => l.steady(c, speed))
    }

    /// Rejects invalid parameters, and names the first.
    pub fn check(&self, whose: &str) -> Result<(), NumberError> {
        each!(self, l => sinew_spec::check(l, &format!("{whose}.{}", self.name())))
    }

    /// Friction of a contact over a step.
    pub fn friction(&self, contact: &Contact, memory: Memory) -> FrictionResult {
        let ask = Ask {
            h: contact.h,
            inv_h: 1.0 / contact.h,
            give: contact.response * contact.normal,
            holding: contact.coefficients.holding,
            kinetic: contact.coefficients.slipping,
            free: contact.free,
            stretch: memory.stretch,
            slipping: if memory.slipping { 1.0 } else { 0.0 },
        };
        // without normal force there is no friction, and the bristles are released
        if !(contact.normal > 0.0) {
            return FrictionResult { force: [0.0; 2], velocity: contact.free, memory: Memory::default() };
        }
        let answer = each!(self, l => l.answer::<Real>((), &ask));
        FrictionResult {
            force: answer.traction.map(|f| f * contact.normal),
            velocity: answer.velocity,
            memory: Memory { stretch: answer.stretch, slipping: answer.slipping > 0.5 },
        }
    }

    /// Friction of contacts over a step, eight at a time; contacts without normal force keep their slip, and their
    /// bristles are released.
    pub fn friction_eights(&self, contacts: &mut [Eight]) {
        each!(self, l => run_wide(Pass { law: l, contacts }));
    }
}

/// Contacts of one law, in lanes.
struct Pass<'a, R> {
    law: &'a R,
    contacts: &'a mut [Eight],
}

impl<R: Rule> Kernel for Pass<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        for contacts in self.contacts {
            let mut at = 0;
            while at < LANES {
                friction_lanes::<L, R>(t, self.law, contacts, at);
                at += L::COUNT;
            }
        }
    }
}

#[inline(always)]
fn friction_lanes<L: Lane, R: Rule>(t: L::Token, law: &R, c: &mut Eight, at: usize) {
    let zero = L::splat(t, 0.0);
    let load = L::load(t, &c.normal[at..]);
    let ask = Ask {
        h: L::splat(t, c.h),
        inv_h: L::splat(t, 1.0 / c.h),
        give: L::load(t, &c.response[at..]) * load.max(zero),
        holding: L::load(t, &c.holding[at..]),
        kinetic: L::load(t, &c.kinetic[at..]),
        free: [L::load(t, &c.velocity[0][at..]), L::load(t, &c.velocity[1][at..])],
        stretch: [L::load(t, &c.stretch[0][at..]), L::load(t, &c.stretch[1][at..])],
        slipping: L::load(t, &c.slipping[at..]),
    };
    let answer = law.answer::<L>(t, &ask);
    for k in 0..2 {
        load.select_gt(zero, answer.traction[k] * load, zero).store(&mut c.force[k][at..]);
        load.select_gt(zero, answer.velocity[k], ask.free[k]).store(&mut c.velocity[k][at..]);
        load.select_gt(zero, answer.stretch[k], zero).store(&mut c.stretch[k][at..]);
    }
    load.select_gt(zero, answer.slipping, zero).store(&mut c.slipping[at..]);
}

/// Length of a vector in the plane.
#[inline(always)]
fn length<L: Lane>(v: [L; 2]) -> L {
    (v[0] * v[0] + v[1] * v[1]).sqrt()
}
