//! Condensation, static answers and the capacitance of contact rows.

mod common;
use common::*;
use sinew_reduce::*;

fn soft() -> Material {
    Material::isotropic(1e4, 0.3, 1000.0).unwrap()
}

/// A block with inner nodes moved from their places, so that no symmetry hides an error.
fn shaken(cells: [usize; 3]) -> TetMesh {
    let mut mesh = block(cells, [0.3, 0.2, 0.1]);
    let (surface, mut draws) = (mesh.surface_nodes(), Draws(5));
    for (i, x) in mesh.nodes.iter_mut().enumerate() {
        if surface.binary_search(&(i as u32)).is_err() {
            x.iter_mut().for_each(|x| *x += 0.005 * draws.next());
        }
    }
    mesh
}

fn flat(points: &[[f64; 3]]) -> Vec<f64> {
    points.iter().flatten().copied().collect()
}

#[test]
fn inner_nodes_follow_any_linear_displacement_of_the_surface() {
    let mesh = shaken([4, 3, 3]);
    let linear = |x: [f64; 3]| {
        [0.01 * x[0] + 0.02 * x[1] - 0.01, 0.03 * x[2] - 0.01 * x[1], 0.01 * x[0] - 0.02 * x[2] + 0.004 * x[1]]
    };
    let wanted: Vec<[f64; 3]> = mesh.nodes.iter().map(|x| linear(*x)).collect();
    let body = SurfaceBody::new(&Body::new(mesh.clone(), &soft(), Mass::Lumped, &[]).unwrap(), NODE_CAP).unwrap();
    let surface: Vec<[f64; 3]> = body.compliance.nodes().iter().map(|&i| wanted[i as usize]).collect();
    assert!(mesh.nodes.len() > surface.len());
    let off = apart(&flat(&body.inner(&surface)), &flat(&wanted));
    assert!(off < 1e-11, "{off:e}");
}

#[test]
fn a_bar_under_tension_has_the_strain_of_the_law() {
    let mesh = block([6, 2, 2], [0.6, 0.2, 0.2]);
    let material = Material::isotropic(1e4, 0.0, 1000.0).unwrap();
    let body = Body::new(mesh.clone(), &material, Mass::Lumped, &face(&mesh, 0, 0.0)).unwrap();
    // 1 Pa on the end: areas of its nodes
    let (skin, nodes) = skin(&mesh);
    let mut load = Dense::zeros(3 * mesh.nodes.len(), 1).data().to_vec();
    for triangle in &skin.triangles {
        if triangle.iter().all(|&i| (skin.nodes[i as usize][0] - 0.6).abs() < 1e-9) {
            triangle.iter().for_each(|&i| load[3 * nodes[i as usize] as usize] += 0.1 * 0.1 / 6.0);
        }
    }
    let loads = Dense::from_fn(load.len(), 1, |i, _| load[i]);
    let moved = Statics::new(&body).unwrap().solve(&loads);
    for (i, x) in mesh.nodes.iter().enumerate() {
        assert!((moved.get(3 * i, 0) - x[0] / 1e4).abs() < 1e-15, "{x:?}");
    }
}

/// With one node held the body may still turn: three rigid motions remain.
#[test]
fn the_condensed_compliance_is_that_of_the_whole_system() {
    for fixed in [vec![], vec![0], (0..20).collect::<Vec<u32>>()] {
        let body = Body::new(shaken([4, 3, 3]), &soft(), Mass::Lumped, &fixed).unwrap();
        let surface = SurfaceBody::new(&body, NODE_CAP).unwrap().compliance;
        let unknown = |k: usize| 3 * surface.nodes()[k / 3] as usize + k % 3;
        let count = 3 * surface.nodes().len();
        let unit = Dense::from_fn(body.stiffness().rows(), count, |i, j| f64::from(u8::from(i == unknown(j))));
        let whole = Statics::new(&body).unwrap().solve(&unit);
        let wanted = Dense::from_fn(count, count, |i, j| whole.get(unknown(i), j));
        let off = apart(surface.matrix().data(), wanted.data());
        assert!(off < 1e-9, "{} fixed: {off:e}", fixed.len());
        for i in 0..count {
            (0..i).for_each(|j| assert_eq!(surface.matrix().get(i, j), surface.matrix().get(j, i)));
        }
        let [least, most] = surface.range().unwrap();
        assert!(least > 0.0 && most / least < 1e8, "{least:e} {most:e}");
    }
}

#[test]
fn inner_loads_act_through_the_condensed_stiffness() {
    let body = Body::new(shaken([4, 3, 3]), &soft(), Mass::Lumped, &(0..20).collect::<Vec<u32>>()).unwrap();
    let loads = Dense::from_fn(body.stiffness().rows(), 1, |i, _| if i < 60 { 0.0 } else { (i as f64 * 0.37).sin() });
    let whole = Statics::new(&body).unwrap().solve(&loads);
    let condensed = SurfaceBody::new(&body, NODE_CAP).unwrap();
    let kept: Vec<f64> = condensed
        .compliance
        .nodes()
        .iter()
        .flat_map(|&i| (0..3).map(move |a| 3 * i as usize + a))
        .map(|u| whole.get(u, 0))
        .collect();
    let all = condensed.condensed.recover(&kept, loads.data());
    let off = apart(&all, whole.data());
    assert!(off < 1e-10, "{off:e}");
}

