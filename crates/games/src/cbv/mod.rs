//! ChessBase archives: `.cbv`, and encrypted `.cbz`.
//!
//! | file | content |
//! |---|---|
//! | `table` | the members: names, offsets, lengths |
//! | `block` | pieces of at most 61,440 bytes, with a checksum |
//! | `lz`, `huffman` | the two ways in which a block is packed |
//! | `password` | the cipher of a `.cbz` |
//!
//! An archive is read in place, block by block: a member is a stream that needs memory
//! for two blocks. Evidence: three genuine archives and three encrypted ones; each
//! unpacked member equals its published content.

mod block;
mod password;
mod table;
#[cfg(test)]
mod tests;

use std::io::{self, BufRead as _, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use super::archive::{Archive, ArchiveMember, ArchiveResult};
use block::{HEAD_BYTES, Unpacker};
use des::Des;
use tabia_io::input::bytes::le_u16_at;
use tabia_io::input::file::DataFile;
use tabia_io::input::path::has_extension;
use table::Member;

/// Bytes of an archive that are read at once; a multiple of the cipher's block.
const CHUNK_BYTES: usize = 256 << 10;

/// Whether a file is an archive. An encrypted one is recognized only by its name.
pub(super) fn is_archive(path: &Path, start: &[u8]) -> bool {
    table::is_archive(start) || has_extension(path, "cbv") || has_extension(path, "cbz")
}

/// Opens the archive in a file.
///
/// # Errors
///
/// What is wrong with it, as a message to the user.
pub(super) fn archive(path: &Path, file: DataFile, password: Option<&str>) -> ArchiveResult {
    let start = file.start(table::HEADER_BYTES);
    let start = start.map_err(|error| error.to_string())?;
    let is_plain = table::extent(&start).is_some();
    if !is_plain && password.is_none() && has_extension(path, "cbz") {
        return Err("an encrypted archive: give its password".to_owned());
    }
    let password = password.filter(|_| !is_plain);
    let bytes = Bytes {
        key: password.map(password::cipher),
        file,
    };
    let unreadable = |error: io::Error| error.to_string();
    let mut header = [0; table::HEADER_BYTES];
    let count = bytes.read(0, &mut header).map_err(unreadable)?;
    let extent = table::extent(header.get(..count).unwrap_or_default());
    let (count, record) = extent.ok_or_else(|| match password {
        Some(_) => "this is not its password".to_owned(),
        None => "not a ChessBase archive: its header is damaged".to_owned(),
    })?;
    let len = bytes.file.len();
    if (table::HEADER_BYTES + count * record) as u64 > len {
        return Err(format!(
            "an incomplete ChessBase archive: a list of {count} files does not fit {len} bytes"
        ));
    }
    let mut table = vec![0; count * record];
    bytes
        .read(table::HEADER_BYTES as u64, &mut table)
        .map_err(unreadable)?;
    let members = table::members(&table, record, len);
    let entry = |member: &Member| ArchiveMember {
        name: member.name.clone(),
        size: member.size,
    };
    let entries = members.iter().map(entry).collect();
    Ok(Arc::new(Cbv {
        bytes,
        members,
        entries,
    }))
}

/// An open archive.
pub(super) struct Cbv {
    bytes: Bytes,
    members: Vec<Member>,
    entries: Vec<ArchiveMember>,
}

impl Archive for Cbv {
    fn entries(&self) -> &[ArchiveMember] {
        &self.entries
    }

    fn read(self: Arc<Self>, index: usize) -> io::Result<Box<dyn Read + Send>> {
        let member = self.members.get(index).ok_or(io::ErrorKind::NotFound)?;
        if let Some(fault) = member.fault {
            return Err(io::Error::new(io::ErrorKind::InvalidData, fault));
        }
        let (at, size) = (member.offset, member.size);
        let end = at.saturating_add(member.packed);
        let packed = MemberBytes {
            archive: Arc::clone(&self),
            at,
            end,
        };
        Ok(Box::new(Stream {
            packed: BufReader::with_capacity(CHUNK_BYTES, packed),
            at,
            block: Vec::new(),
            unpacker: Unpacker::default(),
            plain: Vec::new(),
            given: 0,
            done: 0,
            size,
            failed: false,
        }))
    }
}

/// The decrypted bytes of an archive.
struct Bytes {
    file: DataFile,
    key: Option<Des>,
}

impl Bytes {
    /// Reads bytes from `at` on, up to the length of `buffer`; fewer at the end.
    fn read(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let view = self.file.view()?;
        let Some(key) = &self.key else {
            return Ok(view.copy(at, buffer)?);
        };
        let before = (at % password::BLOCK_BYTES as u64) as usize;
        let wanted = (before + buffer.len()).next_multiple_of(password::BLOCK_BYTES);
        let mut blocks = vec![0; wanted];
        let start = at - before as u64;
        let count = view.copy(start, &mut blocks)?;
        blocks.truncate(count);
        password::decipher(key, &mut blocks);
        let found = blocks.get(before..).unwrap_or_default();
        let count = found.len().min(buffer.len());
        buffer
            .iter_mut()
            .zip(found)
            .for_each(|(to, from)| *to = *from);
        Ok(count)
    }
}

/// The packed bytes of a member.
struct MemberBytes {
    archive: Arc<Cbv>,
    at: u64,
    end: u64,
}

impl Read for MemberBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let count = left.min(buffer.len());
        let buffer = buffer.get_mut(..count).unwrap_or_default();
        let count = self.archive.bytes.read(self.at, buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// A member, unpacked as it is read.
struct Stream {
    packed: BufReader<MemberBytes>,
    /// Offset of the next block.
    at: u64,
    /// The block read last.
    block: Vec<u8>,
    unpacker: Unpacker,
    /// The unpacked bytes, and how many the reader has taken.
    plain: Vec<u8>,
    given: usize,
    /// Bytes unpacked so far, and in total.
    done: u64,
    size: u64,
    failed: bool,
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given >= self.plain.len() {
            if self.failed || !self.next_block()? {
                return Ok(0);
            }
        }
        let left = self.plain.get(self.given..).unwrap_or_default();
        let count = left.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), left.get(..count)) {
            to.copy_from_slice(from);
        }
        self.given += count;
        Ok(count)
    }
}

