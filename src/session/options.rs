//! Options that the GUI sets, ours and the engine's, and the books they name.

use super::child::ANALYSE_MODE;
use super::{Outlet, Session};
use crate::settings::OptionId;
use crate::uci::gui::SetOption;
use crate::uci::line;

impl Session {
    pub(super) fn on_set_option(&mut self, line: &[u8], option: SetOption, out: &mut dyn Outlet) {
        if let Some(id) = OptionId::by_name(&option.name) {
            return self.set_own(id, &option.text(), out);
        }
        if let Some(renamed) = self.link.hello.behind_prefix(&option.name) {
            let mut line = format!("setoption name {renamed}").into_bytes();
            let value = option.value.as_deref();
            if let Some(value) = value {
                line.extend_from_slice(b" value ");
                line.extend_from_slice(value);
            }
            self.link.options.note(renamed, value, &line);
            return self.link.tell(&line, out);
        }
        let is_known = self.link.hello.option(&option.name).is_some();
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
        self.link
            .options
            .note(&option.name, option.value.as_deref(), line::trimmed(line));
        self.link.tell(line, out);
    }

    pub(super) fn set_own(&mut self, id: OptionId, text: &str, out: &mut dyn Outlet) {
        match self.settings.set(id, text) {
            Err(error) => self.notice(&error.to_string(), out),
            Ok(false) => {}
            Ok(true) => {
                self.librarian.settings_changed();
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