/// A free body that is held later is the body that was held before.
#[test]
fn a_floating_compliance_that_is_held_is_that_of_the_held_body() {
    let mesh = shaken([3, 3, 3]);
    let end = face(&mesh, 0, 0.0);
    let free = Body::new(mesh.clone(), &soft(), Mass::Lumped, &[]).unwrap();
    let held = SurfaceBody::new(&free.holding(&end).unwrap(), NODE_CAP).unwrap().compliance;
    let floating = SurfaceBody::new(&free, NODE_CAP).unwrap().compliance;
    assert_eq!(floating.frame(), Frame::Floating);
    let points: Vec<usize> = end.iter().map(|i| floating.nodes().binary_search(i).unwrap()).collect();
    let later = floating.held(&points).unwrap();
    assert_eq!((later.nodes(), later.frame()), (held.nodes(), Frame::Fixed));
    let off = apart(later.matrix().data(), held.matrix().data());
    assert!(off < 1e-8, "{off:e}");
}

/// Thirty contacts press nodes to given depths: forces by the capacitance against a solve of the whole system with the
/// rows as constraints.
#[test]
fn thirty_contacts_by_the_capacitance_are_those_of_the_whole_system() {
    let mesh = shaken([5, 4, 3]);
    let body = Body::new(mesh.clone(), &soft(), Mass::Lumped, &face(&mesh, 2, 0.0)).unwrap();
    let surface = SurfaceBody::new(&body, NODE_CAP).unwrap().compliance;
    let mut draws = Draws(3);
    let mut rows: Vec<SurfaceRow> = (0..31)
        .map(|k| {
            let n = [draws.next(), draws.next(), draws.next()];
            // half of them between two points
            let other = if k % 2 == 0 { vec![] } else { vec![(k + 30, n.map(|n| 0.5 * n))] };
            SurfaceRow([vec![(k, n)], other].concat())
        })
        .collect();
    let mut small = Capacitance::new(&surface, &rows);
    // a contact ends: the last takes its place
    small.swap_remove(4);
    rows.swap_remove(4);
    assert_eq!(small.rows(), rows);
    let target: Vec<f64> = (0..30).map(|_| 1e-3 * draws.next()).collect();
    let forces = small.forces(&target).unwrap();

    let full = body.stiffness().rows();
    let mut entries = Vec::new();
    for i in 0..full {
        if body.is_fixed(i as u32 / 3) {
            entries.push((i, i, 1.0));
        } else {
            entries.extend(
                body.stiffness().row(i).iter().filter(|e| !body.is_fixed(e.0 as u32 / 3)).map(|e| (i, e.0, e.1)),
            );
        }
    }
    for (k, row) in rows.iter().enumerate() {
        for (point, n) in &row.0 {
            for a in 0..3 {
                let u = 3 * surface.nodes()[*point] as usize + a;
                entries.extend([(full + k, u, n[a]), (u, full + k, -n[a])]);
            }
        }
    }
    let system = Sparse::from_entries(full + 30, full + 30, entries);
    let right: Vec<f64> = (0..full + 30).map(|i| if i < full { 0.0 } else { target[i - full] }).collect();
    let whole = gauss(&system, right);
    assert!(apart(&forces, &whole[full..]) < 1e-7, "{:e}", apart(&forces, &whole[full..]));
    let moved = flat(&surface.displacements(&small.loads(&forces)));
    let wanted: Vec<f64> =
        surface.nodes().iter().flat_map(|&i| (0..3).map(move |a| 3 * i as usize + a)).map(|u| whole[u]).collect();
    assert!(apart(&moved, &wanted) < 1e-7, "{:e}", apart(&moved, &wanted));
}

/// Elimination with row exchanges, apart from the code that is tested.
fn gauss(a: &Sparse, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let mut row = vec![0.0; n];
            a.row(i).iter().for_each(|e| row[e.0] = e.1);
            row
        })
        .collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs())).unwrap();
        rows.swap(k, pivot);
        b.swap(k, pivot);
        let (top, rest) = rows.split_at_mut(k + 1);
        for (i, row) in rest.iter_mut().enumerate() {
            let by = row[k] / top[k][k];
            if by != 0.0 {
                (k..n).for_each(|j| row[j] -= by * top[k][j]);
                b[k + 1 + i] -= by * b[k];
            }
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| rows[k][j] * b[j]).sum();
        b[k] = (b[k] - sum) / rows[k][k];
    }
    b
}

/// Random impacts press and leave: the work that contacts do on the body never comes back as more.
#[test]
fn a_thousand_random_impacts_never_create_energy() {
    let body = Body::new(shaken([3, 3, 2]), &soft(), Mass::Lumped, &[]).unwrap();
    let surface = SurfaceBody::new(&body, NODE_CAP).unwrap().compliance;
    let mut draws = Draws(17);
    for _ in 0..1000 {
        let points = surface.nodes().len() as f64;
        let row = |draws: &mut Draws| {
            let point = (0.5 * (1.0 + draws.next()) * points) as usize;
            SurfaceRow(vec![(point, [draws.next(), draws.next(), draws.next()])])
        };
        let rows = [row(&mut draws), row(&mut draws), row(&mut draws)];
        let small = Capacitance::new(&surface, &rows);
        let forces = [draws.next(), draws.next(), draws.next()];
        // ½ fᵀ C f is stored and given back
        let stored: f64 = small.matrix().apply(&forces).iter().zip(forces).map(|(u, f)| 0.5 * u * f).sum();
        assert!(stored >= 0.0, "{stored:e}");
        // what was pushed in along one path comes back along another: a symmetric compliance has one energy
        let [a, b, _] = forces;
        let path = |first: usize, second: usize, f: [f64; 2]| {
            let c = small.matrix();
            0.5 * c.get(first, first) * f[0] * f[0]
                + c.get(second, first) * f[0] * f[1]
                + 0.5 * c.get(second, second) * f[1] * f[1]
        };
        let size = small.matrix().get(0, 0) * a * a + small.matrix().get(1, 1) * b * b;
        assert!((path(0, 1, [a, b]) - path(1, 0, [b, a])).abs() <= 1e-14 * size);
    }
}
