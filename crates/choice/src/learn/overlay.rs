//! A book with the learn values of its side file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use shakmaty::Chess;

use super::{PLAY_STRENGTH, SideFile, fallback_path, learned as learned_value};
use tabia_book::ctg::{CanonicalBoard, Key};
use tabia_book::{BookMove, Error, Lookup, MoveGames, Probe, Wanted};
use tabia_notation::{self as notation, Results};

/// The least time between two checks of the side file: at most one a `go`.
const PAUSE: Duration = Duration::from_millis(100);

/// A book whose learn values are shifted by the games of its side file. Games that
/// other adapters add are read within a tenth of a second.
pub struct LearnedBook {
    book: Arc<dyn Probe + Send + Sync>,
    learned: Mutex<Learned>,
}

struct Learned {
    files: Vec<(PathBuf, SideFile)>,
    looked: Instant,
}

impl LearnedBook {
    /// Adds the games of the side file (and of its fallback, see [`fallback_path`])
    /// to the values of a book.
    #[must_use]
    pub fn new(book: Arc<dyn Probe + Send + Sync>, side: &Path) -> LearnedBook {
        let paths = std::iter::once(side.to_owned()).chain(fallback_path(side));
        let files = paths.map(|path| (path, SideFile::default())).collect();
        let mut learned = Learned {
            files,
            looked: Instant::now(),
        };
        learned.refresh();
        LearnedBook {
            book,
            learned: Mutex::new(learned),
        }
    }
}

impl Learned {
    fn refresh(&mut self) {
        self.looked = Instant::now();
        for (path, file) in &mut self.files {
            if let Err(error) = file.refresh(path) {
                log::warn!("{}: {error}", path.display());
            }
        }
    }

    fn tally(&self, key: &Key) -> Option<Results> {
        let tallies = self
            .files
            .iter()
            .filter_map(|(_, file)| file.tallies.get(key));
        tallies.copied().reduce(|a, b| a + b)
    }

    fn is_empty(&self) -> bool {
        let tallies = self.files.iter().map(|(_, file)| &file.tallies);
        tallies.into_iter().all(HashMap::is_empty)
    }
}

impl Probe for LearnedBook {
    fn probe(&self, position: &Chess, wanted: Wanted, found: &mut Lookup) -> Result<(), Error> {
        self.book.probe(position, wanted, found)?;
        // Nothing inside panics, and a partial refresh is harmless.
        let mut learned = tabia_io::parallel::lock(&self.learned);
        if learned.looked.elapsed() >= PAUSE {
            learned.refresh();
        }
        if learned.is_empty() {
            return Ok(());
        }
        for known in &mut found.moves {
            let learn_value = known.learn_value();
            let Some(record) = &mut known.after else {
                continue;
            };
            let after = notation::after(position, known.mv);
            let key = CanonicalBoard::from_position(&after).map(|board| board.key());
            if let Some(tally) = key.and_then(|key| learned.tally(&key)) {
                record.learn_value = -learned_value(tally, learn_value, PLAY_STRENGTH);
            }
        }
        Ok(())
    }

    fn contains(&self, position: &Chess) -> Result<bool, Error> {
        self.book.contains(position)
    }

    fn games_of(&self, position: &Chess, entry: &BookMove) -> Result<MoveGames, Error> {
        self.book.games_of(position, entry)
    }

    fn reserve(&self, probes: u64) {
        self.book.reserve(probes);
    }

    /// Called at the beginning of a game, so new games are read then.
    fn is_current(&self) -> bool {
        tabia_io::parallel::lock(&self.learned).refresh();
        self.book.is_current()
    }
}