impl Stream {
    /// Unpacks a block; false at the end.
    fn next_block(&mut self) -> io::Result<bool> {
        if self.packed.fill_buf()?.is_empty() {
            if self.done != self.size {
                let text = format!("it unpacks to {} bytes, expected {}", self.done, self.size);
                return Err(self.fail(text));
            }
            return Ok(false);
        }
        self.block.clear();
        self.hold(HEAD_BYTES)?;
        let length = le_u16_at(&self.block, 0).unwrap_or(0).into();
        self.hold(length)?;
        // Copies may refer to earlier blocks, though none does in genuine files.
        self.plain
            .drain(..self.plain.len().saturating_sub(block::FARTHEST));
        self.given = self.plain.len();
        let unpacked = match self.block.split_at_checked(HEAD_BYTES) {
            Some((head, payload)) if payload.len() == length => {
                let sum = le_u16_at(head, 2).unwrap_or(0);
                self.unpacker.unpack(payload, sum, &mut self.plain)
            }
            _ => Err("it ends after the end of its member".to_owned()),
        };
        if let Err(fault) = unpacked {
            let at = self.at;
            let text = format!("the block at byte {at} of the archive is damaged: {fault}");
            return Err(self.fail(text));
        }
        self.at += self.block.len() as u64;
        self.done += (self.plain.len() - self.given) as u64;
        Ok(true)
    }

    /// Adds `count` bytes to the block, if the member has them.
    fn hold(&mut self, count: usize) -> io::Result<()> {
        let mut next = self.packed.by_ref().take(count as u64);
        next.read_to_end(&mut self.block).map(drop)
    }

    /// Ends the stream with an error.
    fn fail(&mut self, text: String) -> io::Error {
        self.failed = true;
        self.plain.truncate(self.given);
        io::Error::new(io::ErrorKind::InvalidData, text)
    }
}
