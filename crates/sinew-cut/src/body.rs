//! A body of tetrahedra that can be cut.

use crate::edit::{ChangedElement, Edit, NewElement, SurfacePoint, Triangle};
use crate::error::{CutError, finite};
use crate::join::Joiner;
use crate::knife::{Knife, Work};
use crate::levels::{Levels, SLOTS};
use crate::mesh::Mesh;
use crate::parts::{Element, Limits, Parts, Plane};
use crate::stroke::{Front, MEMORY, Stroke, StrokeId};
use crate::surface::Surface;
use crate::{NONE, Point};

/// Strokes at the same time.
const STROKES: usize = SLOTS / 2;

/// Sizes of the pools of a body, reserved when it is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Room for element and node copies that cuts make, as a fraction of the rest mesh.
    pub spare: f64,
    /// Length of all edges of a blade, in mean edges of the mesh: a longer blade allocates.
    pub blade: usize,
    /// Least distance of a node from a cut, as a fraction of its shortest edge: cuts through nodes are moved by this.
    pub clearance: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { spare: 0.5, blade: 64, clearance: 2e-6 }
    }
}

/// Where the blade of a stroke is at the end of a tick.
#[derive(Clone, Copy, Debug)]
pub struct Move<'a> {
    /// The stroke.
    pub stroke: StrokeId,
    /// Its blade.
    pub front: Front<'a>,
    /// The stroke ends here.
    pub last: bool,
}

/// A body of tetrahedra that can be cut.
///
/// An example is at the [crate].
pub struct Body {
    pub(crate) mesh: Mesh,
    pub(crate) parts: Parts,
    pub(crate) surface: Surface,
    levels: Levels,
    strokes: Vec<Stroke>,
    /// Cuts so far: the number of the next one.
    cuts: u32,
    next_slot: usize,
    joiner: Joiner,
    work: Work,
    edit: Edit,
}

impl Body {
    /// A whole body: element t of the mesh is element copy t, node n is node copy n.
    ///
    /// # Errors
    ///
    /// Coordinates that are not finite, corners that do not exist, elements without positive volume, faces of more than
    /// two elements.
    pub fn new(rest: &[Point], tets: &[[u32; 4]], options: &Options) -> Result<Self, CutError> {
        let mesh = Mesh::new(rest, tets)?;
        let spare = |count: usize| (count as f64 * options.spare.clamp(0.0, 100.0)) as usize + 16;
        let limits = Limits {
            elements: tets.len() + spare(tets.len()),
            nodes: rest.len() + 4 * spare(rest.len()),
            blocks: 2 * spare(tets.len()),
        };
        let skins = mesh.neighbours.iter().flatten().filter(|&&n| n == NONE).count();
        let mut surface = Surface::new(&mesh, limits.elements, 2 * skins + 8 * spare(tets.len()) + 1024);
        let parts = Parts::new(&mesh, limits);
        let mut work = Work::default();
        work.reserve(&mesh, limits.elements, limits.nodes);
        let mut edit = Edit::default();
        let all: Vec<u32> = (0..tets.len() as u32).collect();
        surface.update(&mesh, &parts, &all, &mut work, &mut edit);
        surface.reserve(1024);
        edit.clear();
        edit.reserve(1024);
        let mut strokes: Vec<Stroke> = (0..STROKES).map(|_| Stroke::default()).collect();
        strokes.iter_mut().for_each(|stroke| stroke.reserve(options.blade));
        let mut joiner = Joiner::default();
        joiner.reserve(4096);
        let levels = Levels::new(&mesh, options.clearance.clamp(0.0, 0.1));
        Ok(Self { mesh, parts, surface, levels, strokes, cuts: 0, next_slot: 0, joiner, work, edit })
    }

