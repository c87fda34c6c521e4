//! A choice between the moves of a book: the look-up, and the weighing by all rules. Used
//! by the adapter, `tabia probe` and the explorer.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};
use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Position};

use super::{GameSituation, LineMemory, Policy, Rejection, Weighed, best, pick, weigh};
use crate::{BookMove, Error, Lookup, Probe, Wanted};

tabia_io::options! {
    /// The rules of a choice: the policy, and rules that depend on the game. By default
    /// those of an adapter without options.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Rules {
        /// The policy for weighing moves.
        policy: Policy = Policy::default(),
        /// The last move number that is played from the book.
        depth: u32 = 1000,
        /// Plies that the line must have in the book after a move.
        line_plies: u32 = 0,
        /// Whether to reject moves into positions that have occurred in the game.
        avoid_repetition: bool = true,
        /// The values of a position at which the book is not used.
        exit: Exit = Exit::default(),
        /// The engine's value of the position, in centipawns for the side to move; used if no
        /// move of the book has an evaluation.
        value: Option<i32> = None,
    }
}

/// Values of a position, in centipawns for the side to move, at which a book is not used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// Not used below this value.
    pub below: Option<i32>,
    /// Not used above this value.
    pub above: Option<i32>,
}

impl Exit {
    /// The reason to reject every move of a position with this value.
    #[must_use]
    pub fn against(self, value: i32) -> Option<Rejection> {
        let below = self.below.filter(|below| value < *below);
        let limit = below.or(self.above.filter(|above| value > *above))?;
        Some(Rejection::Exit { value, limit })
    }
}

/// The value of a position: that of its best evaluated move.
fn value(moves: &[BookMove]) -> Option<i32> {
    let evaluation = moves.iter().find_map(|entry| entry.evaluation)?;
    Some(evaluation.value.saturating_add_unsigned(evaluation.loss))
}

impl Rules {
    /// Weighs the moves that a book has in a position. `repeats` returns whether a
    /// position has occurred in the game.
    pub fn weigh(
        &self,
        (book, lines): (&dyn Probe, &LineMemory),
        position: &Chess,
        moves: &[BookMove],
        repeats: &dyn Fn(&Chess) -> bool,
        verdicts: &mut Vec<Weighed>,
    ) {
        let situation = GameSituation {
            position,
            book,
            repeats: self.avoid_repetition.then_some(repeats),
            line_plies: self.line_plies,
            lines,
        };
        let past_depth = position.fullmoves().get() > self.depth;
        let of_position = match past_depth {
            true => Some(Rejection::PastDepth),
            false => value(moves)
                .or(self.value)
                .and_then(|value| self.exit.against(value)),
        };
        let reject = |candidate: &BookMove| of_position.or_else(|| situation.against(candidate));
        weigh(moves, &self.policy, reject, verdicts);
    }
}

/// A policy of your own: it decides between the moves that a book has in a position,
/// where [`weigh`] does otherwise.
///
/// ```
/// use shakmaty::Chess;
/// use tabia_book::BookMove;
/// use tabia_book::policy::{ChooseMove, Weighed};
///
/// /// Plays the move with the most games.
/// struct MostPlayed;
///
/// impl ChooseMove for MostPlayed {
///     fn choose(&self, _: &Chess, moves: &[BookMove], verdicts: &mut [Weighed]) {
///         let most = moves.iter().map(|entry| entry.stats().games).max();
///         for (entry, verdict) in moves.iter().zip(verdicts) {
///             let is_most = Some(entry.stats().games) == most;
///             verdict.probability = if is_most { 1.0 } else { 0.0 };
///         }
///     }
/// }
/// ```
pub trait ChooseMove {
    /// Sets the probability of each move, in any unit: they are divided by their sum
    /// afterwards; without any above 0 the book does not answer.
    ///
    /// `verdicts` has one verdict for each of `moves`, in their order, as the
    /// [`Rules`] have made them. A move that they reject may be given a
    /// probability, except one that the GUI has not asked for
    /// ([`Rejection::NotAsked`]). Called again for each look-up of a position: equal
    /// arguments should give equal probabilities.
    fn choose(&self, position: &Chess, moves: &[BookMove], verdicts: &mut [Weighed]);
}

