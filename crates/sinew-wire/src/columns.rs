//! The state as a section: its columns as they lie in memory, each with name and stride.
//!
//! ```text
//! count u16 | count x ( name: length u8, text | stride u32 | bytes u64 | the bytes )
//! ```

use crate::error::{Section, WireError};
use sinew::{Column, State};

/// Present names of columns, with those of the version before: the same bytes, so that its files are read.
const RENAMED: [(&str, &str); 5] = [
    ("x_remainder", "x_rest"),
    ("v_remainder", "v_rest"),
    ("sleep_timer", "quiet"),
    ("internal_state", "inner"),
    ("cloth_contacts", "grips"),
];

/// The last columns: files of versions without them are read. They are written up to the last one that has entries, so
/// that those versions read files without edits and tools.
const OPTIONAL: usize = 3;

/// The columns that are written.
fn written(state: &State) -> impl Iterator<Item = Column<'_>> {
    let all = state.columns().count();
    let needed = state.columns().zip(1..).filter(|(c, _)| !c.bytes.is_empty()).map(|(_, k)| k).max();
    state.columns().take(needed.unwrap_or(0).max(all - OPTIONAL))
}

/// Ticks beyond this are damage and not a count of steps; they would overflow.
const TICKS: u64 = u64::MAX / 2;

/// The columns as the body of a section.
pub(crate) fn write(state: &State) -> Vec<u8> {
    let size: usize = written(state).map(|c| 1 + c.name.len() + 12 + c.bytes.len()).sum();
    let mut out = Vec::with_capacity(2 + size);
    out.extend_from_slice(&(written(state).count() as u16).to_le_bytes());
    for c in written(state) {
        out.push(c.name.len() as u8);
        out.extend_from_slice(c.name.as_bytes());
        out.extend_from_slice(&(c.stride as u32).to_le_bytes());
        out.extend_from_slice(&(c.bytes.len() as u64).to_le_bytes());
        out.extend_from_slice(c.bytes);
    }
    out
}

/// The state in the body of a section; names (or those of the version before) and strides must be those of this build.
pub(crate) fn read(section: Section, body: &[u8]) -> Result<State, WireError> {
    let state = State::from_columns(&slices(section, body)?).map_err(WireError::refused(section))?;
    match state.tick {
        0..=TICKS => Ok(state),
        tick => Err(WireError::malformed(section, format!("tick {tick} is beyond all counts"))),
    }
}

/// The tick alone, without copying the rest.
pub(crate) fn tick(section: Section, body: &[u8]) -> Result<u64, WireError> {
    let columns = slices(section, body)?;
    let tick = columns.first().and_then(|bytes| (*bytes).try_into().ok());
    tick.map(u64::from_le_bytes).ok_or_else(|| WireError::malformed(section, "column tick has a wrong size"))
}

fn slices(section: Section, body: &[u8]) -> Result<Vec<&[u8]>, WireError> {
    let bad = |reason: String| WireError::malformed(section, reason);
    let empty = State::default();
    let mut rest = body;
    let count = usize::from(u16::from_le_bytes(array(section, &mut rest)?));
    let known = empty.columns().count();
    if !(known - OPTIONAL..=known).contains(&count) {
        return Err(bad(format!("{count} columns, this build has {known}")));
    }
    let mut found = Vec::with_capacity(known);
    for c in empty.columns().take(count) {
        let [length] = array(section, &mut rest)?;
        let name = split(section, &mut rest, u64::from(length))?;
        let old = RENAMED.iter().find(|(new, _)| *new == c.name).map(|(_, old)| old.as_bytes());
        if name != c.name.as_bytes() && Some(name) != old {
            return Err(bad(format!("column '{}' where '{}' belongs", String::from_utf8_lossy(name), c.name)));
        }
        let stride = u32::from_le_bytes(array(section, &mut rest)?);
        if stride as usize != c.stride {
            return Err(bad(format!("column {} has entries of {stride} bytes, this build of {}", c.name, c.stride)));
        }
        let size = u64::from_le_bytes(array(section, &mut rest)?);
        found.push(split(section, &mut rest, size)?);
    }
    found.resize(known, &[][..]);
    if rest.is_empty() { Ok(found) } else { Err(bad(format!("{} bytes behind the last column", rest.len()))) }
}

/// The next `length` bytes, if there are as many.
fn split<'a>(section: Section, rest: &mut &'a [u8], length: u64) -> Result<&'a [u8], WireError> {
    let fits = usize::try_from(length).ok().and_then(|n| rest.split_at_checked(n));
    let Some((taken, left)) = fits else {
        let reason = format!("a column claims {length} bytes, {} are left", rest.len());
        return Err(WireError::malformed(section, reason));
    };
    *rest = left;
    Ok(taken)
}

fn array<const N: usize>(section: Section, rest: &mut &[u8]) -> Result<[u8; N], WireError> {
    let mut out = [0; N];
    out.copy_from_slice(split(section, rest, N as u64)?);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::{Quat, Vec3};

    fn sample() -> State {
        State { tick: 9, x: vec![Vec3::X; 2], q: vec![Quat::IDENTITY; 2], flags: vec![1, 2], ..State::default() }
    }

    #[test]
    fn a_state_comes_back() {
        let body = write(&sample());
        assert_eq!(read(Section::State, &body).unwrap(), sample());
        assert_eq!(tick(Section::State, &body).unwrap(), 9);
    }

    #[test]
    fn a_state_of_the_version_before_comes_back() {
        let mut body = write(&sample());
        for (new, old) in RENAMED {
            let named = |name: &str| [&[name.len() as u8], name.as_bytes()].concat();
            let (new, old) = (named(new), named(old));
            let at = body.windows(new.len()).position(|w| w == new).expect("the column");
            body.splice(at..at + new.len(), old);
        }
        assert_eq!(read(Section::State, &body).unwrap(), sample());
        assert_eq!(tick(Section::State, &body).unwrap(), 9);
    }

    #[test]
    fn the_column_of_edited_bodies_is_written_where_there_are_some() {
        let edited = State { topology: vec![[1, 3]], ..sample() };
        let body = write(&edited);
        assert_eq!(read(Section::State, &body).unwrap(), edited);
        assert!(body.len() > write(&sample()).len());
    }

    #[test]
    fn tools_are_written_behind_the_edits_where_there_are_some() {
        let mut world = sinew::World::default();
        let probe = sinew::RigidBody::dynamic().shape(sinew::Shape::ball(0.1));
        world.add_tool(sinew::tool::ToolSpec::new(probe)).expect("a probe");
        let held = State { tools: world.state().tools.clone(), ..sample() };
        let body = write(&held);
        assert_eq!(read(Section::State, &body).unwrap(), held);
        assert!(body.len() > write(&sample()).len());
    }

    #[test]
    fn names_strides_and_lengths_are_checked() {
        let body = write(&sample());
        for length in 0..body.len() {
            assert!(read(Section::State, &body[..length]).is_err());
        }
        // count, name of the first column, its stride, its size
        for at in [0, 3, 7, 11, 18] {
            let mut bad = body.clone();
            bad[at] ^= 0x41;
            assert!(matches!(read(Section::State, &bad), Err(WireError::Malformed { .. })), "byte {at}");
        }
        let mut long = body;
        long.push(0);
        assert!(read(Section::State, &long).is_err());
    }
}
