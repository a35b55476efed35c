//! Signed distance functions: distance of a point from a surface, negative inside the solid.
//!
//! ```text
//! plane         φ(x) = (x − p)·n
//! sphere        φ(x) = |x − c| − r
//! cylinder      φ(x) = √(|x − p|² − ((x − p)·n)²) − r          infinite along n
//! box           φ(x) = |max(q, 0)| + min(max(qx, qy, qz), 0)    q = |x| − half extents
//! intersection  φ(x) = max φᵢ(x)
//! union         φ(x) = min φᵢ(x)
//! complement    φ(x) = −φ₀(x)                                   inside and outside exchanged
//! ```
//! φ distance [m], x point [m], p point on the surface or the axis [m], c centre [m], r radius [m], n unit vector.
//! The normal is the gradient of φ: it points out of the solid and has length one.
//!
//! Source: RC, *Signed Distance Function Examples*, *Intersection of Signed Distance Functions*, *Union of Signed
//! Distance Functions*. Box, complement and placement are ours.
//!
//! Exactness. Plane, sphere, cylinder and box are exact on both sides. An intersection of exact parts is exact inside;
//! outside it is only a bound (RC leaves it as "φ = ?"): the true distance is at least φ. A union of exact parts is
//! exact outside and a bound inside. A complement swaps the two. The sign is right everywhere. In all cases φ never
//! overstates the distance and is Lipschitz continuous with constant 1, |φ(x) − φ(y)| ≤ |x − y|: a point that moves by
//! less than φ cannot cross the surface.
//!
//! Where the gradient does not exist (centre of a sphere, axis of a cylinder, edges of a minimum or maximum) the normal
//! is one of the possible unit vectors, always the same one for the same point.

use crate::math::{Pose, Real, Vec3};
use sinew_spec::{ANY, FINITE, POSITIVE, choice};

/// Maximum nesting depth: [`Sdf::sample`] is recursive, and the stack depth must not depend on a scene.
pub const SDF_DEPTH: usize = 16;

/// A signed distance function. Build it with the constructors, or write the variants and call [`Sdf::check`].
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), SdfError> {
/// // a bowl in a block
/// let bowl = Sdf::intersection([Sdf::cuboid(Vec3::ONE), Sdf::sphere(Vec3::Y, 0.8).complement()]);
/// bowl.check()?;
/// assert!(bowl.contains(Vec3::NEG_Y * 0.5) && !bowl.contains(Vec3::Y * 0.9));
/// let Sample { distance, normal } = Sdf::plane(Vec3::ZERO, Vec3::Y).sample(Vec3::Y * 2.0);
/// assert_eq!((distance, normal), (2.0, Vec3::Y));
/// assert!(Sdf::sphere(Vec3::ZERO, -1.0).check().is_err());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Sdf {
    /// Half-space behind a plane: solid on the side opposite to the normal.
    Plane {
        /// A point on the plane [m].
        point: Vec3,
        /// Outward normal of the solid; any length but zero.
        normal: Vec3,
    },
    /// Solid ball.
    Sphere {
        /// Centre [m].
        center: Vec3,
        /// Radius [m].
        radius: Real,
    },
    /// Solid cylinder of infinite length.
    Cylinder {
        /// A point on the axis [m].
        point: Vec3,
        /// Along the axis; any length but zero.
        axis: Vec3,
        /// Radius [m].
        radius: Real,
    },
    /// Solid box about the origin, axis-aligned; use [`Sdf::placed`] to move it.
    Box {
        /// Half the edge lengths [m].
        half_extents: Vec3,
    },
    /// Points that lie in all parts. Exact inside, a lower bound outside.
    Intersection(Vec<Sdf>),
    /// Points that lie in any part. Exact outside, a lower bound (of the depth) inside.
    Union(Vec<Sdf>),
    /// Points outside the inner function: the complement of a ball is a bowl.
    Complement(Box<Sdf>),
    /// The inner function, rotated and translated.
    Placed {
        /// From the inner frame to the outer frame.
        pose: Pose,
        /// The function that is placed.
        inner: Box<Sdf>,
    },
}

