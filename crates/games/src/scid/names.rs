//! The file of names: players, events, sites, rounds.
//!
//! Version 4, `.sn4`, big-endian: `Scid.sn` and a zero; 4 unused bytes;
//! number of names of each kind (4 x 3 bytes); highest use of each (4 x 3);
//! then the names of one kind after the other, sorted. A name: its number (2
//! bytes, 3 if there are 65,536 names), how often it is used (1 to 3 bytes,
//! by the highest use), its length (1), how many bytes it shares with the name
//! before it (1, not for the first of a kind), and the other bytes.
//!
//! Version 5, `.sn5`: a number of seven bits a byte, the lowest first, bit 7
//! set if more follow: the kind (3 low bits) and the length; then the
//! name. Names of a kind are numbered in their order.
//!
//! Neither version stores how names are encoded: they are UTF-8 or Windows-1252, even
//! side by side.

use std::borrow::Cow;

use crate::TextEncoding;
use tabia_io::input::bytes::Cursor;

pub(super) const PLAYERS: usize = 0;
pub(super) const EVENTS: usize = 1;
pub(super) const SITES: usize = 2;
pub(super) const ROUNDS: usize = 3;
const KINDS: usize = 4;

/// Kind of version 5 for data about the database, which are not names.
const ABOUT: usize = 4;

/// First bytes of a file of version 4.
const MAGIC: &[u8; 8] = b"Scid.sn\0";

/// All names of a database.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    bytes: Vec<u8>,
    /// For each kind, start and end of the names in the bytes; `u32::MAX` if there
    /// is none.
    kinds: [Vec<(u32, u32)>; KINDS],
    /// Greatest number of names that fit the file.
    most: usize,
    /// The encoding of all texts of the database that are not UTF-8.
    pub(super) encoding: TextEncoding,
    /// What is wrong with the file.
    pub(super) fault: Option<String>,
}

impl Names {
    /// Reads a file of version 4. Names after damage are unknown.
    pub(super) fn parse_old(file: &[u8]) -> Names {
        let mut names = Names {
            most: file.len() / 4,
            ..Names::default()
        };
        if names.read_old(file).is_none() && names.fault.is_none() {
            names.fault = Some("it is cut off".to_owned());
        }
        names
    }

    fn read_old(&mut self, file: &[u8]) -> Option<()> {
        let mut cursor = Cursor::new(file);
        if cursor.take(MAGIC.len())? != MAGIC {
            self.fault = Some("it does not begin with \"Scid.sn\"".to_owned());
            return None;
        }
        cursor.take(4)?;
        let mut counts = [0; KINDS];
        let mut most_used = [0; KINDS];
        for number in counts.iter_mut().chain(&mut most_used) {
            *number = cursor.be_u24()?;
        }
        for (kind, (count, most)) in counts.into_iter().zip(most_used).enumerate() {
            self.read_kind(kind, count, most, &mut cursor)?;
        }
        Some(())
    }

    fn read_kind(
        &mut self,
        kind: usize,
        count: u32,
        most: u32,
        cursor: &mut Cursor<'_>,
    ) -> Option<()> {
        let mut last = (0, 0);
        for index in 0..count {
            let number = if count > 0xffff {
                cursor.be_u24()?
            } else {
                cursor.be_u16()?.into()
            };
            cursor.take(match most {
                0..=0xff => 1,
                0x100..=0xffff => 2,
                _ => 3,
            })?;
            let length = usize::from(cursor.u8()?);
            let shared = if index > 0 { cursor.u8()?.into() } else { 0 };
            let (start, end): (u32, u32) = last;
            let before = self.bytes.get(start as usize..end as usize)?;
            let is_new = self.bytes(kind, number).is_none();
            // A name takes at least four bytes, so the file limits the list.
            let is_sound = is_new && number < count && number as usize <= self.most;
            let shared = before.get(..shared).filter(|shared| shared.len() <= length);
            let (Some(shared), true) = (shared, is_sound) else {
                self.fault = Some(format!(
                    "its names are damaged at byte {}",
                    cursor.position()
                ));
                return None;
            };
            let mut name = shared.to_vec();
            name.extend_from_slice(cursor.take(length - shared.len())?);
            last = self.add(kind, number, &name)?;
        }
        Some(())
    }

