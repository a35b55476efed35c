//! Constraints: each kind is one file that converts a relation between bodies into rows.
//!
//! A kind is its public description with a function `build(&self, &View) -> Result<Built, Error>`, what is built of it with
//! the description in a field `source`, an implementation of [`Kind`] for that, and one entry of the table `constraints!`
//! (docs/adding-a-constraint.md).

mod attach;
mod bend;
mod custom;
mod distance;
mod distance_set;
mod joint;
mod patch;
mod pulley;
pub(crate) mod response;
mod row;
mod site;
mod volume;

pub(crate) use attach::BuiltAttach;
pub use attach::{AttachTarget, Attachment};
pub(crate) use bend::BuiltBending;
pub use bend::{BendLaw, Bending};
pub(crate) use custom::BuiltCustom;
pub use custom::{RowWriter, Rows};
pub(crate) use distance::BuiltDistance;
pub use distance::Distance;
pub(crate) use distance_set::BuiltStrands;
pub use distance_set::DistanceSet;
pub(crate) use joint::{BuiltJoint, Side};
pub use joint::{Joint, JointKind, Motor};
pub(crate) use patch::BuiltPatchJoint;
pub use patch::{PatchJoint, PatchKind, PatchRest};
pub(crate) use pulley::BuiltPulley;
pub use pulley::Pulley;
pub(crate) use row::Wish;
pub use row::{Bounds, Row, RowBuffer, RowId, Term};
pub(crate) use site::{Place, check_surfels, has_own_response};
pub use site::{Site, View};
pub(crate) use volume::BuiltVolume;
pub use volume::{Volume, VolumeLaw};

use crate::error::Error;
use crate::math::{Real, Vec3};
use crate::solver::soft::Softness;
use crate::tool::{BuiltTool, Tool};

/// Number of rows of custom constraints and of joints whose impulses are stored: a joint has at most three linear and
/// three angular rows, two limits and a motor.
const CUSTOM_ROWS: usize = 12;
const JOINT_ROWS: usize = 9;

/// What a constraint is, as data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traits {
    /// Number of rows whose impulses are stored in State.
    pub rows: usize,
    /// Its rows act between bodies only: none of its ends is a point of the world. Unknown, hence false, for custom rows.
    pub internal: bool,
    /// It acts on nodes: such rows come later in a staggered sweep.
    pub nodes: bool,
    /// Rows may have more than four blocks. They are swept with the rows of rigid bodies: among those of nodes one of them
    /// would prevent the SIMD lanes for all others.
    pub wide: bool,
    /// Nodes held along axes of the world: a support, whose force is a reaction.
    pub support: bool,
    /// False for rows of many bodies and directions, of which no sum has a meaning.
    pub resultant: bool,
    /// Bodies of nodes that its reported force acts on: against it on the first, with it on the second. None where it acts
    /// on a rigid body or the world, or on several bodies.
    pub sides: [Option<u32>; 2],
    /// Force above which it breaks [N]; pressure for a volume [Pa].
    pub break_force: Real,
}

impl Default for Traits {
    fn default() -> Self {
        Self {
            rows: 0,
            internal: false,
            nodes: false,
            wide: false,
            support: false,
            resultant: true,
            sides: [None; 2],
            break_force: Real::INFINITY,
        }
    }
}

/// What a constraint in a world is and does.
pub(crate) trait Kind {
    /// What it is.
    fn traits(&self) -> Traits;

    /// Slots of the bodies it links.
    fn slots(&self, found: &mut dyn FnMut(u32));

