//! Archives (files packed in one), from which databases are read without extraction.
//!
//! Each file in an archive is a stream. A reader that needs to seek gets the file in
//! memory or, if it is large, in an unnamed temporary file. Only `extract` writes named
//! files from an archive.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tabia_io::input::file::DataFile;
use tabia_io::input::path::file_name;
use tabia_io::input::reader::FileReader;
use tabia_io::input::sibling::sibling;

use super::Error;

/// An open archive.
pub(super) trait Archive: Send + Sync {
    /// The files in it, in their order.
    fn entries(&self) -> &[ArchiveMember];

    /// Why some of its files cannot be read.
    fn faults(&self) -> Vec<String> {
        Vec::new()
    }

    /// Opens a file of the archive; it is unpacked as it is read. Damage is a read
    /// error.
    ///
    /// # Errors
    ///
    /// The file cannot be unpacked at all.
    fn read(self: Arc<Self>, index: usize) -> io::Result<Box<dyn Read + Send>>;
}

/// An open archive, or why it cannot be opened.
pub(super) type ArchiveResult = Result<Arc<dyn Archive>, String>;

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ArchiveMember {
    /// Its name, with `/` between folders; as stored, not checked.
    pub(super) name: String,
    /// Bytes when unpacked, as declared by the archive.
    pub(super) size: u64,
}

/// An archive on the disk, and the faults found while reading it.
pub(super) struct Packed {
    path: PathBuf,
    archive: Arc<dyn Archive>,
    faults: Mutex<Vec<String>>,
}

impl Packed {
    pub(super) fn new(path: &Path, archive: Arc<dyn Archive>) -> Arc<Packed> {
        let faults = archive.faults().into_iter();
        let faults = faults.map(|fault| format!("{}: {fault}", path.display()));
        Arc::new(Packed {
            path: path.to_owned(),
            faults: Mutex::new(faults.collect()),
            archive,
        })
    }

    /// The files in it, in the order of the archive.
    pub(super) fn entries(&self) -> &[ArchiveMember] {
        self.archive.entries()
    }

    /// All files in it.
    pub(super) fn files(self: &Arc<Self>) -> impl Iterator<Item = Located> {
        let count = self.entries().len();
        (0..count).filter_map(|index| self.file(index))
    }

    fn file(self: &Arc<Self>, index: usize) -> Option<Located> {
        let name = &self.archive.entries().get(index)?.name;
        Some(Located {
            path: self.path.join(name.trim_start_matches('/')),
            packed: Some((Arc::clone(self), index)),
        })
    }

    /// Messages for the files that could not be unpacked.
    pub(super) fn faults(&self) -> Vec<String> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file of a database: on the disk, or in an archive.
#[derive(Clone)]
pub(super) struct Located {
    /// Its name in messages; in an archive: path of the archive, then name of the file.
    path: PathBuf,
    packed: Option<(Arc<Packed>, usize)>,
}

impl Located {
    /// A file on the disk.
    pub(super) fn on_disk(path: &Path) -> Located {
        Located {
            path: path.to_owned(),
            packed: None,
        }
    }

    /// Its name, for messages.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Its size in bytes; in an archive, the declared size.
    pub(super) fn size(&self) -> u64 {
        match &self.packed {
            Some((packed, index)) => packed.entries().get(*index).map_or(0, |entry| entry.size),
            None => self.path.metadata().map_or(0, |metadata| metadata.len()),
        }
    }

    /// The file of the same database with another extension; case is ignored.
    pub(super) fn sibling(&self, extension: &str) -> Option<Located> {
        let Some((packed, _)) = &self.packed else {
            return sibling(&self.path, extension).map(|path| Located::on_disk(&path));
        };
        let wanted = self.path.with_extension(extension);
        let mut others = packed.files();
        others.find(|file| {
            let (file, wanted) = (file.path.as_os_str(), wanted.as_os_str());
            file.eq_ignore_ascii_case(wanted)
        })
    }

    /// The file of the same database that contains its games.
    pub(super) fn games_file(&self, extension: &str) -> Result<Located, Error> {
        self.sibling(extension).ok_or_else(|| {
            let missing = self.path.with_extension(extension);
            let text = format!(
                "its games are in {}, which is missing; keep all files of a database together",
                file_name(&missing)
            );
            Error::format(&self.path, text)
        })
    }

    /// [`Located::open`], with an error that names the file.
    pub(super) fn open_named(&self) -> Result<DataFile, Error> {
        self.open().map_err(|error| Error::io(self.path(), error))
    }

    /// [`Located::open_named`], with the first `count` bytes.
    pub(super) fn open_start(&self, count: usize) -> Result<(DataFile, Vec<u8>), Error> {
        let file = self.open_named()?;
        let start = file.start(count);
        let start = start.map_err(|error| Error::io(&self.path, error))?;
        Ok((file, start))
    }

    /// Opens it for random access. Of a damaged file in an archive, returns the bytes
    /// before the damage.
    pub(super) fn open(&self) -> io::Result<DataFile> {
        let Some((packed, index)) = &self.packed else {
            return DataFile::open_in_pieces(&self.path);
        };
        let (file, fault) = match packed.archive.clone().read(*index) {
            Ok(mut stream) => DataFile::spool(&self.path, &mut stream)?,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                let (nothing, _) = DataFile::spool(&self.path, &mut io::empty())?;
                (nothing, Some(error))
            }
            Err(error) => return Err(error),
        };
        if let Some(fault) = fault {
            let text = format!(
                "{}: {fault}; {} bytes of it could be unpacked",
                self.path.display(),
                file.len()
            );
            packed.lock().push(text);
        }
        Ok(file)
    }

    /// The whole content. Used only for small files of a database.
    pub(super) fn bytes(&self) -> io::Result<Vec<u8>> {
        let file = self.open()?;
        let count = usize::try_from(file.len()).unwrap_or(usize::MAX);
        Ok(file.start(count)?)
    }

    /// Opens it as a stream that can seek.
    pub(super) fn reader(&self) -> io::Result<FileReader> {
        let file = Arc::new(self.open()?);
        let len = file.len();
        Ok(FileReader::new(file, 0..len))
    }

    /// Opens it as a stream from start to end.
    pub(super) fn stream(&self) -> io::Result<Box<dyn Read + Send>> {
        match &self.packed {
            Some((packed, index)) => packed.archive.clone().read(*index),
            None => Ok(Box::new(std::fs::File::open(&self.path)?)),
        }
    }
}
