//! Options that the GUI sets, ours and the engine's, and the books they name.

use super::child::{ANALYSE_MODE, OPPONENT};
use super::seed::GameSeed;
use super::{Outlet, Session};
use crate::settings::OptionId;
use tabia_uci::gui::SetOption;
use tabia_uci::line;

impl Session {
    pub(super) fn on_set_option(&mut self, line: &[u8], option: SetOption, out: &mut dyn Outlet) {
        if let Some(id) = OptionId::by_name(&option.name) {
            return self.set_own(id, &option.text(), out);
        }
        let renamed = self.link.hello.behind_prefix(&option.name);
        if let Some(name) = renamed.map(str::to_owned) {
            let mut line = format!("setoption name {name}").into_bytes();
            if let Some(value) = &option.value {
                line.extend_from_slice(b" value ");
                line.extend_from_slice(value);
            }
            return self.set_engines(&line, SetOption { name, ..option }, out);
        }
        let is_known = self.link.hello.option(&option.name).is_some();
        if option.name.eq_ignore_ascii_case(OPPONENT) {
            self.opponent = option.text();
            if !is_known && self.wants_opponent() {
                return;
            }
        }
        if !is_known && option.name.eq_ignore_ascii_case(ANALYSE_MODE) {
            // Ours to heed; the engine would not know it.
            let value = option.value.as_deref().unwrap_or_default();
            return self.link.options.heed(ANALYSE_MODE, value);
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

    /// Whether it is asked who the opponent is, of GUIs that tell it.
    pub(super) const fn wants_opponent(&self) -> bool {
        self.recorder.is_some()
    }

    /// Sets an option of the engine, unless the value is certainly wrong.
    fn set_engines(&mut self, line: &[u8], option: SetOption, out: &mut dyn Outlet) {
        if self.link.options.is_left_out(&option.name) {
            return;
        }
        // One that starts has declared nothing yet: it is looked at then.
        if let Some(misfit) = self.link.hello.misfit(&option, true) {
            return self.tell_misfit(&misfit, out);
        }
        let value = option.value.as_deref();
        self.link
            .options
            .note(&option.name, value, line::trimmed(line));
        self.link.tell(line, out);
    }

    pub(super) fn set_own(&mut self, id: OptionId, text: &str, out: &mut dyn Outlet) {
        match self.settings.set(id, text) {
            Err(error) => self.notice(&error.to_string(), out),
            Ok(false) => {}
            Ok(true) => {
                self.chooser.settings_changed();
                if id == OptionId::SeedFile {
                    self.seed = GameSeed::default();
                }
                if matches!(
                    id,
                    OptionId::File | OptionId::WhiteFile | OptionId::BlackFile | OptionId::Learn
                ) {
                    self.books.grow_stale();
                }
            }
        }
    }
}
