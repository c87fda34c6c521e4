//! Splits bytes into lines and lines into words.

use std::borrow::Cow;
use std::io::{self, Read};
use std::ops::Range;

/// The longest accepted line, in bytes. A `position` line of 20,000 plies has 100 kB; a
/// longer line than this is not UCI.
pub const MAX_LINE: usize = 2 << 20;

const FIRST_ROOM: usize = 64 << 10;

/// The words of a line, separated by blanks and tabs.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    line.split(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
        .filter(|word| !word.is_empty())
}

/// Returns the first word; empty for a blank line.
#[must_use]
pub fn first_word(line: &[u8]) -> &[u8] {
    words(line).next().unwrap_or_default()
}

/// The text after `word` (a slice of `line` from [`words`]), without leading blanks;
/// inner spacing is unchanged.
#[must_use]
pub fn rest_after<'a>(line: &'a [u8], word: &[u8]) -> &'a [u8] {
    let end = (word.as_ptr() as usize + word.len()).saturating_sub(line.as_ptr() as usize);
    line.get(end..).unwrap_or_default().trim_ascii_start()
}

/// The line with other bytes in these places, which are in order and apart.
#[must_use]
pub fn replaced(line: &[u8], changes: &[(Range<usize>, Vec<u8>)]) -> Vec<u8> {
    let mut new = Vec::with_capacity(line.len() + 8 * changes.len());
    let mut from = 0;
    for (at, bytes) in changes {
        new.extend_from_slice(line.get(from..at.start).unwrap_or_default());
        new.extend_from_slice(bytes);
        from = at.end;
    }
    new.extend_from_slice(line.get(from..).unwrap_or_default());
    new
}

/// The line with one blank between two words, and none around them.
#[must_use]
pub fn single_blanks(line: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let mut last = b' ';
    let is_spaced = line.iter().all(|&byte| {
        let is_blank = byte.is_ascii_whitespace();
        let is_right = !is_blank || (byte == b' ' && last != b' ');
        last = byte;
        is_right
    });
    let is_closed = line.last().is_none_or(|byte| !byte.is_ascii_whitespace());
    if is_spaced && is_closed {
        return line;
    }
    let all: Vec<&[u8]> = words(&line).collect();
    Cow::Owned(all.join(&b' '))
}

/// The place of `word` (a slice of `line` from [`words`]) in its line.
#[must_use]
pub fn place(line: &[u8], word: &[u8]) -> Range<usize> {
    let start = (word.as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
    start..start + word.len()
}

/// Decodes a line: UTF-8 if valid, otherwise Windows-1252, which some
/// GUIs send (Cute Chess sends Latin-1, Arena the system's code page).
#[must_use]
pub fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().copied().map(windows_1252).collect(),
    }
}

const fn windows_1252(byte: u8) -> char {
    const HIGH: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž',
        '\u{8f}', '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}',
        'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => HIGH[(byte - 0x80) as usize],
        _ => byte as char,
    }
}

/// Splits a stream of bytes into lines. Allocates only until its buffer is large enough.
///
/// A line longer than [`MAX_LINE`] is dropped and counted.
///
/// # Examples
///
/// An engine without moves:
///
/// ```
/// use shakmaty::uci::UciMove;
/// use tabia_uci::gui::{GuiCommand, parse};
/// use tabia_uci::line::LineBuffer;
/// use tabia_uci::message::best_move;
///
/// // Any `Read`: a pipe, a socket, or here a slice. The last line has no end.
/// let mut stream = &b"uci\nisready\nposition startpos\ngo movetime 5\nquit"[..];
/// let (mut buffer, mut answers) = (LineBuffer::default(), Vec::new());
/// while buffer.fill(&mut stream)? > 0 {
///     while let Some(line) = buffer.next_line() {
///         match parse(line) {
///             GuiCommand::Uci => answers.push("uciok".to_owned()),
///             GuiCommand::IsReady => answers.push("readyok".to_owned()),
///             GuiCommand::Go(_) => answers.push(best_move(&UciMove::Null, None)),
///             _ => {}
///         }
///     }
/// }
/// assert_eq!(answers, ["uciok", "readyok", "bestmove 0000"]);
/// assert_eq!(buffer.last_line().map(parse), Some(GuiCommand::Quit));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct LineBuffer {
    bytes: Vec<u8>,
    /// `bytes[start..end]` contains the unread data.
    start: usize,
    end: usize,
    /// No line end occurs before this index.
    searched: usize,
    /// Whether it is inside a line that is too long.
    skipping: bool,
    dropped: u32,
}

