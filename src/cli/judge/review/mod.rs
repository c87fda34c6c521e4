//! `tabia review`: the results of a book in played games.

mod print;
mod record;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;

use crate::cli::arguments::collection::{self, ReachArgs};
use crate::cli::arguments::common::{self, Force, PlayerColour};
use crate::cli::arguments::complete;
use crate::cli::files;
use crate::cli::judge::evaluations::{self, Form};
use crate::cli::print::report::review as page;
use crate::cli::print::style::counted;
use crate::cli::print::{made, progress};
use shakmaty::Color;
use tabia_analysis::departures::ChosenMoves;
use tabia_analysis::review::{self, Reviewed};
use tabia_analysis::studies::{self, Followed, GameInStudies, LeftStudies, Studies};
use tabia_book::evals::epd;
use tabia_choice::settings::Options;
use tabia_io::atomic;
use tabia_io::input::path::file_name;
use tabia_io::progress::Watch;
use tabia_io::sanitize::shell_word;

/// The text of `tabia review --help` after the arguments.
pub(crate) const AFTER_HELP: &str = "Examples:\n  \
    tabia review games.pgn --book main.ctg\n  \
    tabia review match.pgn --book main.ctg --player \"Book\"\n  \
    tabia review match.pgn --book main.ctg --player Book --report match.html\n  \
    tabia review match.pgn --book main.ctg --player Book --save-evals match.epd\n  \
    tabia review match.pgn --book main.ctg --player Book --games record.csv\n  \
    tabia review --player \"Me\" --colour black mine.pgn repertoire.ctg\n  \
    tabia review round.pgn --player Me --white-study white.pgn --black-study black.pgn\n\n\
    Results and values are those of the player; without --player of White. The engine's \
    values come from the comments of cutechess and fastchess (+0.35/21 3.2s, seen by the \
    mover) or lichess ([%eval 0.35], seen by White).\n\n\
    With --colour the book is the repertoire of that colour (its green moves, else those it \
    plays): where the player and the opponents left it, most frequent first, and where it has \
    several green moves.\n\n\
    Commands for the next step are printed at the end: `tabia learn` with the same games, and `tabia audit` \
    with values. The values of --save-evals are the engine's own; those of positions that the \
    book holds are taken by `tabia evaluate --import`.\n\n\
    Exit codes: 0 done; 1 parts of the book cannot be read; 2 the games or the book cannot be \
    read, or the player has no game.";

/// Arguments of `review`.
#[derive(Args, Debug)]
pub(crate) struct ReviewArgs {
    /// Games that were played
    #[arg(value_name = "GAMES", add = complete::games())]
    games: PathBuf,
    /// The book
    #[arg(value_name = "BOOK", add = complete::books(),
          required_unless_present_any = ["book", "white_study", "black_study"])]
    second: Option<PathBuf>,
    /// The book, too
    #[arg(long, value_name = "BOOK", add = complete::books(), conflicts_with = "second")]
    book: Option<PathBuf>,
    /// Only games of this player, seen by him; every word must be in the name
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// Only games with this colour, for which the book is the repertoire
    #[arg(long, aliases = common::COLOUR, value_name = "COLOUR", ignore_case = true)]
    colour: Option<PlayerColour>,
    /// Instead of a book: a study (PGN) of the player's repertoire with White, or several.
    /// Shows of each game how far it was followed, who left it, and the chapter
    #[arg(long, value_name = "STUDY.pgn", add = complete::games(), requires = "player",
          conflicts_with_all = ["second", "book", "colour", "training", "record", "report",
                                "save_evals", "forfeits", "line", "fen"])]
    white_study: Vec<PathBuf>,
    /// The same with Black
    #[arg(long, value_name = "STUDY.pgn", add = complete::games(), requires = "player",
          conflicts_with_all = ["second", "book", "colour", "training", "record", "report",
                                "save_evals", "forfeits", "line", "fen"])]
    black_study: Vec<PathBuf>,
    /// The training file saved by the page of `tabia explore`: if the repertoire has
    /// several moves, the one chosen there is the player's
    #[arg(long, value_name = "FILE.json", requires = "colour")]
    training: Option<PathBuf>,
    /// The record of these games by adapters (`tabia --games FILE.csv`): restarts,
    /// misses and books are shown with the results
    #[arg(long = "games", value_name = "FILE.csv")]
    record: Option<PathBuf>,
    /// Counts time forfeits, disconnects and illegal moves too
    #[arg(long)]
    forfeits: bool,
    #[command(flatten)]
    reach: ReachArgs,
    /// The review as one JSON object
    #[arg(long)]
    json: bool,
    /// Writes the review to a file as well: .html with plots and diagrams, or
    /// .json
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Writes the engine's first values after the book to a file (EPD), for
    /// `tabia evaluate --import`
    #[arg(long, value_name = "FILE")]
    save_evals: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

