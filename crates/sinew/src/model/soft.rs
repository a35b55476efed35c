//! Soft bodies to be added: a geometry, a model with its parameters, and the contact properties of the surface.

use super::load::{Air, Load, PinnedAxes};
use super::particle_skin::ParticleSkin;
use super::reserve::Reserve;
use super::surface::{BindOptions, Surface, offset};
use super::tet_mesh::TetMesh;
use super::tri_mesh::TriMesh;
use super::{CustomModel, ElasticMaterial, Groups, SurfaceMaterial};
use crate::deformable::meshless::{Mls, MlsParams};
use crate::deformable::oriented::Oriented;
use crate::deformable::pbd::Pbd;
use crate::deformable::shape_matching::{Clusters, ShapeMatching};
use crate::deformable::{Coordinates, Deformable, fem, oriented, pbd, rotation, shape_matching, spring};
use crate::error::{Error, check, finite_vec};
use crate::math::{Pose, Quat, Real, Vec3};
use sinew_spec::{ANY, FINITE, NOT_NEGATIVE, POSITIVE, SHARE, choice, from_to, record};

/// The rest shape of a soft body.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let rope = Polyline::rope(Vec3::ZERO, Vec3::X, 10)?;
/// let sheet = TriMesh::sheet([4, 4], [1.0, 1.0], Diagonals::Alternating)?;
/// assert_eq!((Geometry::Rope(rope.points).name(), Geometry::Sheet(sheet).name()), ("a rope", "a sheet of triangles"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Geometry {
    /// A volume of tetrahedra.
    Tets(TetMesh),
    /// A sheet of triangles.
    Sheet(TriMesh),
    /// A rope: points in order [m].
    Rope(Vec<Vec3>),
    /// Points without connections [m].
    Points(Vec<Vec3>),
}

impl Geometry {
    /// Name for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Geometry::Tets(_) => "tetrahedra",
            Geometry::Sheet(_) => "a sheet of triangles",
            Geometry::Rope(_) => "a rope",
            Geometry::Points(_) => "points",
        }
    }

    /// Its vertices or points: the nodes of most models [m].
    pub fn nodes(&self) -> &[Vec3] {
        match self {
            Geometry::Tets(mesh) => &mesh.vertices,
            Geometry::Sheet(mesh) => &mesh.vertices,
            Geometry::Rope(points) | Geometry::Points(points) => points,
        }
    }

    /// Number of tetrahedra, triangles or segments.
    pub(crate) fn element_count(&self) -> usize {
        match self {
            Geometry::Tets(mesh) => mesh.tets.len(),
            Geometry::Sheet(mesh) => mesh.triangles.len(),
            Geometry::Rope(points) => points.len().saturating_sub(1),
            Geometry::Points(_) => 0,
        }
    }
}

/// The model of a soft body and its parameters.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let block = TetMesh::block([2, 2, 2], Vec3::splat(0.1))?;
/// let params = fem::SolidParams { law: fem::Law::NeoHookean, ..fem::SolidParams::default() };
/// let mut world = World::default();
/// let body = world.add_soft(SoftBody::new(Geometry::Tets(block), SoftModel::Solid(params)))?;
/// assert!(world.body(body)?.is_soft());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum SoftModel {
    /// Corotational linear tetrahedra, implicit: the fastest model.
    Corotational(fem::Params),
    /// Finite elements of any law, with four or ten nodes.
    Solid(fem::SolidParams),
    /// Plane-stress triangles.
    Membrane(fem::MembraneParams),
    /// Masses and springs.
    Springs(spring::Params),
    /// Position based dynamics.
    Pbd(pbd::Structure, pbd::Params),
    /// Shape matching: density [kg/m³, of a sheet kg/m²], clusters, parameters.
    ShapeMatching(Real, Clusters, shape_matching::Params),
    /// Moving least squares. The mass of a point is density times the volume given here [m³]; tetrahedra have their own
    /// volume.
    Meshless(MlsParams, Real),
    /// Oriented particles: ellipsoids on the nodes, groups, parameters.
    Oriented(oriented::Ellipsoid, oriented::Groups, oriented::Params),
    /// A user's own model.
    Custom(CustomModel),
}

