//! A [`sinew::World`] as the physics behind the fast loop: tools in it, and a snapshot after each step.
//!
//! Forces are read at the contacts, never at the coupling of the world's tool, which rings. Soft bodies get the Green's
//! function of a half-space, scaled by one compliance query a step with the forces of that step.

mod near;
mod tool;

pub use tool::Probe;

use crate::error::Error;
use crate::geometry::Geometry;
use crate::half_space::{HalfSpace, Scale, stiff_bias};
use crate::snapshot::{ContactPoint, MOST_POINTS, MOST_TOOLS, Relaxation, Snapshot};
use crate::virtual_loop::Physics;
use near::NearPoint;
use sinew::{
    BodyId, Command, ComplianceOptions, ComplianceScratch, ConstraintId, ElasticMaterial, Input, Site, SiteForce,
    SiteResponse, World,
};
use sinew_math::Frame;
use sinew_math::{Wide3, narrow, widen};
use tool::{ToolBody, frame, place};

/// A soft body that tools touch.
#[derive(Clone, Debug)]
struct Touched {
    body: BodyId,
    half_space: HalfSpace,
    relaxation: f64,
    scale: Scale,
    /// Rest area of each surface point [m²].
    areas: Vec<f64>,
    /// Elastic part of the force of each surface point on the tools, by tool [N].
    elastic: Vec<[Wide3; MOST_TOOLS]>,
    /// Force of the last step.
    force: Vec<[Wide3; MOST_TOOLS]>,
}

/// A world with tools.
///
/// ```
/// use sinew::{RigidBody, Settings, Shape, Vec3, World};
/// use sinew_haptic::*;
/// let mut world = World::new(Settings { dt: 1.0 / 60.0, ..Settings::default() })?;
/// world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
/// let coupling = Coupling { stiffness: 800.0, ..Coupling::default() };
/// let mut physics = WorldPhysics::new(world);
/// physics.add_tool(Probe { pose: Frame::at(Wide3::Y * 0.02), ..Probe::ball(0.005, coupling) })?;
/// let mut snapshot = Snapshot::new(1.0 / 60.0);
/// // 2 mm into the floor: the snapshot has the floor, and the force of the world's tool on it
/// for _ in 0..30 {
///     physics.step(&[Frame::at(Wide3::Y * 0.003)], 1.0 / 60.0, &mut snapshot)?;
/// }
/// let floor = snapshot.points()[0];
/// assert!(floor.geometry.reference().y.abs() < 1e-9 && (0.2..1.65).contains(&floor.force.y), "{floor:?}");
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct WorldPhysics {
    world: World,
    tools: Vec<ToolBody>,
    touched: Vec<Touched>,
    /// Contact points are published from this gap on [m].
    pub reach: f64,
    /// Damping of the device b, for the bias to the stiff side [N·s/m].
    pub device_damping: f64,
    scratch: ComplianceScratch,
    forces: Vec<SiteForce>,
    responses: Vec<SiteResponse>,
    near: Vec<NearPoint>,
    script: Script,
}

/// The input of each step, made from the world before it.
type Inputs = dyn FnMut(&World) -> Input + Send;

/// Input of the world beside the tools.
struct Script(Option<Box<Inputs>>);

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "a script" } else { "no script" })
    }
}

impl WorldPhysics {
    /// A world without tools.
    pub fn new(world: World) -> Self {
        Self {
            world,
            tools: Vec::new(),
            touched: Vec::new(),
            reach: 5e-3,
            device_damping: 0.6,
            scratch: ComplianceScratch::default(),
            forces: Vec::new(),
            responses: Vec::new(),
            near: Vec::new(),
            script: Script(None),
        }
    }

    /// Adds a tool; returns its body.
    pub fn add_tool(&mut self, probe: Probe) -> Result<BodyId, Error> {
        if self.tools.len() == MOST_TOOLS {
            return Err(Error::TooMany { what: "tools", count: MOST_TOOLS + 1, most: MOST_TOOLS });
        }
        let tool = ToolBody::add(&mut self.world, probe)?;
        self.tools.push(tool);
        Ok(self.tools[self.tools.len() - 1].body)
    }

    /// Takes up a tool that the world has. Its body must be one ball or capsule; jaws act in the world and are not felt.
    pub fn adopt_tool(&mut self, tool: ConstraintId) -> Result<BodyId, Error> {
        if self.tools.len() == MOST_TOOLS {
            return Err(Error::TooMany { what: "tools", count: MOST_TOOLS + 1, most: MOST_TOOLS });
        }
        let tool = ToolBody::adopt(&self.world, tool)?;
        self.tools.push(tool);
        Ok(self.tools[self.tools.len() - 1].body)
    }

    /// Input of each step beside the tools: motions of a scene. Its commands to tools of the loop are left out.
    pub fn set_script(&mut self, script: impl FnMut(&World) -> Input + Send + 'static) {
        self.script = Script(Some(Box::new(script)));
    }

