//! A position as the adapter would see it in a game: looked up, and its moves
//! weighed under all the options. For those who show books to people.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};
use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Position};

use crate::book::{BookMove, Error, Lookup, Probe, Wanted};
use crate::policy::{self, GameSituation, LineMemory, Rejection, Weighed};
use crate::settings::{OptionId, Settings};
use crate::view::PositionView;

/// The options that decide between moves, in the order in which people are
/// shown them.
pub const DECIDING: [OptionId; 14] = [
    OptionId::Preset,
    OptionId::Variety,
    OptionId::MinimumGames,
    OptionId::MinimumScore,
    OptionId::MinimumShare,
    OptionId::LearnInfluence,
    OptionId::Depth,
    OptionId::LeaveEarly,
    OptionId::Tournament,
    OptionId::Annotations,
    OptionId::Judgement,
    OptionId::MaximumLoss,
    OptionId::Transpositions,
    OptionId::AvoidRepetition,
];

/// What a book knows about a position, weighed.
#[derive(Clone, Debug, Default)]
pub struct Consulted {
    /// What the book stores, transpositions included.
    pub lookup: Lookup,
    /// One for each move of `lookup`, in its order.
    pub verdicts: Vec<Weighed>,
    /// Indices into the moves, heaviest first.
    order: Vec<usize>,
}

impl Consulted {
    /// The moves with their verdicts, heaviest first; among equals those of
    /// more games.
    pub fn rows(&self) -> impl Iterator<Item = (&BookMove, &Weighed)> {
        self.order
            .iter()
            .filter_map(|index| Some((self.lookup.moves.get(*index)?, self.verdicts.get(*index)?)))
    }

    /// All of it as people are shown it.
    #[must_use]
    pub fn view(&self, position: &Chess) -> PositionView {
        PositionView::new(position, self.lookup.here, self.rows())
    }

    /// Draws a move by its probability, as the adapter does; `None` if the
    /// book has no move that may be played.
    pub fn draw(&self, rng: &mut dyn Rng) -> Option<&BookMove> {
        policy::pick(&self.verdicts, rng).and_then(|drawn| self.lookup.moves.get(drawn))
    }

    /// The likeliest move that may be played.
    #[must_use]
    pub fn best(&self) -> Option<&BookMove> {
        policy::best(&self.verdicts).and_then(|best| self.lookup.moves.get(best))
    }
}

/// Asks a book about a position, `before` which these were on the board.
///
/// # Errors
///
/// As for [`Probe::probe`].
pub fn consult(
    book: &dyn Probe,
    position: &Chess,
    before: &[Chess],
    settings: &Settings,
) -> Result<Consulted, Error> {
    consult_knowing(book, &LineMemory::default(), position, before, settings)
}

/// The same, with what is known of the book's lines from other times.
///
/// # Errors
///
/// As for [`Probe::probe`].
pub fn consult_knowing(
    book: &dyn Probe,
    lines: &LineMemory,
    position: &Chess,
    before: &[Chess],
    settings: &Settings,
) -> Result<Consulted, Error> {
    let mut lookup = Lookup::default();
    book.probe(position, Wanted::Transpositions, &mut lookup)?;
    let repeats = |next: &Chess| before.contains(next);
    let circumstances = GameSituation {
        position,
        book,
        repeats: settings
            .check(OptionId::AvoidRepetition)
            .then_some(&repeats),
        line_plies: 2 * settings.number(OptionId::LeaveEarly),
        lines,
    };
    let past_depth = position.fullmoves().get() > settings.number(OptionId::Depth);
    let mut verdicts = Vec::new();
    policy::weigh(
        &lookup.moves,
        &settings.policy(),
        |candidate| match past_depth {
            true => Some(Rejection::PastDepth),
            false => circumstances.against(candidate),
        },
        &mut verdicts,
    );
    let mut order: Vec<usize> = (0..lookup.moves.len()).collect();
    let rank = |index: &usize| {
        let games = lookup.moves.get(*index).map_or(0, |mv| mv.stats().games);
        let verdict = verdicts.get(*index).copied().unwrap_or_default();
        (verdict.weight, f64::from(games))
    };
    order.sort_by(|a, b| {
        let (a, b) = (rank(a), rank(b));
        b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
    Ok(Consulted {
        lookup,
        verdicts,
        order,
    })
}

/// The random numbers for the choice of a book move. Equal arguments give equal
/// numbers: `game` counts the games that an adapter has played from its books,
/// `draw` the choices that must differ in equal games.
pub fn chance(seed: u64, game: u64, position: &Chess, draw: u64) -> impl Rng + use<> {
    let Zobrist64(place) = position.zobrist_hash(EnPassantMode::Legal);
    [game, place, draw]
        .into_iter()
        .fold(Xoshiro256PlusPlus::seed_from_u64(seed), |mut rng, part| {
            Xoshiro256PlusPlus::seed_from_u64(rng.next_u64() ^ part)
        })
}
