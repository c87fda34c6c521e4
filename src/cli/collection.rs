//! Code shared by all commands that read games: the conditions on games, and the report
//! on games that were left out.

use std::fmt::Display;
use std::num::NonZeroU16;

use clap::Args;
use shakmaty::{Chess, Color};

use super::args::PlayerColour;
use tabia_games::{
    self as games, Band, EcoRange, GameFilter, GameResult, Month, Speed, Tally, TextEncoding, Title,
};

/// Conditions on games. A game must meet all that are given.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Which games")]
pub(super) struct GameFilterArgs {
    /// Only games in which one player has this rating or more
    #[arg(long, value_name = "N")]
    min_elo: Option<u16>,
    /// Only games in which both players have this rating or more
    #[arg(long, value_name = "N")]
    both_elo: Option<u16>,
    /// Only games of this year or month (2025, 2025-01) or later
    #[arg(long, value_name = "YEAR[-MONTH]", value_parser = Month::range)]
    since: Option<(Month, Month)>,
    /// Only games of this year or month or before
    #[arg(long, value_name = "YEAR[-MONTH]", value_parser = Month::range)]
    until: Option<(Month, Month)>,
    /// Only games of a player; every word must be in the name, in any order
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// The colour of that player
    #[arg(
        long = "colour",
        aliases = ["color", "as"],
        value_name = "COLOUR",
        requires = "player",
        ignore_case = true
    )]
    player_colour: Option<PlayerColour>,
    /// Only games with this result: 1-0, 0-1 or 1/2-1/2
    #[arg(long, value_name = "RESULT", value_parser = result)]
    result: Option<GameResult>,
    /// Only games of these openings: B20-B99, C57, D; several with commas
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    eco: Vec<EcoRange>,
    /// Only games whose players' mean rating is in these bounds, as 1800..2000
    #[arg(long, value_name = "LO..HI")]
    elo_band: Option<Band>,
    /// Only games of players whose ratings differ by this at most
    #[arg(long, value_name = "N")]
    max_elo_diff: Option<u16>,
    /// Only games of these speeds, as lichess divides them: ultrabullet, bullet,
    /// blitz, rapid, classical, correspondence; several with commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    speeds: Vec<Speed>,
    /// Only games of these rating groups, as lichess divides them by the mean of
    /// both players: 0, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2500; several
    /// with commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    ratings: Vec<u16>,
    /// Only rated games (of lichess: by the name of the event)
    #[arg(long)]
    rated: bool,
    /// Only games in which a player has one of these titles, as GM,IM,WGM,BOT
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = title)]
    title: Vec<Title>,
    /// Leaves out games of a player; may be given several times
    #[arg(long, value_name = "NAME")]
    not_player: Vec<String>,
    /// Only games that were not drawn
    #[arg(long)]
    decisive: bool,
    /// The password of encrypted archives (.cbz)
    #[arg(long, value_name = "TEXT")]
    pub(super) password: Option<String>,
    /// The encoding of names and comments that are not UTF-8, for old files: windows-1251,
    /// koi8-r, cp866, cp437, cp850, gbk and others [default: Windows-1252]
    #[arg(long, value_name = "NAME")]
    pub(super) encoding: Option<TextEncoding>,
}

impl GameFilterArgs {
    pub(super) fn filter(&self) -> GameFilter {
        let mut filter = GameFilter::default();
        filter.min_elo = self.min_elo;
        filter.both_elo = self.both_elo;
        filter.since = self.since.map(|(first, _)| first);
        filter.until = self.until.map(|(_, last)| last);
        filter.player = self.player.clone();
        filter.colour = self.player_colour.map(Color::from);
        filter.result = self.result;
        filter.eco = self.eco.clone();
        filter.elo_band = self.elo_band;
        filter.max_elo_diff = self.max_elo_diff;
        filter.speeds = self.speeds.clone();
        filter.groups = self.ratings.iter().copied().map(games::group_of).collect();
        filter.rated = self.rated;
        filter.titles = self.title.clone();
        filter.not_players = self.not_player.clone();
        filter.decisive = self.decisive;
        filter
    }

    /// The colour, if no player is named.
    pub(super) fn colour_without_player(&self) -> Option<PlayerColour> {
        self.player_colour.filter(|_| self.player.is_none())
    }

    /// The conditions as they would be typed.
    pub(super) fn words(&self) -> String {
        fn one(name: &str, value: Option<impl Display>) -> Option<String> {
            value.map(|value| format!("--{name} {value}"))
        }
        fn list(name: &str, values: &[impl ToString]) -> Option<String> {
            let words: Vec<String> = values.iter().map(ToString::to_string).collect();
            one(name, Some(words.join(",")).filter(|_| !words.is_empty()))
        }
        let quoted = |text: &String| format!("\"{text}\"");
        let flag = |name: &str, is_set: bool| is_set.then(|| format!("--{name}"));
        let filter = self.filter();
        let colour = filter.colour.filter(|_| filter.player.is_some());
        let titles = filter.titles.iter().map(|title| {
            let title = String::from_utf8_lossy(title);
            title.trim_end_matches('\0').to_owned()
        });
        let not_players = filter.not_players.iter();
        [
            one("min-elo", filter.min_elo),
            one("both-elo", filter.both_elo),
            one("since", filter.since),
            one("until", filter.until),
            one("player", filter.player.as_ref().map(quoted)),
            one(
                "colour",
                colour.map(|colour| colour.fold_wb("white", "black")),
            ),
            one("result", filter.result.map(GameResult::to_pgn)),
            one("elo-band", filter.elo_band),
            one("max-elo-diff", filter.max_elo_diff),
            list("eco", &filter.eco),
            list("speeds", &filter.speeds),
            list("ratings", &filter.groups),
            flag("rated", filter.rated),
            list("title", &titles.collect::<Vec<_>>()),
        ]
        .into_iter()
        .chain(not_players.map(|name| one("not-player", Some(quoted(name)))))
        .chain([flag("decisive", filter.decisive)])
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
    }
}

