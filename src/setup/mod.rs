//! From a bare program to one that plays in the user's chess programs, and
//! back.
//!
//! ```text
//! find -> Finds -> plan -> changes of files -> carry_out
//!                            ^      |
//!                     undo --+      v
//!                          Record (setup.json)
//! ```
//!
//! [`find()`] looks, [`plan()`] decides what each file would be changed to, and
//! [`carry_out`] does it. What was done is stored in a [`Record`] beside the
//! configuration, with the old texts of all files, so that [`undo`] can plan the
//! way back. Both plans are pure: they ask for the text of a file through a
//! function.

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

/// What chess programs call us.
const NAME: &str = "Tabia";
