//! What settings, bodies, constraints and commands look like in a file.
//!
//! The core has no serde: each of its types has a mirror here, and the mirrors are the format. A field that the core adds
//! breaks the build here, because every conversion takes its source apart completely; then decide how to write it, and
//! raise `frame::FORMAT`.
//!
//! Conversions that can fail return the reason as a `String`; the caller adds the section.

/// A struct of the core and its mirror, field by field, in both directions. Fields convert by `From`.
macro_rules! mirror {
    ($form:ident of $source:ident { $($field:ident: $kind:ty),* $(,)? }) => {
        #[doc = concat!("[`", stringify!($source), "`].")]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub(crate) struct $form {
            $($field: $kind),*
        }

        impl From<$source> for $form {
            fn from(source: $source) -> Self {
                let $source { $($field),* } = source;
                Self { $($field: $field.into()),* }
            }
        }

        impl From<$form> for $source {
            fn from(form: $form) -> Self {
                let $form { $($field),* } = form;
                Self { $($field: $field.into()),* }
            }
        }
    };
}

/// The same for an enum: variants without data, with one number each in brackets, or with named fields.
macro_rules! mirror_enum {
    ($form:ident of $source:ident {
        $($variant:ident $(($($item:ident: $item_kind:ty),*))? $({ $($field:ident: $kind:ty),* })?),* $(,)?
    }) => {
        #[doc = concat!("[`", stringify!($source), "`].")]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub(crate) enum $form {
            $($variant $(($($item_kind),*))? $({ $($field: $kind),* })?),*
        }

        impl From<$source> for $form {
            fn from(source: $source) -> Self {
                match source {
                    $($source::$variant $(($($item),*))? $({ $($field),* })? =>
                        Self::$variant $(($($item.into()),*))? $({ $($field: $field.into()),* })?),*
                }
            }
        }

        impl From<$form> for $source {
            fn from(form: $form) -> Self {
                match form {
                    $($form::$variant $(($($item),*))? $({ $($field),* })? =>
                        Self::$variant $(($($item.into()),*))? $({ $($field: $field.into()),* })?),*
                }
            }
        }
    };
}

mod body;
mod command;
mod constraint;
mod described;
mod model;
mod node_constraint;
mod shape;
mod soft;
mod soft_model;
mod tool;

pub(crate) use command::StepForm;
pub(crate) use described::Described;
pub(crate) use model::ModelForm;

use sinew::{BodyId, ConstraintId, Pose, Quat, Real, Vec3};

/// x, y, z.
type V3 = [Real; 3];

/// Position, rotation as x, y, z, w.
type PoseForm = (V3, [Real; 4]);

/// Index and generation.
type IdForm = (u32, u32);

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

fn body_id((index, generation): IdForm) -> BodyId {
    BodyId::from_parts(index, generation)
}

fn constraint_id((index, generation): IdForm) -> ConstraintId {
    ConstraintId::from_parts(index, generation)
}
