//! Archives: files packed in one, from which databases are read in place.
//!
//! What an archive holds is a stream for each file in it. A reader that seeks in a
//! file gets it in memory or, if it is large, in a temporary file without a
//! name. A file with a name from an archive is only written by `extract`.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tabia_io::input::file::DataFile;
use tabia_io::input::path::file_name;
use tabia_io::input::reader::FileReader;
use tabia_io::input::sibling::sibling;

use super::Error;

/// Something that holds files.
pub(super) trait Archive: Send + Sync {
    /// What is in it, in its order.
    fn entries(&self) -> &[ArchiveMember];

    /// What is in it and cannot be read.
    fn faults(&self) -> Vec<String> {
        Vec::new()
    }

    /// A file of it, unpacked as it is read. Damage is an error.
    ///
    /// # Errors
    ///
    /// It cannot be unpacked at all.
    fn read(self: Arc<Self>, index: usize) -> io::Result<Box<dyn Read + Send>>;
}

/// An archive that was opened, or what is wrong with it.
pub(super) type ArchiveResult = Result<Arc<dyn Archive>, String>;

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ArchiveMember {
    /// Its name, with `/` between folders; as stored, not checked.
    pub(super) name: String,
    /// Bytes when unpacked, as declared by the archive.
    pub(super) size: u64,
}

/// An archive on the disk, and what came up while it was read.
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

    /// What they are, in the same order.
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

    /// What could not be unpacked.
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
    /// Its name in messages: for a packed one, its name after that of its archive.
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

    /// Its bytes; of a packed one, as declared by the archive.
    pub(super) fn size(&self) -> u64 {
        match &self.packed {
            Some((packed, index)) => packed.entries().get(*index).map_or(0, |entry| entry.size),
            None => self.path.metadata().map_or(0, |metadata| metadata.len()),
        }
    }

    /// The file of the same database with another extension, whatever the
    /// case of its letters.
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

    /// The file beside it with its games.
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

    /// The same, with its first bytes.
    pub(super) fn open_start(&self, count: usize) -> Result<(DataFile, Vec<u8>), Error> {
        let file = self.open_named()?;
        let start = file.start(count);
        let start = start.map_err(|error| Error::io(&self.path, error))?;
        Ok((file, start))
    }

    /// Opens it for reading at any place. Of a damaged one in an archive this
    /// gives what comes before the damage.
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

    /// All of it: small files of a database alone are read so.
    pub(super) fn bytes(&self) -> io::Result<Vec<u8>> {
        let file = self.open()?;
        let count = usize::try_from(file.len()).unwrap_or(usize::MAX);
        Ok(file.start(count)?)
    }

    /// Opens it for reading from its start, and for jumping.
    pub(super) fn reader(&self) -> io::Result<FileReader> {
        let file = Arc::new(self.open()?);
        let len = file.len();
        Ok(FileReader::new(file, 0..len))
    }

    /// Opens it for reading from its start to its end.
    pub(super) fn stream(&self) -> io::Result<Box<dyn Read + Send>> {
        match &self.packed {
            Some((packed, index)) => packed.archive.clone().read(*index),
            None => Ok(Box::new(std::fs::File::open(&self.path)?)),
        }
    }
}
