//! Sets Tabia up in the user's chess programs, and removes it again.
//!
//! ```text
//! find -> Finds -> plan -> changes of files -> carry_out
//!                            ^      |
//!                     undo --+      v
//!                          Record (setup.json)
//! ```
//!
//! [`find()`] searches, [`plan()`] decides the new content of each file, and
//! [`carry_out`] makes the changes. They are stored in a [`Record`] next to the
//! configuration, with the old texts of all files, so that [`undo`] can plan their
//! reversal. Both plans are pure: they get the text of a file from a function.

mod apply;
mod configuration;
mod find;
mod places;
mod plan;
mod programs;
mod record;
#[cfg(test)]
mod tests;

pub(crate) use apply::{carry_out, make_folder, take_back, text_of};
pub(crate) use find::{Finds, find, without_namesakes};
pub(crate) use places::Places;
pub(crate) use plan::{FileChange, SetupPlan, Situation, plan, undo};
pub(crate) use programs::{ChessProgram, chess_programs, usual_file};
pub(crate) use record::Record;

/// The name of the adapter in chess programs.
const NAME: &str = "Tabia";
