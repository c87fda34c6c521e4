//! Reads `.zip` archives in place.

use std::io::{self, BufReader, Read};
use std::sync::Arc;

use flate2::CrcReader;
use flate2::read::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use super::{Archive, ArchiveMember, ArchiveResult};
use tabia_io::input::file::DataFile;
use tabia_io::input::reader::FileReader;

/// Bytes that are read in one call.
const CHUNK_BYTES: usize = 256 << 10;

/// An open archive.
struct Zip {
    file: Arc<DataFile>,
    entries: Vec<ArchiveMember>,
    places: Vec<MemberPlace>,
    /// Number of files hidden by another file of the same name.
    hidden: u64,
}

/// Location of a file in the archive, and its properties.
struct MemberPlace {
    at: u64,
    bytes: u64,
    size: u64,
    checksum: u32,
    method: CompressionMethod,
    is_encrypted: bool,
}

/// Whether a file begins like a `.zip` archive.
pub(crate) fn is_archive(start: &[u8]) -> bool {
    start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06")
}

/// Opens the archive in a file.
///
/// # Errors
///
/// A message for the user about what is wrong with it.
pub(crate) fn archive(file: DataFile) -> ArchiveResult {
    let file = Arc::new(file);
    let failed = |error: zip::result::ZipError| format!("not a readable .zip file: {error}");
    let reader = BufReader::new(FileReader::new(Arc::clone(&file), 0..file.len()));
    let mut archive = ZipArchive::new(reader).map_err(failed)?;
    let mut entries = Vec::new();
    let mut places = Vec::new();
    for index in 0..archive.len() {
        let member = archive.by_index_raw(index).map_err(failed)?;
        if member.is_dir() {
            continue;
        }
        entries.push(ArchiveMember {
            name: String::from_utf8_lossy(member.name_raw()).replace('\\', "/"),
            size: member.size(),
        });
        places.push(MemberPlace {
            at: member
                .data_start()
                .ok_or("not a readable .zip file: the offset of a file is missing")?,
            bytes: member.compressed_size(),
            size: member.size(),
            checksum: member.crc32(),
            method: member.compression(),
            is_encrypted: member.encrypted(),
        });
    }
    let all = count_of_files(&file).unwrap_or(0);
    Ok(Arc::new(Zip {
        hidden: all.saturating_sub(archive.len() as u64),
        file,
        entries,
        places,
    }))
}

/// Number of files according to the end of the archive; the library returns only one
/// of each name.
fn count_of_files(file: &DataFile) -> Option<u64> {
    const END: &[u8] = b"PK\x05\x06";
    let count = file.len().min(64 << 10) as usize;
    let mut end = vec![0; count];
    let copied = file.view().ok()?.copy(file.len() - count as u64, &mut end);
    let end = end.get(..copied.ok()?)?;
    let at = memchr::memmem::rfind(end, END)?;
    let number = end.get(at + 10..)?.first_chunk().copied()?;
    // Archives with more files store the number elsewhere.
    let number = u16::from_le_bytes(number);
    (number < u16::MAX).then_some(number.into())
}

impl Archive for Zip {
    fn entries(&self) -> &[ArchiveMember] {
        &self.entries
    }

    fn faults(&self) -> Vec<String> {
        let text = match self.hidden {
            0 => return Vec::new(),
            1 => "a file in it has the same name as another".to_owned(),
            many => format!("{many} files in it have the same name as another"),
        };
        vec![format!("{text}; only the last one is read")]
    }

    fn read(self: Arc<Self>, index: usize) -> io::Result<Box<dyn Read + Send>> {
        let damaged = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
        let place = self.places.get(index).ok_or(io::ErrorKind::NotFound)?;
        if place.is_encrypted {
            return Err(damaged("it is encrypted: unpack it first".to_owned()));
        }
        let end = place.at.saturating_add(place.bytes);
        if end > self.file.len() {
            return Err(damaged("the archive ends inside it".to_owned()));
        }
        let bytes = FileReader::new(Arc::clone(&self.file), place.at..end);
        let bytes = BufReader::with_capacity(CHUNK_BYTES, bytes);
        let plain: Box<dyn Read + Send> = match place.method {
            CompressionMethod::Stored => Box::new(bytes),
            CompressionMethod::Deflated => Box::new(DeflateDecoder::new(bytes)),
            method => {
                let text = format!("it is packed by {method}: unpack it first");
                return Err(damaged(text));
            }
        };
        Ok(Box::new(Checked {
            plain: CrcReader::new(plain),
            read: 0,
            size: place.size,
            checksum: place.checksum,
        }))
    }
}

/// Reads a file of an archive. At its end, a wrong size or checksum is an error.
struct Checked {
    plain: CrcReader<Box<dyn Read + Send>>,
    read: u64,
    size: u64,
    checksum: u32,
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.plain.read(buffer)?;
        self.read += count as u64;
        // Stop at the stated size, so that a false size cannot fill the disk.
        let is_end = count == 0 && !buffer.is_empty();
        if self.read > self.size
            || is_end && (self.read < self.size || self.plain.crc().sum() != self.checksum)
        {
            let text = "its size or checksum is wrong";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(count)
    }
}
