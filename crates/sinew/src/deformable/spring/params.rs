//! Parameters of a mass-spring body as plain data, and the errors when it is rejected.

use crate::math::Real;
use crate::model::tet_mesh::TetMeshError;
use crate::model::tri_mesh::TriMeshError;
use sinew_spec::{ANY, NOT_NEGATIVE, POSITIVE, choice, record, words};

/// Stiffness of the springs.
///
/// An example is at [`spring::Params`](crate::spring::Params).
#[derive(Clone, Debug, PartialEq)]
pub enum Stiffness {
    /// The same for every spring [N/m].
    Uniform(Real),
    /// One number per spring [N/m], in the order of [`super::MassSpring::springs`].
    PerSpring(Vec<Real>),
    /// Young's modulus E [Pa]: k = E V/L² with V the volume of the elements around the spring (van Gelder 1998; sheets:
    /// area times thickness, ropes: cross-section times length). Exact for springs in all directions and ν = 1/4.
    Young(Real),
}

/// Arrangement of spring and dashpot (FC Fig. 2.5). k and c are those of the spring.
///
/// An example is at [`spring::Params`](crate::spring::Params).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Element {
    /// k parallel to c: creeps to F/k with the time constant c/k.
    Voigt,
    /// k in series with c: relaxes to zero force with the time constant c/k; flows.
    Maxwell,
    /// k parallel to an arm of `arm`·k in series with c, the standard linear solid: stiff initially, k in the long
    /// term.
    Kelvin {
        /// Ratio of the stiffness of the arm to that of the spring.
        arm: Real,
    },
}

/// Damping constants of the dashpots.
///
/// An example is at [`spring::Params`](crate::spring::Params).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dashpot {
    /// None: springs only.
    None,
    /// c, the same for every spring [N·s/m].
    Coefficient(Real),
    /// Damping ratio ζ of each spring alone between its two nodes: c = 2 ζ √(k m_a m_b/(m_a + m_b)).
    Ratio(Real),
    /// c/k of the spring to which the dashpot is connected, the time constant of creep or relaxation [s].
    Time(Real),
}

/// Volume preservation of tetrahedra.
///
/// An example is at [`spring::Params`](crate::spring::Params).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VolumeForce {
    /// No volume force.
    None,
    /// The sum of the distances of the corners from the centre (FC 2.27) [N/m].
    Radial {
        /// k_V [N/m].
        stiffness: Real,
    },
    /// The volume itself, by its gradient (FC 7.3) [N/m⁵].
    Gradient {
        /// k_V [N/m⁵].
        stiffness: Real,
    },
    /// As `Gradient` with k_V = modulus/rest volume for each tetrahedron: does not depend on the mesh.
    Bulk {
        /// Added bulk modulus [Pa].
        modulus: Real,
    },
}

impl VolumeForce {
    /// k_V of a tetrahedron with this measure at rest [N/m or N/m⁵].
    pub(super) fn stiffness(self, rest: Real) -> Real {
        match self {
            VolumeForce::None => 0.0,
            VolumeForce::Radial { stiffness } | VolumeForce::Gradient { stiffness } => stiffness,
            VolumeForce::Bulk { modulus } => modulus / rest,
        }
    }
}

/// Source of the nodal masses.
///
/// An example is at [`spring::Params`](crate::spring::Params).
#[derive(Clone, Debug, PartialEq)]
pub enum Mass {
    /// Density [kg/m³]; not for an explicit list of springs.
    Density(Real),
    /// Total mass of the body [kg], distributed by volume; evenly for an explicit list of springs.
    Total(Real),
    /// Mass of each node [kg].
    PerNode(Vec<Real>),
}

/// Time integrator.
///
/// An example is at [`spring::Params`](crate::spring::Params).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrator {
    /// v += h a(x), x += h v. First order in v: v is the mean velocity of the last step, half a step behind x; the
    /// positions are those of Verlet's two-step formula (FC 7.2.4) with x₋₁ = x₀ − h v₀.
    SymplecticEuler,
    /// Velocity Verlet: half a kick before and half a kick after the motion. v is the velocity at the time of x, second
    /// order. Forces are evaluated twice per step; constraints act on the velocity between the kicks.
    Verlet,
    /// Linearly implicit Euler: stiffness does not limit the step, rotation does; has numerical damping.
    Implicit,
}

