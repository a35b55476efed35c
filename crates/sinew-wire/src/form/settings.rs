//! Settings and their enums.

use super::V3;
use serde::{Deserialize, Serialize};
use sinew::{FrictionBound, Order, Real, Settings, Stabilization, Vec3};

/// [`Stabilization`].
#[derive(Serialize, Deserialize)]
pub(crate) enum StabilizationForm {
    Baumgarte(Real),
    Soft { frequency: Real, damping_ratio: Real },
}

impl From<Stabilization> for StabilizationForm {
    fn from(s: Stabilization) -> Self {
        match s {
            Stabilization::Baumgarte(share) => Self::Baumgarte(share),
            Stabilization::Soft { frequency, damping_ratio } => Self::Soft { frequency, damping_ratio },
        }
    }
}

impl From<StabilizationForm> for Stabilization {
    fn from(s: StabilizationForm) -> Self {
        match s {
            StabilizationForm::Baumgarte(share) => Self::Baumgarte(share),
            StabilizationForm::Soft { frequency, damping_ratio } => Self::Soft { frequency, damping_ratio },
        }
    }
}

/// [`Order`].
#[derive(Serialize, Deserialize)]
pub(crate) enum OrderForm {
    Joint,
    Staggered { rigid: u32, deformable: u32 },
}

/// [`FrictionBound`].
#[derive(Serialize, Deserialize)]
pub(crate) enum FrictionBoundForm {
    Cone,
    Weight,
}

/// [`Settings`].
#[derive(Serialize, Deserialize)]
pub(crate) struct SettingsForm {
    dt: Real,
    gravity: V3,
    substeps: u32,
    sweeps: u32,
    relax_sweeps: u32,
    contact: StabilizationForm,
    joint: StabilizationForm,
    warm_start: Real,
    stop_residual: Real,
    order: OrderForm,
    friction_bound: FrictionBoundForm,
    average_impulses: bool,
    contact_margin: Real,
    contact_slop: Real,
    push_speed: Real,
    friction: StabilizationForm,
    restitution_speed: Real,
    recycle_distance: Real,
    sleep_speed: Real,
    sleep_time: Real,
    max_speed: Real,
    max_turn: Real,
    threads: u32,
    lanes: bool,
    residuals: bool,
    force_threshold: Real,
    point_forces: bool,
}

impl SettingsForm {
    pub fn of(settings: &Settings) -> Self {
        let &Settings {
            dt,
            gravity,
            substeps,
            sweeps,
            relax_sweeps,
            contact,
            joint,
            warm_start,
            stop_residual,
            order,
            friction_bound,
            average_impulses,
            contact_margin,
            contact_slop,
            push_speed,
            friction,
            restitution_speed,
            recycle_distance,
            sleep_speed,
            sleep_time,
            max_speed,
            max_turn,
            threads,
            lanes,
            residuals,
            force_threshold,
            point_forces,
        } = settings;
        let order = match order {
            Order::Joint => OrderForm::Joint,
            Order::Staggered { rigid, deformable } => OrderForm::Staggered { rigid, deformable },
        };
        let friction_bound = match friction_bound {
            FrictionBound::Cone => FrictionBoundForm::Cone,
            FrictionBound::Weight => FrictionBoundForm::Weight,
        };
        Self {
            dt,
            gravity: gravity.to_array(),
            substeps,
            sweeps,
            relax_sweeps,
            contact: contact.into(),
            joint: joint.into(),
            warm_start,
            stop_residual,
            order,
            friction_bound,
            average_impulses,
            contact_margin,
            contact_slop,
            push_speed,
            friction: friction.into(),
            restitution_speed,
            recycle_distance,
            sleep_speed,
            sleep_time,
            max_speed,
            max_turn,
            threads,
            lanes,
            residuals,
            force_threshold,
            point_forces,
        }
    }

    pub fn build(self) -> Settings {
        Settings {
            dt: self.dt,
            gravity: Vec3::from_array(self.gravity),
            substeps: self.substeps,
            sweeps: self.sweeps,
            relax_sweeps: self.relax_sweeps,
            contact: self.contact.into(),
            joint: self.joint.into(),
            warm_start: self.warm_start,
            stop_residual: self.stop_residual,
            order: match self.order {
                OrderForm::Joint => Order::Joint,
                OrderForm::Staggered { rigid, deformable } => Order::Staggered { rigid, deformable },
            },
            friction_bound: match self.friction_bound {
                FrictionBoundForm::Cone => FrictionBound::Cone,
                FrictionBoundForm::Weight => FrictionBound::Weight,
            },
            average_impulses: self.average_impulses,
            contact_margin: self.contact_margin,
            contact_slop: self.contact_slop,
            push_speed: self.push_speed,
            friction: self.friction.into(),
            restitution_speed: self.restitution_speed,
            recycle_distance: self.recycle_distance,
            sleep_speed: self.sleep_speed,
            sleep_time: self.sleep_time,
            max_speed: self.max_speed,
            max_turn: self.max_turn,
            threads: self.threads,
            lanes: self.lanes,
            residuals: self.residuals,
            force_threshold: self.force_threshold,
            point_forces: self.point_forces,
        }
    }
}
