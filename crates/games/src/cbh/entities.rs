//! Files of players and tournaments: .cbp, .cbt.
//!
//! Little-endian. A header of seven 32-bit words:
//!
//! | offset | content |
//! |---|---|
//! | 0, 4 | capacity in records, root of the tree |
//! | 8 | 1234567890 |
//! | 12 | bytes of the data of a record |
//! | 16, 20 | first deleted record, number of used ones |
//! | 24 | bytes between header and first record: 0 in old files, 4 in newer ones |
//!
//! The records follow, by number from 0: nine bytes of a search tree, not needed here,
//! where a left child of -999 marks a free record; then the data. Evidence: the sizes
//! of all genuine files match exactly.

use std::io;

use crate::TextEncoding;
use crate::encodings::field;
use tabia_io::input::bytes::Cursor;
use tabia_io::input::file::DataFile;

const HEADER_BYTES: u64 = 28;
const TREE_BYTES: u64 = 9;
const MAGIC: u32 = 1_234_567_890;
const FREE: i32 = -999;

/// Larger sizes are damage.
const LARGEST_DATA: u64 = 1 << 16;

/// Bytes of each record that are read.
const LOOKED_AT: usize = TREE_BYTES as usize + 70;

/// Bytes of the two adjacent texts: family and first name in .cbp, title and place in
/// .cbt.
pub(super) const PLAYERS: [usize; 2] = [30, 20];
pub(super) const TOURNAMENTS: [usize; 2] = [40, 30];

/// An open file of players or tournaments.
#[derive(Debug)]
pub(super) struct Entities {
    file: DataFile,
    layout: [usize; 2],
    encoding: TextEncoding,
    first_at: u64,
    stride: u64,
}

impl Entities {
    /// Reads the header of a file.
    ///
    /// # Errors
    ///
    /// It cannot be read, or has another format.
    pub(super) fn new(
        file: DataFile,
        layout: [usize; 2],
        encoding: TextEncoding,
    ) -> io::Result<Entities> {
        let header = file.start(HEADER_BYTES as usize)?;
        let (stride, gap) = parse_header(&header, layout)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "its header is damaged"))?;
        Ok(Entities {
            file,
            layout,
            encoding,
            first_at: HEADER_BYTES + gap,
            stride,
        })
    }

    /// The two texts of a record; empty if there is no such record.
    pub(super) fn look_up(&self, number: u32) -> (String, String) {
        let read = || {
            let mut buffer = [0; LOOKED_AT];
            let at = self.first_at + u64::from(number) * self.stride;
            let bytes = self.file.view().ok()?.read(at, &mut buffer).ok()?;
            let mut cursor = Cursor::new(bytes);
            cursor.le_i32().filter(|left| *left != FREE)?;
            // The rest of the tree node.
            cursor.take(TREE_BYTES as usize - 4)?;
            let [first, second] = self.layout;
            let text = |bytes| field(bytes, self.encoding);
            Some((text(cursor.take(first)?), text(cursor.take(second)?)))
        };
        read().unwrap_or_default()
    }
}

/// Bytes of a record, and between header and first record.
fn parse_header(header: &[u8], layout: [usize; 2]) -> Option<(u64, u64)> {
    let mut cursor = Cursor::new(header);
    cursor.take(8)?;
    let magic = cursor.le_u32()?;
    let data = u64::from(cursor.le_u32()?);
    cursor.take(8)?;
    let gap = u64::from(cursor.le_u32()?);
    let needed = layout.iter().sum::<usize>() as u64;
    let is_sound = magic == MAGIC && (needed..=LARGEST_DATA).contains(&data) && gap <= LARGEST_DATA;
    is_sound.then_some((data + TREE_BYTES, gap))
}
