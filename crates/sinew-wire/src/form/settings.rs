//! Settings and their enums.

use super::V3;
use serde::{Deserialize, Serialize};
use sinew::{FrictionBound, Implicit, Order, Real, Settings, Stabilization};

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

impl From<Order> for OrderForm {
    fn from(order: Order) -> Self {
        match order {
            Order::Joint => Self::Joint,
            Order::Staggered { rigid, deformable } => Self::Staggered { rigid, deformable },
        }
    }
}

impl From<OrderForm> for Order {
    fn from(order: OrderForm) -> Self {
        match order {
            OrderForm::Joint => Self::Joint,
            OrderForm::Staggered { rigid, deformable } => Self::Staggered { rigid, deformable },
        }
    }
}

/// [`FrictionBound`].
#[derive(Serialize, Deserialize)]
pub(crate) enum FrictionBoundForm {
    Cone,
    Weight,
}

impl From<FrictionBound> for FrictionBoundForm {
    fn from(bound: FrictionBound) -> Self {
        match bound {
            FrictionBound::Cone => Self::Cone,
            FrictionBound::Weight => Self::Weight,
        }
    }
}

impl From<FrictionBoundForm> for FrictionBound {
    fn from(bound: FrictionBoundForm) -> Self {
        match bound {
            FrictionBoundForm::Cone => Self::Cone,
            FrictionBoundForm::Weight => Self::Weight,
        }
    }
}

mirror! {
    ImplicitForm of Implicit {
        stiffness: Real,
        rigid_stiffness: Real,
        tangential: Real,
        carry: Real,
        tolerance: Real,
        iterations: u32,
        passes: u32,
        audit_passes: u32,
        guard: u32,
    }
}

mirror! {
    SettingsForm of Settings {
        dt: Real,
        gravity: V3,
        substeps: u32,
        max_substeps: u32,
        implicit_substeps: u32,
        implicit: ImplicitForm,
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
}
