//! Constraints on nodes and surfaces: anchors, seams, distance sets, bending, volumes, joints on patches (`docs/constraints.md`).
//!
//! Lists that are long and follow from the body (edges, folds, pairs of a seam) may be left out: they are then taken from
//! its surface. Files that Sinew writes have them all.

use super::form::{ANY, FINITE, NOT_NEGATIVE, POSITIVE, choice, record, words};
use super::joint::{Find, SiteSpec, site, site_of};
use super::plain::Name;
use sinew::{
    AttachTarget, Attachment, BendLaw, Bending, BodyId, ConstraintSpec, DistanceSet, PatchJoint, PatchKind, PatchRest,
    Pose, Real, Site, TriMesh, Vec3, Volume, VolumeLaw, World,
};

/// What a point is held to.
#[derive(Clone, Debug)]
pub(crate) enum HoldSpec {
    Here { body: Option<Name> },
    At { site: SiteSpec },
}

choice!(HoldSpec, "hold", "What a point is held to.", {
    "here" => Here, "The point at its initial position: of the world, or of a rigid body.", {
        body body: Option<Name>, ANY => None, "Which rigid body; without: the world.";
    };
    "at" => At, "Another point, which may be elsewhere: they are pulled together.", {
        site site: SiteSpec, ANY, "Which point.";
    };
});

/// A held point.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    point: SiteSpec,
    to: HoldSpec,
}

record!(Held, "held point", "A point of nodes or of a surface, and what it is held to.",
    base |_| Held { point: SiteSpec::World { point: Vec3::ZERO }, to: HoldSpec::Here { body: None } },
    needs { point: ANY, "The point that is held."; },
    { to: ANY, "What it is held to; without: where it is at the start."; }
);

/// Anchors.
#[derive(Clone, Debug)]
pub(crate) struct AttachSpec {
    pairs: Vec<Held>,
    stiffness: Option<Real>,
    damping: Real,
    break_force: Real,
    axes: Vec<Vec3>,
    collide: bool,
}

record!(AttachSpec, "attach", "Points of nodes and surfaces held to others.",
    base |_| AttachSpec {
        pairs: Vec::new(),
        stiffness: None,
        damping: 0.0,
        break_force: Real::INFINITY,
        axes: Vec::new(),
        collide: false,
    },
    needs { pairs: ANY, "Held points, and what each is held to."; },
    {
        stiffness: NOT_NEGATIVE, "Stiffness of each pair [N/m]; without: rigid.";
        damping: NOT_NEGATIVE, "Damping beside the stiffness [N·s/m].";
        break_force: POSITIVE.or_infinite(), "All of it breaks when one pair carries more than this [N].";
        axes: FINITE, "Directions that are held, orthogonal unit vectors, of the world or of the rigid body; empty: all.";
        collide: ANY, "Whether soft bodies that are stitched together collide.";
    }
);

/// A seam that finds its pairs.
#[derive(Clone, Debug)]
pub(crate) struct Seam {
    a: Name,
    b: Name,
    reach: Real,
    stiffness: Option<Real>,
    damping: Real,
    break_force: Real,
    collide: bool,
}

record!(Seam, "seam", "Surface points of one body stitched to the nearest points of another.",
    base |_| Seam {
        a: Name::default(),
        b: Name::default(),
        reach: 0.0,
        stiffness: None,
        damping: 0.0,
        break_force: Real::INFINITY,
        collide: false,
    },
    needs {
        a: ANY, "The body whose surface points are held.";
        b: ANY, "The body with the triangles they are held to.";
        reach: POSITIVE, "Points farther from a triangle than this stay free [m].";
    },
    {
        stiffness: NOT_NEGATIVE, "Stiffness of each pair [N/m]; without: rigid.";
        damping: NOT_NEGATIVE, "Damping beside the stiffness [N·s/m].";
        break_force: POSITIVE.or_infinite(), "All of it breaks when one pair carries more than this [N].";
        collide: ANY, "Whether the two bodies still collide.";
    }
);

/// Lengths of many pairs.
#[derive(Clone, Debug)]
pub(crate) struct DistanceSetSpec {
    body: Name,
    pairs: Vec<[u32; 2]>,
    lengths: Vec<Real>,
    pull: Real,
    push: Real,
    stiffness: Option<[Real; 2]>,
    damping: Real,
    break_force: Real,
}

