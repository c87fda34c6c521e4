//! Streaming import of evaluations: only those of positions in a book are stored, even
//! from files with hundreds of millions of lines.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use shakmaty::Chess;

use super::{EvalKey, epd, lichess};
use crate::eval::Evaluation;

/// The result of importing a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Bytes read, after decompression.
    pub bytes: u64,
    /// Lines, without blank ones and comments.
    pub lines: u64,
    /// Lines about wanted positions.
    pub hits: u64,
    /// Lines that are not evaluations.
    pub bad_lines: u64,
    /// The first of these, as `line 7: not a legal position`.
    pub first_bad: Option<String>,
    /// Evaluations that were written as whole centipawns in games.
    pub in_centipawns: u64,
}

/// The form of a file of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineForm {
    /// [`lichess`]: a JSON object a line.
    Lichess,
    /// [`epd`]: EPD with `ce`, or `FEN ; cdb eval: N`.
    Epd,
}

impl LineForm {
    /// The form, by the first byte that is not a space.
    #[must_use]
    pub fn recognize(beginning: &[u8]) -> LineForm {
        match beginning.trim_ascii_start().first() {
            Some(b'{') => LineForm::Lichess,
            _ => LineForm::Epd,
        }
    }
}

/// Bytes read at once. Longer lines are not evaluations.
const CHUNK: usize = 1 << 20;

/// Reads lines and calls `found` with those that are `wanted`, in their order. `watch` is
/// called before each MiB with the number of lines read so far; either closure returns
/// false to stop. Reading and decompression run in their own thread. `source` is the
/// source of evaluations that have none.
///
/// # Errors
///
/// The text cannot be read; earlier lines have been passed to `found`.
pub fn import(
    text: impl Read + Send,
    source: &str,
    wanted: &dyn Fn(EvalKey) -> bool,
    found: &mut dyn FnMut(&Chess, Evaluation) -> bool,
    watch: &mut dyn FnMut(u64) -> bool,
) -> io::Result<Imported> {
    let mut imported = Imported::default();
    let mut import = Import {
        form: None,
        source: Arc::from(source),
        wanted,
    };
    std::thread::scope(|scope| {
        let (send, chunks) = sync_channel::<io::Result<Vec<u8>>>(4);
        scope.spawn(move || {
            let mut chunks = Chunks::new(text);
            // If sending fails, the receiver has ended.
            while let Some(chunk) = chunks.next()
                && send.send(chunk).is_ok()
            {}
        });
        for chunk in chunks {
            if !watch(imported.lines) || !import.lines_of(&chunk?, &mut imported, found) {
                break;
            }
        }
        Ok(imported)
    })
}

struct Import<'a> {
    form: Option<LineForm>,
    source: Arc<str>,
    wanted: &'a dyn Fn(EvalKey) -> bool,
}

impl Import<'_> {
    fn lines_of(
        &mut self,
        chunk: &[u8],
        imported: &mut Imported,
        found: &mut dyn FnMut(&Chess, Evaluation) -> bool,
    ) -> bool {
        imported.bytes += chunk.len() as u64;
        let form = *self.form.get_or_insert_with(|| LineForm::recognize(chunk));
        let mut rest = chunk;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let (line, tail) = rest.split_at(end);
            rest = tail.get(1..).unwrap_or_default();
            let line = line.trim_ascii();
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            imported.lines += 1;
            match self.evaluation(form, line) {
                Ok(None) => {}
                Ok(Some((position, evaluation))) => {
                    imported.hits += 1;
                    if !found(&position, evaluation) {
                        return false;
                    }
                }
                Err(fault) => {
                    imported.bad_lines += 1;
                    let number = imported.lines;
                    imported
                        .first_bad
                        .get_or_insert_with(|| format!("line {number}: {fault}"));
                }
            }
        }
        true
    }

    fn evaluation(
        &self,
        form: LineForm,
        line: &[u8],
    ) -> Result<Option<(Chess, Evaluation)>, epd::EpdFault> {
        match form {
            LineForm::Lichess => {
                let fen = lichess::fen_of(line).ok_or(epd::EpdFault::Position)?;
                let position = lichess::position(&fen).ok_or(epd::EpdFault::Position)?;
                if !(self.wanted)(EvalKey::from_position(&position)) {
                    return Ok(None);
                }
                let read = lichess::read(line, &self.source);
                read.ok_or(epd::EpdFault::NoValue).map(Some)
            }
            LineForm::Epd => {
                let (position, mut evaluation) = epd::read(&String::from_utf8_lossy(line))?;
                if evaluation.source.is_empty() {
                    evaluation.source = Arc::clone(&self.source);
                }
                let wanted = (self.wanted)(EvalKey::from_position(&position));
                Ok(wanted.then_some((position, evaluation)))
            }
        }
    }
}

