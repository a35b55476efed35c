use super::{ElementPatch, Largest, Reserved};
use crate::deformable::fem::{Corotational, Params, ReservedCorotational};
use crate::deformable::spring::{self, MassSpring, ReservedSprings};
use crate::deformable::{BodyMut, BodyRef, Deformable, StepContext};
use crate::math::{Block, Mat3, Quat, Real, Vec3, vec};
use crate::model::tet_mesh::TetMesh;

fn mesh() -> TetMesh {
    TetMesh::block([3, 2, 2], Vec3::new(0.3, 0.2, 0.2)).unwrap()
}

/// A shape that is turned and strained by some per cent.
fn strained(mesh: &TetMesh) -> Vec<Block> {
    let turn = Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.7);
    let place = |(k, x): (usize, &Vec3)| {
        let push = Vec3::new((k % 3) as Real, (k % 5) as Real, (k % 7) as Real) * 1e-3;
        let x = turn * (*x + push);
        [x.x, x.y, x.z, 0.0]
    };
    mesh.vertices.iter().enumerate().map(place).collect()
}

fn fills(mesh: &TetMesh) -> Vec<Real> {
    (0..mesh.tets.len()).map(|e| 0.1 + 0.9 * (e % 5) as Real / 4.0).collect()
}

/// Models with a reserve, each with the one without.
fn pairs() -> Vec<[Box<dyn Deformable>; 2]> {
    let (mesh, fill, room) = (mesh(), fills(&mesh()), [100, 200]);
    let elements = Params { youngs_modulus: 2e4, poisson_ratio: 0.3, density: 1000.0, damping: 0.0 };
    let mut pairs: Vec<[Box<dyn Deformable>; 2]> = vec![[
        Box::new(ReservedCorotational::new(&mesh, &fill, room, elements).unwrap()),
        Box::new(Corotational::filled(&mesh, &fill, elements).unwrap()),
    ]];
    let forces = [
        spring::VolumeForce::None,
        spring::VolumeForce::Bulk { modulus: 1e4 },
        spring::VolumeForce::Radial { stiffness: 50.0 },
        spring::VolumeForce::Gradient { stiffness: 1e8 },
    ];
    for volume in forces {
        let params = spring::Params {
            stiffness: spring::Stiffness::Young(2e4),
            mass: spring::Mass::Density(1000.0),
            dashpot: spring::Dashpot::Time(1e-3),
            volume,
            ..spring::Params::default()
        };
        pairs.push([
            Box::new(ReservedSprings::new(&mesh, &fill, room, &params).unwrap()),
            Box::new(MassSpring::from_filled_tets(&mesh, &fill, &params).unwrap()),
        ]);
    }
    pairs
}

/// Velocities and, for implicit models, b after `predict`.
fn predicted(model: &mut dyn Deformable, x: &[Block], lanes: bool) -> Vec<Block> {
    let mut x = x.to_vec();
    let mass = model.masses().to_vec();
    let velocity = |(k, m): (usize, &Real)| [(k % 4) as Real * 0.01, 0.02, (k % 3) as Real * -0.01, 1.0 / m];
    let mut v: Vec<Block> = mass.iter().enumerate().map(velocity).collect();
    let force = vec![Vec3::NEG_Y; x.len()];
    let ctx = StepContext { lanes, ..StepContext::new(1e-3, 0) };
    model.predict(&ctx, BodyMut { x: &mut x, v: &mut v, force: &force, internal_state: &mut [] });
    model.operator().map_or(v, |operator| operator.load().to_vec())
}

fn assert_near(a: impl Iterator<Item = Vec3>, b: impl Iterator<Item = Vec3>, what: &str) {
    let (a, b): (Vec<Vec3>, Vec<Vec3>) = (a.collect(), b.collect());
    let size = b.iter().map(|b| b.length()).fold(0.0, Real::max);
    assert!(a.len() == b.len() && size > 0.0);
    for (k, (a, b)) in a.iter().zip(&b).enumerate() {
        assert!((*a - *b).length() < 300.0 * Real::EPSILON * size, "{what}, {k}: {a} {b}");
    }
}

