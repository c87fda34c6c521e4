//! The record of a match (`--games`): a line for each game, and one for each restart of
//! the engine during a game.
//!
//! A game is over at `ucinewgame`, at a `position` of another game, and at the end of the
//! session. A game without a `go` for a move is not recorded. UCI does not transmit
//! results: a result is known if the last position is checkmate or a draw by the rules.

use shakmaty::{Chess, Color, Position};

use super::learn::{Outcome, by_rules};
use super::{Outlet, Request, Session, info_string};
use tabia_notation as notation;
use tabia_uci::gui;

/// The subject of a line of the record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordKind {
    /// A game that is over.
    #[default]
    Game,
    /// A restart of the engine.
    Restart,
}

/// A line of the record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameRecord {
    /// Its subject.
    pub kind: RecordKind,
    /// Whether there was a `go` for White and for Black.
    pub has_go: [bool; 2],
    /// The value of `UCI_Opponent`.
    pub opponent: String,
    /// The book of the last book move.
    pub book: String,
    /// Number of moves from books.
    pub book_moves: usize,
    /// Where the engine first moved after the last book move: number of plies since the
    /// first move of the game, and FEN.
    pub exit: Option<(u32, String)>,
    /// The last book move, in UCI.
    pub last_book_move: String,
    /// The engine's value there, in centipawns for its own side.
    pub first_value: Option<i32>,
    /// Number of restarts of the engine.
    pub restarts: u32,
    /// Number of positions that no book knew.
    pub misses: u32,
    /// `1-0`, `0-1` or `1/2-1/2`, if known from the rules; else empty.
    pub result: String,
    /// FEN of the first position; empty for the standard one.
    pub start: String,
    /// Moves in UCI.
    pub moves: Vec<String>,
    /// Why the engine was restarted.
    pub note: String,
}

impl GameRecord {
    /// The first line of the file.
    pub const HEADER: &str = "time,event,colour,opponent,book,book_moves,exit_ply,exit_fen,\
        last_book_move,first_value,restarts,misses,result,start,moves,note";

    /// The line of the file after the time, without line end.
    #[must_use]
    pub fn line(&self) -> String {
        let (ply, fen) = self.exit.clone().unzip();
        let number = |number: Option<i64>| number.map_or_else(String::new, |n| n.to_string());
        let fields = [
            match self.kind {
                RecordKind::Game => "game",
                RecordKind::Restart => "restart",
            }
            .to_owned(),
            match self.has_go {
                [true, false] => "white",
                [false, true] => "black",
                [true, true] => "both",
                [false, false] => "",
            }
            .to_owned(),
            self.opponent.clone(),
            self.book.clone(),
            self.book_moves.to_string(),
            number(ply.map(i64::from)),
            fen.unwrap_or_default(),
            self.last_book_move.clone(),
            number(self.first_value.map(i64::from)),
            self.restarts.to_string(),
            self.misses.to_string(),
            self.result.clone(),
            self.start.clone(),
            self.moves.join(" "),
            self.note.clone(),
        ];
        fields.map(|field| quoted(&field)).join(",")
    }

    /// Reads a line with its time; `None` if it is not a line of a record.
    #[must_use]
    pub fn read(line: &str) -> Option<(String, GameRecord)> {
        let fields = <[String; 16]>::try_from(fields(line)?).ok()?;
        let [
            time,
            event,
            colour,
            opponent,
            book,
            book_moves,
            exit_ply,
            exit_fen,
            last_book_move,
            first_value,
            restarts,
            misses,
            result,
            start,
            moves,
            note,
        ] = fields;
        let record = GameRecord {
            kind: match event.as_str() {
                "game" => RecordKind::Game,
                "restart" => RecordKind::Restart,
                _ => return None,
            },
            has_go: match colour.as_str() {
                "white" => [true, false],
                "black" => [false, true],
                "both" => [true, true],
                "" => [false, false],
                _ => return None,
            },
            opponent,
            book,
            book_moves: book_moves.parse().ok()?,
            exit: match exit_ply.as_str() {
                "" => None,
                ply => Some((ply.parse().ok()?, exit_fen)),
            },
            last_book_move,
            first_value: match first_value.as_str() {
                "" => None,
                value => Some(value.parse().ok()?),
            },
            restarts: restarts.parse().ok()?,
            misses: misses.parse().ok()?,
            result,
            start,
            moves: moves.split_whitespace().map(str::to_owned).collect(),
            note,
        };
        Some((time, record))
    }
}

/// A field in CSV format. Control characters, line ends included, become blanks.
fn quoted(field: &str) -> String {
    let field: String = field
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    match field.contains([',', '"']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field,
    }
}

