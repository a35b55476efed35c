//! A range of distances between two sites: rod, rope, spring.
//!
//! ```text
//! min ≤ |x_b − x_a| ≤ max,    Ċ = u·(v_b − v_a),    u = (x_b − x_a)/|x_b − x_a|
//! ```
//! x ends [m], v their velocities [m/s]. One row with J = [−u, u]; inside the range it prevents the nearer limit from being
//! exceeded within the substep.

use super::row::{Bounds, RowBuffer};
use super::site::{Place, Site, Spring, Terms, View};
use super::{Kind, Traits};
use crate::error::{Error, check, not_negative, positive};
use crate::math::{Real, Vec3};
use crate::solver::soft::Softness;
use sinew_spec::{ANY, NOT_NEGATIVE, POSITIVE, record};

/// A constraint on the distance between two sites: a rod, a rope, a string of limited strength.
///
/// C = |x_b − x_a| − L, J = [−u, u] with u the unit vector from a to b. A rope only pulls: λ ≤ 0, and while slack the
/// bias C/h lets it become taut within the substep but not exceed its length (ICD 4.2 with the errata).
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let bob = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.05)).at([1.0, 0.0, 0.0]))?;
/// world.add_distance(Distance::rod(Site::World(Vec3::ZERO), Site::Rigid { body: bob, local: Vec3::ZERO }, 1.0))?;
/// for _ in 0..60 {
///     world.step(&Input::none());
/// }
/// assert!((world.body(bob)?.position().length() - 1.0).abs() < 1e-3);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Distance {
    /// One end.
    pub a: Site,
    /// The other end.
    pub b: Site,
    /// Minimum length [m]: below it the constraint pushes.
    pub min: Real,
    /// Maximum length [m]: above it the constraint pulls.
    pub max: Real,
    /// Maximum force in either direction [N].
    pub strength: Real,
    /// A physical spring instead of a rigid row: stiffness [N/m], damping [N·s/m].
    pub spring: Option<(Real, Real)>,
    /// Breaks when its force exceeds this [N].
    pub break_force: Real,
}

impl Distance {
    /// A rigid rod of a length [m].
    pub fn rod(a: Site, b: Site, length: Real) -> Self {
        Self { a, b, min: length, max: length, strength: Real::INFINITY, spring: None, break_force: Real::INFINITY }
    }

    /// A rope of a length [m]: it only pulls.
    pub fn rope(a: Site, b: Site, length: Real) -> Self {
        Self { min: 0.0, ..Self::rod(a, b, length) }
    }

    /// A spring of a rest length [m], stiffness [N/m] and damping [N·s/m].
    pub fn spring(a: Site, b: Site, length: Real, stiffness: Real, damping: Real) -> Self {
        Self { spring: Some((stiffness, damping)), ..Self::rod(a, b, length) }
    }

    /// Slips above this force [N].
    pub fn strength(mut self, force: Real) -> Self {
        self.strength = force;
        self
    }

    /// Breaks above this force [N].
    pub fn break_force(mut self, force: Real) -> Self {
        self.break_force = force;
        self
    }

    pub(crate) fn build(&self, view: &View<'_>) -> Result<BuiltDistance, Error> {
        let model = view.model;
        not_negative("distance.min", self.min)?;
        positive("distance.max", self.max)?;
        check("distance.min", self.min, self.min <= self.max, "at most the largest length")?;
        check("distance.strength", self.strength, self.strength > 0.0, "above 0")?;
        check("distance.break_force", self.break_force, self.break_force > 0.0, "above 0 (infinity: never breaks)")?;
        if let Some((k, c)) = self.spring {
            positive("distance.stiffness", k)?;
            not_negative("distance.damping", c)?;
        }
        let (a, b) = (self.a.resolve(model)?, self.b.resolve(model)?);
        let count = a.term_count(model) + b.term_count(model);
        if count > Terms::MOST {
            let reason = format!("its sites follow {count} nodes, at most {} are allowed: name nodes", Terms::MOST);
            return Err(Error::BadConstraint { constraint: "distance", reason });
        }
        // rows of more than four blocks do not fit into SIMD lanes
        Ok(BuiltDistance { a, b, wide: count > 4, source: self.clone() })
    }
}

/// A distance constraint in the form used by the step.
#[derive(Clone, Debug)]
pub(crate) struct BuiltDistance {
    pub a: Place,
    pub b: Place,
    pub wide: bool,
    pub source: Distance,
}

