//! From centipawns to expected score.

use shakmaty::{Board, Chess, Color, Position as _};

use super::Value;

/// The slope per centipawn: fitted by lichess to its games (lila, pull 11148 of 2022;
/// python-chess and En Croissant use the same).
const LICHESS: f64 = 0.003_682_08;

/// The number of games that have the weight of an evaluation.
pub const EVALUATION_GAMES: f64 = 20.0;

/// The expected score of `side` among human players, 0 to 1: the curve of lichess.
#[must_use]
pub fn expected(value: Value, side: Color) -> f64 {
    expected_of_cp(f64::from(value.clamped(side)))
}

/// The expected score for centipawns, limited to ten pawns.
#[must_use]
pub fn expected_of_cp(cp: f64) -> f64 {
    1.0 / (1.0 + (-LICHESS * cp.clamp(-1000.0, 1000.0)).exp())
}

/// Shares of won, drawn and lost games between strong engines: Stockfish's model. `men`
/// is the material on the board: pawns 1, knights and bishops 3, rooks 5, queens 9, both
/// sides.
#[must_use]
pub fn engine_results(cp: f64, men: u32) -> [f64; 3] {
    // Published with Stockfish 17 (official-stockfish/WDL_model).
    const A: [f64; 4] = [-185.72, 504.85, -438.58, 474.05];
    const B: [f64; 4] = [89.24, -137.02, 73.29, 47.53];
    let m = f64::from(men.clamp(17, 78)) / 58.0;
    let cubic = |c: [f64; 4]| ((c[0] * m + c[1]) * m + c[2]) * m + c[3];
    let (a, b) = (cubic(A), cubic(B));
    let internal = cp * a / 100.0;
    let win = |x: f64| 1.0 / (1.0 + ((a - x) / b).exp());
    let (won, lost) = (win(internal), win(-internal));
    [won, (1.0 - won - lost).max(0.0), lost]
}

/// The material of both sides without the kings: pawns 1, knights and bishops 3,
/// rooks 5, queens 9.
#[must_use]
pub fn material(position: &Chess) -> u32 {
    let board: &Board = position.board();
    let count = |pieces: shakmaty::Bitboard, worth: u32| pieces.count() as u32 * worth;
    count(board.pawns(), 1)
        + count(board.knights() | board.bishops(), 3)
        + count(board.rooks(), 5)
        + count(board.queens(), 9)
}

/// The rating difference in Elo for a score of 0 to 1 point per game.
#[must_use]
pub fn elo(score: f64) -> f64 {
    let score = score.clamp(1e-6, 1.0 - 1e-6);
    // Avoids negative zero.
    0.0 - 400.0 * (1.0 / score - 1.0).log10()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 6e-4, "{a} {b}");
    }

    #[test]
    fn expectations_are_those_of_lichess() {
        for (cp, points) in [
            (0.0, 0.5),
            (15.0, 0.514),
            (30.0, 0.528),
            (100.0, 0.5910),
            (-100.0, 0.4090),
            (200.0, 0.676),
            (500.0, 0.863),
            (1000.0, 0.9755),
            (1500.0, 0.9755),
        ] {
            close(expected_of_cp(cp), points);
        }
        close(
            expected(Value::mate_of_mover(Color::Black, 2), Color::White),
            0.0245,
        );
    }

    #[test]
    fn a_score_is_a_difference_in_elo() {
        for (score, difference) in [(0.5, 0.0), (0.64, 99.95), (0.36, -99.95)] {
            assert!((elo(score) - difference).abs() < 0.01, "{}", elo(score));
        }
        assert!(elo(0.0) < -2000.0 && elo(1.0).is_finite());
        assert_eq!(material(&Chess::default()), 78);
    }

    #[test]
    fn engines_win_half_of_their_games_a_pawn_up() {
        for (cp, points) in [(0.0, 0.5), (50.0, 0.586), (100.0, 0.749), (200.0, 0.976)] {
            let [won, drawn, lost] = engine_results(cp, 78);
            close(won + drawn / 2.0, points);
            close(won + drawn + lost, 1.0);
        }
        close(engine_results(100.0, 78)[0], 0.5);
    }
}
