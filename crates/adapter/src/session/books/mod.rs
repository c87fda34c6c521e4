//! The books: which are in use, and what they answer.
//!
//! A `go` may have to wait for something first ([`Books::needs`]); then there is a move for
//! it ([`Books::answer`]), or a reason why there is none.
//!
//! | the books are | event | afterwards | returned |
//! |---|---|---|---|
//! | stale | a `go`, or `isready` while the GUI waits for nothing | awaited | the request to open them |
//! | awaited | the books are open | open | their messages, if these are news |
//! | awaited | two seconds are over | late | a message |
//! | late | the books are open | open | their messages, if these are news |
//! | open, late | `ucinewgame`, an option that names books | stale | - |
//! | stale | books that were requested before are open | stale | their messages, if these are news |
//!
//! A `go` waits for the books, then for the seed of the game (`Book Seed File`), then for
//! the played lines (`Book Cover`); each is asked for once, and each may be missing.

mod choice;
mod chooser;
mod cover;
mod forbid;
mod opening;
mod seed;
mod why;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::game::Game;
use super::out::Out;
use super::{Analysis, Request};
use chooser::{BookChooser, OwnPolicy};
use cover::Cover;
use forbid::Forbidding;
use opening::{OPEN_LIMIT, OpenState};
use seed::{GameSeed, Seed};
use tabia_book::policy::ChooseMove;
use tabia_choice::book_set::{BookSet, BookSpec};
use tabia_choice::conditions::Variant;
use tabia_choice::settings::{Info, OptionId, Options, Settings, ValueError};
use tabia_uci::gui::Go;
use why::ReportOnce;

pub(super) use choice::BookChoice;

/// What the books are asked about.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) game: &'a Game,
    pub(super) book_set: &'a BookSet,
    /// The books of engines.toml.
    pub(super) configured: &'a [BookSpec],
    /// Why the engine is set to analyse, if it is.
    pub(super) analysis: Option<Analysis>,
    /// The program wants the chances of a win, a draw and a loss with each score.
    pub(super) shows_wdl: bool,
}

impl Scene<'_> {
    /// Whether the game has other rules than chess, and no book is for these.
    fn lacks_book_for_rules(&self) -> bool {
        let rules = self.game.rules();
        let mut books = self.book_set.books.iter();
        self.game.has_other_rules() && !books.any(|book| book.spec.conditions.hold_in(rules))
    }

    /// Whether any book has conditions.
    fn has_conditions(&self) -> bool {
        have_conditions(self.configured)
    }
}

/// Whether any of these books is only for certain games.
pub(super) fn have_conditions(books: &[BookSpec]) -> bool {
    books.iter().any(|book| !book.conditions.is_none())
}

/// The settings in force, and what the books know of the game.
#[derive(Debug)]
pub(super) struct Books {
    settings: Settings,
    open_state: OpenState,
    /// The messages when they were last opened.
    messages: Vec<String>,
    chooser: BookChooser,
    /// The seed of the game from `Book Seed File`.
    seed: GameSeed,
    cover: Cover,
    /// The moves that are kept from the engine.
    forbidding: Forbidding,
    /// The seed of random choices while `Book Seed` is 0.
    entropy: u64,
    /// What has been reported in this game.
    reported: HashSet<ReportOnce>,
    /// It was reported that `Book File` is empty.
    reported_empty: bool,
}

impl Books {
    pub(super) fn new(settings: Settings, entropy: u64) -> Books {
        Books {
            settings,
            open_state: OpenState::EMPTY,
            messages: Vec::new(),
            chooser: BookChooser::default(),
            seed: GameSeed::default(),
            cover: Cover::default(),
            forbidding: Forbidding::default(),
            entropy,
            reported: HashSet::new(),
            reported_empty: false,
        }
    }

    /// Moves are chosen by this policy.
    pub(super) fn choose_by(&mut self, policy: Arc<dyn ChooseMove + Send + Sync>) {
        self.chooser.policy = OwnPolicy(Some(policy));
    }

    // Settings.

    /// The settings in force.
    pub(super) const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The settings of the book that has answered last.
    pub(super) fn answering(&self) -> &Options {
        self.chooser.answering().unwrap_or(self.settings.options())
    }

    /// Uses the settings of another engine.
    pub(super) fn adopt(&mut self, settings: Settings) {
        self.settings = settings;
        self.chooser.settings_changed();
    }

