//! `tabia learn`: sets learn values by the results of games.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use clap::Args;
use clap::builder::Resettable;

use super::mark_changes::{self, ChangeArgs};
use crate::cli::arguments::collection::{self, GameFilterArgs};
use crate::cli::arguments::common::PlayerColour;
use crate::cli::arguments::complete;
use crate::cli::files;
use crate::cli::print::style::counted;
use crate::cli::print::{made, progress};
use shakmaty::Color;
use tabia_book::mark;
use tabia_book::{BookEditor, Error, Field, Format};
use tabia_build::learn::{self, Counted, LearnOptions};
use tabia_choice::learn::{PLAY_STRENGTH, fallback_path, side_path, take_side_file};
use tabia_games::Sources;

/// Greatest number of changes shown by `--dry-run`.
const SHOWN: usize = 20;

/// Arguments of `learn`.
#[derive(Args, Debug)]
#[command(mut_arg("player_colour", |arg| arg
    .long("as")
    .alias(Resettable::Reset)
    .hide(true)))]
pub(crate) struct LearnArgs {
    /// The book
    #[arg(add = complete::books())]
    pub(crate) book: PathBuf,
    /// Games: .pgn, also .gz, .zst or .bz2; a folder with such files; or `-`
    #[arg(value_name = "SOURCE", add = complete::games(), required_unless_present = "from_side_file")]
    sources: Vec<PathBuf>,
    /// Also counts the games that adapters with `Book Learn` on have recorded beside
    /// the book, and deletes that file
    #[arg(long, help_heading = "Which games")]
    from_side_file: bool,
    /// Counts games that the player of the move has won [default: all results]
    #[arg(long, help_heading = "Which games")]
    wins: bool,
    /// Counts drawn games
    #[arg(long, help_heading = "Which games")]
    draws: bool,
    /// Counts games that the player of the move has lost
    #[arg(long, help_heading = "Which games")]
    losses: bool,
    /// Counts time forfeits, disconnects and illegal moves too
    #[arg(long, help_heading = "Which games")]
    forfeits: bool,
    /// The colour of that player; without --player only moves of this colour count
    #[arg(
        long,
        aliases = ["color", "side", "only"],
        value_name = "COLOUR",
        ignore_case = true,
        help_heading = "What is changed"
    )]
    colour: Option<PlayerColour>,
    #[command(flatten)]
    filter: GameFilterArgs,
    /// How much results change the values, 0 to 100
    #[arg(long, value_name = "N", default_value_t = PLAY_STRENGTH,
          value_parser = clap::value_parser!(u32).range(0..=100), help_heading = "What is changed")]
    strength: u32,
    /// Resets the learn values of the moves in the games first
    #[arg(long, help_heading = "What is changed")]
    fresh: bool,
    /// Plies of each game that are counted
    #[arg(
        long,
        aliases = ["plies", "max-plies", "depth"],
        value_name = "N",
        default_value_t = 1000,
        help_heading = "What is changed"
    )]
    max_ply: u16,
    #[command(flatten)]
    work: ChangeArgs,
    /// Shows all changes; --dry-run alone shows the first 20
    #[arg(long, help_heading = "Work")]
    list: bool,
}

pub(crate) const LEARN_EXAMPLES: &str = "Examples:\n  \
    tabia learn book.ctg games.pgn\n  \
    tabia learn book.ctg --player \"Smith, Jane\" --colour white --strength 80 games/\n  \
    tabia learn book.ctg --losses --colour black blitz.pgn.zst --dry-run\n  \
    tabia learn book.ctg --from-side-file\n\n\
    The learn value of each move of the book that was played changes by\n  \
    125 * (wins - losses) / (wins + draws + losses + 10) * strength / 50\n\
    rounded, where the numbers are those of its player in the games given, but not beyond \
    -120 and 120; values of -125 and 125 stay. With --player, only that player's moves \
    count. The order of games does not matter. Learning from the same games again changes the \
    values again (see --fresh). No move or position is added. The book before it is BOOK.bak.\n\n\
    In a Polyglot book its two learn counts grow, games and twice the points, as Polyglot \
    itself counts; strength plays no part.\n\n\
    Exit codes: 0 done; 1 parts of the book cannot be read; 2 nothing was changed.";

