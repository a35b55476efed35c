//! Combined bodies: rigid bones inside tissue (OP 5 and 6), built from rigid bodies, soft bodies and anchors.
//!
//! OP moves attached particles back onto the bone after each shape match and applies an impulse to the bone for it.
//! Here each attached node has the three rows of an anchor, C = p_node − p_bone = 0, in the same solve as all other
//! rows: the impulses on bone and node are equal and opposite, no position is set directly, and contacts of the tissue
//! include the bone's mass through the anchors (errata to OP 5.1.4, 5.2). Gravity acts on bones and tissue.
//!
//! Tissue does not collide with its own bones nor with other tissue of the same body, by collision groups: see
//! [`Combined::group`].

use super::World;
use crate::constraint::{AttachTarget, Attachment, Joint, Site};
use crate::deformable::oriented;
use crate::deformable::shape_matching::Group;
use crate::error::{Error, check, not_negative, positive};
use crate::math::{Pose, Real, Vec3};
use crate::model::layer::{Layer, Plan, Solid};
use crate::model::{BodyId, ConstraintId, Geometry, Groups, RigidBody, SoftBody, SoftModel, SurfaceMaterial};

/// The material model of tissue.
///
/// An example is at [`Combined`](crate::Combined).
#[derive(Clone, Debug, PartialEq)]
pub enum TissueModel {
    /// Balls of oriented particles, in groups of one sheet and the particles above and below (OP 6.1).
    Oriented {
        /// Mass of the tissue by its volume [kg/m³].
        density: Real,
        /// Particles of a sheet in a group, including the centre one; 1 or more.
        group_size: u32,
        /// Shape matching parameters of a group.
        params: oriented::Params,
    },
    /// Any model of tetrahedra: finite elements, springs.
    Solid(SoftModel),
}

/// A layer of tissue around a bone.
///
/// An example is at [`Combined`](crate::Combined).
#[derive(Clone, Debug, PartialEq)]
pub struct Tissue {
    /// The material model.
    pub model: TissueModel,
    /// Distance of neighbouring points on the bone [m].
    pub spacing: Real,
    /// Distance from the bone to the surface [m].
    pub thickness: Real,
    /// Cells across the thickness, 1 or more.
    pub cells: u32,
    /// A pad instead of a complete layer: only faces of the bone within 60 degrees of this direction, in body axes.
    pub facing: Option<Vec3>,
    /// Friction and restitution of the surface.
    pub material: SurfaceMaterial,
}

impl Tissue {
    /// A layer of one cell across: distance of points on the bone and thickness [m].
    pub fn new(model: TissueModel, spacing: Real, thickness: Real) -> Self {
        Self { model, spacing, thickness, cells: 1, facing: None, material: SurfaceMaterial::default() }
    }

    /// Cells across the thickness.
    pub fn cells(mut self, cells: u32) -> Self {
        self.cells = cells;
        self
    }

    /// Only on faces of the bone whose normals are near this direction, in body axes.
    pub fn facing(mut self, direction: impl Into<Vec3>) -> Self {
        self.facing = Some(direction.into());
        self
    }

    /// Friction and restitution of the surface.
    pub fn material(mut self, material: SurfaceMaterial) -> Self {
        self.material = material;
        self
    }

    /// The soft body, and the number of its nodes on the bone, which come first.
    fn body(&self, bone: &RigidBody, who: &str) -> Result<(SoftBody, usize), Error> {
        positive(&format!("{who}.tissue.spacing"), self.spacing)?;
        positive(&format!("{who}.tissue.thickness"), self.thickness)?;
        let radius = 0.5 * self.spacing.min(self.thickness / self.cells.max(1) as Real);
        // the surface of balls is a radius above their centres
        let sunk = if matches!(self.model, TissueModel::Oriented { .. }) { radius } else { 0.0 };
        let height = self.thickness - sunk;
        let plan = Plan { spacing: self.spacing, height, cells: self.cells, facing: self.facing };
        let tissue = format!("{who}.tissue");
        let layer = Layer::around(&Solid::new(bone, who)?, &plan, &tissue)?;
        let model = match &self.model {
            TissueModel::Solid(model) => model.clone(),
            TissueModel::Oriented { density, group_size, params } => {
                check(&format!("{tissue}.group_size"), *group_size as Real, *group_size >= 1, "1 or more")?;
                positive(&format!("{tissue}.density"), *density)?;
                let ball = 4.0 / 3.0 * std::f64::consts::PI as Real * radius * radius * radius;
                // the total mass of the balls is that of the layer, up to its surface
                let volume = layer.mesh.volume() * self.thickness / height;
                let density = density * volume / (ball * layer.mesh.vertices.len() as Real);
                let grain = oriented::Ellipsoid { radii: Vec3::splat(radius), density };
                let groups = oriented::Groups::Explicit(groups(&layer, *group_size as usize));
                SoftModel::Oriented(grain, groups, *params)
            }
        };
        let body = SoftBody::new(Geometry::Tets(layer.mesh), model).material(self.material);
        Ok((body.at(bone.pose.position).turned(bone.pose.rotation), layer.sheet))
    }
}

