//! Input that cannot be reduced is refused with its culprit, and files that do not fit are built again.

mod common;
use common::*;
use sinew_reduce::cache::{from_bytes, load_or_build, to_bytes};
use sinew_reduce::*;

fn rubber() -> Material {
    Material::isotropic(1e6, 0.4, 1000.0).unwrap()
}

fn told(mesh: TetMesh) -> String {
    Body::new(mesh, &rubber(), Mass::Lumped, &[]).unwrap_err().to_string()
}

#[test]
fn meshes_without_a_solution_name_the_culprit() {
    let good = block([2, 1, 1], [1.0; 3]);
    let mut bad = good.clone();
    bad.tets[3].swap(0, 1);
    assert!(told(bad).contains("tetrahedron 3 has the volume"));
    let mut bad = good.clone();
    bad.tets[3][2] = 99;
    assert!(told(bad).contains("tetrahedron 3 names node 99"));
    let mut bad = good.clone();
    bad.nodes[4][1] = f64::NAN;
    assert!(told(bad).contains("node 4 has a position"));
    let mut bad = good.clone();
    bad.nodes.push([5.0; 3]);
    assert!(told(bad).contains("node 12 belongs to no element"));
    let mut bad = good.clone();
    bad.nodes.extend(good.nodes.iter().map(|x| [x[0] + 5.0, x[1], x[2]]));
    bad.tets.extend(good.tets.iter().map(|t| t.map(|i| i + 12)));
    assert!(told(bad).contains("2 pieces"));
    let all: Vec<u32> = (0..12).collect();
    assert_eq!(Body::new(good.clone(), &rubber(), Mass::Lumped, &all).unwrap_err(), ReduceError::NothingFree);
    let outside = Body::new(good, &rubber(), Mass::Lumped, &[3, 12]).unwrap_err().to_string();
    assert!(outside.contains("names node 12"), "{outside}");
}

#[test]
fn moduli_that_are_not_positive_definite_name_the_strain() {
    let mut moduli = *Elasticity::isotropic(1e4, 0.2).unwrap().moduli();
    moduli[1][1] = 100.0;
    let error = Elasticity::new(moduli).unwrap_err();
    let ReduceError::Moduli { strain, energy } = &error else { panic!("{error}") };
    assert!(*energy < 0.0 && strain[1].abs() > 0.5 && strain[3].abs() < 1e-9, "{error}");
    moduli[0][4] = 1e3;
    assert!(Elasticity::new(moduli).unwrap_err().to_string().contains("symmetric"));
    assert!(Elasticity::isotropic(1e4, 0.5).unwrap_err().to_string().contains("poisson = 0.5"));
    assert!(Elasticity::isotropic(f64::NAN, 0.3).is_err());
    assert!(Material::isotropic(1e4, 0.3, -1.0).unwrap_err().to_string().contains("density"));
}

#[test]
fn surfaces_that_boundary_elements_cannot_use_are_named() {
    let ball = sphere(1.0, 1);
    let told = |s: &Surface| BoundaryBody::new(s, &rubber(), Side::Inside, NODE_CAP).unwrap_err().to_string();
    let mut open = ball.clone();
    let [a, b, _] = open.triangles.remove(7);
    let text = told(&open);
    assert!(text.contains("open at the edge") && text.contains(&format!("{}", a.min(b))), "{text}");
    let mut turned = ball.clone();
    turned.triangles[7].swap(0, 1);
    assert!(told(&turned).contains("one orientation"));
    assert!(told(&flipped(ball.clone())).contains("normals point outwards"));
    let mut crossed = ball.clone();
    crossed.nodes[0] = crossed.nodes[0].map(|x| -1.2 * x);
    assert!(told(&crossed).contains("cross"));
    let mut two = ball.clone();
    two.nodes.extend(ball.nodes.iter().map(|x| [x[0] + 1.5, x[1], x[2]]));
    two.triangles.extend(ball.triangles.iter().map(|t| t.map(|i| i + ball.nodes.len() as u32)));
    assert!(told(&two).contains("cross"));
    let mut d = *rubber().elasticity.moduli();
    d[2][2] *= 2.0;
    let wood = Material { elasticity: Elasticity::new(d).unwrap(), density: 500.0 };
    let text = BoundaryBody::new(&ball, &wood, Side::Inside, NODE_CAP).unwrap_err().to_string();
    assert!(text.contains("isotropic"), "{text}");
}

