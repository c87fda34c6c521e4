//! `tabia repertoire`: your moves against what opponents play.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use clap::Args;
use serde_json::json;

use super::evaluations;
use crate::cli::arguments::collection;
use crate::cli::arguments::common::{self, Force, PlayerColour};
use crate::cli::arguments::complete;
use crate::cli::files;
use crate::cli::games_book;
use crate::cli::print::columns::Table;
use crate::cli::print::{made, progress};
use shakmaty::Color;
use tabia_analysis::repertoire::{
    self, Differences, Gap, Knowledge, Measured, OwnRepertoire, Repair, Repertoire,
    RepertoireOptions, RepertoireSummary, SHRINKAGE_GAMES, SeveralAnswers, Trimmed, one_in,
};
use tabia_book::evals;
use tabia_io::atomic;
use tabia_io::input::path::{file_name, has_extension};
use tabia_notation::{self as notation, Line};

/// Arguments of `repertoire`.
#[derive(Args, Debug)]
pub(crate) struct RepertoireArgs {
    /// The book that the moves are taken from; evaluations beside it (.evals)
    /// count
    #[arg(add = complete::books())]
    book: PathBuf,
    /// Whose repertoire
    #[arg(long, aliases = common::COLOUR, value_name = "COLOUR", ignore_case = true)]
    colour: PlayerColour,
    /// A book of what opponents play, or an index of their games (.tgx)
    /// [default: the book itself]
    #[arg(long, value_name = "BOOK", add = complete::books_and_indexes())]
    opponent: Option<PathBuf>,
    /// The repertoire begins after this line of the book, as "1.e4 c5"
    #[arg(long, value_name = "MOVES")]
    line: Option<String>,
    /// A book of other games, from which no moves are chosen: shows the score of the
    /// repertoire in it
    #[arg(long, value_name = "BOOK", add = complete::books())]
    measure: Option<PathBuf>,
    /// An existing repertoire: shows what to repair in it first
    #[arg(long, value_name = "MINE.pgn", add = complete::games())]
    from: Option<PathBuf>,
    /// Writes that repertoire to OUT.pgn without the lines that are met less often than
    /// once in --one-in games, instead of choosing moves
    #[arg(long, requires = "from", requires = "output", conflicts_with = "line")]
    trim: bool,
    /// The repertoire: .ctg with the moves marked green, or .pgn as a study
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Leaves out positions that occur in less than one of N games
    #[arg(long, value_name = "N", default_value_t = 500,
          value_parser = clap::value_parser!(u32).range(1..))]
    one_in: u32,
    /// Moves for each position
    #[arg(long, value_name = "K", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=50))]
    moves: u16,
    /// Games that a move must have to be chosen, unless it is evaluated or green; if no
    /// move has so many, all count
    #[arg(long, value_name = "N", default_value_t = 10)]
    min_games: u32,
    /// Share of the games of its position that it must have, in per cent, with the same
    /// exceptions
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u8).range(0..=100))]
    min_share: u8,
    /// Games with the result of the other moves of the position that are added to each
    /// move, so that results of few games count less; more if moves hardly differ
    #[arg(long, value_name = "N", default_value_t = SHRINKAGE_GAMES as u32,
          value_parser = clap::value_parser!(u32).range(1..))]
    hold_back: u32,
    /// How much the opponent's best reply counts instead of the usual replies, in per
    /// cent
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = clap::value_parser!(u8).range(0..=100))]
    caution: u8,
    /// Plies up to which coverage is counted
    #[arg(long = "max-ply", visible_alias = "depth", aliases = common::PLIES, value_name = "N", default_value_t = 20)]
    depth: u16,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) const EXAMPLES: &str = "Examples:\n  \
    tabia repertoire masters.ctg --colour white -o white.pgn\n  \
    tabia repertoire main.ctg --colour black --opponent club.ctg -o black.ctg --one-in 200\n  \
    tabia repertoire masters.ctg --colour white --from mine.pgn\n  \
    tabia repertoire masters.ctg --colour white --from mine.pgn --trim -o shorter.pgn\n  \
    tabia repertoire until2020.ctg --colour white --line \"1.e4 c5\" --measure since2021.ctg\n\n\
    Chooses one move for every position of yours by its value: results against equal opponents, \
    shrunk towards the evaluation or the position before if there are few games, and backed up \
    from the ends of lines over the replies that opponents really play. If a position has green \
    moves, one of them is chosen. Red moves and those with ? or ??, green or not, are chosen \
    only if there are no others.\n\n\
    The results of chosen moves are partly luck. So results of few games are shrunk \
    (--hold-back), and --measure shows the score in games that were not used for the choice. \
    docs/evaluations.md of the source explains the numbers.\n\n\
    Exit codes: 0 done; 1 the start position is not in the book, or parts of a book cannot be \
    read; 2 wrong usage or files.";