    /// Makes a soft body touchable. The material is that of its half-space until steps have shown its compliance. Without
    /// this call a soft body acts in the world only.
    pub fn touch(&mut self, body: BodyId, material: &ElasticMaterial) -> Result<(), Error> {
        let view = self.world.body(body)?;
        let areas = near::areas(&view);
        let count = areas.len();
        if self.touched.len() + 1 == crate::MOST_BODIES {
            return Err(Error::TooMany { what: "bodies", count: crate::MOST_BODIES, most: crate::MOST_BODIES - 1 });
        }
        self.touched.push(Touched {
            body,
            half_space: HalfSpace {
                young: f64::from(material.youngs_modulus),
                poisson: f64::from(material.poisson_ratio),
            },
            relaxation: f64::from(material.damping),
            scale: Scale::default(),
            areas,
            elastic: vec![[Wide3::ZERO; MOST_TOOLS]; count],
            force: vec![[Wide3::ZERO; MOST_TOOLS]; count],
        });
        Ok(())
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Scale of the half-space of a touchable body; none for others.
    pub fn scale(&self, body: BodyId) -> Option<f64> {
        self.touched.iter().find(|t| t.body == body).map(|t| t.scale.value())
    }

    /// Forces of the last step on each tool at the surface points of touchable bodies, and their elastic parts.
    fn read_forces(&mut self, h: f64) {
        let tool_of = |id: BodyId| self.tools.iter().position(|t| t.body == id);
        for touched in &mut self.touched {
            touched.force.fill([Wide3::ZERO; MOST_TOOLS]);
            for contact in &self.world.report().contacts {
                // the force of a contact acts on b
                let (tool, force, spread) = if contact.a == touched.body {
                    (tool_of(contact.b), widen(contact.force), contact.spread_a)
                } else if contact.b == touched.body {
                    (tool_of(contact.a), -widen(contact.force), contact.spread_b)
                } else {
                    continue;
                };
                let (Some(tool), Some(spread)) = (tool, spread) else { continue };
                for (surfel, weight) in spread.surfels.into_iter().zip(spread.weights) {
                    touched.force[surfel as usize][tool] += force * f64::from(weight);
                }
            }
            let (a, b) = (h / (h + touched.relaxation), touched.relaxation / (h + touched.relaxation));
            for (elastic, force) in touched.elastic.iter_mut().zip(&touched.force) {
                for (e, f) in elastic.iter_mut().zip(force) {
                    *e = *f * a + *e * b;
                }
            }
        }
    }

    /// Features of rigid bodies and other tools. Their forces are put on the nearest feature: they start the sweeps.
    fn rigid_points(&self, snapshot: &mut Snapshot) -> Result<(), Error> {
        let slot = snapshot.add_body(Relaxation::default())?;
        let ours = |id: BodyId| self.tools.iter().any(|t| t.body == id);
        for (k, tool) in self.tools.iter().enumerate() {
            for body in self.world.bodies().filter(|b| b.is_rigid() && !ours(b.id())) {
                let first = snapshot.points().len();
                near::rigid(snapshot, (k, tool), &body, self.reach, slot)?;
                self.give_force(snapshot, first, (k, tool.body), body.id());
            }
            for (o, other) in self.tools.iter().enumerate().skip(k + 1) {
                let radius = tool.probe.radius + other.probe.radius;
                let pair = Geometry::Rounds { tool: tool.probe.segment(), other: other.probe.segment(), radius };
                let friction = tool.probe.friction.max(other.probe.friction);
                let point = ContactPoint::new(near::identity(other.body, k, 0), pair);
                let (tool, other) = (k as u32, Some(o as u32));
                snapshot.push(ContactPoint { tool, other, friction, body: slot, ..point })?;
            }
        }
        Ok(())
    }

    fn give_force(&self, snapshot: &mut Snapshot, first: usize, (k, tool): (usize, BodyId), body: BodyId) {
        let mut force = Wide3::ZERO;
        for pair in &self.world.report().pairs {
            if pair.a == body && pair.b == tool {
                force += widen(pair.force);
            } else if pair.b == body && pair.a == tool {
                force -= widen(pair.force);
            }
        }
        let frame = snapshot.tools[k];
        let gap = |p: &ContactPoint| p.geometry.touch(&frame, &Frame::default()).gap.abs();
        let nearest = (first..snapshot.points().len())
            .min_by(|&a, &b| gap(&snapshot.points()[a]).total_cmp(&gap(&snapshot.points()[b])));
        if let Some(i) = nearest {
            snapshot.points_mut()[i].force = force;
            snapshot.points_mut()[i].elastic = force;
        }
    }

    /// Surface points of touchable bodies with their compliance.
    fn soft_points(&mut self, snapshot: &mut Snapshot, period: f64) -> Result<(), Error> {
        let mut places = [Wide3::ZERO; MOST_POINTS];
        for t in 0..self.touched.len() {
            let slot = snapshot.add_body(Relaxation { time: self.touched[t].relaxation })?;
            let first = snapshot.points().len();
            let share = (MOST_POINTS - first) / (self.tools.len() * (self.touched.len() - t)).max(1);
            for k in 0..self.tools.len() {
                self.near_points(snapshot, (t, k), (slot, share), &mut places)?;
            }
            self.learn(snapshot, t, first, slot, &places, period)?;
        }
        Ok(())
    }

    fn near_points(
        &mut self,
        snapshot: &mut Snapshot,
        (t, k): (usize, usize),
        (slot, most): (u32, usize),
        places: &mut [Wide3; MOST_POINTS],
    ) -> Result<(), Error> {
        let (touched, tool) = (&self.touched[t], &self.tools[k]);
        let view = self.world.body(touched.body)?;
        near::surface((tool, &snapshot.tools[k]), &view, self.reach, most, &mut self.near);
        let radius = tool.probe.radius + view.node_radius().map_or(0.0, f64::from);
        for point in &self.near {
            let s = point.surfel as usize;
            let pair = Geometry::Rounds { tool: tool.probe.segment(), other: [point.place; 2], radius };
            let base = ContactPoint::new(near::identity(touched.body, k, u64::from(point.surfel)), pair);
            let added = snapshot.push(ContactPoint {
                tool: k as u32,
                body: slot,
                force: touched.force[s][k],
                elastic: touched.elastic[s][k],
                friction: tool.probe.friction,
                area: touched.areas[s],
                ..base
            })?;
            places[added] = point.place;
        }
        Ok(())
    }

    /// Fills in the half-space of a body, scaled by what the step's forces did to it.
    fn learn(
        &mut self,
        snapshot: &mut Snapshot,
        t: usize,
        first: usize,
        slot: u32,
        places: &[Wide3; MOST_POINTS],
        period: f64,
    ) -> Result<(), Error> {
        let touched = &mut self.touched[t];
        touched.half_space.fill(snapshot, slot, places);
        let mut normals = [Wide3::Y; MOST_POINTS];
        snapshot.normals(&mut normals);
        let mut loads = [Wide3::ZERO; MOST_POINTS];
        self.forces.clear();
        for (i, point) in snapshot.points().iter().enumerate().skip(first) {
            loads[i] = point.force;
            if point.force != Wide3::ZERO {
                let surfel = (point.identity & 0xf_ffff_ffff) as u32;
                let site = Site::Surfel { body: touched.body, surfel };
                self.forces.push(SiteForce { site, force: narrow(-point.force) });
            }
        }
        let count = snapshot.points().len();
        if !self.forces.is_empty() {
            // contacts of the tool itself would hold the surface; those with the ground are left out with them
            let options = ComplianceOptions { contacts: false, ..ComplianceOptions::default() };
            self.world.compliance(&self.forces, &options, &mut self.scratch, &mut self.responses)?;
            let pairs = self.forces.iter().zip(&self.responses);
            let solved: f64 = pairs.map(|(f, r)| widen(f.force).dot(widen(r.displacement))).sum();
            let kernel = snapshot.flexibility(&loads[..count], &normals[..count]);
            touched.scale.learn(solved, kernel, touched.relaxation, period);
        }
        let scale = touched.scale.value();
        let softness = snapshot.flexibility(&loads[..count], &normals[..count]) * scale;
        let total: Wide3 = loads[..count].iter().fold(Wide3::ZERO, |sum, f| sum + *f);
        let stiffness = if softness > 0.0 { total.length_squared() / softness } else { 0.0 };
        let by = scale / stiff_bias(self.device_damping, period, stiffness);
        for i in first..count {
            for j in first..=i {
                let [normal, across] = [snapshot.normal_row(i)[j], snapshot.tangential_row(i)[j]].map(f64::from);
                snapshot.set_compliance(i, j, normal * by, across * by);
            }
        }
        Ok(())
    }
}

impl Physics for WorldPhysics {
    fn step(&mut self, targets: &[Frame], period: f64, snapshot: &mut Snapshot) -> Result<(), Error> {
        let dt = f64::from(self.world.settings().dt);
        crate::error::require("settings.dt", dt, |dt| (dt / period - 1.0).abs() < 1e-3, "the period of the loop")?;
        let mut input = self.script.0.as_mut().map_or_else(Input::none, |script| script(&self.world));
        let ours = |c: &Command| matches!(c, Command::Tool { tool, .. } if self.tools.iter().any(|t| t.tool == *tool));
        input.commands.retain(|command| !ours(command));
        for (tool, target) in self.tools.iter().zip(targets) {
            input = input.tool(tool.tool, place(target));
        }
        self.world.step(&input);
        self.read_forces(period);
        snapshot.clear();
        for (k, tool) in self.tools.iter().enumerate() {
            snapshot.tools[k] = frame(&self.world.body(tool.body)?.pose()?);
        }
        self.rigid_points(snapshot)?;
        self.soft_points(snapshot, period)
    }
}