    /// Sets an option; `configured` are the books of engines.toml.
    pub(super) fn set(
        &mut self,
        id: OptionId,
        text: &str,
        configured: &[BookSpec],
    ) -> Result<(), ValueError> {
        let before = self.settings.options().clone();
        if self.settings.set(id, text)? {
            self.rules_changed();
            let options = self.settings.options();
            if options.seed_file != before.seed_file {
                self.seed = GameSeed::default();
            }
            let wanted = |options| BookSpec::wanted(options, configured);
            if wanted(options) != wanted(&before) {
                self.open_state.spoil();
            }
        }
        Ok(())
    }

    /// What is said, once, when a GUI sends an empty path: there, `<empty>` was not written
    /// on purpose.
    pub(super) fn emptied(&mut self, id: OptionId, value: &[u8]) -> Option<&'static str> {
        let is_empty = id == OptionId::File && value.trim_ascii().is_empty();
        let is_news = is_empty && !self.reported_empty;
        self.reported_empty |= is_news;
        is_news.then_some(
            "Book File is empty: no book answers; <starter> is the book that comes with Tabia",
        )
    }

    /// The books that the settings name.
    fn wanted(&self, configured: &[BookSpec]) -> Vec<BookSpec> {
        BookSpec::wanted(self.settings.options(), configured)
    }

    // The game.

    /// Other books may be for this game, by its rules or its clock.
    pub(super) fn rules_changed(&mut self) {
        self.chooser.settings_changed();
        self.cover.books_changed();
    }

    /// Other books may be for this game, by its opponent.
    pub(super) fn opponent_changed(&mut self) {
        self.chooser.settings_changed();
    }

    /// Another game begins.
    pub(super) fn new_game(&mut self) {
        self.chooser.new_game();
        self.forbidding = Forbidding::default();
        self.reported.clear();
    }

    /// `ucinewgame`: the game before it counts if the books were asked in it, and files
    /// may have changed.
    pub(super) fn new_game_is_announced(&mut self) {
        if self.chooser.count_game() {
            self.seed = GameSeed::Untaken;
        }
        self.open_state.spoil();
    }

    /// The position changes.
    pub(super) fn forget_position(&mut self) {
        self.chooser.forget_position();
        self.cover.forget_position();
    }

    /// The ponder move was played: what the books did not know there, and a line that
    /// goes on through it, count now.
    pub(super) fn ponder_hit(&mut self, out: &mut Out<'_>) {
        if self.chooser.take_missed_guess() {
            self.count_miss(out);
        }
        self.cover.guess_came_true(out);
    }

    /// The value of the engine's last search in this game, in centipawns for White.
    pub(super) fn learn_value(&mut self, value: i32) {
        self.chooser.value = Some(value);
    }

    /// Whether the engine's values matter.
    pub(super) fn exit_by_value(&self) -> bool {
        self.chooser.exits_by_value()
    }

    /// Number of positions in this game that no book knew.
    pub(super) const fn misses(&self) -> u32 {
        self.chooser.misses
    }

    fn seed_in_force(&self) -> Seed {
        let is_wanted = self.settings.options().seed_file.as_deref().is_some();
        match (self.seed, self.settings.options().seed) {
            (GameSeed::Taken(seed), _) if is_wanted => Seed::Game(seed),
            (_, 0) => Seed::Entropy(self.entropy),
            (_, seed) => Seed::Engine(seed),
        }
    }

    // What a `go` waits for.

    /// Whether lines of the GUI wait for books, a seed or played lines.
    pub(super) const fn are_awaited(&self) -> bool {
        self.open_state.until().is_some()
            || matches!(self.seed, GameSeed::Asked)
            || self.cover.is_requested()
    }

    /// Until when lines of the GUI wait for books that are being opened.
    pub(super) const fn awaited_until(&self) -> Option<Duration> {
        self.open_state.until()
    }

    /// Whether books are being opened.
    pub(super) const fn are_opening(&self) -> bool {
        self.open_state.is_opening()
    }

    /// Requests the books if those that are open may be out of date: the line that needs
    /// them has to wait.
    pub(super) fn open(&mut self, now: Duration, configured: &[BookSpec]) -> Option<Request> {
        self.open_state
            .need(now)
            .then(|| Request::OpenBooks(self.wanted(configured)))
    }

    /// The books have been opened.
    pub(super) fn opened(&mut self, messages: &[String], out: &mut Out<'_>) {
        self.open_state.opened();
        self.chooser.forget_books();
        if self.messages != messages {
            self.messages = messages.to_vec();
            messages.iter().for_each(|message| out.notice(message));
        }
    }

    /// Continues without the books, because opening them takes too long.
    pub(super) fn give_up_waiting(&mut self, out: &mut Out<'_>) {
        self.open_state.give_up();
        out.notice(&format!(
            "the books are not open after {} s: playing without them until they are",
            OPEN_LIMIT.as_secs()
        ));
    }

    /// Requests the seed of the game.
    fn take_seed(&mut self) -> Option<Request> {
        let path = self.settings.options().seed_file.as_deref()?;
        if self.seed != GameSeed::Untaken {
            return None;
        }
        self.seed = GameSeed::Asked;
        Some(Request::TakeSeed(path.to_owned()))
    }

    /// Handles the seed, or the reason why there is none.
    pub(super) fn seed_taken(&mut self, taken: Result<u32, &str>, out: &mut Out<'_>) {
        self.seed = match taken {
            Ok(seed) => GameSeed::Taken(seed),
            Err(reason) => {
                out.info(reason);
                GameSeed::Missing
            }
        };
    }

    // Answers.

    /// Whether this `go` is for a game, as far as its line says. With `Book Clock Only` it
    /// needs a clock: En Croissant analyses by `go depth`, as it plays, and ChessX 1.4.6 by
    /// `go movetime`.
    pub(super) fn plays(&self, go: &Go) -> bool {
        let for_engine = go.infinite || go.engine_only;
        !for_engine && (go.has_clock() || !self.settings.options().clock_only)
    }

    /// Whether books are asked in this game.
    fn are_asked(&self, scene: Scene<'_>) -> bool {
        self.settings.options().own_book && !self.chooser.is_shut() && !scene.lacks_book_for_rules()
    }

    /// Whether books may answer in this game now.
    fn may_answer(&self, analysis: Option<Analysis>) -> bool {
        self.settings.options().own_book && !self.chooser.is_shut() && analysis.is_none()
    }

    /// Whether a book has a playable move here.
    pub(super) fn have_move(&mut self, scene: Scene<'_>) -> bool {
        let may_answer = self.may_answer(scene.analysis);
        let Some(position) = scene.game.position().filter(|_| may_answer) else {
            return false;
        };
        self.chooser
            .refresh_settings(self.settings.options(), scene.book_set);
        self.choose(position, None, scene, false, &mut Vec::new())
            .is_some()
    }

    /// Looks the present position up before the `go`: see
    /// [`Session::look_ahead`](super::Session::look_ahead).
    pub(super) fn look_ahead(&mut self, scene: Scene<'_>) {
        if self.chooser.is_prepared() || self.are_opening() || !self.may_answer(scene.analysis) {
            return;
        }
        self.chooser
            .refresh_settings(self.settings.options(), scene.book_set);
        self.chooser.prepare();
        // Following lines to their end takes too long before a `go` is certain.
        let follows = |settings: &Options| settings.leave_early > 0;
        if self.chooser.settings.iter().any(follows) {
            return;
        }
        self.have_move(scene);
    }

    /// Requests what this `go` has to wait for, if there is anything.
    pub(super) fn needs(&mut self, now: Duration, go: &Go, scene: Scene<'_>) -> Option<Request> {
        self.open(now, scene.configured)
            .or_else(|| self.take_seed())
            .or_else(|| self.read_cover(go, scene))
    }

    /// The books' answer to a `go` for a move that needs nothing more.
    pub(super) fn answer(
        &mut self,
        go: &Go,
        scene: Scene<'_>,
        out: &mut Out<'_>,
    ) -> Option<BookChoice> {
        self.report_books(scene, out);
        self.draw(go, &[], scene, out)
    }

    /// Reports once in a game which books are for it.
    fn report_books(&mut self, scene: Scene<'_>, out: &mut Out<'_>) {
        if !scene.has_conditions() || !self.reported.insert(ReportOnce::Books) {
            return;
        }
        if self.settings.options().info == Info::None {
            return;
        }
        let game = scene.game.conditions();
        let books = scene.book_set.books.iter();
        let chosen = books.filter(|book| book.spec.conditions.hold(game));
        let names: Vec<&str> = chosen.map(|book| book.name.as_str()).collect();
        let names = match names.is_empty() {
            true => "none".to_owned(),
            false => names.join(", "),
        };
        let pace = game
            .pace
            .map_or_else(|| "no clock".to_owned(), |pace| pace.to_string());
        let opponent = match game.opponent.as_str() {
            "" => "unknown opponent",
            opponent => opponent,
        };
        let rules = match game.rules() {
            Variant::Chess => String::new(),
            rules => format!("{rules}, "),
        };
        out.info(&format!(
            "books for this game ({rules}{opponent}, {pace}): {names}"
        ));
    }

    /// Counts a position that no book knows.
    fn count_miss(&mut self, out: &mut Out<'_>) {
        let limit = self.settings.options().miss_limit;
        if self.chooser.count_miss(limit) {
            let misses = if limit == 1 { "miss" } else { "misses" };
            out.info(&format!("book closed for this game after {limit} {misses}"));
        }
    }
}

#[cfg(test)]
mod tests;