    /// Begins a stroke with the blade at `front`.
    ///
    /// # Errors
    ///
    /// A blade of no length, numbers that are not finite, wrong counts, too many strokes.
    pub fn begin(&mut self, front: &Front) -> Result<StrokeId, CutError> {
        front.check()?;
        let free = self.strokes.iter().position(|stroke| !stroke.live);
        let index = free.ok_or(CutError::TooManyStrokes(STROKES))?;
        let (cut, slot) = self.new_cut();
        let stroke = &mut self.strokes[index];
        stroke.begin(front, self.mesh.edge);
        (stroke.name, stroke.cut, stroke.slot) = (cut, cut, slot);
        Ok(StrokeId { index, cut })
    }

    /// A number and a slot for levels that no running stroke uses.
    fn new_cut(&mut self) -> (u32, usize) {
        let slot = (0..SLOTS).map(|k| (self.next_slot + k) % SLOTS);
        let taken = |slot: &usize| self.strokes.iter().any(|stroke| stroke.live && stroke.slot == *slot);
        let slot = slot.clone().find(|slot| !taken(slot)).unwrap_or(0);
        self.next_slot = (slot + 1) % SLOTS;
        self.cuts += 1;
        (self.cuts - 1, slot)
    }

    /// Moves blades and cuts what they pass. Strokes that are not named stay where they are.
    ///
    /// # Errors
    ///
    /// A stroke that has ended, and what [`Body::begin`] refuses; nothing changes then. A pool that is used up is in
    /// [`TickReport::refused`](crate::TickReport::refused), because blades that move on do not wait for it.
    pub fn tick(&mut self, moves: &[Move]) -> Result<&Edit, CutError> {
        let mut paths = [0.0; STROKES];
        for (k, order) in moves.iter().enumerate() {
            let StrokeId { index, cut } = order.stroke;
            let stroke = self.strokes.get(index).filter(|stroke| stroke.live && stroke.name == cut);
            let stroke = stroke.ok_or(CutError::NoSuchStroke)?;
            if moves[..k].iter().any(|other| other.stroke == order.stroke) {
                return Err(CutError::MovesTwice(index));
            }
            order.front.check()?;
            paths[index] = stroke.check_path(&order.front)?;
        }
        self.open();
        for order in moves {
            let index = order.stroke.index;
            self.strokes[index].advance(&order.front, paths[index], order.last);
            if self.sweep(index) {
                self.renew(index);
            }
            let (mut knife, stroke) = self.knife(index);
            knife.catch_up(stroke, order.last);
        }
        self.tell_others();
        for order in moves.iter().filter(|order| order.last) {
            self.strokes[order.stroke.index].live = false;
        }
        self.close();
        Ok(&self.edit)
    }

    /// Ends a stroke where its blade is. What it has passed in part stays whole.
    ///
    /// # Errors
    ///
    /// A stroke that has ended already.
    pub fn end(&mut self, stroke: StrokeId) -> Result<(), CutError> {
        let found = self.strokes.get_mut(stroke.index).filter(|found| found.live && found.name == stroke.cut);
        found.ok_or(CutError::NoSuchStroke)?.live = false;
        Ok(())
    }

    /// Whether a running stroke has met the body so far.
    pub fn touched(&self, stroke: StrokeId) -> bool {
        self.strokes.get(stroke.index).is_some_and(|found| found.name == stroke.cut && found.touched)
    }