impl SoftModel {
    /// Name for messages and tables.
    pub fn name(&self) -> &str {
        match self {
            SoftModel::Corotational(_) => "corotational",
            SoftModel::Solid(_) => "solid",
            SoftModel::Membrane(_) => "membrane",
            SoftModel::Springs(_) => "springs",
            SoftModel::Pbd(..) => "pbd",
            SoftModel::ShapeMatching(..) => "shape-matching",
            SoftModel::Meshless(..) => "meshless",
            SoftModel::Oriented(..) => "oriented",
            SoftModel::Custom(model) => model.name(),
        }
    }
}

/// A detailed surface on a coarse body.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let block = TetMesh::block([2, 2, 2], Vec3::splat(0.2))?;
/// let mut body = SoftBody::corotational(block, ElasticMaterial::jelly());
/// // a round surface for contact and rendering, inside the block that carries it
/// body.skin = Some(Skin { mesh: TriMesh::ball(0.08, 4)?, offset: 0.0 });
/// let mut world = World::default();
/// let body = world.add_soft(body)?;
/// assert!(world.body(body)?.surface().is_some_and(|s| s.is_solid()));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Skin {
    /// The surface, in the coordinates of the rest shape [m].
    pub mesh: TriMesh,
    /// Displacement along its normals before it is bound [m].
    pub offset: Real,
}

/// Nodes inside a box, in the coordinates of the rest shape [m]: pins nodes without their indices.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let lower = Region { min: Vec3::splat(-1.0), max: Vec3::new(1.0, 0.0, 1.0) };
/// assert!(lower.contains(Vec3::NEG_Y * 0.5) && !lower.contains(Vec3::Y * 0.5));
/// // nodes inside it are pinned
/// let block = TetMesh::block([2, 2, 2], Vec3::splat(0.1))?;
/// let body = SoftBody::corotational(block, ElasticMaterial::jelly()).pin_region(lower.min, lower.max);
/// assert_eq!(body.pinned_regions, [lower]);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// Minimum corner [m].
    pub min: Vec3,
    /// Maximum corner [m].
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
/// let jelly = SoftBody::corotational(block, ElasticMaterial::jelly()).at([0.0, 0.2, 0.0]).named("jelly");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct SoftBody {
    /// The rest shape.
    pub geometry: Geometry,
    /// The deformable model.
    pub model: SoftModel,
    /// Fraction of its volume that each element fills, in (0, 1]: factor on its mass and stiffness. Empty: all are full.
    pub fill: Vec<Real>,
    /// Room for edits of the topology in place.
    pub reserve: Option<Reserve>,
    /// A separate surface; none: the body's boundary. On ellipsoidal nodes it follows their frames and is for
    /// rendering only; contact is with the ellipsoids.
    pub skin: Option<Skin>,
    /// Pose of the rest shape's origin in the world.
    pub pose: Pose,
    /// Initial velocity [m/s].
    pub velocity: Vec3,
    /// Initial angular velocity about the centre of mass [rad/s].
    pub spin: Vec3,
    /// Pinned nodes: fixed, or moved to given targets.
    pub pinned: Vec<u32>,
    /// All nodes inside these boxes are pinned too.
    pub pinned_regions: Vec<Region>,
    /// Nodes that are held in some directions only: symmetry planes, rollers. They become attachments when the body is
    /// added.
    pub pinned_axes: Vec<PinnedAxes>,
    /// Loads on its surface and nodes.
    pub loads: Vec<Load>,
    /// Distance from surface points at which they are in contact [m]; for triangles at most twice their mean edge
    /// length.
    pub thickness: Real,
    /// Self-contact is enabled.
    pub self_contact: bool,
    /// Friction and restitution of the surface.
    pub material: SurfaceMaterial,
    /// Collision groups.
    pub groups: Groups,
    /// Factor on gravity.
    pub gravity_scale: Real,
    /// Rate at which velocity decays, as in a thin fluid [1/s].
    pub damping: Real,
    /// The air around its surface; none: vacuum.
    pub air: Option<Air>,
    /// Name used in messages.
    pub name: String,
}

