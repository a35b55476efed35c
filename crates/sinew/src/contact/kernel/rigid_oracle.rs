//! The contact kernel against the oracle: random contacts written as plain rows must get the same impulses.

use crate::constraint::{Bounds, RowBuffer, Term};
use crate::contact::kernel::rigid::{BodyBlocks, Job};
use crate::contact::kernel::rigid_batch::{ContactBatch, ContactParams, PointLanes};
use crate::contact::kernel::rigid_set::{self, Task};
use crate::math::{BROAD, Block, Blocks, Quat, Real, Sixteen3, Sym3, Vec3, any_orthonormal};
use crate::solver::pgs;
use proptest::prelude::*;

/// Writes one lane of a prepared batch as plain rows, in the order in which the kernel relaxes them: what the oracle
/// checks the kernel against.
fn lower(
    batch: &ContactBatch,
    lane: usize,
    velocity: &[Block],
    inertia: &[Block],
    params: &ContactParams,
    relax: bool,
    out: &mut RowBuffer,
) {
    let pick = |a: &Sixteen3| Vec3::new(a[0][lane], a[1][lane], a[2][lane]);
    let (n, t1) = (pick(&batch.normal), pick(&batch.tangent));
    let t2 = n.cross(t1);
    let body = |block: u32, axis: Vec3, arm: Vec3| {
        let (linear, i0, i1) = (velocity[block as usize], inertia[block as usize], inertia[block as usize + 1]);
        let tensor = Sym3 { xx: i0[0], yy: i0[1], zz: i0[2], xy: i0[3], xz: i1[0], yz: i1[1] };
        let angular = arm.cross(axis);
        [
            Term { block, jacobian: axis, response: axis * linear[3] },
            Term { block: block + 1, jacobian: angular, response: tensor.mul(angular) },
        ]
    };
    let terms = |point: &PointLanes, axis: Vec3| {
        let a = body(batch.load_a[lane], -axis, pick(&point.arm_a));
        let b = body(batch.load_b[lane], axis, pick(&point.arm_b));
        [a[0], a[1], b[0], b[1]]
    };
    let order: Vec<&PointLanes> = batch.points[..batch.count].iter().filter(|p| p.used[lane] > 0.0).collect();
    let order: Vec<&PointLanes> = if relax { order.into_iter().rev().collect() } else { order };
    let first = out.len() as u32;
    for point in &order {
        // an open gap may close; penetration is corrected softly: mass_scale = 1/(1 + softness/response)
        let gap = point.gap[lane];
        let push = ((gap + batch.slop[lane]).min(0.0) * params.bias_rate).max(-params.push_speed);
        let (bias, correction) = if gap > 0.0 { (gap * params.inv_h, 0.0) } else { (push, push) };
        let softness = if gap > 0.0 { 0.0 } else { (1.0 / params.mass_scale - 1.0) / point.mass[lane] };
        let id = out.push(&terms(point, n), bias, correction, softness, Bounds::AtLeast(0.0));
        out.rows_mut()[id as usize].impulse = point.impulse[0][lane];
    }
    if !relax {
        return;
    }
    for (k, point) in order.iter().enumerate() {
        let friction =
            if point.slipping[lane] > 0.0 { batch.kinetic_friction[lane] } else { batch.static_friction[lane] };
        let bounds = Bounds::Disc { normal: first + k as u32, friction, radius: 0.0 };
        for (axis, bounds, which) in [(t1, bounds, 0), (t2, Bounds::Mate, 1)] {
            // the tangential spring acts in relaxing sweeps too, so its term is bias, not correction
            let bias = params.friction_rate * point.tangential_displacement[which][lane];
            let id = out.push(&terms(point, axis), bias, 0.0, 0.0, bounds);
            out.rows_mut()[id as usize].impulse = point.impulse[1 + which][lane];
        }
    }
}

