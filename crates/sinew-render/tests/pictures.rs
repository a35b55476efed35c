//! Rendered images against geometry: the number of pixels that a sphere covers, the position of shadows, and
//! reproducibility.

use sinew::{Error, Real, RigidBody, Shape, Vec3, World};
use sinew_render::{Camera, Image, Options, RenderError, automatic, render};

/// A sphere above a floor; the camera looks horizontally at its centre from 10 m.
fn ball_over_floor(height: Real) -> Result<World, Error> {
    let mut world = World::default();
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
    world.add_rigid(RigidBody::dynamic().shape(Shape::ball(1.0)).at([0.0, height, 0.0]))?;
    Ok(world)
}

/// The colour of the sphere has far more red than blue; floor and sky never do.
fn is_ball(pixel: [u8; 3]) -> bool {
    i32::from(pixel[0]) > i32::from(pixel[2]) + 15
}

fn light(image: &Image, x: u32, y: u32) -> u32 {
    image.pixel(x, y).map_or(0, |p| p.iter().map(|c| u32::from(*c)).sum())
}

#[test]
fn a_ball_covers_the_pixels_of_its_outline() {
    let world = ball_over_floor(50.0).unwrap();
    let camera = Camera { eye: Vec3::new(0.0, 50.0, 10.0), target: Vec3::new(0.0, 50.0, 0.0), field_of_view: 20.0 };
    let options = Options { width: 400, height: 400, samples: 2, sun: Some(Vec3::Z) };
    let image = render(&world, &camera, &options).unwrap();
    let found =
        (0..400).flat_map(|y| (0..400).map(move |x| (x, y))).filter(|&(x, y)| is_ball(image.pixel(x, y).unwrap()));
    // a sphere of radius r at distance d is seen under tan = r / √(d² - r²); half the image is tan 10°
    let radius = 200.0 * (1.0 / 99.0_f64.sqrt()) / 10.0_f64.to_radians().tan();
    let right = std::f64::consts::PI * radius * radius;
    let count = found.count() as f64;
    assert!((count / right - 1.0).abs() < 0.01, "{count} pixels, {right:.0} by geometry");
}

#[test]
fn the_shadow_lies_at_the_projection_along_the_sun_direction() {
    let world = ball_over_floor(3.0).unwrap();
    // the view is vertically down on the floor: the image is a map with -z at the upper edge
    let camera = Camera { eye: Vec3::new(0.0, 40.0, 0.0), target: Vec3::ZERO, field_of_view: 30.0 };
    let options = Options { width: 301, height: 301, samples: 2, sun: Some(Vec3::new(-1.0, 1.0, 0.0)) };
    let image = render(&world, &camera, &options).unwrap();
    let metre = 150.5 / (40.0 * 15.0_f64.to_radians().tan());
    let at = |x: f64, z: f64| light(&image, (150.5 + x * metre) as u32, (150.5 + z * metre) as u32);
    // the sun stands at 45° in the direction -x: the shadow is 3 m towards +x, and nowhere else
    let (dark, bright) = (at(3.3, 0.3), at(-3.3, 0.3));
    assert!(dark * 10 < bright * 7, "{dark} {bright}");
    for (x, z) in [(3.3, 2.5), (3.3, -2.5), (5.5, 0.3)] {
        assert!(at(x, z) * 10 > bright * 9, "{x} {z}: {} {bright}", at(x, z));
    }
}

#[test]
fn the_same_world_gives_the_same_image() {
    let world = ball_over_floor(2.0).unwrap();
    let options = Options { width: 80, height: 50, samples: 2, sun: None };
    let camera = automatic(&world, &options);
    let take = || render(&world, &camera, &options).unwrap();
    let first = take();
    assert_eq!(first, take());
    // the PNG decodes to the same pixels
    let mut bytes = Vec::new();
    first.write_png(&mut bytes).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    assert_eq!(pixels, first.pixels);
}

#[test]
fn the_automatic_camera_frames_all_moving_bodies_tightly() {
    let mut world = World::default();
    for x in [-4.0, 1.0, 7.0] {
        world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.5)).at([x, 0.5 * x, -x])).unwrap();
    }
    let options = Options { width: 120, height: 80, ..Options::default() };
    let camera = automatic(&world, &options);
    let back = (camera.eye - camera.target).normalize();
    let right = Vec3::Y.cross(back).normalize();
    let up = back.cross(right);
    let half = (camera.field_of_view.to_radians() * 0.5).tan();
    let mut widest: Real = 0.0;
    for body in world.bodies() {
        let p = body.position() - camera.eye;
        let depth = -p.dot(back);
        let edge = (p.dot(right).abs() + 0.5) / (depth * half * 1.5);
        let rise = (p.dot(up).abs() + 0.5) / (depth * half);
        assert!(edge < 1.0 && rise < 1.0, "{edge} {rise}");
        widest = widest.max(edge).max(rise);
    }
    assert!(widest > 0.75, "{widest}");
}

#[test]
fn bad_sizes_and_cameras_are_refused() {
    let world = ball_over_floor(2.0).unwrap();
    let camera = Camera { eye: Vec3::Z, target: Vec3::ZERO, field_of_view: 45.0 };
    let wide = Options { width: 10_000, ..Options::default() };
    let refused = render(&world, &camera, &wide).unwrap_err();
    assert_eq!(refused, RenderError::Size { what: "width", value: 10_000, most: 8192 });
    assert_eq!(refused.to_string(), "width: 10000, must be from 1 to 8192");
    let blind = Camera { eye: Vec3::ZERO, ..camera };
    assert!(matches!(render(&world, &blind, &Options::default()), Err(RenderError::Camera(_))));
}
