//! `setoption`: options of Tabia, of the engine, and those that both need.

use super::{Parts, configured};
use crate::session::engine::{ANALYSE_MODE, OPPONENT};
use crate::session::out::Out;
use tabia_choice::settings::OptionId;
use tabia_uci::engine::check_value;
use tabia_uci::gui::SetOption;

impl Parts {
    pub(super) fn on_set_option(&mut self, line: &[u8], option: SetOption, out: &mut Out<'_>) {
        if let Some(id) = OptionId::by_name(&option.name) {
            let configured = configured(&self.engine);
            if let Err(error) = self.books.set(id, &option.text(), configured) {
                out.notice(&error.to_string());
            }
            let value = option.value.as_deref().unwrap_or_default();
            if let Some(text) = self.books.emptied(id, value) {
                out.notice(text);
            }
            return;
        }
        if let Some(name) = self.engine.without_prefix(&option.name) {
            let mut line = format!("setoption name {name}").into_bytes();
            if let Some(value) = &option.value {
                line.extend_from_slice(b" value ");
                line.extend_from_slice(value);
            }
            return self.set_engine_option(&line, &SetOption { name, ..option }, out);
        }
        let notation = self.game.castling_mode();
        if self.game.set_rules(&option.name, &option.text()) {
            self.books.rules_changed();
        }
        // Stockfish takes `searchmoves` in the notation that was in force at its last
        // `position`, and castling in the other one for another move. An engine that starts
        // gets its options first.
        if notation != self.game.castling_mode() && self.engine.is_up() {
            self.engine.withhold_position();
        }
        let is_known = self.engine.knows(&option.name);
        if option.name.eq_ignore_ascii_case(OPPONENT) {
            if self.game.name_opponent(option.text()) {
                self.books.opponent_changed();
            }
            if !is_known && self.wants_opponent() {
                return;
            }
        }
        if !is_known && option.name.eq_ignore_ascii_case(ANALYSE_MODE) {
            // Tabia handles this option; the engine does not know it.
            let value = option.value.as_deref().unwrap_or_default();
            if check_value(&option.text()).is_none() {
                let text = format!(
                    "{ANALYSE_MODE} takes true or false, not \"{}\"",
                    option.text()
                );
                out.notice(&text);
            }
            return self.engine.set_mode(ANALYSE_MODE, value);
        }
        if !is_known && let Some(meant) = OptionId::like(&option.name) {
            let text = format!(
                "there is no option \"{}\": did you mean \"{}\"?",
                option.name,
                meant.spec().name
            );
            out.notice(&text);
        }
        self.set_engine_option(line, &option, out);
    }

    fn set_engine_option(&mut self, line: &[u8], option: &SetOption, out: &mut Out<'_>) {
        if let Some(line) = self.engine.set_option(line, option, out) {
            self.turn.send(&line, &mut self.engine, out);
        }
    }
}