/// Distance and normal at one point.
///
/// An example is at [`Sdf`](crate::Sdf).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Signed distance, negative inside the solid [m].
    pub distance: Real,
    /// Gradient of the distance: outward, of length one.
    pub normal: Vec3,
}

/// Reason why a signed distance function was rejected. `at` is the path to the invalid part, as in
/// `union[2].complement.sphere`.
///
/// An example is at [`Sdf`](crate::Sdf).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SdfError {
    /// NaN or infinite.
    #[error("{at}: {field} is not finite")]
    NotFinite {
        /// Path to the invalid part.
        at: String,
        /// Name of the field.
        field: &'static str,
    },
    /// A size that is zero or negative.
    #[error("{at}: {field} is {value}, but must be above 0")]
    NotPositive {
        /// Path to the invalid part.
        at: String,
        /// Name of the field.
        field: &'static str,
        /// The value given [m].
        value: Real,
    },
    /// A direction without length.
    #[error("{at}: {field} is zero, but must give a direction")]
    NoDirection {
        /// Path to the invalid part.
        at: String,
        /// Name of the field.
        field: &'static str,
    },
    /// A rotation that also scales: distances would be wrong.
    #[error("{at}: the rotation of the pose has length {length}, normalise it to 1")]
    NotUnit {
        /// Path to the invalid part.
        at: String,
        /// Length of the quaternion.
        length: Real,
    },
    /// An empty intersection or union.
    #[error("{at}: the list is empty, give at least one part")]
    Empty {
        /// Path to the invalid part.
        at: String,
    },
    /// Nested too deeply.
    #[error("{at}: nested deeper than {SDF_DEPTH}, flatten the lists")]
    TooDeep {
        /// Path to the invalid part.
        at: String,
    },
}

impl Sdf {
    /// Half-space behind the plane through `point` [m] whose outward `normal` may have any length but zero.
    pub fn plane(point: Vec3, normal: Vec3) -> Self {
        Self::Plane { point, normal }
    }

    /// Solid ball: centre and radius [m].
    pub fn sphere(center: Vec3, radius: Real) -> Self {
        Self::Sphere { center, radius }
    }

    /// Solid cylinder of infinite length: a point on its axis [m], the axis (any length but zero) and the radius [m].
    pub fn cylinder(point: Vec3, axis: Vec3, radius: Real) -> Self {
        Self::Cylinder { point, axis, radius }
    }

    /// Solid box about the origin, by half its edge lengths [m].
    pub fn cuboid(half_extents: Vec3) -> Self {
        Self::Box { half_extents }
    }

    /// A spherical cavity in a solid that fills the rest of space: the complement of a ball (centre and radius [m]).
    pub fn bowl(center: Vec3, radius: Real) -> Self {
        Self::sphere(center, radius).complement()
    }

    /// Points that lie in all of `parts`.
    pub fn intersection(parts: impl Into<Vec<Sdf>>) -> Self {
        Self::Intersection(parts.into())
    }

    /// Points that lie in any of `parts`.
    pub fn union(parts: impl Into<Vec<Sdf>>) -> Self {
        Self::Union(parts.into())
    }

    /// Points outside this function.
    pub fn complement(self) -> Self {
        Self::Complement(Box::new(self))
    }

    /// This function, rotated and translated by `pose`.
    pub fn placed(self, pose: Pose) -> Self {
        Self::Placed { pose, inner: Box::new(self) }
    }

