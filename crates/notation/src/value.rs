//! Values of positions, and how they were found.

use std::{fmt, sync::Arc};

use shakmaty::{Color, uci::UciMove};

/// The value of a position from White's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Centipawns: positive is good for White.
    Cp(i16),
    /// A forced mate.
    Mate {
        /// The side that mates.
        winner: Color,
        /// Full moves until mate; 0 means that the position is mate.
        moves: u16,
    },
}

/// Larger numbers of centipawns are not evaluations but mean "won" (tablebase bands of
/// Stockfish and chessdb.cn).
const MOST_CENTIPAWNS: i32 = 10_000;

/// The number for mate on the board in [`Value::for_side`].
const MATE: i32 = 32_000;

impl Value {
    /// Centipawns from White's view, limited to 100 pawns.
    #[must_use]
    pub fn cp(white: i32) -> Value {
        Value::Cp(white.clamp(-MOST_CENTIPAWNS, MOST_CENTIPAWNS) as i16)
    }

    /// Centipawns from the view of the side to move.
    #[must_use]
    pub fn cp_of_mover(turn: Color, cp: i32) -> Value {
        Value::cp(turn.fold_wb(cp, cp.saturating_neg()))
    }

    /// A mate in full moves from the view of the side to move, as in UCI: negative, or 0,
    /// if that side is mated.
    #[must_use]
    pub fn mate_of_mover(turn: Color, moves: i32) -> Value {
        Value::Mate {
            winner: if moves > 0 { turn } else { !turn },
            moves: moves.unsigned_abs().min(u32::from(u16::MAX)) as u16,
        }
    }

    /// A mate in full moves from White's view, negative if Black mates; with 0 the side
    /// to move is mated.
    #[must_use]
    pub fn mate_of_white(turn: Color, moves: i32) -> Value {
        let winner = match moves {
            0 => !turn,
            1.. => Color::White,
            _ => Color::Black,
        };
        Value::Mate {
            winner,
            moves: moves.unsigned_abs().min(u32::from(u16::MAX)) as u16,
        }
    }

    /// The value with colours exchanged.
    #[must_use]
    pub const fn reversed(self) -> Value {
        match self {
            Value::Cp(cp) => Value::Cp(cp.saturating_neg()),
            Value::Mate { winner, moves } => Value::Mate {
                winner: match winner {
                    Color::White => Color::Black,
                    Color::Black => Color::White,
                },
                moves,
            },
        }
    }

    /// A number for ordering values, from the view of `side`: centipawns, and beyond them
    /// mates; the shorter the mate, the greater the number.
    #[must_use]
    pub fn for_side(self, side: Color) -> i32 {
        let white = match self {
            Value::Cp(cp) => i32::from(cp),
            Value::Mate { winner, moves } => {
                let worth = MATE - i32::from(moves).min(MATE - MOST_CENTIPAWNS - 1);
                winner.fold_wb(worth, -worth)
            }
        };
        side.fold_wb(white, -white)
    }

    /// Centipawns from the view of `side` for calculations: at most ten pawns, also for a
    /// mate. (Lichess clamps the same way before it computes anything: scalachess,
    /// `eval.scala`.)
    #[must_use]
    pub fn clamped(self, side: Color) -> i32 {
        self.for_side(side).clamp(-1000, 1000)
    }

    /// Reads the operand of EPD's `ce`: from the side to move; above 32000
    /// that side mates in `32767 - ce` plies, below -32000 it is mated in
    /// `ce + 32767` plies (EPD specification of 1995). `None` below -32766.
    #[must_use]
    pub fn from_ce(turn: Color, ce: i32) -> Option<Value> {
        match ce {
            32_001..=32_766 => Some(Value::mate_of_mover(turn, (32_767 - ce + 1) / 2)),
            -32_766..=-32_001 => {
                let moves = (ce + 32_767) / 2;
                Some(Value::mate_of_mover(turn, -moves))
            }
            -32_000..=32_000 => Some(Value::cp_of_mover(turn, ce)),
            _ => None,
        }
    }

    /// The operand of EPD's `ce`: the inverse of [`Value::from_ce`]. Longer mates than
    /// the number can express become the longest possible one.
    #[must_use]
    pub fn to_ce(self, turn: Color) -> i32 {
        match self {
            Value::Cp(_) => self.for_side(turn),
            Value::Mate { winner, moves } => {
                let moves = i32::from(moves).clamp(0, 380);
                if winner == turn {
                    32_767 - (2 * moves.max(1) - 1)
                } else {
                    (-32_767 + 2 * moves).max(-32_766)
                }
            }
        }
    }

