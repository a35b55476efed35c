//! Settings and their enums.

use super::V3;
use super::body::MaterialForm;
use serde::{Deserialize, Serialize};
use sinew::classic::Penalty;
use sinew::{
    ContactMethod, FrictionBound, Implicit, Order, PairRule, PairRules, Pairing, Real, Settings, Stabilization,
    TimeOfContact,
};

mirror_enum! {
    StabilizationForm of Stabilization {
        Baumgarte(share: Real),
        Soft { frequency: Real, damping_ratio: Real },
    }
}

mirror_enum! {
    OrderForm of Order {
        Interleaved,
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

mirror_enum! {
    PairRuleForm of PairRule { GeometricMean, Product, Minimum, Mean, Maximum }
}

/// [`PairRules`]; the table as families and surface.
#[derive(Serialize, Deserialize)]
pub(crate) struct PairRulesForm {
    friction: PairRuleForm,
    restitution: PairRuleForm,
    table: Vec<([u32; 2], MaterialForm)>,
}

impl From<PairRules> for PairRulesForm {
    fn from(rules: PairRules) -> Self {
        let PairRules { friction, restitution, table } = rules;
        let table = table.into_iter().map(|Pairing { families, surface }| (families, surface.into())).collect();
        Self { friction: friction.into(), restitution: restitution.into(), table }
    }
}

impl From<PairRulesForm> for PairRules {
    fn from(form: PairRulesForm) -> Self {
        let PairRulesForm { friction, restitution, table } = form;
        let table =
            table.into_iter().map(|(families, surface)| Pairing { families, surface: surface.into() }).collect();
        Self { friction: friction.into(), restitution: restitution.into(), table }
    }
}

mirror! {
    ImplicitForm of Implicit {
        stiffness: Real,
        soft_stiffness: Real,
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
        intersection_free: bool,
        minimum_gap: Real,
        stop_at_impact: bool,
        time_of_contact: TimeOfContactForm,
        impact_substeps: u32,
        sheet_substeps: u32,
        pairs: PairRulesForm,
    }
}
