//! The settings of each value of `Book Preset`.

use super::{OptionId, OptionValue};

/// The preset without values.
pub(super) const CUSTOM: OptionValue = OptionValue::Combo(0);

/// What `Optimize`, `Normal` and `Handicap` set, in the order of
/// [`PRESETS`](super::PRESETS). `Optimize` plays well-tested moves with the best scores,
/// `Normal` has the default values, `Handicap` plays any move of the book.
const TABLE: [(OptionId, [OptionValue; 3]); 7] = {
    use OptionId as Id;
    use OptionValue::{Check, Spin};
    [
        (Id::Variety, [Spin(15), Spin(50), Spin(100)]),
        (Id::LearnInfluence, [Spin(100), Spin(50), Spin(0)]),
        (Id::Tournament, [Check(true), Check(true), Check(false)]),
        (Id::Annotations, [Check(true), Check(true), Check(false)]),
        (Id::MinimumGames, [Spin(5), Spin(1), Spin(0)]),
        (Id::MinimumScore, [Spin(40), Spin(0), Spin(0)]),
        (Id::MinimumShare, [Spin(50), Spin(5), Spin(0)]),
    ]
};

/// The options that presets set.
pub(super) fn options() -> impl Iterator<Item = OptionId> {
    TABLE.iter().map(|(id, _)| *id)
}

/// The options that a value of `Book Preset` sets, and their values.
pub(super) fn values(
    preset: &OptionValue,
) -> impl Iterator<Item = (OptionId, OptionValue)> + use<> {
    let column = match preset {
        OptionValue::Combo(index) => index.checked_sub(1),
        _ => None,
    };
    TABLE
        .iter()
        .filter_map(move |(id, values)| Some((*id, values.get(column?)?.clone())))
}
