//! Soft bodies: geometry, model with its parameters, surface.

use super::body::{GroupsForm, MaterialForm, groups, groups_form};
use super::{PoseForm, V3, pose, pose_form, vectors, vectors_form};
use serde::{Deserialize, Serialize};
use sinew::fem::Params as FemParams;
use sinew::{Geometry, Real, Region, SoftBody, SoftModel, TetMesh, Vec3};

/// [`Geometry`].
#[derive(Serialize, Deserialize)]
enum GeometryForm {
    Tets { vertices: Vec<V3>, tets: Vec<[u32; 4]> },
}

impl GeometryForm {
    fn of(geometry: &Geometry) -> Self {
        match geometry {
            Geometry::Tets(TetMesh { vertices, tets }) => {
                Self::Tets { vertices: vectors_form(vertices), tets: tets.clone() }
            }
        }
    }

    fn build(self) -> Geometry {
        match self {
            Self::Tets { vertices, tets } => Geometry::Tets(TetMesh { vertices: vectors(vertices), tets }),
        }
    }
}

mirror! {
    FemForm of FemParams {
        youngs_modulus: Real,
        poisson_ratio: Real,
        density: Real,
        damping: Real,
    }
}

/// [`SoftModel`].
#[derive(Serialize, Deserialize)]
enum SoftModelForm {
    Corotational(FemForm),
}

impl From<SoftModel> for SoftModelForm {
    fn from(model: SoftModel) -> Self {
        match model {
            SoftModel::Corotational(params) => Self::Corotational(params.into()),
        }
    }
}

impl From<SoftModelForm> for SoftModel {
    fn from(form: SoftModelForm) -> Self {
        match form {
            SoftModelForm::Corotational(params) => Self::Corotational(params.into()),
        }
    }
}

/// [`SoftBody`].
#[derive(Serialize, Deserialize)]
pub(crate) struct SoftForm {
    geometry: GeometryForm,
    model: SoftModelForm,
    pose: PoseForm,
    velocity: V3,
    spin: V3,
    pinned: Vec<u32>,
    pinned_regions: Vec<(V3, V3)>,
    thickness: Real,
    material: MaterialForm,
    groups: GroupsForm,
    gravity_scale: Real,
    damping: Real,
    name: String,
}

impl SoftForm {
    pub fn of(body: &SoftBody) -> Self {
        let SoftBody { geometry, model, pose, velocity, spin, pinned, pinned_regions, .. } = body;
        let SoftBody { thickness, material, groups, gravity_scale, damping, name, .. } = body;
        let region = |r: &Region| {
            let Region { min, max } = r;
            (min.to_array(), max.to_array())
        };
        Self {
            geometry: GeometryForm::of(geometry),
            model: model.clone().into(),
            pose: pose_form(pose),
            velocity: velocity.to_array(),
            spin: spin.to_array(),
            pinned: pinned.clone(),
            pinned_regions: pinned_regions.iter().map(region).collect(),
            thickness: *thickness,
            material: (*material).into(),
            groups: groups_form(*groups),
            gravity_scale: *gravity_scale,
            damping: *damping,
            name: name.clone(),
        }
    }

    pub fn build(self) -> SoftBody {
        let region = |(min, max)| Region { min: Vec3::from_array(min), max: Vec3::from_array(max) };
        SoftBody {
            geometry: self.geometry.build(),
            model: self.model.into(),
            pose: pose(self.pose),
            velocity: Vec3::from_array(self.velocity),
            spin: Vec3::from_array(self.spin),
            pinned: self.pinned,
            pinned_regions: self.pinned_regions.into_iter().map(region).collect(),
            thickness: self.thickness,
            material: self.material.into(),
            groups: groups(self.groups),
            gravity_scale: self.gravity_scale,
            damping: self.damping,
            name: self.name,
        }
    }
}
