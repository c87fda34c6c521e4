//! `tabia diff`: compares two books.

mod json;
mod text;

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::cli::arguments::common;
use crate::cli::arguments::complete;
use crate::cli::arguments::line;
use crate::cli::games_book;
use crate::cli::print::made;
use crate::cli::print::progress;
use crate::cli::print::style::thousands;
use shakmaty::Move;
use tabia_book::compare::{Aspect, Aspects, Compared, Difference, Plan, Way, compare};
use tabia_io::sanitize::escape_control;
use tabia_notation::Line;
use text::{Heading, text_of};

/// Examples of `diff`.
pub(crate) const EXAMPLES: &str = "Examples:\n  \
    tabia diff old.ctg new.ctg\n  \
    tabia diff old.ctg new.ctg --only marks --only learn-values\n  \
    tabia diff mine.ctg theirs.ctg --moves \"1. e4 c5\" --depth 6 --limit 20\n  \
    tabia diff main.ctg main.bin --json\n\n\
    Differences nearest to the start position come first. Positions to which no stored moves \
    lead come last, with White to move as in the book. Between books of different formats \
    only positions and moves are compared.\n\n\
    Exit codes: 0 the books agree; 1 they differ, or some of one is damaged and was left out; \
    2 a book cannot be read, or with --strict some of it.";

/// Arguments of `diff`.
#[derive(Args, Debug)]
pub(crate) struct DiffArgs {
    /// The first book, or index of games (.tgx)
    #[arg(add = complete::books_and_indexes())]
    a: PathBuf,
    /// The second book, or index of games
    #[arg(add = complete::books_and_indexes())]
    b: PathBuf,
    /// Compares only below this position [default: all positions of the books]
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
    /// Compares only below these moves, as in "e2e4 e7e5" or "1. e4 e5"
    #[arg(long, visible_alias = "line", value_name = "MOVES")]
    moves: Option<String>,
    /// Plies to go from there [default: all]
    #[arg(long = "max-ply", visible_alias = "depth", aliases = common::PLIES, value_name = "N")]
    depth: Option<u32>,
    /// Compares only this; may be given several times, or with commas
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = aspect())]
    only: Vec<Aspect>,
    /// Differing positions that are shown; the others are only counted
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Prints one JSON object for each differing position, then a summary
    #[arg(long)]
    json: bool,
    /// Unreadable parts of the books are an error
    #[arg(long)]
    strict: bool,
    /// Reads the books by system calls instead of mapping them into memory
    #[arg(long)]
    no_mmap: bool,
}

/// Reads a value of `--only`.
fn aspect() -> impl TypedValueParser<Value = Aspect> {
    let value = |aspect: &Aspect| {
        let help = match aspect {
            Aspect::Positions => "Positions that one book does not have",
            Aspect::Moves => "Moves that one book does not store",
            Aspect::Stats => "Games, results, ratings, weights",
            Aspect::Marks => "Main moves and moves to avoid",
            Aspect::Annotations => "! ? and the like",
            Aspect::LearnValues => "Learn values",
            Aspect::Commentaries => "Commentaries on positions",
        };
        let value = PossibleValue::new(aspect.as_str()).help(help);
        value.aliases(aspect.names().iter().skip(1))
    };
    PossibleValuesParser::new(Aspect::ALL.iter().map(value))
        .try_map(|name| Aspect::from_name(&name).ok_or("an unknown word"))
}

pub(crate) fn run(args: &DiffArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let a = games_book::open(&args.a, args.no_mmap)?;
    let b = games_book::open(&args.b, args.no_mmap)?;
    let fen = args.fen.as_deref().unwrap_or_default();
    let moves = args.moves.as_deref().unwrap_or_default();
    let reached = line::line_from(fen, moves)?;
    let plan = Plan::new(Aspects::from_list(&args.only))
        .from(reached.last().clone())
        .plies(args.depth)
        .unreached(args.fen.is_none() && args.moves.is_none() && args.depth.is_none());
    if !args.json {
        let name = |path: &std::path::Path| escape_control(&path.display().to_string());
        writeln!(out, "A  {}\nB  {}", name(&args.a), name(&args.b))?;
    }
    let shown = args.limit.unwrap_or(u64::MAX);
    let mut left = shown;
    // Differences beyond the limit need no text.
    let enough = AtomicBool::new(shown == 0);
    let heading = Heading::new(&reached);
    let make = |difference: &Difference, way: Option<Way<'_>>| -> serde_json::Result<String> {
        if enough.load(Relaxed) {
            return Ok(String::new());
        }
        if args.json {
            let line = way.map(|way| line_to(&reached, way.moves()));
            let object = json::difference(difference, line);
            return Ok(serde_json::to_string(&object)? + "\n");
        }
        let line = match &way {
            Some(way) => heading.line(way),
            None => "not reached by stored moves".into(),
        };
        Ok(text_of(&line, difference))
    };
    let found = |text: serde_json::Result<String>| -> anyhow::Result<()> {
        if left > 0 {
            left -= 1;
            enough.store(left == 0, Relaxed);
            out.write_all(text?.as_bytes())?;
        }
        Ok(())
    };
    let (compared, salvage) =
        progress::watched(|watch| compare(&a, &b, &plan, watch, make, found))??;
    if args.json {
        writeln!(out, "{}", json::summary(&compared))?;
    }
    out.flush()?;
    if args.strict && salvage.is_loss() {
        anyhow::bail!("{} (--strict)", salvage.summary_text());
    }
    let mut extra = made::lost(&salvage);
    if compared.unread > 0 {
        let unread = thousands(compared.unread);
        extra.push_str(&format!("; {unread} positions not compared for that"));
    }
    if compared.without_line > 0 {
        let left = thousands(compared.without_line);
        extra.push_str(&format!(
            "; {left} positions of Polyglot books not compared, as no line was found to them"
        ));
    }
    summary!("{}{extra}", summary(&compared));
    Ok(u8::from(compared.different > 0 || salvage.is_loss()))
}

fn summary(compared: &Compared) -> String {
    let positions = thousands(compared.positions);
    if compared.different == 0 {
        return format!("{positions} positions compared; no difference");
    }
    let mut parts = vec![
        format!("{} only in A", thousands(compared.only_in_a)),
        format!("{} only in B", thousands(compared.only_in_b)),
    ];
    for (aspect, count) in Aspect::ALL.iter().zip(compared.by_aspect).skip(1) {
        if count > 0 {
            parts.push(format!("{} in {}", thousands(count), aspect.as_str()));
        }
    }
    format!(
        "{positions} positions compared; {} differ{}: {}",
        thousands(compared.different),
        if compared.different == 1 { "s" } else { "" },
        parts.join(", ")
    )
}

/// The line to a difference, after the moves given before it.
fn line_to(reached: &Line, moves: Vec<Move>) -> Line {
    let mut line = reached.clone();
    moves.into_iter().for_each(|mv| line.push(mv));
    line
}
