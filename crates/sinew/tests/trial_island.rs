//! The design on trial: *One island, solved* in its smallest form, against known answers.
//!
//! `cargo test --test trial_island -- --nocapture --ignored` prints the tables of `docs/design-trial.md`.

mod island;

use island::{Feature, Island, Obstacle, Shape, to64, vec};
use sinew::trial::{Params, Settings};
use sinew::{Real, Vec3};

const G: Real = 9.81;

fn material(youngs_modulus: Real) -> Params {
    Params { youngs_modulus, poisson_ratio: 0.0, density: 1000.0, damping: 0.005 }
}

/// Soft cube of 0.1 m on the ground.
fn cube(e: Real, settings: Settings) -> Island {
    let mut w = Island::new(settings);
    w.add_soft([4; 3], Vec3::splat(0.1), material(e), Vec3::new(0.0, 0.05, 0.0));
    w
}

/// The same with a rigid box on it (M03, M04).
fn loaded(e: Real, mass: Real, settings: Settings) -> Island {
    let mut w = cube(e, settings);
    w.add_rigid(Shape::Box(Vec3::new(0.06, 0.05, 0.06)), mass, Vec3::new(0.0, 0.15, 0.0), Vec3::ZERO);
    w
}

fn top(w: &Island) -> Real {
    let s = &w.soft[0];
    w.x[s.first + s.count - 1][1].max(w.x[s.first + 24][1])
}

fn run(w: &mut Island, seconds: Real, dt: Real, substeps: u32) {
    for _ in 0..(seconds / dt) as u32 {
        w.step(dt, substeps);
    }
}

fn near(got: Real, want: Real, part: Real, what: &str) {
    assert!((got - want).abs() <= part * want.abs(), "{what}: {got}, expected {want} within {part}");
}

fn on_soft(f: Feature) -> bool {
    matches!(f, Feature::Node(_))
}

fn interface(w: &Island) -> Real {
    -w.force(on_soft, |o| o == Obstacle::Rigid(0)).y
}

fn floor(w: &Island) -> Real {
    w.force(|_| true, |o| o == Obstacle::Plane).y
}

// 1. statics

#[test]
fn a_block_of_2_kg_on_a_soft_cube_sinks_by_mgl_over_ea() {
    for dt in [0.005, 0.0167] {
        for substeps in [1, 2, 4] {
            let mut empty = cube(1e5, Settings::default());
            run(&mut empty, 3.0, dt, substeps);
            near(0.1 - top(&empty), 1000.0 * G * 0.01 / 2e5, 0.03, "self weight");
            let mut w = loaded(1e5, 2.0, Settings::default());
            run(&mut w, 3.0, dt, substeps);
            near(top(&empty) - (w.rigid[0].pose.position.y - 0.05), 0.001_962, 0.03, "sinking by the block");
            near(interface(&w), 19.62, 0.005, "interface force");
            near(floor(&w), 29.43, 0.005, "floor force");
            assert!(w.penetration() < 1e-6, "penetration {}", w.penetration());
        }
    }
}

#[test]
fn a_block_of_100_kg_rests_without_jitter() {
    for dt in [0.005, 0.0167] {
        let mut w = loaded(1e7, 100.0, Settings::default());
        run(&mut w, 2.0, dt, 1);
        let mut worst: Real = 0.0;
        for _ in 0..100 {
            w.step(dt, 1);
            worst = worst.max(w.rms_speed());
        }
        near(interface(&w), 981.0, 0.005, "interface force");
        near(0.15 - w.rigid[0].pose.position.y, 0.000_981, 0.05, "sinking");
        assert!(worst < 1e-4, "rms speed {worst}");
    }
}

// 2. friction

#[derive(Clone, Copy, Debug)]
enum Slider {
    Particle,
    Box,
    Soft(Real),
}

fn slope(kind: Slider, tangent: Real, settings: Settings) -> Island {
    let mut w = Island::new(settings);
    w.incline(tangent.atan());
    match kind {
        Slider::Particle => {
            w.add_particle(0.01, Vec3::ZERO);
        }
        Slider::Box => {
            w.add_rigid(Shape::Box(Vec3::splat(0.05)), 1.0, Vec3::new(0.0, 0.05, 0.0), Vec3::ZERO);
        }
        Slider::Soft(e) => {
            w.add_soft([4; 3], Vec3::splat(0.1), material(e), Vec3::new(0.0, 0.05, 0.0));
        }
    }
    w
}

fn place(w: &Island, kind: Slider) -> Vec3 {
    match kind {
        Slider::Particle => vec(w.x[0]),
        Slider::Box => w.rigid[0].pose.position,
        Slider::Soft(_) => w.soft_mean(0),
    }
}

