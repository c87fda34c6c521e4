//! The game as the `position` lines tell it.

use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Position};

use crate::notation;
use crate::uci::{gui, line};

/// How a `position` line relates to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The same game, perhaps with more moves.
    Onward,
    /// Another game, or moves taken back.
    Anew,
}

/// Follows the game through `position` lines.
///
/// A line that continues the last one costs only its new moves.
#[derive(Debug)]
pub(super) struct Game {
    /// The last line as it came.
    raw: Vec<u8>,
    position: Chess,
    /// Hashes of the positions before the present one, in order.
    before: Vec<Zobrist64>,
    /// Why the line could not be followed to its end.
    trouble: Option<String>,
    /// The line has had its word `moves`.
    has_moves: bool,
}

impl Default for Game {
    /// Before the first `position` line: the start position, as engines have
    /// it.
    fn default() -> Game {
        Game {
            raw: Vec::new(),
            position: Chess::default(),
            before: Vec::new(),
            trouble: None,
            has_moves: false,
        }
    }
}

impl Game {
    /// The position to move in; `None` when the last line was not legal.
    pub(super) fn position(&self) -> Option<&Chess> {
        self.trouble.is_none().then_some(&self.position)
    }

    /// What is wrong with the last line.
    pub(super) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// The last `position` line as its bytes came; empty before the first.
    pub(super) fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Whether `next`, reached by one move, has occurred in this game.
    pub(super) fn repeats(&self, next: &Chess) -> bool {
        // A capture or pawn move cannot be undone: only the positions since
        // then can come again.
        let reversible = next.halfmoves() as usize;
        if reversible < 2 || self.before.is_empty() {
            return false;
        }
        let hash = hash(next);
        // The present position differs from the next one by its side to
        // move; of those before it every other can be equal.
        self.before
            .iter()
            .rev()
            .take(reversible)
            .any(|seen| *seen == hash)
    }

    /// Takes in a `position` line.
    pub(super) fn update(&mut self, raw: &[u8]) -> Step {
        let raw = line::trimmed(raw);
        if let Some(more) = self.continuation(raw) {
            let more = more.to_vec();
            self.has_moves |= !line::first_word(&more).is_empty();
            self.raw.clear();
            self.raw.extend_from_slice(raw);
            self.play(&more);
            return Step::Onward;
        }
        self.raw.clear();
        self.raw.extend_from_slice(raw);
        self.before.clear();
        self.trouble = None;
        self.has_moves = line::words(raw).any(|word| word == b"moves");
        let Some(read) = gui::position(raw) else {
            self.trouble = Some("neither startpos nor fen".to_owned());
            return Step::Anew;
        };
        match read
            .fen
            .as_deref()
            .map_or(Ok(Chess::default()), notation::position)
        {
            Ok(position) => self.position = position,
            Err(trouble) => {
                self.trouble = Some(trouble.to_string());
                return Step::Anew;
            }
        }
        let moves = read.moves.to_vec();
        self.play(&moves);
        Step::Anew
    }

    /// The moves that `raw` has more than the last line, if it is a legal
    /// line that goes on from there.
    fn continuation<'a>(&self, raw: &'a [u8]) -> Option<&'a [u8]> {
        if self.raw.is_empty() || self.trouble.is_some() {
            return None;
        }
        let more = raw.strip_prefix(self.raw.as_slice())?;
        if !more.is_empty() && !more.first().is_some_and(u8::is_ascii_whitespace) {
            return None;
        }
        match line::first_word(more) {
            b"" => Some(b""),
            _ if self.has_moves => Some(more),
            word @ b"moves" => Some(line::rest_after(more, word)),
            // More of a FEN.
            _ => None,
        }
    }

    fn play(&mut self, moves: &[u8]) {
        for (index, word) in gui::moves(moves).enumerate() {
            let Some(mv) = notation::find_uci(&self.position, word.as_bytes()) else {
                let shown: String = word.chars().take(20).collect();
                self.trouble = Some(format!("move {} ({shown}) is not legal", index + 1));
                return;
            };
            self.before.push(hash(&self.position));
            self.position.play_unchecked(mv);
        }
    }
}