impl Default for LineBuffer {
    fn default() -> LineBuffer {
        LineBuffer {
            bytes: vec![0; FIRST_ROOM],
            start: 0,
            end: 0,
            searched: 0,
            skipping: false,
            dropped: 0,
        }
    }
}

impl LineBuffer {
    /// Reads once from `source`; returns the number of bytes read, 0 at the end.
    ///
    /// # Errors
    ///
    /// The errors of `source`, except interruptions, after which it reads again.
    pub fn fill(&mut self, source: &mut impl Read) -> io::Result<usize> {
        self.make_room();
        loop {
            match source.read(&mut self.bytes[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn make_room(&mut self) {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.searched -= self.start;
            self.start = 0;
        }
        if self.end == self.bytes.len() {
            if self.bytes.len() >= MAX_LINE {
                // The line is too long: drop the bytes of it so far.
                self.skipping = true;
                self.end = 0;
                self.searched = 0;
            } else {
                self.bytes.resize(self.bytes.len() * 2, 0);
            }
        } else if self.end == 0 && self.bytes.len() > FIRST_ROOM {
            self.bytes.truncate(FIRST_ROOM);
            self.bytes.shrink_to_fit();
        }
    }

    /// Returns the next complete line, without its line end (LF or CR LF); `None` if more
    /// bytes are needed.
    pub fn next_line(&mut self) -> Option<&[u8]> {
        loop {
            let unsearched = &self.bytes[self.searched..self.end];
            let Some(length) = unsearched.iter().position(|byte| *byte == b'\n') else {
                self.searched = self.end;
                return None;
            };
            let line = self.start..self.searched + length;
            self.start = line.end + 1;
            self.searched = self.start;
            if self.skipping {
                self.skipping = false;
                self.dropped += 1;
                continue;
            }
            let line = &self.bytes[line];
            return Some(line.strip_suffix(b"\r").unwrap_or(line));
        }
    }

    /// Returns the bytes after the last line end, at the end of the stream: an
    /// unterminated last line.
    pub fn last_line(&mut self) -> Option<&[u8]> {
        if self.skipping {
            self.skipping = false;
            self.dropped += 1;
            self.start = self.end;
        }
        let line = self.start..self.end;
        self.start = self.end;
        self.searched = self.end;
        (!line.is_empty()).then(|| &self.bytes[line])
    }

    /// Returns the number of lines dropped as too long since the last call.
    pub fn take_dropped(&mut self) -> u32 {
        std::mem::take(&mut self.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all_lines(buffer: &mut LineBuffer, mut bytes: &[u8], step: usize) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(step.min(bytes.len()));
            bytes = later;
            let mut now = now;
            while !now.is_empty() {
                buffer.fill(&mut now).unwrap();
                while let Some(line) = buffer.next_line() {
                    lines.push(line.to_vec());
                }
            }
        }
        lines
    }

    #[test]
    fn takes_lf_and_crlf_and_a_last_line_without_end() {
        let mut buffer = LineBuffer::default();
        assert_eq!(
            all_lines(&mut buffer, b"uci\r\nisready\n\nquit", 3),
            [&b"uci"[..], b"isready", b""]
        );
        assert_eq!(buffer.last_line(), Some(&b"quit"[..]));
        assert_eq!(buffer.last_line(), None);
    }

    #[test]
    fn drops_a_line_without_measure_and_goes_on() {
        let mut buffer = LineBuffer::default();
        let mut bytes = vec![b'x'; 10 << 20];
        bytes.extend_from_slice(b"\nisready\n");
        assert_eq!(all_lines(&mut buffer, &bytes, 1 << 16), [b"isready"]);
        assert_eq!(buffer.take_dropped(), 1);
        assert_eq!(buffer.take_dropped(), 0);
        assert_eq!(all_lines(&mut buffer, b"stop\n", 9), [b"stop"]);
        assert!(buffer.bytes.len() <= FIRST_ROOM, "the room is given back");
    }

    #[test]
    fn drops_a_last_line_without_measure_to_its_end() {
        let mut buffer = LineBuffer::default();
        let mut bytes = vec![b'x'; MAX_LINE + 10];
        bytes.extend_from_slice(b" quit");
        assert!(all_lines(&mut buffer, &bytes, 1 << 16).is_empty());
        assert_eq!(buffer.last_line(), None);
        assert_eq!(buffer.take_dropped(), 1);
        assert_eq!(buffer.last_line(), None);
        assert_eq!(buffer.take_dropped(), 0);
    }

    /// Signals interrupt every second read.
    struct Interrupted<'a> {
        bytes: &'a [u8],
        is_next: bool,
    }

    impl Read for Interrupted<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.is_next = !self.is_next;
            match self.is_next {
                true => Err(io::ErrorKind::Interrupted.into()),
                false => self.bytes.read(into),
            }
        }
    }

