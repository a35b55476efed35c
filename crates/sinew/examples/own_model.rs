//! A user-defined model, by itself: a chain whose links follow Hencky's law. `docs/adding-a-model.md` explains it.
//!
//! ```text
//!   U = ½ k L ε²,   ε = ln(l/L),   F = k L ε/l        (k [N], L rest length [m], l present length [m])
//! ```
//!
//! `cargo run --release -p sinew --example own_model` hangs it up and compares with the law.

use sinew::deformable::{Alone, BodyMut, BodyRef, Deformable, StepContext, Traits};
use sinew::{Block, Real, Vec3};

/// A chain of equal links.
#[derive(Debug)]
struct Hencky {
    /// Mass of each node [kg].
    masses: Vec<Real>,
    /// Rest length of a link [m].
    rest: Real,
    /// Force at a small strain of 1 [N].
    stiffness: Real,
    /// Decay rate of motion along a link [1/s].
    damping: Real,
}

fn vec(b: Block) -> Vec3 {
    Vec3::new(b[0], b[1], b[2])
}

impl Hencky {
    /// Strain and direction of the link after node k.
    fn link(&self, x: &[Block], k: usize) -> (Real, Real, Vec3) {
        let between = vec(x[k + 1]) - vec(x[k]);
        // a link without length has no direction: its force is zero until it is deformed
        let length = between.length().max(1e-6 * self.rest);
        ((length / self.rest).ln(), length, between / length)
    }
}

impl Deformable for Hencky {
    fn masses(&self) -> &[Real] {
        &self.masses
    }

    fn traits(&self) -> Traits {
        // 2/ω of the stiffest mode of a chain, ω² = 4 (k/L)/m, with a margin of a third for links under compression
        let stable_step = 0.67 * (self.masses[0] * self.rest / self.stiffness).sqrt();
        Traits { stable_step, ..Traits::default() }
    }

    fn predict(&mut self, ctx: &StepContext<'_>, mut body: BodyMut<'_>) {
        let mut forces = vec![Vec3::ZERO; body.x.len()];
        self.forces(body.read(), &mut forces);
        for k in 0..forces.len() - 1 {
            let (_, _, along) = self.link(body.x, k);
            let speed = (vec(body.v[k + 1]) - vec(body.v[k])).dot(along);
            let drag = along * (speed * self.damping * 0.5 * self.masses[k]);
            forces[k] += drag;
            forces[k + 1] -= drag;
        }
        // after the drag: it must not include the gravity increment of a substep that the links will balance
        body.kick(ctx.h);
        for (v, f) in body.v.iter_mut().zip(forces) {
            // the fourth component is the inverse mass: 0 for pinned nodes
            let gained = f * (v[3] * ctx.h);
            (v[0], v[1], v[2]) = (v[0] + gained.x, v[1] + gained.y, v[2] + gained.z);
        }
    }

    fn energy(&self, body: BodyRef<'_>) -> Real {
        let of = |k| 0.5 * self.stiffness * self.rest * self.link(body.x, k).0.powi(2);
        (0..self.masses.len() - 1).map(of).sum()
    }

    fn forces(&self, body: BodyRef<'_>, out: &mut [Vec3]) -> bool {
        for k in 0..self.masses.len() - 1 {
            let (strain, length, along) = self.link(body.x, k);
            let pull = along * (self.stiffness * self.rest * strain / length);
            out[k] += pull;
            out[k + 1] -= pull;
        }
        true
    }
}

fn main() {
    let (links, rest, mass) = (10, 0.1, 0.05);
    let model = Hencky { masses: vec![mass; links + 1], rest, stiffness: 20.0, damping: 200.0 };
    let places: Vec<Vec3> = (0..=links).map(|k| Vec3::NEG_Y * (rest * k as Real)).collect();
    let h = model.traits().stable_step.min(1e-3);
    let mut chain = Alone::new(model, &places);

    // free, with an initial velocity: linear and angular momentum are conserved
    chain.push(Vec3::X, Vec3::new(0.0, 0.0, 2.0), Vec3::ZERO);
    let (p, l) = chain.momentum();
    (0..1000).for_each(|_| chain.step(h));
    let (p_now, l_now) = chain.momentum();
    println!("momentum {p} -> {p_now}, spin {l} -> {l_now}");
    assert!((p_now - p).length() < 1e-4 * p.length() && (l_now - l).length() < 1e-3 * l.length());

    // suspended: each link carries the weight below it, k L ε/l = F
    let model = Hencky { masses: vec![mass; links + 1], rest, stiffness: 20.0, damping: 200.0 };
    let mut chain = Alone::new(model, &places);
    chain.gravity = Vec3::NEG_Y * 9.81;
    chain.pin(0);
    (0..40_000).for_each(|_| chain.step(h));
    for k in 0..links {
        let length = (chain.position(k + 1) - chain.position(k)).length();
        let force = 20.0 * rest * (length / rest).ln() / length;
        let weight = (links - k) as Real * mass * 9.81;
        println!("link {k}: {length:.4} m, {force:.4} N, weight below {weight:.4} N");
        assert!((force / weight - 1.0).abs() < 1e-3, "{force} {weight}");
    }
}
