//! Sinew's implementation of the scenes of the comparison with other engines, S1 to S7.
//!
//! Each scene is a file: it builds the world as the peers do, steps it, and takes the measures of the peers. The result
//! is one [`Record`] per variant, with speed and quality side by side, in the names and units of the peers, so that one
//! reader and one list of goals ([`Case`]) serve both. Nothing here prints, and nothing here depends on a peer.

#![forbid(unsafe_code)]

pub mod beam;
pub mod boxes;
pub mod cloth;
pub mod lattice;
pub mod rope;
pub mod soft;

mod case;
mod record;
mod times;

pub use case::{CASES, Case, Goal, Measure};
pub use record::{Reading, Record};
pub use times::{Times, median, quantile};

/// A scene that the engines have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scene {
    /// A cloth over a ball.
    S1,
    /// Four soft cylinders and a box between them.
    S2,
    /// A rope over a hinged wheel.
    S3,
    /// A lattice of springs.
    S4,
    /// Rigid boxes: pyramid, pile, stack.
    S5,
    /// A soft cantilever.
    S6,
    /// A soft cylinder falls across another.
    S7,
}

impl Scene {
    /// All of them, in order.
    pub const ALL: [Self; 7] = [Self::S1, Self::S2, Self::S3, Self::S4, Self::S5, Self::S6, Self::S7];

    /// The name in tables and on command lines.
    pub fn name(self) -> &'static str {
        ["S1", "S2", "S3", "S4", "S5", "S6", "S7"][self as usize]
    }

    /// One-line description.
    pub fn about(self) -> &'static str {
        match self {
            Self::S1 => "cloth of 51 x 51 nodes over a ball",
            Self::S2 => "four soft cylinders and a box between them",
            Self::S3 => "rope of 50 nodes over a hinged wheel",
            Self::S4 => "144,423 springs, forces and integration of a step",
            Self::S5 => "rigid boxes",
            Self::S6 => "soft cantilever of 15,066 tetrahedra",
            Self::S7 => "a soft cylinder falls across another",
        }
    }

    /// The scene of this name, case-insensitive.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.name().eq_ignore_ascii_case(word))
    }

    /// Runs the scene in Sinew on one thread and passes on every record as soon as it is complete.
    pub fn run(self, give: &mut dyn FnMut(Record)) {
        match self {
            Self::S1 => cloth::records(give),
            Self::S2 => give(soft::s2(soft::TOLERANCE).record()),
            Self::S3 => rope::records(give),
            Self::S4 => lattice::records(give),
            Self::S5 => boxes::records(give),
            Self::S6 => give(beam::record()),
            Self::S7 => soft::Fineness::ALL.into_iter().for_each(|f| give(soft::s7(f, soft::TOLERANCE).record())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_are_found_by_name_and_every_one_has_a_case() {
        for scene in Scene::ALL {
            assert_eq!(Scene::named(&scene.name().to_lowercase()), Some(scene));
            assert!(CASES.iter().any(|c| c.scene == scene), "{scene:?}");
        }
        assert_eq!(Scene::named("S8"), None);
    }
}