fn speed(w: &Island, kind: Slider) -> Real {
    match kind {
        Slider::Particle | Slider::Box => w.v[0][0],
        Slider::Soft(_) => w.soft_velocity(0).x,
    }
}

const SLIDERS: [Slider; 4] = [Slider::Particle, Slider::Box, Slider::Soft(1e5), Slider::Soft(1e6)];

#[test]
fn below_the_friction_angle_nothing_creeps_in_ten_seconds() {
    for kind in SLIDERS {
        for dt in [0.005, 0.0167] {
            let mut w = slope(kind, 0.4, Settings::default());
            run(&mut w, 1.0, dt, 1);
            let from = place(&w, kind);
            run(&mut w, 10.0, dt, 1);
            let creep = (place(&w, kind) - from).length();
            assert!(creep < 1e-4, "{kind:?} {dt}: {creep}");
        }
    }
}

#[test]
fn above_the_friction_angle_bodies_slide_with_g_times_sine_less_mu_cosine() {
    let tangent: Real = 0.7;
    let want = G * (tangent - 0.5) / (1.0 + tangent * tangent).sqrt();
    for kind in SLIDERS {
        for dt in [0.005, 0.0167] {
            let mut w = slope(kind, tangent, Settings::default());
            run(&mut w, 0.3, dt, 1);
            let from = speed(&w, kind);
            for _ in 0..40 {
                w.step(dt, 1);
            }
            near((speed(&w, kind) - from) / (40.0 * dt), want, 0.03, &format!("{kind:?} {dt}"));
        }
    }
}

// 3. momentum

struct Collision {
    dp: f64,
    dl: f64,
    energy: f64,
    penetration: Real,
}

fn collide(e: Real, dt: Real, settings: Settings) -> Collision {
    let mut w = Island::new(settings);
    w.plane = None;
    w.gravity = Vec3::ZERO;
    w.add_soft([4; 3], Vec3::splat(0.1), material(e), Vec3::ZERO);
    w.add_rigid(Shape::Ball(0.05), 1.0, Vec3::new(-0.11, 0.05, 0.0), Vec3::new(2.0, 0.0, 0.0));
    let (p0, l0, e0) = w.totals();
    let off = |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
    let mut worst = Collision { dp: 0.0, dl: 0.0, energy: 0.0, penetration: 0.0 };
    for _ in 0..(0.4 / dt) as u32 {
        w.step(dt, 1);
        let (p, l, e) = w.totals();
        worst.dp = worst.dp.max(off(p, p0) / 2.0);
        worst.dl = worst.dl.max(off(l, l0) / 0.1);
        worst.energy = worst.energy.max(e / e0);
        worst.penetration = worst.penetration.max(w.penetration());
    }
    worst
}

#[test]
fn momentum_and_spin_hold_however_early_cg_stops() {
    let single = to64(Real::EPSILON) > 1e-10;
    for iterations in [5, 10, 20, 200] {
        for (e, dt) in [(1e5, 0.002), (1e5, 0.005), (1e6, 0.002), (1e6, 0.005)] {
            let got = collide(e, dt, Settings { iterations, ..Settings::default() });
            let (p, l) = if single { (1e-5, 1e-4) } else { (1e-10, 1e-10) };
            assert!(got.dp < p, "{iterations} {e} {dt}: momentum {}", got.dp);
            assert!(got.dl < l, "{iterations} {e} {dt}: spin {}", got.dl);
            if iterations >= 20 {
                assert!(got.energy < 1.0 + 1e-4, "{iterations} {e} {dt}: energy {}", got.energy);
            }
        }
    }
}

// 4. mixed

#[test]
fn a_box_on_a_plate_on_a_jelly_feels_the_jelly() {
    for dt in [0.005, 0.0167] {
        let mut w = cube(1e5, Settings::default());
        w.add_rigid(Shape::Box(Vec3::new(0.06, 0.005, 0.06)), 0.5, Vec3::new(0.0, 0.105, 0.0), Vec3::ZERO);
        w.add_rigid(Shape::Box(Vec3::splat(0.03)), 1.5, Vec3::new(0.0, 0.14, 0.0), Vec3::ZERO);
        // with this step the box alone would fall; with the plate and jelly under it it rings with them
        run(&mut w, 3.0, dt, 1);
        near(interface(&w), 2.0 * G, 0.005, "jelly under plate");
        near(
            w.force(|f| matches!(f, Feature::Corner(1, _)), |o| o == Obstacle::Rigid(0)).y,
            1.5 * G,
            0.005,
            "box on plate",
        );
        near(floor(&w), 3.0 * G, 0.005, "floor");
        near(0.14 - w.rigid[1].pose.position.y, 0.001_962 + 0.000_490_5, 0.03, "sinking of the box");
        assert!(w.rms_speed() < 1e-4 && w.penetration() < 1e-6);
    }
}

