//! Soft bodies: geometry, surface, how they meet the world.

use super::body::MaterialForm;
use super::described::Described;
use super::soft_model::SoftModelForm;
use super::{PoseForm, V3, pose, pose_form, vectors, vectors_form};
use serde::{Deserialize, Serialize};
use sinew::{
    Air, Geometry, Groups, HeldFace, Load, PinnedAxes, Real, Region, Reserve, Skin, SoftBody, TetMesh, TriMesh, Vec3,
};

/// [`TriMesh`].
#[derive(Serialize, Deserialize)]
struct TriMeshForm {
    vertices: Vec<V3>,
    triangles: Vec<[u32; 3]>,
}

impl TriMeshForm {
    fn of(mesh: &TriMesh) -> Self {
        let TriMesh { vertices, triangles } = mesh;
        Self { vertices: vectors_form(vertices), triangles: triangles.clone() }
    }

    fn build(self) -> TriMesh {
        TriMesh { vertices: vectors(self.vertices), triangles: self.triangles }
    }
}

/// [`Geometry`].
#[derive(Serialize, Deserialize)]
enum GeometryForm {
    Tets { vertices: Vec<V3>, tets: Vec<[u32; 4]> },
    Sheet(TriMeshForm),
    Rope(Vec<V3>),
    Points(Vec<V3>),
}

impl GeometryForm {
    fn of(geometry: &Geometry) -> Self {
        match geometry {
            Geometry::Tets(TetMesh { vertices, tets }) => {
                Self::Tets { vertices: vectors_form(vertices), tets: tets.clone() }
            }
            Geometry::Sheet(mesh) => Self::Sheet(TriMeshForm::of(mesh)),
            Geometry::Rope(points) => Self::Rope(vectors_form(points)),
            Geometry::Points(points) => Self::Points(vectors_form(points)),
        }
    }

    fn build(self) -> Geometry {
        match self {
            Self::Tets { vertices, tets } => Geometry::Tets(TetMesh { vertices: vectors(vertices), tets }),
            Self::Sheet(mesh) => Geometry::Sheet(mesh.build()),
            Self::Rope(points) => Geometry::Rope(vectors(points)),
            Self::Points(points) => Geometry::Points(vectors(points)),
        }
    }
}

/// [`Load`].
#[derive(Serialize, Deserialize)]
struct LoadForm {
    region: Option<(V3, V3)>,
    faces: Vec<u32>,
    pressure: Real,
    force: V3,
    ramp: Real,
}

impl LoadForm {
    fn of(load: &Load) -> Self {
        let Load { region, faces, pressure, force, ramp } = load;
        Self {
            region: region.as_ref().map(region_form),
            faces: faces.clone(),
            pressure: *pressure,
            force: force.to_array(),
            ramp: *ramp,
        }
    }

    fn build(self) -> Load {
        let Self { region, faces, pressure, force, ramp } = self;
        Load { region: region.map(region_of), faces, pressure, force: Vec3::from_array(force), ramp }
    }
}

fn region_form(region: &Region) -> (V3, V3) {
    let Region { min, max } = region;
    (min.to_array(), max.to_array())
}

fn region_of((min, max): (V3, V3)) -> Region {
    Region { min: Vec3::from_array(min), max: Vec3::from_array(max) }
}

/// [`SoftBody`].
#[derive(Serialize, Deserialize)]
pub(crate) struct SoftForm {
    geometry: GeometryForm,
    model: SoftModelForm,
    /// Surface and inflation [m].
    skin: Option<(TriMeshForm, Real)>,
    pose: PoseForm,
    velocity: V3,
    spin: V3,
    pinned: Vec<u32>,
    pinned_regions: Vec<(V3, V3)>,
    /// Region, and which of x, y, z are held.
    pinned_axes: Vec<((V3, V3), [bool; 3])>,
    loads: Vec<LoadForm>,
    thickness: Real,
    self_contact: bool,
    material: MaterialForm,
    groups: Described<Groups>,
    gravity_scale: Real,
    damping: Real,
    /// Density, the two drag coefficients, wind.
    air: Option<([Real; 3], V3)>,
    name: String,
    fill: Vec<Real>,
    reserve: Option<ReserveForm>,
}