/// Result of building: nodes at rest, their model and their surface.
#[derive(Debug)]
pub(crate) struct Built {
    pub model: Box<dyn Deformable>,
    /// Rest positions of the nodes, in the coordinates of the rest shape [m].
    pub rest: Vec<Vec3>,
    pub surface: Surface,
    /// Skin of ellipsoidal nodes, for rendering only.
    pub skin: Option<ParticleSkin>,
    /// Faces of ten-node elements, each four triangles of the surface; empty for other bodies.
    pub faces: Vec<fem::Face>,
}

impl SoftBody {
    /// A soft body from a geometry and a model.
    pub fn new(geometry: Geometry, model: SoftModel) -> Self {
        Self {
            geometry,
            model,
            fill: Vec::new(),
            reserve: None,
            skin: None,
            pose: Pose::IDENTITY,
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
            pinned: Vec::new(),
            pinned_regions: Vec::new(),
            pinned_axes: Vec::new(),
            loads: Vec::new(),
            thickness: 0.0,
            self_contact: false,
            material: SurfaceMaterial::default(),
            groups: Groups::ALL,
            gravity_scale: 1.0,
            damping: 0.0,
            air: None,
            name: String::new(),
        }
    }

    /// A volume of corotational finite elements.
    pub fn corotational(mesh: TetMesh, matter: ElasticMaterial) -> Self {
        let ElasticMaterial { youngs_modulus, poisson_ratio, density, damping, .. } = matter;
        let params = fem::Params { youngs_modulus, poisson_ratio, density, damping };
        Self::new(Geometry::Tets(mesh), SoftModel::Corotational(params)).material(matter.surface())
    }

    /// Position of the rest shape's origin [m].
    pub fn at(mut self, position: impl Into<Vec3>) -> Self {
        self.pose.position = position.into();
        self
    }

    /// Orientation of the rest shape.
    pub fn turned(mut self, rotation: Quat) -> Self {
        self.pose.rotation = rotation;
        self
    }

    /// Initial velocity [m/s].
    pub fn velocity(mut self, velocity: impl Into<Vec3>) -> Self {
        self.velocity = velocity.into();
        self
    }

    /// Initial angular velocity about the centre of mass [rad/s].
    pub fn spin(mut self, spin: impl Into<Vec3>) -> Self {
        self.spin = spin.into();
        self
    }

    /// Pins these nodes.
    pub fn pinned(mut self, nodes: impl Into<Vec<u32>>) -> Self {
        self.pinned = nodes.into();
        self
    }

    /// Pins all nodes inside this box, in the coordinates of the rest shape [m].
    pub fn pin_region(mut self, min: impl Into<Vec3>, max: impl Into<Vec3>) -> Self {
        self.pinned_regions.push(Region { min: min.into(), max: max.into() });
        self
    }

    /// Holds nodes in some directions only: symmetry planes, rollers.
    pub fn pin_axes(mut self, pins: PinnedAxes) -> Self {
        self.pinned_axes.push(pins);
        self
    }

    /// A load on its surface or nodes.
    pub fn load(mut self, load: Load) -> Self {
        self.loads.push(load);
        self
    }

    /// The air around its surface: drag and wind.
    pub fn air(mut self, air: Air) -> Self {
        self.air = Some(air);
        self
    }

    /// Distance from surface points at which they are in contact [m]; for triangles at most twice their mean edge
    /// length.
    pub fn thickness(mut self, thickness: Real) -> Self {
        self.thickness = thickness;
        self
    }

    /// Enables self-contact: folds of cloth, loops of rope, limbs of one body. Features whose rest distance is below
    /// the contact distance are excluded, so that neighbours never push each other.
    pub fn self_contact(mut self, on: bool) -> Self {
        self.self_contact = on;
        self
    }

    /// Friction and restitution of the surface.
    pub fn material(mut self, material: SurfaceMaterial) -> Self {
        self.material = material;
        self
    }

    /// Collision groups.
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

