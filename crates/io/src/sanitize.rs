//! Sanitizes text of unknown origin before a user sees it.
//!
//! Names of files and players, tags and the texts of engines may contain control
//! characters, and a terminal executes them: colours, titles, even simulated key input.
//! Here they are made visible instead.

use std::fmt::Write as _;
use std::io::{self, Write};

/// Whether a terminal would execute this character instead of showing it: control
/// characters except line feed and tab, and those that change the direction of writing.
fn is_unsafe(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    }
}

/// The text with every unsafe character written as `\u001b`, the escape of JSON, so
/// that JSON stays valid and equal.
///
/// ```
/// use tabia_io::sanitize::escape_control;
///
/// assert_eq!(escape_control("Smith, Jane"), "Smith, Jane");
/// assert_eq!(escape_control("\u{1b}[2Jgone"), r"\u001b[2Jgone");
/// ```
#[must_use]
pub fn escape_control(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) {
            let _ = write!(shown, "\\u{:04x}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    shown
}

/// A word quoted for a POSIX shell.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "%+,-./:=@_".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A writer that makes control characters visible: see [`escape_control`].
#[derive(Debug)]
pub struct Sanitized<W> {
    inner: W,
    keeps_colours: bool,
}

impl<W: Write> Sanitized<W> {
    /// Wraps a writer whose output users read.
    pub const fn new(inner: W) -> Sanitized<W> {
        Sanitized {
            inner,
            keeps_colours: false,
        }
    }

    /// Like [`Sanitized::new`], for text to which this program has added colours: sequences
    /// that only set a style (`ESC [ 1 ; 32 m`) pass. Pass names from files through
    /// [`escape_control`] first.
    pub const fn with_colours(inner: W) -> Sanitized<W> {
        Sanitized {
            inner,
            keeps_colours: true,
        }
    }

    /// Writes text: styles unchanged, other control characters visible.
    fn write_text(&mut self, text: &str) -> io::Result<()> {
        if !self.keeps_colours {
            return self.write_shown(text);
        }
        let mut rest = text;
        while let Some(at) = rest.find('\u{1b}') {
            let (before, from) = rest.split_at(at);
            let (style, after) = from.split_at(style_length(from).unwrap_or(0));
            self.write_shown(before)?;
            self.inner.write_all(style.as_bytes())?;
            if style.is_empty() {
                self.inner.write_all(escape_control("\u{1b}").as_bytes())?;
            }
            rest = if style.is_empty() { &from[1..] } else { after };
        }
        self.write_shown(rest)
    }

    /// Fast path: nearly all text is safe and is checked many bytes at once.
    fn write_shown(&mut self, text: &str) -> io::Result<()> {
        let is_shown = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
        let all_shown = |bytes: &[u8]| bytes.iter().fold(true, |all, byte| all & is_shown(byte));
        match text.as_bytes().chunks(256).all(all_shown) {
            true => self.inner.write_all(text.as_bytes()),
            false => self.inner.write_all(escape_control(text).as_bytes()),
        }
    }
}

/// Bytes of the style sequence at the start of a text.
fn style_length(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    parameters[end..].starts_with('m').then_some(2 + end + 1)
}

impl<W: Write> Write for Sanitized<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = match str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => match bytes.split_at(error.valid_up_to()) {
                // Invalid UTF-8 is shown as such.
                ([], _) => {
                    let wrong = error.error_len().unwrap_or(bytes.len());
                    self.inner.write_all("\u{fffd}".as_bytes())?;
                    return Ok(wrong);
                }
                (valid, _) => str::from_utf8(valid).unwrap_or_default(),
            },
        };
        self.write_text(text)?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// A writer that accepts a limited number of bytes.
#[derive(Debug)]
pub struct Bounded<W> {
    inner: W,
    left: u64,
    limit: u64,
}

impl<W: Write> Bounded<W> {
    /// Around `inner`, for `limit` bytes.
    pub const fn new(inner: W, limit: u64) -> Bounded<W> {
        Bounded {
            inner,
            left: limit,
            limit,
        }
    }
}

impl<W: Write> Write for Bounded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let wanted = bytes.len() as u64;
        let Some(left) = self.left.checked_sub(wanted) else {
            let text = format!("it has reached its limit of {} bytes", self.limit);
            return Err(io::Error::new(io::ErrorKind::StorageFull, text));
        };
        self.inner.write_all(bytes)?;
        self.left = left;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(bytes: &[u8]) -> String {
        let mut out = Sanitized::new(Vec::new());
        out.write_all(bytes).unwrap();
        String::from_utf8(out.inner).unwrap()
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        for (bytes, shown) in [
            (&b"1. e4\te5\n"[..], "1. e4\te5\n"),
            (b"\x1b]0;title\x07\r", "\\u001b]0;title\\u0007\\u000d"),
            ("Bücher".as_bytes(), "Bücher"),
            ("\u{9b}2J \u{202e}".as_bytes(), "\\u009b2J \\u202e"),
            (b"B\xfccher \x9b\xc3", "B\u{fffd}cher \u{fffd}\u{fffd}"),
        ] {
            assert_eq!(plain(bytes), shown);
        }
    }

    #[test]
    fn styles_pass_where_they_are_ours() {
        let mut out = Sanitized::with_colours(Vec::new());
        out.write_all(b"\x1b[1m\x1b[1;32mgood\x1b[0m\x1b]0;x\x07\x1b[2J\x1b[3")
            .unwrap();
        let shown = "\x1b[1m\x1b[1;32mgood\x1b[0m\\u001b]0;x\\u0007\\u001b[2J\\u001b[3";
        assert_eq!(String::from_utf8(out.inner).unwrap(), shown);
    }

    #[test]
    fn json_stays_the_same() {
        let name = "\u{1b}[2J\u{7f}\u{9b} \"Bücher\" \\ \n";
        let json = serde_json::to_string(name).unwrap();
        let shown = plain(json.as_bytes());
        assert!(!shown.contains(char::is_control));
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), name);
    }

    #[test]
    fn a_full_file_takes_no_more() {
        let mut out = Bounded::new(Vec::new(), 10);
        out.write_all(b"01234567").unwrap();
        let error = out.write_all(b"890").unwrap_err();
        assert!(error.to_string().contains("10 bytes"), "{error}");
        out.write_all(b"89").unwrap();
        assert_eq!(out.inner, b"0123456789");
    }

    proptest! {
        #[test]
        fn nothing_unsafe_comes_through(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            prop_assert!(!plain(&bytes).contains(is_unsafe));
        }

        #[test]
        fn text_stays(text in "[ -~\n\täöüß€]{0,40}") {
            prop_assert_eq!(plain(text.as_bytes()), text);
        }
    }
}
