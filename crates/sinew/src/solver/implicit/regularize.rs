//! Softness of hard rows, from the effective mass of their blocks or of the bodies that press on them.

use super::space::{NOBODY, Space};
use super::{Scratch, Settings, System};
use crate::constraint::{Bounds, RowBuffer, RowId, Term};
use crate::deformable::Modes;
use crate::math::{Real, Vec3};

/// Loads the bodies and assigns a softness to every hard row (softness 0); must precede [`super::solve`] with the same
/// rows.
///
/// softness = Σ jᵀ A_bb⁻¹ j / stiffness, A_bb the implicit mass (elasticity included) of each block of the row, but at
/// least that of a row between rigid bodies of the same masses: with E = 1e9 Pa and ν = 0.499 A_bb is 1e8 times the
/// mass, and rows of that stiffness are beyond the resolution of single precision (they threw off their load,
/// `docs/stability.md`). The row's impulse on entry is that of the previous step: it enters the bias, never v. Disc
/// rows have a spring from their stick point instead and no start impulse.
///
/// *Between two bodies* a light node has to transmit the load of one to the other. A row softened by the node's own
/// mass is a thousand times too soft for that: a cloth of 0.4 g per node penetrated 6 mm into the jelly under a tray
/// (`scenes/mixed.toml`). Such a block gets the effective mass of the lighter of the two heaviest bodies that press on
/// it, if one of them is soft. (Between two rigid bodies a squashed solid would get the mass of one of them and be
/// thrown off: nine points of the stability grid.)
pub fn regularize(
    system: &System<'_>,
    rows: &mut RowBuffer,
    block_count: usize,
    settings: &Settings,
    scratch: &mut Scratch,
) {
    let s = &mut scratch.fine;
    s.reset(system, block_count, rows.len());
    press(system.operators.len(), rows, s, &mut scratch.pressed);
    scratch.gives.clear();
    scratch.gives.extend(system.operators.iter().map(|placed| placed.operator.modes().map_or(0.0, |m| most_give(&m))));
    for id in 0..rows.len() {
        if rows.rows()[id].softness != 0.0 {
            continue;
        }
        let terms = rows.terms(id as RowId);
        let give: Real = terms.iter().map(|t| scratch.pressed[t.block as usize].give(t, s)).sum();
        let answer: Real = terms.iter().map(|t| t.jacobian.dot(t.response)).sum();
        let soft_terms = terms.iter().filter(|t| s.owner[t.block as usize] != NOBODY).count();
        if !(give > 0.0 && answer > 0.0) {
            continue;
        }
        let bounds = rows.rows()[id].bounds;
        let tangential = matches!(bounds, Bounds::Disc { .. } | Bounds::Mate);
        let touches = tangential || matches!(bounds, Bounds::AtLeast(_));
        let soft = match soft_terms {
            0 => 0.0,
            n if n == terms.len() && touches => give / settings.soft_stiffness,
            _ => give / settings.stiffness,
        };
        // a material so stiff that the body moves as one piece: its row need not be stiffer than one between rigid
        // bodies
        let most = most_rigid_give(&scratch.gives, &s.owner, terms) / settings.rigid_stiffness;
        let own =
            if soft >= most { soft } else { soft.max(rigid_give(system, &s.owner, terms) / settings.rigid_stiffness) };
        let own = own / if tangential { settings.tangential } else { 1.0 };
        // a pair is one spring: both components have the stiffness of the first, or its law would have no potential
        let softness = if bounds == Bounds::Mate { rows.rows()[id - 1].softness } else { own };
        let row = &mut rows.rows_mut()[id];
        row.softness = softness;
        row.diagonal = answer + row.softness;
        // friction of contact points has a spring from the stick point instead, and begins without an impulse
        let carried = row.softness * row.impulse;
        row.bias -= carried;
        if !tangential {
            row.correction -= carried;
        }
    }
}

/// Largest velocity that a unit impulse on any node gives to a body's rigid modes: 1/m + R²/I, R the longest lever arm
/// [1/kg].
fn most_give(modes: &Modes<'_>) -> Real {
    let reach = modes.arms.iter().fold(0.0, |most: Real, arm| most.max(arm.length_squared()));
    // the trace of an inverse is at least its largest eigenvalue
    let turns = modes.inertia.inverse().map_or(0.0, |inverse| inverse.xx + inverse.yy + inverse.zz);
    1.0 / modes.mass + reach * turns
}

/// Upper bound of [`rigid_give`], without reading the lever arms: (Σ|j|)² ≤ n Σ|j|² for the n terms on soft bodies.
fn most_rigid_give(gives: &[Real], owner: &[u32], terms: &[Term]) -> Real {
    let (mut rigid, mut squares, mut count, mut largest): (Real, Real, Real, Real) = (0.0, 0.0, 0.0, 0.0);
    for t in terms {
        match gives.get(owner[t.block as usize] as usize) {
            Some(give) => {
                squares += t.jacobian.length_squared();
                count += 1.0;
                largest = largest.max(*give);
            }
            None => rigid += t.jacobian.dot(t.response),
        }
    }
    rigid + count * squares * largest
}

