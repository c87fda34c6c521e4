//! Test databases, and archives of them.

use std::fs;
use std::path::{Path, PathBuf};

/// The path of a file in `tests/data`.
pub(crate) fn data(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // This package is the program, or `crates/games`.
    let root = here
        .ancestors()
        .find(|folder| folder.join("tests/data").is_dir());
    root.unwrap_or(here).join("tests/data").join(name)
}

/// The files of a database, from their path without extension.
pub(crate) fn parts(path: &str, extensions: &[&str]) -> Vec<(String, Vec<u8>)> {
    let part = |extension: &&str| {
        let path = data(path).with_extension(extension);
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read(path).unwrap())
    };
    extensions.iter().map(part).collect()
}

/// A ChessBase archive with uncompressed blocks.
pub(crate) fn pack_cbv(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut table = Vec::new();
    let mut pool = Vec::new();
    let first = 8 + 173 * files.len();
    for (name, plain) in files {
        let offset = first + pool.len();
        for block in plain.chunks(61_440) {
            let payload = [&[0][..], block].concat();
            let (words, _) = payload.as_chunks::<2>();
            let add = |sum: u16, word: &[u8; 2]| sum.wrapping_add(u16::from_le_bytes(*word));
            pool.extend((payload.len() as u16).to_le_bytes());
            pool.extend(words.iter().fold(0, add).to_le_bytes());
            pool.extend(payload);
        }
        let numbers = [offset, first + pool.len() - offset, plain.len()];
        let mut record = name.replace('/', "\\").into_bytes();
        record.resize(128, 0);
        record.extend(numbers.map(|n| (n as u32).to_le_bytes()).as_flattened());
        record.extend([1, 0, 0, 0, 0, 0, 0, 0, 0]);
        record.extend(numbers.map(|n| (n as u64).to_le_bytes()).as_flattened());
        table.extend(record);
    }
    let header = [8, files.len() as u16, 173, 3]
        .map(u16::to_le_bytes)
        .concat();
    [header, table, pool].concat()
}

pub(crate) fn pack_zip(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        std::io::Write::write_all(&mut zip, bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

pub(crate) fn pack_7z(files: &[(&str, &[u8])]) -> Vec<u8> {
    let bytes = std::io::Cursor::new(Vec::new());
    let mut writer = sevenz_rust2::ArchiveWriter::new(bytes).unwrap();
    let entries = files
        .iter()
        .map(|(name, _)| sevenz_rust2::ArchiveEntry::new_file(name));
    let readers = files
        .iter()
        .map(|(_, bytes)| sevenz_rust2::SourceReader::new(*bytes));
    // All in one block.
    writer
        .push_archive_entries(entries.collect(), readers.collect())
        .unwrap();
    writer.finish().unwrap().into_inner()
}
