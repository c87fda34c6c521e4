//! `tabia learn`: learn values from the results of games.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use shakmaty::Color;

use super::args::PlayerColour;
use crate::book::ctg::{Applied, EditOptions, Editor, Key, MarkEdit};
use crate::games::{self, EcoRange, Filter, Skipped};
use crate::learn::{self, Counted, SideFile, Tally};

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

pub(super) fn run(args: &LearnArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    super::convert::only_ctg(&args.book)?;
    let start = Instant::now();
    let options = EditOptions {
        wait: Duration::from_secs(args.wait),
        ..EditOptions::default()
    };
    let mut editor = Editor::open(&args.book, &options)?;
    let stop = super::stopped_by_ctrl_c()?;
    let book = editor.snapshot()?;
    let any = args.wins || args.draws || args.losses;
    let counted = Counted {
        filter: Filter {
            min_elo: args.min_elo,
            both_elo: args.both_elo,
            since: args.since,
            until: args.until,
            player: args.player.clone(),
            colour: colour(args.player_colour),
            result: None,
            eco: args.eco.clone(),
        },
        colour: colour(args.colour),
        wins: args.wins || !any,
        draws: args.draws || !any,
        losses: args.losses || !any,
        max_ply: args.max_ply.into(),
    };
    let mut tallies: HashMap<Key, Tally> = HashMap::new();
    let mut games = 0;
    let mut skipped = 0_u64;
    let mut seen = HashSet::new();
    for named in &args.sources {
        for path in games::files(named, &mut seen)? {
            let mut opened = games::open(&path)?;
            let mut skip = |game: Skipped| {
                skipped += 1;
                if skipped <= NAMED {
                    say(&game.to_string());
                }
            };
            let source = &mut *opened.source;
            games += learn::tally_games(&book, source, &counted, &stop, &mut tallies, &mut skip)?;
        }
    }
    let taken = args.side_files()?;
    for path in &taken {
        let mut side = SideFile::default();
        side.refresh(path)
            .with_context(|| path.display().to_string())?;
        games += side.games;
        skipped += side.bad_lines;
        for (key, tally) in side.tallies {
            let sum = tallies.entry(key).or_default();
            sum.wins = sum.wins.saturating_add(tally.wins);
            sum.draws = sum.draws.saturating_add(tally.draws);
            sum.losses = sum.losses.saturating_add(tally.losses);
        }
    }
    let (changed, raised) = args.change(&mut editor, &book, &tallies, out)?;
    if !args.dry_run {
        for path in &taken {
            fs::remove_file(path).with_context(|| path.display().to_string())?;
        }
    }
    let left_out = match skipped {
        0 => String::new(),
        n => format!("; {n} games skipped"),
    };
    say(&format!(
        "{}: {games} games, {} moves with results; {changed} learn values {}, {raised} of them \
         upwards, {:.2} s{left_out}",
        args.book.display(),
        tallies.len(),
        if args.dry_run {
            "would change"
        } else {
            "changed"
        },
        start.elapsed().as_secs_f64(),
    ));
    Ok(0)
}

impl LearnArgs {
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

    /// Changes the values; how many, and how many of them upwards.
    fn change(
        &self,
        editor: &mut Editor,
        book: &crate::book::ctg::CtgBook,
        tallies: &HashMap<Key, Tally>,
        out: &mut impl Write,
    ) -> anyhow::Result<(u64, u64)> {
        let mut batch = editor.batch();
        let (mut changed, mut raised) = (0, 0);
        // In the order of the file pages are written once.
        let mut entries = Vec::with_capacity(tallies.len());
        for (key, tally) in tallies {
            // Positions of a side file may have left the book.
            entries.extend(book.entry_of(key)?.map(|entry| (entry, *tally)));
        }
        entries.sort_by_key(|(entry, _)| entry.place.file_offset());
        for (entry, tally) in entries {
            let old = entry.record.factor.saturating_neg();
            let new = tally.learned(if self.fresh { 0 } else { old }, self.strength);
            let edit = MarkEdit {
                factor: Some(new),
                ..MarkEdit::default()
            };
            entry.touches(&edit, |touch| {
                changed += 1;
                raised += u64::from(new > old);
                if self.dry_run && changed <= 20 {
                    let Tally {
                        wins,
                        draws,
                        losses,
                    } = tally;
                    let _ = writeln!(
                        out,
                        "byte {}: factor {old:+} -> {new:+} (+{wins} ={draws} -{losses})",
                        touch.offset
                    );
                }
                batch.set(&touch)
            })?;
        }
        if !self.dry_run {
            let _: Applied = editor.commit(batch)?;
        }
        out.flush()?;
        Ok((changed, raised))
    }
}

fn say(text: &str) {
    // Nothing can be done about a closed standard error.
    let _ = writeln!(super::messages(), "{text}");
}
