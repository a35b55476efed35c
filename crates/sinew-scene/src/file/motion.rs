//! Scripted motion: targets, forces and motors over time, straight from key to key. A pure function of the tick, so that a
//! restored world continues in the same way.

use super::form::{ANY, FINITE, NOT_NEGATIVE, POSITIVE, kinds, record};
use super::plain::{Name, Wide};
use crate::validate::tools::real;
use sinew::tool::ToolCommand;
use sinew::{BodyId, BodySpec, Command, ConstraintId, Motor, Pose, Quat, Real, Vec3, World};

/// A scripted motion in the form of a scene file.
#[derive(Clone, Debug)]
pub(crate) enum MotionSpec {
    Target(Target),
    Force(Force),
    Impulse(Impulse),
    Motor(Drive),
    Nodes(Nodes),
    Spin(Spin),
    Tool(ToolMotion),
}

kinds!(MotionSpec, "motion", "What is done to a body or joint over time.", {
    "target" => Target(Target), "Keyframes of a kinematic body.";
    "force" => Force(Force), "A force and torque on a body.";
    "impulse" => Impulse(Impulse), "One blow.";
    "motor" => Motor(Drive), "The target of a hinge's or slider's motor.";
    "nodes" => Nodes(Nodes), "Keyframes of pinned nodes.";
    "spin" => Spin(Spin), "An oriented particle is turned.";
    "tool" => Tool(ToolMotion), "Keyframes of the hand that moves a tool.";
});

/// A place at a time.
#[derive(Clone, Debug)]
pub(crate) struct PoseKey {
    time: Wide,
    position: Vec3,
    rotation: Quat,
}

record!(PoseKey, "pose key", "A place at a time.",
    base |_| PoseKey { time: Wide(0.0), position: Vec3::ZERO, rotation: Quat::IDENTITY },
    needs {
        time: NOT_NEGATIVE, "When [s].";
        position: FINITE, "Position of the body's origin [m].";
    },
    { rotation: ANY, "Its orientation."; }
);

/// Places of a kinematic body.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    body: Name,
    keys: Vec<PoseKey>,
    period: Option<Wide>,
    smooth: bool,
}

record!(Target, "target", "Keyframes of a kinematic body.",
    base |_| Target { body: Name::default(), keys: Vec::new(), period: None, smooth: false },
    needs {
        body: ANY, "Which body.";
        keys: ANY, "Places, their times rising.";
    },
    {
        period: POSITIVE, "Period [s]; without: it stays at the last keyframe.";
        smooth: ANY, "Starts and stops gently at each key, without a jerk.";
    }
);

/// A force at a time.
#[derive(Clone, Debug)]
pub(crate) struct ForceKey {
    time: Wide,
    force: Vec3,
    torque: Vec3,
}

record!(ForceKey, "force key", "A force at a time.",
    base |_| ForceKey { time: Wide(0.0), force: Vec3::ZERO, torque: Vec3::ZERO },
    needs { time: NOT_NEGATIVE, "When [s]."; },
    {
        force: FINITE, "Force on its centre of mass [N].";
        torque: FINITE, "Torque [N·m].";
    }
);

/// Forces on a body.
#[derive(Clone, Debug)]
pub(crate) struct Force {
    body: Name,
    keys: Vec<ForceKey>,
    period: Option<Wide>,
}

record!(Force, "force", "A force and torque on a rigid body.",
    base |_| Force { body: Name::default(), keys: Vec::new(), period: None },
    needs {
        body: ANY, "Which body.";
        keys: ANY, "Forces, their times rising.";
    },
    { period: POSITIVE, "Begin anew after this time [s]; without: the last one stays."; }
);

/// One blow.
#[derive(Clone, Debug)]
pub(crate) struct Impulse {
    body: Name,
    time: Wide,
    impulse: Vec3,
    point: Vec3,
}

record!(Impulse, "impulse", "One blow.",
    base |_| Impulse { body: Name::default(), time: Wide(0.0), impulse: Vec3::ZERO, point: Vec3::ZERO },
    needs {
        body: ANY, "Which body.";
        time: NOT_NEGATIVE, "When [s]; the step that begins next to it.";
        impulse: FINITE, "Impulse [N·s].";
        point: FINITE, "Position in the world [m].";
    },
    {}
);

/// A number at a time.
#[derive(Clone, Debug)]
pub(crate) struct NumberKey {
    time: Wide,
    value: Real,
}

record!(NumberKey, "number key", "A number at a time.", base |_| NumberKey { time: Wide(0.0), value: 0.0 },
    needs {
        time: NOT_NEGATIVE, "When [s].";
        value: FINITE, "Its value.";
    },
    {}
);

