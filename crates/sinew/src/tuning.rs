//! Tuning constants of contacts, islands, guards and the implicit solver, each with its reason. Dimensionless unless a
//! unit is named. Sizes of lanes and blocks are beside the code that they lay out.

/// Stiffness of contacts in stacks.
pub(crate) mod stack {
    use crate::math::Real;

    /// Limit on the sum of effective masses of the contacts of a body, in units of its own mass; beyond it, the stiffness
    /// of all of them is reduced. A contact has the largest stiffness that a substep resolves for it alone, and where a
    /// body has several contacts their stiffness adds up: the pile of 1024 boxes, in which a box has eight neighbours and
    /// so four masses, oscillated vertically with 4 to 11 J and never came to rest; with limits of 1.5 and 2 it does, with
    /// 2.5 and 3 (one start each) it did not. Two is a box between two below and two above.
    pub(crate) const MOST_HELD: Real = 2.0;
}

/// Static and kinetic friction.
pub(crate) mod friction {
    use crate::math::Real;

    /// A point at its cone slips, and goes from the static to the kinetic coefficient, once a substep moves it by more than
    /// this fraction of the displacement that its spring can hold. Before, it only yields: the points of a patch reach their
    /// cones one after the other, and their springs turn into the direction of the pull by fractions of a displacement, while
    /// the patch as a whole still holds (F04).
    pub(crate) const BREAK_AWAY: Real = 0.1;
    /// Radius of the contact patch of a round body on one point, as a fraction of its radius of curvature r. Hertz: a/r =
    /// (3 N/(4 E r²))^⅓, which is 1e-3 for hard bodies (E = 1e11 Pa) that carry about their own weight. In the limit of a
    /// point nothing holds a pinched ball against spin about the normal, and rounding turned it by 5 degrees in a minute.
    /// A ball of 20 mm radius on a table with μ = 0.5 loses 0.36 rad/s of spin per second to it.
    pub(crate) const PATCH: Real = 1e-3;
    /// Largest torque of Coulomb friction in a patch under Hertz pressure: 3π/16 μ N a.
    pub(crate) const TORSION: Real = 0.589;
    /// Fraction of the friction limit from which an impulse counts as at the cone: an impulse that was projected onto the
    /// disc is shorter than its radius by rounding.
    pub(crate) const AT_CONE: Real = 0.9999;
}

/// Contacts of surfels with rigid bodies.
pub(crate) mod surfel {
    use crate::math::Real;

    /// Iterations for the common normal of an ellipsoid and a shape.
    pub(crate) const AGREE: usize = 8;
    /// Rounding error of a height over a plane, as a fraction of the distances it is computed from.
    pub(crate) const ROUNDING: Real = 1e-5;
}

/// Contacts of surfaces of bodies of nodes.
pub(crate) mod surface {
    use crate::math::Real;

    /// Largest difference between normals of a flat face: 1 − cosine.
    pub(crate) const FLAT: Real = 1e-4;
    /// Smallest slope at which a corner without a contact rises from one with a contact: several times the angle between
    /// normals that count as equal.
    pub(crate) const RISE: Real = 0.05;
    /// Weight from which a point of a triangle counts as its corner.
    pub(crate) const CORNER: Real = 0.999;
    /// Penetration of triangles between corners on a curved side that is tolerated, as a fraction of the contact margin.
    pub(crate) const SAG: Real = 0.2;
    /// Depth of a vertex below a face from which a point-in-solid test is made, as a fraction of the contact margin. At
    /// smaller depths rounding decides on which side of an edge it is.
    pub(crate) const DOUBTFUL: Real = 0.02;
    /// Largest penetration of an edge whose vertices have contacts, in contact margins.
    pub(crate) const HELD_SAG: Real = 0.04;
    /// Additional depth of another point of a triangle at which its contact moves there, as a fraction of the contact
    /// margin.
    pub(crate) const DEEPER: Real = 0.01;
    /// Cosine of the largest angle between the normals of the two.
    pub(crate) const SAME_WAY: Real = 0.98;
}

