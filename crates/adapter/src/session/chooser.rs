//! What is known of the present position and game in order to choose book moves.
//!
//! The books' moves for a position are cached until the next position comes, so that
//! they can be looked up before the `go`.

use rand::Rng;
use shakmaty::{Chess, Move, Position};

use super::game::Game;
use super::seed::Seed;
use super::why::{ReportedSilences, Silence};
use crate::book_set::BookSet;
use crate::settings::{OptionId, Settings};
use tabia_book::policy::{self, Exit, LineMemory, Rules, Weighed, chance};
use tabia_book::{Lookup, Probe, Wanted};

/// What is remembered of a game in order to choose book moves, and buffers.
#[derive(Debug, Default)]
pub(super) struct BookChooser {
    pub(super) misses: u32,
    /// The books had nothing for a ponder move, which may yet be played.
    missed_guess: bool,
    pub(super) shut: bool,
    /// Games before this one in which the books were asked.
    games: u64,
    /// They have been asked in this one.
    asked: bool,
    /// How often a move was drawn, for draws that are not to repeat.
    draws: u64,
    /// Why each book of the book set did not answer when they were last asked.
    pub(super) silences: Vec<Silence>,
    pub(super) silences_reported: ReportedSilences,
    /// What each book of the book set has in the present position.
    found: Vec<FoundBook>,
    /// Of the moves of the book that was looked into last.
    verdicts: Vec<Weighed>,
    /// The opponent's most probable replies, by book and our move.
    replies: Vec<((usize, Move), Option<Move>)>,
    reply: Lookup,
    reply_verdicts: Vec<Weighed>,
    /// The present position has been looked up, whether for a `go` or before.
    pub(super) is_prepared: bool,
    /// The settings in force for each book of the book set.
    pub(super) settings: Vec<Settings>,
    /// The value of the engine's last search in this game, in centipawns for
    /// White.
    pub(super) value: Option<i32>,
    /// The warning about the engine's own book has been sent.
    pub(super) own_book_reported: bool,
    /// Paths of the books whose errors have been reported. Once is enough: a book
    /// that is cut off has another error in every other position. Also the settings
    /// in force that have been reported.
    reported: Vec<String>,
}

/// What a book has in the present position, if it was asked.
#[derive(Debug, Default)]
struct FoundBook {
    asked_for: Option<Wanted>,
    lookup: Lookup,
}

impl BookChooser {
    pub(super) fn new_game(&mut self) {
        self.misses = 0;
        self.shut = false;
        self.value = None;
        self.silences_reported = ReportedSilences::default();
    }

    /// The GUI has announced another game (`ucinewgame`). Only that counts for what a
    /// seed repeats: a new game that is found from the positions may depend on
    /// timing. True if the books were asked in the game before.
    pub(super) fn count_game(&mut self) -> bool {
        let asked = std::mem::take(&mut self.asked);
        self.games += u64::from(asked);
        asked
    }

    /// The books are asked in this game.
    pub(super) fn count_question(&mut self) {
        self.asked = true;
        self.draws += 1;
        self.is_prepared = true;
    }

    pub(super) fn settings_changed(&mut self) {
        self.settings.clear();
        self.replies.clear();
        self.is_prepared = false;
    }

    /// The position has changed, or the books have.
    pub(super) fn forget_position(&mut self) {
        for found in &mut self.found {
            found.asked_for = None;
        }
        self.replies.clear();
        self.is_prepared = false;
        self.missed_guess = false;
    }

    /// The books do not know the position that is asked for; true if that is
    /// a miss already, and not of a ponder move only.
    pub(super) fn miss(&mut self, ponder: bool) -> bool {
        self.missed_guess = ponder;
        !ponder
    }

    /// The ponder move is played; true if the books did not know it.
    pub(super) fn take_missed_guess(&mut self) -> bool {
        std::mem::take(&mut self.missed_guess)
    }

    /// Counts a miss; true if `limit` is reached by it.
    pub(super) fn count_miss(&mut self, limit: u32) -> bool {
        self.misses += 1;
        let reached = limit > 0 && self.misses >= limit;
        reached && !std::mem::replace(&mut self.shut, true)
    }