    /// Checks all parameters and builds nodes, model and surface.
    pub(crate) fn build(&self, who: &str) -> Result<Built, Error> {
        finite_vec(&format!("{who}.pose.position"), self.pose.position)?;
        finite_vec(&format!("{who}.velocity"), self.velocity)?;
        finite_vec(&format!("{who}.spin"), self.spin)?;
        let turn = self.pose.rotation.length();
        check(
            &format!("{who}.pose.rotation"),
            turn,
            turn.is_finite() && (turn - 1.0).abs() < 1e-2,
            "a unit quaternion",
        )?;
        let refuse = |reason: String| Error::BadShape { shape: who.to_owned(), reason };
        self.check_fill().map_err(refuse)?;
        let Built { model, rest, surface, faces, .. } = match &self.reserve {
            Some(reserve) => self.make_reserved(reserve),
            None => self.make(),
        }
        .map_err(refuse)?;
        if let (Some(skin), Coordinates::Ellipsoids) = (&self.skin, model.traits().coordinates) {
            skin.mesh.check().map_err(|e| refuse(e.to_string()))?;
            let mut internal_state = vec![0.0; model.traits().internal_state_count];
            model.start(Quat::IDENTITY, Vec3::ZERO, &mut internal_state);
            let turned: Vec<Quat> = (0..rest.len()).map(|k| rotation::orientation(&internal_state, k)).collect();
            let skin = ParticleSkin::new(&offset(&skin.mesh, skin.offset), &rest, &turned);
            return Ok(Built { model, rest, surface, skin: Some(skin), faces });
        }
        Ok(match &self.skin {
            None => Built { model, rest, surface, skin: None, faces },
            Some(skin) => {
                let surface = self.wrap(skin, &rest).map_err(refuse)?;
                Built { model, rest, surface, skin: None, faces: Vec::new() }
            }
        })
    }

    /// The model, its nodes and the boundary; or the reason why they cannot be built.
    fn make(&self) -> Result<Built, String> {
        fn text<T, E: std::fmt::Display>(made: Result<T, E>) -> Result<T, String> {
            made.map_err(|e| e.to_string())
        }
        let boxed = |model: Box<dyn Deformable>, rest: &[Vec3], surface: Surface| Built {
            model,
            rest: rest.to_vec(),
            surface,
            skin: None,
            faces: Vec::new(),
        };
        let geometry = &self.geometry;
        let surface = match geometry {
            Geometry::Tets(mesh) => {
                text(mesh.check())?;
                Surface::boundary(mesh)
            }
            Geometry::Sheet(mesh) => {
                text(mesh.check())?;
                Surface::sheet(mesh)
            }
            Geometry::Rope(points) => Surface::rope(points.len() as u32),
            Geometry::Points(points) => Surface::of_nodes(0..points.len() as u32, Vec::new()),
        };
        Ok(match (&self.model, geometry) {
            (SoftModel::Corotational(p), Geometry::Tets(mesh)) => {
                boxed(Box::new(text(fem::Corotational::filled(mesh, &self.fill, *p))?), &mesh.vertices, surface)
            }
            (SoftModel::Solid(p), Geometry::Tets(mesh)) => {
                let model = text(fem::Solid::new(mesh, *p))?;
                let (rest, surface) = (model.nodes().to_vec(), face_surface(&model));
                let faces = if p.elements.quadratic() { model.faces().to_vec() } else { Vec::new() };
                Built { faces, ..boxed(Box::new(model), &rest, surface) }
            }
            (SoftModel::Membrane(p), Geometry::Sheet(mesh)) => {
                boxed(Box::new(text(fem::Membrane::new(mesh, *p))?), &mesh.vertices, surface)
            }
            (SoftModel::Pbd(pbd::Structure::Solid(m), p), Geometry::Tets(mesh)) => {
                boxed(Box::new(text(Pbd::solid(mesh, *m, *p))?), &mesh.vertices, surface)
            }
            (SoftModel::Pbd(pbd::Structure::Sheet(m), p), Geometry::Sheet(mesh)) => {
                boxed(Box::new(text(Pbd::sheet(mesh, *m, *p))?), &mesh.vertices, surface)
            }
            (SoftModel::Pbd(pbd::Structure::Cord(m), p), Geometry::Rope(points)) => {
                boxed(Box::new(text(Pbd::rope(points, *m, *p))?), points, surface)
            }
            (SoftModel::ShapeMatching(density, clusters, p), Geometry::Tets(mesh)) => {
                boxed(Box::new(text(ShapeMatching::solid(mesh, *density, clusters, *p))?), &mesh.vertices, surface)
            }
            (SoftModel::ShapeMatching(density, clusters, p), Geometry::Sheet(mesh)) => {
                boxed(Box::new(text(ShapeMatching::sheet(mesh, *density, clusters, *p))?), &mesh.vertices, surface)
            }
            (SoftModel::Meshless(p, _), Geometry::Tets(mesh)) => {
                boxed(Box::new(text(Mls::from_mesh(mesh, *p))?), &mesh.vertices, surface)
            }
            (SoftModel::Meshless(p, volume), Geometry::Points(points)) => {
                boxed(Box::new(text(Mls::new(points, p.density * volume, *p))?), points, surface)
            }
            (SoftModel::Oriented(grain, groups, p), _) => {
                let (model, rest) = match geometry {
                    Geometry::Tets(mesh) => (Oriented::solid(mesh, *grain, groups, *p), &mesh.vertices),
                    Geometry::Sheet(mesh) => (Oriented::sheet(mesh, *grain, groups, *p), &mesh.vertices),
                    Geometry::Rope(points) => (Oriented::rope(points, *grain, groups, *p), points),
                    Geometry::Points(points) => (Oriented::points(points, *grain, groups, *p), points),
                };
                boxed(Box::new(text(model)?), rest, surface)
            }
            (SoftModel::Custom(model), _) => boxed(model.build(geometry)?, geometry.nodes(), surface),
            (SoftModel::Springs(p), _) => {
                let (model, rest) = match geometry {
                    Geometry::Tets(mesh) => (spring::MassSpring::from_filled_tets(mesh, &self.fill, p), &mesh.vertices),
                    Geometry::Sheet(mesh) => (spring::MassSpring::from_triangles(mesh, p), &mesh.vertices),
                    Geometry::Rope(points) => (spring::MassSpring::from_rope(points, p), points),
                    Geometry::Points(_) => return Err(self.mismatch()),
                };
                boxed(Box::new(text(model)?), rest, surface)
            }
            _ => return Err(self.mismatch()),
        })
    }

