//! Words of the contract whose work is still to be done.

use crate::failure::Failure;
use std::ffi::OsString;

/// Whatever follows the word.
#[derive(clap::Args)]
pub struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _rest: Vec<OsString>,
}

/// Says so.
pub fn later(word: &str) -> Result<(), Failure> {
    Err(Failure::input(format!("'sinew {word}' comes with a later version; 'sinew --help' lists what this one can do")))
}