    /// The chance that decides the next question. With a seed it depends on
    /// that, the game and the position alone, so that equal games are equal
    /// whatever is asked in between; without one no two draws are the same.
    pub(super) fn chance(&self, seed: Seed, position: &Chess) -> impl Rng + use<> {
        let (seed, game, draw) = match seed {
            Seed::Session(entropy) => (entropy, self.games, self.draws),
            Seed::Engine(seed) => (seed.into(), self.games, 0),
            Seed::Game(seed) => (seed.into(), 0, 0),
        };
        chance(seed, game, position, draw)
    }

    pub(super) fn refresh_settings(&mut self, general: &Settings, book_set: &BookSet) {
        if self.settings.len() != book_set.books.len() {
            self.settings = book_set
                .books
                .iter()
                .map(|book| book.spec.settings(general))
                .collect();
        }
        self.found
            .resize_with(book_set.books.len(), FoundBook::default);
    }

    /// True if this has not been reported yet; remembers it as reported. It is the
    /// path of a book with an error, or the settings in force.
    pub(super) fn is_news(&mut self, what: &str) -> bool {
        let news = !self.reported.iter().any(|known| known == what);
        if news {
            self.reported.push(what.to_owned());
        }
        news
    }

    /// The settings in force for a book, if they have not been reported.
    pub(super) fn unreported_settings(&mut self, index: usize) -> Option<String> {
        let text = self.settings.get(index)?.in_force()?;
        self.is_news(&text).then_some(text)
    }

    /// Whether the engine's values may silence a book.
    pub(super) fn exits_by_value(&self) -> bool {
        let exits = |settings: &Settings| settings.rules().exit != Exit::default();
        self.settings.iter().any(exits)
    }

    /// Looks a position up in one book and weighs its moves.
    pub(super) fn look_up(
        &mut self,
        (index, book): (usize, &dyn Probe),
        settings: &Settings,
        game: &Game,
        position: &Chess,
        asked: Option<&[Move]>,
    ) -> Result<(), String> {
        let Some(found) = self.found.get_mut(index) else {
            return Ok(());
        };
        let wanted = wanted(settings);
        if found.asked_for != Some(wanted) {
            found.asked_for = None;
            book.probe(position, wanted, &mut found.lookup)
                .map_err(|error| error.to_string())?;
            found.asked_for = Some(wanted);
        }
        let repeats = |next: &Chess| game.repeats(next);
        let value = self.value;
        let rules = Rules {
            value: value.map(|white| position.turn().fold_wb(white, -white)),
            ..settings.rules()
        };
        let moves = &found.lookup.moves;
        let lines = LineMemory::default();
        let verdicts = &mut self.verdicts;
        rules.weigh((book, &lines), position, moves, &repeats, verdicts);
        if let Some(asked) = asked {
            policy::narrow(moves, &rules.policy, asked, &mut self.verdicts);
        }
        Ok(())
    }

    /// What the book looked into has, and the verdicts on its moves.
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

    /// The move the opponent would most probably play from the book after
    /// `mv`: of the same candidates that we would have.
    pub(super) fn best_reply(
        &mut self,
        (index, book): (usize, &dyn Probe),
        settings: &Settings,
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

    fn best_move(&mut self, book: &dyn Probe, settings: &Settings, at: &Chess) -> Option<Move> {
        book.probe(at, wanted(settings), &mut self.reply).ok()?;
        policy::weigh(
            &self.reply.moves,
            &settings.policy(),
            |_| None,
            &mut self.reply_verdicts,
        );
        let index = policy::best(&self.reply_verdicts)?;
        self.reply.moves.get(index).map(|reply| reply.mv)
    }
}

/// Whether moves count that are not stored in the book.
fn wanted(settings: &Settings) -> Wanted {
    match settings.check(OptionId::Transpositions) {
        true => Wanted::Transpositions,
        false => Wanted::Stored,
    }
}
