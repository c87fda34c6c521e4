//! The game that the `position` lines describe.

use std::collections::VecDeque;

use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Position};

use crate::cover;
use tabia_notation as notation;
use tabia_uci::{gui, line};

/// How a `position` line relates to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The same game: with more moves, with up to two plies taken back (a ponder move
    /// that was not played), or a FEN that can be reached within two plies.
    Onward,
    /// Another game, or more than two plies taken back.
    Anew,
}

/// What is wrong with `position fen` alone.
const MISSING_FEN: &str = "no position follows the word fen";

/// Plies that may be taken back in the same game.
const TAKEN_BACK: usize = 2;

/// Follows a game through its `position` lines.
///
/// A line that continues the last one costs only its new moves. Before the first line the
/// position is the start position, as in engines.
#[derive(Debug, Default)]
pub(super) struct Game {
    /// The last line as it came.
    raw: Vec<u8>,
    position: Chess,
    /// Hashes of the earlier positions, in order.
    before: Vec<Zobrist64>,
    /// The last positions of the game, the present one included, which the next line may
    /// continue from.
    recent: VecDeque<Reached>,
    /// Why the line could not be read to its end.
    trouble: Option<String>,
}

/// A position of the game.
#[derive(Debug)]
struct Reached {
    position: Chess,
    /// Plies from the start of the line.
    plies: usize,
    /// Number of bytes of the last line up to it; `None` for another line.
    until: Option<usize>,
}

impl Game {
    /// The present position; `None` if the last line was not legal.
    pub(super) fn position(&self) -> Option<&Chess> {
        self.trouble.is_none().then_some(&self.position)
    }

    /// The error in the last line.
    pub(super) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// The last line contains no position at all, so that no engine can search it.
    pub(super) fn is_missing(&self) -> bool {
        self.trouble() == Some(MISSING_FEN)
    }

    /// The last `position` line, unchanged; empty before the first.
    pub(super) fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Whether White is to move, as far as the line says it: also for a game that cannot
    /// be followed, as one of a variant.
    pub(super) fn white_moves(&self) -> Option<bool> {
        if let Some(position) = self.position() {
            return Some(position.turn().is_white());
        }
        let read = gui::position(&self.raw)?;
        let begins = match read.fen.as_deref() {
            None => true,
            Some(fen) => match fen.split(' ').nth(1)? {
                "w" => true,
                "b" => false,
                _ => return None,
            },
        };
        let plies = line::words(read.moves).count();
        Some(begins == plies.is_multiple_of(2))
    }

    /// The keys of all positions up to the present one.
    pub(super) fn keys(&self) -> Vec<u64> {
        let before = self.before.iter().map(|Zobrist64(key)| *key);
        before.chain([cover::key(&self.position)]).collect()
    }

    /// Whether the position `next`, one move later, has occurred in this game.
    pub(super) fn repeats(&self, next: &Chess) -> bool {
        // A capture or pawn move cannot be undone: only positions after the last one can
        // repeat.
        let reversible = next.halfmoves() as usize;
        if reversible < 2 || self.before.is_empty() {
            return false;
        }
        let hash = hash(next);
        // The present position differs from the next one by its side to move; every
        // second one before it can be equal.
        self.before
            .iter()
            .rev()
            .take(reversible)
            .any(|earlier| *earlier == hash)
    }

    /// Handles a `position` line.
    pub(super) fn update(&mut self, raw: &[u8]) -> Step {
        let raw = raw.trim_ascii();
        if let Some(more) = self.go_on_from(raw) {
            self.keep(raw);
            self.play(more);
            return Step::Onward;
        }
        let last = std::mem::take(&mut self.recent);
        self.keep(raw);
        self.before.clear();
        match start(raw) {
            Ok((position, moves)) => {
                self.position = position;
                let from = raw.len() - moves.len();
                let start = raw.get(..from).unwrap_or_default().trim_ascii_end();
                let start = start.strip_suffix(b"moves").unwrap_or(start);
                self.arrive(start.trim_ascii_end().len());
                self.play(from);
            }
            Err(trouble) => self.trouble = Some(trouble),
        }
        let known = |reached: &Reached| leads_to(&reached.position, &self.position);
        if self.trouble.is_none() && !last.iter().any(known) {
            return Step::Anew;
        }
        // A line that cannot be read does not show which game it is.
        for reached in last.into_iter().rev() {
            if self.recent.len() <= TAKEN_BACK {
                self.recent.push_front(Reached {
                    until: None,
                    ..reached
                });
            }
        }
        Step::Onward
    }

