//! Scratch.
use sinew::*;
fn main() -> Result<(), Error> {
    for mu in [0.1, 0.13, 0.14, 0.2, 0.5] {
        let m = Material::friction(mu).restitution(0.6);
        let mut w = World::new(Settings { dt: 0.001, gravity: Vec3::ZERO, ..Settings::default() })?;
        w.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(m))?;
        let b = w.add_rigid(
            RigidBody::dynamic()
                .shape(Shape::ball(0.1))
                .mass(1.0)
                .at([0.0, 0.1503, 0.0])
                .velocity([3.0, -4.0, 0.0])
                .material(m),
        )?;
        for _ in 0..60 {
            w.step(&Input::none());
        }
        let v = w.body(b)?;
        println!("mu {mu} along {} rim {} vn {}", v.velocity().x, -0.1 * v.spin().z, v.velocity().y);
    }
    // pendulum in a turned frame
    for rot in [Quat::IDENTITY, Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), 0.6458)] {
        let mut w =
            World::new(Settings { dt: 0.001, gravity: rot * Vec3::new(0.0, -9.81, 0.0), ..Settings::default() })?;
        let base = w.add_rigid(
            RigidBody::kinematic()
                .shape(Shape::cuboid(10.0, 0.5, 10.0))
                .at(rot * Vec3::new(0.0, -0.5, 0.0))
                .turned(rot),
        )?;
        let bob = w.add_rigid(
            RigidBody::dynamic()
                .shape(Shape::cuboid(0.2, 0.05, 0.1))
                .mass(8.0)
                .at(rot * Vec3::new(0.8, 2.0, 0.0))
                .turned(rot),
        )?;
        let j = w.add_joint(
            Joint::hinge(Some(base), Some(bob)).anchor(rot * Vec3::new(0.0, 2.0, 0.0)).axis(rot * Vec3::Z),
        )?;
        for k in 0..1000 {
            w.step(&Input::none());
            if k % 100 == 0 {
                let p = rot.inverse() * w.body(bob)?.position();
                println!("{k} {p:.4} place {:.4} broken {}", w.joint_place(j)?, w.is_broken(j)?);
            }
        }
    }
    Ok(())
}