/// Sheets and cords between two bodies.
pub(crate) mod pinch {
    /// det K/(K_aa K_bb) of two contacts, and share of a diagonal that elimination leaves, below which both bodies count as
    /// immovable: their contacts contradict each other then. Inverse masses of nodes are known to 6e-8, and a body of 10^9
    /// times the mass of a node is as good as fixed.
    pub(crate) const IMMOVABLE: f64 = 1e-9;
}

/// Shapes that began inside a soft body.
pub(crate) mod inside {
    use crate::math::Real;

    /// Search distance for the face that decides on which side of the surface a point is, as a multiple of its distance
    /// from the surface: rounding.
    pub(crate) const AROUND: Real = 1.01;
}

/// Contacts of edges at the rim of a face.
pub(crate) mod rim {
    use crate::math::Real;

    /// Fraction of the edge length from an end within which the contact of that end is sufficient.
    pub(crate) const END: Real = 0.02;
    /// Fraction of the search distance by which an edge may penetrate at the rim: a deeper edge rises steeply beside the
    /// body, and its nearest point gives the better separation direction.
    pub(crate) const DEEP: Real = 0.4;
    /// Largest depth of the far end of an edge behind the face, as a fraction of its displacement along the face: a steeper
    /// edge rises beside the body. A row along the normal of the face accelerated stiff membranes around the edges of a box
    /// to 170 times the energy that the stability grid allows; at 1 some still were, at 0.5 none.
    pub(crate) const STEEP: Real = 0.5;
    /// Depth under the face at which its rim is searched, as a fraction of the search distance.
    pub(crate) const UNDER: Real = 0.01;
}

/// Integration of soft bodies.
pub(crate) mod soft_body {
    use crate::math::Real;

    /// Fraction of a model's stable step that is used: material may become stiffer before the step ends.
    pub(crate) const STABLE_SHARE: Real = 0.8;
}

/// Conservation of angular momentum in free islands.
pub(crate) mod momentum {
    use crate::math::Real;

    /// Fraction of the largest eigenvalue of S below which a direction counts as singular: all move along one line.
    pub(crate) const LINE: f64 = 1e-4;
    /// Relative velocity, as a fraction of the common velocity of an island, that rounding leaves between its parts.
    #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
    pub(crate) const NOISE: f64 = 64.0 * Real::EPSILON as f64;
    /// Fraction of Σ m v² that Σ m u² must have. Sums in double precision leave δ = Σ m u, some 1e-16 of Σ m |v| instead of
    /// zero, and the rotation makes h (δ × a) × v of angular momentum from it, which is to be a thousandth of the D that it
    /// removes.
    pub(crate) const SUMS: f64 = 1e3 * f64::EPSILON;
}

/// Substeps for cloths and ropes.
pub(crate) mod cloth_substeps {
    use crate::math::Real;

    /// Largest displacement of a node in a substep relative to the mean motion of its body, as a fraction of the mean edge.
    /// With a quarter the irregular cloth of S1 stretched by 5.4 % at worst instead of 4.4.
    pub(crate) const SHARE: Real = 0.125;
    /// Fraction of the substeps of a step that the next one has at least: from 20 to 9 at once an edge was stretched by 6
    /// %.
    pub(crate) const KEEP: Real = 0.8;
}

/// Energy budgets of soft bodies.
pub(crate) mod energy_limiter {
    use crate::math::Real;

    /// Fraction of its rest length by which an edge may change in a substep before the energy is checked.
    pub(crate) const CHANGE: Real = 0.5;
    /// The same for bodies with goal positions, which are stable at any change and only lose accuracy: then they are solved
    /// as one implicit system.
    pub(crate) const FLUNG: Real = 5.0;
    /// Largest ratio of the kinetic energy of an explicit body to its energy budget.
    pub(crate) const SWING: Real = 4.0;
    /// Displacement within a substep, in shortest edges, below which no motion is reduced: bodies at rest vibrate by
    /// rounding errors.
    pub(crate) const TREMBLE: Real = 1e-3;
    /// Relative error of energies summed in single precision.
    pub(crate) const ROUNDING: Real = 1e-3;
    /// Maximum number of halvings: a motion of a thousand times the size of a body is then within rounding.
    pub(crate) const HALVINGS: u32 = 30;
}

