//! The state of a running world besides its bodies: every column, so that the world continues with the same bits.

use super::form::{ANY, from_to, record};
use super::tree::Value;
use sinew::{Real, State, World};

/// The columns of a state by name, as words of 32 bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateSpec {
    real_bytes: u32,
    columns: Vec<Column>,
}

record!(StateSpec, "state", "Every column of a world's state, bit by bit.", base |_| StateSpec::default(),
    needs {
        real_bytes: from_to(4.0, 8.0), "Bytes of a number in the build that wrote it.";
        columns: ANY, "The columns, in their order.";
    },
    {}
);

/// One column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    name: String,
    words: Vec<i64>,
}

record!(Column, "column", "One column of a state.", base |_| Column::default(),
    needs {
        name: ANY, "Its name in the engine.";
        words: from_to(0.0, 4_294_967_295.0), "Its bytes as little-endian words of 32 bits.";
    },
    {}
);

const REAL_BYTES: u32 = size_of::<Real>() as u32;

impl StateSpec {
    /// The state of a world.
    pub fn of(world: &World) -> Self {
        let word = |bytes: &[u8]| i64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        let column = |c: sinew::Column<'_>| Column {
            name: c.name.to_owned(),
            words: c.bytes.chunks_exact(4).map(word).collect(),
        };
        Self { real_bytes: REAL_BYTES, columns: world.state().columns().map(column).collect() }
    }

    /// Puts a world of the same bodies into this state.
    pub fn restore(&self, world: &mut World) -> Result<(), String> {
        if self.real_bytes != REAL_BYTES {
            return Err(format!("written with numbers of {} bytes, but this build has {REAL_BYTES}", self.real_bytes));
        }
        let names: Vec<&str> = world.state().columns().map(|c| c.name).collect();
        let mut columns = Vec::new();
        for name in names {
            let found = self.columns.iter().find(|c| c.name == name);
            // files of versions without edits of topology and tools do not have their columns
            let words = match found {
                Some(column) => &column.words[..],
                None if ["topology", "tools", "tool_anchors"].contains(&name) => &[],
                None => return Err(format!("the column '{name}' is missing")),
            };
            columns.push(words.iter().flat_map(|&w| (w as u32).to_le_bytes()).collect::<Vec<u8>>());
        }
        let views: Vec<&[u8]> = columns.iter().map(Vec::as_slice).collect();
        let state = State::from_columns(&views).map_err(|e| e.to_string())?;
        world.restore(&state).map_err(|e| e.to_string())
    }
}

/// The state as a value of a file.
pub(crate) fn write(world: &World) -> Value {
    use super::form::Form;
    StateSpec::of(world).write()
}
