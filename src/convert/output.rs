//! A file that is there as a whole or not at all.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use super::Error;

/// Written beside its place under a temporary name, which goes when it is
/// dropped; [`Output::finish`] puts it in place.
pub(super) struct Output {
    path: PathBuf,
    folder: PathBuf,
    file: BufWriter<NamedTempFile>,
    bytes: u64,
}

impl Output {
    pub(super) fn create(path: &Path) -> Result<Output, Error> {
        let failed = |error| Error::output(path, error);
        if path.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let folder = folder_of(path);
        let mut prefix = OsString::from(".");
        prefix.push(path.file_name().unwrap_or_default());
        prefix.push(".");
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(".tmp");
        // Readable to whom any new file is, not to the owner alone.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(&folder).map_err(|error| {
            // Without the temporary name, which tells nobody anything.
            failed(error.kind().into())
        })?;
        Ok(Output {
            path: path.to_owned(),
            folder,
            file: BufWriter::with_capacity(256 << 10, file),
            bytes: 0,
        })
    }

    /// Joins a system error with the name the file would have got.
    pub(super) fn failed(&self, error: io::Error) -> Error {
        Error::output(&self.path, error)
    }

    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.write_all(bytes).map_err(|error| self.failed(error))
    }

    /// Makes sure that all is on the disk and puts the file in its place;
    /// gives its length in bytes.
    pub(super) fn finish(self) -> Result<u64, Error> {
        let Output {
            path,
            folder,
            file,
            bytes,
        } = self;
        let failed = |error| Error::output(&path, error);
        let file = file
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        // Who could read the old file can read the new one.
        if let Ok(old) = fs::metadata(&path) {
            let _ = file.as_file().set_permissions(old.permissions());
        }
        file.persist(&path).map_err(|error| failed(error.error))?;
        // Makes the new name last; not to be had everywhere.
        #[cfg(unix)]
        if let Ok(folder) = File::open(&folder) {
            let _ = folder.sync_all();
        }
        #[cfg(not(unix))]
        let _: (PathBuf, Option<File>) = (folder, None);
        Ok(bytes)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The folder of a file.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}
