//! A pulley: one rope from a site over two guides to another site.
//!
//! ```text
//! C = |x_a − p_a| + r |x_b − p_b| − L ≤ 0        Ċ = u_a·(v_a − w_a) + r u_b·(v_b − w_b)
//! ```
//! x ends [m], p guides [m], v and w their velocities [m/s], u unit vectors from guide to end, r ratio, L length [m].
//! One row with J = [u_a, −u_a, r u_b, −r u_b]. The rope only pulls: λ ≤ 0. The tension at a is −λ/h, at b r times that:
//! a tackle with r parts. Its own mass and friction on the guides are not modelled.

use super::row::{Bounds, RowBuffer};
use super::site::{Place, Site, Terms, View};
use super::{Kind, Traits};
use crate::error::{Error, check, positive};
use crate::math::{Real, Vec3};
use crate::solver::soft::Softness;
use sinew_spec::{ANY, POSITIVE, record};

/// A rope from one site over two guides to another site.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// // Atwood's machine: 2 kg and 1 kg on a rope over a wheel
/// let mut world = World::default();
/// let weight = |mass, x| RigidBody::dynamic().shape(Shape::ball(0.05)).mass(mass).at([x, -1.0, 0.0]);
/// let (a, b) = (world.add(weight(2.0, -0.1))?, world.add(weight(1.0, 0.1))?);
/// let end = |body| Site::Rigid { body, local: Vec3::ZERO };
/// let [left, right] = [-0.1, 0.1].map(|x| Site::World(Vec3::X * x));
/// world.add(Pulley::new([end(a), left], [end(b), right], 2.0))?;
/// for _ in 0..30 {
///     world.step(&Input::none());
/// }
/// // a = g (2 − 1)/(2 + 1)
/// let speed = -world.body(a)?.velocity().y;
/// assert!((speed - 0.5 * 9.81 / 3.0).abs() < 0.01 * speed, "{speed}");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pulley {
    /// One end of the rope.
    pub a: Site,
    /// The guide of this end.
    pub over_a: Site,
    /// The other end.
    pub b: Site,
    /// The guide of that end.
    pub over_b: Site,
    /// Length of the rope, from a to its guide and `ratio` times from b to its guide [m].
    pub length: Real,
    /// Parts of the rope that carry b.
    pub ratio: Real,
    /// Breaks when the force on b exceeds this [N].
    pub break_force: Real,
}

impl Pulley {
    /// A rope of a length [m] between two ends, each with its guide.
    pub fn new([a, over_a]: [Site; 2], [b, over_b]: [Site; 2], length: Real) -> Self {
        Self { a, over_a, b, over_b, length, ratio: 1.0, break_force: Real::INFINITY }
    }

    /// Parts of the rope that carry b.
    pub fn ratio(mut self, ratio: Real) -> Self {
        self.ratio = ratio;
        self
    }

    pub(crate) fn build(&self, view: &View<'_>) -> Result<BuiltPulley, Error> {
        positive("pulley.length", self.length)?;
        positive("pulley.ratio", self.ratio)?;
        check("pulley.break_force", self.break_force, self.break_force > 0.0, "above 0 (infinity: never breaks)")?;
        let resolve = |site: &Site| site.resolve(view.model);
        let places = [resolve(&self.a)?, resolve(&self.over_a)?, resolve(&self.b)?, resolve(&self.over_b)?];
        let count: usize = places.iter().map(|p| p.term_count(view.model)).sum();
        if count > Terms::MOST {
            let reason = format!("its sites follow {count} nodes, at most {} are allowed: name nodes", Terms::MOST);
            return Err(Error::BadConstraint { constraint: "pulley", reason });
        }
        // rows of more than four blocks do not fit into SIMD lanes
        Ok(BuiltPulley { places, wide: count > 4, source: self.clone() })
    }
}

// The order of the fields is that of saves: new ones are appended.
record!(Pulley, "pulley", "One rope from a site over two guides to another site.",
    Pulley::new([Site::World(Vec3::ZERO); 2], [Site::World(Vec3::ZERO); 2], 1.0), {
    a [required]: ANY, "One end.";
    over_a [required]: ANY, "The guide of this end.";
    b [required]: ANY, "The other end.";
    over_b [required]: ANY, "The guide of that end.";
    length [required]: POSITIVE, "Length of the rope, from a to its guide and `ratio` times from b to its guide [m].";
    ratio: POSITIVE, "Parts of the rope that carry b.";
    break_force: POSITIVE.or_infinite(), "Breaks when the force on b exceeds this [N].";
});

/// A pulley in a world: ends and guides.
#[derive(Clone, Debug)]
pub(crate) struct BuiltPulley {
    places: [Place; 4],
    wide: bool,
    pub source: Pulley,
}

impl Kind for BuiltPulley {
    fn traits(&self) -> Traits {
        Traits {
            rows: 1,
            internal: self.places.iter().all(|p| p.slot().is_some()),
            nodes: self.places.iter().any(Place::on_nodes),
            wide: self.wide,
            break_force: self.source.break_force,
            ..Traits::default()
        }
    }

