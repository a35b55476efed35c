//! Values against the ranges of their descriptions.

use crate::{ANY, Field, Item, Kind, Rule, Spec};
use sinew_math::{NumberError, Real};

/// Rejects a value with a number out of its range; the error names the first one by its path.
///
/// An example is at [the crate](crate).
pub fn check<T: Spec>(value: &T, path: &str) -> Result<(), NumberError> {
    check_item(&value.to_item(), &T::kind(&ANY), &mut path.to_owned())
}

/// Bounds as numbers of the build: 1e-9 in f32 is not less than the bound 1e-9.
pub(crate) fn rounded(rule: &Rule) -> Rule {
    let [low, high] = [rule.low, rule.high].map(|bound| wide(bound as Real));
    Rule { low, high, ..*rule }
}

#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
fn wide(x: Real) -> f64 {
    x as f64
}

fn check_item(item: &Item, kind: &Kind, path: &mut String) -> Result<(), NumberError> {
    let error = |value: f64, must: String| Err(NumberError { what: path.clone(), value, must: must.into() });
    match (item, kind) {
        (Item::Real(x), Kind::Real(rule)) if !rounded(rule).allows(wide(*x)) => {
            error(wide(*x), rule.describe("a number"))
        }
        (Item::Wide(x), Kind::Wide(rule)) if !rule.allows(*x) => error(*x, rule.describe("a number")),
        (Item::Whole(i), Kind::Whole(rule)) if !rule.allows(*i as f64) => {
            error(*i as f64, rule.describe("a whole number"))
        }
        (Item::Optional(Some(item)), Kind::Optional(kind)) => check_item(item, kind, path),
        (Item::List(items) | Item::Fixed(items), Kind::List(kind, _)) => {
            for (i, item) in items.iter().enumerate() {
                within(path, &format!("[{i}]"), |path| check_item(item, kind, path))?;
            }
            Ok(())
        }
        (Item::Record(items), Kind::Record(record)) => check_fields(items, (record.fields)(), path),
        (Item::Choice(index, items), Kind::Choice(choice)) => match (choice.variants)().get(*index) {
            Some(variant) => check_fields(items, &variant.fields, path),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

fn check_fields(items: &[Item], fields: &[Field], path: &mut String) -> Result<(), NumberError> {
    for (item, field) in items.iter().zip(fields) {
        within(path, &format!(".{}", field.name), |path| check_item(item, &field.kind, path))?;
    }
    Ok(())
}

/// Runs `work` with a longer path.
fn within<T>(path: &mut String, part: &str, work: impl FnOnce(&mut String) -> T) -> T {
    let length = path.len();
    path.push_str(part);
    let done = work(path);
    path.truncate(length);
    done
}
