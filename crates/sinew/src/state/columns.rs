//! The single list of the columns of State. Hash, snapshot, recorder and diff are generated from it, never written by
//! hand per field.

use super::State;
use crate::error::Error;
use crate::math::Real;
use bytemuck::{cast_slice, cast_slice_mut};

/// One array of State as bytes.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// world.add_particles(Particles::new(vec![Vec3::X, Vec3::Y]))?;
/// let state = world.snapshot();
/// let column = state.columns().find(|c| c.name == "node_x").expect("a column of places");
/// assert_eq!((column.unit, column.bytes.len() / column.stride), ("m", 2));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// Name of the field.
    pub name: &'static str,
    /// Unit, or the quantity that is counted.
    pub unit: &'static str,
    /// Bytes of one entry.
    pub stride: usize,
    /// The entries.
    pub bytes: &'a [u8],
}

macro_rules! columns {
    ($($field:ident [$unit:literal]),* $(,)?) => {
        impl State {
            /// Every column, always in this order: name, unit, bytes.
            pub fn columns(&self) -> impl Iterator<Item = Column<'_>> {
                let tick = Column { name: "tick", unit: "steps", stride: 8, bytes: bytemuck::bytes_of(&self.tick) };
                let h = Column { name: "h", unit: "s", stride: size_of::<Real>(), bytes: bytemuck::bytes_of(&self.h) };
                [tick, h].into_iter().chain([$(
                    Column {
                        name: stringify!($field),
                        unit: $unit,
                        stride: size_of_val_of(&self.$field),
                        bytes: cast_slice(&self.$field),
                    },
                )*])
            }

            /// Rebuilds a State from the bytes of its columns, in their order.
            pub fn from_columns(columns: &[&[u8]]) -> Result<Self, Error> {
                let mut state = State::default();
                let mut given = columns.iter();
                let tick = given.next().ok_or_else(|| Error::BadSnapshot("no columns".into()))?;
                state.tick = u64::from_le_bytes(
                    (*tick).try_into().map_err(|_| Error::BadSnapshot("column tick has a wrong size".into()))?,
                );
                let h = given.next().ok_or_else(|| Error::BadSnapshot("column h is missing".into()))?;
                state.h = bytemuck::try_pod_read_unaligned(h)
                    .map_err(|_| Error::BadSnapshot("column h has a wrong size".into()))?;
                $(
                    let bytes = given.next().ok_or_else(|| {
                        Error::BadSnapshot(concat!("column ", stringify!($field), " is missing").into())
                    })?;
                    fill(&mut state.$field, bytes, stringify!($field))?;
                )*
                if given.next().is_some() {
                    return Err(Error::BadSnapshot("more columns than this version knows".into()));
                }
                Ok(state)
            }
        }
    };
}

columns! {
    x["m"],
    x_remainder["m"],
    q["1"],
    v["m/s"],
    v_remainder["m/s"],
    w["rad/s"],
    sleep_timer["s"],
    flags["bits"],
    node_x["m"],
    node_v["m/s"],
    internal_state["model's own"],
    row_impulses["N·s"],
    broken["bits"],
    contacts["record"],
    cloth_contacts["record"],
    topology["slot, number"],
    tools["record"],
    tool_anchors["record"],
}

fn size_of_val_of<T>(_: &[T]) -> usize {
    size_of::<T>()
}

fn fill<T: bytemuck::Pod>(to: &mut Vec<T>, bytes: &[u8], name: &str) -> Result<(), Error> {
    let stride = size_of::<T>();
    if !bytes.len().is_multiple_of(stride) {
        let reason = format!("column {name} has {} bytes, not a multiple of {stride}", bytes.len());
        return Err(Error::BadSnapshot(reason));
    }
    to.resize(bytes.len() / stride, T::zeroed());
    cast_slice_mut::<T, u8>(to).copy_from_slice(bytes);
    Ok(())
}

impl State {
    /// A hash of every bit of the state: equal states, equal hashes. For replay and comparison, not for security.
    pub fn hash(&self) -> u64 {
        let mut hash = 0x243f_6a88_85a3_08d3;
        // worlds without entries in these columns have the same hash as before the columns were introduced
        let newer = |c: &Column<'_>| matches!(c.name, "cloth_contacts" | "topology" | "tools" | "tool_anchors");
        for column in self.columns().filter(|c| !newer(c) || !c.bytes.is_empty()) {
            hash = mix_bytes(hash, column.bytes);
        }
        hash
    }

    /// The first column that differs from `other`, with the index of the first byte that differs.
    pub fn first_difference(&self, other: &Self) -> Option<(&'static str, usize)> {
        self.columns().zip(other.columns()).find_map(|(a, b)| {
            let at = a.bytes.iter().zip(b.bytes).position(|(x, y)| x != y);
            at.or((a.bytes.len() != b.bytes.len()).then_some(a.bytes.len().min(b.bytes.len()))).map(|at| (a.name, at))
        })
    }
}

/// Folds bytes into a hash, eight at a time (multiply and fold the 128-bit product).
pub(crate) fn mix_bytes(mut hash: u64, bytes: &[u8]) -> u64 {
    let fold = |hash: u64, word: u64| {
        let wide = u128::from(hash ^ word) * u128::from(0x9e37_79b9_7f4a_7c15_u64 ^ word.rotate_left(32));
        ((wide >> 64) as u64 ^ wide as u64).wrapping_add(0x1319_8a2e_0370_7344)
    };
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        hash = fold(hash, u64::from_le_bytes(chunk.try_into().expect("eight bytes")));
    }
    let mut last = [0; 8];
    last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    fold(fold(hash, u64::from_le_bytes(last)), bytes.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Quat, Vec3};

    fn sample() -> State {
        State {
            tick: 7,
            x: vec![Vec3::X, Vec3::Y],
            x_remainder: vec![Vec3::ZERO; 2],
            q: vec![Quat::IDENTITY; 2],
            v: vec![Vec3::Z; 2],
            v_remainder: vec![Vec3::ZERO; 2],
            w: vec![Vec3::ZERO; 2],
            sleep_timer: vec![0.5; 2],
            flags: vec![1, 0],
            ..State::default()
        }
    }

    #[test]
    fn columns_round_trip() {
        let state = sample();
        let bytes: Vec<Vec<u8>> = state.columns().map(|c| c.bytes.to_vec()).collect();
        let views: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
        assert_eq!(State::from_columns(&views).unwrap(), state);
        assert!(State::from_columns(&views[..5]).is_err());
        let mut short = views.clone();
        short[2] = &short[2][..5];
        assert!(State::from_columns(&short).is_err());
    }

    #[test]
    fn the_hash_depends_on_every_column_and_the_sign_of_zero() {
        let state = sample();
        let mut other = state.clone();
        other.w[1].y = -0.0;
        assert_ne!(state.hash(), other.hash());
        assert_eq!(state.first_difference(&other).unwrap().0, "w");
        let mut other = state.clone();
        other.tick = 8;
        assert_ne!(state.hash(), other.hash());
    }
}