    fn slots(&self, found: &mut dyn FnMut(u32)) {
        self.places.iter().filter_map(Place::slot).for_each(found);
    }

    fn rows(&self, view: &View<'_>, joint: Softness, out: &mut RowBuffer) {
        let (mut terms, mut length) = (Terms::default(), 0.0);
        let [a, over_a, b, over_b] = &self.places;
        for (end, guide, parts) in [(a, over_a, 1.0), (b, over_b, self.source.ratio)] {
            let (x, p) = (view.point(end), view.point(guide));
            let axis = (x - p).try_normalize().unwrap_or(Vec3::NEG_Y) * parts;
            length += parts * (x - p).length();
            // the end last: the reported force is that on b
            view.push_terms(guide, -axis, p, &mut terms);
            view.push_terms(end, axis, x, &mut terms);
        }
        // a slack rope is taut at the end of the substep at the earliest
        let over = length - self.source.length;
        let correction = if over > 0.0 { over * joint.rate } else { 0.0 };
        let (bias, softness) =
            if over > 0.0 { (correction, joint.relative * terms.answer()) } else { (over / view.h, 0.0) };
        let bounds = Bounds::Between { low: Real::NEG_INFINITY, high: 0.0 };
        out.push(terms.as_slice(), bias, correction, softness, bounds);
    }
}

#[cfg(test)]
mod tests {
    use crate::*;

    /// Two weights on a rope, 1 m below their guides; their heights and the total length after half a second.
    fn hang(masses: [Real; 2], ratio: Real) -> Result<([Real; 2], Real), Error> {
        let mut world = World::default();
        let weight =
            |k: usize| RigidBody::dynamic().shape(Shape::ball(0.05)).mass(masses[k]).at([k as Real, -1.0, 0.0]);
        let (a, b) = (world.add(weight(0))?, world.add(weight(1))?);
        let end = |body| Site::Rigid { body, local: Vec3::ZERO };
        let guide = |x| Site::World(Vec3::X * x);
        let rope = Pulley::new([end(a), guide(0.0)], [end(b), guide(1.0)], 1.0 + ratio).ratio(ratio);
        world.add(rope)?;
        for _ in 0..30 {
            world.step(&Input::none());
        }
        let [ya, yb] = [world.body(a)?.position().y, world.body(b)?.position().y];
        Ok(([ya, yb], -ya - ratio * yb))
    }

    #[test]
    fn weights_of_atwoods_machine_accelerate_by_the_difference_over_the_sum() -> Result<(), Error> {
        let ([a, b], length) = hang([1.2, 1.0], 1.0)?;
        let fall = 0.5 * 9.81 * (0.2 / 2.2) * 0.25;
        assert!((-1.0 - a - fall).abs() < 0.02 * fall, "{a}");
        assert!((b + 1.0 - fall).abs() < 0.02 * fall, "{b}");
        // the row gives by T (1/m + 1/m)/ω², 0.2 mm
        assert!((length - 2.0).abs() < 1e-3, "{length}");
        Ok(())
    }

    #[test]
    fn a_tackle_of_two_parts_carries_twice_the_weight() -> Result<(), Error> {
        let ([a, b], length) = hang([1.0, 2.0], 2.0)?;
        assert!((a + 1.0).abs() < 1e-3 && (b + 1.0).abs() < 1e-3, "{a} {b}");
        assert!((length - 3.0).abs() < 1e-3, "{length}");
        Ok(())
    }

    #[test]
    fn a_slack_rope_does_nothing() -> Result<(), Error> {
        let mut world = World::default();
        let ball = world.add(RigidBody::dynamic().shape(Shape::ball(0.05)))?;
        let [here, there] = [0.0, 1.0].map(|x| Site::World(Vec3::X * x));
        world.add(Pulley::new([Site::Rigid { body: ball, local: Vec3::ZERO }, here], [there, there], 10.0))?;
        world.step(&Input::none());
        let free = 9.81 * world.settings().dt;
        assert!((world.body(ball)?.velocity().y + free).abs() < 1e-4 * free);
        Ok(())
    }

    #[test]
    fn bad_numbers_are_refused_by_name() -> Result<(), Error> {
        let mut world = World::default();
        let ball = world.add(RigidBody::dynamic().shape(Shape::ball(0.05)))?;
        let sites = [Site::Rigid { body: ball, local: Vec3::ZERO }, Site::World(Vec3::ZERO)];
        for (rope, name) in [
            (Pulley::new(sites, sites, 0.0), "pulley.length"),
            (Pulley::new(sites, sites, 1.0).ratio(Real::NAN), "pulley.ratio"),
            (Pulley { break_force: 0.0, ..Pulley::new(sites, sites, 1.0) }, "pulley.break_force"),
        ] {
            let error = world.add(rope).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
        Ok(())
    }
}
