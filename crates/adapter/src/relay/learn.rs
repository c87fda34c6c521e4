//! Records games in the side files of the books they were played from.

use std::fs;
use std::io;
use std::path::Path;

use super::{Port, Relay};
use crate::session::Note;
use tabia_choice::learn::{self, NO_DATA_FOLDER, PlayedGame};

impl<P: Port> Relay<P> {
    /// Appends a game to the side file of its book; if that folder is not writable, to
    /// one in the user's data folder.
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
                if !std::mem::replace(&mut self.learn_reported, true) {
                    self.lines.put_remark(&format!("info string {text}"));
                }
            }
        }
    }
}

/// Appends the game. Both texts, of success and error, are messages for the user.
fn append(side: &Path, game: &PlayedGame) -> Result<Option<String>, String> {
    let failure =
        |error: io::Error| format!("the game cannot be recorded: {}: {error}", side.display());
    match learn::append(side, game) {
        Ok(()) => Ok(None),
        Err(error) if learn::is_refused(&error) => {
            let Some(other) = learn::fallback_path(side) else {
                return Err(format!("{}; {NO_DATA_FOLDER}", failure(error)));
            };
            let folder = other.parent().map_or(Ok(()), fs::create_dir_all);
            match folder.and_then(|()| learn::append(&other, game)) {
                Ok(()) => Ok(Some(format!(
                    "games are recorded in {}: {}: {error}",
                    other.display(),
                    side.display()
                ))),
                Err(_) => Err(failure(error)),
            }
        }
        Err(error) => Err(failure(error)),
    }
}
