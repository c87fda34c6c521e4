//! Options that the GUI sets, ours and the engine's, and the books they name.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::{Outlet, Request, Session};
use crate::book_set::BookSpec;
use crate::settings::OptionId;
use crate::uci::gui::SetOption;
use crate::uci::line;

impl Session {
    /// Has the books opened if the book set does not hold those wanted; true
    /// when the line at hand has to wait for that.
    pub(super) fn open_books(&mut self, out: &mut dyn Outlet) -> bool {
        if !self.books_stale {
            return false;
        }
        self.books_stale = false;
        self.opening = true;
        let books = self.wanted_books();
        out.request(Request::OpenBooks(books));
        true
    }

    pub(super) fn wanted_books(&self) -> Vec<BookSpec> {
        let configured = self.profile().map_or(&[][..], |profile| &profile.books);
        BookSpec::wanted(&self.settings, configured)
    }

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
        if self.link.hello.option(&option.name).is_none()
            && let Some(meant) = OptionId::like(&option.name)
        {
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
                match id {
                    OptionId::Seed => self.reseed(),
                    OptionId::File
                    | OptionId::WhiteFile
                    | OptionId::BlackFile
                    | OptionId::Learn => {
                        self.books_stale = true;
                    }
                    _ => {}
                }
            }
        }
    }

    pub(super) fn reseed(&mut self) {
        let seed = match self.settings.number(OptionId::Seed) {
            0 => self.entropy,
            seed => u64::from(seed),
        };
        self.rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    }
}
