//! A scene with every kind of body and constraint, and its commands.
#![allow(dead_code, reason = "each test file uses its part")]

use sinew::friction::{Law, LuGre};
use sinew::*;

/// What the inputs talk about.
#[derive(Clone, Copy)]
pub struct Ids {
    pub brick: BodyId,
    pub lift: BodyId,
    pub dust: BodyId,
    pub spare: BodyId,
    pub hinge: ConstraintId,
    pub weld: ConstraintId,
}

/// Random numbers that are the same everywhere (xorshift64*).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }
}

/// A body whose centre of mass is not its origin.
pub fn hammer() -> RigidBody {
    RigidBody::dynamic()
        .collider(Collider::new(Shape::cuboid(0.3, 0.03, 0.03)).density(700.0))
        .collider(Collider::new(Shape::cuboid(0.05, 0.12, 0.05)).at(Pose::at(Vec3::new(0.3, 0.0, 0.0))).density(7000.0))
        .named("hammer")
}

/// Every kind of body, shape, joint and site.
pub fn scene(threads: u32) -> Result<(World, Ids), Error> {
    let surface = SurfaceMaterial::friction(0.3).law(Law::LuGre(LuGre::default()));
    let table = vec![Pairing { families: [3, 9], surface }];
    let pairs = PairRules { friction: PairRule::Mean, restitution: PairRule::Product, table };
    let mut world = World::new(Settings { threads, pairs, ..Settings::default() })?;
    let w = &mut world;
    w.add_rigid(
        RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(SurfaceMaterial::friction(0.7).restitution(0.1)),
    )?;
    let gone = w.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)))?;
    let brick = w.add_rigid(
        RigidBody::dynamic().shape(Shape::cuboid(0.2, 0.1, 0.1)).at([0.0, 0.5, 0.0]).mass(2.0).damping(0.1, 0.2),
    )?;
    let lift = w.add_rigid(RigidBody::kinematic().shape(Shape::cylinder(0.05, 0.5)).at([3.0, 0.1, 0.0]))?;
    let spare = w.add_rigid(RigidBody::dynamic().shape(Shape::cone(0.2, 0.1)).at([3.0, 0.5, 0.0]).continuous(true))?;
    let dust = w.add_particles(
        Particles::new(vec![Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.1, 1.2, 0.0), Vec3::new(0.2, 1.0, 0.1)])
            .radius(0.02)
            .mass(0.05)
            .pinned([2]),
    )?;
    w.remove_body(gone)?;
    let swing = w.add_rigid(hammer().at([1.0, 1.3, 0.3]).turned(Quat::from_rotation_z(0.3)))?;
    let pole = w.add_rigid(hammer().at([1.7, 1.3, 0.3]).spin([0.0, 1.0, 0.0]))?;
    let hinge = w.add_joint(
        Joint::hinge(Some(swing), Some(pole))
            .anchor([1.35, 1.31, 0.33])
            .axis(Vec3::Z)
            .limits(-1.0, 1.2)
            .motor(Motor::Velocity { target: 1.0, max_force: 5.0 }),
    )?;
    w.add_joint(Joint::ball(None, Some(swing)).anchor([0.9, 1.4, 0.3]).break_force(1e6))?;
    let cart = w.add_rigid(RigidBody::dynamic().shape(Shape::capsule(0.1, 0.1)).at([-2.0, 0.5, 0.0]))?;
    w.add_joint(Joint::slider(None, Some(cart)).axis([1.0, 0.2, 0.0]).motor(Motor::Position {
        target: 0.3,
        frequency: 2.0,
        damping_ratio: 0.7,
        max_force: 200.0,
    }))?;
    let parts =
        vec![(Pose::at(Vec3::X * 0.1), Shape::ball(0.1)), (Pose::at(-Vec3::X * 0.1), Shape::cuboid(0.1, 0.1, 0.1))];
    let dumbbell = w.add_rigid(RigidBody::dynamic().shape(Shape::compound(parts)).at([-2.0, 1.0, 0.0]))?;
    let stabilization = Stabilization::Baumgarte(0.2);
    let weld = w.add_joint(Joint::fixed(Some(cart), Some(dumbbell)).collide(true).stabilization(stabilization))?;
    let node = |node| Site::Node { body: dust, node };
    w.add_distance(Distance::rope(Site::Rigid { body: brick, local: Vec3::Y * 0.1 }, node(0), 0.6).strength(50.0))?;
    w.add_distance(Distance::spring(node(0), node(1), 0.2, 40.0, 0.1))?;
    w.add_distance(Distance::rod(node(1), Site::World(Vec3::new(0.1, 1.5, 0.0)), 0.3).break_force(1e4))?;
    add_landscape(w)?;
    add_held_nodes(w)?;
    Ok((world, Ids { brick, lift, dust, spare, hinge, weld }))
}

