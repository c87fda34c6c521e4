//! Parses lines of the GUI.

use std::borrow::Cow;
use std::num::IntErrorKind;
use std::time::Duration;

use super::line::{first_word, place, replaced, rest_after, text, words};

/// A line of the GUI, parsed as far as the adapter needs it.
///
/// Every sequence of bytes is one of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuiCommand {
    /// `uci`
    Uci,
    /// `isready`
    IsReady,
    /// `ucinewgame`
    NewGame,
    /// `setoption name ... [value ...]`
    SetOption(SetOption),
    /// `position ...`
    Position,
    /// `go ...`
    Go(Go),
    /// `stop`
    Stop,
    /// `ponderhit`
    PonderHit,
    /// `quit`
    Quit,
    /// A blank line.
    Blank,
    /// Anything else: `debug`, `register`, an engine's own commands.
    Other,
}

/// An option and the value it is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetOption {
    /// The name, inner blanks collapsed to one.
    pub name: String,
    /// The bytes of the value, trimmed; `None` without the word `value` (a button).
    pub value: Option<Vec<u8>>,
}

impl SetOption {
    /// The value as text; empty for a button and for `<empty>`.
    #[must_use]
    pub fn text(&self) -> String {
        let value = text(self.value.as_deref().unwrap_or_default());
        if value == "<empty>" {
            String::new()
        } else {
            value
        }
    }
}

/// The conditions of a search that decide whether book or engine answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// Searches on the opponent's time: no answer before `ponderhit` or `stop`.
    pub ponder: bool,
    /// No answer before `stop`. Also set for a `go` without any condition.
    pub infinite: bool,
    /// Contains something that only an engine can answer: `mate`, `perft`, or an
    /// unknown word.
    pub engine_only: bool,
    /// Counts the positions after so many plies, one without a number; most engines,
    /// Stockfish too, give no `bestmove`.
    pub perft: Option<i64>,
    /// The moves to choose from; `None` without the word `searchmoves`.
    pub searchmoves: Option<Vec<String>>,
    /// The clocks.
    pub clocks: Clocks,
    /// Other limits of the search.
    pub limits: Limits,
}

/// Limits of a search other than time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Moves until the next time control: `movestogo`.
    pub moves_to_go: Option<i64>,
    /// `depth` in plies.
    pub depth: Option<i64>,
    /// `nodes`
    pub nodes: Option<i64>,
    /// `mate` in moves.
    pub mate: Option<i64>,
}

/// The times of a `go`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// `wtime` and `winc`.
    pub white: Clock,
    /// `btime` and `binc`.
    pub black: Clock,
    /// `movetime` in milliseconds.
    pub move_time: Option<i64>,
}

/// A player's clock in milliseconds, as given in the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Remaining time; `None` if it is missing or not a number.
    pub time: Option<i64>,
    /// Increment per move.
    pub increment: i64,
}

impl Clock {
    /// The longest search that the clock allows.
    fn longest(self) -> Option<i64> {
        let increment = self.increment.max(0);
        Some(self.time?.max(0).saturating_add(increment))
    }
}

impl Go {
    /// The longest search that the times allow; `None` if no time is set. If the side
    /// to move is unknown, the longer clock counts. The increment counts too, as for a rule
    /// that gives it before the move; [`left`](Go::left) is without.
    #[must_use]
    pub fn longest(&self, white_moves: Option<bool>) -> Option<Duration> {
        let longest = self
            .limits(white_moves, Clock::longest)?
            .into_iter()
            .flatten();
        Some(Duration::from_millis(longest.max()?.unsigned_abs()))
    }

