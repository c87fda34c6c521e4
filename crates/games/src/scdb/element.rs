//! The elements of an encoded game.

use super::length;

/// An element of a game.
pub(super) enum Element<'b> {
    /// Bits for promotion, from, to.
    Move(u16),
    Begin,
    End,
    Comment(&'b [u8]),
    Nags(&'b [u8]),
    Null,
}

/// Reads the elements after the start of a game.
pub(super) struct Elements<'b>(pub(super) &'b [u8]);

impl<'b> Elements<'b> {
    /// The next element; `None` at the end.
    ///
    /// # Errors
    ///
    /// Why the bytes cannot be decoded.
    pub(super) fn next(&mut self) -> Result<Option<Element<'b>>, &'static str> {
        let Some((first, after)) = self.0.split_first() else {
            return Ok(None);
        };
        let (element, rest) = match first {
            0x00..=0x7f => {
                let (second, after) = after.split_first().ok_or("its last move is cut off")?;
                (Element::Move(u16::from_be_bytes([*first, *second])), after)
            }
            0x84 => (Element::Begin, after),
            0x85 => (Element::End, after),
            0x86 => {
                let (comment, after) = text(after).ok_or("a comment is longer than the game")?;
                (Element::Comment(comment), after)
            }
            0x87 => {
                let (nags, after) = text(after).ok_or("annotations are longer than the game")?;
                (Element::Nags(nags), after)
            }
            0x88 => (Element::Null, after),
            _ => return Err("it cannot be read further after a byte of unknown meaning"),
        };
        self.0 = rest;
        Ok(Some(element))
    }
}

/// Reads a text after its length; returns it and the bytes after it.
pub(super) fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = length::read(bytes)?;
    rest.split_at_checked(length)
}