/// Shapes that do not move, and things that fall on them.
fn add_landscape(w: &mut World) -> Result<(), Error> {
    let bowl = Sdf::intersection([Sdf::bowl(Vec3::Y, 1.0), Sdf::plane(Vec3::Y * 0.8, Vec3::Y)]);
    w.add_rigid(RigidBody::fixed().shape(Shape::sdf(bowl)).at([6.0, 0.0, 0.0]))?;
    let corners = [[-1.0, 0.0, -1.0], [1.0, 0.2, -1.0], [1.0, 0.4, 1.0], [-1.0, 0.2, 1.0]].map(Vec3::from_array);
    let slope = Shape::tri_mesh(corners.to_vec(), vec![[0, 2, 1], [0, 3, 2]]);
    w.add_rigid(RigidBody::fixed().shape(slope).at([0.0, 0.0, 5.0]))?;
    let heights = (0..9).map(|i| 0.05 * (i % 4) as Real).collect();
    let hills = Shape::HeightField { heights, rows: 3, scale: Vec3::new(2.0, 1.0, 2.0) };
    w.add_rigid(RigidBody::fixed().shape(hills).at([0.0, 0.3, -5.0]))?;
    let cells = vec![[0, 0, 0], [1, 0, 0], [1, 1, 0]].into();
    w.add_rigid(
        RigidBody::fixed().shape(Shape::Voxels { size: Vec3::splat(0.3), cells }).at([-5.0, 0.5, 0.0]).named("steps"),
    )?;
    let sensor = Collider::new(Shape::cuboid(1.0, 1.0, 1.0)).sensor(true).groups(Groups { member: 2, mask: 3 });
    w.add_rigid(RigidBody::fixed().collider(sensor).at([6.0, 1.0, 0.0]))?;
    let hull: Vec<Vec3> =
        (0..8).map(|i| 0.15 * Vec3::new((i & 1) as Real, (i >> 1 & 1) as Real, (i >> 2) as Real)).collect();
    for (i, at) in [[6.0, 1.5, 0.0], [0.2, 1.0, 5.0], [0.1, 1.0, -5.0], [-4.8, 1.7, 0.1]].into_iter().enumerate() {
        let shape = if i % 2 == 0 { Shape::ball(0.15) } else { Shape::convex_hull(hull.clone()) };
        let bouncy = SurfaceMaterial { rolling_resistance: 1e-3, restitution: 0.4, ..SurfaceMaterial::friction(0.4) };
        let bouncy = if i == 1 { bouncy.family(3).grain(Vec3::X, 0.5) } else { bouncy };
        w.add_rigid(RigidBody::dynamic().shape(shape).material(bouncy).at(at.map(|c| c as Real)))?;
    }
    Ok(())
}

