//! Records of the `.2cbg` file.
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 8 | [`MAGIC`] |
//! | 8 | 4 | bytes of the content |
//! | 12 | 4 | bytes of free space after it |
//! | 16 | 8 | checksum of the content, big-endian |
//! | 24 | 2 | kind of content |
//! | 26 | | content, free space |
//! | end | 8 | bytes of the whole record |
//!
//! Little-endian except for the checksum.

use tabia_io::input::bytes::Cursor;
use tabia_io::input::window::Window;

/// The first word of a record.
const MAGIC: u64 = 0x1122_3344_5566_7788;

/// Bytes of a record without content and free space.
const HEAD_BYTES: u64 = 26;
const TAIL_BYTES: u64 = 8;

/// Bytes before the first record.
const FILE_HEADER_BYTES: u64 = 12;

/// Larger contents are damage: the largest known has about a megabyte.
const LARGEST_BYTES: u64 = 64 << 20;

/// The kind of a record's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    Game,
    Chess960,
    Annotations,
}

/// The tag and the content of a valid record.
///
/// # Errors
///
/// What is wrong with it.
pub(super) fn read<'b>(
    file: &'b Window,
    offset: u64,
    head: &mut Vec<u8>,
    buffer: &'b mut Vec<u8>,
) -> Result<(Tag, &'b [u8]), String> {
    let len = file.file_len();
    let last = len.checked_sub(HEAD_BYTES + TAIL_BYTES);
    if offset < FILE_HEADER_BYTES || last.is_none_or(|last| offset > last) {
        return Err("its place is outside the file".to_owned());
    }
    let bytes = file.read(offset, HEAD_BYTES as usize, head);
    let bytes = bytes.map_err(|error| error.to_string())?;
    let mut cursor = Cursor::new(bytes);
    let mut number = || cursor.le_u64();
    if number() != Some(MAGIC) {
        return Err("no record begins here".to_owned());
    }
    let cut = "it is cut off";
    let content = u64::from(cursor.le_u32().ok_or(cut)?);
    let room = u64::from(cursor.le_u32().ok_or(cut)?);
    let checksum = cursor.be_u64().ok_or(cut)?;
    let tag = cursor.be_u16().ok_or(cut)?;
    let whole = content + room + HEAD_BYTES + TAIL_BYTES;
    if offset + whole > len || content > LARGEST_BYTES {
        return Err(format!("it has {whole} bytes, which is too many"));
    }
    let mut tail = Vec::new();
    let tail = file.read(offset + whole - TAIL_BYTES, TAIL_BYTES as usize, &mut tail);
    let tail = tail.map_err(|error| error.to_string())?;
    if Cursor::new(tail).le_u64() != Some(whole) {
        return Err("its two lengths differ".to_owned());
    }
    let content = file.read(offset + HEAD_BYTES, content as usize, buffer);
    let content = content.map_err(|error| error.to_string())?;
    if sum(content) != checksum {
        return Err("its checksum is wrong".to_owned());
    }
    let tag = match tag.to_be_bytes() {
        [1, 0] => Tag::Game,
        [2, 0] => Tag::Chess960,
        [0, 0x20] => Tag::Annotations,
        [one, other] => return Err(format!("it is of the unknown kind {one:02x} {other:02x}")),
    };
    Ok((tag, content))
}

