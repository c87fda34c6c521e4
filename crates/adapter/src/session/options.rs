//! Options of Tabia and of the engine that the GUI sets, and the books they name.

use super::child::{ANALYSE_MODE, OPPONENT};
use super::seed::GameSeed;
use super::{Moment, Outlet, Session, info_string};
use crate::conditions::{Pace, Variant};
use crate::settings::{Info, OptionId};
use tabia_uci::gui::{Clocks, SetOption};

impl Session {
    pub(super) fn on_set_option(&mut self, line: &[u8], option: SetOption, out: &mut dyn Outlet) {
        if let Some(id) = OptionId::by_name(&option.name) {
            return self.set_own(id, &option.text(), out);
        }
        let renamed = self.link.hello.without_prefix(&option.name);
        if let Some(name) = renamed.map(str::to_owned) {
            let mut line = format!("setoption name {name}").into_bytes();
            if let Some(value) = &option.value {
                line.extend_from_slice(b" value ");
                line.extend_from_slice(value);
            }
            return self.set_engines(&line, SetOption { name, ..option }, out);
        }
        if self.conditions.set_rules(&option.name, &option.text()) {
            self.chooser.settings_changed();
            self.cover.books_changed();
        }
        let is_known = self.link.hello.option(&option.name).is_some();
        if option.name.eq_ignore_ascii_case(OPPONENT) {
            // Match managers name the next opponent before `ucinewgame`.
            match self.game_has_begun {
                true => self.next_opponent = Some(option.text()),
                false => self.meet(option.text()),
            }
            if !is_known && self.wants_opponent() {
                return;
            }
        }
        if !is_known && option.name.eq_ignore_ascii_case(ANALYSE_MODE) {
            // Tabia handles this option; the engine does not know it.
            let value = option.value.as_deref().unwrap_or_default();
            return self.link.options.apply(ANALYSE_MODE, value);
        }
        if !is_known && let Some(meant) = OptionId::like(&option.name) {
            let text = format!(
                "nobody has an option \"{}\": did you mean \"{}\"?",
                option.name,
                meant.spec().name
            );
            self.notice(&text, out);
        }
        self.set_engines(line, option, out);
    }

    /// Whether the opponent's name is needed, so that its option is offered to the GUI.
    pub(super) fn wants_opponent(&self) -> bool {
        self.recorder.is_some() || self.has_conditions()
    }

    /// Whether any book has conditions.
    pub(super) fn has_conditions(&self) -> bool {
        let books = self.profile().map_or(&[][..], |profile| &profile.books);
        books.iter().any(|book| !book.conditions.is_none())
    }

    /// Call this at a new game: its first clock decides its time control.
    pub(super) fn begin_game(&mut self) {
        self.conditions.pace = None;
        self.books_reported = false;
        self.game_has_begun = false;
        if let Some(opponent) = self.next_opponent.take() {
            self.meet(opponent);
        }
    }

    /// The opponent of this game.
    fn meet(&mut self, opponent: String) {
        self.conditions.opponent = opponent;
        self.chooser.settings_changed();
    }

    /// Chooses the books for a game by its first clock and the opponent; reports once
    /// which these are.
    pub(super) fn see_clock(&mut self, clocks: &Clocks, at: &mut Moment<'_>) {
        if self.books_reported || !self.has_conditions() {
            return;
        }
        self.books_reported = true;
        self.conditions.pace = Pace::of(clocks);
        self.chooser.settings_changed();
        self.cover.books_changed();
        if self.settings.options().info == Info::None {
            return;
        }
        let books = at.book_set.books.iter();
        let chosen = books.filter(|book| book.spec.conditions.hold(&self.conditions));
        let names: Vec<&str> = chosen.map(|book| book.name.as_str()).collect();
        let names = match names.is_empty() {
            true => "none".to_owned(),
            false => names.join(", "),
        };
        let pace = self
            .conditions
            .pace
            .map_or_else(|| "no clock".to_owned(), |pace| pace.to_string());
        let opponent = match self.conditions.opponent.as_str() {
            "" => "unknown opponent",
            opponent => opponent,
        };
        let rules = match self.conditions.rules() {
            Variant::Chess => String::new(),
            rules => format!("{rules}, "),
        };
        info_string(
            &format!("books for this game ({rules}{opponent}, {pace}): {names}"),
            at.out,
        );
    }

    /// Sets an option of the engine, unless the value is certainly wrong.
    fn set_engines(&mut self, line: &[u8], option: SetOption, out: &mut dyn Outlet) {
        if self.link.options.is_left_out(&option.name) {
            return;
        }
        // A starting engine has declared nothing yet: the option is checked later.
        if let Some(option_error) = self.link.hello.option_error(&option, true) {
            return self.report_option_error(&option_error, out);
        }
        let value = option.value.as_deref();
        self.link
            .options
            .note(&option.name, value, line.trim_ascii());
        self.link.send(line, out);
    }

    pub(super) fn set_own(&mut self, id: OptionId, text: &str, out: &mut dyn Outlet) {
        let wanted = self.wanted_books();
        let seed_file = self.settings.options().seed_file.clone();
        match self.settings.set(id, text) {
            Err(error) => self.notice(&error.to_string(), out),
            Ok(false) => {}
            Ok(true) => {
                self.chooser.settings_changed();
                self.cover.books_changed();
                if self.settings.options().seed_file != seed_file {
                    self.seed = GameSeed::default();
                }
                if self.wanted_books() != wanted {
                    self.books.fresh = false;
                }
            }
        }
    }
}