    /// Reads a file of version 5. Names after damage are unknown.
    pub(super) fn parse_new(file: &[u8]) -> Names {
        let mut names = Names::default();
        let mut cursor = Cursor::new(file);
        let mut next = [0; KINDS];
        while cursor.remaining() > 0 {
            let at = cursor.position();
            let Some((kind, name)) = record(&mut cursor) else {
                names.fault = Some(format!("its names are cut off or damaged at byte {at}"));
                break;
            };
            if let Some(number) = next.get_mut(kind) {
                names.add(kind, *number, name);
                *number += 1;
            } else if kind != ABOUT {
                names.fault = Some(format!("its names are damaged at byte {at}"));
                break;
            }
        }
        names
    }

    fn add(&mut self, kind: usize, number: u32, name: &[u8]) -> Option<(u32, u32)> {
        let start = u32::try_from(self.bytes.len()).ok()?;
        self.bytes.extend_from_slice(name);
        let place = (start, u32::try_from(self.bytes.len()).ok()?);
        let places = self.kinds.get_mut(kind)?;
        let number = number as usize;
        if places.len() <= number {
            // Version 4 has numbers in any order. They are below the count of names,
            // which the size of the file limits.
            places.resize(number + 1, (u32::MAX, u32::MAX));
        }
        *places.get_mut(number)? = place;
        Some(place)
    }

    /// The bytes of a name.
    pub(super) fn bytes(&self, kind: usize, number: u32) -> Option<&[u8]> {
        let place = self.kinds.get(kind)?.get(number as usize);
        let (start, end) = place.copied()?;
        self.bytes.get(start as usize..end as usize)
    }

    /// The text of a name; `None` if no name has the number.
    pub(super) fn get(&self, kind: usize, number: u32) -> Option<Cow<'_, str>> {
        let bytes = self.bytes(kind, number)?;
        Some(self.encoding.text(bytes))
    }
}

/// Reads kind and name.
fn record<'f>(cursor: &mut Cursor<'f>) -> Option<(usize, &'f [u8])> {
    let mut value = 0_u64;
    for shift in (0..35).step_by(7) {
        let byte = cursor.u8()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            let length = usize::try_from(value >> 3).ok()?;
            return Some(((value & 7) as usize, cursor.take(length)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_version_4_share_their_beginnings() {
        let mut file = MAGIC.to_vec();
        file.extend([0; 4]);
        file.extend([0, 0, 2, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        file.extend([0, 0, 9, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        file.extend(b"\x00\x01\x09\x05Hansa");
        file.extend(b"\x00\x00\x09\x06\x04sen");
        file.pop();
        let whole = [&file[..], b"\x00\x00\x01\x00\x04W\xfcrz"].concat();
        let names = Names::parse_old(&whole);
        assert_eq!(names.fault, None);
        assert_eq!(names.get(PLAYERS, 1).unwrap(), "Hansa");
        assert_eq!(names.get(PLAYERS, 0).unwrap(), "Hansse");
        assert_eq!(names.get(EVENTS, 0).unwrap(), "Würz");
        assert_eq!(names.get(PLAYERS, 2), None);
        let cut = Names::parse_old(&file);
        assert!(cut.fault.is_some());
        assert_eq!(cut.get(PLAYERS, 0).unwrap(), "Hansse");
        let mut twice = whole.clone();
        let at = 36 + 9 + 1;
        *twice.get_mut(at).unwrap() = 1;
        assert!(Names::parse_old(&twice).fault.unwrap().contains("damaged"));
        assert!(Names::parse_old(b"Scid.si\0").fault.is_some());
    }

    #[test]
    fn names_of_version_5_are_numbered_as_they_come() {
        let file = b"\x89\x01comments and NAGs\x40White, A\x40Black, B\x2ctype3\x0b1";
        let names = Names::parse_new(file);
        assert_eq!(names.fault, None);
        assert_eq!(names.get(EVENTS, 0).unwrap(), "comments and NAGs");
        assert_eq!(names.get(PLAYERS, 1).unwrap(), "Black, B");
        assert_eq!(names.get(ROUNDS, 0).unwrap(), "1");
        for damaged in [&b"\x40White"[..], b"\x0f1", b"\xff\xff\xff\xff\xff\xff"] {
            assert!(Names::parse_new(damaged).fault.is_some());
        }
    }
}
