//! Estimates the score of a move from its results, also with few games.

/// The score of `points` in `games`, after adding `weight` games with `prior` points
/// each: so rare moves stay near their expected score.
pub(super) fn shrunk(points: f64, games: f64, prior: f64, weight: f64) -> f64 {
    (points + prior * weight) / (games + weight)
}

/// The score of a move among equal players: strong players choose good moves *and* win.
/// `difference` is the mean rating of its players minus that of their opponents.
pub(super) fn among_equals(score: f64, difference: f64) -> f64 {
    if score <= 0.0 || score >= 1.0 {
        return score;
    }
    let odds = (score / (1.0 - score)).ln() - difference * std::f64::consts::LN_10 / 400.0;
    1.0 / (1.0 + (-odds).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 6e-4, "{a} {b}");
    }

    #[test]
    fn shrunk_scores() {
        for (w, d, l, expected) in [
            (1.0, 0.0, 0.0, 0.524),
            (3.0, 0.0, 0.0, 0.565),
            (10.0, 0.0, 1.0, 0.645),
            (3.0, 4.0, 3.0, 0.5),
            (55.0, 30.0, 40.0, 0.552),
            (5500.0, 3000.0, 4000.0, 0.560),
        ] {
            close(shrunk(w + d / 2.0, w + d + l, 0.5, 20.0), expected);
        }
    }

    #[test]
    fn stronger_players_are_expected_to_win() {
        close(among_equals(0.64, 100.0), 0.5);
        close(among_equals(0.5, 10.0), 0.5 - 0.0144);
        assert_eq!(among_equals(1.0, 100.0), 1.0);
    }
}
