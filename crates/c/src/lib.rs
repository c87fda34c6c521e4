//! The C interface of Tabia's books. `include/tabia.h` is made from this file.
//!
//! No panic crosses the border: it becomes an error, and the caller's process lives.

#![allow(unsafe_code, reason = "pointers of the caller are read and written")]
#![warn(missing_docs)]

mod book;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tabia_book::policy::Weighed;
use tabia_book::walk::{BookWalk, Order};
use tabia_book::{Book, BookMove, Mark, Preference};
use tabia_notation as notation;

use book::Opened;

/// The number of this interface. It changes when a program has to be compiled again;
/// tabia_abi() is that of the library in use.
pub const TABIA_ABI: u32 = 1;

/// The mark of a move: none.
pub const TABIA_MARK_NONE: i32 = 0;
/// The mark of a move: a main move (green in ChessBase).
pub const TABIA_MARK_MAIN: i32 = 1;
/// The mark of a move: to be avoided (red in ChessBase).
pub const TABIA_MARK_AVOID: i32 = 2;

/// An open book, with the options for choosing moves. Any number of threads may use it at
/// once; the one that closes it must be the last.
pub struct TabiaBook {
    opened: Opened,
    notices: CString,
}

/// Why a call has failed. It belongs to the caller, who frees it with tabia_error_free().
pub struct TabiaError(CString);

/// A walk through the positions of a book. One thread at a time may use it; it may be used
/// and freed after its book is closed.
pub struct TabiaWalk {
    /// It borrows from `_book`: dropped first, as the fields are dropped in their order. None
    /// after an error.
    walk: Option<BookWalk<'static>>,
    _book: Arc<Book>,
}

/// A move of a position, all from the view of its player.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TabiaMove {
    /// UCI notation, castling as the king's move: "e1g1".
    pub uci: [c_char; 8],
    /// SAN: "O-O".
    pub san: [c_char; 8],
    /// Its weight in the draw, 0 if the options exclude it.
    pub weight: f64,
    /// The probability that it is drawn, 0 to 1.
    pub probability: f64,
    /// Games with it, -1 if the book does not count games.
    pub games: i32,
    /// Games that its player has won, -1 if unknown.
    pub wins: i32,
    /// Drawn games, -1 if unknown.
    pub draws: i32,
    /// Games that its player has lost, -1 if unknown.
    pub losses: i32,
    /// The learn value, -125 to 125: positive speaks for the move. -1 too in a format
    /// without learn values: there `mark` is -1.
    pub learn: i32,
    /// TABIA_MARK_NONE, TABIA_MARK_MAIN or TABIA_MARK_AVOID; -1 in a format without marks.
    pub mark: i32,
    /// The number (NAG) of its annotation: 1 "!", 2 "?", 3 "!!", 4 "??", 5 "!?", 6 "?!", 0
    /// none; -1 in a format without annotations.
    pub annotation: i32,
}

/// Opens a book: the path of a .ctg, .bin, .abk, .bkt or .obk in UTF-8, or "<starter>" for
/// the one in the library. `options` are those that decide between moves, by their names in a
/// configuration or in UCI: "variety=15 depth=12"; NULL or "" for the defaults. NULL with an
/// error if that fails. The book belongs to the caller, who closes it with tabia_close().
///
/// # Safety
///
/// The strings end with NUL; `error` is NULL or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tabia_open(
    path: *const c_char,
    options: *const c_char,
    error: *mut *mut TabiaError,
) -> *mut TabiaBook {
    let open = || {
        // SAFETY: as the caller promises.
        let (path, options) = unsafe { (text(path)?, text(options)?) };
        let path = path.ok_or("no path is given")?;
        let opened = Opened::open(path, options.unwrap_or_default())?;
        let notices = c_string(opened.notices.clone());
        Ok(Box::into_raw(Box::new(TabiaBook { opened, notices })))
    };
    // SAFETY: as the caller promises.
    unsafe { guard(error, std::ptr::null_mut(), open) }
}

/// Closes a book; NULL does nothing.
///
/// # Safety
///
/// The book is from tabia_open(), and nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tabia_close(book: *mut TabiaBook) {
    // SAFETY: as the caller promises.
    unsafe { free(book) }
}

/// What is wrong with the files of a book that could be opened nevertheless, one sentence a
/// line; "" if nothing is. The text belongs to the book.
///
/// # Safety
///
/// The book is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tabia_notices(book: *const TabiaBook) -> *const c_char {
    // SAFETY: as the caller promises.
    let book = unsafe { book.as_ref() };
    book.map_or(c"".as_ptr(), |book| book.notices.as_ptr())
}

/// The sentence of an error, in UTF-8. It belongs to the error.
///
/// # Safety
///
/// The error has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tabia_error_text(error: *const TabiaError) -> *const c_char {
    // SAFETY: as the caller promises.
    let error = unsafe { error.as_ref() };
    error.map_or(c"".as_ptr(), |error| error.0.as_ptr())
}

/// Frees an error; NULL does nothing.
///
/// # Safety
///
/// The error is from a call of this library and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tabia_error_free(error: *mut TabiaError) {
    // SAFETY: as the caller promises.
    unsafe { free(error) }
}

