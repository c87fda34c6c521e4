//! The side file: games that were played from a book, one a line.
//!
//! ```text
//! # tabia learn 1
//! game 1795262400 1-0 mate startpos e2e4* c7c5 g1f3* d7d6 .
//! ```
//!
//! | word | is |
//! |---|---|
//! | `game` | begins a game |
//! | 2nd | when it was recorded, seconds since 1970 |
//! | 3rd | `1-0`, `0-1` or `1/2-1/2` |
//! | 4th | how the result is known: `mate`, `draw` (by the rules), `score` (of the engine) |
//! | 5th | `startpos`, or a FEN with `_` for blanks |
//! | then | moves in UCI; those played out of this book have a `*` |
//! | `.` | the line is complete |
//!
//! A line is written in one piece after all others, so several adapters may share a
//! file and a crash loses one game at most. Lines that are not complete, and
//! additional lines of later versions, are skipped. Deleting the file forgets
//! everything.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use shakmaty::{Chess, Color, Move, Position};

use tabia_book::ctg::{CanonicalBoard, Key};
use tabia_io::append_line;
use tabia_io::input::bytes::{FNV_START, fnv1a};
use tabia_notation::{self as notation, Results};

/// The longest wait for another adapter that records a game: the clock of the GUI may
/// be running.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

const HEADER: &str = "# tabia learn 1\n";

/// Limit of bytes that are read of a file: some three million games.
const MOST_BYTES: u64 = 1 << 30;

tabia_notation::named! {
    /// How the result of a game is known.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Evidence {
        /// The last position is checkmate.
        Mate = "mate",
        /// The last position is a draw by the rules.
        Draw = "draw",
        /// The engine's last score.
        Score = "score",
    }
}

/// A game that was played from a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedGame {
    /// FEN of the first position; `None` for the standard one.
    pub start: Option<String>,
    /// The winner; `None` for a draw.
    pub winner: Option<Color>,
    /// How the result is known.
    pub evidence: Evidence,
    /// Moves in UCI, and whether the book chose them. The last one is a book move.
    pub moves: Vec<(String, bool)>,
}

impl PlayedGame {
    /// `1-0`, `0-1` or `1/2-1/2`.
    #[must_use]
    pub const fn result(&self) -> &'static str {
        match self.winner {
            Some(Color::White) => "1-0",
            Some(Color::Black) => "0-1",
            None => "1/2-1/2",
        }
    }

    /// The line of the file, without the line end.
    #[must_use]
    pub fn line(&self, seconds: u64) -> String {
        let start = self
            .start
            .as_ref()
            .map_or_else(|| "startpos".to_owned(), |fen| fen.replace(' ', "_"));
        let mut line = format!(
            "game {seconds} {} {} {start}",
            self.result(),
            self.evidence.as_str()
        );
        for (mv, of_book) in &self.moves {
            line.push(' ');
            line.push_str(mv);
            if *of_book {
                line.push('*');
            }
        }
        line.push_str(" .");
        line
    }

    /// Reads a line; `None` if it is not a complete game.
    #[must_use]
    pub fn parse(line: &str) -> Option<PlayedGame> {
        let mut words = line.strip_suffix(" .")?.split_ascii_whitespace();
        if words.next()? != "game" {
            return None;
        }
        words.next()?.parse::<u64>().ok()?;
        let winner = match words.next()? {
            "1-0" => Some(Color::White),
            "0-1" => Some(Color::Black),
            "1/2-1/2" => None,
            _ => return None,
        };
        let evidence = [Evidence::Mate, Evidence::Draw, Evidence::Score];
        let word = words.next()?;
        let evidence = evidence.into_iter().find(|known| known.as_str() == word)?;
        let start = match words.next()? {
            "startpos" => None,
            fen => Some(fen.replace('_', " ")),
        };
        let moves = words
            .map(|word| match word.strip_suffix('*') {
                Some(mv) => (mv.to_owned(), true),
                None => (word.to_owned(), false),
            })
            .collect();
        Some(PlayedGame {
            start,
            winner,
            evidence,
            moves,
        })
    }

    /// Calls `found` for each book move, with the positions before and after it. Stops
    /// at the first illegal move.
    ///
    /// # Errors
    ///
    /// An error of `found`.
    pub fn each_book_move<E>(
        &self,
        mut found: impl FnMut(&Chess, Move, &Chess) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut position = match &self.start {
            None => Chess::default(),
            Some(fen) => {
                let Ok(position) = notation::position(fen) else {
                    return Ok(());
                };
                position
            }
        };
        for (word, of_book) in &self.moves {
            let Some(mv) = notation::find_uci(&position, word.as_bytes()) else {
                break;
            };
            let before = position.clone();
            position.play_unchecked(mv);
            if *of_book {
                found(&before, mv, &position)?;
            }
        }
        Ok(())
    }

    /// Adds the result to the positions after the book moves.
    fn tally(&self, tallies: &mut HashMap<Key, Results>) {
        let Ok(()) = self.each_book_move(|before, _, after| {
            if let Some(board) = CanonicalBoard::from_position(after) {
                let tally = tallies.entry(board.key()).or_default();
                tally.count(before.turn(), self.winner);
            }
            Ok::<_, std::convert::Infallible>(())
        });
    }
}

/// The side file of a book: `main.ctg.learn` for `main.ctg`.
#[must_use]
pub fn side_path(book: &Path) -> PathBuf {
    book.with_added_extension("learn")
}

/// The side file if the book's folder is not writable: a file in the user's data
/// folder, named after the book and its folder.
#[must_use]
pub fn fallback_path(side: &Path) -> Option<PathBuf> {
    Some(data_folder()?.join(file_for(side)?))
}