    /// The time that the side to move can spend: its clock, without the increment, which
    /// comes after the move (with it a `go wtime 1 winc 60000` waited three seconds for
    /// `Book Delay`); or `movetime`, whichever is shorter (`go movetime 100 wtime 100000`). Zeros
    /// count only where nothing else is set. `None` if no time is set. If the side to move is
    /// unknown, the longer clock counts.
    #[must_use]
    pub fn left(&self, white_moves: Option<bool>) -> Option<Duration> {
        let of = |clock: Clock| clock.time.map(|time| time.max(0));
        let set = self.limits(white_moves, of)?.into_iter().flatten();
        let shortest = set.clone().filter(|time| *time > 0).min();
        let left = shortest.or_else(|| set.max())?;
        Some(Duration::from_millis(left.unsigned_abs()))
    }

    /// The limits of the search in milliseconds: the clock of the side to move, and
    /// `movetime`. `None` if it has none.
    fn limits(
        &self,
        white_moves: Option<bool>,
        of: impl Fn(Clock) -> Option<i64>,
    ) -> Option<[Option<i64>; 2]> {
        if self.infinite || self.perft.is_some() {
            return None;
        }
        let Clocks {
            white,
            black,
            move_time,
        } = self.clocks;
        let clock = match white_moves {
            Some(true) => of(white),
            Some(false) => of(black),
            None => of(white).max(of(black)),
        };
        Some([clock, move_time.map(|time| time.max(0))])
    }

    /// Whether no time of the line is other than 0: programs without clocks send such
    /// lines (Knights 22.12.3: `go depth N wtime 0 btime 0`).
    #[must_use]
    pub fn is_untimed(&self) -> bool {
        let Clocks {
            white,
            black,
            move_time,
        } = self.clocks;
        let times = [white.time, black.time, move_time].into_iter().flatten();
        let mut all = times.chain([white.increment, black.increment]);
        all.all(|time| time == 0)
    }

    /// Whether a player has a clock: a time of his own, which a bare `movetime` is not, and
    /// not the zeros of programs without clocks.
    #[must_use]
    pub fn has_clock(&self) -> bool {
        let of = |clock: Clock| {
            clock
                .time
                .is_some_and(|time| time != 0 || clock.increment != 0)
        };
        of(self.clocks.white) || of(self.clocks.black)
    }

    /// Subtracts used time from the clock of the side to move and from `movetime`.
    pub fn spend(&mut self, white_moves: bool, spent: Duration) {
        let clocks = &mut self.clocks;
        let clock = match white_moves {
            true => &mut clocks.white,
            false => &mut clocks.black,
        };
        for time in [&mut clock.time, &mut clocks.move_time] {
            *time = time.map(|time| left(time, spent));
        }
    }
}

/// A time minus `spent`, at least 1 ms. Zero and negative times are returned unchanged.
fn left(time: i64, spent: Duration) -> i64 {
    let spent = i64::try_from(spent.as_millis()).unwrap_or(i64::MAX);
    match time {
        1.. => time.saturating_sub(spent).max(1),
        _ => time,
    }
}

/// The `go` line for a search that starts, or restarts, after `spent` of its time is
/// used: see [`Go::spend`]. Leaves out `ponder` if the search does not ponder any more.
#[must_use]
pub fn with_time_left(go: &[u8], white_moves: bool, spent: Duration, ponders: bool) -> Vec<u8> {
    let clock: &[u8] = if white_moves { b"wtime" } else { b"btime" };
    let mut line = Vec::with_capacity(go.len());
    let mut shorten = false;
    for word in words(go) {
        if word == b"ponder" && !ponders {
            continue;
        }
        if !line.is_empty() {
            line.push(b' ');
        }
        match number(word) {
            Some(time) if shorten && time > 0 => {
                line.extend_from_slice(left(time, spent).to_string().as_bytes());
            }
            _ => line.extend_from_slice(word),
        }
        shorten = word == clock || word == b"movetime";
    }
    line
}

/// The `go` line with other words for some of its `searchmoves`; `None` if all stay.
#[must_use]
pub fn with_searchmoves(go: &[u8], other: impl Fn(&[u8]) -> Option<String>) -> Option<Vec<u8>> {
    let mut is_list = false;
    let mut changes = Vec::new();
    for word in words(go) {
        if is_go_word(word) {
            is_list = word == b"searchmoves";
        } else if is_list && let Some(other) = other(word) {
            changes.push((place(go, word), other.into_bytes()));
        }
    }
    (!changes.is_empty()).then(|| replaced(go, &changes))
}

