//! Conversion of littlewing's scores to UCI.

use shakmaty::{Chess, Move, Position};

/// The score of a mate at the root; a mate n plies later has the score `INF - n`.
pub(super) const INF: i16 = 29_999;

/// Scores this close to `INF` are mates: littlewing's greatest ply, twice because its
/// table has distances from earlier roots.
const MATE_PLIES: i16 = 256;

pub(super) fn is_mate(score: i16) -> bool {
    plies_to_mate(score).is_some()
}

/// Number of plies to the mate, by either side.
pub(super) fn plies_to_mate(score: i16) -> Option<usize> {
    let plies = INF - score.abs();
    (plies <= MATE_PLIES).then(|| usize::try_from(plies).unwrap_or(0))
}

/// Number of moves to the mate as in UCI: negative if the engine is mated.
pub(super) fn mate_in(score: i16) -> Option<i64> {
    let plies = i64::try_from(plies_to_mate(score)?).unwrap_or(0);
    Some(if score > 0 {
        (plies + 1) / 2
    } else {
        -(plies / 2)
    })
}

/// The text after `score`. If the line ends in mate, its length is the distance:
/// littlewing's may be wrong, because its table does not adjust mate scores to the ply.
pub(super) fn render(score: i16, position: &Chess, line: &[Move]) -> String {
    let Some(moves) = mate_in(score) else {
        return format!("cp {score}");
    };
    let mut end = position.clone();
    for m in line {
        end.play_unchecked(*m);
    }
    let ours = line.len() % 2 == 1;
    if end.is_checkmate() && ours == (score > 0) {
        let plies = i16::try_from(line.len()).unwrap_or(MATE_PLIES);
        let exact = mate_in((INF - plies) * score.signum()).unwrap_or(moves);
        return format!("mate {exact}");
    }
    format!("mate {moves}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mate_distances_count_moves_not_plies() {
        for (score, expected) in [
            (INF - 1, Some(1)),
            (INF - 2, Some(1)),
            (INF - 3, Some(2)),
            (-INF + 2, Some(-1)),
            (-INF + 4, Some(-2)),
            (0, None),
            (-29_000, None),
        ] {
            assert_eq!(mate_in(score), expected, "{score}");
        }
    }

    #[test]
    fn a_line_that_mates_gives_the_distance() {
        let position: Chess = "7k/R7/8/8/8/8/8/KR6 w - - 0 1"
            .parse::<shakmaty::fen::Fen>()
            .unwrap()
            .into_position(shakmaty::CastlingMode::Standard)
            .unwrap();
        let line = [tabia_notation::find_uci(&position, b"b1b8").unwrap()];
        assert_eq!(render(INF - 7, &position, &line), "mate 1");
        assert_eq!(render(INF - 7, &position, &[]), "mate 4");
        assert_eq!(render(-35, &position, &line), "cp -35");
    }
}