/// The position that a game must reach.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Which games")]
pub(super) struct ReachArgs {
    /// Only games that reach the position after this line, in any order of moves, as
    /// "1.e4 c5", within the plies that are read
    #[arg(long, visible_alias = "moves", value_name = "MOVES")]
    line: Option<String>,
    /// Only games that reach this position; with --line that after the line from here
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
}

impl ReachArgs {
    /// The position, if one is given.
    pub(super) fn position(&self) -> anyhow::Result<Option<Chess>> {
        if self.line.is_none() && self.fen.is_none() {
            return Ok(None);
        }
        let fen = self.fen.as_deref().unwrap_or_default();
        let line = super::line_from(fen, self.line.as_deref().unwrap_or_default())?;
        Ok(Some(line.last().clone()))
    }
}

/// The conditions as they would be typed, with the position that a game must reach.
pub(super) fn with_reach(words: String, reaches: Option<&Chess>) -> String {
    let position = reaches.map(|position| format!("--fen \"{}\"", tabia_notation::fen(position)));
    let parts = [Some(words).filter(|words| !words.is_empty()), position];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Reads `--title`.
fn title(text: &str) -> Result<Title, String> {
    let found = games::title(text.as_bytes()).filter(|title| *title != Title::default());
    found.ok_or_else(|| "expected a title as GM, IM, WGM or BOT".to_owned())
}

/// Reads `--result`.
fn result(text: &str) -> Result<GameResult, String> {
    match GameResult::from_pgn(text.as_bytes()) {
        GameResult::Unknown if text != "*" => Err("expected 1-0, 0-1 or 1/2-1/2".to_owned()),
        result => Ok(result),
    }
}

/// How the work is done, and what is reported.
#[derive(Args, Debug)]
#[command(next_help_heading = "Work")]
pub(super) struct WorkArgs {
    /// Threads that count [default: one for each processor]
    #[arg(long, value_name = "N")]
    pub(super) threads: Option<NonZeroU16>,
    /// Memory for counting, as 64M or 2G; what does not fit is sorted on disk
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = super::args::size)]
    pub(super) memory: u64,
    /// Folder for temporary files [default: that of the file to be written]
    #[arg(long, value_name = "FOLDER")]
    pub(super) temp: Option<std::path::PathBuf>,
    /// Prints one JSON object with the numbers of the result and of the games
    #[arg(long)]
    pub(super) json: bool,
    /// Ends with exit code 1 when games were skipped
    #[arg(long)]
    pub(super) strict: bool,
}

/// The requested number of threads, or one for each processor.
pub(super) fn threads(wanted: Option<NonZeroU16>) -> usize {
    match wanted {
        Some(threads) => threads.get().into(),
        None => tabia_io::parallel::threads(),
    }
}

/// Greatest number of skipped games in the report.
const NAMED: usize = 20;

/// The exit code: with `--strict`, skipped or incomplete games, unreadable parts of
/// sources and games that contradict themselves are a negative answer.
pub(super) fn exit_code(strict: bool, tally: &Tally) -> u8 {
    let sources = tally.cut_sources + tally.contradictory_sources;
    u8::from(strict && tally.skipped + tally.cut + sources > 0)
}

/// Reports the first skipped or incomplete games, and prints the remarks about the
/// sources.
pub(super) fn report(tally: &Tally) {
    for skipped in tally.named.iter().take(NAMED) {
        message!("{skipped}");
    }
    let unnamed = (tally.skipped + tally.cut).saturating_sub(NAMED as u64);
    if unnamed > 0 {
        message!("... and {unnamed} more");
    }
    for remark in &tally.remarks {
        message!("{remark}");
    }
}

/// The counts that are not zero, each after a semicolon.
pub(super) fn counts<const N: usize>(counts: [(u64, &str); N]) -> String {
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    counts
        .map(|(count, what)| {
            let (noun, rest) = what.split_once(' ').unwrap_or((what, ""));
            let noun = match count {
                1 => noun.strip_suffix('s').unwrap_or(noun),
                _ => noun,
            };
            format!("; {}", format!("{count} {noun} {rest}").trim_end())
        })
        .collect()
}

/// Text with the number of rejected games without a rating.
pub(super) fn unrated(tally: &Tally) -> String {
    match tally.unrated {
        0 => String::new(),
        count => format!(" ({count} of them without a rating)"),
    }
}
