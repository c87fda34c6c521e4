//! Makes Tabia known to chess programs.

mod register;
mod setup;
mod text_file;

pub(crate) use register::{EditedFor, PrintedFor, Registration};
pub(crate) use setup::{
    ChessProgram, FileChange, Finds, Lines, Origin, Places, Record, SetupPlan, Situation,
    WrittenFile, is_executable,
};
pub(crate) use text_file::{TextFile, make_folder};
