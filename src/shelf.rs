//! The books in use: which file answers for which colour under which policy.

use std::fmt;
use std::sync::Arc;

use shakmaty::Color;

use crate::book::Probe;
use crate::settings::{OptionId, Settings};

/// A book that somebody wants to play from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BookSpec {
    /// A path, or [`STARTER`](crate::settings::STARTER).
    pub path: String,
    /// The colour it is for; `None` is both.
    pub colour: Option<Color>,
    /// Options that differ from the general ones for this book.
    pub overrides: Vec<(OptionId, String)>,
}

impl BookSpec {
    /// The books named by a `Book File` value: paths separated by `;`.
    pub fn list(paths: &str, colour: Option<Color>) -> impl Iterator<Item = BookSpec> {
        paths
            .split(';')
            .map(str::trim)
            .filter(|path| !path.is_empty())
            .map(move |path| BookSpec {
                path: path.to_owned(),
                colour,
                overrides: Vec::new(),
            })
    }

    /// The general settings with this book's own on top. Values that do not
    /// fit are passed over: whoever made the list has checked them.
    #[must_use]
    pub fn settings(&self, general: &Settings) -> Settings {
        let mut settings = general.clone();
        for (id, value) in &self.overrides {
            let _ = settings.set(*id, value);
        }
        settings
    }
}

/// A book that is open.
pub struct OpenBook {
    /// File name, for messages.
    pub name: String,
    /// What it was opened for.
    pub spec: BookSpec,
    /// The book itself.
    pub book: Arc<dyn Probe + Send + Sync>,
}

impl fmt::Debug for OpenBook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenBook")
            .field("name", &self.name)
            .field("spec", &self.spec)
            .finish_non_exhaustive()
    }
}

/// Books in the order in which they are asked.
#[derive(Debug, Default)]
pub struct Shelf {
    /// First hit answers.
    pub books: Vec<OpenBook>,
}
