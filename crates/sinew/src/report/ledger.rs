//! The energy ledger and the momentum ledger of a step, as plain data (`docs/ledger.md`).

use crate::model::BodyId;

/// How much of the ledger a step makes. World totals make a step 5% to 50% longer, most with cloth: its elastic energy is a pass over
/// all constraints.
///
/// An example is at [`LedgerReport`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LedgerDetail {
    /// Nothing.
    #[default]
    None,
    /// Energies and linear momentum of the world.
    World,
    /// The balance of each body and angular momentum too.
    Bodies,
}

/// Energies that entered the world's bodies, by cause [J]. Positive: energy was added; negative: it was taken.
///
/// ```text
///   kinetic + gravity + elastic = (the entries after them) + unexplained
/// ```
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// world.set_ledger(LedgerDetail::World);
/// world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
/// let start = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.1, 0.1)).mass(2.0).at([0.0, 0.1, 0.0]);
/// world.add_rigid(start.velocity(Vec3::X))?;
/// for _ in 0..120 {
///     world.step(&Input::none());
/// }
/// // it slid to a stop: friction took ½ m v²
/// let total = world.report().ledger.total;
/// assert!((total.friction + 1.0).abs() < 0.01, "{total:?}");
/// assert!(total.unexplained.abs() < 1e-3 * world.report().ledger.turnover);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ledger {
    /// Change of kinetic energy [J].
    pub kinetic: f64,
    /// Change of the potential energy of gravity [J].
    pub gravity: f64,
    /// Change of elastic energy, of soft bodies and of constraints that are springs [J].
    pub elastic: f64,
    /// Work of commands: forces, impulses, velocities that were set, displacement against gravity [J].
    pub commands: f64,
    /// Work of loads: pressure and dead forces on soft bodies, gas and pressure of volumes [J].
    pub loads: f64,
    /// Work of motors [J].
    pub motors: f64,
    /// Work of kinematic bodies and of pinned nodes that are moved [J].
    pub kinematic: f64,
    /// Work of the air on soft bodies: wind less drag [J].
    pub air: f64,
    /// Work of tools [J]. Zero: there are none yet.
    pub tools: f64,
    /// Energy of surfaces that were cut [J]. Zero: there is no cutting yet.
    pub cutting: f64,
    /// Work of friction at contacts, rolling and spinning resistance among it [J].
    pub friction: f64,
    /// Work of the normal impulses of contacts: what impacts lose, less what restitution returns [J].
    pub restitution: f64,
    /// Loss by damping: of bodies, of models that are integrated implicitly, of springs [J].
    pub damping: f64,
    /// Loss by plastic flow and by dashpots that are internal state [J].
    pub plasticity: f64,
    /// Work of the rows of joints, ropes and other rigid constraints: what their impacts lose [J].
    pub constraints: f64,
    /// Kinetic energy of bodies that fell asleep [J].
    pub sleep: f64,
    /// Change by guards and limiters: energy limiter, rollback and faults, continuous collision detection [J].
    pub guards: f64,
    /// Change by displacements that are not those of the velocities: correction of position errors [J].
    pub correction: f64,
    /// Change by the integration in steps of finite length; for bodies whose integrator is not a linear system, contacts of
    /// cloth in columns and internal damping too [J].
    pub integrator: f64,
    /// The rest [J].
    pub unexplained: f64,
}

impl Ledger {
    /// Names of the entries, in the order of [`Ledger::values`].
    pub const NAMES: [&'static str; 20] = [
        "kinetic",
        "gravity",
        "elastic",
        "commands",
        "loads",
        "motors",
        "kinematic",
        "air",
        "tools",
        "cutting",
        "friction",
        "restitution",
        "damping",
        "plasticity",
        "constraints",
        "sleep",
        "guards",
        "correction",
        "integrator",
        "unexplained",
    ];

    /// All entries [J].
    pub fn values(&self) -> [f64; 20] {
        [
            self.kinetic,
            self.gravity,
            self.elastic,
            self.commands,
            self.loads,
            self.motors,
            self.kinematic,
            self.air,
            self.tools,
            self.cutting,
            self.friction,
            self.restitution,
            self.damping,
            self.plasticity,
            self.constraints,
            self.sleep,
            self.guards,
            self.correction,
            self.integrator,
            self.unexplained,
        ]
    }

