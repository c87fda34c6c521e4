//! The three files of names.

use std::collections::BTreeMap;

use super::{MAGIC_BYTES, NAME_BYTES};

/// The bytes of one file of names.
#[derive(Default)]
pub(super) struct Names(Vec<u8>);

impl Names {
    pub(super) fn new(file: Vec<u8>) -> Names {
        Names(file)
    }

    /// The name at an offset of the file; `None` if no name begins there: the
    /// author's program writes 0 for a name that is too long.
    pub(super) fn get(&self, offset: u32) -> Option<String> {
        let place = offset as usize;
        let past_magic = place.checked_sub(MAGIC_BYTES)?;
        if !past_magic.is_multiple_of(NAME_BYTES) {
            return None;
        }
        let bytes = self.0.get(place..place.checked_add(NAME_BYTES)?)?;
        // A program may have cut the last letter in the middle.
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches([' ', '\0', '\u{fffd}']).trim_start();
        Some(if text.is_empty() { "?" } else { text }.to_owned())
    }
}

/// Collects the names to be written: each once, in byte order, as the author's
/// program sorts them. Like that program, it treats a name with a blank at its end
/// as a different name.
#[derive(Default)]
pub(super) struct NewNames(BTreeMap<String, u32>);

impl NewNames {
    /// Adds a name; returns its number in the order of adding.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        let count = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        let name = cut(name);
        match self.0.get(name) {
            Some(number) => *number,
            None => *self.0.entry(name.to_owned()).or_insert(count),
        }
    }

    /// Returns the file's content after its header, and the offset of each name by
    /// its number.
    pub(super) fn finish(self) -> (Vec<u8>, Vec<u32>) {
        let mut bytes = Vec::with_capacity(self.0.len() * NAME_BYTES);
        let mut places = vec![0; self.0.len()];
        for (name, number) in self.0 {
            if let Some(place) = places.get_mut(number as usize) {
                *place = u32::try_from(MAGIC_BYTES + bytes.len()).unwrap_or(0);
            }
            bytes.extend(name.bytes());
            bytes.resize(bytes.len().next_multiple_of(NAME_BYTES), b' ');
        }
        (bytes, places)
    }
}

/// The part of a name that fits the format, without half a letter.
fn cut(name: &str) -> &str {
    if name.trim().is_empty() {
        return "?";
    }
    let end = (0..=NAME_BYTES.min(name.len())).rev();
    let end = end.into_iter().find(|end| name.is_char_boundary(*end));
    name.get(..end.unwrap_or(0)).unwrap_or_default()
}