/// Targets of a motor.
#[derive(Clone, Debug)]
pub(crate) struct Drive {
    joint: Name,
    motor: Motor,
    keys: Vec<NumberKey>,
    period: Option<Wide>,
}

record!(Drive, "motor drive", "The target of a hinge's or slider's motor.",
    base |_| Drive {
        joint: Name::default(),
        motor: Motor::Velocity { target: 0.0, max_force: 0.0 },
        keys: Vec::new(),
        period: None,
    },
    needs {
        joint: ANY, "Which joint.";
        motor: ANY, "The motor; its own target is that of the keys.";
        keys: ANY, "Targets [m, rad, m/s or rad/s], their times rising.";
    },
    { period: POSITIVE, "Begin anew after this time [s]; without: the last one stays."; }
);

/// Offsets of nodes at a time.
#[derive(Clone, Debug)]
pub(crate) struct NodeKey {
    time: Wide,
    positions: Vec<Vec3>,
}

record!(NodeKey, "node key", "Places of nodes at a time.", base |_| NodeKey { time: Wide(0.0), positions: Vec::new() },
    needs {
        time: NOT_NEGATIVE, "When [s].";
        positions: FINITE, "Position of each node in the world, in the order of `nodes` [m].";
    },
    {}
);

/// Places of pinned nodes.
#[derive(Clone, Debug)]
pub(crate) struct Nodes {
    pub body: Name,
    nodes: Vec<u32>,
    keys: Vec<NodeKey>,
    period: Option<Wide>,
}

record!(Nodes, "nodes motion", "Keyframes of pinned nodes.",
    base |_| Nodes { body: Name::default(), nodes: Vec::new(), keys: Vec::new(), period: None },
    needs {
        body: ANY, "Which body.";
        nodes: ANY, "Which of its nodes; they must be pinned.";
        keys: ANY, "Their places, times rising.";
    },
    { period: POSITIVE, "Begin anew after this time [s]; without: they stay at the last place."; }
);

/// A spin at a time.
#[derive(Clone, Debug)]
pub(crate) struct SpinKey {
    time: Wide,
    spin: Vec3,
}

record!(SpinKey, "spin key", "A spin from a time on.", base |_| SpinKey { time: Wide(0.0), spin: Vec3::ZERO },
    needs {
        time: NOT_NEGATIVE, "When it begins [s].";
        spin: FINITE, "Spin, world axes [rad/s].";
    },
    {}
);

/// Spins of an oriented particle.
#[derive(Clone, Debug)]
pub(crate) struct Spin {
    body: Name,
    node: u32,
    keys: Vec<SpinKey>,
    period: Option<Wide>,
}

record!(Spin, "spin", "An oriented particle is turned; each spin holds until the next.",
    base |_| Spin { body: Name::default(), node: 0, keys: Vec::new(), period: None },
    needs {
        body: ANY, "Which body of oriented particles.";
        node: ANY, "Which of its particles; one that is pinned keeps the spin.";
        keys: ANY, "Spins, their times rising.";
    },
    { period: POSITIVE, "Begin anew after this time [s]; without: the last one stays."; }
);

/// A pose and an opening at a time.
#[derive(Clone, Debug)]
pub(crate) struct HandKey {
    time: Wide,
    position: Vec3,
    rotation: Quat,
    opening: Option<Real>,
}

record!(HandKey, "hand key", "A pose of the hand at a time.",
    base |_| HandKey { time: Wide(0.0), position: Vec3::ZERO, rotation: Quat::IDENTITY, opening: None },
    needs {
        time: NOT_NEGATIVE, "When [s].";
        position: FINITE, "Commanded position of the tool's origin [m].";
    },
    {
        rotation: ANY, "Commanded orientation.";
        opening: NOT_NEGATIVE, "Commanded opening of the jaws [m]; without: that of the key before.";
    }
);

/// Poses of a hand.
#[derive(Clone, Debug)]
pub(crate) struct ToolMotion {
    pub tool: Name,
    keys: Vec<HandKey>,
    period: Option<Wide>,
    smooth: bool,
}

record!(ToolMotion, "tool motion", "Keyframes of the hand that moves a tool.",
    base |_| ToolMotion { tool: Name::default(), keys: Vec::new(), period: None, smooth: false },
    needs {
        tool: ANY, "Which tool.";
        keys: ANY, "Poses, their times rising.";
    },
    {
        period: POSITIVE, "Period [s]; without: it stays at the last keyframe.";
        smooth: ANY, "Starts and stops gently at each key, without a jerk.";
    }
);