    fn values_mut(&mut self) -> [&mut f64; 20] {
        [
            &mut self.kinetic,
            &mut self.gravity,
            &mut self.elastic,
            &mut self.commands,
            &mut self.loads,
            &mut self.motors,
            &mut self.kinematic,
            &mut self.air,
            &mut self.tools,
            &mut self.cutting,
            &mut self.friction,
            &mut self.restitution,
            &mut self.damping,
            &mut self.plasticity,
            &mut self.constraints,
            &mut self.sleep,
            &mut self.guards,
            &mut self.correction,
            &mut self.integrator,
            &mut self.unexplained,
        ]
    }

    /// Change of the stored energy: kinetic, gravity and elastic [J].
    pub fn stored(&self) -> f64 {
        self.kinetic + self.gravity + self.elastic
    }

    /// Sum of the causes that have a name [J].
    pub fn explained(&self) -> f64 {
        self.values()[3..19].iter().sum()
    }

    /// Energy that changed its form or entered or left: half the sum of the absolute values of all entries but the numerical
    /// ones (guards, correction, integrator, unexplained) [J].
    pub fn turnover(&self) -> f64 {
        0.5 * self.values()[..16].iter().map(|v| v.abs()).sum::<f64>()
    }

    /// Adds the entries of another ledger.
    pub(crate) fn add(&mut self, other: &Ledger) {
        for (to, from) in self.values_mut().into_iter().zip(other.values()) {
            *to += from;
        }
    }
}

/// Change of momentum in a step, and its causes.
///
/// An example is at [`LedgerReport`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MomentumLedger {
    /// Change of the momentum of all dynamic bodies [N·s].
    pub linear: [f64; 3],
    /// Impulse of gravity, commands, loads, air, damping, and of contacts and constraints with what is not dynamic [N·s].
    pub external: [f64; 3],
    /// `linear − external` [N·s].
    pub unexplained: [f64; 3],
    /// Change of the angular momentum about the origin [N·m·s]. This and the following: only with
    /// [`LedgerDetail::Bodies`].
    pub angular: [f64; 3],
    /// Angular impulse about the origin of the same causes [N·m·s].
    pub angular_external: [f64; 3],
    /// Change by displacements that are not those of the velocities [N·m·s].
    pub angular_correction: [f64; 3],
    /// The rest [N·m·s].
    pub angular_unexplained: [f64; 3],
}

/// Energy balance of a body in a step [J]; that of an island is the sum over its bodies.
///
/// An example is at [`LedgerReport`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyLedger {
    /// The body.
    pub body: BodyId,
    /// Index of a body of the same island: equal for all its bodies.
    pub island: u32,
    /// Change of its kinetic, gravitational and elastic energy [J].
    pub stored: f64,
    /// Work of commands, loads and air [J].
    pub external: f64,
    /// Work of contacts and constraints on it: exchange with other bodies, less what is lost on the way [J].
    pub exchange: f64,
    /// Damping, plasticity, integration, correction and guards [J].
    pub internal: f64,
    /// The rest [J].
    pub unexplained: f64,
}

/// The ledger of a step, and sums of the steps with a ledger ([`World::set_ledger`](crate::World::set_ledger)).
///
/// Totals are not part of State: no step depends on them, and a restored world counts on.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() })?;
/// world.set_ledger(LedgerDetail::Bodies);
/// for side in [-1.0, 1.0] {
///     let ball = RigidBody::dynamic().shape(Shape::ball(0.1)).at([0.15 * side, 0.0, 0.0]);
///     world.add_rigid(ball.velocity(Vec3::X * -side))?;
/// }
/// for _ in 0..30 {
///     world.step(&Input::none());
/// }
/// // two balls met head on: the impact took their kinetic energy, and no momentum came from outside
/// let ledger = &world.report().ledger;
/// assert!(ledger.total.restitution < 0.0 && ledger.total.unexplained.abs() < 1e-4);
/// assert!(ledger.momentum.unexplained[0].abs() < 1e-4);
/// assert_eq!(ledger.bodies.len(), 2);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct LedgerReport {
    /// Entries of this step.
    pub step: Ledger,
    /// Sum over the steps.
    pub total: Ledger,
    /// Sum of [`Ledger::turnover`] over all steps: the scale for `total.unexplained` [J].
    pub turnover: f64,
    /// Momentum in this step.
    pub momentum: MomentumLedger,
    /// Balance of each dynamic body that moved, by slot; only with [`LedgerDetail::Bodies`].
    pub bodies: Vec<BodyLedger>,
}