/// A whole number; the greatest one on overflow.
fn number(word: &[u8]) -> Option<i64> {
    let number: Result<i64, _> = std::str::from_utf8(word).ok()?.parse();
    match number {
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => Some(i64::MAX),
        number => number.ok(),
    }
}

/// Parses a line.
///
/// Unknown words before a command are skipped, as the protocol demands ("joho debug
/// on"), if a command follows.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tabia_uci::gui::{self, GuiCommand};
///
/// let line = b"joho go wtime 60000 btime 58000 searchmoves g1f3 b1c3";
/// let GuiCommand::Go(go) = gui::parse(line) else {
///     panic!("another command");
/// };
/// assert_eq!(go.longest(Some(true)), Some(Duration::from_secs(60)));
/// assert_eq!(go.searchmoves.unwrap(), ["g1f3", "b1c3"]);
/// ```
#[must_use]
pub fn parse(line: &[u8]) -> GuiCommand {
    let line = from_command(line);
    let word = first_word(line);
    match word {
        b"" => GuiCommand::Blank,
        b"uci" => GuiCommand::Uci,
        b"isready" => GuiCommand::IsReady,
        b"ucinewgame" => GuiCommand::NewGame,
        b"setoption" => {
            let option = set_option(rest_after(line, word));
            option.map_or(GuiCommand::Other, GuiCommand::SetOption)
        }
        b"position" => GuiCommand::Position,
        b"go" => GuiCommand::Go(go(line)),
        b"stop" => GuiCommand::Stop,
        b"ponderhit" => GuiCommand::PonderHit,
        b"quit" => GuiCommand::Quit,
        _ => GuiCommand::Other,
    }
}

/// The line from its command on. Engines differ in whether they skip unknown words
/// before it, and must see the same `go` as the adapter. A line without a command is
/// returned unchanged.
#[must_use]
pub fn from_command(line: &[u8]) -> &[u8] {
    const COMMANDS: [&[u8]; 11] = [
        b"uci",
        b"isready",
        b"ucinewgame",
        b"setoption",
        b"position",
        b"go",
        b"stop",
        b"ponderhit",
        b"quit",
        b"debug",
        b"register",
    ];
    words(line)
        .find(|word| COMMANDS.contains(word))
        .and_then(|word| {
            line.get((word.as_ptr() as usize).saturating_sub(line.as_ptr() as usize)..)
        })
        .unwrap_or(line)
}

/// The first position and the moves of a `position` line.
#[derive(Debug, PartialEq, Eq)]
pub struct PositionLine<'a> {
    /// `None` for `startpos`, else the FEN without quotes.
    pub fen: Option<Cow<'a, str>>,
    /// The words after `moves`.
    pub moves: &'a [u8],
}

/// Parses a `position` line; `None` if it has no first position.
///
/// # Examples
///
/// ```
/// use tabia_uci::gui;
///
/// let line = gui::position(b"position startpos moves e2e4 e7e5").unwrap();
/// assert_eq!(line.fen, None);
/// assert!(gui::moves(line.moves).eq(["e2e4", "e7e5"]));
/// ```
#[must_use]
pub fn position(line: &[u8]) -> Option<PositionLine<'_>> {
    let command = words(line).find(|word| *word == b"position")?;
    let rest = rest_after(line, command);
    let start = first_word(rest);
    let after_start = rest_after(rest, start);
    let moves_word = words(rest).find(|word| *word == b"moves");
    let moves = moves_word.map_or(&b""[..], |word| rest_after(rest, word));
    let fen = match start {
        b"startpos" => None,
        b"fen" => {
            let until = moves_word.map_or(after_start.len(), |word| {
                (word.as_ptr() as usize).saturating_sub(after_start.as_ptr() as usize)
            });
            let fen = after_start.get(..until)?.trim_ascii();
            let fen = std::str::from_utf8(fen).ok()?.trim_matches('"').trim();
            Some(if fen.contains("  ") || fen.contains('\t') {
                Cow::Owned(fen.split_whitespace().collect::<Vec<_>>().join(" "))
            } else {
                Cow::Borrowed(fen)
            })
        }
        _ => return None,
    };
    Some(PositionLine { fen, moves })
}

