//! Converts books from one format to another.
//!
//! ```text
//! .ctg ----------------------> .jsonl .bin .abk .csv .pgn
//! .jsonl -> entries, sorted -> .ctg
//! others -> positions from the start position -> .ctg .bin .abk .csv .pgn
//! ```
//!
//! `.ctg` and `.jsonl` have the same content, byte for byte ([`jsonl`]). Other
//! conversions from `.jsonl`, and those of other books to `.jsonl`, make a
//! temporary `.ctg`.

mod csv;
mod from_keyed;
pub mod jsonl;
mod output;
mod pgn;
mod source;
mod to_abk;
mod to_bin;

use std::io;
use std::path::{Path, PathBuf};

use crate::ctg::{Salvage, WriteOptions, Written};
use crate::policy::Policy;
use crate::{Book, Error, Format, OpenOptions, Wanted};
use tabia_io::atomic::{self, Previous, TempFolder, WriteFileError};
use tabia_io::input::path::has_extension;
use tabia_io::progress::{Progress, Watch};
use tabia_notation::kind::{BookKind, Kind};

use output::Output;
pub use pgn::{Comments, LINE_GAMES, PgnOptions};

tabia_io::options! {
    /// A conversion and its options.
    #[derive(Clone, Debug)]
    pub struct ConvertJob {
        /// The book to read.
        source: PathBuf,
        /// The file to write; its extension gives the format.
        target: PathBuf,
        ;
        /// What to do with an existing file.
        old: Previous = Previous::default(),
        /// How moves are chosen: determines the weights of a `.bin`, the probabilities of a
        /// `.csv` and the order of lines in a `.pgn`.
        policy: Policy = Policy::default(),
        /// What the weight of a move in a `.bin` is made of.
        weights: Weights = Weights::default(),
        /// Whether a `.bin` gets every position that an entry is for, not only those that can
        /// be reached from the start position.
        all_forms: bool = false,
        /// Whether a `.bin` also gets moves that are never played, with weight 0.
        keep_never: bool = false,
        /// Limits for a `.pgn`.
        pgn: PgnOptions = PgnOptions::default(),
        /// A table (CSV) of the moves that are in none of the lines of a `.pgn`, with the reason
        /// of each; only with [`PgnOptions::lines`].
        report: Option<PathBuf> = None,
        /// Memory for sorting, in bytes.
        memory: u64 = 128 << 20,
        /// Whether damage of the source is an error.
        strict: bool = false,
    }
}

/// What the weight of a move in a Polyglot book is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// The probability of the move; the most probable one gets 65,535.
    #[default]
    Probability,
    /// The games of the move.
    Games,
    /// Twice the wins plus the draws, as Polyglot itself makes books.
    Score,
}

/// The result of a conversion.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Converted {
    /// Positions.
    pub positions: u64,
    /// Moves.
    pub moves: u64,
    /// Games, in a `.pgn`.
    pub games: u64,
    /// Length of the new file in bytes; of all three files of a `.ctg`.
    pub bytes: u64,
    /// Problems of the source, one sentence each.
    pub notices: Vec<String>,
    /// What was changed, left out or made up, a few words each.
    pub notes: Vec<String>,
    /// What could not be read.
    pub salvage: Salvage,
    /// Positions of a Polyglot book that are not in the new file because no line from the
    /// start position was found to them.
    pub unreached: u64,
    /// Whether these are more than the others.
    pub is_mostly_unreached: bool,
}

impl Converted {
    /// The result for a ChessBase book.
    fn from_written(written: &Written) -> Converted {
        Converted {
            positions: written.positions,
            moves: written.moves,
            bytes: written.bytes,
            ..Converted::default()
        }
    }

    /// Records what could not be read; an error with `strict`.
    fn lose(&mut self, job: &ConvertJob, salvage: Salvage) -> Result<(), Error> {
        salvage.checked(job.strict)?;
        self.salvage.add(salvage);
        Ok(())
    }

    /// Refuses an empty result.
    fn not_empty(&self, job: &ConvertJob) -> Result<(), Error> {
        if self.moves > 0 {
            return Ok(());
        }
        let mut why = self.salvage.notes();
        why.extend(
            self.salvage
                .is_loss()
                .then(|| self.salvage.first_text().to_owned()),
        );
        why.extend(self.notes.iter().cloned());
        let why: String = why.iter().map(|note| format!("; {note}")).collect();
        let target = job.target.display();
        let text =
            format!("none of its moves can be written to {target}{why}; nothing was written");
        Err(Error::refused(&job.source, text))
    }