    /// Distance and normal at `x` [m]. The normal is finite and of length one for any `x`; the distance is finite for
    /// every checked function and every `x` whose distance is representable.
    pub fn sample(&self, x: Vec3) -> Sample {
        match self {
            Self::Plane { point, normal } => {
                let (_, normal) = split(*normal, Vec3::Y);
                Sample { distance: (x - *point).dot(normal), normal }
            }
            Self::Sphere { center, radius } => {
                let (length, normal) = split(x - *center, Vec3::Y);
                Sample { distance: length - radius, normal }
            }
            Self::Cylinder { point, axis, radius } => {
                // the part perpendicular to the axis directly: RC's difference of squares loses half the digits near
                // the axis
                let (_, axis) = split(*axis, Vec3::Y);
                let arm = x - *point;
                let across = arm - axis * arm.dot(axis);
                let (length, normal) = split(across, axis.any_orthonormal_vector());
                Sample { distance: length - radius, normal }
            }
            Self::Box { half_extents } => sample_box(*half_extents, x),
            Self::Intersection(parts) => extreme(parts, x, Real::NEG_INFINITY, |new, old| new > old),
            Self::Union(parts) => extreme(parts, x, Real::INFINITY, |new, old| new < old),
            Self::Complement(inner) => {
                let s = inner.sample(x);
                Sample { distance: -s.distance, normal: -s.normal }
            }
            Self::Placed { pose, inner } => {
                let s = inner.sample(pose.unpoint(x));
                // the length of a rotated vector has a rounding error: normalised again
                let (_, normal) = split(pose.rotation * s.normal, s.normal);
                Sample { distance: s.distance, normal }
            }
        }
    }

    /// True when `x` [m] lies inside the solid.
    pub fn contains(&self, x: Vec3) -> bool {
        self.sample(x).distance < 0.0
    }

    /// Rejects values for which [`Sdf::sample`] is undefined, and reports the path to the invalid part.
    ///
    /// # Errors
    /// A number that is not finite, a size that is not above zero, a direction without length, a rotation that is not
    /// of length one, an empty list, nesting deeper than `SDF_DEPTH`.
    pub fn check(&self) -> Result<(), SdfError> {
        self.check_at("", 1)
    }

    fn check_at(&self, way: &str, depth: usize) -> Result<(), SdfError> {
        let at = || if way.is_empty() { self.kind().to_string() } else { format!("{way}.{}", self.kind()) };
        if depth > SDF_DEPTH {
            return Err(SdfError::TooDeep { at: at() });
        }
        match self {
            Self::Plane { point, normal } => {
                finite(at, "point", *point)?;
                direction(at, "normal", *normal)
            }
            Self::Sphere { center, radius } => {
                finite(at, "center", *center)?;
                size(at, "radius", *radius)
            }
            Self::Cylinder { point, axis, radius } => {
                finite(at, "point", *point)?;
                direction(at, "axis", *axis)?;
                size(at, "radius", *radius)
            }
            Self::Box { half_extents } => {
                size(at, "half_extents.x", half_extents.x)?;
                size(at, "half_extents.y", half_extents.y)?;
                size(at, "half_extents.z", half_extents.z)
            }
            Self::Intersection(parts) | Self::Union(parts) => {
                if parts.is_empty() {
                    return Err(SdfError::Empty { at: at() });
                }
                let mut each = parts.iter().enumerate();
                each.try_for_each(|(i, part)| part.check_at(&format!("{}[{i}]", at()), depth + 1))
            }
            Self::Complement(inner) => inner.check_at(&at(), depth + 1),
            Self::Placed { pose, inner } => {
                finite(at, "pose.position", pose.position)?;
                if !pose.rotation.is_finite() {
                    return Err(SdfError::NotFinite { at: at(), field: "pose.rotation" });
                }
                // a thousandth: a quaternion given with four digits passes, one that was not normalised does not
                let length = pose.rotation.length();
                if (length - 1.0).abs() > 1e-3 {
                    return Err(SdfError::NotUnit { at: at(), length });
                }
                inner.check_at(&at(), depth + 1)
            }
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Plane { .. } => "plane",
            Self::Sphere { .. } => "sphere",
            Self::Cylinder { .. } => "cylinder",
            Self::Box { .. } => "box",
            Self::Intersection(_) => "intersection",
            Self::Union(_) => "union",
            Self::Complement(_) => "complement",
            Self::Placed { .. } => "placed",
        }
    }
}

