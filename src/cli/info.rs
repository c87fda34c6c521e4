//! `tabia info`: what a book is, in numbers.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::style::{FAINT, GREEN, HEADING, Painted, RED, thousands};
use tabia_book::Annotation;
use tabia_book::ctg::{BookInfo, CtgBook, Error};
use tabia_io::sanitize::escape_control;

/// Pages of a book that are read to get an impression of it.
const GLANCE_PAGES: u32 = 1024;

/// Books of up to this many pages (64 MiB) are read as a whole: that takes
/// less than a second.
const SMALL_PAGES: u32 = 16_384;

/// Arguments of `info`.
#[derive(Args, Debug)]
pub(super) struct InfoArgs {
    /// The book
    pub(super) book: PathBuf,
    /// Prints one JSON object
    #[arg(long)]
    pub(super) json: bool,
    /// Reads all of a book however large it is; else books of more than
    /// 64 MiB are read here and there, and what was estimated is called so
    #[arg(long)]
    pub(super) full: bool,
    /// Reads the book by system calls instead of mapping it into memory
    #[arg(long)]
    pub(super) no_mmap: bool,
}

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
    /// Moves by their sign, those that there are.
    annotations: BTreeMap<&'static str, u64>,
    header_positions: u32,
    /// Whether everything was counted; otherwise what is counted was
    /// estimated from `read_pages` pages.
    exact: bool,
    read_pages: u32,
    problems: &'a [String],
}

pub(super) fn run(args: &InfoArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    if super::info_index::is_index(&args.book) {
        return super::info_index::run(args, out);
    }
    let book = super::open_quietly(&args.book, args.no_mmap)?;
    let Some(book) = book.as_ctg() else {
        super::info_other::run(&book, args.json, out)?;
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
            annotations: (0_u8..)
                .zip(info.annotations)
                .skip(1)
                .filter(|(_, count)| *count > 0)
                .map(|(nag, count)| (Annotation(nag).symbol(), info.for_all_pages(count)))
                .collect(),
            header_positions: info.header_positions,
            exact: info.is_exact(),
            read_pages: info.read_pages,
            problems: &info.problems,
        };
        serde_json::to_writer(&mut *out, &json)?;
        writeln!(out)?;
    } else {
        InfoText {
            info: &info,
            path: book.path(),
            out,
        }
        .print()?;
    }
    Ok(0)
}

/// The numbers of a book: of a large one an impression, unless it is to be read
/// in full.
pub(super) fn counted(book: &CtgBook, in_full: bool) -> Result<BookInfo, Error> {
    match in_full || book.header().pages <= SMALL_PAGES {
        true => book.info(),
        false => book.glance(GLANCE_PAGES),
    }
}

/// How many positions there are: counted, or else the number in the header if it
/// is near to the estimate from a sample (it runs a little high in genuine books, by
/// one in 180 at the most).
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

struct InfoText<'a, W> {
    info: &'a BookInfo,
    path: &'a Path,
    out: &'a mut W,
}

impl<W: Write> InfoText<'_, W> {
    fn row(&mut self, label: &str, text: impl Display) -> io::Result<()> {
        writeln!(self.out, "  {label:<14}{text}")
    }

    /// A number that was counted, or estimated.
    fn number(&self, counted: u64) -> String {
        let number = self.info.for_all_pages(counted);
        match self.info.is_exact() {
            true => thousands(number),
            false => about(number),
        }
    }

    fn print(&mut self) -> io::Result<()> {
        let info = self.info;
        let name = escape_control(&self.path.display().to_string());
        let title = Painted(HEADING, format!("{name}: ChessBase opening book"));
        writeln!(self.out, "{title}")?;
        self.row("games", thousands(info.games.into()))?;
        let positions = self.positions();
        self.row("positions", positions)?;
        self.row("moves", self.number(info.moves))?;
        self.row(
            "pages",
            format!(
                "{} of 4096 bytes, {}{:.0}% full, the fullest {}{} bytes",
                thousands(info.pages.into()),
                if info.is_exact() { "" } else { "about " },
                100.0 * info.average_fill,
                if info.is_exact() { "" } else { "seen " },
                info.largest_page_bytes
            ),
        )?;
        let sizes = self.sizes();
        self.row("size", sizes)?;
        self.row(
            "index",
            match (info.bounds, info.slots) {
                (Some(bounds), Some(slots)) => format!(
                    "{} slots, bounds {} and {}",
                    thousands(slots),
                    bounds.lower,
                    bounds.upper
                ),
                _ => "none that can be used".to_owned(),
            },
        )?;
        let marks = self.marks();
        self.row("marks", marks)?;
        let annotations = self.annotations();
        self.row("annotations", annotations)?;
        let commentaries = match info.commentaries {
            0 => self.none().to_owned(),
            count => self.number(count),
        };
        self.row("commentaries", commentaries)?;
        self.problems()?;
        if !info.is_exact() {
            let note = format!(
                "\n{} of {} pages were read; \"about\" is estimated from them.\n\
                 Games, pages, size and index are exact. tabia info --full reads all.",
                thousands(info.read_pages.into()),
                thousands(info.pages.into())
            );
            writeln!(self.out, "{}", Painted(FAINT, note))?;
        }
        Ok(())
    }

    /// The lengths of the book's files.
    fn sizes(&self) -> String {
        let mut text = format!("{} bytes", thousands(self.info.bytes));
        for extension in ["cto", "ctb"] {
            // The book that comes with the program has no files.
            if let Ok(data) = std::fs::metadata(self.path.with_extension(extension)) {
                text.push_str(&format!(", .{extension} {}", thousands(data.len())));
            }
        }
        text
    }

    fn positions(&self) -> String {
        let info = self.info;
        let in_header = u64::from(info.header_positions);
        let counted = self.number(info.positions);
        if !info.is_exact() {
            return match header_is_likely(info) {
                true => format!("{} by its header", thousands(in_header)),
                false => format!("{counted} (its header says {})", thousands(in_header)),
            };
        }
        match info.positions == in_header {
            true => counted,
            false => format!("{counted} (its header says {})", thousands(in_header)),
        }
    }

    fn none(&self) -> &'static str {
        match self.info.is_exact() {
            true => "none",
            false => "none seen",
        }
    }

    fn marks(&self) -> String {
        let info = self.info;
        if info.main_marks + info.avoid_marks == 0 {
            return self.none().to_owned();
        }
        format!(
            "{} {}, {} {}",
            self.number(info.main_marks),
            Painted(GREEN, "main"),
            self.number(info.avoid_marks),
            Painted(RED, "avoid")
        )
    }

    fn annotations(&self) -> String {
        let counts = self.info.annotations.iter().enumerate().skip(1);
        let annotations: Vec<String> = counts
            .filter(|(_, count)| **count > 0)
            .filter_map(|(nag, count)| {
                let symbol = Annotation(u8::try_from(nag).ok()?).symbol();
                Some(format!("{} {symbol}", self.number(*count)))
            })
            .collect();
        match annotations.is_empty() {
            true => self.none().to_owned(),
            false => annotations.join(", "),
        }
    }

    fn problems(&mut self) -> io::Result<()> {
        if self.info.problems.is_empty() {
            return self.row("problems", "none seen");
        }
        self.row("problems", "")?;
        for problem in &self.info.problems {
            writeln!(self.out, "    {}", Painted(RED, escape_control(problem)))?;
        }
        Ok(())
    }
}

/// An estimate: three digits, then zeros.
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
    fn a_glance_is_near_to_the_whole() {
        let book = tabia_adapter::book_set::starter().unwrap();
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
