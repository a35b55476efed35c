//! What the physics publishes after each step: plain data of fixed size, all that the fast loop needs until the next.

use crate::error::Error;
use crate::geometry::{Face, Geometry};
use sinew_math::Frame;
use sinew_math::Wide3;

/// Most contact points of a snapshot. Dropping points costs force (the nearest 12 of a ball give half of it): where more
/// are near, a coarser set with summed forces and areas is to be taken.
pub const MOST_POINTS: usize = 64;
/// Most tools of one loop.
pub const MOST_TOOLS: usize = 4;
/// Most touched bodies.
pub const MOST_BODIES: usize = 8;

/// A place where a tool touches something or soon may.
///
/// ```
/// use sinew_haptic::{ContactPoint, Face, Geometry, Snapshot, Wide3};
/// let floor = Face { point: Wide3::ZERO, normal: Wide3::Y, axis: Wide3::X, half: [f64::INFINITY; 2] };
/// let geometry = Geometry::OnFace { tip: Wide3::ZERO, radius: 0.005, face: floor };
/// let mut snapshot = Snapshot::new(1.0 / 60.0);
/// snapshot.push(ContactPoint { friction: 0.3, ..ContactPoint::new(1, geometry) })?;
/// assert_eq!(snapshot.points().len(), 1);
/// # Ok::<(), sinew_haptic::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// The same number for the same two features in every snapshot: friction and warm start follow it.
    pub identity: u64,
    /// Which tool.
    pub tool: u32,
    /// The other tool, or none for the world.
    pub other: Option<u32>,
    /// Points of one tool with the same number that is not 0 are faces of one convex body: only the nearest acts.
    pub group: u32,
    /// Which entry of [`Snapshot::bodies`] is touched.
    pub body: u32,
    /// The two features.
    pub geometry: Geometry,
    /// Velocity of the surface that the tool does not cause [m/s].
    pub velocity: Wide3,
    /// Force on the tool in the world's step [N].
    pub force: Wide3,
    /// Its elastic part: that of the spring of a Kelvin-Voigt element, e = (h f + β e_old)/(h + β) [N].
    pub elastic: Wide3,
    /// Friction coefficient.
    pub friction: f64,
    /// Area that the point stands for [m²].
    pub area: f64,
}

/// A touched body as the fast loop sees it.
///
/// An example is at [`Snapshot`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Relaxation {
    /// Relaxation time β of its compliance [s]: viscosity over modulus. 0: elastic.
    pub time: f64,
}

/// The snapshot of a step.
///
/// ```
/// use sinew_haptic::{Relaxation, Snapshot};
/// let mut snapshot = Snapshot::new(1.0 / 60.0);
/// snapshot.time = 0.5;
/// let gel = snapshot.add_body(Relaxation { time: 0.002 })?;
/// assert_eq!((gel, snapshot.bodies().len()), (0, 1));
/// // a compliance of 1 mm/N in and across the surface between points 0 and 1
/// snapshot.set_compliance(0, 1, 1e-3, 1e-3);
/// assert_eq!(snapshot.normal_row(1)[0], 1e-3);
/// # Ok::<(), sinew_haptic::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Time it stands for: the end of its step [s].
    pub time: f64,
    /// Length of the step [s].
    pub period: f64,
    /// Poses of the tools that it was made for.
    pub tools: [Frame; MOST_TOOLS],
    bodies: [Relaxation; MOST_BODIES],
    body_count: usize,
    points: [ContactPoint; MOST_POINTS],
    point_count: usize,
    normal: [[f32; MOST_POINTS]; MOST_POINTS],
    tangential: [[f32; MOST_POINTS]; MOST_POINTS],
}

impl ContactPoint {
    /// A rigid point of tool 0 against the world, at rest and without force.
    pub fn new(identity: u64, geometry: Geometry) -> Self {
        Self {
            identity,
            tool: 0,
            other: None,
            group: 0,
            body: 0,
            geometry,
            velocity: Wide3::ZERO,
            force: Wide3::ZERO,
            elastic: Wide3::ZERO,
            friction: 0.0,
            area: 0.0,
        }
    }

    fn nothing() -> Self {
        let face = Face { point: Wide3::ZERO, normal: Wide3::Y, axis: Wide3::X, half: [0.0; 2] };
        Self::new(0, Geometry::OnFace { tip: Wide3::ZERO, radius: 0.0, face })
    }

    /// True when all numbers are finite and indices in range.
    fn is_valid(&self, bodies: usize) -> bool {
        let tool = (self.tool as usize) < MOST_TOOLS;
        let other = self.other.is_none_or(|o| (o as usize) < MOST_TOOLS && o != self.tool);
        let vectors = [self.velocity, self.force, self.elastic];
        let numbers = self.friction >= 0.0 && self.friction.is_finite() && self.area >= 0.0 && self.area.is_finite();
        tool && other
            && numbers
            && self.geometry.is_valid()
            && (self.body as usize) < bodies.max(1)
            && vectors.iter().all(|v| v.is_finite())
    }
}