    fn mismatch(&self) -> String {
        let fits = match self.model {
            SoftModel::Corotational(_) | SoftModel::Solid(_) => "tetrahedra",
            SoftModel::Membrane(_) => "a sheet",
            SoftModel::Springs(_) => "tetrahedra, a sheet or a rope",
            SoftModel::Pbd(pbd::Structure::Solid(_), _) => "tetrahedra",
            SoftModel::Pbd(pbd::Structure::Sheet(_), _) => "a sheet",
            SoftModel::Pbd(pbd::Structure::Cord(_), _) => "a rope",
            SoftModel::ShapeMatching(..) => "tetrahedra or a sheet",
            SoftModel::Meshless(..) => "tetrahedra or points",
            SoftModel::Oriented(..) | SoftModel::Custom(_) => "any geometry",
        };
        format!("the model '{}' takes {fits}, not {}", self.model.name(), self.geometry.name())
    }

    /// A detailed surface bound to the nodes.
    fn wrap(&self, skin: &Skin, rest: &[Vec3]) -> Result<Surface, String> {
        skin.mesh.check().map_err(|e| e.to_string())?;
        let mesh = offset(&skin.mesh, skin.offset);
        let bound = match (&self.geometry, &self.model) {
            // quadratic elements have nodes besides the corners: only the meshless binding handles them
            (Geometry::Tets(_), SoftModel::Solid(p)) if p.elements.quadratic() => {
                Surface::meshless(rest, &mesh, BindOptions::default())
            }
            (Geometry::Tets(tets), _) => Surface::embedded(tets, &mesh),
            (Geometry::Sheet(sheet), _) => Surface::embedded_in_sheet(sheet, &mesh),
            (Geometry::Rope(_) | Geometry::Points(_), _) => Surface::meshless(rest, &mesh, BindOptions::default()),
        };
        bound.map_err(|e| e.to_string())
    }

    /// All pinned nodes, by index and by region.
    pub(crate) fn pinned_nodes(&self, rest: &[Vec3]) -> Vec<u32> {
        let inside = |p: Vec3| self.pinned_regions.iter().any(|r| r.contains(p));
        let by_region = (0..rest.len() as u32).filter(|&i| inside(rest[i as usize]));
        self.pinned.iter().copied().chain(by_region).collect()
    }

