//! `tabia learn`: learn values from the results of games.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use shakmaty::Color;

use super::args::PlayerColour;
use super::{changes, progress};
use crate::book::ctg::EditOptions;
use crate::games::{EcoRange, Filter, Skipped};
use crate::learn::{self, Counted, Lesson, Method, Taught};
use crate::mark::{self, MarkError};

/// So many changes are shown by `--dry-run`.
const SHOWN: usize = 20;

/// So many skipped games are named.
const NAMED: u64 = 10;

/// Arguments of `learn`.
#[derive(Args, Debug)]
pub(super) struct LearnArgs {
    /// The book
    pub(super) book: PathBuf,
    /// Games: .pgn, also .gz, .zst or .bz2; a folder with such files; or `-`
    #[arg(value_name = "SOURCE", required_unless_present = "from_side_file")]
    sources: Vec<PathBuf>,
    /// Also the games that adapters with `Book Learn` on have noted beside the
    /// book; they are then in the book and no longer in that file
    #[arg(long)]
    from_side_file: bool,
    /// Counts games that the player of the move has won [default: all results]
    #[arg(long)]
    wins: bool,
    /// Counts drawn games
    #[arg(long)]
    draws: bool,
    /// Counts games that the player of the move has lost
    #[arg(long)]
    losses: bool,
    /// Only moves of this side
    #[arg(long, alias = "color", value_name = "COLOUR")]
    colour: Option<PlayerColour>,
    /// Only games of a player, and only his moves; every word must be in the name
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// The colour of that player
    #[arg(long = "as", value_name = "COLOUR", requires = "player")]
    player_colour: Option<PlayerColour>,
    /// How far results move the values, 0 to 100
    #[arg(long, value_name = "N", default_value_t = learn::PLAY_STRENGTH,
          value_parser = clap::value_parser!(u32).range(0..=100))]
    strength: u32,
    /// Forgets the old values of the moves that the games say something about
    #[arg(long)]
    fresh: bool,
    /// Plies of each game that are looked at
    #[arg(long, value_name = "N", default_value_t = 1000)]
    max_ply: u16,
    /// Only games in which one player has this rating or more
    #[arg(long, value_name = "N")]
    min_elo: Option<u16>,
    /// Only games in which both players have this rating or more
    #[arg(long, value_name = "N")]
    both_elo: Option<u16>,
    /// Only games of this year or later
    #[arg(long, value_name = "YEAR")]
    since: Option<u16>,
    /// Only games of this year or before
    #[arg(long, value_name = "YEAR")]
    until: Option<u16>,
    /// Only games of these openings: B20-B99, C57, D; several with commas
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    eco: Vec<EcoRange>,
    /// Shows what would change and changes nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
    /// Shows all changes; --dry-run alone shows the first 20
    #[arg(long)]
    list: bool,
    /// Prints one JSON object for each change that is shown, then a summary
    #[arg(long)]
    json: bool,
    /// How long to wait for another program that changes the book
    #[arg(long, value_name = "SECONDS", default_value_t = 3)]
    wait: u64,
}

pub(super) const LEARN_EXAMPLES: &str = "Examples:\n  \
    tabia learn book.ctg games.pgn\n  \
    tabia learn book.ctg --player \"Smith, Jane\" --as white --strength 80 games/\n  \
    tabia learn book.ctg --losses --colour black blitz.pgn.zst --dry-run\n  \
    tabia learn book.ctg --from-side-file\n\n\
    Each move of the book that was played moves its learn value by\n  \
    125 * (wins - losses) / (wins + draws + losses + 10) * strength / 50\n\
    rounded, where the numbers are those of its player in the games given, but not beyond \
    -120 and 120; values of -125 and 125 stay. The order of games does not matter. Learning from the same games once more \
    moves the values once more (see --fresh). No move or position is added.\n\n\
    Exit codes: 0 done; 2 nothing was changed.";