/// Nodes and surfaces that are held in every way.
fn add_held_nodes(w: &mut World) -> Result<(), Error> {
    let message = |e: &dyn std::fmt::Display| Error::BadSnapshot(e.to_string());
    let mesh = TriMesh::sheet([2, 2], [0.4, 0.4], Diagonals::Alternating).map_err(|e| message(&e))?;
    let at = Vec3::new(9.0, 1.0, 0.0);
    let points: Vec<Vec3> = mesh.vertices.iter().map(|&p| p + at).collect();
    let cloth = w.add_particles(Particles::new(points).mass(0.02))?;
    w.add_distance_set(DistanceSet::new(cloth, mesh.edges()).stiffness(300.0, 10.0, 0.01).break_force(1e5))?;
    w.add_bending(Bending::new(cloth, mesh.folds(), 1e-3).damping(0.01))?;
    w.add_bending(Bending::new(cloth, [[0, 1, 3, 4]], 1e-3).law(BendLaw::Printed))?;
    let skin = TriMesh::ball(0.1, 1).map_err(|e| message(&e))?;
    let points: Vec<Vec3> = skin.vertices.iter().map(|&p| p + at + Vec3::X).collect();
    let balloon = w.add_particles(Particles::new(points).mass(0.02))?;
    w.add_distance_set(DistanceSet::new(balloon, skin.edges()).pull_only())?;
    let law = VolumeLaw::Held { volume: None, compliance: 1e-7 };
    w.add_volume(Volume::new(balloon, law).triangles(skin.triangles.clone()).burst(1e7))?;
    w.add_volume(Volume::gas(balloon, 10.0, 1e4).triangles(skin.triangles.clone()))?;
    w.add_volume(Volume::pressure(balloon, 3.0).triangles(skin.triangles))?;
    let block = TetMesh::block([1, 1, 1], Vec3::splat(0.2)).map_err(|e| message(&e))?;
    let air = Air { wind: Vec3::Z, ..Air::default() };
    let block = SoftBody::corotational(block, ElasticMaterial::new(1e5, 0.3, 1000.0)).air(air).at(at - Vec3::X);
    let block = w.add_soft(block)?;
    w.add_patch_joint(PatchJoint::hinge(block, [0, 1, 2, 3], None, Vec3::Y).weights([1.0, 2.0, 1.0, 1.0]))?;
    let face = Site::Face { body: block, triangle: 2, weights: [0.5, 0.25, 0.25] };
    w.add_attachment(Attachment::pair(Site::Node { body: cloth, node: 0 }, face).spring(10.0, 0.1).break_force(1e4))?;
    w.add_attachment(Attachment::anchor(Site::Surfel { body: block, surfel: 5 }, None))?;
    loaded(w, at - Vec3::X * 2.0)
}

/// A body with loads of every kind, on rollers.
fn loaded(w: &mut World, at: Vec3) -> Result<(), Error> {
    let block = TetMesh::block([1, 1, 1], Vec3::splat(0.2)).map_err(|e| Error::BadSnapshot(e.to_string()))?;
    let [low, high] = [-1.0, 1.0].map(|side| Region {
        min: Vec3::new(-1.0, 0.1 * side - 1e-3, -1.0),
        max: Vec3::new(1.0, 0.1 * side + 1e-3, 1.0),
    });
    let block = SoftBody::corotational(block, ElasticMaterial::new(1e5, 0.3, 1000.0)).at(at);
    let block = block.pin_axes(PinnedAxes { region: low, x: true, y: true, z: false });
    let block = block.load(Load::pressure(high, 50.0).ramp(2.0)).load(Load::force(low, Vec3::Z));
    w.add_soft(block.load(Load { faces: vec![0, 3], force: Vec3::X, ..Load::default() }))?;
    Ok(())
}