/// The sample of the part preferred by `better`. An empty list gives `none`: all of space, or no solid at all.
fn extreme(parts: &[Sdf], x: Vec3, none: Real, better: fn(Real, Real) -> bool) -> Sample {
    let mut best = Sample { distance: none, normal: Vec3::Y };
    for (i, part) in parts.iter().enumerate() {
        let s = part.sample(x);
        if i == 0 || better(s.distance, best.distance) {
            best = s;
        }
    }
    best
}

fn sample_box(half: Vec3, x: Vec3) -> Sample {
    let q = x.abs() - half;
    let sign = |v: Real| if v < 0.0 { -1.0 } else { 1.0 };
    let signs = Vec3::new(sign(x.x), sign(x.y), sign(x.z));

    // the nearest face determines the result inside, and where the outside part vanishes
    let (depth, face) = if q.x >= q.y && q.x >= q.z {
        (q.x, Vec3::X)
    } else if q.y >= q.z {
        (q.y, Vec3::Y)
    } else {
        (q.z, Vec3::Z)
    };
    let (outside, normal) = split(q.max(Vec3::ZERO), face);
    Sample { distance: outside + depth.min(0.0), normal: normal * signs }
}

/// Length and direction of `v`; `fallback` (unit) when its length is zero. Scaled first, so that neither the square of
/// a tiny nor that of a huge vector leaves the range of a real.
fn split(v: Vec3, fallback: Vec3) -> (Real, Vec3) {
    let top = v.abs().max_element();
    if top == 0.0 {
        return (0.0, fallback);
    }
    let scaled = v / top;
    let length = scaled.length();
    // not finite: the distance shows it, the normal stays usable
    if !length.is_finite() {
        return (v.length(), fallback);
    }
    (top * length, scaled / length)
}

fn finite(at: impl Fn() -> String, field: &'static str, v: Vec3) -> Result<(), SdfError> {
    if v.is_finite() { Ok(()) } else { Err(SdfError::NotFinite { at: at(), field }) }
}

fn direction(at: impl Fn() -> String, field: &'static str, v: Vec3) -> Result<(), SdfError> {
    finite(&at, field, v)?;
    if v == Vec3::ZERO { Err(SdfError::NoDirection { at: at(), field }) } else { Ok(()) }
}

fn size(at: impl Fn() -> String, field: &'static str, value: Real) -> Result<(), SdfError> {
    if !value.is_finite() {
        return Err(SdfError::NotFinite { at: at(), field });
    }
    if value > 0.0 { Ok(()) } else { Err(SdfError::NotPositive { at: at(), field, value }) }
}

