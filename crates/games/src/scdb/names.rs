//! The three files of names.

use std::collections::BTreeMap;

use super::{MAGIC_BYTES, NAME_BYTES};

/// The names of one file, as stored on disk.
#[derive(Default)]
pub(super) struct Names(Vec<u8>);

impl Names {
    pub(super) fn new(file: Vec<u8>) -> Names {
        Names(file)
    }

    /// The name that begins at a byte of the file; `None` where none does: 0 is
    /// what the author's program writes for a name that is too long.
    pub(super) fn get(&self, offset: u32) -> Option<String> {
        let place = offset as usize;
        let past_magic = place.checked_sub(MAGIC_BYTES)?;
        if !past_magic.is_multiple_of(NAME_BYTES) {
            return None;
        }
        let bytes = self.0.get(place..place.checked_add(NAME_BYTES)?)?;
        // A program may have cut the last letter in two.
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches([' ', '\0', '\u{fffd}']).trim_start();
        Some(if text.is_empty() { "?" } else { text }.to_owned())
    }
}

/// Names to be written: each once, in the order of their bytes, which is that
/// of the author's program. A name with a blank at its end is another one, as
/// it is for that program.
#[derive(Default)]
pub(super) struct NewNames(BTreeMap<String, u32>);

impl NewNames {
    /// Takes a name in, and gives the number it came as.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        let count = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        let name = cut(name);
        match self.0.get(name) {
            Some(number) => *number,
            None => *self.0.entry(name.to_owned()).or_insert(count),
        }
    }

    /// The file's content after its first bytes, and for each number the
    /// place of the name.
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

/// As much of a name as is stored, cut between two letters.
fn cut(name: &str) -> &str {
    if name.trim().is_empty() {
        return "?";
    }
    let end = (0..=NAME_BYTES.min(name.len())).rev();
    let end = end.into_iter().find(|end| name.is_char_boundary(*end));
    name.get(..end.unwrap_or(0)).unwrap_or_default()
}