#[test]
fn particles_on_a_box_on_a_jelly_rest() {
    for dt in [0.005, 0.0167] {
        let mut w = loaded(1e5, 2.0, Settings::default());
        for k in 0..9 {
            let (i, j) = (k % 3, k / 3);
            w.add_particle(0.02, Vec3::new(0.02 * i as Real - 0.02, 0.201, 0.02 * j as Real - 0.02));
        }
        run(&mut w, 3.0, dt, 1);
        let soft = w.soft[0].first..w.soft[0].first + w.soft[0].count;
        let is_particle = |f: Feature| matches!(f, Feature::Node(b) if !soft.contains(&b));
        near(w.force(is_particle, |o| o == Obstacle::Rigid(0)).y, 9.0 * 0.02 * G, 0.005, "particles");
        near(floor(&w), (3.0 + 0.18) * G, 0.005, "floor");
        assert!(w.rms_speed() < 1e-4, "{}", w.rms_speed());
    }
}

#[test]
fn a_stack_of_five_on_a_light_plate_on_a_jelly_stands() {
    for dt in [0.005, 0.0167] {
        let mut w = stack(dt, Settings::default());
        let mean = w.rigid[5].pose.position;
        assert!(mean.x.abs() < 1e-3 && mean.z.abs() < 1e-3, "top box is at {mean}");
        near(interface(&w), 5.2 * G, 0.01, "jelly under plate");
        w.step(dt, 1);
        assert!(w.rms_speed() < 1e-3, "{}", w.rms_speed());
    }
}

fn stack(dt: Real, settings: Settings) -> Island {
    let mut w = cube(1e6, settings);
    w.add_rigid(Shape::Box(Vec3::new(0.06, 0.005, 0.06)), 0.2, Vec3::new(0.0, 0.105, 0.0), Vec3::ZERO);
    for k in 0..5 {
        // each box a little smaller, so that its corners meet the face below
        let half = 0.03 - 0.001 * k as Real;
        let below = w.rigid.last().unwrap();
        let Shape::Box(h) = below.shape else { unreachable!() };
        let y = below.pose.position.y + h.y + half;
        w.add_rigid(Shape::Box(Vec3::splat(half)), 1.0, Vec3::new(0.0, y, 0.0), Vec3::ZERO);
    }
    run(&mut w, 4.0, dt, 1);
    w
}

// pinned nodes and anchors

#[test]
fn a_box_anchored_under_a_hanging_jelly_stretches_it() {
    for dt in [0.005, 0.0167] {
        let mut w = Island::new(Settings::default());
        w.plane = None;
        w.add_soft([4; 3], Vec3::splat(0.1), material(1e5), Vec3::new(0.0, 0.05, 0.0));
        w.add_rigid(Shape::Box(Vec3::new(0.05, 0.05, 0.05)), 1.0, Vec3::new(0.0, -0.05, 0.0), Vec3::ZERO);
        for b in 0..w.soft[0].count {
            if w.x[b][1] > 0.099 {
                w.x[b][3] = 0.0;
                w.v[b][3] = 0.0;
            }
            if w.x[b][1] < 0.001 {
                let local = vec(w.x[b]) + Vec3::new(0.0, 0.05, 0.0);
                w.anchors.push((b, 0, local, Vec3::ZERO, Vec3::ZERO));
            }
        }
        w.margin = -1.0;
        run(&mut w, 4.0, dt, 1);
        let stretch = -0.05 - w.rigid[0].pose.position.y;
        near(stretch, 0.000_981 + 0.000_490_5, 0.03, "stretch by box and own weight");
        let pull: Real = w.anchors.iter().map(|a| a.4.y).sum::<Real>();
        near(-pull, 9.81, 0.005, "force in the anchors");
        assert!(w.rms_speed() < 1e-4, "{}", w.rms_speed());
    }
}

// 6. bits and memory

#[test]
fn the_same_run_gives_the_same_bits_whatever_the_scratch_held() {
    let mut hashes = vec![];
    for _ in 0..2 {
        let mut w = loaded(1e5, 2.0, Settings::default());
        w.v[w.rigid[0].block][0] = 0.5;
        run(&mut w, 0.5, 0.005, 2);
        hashes.push(w.hash());
    }
    assert_eq!(hashes[0], hashes[1]);
    // scratch and rows are not state: thrown away in the middle, nothing changes
    let mut w = loaded(1e5, 2.0, Settings::default());
    w.v[w.rigid[0].block][0] = 0.5;
    for _ in 0..100 {
        w.forget_work();
        w.step(0.005, 2);
    }
    assert_eq!(w.hash(), hashes[0]);
}

