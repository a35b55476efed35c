//! `sinew render`: a picture of a scene at a time, and pictures of the whole gallery.

use crate::failure::{Failure, named, unknown};
use crate::place::{self, Place};
use crate::play::{progress, steps_until};
use crate::screen::screen;
use crate::{interrupt, scenes};
use sinew_render::{Camera, Options, RenderError, automatic, render_until};
use sinew_scene::escape::escaped;
use sinew_scene::{AnyScene, gallery};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Size of the pictures of the gallery.
const THUMB: Size = Size { width: 320, height: 200 };

/// Largest file of a picture of the gallery: they are kept in the repository and loaded by the page all at once.
const THUMB_BYTES: usize = 39_000;

/// Fraction of a scene's duration at which it is drawn without `--at`.
const USUAL_SHARE: f64 = 0.3;

/// Scenes of the gallery that look best at another time [s].
const MOMENTS: &[(&str, f64)] = &[("bullet", 0.05), ("wheel", 1.2), ("pudding", 0.35), ("grip", 2.0)];

/// What to draw, and where to.
#[derive(clap::Args)]
pub struct Args {
    /// Name of a built-in scene (see `sinew scenes`), or a .toml or .json file
    #[arg(required_unless_present = "gallery")]
    scene: Option<String>,
    /// The picture to write
    #[arg(short, long, value_name = "FILE.png", required_unless_present = "gallery")]
    output: Option<PathBuf>,
    /// Time of the picture [s]; without it 30 % into the scene
    #[arg(long, value_name = "S", value_parser = not_negative)]
    at: Option<f64>,
    /// Width and height of the picture, 960x600 by itself
    #[arg(long, value_name = "WxH")]
    size: Option<Size>,
    /// Samples along each side of a pixel, 1 to 8 (4 by itself): smoother edges and shadows, and more time
    #[arg(long, value_name = "N")]
    samples: Option<u32>,
    /// Change a value, as in settings.substeps=8 or, in a file, bodies.ball.mass=2; may be given often
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Draw every built-in scene, or the one that is named, into this folder, as NAME.png of 320x200
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "at", "set"])]
    gallery: Option<PathBuf>,
}

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Size {
    width: u32,
    height: u32,
}

impl std::str::FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let side = |t: &str| t.trim().parse().ok().filter(|n| (1..=sinew_render::MAX_SIDE).contains(n));
        let sides = text.split_once(['x', 'X']).and_then(|(w, h)| Some((side(w)?, side(h)?)));
        let (width, height) = sides.ok_or_else(|| {
            format!("give width and height in pixels, each from 1 to {}, as 960x600", sinew_render::MAX_SIDE)
        })?;
        Ok(Self { width, height })
    }
}

fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
        _ => Err("give a finite number of seconds, 0 or more".to_owned()),
    }
}

/// Draws a scene, or all of them.
pub fn draw(args: &Args) -> Result<(), Failure> {
    if let Some(folder) = &args.gallery {
        interrupt::install();
        return draw_gallery(folder, args);
    }
    let (Some(name), Some(path)) = (&args.scene, &args.output) else {
        return Err(Failure::input("name a scene and a file: sinew render SCENE -o FILE.png"));
    };
    let (scene, sets) = scenes::find(name, &args.set)?;
    let usual = Options::default();
    let size = args.size.unwrap_or(Size { width: usual.width, height: usual.height });
    // a place that cannot be written is refused before the work is done
    let place = Place::open(path)?;
    interrupt::install();
    let samples = args.samples.unwrap_or(usual.samples);
    draw_scene(&scene, &sets, place, &Job { at: args.at, size, samples, most: None })
}

/// Time, size and quality of a picture.
struct Job {
    at: Option<f64>,
    size: Size,
    samples: u32,
    /// Largest size of the file [bytes].
    most: Option<usize>,
}

fn draw_gallery(folder: &Path, args: &Args) -> Result<(), Failure> {
    place::folder(folder)?;
    let size = args.size.unwrap_or(THUMB);
    let samples = args.samples.unwrap_or(Options::default().samples);
    if let Some(name) = args.scene.as_deref().filter(|name| gallery::find(name).is_none()) {
        return Err(unknown("scene", name, gallery::suggest(name), "see 'sinew scenes'"));
    }
    let wanted = |name: &str| args.scene.as_deref().is_none_or(|only| only == name);
    for scene in gallery::scenes().iter().filter(|s| wanted(s.name)) {
        let at = MOMENTS.iter().find(|(name, _)| *name == scene.name).map(|(_, at)| *at);
        let path = folder.join(format!("{}.png", scene.name));
        draw_scene(&scene.into(), &[], Place::open(&path)?, &Job { at, size, samples, most: Some(THUMB_BYTES) })?;
    }
    Ok(())
}

fn draw_scene(scene: &AnyScene, sets: &[String], place: Place, job: &Job) -> Result<(), Failure> {
    let mut world = scene.build()?;
    world.set_settings(scenes::with_sets(world.settings(), sets)?)?;
    let at = job.at.unwrap_or(USUAL_SHARE * scene.seconds());
    let steps = steps_until(at, world.settings());
    let bar = progress(steps, scene.name());
    for _ in 0..steps {
        if interrupt::requested() {
            return Err(stopped(&place));
        }
        let input = scene.input(&world, world.state().tick);
        world.step(&input);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let Size { width, height } = job.size;
    let options = Options { width, height, samples: job.samples, ..Options::default() };
    let camera = own_camera(scene).unwrap_or_else(|| automatic(&world, &options));
    let picture = render_until(&world, &camera, &options, interrupt::requested).map_err(|e| match e {
        RenderError::Stopped => stopped(&place),
        e => Failure::input(format!("{}: {e}", scene.name())),
    })?;
    let mut bytes = Vec::new();
    match job.most {
        Some(most) => bytes = picture.png_within(most)?,
        None => picture.write_png(&mut bytes)?,
    }
    // encoding takes time too
    if interrupt::requested() {
        return Err(stopped(&place));
    }
    let message = format!("{}: {} at {:.3} s", named(place.path()), escaped(scene.name()), world.time());
    let quiet = place.is_stdout();
    place.save(&bytes)?;
    if !quiet {
        writeln!(screen(), "{message}")?;
    }
    Ok(())
}

fn stopped(place: &Place) -> Failure {
    Failure::Stopped(format!("stopped; {} is left as it was", named(place.path())))
}

/// The camera of a scene file.
fn own_camera(scene: &AnyScene) -> Option<Camera> {
    let AnyScene::File(file) = scene else { return None };
    file.camera().map(|c| Camera { eye: c.eye, target: c.target, field_of_view: c.field_of_view })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_or_refused() {
        assert_eq!("320x200".parse(), Ok(Size { width: 320, height: 200 }));
        for bad in ["320", "0x10", "10x", "9000x10", "axb"] {
            assert!(bad.parse::<Size>().is_err_and(|e| e.contains("960x600")), "{bad}");
        }
    }

    #[test]
    fn moments_are_of_scenes_that_exist() {
        for (name, at) in MOMENTS {
            assert!(gallery::find(name).is_some_and(|s| *at <= s.seconds), "{name}");
        }
    }
}
