//! Books as commands open them, and what is reported about their files.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::print::output::{is_closed_output, messages};
use tabia_book::{Book, BookEditor, EditOptions, Pending};
use tabia_choice::book_set::{Opener, as_played};
use tabia_choice::settings::Options;
use tabia_explorer::Open;
use tabia_io::atomic;
use tabia_io::input::path::{file_name, to_text};
use tabia_notation::kind::{BookKind, Kind};

pub(crate) use tabia_games::tgx::is_index;

/// Opens the book of a command, and prints its notices.
pub(crate) fn open_book(path: &Path, no_mmap: bool) -> anyhow::Result<Book> {
    let book = open_quietly(path, no_mmap)?;
    for notice in book.notices() {
        message!("tabia: {notice}");
    }
    Ok(book)
}

/// Opens the book of a command.
pub(crate) fn open_quietly(path: &Path, no_mmap: bool) -> anyhow::Result<Book> {
    refuse_index(path)?;
    let opener = Opener::here(!no_mmap);
    Ok(opener.open(&to_text(path))?)
}

/// A book, and the same as the adapter plays it: with learned results and evaluations, if
/// the options use them.
pub(crate) fn open_as_played(
    path: &Path,
    options: &Options,
    no_mmap: bool,
) -> anyhow::Result<(Arc<Book>, Open)> {
    let book = Arc::new(open_book(path, no_mmap)?);
    let (played, _) = as_played(Arc::clone(&book), options.learn);
    Ok((book, with_evaluations(played, path, options, no_mmap)))
}

/// A book with the evaluations that the options name.
pub(crate) fn with_evaluations(book: Open, path: &Path, options: &Options, no_mmap: bool) -> Open {
    let mut notices = Vec::new();
    let opener = Opener::here(!no_mmap);
    let (book, _) = opener.evaluated(book, &to_text(path), &options.evaluations, &mut notices);
    for notice in notices {
        message!("tabia: {notice}");
    }
    book
}

/// Runs a command for each of several files; an error ends only what is done for its file.
/// The exit code is the highest.
pub(crate) fn for_each_file<W: Write>(
    paths: &[PathBuf],
    out: &mut W,
    run: impl Fn(&Path, &mut W) -> anyhow::Result<u8>,
) -> anyhow::Result<u8> {
    if let [path] = paths {
        return run(path, out);
    }
    let mut code = 0;
    for path in paths {
        code = code.max(match run(path, out) {
            Ok(code) => code,
            Err(error) if is_closed_output(&error) => return Err(error),
            Err(error) => {
                out.flush()?;
                let _ = writeln!(messages(), "tabia: {error:#}");
                2
            }
        });
    }
    Ok(code)
}

/// Fails for a games index, in commands that need a book.
pub(crate) fn refuse_index(path: &Path) -> anyhow::Result<()> {
    let name = path.display();
    anyhow::ensure!(
        !path.exists() || !is_index(path),
        "{name}: this is an index of games, not a book: `tabia explore {name}` shows its games, \
         `tabia build -o BOOK.ctg {name}` makes a book of them"
    );
    Ok(())
}

/// Before a book is changed or replaced: completes what was interrupted, and reports it.
/// The file may be of any kind, or not exist.
pub(crate) fn complete_interrupted(path: &Path) -> anyhow::Result<()> {
    for text in tabia_book::settle(path)? {
        message!("{text}");
    }
    if path.exists() && Pending::of_file(path)?.is_some() {
        let editor = BookEditor::open(path, &EditOptions::default())?;
        report_recovered(&editor);
    }
    Ok(())
}

/// Reports what was completed when a book was opened for changes.
pub(crate) fn report_recovered(editor: &BookEditor) {
    for text in editor.messages() {
        message!("{text}");
    }
}

/// Reports that the old files of a changed book are kept.
pub(crate) fn report_kept(book: &Path) {
    let kept = atomic::backup_of(book);
    // Of a link, the file that it leads to is kept.
    let name = match kept.parent() == book.parent() {
        true => file_name(&kept),
        false => kept.to_string_lossy(),
    };
    summary!("{}: the old book is kept as {name}", book.display());
}

/// The number of positions in a book's header, or of moves in a Polyglot book.
pub(crate) fn announced_size(book: &Book) -> u64 {
    match book {
        Book::Ctg(book) => book.header().positions.into(),
        Book::Bin(book) => book.len(),
        Book::Loaded(book) => book.positions(),
    }
}

/// Fails for books of other formats, in commands that need a ChessBase one.
pub(crate) fn only_ctg(path: &Path) -> anyhow::Result<()> {
    refuse_index(path)?;
    match Kind::of_file(path) {
        None | Some(Kind::Book(BookKind::Ctg)) => Ok(()),
        Some(Kind::Book(other)) => anyhow::bail!(
            "{}: {}; this needs a ChessBase book, `tabia convert` makes one from it",
            path.display(),
            other.with_article()
        ),
        Some(kind) => anyhow::bail!("{}: {}", path.display(), kind.no_book().unwrap_or_default()),
    }
}
