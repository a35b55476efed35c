//! Fixed scenery as occupancy voxels (FC 7.3.1): bodies that land on it, and independence of the number of triangles.

use sinew::*;

/// A slab as a mesh with the given number of cells per side, in voxels of 5 cm whose top is y = 0.
fn slab(fineness: u32) -> Shape {
    let mesh = TetMesh::block([fineness, 2, fineness], Vec3::new(0.98, 0.1, 0.98)).unwrap();
    let vertices: Vec<Vec3> = mesh.vertices.iter().map(|v| *v - Vec3::Y * 0.07).collect();
    Shape::voxelized(&vertices, &mesh.boundary_faces(), 0.05).unwrap()
}

/// A rigid box and a soft block dropped on the slab.
fn dropped(fineness: u32) -> (World, BodyId, BodyId) {
    let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..Settings::default() }).unwrap();
    world.add_rigid(RigidBody::fixed().shape(slab(fineness))).unwrap();
    let at = [-0.23, 0.13, 0.02];
    let rigid = world.add_rigid(RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.1, 0.1)).mass(2.0).at(at)).unwrap();
    let block = TetMesh::block([3; 3], Vec3::splat(0.2)).unwrap();
    let soft = SoftBody::corotational(block, ElasticMaterial::new(1e5, 0.3, 1000.0)).at([0.22, 0.13, -0.03]);
    let soft = world.add_soft(soft).unwrap();
    (world, rigid, soft)
}

#[test]
fn rigid_and_soft_bodies_rest_on_voxels() {
    let (mut world, rigid, soft) = dropped(1);
    for _ in 0..180 {
        world.step(&Input::none());
        assert!(world.report().faults.is_empty());
    }
    let height = world.body(rigid).unwrap().position().y;
    assert!((height - 0.1).abs() < 2e-3, "the box is at {height}");
    assert!(world.body(rigid).unwrap().velocity().length() < 0.01);
    let body = world.body(soft).unwrap();
    let surfels = body.surface().unwrap().len() as u32;
    let lowest = (0..surfels).map(|s| body.surface_point(s).unwrap().y).fold(Real::INFINITY, Real::min);
    assert!(lowest.abs() < 2e-3, "the block's lowest point is at {lowest}");
}

/// The same surface of 768 times as many triangles is the same shape: bitwise the same motion, at the same cost.
#[test]
fn the_motion_is_independent_of_the_number_of_triangles() {
    let (mut coarse, ..) = dropped(1);
    let (mut fine, ..) = dropped(24);
    for _ in 0..30 {
        coarse.step(&Input::none());
        fine.step(&Input::none());
        assert_eq!(coarse.hash(), fine.hash());
    }
}

/// Rays and points detect the cells.
#[test]
fn queries_detect_the_voxel_cells() {
    let (mut world, ..) = dropped(4);
    world.step(&Input::none());
    let from = Vec3::new(0.4, 1.0, 0.4);
    let hit = world.cast_ray(from, Vec3::NEG_Y, 10.0, &QueryFilter::default()).unwrap();
    let hit = hit.expect("the slab is below");
    assert!(hit.point.y.abs() < 1e-4 && hit.normal.y > 0.999, "{hit:?}");
}
