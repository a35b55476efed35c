//! What is varied: a path of the scene and its values.

use std::fmt;
use std::str::FromStr;

/// Most values of an axis.
const MOST: usize = 100_000;

/// A path of the scene, and the values that it takes.
///
/// ```
/// use sinew_sweep::Axis;
/// let axis: Axis = "parameters.depth=0.1:0.2:3".parse().unwrap();
/// assert_eq!((axis.path.as_str(), axis.values.as_slice()), ("parameters.depth", &["0.1", "0.15", "0.2"].map(String::from)[..]));
/// let axis: Axis = "bodies.a.material.youngs_modulus=1e3:1e5:3:log".parse().unwrap();
/// assert_eq!(axis.values[1], "10000.0");
/// let axis: Axis = "parameters.law=dahl|lugre".parse().unwrap();
/// assert_eq!(axis.values, ["dahl", "lugre"]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// As of `--set`.
    pub path: String,
    /// Values in TOML.
    pub values: Vec<String>,
}

/// Why a text is no axis.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisError(String);

impl fmt::Display for AxisError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for AxisError {}

impl FromStr for Axis {
    type Err = AxisError;

    /// `PATH=a:b:n` is n values from a to b in equal steps, `PATH=a:b:n:log` in equal ratios, `PATH=v|w|..` a list.
    fn from_str(text: &str) -> Result<Self, AxisError> {
        let how = "expected PATH=a:b:n, PATH=a:b:n:log or PATH=v|w|..";
        let refuse = |why: &str| AxisError(format!("'{text}': {why}"));
        let (path, range) = text.split_once('=').ok_or_else(|| refuse(how))?;
        let (path, range) = (path.trim().to_owned(), range.trim());
        if path.is_empty() || range.is_empty() {
            return Err(refuse(how));
        }
        let parts: Vec<&str> = range.split(':').map(str::trim).collect();
        let (ends, n, log) = match parts[..] {
            [a, b, n] => ([a, b], n, false),
            [a, b, n, "log"] => ([a, b], n, true),
            _ => {
                let values: Vec<String> = range.split('|').map(|v| v.trim().to_owned()).collect();
                let usable = values.iter().all(|v| !v.is_empty()) && values.len() <= MOST;
                return if usable { Ok(Self { path, values }) } else { Err(refuse(how)) };
            }
        };
        let number = |t: &str| t.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| refuse(how));
        let (a, b) = (number(ends[0])?, number(ends[1])?);
        let n = n.parse::<usize>().ok().filter(|n| (1..=MOST).contains(n));
        let n = n.ok_or_else(|| refuse("the number of values is from 1 to 100000"))?;
        if log && !(a > 0.0 && b > 0.0) {
            return Err(refuse("equal ratios need ends above 0"));
        }
        let value = |i: usize| {
            let share = if n == 1 { 0.0 } else { i as f64 / (n - 1) as f64 };
            let x = if log { a * (b / a).powf(share) } else { a + (b - a) * share };
            // twelve digits: 0.15, not 0.15000000000000002
            let short = format!("{x:.11e}").parse().unwrap_or(x);
            format!("{short:?}")
        };
        Ok(Self { path, values: (0..n).map(value).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_axis_is_refused_with_a_reason() {
        for bad in ["", "a", "=1:2:3", "a=", "a=1:2:0", "a=1:2:x", "a=0:2:3:log", "a=1:inf:3", "a=1||2", "a=1:2:200000"]
        {
            let refused = bad.parse::<Axis>().unwrap_err().to_string();
            assert!(refused.contains(bad) && refused.len() > bad.len() + 10, "{refused}");
        }
    }

    #[test]
    fn ends_are_exact_and_one_value_is_the_first() {
        let axis: Axis = "a=0.1:0.7:7".parse().unwrap();
        assert_eq!((axis.values[0].as_str(), axis.values[6].as_str(), axis.values.len()), ("0.1", "0.7", 7));
        assert_eq!("a=3:9:1".parse::<Axis>().unwrap().values, ["3.0"]);
    }
}