    /// A total mass of springs becomes the density that it meant for the geometry before an edit: an edit keeps the
    /// density, not the total.
    pub(crate) fn fix_density(&mut self, before: &SoftBody) {
        let SoftModel::Springs(p) = &mut self.model else { return };
        let spring::Mass::Total(total) = p.mass else { return };
        let volume: Real = match &before.geometry {
            Geometry::Tets(mesh) => {
                let fill = |t: usize| before.fill.get(t).copied().unwrap_or(1.0);
                (0..mesh.tets.len()).map(|t| mesh.tet_volume(t) * fill(t)).sum()
            }
            Geometry::Sheet(mesh) => (0..mesh.triangles.len()).map(|t| mesh.area(t) * p.thickness).sum(),
            Geometry::Rope(points) => points.windows(2).map(|w| (w[1] - w[0]).length() * p.cross_section).sum(),
            Geometry::Points(_) => return,
        };
        p.mass = spring::Mass::Density(total / volume);
    }

    /// The reason why the topology of a body cannot be edited, and the remedy.
    pub(crate) fn check_editable(&self) -> Result<(), &'static str> {
        if self.skin.is_some() {
            return Err(
                "its skin is bound to the whole mesh: exchange the body for one without a skin to edit its topology",
            );
        }
        match &self.model {
            SoftModel::Corotational(_) | SoftModel::Membrane(_) | SoftModel::Pbd(..) => Ok(()),
            SoftModel::Solid(p) if p.elements.quadratic() => Err(
                "elements of ten nodes cannot be edited: exchange the model (World::exchange_model) by one of four nodes",
            ),
            SoftModel::Solid(_) => Ok(()),
            SoftModel::Springs(p) => match (&p.stiffness, &p.mass) {
                (spring::Stiffness::PerSpring(_), _) => {
                    Err("its stiffness is listed spring by spring: give Young's modulus or one stiffness")
                }
                (_, spring::Mass::PerNode(_)) => Err("its mass is listed node by node: give a density or a total mass"),
                _ => Ok(()),
            },
            SoftModel::ShapeMatching(..) => Err(
                "clusters of particles cannot be edited: exchange the model (World::exchange_model) by finite elements, springs or pbd",
            ),
            SoftModel::Meshless(..) => {
                Err("it has no elements: exchange the model (World::exchange_model) by finite elements, springs or pbd")
            }
            SoftModel::Oriented(..) => Err(
                "groups of particles cannot be edited: exchange the model (World::exchange_model) by finite elements, springs or pbd",
            ),
            SoftModel::Custom(_) => Err(
                "a model defined by the user cannot be edited: exchange the model (World::exchange_model) by finite elements, springs or pbd",
            ),
        }
    }
}

/// The boundary of a solid; a face with midside nodes is split into four triangles.
fn face_surface(solid: &fem::Solid) -> Surface {
    let mut triangles = Vec::new();
    for face in solid.faces() {
        let [a, b, c] = face.corners;
        match face.middles {
            None => triangles.push([a, b, c]),
            Some([ab, bc, ca]) => triangles.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]),
        }
    }
    Surface::enclosing(solid.nodes().len(), triangles)
}

choice!(Geometry, "geometry", "The rest shape of a soft body.", {
    "tets" => Tets, "A volume of tetrahedra.", { 0 mesh: TetMesh [flat], ANY, "The mesh."; };
    "sheet" => Sheet, "A sheet of triangles.", { 0 mesh: TriMesh [flat], ANY, "The mesh."; };
    "rope" => Rope, "A rope.", { 0 points: Vec<Vec3>, FINITE, "Its points in order [m]."; };
    "points" => Points, "Points without connections.", { 0 points: Vec<Vec3>, FINITE, "The points [m]."; };
});

