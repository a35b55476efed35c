//! What is near a tool: features of rigid shapes and surface points of soft bodies, as contact points without force.

use super::tool::{ToolBody, frame};
use crate::error::Error;
use crate::geometry::{Face, Geometry};
use crate::snapshot::{ContactPoint, Snapshot};
use sinew::{BodyId, BodyView, Shape};
use sinew_math::Frame;
use sinew_math::{Wide3, widen};

/// Identity of a feature: body, tool and number of the feature on both.
pub(super) fn identity(body: BodyId, tool: usize, feature: u64) -> u64 {
    let (index, _) = body.to_parts();
    u64::from(index) << 40 | (tool as u64) << 36 | feature & 0xf_ffff_ffff
}

/// Adds the features of a rigid body that are within reach of a tool.
pub(super) fn rigid(
    snapshot: &mut Snapshot,
    (k, tool): (usize, &ToolBody),
    body: &BodyView<'_>,
    reach: f64,
    slot: u32,
) -> Result<(), Error> {
    let pose = frame(&body.pose()?);
    let (v, w) = (widen(body.velocity()), widen(body.spin()));
    let center = widen(body.center_of_mass());
    for (part, (place, shape)) in body.shapes().enumerate() {
        let inner = frame(&place);
        let at = Frame { position: pose.point(inner.position), rotation: pose.rotation * inner.rotation };
        let group = match shape {
            Shape::Box { .. } => 1 + body.id().to_parts().0 * 16 + part as u32,
            _ => 0,
        };
        let mut feature = (part as u64) << 8;
        for geometry in features(&tool.probe, shape, &at) {
            feature += 1;
            let own = snapshot.tools[k];
            let touch = geometry.touch(&own, &Frame::default());
            if touch.gap > reach && group == 0 {
                continue;
            }
            let velocity = v + w.cross(geometry.reference() - center);
            let point = ContactPoint::new(identity(body.id(), k, feature), geometry);
            let friction = tool.probe.friction;
            snapshot.push(ContactPoint { tool: k as u32, group, velocity, friction, body: slot, ..point })?;
        }
    }
    Ok(())
}

/// Pairs of features of a probe and a rigid shape that the fast loop can evaluate; none for other shapes.
fn features(probe: &super::Probe, shape: &Shape, at: &Frame) -> Vec<Geometry> {
    let ends = probe.segment();
    let tips: &[Wide3] = if probe.length > 0.0 { &ends } else { &ends[..1] };
    let on_faces = |faces: Vec<Face>| {
        let on = |face: Face| tips.iter().map(move |&tip| Geometry::OnFace { tip, radius: probe.radius, face });
        faces.into_iter().flat_map(on).collect()
    };
    let rounds = |a: Wide3, b: Wide3, radius: f64| {
        vec![Geometry::Rounds { tool: ends, other: [at.point(a), at.point(b)], radius: probe.radius + radius }]
    };
    match shape {
        Shape::HalfSpace { normal } => {
            let normal = at.rotation * widen(*normal).normalize();
            let axis = normal.any_orthonormal_vector();
            on_faces(vec![Face { point: at.position, normal, axis, half: [f64::INFINITY; 2] }])
        }
        Shape::Box { half_extents } => on_faces(box_faces(widen(*half_extents), at)),
        Shape::Ball { radius } => rounds(Wide3::ZERO, Wide3::ZERO, f64::from(*radius)),
        Shape::Capsule { half_height, radius } => {
            let end = Wide3::Y * f64::from(*half_height);
            rounds(-end, end, f64::from(*radius))
        }
        _ => Vec::new(),
    }
}

fn box_faces(half: Wide3, at: &Frame) -> Vec<Face> {
    let mut faces = Vec::with_capacity(6);
    for side in 0..6 {
        let (k, sign) = (side / 2, if side % 2 == 0 { 1.0 } else { -1.0 });
        let axes = [Wide3::X, Wide3::Y, Wide3::Z];
        let (normal, axis) = (axes[k] * sign, axes[(k + 1) % 3]);
        // normal × axis is the third axis up to its sign
        let size = [half[(k + 1) % 3], half[(k + 2) % 3]];
        let point = at.point(normal * half[k]);
        faces.push(Face { point, normal: at.rotation * normal, axis: at.rotation * axis, half: size });
    }
    faces
}

/// A surface point of a soft body near a tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearPoint {
    pub surfel: u32,
    pub place: Wide3,
    pub gap: f64,
}

/// Surface points of a soft body within reach of a tool, the nearest first, at most `most`.
pub(super) fn surface(
    tool: (&ToolBody, &Frame),
    body: &BodyView<'_>,
    reach: f64,
    most: usize,
    out: &mut Vec<NearPoint>,
) {
    out.clear();
    let (Some(surface), Some(thick)) = (body.surface(), body.node_radius()) else { return };
    let ends = tool.0.probe.segment();
    let radius = tool.0.probe.radius + f64::from(thick);
    for surfel in 0..surface.len() as u32 {
        let Some(place) = body.surface_point(surfel).map(widen) else { continue };
        let pair = Geometry::Rounds { tool: ends, other: [place; 2], radius };
        let gap = pair.touch(tool.1, &Frame::default()).gap;
        if gap <= reach {
            out.push(NearPoint { surfel, place, gap });
        }
    }
    out.sort_by(|a, b| a.gap.total_cmp(&b.gap).then(a.surfel.cmp(&b.surfel)));
    out.truncate(most);
    // in the order of the surface: neighbours of the sweep are neighbours in memory, and the order does not jump
    out.sort_by_key(|p| p.surfel);
}

/// Rest areas of the surface points of a body [m²]: a third of their triangles.
pub(super) fn areas(body: &BodyView<'_>) -> Vec<f64> {
    let Some(surface) = body.surface() else { return Vec::new() };
    let mut areas = vec![0.0; surface.len()];
    let at = |k: u32| body.surface_point(k).map_or(Wide3::ZERO, widen);
    for t in surface.triangles() {
        let [a, b, c] = t.map(at);
        let third = (b - a).cross(c - a).length() / 6.0;
        t.iter().for_each(|k| areas[*k as usize] += third);
    }
    areas
}