/// Response of a row when each of its bodies is rigid: Σ jᵀ M⁻¹ j over rigid modes [1/kg].
fn rigid_give(system: &System<'_>, owner: &[u32], terms: &[Term]) -> Real {
    let mut give: Real = 0.0;
    for (k, term) in terms.iter().enumerate() {
        let of = owner[term.block as usize];
        if of == NOBODY {
            give += term.jacobian.dot(term.response);
            continue;
        }
        let theirs = |t: &&Term| owner[t.block as usize] == of;
        let placed = &system.operators[of as usize];
        let Some(modes) = placed.operator.modes().filter(|_| !terms[..k].iter().any(|t| theirs(&t))) else { continue };
        let (mut push, mut twist) = (Vec3::ZERO, Vec3::ZERO);
        for t in terms[k..].iter().filter(theirs) {
            let (own, lever) = modes.to_wrench((t.block - placed.first) as usize, t.jacobian);
            push += own;
            twist += lever;
        }
        give += push.length_squared() / modes.mass;
        if let Some(inverse) = modes.inertia.inverse() {
            give += twist.dot(inverse.mul(twist));
        }
    }
    give
}

/// The two heaviest bodies that press on a block through its contacts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pressed {
    /// The heaviest, by its identifier from `Space::body`.
    by: u32,
    /// Their implicit masses at the contact, the second zero when there is only one; infinite for a fixed body [kg].
    first: Real,
    second: Real,
    /// Whether each of them is soft.
    soft: [bool; 2],
}

impl Pressed {
    fn note(&mut self, by: u32, mass: Real, soft: bool) {
        if self.first > 0.0 && self.by == by {
            self.first = self.first.max(mass);
        } else if mass > self.first {
            (self.second, self.first, self.by) = (self.first, mass, by);
            self.soft = [soft, self.soft[0]];
        } else if mass > self.second {
            (self.second, self.soft[1]) = (mass, soft);
        }
    }

    /// Response of a term on its block, at most that of the load transmitted through it [1/kg].
    fn give(&self, term: &Term, s: &Space) -> Real {
        let own = own_give(term, s);
        let passes = self.second > 0.0 && self.second.is_finite() && (self.soft[0] || self.soft[1]);
        if passes { own.min(term.jacobian.length_squared() / self.second) } else { own }
    }
}

/// jᵀ A_bb⁻¹ j.
fn own_give(term: &Term, s: &Space) -> Real {
    term.jacobian.dot(s.base_inverse[term.block as usize] * term.jacobian)
}

/// Determines the bodies that press on each block, from the contacts between two bodies.
fn press(operators: usize, rows: &RowBuffer, s: &Space, pressed: &mut Vec<Pressed>) {
    pressed.clear();
    pressed.resize(s.owner.len(), Pressed::default());
    for (id, row) in rows.rows().iter().enumerate() {
        if !matches!(row.bounds, Bounds::AtLeast(_)) {
            continue;
        }
        let terms = rows.terms(id as RowId);
        for t in terms.iter().filter(|t| s.owner[t.block as usize] != NOBODY) {
            let own = s.body(t.block);
            let mut others = terms.iter().filter(|o| s.body(o.block) != own).peekable();
            let Some(by) = others.peek().map(|o| s.body(o.block)) else { continue };
            let give: Real = others.map(|o| own_give(o, s)).sum();
            let soft = (by as usize) < operators;
            pressed[t.block as usize].note(by, 1.0 / give, soft);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Sym3;

    #[test]
    fn the_response_of_a_row_on_rigid_modes_is_below_its_bound() {
        // a rod of eight nodes with a small inertia about its axis: lever arms and inertia given explicitly
        let arms: Vec<Vec3> = (0..8).map(|k| Vec3::new(0.2 * k as Real - 0.7, 0.01 * (k % 2) as Real, 0.02)).collect();
        let inertia = Sym3 { xx: 0.01, yy: 0.3, zz: 0.31, ..Sym3::ZERO };
        let modes = Modes { arms: &arms, mass: 2.0, inertia, momentum: Vec3::ZERO, spin: Vec3::ZERO };
        let gives = [most_give(&modes)];
        let part = |k: usize| ((k * 7919) % 1000) as Real / 500.0 - 1.0;
        for row in 0..200 {
            let count = 1 + row % 4;
            let terms: Vec<Term> = (0..count)
                .map(|k| Term {
                    block: ((row + 3 * k) % 8) as u32,
                    jacobian: Vec3::new(part(row + k), part(row + 7 * k + 1), part(row + 2)),
                    response: Vec3::ZERO,
                })
                .collect();
            let (mut push, mut twist) = (Vec3::ZERO, Vec3::ZERO);
            for t in &terms {
                let (own, lever) = modes.to_wrench(t.block as usize, t.jacobian);
                (push, twist) = (push + own, twist + lever);
            }
            let turned = inertia.inverse().expect("positive").mul(twist);
            let give = push.length_squared() / modes.mass + twist.dot(turned);
            let most = most_rigid_give(&gives, &[0; 8], &terms);
            assert!(give <= most * (1.0 + 8.0 * Real::EPSILON), "row {row}: {give} {most}");
        }
        // rigid bodies contribute their own response
        let alone = [Term { block: 0, jacobian: Vec3::X, response: Vec3::X * 0.25 }];
        assert_eq!(most_rigid_give(&gives, &[NOBODY; 8], &alone), 0.25);
    }
}
