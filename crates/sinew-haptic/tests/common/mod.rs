//! Worlds that have a known answer, and the usual device.
#![allow(dead_code, reason = "every test file uses a part")]

use sinew_haptic::*;

/// m = 0.1 kg, b = 0.6 N·s/m, T = 1 ms.
pub fn usual() -> SimulatedSettings {
    SimulatedSettings::default()
}

/// A constant push down [N].
pub fn push(force: f64) -> Hand {
    Hand::Push(Wrench { force: Wide3::NEG_Y * force, torque: Wide3::ZERO })
}

/// A tool of this stiffness on a device that takes any force.
pub fn tool(stiffness: f64, observed: bool) -> ToolSettings {
    ToolSettings {
        coupling: Coupling { stiffness, max_force: 1e3, max_torque: 1e3, ..Coupling::default() },
        workspace: WorkspaceSettings { max_force: 1e3, max_torque: 1e3, ..WorkspaceSettings::default() },
        passivity: PassivitySettings { active: observed, ..PassivitySettings::default() },
        ..ToolSettings::default()
    }
}

pub fn plane() -> Face {
    Face { point: Wide3::ZERO, normal: Wide3::Y, axis: Wide3::X, half: [f64::INFINITY; 2] }
}

/// The half-space below y = 0: rigid, or a spring with viscosity, at rest or moving.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wall {
    pub friction: f64,
    /// Compliance [m/N] and relaxation time [s].
    pub compliance: f64,
    pub relaxation: f64,
    /// Elastic force on the tool so far [N].
    pub elastic: f64,
    /// Tip in the axes of the tool [m].
    pub tip: Wide3,
    /// Compliance that the snapshot claims over the true one; 0 stands for 1.
    pub claimed: f64,
    /// Stiffness of the coupling of the world's own tool [N/m]; 0: it stands where the device is.
    pub coupling: f64,
}

impl Physics for Wall {
    fn step(&mut self, targets: &[Frame], period: f64, snapshot: &mut Snapshot) -> Result<(), Error> {
        let depth = -targets[0].point(self.tip).y;
        let (c, beta) = (self.compliance, self.relaxation);
        // f = e + β e' with c e = depth, by implicit Euler; none without contact
        let mut force = 0.0;
        if c > 0.0 {
            // the spring of the coupling in series: K_c (d − z) = (z (h + β)/c − β e)/h
            let depth = if self.coupling > 0.0 {
                let matter = (period + beta) / (c * period);
                (self.coupling * depth + beta * self.elastic / period) / (self.coupling + matter)
            } else {
                depth
            };
            force = ((depth / c * (period + beta) - beta * self.elastic) / period).max(0.0);
            self.elastic = (period * force + beta * self.elastic) / (period + beta);
        }
        snapshot.clear();
        snapshot.tools[0] = targets[0];
        let body = snapshot.add_body(Relaxation { time: beta })?;
        let geometry = Geometry::OnFace { tip: self.tip, radius: 0.0, face: plane() };
        // the published face is the surface where the step left it
        let sunk = c * self.elastic;
        let face = Face { point: Wide3::Y * -sunk, ..plane() };
        let geometry = if c > 0.0 { Geometry::OnFace { tip: self.tip, radius: 0.0, face } } else { geometry };
        snapshot.push(ContactPoint {
            body,
            friction: self.friction,
            force: Wide3::Y * force,
            elastic: Wide3::Y * self.elastic,
            ..ContactPoint::new(1, geometry)
        })?;
        let claimed = if self.claimed > 0.0 { self.claimed } else { 1.0 };
        snapshot.set_compliance(0, 0, c * claimed, c * claimed);
        Ok(())
    }
}
