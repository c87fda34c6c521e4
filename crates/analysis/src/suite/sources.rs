//! The sources of a suite, sorted by kind.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::job::SuiteJob;
use super::text::{is_epd, is_suite};
use crate::error::{Error, about};
use tabia_io::atomic::{self, TempFolder};
use tabia_io::input::path::has_extension;
use tabia_io::progress::Watch;
use tabia_notation::kind::Kind;

/// The sources, sorted by kind.
pub(super) struct SortedSources {
    pub(super) games: Vec<PathBuf>,
    pub(super) books: Vec<PathBuf>,
    pub(super) suites: Vec<PathBuf>,
    /// Temporary files made from other sources; deleted on drop.
    _made: TempFolder,
}

impl SortedSources {
    pub(super) fn sort(job: &SuiteJob, watch: &mut Watch<'_>) -> Result<SortedSources, Error> {
        let folder = atomic::folder_of(&job.target);
        let made = TempFolder::beside(&job.target).map_err(|error| about(folder, error))?;
        let (mut games, mut books, mut suites) = (Vec::new(), Vec::new(), Vec::new());
        for (number, source) in job.sources.iter().enumerate() {
            if source == Path::new("-") {
                let mut text = Vec::new();
                let read = std::io::stdin().lock().read_to_end(&mut text);
                read.map_err(|error| about(Path::new("standard input"), error))?;
                let is_suite = is_epd(&text);
                let name = if is_suite { "input.epd" } else { "input.pgn" };
                let path = made.path().join(name);
                std::fs::write(&path, text).map_err(|error| about(&path, error))?;
                let to = if is_suite { &mut suites } else { &mut games };
                to.push(path);
            } else if let Some(Kind::Book(kind)) = Kind::of_file(source) {
                if has_extension(source, "pgn") {
                    let text = Kind::Book(kind).no_games().unwrap_or_default();
                    return Err(about(source, text));
                }
                // A book as text is made into a book first.
                if !kind.is_text() {
                    books.push(source.clone());
                    continue;
                }
                let path = made.path().join(format!("{number}.ctg"));
                let convert = tabia_book::convert::ConvertJob::new(source.clone(), path.clone());
                tabia_book::convert::run(&convert, watch)?;
                books.push(path);
            } else if source.is_file() && is_suite(source).unwrap_or(false) {
                suites.push(source.clone());
            } else {
                games.push(source.clone());
            }
        }
        Ok(SortedSources {
            games,
            books,
            suites,
            _made: made,
        })
    }
}
