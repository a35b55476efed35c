//! Reasons why a body cannot be reduced. Each names the culprit and what to do.

/// Reason why a reduction is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReduceError {
    /// A number outside its range.
    #[error("{name} = {value}: must be {range}")]
    OutOfRange {
        /// Name of the number.
        name: &'static str,
        /// The given value.
        value: f64,
        /// The allowed range.
        range: &'static str,
    },
    /// A matrix of elastic moduli that would give energy back.
    #[error(
        "the elastic moduli are not positive definite: the strain {strain:.3?} (xx, yy, zz, xy, yz, zx) has the energy \
         density {energy:e} J/m³; make Poisson's ratios smaller or the moduli larger"
    )]
    Moduli {
        /// The strain of least energy, of unit size.
        strain: [f64; 6],
        /// Its energy density [J/m³].
        energy: f64,
    },
    /// An element names a node that is not there.
    #[error("{element} {index} names node {node}, but there are {count} nodes")]
    NoNode {
        /// Kind of element.
        element: &'static str,
        /// Index of the element.
        index: usize,
        /// The node.
        node: u32,
        /// Count of nodes.
        count: usize,
    },
    /// A position that is not finite.
    #[error("node {node} has a position that is not finite")]
    NotFinite {
        /// Index of the node.
        node: usize,
    },
    /// A tetrahedron that is inverted or flat.
    #[error("tetrahedron {tet} has the volume {volume:e} m³: repair the mesh (`sinew mesh repair`)")]
    Inverted {
        /// Index of the tetrahedron.
        tet: usize,
        /// Its volume [m³].
        volume: f64,
    },
    /// A node of no element.
    #[error("node {node} belongs to no element: remove it")]
    Loose {
        /// Index of the node.
        node: usize,
    },
    /// A body of several pieces, which would have more rigid motions than six.
    #[error("the mesh consists of {pieces} pieces that share no node: reduce each by itself")]
    Pieces {
        /// Count of pieces.
        pieces: usize,
    },
    /// A system that cannot be factorised.
    #[error("{system} is not positive definite: {remedy}")]
    Singular {
        /// The matrix.
        system: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A body that is fixed everywhere, or a reduction without unknowns.
    #[error("no node is free: at least one must not be fixed")]
    NothingFree,
    /// More surface nodes than the cap.
    #[error(
        "{nodes} surface nodes give a compliance of {bytes} bytes, but the cap is {cap} nodes: use a coarser surface, \
         modes instead, or raise the cap"
    )]
    TooLarge {
        /// Surface nodes.
        nodes: usize,
        /// The cap.
        cap: usize,
        /// Memory of the compliance in f64 [bytes].
        bytes: usize,
    },
    /// More modes than the body has, or none.
    #[error("{wanted} modes are wanted, but this body has {available} elastic ones: ask for 1 to {available}")]
    Modes {
        /// Modes wanted.
        wanted: usize,
        /// Elastic modes of the body.
        available: usize,
    },
    /// No mode below a frequency limit.
    #[error("no mode is below {limit} Hz: the lowest has {lowest} Hz")]
    NoModeBelow {
        /// The limit [Hz].
        limit: f64,
        /// Lowest frequency [Hz].
        lowest: f64,
    },
    /// The eigenvalue iteration ended early.
    #[error("only {found} of {wanted} modes converged: ask for fewer, or repair elements of very different size")]
    NotConverged {
        /// Modes that converged.
        found: usize,
        /// Modes wanted.
        wanted: usize,
    },
    /// A surface with a hole.
    #[error("the surface is open at the edge ({}, {}): boundary elements need a closed surface", edge[0], edge[1])]
    Open {
        /// Vertices of an edge with one triangle.
        edge: [u32; 2],
    },
    /// An edge with more than two triangles, or two that are oriented against each other.
    #[error("the triangles at the edge ({}, {}) are not two of one orientation: repair the surface", edge[0], edge[1])]
    EdgeOrientation {
        /// Vertices of the edge.
        edge: [u32; 2],
    },
    /// A surface that crosses itself.
    #[error("triangles {a} and {b} of the surface cross: boundary elements need a surface that does not cross itself")]
    Crossing {
        /// First triangle.
        a: usize,
        /// Second triangle.
        b: usize,
    },
    /// A surface that is turned inside out.
    #[error("the surface encloses {volume:e} m³: turn its triangles so that normals point outwards")]
    InsideOut {
        /// Enclosed volume [m³].
        volume: f64,
    },
    /// A triangle without area.
    #[error("triangle {triangle} of the surface has no area: repair the surface")]
    Flat {
        /// Index of the triangle.
        triangle: usize,
    },
    /// The decomposition of a dense matrix failed: it contains numbers that are not finite.
    #[error("the eigenvalues of {matrix} could not be found: it contains numbers that are not finite")]
    Eigen {
        /// The matrix.
        matrix: &'static str,
    },
}

/// Returns an error unless the number is positive and finite.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<(), ReduceError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(ReduceError::OutOfRange { name, value, range: "positive and finite" })
    }
}

/// Returns an error unless the number is at least zero and finite.
pub(crate) fn not_negative(name: &'static str, value: f64) -> Result<(), ReduceError> {
    if value >= 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(ReduceError::OutOfRange { name, value, range: "0 or more and finite" })
    }
}
