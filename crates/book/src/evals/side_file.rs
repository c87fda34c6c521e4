//! The file of evaluations beside a book: `main.ctg` has `main.evals`.
//!
//! It consists of EPD lines ([`super::epd`]), so every tool for EPD can read it, and two
//! files can be concatenated. Lines are only appended, each with one write: a crash loses
//! at most the line it was writing. Several evaluations of a position are merged when the
//! file is read ([`EvalTable::add`]).

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use shakmaty::Chess;

use super::{EvalTable, epd};
use crate::Error;
use crate::eval::Evaluation;
use tabia_io::atomic::{LOCK_WAIT, Locked};
use tabia_io::{is_cut_short, open_for_append};

/// The content of a file.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct EvalsRead {
    /// The evaluations.
    pub table: EvalTable,
    /// Lines with an evaluation.
    pub lines: u64,
    /// Lines without an evaluation, except blank ones and `#` comments.
    pub bad_lines: u64,
    /// The first of these, as `line 7: not a legal position`.
    pub first_bad: Option<String>,
}

/// The path of a book's evaluations: its name with the extension `.evals`.
#[must_use]
pub fn beside(book: &Path) -> PathBuf {
    book.with_extension("evals")
}

/// Reads a whole file; a missing file is empty.
///
/// # Errors
///
/// The file cannot be read. Bad lines are counted, not returned as errors, so that the
/// rest of the file can be used.
pub fn read(path: &Path) -> Result<EvalsRead, Error> {
    let failed = |error| failed(path, error);
    let mut found = EvalsRead::default();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(failed(error)),
    };
    let mut reader = BufReader::with_capacity(256 << 10, file);
    let mut bytes = Vec::new();
    let mut number = 0_u64;
    loop {
        bytes.clear();
        // An overlong line is bad, and must not fill the memory.
        let read = (&mut reader)
            .take(MOST_LINE)
            .read_until(b'\n', &mut bytes)
            .map_err(failed)?;
        if read == 0 {
            return Ok(found);
        }
        number += 1;
        let line = String::from_utf8_lossy(bytes.trim_ascii());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        // A line cut off by a crash lacks its end.
        let whole = match line.ends_with(';') {
            true => epd::read(&line).map_err(|fault| fault.to_string()),
            false => Err("the end is missing".to_owned()),
        };
        match whole {
            Ok((position, evaluation)) => {
                found.lines += 1;
                found.table.add(&position, &evaluation);
            }
            Err(fault) => {
                found.bad_lines += 1;
                found
                    .first_bad
                    .get_or_insert_with(|| format!("line {number}: {fault}"));
            }
        }
    }
}

/// Highest length of a line in bytes.
const MOST_LINE: u64 = 64 << 10;

/// A file of evaluations, open for appending. Locked: one program appends at a time, with
/// any number of threads.
#[derive(Debug)]
pub struct EvalFile {
    path: PathBuf,
    file: Locked,
    /// Begins the next line: the line end that is missing if a crash cut the last one off.
    line: Mutex<String>,
    /// Whether the file did not exist before.
    is_new: bool,
}

impl Drop for EvalFile {
    /// Deletes a new file that is still empty.
    fn drop(&mut self) {
        let length = self.file.metadata().map(|data| data.len());
        if self.is_new && matches!(length, Ok(0)) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl EvalFile {
    /// Opens a file, or creates it; a new file that stays empty is deleted.
    ///
    /// # Errors
    ///
    /// The file cannot be opened or holds something else ([`EvalFile::check`]), or another
    /// program is appending to it.
    pub fn open(path: &Path) -> Result<EvalFile, Error> {
        let failed = |error| failed(path, error);
        EvalFile::check(path)?;
        let is_new = !path.exists();
        let file = Locked::within(LOCK_WAIT, open_for_append(path).map_err(failed)?);
        let in_use = "another program is writing to it; wait until it ends";
        let mut file = file.ok_or_else(|| Error::refused(path, in_use))?;
        // Written with the next line, as nothing may follow.
        let end = match is_cut_short(&mut file).map_err(failed)? {
            true => "\n",
            false => "",
        };
        Ok(EvalFile {
            path: path.to_owned(),
            file,
            line: Mutex::new(end.to_owned()),
            is_new,
        })
    }

    /// The path that it was opened by.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks, before any work, that evaluations can be appended to a file: it does not exist,
    /// or holds evaluations. Appended to a book or to games, they would damage it.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or holds something else.
    pub fn check(path: &Path) -> Result<(), Error> {
        let failed = |error| failed(path, error);
        match path.metadata() {
            Ok(data) if data.is_dir() => {
                return Err(failed(io::ErrorKind::IsADirectory.into()));
            }
            Ok(data) if data.is_file() => {}
            // Opening a pipe would wait for its writer.
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failed(error)),
        }
        let mut start = Vec::new();
        let file = File::open(path).map_err(failed)?;
        let mut file = file.take(MOST_LINE);
        file.read_to_end(&mut start).map_err(failed)?;
        match holds_evaluations(&start) {
            true => Ok(()),
            false => Err(Error::refused(
                path,
                "evaluations would be added to this file, which is not a file of evaluations: name \
                 another one; nothing was changed",
            )),
        }
    }

    /// Appends an evaluation of a position. It is in the file when this returns, even if
    /// the program is then killed.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn add(&self, position: &Chess, evaluation: &Evaluation) -> Result<(), Error> {
        let mut line = tabia_io::parallel::lock(&self.line);
        epd::write(position, evaluation, &mut line);
        let written = (&*self.file).write_all(line.as_bytes());
        line.clear();
        written.map_err(|error| failed(&self.path, error))
    }