/// Greatest number of shown gaps and repairs.
const SHOWN: usize = 10;

pub(crate) fn run(args: &RepertoireArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let output = args.output.as_deref();
    let is_book = output.is_some_and(|target| has_extension(target, "ctg"));
    if let Some(target) = output {
        ensure!(
            is_book || has_extension(target, "pgn"),
            "{}: the name of a repertoire ends with .ctg or .pgn",
            target.display()
        );
        ensure!(
            !(args.trim && is_book),
            "{}: --trim writes games: the name ends with .pgn",
            target.display()
        );
        files::complete_interrupted(target)?;
        let companions: &[&str] = if is_book { &["cto", "ctb"] } else { &[] };
        atomic::check(target, companions, args.force.old())?;
    }
    // Apart from the opponents' moves, few pages are read one by one; of a mapped file these
    // pages, and the pages around them, would count as memory.
    let book = files::open_book(&args.book, args.opponent.is_none())?;
    let opponents = args
        .opponent
        .as_ref()
        .map(|path| games_book::open(path, false));
    let opponents = opponents.transpose()?;
    let evaluations = evaluations::read(&evals::beside(&args.book))?;
    let mut options = RepertoireOptions::new(Color::from(args.colour));
    options.one_in = args.one_in.into();
    options.moves = args.moves.into();
    options.min_games = args.min_games;
    options.min_share = f64::from(args.min_share) / 100.0;
    options.caution = f64::from(args.caution) / 100.0;
    options.depth = args.depth.into();
    options.line = Line::read("", args.line.as_deref().unwrap_or_default()).context("--line")?;
    options.shrinkage_games = args.hold_back.into();
    let mut knowledge = Knowledge::new(&book, &evaluations);
    knowledge.opponents = opponents.as_deref();
    let found = progress::watched(|watch| Repertoire::solve(knowledge, &options, watch))?;
    let found = match found {
        Err(error @ tabia_analysis::Error::NotInBook(_)) => {
            message!("{}: {error}", args.book.display());
            return Ok(1);
        }
        found => found?,
    };
    let mut mine = match &args.from {
        Some(mine) => Some(own(mine, options.colour)?),
        None => None,
    };
    let differences = mine.as_ref().map(|mine| found.differences(mine));
    let differences = differences.transpose()?;
    let trimmed = match (&args.output, &mut mine) {
        (Some(target), Some(mine)) if args.trim => {
            let trimmed = found.trim(mine)?;
            mine.write(target, args.force.old())?;
            Some(trimmed)
        }
        _ => None,
    };
    let summary = found.summary()?;
    let (measured, lost) = match &args.measure {
        Some(games) => measured(&found, games)?,
        None => (None, 0),
    };
    if let Some(target) = args.output.as_ref().filter(|_| !args.trim) {
        if is_book {
            repertoire::write_book(&found, target, args.force.old())?;
        } else {
            let name = file_name(&args.book);
            let colour = options.colour.fold_wb("White", "Black");
            let title = format!("Repertoire for {colour} out of {name}");
            repertoire::write_study(&found, &title, target, args.force.old())?;
        }
    }
    if args.json {
        writeln!(
            out,
            "{}",
            to_json(
                args,
                &summary,
                measured,
                differences.as_ref(),
                trimmed.as_ref()
            )
        )?;
    } else {
        let mut list = listed(args, &summary, measured);
        if let Some(differences) = &differences {
            add_differences(differences, &mut list);
        }
        if let Some(trimmed) = &trimmed {
            add_trimmed(trimmed, args.one_in, &mut list);
        }
        write!(out, "{list}")?;
    }
    let lost = lost.max(opponents.as_deref().map_or(0, made::left_out));
    Ok(lost.max(made::left_out(&book)))
}

