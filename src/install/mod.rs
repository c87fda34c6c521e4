//! Makes Tabia known to chess programs.

mod register;
mod setup;
mod text_file;

pub(crate) use register::{EditedFor, PrintedFor, Registration, edit, lines, ours, remove};
pub(crate) use setup::{
    ChessProgram, FileChange, Finds, Places, Record, SetupPlan, Situation, carry_out,
    chess_programs, find, make_folder, plan, take_back, text_of, undo, usual_file,
    without_namesakes,
};
pub(crate) use text_file::TextFile;
