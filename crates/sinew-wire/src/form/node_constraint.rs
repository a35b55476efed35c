//! Constraints on nodes and surfaces: attachments, distance sets, bending, volumes, joints on patches.

use super::constraint::SiteForm;
use super::{IdForm, PoseForm, V3, body_id, pose, pose_form, vectors, vectors_form};
use serde::{Deserialize, Serialize};
use sinew::{
    AttachTarget, Attachment, BendLaw, Bending, DistanceSet, PatchJoint, PatchKind, PatchRest, Real, Vec3, Volume,
    VolumeLaw,
};

/// [`AttachTarget`].
#[derive(Serialize, Deserialize)]
enum HoldForm {
    At(SiteForm),
    Here(Option<IdForm>),
}

/// [`Attachment`].
#[derive(Serialize, Deserialize)]
pub(crate) struct AttachForm {
    pairs: Vec<(SiteForm, HoldForm)>,
    spring: Option<(Real, Real)>,
    break_force: Real,
    collide: bool,
    axes: Vec<V3>,
}

impl AttachForm {
    pub fn of(attach: &Attachment) -> Self {
        let Attachment { pairs, spring, break_force, collide, axes } = attach;
        let hold = |hold: AttachTarget| match hold {
            AttachTarget::At(site) => HoldForm::At(site.into()),
            AttachTarget::Here(body) => HoldForm::Here(body.map(|id| id.to_parts())),
        };
        let pairs = pairs.iter().map(|&(site, to)| (site.into(), hold(to))).collect();
        Self { pairs, spring: *spring, break_force: *break_force, collide: *collide, axes: vectors_form(axes) }
    }

    pub fn build(self) -> Attachment {
        let hold = |hold: HoldForm| match hold {
            HoldForm::At(site) => AttachTarget::At(site.into()),
            HoldForm::Here(body) => AttachTarget::Here(body.map(body_id)),
        };
        let pairs = self.pairs.into_iter().map(|(site, to)| (site.into(), hold(to))).collect();
        let axes = vectors(self.axes);
        Attachment { pairs, spring: self.spring, break_force: self.break_force, collide: self.collide, axes }
    }
}

/// [`DistanceSet`].
#[derive(Serialize, Deserialize)]
pub(crate) struct DistanceSetForm {
    body: IdForm,
    pairs: Vec<[u32; 2]>,
    lengths: Vec<Real>,
    pull: Real,
    push: Real,
    stiffness: Option<[Real; 2]>,
    damping: Real,
    break_force: Real,
}

impl DistanceSetForm {
    pub fn of(set: &DistanceSet) -> Self {
        let DistanceSet { body, pairs, lengths, pull, push, stiffness, damping, break_force } = set;
        Self {
            body: body.to_parts(),
            pairs: pairs.clone(),
            lengths: lengths.clone(),
            pull: *pull,
            push: *push,
            stiffness: *stiffness,
            damping: *damping,
            break_force: *break_force,
        }
    }

    pub fn build(self) -> DistanceSet {
        let Self { body, pairs, lengths, pull, push, stiffness, damping, break_force } = self;
        DistanceSet { body: body_id(body), pairs, lengths, pull, push, stiffness, damping, break_force }
    }
}

mirror_enum!(BendLawForm of BendLaw { Angle, Printed });

/// [`Bending`].
#[derive(Serialize, Deserialize)]
pub(crate) struct BendingForm {
    body: IdForm,
    folds: Vec<[u32; 4]>,
    rest: Vec<[Real; 2]>,
    stiffness: Real,
    damping: Real,
    law: BendLawForm,
}

impl BendingForm {
    pub fn of(bending: &Bending) -> Self {
        let Bending { body, folds, rest, stiffness, damping, law } = bending;
        Self {
            body: body.to_parts(),
            folds: folds.clone(),
            rest: rest.clone(),
            stiffness: *stiffness,
            damping: *damping,
            law: (*law).into(),
        }
    }

    pub fn build(self) -> Bending {
        let Self { body, folds, rest, stiffness, damping, law } = self;
        Bending { body: body_id(body), folds, rest, stiffness, damping, law: law.into() }
    }
}

mirror_enum!(VolumeLawForm of VolumeLaw {
    Held { volume: Option<Real>, compliance: Real },
    Gas { pressure: Real, volume: Option<Real>, outside: Real },
    Pressure(pressure: Real),
});

/// [`Volume`].
#[derive(Serialize, Deserialize)]
pub(crate) struct VolumeForm {
    body: IdForm,
    triangles: Vec<[u32; 3]>,
    law: VolumeLawForm,
    burst: Real,
}

impl VolumeForm {
    pub fn of(volume: &Volume) -> Self {
        let Volume { body, triangles, law, burst } = volume;
        Self { body: body.to_parts(), triangles: triangles.clone(), law: (*law).into(), burst: *burst }
    }

    pub fn build(self) -> Volume {
        let Self { body, triangles, law, burst } = self;
        Volume { body: body_id(body), triangles, law: law.into(), burst }
    }
}

mirror_enum!(PatchKindForm of PatchKind { Ball, Hinge, Fixed });

/// [`PatchJoint`].
#[derive(Serialize, Deserialize)]
pub(crate) struct PatchJointForm {
    kind: PatchKindForm,
    body: IdForm,
    surfels: Vec<u32>,
    weights: Vec<Real>,
    to: Option<IdForm>,
    axis: V3,
    break_force: Real,
    collide: bool,
    /// Place and offsets.
    rest: Option<(PoseForm, Vec<V3>)>,
}

impl PatchJointForm {
    pub fn of(joint: &PatchJoint) -> Self {
        let PatchJoint { kind, body, surfels, weights, to, axis, break_force, collide, rest } = joint;
        Self {
            kind: (*kind).into(),
            body: body.to_parts(),
            surfels: surfels.clone(),
            weights: weights.clone(),
            to: to.map(|id| id.to_parts()),
            axis: axis.to_array(),
            break_force: *break_force,
            collide: *collide,
            rest: rest.as_ref().map(|PatchRest { place, offsets }| (pose_form(place), vectors_form(offsets))),
        }
    }

    pub fn build(self) -> PatchJoint {
        PatchJoint {
            kind: self.kind.into(),
            body: body_id(self.body),
            surfels: self.surfels,
            weights: self.weights,
            to: self.to.map(body_id),
            axis: Vec3::from_array(self.axis),
            break_force: self.break_force,
            collide: self.collide,
            rest: self.rest.map(|(place, offsets)| PatchRest { place: pose(place), offsets: vectors(offsets) }),
        }
    }
}