    /// Reads a score of chessdb.cn: from the side to move, `30000 - plies` is a mate; the
    /// tablebase bands below it (25000, 20000) are wins of unknown length.
    #[must_use]
    pub fn from_cdb(turn: Color, score: i32) -> Value {
        match score.unsigned_abs() {
            25_001..=30_000 => {
                let plies = 30_000 - score.abs();
                let moves = if score > 0 {
                    (plies + 1) / 2
                } else {
                    -(plies / 2)
                };
                Value::mate_of_mover(turn, moves)
            }
            _ => Value::cp_of_mover(turn, score),
        }
    }

    /// The value in a comment (`[%eval 0.25,18]`), as [`Value::from_pgn`] reads it; `turn`
    /// is the side to move after the comment's move. White space may be line breaks.
    #[must_use]
    pub fn in_comment(turn: Color, comment: &str) -> Option<PgnValue> {
        let mut commands = comment.split("[%eval").skip(1);
        let command = commands.find(|rest| rest.starts_with(char::is_whitespace))?;
        let (text, _) = command.split_once(']')?;
        Value::from_pgn(turn, text.trim())
    }

    /// Reads the operand of PGN's `[%eval ...]`: pawns with decimals, or `#` and the moves to
    /// mate, from White's view, perhaps with a comma and a depth. A whole number with a depth
    /// is centipawns: programs of ChessBase write `31,20` for 0.31, from the view of the side
    /// that has moved. `turn` is the side to move in the evaluated position.
    #[must_use]
    pub fn from_pgn(turn: Color, text: &str) -> Option<PgnValue> {
        let (value, depth) = match text.split_once(',') {
            Some((value, depth)) => (value, Some(depth.trim().parse().ok()?)),
            None => (text, None),
        };
        let value = value.trim();
        let digits = value.trim_start_matches(['+', '-']);
        let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let in_centipawns = depth.is_some() && is_whole;
        let value = match value.strip_prefix('#') {
            Some(moves) => Value::mate_of_white(turn, moves.parse().ok()?),
            None => {
                let number: f64 = value
                    .parse()
                    .ok()
                    .filter(|number: &f64| number.is_finite())?;
                let limited = |cp: f64| cp.round().clamp(-1e6, 1e6) as i32;
                match in_centipawns {
                    true => Value::cp_of_mover(!turn, limited(number)),
                    false => Value::cp(limited(number * 100.0)),
                }
            }
        };
        Some(PgnValue {
            value,
            depth: depth.unwrap_or(0),
            in_centipawns,
        })
    }
}

/// A value in the text of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PgnValue {
    /// The value.
    pub value: Value,
    /// Depth of the search in plies, 0 when unknown.
    pub depth: u16,
    /// Whether it was written in centipawns, not in pawns.
    pub in_centipawns: bool,
}

/// From White's view, in the usual form: `+0.35`, `-1.20`, `#5`, `#-3`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match *self {
            Value::Cp(cp) => format!("{:+.2}", f64::from(cp) / 100.0),
            Value::Mate { winner, moves } => {
                format!("#{}{moves}", winner.fold_wb("", "-"))
            }
        };
        f.pad(&text)
    }
}

/// A value and how it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// The value, from White's view.
    pub value: Value,
    /// Depth of the search in plies, 0 when unknown.
    pub depth: u16,
    /// Nodes of the search, 0 when unknown.
    pub nodes: u64,
    /// Wins, draws and losses per 1000 games that the engine expects, from the view of
    /// the side to move.
    pub wdl: Option<[u16; 3]>,
    /// The source: an engine's name, or the name of a collection; may be empty.
    pub source: Arc<str>,
    /// Values of single moves, each move once, best first for the side to move; may be
    /// empty.
    pub moves: Vec<MoveValue>,
}

/// The value of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveValue {
    /// The move.
    pub mv: UciMove,
    /// The value after it, from White's view.
    pub value: Value,
}

/// An evaluation without depth, nodes and source.
impl From<Value> for Evaluation {
    fn from(value: Value) -> Evaluation {
        Evaluation {
            value,
            depth: 0,
            nodes: 0,
            wdl: None,
            source: Arc::from(""),
            moves: Vec::new(),
        }
    }
}

/// An evaluation for tests, with depth 1 and one node: values from White's view.
#[doc(hidden)]
#[must_use]
pub fn known(cp: i32, moves: &[(&str, i32)]) -> Evaluation {
    let moves = moves.iter().map(|(mv, cp)| MoveValue {
        mv: mv.parse().unwrap_or(UciMove::Null),
        value: Value::cp(*cp),
    });
    Evaluation {
        depth: 1,
        nodes: 1,
        moves: moves.collect(),
        ..Evaluation::from(Value::cp(cp))
    }
}