/// Looks a position up: a FEN, NULL for the start position, perhaps with "moves" and moves
/// after it, whose positions are then not repeated. Writes up to `capacity` moves, the
/// heaviest first, and to `count` how many there are, perhaps more than that. 1 if the
/// position is in the book, 0 if not, -1 with an error.
///
/// # Safety
///
/// The book is open; `moves` has room for `capacity` moves, or `capacity` is 0; `count` and
/// `error` are NULL or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tabia_probe(
    book: *const TabiaBook,
    fen: *const c_char,
    moves: *mut TabiaMove,
    capacity: usize,
    count: *mut usize,
    error: *mut *mut TabiaError,
) -> c_int {
    let probe = || {
        // SAFETY: as the caller promises.
        let (book, fen) = unsafe { (book.as_ref().ok_or("no book is given")?, text(fen)?) };
        let (line, found) = book.opened.probe(fen.unwrap_or(START))?;
        if !moves.is_null() {
            for (at, (entry, verdict)) in found.rows().take(capacity).enumerate() {
                let known = TabiaMove::new(line.last(), entry, verdict);
                // SAFETY: `at` is below `capacity`.
                unsafe { moves.add(at).write(known) };
            }
        }
        // SAFETY: as the caller promises.
        unsafe { give(count, found.lookup.moves.len()) };
        Ok(c_int::from(found.lookup.here.is_some()))
    };
    // SAFETY: as the caller promises.
    unsafe {
        give(count, 0);
        guard(error, -1, probe)
    }
}

/// Announces probes. If they are worth it, a .ctg is read once on all processors, 100 MB in
/// some 0.3 seconds of processor time, and a filter of a 32nd of its size (three bytes for a
/// position) stays in memory: each probe then takes about a quarter of the time. Answers are
/// those of the file as it is; once it has changed, probes are as slow as before until it is
/// opened again. Other formats do nothing.
///
/// # Safety
///
/// The book is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tabia_reserve(book: *const TabiaBook, probes: u64) {
    // SAFETY: as the caller promises.
    let book = unsafe { book.as_ref() };
    let reserve = || {
        if let Some(book) = book {
            book.opened.reserve(probes);
        }
        Ok(())
    };
    // SAFETY: no error is asked for.
    unsafe { guard(std::ptr::null_mut(), (), reserve) }
}

/// Draws a move of a position by the options, and writes it to `mv` in UCI notation with a
/// NUL: 8 bytes are enough. The same seed draws the same move in the same position. 1 if
/// there is a move, 0 (and "") if not, -1 with an error.
///
/// # Safety
///
/// The book is open; `mv` has room for `size` bytes; `error` is NULL or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tabia_choose(
    book: *const TabiaBook,
    fen: *const c_char,
    seed: u64,
    mv: *mut c_char,
    size: usize,
    error: *mut *mut TabiaError,
) -> c_int {
    let choose = || {
        // SAFETY: as the caller promises.
        let (book, fen) = unsafe { (book.as_ref().ok_or("no book is given")?, text(fen)?) };
        let drawn = book.opened.choose(fen.unwrap_or(START), seed)?;
        // SAFETY: as the caller promises.
        unsafe { put(drawn.as_deref().unwrap_or_default(), mv, size)? };
        Ok(c_int::from(drawn.is_some()))
    };
    // SAFETY: as the caller promises.
    unsafe { guard(error, -1, choose) }
}

/// Begins a walk through the positions that the lines of a book reach from the start
/// position, each once, the most played first. NULL with an error if that fails. The walk
/// belongs to the caller, who frees it with tabia_walk_free(). It takes some 150 bytes for
/// each position.
///
/// # Safety
///
/// The book is open; `error` is NULL or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tabia_walk_new(
    book: *const TabiaBook,
    error: *mut *mut TabiaError,
) -> *mut TabiaWalk {
    let begin = || {
        // SAFETY: as the caller promises.
        let book = unsafe { book.as_ref() }.ok_or("no book is given")?;
        let book = Arc::clone(&book.opened.book);
        // SAFETY: the walk is dropped before the book, which the Arc keeps where it is.
        let lasting: &'static Book = unsafe { &*Arc::as_ptr(&book) };
        let walk = lasting.walk(Order::Likeliest);
        Ok(Box::into_raw(Box::new(TabiaWalk {
            walk: Some(walk),
            _book: book,
        })))
    };
    // SAFETY: as the caller promises.
    unsafe { guard(error, std::ptr::null_mut(), begin) }
}