#[test]
fn masses_energy_forces_and_kicks_are_those_of_the_models_without_a_reserve() {
    let x = strained(&mesh());
    let v = vec![[0.0; 4]; x.len()];
    for (k, [mut with, mut without]) in pairs().into_iter().enumerate() {
        let at = BodyRef { x: &x, v: &v, internal_state: &[] };
        let (a, b) = (with.energy(at), without.energy(at));
        assert!((a - b).abs() < 1e3 * Real::EPSILON * b && b > 0.0, "{k}: {a} {b}");
        let mut forces = [vec![Vec3::ZERO; x.len()], vec![Vec3::ZERO; x.len()]];
        assert!(with.forces(at, &mut forces[0]) && without.forces(at, &mut forces[1]));
        assert_near(forces[0].iter().copied(), forces[1].iter().copied(), "forces");
        let masses = |model: &dyn Deformable| -> Vec<Vec3> { model.masses().iter().map(|m| Vec3::X * *m).collect() };
        assert_near(masses(&*with).into_iter(), masses(&*without).into_iter(), "masses");
        let (a, b) = (predicted(&mut *with, &x, true), predicted(&mut *without, &x, true));
        assert_near(a.iter().map(|v| vec(*v)), b.iter().map(|v| vec(*v)), "velocities");
        // the step of the stiffest element is a lower bound of the true one
        let steps = [with.traits().stable_step, without.traits().stable_step];
        assert!(steps[0] <= steps[1] && (steps[0] > 0.25 * steps[1] || steps[1].is_infinite()), "{k}: {steps:?}");
    }
}

#[test]
fn eight_lanes_and_one_give_the_same_bits() {
    let x = strained(&mesh());
    for [mut model, _] in pairs() {
        assert_eq!(predicted(&mut *model, &x, true), predicted(&mut *model, &x, false));
        let Some(operator) = model.operator() else { continue };
        let mut out = [x.clone(), x.clone()];
        operator.apply(&x, &mut out[0]);
        assert!(out[0].iter().all(|v| v[3] == 0.0));
    }
}

#[test]
fn the_operator_without_a_matrix_is_the_matrix() {
    let x = strained(&mesh());
    let [mut with, mut without] = pairs().swap_remove(0);
    predicted(&mut *with, &x, true);
    predicted(&mut *without, &x, true);
    let (a, b) = (with.operator().unwrap(), without.operator().unwrap());
    let mut out = [x.clone(), x.clone()];
    a.apply(&x, &mut out[0]);
    b.apply(&x, &mut out[1]);
    assert_near(out[0].iter().map(|v| vec(*v)), out[1].iter().map(|v| vec(*v)), "A v");
    let mut blocks = [vec![Mat3::ZERO; x.len()], vec![Mat3::ZERO; x.len()]];
    a.diagonal(&mut blocks[0]);
    b.diagonal(&mut blocks[1]);
    let columns =
        |blocks: &[Mat3]| -> Vec<Vec3> { blocks.iter().flat_map(|b| [b.x_axis, b.y_axis, b.z_axis]).collect() };
    assert_near(columns(&blocks[0]).into_iter(), columns(&blocks[1]).into_iter(), "diagonal");
}

#[test]
fn a_patched_model_has_the_bits_of_a_new_one() {
    let (old, x) = (mesh(), strained(&mesh()));
    // fewer elements, one of them with other corners; some lanes of the last batch become empty
    let mut new = old.clone();
    new.tets.truncate(61);
    new.tets.swap(3, 7);
    let fill: Vec<Real> = fills(&old)[..61].iter().map(|f| 0.5 * f).collect();
    let elements = Params { youngs_modulus: 2e4, poisson_ratio: 0.3, density: 1000.0, damping: 0.0 };
    let made = |mesh: &TetMesh, fill: &[Real]| ReservedCorotational::new(mesh, fill, [100, 200], elements).unwrap();
    let (mut patched, mut fresh) = (made(&old, &fills(&old)), made(&new, &fill));
    let all: Vec<u32> = (0..61).collect();
    patched.patch(&ElementPatch { rest: &new.vertices, tets: &new.tets, fill: &fill, elements: &all, nodes: &[] });
    assert_eq!(patched.total_mass(), fresh.total_mass());
    let used: Vec<usize> = (0..x.len()).filter(|&n| fresh.masses()[n] > 0.0).collect();
    let (a, b) = (predicted(&mut patched, &x, true), predicted(&mut fresh, &x, true));
    assert!(!used.is_empty() && used.iter().all(|&n| a[n] == b[n] && patched.masses()[n] == fresh.masses()[n]));
}

#[test]
fn the_largest_number_is_found_after_any_change() {
    let (mut largest, mut numbers, mut seed) = (Largest::with_capacity(200), Vec::new(), 3_u32);
    for _ in 0..2000 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if numbers.is_empty() || seed >> 30 == 0 {
            numbers.resize((seed >> 10) as usize % 200 + 1, 0.0);
            largest.resize(numbers.len());
        } else {
            let (at, number) = ((seed >> 8) as usize % numbers.len(), (seed >> 20) as Real);
            numbers[at] = number;
            largest.set(at, number);
        }
        assert_eq!(largest.get(), numbers.iter().copied().fold(0.0, Real::max));
    }
}