impl LearnArgs {
    fn counted(&self) -> Counted {
        let any = self.wins || self.draws || self.losses;
        let mut filter = self.filter.filter();
        filter.played_out = !self.forfeits;
        // Only the player's own moves count: in these games the moves of this colour.
        let colour = self.colour.map(Color::from);
        let of_player = colour.filter(|_| filter.player.is_some());
        filter.colour = filter.colour.or(of_player);
        Counted {
            filter,
            colour,
            wins: self.wins || !any,
            draws: self.draws || !any,
            losses: self.losses || !any,
            max_ply: self.max_ply.into(),
        }
    }

    fn learn_options(&self) -> LearnOptions {
        LearnOptions::default()
            .strength(self.strength)
            .fresh(self.fresh)
            .dry_run(self.work.dry_run)
            .shown(match (self.work.dry_run, self.list) {
                (_, true) => usize::MAX,
                (true, false) => SHOWN,
                (false, false) => 0,
            })
    }

    /// The side files to read; they are renamed first, unless nothing is changed.
    fn side_files(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        if !self.from_side_file {
            return Ok(files);
        }
        let side = side_path(&self.book);
        for path in std::iter::once(side.clone()).chain(fallback_path(&side)) {
            if self.work.dry_run {
                files.extend(path.exists().then_some(path));
            } else {
                let taken = take_side_file(&path);
                files.extend(taken.with_context(|| path.display().to_string())?);
            }
        }
        if files.is_empty() {
            message!("{}: no game has been recorded there", side.display());
        }
        Ok(files)
    }
}

pub(crate) fn run(args: &LearnArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let start = Instant::now();
    let format = Format::recognize(&args.book)?;
    let field = format.learn_field().ok_or_else(|| Error::Format {
        path: args.book.as_path().into(),
        format,
        what: "learn values",
    })?;
    ensure!(
        field == Field::LearnValue || args.strength == PLAY_STRENGTH,
        "--strength: a Polyglot book counts games and points as they are"
    );
    let editor = BookEditor::open(&args.book, &args.work.options())?;
    files::report_recovered(&editor);
    let book = editor.snapshot()?;
    let sources = Sources::list(&args.sources)?
        .with_password(args.filter.password.as_deref())
        .with_encoding(args.filter.encoding);
    let threads = collection::threads(None);
    let wanted = args.counted();
    let mut learned =
        progress::watched(|watch| learn::tally_games(&book, &sources, &wanted, threads, watch))??;
    collection::report(&learned.games);
    let taken = args.side_files()?;
    for path in &taken {
        let added = learned.add_side_file(path, &book);
        added.with_context(|| path.display().to_string())?;
    }
    let options = args.learn_options();
    let report = learned.teach(&editor, &book, options)?;
    if !args.work.dry_run {
        for path in &taken {
            fs::remove_file(path).with_context(|| path.display().to_string())?;
        }
    }
    if !args.work.dry_run && report.changed > 0 {
        files::report_kept(&args.book);
    }
    let shown = report.listed.len() as u64;
    progress::watched(|watch| {
        mark::show(&book, report.listed, watch, &mut |change| {
            mark_changes::write(change, args.work.json, out)
        })
    })??;
    let (games, skipped) = (learned.counted, learned.games.skipped);
    let (moves, changed, raised) = (learned.tallies.len(), report.changed, report.raised);
    if args.work.json {
        let summary = serde_json::json!({"summary": {
            "games": games, "skipped": skipped, "moves": moves,
            "changes": changed, "raised": raised, "changed": !args.work.dry_run,
        }});
        writeln!(out, "{summary}")?;
    } else if options.shown > 0 {
        mark_changes::write_rest(changed.saturating_sub(shown), out)?;
    }
    out.flush()?;
    let left_out = match skipped {
        0 => String::new(),
        skipped => format!("; {} skipped", counted(skipped, "game")),
    };
    let unread = book.unread();
    let lost = made::all_lost(&unread);
    summary!(
        "{}: {}, {moves} moves with results; {changed} learn values {}, {raised} of \
         them upwards, {:.2} s{left_out}{lost}",
        args.book.display(),
        counted(games, "game"),
        args.work.done(),
        start.elapsed().as_secs_f64(),
    );
    Ok(u8::from(unread.is_loss()))
}
