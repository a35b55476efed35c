//! The smallest world in which *One island, solved* can be tried: a plane, rigid boxes and balls, particles, soft blocks.
//!
//! It does by hand what the phases of the engine will do: detect (points against shapes), predict, assemble, solve,
//! advance, remember. One island, always.

use sinew::trial::{
    self as implicit, BodyMut, BodyRef, Corotational, Deformable, Lump, Outcome, Params, Placed, Scratch, Settings,
    StepContext, System, any_orthonormal, integrate_rotation,
};
use sinew::{Block, Bounds, Pose, Real, RowBuffer, RowId, Sym3, Term, TetMesh, Vec3};
use std::collections::BTreeMap;

/// What a rigid body looks like.
#[derive(Clone, Copy)]
pub enum Shape {
    Box(Vec3),
    Ball(Real),
}

/// A rigid body on two blocks.
#[derive(Clone)]
pub struct Rigid {
    pub pose: Pose,
    pub mass: Real,
    pub local_inertia: Vec3,
    pub shape: Shape,
    pub block: usize,
}

/// A deformable body on a span of blocks.
pub struct Soft {
    pub body: Corotational,
    pub first: usize,
    pub count: usize,
}

/// A material point that can touch something.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Feature {
    Node(usize),
    Corner(usize, usize),
}

/// What it can touch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Obstacle {
    Plane,
    Rigid(usize),
}

/// Remembered between steps: normal impulse and stick point in the obstacle's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// Impulse that the normal row starts from next time [N·s].
    pub start: Real,
    pub anchor: Vec3,
    pub force: Vec3,
    pub gap: Real,
}

/// A contact of this substep.
#[derive(Clone, Copy)]
struct Touch {
    key: (Feature, Obstacle),
    normal: Vec3,
    row: RowId,
}

pub struct Island {
    pub gravity: Vec3,
    pub plane: Option<(Vec3, Real)>,
    pub friction: Real,
    pub margin: Real,
    pub rigid: Vec<Rigid>,
    pub soft: Vec<Soft>,
    pub x: Vec<Block>,
    pub v: Vec<Block>,
    pub memory: BTreeMap<(Feature, Obstacle), Memory>,
    /// Nodes held to a point of a rigid body: block, body, local point, impulses to start from, force.
    pub anchors: Vec<(usize, usize, Vec3, Vec3, Vec3)>,
    pub settings: Settings,
    pub outcome: Outcome,
    /// Allocations of the last solve.
    pub allocated: usize,
    features: Vec<Feature>,
    particles: Vec<usize>,
    rows: RowBuffer,
    touches: Vec<Touch>,
    scratch: Scratch,
}

impl Island {
    pub fn new(settings: Settings) -> Self {
        Self {
            gravity: Vec3::new(0.0, -9.81, 0.0),
            plane: Some((Vec3::Y, 0.0)),
            friction: 0.5,
            margin: 0.01,
            rigid: vec![],
            soft: vec![],
            x: vec![],
            v: vec![],
            memory: BTreeMap::new(),
            anchors: vec![],
            settings,
            outcome: Outcome::default(),
            allocated: 0,
            features: vec![],
            particles: vec![],
            rows: RowBuffer::default(),
            touches: vec![],
            scratch: Scratch::default(),
        }
    }

    /// Turns gravity and leaves the plane: an incline of `angle` [rad], downhill along +x.
    pub fn incline(&mut self, angle: Real) {
        self.gravity = Vec3::new(angle.sin(), -angle.cos(), 0.0) * 9.81;
    }

    pub fn add_rigid(&mut self, shape: Shape, mass: Real, position: Vec3, velocity: Vec3) -> usize {
        let local_inertia = match shape {
            Shape::Box(h) => {
                let s = h * h;
                Vec3::new(s.y + s.z, s.x + s.z, s.x + s.y) * (mass / 3.0)
            }
            Shape::Ball(r) => Vec3::splat(0.4 * mass * r * r),
        };
        let (id, block) = (self.rigid.len(), self.v.len());
        self.rigid.push(Rigid { pose: Pose::at(position), mass, local_inertia, shape, block });
        self.x.extend([[0.0; 4]; 2]);
        self.v.extend([[velocity.x, velocity.y, velocity.z, 0.0], [0.0; 4]]);
        if let Shape::Box(_) = shape {
            self.features.extend((0..8).map(|c| Feature::Corner(id, c)));
        }
        id
    }

