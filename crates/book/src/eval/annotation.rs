//! Annotations of moves and symbols of positions, from values.

use shakmaty::Color;

use super::{Value, model};
use crate::Annotation;

/// The annotation of a move that loses points, by the rule of lichess: 5, 10 or 15 of 100
/// points lost are `?!`, `?` and `??`. `before` is the value of the position with best
/// play, `after` that of the position reached; `mover` played the move.
///
/// If the move allows a mate, or throws one away, the annotation depends on how lost or
/// won the game was without that mate.
#[must_use]
pub fn of_move(before: Value, after: Value, mover: Color) -> Option<Annotation> {
    let mate_for = |value, side| matches!(value, Value::Mate { winner, .. } if winner == side);
    let (was, is) = (before.for_side(mover), after.for_side(mover));
    // The value of the game without the mate.
    let spoilt = if mate_for(after, !mover) && !mate_for(before, !mover) {
        Some(-was)
    } else if mate_for(before, mover) && !mate_for(after, mover) {
        Some(is)
    } else {
        None
    };
    if let Some(clear) = spoilt {
        return Some(match clear {
            1000.. => Annotation::DUBIOUS,
            701.. => Annotation::MISTAKE,
            _ => Annotation::BLUNDER,
        });
    }
    let lost = model::expected(before, mover) - model::expected(after, mover);
    match lost {
        0.15.. => Some(Annotation::BLUNDER),
        0.10.. => Some(Annotation::MISTAKE),
        0.05.. => Some(Annotation::DUBIOUS),
        _ => None,
    }
}

/// The symbol of a position (a NAG, as seen on the real board): `=` within 5
/// of 100 points, `+=` from 55, `+/-` from 65, `+-` from 80, and the same for
/// Black.
#[must_use]
pub fn of_position(value: Value) -> u8 {
    let white = model::expected(value, Color::White);
    match white {
        0.80.. => 18,
        0.65.. => 16,
        0.55.. => 14,
        _ if white > 0.45 => 10,
        _ if white > 0.35 => 15,
        _ if white > 0.20 => 17,
        _ => 19,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Color::{Black, White};

    #[test]
    fn points_given_away_make_the_sign() {
        let annotation = |before, after| {
            let white = of_move(Value::Cp(before), Value::Cp(after), White);
            let black = of_move(Value::Cp(-before), Value::Cp(-after), Black);
            assert_eq!(white, black);
            white.map_or("", Annotation::symbol)
        };
        assert_eq!(annotation(20, -40), "?!");
        assert_eq!(annotation(900, 600), "?!");
        assert_eq!(annotation(20, 0), "");
        assert_eq!(annotation(0, -115), "?");
        assert_eq!(annotation(0, -200), "??");
    }

    #[test]
    fn mates_are_annotated_by_the_value_before() {
        let mated = Value::mate_of_mover(Black, 4);
        let annotation = |before| of_move(Value::Cp(before), mated, White).map(Annotation::symbol);
        assert_eq!(annotation(-650), Some("??"));
        assert_eq!(annotation(-800), Some("?"));
        assert_eq!(annotation(-1200), Some("?!"));
        let thrown = |after| of_move(mated, Value::Cp(after), Black).map(Annotation::symbol);
        assert_eq!(thrown(-1200), Some("?!"));
        assert_eq!(thrown(-100), Some("??"));
    }

    #[test]
    fn symbols_are_those_of_the_real_board() {
        let nags =
            [-2000, -400, -200, -60, -53, 0, 53, 60, 200, 400].map(|cp| of_position(Value::cp(cp)));
        assert_eq!(nags, [19, 19, 17, 15, 10, 10, 10, 14, 16, 18]);
    }
}
