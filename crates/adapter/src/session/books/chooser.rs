//! Data about the present position and game for choosing book moves.
//!
//! The books' moves for a position are cached until the next position comes, so that
//! they can be looked up before the `go`.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use rand::Rng;
use shakmaty::{Chess, Move, Position};

use super::super::game::Game;
use super::seed::Seed;
use super::why::NoAnswerReason;
use tabia_book::policy::{self, ChooseMove, Exit, LineMemory, Weighed, chance};
use tabia_book::{BookMove, Lookup, Probe, Wanted};
use tabia_choice::book_set::BookSet;
use tabia_choice::settings::Options;

/// Data about a game for choosing book moves, and buffers.
#[derive(Debug, Default)]
pub(super) struct BookChooser {
    pub(super) misses: u32,
    missed: Missed,
    /// Number of earlier games in which the books were asked.
    games: u64,
    /// The books have been asked in this game, so it counts.
    is_counted: bool,
    /// How many moves were drawn, for draws that must not repeat.
    draws: u64,
    /// Why each book of the book set did not answer when they were last asked.
    pub(super) no_answer_reasons: Vec<NoAnswerReason>,
    /// What each book of the book set has in the present position.
    found: Vec<FoundBook>,
    /// The verdicts on the moves of the book that was looked up last.
    verdicts: Vec<Weighed>,
    /// The opponent's most probable replies, by book and move.
    replies: Vec<((usize, Move), Option<Move>)>,
    reply: Lookup,
    reply_verdicts: Vec<Weighed>,
    /// The present position has been looked up, for a `go` or in advance.
    is_prepared: bool,
    /// The settings in force for each book of the book set.
    pub(super) settings: Vec<Options>,
    /// Index of the book that has answered last.
    pub(super) answered_by: Option<usize>,
    /// The value of the engine's last search in this game, in centipawns for White.
    pub(super) value: Option<i32>,
    /// Paths of the books with reported errors, and reported settings in force. One
    /// report is enough: a truncated book has a different error in every position.
    pub(super) reported: HashSet<String>,
    pub(super) policy: OwnPolicy,
}

/// A policy instead of the built-in one.
#[derive(Default)]
pub(super) struct OwnPolicy(pub(super) Option<Arc<dyn ChooseMove + Send + Sync>>);

impl OwnPolicy {
    fn apply(&self, position: &Chess, moves: &[BookMove], verdicts: &mut [Weighed]) {
        if let Some(own) = &self.0 {
            policy::choose_by(&**own, position, moves, verdicts);
        }
    }
}

impl fmt::Debug for OwnPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnPolicy").field(&self.0.is_some()).finish()
    }
}

/// What becomes of positions that the books do not know (`Book Miss Limit`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Missed {
    /// Unknown positions are counted.
    #[default]
    Counted,
    /// Unknown positions are counted; the last one will count if the ponder move is played.
    OnPonderHit,
    /// Too many positions were unknown: the books are closed for this game.
    Shut,
}

/// The entry of the present position in a book, if it was asked.
#[derive(Debug, Default)]
struct FoundBook {
    probed_for: Option<Wanted>,
    lookup: Lookup,
    /// How long its lines are, as far as that has been looked up.
    lines: LineMemory,
}

impl BookChooser {
    pub(super) fn new_game(&mut self) {
        self.misses = 0;
        if self.missed == Missed::Shut {
            self.missed = Missed::Counted;
        }
        self.value = None;
    }

    /// Counts a new game announced by `ucinewgame`. Only these count for a seed:
    /// detecting a new game from the positions may depend on timing. Returns true if the
    /// books were asked in the game before.
    pub(super) fn count_game(&mut self) -> bool {
        let counted = std::mem::take(&mut self.is_counted);
        self.games += u64::from(counted);
        counted
    }

    /// Counts that the books are asked in this game.
    pub(super) fn count_question(&mut self) {
        self.is_counted = true;
        self.draws += 1;
        self.is_prepared = true;
    }