    pub fn add_particle(&mut self, mass: Real, position: Vec3) -> usize {
        let block = self.v.len();
        self.x.push([position.x, position.y, position.z, 1.0 / mass]);
        self.v.push([0.0; 4]);
        self.features.push(Feature::Node(block));
        self.particles.push(block);
        block
    }

    pub fn add_soft(&mut self, cells: [u32; 3], size: Vec3, params: Params, centre: Vec3) -> usize {
        let mesh = TetMesh::block(cells, size).unwrap();
        let body = Corotational::new(&mesh, params).unwrap();
        let first = self.v.len();
        for (k, (x, m)) in mesh.vertices.iter().zip(body.masses()).enumerate() {
            let p = *x + centre;
            self.x.push([p.x, p.y, p.z, 1.0 / m]);
            self.v.push([0.0, 0.0, 0.0, 1.0 / m]);
            let edge = (x.abs() * 2.0 - size).max_element() > -1e-5;
            if edge {
                self.features.push(Feature::Node(first + k));
            }
        }
        self.soft.push(Soft { body, first, count: mesh.vertices.len() });
        self.soft.len() - 1
    }

    /// One step of `dt` in `substeps`.
    pub fn step(&mut self, dt: Real, substeps: u32) {
        for substep in 0..substeps {
            let ctx = StepContext::new(dt / substeps as Real, substep);
            self.substep(&ctx);
        }
    }

    fn substep(&mut self, ctx: &StepContext<'_>) {
        // predict: deformables build A and b, the others their free velocity
        let fall = self.gravity;
        let force: Vec<Vec3> = self.x.iter().map(|x| if x[3] > 0.0 { fall / x[3] } else { Vec3::ZERO }).collect();
        for s in &mut self.soft {
            let span = s.first..s.first + s.count;
            let body = BodyMut {
                x: &mut self.x[span.clone()],
                v: &mut self.v[span.clone()],
                force: &force[span],
                inner: &mut [],
            };
            s.body.predict(ctx, body);
        }
        let fall = self.gravity * ctx.h;
        let mut lumps = vec![];
        for r in &self.rigid {
            let free = [vec(self.v[r.block]) + fall, vec(self.v[r.block + 1])];
            lumps.push(Lump { block: r.block as u32, mass: r.mass, inertia: Some(r.inertia()), free });
        }
        for &p in &self.particles {
            let free = [vec(self.v[p]) + fall, Vec3::ZERO];
            lumps.push(Lump { block: p as u32, mass: 1.0 / self.x[p][3], inertia: None, free });
        }

        // assemble
        self.assemble(ctx.h);

        // solve
        let placed: Vec<_> =
            self.soft.iter().map(|s| Placed { first: s.first as u32, operator: s.body.operator().unwrap() }).collect();
        let system = System { operators: &placed, lumps: &lumps };
        let before = allocations();
        implicit::stiffen(&system, &mut self.rows, self.v.len(), &self.settings, &mut self.scratch);
        self.outcome = implicit::solve(&system, &mut self.rows, &mut self.v, &self.settings, &mut self.scratch);
        self.allocated = allocations() - before;

        // advance; a rigid body keeps its spin I ω, not its ω
        for s in &mut self.soft {
            let span = s.first..s.first + s.count;
            let body = BodyMut {
                x: &mut self.x[span.clone()],
                v: &mut self.v[span.clone()],
                force: &force[span],
                inner: &mut [],
            };
            s.body.advance(ctx, body);
        }
        for &p in &self.particles {
            for k in 0..3 {
                self.x[p][k] += ctx.h * self.v[p][k];
            }
        }
        for r in &mut self.rigid {
            let (v, w) = (vec(self.v[r.block]), vec(self.v[r.block + 1]));
            let spin = r.inertia().mul(w);
            r.pose.position += v * ctx.h;
            r.pose.rotation = integrate_rotation(r.pose.rotation, w * ctx.h);
            let w = r.inertia().inverse().unwrap().mul(spin);
            self.v[r.block + 1] = [w.x, w.y, w.z, 0.0];
        }
        self.remember(ctx.h);
    }

