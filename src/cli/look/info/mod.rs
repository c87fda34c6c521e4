//! `tabia info`: the numbers of a book.

mod index;
mod other;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use crate::cli::arguments::complete;
use crate::cli::files;
use crate::cli::print::columns::Table;
use crate::cli::print::output;
use crate::cli::print::style::{FAINT, GREEN, HEADING, Painted, RED, thousands};
use other::side;
use tabia_book::Annotation;
use tabia_book::ctg::{BookInfo, CtgBook, Error};
use tabia_io::sanitize::escape_control;

/// Number of pages that are sampled in a large book.
const GLANCE_PAGES: u32 = 1024;

/// Books of up to this many pages (64 MiB) are read completely, which takes less than a
/// second.
const SMALL_PAGES: u32 = 16_384;

/// The object of `--json`.
#[derive(Serialize)]
struct Json<'a> {
    format: &'static str,
    games: u32,
    positions: u64,
    moves: u64,
    pages: u32,
    bytes: u64,
    largest_page_bytes: usize,
    average_fill: f64,
    lower_bound: Option<u64>,
    upper_bound: Option<u64>,
    slots: Option<u64>,
    main_marks: u64,
    avoid_marks: u64,
    commentaries: u64,
    /// Numbers of moves by annotation; only those that occur.
    annotations: BTreeMap<&'static str, u64>,
    header_positions: u32,
    /// The side that the book plays for, if it is only one.
    only: Option<&'static str>,
    /// Whether everything was counted; otherwise the numbers are estimated from
    /// `read_pages` pages.
    exact: bool,
    read_pages: u32,
    problems: &'a [String],
}

/// Arguments of `info`.
#[derive(Args, Debug)]
pub(crate) struct InfoArgs {
    /// The book, or several
    #[arg(value_name = "BOOK", required = true, add = complete::books_and_indexes())]
    books: Vec<PathBuf>,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
    /// Reads the whole book; without it, books above 64 MiB are sampled, and estimates
    /// are labelled "about"
    #[arg(long)]
    full: bool,
    /// Reads the book by system calls instead of mapping it into memory
    #[arg(long)]
    no_mmap: bool,
}

pub(crate) fn run(args: &InfoArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    files::for_each_file(&args.books, out, |book, out| {
        if !args.json || args.books.len() == 1 {
            return of_file(book, args, out);
        }
        // One object a line, which says of which book it is.
        let mut text = Vec::new();
        let code = of_file(book, args, &mut text)?;
        let mut object: serde_json::Value = serde_json::from_slice(&text)?;
        object["file"] = book.display().to_string().into();
        output::print_json(&object, out)?;
        Ok(code)
    })
}

fn of_file(path: &Path, args: &InfoArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    if files::is_index(path) {
        return index::run(path, args.no_mmap, args.json, out);
    }
    let book = files::open_quietly(path, args.no_mmap)?;
    let Some(book) = book.as_ctg() else {
        other::run(&book, args.json, out)?;
        return Ok(0);
    };
    let info = counted(book, args.full)?;
    if args.json {
        let json = Json {
            format: "ctg",
            games: info.games,
            positions: positions(&info),
            moves: info.for_all_pages(info.moves),
            pages: info.pages,
            bytes: info.bytes,
            largest_page_bytes: info.largest_page_bytes,
            average_fill: info.average_fill,
            lower_bound: info.bounds.map(|bounds| bounds.lower),
            upper_bound: info.bounds.map(|bounds| bounds.upper),
            slots: info.slots,
            main_marks: info.for_all_pages(info.main_marks),
            avoid_marks: info.for_all_pages(info.avoid_marks),
            commentaries: info.for_all_pages(info.commentaries),
            annotations: annotations(&info)
                .map(|(symbol, count)| (symbol, info.for_all_pages(count)))
                .collect(),
            header_positions: info.header_positions,
            only: info.only.map(side),
            exact: info.is_exact(),
            read_pages: info.read_pages,
            problems: &info.problems,
        };
        output::print_json(&json, out)?;
    } else {
        print(&info, book.path(), out)?;
    }
    Ok(0)
}

/// The numbers of a book; of a large one they are estimated unless `in_full` is set.
pub(crate) fn counted(book: &CtgBook, in_full: bool) -> Result<BookInfo, Error> {
    match in_full || book.header().pages <= SMALL_PAGES {
        true => book.info(),
        false => book.glance(GLANCE_PAGES),
    }
}

/// The number of positions: counted, or else the number in the header if it is near the
/// estimate from a sample (in genuine books it is too high by at most one in 180).
fn positions(info: &BookInfo) -> u64 {
    let estimate = info.for_all_pages(info.positions);
    let in_header = u64::from(info.header_positions);
    match info.is_exact() || !header_is_likely(info) {
        true => estimate,
        false => in_header,
    }
}

fn header_is_likely(info: &BookInfo) -> bool {
    let estimate = info.for_all_pages(info.positions);
    estimate.abs_diff(u64::from(info.header_positions)) <= estimate / 10
}