/// Each particle with the nearest ones of its sheet and with those above and below it.
fn groups(layer: &Layer, size: usize) -> Vec<Group> {
    let (points, sheet) = (&layer.mesh.vertices, layer.sheet);
    let mut groups = Vec::with_capacity(points.len());
    let mut near: Vec<(Real, u32)> = Vec::with_capacity(sheet);
    for (k, p) in points.iter().enumerate() {
        let first = k - k % sheet;
        near.clear();
        near.extend((first..first + sheet).map(|j| (points[j].distance_squared(*p), j as u32)));
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut nodes: Vec<u32> = near.iter().take(size).map(|n| n.1).collect();
        nodes.extend(k.checked_sub(sheet).map(|below| below as u32));
        nodes.extend((k + sheet < points.len()).then_some((k + sheet) as u32));
        groups.push(Group { nodes, weight: 1.0 });
    }
    groups
}

/// Description of one or several bones in tissue, to be added.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let flesh = fem::Params { youngs_modulus: 5e4, poisson_ratio: 0.4, density: 1000.0, damping: 0.01 };
/// let flesh = SoftModel::Corotational(flesh);
/// let tissue = Tissue::new(TissueModel::Solid(flesh), 0.01, 0.01);
/// let bone = RigidBody::dynamic().shape(Shape::capsule(0.02, 0.01)).density(1800.0).at([0.0, 1.0, 0.0]);
/// let finger = world.add_combined(Combined::new("finger").covered(bone, tissue))?;
/// world.step(&Input::none());
/// assert!(world.body(finger.tissues[0])?.node_positions().len() > 20);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Combined {
    /// Bones, each with its own tissue or bare.
    pub bones: Vec<(RigidBody, Option<Tissue>)>,
    /// Joints between bones by their indices; the bodies named in the joint itself are ignored.
    pub joints: Vec<(usize, usize, Joint)>,
    /// Tissue with its own mesh, around any number of bones, and the maximum distance from a bone at which its nodes
    /// are anchored [m].
    pub flesh: Vec<(SoftBody, Real)>,
    /// Index of its own collision group, 0 to 31. Its tissue does not collide with bones and tissue of that group, so
    /// that combined bodies that are to collide with each other need different indices. Other bodies must have the
    /// group in their masks to collide with it, as they have by default.
    pub group: u32,
    /// Used in messages, and for the names of its parts.
    pub name: String,
}

/// Ids of the parts of a combined body.
///
/// An example is at [`Combined`](crate::Combined).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CombinedIds {
    /// Bones, in the given order.
    pub bones: Vec<BodyId>,
    /// Tissue of the bones that have one, in the order of the bones; then flesh.
    pub tissues: Vec<BodyId>,
    /// Joints between bones, in the given order.
    pub joints: Vec<ConstraintId>,
    /// Anchors of tissue to bones: one per tissue and bone.
    pub anchors: Vec<ConstraintId>,
}

impl Combined {
    /// An empty description; `name` is used in messages and for the names of parts.
    pub fn new(name: impl Into<String>) -> Self {
        Self { bones: Vec::new(), joints: Vec::new(), flesh: Vec::new(), group: 31, name: name.into() }
    }

    /// Adds a bare bone.
    pub fn bone(mut self, bone: RigidBody) -> Self {
        self.bones.push((bone, None));
        self
    }

    /// Adds a bone with a layer of tissue.
    pub fn covered(mut self, bone: RigidBody, tissue: Tissue) -> Self {
        self.bones.push((bone, Some(tissue)));
        self
    }

    /// Joins two bones by their indices.
    pub fn joint(mut self, a: usize, b: usize, joint: Joint) -> Self {
        self.joints.push((a, b, joint));
        self
    }

    /// Adds tissue with its own mesh; nodes inside a bone or at most `reach` [m] from it are anchored to the nearest
    /// one.
    pub fn flesh(mut self, body: SoftBody, reach: Real) -> Self {
        self.flesh.push((body, reach));
        self
    }

    /// The collision group of the body.
    pub fn group(mut self, group: u32) -> Self {
        self.group = group;
        self
    }

    fn who(&self) -> String {
        if self.name.is_empty() { "combined body".to_owned() } else { format!("combined body '{}'", self.name) }
    }

    fn refuse(&self, reason: String) -> Error {
        Error::BadShape { shape: self.who(), reason }
    }

    fn check(&self) -> Result<(), Error> {
        check(&format!("{}.group", self.who()), self.group as Real, self.group < 32, "0 to 31")?;
        let count = self.bones.len();
        if count == 0 {
            return Err(self.refuse("it has no bones: add one, or use a soft body".to_owned()));
        }
        for (k, (a, b, _)) in self.joints.iter().enumerate() {
            if let Some(missing) = [a, b].into_iter().find(|&&bone| bone >= count) {
                return Err(self.refuse(format!("joints[{k}]: bone {missing} does not exist, there are {count}")));
            }
        }
        for (k, (_, reach)) in self.flesh.iter().enumerate() {
            not_negative(&format!("{}.flesh[{k}].reach", self.who()), *reach)?;
        }
        Ok(())
    }

