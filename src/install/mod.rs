//! Makes Tabia known to chess programs.

mod register;
mod setup;
mod text_file;

pub(crate) use register::{EditedFor, PrintedFor, Registration, with_own_book, without_own_book};
pub(crate) use setup::{
    ChessProgram, EngineIn, FileChange, Finds, Lines, Origin, Places, ProgramFile, Record,
    Registered, SetupPlan, Situation, WrittenFile, is_executable,
};
pub(crate) use text_file::{NewFolders, TextFile};