    #[test]
    fn an_interrupted_read_is_made_again() {
        let mut source = Interrupted {
            bytes: b"uci\nquit",
            is_next: false,
        };
        let mut buffer = LineBuffer::default();
        assert_eq!(buffer.fill(&mut source).unwrap(), 8);
        assert_eq!(buffer.fill(&mut source).unwrap(), 0);
        assert_eq!(buffer.next_line(), Some(&b"uci"[..]));
        assert_eq!(buffer.last_line(), Some(&b"quit"[..]));
    }

    /// A pipe that fails once, and then has ended.
    struct Failing(Option<io::ErrorKind>);

    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            self.0.take().map_or(Ok(0), |kind| Err(kind.into()))
        }
    }

    #[test]
    fn other_errors_are_reported() {
        use io::ErrorKind::{BrokenPipe, WouldBlock};
        for kind in [BrokenPipe, WouldBlock] {
            let failed = LineBuffer::default().fill(&mut Failing(Some(kind)));
            assert_eq!(failed.unwrap_err().kind(), kind);
        }
    }

    #[test]
    fn takes_a_line_of_a_megabyte() {
        let mut buffer = LineBuffer::default();
        let mut bytes = vec![b'x'; 1 << 20];
        bytes.push(b'\n');
        let lines = all_lines(&mut buffer, &bytes, 4096);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].len(), 1 << 20);
    }

    #[test]
    fn words_are_split_at_any_run_of_blanks() {
        let found: Vec<&[u8]> = words(b"\t go  wtime\t1 \r").collect();
        assert_eq!(found, [&b"go"[..], b"wtime", b"1"]);
        assert_eq!(first_word(b"   "), b"");
        let line = b"setoption name Book File value C:\\two  blanks.ctg";
        let value = words(line).find(|word| *word == b"value").unwrap();
        assert_eq!(rest_after(line, value), b"C:\\two  blanks.ctg");
    }

    #[test]
    fn text_is_utf_8_or_windows_1252() {
        assert_eq!(text("Bücher/Ω".as_bytes()), "Bücher/Ω");
        assert_eq!(text(b"B\xfccher \x80"), "Bücher €");
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_the_bytes_arrive(
            lines in prop::collection::vec("[ -~]{0,30}", 0..20),
            step in 1_usize..50,
        ) {
            let mut bytes = Vec::new();
            for line in &lines {
                bytes.extend_from_slice(line.as_bytes());
                bytes.push(b'\n');
            }
            let found = all_lines(&mut LineBuffer::default(), &bytes, step);
            let expected: Vec<Vec<u8>> = lines.into_iter().map(String::into_bytes).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_line_gets_single_blanks() {
        for line in ["  a  b c ", "a b c", "a\tb c", " a b c", "a b c "] {
            let single = single_blanks(Cow::Borrowed(line.as_bytes()));
            assert_eq!(*single, *b"a b c", "{line}");
            assert_eq!(matches!(single, Cow::Borrowed(_)), line == "a b c");
        }
        assert!(single_blanks(Cow::Borrowed(b" ")).is_empty());
    }
}