/// [`Reserve`].
#[derive(Serialize, Deserialize)]
struct ReserveForm {
    nodes: u32,
    elements: u32,
    grows: bool,
    /// Nodes and side of the triangles of a held surface.
    faces: Vec<([u32; 3], u32)>,
}

impl ReserveForm {
    fn of(reserve: &Reserve) -> Self {
        let Reserve { nodes, elements, grows, faces } = reserve;
        let faces = faces.iter().map(|HeldFace { nodes, side }| (*nodes, *side)).collect();
        Self { nodes: *nodes, elements: *elements, grows: *grows, faces }
    }

    fn build(self) -> Reserve {
        let faces = self.faces.into_iter().map(|(nodes, side)| HeldFace { nodes, side }).collect();
        Reserve { nodes: self.nodes, elements: self.elements, grows: self.grows, faces }
    }
}

impl SoftForm {
    pub fn of(body: &SoftBody) -> Self {
        let SoftBody { geometry, model, skin, pose, velocity, spin, pinned, pinned_regions, .. } = body;
        let SoftBody { pinned_axes, loads, thickness, self_contact, material, .. } = body;
        let SoftBody { groups, gravity_scale, damping, air, name, fill, reserve, .. } = body;
        let air_form = |a: &Air| {
            let Air { density, normal, tangential, wind } = *a;
            ([density, normal, tangential], wind.to_array())
        };
        let pins = |p: &PinnedAxes| {
            let PinnedAxes { region, x, y, z } = p;
            (region_form(region), [*x, *y, *z])
        };
        Self {
            geometry: GeometryForm::of(geometry),
            model: model.clone().into(),
            skin: skin.as_ref().map(|Skin { mesh, offset }| (TriMeshForm::of(mesh), *offset)),
            pose: pose_form(pose),
            velocity: velocity.to_array(),
            spin: spin.to_array(),
            pinned: pinned.clone(),
            pinned_regions: pinned_regions.iter().map(region_form).collect(),
            pinned_axes: pinned_axes.iter().map(pins).collect(),
            loads: loads.iter().map(LoadForm::of).collect(),
            thickness: *thickness,
            self_contact: *self_contact,
            material: (*material).into(),
            groups: (*groups).into(),
            gravity_scale: *gravity_scale,
            damping: *damping,
            air: air.as_ref().map(air_form),
            name: name.clone(),
            fill: fill.clone(),
            reserve: reserve.as_ref().map(ReserveForm::of),
        }
    }

    pub fn build(self) -> SoftBody {
        let pins = |(region, [x, y, z]): ((V3, V3), [bool; 3])| PinnedAxes { region: region_of(region), x, y, z };
        SoftBody {
            geometry: self.geometry.build(),
            model: self.model.into(),
            fill: self.fill,
            reserve: self.reserve.map(ReserveForm::build),
            skin: self.skin.map(|(mesh, offset)| Skin { mesh: mesh.build(), offset }),
            pose: pose(self.pose),
            velocity: Vec3::from_array(self.velocity),
            spin: Vec3::from_array(self.spin),
            pinned: self.pinned,
            pinned_regions: self.pinned_regions.into_iter().map(region_of).collect(),
            pinned_axes: self.pinned_axes.into_iter().map(pins).collect(),
            loads: self.loads.into_iter().map(LoadForm::build).collect(),
            thickness: self.thickness,
            self_contact: self.self_contact,
            material: self.material.into(),
            groups: self.groups.into(),
            gravity_scale: self.gravity_scale,
            damping: self.damping,
            air: self.air.map(|([density, normal, tangential], wind)| Air {
                density,
                normal,
                tangential,
                wind: Vec3::from_array(wind),
            }),
            name: self.name,
        }
    }
}
