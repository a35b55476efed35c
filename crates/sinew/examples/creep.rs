//! Creep of a body under static friction at 60% of its limit, in 60 s at steps of 5 ms: rigid and soft, with the laws
//! that have static friction.
//!
//! `cargo run --release -p sinew --example creep`

use sinew::friction::{Curve, ElastoPlastic, Karnopp, Law, LuGre, Stiction, Stribeck};
use sinew::{
    BodyId, ElasticMaterial, Input, Real, RigidBody, Settings, Shape, SoftBody, SurfaceMaterial, TetMesh, Vec3, World,
};

const DT: Real = 0.005;
const G: Real = 9.81;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let curve = Curve { viscosity: 0.0, ..Curve::default() };
    let laws = [
        Law::Stiction(Stiction),
        Law::Stribeck(Stribeck { curve }),
        Law::Karnopp(Karnopp { dead_band: 1e-3, curve }),
        Law::ElastoPlastic(ElastoPlastic::default()),
        Law::LuGre(LuGre::default()),
    ];
    println!("creep from 5 s to 65 s [µm/s]; allowed: 0.1 (LuGre creeps by its nature)");
    println!("{:<16} {:>12} {:>14} {:>10}", "law", "rigid", "rigid, 1 sub", "soft");
    for law in laws {
        let rigid = creep(rigid(law, 4)?)?;
        let coarse = creep(self::rigid(law, 1)?)?;
        let soft = creep(soft(law)?)?;
        println!("{:<16} {:>12.5} {:>14.5} {:>10.5}", law.name(), 1e6 * rigid, 1e6 * coarse, 1e6 * soft);
    }
    Ok(())
}

/// A floor with a friction coefficient of 0.5, gravity inclined by 0.3.
fn leaning(law: Law, substeps: u32) -> Result<(World, SurfaceMaterial), sinew::Error> {
    let gravity = Vec3::new(0.3 * G, -G, 0.0);
    let mut world =
        World::new(Settings { dt: DT, gravity, substeps, sleep_time: Real::INFINITY, ..Settings::default() })?;
    let material = SurfaceMaterial::friction(0.5).law(law);
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(material))?;
    Ok((world, material))
}

fn rigid(law: Law, substeps: u32) -> Result<(World, BodyId), sinew::Error> {
    let (mut world, material) = leaning(law, substeps)?;
    let body = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.02, 0.1)).mass(1.0).material(material);
    let id = world.add_rigid(body.at([0.0, 0.02, 0.0]))?;
    Ok((world, id))
}

fn soft(law: Law) -> Result<(World, BodyId), Box<dyn std::error::Error>> {
    let (mut world, material) = leaning(law, 1)?;
    let mesh = TetMesh::block([3, 2, 3], Vec3::new(0.1, 0.05, 0.1))?;
    let body = SoftBody::corotational(mesh, ElasticMaterial::new(1e6, 0.3, 1000.0)).material(material);
    let id = world.add_soft(body.at([0.0, 0.0251, 0.0]))?;
    Ok((world, id))
}

/// Mean speed after it has settled [m/s].
fn creep((mut world, id): (World, BodyId)) -> Result<Real, sinew::Error> {
    run(&mut world, 5.0);
    let start = world.body(id)?.center_of_mass();
    run(&mut world, 60.0);
    Ok((world.body(id)?.center_of_mass() - start).length() / 60.0)
}

fn run(world: &mut World, seconds: Real) {
    for _ in 0..(seconds / DT).round() as u32 {
        world.step(&Input::none());
    }
}
