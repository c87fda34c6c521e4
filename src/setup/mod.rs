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
//! [`find`] looks, [`plan`] decides what each file would be changed to, and
//! [`carry_out`] does it. What was done stands in a [`Record`] beside the
//! configuration, with the old texts of all files, so that [`undo`] can plan the
//! way back. Both plans are pure: they ask for the text of a file through a
//! function.

mod configuration;
mod doing;
mod find;
mod places;
mod plan;
mod programs;
mod record;
#[cfg(test)]
mod tests;

pub use configuration::write as write_configuration;
pub use doing::{carry_out, take_back, text_of};
pub use find::{Finds, find};
pub use places::Places;
pub use plan::{FileChange, SetupPlan, Situation, plan, undo};
pub use programs::{ChessProgram, NoFile, chess_programs, usual_file};
pub use record::{Record, WrittenFile};

/// What chess programs call us.
const NAME: &str = "Tabia";
