//! Scenes of the gallery that are scene files: `scenes/NAME.toml` is their only definition.

use super::Scene;
use crate::file::{Problems, SceneFile, Syntax, read_text};
use sinew::{Error, Input, World};
use std::sync::OnceLock;

/// A file of `scenes/`, read once.
type Once = OnceLock<Result<SceneFile, Problems>>;

/// A scene defined by a file of its name. Its description is repeated here, because lists of scenes are made
/// without reading files; a test compares the two.
macro_rules! file_scene {
    ($name:literal, $about:literal, $figure:literal, $seconds:literal) => {{
        static FILE: Once = Once::new();
        const TEXT: &str = include_str!(concat!("../../../../scenes/", $name, ".toml"));
        fn file() -> Result<&'static SceneFile, Error> {
            open(&FILE, concat!($name, ".toml"), TEXT)
        }
        Scene {
            name: $name,
            about: $about,
            figure: $figure,
            build: || file()?.build(),
            input: |world: &World, tick| file().map_or_else(|_| Input::none(), |f| f.input(world.settings(), tick)),
            seconds: $seconds,
            text: Some(TEXT),
        }
    }};
}

fn open(file: &'static Once, name: &str, text: &str) -> Result<&'static SceneFile, Error> {
    let read = file.get_or_init(|| read_text(text, name, Syntax::Toml));
    read.as_ref().map_err(|problems| Error::BadShape { shape: name.to_owned(), reason: problems.to_string() })
}

/// A block that a belt carries until its spring is stronger.
pub(super) const STICK_SLIP: Scene = file_scene!(
    "stick-slip",
    "A belt carries a block until the spring pulls it back, over and over (LuGre).",
    "",
    20.0
);

/// Three balls, three frictions.
pub(super) const BALL_INCLINE: Scene = file_scene!(
    "ball-incline",
    "Soft balls on a slope: the slippery one slides, those with friction roll, with twice of it hardly slower.",
    "FC Fig. 5.17",
    3.0
);

/// Two soft pads and a plate.
pub(super) const GRIP: Scene = file_scene!(
    "grip",
    "Soft pads close on a plate of 8 kg and lift it; friction alone holds it (elasto-plastic).",
    "",
    6.0
);

/// One end is wound up, held, and let go.
pub(super) const TWIST_CHAIN: Scene = file_scene!(
    "twist-chain",
    "One end of a chain of single ellipsoids is wound up and let go: particles one abreast carry the torsion.",
    "OP Fig. 4.3",
    8.0
);

/// Three fingers and a ball.
pub(super) const HAND: Scene = file_scene!(
    "hand",
    "Three fingers of two jointed bones each, with soft pads, close on a ball, lift it by 0.3 m and hold it.",
    "",
    8.0
);

/// Everything touches everything.
pub(super) const MIXED: Scene = file_scene!(
    "mixed",
    "A cloth lies over two jellies that carry a box, and a stack of five stands on the box.",
    "",
    10.0
);

/// A pudding to pull.
pub(super) const PUDDING: Scene =
    file_scene!("pudding", "A pudding lands on the floor and wobbles; a bar of chocolate sinks into it.", "", 5.0);

/// All models on one task.
pub(super) const MODELS: Scene = file_scene!(
    "models",
    "The same cylinder in seven models, each with the same plate dropped on it.",
    "ICD Fig. 2",
    4.0
);

/// A sheet over a ball.
pub(super) const DRAPE: Scene =
    file_scene!("drape", "A cloth of 31 x 31 nodes falls over a ball and hangs in folds.", "", 5.0);

/// Ropes that hold something.
pub(super) const ROPES: Scene =
    file_scene!("ropes", "Three ropes of rising stiffness are pinned at one end and swing against a post.", "", 5.0);

/// Plastic flow.
pub(super) const DENT: Scene =
    file_scene!("dent", "A heavy ball falls into a block of putty; the dent stays.", "", 4.0);

/// Twenty boxes, one upon the other.
pub(super) const STACK: Scene =
    file_scene!("stack", "A tower of 20 boxes stands still: watch the drift of the topmost one.", "", 10.0);

/// Newton's cradle.
pub(super) const CRADLE: Scene = file_scene!(
    "cradle",
    "Newton's cradle, five balls on rods: one ball comes, one ball goes, the others hardly move.",
    "",
    6.0
);

/// A chain of capsules on stairs.
pub(super) const CHAIN: Scene = file_scene!(
    "chain",
    "Ten capsules on ball joints, like a rag doll's limbs, fall on stairs and slide down.",
    "",
    6.0
);

/// A heavy top.
pub(super) const GYROSCOPE: Scene = file_scene!(
    "gyroscope",
    "A fast disc on a tilted axle does not fall but walks around its pivot once in about seven seconds.",
    "",
    10.0
);

/// Fast balls on a thin wall.
pub(super) const BULLET: Scene = file_scene!(
    "bullet",
    "Balls at 50, 200 and 1000 m/s against a wall of 2 cm: swept along their paths, none passes.",
    "",
    2.0
);

/// Bones in flesh.
pub(super) const ARM: Scene = file_scene!(
    "arm",
    "Two bones in one piece of flesh: a motor bends the elbow, the flesh folds on the inside and stretches outside.",
    "",
    8.0
);

/// A press.
pub(super) const PRESS: Scene =
    file_scene!("press", "A plate presses a foam ball flat and lets it go, every two seconds.", "", 6.0);

/// A probe on a soft cube.
pub(super) const PROBE_CUBE: Scene = file_scene!(
    "probe-cube",
    "A ball on a spring to the hand presses a soft cube, slides over it with friction and lets go.",
    "",
    4.0
);

/// A lump in tissue.
pub(super) const PALPATION: Scene = file_scene!(
    "palpation",
    "A probe presses soft tissue at five places: over the stiff lump in the middle the hand feels more.",
    "",
    5.0
);

/// A grasper and a probe on one cube.
pub(super) const TWO_TOOLS: Scene = file_scene!(
    "two-tools",
    "A grasper lifts a cube by the friction of its jaws, a probe from the other side pushes it: both hands feel both.",
    "",
    5.0
);

/// Two grippers and an organ.
pub(super) const GRAB_LIVER: Scene = file_scene!(
    "grab-liver",
    "Two graspers anchor themselves in the lobes of a liver, lift it off the table, twist it and let it go.",
    "",
    6.0
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::scenes;

    #[test]
    fn a_scene_says_of_itself_what_its_file_says() {
        let mut files = 0;
        for scene in scenes() {
            let Some(text) = scene.text else { continue };
            let file = read_text(text, scene.name, Syntax::Toml).unwrap_or_else(|p| panic!("{}", p.render()));
            let described = (file.name(), file.about(), file.figure(), file.seconds());
            assert_eq!(described, (scene.name, scene.about, scene.figure, scene.seconds));
            files += 1;
        }
        assert!(files >= 16, "{files}");
    }
}