record!(DistanceSetSpec, "distance_set", "Lengths of many pairs of nodes of a body.",
    base |_| DistanceSetSpec {
        body: Name::default(),
        pairs: Vec::new(),
        lengths: Vec::new(),
        pull: Real::INFINITY,
        push: Real::INFINITY,
        stiffness: None,
        damping: 0.0,
        break_force: Real::INFINITY,
    },
    needs { body: ANY, "Which body."; },
    {
        pairs: ANY, "Pairs of its nodes; without: the edges of its surface.";
        lengths: NOT_NEGATIVE, "Length of each pair [m]; without: as at the start.";
        pull: NOT_NEGATIVE.or_infinite(), "Largest pull of a pair [N].";
        push: NOT_NEGATIVE.or_infinite(), "Largest push of a pair [N]; 0: as a rope.";
        stiffness: NOT_NEGATIVE, "Stiffness in stretch and in compression [N/m]; without: rigid.";
        damping: NOT_NEGATIVE, "Damping of each pair, with a stiffness only [N·s/m].";
        break_force: POSITIVE.or_infinite(), "All of it breaks when one pair carries more than this [N].";
    }
);

words!(BendLaw, {
    "angle" => Angle, "The signed angle between two triangles.";
    "printed" => Printed, "ICD eq. 33 as printed; for comparison.";
});

/// Resistance to bending.
#[derive(Clone, Debug)]
pub(crate) struct BendingSpec {
    body: Name,
    folds: Vec<[u32; 4]>,
    rest: Vec<[Real; 2]>,
    stiffness: Real,
    damping: Real,
    law: BendLaw,
}

record!(BendingSpec, "bending", "Lets a sheet resist bending.",
    base |_| BendingSpec {
        body: Name::default(), folds: Vec::new(), rest: Vec::new(), stiffness: 0.0, damping: 0.0, law: BendLaw::Angle
    },
    needs {
        body: ANY, "Which body.";
        stiffness: NOT_NEGATIVE, "Bending stiffness of the sheet [N·m].";
    },
    {
        folds: ANY, "Edge i, j and the nodes beside it, left and right; without: all inner edges of its surface.";
        rest: FINITE, "Angle of each fold at rest [rad], and |e|²/(A_l + A_r); without: as at the start.";
        damping: NOT_NEGATIVE, "Time over which a bent sheet gives in [s].";
        law: ANY, "The constrained quantity of a fold.";
    }
);

/// What is inside a surface.
#[derive(Clone, Debug)]
pub(crate) enum Inside {
    Held { volume: Option<Real>, compliance: Real },
    Gas { pressure: Real, volume: Option<Real>, outside: Real },
    Pressure { pressure: Real },
}

choice!(Inside, "filling", "What is inside a closed surface.", {
    "held" => Held, "A prescribed volume.", {
        volume volume: Option<Real>, POSITIVE => None, "Volume [m³]; without: as at the start.";
        compliance compliance: Real, NOT_NEGATIVE => 0.0, "Compliance [m³/Pa].";
    };
    "gas" => Gas, "A gas of constant temperature.", {
        pressure pressure: Real, FINITE, "Pressure above the outside at the volume [Pa].";
        volume volume: Option<Real>, POSITIVE => None, "Volume [m³]; without: as at the start.";
        outside outside: Real, NOT_NEGATIVE => 101_325.0, "Pressure outside [Pa].";
    };
    "pressure" => Pressure, "A constant pressure.", {
        pressure pressure: Real, FINITE, "Pressure above the outside [Pa].";
    };
});

/// A volume.
#[derive(Clone, Debug)]
pub(crate) struct VolumeSpec {
    body: Name,
    inside: Inside,
    triangles: Vec<[u32; 3]>,
    burst: Real,
}

record!(VolumeSpec, "volume", "Holds the volume inside a body's surface, or fills it with gas.",
    base |_| VolumeSpec {
        body: Name::default(),
        inside: Inside::Held { volume: None, compliance: 0.0 },
        triangles: Vec::new(),
        burst: Real::INFINITY,
    },
    needs { body: ANY, "Which body."; },
    {
        inside: ANY, "Pressure law; without: the initial volume is kept.";
        triangles: ANY, "Triangles over its surface points; without: its whole surface.";
        burst: POSITIVE.or_infinite(), "Bursts above this pressure [Pa].";
    }
);

words!(PatchKind, {
    "ball" => Ball, "The centre of the patch is fixed.";
    "hinge" => Hinge, "It turns about an axis through its middle.";
    "fixed" => Fixed, "Centre and orientation are fixed.";
});