choice!(Sdf, "signed distance function", "How far a point is from a surface, negative inside the solid.", {
    "plane" => Plane, "The half-space behind a plane.", {
        point point: Vec3, FINITE => Vec3::ZERO, "A point on the plane [m].";
        normal normal: Vec3, FINITE => Vec3::Y, "Out of the solid.";
    };
    "sphere" => Sphere, "A solid ball.", {
        center center: Vec3, FINITE => Vec3::ZERO, "Centre [m].";
        radius radius: Real, POSITIVE, "Radius [m].";
    };
    "cylinder" => Cylinder, "A solid cylinder without ends.", {
        point point: Vec3, FINITE => Vec3::ZERO, "A point on the axis [m].";
        axis axis: Vec3, FINITE => Vec3::Y, "Along the axis.";
        radius radius: Real, POSITIVE, "Radius [m].";
    };
    "box" => Box, "A solid box about the origin.", {
        half_extents half_extents: Vec3, POSITIVE, "Half the edge lengths [m].";
    };
    "intersection" => Intersection, "Intersection.", { 0 parts: Vec<Sdf>, ANY, "The parts."; };
    "union" => Union, "Union.", { 0 parts: Vec<Sdf>, ANY, "The parts."; };
    "complement" => Complement, "All that is not the inner one.", { 0 inner: std::boxed::Box<Sdf>, ANY, "The inner one."; };
    "placed" => Placed, "The inner one, turned and moved.", {
        pose pose: Pose, ANY, "From the inner frame to ours.";
        inner inner: std::boxed::Box<Sdf>, ANY, "The transformed function.";
    };
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Quat;

    /// Rounding in f32 of numbers about 5, with a margin; the same bound serves f64.
    const CLOSE: Real = 4e-6;

    fn near(got: Real, want: Real) -> bool {
        (got - want).abs() <= CLOSE
    }

    fn lens() -> Sdf {
        Sdf::intersection([Sdf::sphere(Vec3::new(-0.5, 0.0, 0.0), 1.0), Sdf::sphere(Vec3::new(0.5, 0.0, 0.0), 1.0)])
    }

    fn zoo() -> Vec<Sdf> {
        let tilt = Pose::new(Vec3::new(0.3, -0.2, 0.5), Quat::from_axis_angle(Vec3::new(2.0, 1.0, 2.0) / 3.0, 0.7));
        vec![
            Sdf::plane(Vec3::new(0.1, 0.2, 0.3), Vec3::new(1.0, 3.0, -2.0)),
            Sdf::sphere(Vec3::new(0.2, 0.1, -0.3), 0.8),
            Sdf::bowl(Vec3::new(0.2, 0.1, -0.3), 0.8),
            Sdf::cylinder(Vec3::new(0.2, 0.0, 0.1), Vec3::new(0.0, 2.0, 1.0), 0.5),
            Sdf::cuboid(Vec3::new(0.5, 0.8, 0.3)),
            lens(),
            Sdf::union([Sdf::sphere(Vec3::X, 0.7), Sdf::cuboid(Vec3::splat(0.6))]),
            Sdf::cuboid(Vec3::new(0.5, 0.8, 0.3)).placed(tilt),
            Sdf::union([lens().placed(tilt).complement(), Sdf::plane(Vec3::ZERO, Vec3::Z)]).placed(tilt),
        ]
    }

    /// Points on an uneven grid of about 2 m that avoids the symmetry planes of the test shapes.
    fn cloud() -> impl Iterator<Item = Vec3> {
        (0..729).map(|i| {
            let step = |k: i32| 0.471 * k as Real - 1.913;
            Vec3::new(step(i % 9) + 0.013, step(i / 9 % 9) + 0.029, step(i / 81) - 0.017)
        })
    }

    #[test]
    fn distances_of_the_primitives_are_exact() {
        let plane = Sdf::plane(Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 5.0, 0.0));
        assert_eq!(plane.sample(Vec3::new(7.0, 3.5, -2.0)), Sample { distance: 2.5, normal: Vec3::Y });
        assert_eq!(plane.sample(Vec3::new(7.0, 0.5, -2.0)).distance, -0.5);

        let sphere = Sdf::sphere(Vec3::X, 2.0);
        assert!(near(sphere.sample(Vec3::new(4.0, 4.0, 0.0)).distance, 3.0));
        assert!(near(sphere.sample(Vec3::new(1.0, 0.0, -0.5)).distance, -1.5));
        let bowl = Sdf::bowl(Vec3::X, 2.0);
        assert!(near(bowl.sample(Vec3::new(4.0, 4.0, 0.0)).distance, -3.0));
        assert!(bowl.sample(Vec3::new(1.0, -1.0, 0.0)).normal.abs_diff_eq(Vec3::Y, CLOSE));

        let cylinder = Sdf::cylinder(Vec3::ZERO, Vec3::Z * 0.1, 1.0);
        assert!(near(cylinder.sample(Vec3::new(3.0, 4.0, 9.0)).distance, 4.0));
        assert!(near(cylinder.sample(Vec3::new(0.3, 0.4, -9.0)).distance, -0.5));
    }

    #[test]
    fn the_box_is_exact_inside_at_faces_edges_and_corners() {
        let cuboid = Sdf::cuboid(Vec3::new(1.0, 2.0, 3.0));
        let at = |x: Real, y: Real, z: Real| cuboid.sample(Vec3::new(x, y, z));
        // inside: the nearest face
        assert_eq!(at(0.75, 0.0, 0.0), Sample { distance: -0.25, normal: Vec3::X });
        assert_eq!(at(0.0, -1.9, 0.0).normal, Vec3::NEG_Y);
        // a face, an edge (3-4-5) and a corner (2-3-6-7)
        assert_eq!(at(0.0, 0.5, -5.0), Sample { distance: 2.0, normal: Vec3::NEG_Z });
        assert!(near(at(4.0, 6.0, 0.0).distance, 5.0));
        assert!(near(at(-3.0, 5.0, 9.0).distance, 7.0));
        assert!(at(-3.0, 5.0, 9.0).normal.abs_diff_eq(Vec3::new(-2.0, 3.0, 6.0) / 7.0, CLOSE));
        // on the surface
        assert_eq!(at(1.0, 0.0, 0.0), Sample { distance: 0.0, normal: Vec3::X });
    }

    #[test]
    fn the_normal_is_the_gradient_of_the_distance() {
        let e = Real::EPSILON.cbrt() * 0.5;
        for sdf in zoo() {
            let mut smooth = 0;
            for x in cloud() {
                let s = sdf.sample(x);
                let slope =
                    |axis: Vec3| (sdf.sample(x + axis * e).distance - sdf.sample(x - axis * e).distance) / (2.0 * e);
                let gradient = Vec3::new(slope(Vec3::X), slope(Vec3::Y), slope(Vec3::Z));
                // a difference across an edge of min or max mixes two normals: those few points are left out
                let kink = [Vec3::X, Vec3::Y, Vec3::Z]
                    .iter()
                    .any(|&a| [e, -e].iter().any(|&d| sdf.sample(x + a * d).normal.dot(s.normal) < 0.99));
                if !kink {
                    smooth += 1;
                    assert!(gradient.abs_diff_eq(s.normal, 2e-3), "{sdf:?} at {x}: {gradient} {}", s.normal);
                }
            }
            assert!(smooth > 600, "{sdf:?}: {smooth}");
        }
    }

    #[test]
    fn sign_rules_of_union_intersection_and_complement() {
        let a = Sdf::sphere(Vec3::new(-0.5, 0.0, 0.0), 1.0);
        let b = Sdf::cuboid(Vec3::new(0.5, 0.8, 0.3));
        let both = Sdf::intersection([a.clone(), b.clone()]);
        let any = Sdf::union([a.clone(), b.clone()]);
        for x in cloud() {
            assert_eq!(both.contains(x), a.contains(x) && b.contains(x));
            assert_eq!(any.contains(x), a.contains(x) || b.contains(x));
            assert_eq!(a.clone().complement().contains(x), !a.contains(x));
        }
        // De Morgan, down to the bits
        let other = Sdf::union([a.complement(), b.complement()]).complement();
        assert!(cloud().all(|x| other.sample(x) == both.sample(x)));
    }

    #[test]
    fn the_intersection_is_exact_inside_and_a_bound_outside() {
        // the rim of the lens is at height √(1 − 1/4)
        let rim: Real = (0.75 as Real).sqrt();
        assert!(near(lens().sample(Vec3::ZERO).distance, -0.5));
        let above = lens().sample(Vec3::new(0.0, 2.0, 0.0)).distance;
        assert!(above > 0.0 && above < 2.0 - rim, "{above}");
    }

    #[test]
    fn the_distance_changes_by_at_most_the_displacement() {
        for sdf in zoo() {
            let points: Vec<Vec3> = cloud().step_by(7).collect();
            for &x in &points {
                for &y in &points {
                    let change = (sdf.sample(x).distance - sdf.sample(y).distance).abs();
                    assert!(change <= x.distance(y) + CLOSE, "{sdf:?}: {x} {y}");
                }
            }
        }
    }

    #[test]
    fn normals_have_length_one_everywhere() {
        let special = [
            Vec3::ZERO,
            Vec3::new(0.2, 0.1, -0.3),
            Vec3::new(0.2, 2.0, 1.1),
            Vec3::new(0.5, 0.8, 0.3),
            Vec3::splat(1e-30),
            Vec3::splat(1e30),
            Vec3::new(Real::MAX, 0.0, 0.0),
            Vec3::new(Real::INFINITY, 0.0, 0.0),
            Vec3::splat(Real::NAN),
        ];
        for sdf in zoo() {
            assert_eq!(sdf.check(), Ok(()));
            for x in cloud().chain(special) {
                let n = sdf.sample(x).normal;
                assert!((n.length() - 1.0).abs() < CLOSE, "{sdf:?} at {x}: {n}");
            }
        }
        // centre, axis, and a point close to the centre
        let sphere = Sdf::sphere(Vec3::ZERO, 1.0);
        assert_eq!(sphere.sample(Vec3::ZERO), Sample { distance: -1.0, normal: Vec3::Y });
        assert!(sphere.sample(Vec3::X * Real::MIN_POSITIVE).normal.abs_diff_eq(Vec3::X, CLOSE));
        let n = Sdf::cylinder(Vec3::ZERO, Vec3::Z, 1.0).sample(Vec3::Z).normal;
        assert!(near(n.length(), 1.0) && n.z == 0.0);
    }

    #[test]
    fn a_placed_function_moves_with_its_pose() {
        let pose = Pose::new(Vec3::new(1.0, 2.0, 3.0), Quat::from_rotation_z(0.4));
        let sdf = Sdf::cuboid(Vec3::new(0.5, 0.8, 0.3));
        for x in cloud() {
            let (s, t) = (sdf.sample(x), sdf.clone().placed(pose).sample(pose.point(x)));
            assert!(near(s.distance, t.distance) && (pose.rotation * s.normal).abs_diff_eq(t.normal, 1e-4));
        }
    }

    #[test]
    fn the_check_reports_the_path_to_the_invalid_part() {
        let said = |sdf: Sdf| sdf.check().unwrap_err().to_string();
        assert_eq!(said(Sdf::sphere(Vec3::ZERO, 0.0)), "sphere: radius is 0, but must be above 0");
        assert_eq!(said(Sdf::sphere(Vec3::ZERO, Real::NAN)), "sphere: radius is not finite");
        assert_eq!(said(Sdf::plane(Vec3::ZERO, Vec3::ZERO)), "plane: normal is zero, but must give a direction");
        let nan = Vec3::new(0.0, Real::NAN, 0.0);
        assert_eq!(said(Sdf::union([lens(), Sdf::bowl(nan, 1.0)])), "union[1].complement.sphere: center is not finite");
        assert_eq!(said(Sdf::intersection([])), "intersection: the list is empty, give at least one part");
        assert_eq!(said(Sdf::cuboid(Vec3::new(1.0, -2.0, 1.0))), "box: half_extents.y is -2, but must be above 0");
        let stretched = Pose::new(Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 2.0));
        assert!(matches!(lens().placed(stretched).check(), Err(SdfError::NotUnit { length: 2.0, .. })));

        // sixteen levels pass, one more does not
        let nest = |levels| (1..levels).fold(Sdf::sphere(Vec3::ZERO, 1.0), |inner, _| inner.complement());
        assert_eq!(nest(SDF_DEPTH).check(), Ok(()));
        assert!(matches!(nest(SDF_DEPTH + 1).check(), Err(SdfError::TooDeep { .. })));
    }
}
