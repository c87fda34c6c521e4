//! What commands report about a file that they have made.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::style::counted;
use tabia_book::Book;
use tabia_book::ctg::{Rewritten, Salvage, Written};
use tabia_io::atomic;

/// Prints what was left out, and one line about the new book; returns the exit code.
pub(crate) fn report(what: &str, done: &Rewritten, start: Instant) -> u8 {
    let extra = lost(&done.salvage);
    let what = format!("{what}; {},", counted(done.games.into(), "game"));
    made(&what, numbers(&done.written), start.elapsed(), &extra);
    u8::from(done.salvage.is_loss())
}

/// Positions, moves and bytes of a new book.
pub(crate) fn numbers(written: &Written) -> [u64; 3] {
    [written.positions, written.moves, written.bytes]
}

/// Prints the line about a new file with so many positions, moves and bytes.
pub(crate) fn made(what: &str, [positions, moves, bytes]: [u64; 3], time: Duration, extra: &str) {
    summary!(
        "{what} {}, {}, {} in {:.1} s{extra}",
        counted(positions, "position"),
        counted(moves, "move"),
        counted(bytes, "byte"),
        time.as_secs_f64(),
    );
}

/// Prints the unreadable parts of a book; returns text for a summary.
pub(crate) fn lost(salvage: &Salvage) -> String {
    for message in &salvage.messages {
        message!("tabia: {message}");
    }
    let notes = salvage.notes();
    notes.iter().map(|note| format!("; {note}")).collect()
}

/// Reports what look-ups in a book left out because of damage, and what opening it found
/// missing; returns the exit code.
pub(crate) fn left_out(book: &Book) -> u8 {
    lines_left_out(book.path(), &book.unread())
}

/// Reports what cannot be read of a book, and that the lines behind it are left out; returns the
/// exit code.
pub(crate) fn lines_left_out(book: &Path, unread: &Salvage) -> u8 {
    let lost = lost(unread);
    if unread.is_loss() {
        message!("{}: lines behind damage are left out{lost}", book.display());
    }
    u8::from(unread.is_loss())
}

/// As [`lost`], for a book whose notices are not printed.
pub(crate) fn all_lost(salvage: &Salvage) -> String {
    for part in &salvage.parts {
        message!("tabia: {part}");
    }
    lost(salvage)
}

/// Reports for which side a merged book plays, if that is not clear from its sources: those
/// of `books`, in their order, that are `named` by the user and that `target` has not replaced.
pub(crate) fn report_side(done: &Rewritten, target: &Path, books: &[PathBuf], named: &[PathBuf]) {
    if let Some(side) = done.only {
        message!("the book plays for {side} only; it has no moves of the other side");
        return;
    }
    for (book, side) in books.iter().zip(&done.sides) {
        let stays = named.contains(book) && !atomic::is_same_file(book, target);
        if let Some(side) = side.filter(|_| stays) {
            message!(
                "{}: plays for {side} only; the new book plays for both sides",
                book.display()
            );
        }
    }
}