/// The checksum: content is split into eight equal parts; each is added up to one byte
/// of the sum, the first to the lowest. The remainder is not counted.
fn sum(content: &[u8]) -> u64 {
    let run = content.len() / 8;
    if run == 0 {
        let mut bytes = [0; 8];
        bytes
            .iter_mut()
            .zip(content)
            .for_each(|(to, from)| *to = *from);
        return u64::from_le_bytes(bytes);
    }
    let mut sums = [0_u8; 8];
    for (sum, run) in sums.iter_mut().zip(content.chunks_exact(run)) {
        *sum = run.iter().fold(0, |sum, byte| sum.wrapping_add(*byte));
    }
    u64::from_le_bytes(sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tabia_io::input::bytes::be_u64_at;
    use tabia_io::input::file::DataFile;

    /// The record at a place of a file with these bytes, which is filled up to a length.
    fn read_at(offset: u64, bytes: &[u8], len: u64) -> Result<(Tag, Vec<u8>), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.2cbg");
        std::fs::write(&path, bytes).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_len(len).unwrap();
        let file = Arc::new(DataFile::open(&path, true).unwrap());
        let window = Window::new(file, 0..len);
        let (mut head, mut buffer) = (Vec::new(), Vec::new());
        let (tag, content) = read(&window, offset, &mut head, &mut buffer)?;
        Ok((tag, content.to_vec()))
    }

    /// Each bit of a record is covered by the checksum, but for the free space.
    #[test]
    fn a_wrong_bit_anywhere_is_noticed() {
        let record = [
            0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 6, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0xff,
            0xff, 0xad, 0x3f, 0xff, 0xfc, 1, 0, 0xfc, 0xff, 0x3f, 0xad, 0xff, 0xff, 0, 0, 0, 43, 0,
            0, 0, 0, 0, 0, 0,
        ];
        let file = [&[0; 12][..], &record].concat();
        let len = file.len() as u64;
        let game = (Tag::Game, record[26..32].to_vec());
        assert_eq!(read_at(12, &file, len), Ok(game.clone()));
        assert_eq!(read_at(12, &file, len + 1), Ok(game));
        for (offset, len) in [
            (11, len),
            (13, len),
            (22, len),
            (u64::MAX, len),
            (12, len - 1),
        ] {
            assert!(read_at(offset, &file, len).is_err(), "{offset} {len}");
        }
        for bit in (0..8 * record.len()).filter(|bit| !(32..35).contains(&(bit / 8))) {
            let mut file = file.clone();
            file[12 + bit / 8] ^= 1 << (bit % 8);
            assert!(read_at(12, &file, len).is_err(), "{bit}");
        }
    }

    #[test]
    fn contents_of_more_than_64_megabytes_are_refused() {
        for (content, is_read) in [(LARGEST_BYTES, true), (LARGEST_BYTES + 1, false)] {
            let whole = content + HEAD_BYTES + TAIL_BYTES;
            let mut head = [&MAGIC.to_le_bytes()[..], &(content as u32).to_le_bytes()].concat();
            // Zeros, whose sum is zero; the tail is all that is not written here.
            head.extend([&[0; 12][..], &[1, 0]].concat());
            let mut file = vec![0; 12];
            file.extend(head);
            file.resize((12 + whole - TAIL_BYTES) as usize, 0);
            file.extend(whole.to_le_bytes());
            let found = read_at(12, &file, 12 + whole).map(|(_, content)| content.len() as u64);
            assert_eq!(found.ok(), is_read.then_some(content));
        }
    }

    #[test]
    fn the_checksum_of_the_worked_example() {
        let content = [
            0xfc, 0xff, 0x3f, 0xad, 0x71, 0xaf, 0xfd, 0xff, 0x5f, 0x32, 0xd0, 0xaf, 0xfd, 0xff,
            0xe1, 0xac, 0xff, 0xff, 0x6b, 0x83, 0x67, 0x3c, 0xff, 0xff, 0x72, 0xaf, 0xfd, 0xff,
            0xe1, 0xac, 0xff, 0xff, 0x29, 0x89, 0x56, 0xad, 0xff, 0xff,
        ];
        let field = [0x8b, 0x1d, 0xa1, 0xec, 0x89, 0x10, 0x1c, 0xe7];
        assert_eq!(Some(sum(&content)), be_u64_at(&field, 0));
        let short = [0, 0, 0, 0, 0xff, 0xff, 0xff, 0xfc];
        assert_eq!(Some(sum(&[0xfc, 0xff, 0xff, 0xff])), be_u64_at(&short, 0));
    }
}