    fn keep(&mut self, raw: &[u8]) {
        self.trouble = None;
        self.raw.clear();
        self.raw.extend_from_slice(raw);
    }

    /// Goes back to the last position that `raw` shares with the line before; returns
    /// where its new moves begin.
    fn go_on_from(&mut self, raw: &[u8]) -> Option<usize> {
        let common = if raw.starts_with(&self.raw) {
            self.raw.len()
        } else {
            let same = raw.iter().zip(&self.raw);
            same.take_while(|(new, old)| new == old).count()
        };
        let shared = |reached: &Reached| {
            let until = reached.until.filter(|until| *until <= common)?;
            let more = raw.get(until..)?;
            let whole_word = more.first().is_none_or(u8::is_ascii_whitespace);
            // After a start without moves, the next words may still belong to the FEN.
            let word = line::first_word(more);
            let moves = reached.plies > 0 || matches!(word, b"" | b"moves");
            (whole_word && moves).then(|| match word {
                b"moves" if reached.plies == 0 => raw.len() - line::rest_after(more, word).len(),
                _ => until,
            })
        };
        let (index, more) = (0..self.recent.len())
            .rev()
            .find_map(|index| Some((index, shared(self.recent.get(index)?)?)))?;
        self.recent.truncate(index + 1);
        let reached = self.recent.back()?;
        self.position = reached.position.clone();
        self.before.truncate(reached.plies);
        Some(more)
    }

    /// Plays the moves of the line from this byte to its end.
    fn play(&mut self, from: usize) {
        let raw = std::mem::take(&mut self.raw);
        let moves = raw.get(from..).unwrap_or_default();
        for word in line::words(moves) {
            let mv = notation::find_uci(&self.position, word)
                .or_else(|| notation::find_uci(&self.position, &word.to_ascii_lowercase()));
            let Some(mv) = mv else {
                let shown: String = line::text(word).chars().take(20).collect();
                let ply = self.before.len() + 1;
                self.trouble = Some(format!("move {ply} ({shown}) is not legal"));
                break;
            };
            self.before.push(hash(&self.position));
            self.position.play_unchecked(mv);
            let end = word.as_ptr() as usize + word.len();
            self.arrive(end.saturating_sub(raw.as_ptr() as usize));
        }
        self.raw = raw;
    }

    /// Stores the present position, which the first `until` bytes of the line lead to.
    fn arrive(&mut self, until: usize) {
        if self.recent.len() > TAKEN_BACK {
            self.recent.pop_front();
        }
        self.recent.push_back(Reached {
            position: self.position.clone(),
            plies: self.before.len(),
            until: Some(until),
        });
    }
}

/// The start position of a `position` line, and its moves.
fn start(raw: &[u8]) -> Result<(Chess, &[u8]), String> {
    let read = gui::position(raw).ok_or("neither startpos nor fen")?;
    if read.fen.as_deref().is_some_and(str::is_empty) {
        return Err(MISSING_FEN.to_owned());
    }
    let position = read
        .fen
        .as_deref()
        .map_or(Ok(Chess::default()), notation::position);
    Ok((position.map_err(|error| error.to_string())?, read.moves))
}

