//! Settings and their enums.

use super::V3;
use sinew::classic::Penalty;
use sinew::{ContactMethod, FrictionBound, Implicit, Order, Real, Settings, Stabilization, TimeOfContact};

mirror_enum! {
    StabilizationForm of Stabilization {
        Baumgarte(share: Real),
        Soft { frequency: Real, damping_ratio: Real },
    }
}

mirror_enum! {
    OrderForm of Order {
        Joint,
        Staggered { rigid: u32, deformable: u32 },
    }
}

mirror_enum! {
    FrictionBoundForm of FrictionBound { Cone, Weight }
}

mirror_enum! {
    PenaltyForm of Penalty {
        Quadratic { stiffness: Real },
        Buffered { stiffness: Real, buffer: Real },
        LogBarrier { strength: Real, buffer: Real },
    }
}

mirror_enum! {
    ContactMethodForm of ContactMethod { Rows, Penalty(law: PenaltyForm), Impulse }
}

mirror_enum! {
    TimeOfContactForm of TimeOfContact { Bisection, RegulaFalsi, Brent, Conservative }
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
        contact_method: ContactMethodForm,
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
        guaranteed: bool,
        minimum_gap: Real,
        put_back: bool,
        time_of_contact: TimeOfContactForm,
        impact_substeps: u32,
    }
}