#[test]
fn more_nodes_than_the_cap_are_refused_with_the_memory() {
    let wanted = ReduceError::TooLarge { nodes: 42, cap: 41, bytes: 72 * 42 * 42 };
    assert_eq!(BoundaryBody::new(&sphere(1.0, 1), &rubber(), Side::Inside, 41).unwrap_err(), wanted);
    let body = Body::new(block([2, 2, 2], [1.0; 3]), &rubber(), Mass::Lumped, &[]).unwrap();
    let wanted = ReduceError::TooLarge { nodes: 26, cap: 25, bytes: 72 * 26 * 26 };
    assert_eq!(SurfaceBody::new(&body, 25).unwrap_err(), wanted);
}

#[test]
fn wishes_for_modes_that_are_not_there_are_refused() {
    let body = Body::new(block([1, 1, 1], [1.0; 3]), &rubber(), Mass::Lumped, &[]).unwrap();
    let told = |wanted| Modes::new(&body, wanted).unwrap_err().to_string();
    assert!(told(Wanted::Count(0)).contains("1 to 18") && told(Wanted::Count(19)).contains("19 modes"));
    assert!(
        told(Wanted::UpTo(1e-3)).contains("the lowest has") && told(Wanted::UpTo(-1.0)).contains("frequency limit")
    );
}

#[test]
fn a_basis_comes_back_from_its_file_and_any_other_file_is_built_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("basis");
    let mesh = block([2, 1, 1], [1.0; 3]);
    let body = Body::new(mesh.clone(), &rubber(), Mass::Lumped, &[]).unwrap();
    let key = mesh.key(&rubber(), &[]);
    let build = || Modes::new(&body, Wanted::Count(5));
    let first = load_or_build(&path, key, build).unwrap();
    assert_eq!((first.from_file, &first.message), (false, &None));
    let again = load_or_build(&path, key, || -> Result<Modes, ReduceError> { panic!("built twice") }).unwrap();
    assert!(again.from_file && again.value == first.value);

    let bytes = std::fs::read(&path).unwrap();
    let other = [mesh.key(&rubber(), &[1]), mesh.key(&Material::isotropic(1e6, 0.4, 1000.1).unwrap(), &[])];
    assert!(
        other
            .iter()
            .all(|&o| o != key && from_bytes::<Modes>(&bytes, o) == Err("it belongs to another mesh or material"))
    );
    assert_eq!(from_bytes::<Compliance>(&bytes, key), Err("it holds another kind of basis"));
    // every flipped bit and every length is noticed
    for at in (0..bytes.len()).step_by(3) {
        let mut bad = bytes.clone();
        bad[at] ^= 1 << (at % 8);
        assert!(from_bytes::<Modes>(&bad, key).is_err(), "byte {at}");
        assert!(from_bytes::<Modes>(&bytes[..at], key).is_err(), "length {at}");
    }
    std::fs::write(&path, &bytes[..100]).unwrap();
    let built = load_or_build(&path, key, build).unwrap();
    assert!(!built.from_file && built.message.unwrap().contains("damaged") && built.value == first.value);
    assert!(load_or_build(&path, key, build).unwrap().from_file);

    let nowhere = load_or_build(&folder.path().join("no/such/folder"), key, build).unwrap();
    assert!(nowhere.message.unwrap().contains("cannot be written") && nowhere.value == first.value);

    let surface = SurfaceBody::new(&body, NODE_CAP).unwrap().compliance;
    assert_eq!(from_bytes::<Compliance>(&to_bytes(&surface, 7), 7).as_ref(), Ok(&surface));
    // sizes that promise more than there is, under a right checksum
    let mut huge = to_bytes(&surface, 7);
    huge.truncate(huge.len() - 8);
    huge[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
    let sum = twox_hash::XxHash3_64::oneshot(&huge);
    huge.extend(sum.to_le_bytes());
    assert_eq!(from_bytes::<Compliance>(&huge, 7), Err("it is damaged: the sizes do not fit"));
}
