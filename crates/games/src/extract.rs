//! Unpacking an archive into a folder.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use super::archive::SourceFile;
use super::{Error, open};
use tabia_io::atomic::{NewFile, Previous, WriteFileError};
use tabia_io::progress::{Stop, Watch};

/// The result of unpacking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extracted {
    /// Files written.
    pub files: u64,
    /// Total bytes of these files.
    pub bytes: u64,
    /// Files that were not written, and why.
    pub faults: Vec<String>,
}

/// Bytes of one read.
const CHUNK_BYTES: usize = 256 << 10;

/// Device names of Windows, with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Unpacks an archive into a folder, which is created if it does not exist; `watch` may
/// cancel. Each file is written completely or not at all. Damaged files, and files whose names lead out
/// of the folder, are not written.
///
/// # Errors
///
/// It is not an archive or cannot be read; or a file cannot be written.
pub fn extract(
    archive: &Path,
    folder: &Path,
    password: Option<&str>,
    old: Previous,
    watch: &Watch<'_>,
) -> Result<Extracted, Error> {
    let stop = watch.stop();
    let packed = open::packed(archive, password)?.ok_or_else(|| {
        let text = "not an archive: only .cbv, .cbz, .zip and .7z are unpacked into a folder";
        Error::format(archive, text)
    })?;
    let mut done = Extracted {
        faults: packed.faults(),
        ..Extracted::default()
    };
    let mut names = HashSet::new();
    let mut wanted = Vec::new();
    for (file, entry) in packed.files().zip(packed.entries()) {
        let name = safe_name(&entry.name).filter(|_| names.insert(entry.name.to_lowercase()));
        match name {
            Some(name) => wanted.push((file, folder.join(name))),
            None => done.faults.push(format!(
                "{}: not unpacked: {:?} is not a name for a file in a folder, or occurs twice",
                archive.display(),
                entry.name
            )),
        }
    }
    for (_, path) in &wanted {
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|error| WriteFileError::io(parent, error))?;
        // Checked before anything is written.
        tabia_io::atomic::check(path, &[], old)?;
    }
    for (file, path) in wanted {
        let written = write(&file, &path, old, stop).map_err(|error| match error {
            Error::Write(failed) if done.files > 0 => Error::Partly {
                failed,
                files: done.files,
                folder: folder.to_owned(),
            },
            error => error,
        });
        match written? {
            Ok(bytes) => {
                done.files += 1;
                done.bytes += bytes;
            }
            Err(fault) => {
                let shown = file.path().display();
                done.faults.push(format!("{shown}: not unpacked: {fault}"));
            }
        }
    }
    Ok(done)
}

/// Writes a file; the inner error comes from the archive.
fn write(
    file: &SourceFile,
    path: &Path,
    old: Previous,
    stop: Stop<'_>,
) -> Result<Result<u64, io::Error>, Error> {
    let mut stream = match file.stream() {
        Ok(stream) => stream,
        Err(error) => return Ok(Err(error)),
    };
    let mut beside = NewFile::create(path, old)?;
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        stop.go_on().map_err(|_| Error::StoppedUnpacking)?;
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => {
                let bytes = chunk.get(..count).unwrap_or_default();
                let written = beside.write_all(bytes);
                written.map_err(|error| WriteFileError::io(path, error))?;
            }
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(beside.commit()?.bytes))
}

/// A file name below a folder that is safe on every system: it does not lead out of the
/// folder and is not a device; `None` for all others.
fn safe_name(name: &str) -> Option<PathBuf> {
    let parts = name.split('/');
    let is_safe = |part: &str| {
        let stem = part.split('.').next().unwrap_or(part).trim_end();
        let stem = stem.to_lowercase();
        let is_port = ["com", "lpt"].iter().any(|port| {
            let rest = stem.strip_prefix(port);
            rest.is_some_and(|rest| rest.chars().count() == 1 && rest != "0")
        });
        !part.is_empty()
            && !part.ends_with(['.', ' '])
            && !part.contains(|c: char| c.is_control() || "\\:*?\"<>|".contains(c))
            && !DEVICES.contains(&stem.as_str())
            && !is_port
    };
    parts.clone().all(is_safe).then(|| parts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_folder() {
        for good in ["a.cbh", "a.html/b.jpg", ".hidden", "Łódź 2.cbg", "common.x"] {
            assert_eq!(safe_name(good), Some(PathBuf::from(good)), "{good}");
        }
        for bad in [
            "",
            "/etc/passwd",
            "../a",
            "a/../b",
            "a//b",
            ".",
            "a/.",
            "C:a",
            "a\\b",
            "nul",
            "NUL.cbh",
            "com1.txt",
            "a\u{7}b",
            "a. ",
            "x?",
        ] {
            assert_eq!(safe_name(bad), None, "{bad:?}");
        }
    }
}
