//! Queries of soft bodies: the same results as for rigid ones of the same shape, also while they move.

use sinew::*;

const SIZE: Vec3 = Vec3::new(0.6, 0.4, 0.5);

/// A soft block in one world, a rigid box of the same shape in another.
fn twins() -> Result<[(World, BodyId); 2], Error> {
    let at = Vec3::new(0.2, 1.0, -0.1);
    let turn = Quat::from_rotation_z(0.4);
    let mut soft = World::default();
    let mesh = TetMesh::block([4, 3, 3], SIZE).expect("a block");
    let jelly = soft.add_soft(SoftBody::corotational(mesh, ElasticMaterial::jelly()).at(at).turned(turn))?;
    let mut hard = World::default();
    let shape = Shape::cuboid(0.5 * SIZE.x, 0.5 * SIZE.y, 0.5 * SIZE.z);
    let solid = hard.add_rigid(RigidBody::fixed().shape(shape).at(at).turned(turn))?;
    Ok([(soft, jelly), (hard, solid)])
}

fn random(seed: &mut u32) -> Real {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (*seed >> 8) as Real / 8_388_608.0 - 1.0
}

fn point(seed: &mut u32) -> Vec3 {
    Vec3::new(0.2 + random(seed), 1.0 + random(seed), -0.1 + random(seed))
}

#[test]
fn queries_of_a_soft_block_agree_with_those_of_a_rigid_box() -> Result<(), Error> {
    let [(soft, jelly), (hard, solid)] = twins()?;
    let all = QueryFilter::default();
    let (mut seed, mut rays, mut insides) = (7, 0, 0);
    for _ in 0..300 {
        let (from, to) = (point(&mut seed), point(&mut seed));
        let outside = hard.bodies_at(from, &all)?.is_empty();
        assert_eq!(soft.bodies_at(from, &all)?.is_empty(), outside, "{from}");
        insides += usize::from(!outside);
        let near = |world: &World| world.nearest(from, 2.0, &all).map(|hit| hit.expect("it is near").distance);
        assert!((near(&soft)? - near(&hard)?).abs() < 1e-5, "{from}: {} {}", near(&soft)?, near(&hard)?);
        let ball = Shape::ball(0.15);
        let meets = |world: &World| world.overlaps(&ball, Pose::at(from), &all).map(|list| list.len());
        if (near(&hard)? - 0.15).abs() > 1e-4 {
            assert_eq!(meets(&soft)?, meets(&hard)?, "{from}");
        }
        if !outside {
            continue;
        }
        let ray = |world: &World| world.cast_ray(from, to - from, (to - from).length(), &all);
        match (ray(&soft)?, ray(&hard)?) {
            (Some(a), Some(b)) => {
                rays += 1;
                assert!((a.body, b.body) == (jelly, solid) && (a.distance - b.distance).abs() < 1e-5);
                assert!(a.normal.dot(b.normal) > 0.999, "{} {}", a.normal, b.normal);
            }
            (None, None) => {}
            (a, b) => panic!("{from} {to}: {a:?} {b:?}"),
        }
    }
    // a block of 0.12 m³ in 8 m³
    assert!(rays > 10 && insides > 1, "{rays} {insides}");
    Ok(())
}

#[test]
fn a_shape_cast_of_a_ball_hits_a_soft_block_where_it_hits_a_rigid_one() -> Result<(), Error> {
    let worlds = twins()?;
    let [soft, hard] = worlds.map(|(world, _)| {
        let from = Pose::at(Vec3::new(0.3, 3.0, -0.05));
        let hit = world.cast_shape(&Shape::ball(0.2), from, Vec3::new(0.0, -3.0, 0.0), &QueryFilter::default());
        hit.expect("a valid query").expect("it is below")
    });
    assert!((soft.fraction - hard.fraction).abs() < 1e-4 && soft.normal.dot(hard.normal) > 0.999, "{soft:?} {hard:?}");
    Ok(())
}

#[test]
fn queries_use_the_present_position_of_a_soft_body() -> Result<(), Error> {
    let mut world = World::default();
    let mesh = TetMesh::block([2, 2, 2], Vec3::splat(0.2)).expect("a block");
    let jelly = world.add_soft(SoftBody::corotational(mesh, ElasticMaterial::jelly()).at([0.0, 2.0, 0.0]))?;
    for _ in 0..30 {
        world.step(&Input::none());
    }
    let top = world.body(jelly)?.node_positions().iter().map(|x| x.y).fold(Real::NEG_INFINITY, Real::max);
    assert!(top < 1.0);
    let all = QueryFilter::default();
    let hit = world.cast_ray(Vec3::new(0.01, 5.0, 0.02), -Vec3::Y, 10.0, &all)?.expect("it is below");
    assert!(hit.body == jelly && (hit.point.y - top).abs() < 1e-4, "{hit:?} {top}");
    let except = QueryFilter { except: Some(jelly), ..all };
    assert!(world.cast_ray(Vec3::new(0.01, 5.0, 0.02), -Vec3::Y, 10.0, &except)?.is_none());
    Ok(())
}

#[test]
fn a_jelly_and_a_box_on_it_sleep_together_and_wake_on_impact() -> Result<(), Error> {
    let mut world = World::default();
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
    let mesh = TetMesh::block([3, 2, 3], Vec3::new(0.3, 0.15, 0.3)).expect("a block");
    let matter = ElasticMaterial { damping: 0.05, ..ElasticMaterial::jelly() };
    let jelly = world.add_soft(SoftBody::corotational(mesh, matter).at([0.0, 0.08, 0.0]))?;
    let load =
        world.add_rigid(RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.02, 0.1)).mass(0.5).at([0.0, 0.18, 0.0]))?;
    let asleep = |world: &World| [jelly, load].map(|id| world.body(id).expect("it is there").is_asleep());
    let mut slept = None;
    for k in 0..600 {
        world.step(&Input::none());
        let now = asleep(&world);
        assert_eq!(now[0], now[1], "step {k}: one island sleeps as a unit");
        if now[0] {
            slept = Some(k);
            break;
        }
    }
    assert!(slept.is_some(), "it never came to rest");
    let before = world.body(jelly)?.node_positions().to_vec();
    for _ in 0..10 {
        world.step(&Input::none());
    }
    assert_eq!(world.body(jelly)?.node_positions(), before, "sleeping bodies do not move, bitwise");
    let stone = RigidBody::dynamic().shape(Shape::ball(0.03)).mass(0.2).at([0.0, 0.3, 0.0]).velocity([0.0, -3.0, 0.0]);
    world.add_rigid(stone)?;
    let mut woke = false;
    for _ in 0..20 {
        world.step(&Input::none());
        woke |= asleep(&world) == [false, false];
    }
    assert!(woke);
    Ok(())
}
