//! What a book has learned: learn values, and the games that were played from it.
//!
//! A ChessBase book has a learn value ("Fact") for every position: -125 never play into
//! it, +125 always, 0 nothing learned. A Polyglot book has two counts for every move:
//! games, and twice the points. [`Results`] holds the results of the games with a move, and
//! [`learned`] computes the learn value. The adapter records each game in a *side file* next
//! to the book ([`PlayedGame`], [`append`]), and [`LearnedBook`] adds the results of that
//! file to the values of the book.

mod overlay;
mod side;

pub use overlay::LearnedBook;
pub use side::{
    Evidence, NO_DATA_FOLDER, PlayedGame, SideFile, append, data_folder, fallback_path, file_for,
    is_refused, read_games, side_path, take_side_file, user_data,
};

use tabia_notation::Results;

/// The strength with which games in side files count.
pub const PLAY_STRENGTH: u32 = 50;

/// The highest learn value that results alone can reach.
const LEARNED_MOST: i8 = 120;

/// The change of a learn value by these games, at a strength of 0 to 100:
///
/// ```text
/// 125 * (wins - losses) / (wins + draws + losses + 10) * strength / 50
/// ```
///
/// rounded to the nearest whole number. At the strength of 50 one win gives 11, ten 63,
/// a hundred 114; draws bring the value closer to 0.
#[must_use]
pub fn shift(results: Results, strength: u32) -> i32 {
    let margin = results.wins as f64 - results.losses as f64;
    let share = margin / (results.games() as f64 + 10.0);
    #[allow(clippy::cast_possible_truncation)] // -250 to 250.
    let shift = (125.0 * share * f64::from(strength.min(100)) / 50.0).round() as i32;
    shift
}

/// The new learn value of `learn_value`, for the side that plays the move.
///
/// Results alone never make a move certain (125) or impossible (-125): they move a
/// value no further than 120 either way. A value of 125 or -125, which a user has set,
/// stays.
///
/// ```
/// use tabia_choice::learn::{PLAY_STRENGTH, learned};
/// use tabia_notation::Results;
///
/// let values = [(1, 0, 0), (10, 0, 0), (5, 100, 5), (0, 0, 1)]
///     .map(|(wins, draws, losses)| learned(Results::new(wins, draws, losses), 0, PLAY_STRENGTH));
/// assert_eq!(values, [11, 63, 0, -11]);
/// // A value that a user has set stays.
/// assert_eq!(learned(Results::new(0, 0, 99), 125, PLAY_STRENGTH), 125);
/// ```
#[must_use]
pub fn learned(results: Results, learn_value: i8, strength: u32) -> i8 {
    if !(-124..=124).contains(&learn_value) {
        return learn_value.clamp(-125, 125);
    }
    let sum = i32::from(learn_value) + shift(results, strength);
    let bounds = (
        learn_value.min(-LEARNED_MOST),
        learn_value.max(LEARNED_MOST),
    );
    i8::try_from(sum.clamp(bounds.0.into(), bounds.1.into())).unwrap_or(learn_value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tally(wins: u32, draws: u32, losses: u32) -> Results {
        Results::new(wins.into(), draws.into(), losses.into())
    }

    #[test]
    fn the_figures_of_the_documentation() {
        for (wins, strength, shift) in [(1, 50, 11), (10, 50, 63), (100, 50, 114), (1, 100, 23)] {
            assert_eq!(super::shift(tally(wins, 0, 0), strength), shift);
        }
        assert_eq!(learned(tally(0, 0, 1), 0, 50), -11);
        assert_eq!(learned(tally(5, 100, 5), 7, 50), 7);
        assert_eq!(learned(tally(1, 0, 0), 7, 0), 7);
        assert_eq!(learned(tally(100, 0, 0), 90, 50), 120);
        assert_eq!(learned(tally(0, 0, 100), 125, 50), 125);
        assert_eq!(learned(tally(1, 0, 0), 123, 50), 123);
    }

    proptest! {
        #[test]
        fn values_stay_in_bounds_and_wins_never_hurt(
            [wins, draws, losses] in any::<[u32; 3]>(), learn_value in -125..=125_i8, strength in 0..=100_u32,
        ) {
            let before = learned(tally(wins, draws, losses), learn_value, strength);
            prop_assert!((-125..=125).contains(&before));
            let more = learned(tally(wins.saturating_add(1), draws, losses), learn_value, strength);
            prop_assert!(more >= before);
            let mirrored = learned(tally(losses, draws, wins), -learn_value, strength);
            prop_assert_eq!(mirrored, -before);
        }
    }
}