fn colour(colour: Option<PlayerColour>) -> Option<Color> {
    colour.map(|colour| match colour {
        PlayerColour::White => Color::White,
        PlayerColour::Black => Color::Black,
    })
}

impl LearnArgs {
    fn counted(&self) -> Counted {
        let any = self.wins || self.draws || self.losses;
        Counted {
            filter: Filter {
                min_elo: self.min_elo,
                both_elo: self.both_elo,
                since: self.since,
                until: self.until,
                player: self.player.clone(),
                colour: colour(self.player_colour),
                result: None,
                eco: self.eco.clone(),
            },
            colour: colour(self.colour),
            wins: self.wins || !any,
            draws: self.draws || !any,
            losses: self.losses || !any,
            max_ply: self.max_ply.into(),
        }
    }

    /// The side files to be read; set aside, unless nothing is to be changed.
    fn side_files(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        if !self.from_side_file {
            return Ok(files);
        }
        let side = learn::side_path(&self.book);
        for path in std::iter::once(side.clone()).chain(learn::fallback_path(&side)) {
            if self.dry_run {
                files.extend(path.exists().then_some(path));
            } else {
                let taken = learn::take_aside(&path);
                files.extend(taken.with_context(|| path.display().to_string())?);
            }
        }
        if files.is_empty() {
            say(&format!("{}: no game has been noted there", side.display()));
        }
        Ok(files)
    }
}

pub(super) fn run(args: &LearnArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let start = Instant::now();
    let options = EditOptions {
        wait: Duration::from_secs(args.wait),
        ..EditOptions::default()
    };
    let mut editor = mark::open(&args.book, &options)?;
    let book = editor.snapshot()?;
    let shown = match (args.dry_run, args.list) {
        (_, true) => usize::MAX,
        (true, false) => SHOWN,
        (false, false) => 0,
    };
    let method = Method {
        strength: args.strength,
        fresh: args.fresh,
        dry_run: args.dry_run,
        told: shown,
    };
    let mut lesson = Lesson::default();
    let mut named = 0;
    let taught = progress::watched(|watch| -> anyhow::Result<Taught> {
        let mut skip = |game: Skipped| {
            named += 1;
            if named <= NAMED {
                say(&game.to_string());
            }
        };
        lesson.add_sources(&book, &args.sources, &args.counted(), watch, &mut skip)?;
        let taken = args.side_files()?;
        for path in &taken {
            lesson.add_side_file(path)?;
        }
        let mut taught = lesson.teach(&mut editor, &book, method)?;
        if !args.dry_run {
            for path in &taken {
                fs::remove_file(path).with_context(|| path.display().to_string())?;
            }
        }
        let noted = std::mem::take(&mut taught.noted);
        mark::tell(&book, noted, watch, &mut |told| {
            Ok::<_, MarkError>(changes::write(told, args.json, out)?)
        })?;
        Ok(taught)
    })??;
    let Lesson {
        tallies,
        games,
        skipped,
    } = lesson;
    let moves = tallies.len();
    let Taught {
        changed, raised, ..
    } = taught;
    if args.json {
        let summary = serde_json::json!({"summary": {
            "games": games, "skipped": skipped, "moves": moves,
            "changes": changed, "raised": raised, "changed": !args.dry_run,
        }});
        writeln!(out, "{summary}")?;
    } else if shown > 0 {
        changes::write_rest(changed.saturating_sub(shown as u64), out)?;
    }
    out.flush()?;
    let left_out = match skipped {
        0 => String::new(),
        1 => "; 1 game skipped".to_owned(),
        n => format!("; {n} games skipped"),
    };
    say(&format!(
        "{}: {games} games, {moves} moves with results; {changed} learn values {}, {raised} of \
         them upwards, {:.2} s{left_out}",
        args.book.display(),
        if args.dry_run {
            "would change"
        } else {
            "changed"
        },
        start.elapsed().as_secs_f64(),
    ));
    Ok(0)
}

fn say(text: &str) {
    // Nothing can be done about a closed standard error.
    let _ = writeln!(super::messages(), "{text}");
}
