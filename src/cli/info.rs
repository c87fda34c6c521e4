//! `tabia info`: what a book is, in numbers.

use std::io::Write;

use anyhow::Context as _;
use serde::Serialize;

use super::args::InfoArgs;
use crate::book::Annotation;
use crate::book::ctg::BookInfo;
use crate::shelf::Opener;

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
    problems: &'a [String],
}

pub(super) fn run(args: &InfoArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let opener = Opener {
        folders: Vec::new(),
        mmap: !args.no_mmap,
    };
    let path = args
        .book
        .to_str()
        .context("the path is not valid Unicode")?;
    let book = opener.open(path)?;
    let Some(book) = book.as_ctg() else {
        super::info_other::run(&book, args.json, out)?;
        out.flush()?;
        return Ok(0);
    };
    let info = book.info()?;
    if args.json {
        let json = Json {
            format: "ctg",
            games: info.games,
            positions: info.positions,
            moves: info.moves,
            pages: info.pages,
            bytes: info.bytes,
            largest_page_bytes: info.largest_page_bytes,
            average_fill: info.average_fill,
            lower_bound: info.bounds.map(|bounds| bounds.lower),
            upper_bound: info.bounds.map(|bounds| bounds.upper),
            slots: info.slots,
            main_marks: info.main_marks,
            avoid_marks: info.avoid_marks,
            commentaries: info.commentaries,
            problems: &info.problems,
        };
        serde_json::to_writer(&mut *out, &json)?;
        writeln!(out)?;
    } else {
        print(&book.path().display().to_string(), &info, out)?;
    }
    out.flush()?;
    Ok(0)
}

fn print(name: &str, info: &BookInfo, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{name}: ChessBase opening book")?;
    let mut row = |label: &str, text: String| writeln!(out, "  {label:<14}{text}");
    row("games", info.games.to_string())?;
    let counted = info.positions;
    let said = u64::from(info.header_positions);
    row(
        "positions",
        if counted == said {
            counted.to_string()
        } else {
            format!("{counted} (its header says {said})")
        },
    )?;
    row("moves", info.moves.to_string())?;
    row(
        "pages",
        format!(
            "{} of 4096 bytes, {:.0}% full, the fullest {} bytes",
            info.pages,
            100.0 * info.average_fill,
            info.largest_page_bytes
        ),
    )?;
    row("size", format!("{} bytes", info.bytes))?;
    row(
        "index",
        match (info.bounds, info.slots) {
            (Some(bounds), Some(slots)) => format!(
                "{slots} slots, bounds {} and {}",
                bounds.lower, bounds.upper
            ),
            _ => "none that can be used".to_owned(),
        },
    )?;
    row(
        "marks",
        format!("{} main, {} avoid", info.main_marks, info.avoid_marks),
    )?;
    let annotations: Vec<String> = info
        .annotations
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(_, count)| **count > 0)
        .filter_map(|(nag, count)| {
            let symbol = Annotation(u8::try_from(nag).ok()?).symbol();
            Some(format!("{count} {symbol}"))
        })
        .collect();
    row(
        "annotations",
        if annotations.is_empty() {
            "none".to_owned()
        } else {
            annotations.join(", ")
        },
    )?;
    row("commentaries", info.commentaries.to_string())?;
    match info.problems.as_slice() {
        [] => row("problems", "none seen".to_owned())?,
        problems => {
            row("problems", String::new())?;
            for problem in problems {
                writeln!(out, "    {problem}")?;
            }
        }
    }
    Ok(())
}
