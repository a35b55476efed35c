//! What a receiver has: the scene, points with the age of each, poses, readings.

use std::collections::BTreeMap;

use crate::DecodeError;
use crate::payload::Header;
use crate::points;
use crate::state::{Reading, Rigid, State, Tool};
use crate::topology::{Change, Limits, Scene, Surface};

/// Time stamp of a point that has never arrived.
pub const NEVER: u64 = 0;

/// Points of a body at a receiver.
///
/// An example is at [`Sender`](crate::Sender).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    body: u16,
    points: Vec<[f32; 3]>,
    stamps: Vec<u64>,
}

impl Body {
    fn new(surface: &Surface) -> Self {
        let count = surface.points as usize;
        Self { body: surface.body, points: vec![[0.0; 3]; count], stamps: vec![NEVER; count] }
    }

    /// Number of the body.
    #[must_use]
    pub fn body(&self) -> u16 {
        self.body
    }

    /// The points [m]; those that never arrived are zero.
    #[must_use]
    pub fn points(&self) -> &[[f32; 3]] {
        &self.points
    }

    /// Extended RTP time stamp of each point [1/90000 s]; [`NEVER`] for none.
    #[must_use]
    pub fn stamps(&self) -> &[u64] {
        &self.stamps
    }
}

/// Everything that a viewer draws.
///
/// An example is at [`Sender`](crate::Sender).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    scene: Option<Scene>,
    bodies: Vec<Body>,
    rigid: BTreeMap<u16, (u64, Rigid)>,
    tools: BTreeMap<u16, (u64, Tool)>,
    readings: BTreeMap<u16, (u64, Reading)>,
    tick: (u64, u32),
}

/// What a packet of points did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    /// Points were placed.
    Fresh,
    /// All points are there from later packets.
    Late,
    /// The body is not known yet.
    Unknown,
}

impl Picture {
    /// Scene with all changes up to its revision; `None` until it has arrived.
    #[must_use]
    pub fn scene(&self) -> Option<&Scene> {
        self.scene.as_ref()
    }

    /// Deformable bodies, in the order of the scene's surfaces.
    #[must_use]
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Rigid bodies, by number.
    pub fn rigid(&self) -> impl Iterator<Item = &Rigid> {
        self.rigid.values().map(|(_, rigid)| rigid)
    }

    /// Tools, by number.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values().map(|(_, tool)| tool)
    }

    /// Readings, by number.
    pub fn readings(&self) -> impl Iterator<Item = &Reading> {
        self.readings.values().map(|(_, reading)| reading)
    }

    /// Step of the newest packet.
    #[must_use]
    pub fn tick(&self) -> u32 {
        self.tick.1
    }

    /// Triangles of a body that can be drawn: not removed, and all three corners have arrived.
    pub fn triangles(&self, body: u16) -> impl Iterator<Item = ([u32; 3], bool)> {
        let surface = self.scene.as_ref().and_then(|scene| scene.surface(body));
        let stamps = self.bodies.iter().find(|known| known.body == body).map_or(&[][..], |known| &known.stamps);
        let there = |corner: &u32| stamps.get(*corner as usize).is_some_and(|stamp| *stamp != NEVER);
        let all = surface.map_or(&[][..], |surface| &surface.triangles);
        all.iter()
            .filter(move |triangle| !triangle.removed && triangle.corners.iter().all(there))
            .map(|triangle| (triangle.corners, triangle.inner))
    }

    pub(super) fn revision(&self) -> Option<u32> {
        self.scene.as_ref().map(|scene| scene.revision)
    }

    /// A whole scene: points that were there may belong to another model, so that all are waited for.
    pub(super) fn replace(&mut self, scene: Scene) {
        self.bodies = scene.surfaces.iter().map(Body::new).collect();
        self.rigid.clear();
        self.tools.clear();
        self.readings.clear();
        self.scene = Some(scene);
    }

    pub(super) fn forget_scene(&mut self) {
        self.scene = None;
    }

    /// Applies a change; new points start between their parents and are as old as the older one.
    pub(super) fn change(&mut self, change: &Change, limits: &Limits) -> Result<(), DecodeError> {
        let scene = self.scene.as_mut().ok_or(DecodeError::Value("change without a scene"))?;
        scene.apply(change, limits)?;
        let body = self.bodies.iter_mut().find(|body| body.body == change.body);
        let body = body.ok_or(DecodeError::Value("change of a body that does not exist"))?;
        for born in &change.born {
            let (a, b) = (born.a as usize, born.b as usize);
            let mix = |axis: usize| (1.0 - born.weight) * body.points[a][axis] + born.weight * body.points[b][axis];
            let place = [mix(0), mix(1), mix(2)];
            let stamp = body.stamps[a].min(body.stamps[b]);
            body.points.push(place);
            body.stamps.push(stamp);
        }
        Ok(())
    }

    /// Takes a packet of points. Each point keeps the latest place that has arrived.
    pub(super) fn place(&mut self, header: &Header, contents: &[u8], stamp: u64) -> Result<Placed, DecodeError> {
        let same_revision = self.revision() == Some(header.revision);
        let Some(body) = self.bodies.iter_mut().find(|body| body.body == header.body) else {
            points::read(header, contents, |_, _| {})?;
            return Ok(Placed::Unknown);
        };
        let known = body.points.len();
        let (first, stride) = (usize::from(header.first), usize::from(header.stride));
        if same_revision {
            // the number of points is known: another one would put points into wrong places
            let mut count = 0;
            points::read(header, contents, |_, _| count += 1)?;
            if count != known.saturating_sub(first).div_ceil(stride) {
                return Err(DecodeError::Length);
            }
        }
        let mut placed = Placed::Late;
        points::read(header, contents, |at, place| {
            if at < known && stamp >= body.stamps[at] {
                body.points[at] = place;
                body.stamps[at] = stamp;
                placed = Placed::Fresh;
            }
        })?;
        self.note_tick(header, stamp);
        Ok(placed)
    }

    /// Takes a state; each entry keeps its latest value. Tools and readings beyond the limit are left out.
    pub(super) fn state(&mut self, header: &Header, state: State, stamp: u64, limits: &Limits) {
        for rigid in state.rigid {
            put(&mut self.rigid, rigid.body, (stamp, rigid), usize::MAX);
        }
        for tool in state.tools {
            put(&mut self.tools, tool.tool, (stamp, tool), limits.readings);
        }
        for reading in state.readings {
            put(&mut self.readings, reading.reading, (stamp, reading), limits.readings);
        }
        self.note_tick(header, stamp);
    }

    fn note_tick(&mut self, header: &Header, stamp: u64) {
        if stamp >= self.tick.0 {
            self.tick = (stamp, header.tick);
        }
    }
}

fn put<T>(map: &mut BTreeMap<u16, (u64, T)>, number: u16, entry: (u64, T), limit: usize) {
    if let Some(old) = map.get_mut(&number) {
        if old.0 <= entry.0 {
            *old = entry;
        }
    } else if map.len() < limit {
        map.insert(number, entry);
    }
}
