//! The table of contents of an archive.
//!
//! | offset | size | header |
//! |---|---|---|
//! | 0 | 2 | 8 |
//! | 2 | 2 | members |
//! | 4 | 2 | bytes of a record: 173 in every known file |
//! | 6 | 2 | 3, perhaps a version |
//!
//! | offset | size | record of a member |
//! |---|---|---|
//! | 0 | 128 | name up to the first zero, Windows-1252, `\` between folders; undefined bytes after it |
//! | 128, 132, 136 | 4 | offset of its blocks, their length, unpacked length |
//! | 140 | 1 | 1 |
//! | 141, 145 | 4 | time of the file: `YYYYMMDD`, `HHMMSScc` as decimal numbers |
//! | 149, 157, 165 | 8 | the numbers of 128 to 136 again |
//!
//! Little-endian. The members' blocks follow, one member after the other, to the end of
//! the file.

use crate::TextEncoding;
use crate::encodings::field;
use tabia_io::input::bytes::{Cursor, le_u16_at, le_u32_at};

/// Bytes of the header.
pub(super) const HEADER_BYTES: usize = 8;

/// Bytes up to the first number fields, which every record has.
const LEAST_RECORD_BYTES: usize = 140;

/// Records of this size also have the 64-bit numbers.
const LONG_RECORD_BYTES: usize = 173;

const NAME_BYTES: usize = 128;

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// Name, with `/` between folders.
    pub(super) name: String,
    /// Offset of its blocks.
    pub(super) offset: u64,
    /// Bytes of its blocks.
    pub(super) packed: u64,
    /// Bytes when unpacked.
    pub(super) size: u64,
    /// Why it cannot be unpacked.
    pub(super) fault: Option<&'static str>,
}

/// Members and bytes of a record, from the header; `None` if it is invalid.
pub(super) fn extent(header: &[u8]) -> Option<(usize, usize)> {
    let [length, count, record] = [0, 2, 4].map(|at| le_u16_at(header, at));
    let (count, record) = (usize::from(count?), usize::from(record?));
    (length == Some(8) && record >= LEAST_RECORD_BYTES).then_some((count, record))
}

/// Whether a file with this start is an archive: its first member begins after the
/// table.
pub(super) fn is_archive(start: &[u8]) -> bool {
    let Some((count, record)) = extent(start) else {
        return false;
    };
    let end = (HEADER_BYTES + count * record) as u64;
    let first = le_u32_at(start, HEADER_BYTES + NAME_BYTES).map(u64::from);
    count == 0 || first == Some(end)
}

/// Reads the records of a file of `len` bytes.
pub(super) fn members(table: &[u8], record_bytes: usize, len: u64) -> Vec<Member> {
    let records = table.chunks_exact(record_bytes.max(1));
    records.filter_map(|record| member(record, len)).collect()
}

fn member(record: &[u8], len: u64) -> Option<Member> {
    let mut cursor = Cursor::new(record);
    let name = cursor.take(NAME_BYTES)?;
    let mut short = || cursor.le_u32().map(u64::from);
    let numbers = [short()?, short()?, short()?];
    let mut fault = None;
    if !name.contains(&0) || name.starts_with(&[0]) {
        fault = Some("its name is damaged");
    }
    let mut long = numbers;
    if record.len() >= LONG_RECORD_BYTES {
        cursor.take(9)?;
        for (long, short) in long.iter_mut().zip(numbers) {
            *long = cursor.le_u64()?;
            if *long & 0xffff_ffff != short {
                fault = Some("its record contradicts itself");
            }
        }
    }
    let [offset, packed, size] = long;
    if offset.checked_add(packed).is_none_or(|end| end > len) {
        fault.get_or_insert("the archive ends inside it");
    }
    Some(Member {
        name: field(name, TextEncoding::default()).replace('\\', "/"),
        offset,
        packed,
        size,
        fault,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &[u8], numbers: [u32; 3], long: [u64; 3]) -> Vec<u8> {
        let mut bytes = name.to_vec();
        bytes.resize(NAME_BYTES, 0);
        bytes.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
        bytes.extend([1; 9]);
        bytes.extend(long.iter().flat_map(|n| n.to_le_bytes()));
        bytes
    }

    #[test]
    fn records_are_read_and_checked() {
        let table = [
            record(b"a\\B.cbh\0rubbish", [181, 5, 9], [181, 5, 9]),
            record(b"b", [181, 5, 9], [182, 5, 9]),
            record(b"c", [181, 50, 9], [181, 50, 9]),
            record(b"", [181, 5, 9], [181, 5, 9]),
        ];
        let found = members(&table.concat(), LONG_RECORD_BYTES, 190);
        let faults: Vec<_> = found.iter().map(|member| member.fault).collect();
        assert_eq!(found.first().unwrap().name, "a/B.cbh");
        assert_eq!(found.first().unwrap().size, 9);
        assert_eq!(
            faults,
            [
                None,
                Some("its record contradicts itself"),
                Some("the archive ends inside it"),
                Some("its name is damaged"),
            ]
        );
    }

    #[test]
    fn an_archive_is_known_by_where_its_first_member_begins() {
        let header = [8, 0, 1, 0, 173, 0, 3, 0];
        let right = [&header[..], &record(b"a", [181, 0, 0], [181, 0, 0])].concat();
        let wrong = [&header[..], &record(b"a", [180, 0, 0], [180, 0, 0])].concat();
        assert!(is_archive(&right));
        assert!(!is_archive(&wrong));
        assert!(!is_archive(b"[Event \"?\"]"));
    }
}
