//! `--set settings.PATH=VALUE` on settings that exist: they become the table of a scene file, the changes are made in it,
//! and it is read again. Names, ranges and messages are those of scene files.

use super::form::{ANY, Form, Reader, push_key, unknown};
use super::problem::{Problem, Problems, Source};
use super::tree::{Entry, Node, Span, Value};
use super::{deprecated, described, overrides};
use crate::gallery::near_miss;
use sinew::Settings;

/// The table of all settings.
const TABLE: &str = "settings";

/// Settings with changes, each as `settings.PATH=VALUE`, and warnings about deprecated words. Later changes override
/// earlier ones.
///
/// # Errors
/// All errors of the changes, each with its path.
///
/// ```
/// use sinew::Settings;
/// use sinew_scene::file::override_settings;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let sets = ["settings.substeps=8", "settings.gravity.y=-1.6"].map(str::to_owned);
/// let (settings, warnings) = override_settings(&Settings::default(), &sets)?;
/// assert_eq!((settings.substeps, settings.gravity.y), (8, -1.6));
/// assert!(warnings.is_empty());
/// let error = override_settings(&settings, &["settings.substep=8".to_owned()]).unwrap_err();
/// assert!(error.to_string().contains("did you mean 'substeps'?"));
/// # Ok(()) }
/// ```
pub fn override_settings(settings: &Settings, sets: &[String]) -> Result<(Settings, Problems), Problems> {
    let (sets, mut warnings) = deprecated::current_sets(sets)?;
    let sources: Vec<Source> = sets.iter().map(|set| overrides::source(set)).collect();
    let mut reader = Reader::new(&sources);
    let mut root = Node { span: Span::new(0, 0, 0), value: Value::Table([all_of(settings)].into()) };
    for (i, set) in sets.iter().enumerate() {
        if is_setting(set) {
            overrides::apply(&mut root, i as u16, &mut reader);
        } else {
            reader.problems.push(other_path(&sources, i as u16, set));
        }
    }
    reader.rename(&mut root);
    let changed = root.get(TABLE).and_then(|node| reader.within(TABLE, |r| Settings::read(node, &ANY, r)));
    match changed {
        Some(changed) if reader.problems.is_empty() => {
            warnings.append(reader.warnings);
            Ok((changed, warnings))
        }
        _ => {
            reader.problems.sort();
            Err(reader.problems)
        }
    }
}

/// True for a change of a setting.
pub fn is_setting(set: &str) -> bool {
    let path = set.split_once('=').map_or(set, |(path, _)| path).trim_start();
    path.strip_prefix(TABLE).is_some_and(|rest| rest.starts_with('.') || rest.trim().is_empty())
}

/// The table of all settings, those with their default value too: a path may lead to one component of a vector.
fn all_of(settings: &Settings) -> Entry {
    let mut entries = match settings.write() {
        Value::Table(entries) => entries.into_vec(),
        _ => Vec::new(),
    };
    for field in described::fields::<Settings>() {
        let given = entries.iter().any(|e: &Entry| *e.key == *field.name);
        if let Some(default) = described::default_of(field).filter(|_| !given) {
            entries.push(Entry::new(field.name, default));
        }
    }
    Entry::new(TABLE, Value::Table(entries.into()))
}