/// The name, in a folder of the user's data, of a file that belongs beside a book.
#[must_use]
pub fn file_for(side: &Path) -> Option<String> {
    let name = side.file_name()?;
    let whole = std::path::absolute(side).unwrap_or_else(|_| side.to_owned());
    let folder = whole.parent()?.to_string_lossy().into_owned();
    // Two books with the same name must not share a file.
    let hash = fnv1a(FNV_START, folder.as_bytes());
    Some(format!("{hash:016x}-{}", name.to_string_lossy()))
}

/// What helps where [`data_folder`] has none, as in a container whose user has no home.
pub const NO_DATA_FOLDER: &str = "the user's data has no folder: set HOME or XDG_DATA_HOME to one";

/// The folder in the user's data for the side files that cannot be beside their books; `None`
/// if the system has no folder for the user's data.
#[must_use]
pub fn data_folder() -> Option<PathBuf> {
    Some(user_data()?.join("learn"))
}

/// The folder of Tabia in the user's data; `None` if the system has none.
#[must_use]
pub fn user_data() -> Option<PathBuf> {
    Some(dirs::data_dir()?.join("tabia"))
}

/// Whether an error means that the folder is not writable.
#[must_use]
pub fn is_refused(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
    matches!(
        error.kind(),
        PermissionDenied | ReadOnlyFilesystem | NotFound | NotADirectory
    )
}

/// Appends a game to a side file, which is created if necessary.
///
/// # Errors
///
/// The file cannot be written.
pub fn append(path: &Path, game: &PlayedGame) -> io::Result<()> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let line = game.line(now.map_or(0, |now| now.as_secs()));
    append_line(path, HEADER, &line, LONGEST_WAIT)
}

/// Renames a side file, so that its games can be added to the book while new ones go to
/// a new file; `None` if it does not exist. A file that was renamed earlier but not
/// used comes first.
///
/// # Errors
///
/// The file cannot be renamed.
pub fn take_side_file(path: &Path) -> io::Result<Option<PathBuf>> {
    let taken = path.with_added_extension("taken");
    if taken.exists() {
        return Ok(Some(taken));
    }
    match fs::rename(path, &taken) {
        Ok(()) => Ok(Some(taken)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the games of a side file from an offset on, at most 1 GiB; returns
/// the bytes of all complete lines and the number of lines that are not complete games.
///
/// # Errors
///
/// The file cannot be read.
pub fn read_games(
    path: &Path,
    from: u64,
    mut found: impl FnMut(PlayedGame),
) -> io::Result<(u64, u64)> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    let whole = bytes.get(..end.map_or(0, |end| end + 1)).unwrap_or(&[]);
    let mut bad_lines = 0;
    for line in whole.split(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match PlayedGame::parse(line) {
            Some(game) => found(game),
            None => bad_lines += 1,
        }
    }
    Ok((whole.len() as u64, bad_lines))
}

/// The part of a side file that has been read.
#[derive(Debug, Default)]
pub struct SideFile {
    /// The results of its games.
    pub tallies: HashMap<Key, Results>,
    /// Number of complete games.
    pub games: u64,
    /// Number of lines that are not complete games.
    pub bad_lines: u64,
    /// Offset of the end of the last complete line.
    read: u64,
    state: Option<(u64, Option<SystemTime>)>,
}

impl SideFile {
    /// Reads what was added since the last call; true if there was anything. A file
    /// that was deleted or became shorter is read from its start. Costs one file system
    /// call if nothing has changed.
    ///
    /// # Errors
    ///
    /// The file exists but cannot be read.
    pub fn refresh(&mut self, path: &Path) -> io::Result<bool> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let had = self.state.is_some();
                *self = SideFile::default();
                return Ok(had);
            }
            Err(error) => return Err(error),
        };
        let state = Some((metadata.len(), metadata.modified().ok()));
        if state == self.state {
            return Ok(false);
        }
        if metadata.len() < self.read {
            *self = SideFile::default();
        }
        let (read, bad_lines) = read_games(path, self.read, |game| {
            self.games += 1;
            game.tally(&mut self.tallies);
        })?;
        self.state = state;
        self.read += read;
        self.bad_lines += bad_lines;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn game(winner: Option<Color>) -> PlayedGame {
        PlayedGame {
            start: None,
            winner,
            evidence: Evidence::Mate,
            moves: vec![
                ("e2e4".into(), true),
                ("e7e5".into(), false),
                ("g1f3".into(), true),
            ],
        }
    }

    #[test]
    fn a_line_comes_back_as_it_went() {
        let mut other = game(None);
        other.start = Some("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1".into());
        other.evidence = Evidence::Score;
        for game in [game(Some(Color::White)), game(Some(Color::Black)), other] {
            assert_eq!(PlayedGame::parse(&game.line(5)), Some(game));
        }
        let line = game(None).line(5);
        for cut in 0..line.len() {
            assert_eq!(PlayedGame::parse(&line[..cut]), None, "{cut}");
        }
    }

    #[test]
    fn a_torn_line_costs_its_game_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.ctg.learn");
        append(&path, &game(Some(Color::White))).unwrap();
        let mut side = SideFile::default();
        assert!(side.refresh(&path).unwrap());
        assert!(!side.refresh(&path).unwrap());
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"game 5 1-0 mate startpos e2e").unwrap();
        drop(file);
        append(&path, &game(Some(Color::Black))).unwrap();
        side.refresh(&path).unwrap();
        assert_eq!((side.games, side.bad_lines), (2, 1));
        let tally = Results::new(1, 0, 1);
        assert_eq!(side.tallies.len(), 2);
        assert!(side.tallies.values().all(|found| *found == tally));
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(HEADER), "{text}");
        fs::remove_file(&path).unwrap();
        assert!(side.refresh(&path).unwrap());
        assert!(side.tallies.is_empty());
    }
}
