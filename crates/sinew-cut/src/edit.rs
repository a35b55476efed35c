//! What a tick has changed, as plain data.

/// A node copy that was made. It has position, velocity and all else of the node it is a copy of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewNode {
    /// Its number: one more than the last.
    pub node: u32,
    /// The node copy that it is a copy of: one of before the tick.
    pub from: u32,
}

/// An element copy that was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewElement {
    /// Its number: one more than the last.
    pub element: u32,
    /// The element copy that it is a part of: one of before the tick.
    pub from: u32,
    /// The element of the rest mesh.
    pub parent: u32,
    /// Corners.
    pub nodes: [u32; 4],
    /// Share of the parent's volume, mass and stiffness.
    pub fill: f64,
}

/// An element copy of before the tick that has other corners or another fill fraction now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangedElement {
    /// Its number.
    pub element: u32,
    /// Corners.
    pub nodes: [u32; 4],
    /// Share of the parent's volume, mass and stiffness.
    pub fill: f64,
}

/// A point of the surface: a weighted mean of node copies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint {
    /// Its number.
    pub point: u32,
    /// The element copy that made it; its corners at that time are the nodes.
    pub element: u32,
    /// Node copies.
    pub nodes: [u32; 4],
    /// Barycentric weights, from 0 to 1, with sum 1.
    pub weights: [f64; 4],
}

/// Where a triangle of the surface comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Skin {
    /// A part of the surface of the rest mesh: the face of the parent element opposite to this corner.
    Outer(u8),
    /// An inner face, made by this cut.
    Inner(u32),
}

/// A triangle of the surface, counter-clockwise from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triangle {
    /// Its number.
    pub triangle: u32,
    /// Surface points.
    pub points: [u32; 3],
    /// The element copy that it bounds.
    pub element: u32,
    /// Outer surface or inner face.
    pub skin: Skin,
}

/// The change of a body in one tick. Numbers of removed items are free for later ticks, except those of elements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edit {
    /// Node copies that were made.
    pub new_nodes: Vec<NewNode>,
    /// Node copies that no element uses any more.
    pub removed_nodes: Vec<u32>,
    /// Element copies that were made.
    pub new_elements: Vec<NewElement>,
    /// Element copies with other corners or another fill.
    pub changed_elements: Vec<ChangedElement>,
    /// Element copies that were taken away.
    pub removed_elements: Vec<u32>,
    /// Surface points that are gone.
    pub removed_points: Vec<u32>,
    /// Surface points that were made.
    pub new_points: Vec<SurfacePoint>,
    /// Triangles that are gone.
    pub removed_triangles: Vec<u32>,
    /// Triangles that were made.
    pub new_triangles: Vec<Triangle>,
    /// What happened.
    pub report: TickReport,
}

/// Counts of a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TickReport {
    /// Element copies that were split.
    pub splits: usize,
    /// Area of the new cut, counted once, in rest space [m²].
    pub area: f64,
    /// Volume that was taken away, in rest space [m³].
    pub removed_volume: f64,
    /// Pieces of swept surface that met no element.
    pub missed: usize,
    /// Places where the path is tighter than two edges: parts of the blade that turned so, and elements with a node on
    /// both sides of the path, of which one was taken.
    pub tight: usize,
    /// Times that a path came back to where it had cut before, and went on as a cut of its own.
    pub renewed: usize,
    /// Element copies that have too many planes to be split once more: they hold the two sides together there.
    pub kept_whole: usize,
    /// The pool that was used up, and its size: splits from then on were refused.
    pub refused: Option<(&'static str, usize)>,
}

impl Edit {
    /// Nothing changed.
    pub fn is_empty(&self) -> bool {
        self.new_elements.is_empty()
            && self.removed_elements.is_empty()
            && self.changed_elements.is_empty()
            && self.new_triangles.is_empty()
            && self.removed_triangles.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.new_nodes.clear();
        self.removed_nodes.clear();
        self.new_elements.clear();
        self.changed_elements.clear();
        self.removed_elements.clear();
        self.removed_points.clear();
        self.new_points.clear();
        self.removed_triangles.clear();
        self.new_triangles.clear();
        self.report = TickReport::default();
    }

    pub(crate) fn reserve(&mut self, items: usize) {
        self.new_nodes.reserve(items);
        self.removed_nodes.reserve(items);
        self.new_elements.reserve(items);
        self.changed_elements.reserve(items);
        self.removed_elements.reserve(items);
        self.removed_points.reserve(8 * items);
        self.new_points.reserve(8 * items);
        self.removed_triangles.reserve(8 * items);
        self.new_triangles.reserve(8 * items);
    }
}