/// Commands of step `i`: every kind of command occurs.
pub fn input(ids: &Ids, i: u32) -> Input {
    let mut input = Input::none();
    let mut say = |command| input.commands.push(command);
    let Ids { brick, lift, dust, spare, hinge, weld } = *ids;
    let t = i as Real / 60.0;
    say(Command::Target { body: lift, pose: Pose::at(Vec3::new(3.0, 0.1 + 0.2 * t.min(1.0), 0.0)) });
    if i % 7 < 3 {
        say(Command::Force { body: brick, force: Vec3::new(3.0, 0.0, 1.0), torque: Vec3::Y * 0.2 });
        say(Command::NodeForce { body: dust, node: 1, force: Vec3::new(0.2, 0.0, -0.1) });
    }
    match i {
        10 => say(Command::NodeTarget { body: dust, node: 2, position: Vec3::new(0.21, 1.0, 0.1) }),
        11 => say(Command::NodeTarget { body: dust, node: 2, position: Vec3::new(0.21, 1.0, 0.1) }),
        20 => say(Command::ForceAt { body: brick, force: Vec3::Y * 30.0, point: Vec3::new(0.1, 0.1, 0.0) }),
        30 => say(Command::Impulse { body: brick, impulse: Vec3::X, point: Vec3::ZERO }),
        40 => say(Command::AddRigid(Box::new(hammer().at([0.0, 2.0, 0.0])))),
        55 => say(Command::Settings(Box::new(Settings { substeps: 6, ..Settings::default() }))),
        60 => say(Command::Velocity { body: spare, velocity: Vec3::Y, spin: Vec3::X }),
        80 => say(Command::Teleport { body: spare, pose: Pose::at(Vec3::new(0.0, 1.5, 1.0)) }),
        100 => say(Command::Motor { joint: hinge, motor: Some(Motor::Velocity { target: -2.0, max_force: 3.0 }) }),
        130 => say(Command::RemoveBody(spare)),
        150 => say(Command::AddRigid(Box::new(RigidBody::dynamic().shape(Shape::ball(0.2)).at([0.5, 1.0, 0.0])))),
        160 => say(Command::RemoveConstraint(weld)),
        // refused, and that is replayed too
        170 => say(Command::RemoveConstraint(weld)),
        180 => say(Command::Motor { joint: hinge, motor: None }),
        200 => {
            let order = Order::Staggered { rigid: 2, deformable: 1 };
            say(Command::Settings(Box::new(Settings {
                gravity: Vec3::new(1.0, -5.0, 0.0),
                order,
                ..Settings::default()
            })));
        }
        _ => {}
    }
    input
}

/// The sections of a file as (tag, body), and its header: the container of docs/save-format.md written a second time.
pub fn open(bytes: &[u8]) -> (Vec<u8>, Vec<(u8, Vec<u8>)>) {
    let header = 10 + usize::from(bytes[9]);
    let (mut at, mut sections) = (header + 8, Vec::new());
    while at < bytes.len() {
        let length = u64::from_le_bytes(bytes[at + 1..at + 9].try_into().unwrap()) as usize;
        sections.push((bytes[at], bytes[at + 13..at + 13 + length].to_vec()));
        at += 13 + length + 8;
    }
    (bytes[..header].to_vec(), sections)
}

/// A file with these sections whose checksums fit.
pub fn seal(header: &[u8], sections: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let mix = twox_hash::XxHash3_64::oneshot_with_seed;
    let mut bytes = header.to_vec();
    let mut chain = mix(0x243f_6a88_85a3_08d3, header);
    bytes.extend(chain.to_le_bytes());
    for (tag, body) in sections {
        let start = bytes.len();
        bytes.push(*tag);
        bytes.extend((body.len() as u64).to_le_bytes());
        let check = mix(chain, &bytes[start..]) as u32;
        bytes.extend(check.to_le_bytes());
        bytes.extend(body);
        chain = mix(chain, &bytes[start..]);
        bytes.extend(chain.to_le_bytes());
    }
    bytes
}

/// Changes some bytes of one section and seals the file again.
pub fn forge(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let (header, mut sections) = open(bytes);
    let which = random.below(sections.len() - 1);
    let body = &mut sections[which].1;
    for _ in 0..1 + random.below(3) {
        let at = random.below(body.len().max(1));
        match random.below(6) {
            0 => body.truncate(at),
            1 => body.insert(at.min(body.len()), random.below(256) as u8),
            2 if at < body.len() => _ = body.remove(at),
            3 => {
                body.splice(at.min(body.len())..(at + 5).min(body.len()), [0xff, 0xff, 0xff, 0xff, 0x0f]).for_each(drop)
            }
            _ if at < body.len() => body[at] ^= 1 << random.below(8),
            _ => {}
        }
    }
    seal(&header, &sections)
}
