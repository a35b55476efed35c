//! Seams: pairs of surface points of one body and triangles of another.

use crate::collision::surface::point_triangle;
use crate::constraint::Site;
use crate::error::{Error, positive};
use crate::math::{Real, Vec3};
use crate::model::{BodyId, Model};
use crate::state::State;

/// Points of `a`, each with the nearest point of `b`'s triangles within the search radius.
pub(super) fn pairs(
    model: &Model,
    state: &State,
    a: BodyId,
    b: BodyId,
    reach: Real,
) -> Result<Vec<(Site, Site)>, Error> {
    positive("seam.reach", reach)?;
    let (nodes_a, nodes_b) = (model.nodes(a)?, model.nodes(b)?);
    if a == b {
        let reason = "a surface has no seam with itself: name the pairs".to_owned();
        return Err(Error::BadConstraint { constraint: "seam", reason });
    }
    let (mut from, mut to) = (Vec::new(), Vec::new());
    nodes_a.surface.positions(&state.node_x[nodes_a.span()], &mut from);
    nodes_b.surface.positions(&state.node_x[nodes_b.span()], &mut to);
    let mut found = Vec::new();
    for (surfel, &p) in from.iter().enumerate() {
        let mut best: Option<(Real, usize, [Real; 3])> = None;
        for (triangle, corners) in nodes_b.surface.triangles().iter().enumerate() {
            let corners = corners.map(|s| to[s as usize]);
            let weights = point_triangle(p, corners);
            let foot = corners.iter().zip(weights).fold(Vec3::ZERO, |sum, (&c, w)| sum + c * w);
            let away = (foot - p).length();
            if away <= reach && best.is_none_or(|(least, ..)| away < least) {
                best = Some((away, triangle, weights));
            }
        }
        if let Some((_, triangle, weights)) = best {
            let face = Site::Face { body: b, triangle: triangle as u32, weights };
            found.push((Site::Surfel { body: a, surfel: surfel as u32 }, face));
        }
    }
    Ok(found)
}