choice!(SoftModel, "model", "What holds a soft body together.", {
    "corotational" => Corotational, "Corotational linear tetrahedra, implicit: the fast one.", {
        0 params: fem::Params [flat], ANY, "Its numbers.";
    };
    "solid" => Solid, "Finite elements of any law, with four or ten nodes.", {
        0 params: fem::SolidParams [flat], ANY, "Its numbers.";
    };
    "membrane" => Membrane, "Plane-stress triangles.", { 0 params: fem::MembraneParams [flat], ANY, "Its numbers."; };
    "springs" => Springs, "Masses and springs, of tetrahedra, sheets and ropes.", {
        0 params: spring::Params [flat], ANY, "Its numbers.";
    };
    "pbd" => Pbd, "Position based dynamics", {
        0 structure: pbd::Structure [flat], ANY, "Of what.";
        1 params: pbd::Params [flat], ANY, "Its numbers.";
    };
    "shape_matching" => ShapeMatching, "Shape matching of tetrahedra or sheets.", {
        0 density: Real, POSITIVE => fem::SolidParams::default().density, "Density [kg/m³, of a sheet kg/m²].";
        1 clusters: Clusters, ANY => Clusters::One, "Which nodes keep a shape together.";
        2 params: shape_matching::Params [flat], ANY, "Its numbers.";
    };
    "meshless" => Meshless, "Moving least squares, of tetrahedra's corners or bare points.", {
        0 params: MlsParams [flat], ANY, "Its numbers.";
        1 volume: Real, NOT_NEGATIVE => 0.0, "Volume of bare points [m³]; tetrahedra know theirs.";
    };
    "oriented" => Oriented, "Oriented particles: ellipsoids that turn, on any geometry.", {
        0 ellipsoid: oriented::Ellipsoid [flat], ANY, "The ellipsoids.";
        1 group: oriented::Groups, ANY => oriented::Groups::Neighbours, "Which particles keep a shape together.";
        2 params: oriented::Params [flat], ANY, "Its numbers.";
    };
    "custom" => Custom, "A user's own model.", { 0 model: CustomModel, ANY, "Its name and parameters."; };
});

record!(Region, "region", "A box in the coordinates of the rest shape.", Region { min: Vec3::ZERO, max: Vec3::ZERO }, {
    min [required]: FINITE, "Least corner [m].";
    max [required]: FINITE, "Largest corner [m].";
});

record!(Skin, "skin", "A detailed surface on a coarse body.", Skin { mesh: TriMesh::default(), offset: 0.0 }, {
    mesh [required]: ANY, "The surface, in the coordinates of the rest shape.";
    offset: FINITE, "How far it is moved out along its normals before it is bound [m].";
});

// The order of the fields is that of saves: new ones are appended.
record!(SoftBody, "soft body", "A deformable body.",
    SoftBody::new(Geometry::Points(Vec::new()), SoftModel::Solid(fem::SolidParams::default())), {
    geometry [required]: ANY, "The rest shape.";
    model: ANY, "Its deformable model; without: corotational finite elements of the material.";
    skin: ANY, "A surface of its own; without: its boundary.";
    pose [flat]: FINITE, "Pose of the origin of the rest shape.";
    velocity: FINITE, "Start velocity [m/s].";
    spin: FINITE, "Start spin about its centre of mass [rad/s].";
    pinned: ANY, "Numbers of nodes that stay where they are.";
    pinned_regions: ANY, "All nodes inside these boxes stay where they are.";
    pinned_axes: ANY, "Nodes that are held along some axes only: symmetry planes, rollers.";
    loads: ANY, "Pressures and forces on parts of the surface.";
    thickness: NOT_NEGATIVE, "Contact distance of surface points [m]; of triangles at most twice their mean edge.";
    self_contact: ANY, "The surface touches itself.";
    material as surface: ANY, "Friction and restitution; without: the friction of the material.";
    groups: ANY, "Its collision groups.";
    gravity_scale: from_to(-1e5, 1e5), "Factor on gravity.";
    damping: NOT_NEGATIVE, "Rate at which velocity decays, as in a thin fluid [1/s].";
    air: ANY, "The air around its surface: drag and wind; without: vacuum.";
    name: ANY, "Its name in reports; without: the name of the table.";
    fill: SHARE.above(), "Fraction of its volume that each element fills: factor on its mass and stiffness; without: all are full.";
    reserve: ANY, "Room for edits of the topology in place.";
});