/// Continuous collision detection.
pub(crate) mod ccd {
    use crate::math::Real;

    /// Rounds in which single nodes and bodies are stopped; after that all bodies concerned keep their initial positions.
    pub(crate) const ROUNDS: usize = 24;
    /// Rounds of `stop_at_impact`, which may leave crossings.
    pub(crate) const PUT_BACK_ROUNDS: usize = 8;
    /// Fraction of the smaller half width by which bodies at rest on each other may approach within a step without being
    /// stopped by `stop_at_impact`.
    pub(crate) const RESTING: Real = 0.5;
    /// Sweeps over the impulses of stopped pairs.
    pub(crate) const SWEEPS: usize = 8;
    /// Fraction of the time of contact that `stop_at_impact` uses: a body placed exactly on a surface would begin the next step
    /// on both sides.
    pub(crate) const SHORT: f64 = 0.99;
    /// Maximum number of feature pairs that may be listed in a step, and of distance evaluations for following them: a
    /// constant plus a number per cell. A surface that moves by its own size within a step is near everything: a hundred
    /// nodes made 400,000 pairs and took seconds.
    pub(crate) const LOOKS: usize = 200_000;
    pub(crate) const LOOKS_A_CELL: usize = 256;
    /// Number of times that two bodies are held back because the list is too long; after that all are.
    pub(crate) const HELD_BACK: usize = 8;
    /// Fraction of its velocity that a body keeps when it is held back: within a few steps its displacement is short enough
    /// to be followed.
    pub(crate) const SLOWED: Real = 0.5;
}

/// Resolution of intersections.
pub(crate) mod intersections {
    /// Passes over the scene.
    pub(crate) const ROUNDS: usize = 16;
    /// Bisections in the search for the shortest translation.
    pub(crate) const HALVINGS: usize = 10;
}

/// Joints that are solved together.
pub(crate) mod direct {
    use crate::math::Real;

    /// Largest number of products in the factorisation of joints that are linked; above it they are swept. About a
    /// millisecond: a chain of 4,000 ball joints, or a net of 20 x 20.
    pub(crate) const MOST_WORK: usize = 4_000_000;
    /// Pivot, as a fraction of the diagonal, below which a row depends on others. The independent part of a redundant row
    /// is the opening of its joints, not a rounding error: with that of f64 the bridge of the gallery came apart.
    pub(crate) const DEPENDENT: f64 = 64.0 * f32::EPSILON as f64;
    /// Largest rotation of a joint's arm in a substep [rad], as far as `Settings::max_substeps` allows. The rows are
    /// those of the start of a substep: beyond second order in this angle a joint opens. A folded chain of 65 links of
    /// which one end is released opens by 6.5 % of a link with 0.25, by 2 % with 0.15.
    pub(crate) const TURN: Real = 0.15;
    /// Rotation of an arm in a substep [rad] from which the motion beyond the tangent may not add energy.
    pub(crate) const FAST: Real = 2.0 * TURN;
    /// Opening of a joint of a body that turns faster than that, as a fraction of the reach of its bodies, at which it is
    /// reported.
    pub(crate) const LOOSE: Real = 0.05;
}

/// Passes of the implicit solver.
pub(crate) mod implicit {
    use crate::math::Real;