impl BuiltDistance {
    pub fn rows(&self, view: &View<'_>, soft: Softness, out: &mut RowBuffer) {
        let (pa, pb) = (view.point(&self.a), view.point(&self.b));
        let span = pb - pa;
        let length = span.length();
        let axis = span.try_normalize().unwrap_or(Vec3::Y);
        let mut terms = Terms::default();
        view.push_terms(&self.a, -axis, pa, &mut terms);
        view.push_terms(&self.b, axis, pb, &mut terms);
        let s = &self.source;
        let limit = s.strength * view.h;
        if let Some((k, c)) = s.spring {
            let (rate, softness) = crate::solver::soft::spring(k, c, view.h);
            let bounds = Bounds::Between { low: -limit, high: limit };
            let id = out.push_spring(terms.as_slice(), (length - s.max) * rate, softness, bounds);
            out.rows_mut()[id as usize].stiffness = k;
            return;
        }
        // second-order motion: the ends rotate about each other and with their bodies
        let across = {
            let relative = view.velocity_of(&self.b) - view.velocity_of(&self.a);
            (relative - axis * axis.dot(relative)).length_squared() / length.max(1e-6)
        };
        let turning = |place: &Place, point: Vec3| match *place {
            Place::Rigid { slot, .. } => view.bend(slot, point - view.center(slot).0),
            Place::World(_) | Place::Node { .. } | Place::Surface { .. } => Vec3::ZERO,
        };
        let bend = 0.5 * view.h * across + axis.dot(turning(&self.b, pb) - turning(&self.a, pa));
        // length error beyond the allowed range; inside it the row only prevents the nearer limit from being exceeded
        let (over, under) = (length - s.max, length - s.min);
        let softness = soft.relative * terms.answer();
        if s.min == s.max {
            let bounds = Bounds::Between { low: -limit, high: limit };
            out.push(terms.as_slice(), over * soft.rate + bend, over * soft.rate, softness, bounds);
        } else if over > -under || s.min <= 0.0 {
            let bounds = Bounds::Between { low: -limit, high: 0.0 };
            let correction = if over > 0.0 { over * soft.rate } else { 0.0 };
            let bias = if over > 0.0 { correction } else { over / view.h };
            out.push(terms.as_slice(), bias + bend, correction, if over > 0.0 { softness } else { 0.0 }, bounds);
        } else {
            let bounds = Bounds::Between { low: 0.0, high: limit };
            let correction = if under < 0.0 { under * soft.rate } else { 0.0 };
            let bias = if under < 0.0 { correction } else { under / view.h };
            out.push(terms.as_slice(), bias, correction, if under < 0.0 { softness } else { 0.0 }, bounds);
        }
    }
}

// The order of the fields is that of saves: new ones are appended.
record!(Distance, "distance", "Two sites within a range of distances.",
    Distance { max: Real::INFINITY, ..Distance::rope(Site::World(Vec3::ZERO), Site::World(Vec3::ZERO), 0.0) }, {
    a [required]: ANY, "One end.";
    b [required]: ANY, "The other end.";
    min: NOT_NEGATIVE, "Least length [m].";
    max: NOT_NEGATIVE.or_infinite(), "Largest length [m].";
    strength: POSITIVE.or_infinite(), "Slips above this force [N].";
    spring via Option<Spring> [flat]: ANY, "A spring beyond the range; without: rigid.";
    break_force: POSITIVE.or_infinite(), "Breaks above this force [N].";
});

impl Kind for BuiltDistance {
    fn traits(&self) -> Traits {
        Traits {
            rows: 1,
            internal: self.a.slot().is_some() && self.b.slot().is_some(),
            nodes: self.a.on_nodes() || self.b.on_nodes(),
            wide: self.wide,
            sides: [&self.a, &self.b].map(|p| p.slot().filter(|_| p.on_nodes())),
            break_force: self.source.break_force,
            ..Traits::default()
        }
    }

    fn slots(&self, found: &mut dyn FnMut(u32)) {
        [self.a, self.b].iter().filter_map(Place::slot).for_each(found);
    }

    fn rows(&self, view: &View<'_>, joint: Softness, out: &mut RowBuffer) {
        BuiltDistance::rows(self, view, joint, out);
    }
}