    /// Appends the rows of a substep.
    fn rows(&self, view: &View<'_>, joint: Softness, out: &mut RowBuffer);

    /// Force and torque that a unit impulse of its row `index` has on its second body.
    fn carried(&self, _index: u32, terms: &[Term], linear: &dyn Fn(u32) -> bool) -> (Vec3, Vec3) {
        if self.traits().resultant { carried_by(terms, linear) } else { (Vec3::ZERO, Vec3::ZERO) }
    }

    /// Pairs of bodies that do not collide because of this constraint.
    fn keeps_apart(&self, _found: &mut dyn FnMut(u32, u32)) {}

    /// The value compared with the break force, from the force on its second body and the forces of its rows.
    fn strain(&self, force: Vec3, _rows: &[Real]) -> Real {
        force.length()
    }
}

/// The kinds of constraints: description, what is built of it, word in files, sentence.
macro_rules! constraints {
    ($($(#[$doc:meta])* $kind:ident, $built:ident, $word:literal, $about:literal;)*) => {
        /// The description from which a constraint was added; joints include their frames.
        ///
        /// An example is at [`Blueprint`](crate::Blueprint).
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum ConstraintSpec {
            $($(#[$doc])* $kind($kind),)*
        }

        sinew_spec::kinds!(ConstraintSpec, "joint", "What holds two bodies together, or a body to the world.", {
            $($word => $kind($kind), $about;)*
        });

        $(impl From<$kind> for ConstraintSpec {
            fn from(spec: $kind) -> Self {
                Self::$kind(spec)
            }
        })*

        impl ConstraintSpec {
            /// Checks the description and builds the constraint.
            pub(crate) fn build(&self, view: &View<'_>) -> Result<Constraint, Error> {
                Ok(match self {
                    $(Self::$kind(spec) => Constraint::$kind(spec.build(view)?),)*
                })
            }
        }

        /// A constraint of a world: a closed set, plus one variant for user-defined constraints.
        #[derive(Clone, Debug)]
        pub(crate) enum Constraint {
            $($kind($built),)*
            Custom(BuiltCustom),
        }

        impl Constraint {
            fn kind(&self) -> &dyn Kind {
                match self {
                    $(Self::$kind(built) => built,)*
                    Self::Custom(built) => built,
                }
            }

            /// The description from which it was built; none for user-defined rows, which are code.
            pub fn source(&self) -> Option<ConstraintSpec> {
                match self {
                    $(Self::$kind(built) => Some(ConstraintSpec::$kind(built.source.clone())),)*
                    Self::Custom(_) => None,
                }
            }
        }
    };
}

// The order is that of saves: new kinds are appended.
constraints! {
    /// A joint.
    Joint, BuiltJoint, "joint", "A joint.";
    /// A rod, rope or spring.
    Distance, BuiltDistance, "distance", "Two sites within a range of distances.";
    /// Anchors and seams.
    Attachment, BuiltAttach, "attach", "Points of nodes and surfaces held to the world, to bodies or to each other.";
    /// Lengths of many pairs.
    DistanceSet, BuiltStrands, "distance_set", "Lengths of many pairs of nodes of a body.";
    /// Bending.
    Bending, BuiltBending, "bending", "Lets a sheet resist bending.";
    /// A volume.
    Volume, BuiltVolume, "volume", "Holds the volume inside a surface, or fills it with gas.";
    /// A joint on a patch of surface.
    PatchJoint, BuiltPatchJoint, "patch", "A joint between a patch of surface and a rigid body or the world.";
    /// The coupling of a tool.
    Tool, BuiltTool, "tool", "Ties a rigid body to a hand; written by Sinew, `[tools.NAME]` is easier.";
    /// A rope over two guides.
    Pulley, BuiltPulley, "pulley", "One rope from a site over two guides to another site.";
}

impl Constraint {
    /// What it is.
    pub fn traits(&self) -> Traits {
        self.kind().traits()
    }

    /// Slots of the bodies it links.
    pub fn slots(&self, mut found: impl FnMut(u32)) {
        self.kind().slots(&mut found);
    }

    /// Appends the rows of a substep.
    pub fn rows(&self, view: &View<'_>, joint: Softness, out: &mut RowBuffer) {
        self.kind().rows(view, joint, out);
    }

    /// Force and torque that a unit impulse of its row `index` has on its second body.
    pub fn carried(&self, index: u32, terms: &[Term], linear: impl Fn(u32) -> bool) -> (Vec3, Vec3) {
        self.kind().carried(index, terms, &linear)
    }

    /// Pairs of bodies that do not collide because of this constraint.
    pub fn keeps_apart(&self, mut found: impl FnMut(u32, u32)) {
        self.kind().keeps_apart(&mut found);
    }

    /// The value compared with the break force.
    pub fn strain(&self, force: Vec3, rows: &[Real]) -> Real {
        self.kind().strain(force, rows)
    }
}

/// Force and torque of a unit impulse of a row on its second body, the last body in the terms; a row that acts on no
/// centre of mass or node is a torque.
fn carried_by(terms: &[Term], linear: &dyn Fn(u32) -> bool) -> (Vec3, Vec3) {
    match terms.iter().rev().find(|t| linear(t.block)) {
        Some(t) => (t.jacobian, Vec3::ZERO),
        None => (Vec3::ZERO, terms.last().map_or(Vec3::ZERO, |t| t.jacobian)),
    }
}