/// How a patch lay when its joint was added.
#[derive(Clone, Debug)]
pub(crate) struct Lay {
    place: Pose,
    offsets: Vec<Vec3>,
}

record!(Lay, "patch rest", "How a patch lay when its joint was added; written by Sinew.",
    base |_| Lay { place: Pose::IDENTITY, offsets: Vec::new() },
    needs {
        place: ANY, "Middle and turn of the patch seen from the other side.";
        offsets: FINITE, "Offsets of its nodes from the middle [m].";
    },
    {}
);

/// A joint on a patch of surface.
#[derive(Clone, Debug)]
pub(crate) struct PatchSpec {
    free: PatchKind,
    body: Name,
    surfels: Vec<u32>,
    weights: Vec<Real>,
    to: Option<Name>,
    axis: Vec3,
    break_force: Real,
    collide: bool,
    rest: Option<Lay>,
}

record!(PatchSpec, "patch", "A joint between a patch of surface and a rigid body or the world.",
    base |_| PatchSpec {
        free: PatchKind::Fixed,
        body: Name::default(),
        surfels: Vec::new(),
        weights: Vec::new(),
        to: None,
        axis: Vec3::X,
        break_force: Real::INFINITY,
        collide: false,
        rest: None,
    },
    needs {
        body: ANY, "The body with the surface.";
        surfels: ANY, "Surface points of the patch.";
    },
    {
        free: ANY, "Directions that remain free.";
        weights: NOT_NEGATIVE, "Weights of the points; without: all the same.";
        to: ANY, "The rigid body; without: the world.";
        axis: FINITE, "Axis of a hinge, world axes at the start.";
        break_force: POSITIVE.or_infinite(), "Breaks above this force [N].";
        collide: ANY, "Whether the two bodies still collide.";
        rest: ANY, "Rest pose of the patch; without: the initial one.";
    }
);

/// The surface of a body as a mesh over its nodes; nothing when its points are not nodes.
fn sheet(world: &World, id: BodyId) -> TriMesh {
    let mesh = || {
        let body = world.body(id).ok()?;
        let surface = body.surface()?;
        let node = |surfel: u32| match surface.shares(surfel) {
            [one] => Some(one.node),
            _ => None,
        };
        let mut triangles = Vec::new();
        for &[a, b, c] in surface.triangles() {
            triangles.push([node(a)?, node(b)?, node(c)?]);
        }
        Some(TriMesh { vertices: body.node_positions().to_vec(), triangles })
    };
    mesh().unwrap_or(TriMesh { vertices: Vec::new(), triangles: Vec::new() })
}

impl AttachSpec {
    pub fn build(&self, find: &mut Find<'_>) -> Option<ConstraintSpec> {
        let mut pairs = Vec::new();
        let mut all = true;
        for held in &self.pairs {
            let point = site(&held.point, find);
            let to = match &held.to {
                HoldSpec::Here { body: None } => Some(AttachTarget::Here(None)),
                HoldSpec::Here { body: Some(name) } => find(name).map(|id| AttachTarget::Here(Some(id))),
                HoldSpec::At { site: other } => site(other, find).map(AttachTarget::At),
            };
            all &= point.is_some() && to.is_some();
            pairs.extend(point.zip(to));
        }
        let (spring, break_force) = (self.stiffness.map(|k| (k, self.damping)), self.break_force);
        let (axes, collide) = (self.axes.clone(), self.collide);
        all.then_some(ConstraintSpec::Attachment(Attachment { pairs, spring, break_force, axes, collide }))
    }

    pub fn of(attach: &Attachment, name: &dyn Fn(BodyId) -> Name) -> Self {
        let Attachment { pairs, spring, break_force, axes, collide } = attach;
        let held = |(point, to): &(Site, AttachTarget)| Held {
            point: site_of(point, name),
            to: match to {
                AttachTarget::Here(body) => HoldSpec::Here { body: body.map(name) },
                AttachTarget::At(other) => HoldSpec::At { site: site_of(other, name) },
            },
        };
        Self {
            pairs: pairs.iter().map(held).collect(),
            stiffness: spring.map(|s| s.0),
            damping: spring.map_or(0.0, |s| s.1),
            break_force: *break_force,
            axes: axes.clone(),
            collide: *collide,
        }
    }
}