    /// Takes away the matter inside of an ellipsoid with these three half axes. It acts on elements of which it holds
    /// a node.
    ///
    /// # Errors
    ///
    /// Axes without volume, an ellipsoid that holds no node of the body, a pool without room, elements with too many
    /// planes; nothing changes then.
    pub fn remove_ellipsoid(&mut self, centre: Point, axes: [Point; 3]) -> Result<&Edit, CutError> {
        finite("centre", &[centre])?;
        finite("half axis", &axes)?;
        let volume = axes[0].dot(axes[1].cross(axes[2]));
        let rows = [axes[1].cross(axes[2]) / volume, axes[2].cross(axes[0]) / volume, axes[0].cross(axes[1]) / volume];
        if volume == 0.0 || finite("half axis", &rows).is_err() {
            return Err(CutError::NoLength);
        }
        let least = axes.iter().map(|a| a.length()).fold(f64::INFINITY, f64::min);
        let distance = |x: Point| {
            let d = x - centre;
            (Point::new(rows[0].dot(d), rows[1].dot(d), rows[2].dot(d)).length() - 1.0) * least
        };
        let (cut, slot) = self.new_cut();
        let box_size = Point::new(
            axes.iter().map(|a| a.x * a.x).sum::<f64>().sqrt(),
            axes.iter().map(|a| a.y * a.y).sum::<f64>().sqrt(),
            axes.iter().map(|a| a.z * a.z).sum::<f64>().sqrt(),
        );
        let mut tets = Vec::new();
        self.mesh.near(centre - box_size, centre + box_size, |tet| tets.push(tet));
        tets.sort_unstable();
        tets.dedup();
        let levels = |body: &Self, tet: u32| {
            let nodes = body.mesh.tets[tet as usize];
            nodes.map(|node| body.levels.value(&body.mesh, node, distance(body.mesh.rest[node as usize])))
        };
        tets.retain(|&tet| levels(self, tet).iter().any(|&s| s < 0) && self.parts.heads[tet as usize] != NONE);
        if tets.is_empty() {
            return Err(CutError::Outside);
        }
        let copies: Vec<u32> = tets.iter().flat_map(|&tet| self.parts.copies(tet)).collect();
        if let Some((pool, size)) = self.parts.used_up(copies.len()) {
            return Err(CutError::PoolUsedUp { pool, size });
        }
        let full = copies.iter().filter(|&&copy| self.parts.full(copy)).count();
        if full > 0 {
            return Err(CutError::TooManyPlanes(full));
        }
        self.open();
        for &copy in &copies {
            let tet = self.parts.elements[copy as usize].parent;
            let levels = levels(self, tet);
            for (k, node) in self.mesh.tets[tet as usize].into_iter().enumerate() {
                self.levels.put(node, (slot, cut), levels[k]);
            }
            let made = self.parts.elements.len() as u32;
            let (mut knife, _) = self.knife(0);
            let gone = if knife.cut(copy, Plane { cut, levels }) {
                made
            } else {
                self.parts.matter(copy, &mut self.work.matter);
                if self.work.matter.sides(&levels).0 {
                    continue;
                }
                copy
            };
            let element = self.parts.elements[gone as usize];
            let share = element.fill * self.mesh.six_volumes[tet as usize] / 6.0;
            self.edit.report.removed_volume += share;
            self.parts.remove(gone);
            self.work.touched.push(gone);
            self.edit.removed_elements.push(gone);
        }
        self.close();
        Ok(&self.edit)
    }

    fn open(&mut self) {
        self.edit.clear();
        self.work.touched.clear();
        self.work.split_tets.clear();
        self.work.first_new = self.parts.elements.len() as u32;
    }

    fn knife(&mut self, stroke: usize) -> (Knife<'_>, &mut Stroke) {
        let knife = Knife {
            mesh: &self.mesh,
            parts: &mut self.parts,
            levels: &mut self.levels,
            edit: &mut self.edit,
            work: &mut self.work,
            room: self.surface.room(),
        };
        (knife, &mut self.strokes[stroke])
    }

    fn sweep(&mut self, stroke: usize) -> bool {
        let (mut knife, stroke) = self.knife(stroke);
        knife.sweep(stroke)
    }

    /// The path has come back to where it cut before: it goes on as a cut of its own, with the levels of the last part
    /// of its path.
    fn renew(&mut self, index: usize) {
        let (cut, slot) = self.new_cut();
        let stroke = &mut self.strokes[index];
        let old = (stroke.slot, stroke.cut);
        (stroke.cut, stroke.slot) = (cut, slot);
        stroke.fresh = stroke.history.len();
        let recent = stroke.path - MEMORY * self.mesh.edge;
        self.levels.inherit(old, (slot, cut), recent);
        self.edit.report.renewed += 1;
        self.sweep(index);
    }