/// The moves in a list of words, in lower case (AnMon writes promotions in upper case).
/// Not read by the full parser, which takes a hundred times as long and drops the rest
/// of a list after a move that it cannot read.
pub fn moves(list: &[u8]) -> impl Iterator<Item = Cow<'_, str>> {
    words(list).map(|word| match std::str::from_utf8(word) {
        Ok(word) if !word.bytes().any(|byte| byte.is_ascii_uppercase()) => Cow::Borrowed(word),
        _ => Cow::Owned(text(word).to_ascii_lowercase()),
    })
}

/// `after` is the text after the word `setoption`.
fn set_option(after: &[u8]) -> Option<SetOption> {
    let name_word = words(after).find(|word| *word == b"name")?;
    let after_name = rest_after(after, name_word);
    let value_word = words(after_name).find(|word| *word == b"value");
    let name: Vec<String> = words(after_name)
        .take_while(|word| *word != b"value")
        .map(text)
        .collect();
    let name = name.join(" ");
    let value = value_word.map(|word| rest_after(after_name, word).trim_ascii_end().to_vec());
    if name.is_empty() {
        return None;
    }
    Some(SetOption { name, value })
}

/// `line` begins with the word `go`.
fn go(line: &[u8]) -> Go {
    let mut go = Go::default();
    let mut bare = true;
    let mut list = words(line).skip(1);
    while let Some(word) = list.next() {
        match word {
            b"ponder" => {
                go.ponder = true;
                // `go ponder` alone ends at `ponderhit`, not at `stop`.
                bare = false;
                continue;
            }
            b"infinite" => go.infinite = true,
            _ if is_go_word(word) && word != b"searchmoves" => {
                // If a number is missing, the next word is not consumed.
                let given = list.clone().next().filter(|given| !is_go_word(given));
                let number = given.and_then(number);
                if given.is_some() {
                    list.next();
                }
                go.engine_only |= number.is_none();
                let (clocks, limits) = (&mut go.clocks, &mut go.limits);
                match word {
                    b"wtime" => clocks.white.time = number,
                    b"btime" => clocks.black.time = number,
                    b"winc" => clocks.white.increment = number.unwrap_or(0),
                    b"binc" => clocks.black.increment = number.unwrap_or(0),
                    b"movetime" => clocks.move_time = number,
                    b"movestogo" => limits.moves_to_go = number,
                    b"depth" => limits.depth = number,
                    b"nodes" => limits.nodes = number,
                    b"mate" => (limits.mate, go.engine_only) = (number, true),
                    _ => (go.perft, go.engine_only) = (Some(number.unwrap_or(1)), true),
                }
            }
            b"searchmoves" => {
                // The list has no end mark: it ends at the next known word.
                let moves = go.searchmoves.get_or_insert_default();
                let mut ahead = list.clone();
                while let Some(word) = ahead.next().filter(|word| !is_go_word(word)) {
                    moves.push(text(word).to_ascii_lowercase());
                    list.next();
                }
                // `searchmoves` alone does not limit the search in time.
                continue;
            }
            _ => go.engine_only = true,
        }
        bare = false;
    }
    go.infinite |= bare;
    go
}

fn is_go_word(word: &[u8]) -> bool {
    matches!(
        word,
        b"ponder"
            | b"infinite"
            | b"wtime"
            | b"btime"
            | b"winc"
            | b"binc"
            | b"movestogo"
            | b"depth"
            | b"nodes"
            | b"movetime"
            | b"mate"
            | b"perft"
            | b"searchmoves"
    )
}

#[cfg(test)]
mod tests;
