//! The library without its border: safe functions of Rust values.

use std::sync::Arc;

use tabia_book::policy::{LineMemory, Rules, WeighedMoves, chance, choose_knowing};
use tabia_book::{Book, Probe};
use tabia_choice::book_set::{Opener, as_played};
use tabia_choice::settings::{OptionId, Scope, Settings};
use tabia_notation::Line;

/// An open book, and how moves are chosen from it.
pub(crate) struct Opened {
    pub(crate) book: Arc<Book>,
    /// The book with learned results and evaluations, if the options use them.
    played: Arc<dyn Probe + Send + Sync>,
    rules: Rules,
    /// The problems of its files, one a line.
    pub(crate) notices: String,
}

impl Opened {
    pub(crate) fn open(path: &str, options: &str) -> Result<Opened, String> {
        let settings = settings(options)?;
        let options = settings.options();
        let opener = Opener::here(true);
        let book = Arc::new(opener.open(path).map_err(|error| error.to_string())?);
        let mut notices = book.notices().to_vec();
        let (played, _) = as_played(Arc::clone(&book), options.learn);
        let (played, _) = opener.evaluated(played, path, &options.evaluations, &mut notices);
        Ok(Opened {
            book,
            played,
            rules: options.rules(),
            notices: notices.join("\n"),
        })
    }

    /// Announces probes: see [`Probe::reserve`].
    pub(crate) fn reserve(&self, probes: u64) {
        self.played.reserve(probes);
    }

    /// What the book has in a position: a FEN, perhaps with `moves` and moves after it.
    pub(crate) fn probe(&self, fen: &str) -> Result<(Line, WeighedMoves), String> {
        let line = Line::read(fen, "").map_err(|error| error.to_string())?;
        // Lines may be of any length and in any order: nothing is kept of them.
        let lines = LineMemory::default();
        let found = choose_knowing(
            &*self.played,
            &lines,
            line.last(),
            line.before(),
            &self.rules,
        )
        .map_err(|error| error.to_string())?;
        Ok((line, found))
    }

    /// Draws a move; the same seed gives the same move in a position, and the one of `Book
    /// Seed` in an adapter's first game.
    pub(crate) fn choose(&self, fen: &str, seed: u64) -> Result<Option<String>, String> {
        let (line, found) = self.probe(fen)?;
        let drawn = found.draw(&mut chance(seed, 0, line.last(), 0));
        Ok(drawn.map(|entry| tabia_notation::uci(entry.mv)))
    }
}

/// Reads `variety=15 depth=12`, also with the names of UCI (`Book Variety=15`); a value with
/// blanks is quoted.
fn settings(text: &str) -> Result<Settings, String> {
    let words = shlex::split(text).ok_or_else(|| format!("a quotation mark is open: {text}"))?;
    let mut settings = Settings::default();
    let mut name = String::new();
    for word in words {
        if !name.is_empty() {
            name.push(' ');
        }
        let Some((last, value)) = word.split_once('=') else {
            name.push_str(&word);
            continue;
        };
        name.push_str(last);
        let id = named(&name)?;
        settings
            .choose(id, value)
            .map_err(|error| error.to_string())?;
        name.clear();
    }
    match name.as_str() {
        "" => Ok(settings),
        rest => Err(format!("\"{rest}\" has no \"=\": write NAME=VALUE")),
    }
}

/// The option of a name, if it decides between moves.
fn named(name: &str) -> Result<OptionId, String> {
    let decides = |id: &OptionId| match id.spec().scope {
        Scope::Choice(_) | Scope::Opening => true,
        Scope::Book | Scope::Adapter(_) => false,
    };
    if let Some(id) = OptionId::by_key(name).filter(decides) {
        return Ok(id);
    }
    let like = OptionId::like(name)
        .or_else(|| OptionId::like(&format!("book {name}")))
        .filter(decides);
    let like = like.map_or_else(String::new, |id| {
        format!(" (did you mean \"{}\"?)", id.spec().key)
    });
    Err(format!(
        "there is no option \"{name}\" that decides between moves{like}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabia_book::policy::Policy;

    #[test]
    fn options_have_their_names_of_the_table() {
        let read = |text: &str| settings(text).map(|settings| settings.options().rules());
        let rules = Rules::default()
            .policy(Policy::default().variety(15))
            .depth(12);
        for text in [
            "variety=15 depth=12",
            "Book Variety=15\nBook Depth=12",
            "  book_depth=12   VARIETY='15' ",
        ] {
            assert_eq!(read(text), Ok(rules.clone()), "{text}");
        }
        assert_eq!(read(""), Ok(Rules::default()));
        for (text, part) in [
            ("varity=15", "did you mean \"variety\"?"),
            ("variety=101", "a whole number from 0 to 100"),
            ("variety", "has no \"=\""),
            ("variety=1 depth", "\"depth\" has no"),
            ("file=x", "there is no option \"file\""),
            ("variety='1", "quotation mark"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
