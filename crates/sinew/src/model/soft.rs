//! Soft bodies to be added: a geometry, a model with its parameters, and how the surface meets the world.

use super::surface::Surface;
use super::tet_mesh::TetMesh;
use super::{Groups, Material, Matter};
use crate::deformable::Deformable;
use crate::deformable::fem;
use crate::error::{Error, finite_vec};
use crate::math::{Pose, Quat, Real, Vec3};

/// The rest shape of a soft body.
#[derive(Clone, Debug, PartialEq)]
pub enum Geometry {
    /// A volume.
    Tets(TetMesh),
}

/// The model of a soft body and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum SoftModel {
    /// Corotational linear tetrahedra, implicit.
    Corotational(fem::Params),
}

/// Nodes inside a box, in the coordinates of the rest shape [m]: a way to pin without knowing node numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// Least corner [m].
    pub min: Vec3,
    /// Largest corner [m].
    pub max: Vec3,
}

impl Region {
    /// True when the point is inside or on the boundary.
    pub fn contains(&self, p: Vec3) -> bool {
        p.cmpge(self.min).all() && p.cmple(self.max).all()
    }
}

/// A soft body to be added.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let block = TetMesh::block([4, 4, 4], Vec3::splat(0.1))?;
/// let jelly = SoftBody::corotational(block, Matter::jelly()).at([0.0, 0.2, 0.0]).named("jelly");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct SoftBody {
    /// The rest shape.
    pub geometry: Geometry,
    /// What holds it together.
    pub model: SoftModel,
    /// Where the rest shape's origin is put.
    pub pose: Pose,
    /// Start velocity [m/s].
    pub velocity: Vec3,
    /// Start spin about the centre of mass [rad/s].
    pub spin: Vec3,
    /// Nodes that stay where they are, or go where they are told.
    pub pinned: Vec<u32>,
    /// All nodes inside these boxes are pinned too.
    pub pinned_regions: Vec<Region>,
    /// Distance from surface points at which they touch [m].
    pub thickness: Real,
    /// Friction and restitution of the surface.
    pub material: Material,
    /// Whom it meets.
    pub groups: Groups,
    /// Factor on gravity.
    pub gravity_scale: Real,
    /// Rate at which velocity decays, as in a thin fluid [1/s].
    pub damping: Real,
    /// For messages.
    pub name: String,
}

/// What a spec becomes: nodes at rest, their model and their surface.
#[derive(Debug)]
pub(crate) struct Built {
    pub model: Box<dyn Deformable>,
    /// Rest positions of the nodes, in the coordinates of the rest shape [m].
    pub rest: Vec<Vec3>,
    pub surface: Surface,
}

impl SoftBody {
    /// A geometry held together by a model.
    pub fn new(geometry: Geometry, model: SoftModel) -> Self {
        Self {
            geometry,
            model,
            pose: Pose::IDENTITY,
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
            pinned: Vec::new(),
            pinned_regions: Vec::new(),
            thickness: 0.0,
            material: Material::default(),
            groups: Groups::ALL,
            gravity_scale: 1.0,
            damping: 0.0,
            name: String::new(),
        }
    }

    /// A volume of corotational finite elements.
    pub fn corotational(mesh: TetMesh, matter: Matter) -> Self {
        let Matter { youngs_modulus, poisson_ratio, density, damping, .. } = matter;
        let params = fem::Params { youngs_modulus, poisson_ratio, density, damping };
        Self::new(Geometry::Tets(mesh), SoftModel::Corotational(params)).material(matter.surface())
    }

    /// Where the rest shape's origin is put [m].
    pub fn at(mut self, position: impl Into<Vec3>) -> Self {
        self.pose.position = position.into();
        self
    }

    /// How the rest shape is turned.
    pub fn rotated(mut self, rotation: Quat) -> Self {
        self.pose.rotation = rotation;
        self
    }

    /// Start velocity [m/s].
    pub fn velocity(mut self, velocity: impl Into<Vec3>) -> Self {
        self.velocity = velocity.into();
        self
    }

    /// Start spin about the centre of mass [rad/s].
    pub fn spin(mut self, spin: impl Into<Vec3>) -> Self {
        self.spin = spin.into();
        self
    }

    /// These nodes stay where they are.
    pub fn pinned(mut self, nodes: impl Into<Vec<u32>>) -> Self {
        self.pinned = nodes.into();
        self
    }

    /// All nodes inside this box, in the coordinates of the rest shape [m], stay where they are.
    pub fn pin_region(mut self, min: impl Into<Vec3>, max: impl Into<Vec3>) -> Self {
        self.pinned_regions.push(Region { min: min.into(), max: max.into() });
        self
    }

    /// Distance from surface points at which they touch [m].
    pub fn thickness(mut self, thickness: Real) -> Self {
        self.thickness = thickness;
        self
    }

    /// Friction and restitution of the surface.
    pub fn material(mut self, material: Material) -> Self {
        self.material = material;
        self
    }

    /// Whom it meets.
    pub fn groups(mut self, groups: Groups) -> Self {
        self.groups = groups;
        self
    }

    /// Factor on gravity.
    pub fn gravity_scale(mut self, scale: Real) -> Self {
        self.gravity_scale = scale;
        self
    }

    /// Rate at which velocity decays [1/s].
    pub fn damping(mut self, damping: Real) -> Self {
        self.damping = damping;
        self
    }

    /// A name for messages.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Checks everything and makes nodes, model and surface.
    pub(crate) fn build(&self, who: &str) -> Result<Built, Error> {
        finite_vec(&format!("{who}.pose.position"), self.pose.position)?;
        finite_vec(&format!("{who}.velocity"), self.velocity)?;
        finite_vec(&format!("{who}.spin"), self.spin)?;
        let turn = self.pose.rotation.length();
        crate::error::check(
            &format!("{who}.pose.rotation"),
            turn,
            turn.is_finite() && (turn - 1.0).abs() < 1e-2,
            "a unit quaternion",
        )?;
        let refuse = |reason: String| Error::BadShape { shape: who.to_owned(), reason };
        match (&self.geometry, &self.model) {
            (Geometry::Tets(mesh), SoftModel::Corotational(params)) => {
                let model = fem::Corotational::new(mesh, *params).map_err(|e| refuse(e.to_string()))?;
                let surface = Surface::boundary(mesh);
                Ok(Built { model: Box::new(model), rest: mesh.vertices.clone(), surface })
            }
        }
    }

    /// All pinned nodes, by number and by region.
    pub(crate) fn pinned_nodes(&self, rest: &[Vec3]) -> Vec<u32> {
        let inside = |p: Vec3| self.pinned_regions.iter().any(|r| r.contains(p));
        let by_region = (0..rest.len() as u32).filter(|&i| inside(rest[i as usize]));
        self.pinned.iter().copied().chain(by_region).collect()
    }
}