    fn frame(&self, o: Obstacle) -> Pose {
        match o {
            Obstacle::Plane => Pose::IDENTITY,
            Obstacle::Rigid(r) => self.rigid[r].pose,
        }
    }

    fn position(&self, f: Feature) -> Vec3 {
        match f {
            Feature::Node(b) => vec(self.x[b]),
            Feature::Corner(r, c) => {
                let Shape::Box(h) = self.rigid[r].shape else { unreachable!() };
                let sign = |bit: usize| if c >> bit & 1 == 1 { 1.0 } else { -1.0 };
                self.rigid[r].pose.point(h * Vec3::new(sign(0), sign(1), sign(2)))
            }
        }
    }

    /// Normal out of the obstacle and gap.
    fn gap(&self, point: Vec3, o: Obstacle) -> Option<(Vec3, Real)> {
        match o {
            Obstacle::Plane => self.plane.map(|(n, d)| (n, n.dot(point) - d)),
            Obstacle::Rigid(r) => {
                let body = &self.rigid[r];
                match body.shape {
                    Shape::Ball(radius) => {
                        let arm = point - body.pose.position;
                        Some((arm.normalize_or(Vec3::Y), arm.length() - radius))
                    }
                    Shape::Box(half) => {
                        let local = body.pose.unpoint(point);
                        let q = local.abs() - half;
                        let side = if q.max_element() <= 0.0 {
                            let mut n = Vec3::ZERO;
                            n[q.max_position()] = 1.0;
                            n
                        } else {
                            q.max(Vec3::ZERO)
                        };
                        let gap = if q.max_element() <= 0.0 { q.max_element() } else { side.length() };
                        Some((body.pose.rotation * (side.normalize() * local.signum()), gap))
                    }
                }
            }
        }
    }

    fn assemble(&mut self, h: Real) {
        self.rows.clear();
        self.touches.clear();
        // anchors first: three free rows each, both sides at the node
        for k in 0..self.anchors.len() {
            let (block, rigid, local, impulse, _) = self.anchors[k];
            let point = vec(self.x[block]);
            let error = point - self.rigid[rigid].pose.point(local);
            for (axis, last) in [(Vec3::X, impulse.x), (Vec3::Y, impulse.y), (Vec3::Z, impulse.z)] {
                let key = (Feature::Node(block), Obstacle::Rigid(rigid));
                let id = self.push(key, axis, point, error.dot(axis) / h, error.dot(axis) / h, Bounds::Free);
                self.rows.rows_mut()[id as usize].impulse = last;
            }
        }
        for k in 0..self.features.len() {
            let feature = self.features[k];
            let point = self.position(feature);
            for o in std::iter::once(Obstacle::Plane).chain((0..self.rigid.len()).map(Obstacle::Rigid)) {
                if matches!((feature, o), (Feature::Corner(a, _), Obstacle::Rigid(b)) if a == b) {
                    continue;
                }
                let Some((normal, gap)) = self.gap(point, o) else { continue };
                if gap > self.margin {
                    continue;
                }
                let key = (feature, o);
                let frame = self.frame(o);
                let fresh = Memory { start: 0.0, anchor: frame.unpoint(point), force: Vec3::ZERO, gap: 0.0 };
                let memory = *self.memory.entry(key).or_insert(fresh);
                let n = self.push(key, normal, point, gap / h, gap.min(0.0) / h, Bounds::AtLeast(0.0));
                self.rows.rows_mut()[n as usize].impulse = memory.start;
                self.touches.push(Touch { key, normal, row: n });
                if self.friction > 0.0 {
                    let stretch = point - frame.point(memory.anchor);
                    let t = any_orthonormal(normal);
                    let b = normal.cross(t);
                    let disc = Bounds::Disc { normal: n, friction: self.friction, radius: 0.0 };
                    self.push(key, t, point, stretch.dot(t) / h, 0.0, disc);
                    self.push(key, b, point, stretch.dot(b) / h, 0.0, Bounds::Mate);
                }
            }
        }
    }

