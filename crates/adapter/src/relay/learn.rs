//! Noting games beside the books they were played from.

use std::fs;
use std::io;
use std::path::Path;

use super::{Port, Relay};
use crate::session::Note;
use tabia_build::learn::{self, PlayedGame};

impl<P: Port> Relay<P> {
    /// Appends a game to the side file of its book; where the folder may not be
    /// written, to one in the user's data folder.
    pub(super) fn note(&mut self, note: &Note) {
        let books = self.book_set.books.iter();
        let side = books
            .filter(|book| book.spec.path == note.book)
            .find_map(|book| book.side_file.clone());
        let Some(side) = side else {
            return;
        };
        match append(&side, &note.game) {
            Ok(None) => {}
            Ok(Some(text)) | Err(text) => {
                if !std::mem::replace(&mut self.learn_told, true) {
                    self.lines.aside(&format!("info string {text}"));
                }
            }
        }
    }
}

/// What the user should know, in either case.
fn append(side: &Path, game: &PlayedGame) -> Result<Option<String>, String> {
    let told =
        |error: io::Error| format!("the game cannot be recorded: {}: {error}", side.display());
    match learn::append(side, game) {
        Ok(()) => Ok(None),
        Err(error) if learn::is_refused(&error) => {
            let Some(other) = learn::fallback_path(side) else {
                return Err(told(error));
            };
            let folder = other.parent().map_or(Ok(()), fs::create_dir_all);
            match folder.and_then(|()| learn::append(&other, game)) {
                Ok(()) => Ok(Some(format!(
                    "games are recorded in {}: {}: {error}",
                    other.display(),
                    side.display()
                ))),
                Err(_) => Err(told(error)),
            }
        }
        Err(error) => Err(told(error)),
    }
}
