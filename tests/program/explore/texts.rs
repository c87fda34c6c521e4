//! The messages of the library that the page shows are listed for its translations.
//!
//! The texts of the page and of `translatable!` are found where they stand, and compared with
//! the translations: by `tests/page/texts.test.js`.

use std::collections::BTreeSet;

use tabia_book::policy::Rejection;

pub(super) const LISTED: &str = include_str!("../../../crates/explorer/locales/messages.txt");

/// Messages of the position library and of the server, and values of marks.
const FROM_VALUES: [&str; 9] = [
    "empty board",
    "missing king",
    "too many kings",
    "pawns on backrank",
    "opposite check",
    "main",
    "avoid",
    "none",
    "too many connections",
];

/// All reasons not to play a move; a new one causes a compile error until it is added
/// here.
fn reasons() -> Vec<Rejection> {
    use Rejection::*;
    let after = |reason: &Rejection| {
        Some(match reason {
            NoPosition => Transposition,
            Transposition => WeightZero,
            WeightZero => PastDepth,
            PastDepth => NotAsked,
            NotAsked => Exit { value: 0, limit: 0 },
            Exit { .. } => Repetition,
            Repetition => LineEnds,
            LineEnds => Forbidden,
            Forbidden => FewGames,
            FewGames => LowScore,
            LowScore => LearnedNever,
            LearnedNever => NotTheOnlyMove,
            NotTheOnlyMove => Doubtful,
            Doubtful => NotMain,
            NotMain => NotLearnedAlways,
            NotLearnedAlways => SmallShare,
            SmallShare => LosesTooMuch { loss: 0, limit: 0 },
            LosesTooMuch { .. } => ValueUnknown { limit: 0 },
            ValueUnknown { .. } => return None,
        })
    };
    std::iter::successors(Some(NoPosition), after).collect()
}

#[test]
fn every_message_of_the_library_is_listed_for_translation() {
    let mut messages = BTreeSet::from(FROM_VALUES.map(str::to_owned));
    // Reasons with figures are messages of `translatable!`.
    let plain = reasons().into_iter().filter(|reason| {
        !matches!(
            reason,
            Rejection::LosesTooMuch { .. }
                | Rejection::ValueUnknown { .. }
                | Rejection::Exit { .. }
        )
    });
    messages.extend(plain.map(|reason| reason.to_string()));
    let listed: BTreeSet<String> = LISTED.lines().map(str::to_owned).collect();
    let missing: Vec<_> = messages.difference(&listed).collect();
    let unused: Vec<_> = listed.difference(&messages).collect();
    assert!(
        missing.is_empty() && unused.is_empty(),
        "locales/messages.txt lacks {missing:#?} and has {unused:#?}"
    );
}
