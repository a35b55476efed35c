//! What is refused, and how to put it right.

/// Why an order was refused. Nothing changes when an order is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CutError {
    /// A coordinate is NaN or infinite.
    #[error("{what} {index} is not finite: give finite coordinates in metres")]
    NotFinite {
        /// What has the coordinate: node, point of the blade, normal.
        what: &'static str,
        /// Its number.
        index: usize,
    },
    /// A mesh names a node that it does not have.
    #[error("element {element} has corner {node}, but there are {nodes} nodes")]
    NoSuchNode {
        /// The element.
        element: usize,
        /// The corner.
        node: u32,
        /// Nodes of the mesh.
        nodes: usize,
    },
    /// An element without volume or turned inside out.
    #[error("element {element} has no positive volume or area: order its corners so that the volume is positive")]
    FlatElement {
        /// The element.
        element: usize,
    },
    /// More than two elements at a face, or more than two triangles at an edge.
    #[error("more than two elements share the side {nodes:?}: take one of them away")]
    SharedByThree {
        /// Nodes of the side.
        nodes: Vec<u32>,
    },
    /// No elements.
    #[error("the body has no elements: a cut needs at least one")]
    NoElements,
    /// A blade has fewer than two points or no length.
    #[error("the blade has no length: give at least two points that differ")]
    NoLength,
    /// Not as many points, normals or directions as the stroke began with.
    #[error("the blade has {given} {what} but needs {wanted}")]
    WrongCount {
        /// Points, normals, directions, elements.
        what: &'static str,
        /// Given.
        given: usize,
        /// Needed.
        wanted: usize,
    },
    /// A normal or direction of no length.
    #[error("{what} {index} has no length: give the blade's own normal and cutting direction")]
    NoDirection {
        /// Normal or direction.
        what: &'static str,
        /// Its number.
        index: usize,
    },
    /// All strokes are in use.
    #[error("{0} strokes run already: end one first")]
    TooManyStrokes(usize),
    /// The stroke has ended or never was.
    #[error("the stroke has ended or is of another body: begin a new one")]
    NoSuchStroke,
    /// One stroke has two moves in a tick.
    #[error("stroke {0} moves twice in one tick: give one front a stroke")]
    MovesTwice(usize),
    /// The blade moves farther in a tick than a stroke can store.
    #[error(
        "the blade moves {given:.3e} m in one tick, at most {limit:.3e} m are possible: give the path in more ticks"
    )]
    TooFast {
        /// Path in the tick [m].
        given: f64,
        /// Longest path [m].
        limit: f64,
    },
    /// A command lies wholly outside of the body.
    #[error("the cut lies outside of the body: nothing to cut")]
    Outside,
    /// A pool is used up.
    #[error("the pool of {pool} is used up ({size}): make the body with larger `Options`")]
    PoolUsedUp {
        /// The pool.
        pool: &'static str,
        /// Its size.
        size: usize,
    },
    /// Elements that have too many planes for one more cut.
    #[error("{0} elements have too many cuts for one more: cut elsewhere")]
    TooManyPlanes(usize),
}

/// Finite, or the error that names it.
pub(crate) fn finite(what: &'static str, points: &[crate::Point]) -> Result<(), CutError> {
    match points.iter().position(|p| !p.is_finite()) {
        Some(index) => Err(CutError::NotFinite { what, index }),
        None => Ok(()),
    }
}