/// The fields of a line; `None` if its quotes do not match.
fn fields(line: &str) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let mut field = String::new();
        if let Some(mut inner) = rest.strip_prefix('"') {
            loop {
                let (part, after) = inner.split_once('"')?;
                field += part;
                match after.strip_prefix('"') {
                    Some(more) => inner = more,
                    None => {
                        rest = after;
                        break;
                    }
                }
                field.push('"');
            }
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            let (part, after) = rest.split_at(end);
            field += part;
            rest = after;
        }
        fields.push(field);
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None if rest.is_empty() => return Some(fields),
            None => return None,
        }
    }
}

/// Data about the current game for the record.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    has_go: [bool; 2],
    choices: Vec<Chosen>,
    restarts: u32,
    /// The last `position` line, and the position after it.
    raw: Vec<u8>,
    position: Chess,
    /// The last move of that line is a ponder move.
    pub(super) pondering: bool,
    /// The name of a variant, which cannot be followed.
    variant: Option<String>,
}

/// A chosen move.
#[derive(Debug)]
struct Chosen {
    ply: u32,
    /// In UCI; empty while the engine searches.
    mv: String,
    by: Chooser,
}

#[derive(Debug)]
enum Chooser {
    /// The book of this name.
    Book(String),
    /// The engine: the position, and its value for the side of the engine.
    Engine(Box<Chess>, Option<i32>),
}

impl Recorder {
    fn choose(&mut self, mv: String, by: Chooser) {
        let ply = ply(&self.position);
        self.choices.retain(|known| known.ply < ply);
        self.choices.push(Chosen { ply, mv, by });
    }

    /// The game as a line of the record.
    fn record(mut self, kind: RecordKind, opponent: &str, misses: u32) -> GameRecord {
        let read = gui::position(self.raw.trim_ascii());
        let start = read.as_ref().and_then(|read| read.fen.as_deref());
        let start = start.unwrap_or_default().to_owned();
        let moves = read.map(|read| read.moves).unwrap_or_default();
        let mut moves: Vec<String> = gui::moves(moves).map(Into::into).collect();
        let here = ply(&self.position);
        if self.pondering {
            self.choices.retain(|known| known.ply < here);
            moves.pop();
        } else if let Some(last) = self.choices.last()
            && last.ply == here
            && !last.mv.is_empty()
        {
            moves.push(last.mv.clone());
        }
        let is_book = |known: &Chosen| matches!(known.by, Chooser::Book(_));
        let last_book = self.choices.iter().rposition(is_book);
        let next = last_book.map_or(0, |at| at + 1);
        let exit = self.choices.get(next);
        let exit = exit.filter(|_| self.variant.is_none());
        let first = Some(start.as_str()).filter(|start| !start.is_empty());
        let outcome = match self.variant {
            Some(_) => None,
            None => by_rules(first, &moves),
        };
        let mut record = GameRecord {
            kind,
            has_go: self.has_go,
            opponent: opponent.to_owned(),
            book_moves: self.choices.iter().filter(|known| is_book(known)).count(),
            restarts: self.restarts,
            misses,
            result: match outcome {
                Some(Outcome::Won(Color::White)) => "1-0",
                Some(Outcome::Won(Color::Black)) => "0-1",
                Some(Outcome::Draw) => "1/2-1/2",
                Some(Outcome::Open) | None => "",
            }
            .to_owned(),
            start,
            moves,
            note: self.variant.take().unwrap_or_default(),
            ..GameRecord::default()
        };
        if let Some(Chooser::Engine(position, value)) = exit.map(|exit| &exit.by) {
            record.exit = Some((ply(position), notation::fen(position)));
            record.first_value = *value;
        }
        if let Some(Chosen {
            mv,
            by: Chooser::Book(book),
            ..
        }) = last_book.and_then(|at| self.choices.get(at))
        {
            record.book.clone_from(book);
            record.last_book_move.clone_from(mv);
        }
        record
    }
}

/// Plies since the first move of the game, as a position counts them.
fn ply(position: &Chess) -> u32 {
    2 * (position.fullmoves().get() - 1) + u32::from(position.turn().is_black())
}

impl Session {
    /// Handles a `position` line of the current or another game.
    pub(super) fn record_position(&mut self, raw: &[u8]) {
        let Some(recorder) = &mut self.recorder else {
            return;
        };
        if self.game.position().is_some() || self.conditions.has_other_rules() {
            recorder.raw.clear();
            recorder.raw.extend_from_slice(raw);
        }
        if let Some(position) = self.game.position() {
            recorder.position.clone_from(position);
        }
    }

