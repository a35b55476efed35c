//! Cuts of cloth in material space.

use sinew_cut::CutError;
use sinew_cut::sheet::{Place, Sheet};

#[path = "../examples/support/strokes.rs"]
#[expect(dead_code, reason = "only the random numbers are used here")]
mod strokes;

fn cloth(n: usize) -> Sheet {
    let at = |x: usize, y: usize| (y * (n + 1) + x) as u32;
    let rest: Vec<Place> =
        (0..(n + 1) * (n + 1)).map(|k| [(k % (n + 1)) as f64 / n as f64, (k / (n + 1)) as f64 / n as f64]).collect();
    let mut triangles = Vec::new();
    for y in 0..n {
        for x in 0..n {
            let [a, b, c, d] = [at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    Sheet::new(&rest, &triangles).unwrap()
}

fn area(sheet: &Sheet) -> f64 {
    sheet.triangles().iter().map(|triangle| sheet.area(triangle)).sum()
}

fn least_angle(sheet: &Sheet) -> f64 {
    sheet.triangles().iter().map(|triangle| sheet.angle(triangle)).fold(f64::INFINITY, f64::min)
}

/// Pieces that hang together by edges.
fn pieces(sheet: &Sheet) -> usize {
    let count = sheet.triangles().len();
    let mut seen = vec![false; count];
    let mut pieces = 0;
    for start in 0..count {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        pieces += 1;
        let mut stack = vec![start];
        while let Some(t) = stack.pop() {
            for other in 0..count {
                let shared = sheet.triangles()[t].iter().filter(|n| sheet.triangles()[other].contains(n)).count();
                if !seen[other] && shared >= 2 {
                    seen[other] = true;
                    stack.push(other);
                }
            }
        }
    }
    pieces
}

#[test]
fn a_straight_cut_makes_two_sheets_of_the_right_area() {
    for y in [0.5, 0.53, 0.512_345] {
        let mut sheet = cloth(10);
        let edit = sheet.cut(&[[-0.1, y], [1.1, y + 0.07]]).unwrap();
        assert_eq!(pieces(&sheet), 2, "at {y}");
        assert!((area(&sheet) - 1.0).abs() < 1e-12);
        // longer than the path where it goes through nodes beside it
        assert!(edit.length > 0.99 && edit.length < 2.0_f64.sqrt(), "{}", edit.length);
    }
}

#[test]
fn a_slit_opens_between_its_tips_only() {
    let mut sheet = cloth(10);
    let edit = sheet.cut(&[[0.31, 0.52], [0.71, 0.55]]).unwrap();
    assert_eq!(pieces(&sheet), 1);
    assert!(!edit.copies.is_empty());
    assert!((area(&sheet) - 1.0).abs() < 1e-12);
}

#[test]
fn a_hundred_random_cuts_keep_area_and_half_of_the_least_angle() {
    // case X17
    let mut sheet = cloth(20);
    let before = least_angle(&sheet);
    let mut draws = strokes::Draws(17);
    for _ in 0..100 {
        let mut place = || [draws.number(-0.1, 1.1), draws.number(-0.1, 1.1)];
        let path = [place(), place(), place()];
        let nodes = sheet.rest().len();
        let edit = sheet.cut(&path).unwrap();
        let inserted = edit.placed.iter().filter(|placed| placed.node != placed.from).count();
        assert_eq!(sheet.rest().len(), nodes + inserted + edit.copies.len());
    }
    assert!((area(&sheet) - 1.0).abs() < 1e-9, "{}", area(&sheet));
    assert!(least_angle(&sheet) >= 0.5 * before * (1.0 - 1e-12), "{}", least_angle(&sheet));
}

#[test]
fn bad_paths_are_refused() {
    let mut sheet = cloth(2);
    let before = sheet.clone();
    assert_eq!(sheet.cut(&[[0.5, 0.5]; 3]).unwrap_err(), CutError::NoLength);
    assert!(matches!(sheet.cut(&[[0.5, f64::NAN], [0.0, 0.0]]).unwrap_err(), CutError::NotFinite { index: 0, .. }));
    let edit = sheet.cut(&[[5.0, 5.0], [6.0, 6.0]]).unwrap();
    assert_eq!((edit, &sheet), (Default::default(), &before));
}