#[test]
fn a_steady_solve_allocates_nothing() {
    let mut w = loaded(1e5, 2.0, Settings::default());
    run(&mut w, 0.2, 0.005, 1);
    for _ in 0..50 {
        w.step(0.005, 1);
        assert_eq!(w.allocated, 0);
    }
}

// 5. figures

#[derive(Default)]
struct Tally {
    steps: u32,
    iterations: u32,
    most: u32,
    passes: u32,
    audit: u32,
    penetration: Real,
}

fn tally(w: &mut Island, seconds: Real, dt: Real, substeps: u32) -> Tally {
    let mut t = Tally::default();
    for _ in 0..(seconds / dt) as u32 {
        w.step(dt, substeps);
        t.steps += 1;
        t.iterations += w.outcome.iterations;
        t.most = t.most.max(w.outcome.iterations);
        t.passes += w.outcome.passes;
        t.audit += w.outcome.audit_iterations;
        t.penetration = t.penetration.max(w.penetration());
    }
    t
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let n = self.steps as f32;
        let (its, passes, audit) = (self.iterations as f32 / n, self.passes as f32 / n, self.audit as f32 / n);
        write!(f, "{its:.1} | {} | {passes:.2} | {audit:.1} | {:.1e}", self.most, self.penetration)
    }
}

const HEAD: &str = "its/substep | most | passes | audit its | worst penetration m";

#[test]
#[ignore = "prints tables; run with --nocapture --ignored"]
fn figures() {
    figures_of_statics();
    figures_of_impact();
    figures_of_friction();
    println!("\n### M01: momentum by truncation\nE | dt | CG cap | dp/p | dL/L | worst E/E0 | penetration m");
    for (e, dt) in [(1e5, 0.002), (1e5, 0.005), (1e6, 0.005)] {
        for iterations in [5, 10, 20, 200] {
            let c = collide(e, dt, Settings { iterations, ..Settings::default() });
            println!(
                "{e:.0e} | {dt} | {iterations} | {:.1e} | {:.1e} | {:.4} | {:.1e}",
                c.dp, c.dl, c.energy, c.penetration
            );
        }
    }
    println!("\n### stack of five on a plate on a jelly\ndt | top x, y, z | rms v | penetration");
    for dt in [0.005, 0.0167] {
        let w = stack(dt, Settings::default());
        println!("{dt} | {} | {:.1e} | {:.1e}", w.rigid[5].pose.position, w.rms_speed(), w.penetration());
    }
}

fn figures_of_statics() {
    println!(
        "\n### M03 / M04, 4 s from rest\nE | kg | dt | substeps | sinking mm | interface N | floor N | rms v | {HEAD}"
    );
    for (e, mass) in [(1e5, 2.0), (1e7, 100.0)] {
        for dt in [0.005, 0.0167] {
            for substeps in [1, 2, 4] {
                let mut w = loaded(e, mass, Settings::default());
                let t = tally(&mut w, 4.0, dt, substeps);
                let sinking = (0.15 - w.rigid[0].pose.position.y - 1000.0 * G * 0.005 / e) * 1e3;
                let (i, fl, v) = (interface(&w), floor(&w), w.rms_speed());
                println!("{e:.0e} | {mass} | {dt} | {substeps} | {sinking:.4} | {i:.3} | {fl:.3} | {v:.1e} | {t}");
            }
        }
    }
    println!(
        "\n### M03 by row stiffness and tolerance (dt 16.7 ms)\nstiffness | carry | tolerance | sinking mm | {HEAD}"
    );
    for stiffness in [1.0, 5.0, 20.0, 100.0] {
        for carry in [0.0, 0.5] {
            for tolerance in [1e-2, 1e-3, 1e-4, 1e-5] {
                let mut w = loaded(1e5, 2.0, Settings { stiffness, carry, tolerance, ..Settings::default() });
                let t = tally(&mut w, 4.0, 0.0167, 1);
                let sinking = (0.15 - w.rigid[0].pose.position.y - 0.000_490_5) * 1e3;
                println!("{stiffness} | {carry} | {tolerance:.0e} | {sinking:.4} | {t}");
            }
        }
    }
}

