//! Substeps that sheets and ropes of position based dynamics ask for while something catches them, within the budget of
//! `Settings::sheet_substeps`.
//!
//! One sweep a substep carries a pull one edge on, so that what is caught at one place stretches by the way that the others go
//! in a substep. They ask by that way, with v̄ the mean velocity and l the mean edge, and by the stretch that there is:
//!
//! ```text
//!   by speed    dt max|v − v̄| / (SHARE l)
//!   by stretch  from least to most while the worst edge is beyond its limit by BEYOND
//! ```

use crate::math::{Real, Vec3};
use crate::model::{Model, Nodes};
use crate::settings::Settings;
use crate::state::State;
use crate::work::{SkinWork, Work};

/// Part of the mean edge that a node may go in a substep, seen from its body as a whole. With a quarter the irregular cloth of
/// S1 stretched by 5.4 % at worst instead of 4.4.
const SHARE: Real = 0.125;
/// Stretch beyond the limit, in limits, from which on more substeps are asked for, and at which all that are allowed are.
const BEYOND: [Real; 2] = [0.2, 0.5];
/// Part of the substeps of a step that the next one has at least: from 20 to 9 at once an edge was stretched by 6 %.
const KEEP: Real = 0.8;

/// Substeps that this step needs for its sheets and ropes; the usual ones when there are none.
pub(super) fn ask(model: &Model, state: &State, work: &Work, settings: &Settings) -> u32 {
    let (least, most) = (settings.substeps, settings.sheet_substeps);
    if most <= least {
        return least;
    }
    let needed = |&slot: &u32| {
        let (nodes, held) = (model.nodes_at(slot)?, work.soft[slot as usize].as_ref()?);
        let (limit, skin) = (held.model.stretch_limit()?, work.skins[slot as usize].as_ref()?);
        // a cast of what is not a number, or too large, comes out within bounds
        let by_speed = (settings.dt * fastest(skin) / (SHARE * skin.mean_edge)).ceil() as u32;
        if by_speed >= most {
            return Some(most);
        }
        let beyond = stretch(nodes, &skin.x) / limit - 1.0;
        let share = ((beyond - BEYOND[0]) / (BEYOND[1] - BEYOND[0])).clamp(0.0, 1.0);
        Some(by_speed.max(least + (share * (most - least) as Real).ceil() as u32))
    };
    let Some(needed) = work.active_nodes.iter().filter_map(needed).max() else { return least };
    // what was caught is not at rest at once
    let before = if state.h > 0.0 { (KEEP * settings.dt / state.h) as u32 } else { 0 };
    needed.max(before).clamp(least, most)
}

/// Speed of the fastest node, seen from the body as a whole [m/s].
fn fastest(skin: &SkinWork) -> Real {
    let mean = skin.v.iter().sum::<Vec3>() / skin.v.len() as Real;
    skin.v.iter().fold(0.0, |most: Real, v| most.max((*v - mean).length_squared())).sqrt()
}

/// Stretch of the edge that is stretched most, as a share of its length at rest.
fn stretch(nodes: &Nodes, x: &[Vec3]) -> Real {
    let square = |of: &[Vec3], [a, b]: [u32; 2]| (of[b as usize] - of[a as usize]).length_squared();
    let edges = nodes.cells.edges.iter();
    // a quotient that is not a number is no stretch: between two nodes at one place
    edges.fold(1.0, |most: Real, &ends| most.max(square(x, ends) / square(&nodes.rest, ends))).sqrt() - 1.0
}