impl Evaluation {
    /// Whether this evaluation replaces `other`: greater depth wins, at equal depth more
    /// nodes.
    #[must_use]
    pub fn is_better_than(&self, other: &Evaluation) -> bool {
        (self.depth, self.nodes) > (other.depth, other.nodes)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use Color::{Black, White};

    #[test]
    fn the_view_is_turned_for_black() {
        assert_eq!(Value::cp_of_mover(Black, 35), Value::Cp(-35));
        assert_eq!(Value::Cp(-35).for_side(Black), 35);
        let mated = Value::mate_of_mover(Black, -3);
        assert_eq!(
            mated,
            Value::Mate {
                winner: White,
                moves: 3
            }
        );
        assert!(mated.for_side(White) > 20_000);
        // Lichess: "mate":-3 with Black to move: White is mated in three.
        let lichess = Value::mate_of_white(Black, -3);
        assert_eq!(lichess, Value::mate_of_mover(Black, 3));
    }

    #[test]
    fn mates_of_epd() {
        let mate = |moves| Value::mate_of_mover(White, moves);
        for (ce, moves) in [(32_766, 1), (32_758, 5), (-32_757, -5), (-32_765, -1)] {
            assert_eq!(Value::from_ce(White, ce), Some(mate(moves)), "{ce}");
            assert_eq!(mate(moves).to_ce(White), ce);
            assert_eq!(mate(moves).reversed().to_ce(Black), ce);
        }
        assert_eq!(Value::from_ce(White, -32_767), None);
        assert_eq!(Value::from_ce(Black, 12), Some(Value::Cp(-12)));
    }

    #[test]
    fn scores_of_the_chess_cloud_database() {
        assert_eq!(
            Value::from_cdb(White, -29_988),
            Value::Mate {
                winner: Black,
                moves: 6
            }
        );
        assert_eq!(Value::from_cdb(Black, 65), Value::Cp(-65));
        assert_eq!(Value::from_cdb(White, 19_990), Value::Cp(10_000));
    }

    #[test]
    fn evaluations_in_comments() {
        let read = |turn, text| {
            let found = Value::from_pgn(turn, text).unwrap();
            (found.value, found.depth, found.in_centipawns)
        };
        assert_eq!(read(Black, "-0.35"), (Value::Cp(-35), 0, false));
        assert_eq!(read(Black, "0.17,20"), (Value::Cp(17), 20, false));
        assert_eq!(read(White, "-1.0,20"), (Value::Cp(-100), 20, false));
        assert_eq!(read(White, "3"), (Value::Cp(300), 0, false));
        // Of the side that has moved.
        assert_eq!(read(Black, "31,20"), (Value::Cp(31), 20, true));
        assert_eq!(read(White, "-28, 19"), (Value::Cp(28), 19, true));
        assert_eq!(read(White, "+411,9"), (Value::Cp(-411), 9, true));
        assert_eq!(
            read(White, "#-4").0,
            Value::Mate {
                winner: Black,
                moves: 4
            }
        );
        assert_eq!(
            read(Black, "#0,7"),
            (
                Value::Mate {
                    winner: White,
                    moves: 0
                },
                7,
                false
            )
        );
        for bad in ["", "#", "x", "1.5,y", "nan", "inf", ",3", "-,3"] {
            assert_eq!(Value::from_pgn(White, bad), None, "{bad}");
        }
    }

    #[test]
    fn commands_may_be_broken_over_lines() {
        for text in [
            "[%eval 0.31,18]",
            "[%clk 0:10:00] [%eval\n0.31,18] good",
            "[%eval\r\n0.31,18]",
            "[%eval 0.31,\n18]",
            "[%evaluation x] [%eval\t0.31,18]",
        ] {
            let found = Value::in_comment(Black, text).unwrap();
            assert_eq!((found.value, found.depth), (Value::Cp(31), 18), "{text:?}");
        }
        for text in ["", "[%eval]", "[%eval0.3]", "[%eval 0.3", "%eval 0.3]"] {
            assert_eq!(Value::in_comment(Black, text), None, "{text}");
        }
    }

    #[test]
    fn values_are_printed_from_whites_view() {
        assert_eq!(Value::Cp(-120).to_string(), "-1.20");
        assert_eq!(Value::mate_of_mover(Black, 3).to_string(), "#-3");
        assert_eq!(format!("{:>6}", Value::Cp(0)), " +0.00");
    }

    #[test]
    fn nearer_mates_are_greater() {
        let mate = |moves| Value::mate_of_mover(White, moves).for_side(White);
        assert!(mate(1) > mate(2) && mate(2) > mate(30_000));
        assert!(mate(30_000) > Value::cp(i32::MAX).for_side(White));
        assert_eq!(Value::mate_of_mover(Black, 1).clamped(White), -1000);
    }
}
