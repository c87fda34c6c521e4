//! Reads engines' values from the comments that match managers write.

use std::sync::Arc;

use shakmaty::{Chess, Color, Position as _};

use tabia_book::eval::{Evaluation, Value};
use tabia_games::{Game, Item};

/// The first value after the book in the comments of one side's moves, and the position
/// of that value.
pub(super) fn first(game: &Game, plies: usize, side: Color) -> Option<(Chess, Evaluation)> {
    let mut depth = 0;
    let mut ply = 0;
    for item in &game.movetext {
        match item {
            Item::Begin => depth += 1,
            Item::End => depth -= 1,
            Item::Move(_) | Item::Null if depth == 0 => ply += 1,
            Item::Comment(text) if depth == 0 && ply > plies => {
                let before = game.positions.get(ply - 1)?;
                if before.turn() == side
                    && let Some(comment_value) = comment_value(text, side)
                {
                    let position = match comment_value.after_move {
                        true => game.positions.get(ply)?,
                        false => before,
                    };
                    let evaluation = Evaluation {
                        depth: comment_value.depth,
                        source: Arc::from(game.names.get(side).as_str()),
                        ..Evaluation::from(comment_value.value)
                    };
                    return Some((position.clone(), evaluation));
                }
            }
            _ => {}
        }
    }
    None
}

/// A value in a comment.
struct CommentValue {
    value: Value,
    /// Depth in plies, 0 if the comment has none.
    depth: u16,
    /// Whether it is the value of the position after the move.
    after_move: bool,
}

/// The value in a comment of cutechess or fastchess: `+0.35/21 3.2s`, `-M12/30 0.1s`, for
/// the mover before the move; or lichess's `[%eval 0.35]`, for White after it. Book moves
/// (`book`) have none.
fn comment_value(comment: &str, mover: Color) -> Option<CommentValue> {
    if let Some(found) = Value::in_comment(!mover, comment) {
        return Some(CommentValue {
            value: found.value,
            depth: found.depth,
            after_move: true,
        });
    }
    let (text, depth) = comment.trim().split(' ').next()?.split_once('/')?;
    let depth = depth.trim_end_matches(',').parse().ok()?;
    let (sign, number) = match text.strip_prefix('-') {
        Some(number) => (-1, number),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let value = if let Some(plies) = number.strip_prefix('M') {
        // In plies, from the mover's view.
        let plies = plies.parse::<i32>().ok().filter(|plies| *plies < 10_000)?;
        Value::mate_of_mover(mover, sign * (plies + 1) / 2)
    } else {
        let pawns: f64 = number.parse().ok().filter(|p: &f64| p.is_finite())?;
        let cp = (100.0 * pawns).round().clamp(-1e6, 1e6) as i32;
        Value::cp_of_mover(mover, sign * cp)
    };
    Some(CommentValue {
        value,
        depth,
        after_move: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Neither that of a variation nor one inside the book.
    #[test]
    fn the_first_value_after_the_book_counts() {
        use tabia_games::{GameParts, GameSource as _, PgnSource};
        let text = "1. e4 {+9.00/9 1s} e5 {+8.00/9 1s} 2. Nf3 (2. f4 {+7.00/9 1s}) {book} \
                    2... Nc6 {-0.20/18 1s} 3. Bb5 {+0.35/21 1s} 3... a6 {+0.10/3 1s} *\n";
        let mut source = PgnSource::new("a text", Box::new(text.as_bytes()), Arc::default());
        let mut batch = source.next_batch().unwrap().unwrap();
        let mut game = Game::default();
        assert!(batch.next_game(GameParts::EVERYTHING, &mut game).unwrap());
        for (plies, side, ply, value) in [
            (2, Color::White, 4, 35),
            (2, Color::Black, 3, 20),
            (0, Color::White, 0, 900),
            (4, Color::Black, 5, -10),
        ] {
            let (position, found) = first(&game, plies, side).unwrap();
            assert_eq!(position, game.positions[ply], "{plies} {side}");
            assert_eq!(found.value, Value::cp(value), "{plies} {side}");
        }
        assert_eq!(first(&game, 6, Color::White), None);
    }

    #[test]
    fn values_of_managers_are_the_movers() {
        let of =
            |text: &str, mover| comment_value(text, mover).map(|t| t.value.for_side(Color::White));
        assert_eq!(of("+0.35/21 3.2s", Color::White), Some(35));
        assert_eq!(of("+0.35/21 3.2s", Color::Black), Some(-35));
        assert_eq!(of("-1.20/18 0.301s, n=1000", Color::Black), Some(120));
        assert_eq!(of("0.00/5 0s", Color::White), Some(0));
        assert_eq!(of("[%eval 0.50] [%clk 0:01:00]", Color::Black), Some(50));
        assert!(of("-M12/30 0.1s", Color::White).unwrap() < -10_000);
        assert!(of("+M5/30 0.1s", Color::Black).unwrap() < -10_000);
        for none in [
            "book",
            "",
            "a/b",
            "1/2-1/2",
            "good/bad move",
            "+M99999999999/3",
        ] {
            assert_eq!(of(none, Color::White), None, "{none}");
        }
        let comment_value = |text| comment_value(text, Color::White).unwrap();
        assert_eq!(
            (
                comment_value("+0.35/21 3s").depth,
                comment_value("+0.35/21 3s").after_move
            ),
            (21, false)
        );
        assert_eq!(
            (
                comment_value("[%eval 0.2,18]").depth,
                comment_value("[%eval 0.2,18]").after_move
            ),
            (18, true)
        );
    }
}