/// A mass-spring body.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let block = TetMesh::block([2, 2, 2], Vec3::splat(0.1))?;
/// let params = spring::Params {
///     stiffness: spring::Stiffness::Young(2e4),
///     dashpot: spring::Dashpot::Ratio(0.2),
///     volume: spring::VolumeForce::Bulk { modulus: 1e4 },
///     integrator: spring::Integrator::Implicit,
///     ..spring::Params::default()
/// };
/// let model = SoftModel::Springs(params);
/// let mut world = World::default();
/// let body = world.add_soft(SoftBody::new(Geometry::Tets(block), model).pin_region([-1.0, 0.049, -1.0], [1.0, 1.0, 1.0]))?;
/// for _ in 0..5 {
///     world.step(&Input::none());
/// }
/// assert!(world.body(body)?.node_positions().iter().all(|x| x.is_finite()));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// Stiffness of the springs.
    pub stiffness: Stiffness,
    /// Arrangement of spring and dashpot.
    pub element: Element,
    /// Damping constants of the dashpots.
    pub dashpot: Dashpot,
    /// Volume preservation, for bodies of tetrahedra.
    pub volume: VolumeForce,
    /// Mass.
    pub mass: Mass,
    /// Thickness of a sheet [m].
    pub thickness: Real,
    /// Cross-section of a rope [m²].
    pub cross_section: Real,
    /// Stiffness of the springs between second neighbours of a sheet or rope, as a fraction of the value from Young's
    /// modulus or the uniform stiffness; 0: none.
    pub bending: Real,
    /// Time integrator.
    pub integrator: Integrator,
}

impl Default for Params {
    /// Soft tissue: E = 10 kPa, 1000 kg/m³, Voigt elements with 5 % of critical damping, no volume force, explicit.
    fn default() -> Self {
        Self {
            stiffness: Stiffness::Young(1e4),
            element: Element::Voigt,
            dashpot: Dashpot::Ratio(0.05),
            volume: VolumeForce::None,
            mass: Mass::Density(1000.0),
            thickness: 1e-3,
            cross_section: 1e-4,
            bending: 0.1,
            integrator: Integrator::SymplecticEuler,
        }
    }
}