    /// A pass has converged when the impulses of law and linear model differ by less than this times the CG's tolerance.
    pub(crate) const LAW_TOLERANCE: Real = 10.0;
    /// Fraction by which disc radii approach μ λ(normal) from pass to pass. With 1 radii and normal impulses of a sliding
    /// soft body oscillate (E = 1e6 Pa, 17 ms: never converges); 0.3 is the largest value tried that always converged.
    pub(crate) const RADIUS_BLEND: Real = 0.3;
    /// Number of first passes with a fraction of 1 for points that carried no impulse before: an impact converges in a few
    /// passes. Discs of points that did begin at μ times that impulse: in steady slip it is right, and a first guess from
    /// the law would oscillate in the quick passes (μ = 0.8, 1 MPa, 1/60 s: 12.4 passes and a fifth of the acceleration,
    /// now 3.7).
    pub(crate) const QUICK_PASSES: u32 = 4;
    /// Largest coefficient of friction for which discs begin at μ times the impulse of the last step. With μ = 1e6 an error
    /// of that impulse threw a block of jelly of eight nodes by 46 m/s.
    pub(crate) const LARGEST_KNOWN: Real = 10.0;
    /// Step length of the line search below which a step counts as stalled.
    pub(crate) const STALL: Real = 0.1;
    /// Divisor of the iteration limit: after the first stalled step the CG makes this fraction of all iterations without a
    /// check of the rows. With all of them a rope around a wheel (C02, implicit springs) had none left for its other
    /// passes.
    pub(crate) const PATIENCE: u32 = 3;
    /// Maximum number of evaluations of the line search, and the fraction of the largest slope that counts as zero.
    pub(crate) const CUT_STEPS: u32 = 8;
    pub(crate) const LEVEL: Real = 1e-2;
}

/// Conjugate gradients within a pass.
pub(crate) mod cg {
    use crate::math::Real;

    /// Iterations between two checks of the rows within a pass, and the mismatch at which the pass is stopped. Completing a
    /// pass with wrong rows is wasted work; restarting at every check would discard the conjugate directions.
    pub(crate) const CHECK: u32 = 8;
    pub(crate) const WRONG: Real = 0.1;
    /// One more check is made when the residual has decreased to this many tolerances, and the mismatch that is then
    /// allowed: the remainder of the pass costs a third of it, and is wasted when rows change. Iterations of `sinew-benches
    /// s7` 35 to 27 (coarse) and 50 to 41 (fine), passes 3.2 to 3.7 and 3.6 to 4.8; a pass costs three iterations.
    pub(crate) const EARLY: Real = 32.0;
    pub(crate) const UNSURE: Real = 0.02;
    /// Iterations before that check: after a single one the CG is a steepest-descent step, and restarting after each is
    /// steepest descent, with twenty passes where three are enough.
    pub(crate) const LEAST: u32 = 4;
}

/// Rows of the first passes.
pub(crate) mod near {
    use crate::math::Real;

    /// Fraction of the largest velocity change by forces that a row must be open by. Smaller: more rows are left out of the
    /// first passes and added by another one.
    pub(crate) const REACH: Real = 0.5;
}

/// Blocks of the preconditioner.
pub(crate) mod preconditioner {
    use crate::math::Real;

    /// Diagonal shift of a block that is not positive definite, in units of the rounding error of its trace.
    pub(crate) const LIFT: Real = 16.0;
    /// Number of attempts, each with a shift larger by that factor.
    pub(crate) const LIFTS: u32 = 4;
}

/// Smooth motions of the preconditioner.
pub(crate) mod smooth {
    use crate::math::Real;

    /// Number of products in a factorisation above which the island is solved without it: some milliseconds.
    pub(crate) const MOST_WORK: usize = 20_000_000;
    /// A motion whose pivot is less than this fraction of its stiffness is linearly dependent on others and is left out.
    pub(crate) const DEPENDENT: Real = 1e-4;
    /// Fraction of the rows' rates that may change before E is rebuilt.
    pub(crate) const NEARLY: Real = 0.1;
}

/// Correction of the momentum of bodies.
pub(crate) mod momentum_correction {
    use crate::math::Real;

    /// Relative rounding error of a sum of a few dozen Jacobians.
    pub(crate) const ROUNDING: Real = 64.0 * Real::EPSILON;
    /// Mismatch of rows whose linearisation has not changed: rounding.
    pub(crate) const SAME: Real = 1e-6;
}
