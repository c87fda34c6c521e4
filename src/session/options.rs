//! Options that the GUI sets, ours and the engine's, and the books they name.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::{Outlet, Request, Session};
use crate::settings::{CONFIGURED, OptionId};
use crate::shelf::BookSpec;
use crate::uci::gui::SetOption;
use crate::uci::line;

impl Session {
    /// Has the books opened if the shelf does not hold those wanted; true
    /// when `line` has to wait for that.
    pub(super) fn open_books(&mut self, line: &[u8], out: &mut dyn Outlet) -> bool {
        if !self.books_stale {
            return false;
        }
        self.books_stale = false;
        self.opening = true;
        self.deferred.push_front(line.to_vec());
        let books = self.wanted_books();
        out.request(Request::OpenBooks(books));
        true
    }

    pub(super) fn wanted_books(&self) -> Vec<BookSpec> {
        use shakmaty::Color::{Black, White};
        let own_colour = [(OptionId::WhiteFile, White), (OptionId::BlackFile, Black)];
        let mut books: Vec<BookSpec> = own_colour
            .into_iter()
            .flat_map(|(id, colour)| BookSpec::list(self.settings.text(id), Some(colour)))
            .collect();
        match self.settings.text(OptionId::File) {
            CONFIGURED => books.extend(self.profile().into_iter().flat_map(|p| p.books.clone())),
            paths => books.extend(BookSpec::list(paths, None)),
        }
        let learn = self.settings.check(OptionId::Learn);
        let said = |book: &BookSpec| book.overrides.iter().any(|(id, _)| *id == OptionId::Learn);
        for book in books.iter_mut().filter(|book| learn && !said(book)) {
            book.overrides.push((OptionId::Learn, "true".to_owned()));
        }
        books
    }

    pub(super) fn on_set_option(
        &mut self,
        line: &[u8],
        option: &SetOption<'_>,
        out: &mut dyn Outlet,
    ) {
        if let Some(id) = OptionId::by_name(&option.name) {
            return self.set_own(id, &option.text(), out);
        }
        if let Some(renamed) = self.hello.behind_prefix(&option.name) {
            let mut line = format!("setoption name {renamed}").into_bytes();
            if let Some(value) = option.value {
                line.extend_from_slice(b" value ");
                line.extend_from_slice(value);
            }
            self.child_options.note(renamed, option.value, &line);
            return self.tell_engine(&line, out);
        }
        self.child_options
            .note(&option.name, option.value, line::trimmed(line));
        self.tell_engine(line, out);
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
