//! Substeps that cloths and ropes of position based dynamics need while their motion is stopped by contact, within the
//! limit of `Settings::sheet_substeps`.
//!
//! One sweep a substep propagates a tension by one edge, so that a cloth that is stopped at one position stretches by
//! the displacement of the other nodes in a substep. The number of substeps follows from that displacement, with v̄ the
//! mean velocity and l the mean edge, and from the present stretch:
//!
//! ```text
//!   by speed    dt max|v − v̄| / (SHARE l)
//!   by stretch  from least to most while the worst edge is beyond its limit by BEYOND
//! ```

use crate::guard::motion_sums::FastestFromMean;
use crate::math::lane3::{dot, sub};
use crate::math::{Block, Kernel, LANES, Lane, Real, run};
use crate::model::Model;
use crate::settings::Settings;
use crate::solver::pool::Pool;
use crate::state::State;
use crate::tuning::cloth_substeps::{KEEP, SHARE};
use crate::work::{BodyWork, DetectWork, EdgeGroup, SkinWork, SoftBodyWork, SoftWork};

/// Stretch beyond the limit, in limits, above which the number of substeps rises, and at which it is the maximum.
const BEYOND: [Real; 2] = [0.2, 0.5];

/// Substeps that this step needs for its cloths and ropes; the default number when there are none.
pub(crate) fn ask(
    model: &Model,
    state: &State,
    pool: &Pool,
    bodies: &BodyWork,
    detect: &mut DetectWork,
    soft: &SoftWork,
    settings: &Settings,
) -> u32 {
    let (least, most) = (settings.substeps, settings.sheet_substeps);
    if most <= least {
        return least;
    }
    let soft = &soft.models;
    let skins = &mut detect.skins;
    let BodyWork { pose, velocity, active, .. } = bodies;
    let (soft, blocks) = (&soft[..], [&pose[..], &velocity[..]]);
    pool.chunks(skins, 1, &|slot, skin| {
        let Some(skin) = &mut skin[0] else { return };
        skin.asked = None;
        if active[slot] {
            skin.asked = needed(model, (soft, blocks), skin, settings, slot as u32);
        }
    });
    let Some(needed) = skins.iter().flatten().filter_map(|skin| skin.asked).max() else { return least };
    // a cloth that was stopped needs several steps to come to rest
    let before = if state.h > 0.0 { (KEEP * settings.dt / state.h) as u32 } else { 0 };
    needed.max(before).clamp(least, most)
}

/// Substeps that one body needs; none for a body without a limit on stretch.
fn needed(
    model: &Model,
    of_bodies: (&[Option<SoftBodyWork>], [&[Block]; 2]),
    skin: &mut SkinWork,
    settings: &Settings,
    slot: u32,
) -> Option<u32> {
    // surfels that are not nodes have no blocks of their own
    let mut blocks = std::mem::take(&mut skin.blocks);
    if !skin.all_nodes {
        for (to, from) in blocks.iter_mut().zip([&skin.x, &skin.v]) {
            to.clear();
            to.extend(from.iter().map(|x| x.extend(0.0).to_array()));
        }
    }
    let needed = needed_at(model, of_bodies, (skin, &blocks), settings, slot);
    skin.blocks = blocks;
    needed
}

fn needed_at(
    model: &Model,
    (soft, blocks_of_all): (&[Option<SoftBodyWork>], [&[Block]; 2]),
    (skin, blocks): (&mut SkinWork, &[Vec<Block>; 2]),
    settings: &Settings,
    slot: u32,
) -> Option<u32> {
    let (least, most) = (settings.substeps, settings.sheet_substeps);
    let (nodes, held) = (model.nodes_at(slot)?, soft[slot as usize].as_ref()?);
    let limit = held.model.traits().stretch_limit?;
    let of_nodes = model.blocks_of(nodes);
    let [x, v] =
        if skin.all_nodes { blocks_of_all.map(|b| &b[of_nodes.clone()]) } else { blocks.each_ref().map(|s| &s[..]) };
    // relative to the mean velocity; the cast of NaN or of a too large number saturates
    let fastest = run(FastestFromMean(v), settings.lanes).sqrt();
    let by_speed = (settings.dt * fastest / (SHARE * skin.mean_edge)).ceil() as u32;
    if by_speed >= most {
        return Some(most);
    }
    let beyond = run(Stretch { edges: skin.edge_groups(nodes), x }, settings.lanes) / limit - 1.0;
    let share = ((beyond - BEYOND[0]) / (BEYOND[1] - BEYOND[0])).clamp(0.0, 1.0);
    Some(by_speed.max(least + (share * (most - least) as Real).ceil() as u32))
}

/// Stretch of the most stretched edge, as a fraction of its rest length.
struct Stretch<'a> {
    edges: &'a [EdgeGroup],
    /// Positions of the nodes [m].
    x: &'a [Block],
}

impl Kernel for Stretch<'_> {
    type Output = Real;

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) -> Real {
        let mut most = [1.0; LANES];
        for EdgeGroup { ends, per_square } in self.edges {
            let mut at = 0;
            while at < LANES {
                let d = sub(L::gather_xyz(t, self.x, &ends[1][at..]), L::gather_xyz(t, self.x, &ends[0][at..]));
                // NaN counts as no stretch
                let ratio = dot(d, d) * L::load(t, &per_square[at..]);
                L::load(t, &most[at..]).max(ratio).store(&mut most[at..]);
                at += L::COUNT;
            }
        }
        most.iter().fold(1.0, |most: Real, ratio| most.max(*ratio)).sqrt() - 1.0
    }
}