fn print(info: &BookInfo, path: &Path, out: &mut impl Write) -> io::Result<()> {
    let name = escape_control(&path.display().to_string());
    let title = Painted(HEADING, format!("{name}: ChessBase opening book"));
    writeln!(out, "{title}")?;
    write!(out, "{}", table(info, path))?;
    for problem in &info.problems {
        writeln!(out, "    {}", Painted(RED, escape_control(problem)))?;
    }
    if !info.is_exact() {
        let note = format!(
            "\n{} of {} pages were read; \"about\" is estimated from them.\n\
             Games, pages, size and index are exact. tabia info --full reads all.",
            thousands(info.read_pages.into()),
            thousands(info.pages.into())
        );
        writeln!(out, "{}", Painted(FAINT, note))?;
    }
    Ok(())
}

/// The numbers of a book, each with its label.
fn table(info: &BookInfo, path: &Path) -> Table {
    let is_exact = info.is_exact();
    // A counted or estimated number.
    let number = |counted| match is_exact {
        true => thousands(counted),
        false => about(info.for_all_pages(counted)),
    };
    let or_none = |text: String| match (text.as_str(), is_exact) {
        ("", true) => "none".to_owned(),
        ("", false) => "none seen".to_owned(),
        _ => text,
    };
    let in_header = thousands(info.header_positions.into());
    let positions = match is_exact {
        false if header_is_likely(info) => format!("{in_header} by its header"),
        true if info.positions == u64::from(info.header_positions) => number(info.positions),
        _ => format!("{} (its header says {in_header})", number(info.positions)),
    };
    let pages = format!(
        "{} of 4096 bytes, {}{:.0}% full, the fullest {}{} bytes",
        thousands(info.pages.into()),
        if is_exact { "" } else { "about " },
        100.0 * info.average_fill,
        if is_exact { "" } else { "seen " },
        info.largest_page_bytes
    );
    let mut size = format!("{} bytes", thousands(info.bytes));
    for extension in ["cto", "ctb"] {
        // The book that comes with the program has no file.
        if let Ok(data) = std::fs::metadata(path.with_extension(extension)) {
            size += &format!(", .{extension} {}", thousands(data.len()));
        }
    }
    let index = match (info.bounds, info.slots) {
        (Some(bounds), Some(slots)) => format!(
            "{} slots, bounds {} and {}",
            thousands(slots),
            bounds.lower,
            bounds.upper
        ),
        _ => "none that can be used".to_owned(),
    };
    let marks = match info.main_marks + info.avoid_marks {
        0 => String::new(),
        _ => format!(
            "{} {}, {} {}",
            number(info.main_marks),
            Painted(GREEN, "main"),
            number(info.avoid_marks),
            Painted(RED, "avoid")
        ),
    };
    let annotations: Vec<String> = annotations(info)
        .map(|(symbol, count)| format!("{} {symbol}", number(count)))
        .collect();
    let commentaries = match info.commentaries {
        0 => String::new(),
        count => number(count),
    };
    let problems = match info.problems.is_empty() {
        true => "none seen",
        false => "",
    };
    let mut list = Table::list(2, 13);
    list.add("games", thousands(info.games.into()));
    list.add("positions", positions);
    list.add("moves", number(info.moves));
    list.add("pages", pages);
    list.add("size", size);
    list.add("index", index);
    list.add("marks", or_none(marks));
    list.add("annotations", or_none(annotations.join(", ")));
    list.add("commentaries", or_none(commentaries));
    if let Some(side) = info.only {
        list.add("plays for", format_args!("{side} only"));
    }
    list.add("problems", problems);
    list
}

/// The annotations that occur, each with its number of moves.
fn annotations(info: &BookInfo) -> impl Iterator<Item = (&'static str, u64)> {
    let counts = (0_u8..).zip(info.annotations).skip(1);
    let some = counts.filter(|(_, count)| *count > 0);
    some.map(|(nag, count)| (Annotation(nag).symbol(), count))
}

/// An estimate, rounded to three digits.
fn about(number: u64) -> String {
    let unit = 10_u64.saturating_pow(number.checked_ilog10().unwrap_or(0).saturating_sub(2));
    let rounded = (number + unit / 2) / unit * unit;
    format!("about {}", thousands(rounded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_have_three_digits() {
        let texts = [0, 7, 999, 1234, 98_765_432].map(about);
        assert_eq!(
            texts,
            [
                "about 0",
                "about 7",
                "about 999",
                "about 1,230",
                "about 98,800,000"
            ]
        );
    }

    #[test]
    fn an_estimate_from_a_sample_is_near_the_exact_numbers() {
        let book = tabia_choice::book_set::starter().unwrap();
        let book = book.as_ctg().unwrap();
        let (whole, glance) = (book.info().unwrap(), book.glance(100).unwrap());
        assert!(whole.is_exact() && !glance.is_exact());
        assert_eq!((glance.read_pages, glance.pages), (100, whole.pages));
        for (exact, counted) in [
            (whole.positions, glance.positions),
            (whole.moves, glance.moves),
        ] {
            let estimate = glance.for_all_pages(counted);
            assert!(exact.abs_diff(estimate) < exact / 10, "{exact} {estimate}");
        }
        assert_eq!(positions(&glance), u64::from(glance.header_positions));
        assert_eq!(book.glance(u32::MAX).unwrap(), whole);
    }
}