/// The score of the repertoire in the games of another book, and the exit code for what cannot
/// be read of it.
fn measured(found: &Repertoire<'_>, games: &Path) -> anyhow::Result<(Option<Measured>, u8)> {
    let book = games_book::open(games, false)?;
    let measured = found.measure(&book)?;
    if measured.is_none() {
        message!(
            "{}: none of its games begins like the repertoire",
            games.display()
        );
    }
    Ok((measured, made::left_out(&book)))
}

/// An existing repertoire; what cannot be read of it is reported.
fn own(path: &Path, colour: Color) -> anyhow::Result<OwnRepertoire> {
    let read = progress::watched(|watch| OwnRepertoire::read(path, colour, watch))?;
    let mine = read.with_context(|| path.display().to_string())?;
    collection::report(&mine.tally);
    Ok(mine)
}

fn listed(args: &RepertoireArgs, summary: &RepertoireSummary, measured: Option<Measured>) -> Table {
    let RepertoireSummary {
        expectation,
        positions,
        coverage,
        plies,
        gaps,
        converged,
    } = summary;
    if !*converged {
        message!("the values did not converge: lines that repeat moves count too much");
    }
    let mut list = Table::list(0, 16);
    list.add("expectation", format_args!("{:.1}%", 100.0 * expectation));
    if let Some(Measured { score, error, all }) = measured {
        let [score, error, all] = [score, error, all].map(|share| 100.0 * share);
        let text = format!("{score:.1}% +-{error:.1} in other games, of which all score {all:.1}%");
        list.add("measured", text);
    }
    let often = format_args!("met once in {} games or more", args.one_in);
    list.add("positions", format_args!("{positions} to learn, {often}"));
    let coverage = 100.0 * coverage;
    list.add(
        "coverage",
        format_args!("{coverage:.1}% up to ply {}", args.depth),
    );
    list.add("moves a game", format_args!("{plies:.1}"));
    add_gaps("gaps", gaps, &mut list);
    list
}

fn add_differences(differences: &Differences, list: &mut Table) {
    list.add("several answers", differences.several.len());
    for several in differences.several.iter().take(SHOWN) {
        let san = |mv| notation::number(&several.position) + &notation::san(&several.position, mv);
        let games = several.answers.iter().map(|answer| answer.game);
        let is_one_game = games.clone().min() == games.max();
        let answers = several.answers.iter().map(|answer| {
            let game = match is_one_game {
                true => String::new(),
                false => format!(" (game {})", answer.game),
            };
            let after = after(&answer.line);
            format!("{} ({}){after}{game}", san(answer.mv), brings(answer.score))
        });
        let answers: Vec<String> = answers.collect();
        let often = match several.probability {
            0.0 => "not met".to_owned(),
            probability => one_in(probability),
        };
        list.add(&format!("  {often}"), answers.join("; "));
    }
    list.add("agreed", format_args!("{} positions", differences.agreed));
    list.add("repairs", differences.repairs.len());
    for repair in differences.repairs.iter().take(SHOWN) {
        let before = repair.line.last();
        let san = |mv| notation::number(before) + &notation::san(before, mv);
        let (played, better) = (san(repair.played), san(repair.better));
        let (score, after) = (brings(repair.score), after(&repair.line));
        let better_score = 100.0 * repair.better_score;
        list.add(
            &format!("  {}", one_in(repair.probability)),
            format_args!("{played} ({score}): {better} ({better_score:.1}%){after}"),
        );
    }
    add_gaps("without a move", &differences.holes, list);
}

