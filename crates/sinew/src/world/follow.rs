//! Constraints that follow a body whose numbering changed.

use super::World;
use crate::constraint::{
    AttachTarget, Attachment, Bending, BuiltCustom, Constraint, ConstraintSpec, DistanceSet, PatchJoint, Site, Volume,
};
use crate::math::{Pose, Real, Vec3};
use crate::model::topology::LostConstraints;
use crate::model::{BodyId, Remap};
use crate::state::ToolAnchor;

/// How the parts of a body are named after a change.
pub(super) struct Names<'a> {
    pub old: BodyId,
    pub new: BodyId,
    /// New node of each old one.
    pub nodes: &'a [Option<u32>],
    /// New surface point of each old one.
    pub surfels: &'a [Option<u32>],
    /// The new site of a site of the body.
    pub site: &'a dyn Fn(Site) -> Option<Site>,
    /// All triangles of the surface before and after.
    pub surface: [&'a [[u32; 3]]; 2],
    /// Node of each old surface point; none when it follows several.
    pub single: &'a [Option<u32>],
}

/// A constraint under new names, and the old row of each of its rows.
struct Renamed {
    spec: ConstraintSpec,
    rows: Vec<usize>,
}

impl World {
    /// Rebuilds the constraints of a body under the new names. Rows that remain keep their impulses; a constraint that
    /// cannot follow is removed.
    pub(super) fn follow(&mut self, names: &Names<'_>, remap: &Remap) -> LostConstraints {
        let mut lost = LostConstraints::default();
        self.follow_anchors(names);
        let count = self.model.constraints.slot_count() as u32;
        let mut impulses: Vec<Vec<Real>> =
            (0..count).map(|c| self.state.row_impulses[self.model.rows_of(c)].to_vec()).collect();
        let poses = self.poses();
        for slot in 0..count {
            let Some(constraint) = self.model.constraints.at(slot) else { continue };
            let mut named = false;
            constraint.slots(|s| named |= s == names.old.index);
            if !named {
                continue;
            }
            let id = self.model.constraint_id(slot);
            let old_rows = constraint.traits().rows;
            let built = match constraint {
                Constraint::Custom(custom) => custom.rows.follow(names.old, names.new, remap).map(|rows| {
                    let built = Constraint::Custom(BuiltCustom { rows, ..custom.clone() });
                    (built, (0..old_rows).collect())
                }),
                _ => names.rename(constraint).and_then(|renamed| {
                    let built = renamed.spec.build(&self.view(&poses)).ok()?;
                    Some((built, renamed.rows))
                }),
            };
            let was = std::mem::take(&mut impulses[slot as usize]);
            let Some((built, rows)) = built else {
                self.model.constraints.remove(slot, id.generation);
                self.state.broken[slot as usize] = 0;
                lost.removed.push(id);
                continue;
            };
            if rows.len() < old_rows {
                lost.reduced.push(id);
            }
            impulses[slot as usize] = rows.iter().map(|&row| was[row]).collect();
            if let Some(held) = self.model.constraints.at_mut(slot) {
                *held = built;
            }
        }
        self.state.row_impulses = impulses.concat();
        self.model.refresh_constraints();
        self.work.output.readout.forget_rows();
        self.model.revision += 1;
        lost
    }
}

impl World {
    /// Anchors of tools follow their surface points; one whose points are gone is released.
    fn follow_anchors(&mut self, names: &Names<'_>) {
        let slot = names.old.index;
        let mut tools: Vec<u32> = self.state.tool_anchors.iter().filter(|a| a.body == slot).map(|a| a.tool).collect();
        tools.dedup();
        let moved = |a: &ToolAnchor| {
            let [s, t, u] = a.surfels.map(|s| names.surfel(s));
            Some([s?, t?, u?])
        };
        for tool in tools {
            crate::tool::release(&self.model, &mut self.state, tool, |a| a.body == slot && moved(a).is_none());
        }
        for anchor in self.state.tool_anchors.iter_mut().filter(|a| a.body == slot) {
            anchor.surfels = moved(anchor).unwrap_or(anchor.surfels);
        }
    }
}

