//! The record of a match (`--games`): a line for each game, and one for each restart of
//! the engine during a game.
//!
//! A game is over at `ucinewgame`, at a `position` of another game, and at the end of the
//! session. A game without a `go` for a move is not recorded. UCI does not transmit
//! results: a result is known if the last position is checkmate or a draw by the rules.

use shakmaty::{Chess, Color, Position};

use super::super::game::{Game, Story, ply};
use super::learn::{Outcome, by_rules};
use tabia_notation as notation;

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

/// What others know of a game that is recorded.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct About<'a> {
    /// The value of `UCI_Opponent`.
    pub(in super::super) opponent: &'a str,
    /// Number of positions that no book knew.
    pub(in super::super) misses: u32,
}

/// Data about the current game for the record.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    has_go: [bool; 2],
    choices: Vec<Chosen>,
    restarts: u32,
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
    /// The engine: the position, if it could be read, and its value for the side of the
    /// engine.
    Engine(Option<Box<Chess>>, Option<i32>),
}

impl Recorder {
    /// Whether nothing is known of this game yet.
    pub(super) fn is_blank(&self) -> bool {
        !self.has_begun() && self.restarts == 0
    }

    /// Whether a move of the game has been asked for.
    pub(super) fn has_begun(&self) -> bool {
        self.has_go != [false; 2]
    }

    /// Handles a `go` for a move.
    pub(super) fn go(&mut self, game: &Game) {
        let white_moves = game.white_moves().unwrap_or(game.ply().is_multiple_of(2));
        self.has_go[usize::from(!white_moves)] = true;
        let rules = game.rules();
        self.variant = game.has_other_rules().then(|| format!("variant {rules}"));
    }

    /// The game goes on after `before`: an answer to a ponder move that was not played is
    /// no move of it.
    pub(super) fn go_on(&mut self, before: &Story) {
        if before.pondering {
            self.choices.retain(|known| known.ply < before.ply);
        }
    }

    /// A book chooses this move.
    pub(super) fn book_moves(&mut self, game: &Game, book: &str, mv: &str) {
        self.choose(game.ply(), mv.to_owned(), Chooser::Book(book.to_owned()));
    }

    /// The engine searches for a move.
    pub(super) fn engine_searches(&mut self, game: &Game) {
        let position = game.position().cloned().map(Box::new);
        self.choose(game.ply(), String::new(), Chooser::Engine(position, None));
    }

    /// The engine answers with this move; `value` is for White.
    pub(super) fn engine_answers(&mut self, mv: &str, value: Option<i32>) {
        if let Some(Chosen {
            mv: chosen,
            by: Chooser::Engine(position, known),
            ..
        }) = self.choices.last_mut()
        {
            mv.clone_into(chosen);
            let side = position.as_ref().map(|position| position.turn());
            *known = value
                .zip(side)
                .map(|(white, side)| side.fold_wb(white, -white));
        }
    }

    fn choose(&mut self, ply: u32, mv: String, by: Chooser) {
        self.choices.retain(|known| known.ply < ply);
        self.choices.push(Chosen { ply, mv, by });
    }

    /// Counts a restart of the engine, and records it with its reason.
    pub(super) fn restarted(&mut self, story: Story, about: About<'_>, why: &str) -> GameRecord {
        self.restarts += 1;
        let under_way = Recorder {
            has_go: self.has_go,
            restarts: self.restarts,
            ..Recorder::default()
        };
        let story = Story {
            pondering: false,
            ..story
        };
        GameRecord {
            note: why.to_owned(),
            ..under_way.record(RecordKind::Restart, story, about)
        }
    }

    /// The game as a line of the record.
    pub(super) fn record(mut self, kind: RecordKind, story: Story, about: About<'_>) -> GameRecord {
        let start = story.start.unwrap_or_default();
        let mut moves = story.moves;
        if story.pondering {
            self.choices.retain(|known| known.ply < story.ply);
            moves.pop();
        } else if let Some(last) = self.choices.last()
            && last.ply == story.ply
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
            opponent: about.opponent.to_owned(),
            book_moves: self.choices.iter().filter(|known| is_book(known)).count(),
            restarts: self.restarts,
            misses: about.misses,
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
        if let Some(Chooser::Engine(Some(position), value)) = exit.map(|exit| &exit.by) {
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
