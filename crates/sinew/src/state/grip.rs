//! Grips: compact contact memory of nodes of a sheet in column layout with a ball or a plane. It has a fifth of the
//! bytes of a contact: thousands are created in every step. A sheet that leaves the column layout has contacts instead
//! (`contact/cloth/memory.rs`).

use crate::math::Vec3;
use bytemuck::{Pod, Zeroable};

/// Contact of one node of a sheet with a collider.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
/// let mesh = TriMesh::sheet([20; 2], [1.0; 2], Diagonals::Alternating).expect("20 squares a side");
/// let sheet = pbd::Sheet { stretch: 1e4, bend: 0.0, density: 0.2, compression: 0.1, skip_stiffness: 0.0, stretch_limit: 0.05 };
/// let params = pbd::Params { iterations: 1, ..pbd::Params::default() };
/// let model = SoftModel::Pbd(pbd::Structure::Sheet(sheet), params);
/// world.add_soft(SoftBody::new(Geometry::Sheet(mesh), model).thickness(1e-3).at([0.0, 1e-3, 0.0]))?;
/// for _ in 0..10 {
///     world.step(&Input::none());
/// }
/// // a cloth of edge constraints is in contact with the floor at its nodes
/// let cloth_contacts = &world.state().cloth_contacts;
/// assert!(cloth_contacts.iter().all(|g| (g.body, g.sheet) == (0, 1)));
/// # Ok(()) }
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct ClothContactMemory {
    /// Slot of the rigid body.
    pub body: u32,
    /// Slot of the sheet.
    pub sheet: u32,
    /// Collider of the body.
    pub collider: u32,
    /// Node of the sheet.
    pub node: u32,
    /// Mean impulse per substep on the node, axes of the body [N·s].
    pub impulse: Vec3,
    /// Tangential displacement from the stick point, axes of the body [m].
    pub tangential_displacement: Vec3,
    /// The same bits as for contacts: in contact, force above the threshold.
    pub flags: u32,
    /// 1 while slipping.
    pub slipping: u32,
}

impl ClothContactMemory {
    /// Identity of the contact. The column is sorted by it.
    pub(crate) fn key(&self) -> (u32, u32, u32, u32) {
        (self.body, self.sheet, self.collider, self.node)
    }

    pub(crate) fn has(&self, bit: u32) -> bool {
        self.flags & bit != 0
    }
}

/// The cloth_contacts of a sheet on one collider; `cloth_contacts` is sorted.
pub(crate) fn of_wall(
    cloth_contacts: &[ClothContactMemory],
    body: u32,
    sheet: u32,
    collider: u32,
) -> &[ClothContactMemory] {
    let first = cloth_contacts.partition_point(|g| g.key() < (body, sheet, collider, 0));
    let count = cloth_contacts[first..].partition_point(|g| g.key() <= (body, sheet, collider, u32::MAX));
    &cloth_contacts[first..first + count]
}
