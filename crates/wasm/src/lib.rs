//! Tabia's books as WebAssembly, for `npm/tabia.js`, which is the only caller.
//!
//! A module has one book: a book that is closed, or that a panic has ruined, takes its memory
//! with it. Bytes go in by [`input`]: it makes room, and JavaScript writes there before it
//! calls what takes them. Bytes come out by [`output`]. A call that may fail returns [`DONE`],
//! or [`FAILED`] with an error as JSON for output. Numbers above 32 bits are `f64`, exact to
//! 2^53. Nothing here dereferences a pointer: both buffers are the module's own.

mod book;
mod failure;
mod host;
mod options;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::panic;
use std::path::Path;

use serde::Serialize;

use book::OpenBook;
use failure::{Class, Failure};
use host::HostFile;
use tabia_book::DataFile;

/// The call has done what was asked.
pub const DONE: u32 = 0;
/// It has not: the output is an error.
pub const FAILED: u32 = 1;

/// What the module knows.
#[derive(Default)]
struct State {
    input: Vec<u8>,
    output: Vec<u8>,
    /// The name of the next file.
    name: String,
    files: Vec<DataFile>,
    book: Option<OpenBook>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

include!("exports.rs");

exports! {
    /// To be called first: from now on a panic is reported before the module ends.
    fn start(_state) {
        panic::set_hook(Box::new(|panic| host::panicked(&panic.to_string())));
    }

    /// Makes room for so many bytes of input, and returns where they are written.
    fn input(state, length: usize) -> *mut u8 {
        state.input.clear();
        state.input.resize(length, 0);
        state.input.as_mut_ptr()
    }

    /// Where the output of the last call is.
    fn output(state) -> *const u8 {
        state.output.as_ptr()
    }

    /// How many bytes it has.
    fn output_length(state) -> usize {
        state.output.len()
    }

    /// Frees the output, which may be large.
    fn free_output(state) {
        state.output = Vec::new();
    }

    /// The input is the name of the file that comes next.
    fn file_name(state) {
        state.name = String::from_utf8_lossy(&state.input).into_owned();
    }

    /// The input is a file.
    fn file_bytes(state) {
        let bytes = std::mem::take(&mut state.input);
        state.files.push(DataFile::from_bytes(Path::new(&state.name), bytes));
    }

    /// A file of this length in bytes is read by JavaScript, under this number.
    fn file_reader(state, number: u32, length: f64) {
        let name = Path::new(&state.name);
        let file = DataFile::from_reader(name, length as u64, HostFile(number));
        state.files.push(file);
    }

    /// Opens the book of these files. Output: its description as JSON.
    fn open_book(state) -> u32 {
        let files = std::mem::take(&mut state.files);
        state.done(|state, out| {
            let book = OpenBook::open(files)?;
            json(&book.about(), out);
            state.book = Some(book);
            Ok(())
        })
    }

    /// Sets the options of choices; the input is an object, or nothing for the usual ones.
    fn configure(state) -> u32 {
        state.done(|state, _| {
            let input = std::mem::take(&mut state.input);
            state.book()?.configure(&input)
        })
    }

    /// Announces probes.
    fn reserve(state, probes: f64) -> u32 {
        state.done(|state, _| {
            state.book()?.reserve(probes as u64);
            Ok(())
        })
    }

    /// Looks the position of the input up. Output: the object of `tabia probe --json`.
    fn probe(state) -> u32 {
        state.done(|state, out| {
            let fen = std::mem::take(&mut state.input);
            json(&state.book()?.probe(&fen)?, out);
            state.input = fen;
            Ok(())
        })
    }

    /// Draws a move in the position of the input. Output: the move, or nothing.
    fn choose(state, seed: f64) -> u32 {
        state.done(|state, out| {
            let fen = std::mem::take(&mut state.input);
            let drawn = state.book()?.choose(&fen, seed as u64)?;
            out.extend_from_slice(drawn.unwrap_or_default().as_bytes());
            state.input = fen;
            Ok(())
        })
    }

    /// Begins a walk over all positions; returns its number.
    fn walk(state) -> usize {
        state.book.as_mut().map_or(0, OpenBook::walk)
    }

    /// Output: the next positions, at most so many, a line each; nothing at the end.
    fn step(state, walk: usize, most: usize) -> u32 {
        state.done(|state, out| state.book()?.step(walk, most, out))
    }

    /// Ends a walk.
    fn end_walk(state, walk: usize) {
        if let Some(book) = &mut state.book {
            book.end_walk(walk);
        }
    }

    /// Converts the book: the input is the name of a format, a line end, and options. Output:
    /// the bytes of the file.
    fn convert(state) -> u32 {
        state.done(|state, out| {
            let input = std::mem::take(&mut state.input);
            let line_end = input.iter().position(|byte| *byte == b'\n');
            let (format, options) = input.split_at(line_end.unwrap_or(input.len()));
            let format = String::from_utf8_lossy(format);
            let options = options.get(1..).unwrap_or_default();
            state.book()?.convert(&format, options, out)
        })
    }

    /// Output: what the last conversion has made and left out.
    fn converted(state) -> u32 {
        state.done(|state, out| {
            json(&state.book()?.converted(), out);
            Ok(())
        })
    }
}

impl State {
    /// Makes the output; that of an error if it fails.
    fn done(&mut self, make: impl FnOnce(&mut State, &mut Vec<u8>) -> Result<(), Failure>) -> u32 {
        let mut out = std::mem::take(&mut self.output);
        out.clear();
        let made = make(self, &mut out);
        let code = match made {
            Ok(()) => DONE,
            Err(failure) => {
                out.clear();
                json(&failure, &mut out);
                FAILED
            }
        };
        self.output = out;
        code
    }

    fn book(&mut self) -> Result<&mut OpenBook, Failure> {
        let closed = || Failure::new(Class::Book, "no book is open");
        self.book.as_mut().ok_or_else(closed)
    }
}

fn json(value: &impl Serialize, out: &mut Vec<u8>) {
    // Writing to memory does not fail.
    let _ = serde_json::to_writer(out, value);
}