    /// Records how many positions lines do not reach, and how many they do.
    fn leave_out(&mut self, unreached: u64, reached: u64) {
        self.unreached = unreached;
        self.is_mostly_unreached = unreached > reached;
        self.note(unreached, UNREACHED);
    }

    /// Records how many things were changed or left out; `what` begins with their plural.
    fn note(&mut self, count: u64, what: &str) {
        match what.split_once("s ") {
            Some((thing, rest)) if count == 1 => self.notes.push(format!("1 {thing} {rest}")),
            _ if count > 0 => self.notes.push(format!("{count} {what}")),
            _ => {}
        }
    }
}

/// The note about positions that no line leads to.
const UNREACHED: &str = "positions left out that cannot be reached from the start position";

/// The formats that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Ctg,
    Bin,
    Abk,
    Jsonl,
    Pgn,
    Csv,
}

impl Target {
    fn from_path(path: &Path) -> Result<Target, Error> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("ctg") => Ok(Target::Ctg),
            Some("bin") => Ok(Target::Bin),
            Some("abk") => Ok(Target::Abk),
            Some("jsonl") => Ok(Target::Jsonl),
            Some("pgn") => Ok(Target::Pgn),
            Some("csv") => Ok(Target::Csv),
            _ => {
                let text =
                    "the name of the new file must end with .ctg, .bin, .abk, .jsonl, .pgn or .csv";
                Err(Error::refused(path, text))
            }
        }
    }
}

/// A running conversion: its options and its progress.
struct Work<'a, 'w> {
    job: &'a ConvertJob,
    watch: &'a mut Watch<'w>,
    /// Where the bytes go if not into a new file.
    to: Option<&'a mut dyn io::Write>,
}

impl<'a> Work<'a, '_> {
    /// The output, once.
    fn output(&mut self) -> Result<Output<'a>, WriteFileError> {
        Output::new(self.job, self.to.take())
    }

    /// The options for writing a ChessBase book.
    fn book_options(&self) -> WriteOptions {
        WriteOptions {
            old: self.job.old,
            ..WriteOptions::default()
        }
    }

    /// Counts a position and reports progress.
    fn step(
        &mut self,
        stage: &'static str,
        positions: u64,
        total: Option<u64>,
    ) -> Result<(), Error> {
        Ok(self.watch.position(stage, positions, total)?)
    }

    /// As [`Work::step`], after many positions at once.
    fn steps(
        &mut self,
        stage: &'static str,
        positions: u64,
        total: Option<u64>,
    ) -> Result<(), Error> {
        let done = Progress::new(stage, "positions", positions, total);
        Ok(self.watch.step(done)?)
    }
}

/// Whether a book can be written there, by the extension and an old file.
///
/// # Errors
///
/// Books are not written in that format, or the file exists and is not to be replaced.
pub fn check_target(path: &Path, old: Previous) -> Result<(), Error> {
    let companions = match Target::from_path(path)? {
        Target::Ctg => Format::Ctg.companions(),
        Target::Bin | Target::Abk | Target::Jsonl | Target::Pgn | Target::Csv => &[],
    };
    Ok(atomic::check(path, companions, old)?)
}

/// Whether all files of a conversion can be written: [`check_target`], and the report is
/// neither the book nor the target.
///
/// # Errors
///
/// The target or the report cannot be written.
pub fn check(job: &ConvertJob) -> Result<(), Error> {
    check_target(&job.target, job.old)?;
    if let Some(report) = &job.report {
        atomic::check_apart(report, [&job.source, &job.target])?;
        atomic::check(report, &[], job.old)?;
    }
    Ok(())
}