fn figures_of_impact() {
    println!("\n### box dropped at 1.4 m/s, 3 s\nE | kg | dt | CG cap | guard | lowest | end y | rms v | {HEAD}");
    for (e, mass) in [(1e5, 2.0), (1e7, 100.0)] {
        for dt in [0.005, 0.0167] {
            for iterations in [5, 10, 20, 50, 200] {
                for guard in [0, 2] {
                    let mut w = loaded(e, mass, Settings { iterations, guard, ..Settings::default() });
                    w.rigid[0].pose.position.y += 0.05;
                    let b = w.rigid[0].block;
                    w.v[b][1] = -1.0;
                    w.margin = 0.06;
                    let mut low: Real = 1.0;
                    let mut t = Tally::default();
                    for _ in 0..(3.0 / dt) as u32 {
                        let one = tally(&mut w, 1.5 * dt, dt, 1);
                        t.steps += 1;
                        t.iterations += one.iterations;
                        t.most = t.most.max(one.most);
                        t.passes += one.passes;
                        t.audit += one.audit;
                        t.penetration = t.penetration.max(one.penetration);
                        low = low.min(w.rigid[0].pose.position.y);
                    }
                    let (y, v) = (w.rigid[0].pose.position.y, w.rms_speed());
                    println!("{e:.0e} | {mass} | {dt} | {iterations} | {guard} | {low:.4} | {y:.5} | {v:.1e} | {t}");
                }
            }
        }
    }
}

fn figures_of_friction() {
    println!(
        "\n### friction\nbody | dt | creep in 10 s at 0.8 of the angle m | {HEAD} | a at 1.4 of it / exact | {HEAD}"
    );
    let want = G * (0.7 - 0.5) / (1.0 as Real + 0.49).sqrt();
    for kind in [Slider::Particle, Slider::Box, Slider::Soft(1e5), Slider::Soft(1e6), Slider::Soft(1e7)] {
        for dt in [0.005, 0.0167] {
            let mut w = slope(kind, 0.4, Settings::default());
            run(&mut w, 1.0, dt, 1);
            let from = place(&w, kind);
            let stick = tally(&mut w, 10.0, dt, 1);
            let creep = (place(&w, kind) - from).length();
            let mut w = slope(kind, 0.7, Settings::default());
            run(&mut w, 0.3, dt, 1);
            let from = speed(&w, kind);
            let slip = tally(&mut w, 40.5 * dt, dt, 1);
            let a = (speed(&w, kind) - from) / (slip.steps as Real * dt) / want;
            println!("{kind:?} | {dt} | {creep:.1e} | {stick} | {a:.4} | {slip}");
        }
    }
}

#[test]
#[ignore = "prints a table; run with --nocapture --ignored"]
fn figures_without_the_audit_by_rigid_modes() {
    println!("\n### residual as a kick (audit passes 0) or by rigid modes, 4 s");
    println!("E | kg | dt | CG cap | audit passes | box y | rms v");
    let cases = [(1e5, 2.0, 0.005, 200), (1e7, 100.0, 0.0167, 200), (1e5, 2.0, 0.005, 20), (1e7, 100.0, 0.005, 20)];
    for (e, mass, dt, iterations) in cases {
        for audit_passes in [0, 30] {
            let mut w = loaded(e, mass, Settings { audit_passes, iterations, ..Settings::default() });
            run(&mut w, 4.0, dt, 1);
            let (y, v) = (w.rigid[0].pose.position.y, w.rms_speed());
            println!("{e:.0e} | {mass} | {dt} | {iterations} | {audit_passes} | {y:.4} | {v:.1e}");
        }
    }
    println!("\n### the same collision\nE | dt | CG cap | audit passes | dp/p | dL/L | worst E/E0");
    for iterations in [5, 10, 20, 200] {
        for audit_passes in [0, 30] {
            let c = collide(1e5, 0.005, Settings { audit_passes, iterations, ..Settings::default() });
            println!("1e5 | 0.005 | {iterations} | {audit_passes} | {:.1e} | {:.1e} | {:.4}", c.dp, c.dl, c.energy);
        }
    }
    println!("\n### stiff sliding at 16.7 ms (E 1e7), a / exact\nstiffness | substeps | a");
    for stiffness in [5.0, 20.0] {
        for substeps in [1, 4] {
            let kind = Slider::Soft(1e7);
            let mut w = slope(kind, 0.7, Settings { stiffness, ..Settings::default() });
            run(&mut w, 0.3, 0.0167, substeps);
            let from = speed(&w, kind);
            run(&mut w, 0.67, 0.0167, substeps);
            let want = G * 0.2 / (1.49 as Real).sqrt();
            println!("{stiffness} | {substeps} | {:.4}", (speed(&w, kind) - from) / (40.0 * 0.0167) / want);
        }
    }
}