    /// Handles a `go` for a move.
    pub(super) fn record_go(&mut self, ponder: bool) {
        if let Some(recorder) = &mut self.recorder {
            let white_moves = self.game.white_moves();
            let white_moves = white_moves.unwrap_or(recorder.position.turn().is_white());
            recorder.has_go[usize::from(!white_moves)] = true;
            recorder.pondering = ponder;
            let rules = self.conditions.rules();
            let is_variant = self.conditions.has_other_rules();
            recorder.variant = is_variant.then(|| format!("variant {rules}"));
        }
    }

    /// Stores a move chosen by a book.
    pub(super) fn record_book(&mut self, book: &str, mv: &str) {
        if let Some(recorder) = &mut self.recorder {
            recorder.choose(mv.to_owned(), Chooser::Book(book.to_owned()));
        }
    }

    /// Stores that the engine searches for a move.
    pub(super) fn record_search(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            let position = Box::new(recorder.position.clone());
            recorder.choose(String::new(), Chooser::Engine(position, None));
        }
    }

    /// Stores the engine's move; `value` is for White.
    pub(super) fn record_answer(&mut self, mv: &str, value: Option<i32>) {
        if let Some(recorder) = &mut self.recorder
            && let Some(Chosen {
                mv: chosen,
                by: Chooser::Engine(position, known),
                ..
            }) = recorder.choices.last_mut()
        {
            mv.clone_into(chosen);
            *known = value.map(|white| position.turn().fold_wb(white, -white));
        }
    }

    /// Records a restart of the engine.
    pub(super) fn record_restart(&mut self, reason: &str, out: &mut dyn Outlet) {
        let Some(recorder) = &mut self.recorder else {
            return;
        };
        recorder.restarts += 1;
        let under_way = Recorder {
            has_go: recorder.has_go,
            restarts: recorder.restarts,
            raw: recorder.raw.clone(),
            position: recorder.position.clone(),
            ..Recorder::default()
        };
        let misses = self.chooser.misses;
        let record = under_way.record(RecordKind::Restart, &self.conditions.opponent, misses);
        out.request(Request::Record(Box::new(GameRecord {
            note: reason.to_owned(),
            ..record
        })));
    }

    /// Ends the game and requests that it is recorded.
    pub(super) fn record_game(&mut self, out: &mut dyn Outlet) {
        let Some(recorder) = self.recorder.as_mut().map(std::mem::take) else {
            return;
        };
        if recorder.has_go == [false; 2] {
            return;
        }
        let misses = self.chooser.misses;
        let record = recorder.record(RecordKind::Game, &self.conditions.opponent, misses);
        if record.restarts > 0 {
            let times = match record.restarts {
                1 => "once".to_owned(),
                times => format!("{times} times"),
            };
            info_string(
                &format!("in this game the engine was started again {times}"),
                out,
            );
        }
        out.request(Request::Record(Box::new(record)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_line_can_be_read_back(
            texts in prop::collection::vec("[ -~é]{0,12}", 6),
            has_go: [bool; 2],
            exit in prop::option::of((0_u32..400, "[a-z/ 0-9]{1,20}")),
            value in prop::option::of(-30_000..30_000),
            counts in prop::array::uniform2(0_u32..99),
            moves in prop::collection::vec("[a-h][1-8][a-h][1-8]", 0..6),
            is_game: bool,
        ) {
            let record = GameRecord {
                kind: match is_game {
                    true => RecordKind::Game,
                    false => RecordKind::Restart,
                },
                has_go,
                opponent: texts[0].clone(),
                book: texts[1].clone(),
                book_moves: moves.len(),
                exit,
                last_book_move: texts[2].clone(),
                first_value: value,
                restarts: counts[0],
                misses: counts[1],
                result: texts[3].clone(),
                start: texts[4].clone(),
                moves,
                note: texts[5].clone(),
            };
            let line = format!("2026-11-23T12:00:00Z,{}", record.line());
            prop_assert!(!line.contains('\n'));
            let (time, read) = GameRecord::read(&line).unwrap();
            prop_assert_eq!(time, "2026-11-23T12:00:00Z");
            prop_assert_eq!(read, record);
        }

        #[test]
        fn any_line_is_a_record_or_none(line in "[ -~]{0,60}") {
            let _ = GameRecord::read(&line);
        }
    }

    #[test]
    fn the_header_names_every_field() {
        let line = format!("time,{}", GameRecord::default().line());
        let count = |line: &str| fields(line).unwrap().len();
        assert_eq!(count(GameRecord::HEADER), count(&line));
    }
}
