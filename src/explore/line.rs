//! The line walked: a first position and moves.

use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position};

use crate::games::{Game, GameSource, PgnSource, Wanted};
use crate::session::from_fen;

/// Plies that a line may have; the longest game that was ever played
/// has fewer.
const MOST_PLIES: usize = 600;

/// Bytes that a FEN may have: a real one has fewer than 100.
const LONGEST_FEN: usize = 200;

/// A line, replayed.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// The moves, from the first position on.
    pub(super) moves: Vec<Move>,
    /// Always one more than there are moves.
    pub(super) positions: Vec<Chess>,
}

impl Line {
    /// From a FEN (the usual position when there is none) and moves in UCI
    /// notation, separated by commas or blanks.
    ///
    /// # Errors
    ///
    /// One sentence about the part that cannot be read.
    pub(super) fn read(fen: Option<&str>, play: Option<&str>) -> Result<Line, String> {
        let start = match fen {
            None | Some("startpos") => Chess::default(),
            Some(fen) if fen.len() > LONGEST_FEN => {
                return Err(format!("a FEN has at most {LONGEST_FEN} characters"));
            }
            Some(fen) => from_fen(&fen.replace('_', " "))?,
        };
        let mut line = Line::from_start(start);
        let words = play.unwrap_or_default().split([',', ' ']);
        for word in words.filter(|word| !word.is_empty()) {
            let number = line.moves.len() + 1;
            if number > MOST_PLIES {
                return Err(format!("a line has at most {MOST_PLIES} plies"));
            }
            let mv = word
                .parse::<UciMove>()
                .ok()
                .and_then(|mv| mv.to_move(line.last()).ok())
                .ok_or_else(|| {
                    let shown: String = word.chars().take(10).collect();
                    format!("move {number} ({shown}) is not legal")
                })?;
            line.push(mv);
        }
        Ok(line)
    }

    /// The first game of a PGN text, or a FEN alone: what people paste.
    ///
    /// # Errors
    ///
    /// One sentence that says what is wrong.
    pub(super) fn from_text(text: &str) -> Result<Line, String> {
        let text = text.trim();
        let one_line = text.lines().count() == 1;
        if text.is_empty() {
            return Err("there is nothing to read".to_owned());
        }
        if one_line && text.matches('/').count() == 7 && !text.contains('.') {
            return Line::read(Some(text), None);
        }
        let mut line = from_pgn(text)?;
        line.moves.truncate(MOST_PLIES);
        line.positions.truncate(line.moves.len() + 1);
        Ok(line)
    }

    fn from_start(start: Chess) -> Line {
        Line {
            moves: Vec::new(),
            positions: vec![start],
        }
    }

    pub(super) fn push(&mut self, mv: Move) {
        let mut next = self.last().clone();
        next.play_unchecked(mv);
        self.moves.push(mv);
        self.positions.push(next);
    }

    #[allow(clippy::expect_used)]
    pub(super) fn last(&self) -> &Chess {
        self.positions.last().expect("there is always a first one")
    }

    /// The line up to a number of plies.
    pub(super) fn up_to(&self, plies: usize) -> Line {
        let plies = plies.min(self.moves.len());
        Line {
            moves: self.moves.iter().take(plies).copied().collect(),
            positions: self.positions.iter().take(plies + 1).cloned().collect(),
        }
    }

    /// The moves with the positions they are played in.
    pub(super) fn steps(&self) -> impl Iterator<Item = (&Chess, Move)> {
        self.positions.iter().zip(self.moves.iter().copied())
    }
}

fn from_pgn(text: &str) -> Result<Line, String> {
    let counter = Arc::new(AtomicU64::new(0));
    let bytes = Cursor::new(text.as_bytes().to_vec());
    let mut source = PgnSource::new("the text", Box::new(bytes), counter);
    let batch = source.next_batch().map_err(|error| error.to_string())?;
    let mut game = Game::default();
    let found = match batch {
        Some(mut batch) => batch
            .next_game(Wanted::default(), &mut game)
            .map_err(|skipped| skipped.reason.to_string())?,
        None => false,
    };
    if !found || (game.moves.is_empty() && !game.set_up) {
        return Err("this is neither a FEN nor a game in PGN".to_owned());
    }
    Ok(Line {
        moves: game.moves,
        positions: game.positions,
    })
}

pub(super) fn fen(position: &Chess) -> String {
    Fen::from_position(position, EnPassantMode::Legal).to_string()
}

pub(super) fn san(position: &Chess, mv: Move) -> String {
    SanPlus::from_move(position.clone(), mv).to_string()
}

pub(super) fn uci(mv: Move) -> String {
    mv.to_uci(CastlingMode::Standard).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moves(line: &Line) -> String {
        let words: Vec<String> = line.moves.iter().map(|mv| uci(*mv)).collect();
        words.join(" ")
    }

    #[test]
    fn reads_moves_by_commas_or_blanks() {
        let line = Line::read(None, Some("e2e4,c7c5 g1f3")).unwrap();
        assert_eq!(line.moves.len(), 3);
        assert_eq!(line.positions.len(), 4);
        assert_eq!(san(&line.positions[2], line.moves[2]), "Nf3");
        assert_eq!(line.up_to(1).moves.len(), 1);
        assert_eq!(line.up_to(9).moves.len(), 3);
    }

    #[test]
    fn reads_castling_in_both_forms() {
        for castling in ["e1g1", "e1h1"] {
            let fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
            let line = Line::read(Some(fen), Some(castling)).unwrap();
            assert_eq!(moves(&line), "e1g1");
        }
    }

    #[test]
    fn says_what_is_wrong() {
        let error = |fen, play| Line::read(fen, play).unwrap_err();
        assert_eq!(error(None, Some("e2e4,e2e4")), "move 2 (e2e4) is not legal");
        assert_eq!(error(None, Some("e2e5")), "move 1 (e2e5) is not legal");
        assert!(error(Some("8/8 w"), None).contains("FEN"));
        let long = "8/".repeat(600_000);
        assert!(error(Some(&long), None).len() < 100);
        let plies = "g1f3,g8f6,f3g1,f6g8,".repeat(200);
        assert!(error(None, Some(&plies)).contains("600"));
    }

    #[test]
    fn reads_what_people_paste() {
        let of = |text: &str| Line::from_text(text).map(|line| moves(&line));
        let pgn = "[Event \"x\"]\n[Result \"*\"]\n\n1. e4 {best} c5 (1... e5) 2. Nf3 *\n";
        assert_eq!(of(pgn).unwrap(), "e2e4 c7c5 g1f3");
        assert_eq!(of("1.e4 c5 2.Nf3").unwrap(), "e2e4 c7c5 g1f3");
        assert_eq!(of(" 8/8/8/8/8/8/8/Kk6 w - - 0 1 ").unwrap_or_default(), "");
        let set_up =
            "[Event \"x\"]\n[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 *";
        assert_eq!(of(set_up).unwrap(), "e2e4");
        for nonsense in ["", "hello", "1. e5 e5", "🦀"] {
            assert!(of(nonsense).is_err(), "{nonsense}");
        }
    }
}
