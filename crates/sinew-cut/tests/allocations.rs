//! A tick that cuts allocates nothing.

use sinew_cut::{Body, Front, Move, Options, Point, lattice};
use sinew_tally::Tally;

#[global_allocator]
static TALLY: Tally = Tally::new();

#[test]
fn a_tick_allocates_nothing() {
    let (rest, tets) = lattice::six([8; 3], 0.125);
    let mut body = Body::new(&rest, &tets, &Options { spare: 1.0, ..Options::default() }).unwrap();
    let blade = |y: f64| [Point::new(-0.3, y, 0.43), Point::new(0.5, y, 0.53), Point::new(1.3, y, 0.43)];
    let normals = [Point::new(-0.125, 0.0, 1.0).normalize(), Point::new(0.125, 0.0, 1.0).normalize()];
    let start = blade(-0.3);
    let front = Front { points: &start, normals: &normals, ..Front::default() };
    let stroke = body.begin(&front).unwrap();
    let before = TALLY.count();
    let mut splits = 0;
    for k in 1..=200 {
        let points = blade(-0.3 + 0.008 * f64::from(k));
        splits += body
            .tick(&[Move { stroke, front: Front { points: &points, ..front }, last: k == 200 }])
            .unwrap()
            .report
            .splits;
    }
    assert_eq!(TALLY.count() - before, 0);
    assert!(splits > 100);
}
