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
//! configuration, with the texts of all files before and after, so that [`SetupPlan::undoing`]
//! can plan their reversal, and users see who wrote which line ([`compare::Comparison`]).
//! Both plans are pure: they get the text of a file from a function.

mod apply;
mod compare;
mod configuration;
mod find;
mod places;
mod plan;
mod programs;
mod record;
mod registered;
#[cfg(test)]
mod tests;

pub(crate) use compare::{Lines, Origin};
pub(crate) use find::Finds;
pub(crate) use places::{Places, is_executable};
pub(crate) use plan::{FileChange, SetupPlan, Situation};
pub(crate) use programs::ChessProgram;
pub(crate) use record::{ProgramFile, Record, WrittenFile};
pub(crate) use registered::{EngineIn, Registered};

/// The name of the adapter in chess programs.
const NAME: &str = "Tabia";