impl Names<'_> {
    fn site(&self, site: Site) -> Option<Site> {
        if site.body() == Some(self.old) { (self.site)(site) } else { Some(site) }
    }

    fn node(&self, node: u32) -> Option<u32> {
        self.nodes.get(node as usize).copied().flatten()
    }

    fn surfel(&self, surfel: u32) -> Option<u32> {
        self.surfels.get(surfel as usize).copied().flatten()
    }

    fn rename(&self, constraint: &Constraint) -> Option<Renamed> {
        Some(match constraint {
            Constraint::Distance(d) => {
                let mut spec = d.source.clone();
                (spec.a, spec.b) = (self.site(spec.a)?, self.site(spec.b)?);
                Renamed { spec: ConstraintSpec::Distance(spec), rows: vec![0] }
            }
            Constraint::Attachment(a) => self.attachment(&a.source, a.axis_count()),
            Constraint::DistanceSet(s) => self.distance_set(&s.source),
            Constraint::Bending(b) => self.bending(&b.source),
            Constraint::Volume(v) => Renamed { spec: ConstraintSpec::Volume(self.volume(&v.source)?), rows: vec![0] },
            Constraint::PatchJoint(p) => {
                let spec = ConstraintSpec::PatchJoint(self.patch(&p.source)?);
                Renamed { spec, rows: (0..constraint.traits().rows).collect() }
            }
            // joints and tools have no nodes; a kind without a rule here is removed
            _ => return None,
        })
    }

    fn attachment(&self, source: &Attachment, axes: usize) -> Renamed {
        let (mut spec, mut rows) = (source.clone(), Vec::new());
        spec.pairs.clear();
        for (k, &(held, to)) in source.pairs.iter().enumerate() {
            let to = match to {
                AttachTarget::At(site) => self.site(site).map(AttachTarget::At),
                AttachTarget::Here(body) => Some(AttachTarget::Here(body)),
            };
            if let (Some(held), Some(to)) = (self.site(held), to) {
                spec.pairs.push((held, to));
                rows.extend(axes * k..axes * k + axes);
            }
        }
        Renamed { spec: ConstraintSpec::Attachment(spec), rows }
    }

    fn distance_set(&self, source: &DistanceSet) -> Renamed {
        let mut spec = DistanceSet { body: self.new, pairs: Vec::new(), lengths: Vec::new(), ..source.clone() };
        let mut rows = Vec::new();
        for (k, (&[a, b], &length)) in source.pairs.iter().zip(&source.lengths).enumerate() {
            if let (Some(a), Some(b)) = (self.node(a), self.node(b)) {
                spec.pairs.push([a, b]);
                spec.lengths.push(length);
                rows.push(k);
            }
        }
        Renamed { spec: ConstraintSpec::DistanceSet(spec), rows }
    }

    fn bending(&self, source: &Bending) -> Renamed {
        let mut spec = Bending { body: self.new, folds: Vec::new(), rest: Vec::new(), ..source.clone() };
        let mut rows = Vec::new();
        for (k, (fold, &rest)) in source.folds.iter().zip(&source.rest).enumerate() {
            if let [Some(a), Some(b), Some(c), Some(d)] = fold.map(|n| self.node(n)) {
                spec.folds.push([a, b, c, d]);
                spec.rest.push(rest);
                rows.push(k);
            }
        }
        Renamed { spec: ConstraintSpec::Bending(spec), rows }
    }

    /// A volume enclosed by the whole surface remains so; otherwise all of its points must remain.
    fn volume(&self, source: &Volume) -> Option<Volume> {
        let triangles = if source.triangles == self.surface[0] {
            self.surface[1].to_vec()
        } else {
            let moved = source.triangles.iter().map(|t| match t.map(|s| self.surfel(s)) {
                [Some(a), Some(b), Some(c)] => Some([a, b, c]),
                _ => None,
            });
            moved.collect::<Option<Vec<_>>>()?
        };
        Some(Volume { body: self.new, triangles, ..source.clone() })
    }

    /// The rest configuration is restricted to the points that remain: their centre moves, their offsets with it.
    fn patch(&self, source: &PatchJoint) -> Option<PatchJoint> {
        let rest = source.rest.as_ref()?;
        let mut nodes: Vec<u32> = Vec::new();
        for &s in &source.surfels {
            nodes.push((*self.single.get(s as usize)?)?);
        }
        let mut sorted = nodes.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let weight = |k: usize| source.weights.get(k).copied().unwrap_or(1.0);
        // new node, surface point, weight, offset
        let mut kept: Vec<(u32, u32, Real, Vec3)> = Vec::new();
        for (k, (&s, &n)) in source.surfels.iter().zip(&nodes).enumerate() {
            if let (Some(surfel), Some(node)) = (self.surfel(s), self.node(n)) {
                kept.push((node, surfel, weight(k), rest.offsets[sorted.binary_search(&n).ok()?]));
            }
        }
        let total: Real = kept.iter().map(|k| k.2).sum();
        let whole = kept.len() == nodes.len();
        let centre = if whole { Vec3::ZERO } else { kept.iter().fold(Vec3::ZERO, |c, k| c + k.3 * (k.2 / total)) };
        let mut spec = PatchJoint { body: self.new, ..source.clone() };
        spec.surfels = kept.iter().map(|k| k.1).collect();
        if !source.weights.is_empty() {
            spec.weights = kept.iter().map(|k| k.2).collect();
        }
        let place = Pose { position: rest.place.position + rest.place.rotation * centre, ..rest.place };
        kept.sort_by_key(|k| k.0);
        kept.dedup_by_key(|k| k.0);
        let offsets = kept.iter().map(|k| k.3 - centre).collect();
        spec.rest = Some(crate::constraint::PatchRest { place, offsets });
        Some(spec)
    }
}