    /// Parts of elements that one stroke has split may have been passed by another.
    fn tell_others(&mut self) {
        if self.strokes.iter().filter(|stroke| stroke.live).count() < 2 {
            return;
        }
        let mut told = [0; STROKES];
        let mut again = true;
        while again {
            again = false;
            for (index, told) in told.iter_mut().enumerate() {
                while *told < self.work.split_tets.len() && self.strokes[index].live {
                    let tet = self.work.split_tets[*told];
                    *told += 1;
                    let (mut knife, stroke) = self.knife(index);
                    knife.look_at(tet, stroke);
                    again = true;
                }
            }
        }
    }

    /// Node copies, surface and lists of what has changed.
    fn close(&mut self) {
        if self.work.touched.is_empty() {
            return;
        }
        self.joiner.join(&self.mesh, &mut self.parts, &mut self.work, &mut self.edit);
        self.work.touched.sort_unstable();
        self.work.touched.dedup();
        let first_new = self.work.first_new;
        for &copy in &self.work.touched {
            let Element { parent, nodes, fill, .. } = self.parts.elements[copy as usize];
            if copy >= first_new {
                let from = self.work.origins[(copy - first_new) as usize];
                self.edit.new_elements.push(NewElement { element: copy, from, parent, nodes, fill });
            } else if fill > 0.0 {
                self.edit.changed_elements.push(ChangedElement { element: copy, nodes, fill });
            }
        }
        self.work.origins.clear();
        let touched = std::mem::take(&mut self.work.touched);
        self.surface.update(&self.mesh, &self.parts, &touched, &mut self.work, &mut self.edit);
        self.work.touched = touched;
    }

    /// Element copies; those that were taken away have fill 0.
    pub fn elements(&self) -> &[Element] {
        &self.parts.elements
    }

    /// Planes that bound the matter of an element copy.
    pub fn planes(&self, element: u32) -> &[Plane] {
        self.parts.planes(element)
    }

    /// Element copies of an element of the rest mesh.
    pub fn copies(&self, parent: u32) -> impl Iterator<Item = u32> + '_ {
        self.parts.copies(parent)
    }

    /// Node of the rest mesh of each node copy.
    pub fn node_parents(&self) -> &[u32] {
        &self.parts.node_parents
    }

    /// Rest positions of the rest mesh [m].
    pub fn rest(&self) -> &[Point] {
        &self.mesh.rest
    }

    /// Mean edge length of the rest mesh [m].
    pub fn edge(&self) -> f64 {
        self.mesh.edge
    }

    /// The element copy whose matter has this place of rest space [m], the one of lowest number on a common face.
    pub fn element_at(&self, place: Point) -> Option<u32> {
        let mut found = None;
        self.mesh.near(place, place, |tet| {
            let x = self.mesh.tets[tet as usize].map(|node| self.mesh.rest[node as usize] - place);
            let volume = |a: Point, b: Point, c: Point| a.cross(b).dot(c) / self.mesh.six_volumes[tet as usize];
            let weights = [
                volume(x[1], x[2], x[3]),
                -volume(x[0], x[2], x[3]),
                volume(x[0], x[1], x[3]),
                -volume(x[0], x[1], x[2]),
            ];
            if weights.iter().any(|&w| w < -1e-12) {
                return;
            }
            let inside =
                |plane: &Plane| plane.levels.iter().zip(weights).map(|(&s, w)| f64::from(s) * w).sum::<f64>() >= 0.0;
            let copy = self.parts.copies(tet).find(|&copy| self.parts.planes(copy).iter().all(inside));
            found = found.min(copy).or(found).or(copy);
        });
        found
    }

    /// Volume of an element copy [m³].
    pub fn volume(&self, element: u32) -> f64 {
        let element = &self.parts.elements[element as usize];
        element.fill * self.mesh.six_volumes[element.parent as usize] / 6.0
    }

    /// Triangles of the surface.
    pub fn triangles(&self) -> impl Iterator<Item = &Triangle> {
        self.surface.triangles()
    }

    /// Points of the surface. `element` is `NONE`: the nodes carry them.
    pub fn points(&self) -> impl Iterator<Item = SurfacePoint> + '_ {
        self.surface.points()
    }
}
