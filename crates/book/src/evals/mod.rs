//! Files of evaluations: imported ones, and the file beside a book.

pub mod epd;
pub mod lichess;
mod overlay;
mod table;

pub use overlay::{EvaluatedBook, evaluate_moves};
pub use table::{EvalKey, EvalTable};
mod side_file;

pub use side_file::{EvalFile, EvalsRead, beside, read};
mod import;

pub use import::{Imported, LineForm, import};