    pub(super) fn settings_changed(&mut self) {
        self.settings.clear();
        self.answered_by = None;
        self.replies.clear();
        self.is_prepared = false;
    }

    /// Call this when the books have been opened again.
    pub(super) fn forget_books(&mut self) {
        self.settings_changed();
        self.found.clear();
        self.forget_position();
    }

    /// Call this when the position has changed.
    pub(super) fn forget_position(&mut self) {
        for found in &mut self.found {
            found.probed_for = None;
        }
        self.replies.clear();
        self.is_prepared = false;
        if self.missed == Missed::OnPonderHit {
            self.missed = Missed::Counted;
        }
    }

    /// The books do not know the position. Returns true if that counts as a miss now, and
    /// not only if a ponder move is played.
    pub(super) fn miss(&mut self, ponder: bool) -> bool {
        debug_assert!(!self.is_shut(), "closed books were asked");
        self.missed = match ponder {
            true => Missed::OnPonderHit,
            false => Missed::Counted,
        };
        !ponder
    }

    /// The ponder move is played; true if the books did not know it.
    pub(super) fn take_missed_guess(&mut self) -> bool {
        let missed = self.missed == Missed::OnPonderHit;
        if missed {
            self.missed = Missed::Counted;
        }
        missed
    }

    /// Counts a miss; true if `limit` is reached by it.
    pub(super) fn count_miss(&mut self, limit: u32) -> bool {
        self.misses += 1;
        let reached = limit > 0 && self.misses >= limit && !self.is_shut();
        if reached {
            self.missed = Missed::Shut;
        }
        reached
    }

    /// Whether the books are closed, because too many positions of this game were unknown.
    pub(super) const fn is_shut(&self) -> bool {
        matches!(self.missed, Missed::Shut)
    }

    /// Whether the present position has been looked up.
    pub(super) const fn is_prepared(&self) -> bool {
        self.is_prepared
    }

    /// The present position is looked up in advance.
    pub(super) const fn prepare(&mut self) {
        self.is_prepared = true;
    }

    /// The random generator for the next choice. With a seed it depends only on the seed,
    /// the game and the position, so that equal games get equal moves whatever happens in
    /// between; without a seed no two choices are the same.
    pub(super) fn chance(&self, seed: Seed, position: &Chess) -> impl Rng + use<> {
        let (seed, game, draw) = match seed {
            Seed::Entropy(entropy) => (entropy, self.games, self.draws),
            Seed::Engine(seed) => (seed.into(), self.games, 0),
            Seed::Game(seed) => (seed.into(), 0, 0),
        };
        chance(seed, game, position, draw)
    }

    pub(super) fn refresh_settings(&mut self, general: &Options, book_set: &BookSet) {
        if self.settings.len() != book_set.books.len() {
            self.settings = book_set
                .books
                .iter()
                .map(|book| book.spec.options(general))
                .collect();
        }
        self.found
            .resize_with(book_set.books.len(), FoundBook::default);
    }

    /// The settings in force for a book, if they have not been reported.
    pub(super) fn unreported_settings(&mut self, index: usize) -> Option<String> {
        let text = self.settings.get(index)?.in_force()?;
        self.reported.insert(text.clone()).then_some(text)
    }

    /// Whether a book may be skipped because of the engine's values.
    pub(super) fn exits_by_value(&self) -> bool {
        let exits = |settings: &Options| settings.rules().exit != Exit::default();
        self.settings.iter().any(exits)
    }

    /// The settings of the book that has answered last.
    pub(super) fn answering(&self) -> Option<&Options> {
        self.settings.get(self.answered_by?)
    }

