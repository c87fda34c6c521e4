//! Sets Tabia up in the user's chess programs, and removes it again.
//!
//! ```text
//! find -> Finds -> plan -> changes of files -> carry_out
//!                            ^      |
//!                     undo --+      v
//!                          Record (setup.json)
//! ```
//!
//! [`Finds::search`] searches, [`SetupPlan::new`] decides the new content of each file, and
//! [`SetupPlan::carry_out`] makes the changes. They are stored in a [`Record`] next to the
//! configuration, with the old texts of all files, so that [`SetupPlan::undoing`] can plan
//! their reversal. Both plans are pure: they get the text of a file from a function.

mod apply;
mod configuration;
mod find;
mod places;
mod plan;
mod programs;
mod record;
#[cfg(test)]
mod tests;

pub(crate) use find::Finds;
pub(crate) use places::{Places, is_executable};
pub(crate) use plan::{FileChange, SetupPlan, Situation};
pub(crate) use programs::ChessProgram;
pub(crate) use record::Record;

/// The name of the adapter in chess programs.
const NAME: &str = "Tabia";
