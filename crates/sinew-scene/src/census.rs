//! Contents of a world, counted as in ICD: nodes, faces, springs, tetrahedra, and constraints by kind.

use sinew::{BodySpec, ConstraintSpec, Error, Geometry, SoftBody, SoftModel, World, pbd};

/// Counts of a world as it was built.
///
/// ```
/// use sinew_scene::census::Census;
/// use sinew_scene::gallery;
/// # fn main() -> Result<(), sinew::Error> {
/// let stack = gallery::find("stack").expect("a built-in scene");
/// let world = (stack.build)()?;
/// assert_eq!(Census::of(&world)?.springs, 0);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Rigid bodies, fixed ones too.
    pub rigid: usize,
    /// Nodes of soft bodies and particles.
    pub nodes: usize,
    /// Triangles of all surfaces.
    pub faces: usize,
    /// Springs: of mass-spring bodies, edges of position based ones, and distance sets with a stiffness.
    pub springs: usize,
    /// Tetrahedra that are finite elements; those of other models only make springs or a surface.
    pub tets: usize,
    /// Rows of distance sets without a stiffness: fixed or bounded lengths.
    pub inextensibility: usize,
    /// Rows of folds.
    pub bending: usize,
    /// Rows of distance sets with a stiffness.
    pub spring_rows: usize,
    /// Pairs of attached points; three rows each.
    pub anchors: usize,
}

impl Census {
    /// Counts a world.
    ///
    /// # Errors
    /// A world with custom rows has no blueprint and cannot be counted.
    pub fn of(world: &World) -> Result<Self, Error> {
        let blueprint = world.blueprint()?;
        let mut census = Self::default();
        for body in blueprint.bodies.iter().filter_map(|slot| slot.item.as_ref()) {
            match body {
                BodySpec::Rigid(_) => census.rigid += 1,
                BodySpec::Particles(_) => {}
                BodySpec::Soft(soft) => census.note(soft),
            }
        }
        census.nodes = world.bodies().map(|b| b.node_positions().len()).sum();
        census.faces = world.bodies().filter_map(|b| b.surface()).map(|s| s.triangles().len()).sum();
        for constraint in blueprint.constraints.iter().filter_map(|slot| slot.item.as_ref()) {
            match constraint {
                ConstraintSpec::DistanceSet(s) if s.stiffness.is_some() => census.spring_rows += s.pairs.len(),
                ConstraintSpec::DistanceSet(s) => census.inextensibility += s.pairs.len(),
                ConstraintSpec::Bending(b) => census.bending += b.folds.len(),
                ConstraintSpec::Attachment(a) => census.anchors += a.pairs.len(),
                _ => {}
            }
        }
        census.springs += census.spring_rows;
        Ok(census)
    }

    fn note(&mut self, soft: &SoftBody) {
        let bends = match &soft.model {
            SoftModel::Springs(p) => p.bending > 0.0,
            SoftModel::Pbd(pbd::Structure::Solid(_) | pbd::Structure::Sheet(_) | pbd::Structure::Cord(_), _) => false,
            SoftModel::Corotational(_) | SoftModel::Solid(_) => {
                if let Geometry::Tets(mesh) = &soft.geometry {
                    self.tets += mesh.tets.len();
                }
                return;
            }
            _ => return,
        };
        self.springs += match &soft.geometry {
            Geometry::Tets(mesh) => edges(mesh.tets.iter().map(<[u32; 4]>::as_slice)).len(),
            Geometry::Sheet(mesh) => mesh.edges().len() + if bends { mesh.folds().len() } else { 0 },
            Geometry::Rope(points) => {
                points.len().saturating_sub(1) + if bends { points.len().saturating_sub(2) } else { 0 }
            }
            Geometry::Points(_) => 0,
        };
    }
}

/// Every pair of corners of these elements once, ascending.
pub fn edges<'a>(elements: impl Iterator<Item = &'a [u32]>) -> Vec<[u32; 2]> {
    let mut edges = Vec::new();
    for corners in elements {
        for (k, &a) in corners.iter().enumerate() {
            edges.extend(corners[..k].iter().map(|&b| [a.min(b), a.max(b)]));
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}