    /// Looks a position up in one book and weighs its moves.
    pub(super) fn look_up(
        &mut self,
        (index, book): (usize, &dyn Probe),
        settings: &Options,
        game: &Game,
        position: &Chess,
        searchmoves: Option<&[Move]>,
    ) -> Result<(), String> {
        self.probe((index, book), settings, position)?;
        let Some(found) = self.found.get(index) else {
            return Ok(());
        };
        let repeats = |next: &Chess| game.repeats(next);
        let value = self.value;
        let rules = settings
            .rules()
            .value(value.map(|white| position.turn().fold_wb(white, -white)));
        let moves = &found.lookup.moves;
        let verdicts = &mut self.verdicts;
        rules.weigh((book, &found.lines), position, moves, &repeats, verdicts);
        if let Some(searchmoves) = searchmoves {
            policy::narrow(moves, &rules.policy, searchmoves, &mut self.verdicts);
        }
        self.policy.apply(position, moves, &mut self.verdicts);
        Ok(())
    }

    /// Looks a position up in one book, unless that has been done.
    pub(super) fn probe(
        &mut self,
        (index, book): (usize, &dyn Probe),
        settings: &Options,
        position: &Chess,
    ) -> Result<(), String> {
        let wanted = wanted(settings);
        if let Some(found) = self.found.get_mut(index)
            && found.probed_for != Some(wanted)
        {
            found.probed_for = None;
            book.probe(position, wanted, &mut found.lookup)
                .map_err(|error| error.to_string())?;
            found.probed_for = Some(wanted);
        }
        Ok(())
    }

    /// The entry of a book that was looked up, and the verdicts on its moves.
    pub(super) fn found(&self, index: usize) -> (&Lookup, &[Weighed]) {
        static NOTHING: Lookup = Lookup {
            here: None,
            moves: Vec::new(),
        };
        let found = self.found.get(index);
        (
            found.map_or(&NOTHING, |found| &found.lookup),
            &self.verdicts,
        )
    }

    /// The opponent's most probable book reply to `mv`, from the candidates that we would
    /// have in its place.
    pub(super) fn best_reply(
        &mut self,
        (index, book): (usize, &dyn Probe),
        settings: &Options,
        position: &Chess,
        mv: Move,
    ) -> Option<Move> {
        let known = |(of, _): &&((usize, Move), _)| *of == (index, mv);
        if let Some((_, reply)) = self.replies.iter().find(known) {
            return *reply;
        }
        let after = tabia_notation::after(position, mv);
        let reply = self.best_move(book, settings, &after);
        self.replies.push(((index, mv), reply));
        reply
    }

    fn best_move(&mut self, book: &dyn Probe, settings: &Options, at: &Chess) -> Option<Move> {
        book.probe(at, wanted(settings), &mut self.reply).ok()?;
        policy::weigh(
            &self.reply.moves,
            &settings.policy,
            |_| None,
            &mut self.reply_verdicts,
        );
        (self.policy).apply(at, &self.reply.moves, &mut self.reply_verdicts);
        let index = policy::best(&self.reply_verdicts)?;
        self.reply.moves.get(index).map(|reply| reply.mv)
    }
}

/// Whether moves that are not stored in the book count.
fn wanted(settings: &Options) -> Wanted {
    match settings.policy.transpositions {
        true => Wanted::Transpositions,
        false => Wanted::Stored,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::FirstMoves;
    use super::*;

    #[test]
    fn a_line_that_has_been_followed_is_not_followed_again() {
        let book = FirstMoves::new(10, 1);
        let mut settings = Options::default();
        settings.leave_early = 4;
        let mut chooser = BookChooser::default();
        chooser.found.push(FoundBook::default());
        let look_up = |chooser: &mut BookChooser| {
            let before = book.probes();
            chooser
                .look_up(
                    (0, &book),
                    &settings,
                    &Game::default(),
                    &Chess::default(),
                    None,
                )
                .unwrap();
            assert_eq!(chooser.verdicts.len(), 1);
            book.probes() - before
        };
        assert!(look_up(&mut chooser) > 4, "the line is followed");
        chooser.forget_position();
        assert_eq!(look_up(&mut chooser), 1, "only the position is looked up");
        assert_eq!(look_up(&mut chooser), 0, "nothing has changed");
        // Another file may be open now.
        chooser.forget_books();
        chooser.found.push(FoundBook::default());
        assert!(look_up(&mut chooser) > 4, "the line is followed again");
    }
}