/// Lets a policy decide between weighed moves, and makes the sum of the probabilities 1.
pub fn choose_by(
    policy: &dyn ChooseMove,
    position: &Chess,
    moves: &[BookMove],
    verdicts: &mut [Weighed],
) {
    policy.choose(position, moves, verdicts);
    for verdict in verdicts.iter_mut() {
        let is_chosen = verdict.probability > 0.0 && verdict.probability.is_finite();
        match verdict.rejection {
            _ if !is_chosen => verdict.probability = 0.0,
            Some(Rejection::NotAsked) => verdict.probability = 0.0,
            _ => verdict.rejection = None,
        }
    }
    let sum: f64 = verdicts.iter().map(|verdict| verdict.probability).sum();
    for verdict in verdicts.iter_mut().filter(|_| sum > 0.0) {
        verdict.probability /= sum;
    }
}

/// What a book stores about a position, with verdicts on the moves.
#[derive(Clone, Debug, Default)]
pub struct WeighedMoves {
    /// The look-up, including transpositions.
    pub lookup: Lookup,
    /// One verdict for each move of `lookup`, in its order.
    pub verdicts: Vec<Weighed>,
    /// Indices into the moves, heaviest first.
    order: Vec<usize>,
}

impl WeighedMoves {
    /// The moves with their verdicts, heaviest first; at equal weight those with more
    /// games first.
    pub fn rows(&self) -> impl Iterator<Item = (&BookMove, &Weighed)> {
        self.order
            .iter()
            .filter_map(|index| Some((self.lookup.moves.get(*index)?, self.verdicts.get(*index)?)))
    }

    /// Draws a move by its probability, as the adapter does; `None` if no move may be
    /// played.
    ///
    /// # Examples
    ///
    /// A line of the book:
    ///
    /// ```
    /// use shakmaty::{Chess, Position as _};
    /// use tabia_book::policy::{Policy, Rules, chance, choose};
    /// use tabia_book::{Book, OpenOptions};
    ///
    /// let book = Book::open("tests/data/ctg/simple.ctg", &OpenOptions::default())?;
    /// // More variety than usual: 50 draws in proportion to the weights.
    /// let rules = Rules::default().policy(Policy::default().variety(70));
    /// let (mut position, mut before, mut line) = (Chess::default(), Vec::new(), Vec::new());
    /// loop {
    ///     let found = choose(&book, &position, &before, &rules)?;
    ///     // The same seed, game and position give the same move.
    ///     let Some(drawn) = found.draw(&mut chance(3, 0, &position, 0)) else {
    ///         break;
    ///     };
    ///     line.push(drawn.mv.to_string());
    ///     before.push(position.clone());
    ///     position.play_unchecked(drawn.mv);
    /// }
    /// assert_eq!(line, ["d2-d4", "d7-d5"]);
    /// # Ok::<(), tabia_book::Error>(())
    /// ```
    pub fn draw(&self, rng: &mut dyn Rng) -> Option<&BookMove> {
        pick(&self.verdicts, rng).and_then(|drawn| self.lookup.moves.get(drawn))
    }

    /// The most probable move, if any may be played.
    #[must_use]
    pub fn best(&self) -> Option<&BookMove> {
        best(&self.verdicts).and_then(|best| self.lookup.moves.get(best))
    }
}

/// Looks up a position and weighs its moves; `before` are the earlier positions of the
/// game.
///
/// # Errors
///
/// As for [`Probe::probe`].
///
/// # Examples
///
/// A move with too few games is not played:
///
/// ```
/// use shakmaty::{CastlingMode, Chess, fen::Fen};
/// use tabia_book::policy::{Policy, Rejection, Rules, choose};
/// use tabia_book::{Book, OpenOptions};
///
/// let book = Book::open("tests/data/ctg/simple.ctg", &OpenOptions::default())?;
/// let fen: Fen = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1".parse()?;
/// let position: Chess = fen.into_position(CastlingMode::Chess960)?;
/// let rules = Rules::default().policy(Policy::default().minimum_games(10));
/// let found = choose(&book, &position, &[], &rules)?;
/// let (entry, verdict) = found.rows().next().unwrap();
/// assert_eq!((entry.mv.to_string(), entry.stats().games), ("d7-d5".to_owned(), 1));
/// assert_eq!(verdict.rejection, Some(Rejection::FewGames));
/// assert_eq!(verdict.probability, 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn choose(
    book: &dyn Probe,
    position: &Chess,
    before: &[Chess],
    rules: &Rules,
) -> Result<WeighedMoves, Error> {
    choose_knowing(book, &LineMemory::default(), position, before, rules)
}