/// Reason why a body is rejected.
///
/// An example is at [`spring::Params`](crate::spring::Params).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpringError {
    /// A number outside its range.
    #[error("{name} = {value}: must be {range}")]
    OutOfRange {
        /// Field of [`Params`], with the index in a list.
        name: String,
        /// The given value.
        value: Real,
        /// The allowed range.
        range: &'static str,
    },
    /// A list of the wrong length.
    #[error("{name} has {given} numbers, but there are {wanted} {of}")]
    Count {
        /// Field of [`Params`].
        name: &'static str,
        /// Numbers given.
        given: usize,
        /// Required count of numbers.
        wanted: usize,
        /// Kind of item that is counted.
        of: &'static str,
    },
    /// An invalid spring.
    #[error("spring {spring} ({a}, {b}): {reason}")]
    Spring {
        /// Index of the spring.
        spring: usize,
        /// First node.
        a: u32,
        /// Second node.
        b: u32,
        /// Reason.
        reason: &'static str,
    },
    /// A node without mass.
    #[error("node {node} belongs to no element, so it has no mass: remove it or give masses per node")]
    NoMass {
        /// Index of the node.
        node: usize,
    },
    /// A parameter that this kind of body cannot use.
    #[error("{name}: {reason}")]
    Unfit {
        /// Field of [`Params`].
        name: &'static str,
        /// Reason, and the alternative.
        reason: &'static str,
    },
    /// The mesh cannot be simulated.
    #[error(transparent)]
    Tets(#[from] TetMeshError),
    /// The surface cannot be simulated.
    #[error(transparent)]
    Triangles(#[from] TriMeshError),
}

/// Returns an error for a number that is not positive and finite.
pub(super) fn positive(name: &str, value: Real) -> Result<(), SpringError> {
    within(name, value, value > 0.0 && value.is_finite(), "positive and finite")
}

/// Returns an error for a number that is negative or not finite.
pub(super) fn not_negative(name: &str, value: Real) -> Result<(), SpringError> {
    within(name, value, value >= 0.0 && value.is_finite(), "0 or more and finite")
}

fn within(name: &str, value: Real, ok: bool, range: &'static str) -> Result<(), SpringError> {
    if ok { Ok(()) } else { Err(SpringError::OutOfRange { name: name.to_owned(), value, range }) }
}

impl Params {
    /// Returns an error for numbers outside their ranges, with the field. Lists are checked where their length is
    /// known.
    pub(super) fn check(&self) -> Result<(), SpringError> {
        match &self.stiffness {
            Stiffness::Uniform(k) => positive("stiffness.uniform", *k)?,
            Stiffness::Young(e) => positive("stiffness.young", *e)?,
            Stiffness::PerSpring(_) => {}
        }
        if let Element::Kelvin { arm } = self.element {
            positive("element.kelvin.arm", arm)?;
        }
        match self.dashpot {
            Dashpot::None => {}
            Dashpot::Coefficient(c) => not_negative("dashpot.coefficient", c)?,
            Dashpot::Ratio(zeta) => not_negative("dashpot.ratio", zeta)?,
            Dashpot::Time(t) => not_negative("dashpot.time", t)?,
        }
        match self.volume {
            VolumeForce::None => {}
            VolumeForce::Radial { stiffness } => not_negative("volume.radial.stiffness", stiffness)?,
            VolumeForce::Gradient { stiffness } => not_negative("volume.gradient.stiffness", stiffness)?,
            VolumeForce::Bulk { modulus } => not_negative("volume.bulk.modulus", modulus)?,
        }
        match &self.mass {
            Mass::Density(rho) => positive("mass.density", *rho)?,
            Mass::Total(m) => positive("mass.total", *m)?,
            Mass::PerNode(_) => {}
        }
        positive("thickness", self.thickness)?;
        positive("cross_section", self.cross_section)?;
        not_negative("bending", self.bending)
    }
}

record!(Params, "spring model", "Masses and springs.", Params::default(), {
    stiffness: ANY, "Stiffness of the springs.";
    element: ANY, "Arrangement of spring and dashpot.";
    dashpot: ANY, "Strength of the dashpots.";
    volume: ANY, "Volume preservation, for bodies of tetrahedra.";
    mass: ANY, "Mass.";
    thickness: POSITIVE, "Thickness of a sheet [m].";
    cross_section: POSITIVE, "Cross-section of a rope [m²].";
    bending: NOT_NEGATIVE, "Stiffness of springs between second neighbours, as a share; 0: none.";
    integrator: ANY, "Time integration.";
});

choice!(Stiffness, "spring stiffness", "How stiff the springs are.", {
    "uniform" => Uniform, "The same for every spring.", { 0 value: Real, POSITIVE, "Stiffness [N/m]."; };
    "per_spring" => PerSpring, "One number a spring.", { 0 values: Vec<Real>, POSITIVE, "Stiffness [N/m] each."; };
    "young" => Young, "From Young's modulus and the volume around each spring.", {
        0 modulus: Real, POSITIVE, "Young's modulus [Pa].";
    };
});

choice!(Element, "spring element", "Arrangement of spring and dashpot.", {
    "voigt" => Voigt, "Spring beside dashpot: creeps.", {};
    "maxwell" => Maxwell, "Spring behind dashpot: flows.", {};
    "kelvin" => Kelvin, "Standard linear solid: stiff at first, softer in the long run.", {
        arm arm: Real, POSITIVE, "Stiffness of the arm as a share of the spring's.";
    };
});

choice!(Dashpot, "dashpot", "How strong the dashpots are.", {
    "none" => None, "Springs only.", {};
    "coefficient" => Coefficient, "The same for every spring.", { 0 value: Real, NOT_NEGATIVE, "Coefficient [N·s/m]."; };
    "ratio" => Ratio, "Damping ratio of each spring alone.", { 0 value: Real, NOT_NEGATIVE, "Damping ratio."; };
    "time" => Time, "Time of creep or relaxation.", { 0 value: Real, NOT_NEGATIVE, "Time [s]."; };
});

choice!(VolumeForce, "volume force", "What keeps the volume of tetrahedra.", {
    "none" => None, "Nothing.", {};
    "radial" => Radial, "Distances of the corners from the centre.", {
        stiffness stiffness: Real, NOT_NEGATIVE, "Stiffness [N/m].";
    };
    "gradient" => Gradient, "The volume itself, by its gradient.", {
        stiffness stiffness: Real, NOT_NEGATIVE, "Stiffness [N/m⁵].";
    };
    "bulk" => Bulk, "As gradient, but independent of the mesh.", {
        modulus modulus: Real, NOT_NEGATIVE, "Added bulk modulus [Pa].";
    };
});

choice!(Mass, "mass", "Where the mass comes from.", {
    "density" => Density, "Density.", { 0 value: Real, POSITIVE, "Density [kg/m³]."; };
    "total" => Total, "Mass of the whole body.", { 0 value: Real, POSITIVE, "Mass [kg]."; };
    "per_node" => PerNode, "Mass of each node.", { 0 values: Vec<Real>, POSITIVE, "Masses [kg]."; };
});

words!(Integrator, {
    "symplectic_euler" => SymplecticEuler, "First order, keeps energy.";
    "verlet" => Verlet, "Second order.";
    "implicit" => Implicit, "Linearly implicit Euler: any step; damps by itself.";
});
