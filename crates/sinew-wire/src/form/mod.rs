//! What settings, bodies, constraints and commands look like in a file.
//!
//! The core has no serde: its types are described as data there (`sinew::spec`), and the descriptions are the format. A
//! field that is appended to a description is read from files that have it; raise `frame::FORMAT` then.

mod command;
mod described;
mod model;
mod shape;

pub(crate) use command::StepForm;
pub(crate) use described::Described;
pub(crate) use model::ModelForm;

use sinew::{Pose, Quat, Real, Vec3};

/// x, y, z.
type V3 = [Real; 3];

/// Position, rotation as x, y, z, w.
type PoseForm = (V3, [Real; 4]);

fn pose_form(pose: &Pose) -> PoseForm {
    let Pose { position, rotation } = pose;
    (position.to_array(), rotation.to_array())
}

fn pose((position, rotation): PoseForm) -> Pose {
    Pose::new(Vec3::from_array(position), Quat::from_array(rotation))
}

fn vectors_form(vectors: &[Vec3]) -> Vec<V3> {
    vectors.iter().map(|v| v.to_array()).collect()
}

fn vectors<C: FromIterator<Vec3>>(form: Vec<V3>) -> C {
    form.into_iter().map(Vec3::from_array).collect()
}