    /// A row along `axis`: + on the feature, − on the obstacle, both at the same point (else torque is made).
    fn push(
        &mut self,
        key: (Feature, Obstacle),
        axis: Vec3,
        point: Vec3,
        bias: Real,
        fix: Real,
        bounds: Bounds,
    ) -> RowId {
        let (mut terms, mut count) = ([Term { block: 0, jacobian: Vec3::ZERO, response: Vec3::ZERO }; 4], 0);
        let mut add = |t: Term| {
            terms[count] = t;
            count += 1;
        };
        match key.0 {
            Feature::Node(b) => add(self.node_term(b, axis)),
            Feature::Corner(r, _) => self.rigid[r].terms(axis, point).into_iter().for_each(&mut add),
        }
        if let Obstacle::Rigid(r) = key.1 {
            self.rigid[r].terms(-axis, point).into_iter().for_each(&mut add);
        }
        self.rows.push(&terms[..count], bias, fix, 0.0, bounds)
    }

    fn node_term(&self, block: usize, axis: Vec3) -> Term {
        Term { block: block as u32, jacobian: axis, response: axis * self.x[block][3] }
    }

    /// Impulses and stick points; a spring beyond the cone is returned onto it by moving its stick point.
    fn remember(&mut self, h: Real) {
        for (k, anchor) in self.anchors.iter_mut().enumerate() {
            let [x, y, z] = [0, 1, 2].map(|a| self.rows.rows()[3 * k + a].impulse);
            anchor.4 = Vec3::new(x, y, z) / h;
            let start = |last, now| self.settings.carried(last, now);
            anchor.3 = Vec3::new(start(anchor.3.x, x), start(anchor.3.y, y), start(anchor.3.z, z));
        }
        let mut next = BTreeMap::new();
        for touch in &self.touches {
            let normal = self.rows.rows()[touch.row as usize];
            let mut memory = self.memory[&touch.key];
            let point = self.position(touch.key.0);
            let frame = self.frame(touch.key.1);
            memory.start = self.settings.carried(memory.start, normal.impulse);
            memory.force = touch.normal * normal.impulse / h;
            memory.gap = self.gap(point, touch.key.1).unwrap().1;
            if self.friction > 0.0 {
                let pair = [1, 2].map(|k| self.rows.rows()[touch.row as usize + k]);
                let t = any_orthonormal(touch.normal);
                let b = touch.normal.cross(t);
                memory.force += (t * pair[0].impulse + b * pair[1].impulse) / h;
                let stretch = point - frame.point(memory.anchor);
                let flat = stretch - touch.normal * stretch.dot(touch.normal);
                let limit = pair[0].softness * h * self.friction * normal.impulse;
                if flat.length() > limit {
                    let kept = flat * (limit / flat.length());
                    memory.anchor = frame.unpoint(point - kept);
                }
            }
            next.insert(touch.key, memory);
        }
        self.memory = next;
    }

    /// Throws away all that is not State.
    pub fn forget_work(&mut self) {
        self.rows = RowBuffer::default();
        self.scratch = Scratch::default();
        self.touches = vec![];
    }

    // readings

    /// Sum of contact forces on features accepted by `on` from obstacles accepted by `from` [N].
    pub fn force(&self, on: impl Fn(Feature) -> bool, from: impl Fn(Obstacle) -> bool) -> Vec3 {
        self.memory.iter().filter(|(k, _)| on(k.0) && from(k.1)).fold(Vec3::ZERO, |s, (_, m)| s + m.force)
    }

    pub fn penetration(&self) -> Real {
        self.memory.values().map(|m| -m.gap).fold(0.0, Real::max)
    }