/// Converts a book. `watch` can cancel the work.
///
/// # Errors
///
/// The book cannot be read, or the new file cannot be written; then no new file remains.
///
/// # Examples
///
/// ```
/// use tabia_book::convert::{self, ConvertJob};
/// use tabia_book::progress::Watch;
/// use tabia_book::{Book, OpenOptions};
///
/// # let folder = tempfile::tempdir()?;
/// let target = folder.path().join("book.bin");
/// // What a move is worth in the new book is the probability that it is played.
/// let job = ConvertJob::new("tests/data/ctg/simple.ctg".into(), target.clone());
/// let done = convert::run(&job, &mut Watch::default())?;
/// assert_eq!((done.positions, done.moves, done.bytes), (2, 3, 48));
/// let book = Book::open(&target, &OpenOptions::default())?;
/// assert_eq!(book.format().title(), "Polyglot opening book");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(job: &ConvertJob, watch: &mut Watch<'_>) -> Result<Converted, Error> {
    // Checked before any work.
    check(job)?;
    let target = Target::from_path(&job.target)?;
    let mut work = Work {
        job,
        watch,
        to: None,
    };
    if has_extension(&job.source, "jsonl") {
        return match target {
            Target::Jsonl => Err(same_format(job, "")),
            Target::Ctg => jsonl::to_ctg(&mut work, &job.target),
            Target::Bin | Target::Abk | Target::Pgn | Target::Csv => {
                by_way_of_ctg(&mut work, target, |work, beside| {
                    jsonl::to_ctg(work, beside)
                })
            }
        };
    }
    let book = Book::open(&job.source, &OpenOptions::default())?;
    let notices = book.notices().to_vec();
    let missing = book.missing_parts();
    missing.checked(job.strict)?;
    let mut summary = match (&book, target) {
        (Book::Ctg(_), Target::Ctg) => Err(same_format(
            job,
            "; use compact to rewrite a ChessBase book",
        )),
        (Book::Ctg(ctg), Target::Jsonl) => jsonl::from_ctg(&mut work, ctg),
        (Book::Bin(_) | Book::Loaded(_), Target::Ctg) => {
            from_keyed::to_ctg(&mut work, &book, &job.target)
        }
        (Book::Bin(_) | Book::Loaded(_), Target::Jsonl) => {
            by_way_of_ctg(&mut work, target, |work, beside| {
                from_keyed::to_ctg(work, &book, beside)
            })
        }
        (_, Target::Bin | Target::Abk | Target::Pgn | Target::Csv) => {
            written(&mut work, &book, target)
        }
    }?;
    summary.notices.splice(0..0, notices);
    summary.salvage.add(missing);
    Ok(summary)
}

/// A part of a [`ConvertJob`] that only some formats use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobPart {
    /// [`ConvertJob::weights`].
    Weights,
    /// [`ConvertJob::all_forms`].
    AllForms,
    /// [`ConvertJob::keep_never`].
    KeepNever,
    /// [`ConvertJob::policy`].
    Policy,
    /// [`ConvertJob::pgn`] and [`ConvertJob::report`].
    Pgn,
}

impl JobPart {
    /// The extensions of the formats that use it: callers refuse it for others, where it would
    /// have no effect.
    #[must_use]
    pub const fn formats(self) -> &'static [&'static str] {
        match self {
            JobPart::Weights | JobPart::AllForms | JobPart::KeepNever => &["bin"],
            JobPart::Policy => &["bin", "abk", "csv", "pgn"],
            JobPart::Pgn => &["pgn"],
        }
    }
}

/// Converts an open book to a format of one file, and writes the bytes of that file to `out`;
/// [`ConvertJob::target`] is only their name. `watch` can cancel the work.
///
/// ```
/// use std::path::PathBuf;
/// use tabia_book::convert::{self, ConvertJob};
/// use tabia_book::{Book, OpenOptions, progress::Watch};
///
/// let book = Book::open("tests/data/ctg/simple.ctg", &OpenOptions::default())?;
/// let job = ConvertJob::new(book.path().to_owned(), PathBuf::from("simple.bin"));
/// let mut bytes = Vec::new();
/// let done = convert::write(&book, &job, &mut bytes, &mut Watch::default())?;
/// assert_eq!([bytes.len() as u64, done.bytes], [16 * done.moves; 2]);
/// # Ok::<_, tabia_book::Error>(())
/// ```
///
/// # Errors
///
/// The book cannot be read; it cannot be written in this format, or not without temporary
/// files (a ChessBase book, and `.jsonl` of other books); or `out` fails.
pub fn write(
    book: &Book,
    job: &ConvertJob,
    out: &mut dyn io::Write,
    watch: &mut Watch<'_>,
) -> Result<Converted, Error> {
    let target = Target::from_path(&job.target)?;
    let mut work = Work {
        job,
        watch,
        to: Some(out),
    };
    let text = match (target, book) {
        (Target::Ctg, Book::Ctg(_)) => "is already a book of this format",
        (Target::Ctg, _) => "a ChessBase book has three files: convert it on disk",
        (Target::Jsonl, Book::Bin(_) | Book::Loaded(_)) => {
            "only a ChessBase book becomes .jsonl without a file on disk"
        }
        (Target::Bin | Target::Abk | Target::Jsonl | Target::Pgn | Target::Csv, _) => {
            let missing = book.missing_parts();
            missing.checked(job.strict)?;
            let mut summary = written(&mut work, book, target)?;
            summary.notices.splice(0..0, book.notices().iter().cloned());
            summary.salvage.add(missing);
            return Ok(summary);
        }
    };
    Err(Error::refused(&job.source, text))
}

