//! The friction bench of FC 5.3: a mass on a plane, pulled along one line, with any law. No world, no contact: the law alone.

use sinew::Real;
use sinew::friction::{Coefficients, Contact, Law, Memory};

/// A mass that slides along a line.
#[derive(Clone, Debug)]
pub struct Sled {
    /// The law of friction.
    pub law: Law,
    /// Coefficients of the pair.
    pub coefficients: Coefficients,
    /// Normal force [N].
    pub normal: f64,
    /// Mass [kg].
    pub mass: f64,
    /// Step [s].
    pub h: f64,
    /// Time [s].
    pub time: f64,
    /// Position [m].
    pub x: f64,
    /// Velocity [m/s].
    pub v: f64,
    /// Friction of the last step, positive against positive motion [N].
    pub friction: f64,
    /// Memory of the law.
    pub memory: Memory,
}

impl Sled {
    /// At rest; 1 kg under a normal force of 1 N, so that coefficients are forces.
    pub fn new(law: Law, coefficients: Coefficients, h: f64) -> Self {
        let memory = Memory::default();
        Self { law, coefficients, normal: 1.0, mass: 1.0, h, time: 0.0, x: 0.0, v: 0.0, friction: 0.0, memory }
    }

    /// A step under a pull [N].
    pub fn pull(&mut self, pull: f64) {
        let response = self.h / self.mass;
        self.apply(self.v + response * pull, response);
    }

    /// A step with an imposed velocity [m/s].
    pub fn slide(&mut self, v: f64) {
        self.apply(v, 0.0);
    }

    #[allow(
        clippy::useless_conversion,
        clippy::unnecessary_cast,
        reason = "the conversions are needed in the f32 build"
    )]
    fn apply(&mut self, free: f64, response: f64) {
        let contact = Contact {
            h: self.h as Real,
            normal: self.normal as Real,
            coefficients: self.coefficients,
            free: [free as Real, 0.0],
            response: response as Real,
        };
        let result = self.law.friction(&contact, self.memory);
        (self.v, self.friction) = (f64::from(result.velocity[0]), f64::from(result.force[0]));
        self.memory = result.memory;
        self.x += self.h * self.v;
        self.time += self.h;
    }
}

/// One sample of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Time [s].
    pub time: f64,
    /// Pull, or 0 when the motion is imposed [N].
    pub pull: f64,
    /// Position [m].
    pub x: f64,
    /// Velocity [m/s].
    pub v: f64,
    /// Friction [N].
    pub friction: f64,
}

impl Sample {
    fn of(sled: &Sled, pull: f64) -> Self {
        Self { time: sled.time, pull, x: sled.x, v: sled.v, friction: sled.friction }
    }
}

/// The bench: 1 kg under 9.8 N, a constant pull and a sine (FC Fig. 5.9).
#[derive(Clone, Copy, Debug)]
pub struct Bench {
    /// Constant part of the pull [N].
    pub constant: f64,
    /// Size of the sine [N].
    pub swing: f64,
    /// Its frequency [Hz].
    pub frequency: f64,
    /// Whole time [s].
    pub seconds: f64,
    /// Step [s].
    pub h: f64,
}

impl Default for Bench {
    fn default() -> Self {
        // the thesis gives no figures for its pull: at first it is beyond F_s, then between F_C and F_s
        Self { constant: 1.0, swing: 2.5, frequency: 1.0, seconds: 10.0, h: 1e-3 }
    }
}

impl Bench {
    /// Coefficients of the bench: F_C = 1.96 N and F_s = 2.94 N under 9.8 N.
    pub const PAIR: Coefficients = Coefficients { holding: 0.3, slipping: 0.2 };

    /// The pull at a time [N]: the swing is halved half way, from beyond static friction to below it.
    pub fn pull(&self, time: f64) -> f64 {
        let fade = if time < 0.5 * self.seconds { 1.0 } else { 0.5 };
        self.constant + fade * self.swing * (std::f64::consts::TAU * self.frequency * time).sin()
    }

    /// Runs a law: position, velocity and friction over time (Fig. 5.10 to 5.14).
    pub fn run(&self, law: Law) -> Vec<Sample> {
        let mut sled = Sled { normal: 9.8, ..Sled::new(law, Self::PAIR, self.h) };
        let count = (self.seconds / self.h).round() as usize;
        let mut samples = Vec::with_capacity(count);
        for _ in 0..count {
            let pull = self.pull(sled.time);
            sled.pull(pull);
            samples.push(Sample::of(&sled, pull));
        }
        samples
    }

    /// Friction at imposed steady velocities (Fig. 5.4, 5.5).
    pub fn steady(&self, law: Law) -> Vec<Sample> {
        let mut samples = Vec::new();
        for k in -100..=100i32 {
            // finer near rest
            let v = 0.02 * (f64::from(k) / 100.0).powi(3);
            let mut sled = Sled { normal: 9.8, ..Sled::new(law, Self::PAIR, self.h) };
            let steps = if v == 0.0 { 1.0 } else { (1e-4 / (v.abs() * self.h)).clamp(50.0, 2e4) };
            for _ in 0..steps as usize {
                sled.slide(v);
            }
            samples.push(Sample::of(&sled, 0.0));
        }
        samples
    }

    /// Friction under an imposed sinusoidal displacement: `amplitude` [m], one cycle after one that fills the memory (Fig. 5.6 to 5.8).
    pub fn cycle(&self, law: Law, amplitude: f64) -> Vec<Sample> {
        let mut sled = Sled { normal: 9.8, ..Sled::new(law, Self::PAIR, self.h) };
        let turn = std::f64::consts::TAU * self.frequency;
        let count = (1.0 / (self.frequency * self.h)).round() as usize;
        let mut samples = Vec::with_capacity(count);
        for k in 0..2 * count {
            sled.slide(amplitude * turn * (turn * (sled.time + 0.5 * self.h)).cos());
            if k >= count {
                samples.push(Sample::of(&sled, 0.0));
            }
        }
        samples
    }
}
