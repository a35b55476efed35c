//! Sinew: interactive simulation of coupled rigid and deformable bodies.
//!
//! A [`World`] owns bodies and constraints; [`World::step`] advances them by one step and returns a [`Report`] with
//! times, forces, events and faults. All bodies share one constraint space: rigid bodies and nodes are solved in the
//! same sweep.
//!
//! ```
//! use sinew::*;
//! # fn main() -> Result<(), Error> {
//! let mut world = World::new(Settings::default())?;
//! world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
//! let brick = world.add_rigid(RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.05, 0.05)).at([0.0, 1.0, 0.0]))?;
//! for _ in 0..120 {
//!     world.step(&Input::none());
//! }
//! println!("{:.3}", world.body(brick)?.position().y);
//! # Ok(()) }
//! ```

pub mod classic;
mod collision;
mod constraint;
mod contact;
mod debug;
pub mod deformable;
mod error;
pub mod friction;
mod guard;
mod input;
mod island;
mod ledger;
mod math;
mod model;
mod report;
mod settings;
mod solver;
mod state;
mod step;
pub mod tool;
mod tuning;
mod work;
mod world;

pub use collision::{Sample, Sdf, SdfError};
pub use constraint::{
    AttachTarget, Attachment, BendLaw, Bending, Bounds, ConstraintSpec, Distance, DistanceSet, Joint, JointKind, Motor,
    PatchJoint, PatchKind, PatchRest, Pulley, Row, RowBuffer, RowId, RowWriter, Rows, Site, Term, View, Volume,
    VolumeLaw,
};
pub use deformable::ElementStress;
pub use error::Error;
/// Descriptions of public types as data.
pub use sinew_spec as spec;

/// Finite elements: parameters, loads.
pub mod fem {
    pub use crate::deformable::fem::{
        Elements, Face, Integrator, Law, MembraneError, MembraneParams, Params, ParamsError, PlaneStress, Plasticity,
        SolidError, SolidParams, pressure, reactions,
    };
}

/// Masses and springs: parameters.
pub mod spring {
    pub use crate::deformable::spring::{
        Dashpot, Element, Integrator, Mass, Params, SpringError as ParamsError, Stiffness, VolumeForce,
    };
}

/// Position based dynamics: parameters.
pub mod pbd {
    pub use crate::deformable::particle::{Damping, ParticleError as ParamsError};
    pub use crate::deformable::pbd::{Cord, Params, Sheet, Solid, Structure};
}

/// Parameters of oriented particles.
pub mod oriented {
    pub use crate::deformable::oriented::{Ellipsoid, Groups, Params, Particle};
    pub use crate::deformable::particle::ParticleError as ParamsError;
    pub use crate::deformable::shape_matching::{Group, Plasticity};
}

/// Shape matching: parameters.
pub mod shape_matching {
    pub use crate::deformable::particle::{Damping, ParticleError as ParamsError};
    pub use crate::deformable::shape_matching::{Clusters, Group, Mode, Params, Plasticity};
}

/// Meshless bodies by moving least squares: parameters.
pub mod meshless {
    pub use crate::deformable::meshless::{MlsError as ParamsError, MlsParams as Params, Scheme};
}

pub use input::{Command, FixedStep, Input};
pub use math::{Block, Mat3, Pose, Quat, Real, Sym3, Vec3};
pub use model::exchange::{Exchange, ExchangeError, SourceState, TargetBody, exchange};
pub use model::particle_skin::ParticleSkin;
pub use model::primitives::{Diagonals, Polyline, PrimitiveError};
pub use model::surface::{BindError, BindOptions, Share, Surface, offset};
pub use model::tet_mesh::{TetMesh, TetMeshError};
pub use model::tri_mesh::{TriMesh, TriMeshError};
pub use model::{
    Air, BodyId, Collider, ConstraintId, Corners, CustomModel, ElasticMaterial, Geometry, Grain, Groups, HeldFace,
    Load, LostConstraints, Model, ModelRegistry, Motion, NewNode, PairRule, PairRules, Pairing, Particles, PinnedAxes,
    Preset, Region, Remap, Reserve, RigidBody, Shape, Skin, SoftBody, SoftModel, SurfaceMaterial, TopologyEdit,
};
pub use report::{
    BodyLedger, ConstraintForce, ContactForce, Counts, Energies, Event, Fault, FaultKind, Ledger, LedgerDetail,
    LedgerReport, MomentumLedger, PairForce, Phase, Report, SoftReport, Spread, Tangle, TangleEnd,
};
pub use settings::{ContactMethod, FrictionBound, Order, Settings, Stabilization, TimeOfContact};
pub use solver::implicit::Settings as Implicit;
pub use solver::soft::{Softness, soften};
pub use state::{ClothContactMemory, Column, ContactKey, ContactMemory, PointMemory, State, ToolAnchor, ToolMemory};
pub use world::{
    Addition, Blueprint, BodySpec, BodyView, Combined, CombinedIds, ComplianceOptions, ComplianceReport,
    ComplianceScratch, ElasticView, GraspForce, Overlap, PointHit, PressurePoint, QueryFilter, RayHit, ShapeHit,
    SiteDirection, SiteForce, SiteResponse, Slot, Tissue, TissueModel, TopologyChange, TopologyDelta, World,
};

/// The names that most programs need.
///
/// ```
/// use sinew::prelude::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::new(Settings::default())?;
/// world.add(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
/// let brick = world.add(RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.05, 0.05)).at([0.0, 1.0, 0.0]))?;
/// for _ in 0..120 {
///     world.step(&Input::none());
/// }
/// assert!((world.body(brick)?.position().y - 0.05).abs() < 1e-3);
/// # Ok(()) }
/// ```
pub mod prelude {
    pub use crate::{
        BodyId, Collider, Command, ConstraintId, ElasticMaterial, Error, Geometry, Input, Joint, Particles, Pose, Quat,
        Real, Report, RigidBody, Settings, Shape, Site, SoftBody, SoftModel, SurfaceMaterial, TetMesh, TriMesh, Vec3,
        World,
    };
}

/// Kernels for benchmarks and for users with their own rows.
#[doc(hidden)]
pub mod kernels {
    pub use crate::solver::pgs::{Pass, sweep, warm_start};
    pub use crate::solver::pool::Pool;
    pub use crate::solver::row_lanes::RowLanes;
}

/// Internal interfaces for benchmarks: a model by itself, without a world.
#[doc(hidden)]
pub mod trial {
    pub use crate::deformable::Alone;
    pub use crate::deformable::fem::Corotational;
    pub use crate::deformable::meshless::Mls;
    pub use crate::deformable::{
        BodyMut, BodyRef, Deformable, ElementStress, Modes, Operator, SmoothMotions, StepContext,
    };
    pub use crate::deformable::{cloth, fem, oriented, particle, pbd, shape_matching, spring};
    pub use crate::solver::implicit::{Placed, Scratch, Settings, System, regularize, solve};
}