/// A text in chunks of whole lines.
struct Chunks<R> {
    text: R,
    begun: Vec<u8>,
    done: bool,
}

impl<R: Read> Chunks<R> {
    fn new(text: R) -> Chunks<R> {
        Chunks {
            text,
            begun: Vec::new(),
            done: false,
        }
    }

    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        while !self.done {
            let mut chunk = std::mem::take(&mut self.begun);
            let room = (CHUNK as u64).saturating_sub(chunk.len() as u64).max(1);
            match (&mut self.text).take(room).read_to_end(&mut chunk) {
                Ok(0) => self.done = true,
                Ok(_) => {}
                Err(error) => {
                    self.done = true;
                    return Some(Err(error));
                }
            }
            if self.done {
                return (!chunk.is_empty()).then_some(Ok(chunk));
            }
            match memchr::memrchr(b'\n', &chunk) {
                Some(last) => {
                    self.begun = chunk.split_off(last + 1);
                    return Some(Ok(chunk));
                }
                // No line end in the whole chunk: returned as it is, and counted as bad.
                None if chunk.len() >= CHUNK => return Some(Ok(chunk)),
                None => self.begun = chunk,
            }
        }
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::eval::Value;

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

    fn run(text: &str) -> (Imported, Vec<Value>) {
        let start = EvalKey::from_position(&Chess::default());
        let mut values = Vec::new();
        let imported = import(
            text.as_bytes(),
            "x",
            &|key| key == start,
            &mut |_, found| {
                values.push(found.value);
                true
            },
            &mut |_| true,
        );
        (imported.unwrap(), values)
    }

    #[test]
    fn only_what_is_wanted_is_kept() {
        let other = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";
        let line = |fen: &str, cp: i32| {
            format!(
                "{{\"fen\":\"{fen}\",\"evals\":[{{\"pvs\":[{{\"cp\":{cp},\"line\":\"e2e4\"}}],\"knodes\":1,\"depth\":2}}]}}\n"
            )
        };
        let text =
            line(other, 3).repeat(20_000) + &line(START, 18) + &line(other, 4) + "{\"fen\":1}\n";
        let (imported, values) = run(&text);
        assert_eq!(values, [Value::Cp(18)]);
        assert_eq!(
            (imported.lines, imported.hits, imported.bad_lines),
            (20_003, 1, 1)
        );
        assert_eq!(imported.bytes, text.len() as u64);
        assert_eq!(
            imported.first_bad.as_deref(),
            Some("line 20003: not a legal position")
        );
    }

    #[test]
    fn a_text_without_anything_wanted_is_watched_and_can_be_ended() {
        let text = format!("{START} ; cdb eval: 15, ply: 0;\n").repeat(4 * CHUNK / 60);
        let mut reported = Vec::new();
        let imported = import(
            text.as_bytes(),
            "x",
            &|_| false,
            &mut |_, _| true,
            &mut |lines| {
                reported.push(lines);
                reported.len() < 3
            },
        )
        .unwrap();
        assert!(reported.len() == 3 && reported.is_sorted(), "{reported:?}");
        assert_eq!(imported.lines, reported[2]);
        assert!(imported.bytes < text.len() as u64);
    }

    #[test]
    fn lines_of_text_with_and_without_an_end() {
        for end in ["", "\n", "\r\n"] {
            let text = format!("# note\n\n{START} ; cdb eval: 15, ply: 0;\r\n{START} ce 20{end}");
            let (imported, values) = run(&text);
            assert_eq!(values, [Value::Cp(15), Value::Cp(20)]);
            assert_eq!((imported.lines, imported.bad_lines), (2, 0));
        }
        assert_eq!(run("").0, Imported::default());
    }

    #[test]
    fn a_text_without_lines_does_not_fill_memory() {
        let (imported, values) = run(&"x".repeat(3 * CHUNK));
        assert_eq!((imported.bad_lines, values.len()), (3, 0));
    }
}