    /// (momentum, angular momentum about the origin, kinetic + elastic energy), summed in f64.
    pub fn totals(&self) -> ([f64; 3], [f64; 3], f64) {
        let (mut p, mut l, mut e) = ([0.0; 3], [0.0; 3], 0.0);
        let mut point = |m: f64, x: Vec3, v: Vec3| {
            let (x, v) = ([x.x, x.y, x.z].map(to64), [v.x, v.y, v.z].map(to64));
            for k in 0..3 {
                let (a, b) = ((k + 1) % 3, (k + 2) % 3);
                p[k] += m * v[k];
                l[k] += m * (x[a] * v[b] - x[b] * v[a]);
                e += 0.5 * m * v[k] * v[k];
            }
        };
        for r in &self.rigid {
            point(to64(r.mass), r.pose.position, vec(self.v[r.block]));
        }
        for b in self.particles.iter().copied().chain(self.soft.iter().flat_map(|s| s.first..s.first + s.count)) {
            point(1.0 / to64(self.x[b][3]), vec(self.x[b]), vec(self.v[b]));
        }
        for r in &self.rigid {
            let w = vec(self.v[r.block + 1]);
            let spin = r.inertia().mul(w);
            e += to64(0.5 * w.dot(spin));
            for k in 0..3 {
                l[k] += to64(spin[k]);
            }
        }
        for s in &self.soft {
            let span = s.first..s.first + s.count;
            let body = BodyRef { x: &self.x[span.clone()], v: &self.v[span], inner: &[] };
            e += to64(s.body.energy(body));
        }
        (p, l, e)
    }

    /// Root mean square of node and body speeds [m/s].
    pub fn rms_speed(&self) -> Real {
        (self.v.iter().map(|v| vec(*v).length_squared()).sum::<Real>() / self.v.len() as Real).sqrt()
    }

    /// Mean position of a soft body's nodes [m].
    pub fn soft_mean(&self, id: usize) -> Vec3 {
        let s = &self.soft[id];
        self.x[s.first..s.first + s.count].iter().fold(Vec3::ZERO, |a, x| a + vec(*x)) / s.count as Real
    }

    /// Mean velocity of a soft body by mass [m/s].
    pub fn soft_velocity(&self, id: usize) -> Vec3 {
        let s = &self.soft[id];
        let (mut m, mut p) = (0.0, Vec3::ZERO);
        for b in s.first..s.first + s.count {
            m += 1.0 / self.x[b][3];
            p += vec(self.v[b]) / self.x[b][3];
        }
        p / m
    }

    /// All bits that the next step depends on, mixed (FNV-1a).
    pub fn hash(&self) -> u64 {
        let poses = self.rigid.iter().flat_map(|r| {
            let (p, q) = (r.pose.position.to_array(), r.pose.rotation.to_array());
            p.into_iter().chain(q)
        });
        let blocks = self.x.iter().chain(&self.v).flatten().copied();
        let memory = self.memory.values().flat_map(|m| [m.start, m.anchor.x, m.anchor.y, m.anchor.z]);
        poses.chain(blocks).chain(memory).fold(0xcbf2_9ce4_8422_2325, |h, r| {
            r.to_le_bytes().iter().fold(h, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
        })
    }
}

impl Rigid {
    pub fn inertia(&self) -> Sym3 {
        Sym3::diagonal(self.local_inertia).rotated(self.pose.rotation)
    }

    fn terms(&self, axis: Vec3, point: Vec3) -> [Term; 2] {
        let arm = (point - self.pose.position).cross(axis);
        let block = self.block as u32;
        let inverse = Sym3::diagonal(self.local_inertia.recip()).rotated(self.pose.rotation);
        [
            Term { block, jacobian: axis, response: axis / self.mass },
            Term { block: block + 1, jacobian: arm, response: inverse.mul(arm) },
        ]
    }
}

pub fn vec(b: Block) -> Vec3 {
    Vec3::new(b[0], b[1], b[2])
}

pub fn to64(r: Real) -> f64 {
    #[allow(clippy::useless_conversion)]
    f64::from(r)
}

/// Counts the allocations of a thread.
struct Counter;

thread_local! {
    static ALLOCATIONS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Allocations of this thread so far.
pub fn allocations() -> usize {
    ALLOCATIONS.with(std::cell::Cell::get)
}

// SAFETY: hands everything to the system's allocator; the counter is a thread local without destructor.
unsafe impl std::alloc::GlobalAlloc for Counter {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        ALLOCATIONS.with(|c| c.set(c.get() + 1));
        // SAFETY: the caller's promise is passed on
        unsafe { std::alloc::System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: std::alloc::Layout) {
        // SAFETY: the caller's promise is passed on
        unsafe { std::alloc::System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static COUNTER: Counter = Counter;