/// The error of a change of something else, with the setting that may be meant.
fn other_path(sources: &[Source], file: u16, set: &str) -> Problem {
    let Some((path, _)) = set.split_once('=') else {
        let message = "expected PATH=VALUE, as in settings.substeps=8";
        return Problem::new(sources, Span::new(file, 0, set.len()), "", message);
    };
    let names: Vec<&str> = described::fields::<Settings>().iter().map(|f| f.name).collect();
    let bare = path.trim();
    let (head, rest) = bare.split_once('.').map_or((bare, String::new()), |(head, rest)| (head, format!(".{rest}")));
    let message = match near_miss(head, names.iter().copied()) {
        Some(meant) => {
            let mut whole = TABLE.to_owned();
            push_key(&mut whole, meant);
            format!("unknown setting '{}'; did you mean '{whole}{rest}'?", bare.escape_debug())
        }
        None => format!("{}; a setting begins with 'settings.'", unknown("setting", bare, &[])),
    };
    Problem::new(sources, Span::new(file, 0, path.trim_end().len()), "", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::classic::Penalty;
    use sinew::{ContactMethod, Order, Real, Stabilization, Vec3};

    fn with(set: &str) -> Result<Settings, String> {
        override_settings(&Settings::default(), &[set.to_owned()]).map(|(s, _)| s).map_err(|e| e.to_string())
    }

    fn refusal(set: &str) -> String {
        with(set).expect_err(set)
    }

    #[test]
    fn every_field_of_the_settings_can_be_set_to_its_value() {
        // the names of the fields, as the engine prints them
        let printed = format!("{:#?}", Settings::default());
        let fields = printed.lines().filter(|l| l.starts_with("    ") && !l.starts_with("     "));
        let names: Vec<&str> = fields.filter_map(|l| Some(l.trim().split_once(':')?.0)).collect();
        assert!(names.len() > 20, "{printed}");
        for name in names {
            let error = refusal(&format!("settings.{name}={{ nothing = 1 }}"));
            assert!(!error.contains("unknown key 'settings") && error.contains(name), "{error}");
            assert!(!error.contains(&format!("unknown key '{name}'")), "{error}");
        }
        assert_eq!(
            with("settings.dt=0.02").map(|s| Settings { dt: Settings::default().dt, ..s }),
            Ok(Settings::default())
        );
    }

    #[test]
    fn settings_keep_their_values_unless_a_change_names_them() -> Result<(), String> {
        let contact = Stabilization::Soft { frequency: 240.0, damping_ratio: 3.0 };
        let order = Order::Staggered { rigid: 2, deformable: 5 };
        let given = Settings { contact, order, sleep_time: Real::INFINITY, threads: 3, ..Settings::default() };
        let (changed, _) = override_settings(&given, &["settings.lanes=false".into()]).map_err(|e| e.to_string())?;
        assert_eq!(changed, Settings { lanes: false, ..given.clone() });
        let (changed, _) =
            override_settings(&given, &["settings.contact.frequency=60".into()]).map_err(|e| e.to_string())?;
        assert_eq!(changed.contact, Stabilization::Soft { frequency: 60.0, damping_ratio: 3.0 });
        Ok(())
    }

    #[test]
    fn values_arrive() -> Result<(), String> {
        assert_eq!(with("settings.substeps=8")?.substeps, 8);
        assert_eq!(with("settings.gravity.y = -1.6")?.gravity.y, -1.6);
        assert_eq!(with("settings.gravity=[0, -1.6, 0]")?.gravity, Vec3::new(0.0, -1.6, 0.0));
        assert_eq!(with("settings.implicit.carry=0.25")?.implicit.carry, 0.25);
        let soft = Stabilization::Soft { frequency: 60.0, damping_ratio: 1.0 };
        assert_eq!(with("settings.contact.frequency=60")?.contact, soft);
        let rigid = "settings.joint={ kind = 'baumgarte', share = 0.1 }";
        assert_eq!(with(rigid)?.joint, Stabilization::Baumgarte(0.1));
        assert_eq!(with("settings.contact_method=impulse")?.contact_method, ContactMethod::Impulse);
        assert_eq!(with("settings.sleep_time=inf")?.sleep_time, Real::INFINITY);
        Ok(())
    }

    #[test]
    fn short_forms_of_the_previous_version_are_read_with_a_warning() -> Result<(), String> {
        let barrier = Penalty::LogBarrier { strength: 0.5, buffer: 0.01 };
        let quadratic = Penalty::Quadratic { stiffness: 1e4 };
        let order = Order::Staggered { rigid: 2, deformable: 3 };
        let usual = Settings::default;
        for (set, wanted) in [
            ("settings.order=staggered:2,3", Settings { order, ..usual() }),
            ("settings.joint.baumgarte=0.1", Settings { joint: Stabilization::Baumgarte(0.1), ..usual() }),
            (
                "settings.contact_method=barrier:0.5,0.01",
                Settings { contact_method: ContactMethod::Penalty(barrier), ..usual() },
            ),
            (
                "settings.contact_method=quadratic:1e4",
                Settings { contact_method: ContactMethod::Penalty(quadratic), ..usual() },
            ),
        ] {
            let (got, warnings) = override_settings(&usual(), &[set.to_owned()]).map_err(|e| e.to_string())?;
            assert_eq!(got, wanted, "{set}");
            assert!(warnings.to_string().contains("read in this version only"), "{set}: {warnings}");
        }
        Ok(())
    }

    #[test]
    fn refusals_name_the_path_the_range_and_the_near_miss() {
        assert!(refusal("settings.substep=8").contains("did you mean 'substeps'?"));
        assert!(refusal("substeps=8").contains("did you mean 'settings.substeps'?"));
        assert!(refusal("gravty.y=1").contains("did you mean 'settings.gravity.y'?"));
        let many = refusal("settings.substeps=many");
        assert!(many.contains("settings.substeps: expected") && many.contains("from 1 to 1000"), "{many}");
        assert!(refusal("settings.substeps=0").contains("from 1 to 1000"));
        assert!(refusal("settings.substeps").contains("PATH=VALUE"));
        assert!(refusal("substeps").contains("PATH=VALUE"));
        assert!(refusal("settings=3").contains("settings"));
        assert!(refusal("settings.gravity.q=3").contains("settings.gravity.q"));
        assert!(refusal("completely.other=1").contains("begins with 'settings.'"));
    }
}
