//! `tabia verify`: checks every byte of a book.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::ensure;
use clap::Args;
use serde::Serialize;

use crate::cli::arguments::complete;
use crate::cli::files;
use crate::cli::print::output;
use crate::cli::print::progress;
use crate::cli::print::style::{counted, thousands};
use tabia_book::Format;
use tabia_book::ctg::{Problem, ProblemKind, verify};
use tabia_build::{BuildError, is_records, verify_records};
use tabia_io::parallel;

/// Arguments of `verify`.
#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// The book, or several; or records (.parquet), which are tested together: their
    /// checksums, their conditions, and whether two have the same games
    #[arg(value_name = "BOOK", required = true, add = complete::books())]
    books: Vec<PathBuf>,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
    /// Reads the book by system calls instead of mapping it into memory
    #[arg(long)]
    no_mmap: bool,
}

/// Greatest number of listed problems of one kind.
const SHOWN: u64 = 20;

/// A problem in the output of `--json`.
#[derive(Serialize)]
struct Json<'a> {
    file: String,
    page: Option<u32>,
    offset: u64,
    kind: &'static str,
    text: &'a str,
}

pub(crate) fn run(args: &VerifyArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let records = args.books.iter().filter(|path| is_records(path)).count();
    if records == args.books.len() {
        return of_records(args, out);
    }
    ensure!(records == 0, "either books or records (.parquet)");
    files::for_each_file(&args.books, out, |book, out| of_file(book, args, out))
}

fn of_records(args: &VerifyArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let threads = parallel::threads();
    let tested = progress::watched(|watch| verify_records(&args.books, threads, watch))?;
    let problem = match &tested {
        Ok(_) => None,
        Err(BuildError::Records(problem)) => Some(problem.to_string()),
        Err(_) => return tested.map(|_| 0).map_err(Into::into),
    };
    if args.json {
        let problems: Vec<_> = problem.iter().collect();
        let object = serde_json::json!({ "problems": problems, "notes": tested.ok() });
        output::print_json(&object, out)?;
    } else {
        let lines = tested.iter().flatten().chain(&problem);
        lines
            .into_iter()
            .try_for_each(|line| writeln!(out, "{line}"))?;
    }
    Ok(u8::from(problem.is_some()))
}

fn of_file(book: &Path, args: &VerifyArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    files::refuse_index(book)?;
    // Of several books each object says of which it is.
    let begin = match args.books.len() {
        1 => "{\"problems\":[".to_owned(),
        _ => {
            let name = serde_json::to_string(&book.display().to_string())?;
            format!("{{\"file\":{name},\"problems\":[")
        }
    };
    let start = Instant::now();
    if Format::recognize(book)? != Format::Ctg {
        return verify_other(book, args, start, out);
    }
    // Problems are printed as they are found: a badly damaged book may have millions, so
    // without --json only the first of each kind.
    let mut first = true;
    let mut printed: io::Result<()> = Ok(());
    let mut kinds: Vec<(ProblemKind, u64)> = Vec::new();
    let mut print = |problem: Problem| {
        if printed.is_ok() {
            printed = if args.json {
                let before = if std::mem::take(&mut first) {
                    &*begin
                } else {
                    ","
                };
                print_json(out, &problem, before)
            } else {
                let known = kinds.iter().position(|(kind, _)| *kind == problem.kind);
                let place = known.unwrap_or_else(|| {
                    kinds.push((problem.kind, 0));
                    kinds.len() - 1
                });
                kinds[place].1 += 1;
                match kinds[place].1 <= SHOWN {
                    true => print_line(out, &problem),
                    false => Ok(()),
                }
            };
        }
    };
    let verified = progress::watched(|watch| verify(book, !args.no_mmap, watch, &mut print))??;
    printed?;
    if args.json {
        if first {
            write!(out, "{begin}")?;
        }
        write!(
            out,
            "],\"positions\":{},\"moves\":{},\"pages\":{},\"problem_count\":{},\"notes\":",
            verified.positions, verified.moves, verified.pages, verified.problems
        )?;
        serde_json::to_writer(&mut *out, &verified.notes)?;
        writeln!(out, "}}")?;
    } else {
        for (kind, found) in kinds.into_iter().filter(|(_, found)| *found > SHOWN) {
            let more = thousands(found - SHOWN);
            writeln!(out, "{}: and {more} more (--json lists all)", kind.as_str())?;
        }
        for note in &verified.notes {
            writeln!(out, "note: {note}")?;
        }
    }
    out.flush()?;
    summary!(
        "{}: {}, {}, {} in {:.1} s; {}",
        book.display(),
        counted(verified.positions, "position"),
        counted(verified.moves, "move"),
        counted(verified.pages.into(), "page"),
        start.elapsed().as_secs_f64(),
        match verified.problems {
            0 => "no problem".to_owned(),
            found => counted(found, "problem"),
        }
    );
    Ok(u8::from(verified.problems > 0))
}

/// Checks a book of another format: its reader looks at every entry.
fn verify_other(
    path: &Path,
    args: &VerifyArgs,
    start: Instant,
    out: &mut impl Write,
) -> anyhow::Result<u8> {
    let book = files::open_quietly(path, args.no_mmap)?;
    let reached = progress::watched(|watch| book.count_reached(watch))??;
    let problems = book.notices();
    if args.json {
        let mut object = serde_json::json!({
            "problems": problems.iter().map(|text| {
                serde_json::json!({"file": book.path(), "page": null, "offset": null, "kind": "notice", "text": text})
            }).collect::<Vec<_>>(),
            "positions": reached.positions,
            "moves": reached.moves,
            "pages": null,
            "problem_count": problems.len(),
            "notes": [],
        });
        if args.books.len() > 1 {
            object["file"] = path.display().to_string().into();
        }
        output::print_json(&object, out)?;
    } else {
        for problem in problems {
            writeln!(out, "{problem}")?;
        }
    }
    out.flush()?;
    summary!(
        "{}: {}, {} reached from the start position in {:.1} s; {}",
        path.display(),
        counted(reached.positions, "position"),
        counted(reached.moves, "move"),
        start.elapsed().as_secs_f64(),
        match problems.len() as u64 {
            0 => "no problem".to_owned(),
            found => counted(found, "problem"),
        }
    );
    Ok(u8::from(!problems.is_empty()))
}

fn print_json(out: &mut impl Write, problem: &Problem, before: &str) -> io::Result<()> {
    out.write_all(before.as_bytes())?;
    let json = Json {
        file: problem.file.display().to_string(),
        page: problem.page,
        offset: problem.offset,
        kind: problem.kind.as_str(),
        text: &problem.text,
    };
    serde_json::to_writer(out, &json).map_err(io::Error::from)
}

/// Prints the problem, then its position.
fn print_line(out: &mut impl Write, problem: &Problem) -> io::Result<()> {
    let (kind, text) = (problem.kind.as_str(), &problem.text);
    write!(out, "{kind}: {text} ({}: ", problem.file.display())?;
    if let Some(page) = problem.page {
        write!(out, "page {page}, ")?;
    }
    writeln!(out, "byte {})", problem.offset)
}
