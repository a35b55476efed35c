//! Scene files of the previous version are read, and each old word gives one warning that names the present one.

use sinew::Order;
use sinew_scene::file::{self, Problems, SceneFile, Syntax};
use std::path::{Path, PathBuf};

fn here(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)
}

fn read(text: &str, syntax: Syntax) -> SceneFile {
    file::read_text(text, "s", syntax).unwrap_or_else(|problems| panic!("{}", problems.render()))
}

/// Warnings without the part that is the same in all: line, column, path, old and present word.
fn brief(warnings: &Problems) -> Vec<String> {
    let tail = "; the old word is read in this version only";
    let brief = |p: &file::Problem| {
        let message = p.message.strip_suffix(tail).unwrap_or_else(|| panic!("{p}"));
        format!("{}:{} {} {}", p.line, p.column, p.path, message)
    };
    warnings.iter().map(brief).collect()
}

#[test]
fn scenes_of_the_repository_contain_no_old_word() {
    // these files are the same as in the previous version
    for entry in std::fs::read_dir(here("../../scenes")).expect("scenes/") {
        let path = entry.expect("an entry").path();
        if Syntax::of(&path).is_some() {
            let scene = file::read(&path).unwrap_or_else(|problems| panic!("{}", problems.render()));
            assert!(scene.warnings().is_empty(), "{}", scene.warnings());
        }
    }
}

/// Files that showed faults of earlier versions, with the warnings of each.
const FAULTS: [(&str, &[&str]); 16] = [
    ("explicit-solid-damping.json", &[]),
    ("guaranteed-capsule-pbd.json", &["1:180 settings.guaranteed 'guaranteed' is now 'intersection_free'"]),
    ("guaranteed-needle-183.json", &["1:43 settings.guaranteed 'guaranteed' is now 'intersection_free'"]),
    ("guaranteed-needle-membrane.json", &["1:180 settings.guaranteed 'guaranteed' is now 'intersection_free'"]),
    ("needle-pbd-both-modes.json", &["1:180 settings.guaranteed 'guaranteed' is now 'intersection_free'"]),
    ("put-back-slides.toml", &["3:1 settings.put_back 'put_back' is now 'stop_at_impact'"]),
    ("random-1000.json", &[]),
    ("random-1028.json", &["1:43 settings.guaranteed 'guaranteed' is now 'intersection_free'"]),
    ("random-1174.json", &[]),
    ("random-1177.json", &[]),
    ("random-1348.json", &[]),
    ("random-1382.json", &[]),
    (
        "random-1416.json",
        &[
            "1:64 settings.order 'joint' is now 'interleaved'",
            "1:73 settings.guaranteed 'guaranteed' is now 'intersection_free'",
        ],
    ),
    ("soft-on-cone.json", &[]),
    ("soft-on-light-box.json", &[]),
    ("terminal-escapes.toml", &[]),
];

#[test]
fn files_of_earlier_faults_are_read_with_the_warnings_they_need() {
    for (name, expected) in FAULTS {
        let scene = file::read(here("tests/faults").join(name)).unwrap_or_else(|e| panic!("{}", e.render()));
        assert_eq!(brief(scene.warnings()), expected, "{name}");
    }
}

const CLOTH: &str = "[bodies.cloth]\nkind = 'soft'\ngeometry = { kind = 'sheet', cells = [2, 2], size = [1, 1] }\n";

/// Old text, the same in present words, and the warnings of the old one.
fn pairs() -> Vec<(String, String, Vec<&'static str>)> {
    let rope = "[bodies.rope]\nkind = 'particles'\npositions = [[0, 0, 0], [1, 0, 0]]\nmass = 1\n";
    let mesh = "mesh = { kind = 'ball', radius = 0.3, cells = 2 }";
    let block = "[bodies.b]\nkind = 'soft'\ngeometry = { kind = 'block', cells = [1, 1, 1], size = [1, 1, 1] }\n";
    let case = |old: String, words: [&str; 2], warnings: &[&'static str]| {
        (old.clone(), old.replace(words[0], words[1]), warnings.to_vec())
    };
    vec![
        case(
            "[settings]\nguaranteed = true\n".to_owned(),
            ["guaranteed", "intersection_free"],
            &["2:1 settings.guaranteed 'guaranteed' is now 'intersection_free'"],
        ),
        case(
            "settings.put_back = true\n".to_owned(),
            ["put_back", "stop_at_impact"],
            &["1:10 settings.put_back 'put_back' is now 'stop_at_impact'"],
        ),
        case(
            "[settings]\norder = { kind = 'joint' }\n".to_owned(),
            ["joint", "interleaved"],
            &["2:18 settings.order.kind 'joint' is now 'interleaved'"],
        ),
        case(
            format!("{rope}[joints.a]\nkind = 'strands'\nbody = 'rope'\npairs = [[0, 1]]\n"),
            ["strands", "distance_set"],
            &["6:8 joints.a.kind 'strands' is now 'distance_set'"],
        ),
        case(
            format!("{CLOTH}model = {{ kind = 'pbd_sheet', stretch = 1e4, density = 0.2, brace = 1e3 }}\n"),
            ["brace", "skip_stiffness"],
            &["4:61 bodies.cloth.model.brace 'brace' is now 'skip_stiffness'"],
        ),
        case(
            format!("{block}skin = {{ {mesh}, inflate = 0.01 }}\n"),
            ["inflate", "offset"],
            &["4:61 bodies.b.skin.inflate 'inflate' is now 'offset'"],
        ),
        // a word that a parameter brings in is reported where the parameter is named
        case(
            "[parameters]\no = 'joint'\n[settings]\norder = '$o'\n".to_owned(),
            ["joint", "interleaved"],
            &["4:9 settings.order 'joint' is now 'interleaved'"],
        ),
    ]
}