/// Writes the next position of a walk to `fen`, with a NUL: 96 bytes are enough. 1 if there
/// is one, 0 (and "") at the end, -1 with an error, after which the walk ends.
///
/// # Safety
///
/// The walk has not been freed; `fen` has room for `size` bytes; `error` is NULL or may be
/// written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tabia_walk_next(
    walk: *mut TabiaWalk,
    fen: *mut c_char,
    size: usize,
    error: *mut *mut TabiaError,
) -> c_int {
    let next = || {
        // SAFETY: as the caller promises.
        let walk = unsafe { walk.as_mut() }.ok_or("no walk is given")?;
        // It is put back where nothing fails.
        let mut going = walk.walk.take();
        let next = going.as_mut().and_then(Iterator::next).transpose();
        let next = next.map_err(|error| error.to_string())?;
        let text = next.as_ref().map(|here| notation::fen(&here.position));
        // SAFETY: as the caller promises.
        unsafe { put(text.as_deref().unwrap_or_default(), fen, size)? };
        walk.walk = going;
        Ok(c_int::from(next.is_some()))
    };
    // SAFETY: as the caller promises.
    unsafe { guard(error, -1, next) }
}

/// Frees a walk; NULL does nothing.
///
/// # Safety
///
/// The walk is from tabia_walk_new() and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tabia_walk_free(walk: *mut TabiaWalk) {
    // SAFETY: as the caller promises.
    unsafe { free(walk) }
}

/// The version of the library, as "0.1.0". The text is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn tabia_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

/// TABIA_ABI of the library in use.
#[unsafe(no_mangle)]
pub extern "C" fn tabia_abi() -> u32 {
    TABIA_ABI
}

// The border.

const START: &str = "startpos";

/// Runs a call: an error, or a panic, becomes the caller's.
///
/// # Safety
///
/// `error` is NULL or may be written to.
unsafe fn guard<T>(
    error: *mut *mut TabiaError,
    failed: T,
    call: impl FnOnce() -> Result<T, String>,
) -> T {
    // After a panic nothing is used but what a book's readers share, which they only read.
    let result = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| Err(said(&*panic)));
    let (value, reason) = match result {
        Ok(value) => (value, None),
        Err(reason) => (failed, Some(reason)),
    };
    let text = reason.map(|reason| Box::into_raw(Box::new(TabiaError(c_string(reason)))));
    if error.is_null() {
        // SAFETY: it was made above, and nobody else has it.
        unsafe { free(text.unwrap_or(std::ptr::null_mut())) };
    } else {
        // SAFETY: as the caller promises.
        unsafe { error.write(text.unwrap_or(std::ptr::null_mut())) };
    }
    value
}

/// What a panic says.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    format!("a mistake in libtabia: {}", text.unwrap_or("unknown"))
}

/// The text of a pointer; `None` for NULL.
///
/// # Safety
///
/// The text ends with NUL and stays as it is.
unsafe fn text<'a>(pointer: *const c_char) -> Result<Option<&'a str>, String> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(pointer) };
    let text = text
        .to_str()
        .map_err(|_| format!("\"{}\" is not UTF-8", text.to_string_lossy()))?;
    Ok(Some(text))
}

/// Writes a value, unless the pointer is NULL.
///
/// # Safety
///
/// The pointer is NULL or may be written to.
unsafe fn give<T>(pointer: *mut T, value: T) {
    if !pointer.is_null() {
        // SAFETY: as the caller promises.
        unsafe { pointer.write(value) };
    }
}

/// Writes a text and a NUL.
///
/// # Safety
///
/// `to` has room for `size` bytes.
unsafe fn put(text: &str, to: *mut c_char, size: usize) -> Result<(), String> {
    if to.is_null() || size <= text.len() {
        return Err(format!(
            "{} bytes are needed for \"{text}\"",
            text.len() + 1
        ));
    }
    // SAFETY: there is room for the text and a NUL.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), to, text.len());
        to.add(text.len()).write(0);
    }
    Ok(())
}

/// Frees what a call has returned.
///
/// # Safety
///
/// The pointer is NULL, or from `Box::into_raw` and used no more.
unsafe fn free<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: as the caller promises. No value of this library panics when it is dropped.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

/// A text for C, which cannot hold a NUL.
fn c_string(text: String) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// A text in a field that has room for it and a NUL.
fn field(text: &str) -> [c_char; 8] {
    let mut field = [0; 8];
    for (to, byte) in field.iter_mut().take(7).zip(text.bytes()) {
        *to = byte.cast_signed() as c_char;
    }
    field
}

impl TabiaMove {
    fn new(
        position: &tabia_book::shakmaty::Chess,
        entry: &BookMove,
        verdict: &Weighed,
    ) -> TabiaMove {
        let stats = entry.stats();
        let in_full = entry.preference == Preference::Statistics;
        let count = |count: u32| match in_full || stats.games > 0 {
            true => i32::try_from(count).unwrap_or(i32::MAX),
            false => -1,
        };
        let known = |value: i32| if in_full || value != 0 { value } else { -1 };
        TabiaMove {
            uci: field(&notation::uci(entry.mv)),
            san: field(&notation::san(position, entry.mv)),
            weight: verdict.weight,
            probability: verdict.probability,
            games: count(stats.games),
            wins: count(stats.wins),
            draws: count(stats.draws),
            losses: count(stats.losses),
            learn: known(entry.learn_value().into()),
            mark: known(match entry.mark() {
                Mark::None => TABIA_MARK_NONE,
                Mark::Main => TABIA_MARK_MAIN,
                Mark::Avoid => TABIA_MARK_AVOID,
            }),
            annotation: known(entry.annotation.nag().into()),
        }
    }
}