/// Bodies of random mass, pose and motion; sixteen contacts between them.
fn scene(seed: u32) -> (ContactBatch, [Vec<Block>; 3]) {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(17);
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as Real / 8_388_608.0 - 1.0
    };
    let (mut velocity, mut pose, mut inertia) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..2 * BROAD {
        let q = Quat::from_xyzw(random(), random(), random(), 1.0).normalize();
        let inv = Sym3::diagonal(Vec3::new(2.0 + random(), 2.0 + random(), 2.0 + random())).rotated(q);
        velocity.extend([[random(), random(), random(), 1.5 + random()], [random(), random(), random(), 0.0]]);
        pose.extend([[random(), random(), random(), 0.0], q.to_array()]);
        inertia.extend([[inv.xx, inv.yy, inv.zz, inv.xy], [inv.xz, inv.yz, 0.0, 0.0]]);
    }
    let mut batch = ContactBatch { count: 3, ..ContactBatch::default() };
    for lane in 0..BROAD {
        let (a, b) = (4 * lane as u32, 4 * lane as u32 + 2);
        (batch.load_a[lane], batch.load_b[lane]) = (a, b);
        (batch.store_a[lane], batch.store_b[lane]) = (a, b);
        batch.origin[lane] = lane as u32;
        let n = Vec3::new(random(), random(), random()).normalize_or(Vec3::Y);
        let t = any_orthonormal(n);
        for axis in 0..3 {
            batch.local_normal[axis][lane] = n[axis];
            batch.local_tangent[axis][lane] = t[axis];
        }
        batch.static_friction[lane] = 0.5 + 0.4 * random();
        batch.kinetic_friction[lane] = 0.8 * batch.static_friction[lane];
        batch.lean[lane] = 0.5;
        for point in &mut batch.points[..1 + lane % 3] {
            for axis in 0..3 {
                point.core_a[axis][lane] = random();
                point.core_b[axis][lane] = random();
            }
            point.used[lane] = 1.0;
            point.impulse[0][lane] = random().abs();
            point.impulse[1][lane] = 0.1 * random();
            point.tangential_displacement[0][lane] = 0.01 * random();
            point.slipping[lane] = if random() > 0.0 { 1.0 } else { 0.0 };
        }
    }
    (batch, [velocity, pose, inertia])
}

fn do_job(
    job: Job,
    batch: &mut ContactBatch,
    [velocity, pose, inertia]: &mut [Vec<Block>; 3],
    (p, lanes): (&ContactParams, bool),
) {
    let mut position_velocity = velocity.clone();
    let bodies = BodyBlocks {
        velocity: Blocks::new(velocity),
        position_velocity: Blocks::new(&mut position_velocity),
        pose: Blocks::new(pose),
        inertia: Blocks::new(inertia),
    };
    let task = Task { job, bodies, params: p, wanted: false };
    rigid_set::run(task, std::slice::from_mut(batch), &mut [0.0], lanes);
}

fn params() -> ContactParams {
    ContactParams {
        first: true,
        h: 0.004,
        inv_h: 250.0,
        bias_rate: 30.0,
        softness: 0.25,
        mass_scale: 0.8,
        impulse_scale: 0.2,
        push_speed: 3.0,
        friction_rate: 10.0,
        // the plain rows have no softness for pairs of rows: compared with a rigid friction row
        friction_mass: 1.0,
        friction_impulse: 0.0,
        friction_stretch: 1.0,
        restitution_speed: 0.1,
    }
}

proptest! {
    #[test]
    fn the_kernel_gives_the_impulses_of_plain_rows(seed in 0u32..1_000_000) {
        let params = params();
        let (mut batch, mut arrays) = scene(seed);
        do_job(Job::Prepare, &mut batch, &mut arrays, (&params, true));
        for (job, pass) in [(Job::Correct, pgs::Pass::Correct), (Job::Relax, pgs::Pass::Relax)] {
            let mut rows = RowBuffer::default();
            for lane in 0..BROAD {
                lower(&batch, lane, &arrays[0], &arrays[2], &params, job == Job::Relax, &mut rows);
            }
            let mut want = arrays[0].clone();
            pgs::sweep(&mut rows, &mut want, pass);
            do_job(job, &mut batch, &mut arrays, (&params, true));
            let scale = want.iter().flatten().fold(1.0, |m: Real, x| m.max(x.abs()));
            for (got, want) in arrays[0].iter().flatten().zip(want.iter().flatten()) {
                prop_assert!((got - want).abs() < 2e-4 * scale, "{:?}: {} and not {}", job, got, want);
            }
        }
    }

    #[test]
    fn lanes_give_the_same_bits_as_scalar_code(seed in 0u32..1_000_000) {
        let params = params();
        let [wide, one] = [true, false].map(|lanes| {
            let (mut batch, mut arrays) = scene(seed);
            batch.bounces = true;
            batch.restitution = [0.5; BROAD];
            for job in [Job::Prepare, Job::Correct, Job::SettleRelax, Job::Relax, Job::Restitute] {
                do_job(job, &mut batch, &mut arrays, (&params, lanes));
            }
            arrays[0].concat().iter().map(|v| v.to_bits()).collect::<Vec<_>>()
        });
        prop_assert_eq!(wide, one);
    }
}