/// As [`choose`], with a cache of the lengths of the book's lines.
///
/// # Errors
///
/// As for [`Probe::probe`].
pub fn choose_knowing(
    book: &dyn Probe,
    lines: &LineMemory,
    position: &Chess,
    before: &[Chess],
    rules: &Rules,
) -> Result<WeighedMoves, Error> {
    let mut lookup = Lookup::default();
    book.probe(position, Wanted::Transpositions, &mut lookup)?;
    let repeats = |next: &Chess| before.contains(next);
    let mut verdicts = Vec::new();
    rules.weigh(
        (book, lines),
        position,
        &lookup.moves,
        &repeats,
        &mut verdicts,
    );
    let mut order: Vec<usize> = (0..lookup.moves.len()).collect();
    let rank = |index: &usize| {
        let games = lookup
            .moves
            .get(*index)
            .map_or(0, |entry| entry.stats().games);
        let verdict = verdicts.get(*index).copied().unwrap_or_default();
        (verdict.weight, f64::from(games))
    };
    order.sort_by(|a, b| {
        let (a, b) = (rank(a), rank(b));
        b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
    Ok(WeighedMoves {
        lookup,
        verdicts,
        order,
    })
}

/// The random numbers for the choice of a book move. Equal arguments give equal numbers:
/// `game` counts the games that an adapter has played, `draw` the choices that must
/// differ in equal games.
pub fn chance(seed: u64, game: u64, position: &Chess, draw: u64) -> impl Rng + use<> {
    let Zobrist64(place) = position.zobrist_hash(EnPassantMode::Legal);
    [game, place, draw]
        .into_iter()
        .fold(Xoshiro256PlusPlus::seed_from_u64(seed), |mut rng, part| {
            Xoshiro256PlusPlus::seed_from_u64(rng.next_u64() ^ part)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Annotation;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_book_is_silent_outside_its_values(
            below in prop::option::of(-30..30),
            above in prop::option::of(-30..30),
            evaluation in prop::collection::vec(prop::option::of(-30..30), 1..5),
            searched in prop::option::of(-30..30),
        ) {
            let position = Chess::default();
            let best = evaluation.iter().copied().flatten().max();
            let moves: Vec<BookMove> = position
                .legal_moves()
                .into_iter()
                .zip(&evaluation)
                .map(|(entry, value)| BookMove {
                    evaluation: value.zip(best).map(|(value, best)| crate::MoveEvaluation {
                        value,
                        loss: best.abs_diff(value),
                        depth: 0,
                    }),
                    ..BookMove::stored(entry, Annotation(0), Some(crate::PositionRecord::default()))
                })
                .collect();
            let rules = Rules {
                policy: Policy { minimum_games: 0, ..Policy::default() },
                exit: Exit { below, above },
                value: searched,
                ..Rules::default()
            };
            let mut verdicts = Vec::new();
            let nothing = Nothing;
            rules.weigh(
                (&nothing, &LineMemory::default()),
                &position,
                &moves,
                &|_| false,
                &mut verdicts,
            );
            let value = best.or(searched);
            let outside = value.is_some_and(|value| {
                below.is_some_and(|below| value < below) || above.is_some_and(|above| value > above)
            });
            prop_assert_eq!(verdicts.iter().all(|verdict| verdict.probability == 0.0), outside);
        }
    }

    /// Equal games draw equal moves; any other seed, game, position or draw does not.
    #[test]
    fn chance_depends_on_all_of_its_arguments() {
        let numbers = [0, 1, 2, 1 << 63, u64::MAX];
        let start = Chess::default();
        let next = tabia_notation::after(&start, start.legal_moves()[0]);
        let mut drawn = std::collections::HashSet::new();
        for seed in numbers {
            for game in numbers {
                for draw in numbers {
                    for position in [&start, &next] {
                        let first = chance(seed, game, position, draw).next_u64();
                        assert_eq!(first, chance(seed, game, position, draw).next_u64());
                        assert!(drawn.insert(first), "{seed} {game} {draw}");
                    }
                }
            }
        }
    }

    /// An empty book.
    struct Nothing;

    impl Probe for Nothing {
        fn probe(&self, _: &Chess, _: Wanted, _: &mut Lookup) -> Result<(), Error> {
            Ok(())
        }

        fn contains(&self, _: &Chess) -> Result<bool, Error> {
            Ok(false)
        }
    }
}