impl Snapshot {
    /// An empty one: nothing is near.
    pub fn new(period: f64) -> Self {
        Self {
            time: 0.0,
            period,
            tools: [Frame::default(); MOST_TOOLS],
            bodies: [Relaxation::default(); MOST_BODIES],
            body_count: 0,
            points: [ContactPoint::nothing(); MOST_POINTS],
            point_count: 0,
            normal: [[0.0; MOST_POINTS]; MOST_POINTS],
            tangential: [[0.0; MOST_POINTS]; MOST_POINTS],
        }
    }

    /// Removes points, bodies and compliances.
    pub fn clear(&mut self) {
        for i in 0..self.point_count {
            self.normal[i] = [0.0; MOST_POINTS];
            self.tangential[i] = [0.0; MOST_POINTS];
        }
        (self.point_count, self.body_count) = (0, 0);
    }

    /// Adds a touched body; returns its number.
    pub fn add_body(&mut self, body: Relaxation) -> Result<u32, Error> {
        crate::error::require("relaxation time", body.time, |t| t.is_finite() && t >= 0.0, "not negative [s]")?;
        let slot = self.bodies.get_mut(self.body_count);
        *slot.ok_or(Error::TooMany { what: "bodies", count: self.body_count + 1, most: MOST_BODIES })? = body;
        self.body_count += 1;
        Ok(self.body_count as u32 - 1)
    }

    /// Adds a contact point; returns its number.
    pub fn push(&mut self, point: ContactPoint) -> Result<usize, Error> {
        if !point.is_valid(self.body_count) {
            let reason = "a number is not finite or out of range, or a tool or body does not exist".to_owned();
            return Err(Error::Message { place: format!("contact point {}", point.identity), reason });
        }
        let slot = self.points.get_mut(self.point_count);
        *slot.ok_or(Error::TooMany { what: "contact points", count: self.point_count + 1, most: MOST_POINTS })? = point;
        self.point_count += 1;
        Ok(self.point_count - 1)
    }

    /// The contact points.
    pub fn points(&self) -> &[ContactPoint] {
        &self.points[..self.point_count]
    }

    /// The contact points, to fill in forces.
    pub fn points_mut(&mut self) -> &mut [ContactPoint] {
        &mut self.points[..self.point_count]
    }

    /// The touched bodies.
    pub fn bodies(&self) -> &[Relaxation] {
        &self.bodies[..self.body_count]
    }

    /// Relaxation time of the body of a point [s].
    pub(crate) fn relaxation(&self, point: usize) -> f64 {
        self.bodies().get(self.points[point].body as usize).map_or(0.0, |b| b.time)
    }

    /// Displacement of point i into its body for a unit force on point j, along the normals and across them [m/N]. Both
    /// tables are symmetric. Not finite or negative values on the diagonal count as rigid.
    pub fn set_compliance(&mut self, i: usize, j: usize, normal: f64, tangential: f64) {
        let sane = |c: f64| if c.is_finite() && (i != j || c > 0.0) { c as f32 } else { 0.0 };
        for (a, b) in [(i, j), (j, i)] {
            self.normal[a][b] = sane(normal);
            self.tangential[a][b] = sane(tangential);
        }
    }

    /// Compliance along the normals of point i with all others [m/N].
    pub fn normal_row(&self, i: usize) -> &[f32; MOST_POINTS] {
        &self.normal[i]
    }

    /// Compliance across the normals of point i with all others [m/N].
    pub fn tangential_row(&self, i: usize) -> &[f32; MOST_POINTS] {
        &self.tangential[i]
    }

    /// All compliances times a number.
    pub fn scale_compliance(&mut self, by: f64) {
        if by.is_finite() && by >= 0.0 {
            let count = self.point_count;
            for table in [&mut self.normal, &mut self.tangential] {
                for row in &mut table[..count] {
                    row.iter_mut().for_each(|c| *c *= by as f32);
                }
            }
        }
    }

    /// fᵀ C f of a set of forces on the tool, one for each point, with given normals [J·2].
    pub fn flexibility(&self, forces: &[Wide3], normals: &[Wide3]) -> f64 {
        let n = self.point_count.min(forces.len()).min(normals.len());
        let mut sum = 0.0;
        for i in 0..n {
            for j in 0..n {
                let (a, b) = (forces[i].dot(normals[i]), forces[j].dot(normals[j]));
                let (s, t) = (forces[i] - normals[i] * a, forces[j] - normals[j] * b);
                sum += f64::from(self.normal[i][j]) * a * b + f64::from(self.tangential[i][j]) * s.dot(t);
            }
        }
        sum
    }

    /// Normals of all points for the poses of the snapshot, from the other side to the tool.
    pub fn normals(&self, out: &mut [Wide3; MOST_POINTS]) {
        for (point, normal) in self.points().iter().zip(out) {
            let other = point.other.map_or(Frame::default(), |o| self.tools[o as usize]);
            *normal = point.geometry.touch(&self.tools[point.tool as usize], &other).normal;
        }
    }
}