/// Whether one position can be reached from another within two plies.
fn leads_to(from: &Chess, to: &Chess) -> bool {
    let changed = (from.board().occupied() ^ to.board().occupied()).count();
    // Two moves change at most four squares, two castlings eight.
    if changed > 8 {
        return false;
    }
    let after = |from: &Chess| -> Vec<Chess> {
        let moves = from.legal_moves();
        moves
            .into_iter()
            .map(|mv| notation::after(from, mv))
            .collect()
    };
    if from.turn() == to.turn() {
        from == to || after(from).iter().any(|next| after(next).contains(to))
    } else {
        after(from).contains(to)
    }
}

/// The hash by which positions of a game are compared.
fn hash(position: &Chess) -> Zobrist64 {
    position.zobrist_hash(EnPassantMode::Legal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Handles lines that are given without their first word.
    fn after(lines: &[&str]) -> (Game, Step) {
        let mut game = Game::default();
        let mut step = Step::Anew;
        for line in lines {
            step = game.update(format!("position {line}").as_bytes());
        }
        (game, step)
    }

    fn fen(game: &Game) -> String {
        game.position().map_or_else(
            || game.trouble().unwrap_or_default().to_owned(),
            notation::fen,
        )
    }

    #[test]
    fn lines_that_go_on_are_played_on() {
        let whole = after(&["startpos moves e2e4 e7e5 g1f3"]).0;
        for lines in [
            &["startpos", "startpos moves e2e4 e7e5 g1f3"][..],
            &[
                "startpos moves",
                "startpos moves e2e4",
                "startpos moves e2e4",
                "startpos moves e2e4 e7e5 g1f3 ",
            ],
        ] {
            let (game, step) = after(lines);
            assert_eq!(step, Step::Onward);
            assert_eq!(fen(&game), fen(&whole));
            assert_eq!(game.before, whole.before);
        }
    }

    #[test]
    fn another_game_or_more_than_two_plies_back_begins_anew() {
        for lines in [
            &["startpos moves e2e4 e7e5 g1f3 g8f6", "startpos moves e2e4"][..],
            &[
                "startpos moves e2e4 e7e5 g1f3",
                "startpos moves e2e3 e7e5 g1f3",
            ],
            &["startpos moves e2e4 e7e5 g1f3", "startpos"],
            &[
                "fen 4k3/8/8/8/8/8/8/4K2R w - -",
                "fen 4k3/8/8/8/8/8/8/4K2Q w - -",
            ],
        ] {
            let (game, step) = after(lines);
            assert_eq!(step, Step::Anew, "{lines:?}");
            assert_eq!(fen(&game), fen(&after(&lines[lines.len() - 1..]).0));
        }
    }

    #[test]
    fn a_ponder_move_that_was_not_played_is_the_same_game() {
        for lines in [
            &[
                "startpos moves e2e4",
                "startpos moves e2e4 e7e5 g1f3",
                "startpos moves e2e4 c7c5",
            ][..],
            &[
                "startpos moves e2e4 e7e5 g1f3 b8c6",
                "startpos moves e2e4 e7e5 d2d4",
            ],
            // A word that has another one as its beginning.
            &["startpos moves a7a8 e2e4", "startpos moves e2e4"],
            &[
                "fen 8/P6k/8/8/8/8/8/K7 w - - 0 1 moves a7a8",
                "fen 8/P6k/8/8/8/8/8/K7 w - - 0 1 moves a7a8q",
            ],
            &[
                "startpos moves e2e4 e7e5 garbage",
                "startpos moves e2e4 e7e5 g1f3",
            ],
            // By FEN only: our move and a ponder move, our move and the real reply.
            &[
                "startpos",
                "fen rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
                "fen rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
            ],
            // The old line is the beginning of a FEN, not of a move list.
            &[
                "fen 4k3/8/8/8/8/8/8/4K2R w - -",
                "fen 4k3/8/8/8/8/8/8/4K2R w - - 0 40",
            ],
        ] {
            let (game, step) = after(lines);
            assert_eq!(step, Step::Onward, "{lines:?}");
            let afresh = after(&lines[lines.len() - 1..]).0;
            assert_eq!(fen(&game), fen(&afresh), "{lines:?}");
            assert_eq!(game.before, afresh.before);
        }
    }

    #[test]
    fn castling_is_taken_in_both_notations() {
        let line = "startpos moves e2e4 e7e5 g1f3 g8f6 f1e2 f8e7";
        let king = after(&[&format!("{line} e1g1")]).0;
        let rook = after(&[&format!("{line} e1h1")]).0;
        assert!(king.position().is_some(), "{:?}", king.trouble());
        assert_eq!(fen(&king), fen(&rook));
        for rights in ["KQkq", "HAha"] {
            let chess960 = format!("fen r3k2r/8/8/8/8/8/8/R3K2R w {rights} - 0 1");
            let game = after(&[&format!("{chess960} moves e1a1 e8h8")]).0;
            assert!(game.position().is_some(), "{:?}", game.trouble());
        }
        let shuffled =
            after(&["fen bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1 moves e2e4"]);
        assert!(shuffled.0.position().is_some());
    }

    #[test]
    fn an_illegal_line_is_reported_and_does_not_last() {
        for (line, trouble) in [
            ("startpos moves e2e4 e2e4", "move 2 (e2e4)"),
            ("startpos moves 0000", "(0000)"),
            ("startpos moves e2e4 garbage", "(garbage)"),
            ("fen xyz", "xyz"),
            ("fen", "no position follows"),
            ("fen  \t", "no position follows"),
            ("fen \"\"", "no position follows"),
            ("fen moves e2e4", "no position follows"),
            ("fen 8/8/8/8/8/8/8/8 w - - 0 1", "no legal position"),
            ("", "neither"),
            ("elsewhere", "neither"),
        ] {
            let (mut game, _) = after(&[line]);
            assert!(game.position().is_none(), "{line}");
            assert!(
                game.trouble().unwrap().contains(trouble),
                "{:?}",
                game.trouble()
            );
            game.update(b"position startpos");
            assert!(game.position().is_some());
        }
    }

    #[test]
    fn fens_of_four_fields_and_upper_case_promotions_are_taken() {
        let (game, _) = after(&["fen 8/P6k/8/8/8/8/8/K7 w - - moves a7a8Q"]);
        assert!(fen(&game).starts_with("Q7/7k"), "{}", fen(&game));
    }

    #[test]
    fn a_position_of_the_game_is_recognised_by_one_move() {
        let (game, _) = after(&["startpos moves g1f3 g8f6 f3g1"]);
        let position = game.position().unwrap();
        let play = |uci: &str| {
            let mv = notation::find_uci(position, uci.as_bytes()).unwrap();
            notation::after(position, mv)
        };
        assert!(game.repeats(&play("f6g8")));
        assert!(!game.repeats(&play("f6g4")));
        assert!(!game.repeats(&play("e7e5")));
    }

    proptest! {
        /// A line has the same meaning after any earlier line.
        #[test]
        fn what_came_before_does_not_matter(
            lines in prop::collection::vec((prop::bool::ANY, prop::collection::vec(
                prop::sample::select(vec!["e2e4", "e7e5", "g1f3", "b8c6", "a2a3", "a2", ""]), 0..6)),
                1..8)) {
            let mut game = Game::default();
            for (with_word, moves) in lines {
                let word = if with_word || !moves.is_empty() { " moves " } else { "" };
                let line = format!("startpos{word}{}", moves.join(" "));
                game.update(format!("position {line}").as_bytes());
                let afresh = after(&[&line]).0;
                prop_assert_eq!(fen(&game), fen(&afresh));
                prop_assert_eq!(&game.before, &afresh.before);
            }
        }
    }

    #[test]
    fn twenty_thousand_plies_are_followed() {
        let mut line = "startpos moves".to_owned();
        for _ in 0..5000 {
            line.push_str(" g1f3 g8f6 f3g1 f6g8");
        }
        let (game, _) = after(&[&line]);
        assert_eq!(game.before.len(), 20_000);
        assert!(fen(&game).starts_with("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq"));
    }
}