    /// Name of a part.
    fn part(&self, own: &str, kind: &str, k: usize) -> String {
        if own.is_empty() { format!("{} {kind} {k}", self.name).trim_start().to_owned() } else { own.to_owned() }
    }

    fn named_bone(&self, k: usize) -> RigidBody {
        let (bone, _) = &self.bones[k];
        let mut bone = bone.clone().named(self.part(&bone.name, "bone", k));
        for collider in &mut bone.colliders {
            collider.groups.member = 1 << self.group;
        }
        bone
    }

    /// Member of its own group only, which its mask excludes.
    fn apart(&self, body: SoftBody) -> SoftBody {
        let mask = body.groups.mask & !(1 << self.group);
        body.groups(Groups { member: 1 << self.group, mask })
    }
}

impl World {
    /// Adds a combined body. When a part is rejected, the parts added before are removed again.
    pub fn add_combined(&mut self, combined: Combined) -> Result<CombinedIds, Error> {
        let mut ids = CombinedIds::default();
        let done = self.put_combined(&combined, &mut ids);
        if done.is_err() {
            // constraints are removed with their bodies
            for id in ids.tissues.iter().chain(&ids.bones) {
                self.remove_body(*id)?;
            }
        }
        done.map(|()| ids)
    }

    fn put_combined(&mut self, combined: &Combined, ids: &mut CombinedIds) -> Result<(), Error> {
        combined.check()?;
        let who = combined.who();
        for k in 0..combined.bones.len() {
            ids.bones.push(self.add_rigid(combined.named_bone(k))?);
        }
        for (a, b, joint) in &combined.joints {
            let joint = Joint { a: Some(ids.bones[*a]), b: Some(ids.bones[*b]), ..joint.clone() };
            ids.joints.push(self.add_joint(joint)?);
        }
        for (k, (bone, tissue)) in combined.bones.iter().enumerate() {
            let Some(tissue) = tissue else { continue };
            let (body, attached) = tissue.body(bone, &format!("{who}.bones[{k}]"))?;
            let body = combined.apart(body).named(combined.part("", "tissue", k));
            // particles rotate with the bone, and nodes move with it
            let tissue = self.add_soft(body.spin(bone.spin))?;
            ids.tissues.push(tissue);
            self.move_along(tissue, ids.bones[k])?;
            let pairs = (0..attached as u32).map(|node| anchored(tissue, node, ids.bones[k]));
            ids.anchors.push(self.add_attachment(Attachment::new(pairs))?);
        }
        self.put_flesh(combined, ids)
    }

    fn put_flesh(&mut self, combined: &Combined, ids: &mut CombinedIds) -> Result<(), Error> {
        if combined.flesh.is_empty() {
            return Ok(());
        }
        let who = combined.who();
        let solids = combined.bones.iter().enumerate();
        let solids: Vec<(Solid, Pose)> = solids
            .map(|(k, (bone, _))| Ok((Solid::new(bone, &format!("{who}.bones[{k}]"))?, bone.pose)))
            .collect::<Result<_, Error>>()?;
        for (k, (body, reach)) in combined.flesh.iter().enumerate() {
            let body = combined.apart(body.clone()).named(combined.part(&body.name, "flesh", k));
            let tissue = self.add_soft(body)?;
            ids.tissues.push(tissue);
            let mut held = vec![Vec::new(); solids.len()];
            for (node, &x) in self.body(tissue)?.node_positions().iter().enumerate() {
                let away = solids.iter().map(|(solid, pose)| solid.distance(pose.unpoint(x)));
                let nearest = away.enumerate().reduce(|a, b| if a.1 <= b.1 { a } else { b });
                if let Some((bone, _)) = nearest.filter(|(_, away)| away <= reach) {
                    held[bone].push(anchored(tissue, node as u32, ids.bones[bone]));
                }
            }
            if held.iter().all(Vec::is_empty) {
                let reason = format!("flesh[{k}]: none of its nodes lies within {reach} m of a bone; widen the reach");
                return Err(combined.refuse(reason));
            }
            for pairs in held.into_iter().filter(|p| !p.is_empty()) {
                ids.anchors.push(self.add_attachment(Attachment::new(pairs))?);
            }
        }
        Ok(())
    }

    /// Sets the nodes to the velocities of a rigid body motion.
    fn move_along(&mut self, tissue: BodyId, bone: BodyId) -> Result<(), Error> {
        let (bone, span) = (self.body(bone)?, self.model.nodes(tissue)?.span());
        let (centre, v, w) = (bone.center_of_mass(), bone.velocity(), bone.spin());
        for node in span {
            self.state.node_v[node] = v + w.cross(self.state.node_x[node] - centre);
        }
        Ok(())
    }
}

fn anchored(body: BodyId, node: u32, bone: BodyId) -> (Site, AttachTarget) {
    (Site::Node { body, node }, AttachTarget::Here(Some(bone)))
}
