//! Seams: one surface stitched to another where they are near. In the engine an attachment.

use super::form::{ANY, NOT_NEGATIVE, POSITIVE, record};
use super::joint::Find;
use super::plain::Name;
use sinew::{Attachment, ConstraintSpec, Real, World};

/// A seam that finds its pairs.
#[derive(Clone, Debug)]
pub(crate) struct Seam {
    a: Name,
    b: Name,
    reach: Real,
    stiffness: Option<Real>,
    damping: Real,
    break_force: Real,
    collide: bool,
}

record!(Seam, "seam", "Surface points of one body stitched to the nearest points of another.",
    base |_| Seam {
        a: Name::default(),
        b: Name::default(),
        reach: 0.0,
        stiffness: None,
        damping: 0.0,
        break_force: Real::INFINITY,
        collide: false,
    },
    needs {
        a: ANY, "The body whose surface points are held.";
        b: ANY, "The body with the triangles they are held to.";
        reach: POSITIVE, "Points farther from a triangle than this stay free [m].";
    },
    {
        stiffness: NOT_NEGATIVE, "Stiffness of each pair [N/m]; without: rigid.";
        damping: NOT_NEGATIVE, "Damping beside the stiffness [N·s/m].";
        break_force: POSITIVE.or_infinite(), "All of it breaks when one pair carries more than this [N].";
        collide: ANY, "Whether the two bodies still collide.";
    }
);

impl Seam {
    pub fn build(&self, world: &World, find: &mut Find<'_>) -> Option<ConstraintSpec> {
        let (a, b) = (find(&self.a), find(&self.b));
        // bodies without a surface have no pairs, and the engine refuses an empty list
        let pairs = world.seam(a?, b?, self.reach).unwrap_or_default();
        let attach = Attachment::stitch(pairs);
        let (spring, break_force) = (self.stiffness.map(|k| (k, self.damping)), self.break_force);
        Some(ConstraintSpec::Attachment(Attachment { spring, break_force, collide: self.collide, ..attach }))
    }
}