impl ToolMotion {
    /// What the hand asks for at a time; `end` is the end of the step.
    fn command(&self, tool: ConstraintId, end: f64) -> Command {
        let (i, j, blend) = between(&self.keys, |k| k.time.0, within(end, self.period));
        let (from, to) = (&self.keys[i], &self.keys[j]);
        let blend = real(if self.smooth { gentle(blend) } else { blend });
        let rotation = from.rotation.slerp(to.rotation, blend).normalize();
        // a key without an opening keeps that of the last one that has it
        let before = self.keys[..=i].iter().rev().find_map(|k| k.opening);
        let opening = match (before, to.opening) {
            (Some(a), Some(b)) => Some(a + (b - a) * blend),
            (known, _) => known,
        };
        let pose = Pose::new(from.position.lerp(to.position, blend), rotation);
        Command::Tool { tool, command: ToolCommand { pose, opening, time: end } }
    }
}

impl Nodes {
    /// Why a body's nodes cannot be moved, if they cannot. Nodes pinned by regions are known only to the engine.
    pub fn unpinned(&self, body: &BodySpec) -> Option<String> {
        let (pinned, by_region) = match body {
            BodySpec::Soft(soft) => (&soft.pinned, !soft.pinned_regions.is_empty()),
            BodySpec::Particles(particles) => (&particles.pinned, false),
            BodySpec::Rigid(_) => return Some(format!("'{}' is a rigid body and has no nodes", self.body.text)),
        };
        let free = self.nodes.iter().find(|n| !by_region && !pinned.contains(n))?;
        Some(format!("node {free} of '{}' is not pinned: only pinned nodes can be moved", self.body.text))
    }

    fn fault(&self) -> Option<String> {
        let wrong = self.keys.iter().position(|k| k.positions.len() != self.nodes.len())?;
        let (found, right) = (self.keys[wrong].positions.len(), self.nodes.len());
        Some(format!("key {wrong} has {found} positions for {right} nodes"))
    }
}

/// The target of a scripted motion.
pub(crate) enum MotionTarget<'a> {
    Body(&'a Name),
    Joint(&'a Name),
}

/// The body or joint that a script is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ResolvedTarget {
    Body(BodyId),
    Joint(ConstraintId),
}