impl Seam {
    pub fn build(&self, world: &World, find: &mut Find<'_>) -> Option<ConstraintSpec> {
        let (a, b) = (find(&self.a), find(&self.b));
        // bodies without a surface have no pairs, and the engine refuses an empty list
        let pairs = world.seam(a?, b?, self.reach).unwrap_or_default();
        let attach = Attachment::stitch(pairs);
        let (spring, break_force) = (self.stiffness.map(|k| (k, self.damping)), self.break_force);
        Some(ConstraintSpec::Attachment(Attachment { spring, break_force, collide: self.collide, ..attach }))
    }
}

impl DistanceSetSpec {
    pub fn build(&self, world: &World, find: &mut Find<'_>) -> Option<ConstraintSpec> {
        let Self { body, pairs, lengths, pull, push, stiffness, damping, break_force } = self.clone();
        let body = find(&body)?;
        let pairs = if pairs.is_empty() { sheet(world, body).edges() } else { pairs };
        Some(ConstraintSpec::DistanceSet(DistanceSet {
            body,
            pairs,
            lengths,
            pull,
            push,
            stiffness,
            damping,
            break_force,
        }))
    }

    pub fn of(set: &DistanceSet, name: &dyn Fn(BodyId) -> Name) -> Self {
        let DistanceSet { body, pairs, lengths, pull, push, stiffness, damping, break_force } = set.clone();
        Self { body: name(body), pairs, lengths, pull, push, stiffness, damping, break_force }
    }
}

impl BendingSpec {
    pub fn build(&self, world: &World, find: &mut Find<'_>) -> Option<ConstraintSpec> {
        let Self { body, folds, rest, stiffness, damping, law } = self.clone();
        let body = find(&body)?;
        let folds = if folds.is_empty() { sheet(world, body).folds() } else { folds };
        Some(ConstraintSpec::Bending(Bending { body, folds, rest, stiffness, damping, law }))
    }

    pub fn of(bending: &Bending, name: &dyn Fn(BodyId) -> Name) -> Self {
        let Bending { body, folds, rest, stiffness, damping, law } = bending.clone();
        Self { body: name(body), folds, rest, stiffness, damping, law }
    }
}

impl VolumeSpec {
    pub fn build(&self, find: &mut Find<'_>) -> Option<ConstraintSpec> {
        let Self { body, inside, triangles, burst } = self.clone();
        let law = match inside {
            Inside::Held { volume, compliance } => VolumeLaw::Held { volume, compliance },
            Inside::Gas { pressure, volume, outside } => VolumeLaw::Gas { pressure, volume, outside },
            Inside::Pressure { pressure } => VolumeLaw::Pressure(pressure),
        };
        Some(ConstraintSpec::Volume(Volume { body: find(&body)?, triangles, law, burst }))
    }

    pub fn of(volume: &Volume, name: &dyn Fn(BodyId) -> Name) -> Self {
        let Volume { body, triangles, law, burst } = volume.clone();
        let inside = match law {
            VolumeLaw::Held { volume, compliance } => Inside::Held { volume, compliance },
            VolumeLaw::Gas { pressure, volume, outside } => Inside::Gas { pressure, volume, outside },
            VolumeLaw::Pressure(pressure) => Inside::Pressure { pressure },
        };
        Self { body: name(body), inside, triangles, burst }
    }
}

impl PatchSpec {
    pub fn build(&self, find: &mut Find<'_>) -> Option<ConstraintSpec> {
        let Self { free: kind, body, surfels, weights, to, axis, break_force, collide, rest } = self.clone();
        let (body, to) = (find(&body), to.as_ref().map(find));
        let rest = rest.map(|Lay { place, offsets }| PatchRest { place, offsets });
        let to = match to {
            Some(found) => Some(found?),
            None => None,
        };
        let body = body?;
        Some(ConstraintSpec::PatchJoint(PatchJoint {
            kind,
            body,
            surfels,
            weights,
            to,
            axis,
            break_force,
            collide,
            rest,
        }))
    }

    pub fn of(joint: &PatchJoint, name: &dyn Fn(BodyId) -> Name) -> Self {
        let PatchJoint { kind: free, body, surfels, weights, to, axis, break_force, collide, rest } = joint.clone();
        let rest = rest.map(|PatchRest { place, offsets }| Lay { place, offsets });
        Self { free, body: name(body), surfels, weights, to: to.map(name), axis, break_force, collide, rest }
    }
}