fn add_trimmed(trimmed: &Trimmed, least: u32, list: &mut Table) {
    let Trimmed {
        lines,
        moves,
        games,
        left,
        unknown,
    } = trimmed;
    let often = format_args!("met less often than once in {least} games");
    list.add(
        "taken out",
        format_args!("{moves} moves, {often}; {left} left"),
    );
    if *games > 0 {
        let text = format_args!("{games}, as the answers left in them are in other games");
        list.add("games taken out", text);
    }
    if *unknown > 0 {
        let text =
            format_args!("{unknown} of them, as the book does not know how often they are met");
        list.add("left unseen", text);
    }
    add_gaps("lines taken out", lines, list);
}

/// The expected score of a move.
fn brings(score: Option<f64>) -> String {
    score.map_or_else(
        || "not in the book".to_owned(),
        |score| format!("{:.1}%", 100.0 * score),
    )
}

/// The line before a move.
fn after(line: &Line) -> String {
    match line.plies() {
        0 => String::new(),
        _ => format!("  after {line}"),
    }
}

fn add_gaps(name: &str, gaps: &[Gap], list: &mut Table) {
    list.add(name, gaps.len());
    for gap in gaps.iter().take(SHOWN) {
        list.add(&format!("  {}", one_in(gap.probability)), &gap.line);
    }
}

fn to_json(
    args: &RepertoireArgs,
    summary: &RepertoireSummary,
    measured: Option<Measured>,
    differences: Option<&Differences>,
    trimmed: Option<&Trimmed>,
) -> serde_json::Value {
    let gaps = |gaps: &[Gap]| -> Vec<serde_json::Value> {
        let gap = |gap: &Gap| json!({"line": gap.line.to_string(), "uci": gap.line.uci_words(), "probability": gap.probability});
        gaps.iter().map(gap).collect()
    };
    let repair = |repair: &Repair| {
        let san = |mv| notation::san(repair.line.last(), mv);
        json!({
            "line": repair.line.to_string(), "uci": repair.line.uci_words(),
            "probability": repair.probability,
            "played": san(repair.played), "brings": repair.score,
            "better": san(repair.better), "would_bring": repair.better_score,
        })
    };
    let several = |several: &SeveralAnswers| {
        let answers = several.answers.iter().map(|answer| {
            json!({
                "san": notation::san(&several.position, answer.mv),
                "line": answer.line.to_string(), "uci": answer.line.uci_words(),
                "game": answer.game, "brings": answer.score,
            })
        });
        json!({
            "fen": notation::fen(&several.position), "probability": several.probability,
            "answers": answers.collect::<Vec<_>>(),
        })
    };
    let differences = differences.map(|found| {
        json!({
            "agreed": found.agreed,
            "several_answers": found.several.iter().map(several).collect::<Vec<_>>(),
            "repairs": found.repairs.iter().map(repair).collect::<Vec<_>>(),
            "without_a_move": gaps(&found.holes),
        })
    });
    json!({
        "colour": Color::from(args.colour).fold_wb("white", "black"),
        "expectation": summary.expectation,
        "held_back": args.hold_back,
        "measured": measured.map(|found| json!({
            "brings": found.score, "error": found.error, "all": found.all,
        })),
        "positions": summary.positions,
        "one_in": args.one_in,
        "coverage": summary.coverage,
        "depth": args.depth,
        "moves_a_game": summary.plies,
        "gaps": gaps(&summary.gaps),
        "differences": differences,
        "trimmed": trimmed.map(|found| json!({
            "moves": found.moves, "games": found.games, "left": found.left, "not_in_the_book": found.unknown,
            "lines": gaps(&found.lines),
        })),
    })
}
