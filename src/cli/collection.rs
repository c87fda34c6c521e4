//! What all commands have in common that read collections of games: which
//! games count, the bar, and what is said of the others.

use std::io::Write as _;
use std::num::NonZeroU16;

use clap::Args;
use shakmaty::Color;

use super::args::PlayerColour;
use crate::games::{self, Band, EcoRange, Filter, GameResult, Speed, Tally, Title};

/// Conditions on games. A game must meet all that are given.
#[derive(Args, Debug)]
pub(super) struct GameFilter {
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
    /// Only games of a player; every word must be in the name, in any order
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// The colour of that player
    #[arg(
        long = "as",
        value_name = "COLOUR",
        requires = "player",
        ignore_case = true
    )]
    player_colour: Option<PlayerColour>,
    /// Only games that ended so: 1-0, 0-1 or 1/2-1/2
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
    /// Only rated games (of lichess: it says so in the event)
    #[arg(long)]
    rated: bool,
    /// Only games in which a player has one of these titles, as GM,IM,WGM,BOT
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = title)]
    title: Vec<Title>,
    /// Leaves out games of a player; may be given several times
    #[arg(long, value_name = "NAME")]
    not_player: Vec<String>,
    /// Only games that somebody won
    #[arg(long)]
    decisive: bool,
    /// The password of encrypted archives (.cbz)
    #[arg(long, value_name = "TEXT")]
    pub(super) password: Option<String>,
}

impl GameFilter {
    pub(super) fn filter(&self) -> Filter {
        Filter {
            min_elo: self.min_elo,
            both_elo: self.both_elo,
            since: self.since,
            until: self.until,
            player: self.player.clone(),
            colour: self.player_colour.map(Color::from),
            result: self.result,
            eco: self.eco.clone(),
            elo_band: self.elo_band,
            max_elo_diff: self.max_elo_diff,
            speeds: self.speeds.clone(),
            rated: self.rated,
            titles: self.title.clone(),
            not_players: self.not_player.clone(),
            decisive: self.decisive,
        }
    }
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

/// Threads that were asked for, or one for each processor.
pub(super) fn threads(wanted: Option<NonZeroU16>) -> usize {
    match wanted {
        Some(threads) => threads.get().into(),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    }
}

/// Names the first games that were skipped or cut short, and says what is to be
/// said of the sources.
pub(super) fn report(tally: &Tally, most: usize) {
    let mut stderr = super::messages();
    for skipped in tally.named.iter().take(most) {
        let _ = writeln!(stderr, "{skipped}");
    }
    let unnamed = (tally.skipped + tally.cut).saturating_sub(most as u64);
    if unnamed > 0 {
        let _ = writeln!(stderr, "... and {unnamed} more");
    }
    for remark in &tally.remarks {
        let _ = writeln!(stderr, "{remark}");
    }
}

/// The counts that are not zero, each behind a semicolon.
pub(super) fn counts<const N: usize>(counts: [(u64, &str); N]) -> String {
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    counts
        .map(|(count, what)| format!("; {count} {what}"))
        .collect()
}