/// Shows the games of a round beside the player's own studies.
fn beside_studies(args: &ReviewArgs, player: &str, out: &mut impl Write) -> anyhow::Result<u8> {
    let read = |paths: &[PathBuf]| -> anyhow::Result<Option<Studies>> {
        if paths.is_empty() {
            return Ok(None);
        }
        let studies = progress::watched(|watch| Studies::read(paths, watch))??;
        collection::report(&studies.tally);
        Ok(Some(studies))
    };
    let studies = [read(&args.white_study)?, read(&args.black_study)?];
    let followed = |watch: &mut Watch<'_>| studies::follow(&args.games, player, &studies, watch);
    let Followed {
        games,
        without_studies,
        others,
        tally,
    } = progress::watched(followed)??;
    collection::report(&tally);
    if games.is_empty() {
        bail!(
            "{}: no game of {player} with a colour that has a study",
            args.games.display()
        );
    }
    if args.json {
        writeln!(
            out,
            "{}",
            serde_json::json!({
                "games": games,
                "without_studies": without_studies,
                "others": others
            })
        )?;
        return Ok(0);
    }
    for game in &games {
        writeln!(out, "{}", in_studies(game, player))?;
    }
    let left_out = match without_studies {
        0 => String::new(),
        games => format!("; {games} with a colour without a study left out"),
    };
    writeln!(
        out,
        "{}{left_out}; {others} of others",
        counted(games.len() as u64, "game")
    )?;
    Ok(0)
}

/// In the form `Me - Other (round 3): 12 plies; Other left with 7.h4, not Be2 or f3: Najdorf
/// https://...`.
fn in_studies(game: &GameInStudies, player: &str) -> String {
    let [white, black] = &game.players;
    let round = match game.round.as_str() {
        "" | "-" => String::new(),
        round => format!(" (round {round})"),
    };
    let opponent = game.colour.fold_wb(black, white);
    let played = game.played.as_deref().unwrap_or_default();
    let instead = match game.instead.as_slice() {
        [] => String::new(),
        moves => format!(", not {}", moves.join(" or ")),
    };
    let how = match game.left {
        LeftStudies::Player => format!("{player} left with {played}{instead}"),
        LeftStudies::Opponent => format!("{opponent} left with {played}{instead}"),
        LeftStudies::Ended => format!("no answer to what follows, {played} was played"),
        LeftStudies::Never => "to the end of the game".to_owned(),
    };
    let chapter = game.chapter.as_ref().map_or_else(String::new, |chapter| {
        let link = chapter
            .link
            .as_deref()
            .map_or_else(String::new, |link| format!(" {link}"));
        format!(": {}{link}", chapter.name)
    });
    let plies = counted(game.plies as u64, "ply").replace("plys", "plies");
    format!("{white} - {black}{round}: {plies} in the repertoire; {how}{chapter}")
}