impl MotionSpec {
    /// Its target.
    pub fn acts_on(&self) -> MotionTarget<'_> {
        match self {
            Self::Target(t) => MotionTarget::Body(&t.body),
            Self::Force(f) => MotionTarget::Body(&f.body),
            Self::Impulse(i) => MotionTarget::Body(&i.body),
            Self::Motor(d) => MotionTarget::Joint(&d.joint),
            Self::Nodes(n) => MotionTarget::Body(&n.body),
            Self::Spin(s) => MotionTarget::Body(&s.body),
            Self::Tool(t) => MotionTarget::Joint(&t.tool),
        }
    }

    /// Why its times make no sense, if they do not.
    pub fn fault(&self) -> Option<String> {
        let times: Vec<f64> = match self {
            Self::Target(t) => t.keys.iter().map(|k| k.time.0).collect(),
            Self::Force(f) => f.keys.iter().map(|k| k.time.0).collect(),
            Self::Motor(d) => d.keys.iter().map(|k| k.time.0).collect(),
            Self::Nodes(n) => {
                if let Some(fault) = n.fault() {
                    return Some(fault);
                }
                n.keys.iter().map(|k| k.time.0).collect()
            }
            Self::Spin(s) => s.keys.iter().map(|k| k.time.0).collect(),
            Self::Tool(t) => t.keys.iter().map(|k| k.time.0).collect(),
            Self::Impulse(_) => return None,
        };
        if times.is_empty() {
            return Some("a motion needs at least one key".to_owned());
        }
        let late = times.windows(2).position(|w| w[1] <= w[0])?;
        Some(format!("the time of key {} is {}, but must be after {}", late + 1, times[late + 1], times[late]))
    }

    /// Why it cannot be done in this world, and whose name is to blame.
    pub fn fault_in(&self, target: ResolvedTarget, world: &World) -> Option<(&Name, String)> {
        if let (Self::Tool(t), ResolvedTarget::Joint(tool)) = (self, target) {
            let fault = world.tool(tool).is_err().then(|| format!("'{}' is not a tool", t.tool.text));
            return fault.map(|fault| (&t.tool, fault));
        }
        let (Self::Spin(s), ResolvedTarget::Body(body)) = (self, target) else { return None };
        let able = world.body(body).is_ok_and(|b| b.particle_spin(s.node).is_some());
        (!able).then(|| (&s.body, format!("'{}' has no oriented particle {}", s.body.text, s.node)))
    }

    /// The commands of the step that begins at a tick.
    pub fn commands(&self, target: ResolvedTarget, tick: u64, dt: f64, out: &mut Vec<Command>) {
        let (Self::Nodes(n), ResolvedTarget::Body(body)) = (self, target) else {
            out.extend(self.command(target, tick, dt));
            return;
        };
        let (i, j, blend) = between(&n.keys, |k| k.time.0, within((tick + 1) as f64 * dt, n.period));
        let ends = n.keys[i].positions.iter().zip(&n.keys[j].positions);
        for (&node, (from, to)) in n.nodes.iter().zip(ends) {
            out.push(Command::NodeTarget { body, node, position: from.lerp(*to, real(blend)) });
        }
    }

    fn command(&self, target: ResolvedTarget, tick: u64, dt: f64) -> Option<Command> {
        let (now, end) = (tick as f64 * dt, (tick + 1) as f64 * dt);
        Some(match (self, target) {
            (Self::Target(t), ResolvedTarget::Body(body)) => {
                let (i, j, blend) = between(&t.keys, |k| k.time.0, within(end, t.period));
                let (from, to) = (&t.keys[i], &t.keys[j]);
                let blend = real(if t.smooth { gentle(blend) } else { blend });
                let rotation = from.rotation.slerp(to.rotation, blend).normalize();
                Command::Target { body, pose: Pose::new(from.position.lerp(to.position, blend), rotation) }
            }
            (Self::Force(f), ResolvedTarget::Body(body)) => {
                // the mean over the step
                let (i, j, blend) = between(&f.keys, |k| k.time.0, within(0.5 * (now + end), f.period));
                let (from, to, blend) = (&f.keys[i], &f.keys[j], real(blend));
                let (force, torque) = (from.force.lerp(to.force, blend), from.torque.lerp(to.torque, blend));
                Command::Force { body, force, torque }
            }
            (Self::Impulse(i), ResolvedTarget::Body(body)) => {
                let due = (i.time.0 / dt).round() as u64;
                (tick == due).then_some(Command::Impulse { body, impulse: i.impulse, point: i.point })?
            }
            (Self::Motor(d), ResolvedTarget::Joint(joint)) => {
                let (i, j, blend) = between(&d.keys, |k| k.time.0, within(end, d.period));
                let (from, to) = (d.keys[i].value, d.keys[j].value);
                let value = from + (to - from) * real(blend);
                let mut motor = d.motor;
                match &mut motor {
                    Motor::Velocity { target, .. } | Motor::Position { target, .. } => *target = value,
                }
                Command::Motor { joint, motor: Some(motor) }
            }
            (Self::Tool(t), ResolvedTarget::Joint(tool)) => t.command(tool, end),
            (Self::Spin(s), ResolvedTarget::Body(body)) => {
                // as good as on time: the tick's own rounding must not delay it by a step
                let time = within(now, s.period) + 1e-6 * dt;
                let at = s.keys.partition_point(|k| k.time.0 <= time).checked_sub(1)?;
                Command::NodeSpin { body, node: s.node, spin: s.keys[at].spin }
            }
            _ => return None,
        })
    }
}

/// From 0 to 1 with speed and acceleration zero at both ends: 10 t³ − 15 t⁴ + 6 t⁵.
fn gentle(t: f64) -> f64 {
    t * t * t * (10.0 + t * (6.0 * t - 15.0))
}

fn within(time: f64, period: Option<Wide>) -> f64 {
    period.map_or(time, |p| time % p.0)
}

/// The keys around a time, and how far it is from the first to the second. There is at least one key.
fn between<T>(keys: &[T], time_of: impl Fn(&T) -> f64, time: f64) -> (usize, usize, f64) {
    let after = keys.partition_point(|k| time_of(k) <= time);
    if after == 0 || after == keys.len() {
        let only = after.saturating_sub(1);
        return (only, only, 0.0);
    }
    let (from, to) = (time_of(&keys[after - 1]), time_of(&keys[after]));
    (after - 1, after, (time - from) / (to - from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_joined_by_straight_lines_and_hold_at_the_ends() {
        let keys = [1.0, 3.0, 4.0];
        let at = |time: f64| between(&keys, |t| *t, time);
        assert_eq!(at(0.5), (0, 0, 0.0));
        assert_eq!(at(1.0), (0, 1, 0.0));
        assert_eq!(at(2.5), (0, 1, 0.75));
        assert_eq!(at(3.5), (1, 2, 0.5));
        assert_eq!(at(9.0), (2, 2, 0.0));
    }
}