/// The hash by which positions of a game are compared.
fn hash(position: &Chess) -> Zobrist64 {
    position.zobrist_hash(EnPassantMode::Legal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(lines: &[&str]) -> (Game, Step) {
        let mut game = Game::default();
        let mut step = Step::Anew;
        for line in lines {
            step = game.update(line.as_bytes());
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
        let whole = after(&["position startpos moves e2e4 e7e5 g1f3"]).0;
        for lines in [
            &[
                "position startpos",
                "position startpos moves e2e4 e7e5 g1f3",
            ][..],
            &[
                "position startpos moves",
                "position startpos moves e2e4",
                "position startpos moves e2e4",
                "position startpos moves e2e4 e7e5 g1f3 ",
            ],
        ] {
            let (game, step) = after(lines);
            assert_eq!(step, Step::Onward);
            assert_eq!(fen(&game), fen(&whole));
            assert_eq!(game.before, whole.before);
        }
    }

    #[test]
    fn another_game_or_a_move_taken_back_begins_anew() {
        for lines in [
            &[
                "position startpos moves e2e4 e7e5",
                "position startpos moves e2e4",
            ][..],
            &[
                "position startpos moves e2e4",
                "position startpos moves e2e3",
            ],
            &["position startpos moves e2e4", "position startpos"],
            // The old line is the beginning of a FEN, not of a game.
            &[
                "position fen 4k3/8/8/8/8/8/8/4K2R w - -",
                "position fen 4k3/8/8/8/8/8/8/4K2R w - - 0 40",
            ],
        ] {
            let (game, step) = after(lines);
            assert_eq!(step, Step::Anew, "{lines:?}");
            assert_eq!(fen(&game), fen(&after(&lines[lines.len() - 1..]).0));
        }
    }

    #[test]
    fn castling_is_taken_in_both_notations() {
        let line = "position startpos moves e2e4 e7e5 g1f3 g8f6 f1e2 f8e7";
        let king = after(&[&format!("{line} e1g1")]).0;
        let rook = after(&[&format!("{line} e1h1")]).0;
        assert!(king.position().is_some(), "{:?}", king.trouble());
        assert_eq!(fen(&king), fen(&rook));
        for rights in ["KQkq", "HAha"] {
            let chess960 = format!("position fen r3k2r/8/8/8/8/8/8/R3K2R w {rights} - 0 1");
            let game = after(&[&format!("{chess960} moves e1a1 e8h8")]).0;
            assert!(game.position().is_some(), "{:?}", game.trouble());
        }
        let shuffled = after(&[
            "position fen bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1 moves e2e4",
        ]);
        assert!(shuffled.0.position().is_some());
    }

    #[test]
    fn what_is_not_legal_is_said_and_does_not_last() {
        for (line, trouble) in [
            ("position startpos moves e2e4 e2e4", "move 2 (e2e4)"),
            ("position startpos moves 0000", "(0000)"),
            ("position startpos moves e2e4 garbage", "(garbage)"),
            ("position fen xyz", "xyz"),
            (
                "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
                "no legal position",
            ),
            ("position", "neither"),
            ("position elsewhere", "neither"),
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
        let (game, _) = after(&["position fen 8/P6k/8/8/8/8/8/K7 w - - moves a7a8Q"]);
        assert!(fen(&game).starts_with("Q7/7k"), "{}", fen(&game));
    }

    #[test]
    fn a_position_of_the_game_is_recognised_by_one_move() {
        let (game, _) = after(&["position startpos moves g1f3 g8f6 f3g1"]);
        let position = game.position().unwrap();
        let play = |uci: &str| {
            let mv = notation::find_uci(position, uci.as_bytes()).unwrap();
            let mut next = position.clone();
            next.play_unchecked(mv);
            next
        };
        assert!(game.repeats(&play("f6g8")));
        assert!(!game.repeats(&play("f6g4")));
        assert!(!game.repeats(&play("e7e5")));
    }

    #[test]
    fn twenty_thousand_plies_are_followed() {
        let mut line = "position startpos moves".to_owned();
        for _ in 0..5000 {
            line.push_str(" g1f3 g8f6 f3g1 f6g8");
        }
        let (game, _) = after(&[&line]);
        assert_eq!(game.before.len(), 20_000);
        assert!(fen(&game).starts_with("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq"));
    }
}