pub(crate) fn run(args: &ReviewArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    if let (Some(player), true) = (&args.player, args.has_studies()) {
        return beside_studies(args, player, out);
    }
    let mut taken = vec![&*args.games, args.book()];
    for path in args.report.iter().chain(&args.save_evals) {
        atomic::check_apart(path, &taken)?;
        atomic::check(path, &[], args.force.old())?;
        taken.push(path);
    }
    let form = args.report.as_deref().map(evaluations::form).transpose()?;
    if let (Some(path), Some(Form::Markdown)) = (&args.report, &form) {
        bail!("{}: a report is .html or .json", path.display());
    }
    let (opened, book) = files::open_as_played(args.book(), &Options::default(), false)?;
    let colour = args.colour.map(Color::from);
    let chosen = args.chosen(colour)?;
    let mut whose = Reviewed::default();
    whose.player = args.player.as_deref();
    whose.colour = colour;
    whose.chosen = chosen.as_ref();
    whose.forfeits = args.forfeits;
    let reaches = args.reach.position()?;
    whose.reaches = reaches.as_ref();
    let report = progress::watched(|watch| review::report(&args.games, &*book, whose, watch))??;
    let joined = args
        .record
        .as_deref()
        .map(|path| record::join(path, &report.games, args.player.is_some()));
    let joined = joined.transpose()?;
    let next = args.next();
    if let (Some(path), Some(form)) = (&args.report, form) {
        let title = format!("Review of {}", args.book().display());
        let text = match form {
            Form::Json => serde_json::to_string_pretty(&report)? + "\n",
            Form::Html | Form::Markdown => page::html(&title, &report, &next),
        };
        atomic::write(path, text.as_bytes(), args.force.old())?;
    }
    if let Some(path) = &args.save_evals {
        let mut text = String::new();
        for (position, evaluation) in &report.found {
            epd::write(position, evaluation, &mut text);
        }
        atomic::write(path, text.as_bytes(), args.force.old())?;
    }
    match args.json {
        true => {
            let mut value = serde_json::to_value(&report)?;
            if let (Some(joined), Some(object)) = (&joined, value.as_object_mut()) {
                object.insert("record".to_owned(), serde_json::to_value(joined)?);
            }
            writeln!(out, "{value}")?;
        }
        false => {
            print::print(&report, out)?;
            if let Some(joined) = &joined {
                joined.print(out)?;
            }
            writeln!(out, "\nnext:")?;
            for line in &next {
                writeln!(out, "  {line}")?;
            }
        }
    }
    Ok(made::left_out(&opened))
}

impl ReviewArgs {
    fn has_studies(&self) -> bool {
        !self.white_study.is_empty() || !self.black_study.is_empty()
    }

    fn book(&self) -> &Path {
        let named = self.book.as_ref().or(self.second.as_ref());
        named.map_or(Path::new(""), PathBuf::as_path)
    }

    /// The moves in the training file, for the book and the colour.
    fn chosen(&self, colour: Option<Color>) -> anyhow::Result<Option<ChosenMoves>> {
        let (Some(path), Some(colour)) = (&self.training, colour) else {
            return Ok(None);
        };
        let text = std::fs::read_to_string(path);
        let text = text.with_context(|| path.display().to_string())?;
        let chosen = ChosenMoves::from_training(&text, &file_name(self.book()), colour);
        let reason = "this is not a training file of the page of tabia explore";
        let chosen = chosen.with_context(|| format!("{}: {reason}", path.display()))?;
        Ok(Some(chosen))
    }

    /// Commands that are useful next.
    fn next(&self) -> Vec<String> {
        let word = |path: &Path| shell_word(&path.display().to_string());
        let (book, games) = (word(self.book()), word(&self.games));
        let player = self.player.as_deref();
        let player = player.map_or_else(String::new, |name| {
            format!(" --player {}", shell_word(name))
        });
        let values = match &self.save_evals {
            Some(path) => format!("--import {}", word(path)),
            None => "--engine stockfish".to_owned(),
        };
        vec![
            format!("tabia learn {book} {games}{player} --dry-run"),
            format!("tabia evaluate {book} {values}"),
            format!("tabia audit {book} --report audit.html"),
        ]
    }
}
