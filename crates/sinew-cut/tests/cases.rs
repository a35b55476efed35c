//! Cuts with known answers, and orders that are refused.

use sinew_cut::{Body, CutError, Edit, Front, Move, NONE, Options, Point, Skin, lattice};

/// A cube of unit size of `cells` cells along an edge.
fn cube(cells: usize) -> Body {
    let (rest, tets) = lattice::five([cells; 3], 1.0 / cells as f64);
    Body::new(&rest, &tets, &Options { spare: 4.0, ..Options::default() }).unwrap()
}

/// A blade along `axis` + 1 that moves along `axis` + 2 from `from` to `to` at height `at` of `axis`.
fn across(body: &mut Body, axis: usize, at: f64, (from, to): (f64, f64), mut see: impl FnMut(&Edit)) -> f64 {
    let mut normal = Point::ZERO;
    normal[axis] = 1.0;
    let blade = |y: f64| {
        [-0.3, 0.5, 1.3].map(|x| {
            let mut p = Point::ZERO;
            (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (at, x, y);
            p
        })
    };
    let normals = [normal; 2];
    let start = blade(from);
    let front = Front { points: &start, normals: &normals, ..Front::default() };
    let stroke = body.begin(&front).unwrap();
    let mut area = 0.0;
    for k in 1..=40 {
        let points = blade(from + (to - from) * f64::from(k) / 40.0);
        let edit = body.tick(&[Move { stroke, front: Front { points: &points, ..front }, last: k == 40 }]).unwrap();
        area += edit.report.area;
        see(edit);
        body.check().unwrap();
    }
    area
}

#[test]
fn three_planes_make_eight_equal_pieces() {
    // case X08, through the middle of elements (3 cells) and through nodes (4 cells)
    for (cells, tolerance) in [(3, 1e-9), (4, 1e-5)] {
        let mut body = cube(cells);
        for axis in 0..3 {
            let area = across(&mut body, axis, 0.5, (-0.3, 1.3), |_| {});
            assert!((area - 1.0).abs() < 1e-5, "{area}");
        }
        let pieces = body.pieces();
        assert_eq!(pieces.len(), 8);
        for piece in &pieces {
            assert!((piece.volume - 0.125).abs() < tolerance, "{cells} cells: {}", piece.volume);
        }
        assert!((body.inner_area() - 6.0).abs() < 1e-4);
    }
}

#[test]
fn the_same_path_again_cuts_nothing() {
    // case X16
    let mut body = cube(3);
    across(&mut body, 0, 0.41, (-0.3, 1.3), |_| {});
    let elements = body.elements().len();
    assert_eq!(across(&mut body, 0, 0.41, (1.3, -0.3), |edit| assert!(edit.is_empty())), 0.0);
    assert_eq!(body.elements().len(), elements);
}

#[test]
fn the_tip_of_a_cut_is_closed_and_the_body_in_one_piece() {
    // case X19: nodes ahead of the front are not doubled
    let mut body = cube(4);
    let area = across(&mut body, 0, 0.37, (-0.3, 0.5), |_| {});
    assert!((area - 0.5).abs() < 0.15, "{area}");
    assert_eq!(body.pieces().len(), 1);
    let doubled = &body.node_parents()[body.rest().len()..];
    assert!(!doubled.is_empty());
    assert!(doubled.iter().all(|&node| body.rest()[node as usize].z < 0.75));
}

#[test]
fn a_retreat_cuts_nothing() {
    let mut body = cube(3);
    let blade = |y: f64| [Point::new(-0.3, y, 0.41), Point::new(1.3, y, 0.41)];
    let start = blade(1.3);
    let front = Front { points: &start, normals: &[Point::Z], forwards: &[Point::Y], ..Front::default() };
    let stroke = body.begin(&front).unwrap();
    for k in 1..=40 {
        let points = blade(1.3 - 0.04 * f64::from(k));
        assert!(
            body.tick(&[Move { stroke, front: Front { points: &points, ..front }, last: k == 40 }]).unwrap().is_empty()
        );
    }
}

#[test]
fn edits_alone_rebuild_the_body() {
    let mut body = cube(3);
    let mut elements: Vec<(u32, [u32; 4], f64)> = body.elements().iter().map(|e| (e.parent, e.nodes, e.fill)).collect();
    let mut nodes = body.node_parents().to_vec();
    let mut triangles: Vec<_> = body.triangles().copied().collect();
    let mut points: Vec<_> = body.points().collect();
    for axis in 0..2 {
        across(&mut body, axis, 0.44, (-0.3, 1.3), |edit| {
            for new in &edit.new_nodes {
                assert_eq!(new.node as usize, nodes.len());
                nodes.push(nodes[new.from as usize]);
            }
            for change in &edit.changed_elements {
                let element = &mut elements[change.element as usize];
                (element.1, element.2) = (change.nodes, change.fill);
            }
            for new in &edit.new_elements {
                assert_eq!(new.element as usize, elements.len());
                assert_eq!(elements[new.from as usize].0, new.parent);
                elements.push((new.parent, new.nodes, new.fill));
            }
            triangles.retain(|t| !edit.removed_triangles.contains(&t.triangle));
            points.retain(|p| !edit.removed_points.contains(&p.point));
            triangles.extend(&edit.new_triangles);
            points.extend(&edit.new_points);
        });
    }
    assert_eq!(nodes, body.node_parents());
    assert!(elements.into_iter().eq(body.elements().iter().map(|e| (e.parent, e.nodes, e.fill))));
    triangles.sort_by_key(|t| t.triangle);
    assert!(triangles.iter().eq(body.triangles()));
    points.sort_by_key(|p| p.point);
    assert!(
        points.iter().map(|p| (p.point, p.nodes, p.weights)).eq(body.points().map(|p| (p.point, p.nodes, p.weights)))
    );
    assert!(triangles.iter().any(|t| t.skin == Skin::Inner(0)));
}

#[test]
fn a_blade_in_one_piece_leaves_what_has_moved_away() {
    let mut body = cube(4);
    across(&mut body, 2, 0.5 + 0.03, (-0.3, 1.3), |_| {});
    assert_eq!(body.pieces().len(), 2);
    // the blade stands upright through both, but only the lower piece is where it is
    let blade = |y: f64| [0.02, 0.12, 0.25, 0.37, 0.49].map(|z| Point::new(0.43, y, z));
    let normals = [Point::X; 4];
    let mut stroke = None;
    for k in 0..=60 {
        let points = blade(-0.2 + 1.4 * f64::from(k) / 60.0);
        let mut elements = points.map(|p| body.element_at(p).unwrap_or(NONE));
        // the ends of the edge reach out of the piece
        let mut reach = points;
        (reach[0].z, reach[4].z) = (-0.3, 1.3);
        elements[4] = elements[3];
        let front = Front { points: &reach, normals: &normals, forwards: &[], elements: &elements };
        match stroke {
            None => stroke = Some(body.begin(&front).unwrap()),
            Some(stroke) => {
                body.tick(&[Move { stroke, front, last: k == 60 }]).unwrap();
                body.check().unwrap();
            }
        }
    }
    let pieces = body.pieces();
    assert_eq!(pieces.len(), 3);
    assert_eq!(pieces.iter().filter(|piece| (piece.volume - 0.47).abs() < 1e-5).count(), 1);
}

#[test]
fn an_ellipsoid_takes_matter_away() {
    let mut body = cube(6);
    let axes = [Point::X * 0.3, Point::Y * 0.25, Point::Z * 0.35];
    let report = body.remove_ellipsoid(Point::new(0.5, 0.5, 1.0), axes).unwrap().report;
    body.check().unwrap();
    let left: f64 = body.pieces().iter().map(|piece| piece.volume).sum();
    assert!((left + report.removed_volume - 1.0).abs() < 1e-12);
    // half an ellipsoid, by chords of elements
    let exact = 2.0 / 3.0 * std::f64::consts::PI * 0.3 * 0.25 * 0.35;
    assert!((report.removed_volume / exact - 1.0).abs() < 0.25, "{} {exact}", report.removed_volume);
    assert_eq!(body.remove_ellipsoid(Point::splat(9.0), axes).unwrap_err(), CutError::Outside);
}

#[test]
fn a_pool_that_is_used_up_is_reported_and_the_body_stays_sound() {
    let (rest, tets) = lattice::five([4; 3], 0.25);
    let mut body = Body::new(&rest, &tets, &Options { spare: 0.0, ..Options::default() }).unwrap();
    let mut refused = None;
    across(&mut body, 0, 0.4, (-0.3, 1.3), |edit| refused = edit.report.refused.or(refused));
    assert_eq!(refused.map(|pool| pool.0), Some("elements"));
    assert_eq!(body.pieces().len(), 1);
}

#[test]
fn bad_orders_name_what_is_wrong_and_change_nothing() {
    let mut body = cube(2);
    let points = [Point::ZERO, Point::X];
    let front = Front { points: &points, normals: &[Point::Z], ..Front::default() };
    let still = [Point::X; 2];
    let nan = [Point::ZERO, Point::NAN];
    assert_eq!(body.begin(&Front { points: &still, ..front }), Err(CutError::NoLength));
    assert_eq!(body.begin(&Front { points: &points[..1], ..front }), Err(CutError::NoLength));
    assert_eq!(
        body.begin(&Front { points: &nan, ..front }),
        Err(CutError::NotFinite { what: "point of the blade", index: 1 })
    );
    assert!(matches!(body.begin(&Front { normals: &[], ..front }), Err(CutError::WrongCount { what: "normals", .. })));
    assert_eq!(
        body.begin(&Front { normals: &[Point::ZERO], ..front }),
        Err(CutError::NoDirection { what: "normal", index: 0 })
    );
    let stroke = body.begin(&front).unwrap();
    let far = [Point::Y * 1e9, Point::X];
    let refused = body.tick(&[Move { stroke, front: Front { points: &far, ..front }, last: false }]);
    assert!(matches!(refused, Err(CutError::TooFast { .. })));
    let twice = [Move { stroke, front, last: false }; 2];
    assert_eq!(body.tick(&twice).unwrap_err(), CutError::MovesTwice(0));
    body.end(stroke).unwrap();
    assert_eq!(body.tick(&twice[..1]).unwrap_err(), CutError::NoSuchStroke);
    for _ in 0..4 {
        body.begin(&front).unwrap();
    }
    assert_eq!(body.begin(&front), Err(CutError::TooManyStrokes(4)));
    assert_eq!(body.elements().len(), 40);

    let (rest, mut tets) = lattice::five([1; 3], 1.0);
    tets[3].swap(0, 1);
    let refused = |rest: &[Point], tets: &[[u32; 4]]| Body::new(rest, tets, &Options::default()).err().unwrap();
    assert_eq!(refused(&rest, &tets), CutError::FlatElement { element: 3 });
    tets[3][0] = 99;
    assert_eq!(refused(&rest, &tets), CutError::NoSuchNode { element: 3, node: 99, nodes: 8 });
    assert_eq!(refused(&rest, &[]), CutError::NoElements);
}

#[test]
fn a_blade_beside_the_body_meets_nothing() {
    let mut body = cube(2);
    assert_eq!(across(&mut body, 0, 1.5, (-0.3, 1.3), |edit| assert!(edit.is_empty())), 0.0);
}