#[test]
fn an_old_word_builds_what_the_present_word_builds() {
    for (old, new, warnings) in pairs() {
        let (before, now) = (read(&old, Syntax::Toml), read(&new, Syntax::Toml));
        assert_eq!(brief(before.warnings()), warnings, "{old}");
        assert!(now.warnings().is_empty(), "{}", now.warnings());
        let (mut a, mut b) = (before.build().expect("built"), now.build().expect("built"));
        assert_eq!(a.settings(), b.settings(), "{old}");
        for _ in 0..3 {
            a.step(&sinew::Input::none());
            b.step(&sinew::Input::none());
        }
        assert_eq!(a.hash(), b.hash(), "{old}");
    }
}

#[test]
fn both_words_in_a_table_are_an_error_that_names_both() {
    let text = "[settings]\nguaranteed = true\nintersection_free = true\n";
    let refusal = file::read_text(text, "s.toml", Syntax::Toml).expect_err("refused").to_string();
    let expected = "s.toml:2:1: settings.guaranteed: 'guaranteed' is now 'intersection_free', and both are given: \
        remove 'guaranteed'";
    assert_eq!(refusal, expected);
}

#[test]
fn an_old_word_somewhere_else_is_an_unknown_key_as_before() {
    let refusal = file::read_text("brace = 1\n", "s.toml", Syntax::Toml).expect_err("refused").to_string();
    assert!(refusal.starts_with("s.toml:1:1: brace: unknown key 'brace'"), "{refusal}");
}

#[test]
fn a_change_overrides_the_old_word_of_a_file() {
    let text = "[settings]\nguaranteed = true\norder = 'joint'\n";
    let sets = ["settings.intersection_free=false", "settings.order={ kind = 'staggered', rigid = 1, deformable = 2 }"];
    let sets = sets.map(str::to_owned);
    let scene = file::read_text_with(text, "s", Syntax::Toml, &sets).unwrap_or_else(|e| panic!("{}", e.render()));
    let settings = scene.build().expect("built").settings().clone();
    assert!(!settings.intersection_free);
    assert_eq!(settings.order, Order::Staggered { rigid: 1, deformable: 2 });
    assert_eq!(scene.warnings().len(), 2);
}

#[test]
fn a_change_in_old_words_is_read_and_warned_about() {
    let model = format!("{CLOTH}model = {{ kind = 'pbd_sheet', stretch = 1e4, density = 0.2 }}\n");
    let sets = ["settings.guaranteed=true", "bodies.cloth.model.brace=1e3"].map(str::to_owned);
    let scene = file::read_text_with(&model, "s", Syntax::Toml, &sets).unwrap_or_else(|e| panic!("{}", e.render()));
    assert!(scene.build().expect("built").settings().intersection_free);
    let expected = [
        "1:10 settings.guaranteed 'guaranteed' is now 'intersection_free'",
        "1:20 bodies.cloth.model.brace 'brace' is now 'skip_stiffness'",
    ];
    assert_eq!(brief(scene.warnings()), expected);
    // the value is checked as one of the file
    let sets = ["bodies.cloth.model.brace=-1".to_owned()];
    let refusal = file::read_text_with(&model, "s", Syntax::Toml, &sets).expect_err("refused").to_string();
    assert!(refusal.contains("bodies.cloth.model.skip_stiffness: expected a number"), "{refusal}");
}

#[test]
fn a_state_of_the_previous_version_is_restored() {
    if size_of::<sinew::Real>() != 4 {
        return;
    }
    let scene = file::read_text(
        &std::fs::read_to_string(here("tests/previous/state.json")).expect("a file"),
        "s.json",
        Syntax::Json,
    );
    let scene = scene.unwrap_or_else(|problems| panic!("{}", problems.render()));
    assert!(scene.build().expect("built").state().tick > 0);
    let words: Vec<String> =
        brief(scene.warnings()).iter().map(|w| w.split(' ').skip(2).collect::<Vec<_>>().join(" ")).collect();
    let expected = [
        "'x_rest' is now 'x_remainder'",
        "'v_rest' is now 'v_remainder'",
        "'quiet' is now 'sleep_timer'",
        "'inner' is now 'internal_state'",
        "'grips' is now 'cloth_contacts'",
    ];
    assert_eq!(words, expected);
}