/// Books of any formats as books of one format, to be added up.
#[derive(Debug)]
pub struct SameFormat {
    /// A file for each book: itself, or a temporary one.
    pub books: Vec<PathBuf>,
    /// What the conversions changed, left out and could not read, with the name of the book.
    pub notes: Vec<String>,
    /// What could not be read.
    pub salvage: Salvage,
    /// Whether no line was found to most of the positions of a book.
    pub is_mostly_unreached: bool,
    made: TempFolder,
}

impl SameFormat {
    /// Converts those books that are not of the wanted format: Polyglot's if `target` is a
    /// `.bin`, with games as weights, otherwise ChessBase's. The temporary files are beside
    /// `target`, until this is dropped.
    ///
    /// # Errors
    ///
    /// A book cannot be read, or no move of it can be added; or a temporary file cannot be
    /// written.
    pub fn new(
        books: &[PathBuf],
        target: &Path,
        strict: bool,
        watch: &mut Watch<'_>,
    ) -> Result<SameFormat, Error> {
        let wanted = match has_extension(target, "bin") {
            true => Format::Bin,
            false => Format::Ctg,
        };
        let made = TempFolder::beside(target)
            .map_err(|error| WriteFileError::io(target, error.kind().into()))?;
        let mut all = SameFormat {
            books: Vec::new(),
            notes: Vec::new(),
            salvage: Salvage::default(),
            is_mostly_unreached: false,
            made,
        };
        for (number, book) in books.iter().enumerate() {
            let is_text = Kind::of_file(book) == Some(Kind::Book(BookKind::Jsonl));
            if !is_text && Format::recognize(book)? == wanted {
                all.books.push(book.clone());
                continue;
            }
            let path = all
                .made
                .path()
                .join(format!("{number}.{}", wanted.as_str()));
            let job = ConvertJob::new(book.clone(), path.clone())
                .weights(Weights::Games)
                .strict(strict);
            let done = run(&job, watch)?;
            if done.moves == 0 {
                let why = done.notes.join("; ");
                let text = format!("none of its moves can be added: {why}");
                return Err(Error::refused(book, text));
            }
            all.is_mostly_unreached |= done.is_mostly_unreached;
            all.notes.extend(done.notices);
            let notes = done.notes.iter();
            all.notes
                .extend(notes.map(|note| format!("{}: {note}", book.display())));
            all.salvage.add(done.salvage);
            all.books.push(path);
        }
        Ok(all)
    }
}

/// Writes an open book in one of the formats that accept any book.
fn written(work: &mut Work<'_, '_>, book: &Book, target: Target) -> Result<Converted, Error> {
    match (target, book) {
        (Target::Bin, _) => to_bin::write(work, book),
        (Target::Abk, _) => to_abk::write(work, book),
        (Target::Pgn, _) => pgn::write(work, book),
        (Target::Csv, _) => csv::write(work, book),
        (Target::Jsonl, Book::Ctg(book)) => jsonl::from_ctg(work, book),
        (Target::Jsonl | Target::Ctg, _) => Err(same_format(work.job, "")),
    }
}

/// Makes a temporary ChessBase book beside the target first.
fn by_way_of_ctg(
    work: &mut Work<'_, '_>,
    target: Target,
    make: impl FnOnce(&mut Work<'_, '_>, &Path) -> Result<Converted, Error>,
) -> Result<Converted, Error> {
    let beside = TempFolder::beside(&work.job.target)
        .map_err(|error| WriteFileError::io(&work.job.target, error.kind().into()))?;
    let path = beside.path().join("book.ctg");
    let first = make(work, &path)?;
    let book = Book::open(&path, &OpenOptions::default())?;
    let mut summary = written(work, &book, target)?;
    summary.notices.splice(0..0, first.notices);
    summary.notes.splice(0..0, first.notes);
    summary.salvage.add(first.salvage);
    summary.unreached += first.unreached;
    summary.is_mostly_unreached |= first.is_mostly_unreached;
    Ok(summary)
}

fn same_format(job: &ConvertJob, advice: &str) -> Error {
    Error::refused(
        &job.source,
        format!("is already a book of this format{advice}"),
    )
}

/// The moves that the policy needs.
fn wanted(job: &ConvertJob) -> Wanted {
    match job.policy.transpositions {
        true => Wanted::Transpositions,
        false => Wanted::Stored,
    }
}