    /// Syncs the file to disk.
    ///
    /// # Errors
    ///
    /// The operating system cannot do it.
    pub fn sync(&self) -> Result<(), Error> {
        let synced = self.file.sync_data();
        synced.map_err(|error| failed(&self.path, error))
    }
}

/// Whether a file that starts so holds evaluations: at least half of its lines, as a crash may
/// have cut off some, or no line but the start of the first.
fn holds_evaluations(start: &[u8]) -> bool {
    let is_all = (start.len() as u64) < MOST_LINE;
    let mut lines: Vec<&[u8]> = start.split(|byte| *byte == b'\n').collect();
    // After the last line end is nothing, or a line that is not whole.
    let rest = lines.pop().unwrap_or_default();
    let is_content = |line: &&[u8]| !line.trim_ascii().is_empty() && !line.starts_with(b"#");
    lines.retain(is_content);
    let known = lines.iter().filter(|line| {
        let line = String::from_utf8_lossy(line.trim_ascii());
        epd::read(&line).is_ok()
    });
    let known = known.count();
    if lines.is_empty() {
        let board = rest.split(|byte| *byte == b' ').next().unwrap_or_default();
        let is_board = |byte: &u8| b"PNBRQKpnbrqk12345678/".contains(byte);
        return is_all && (board.iter().all(is_board) || !is_content(&rest));
    }
    2 * known >= lines.len()
}

fn failed(path: &Path, reason: io::Error) -> Error {
    Error::Evaluations {
        path: path.into(),
        reason: reason.into(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::eval::{Value, known};

    fn evaluation(cp: i32) -> Evaluation {
        known(cp, &[])
    }

    #[test]
    fn what_a_crash_has_cut_short_costs_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = beside(&folder.path().join("main.ctg"));
        assert_eq!(read(&path).unwrap().lines, 0);
        let start = Chess::default();
        EvalFile::open(&path)
            .unwrap()
            .add(&start, &evaluation(20))
            .unwrap();
        let text = fs::read(&path).unwrap();
        for cut in 0..text.len() {
            fs::write(&path, [&text, &text[..cut]].concat()).unwrap();
            let file = EvalFile::open(&path).unwrap();
            file.add(&start, &evaluation(7)).unwrap();
            drop(file);
            let found = read(&path).unwrap();
            assert!(found.lines >= 2 && found.bad_lines <= 1, "{cut}: {found:?}");
            let value = found.table.get(&start).unwrap().value;
            assert!(matches!(value, Value::Cp(20)), "{cut}: {value}");
        }
    }

    #[test]
    fn evaluations_are_added_to_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.evals");
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
        let game = "[Event \"?\"]\n\n1. e4 *\n";
        let line = format!("{start} ce 15;\n");
        for (text, is_one) in [
            ("", true),
            ("\n# x\n", true),
            ("# x", true),
            (&line, true),
            (&line[..1], true),
            (&line[..line.len() - 3], true),
            (&format!("rnb\n{line}"), true),
            (&format!("title\n{line}{line}"), true),
            (game, false),
            (&format!("{game}{line}"), false),
            ("1. e4 *", false),
            (&format!("{start} 0 1\n"), false),
            (&format!("{start} bm e4;\n"), false),
            ("\0\u{20}\u{10}\0", false),
        ] {
            fs::write(&path, text).unwrap();
            let opened = EvalFile::open(&path);
            assert_eq!(opened.is_ok(), is_one, "{text:?}: {opened:?}");
            if let Ok(file) = opened {
                drop(file);
                assert_eq!(fs::read_to_string(&path).unwrap(), text);
            }
        }
        assert!(EvalFile::check(folder.path()).is_err());
        let long = vec![b'8'; 2 * MOST_LINE as usize];
        fs::write(&path, long).unwrap();
        EvalFile::check(&path).unwrap_err();
    }

    #[test]
    fn one_program_writes_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.evals");
        let first = EvalFile::open(&path).unwrap();
        let second = EvalFile::open(&path).unwrap_err();
        assert!(second.to_string().contains("another program"), "{second}");
        drop(first);
        assert!(!path.exists());
    }

    #[test]
    fn lines_that_hold_nothing_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.evals");
        fs::write(
            &path,
            "\n# x\n8/8 w - - ce 1;\nrnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - ce 15;\n",
        )
        .unwrap();
        let found = read(&path).unwrap();
        assert_eq!((found.lines, found.bad_lines), (1, 1));
        assert_eq!(
            found.first_bad.as_deref(),
            Some("line 3: not a legal position")
        );
    }
}
