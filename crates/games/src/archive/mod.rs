//! Archives (files packed in one), from which databases are read without extraction.
//!
//! Each file in an archive is a stream. A reader that needs to seek gets the file in
//! memory or, if it is large, in an unnamed temporary file. Only `extract` writes named
//! files from an archive.

pub(crate) mod seven_zip;
pub(crate) mod zip;

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tabia_io::input::file::DataFile;
use tabia_io::input::path::file_name;
use tabia_io::input::reader::FileReader;
use tabia_io::input::sibling::sibling;

use crate::{Error, TextEncoding};

/// An open archive.
pub(crate) trait Archive: Send + Sync {
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
pub(crate) type ArchiveResult = Result<Arc<dyn Archive>, String>;

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArchiveMember {
    /// Its name, with `/` between folders; as stored, not checked.
    pub(crate) name: String,
    /// Bytes when unpacked, as declared by the archive.
    pub(crate) size: u64,
}

/// An archive on the disk, and the faults found while reading it.
pub(crate) struct OpenArchive {
    path: PathBuf,
    encoding: Option<TextEncoding>,
    archive: Arc<dyn Archive>,
    faults: Mutex<Vec<String>>,
}

impl OpenArchive {
    pub(crate) fn new(
        path: &Path,
        archive: Arc<dyn Archive>,
        encoding: Option<TextEncoding>,
    ) -> Arc<OpenArchive> {
        let faults = archive.faults().into_iter();
        let faults = faults.map(|fault| format!("{}: {fault}", path.display()));
        Arc::new(OpenArchive {
            path: path.to_owned(),
            encoding,
            faults: Mutex::new(faults.collect()),
            archive,
        })
    }

    /// The files in it, in the order of the archive.
    pub(crate) fn entries(&self) -> &[ArchiveMember] {
        self.archive.entries()
    }

    /// All files in it.
    pub(crate) fn files(self: &Arc<Self>) -> impl Iterator<Item = SourceFile> {
        let count = self.entries().len();
        (0..count).filter_map(|index| self.file(index))
    }

    fn file(self: &Arc<Self>, index: usize) -> Option<SourceFile> {
        let name = &self.archive.entries().get(index)?.name;
        Some(SourceFile {
            path: self.path.join(name.trim_start_matches('/')),
            encoding: self.encoding,
            packed: Some((Arc::clone(self), index)),
        })
    }

    /// Messages for the files that could not be unpacked.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file of a database: on the disk, or in an archive.
#[derive(Clone)]
pub(crate) struct SourceFile {
    /// Its name in messages; in an archive: path of the archive, then name of the file.
    path: PathBuf,
    /// The encoding of its texts, if the user has named one.
    encoding: Option<TextEncoding>,
    packed: Option<(Arc<OpenArchive>, usize)>,
}

impl SourceFile {
    /// A file on the disk.
    pub(crate) fn on_disk(path: &Path) -> SourceFile {
        SourceFile {
            path: path.to_owned(),
            encoding: None,
            packed: None,
        }
    }

    /// The same file with an encoding that the user has named.
    pub(crate) fn with_encoding(self, encoding: Option<TextEncoding>) -> SourceFile {
        SourceFile { encoding, ..self }
    }

    /// The encoding of its texts, if the user has named one.
    pub(crate) fn encoding(&self) -> Option<TextEncoding> {
        self.encoding
    }

    /// Its name, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Its size in bytes; in an archive, the declared size.
    pub(crate) fn size(&self) -> u64 {
        match &self.packed {
            Some((packed, index)) => packed.entries().get(*index).map_or(0, |entry| entry.size),
            None => self.path.metadata().map_or(0, |metadata| metadata.len()),
        }
    }

    /// The file of the same database with another extension; case is ignored.
    pub(crate) fn sibling(&self, extension: &str) -> Option<SourceFile> {
        let Some((packed, _)) = &self.packed else {
            let found = sibling(&self.path, extension);
            return found.map(|path| SourceFile::on_disk(&path).with_encoding(self.encoding));
        };
        let wanted = self.path.with_extension(extension);
        let mut others = packed.files();
        others.find(|file| {
            let (file, wanted) = (file.path.as_os_str(), wanted.as_os_str());
            file.eq_ignore_ascii_case(wanted)
        })
    }

    /// The file of the same database that contains its games.
    pub(crate) fn games_file(&self, extension: &str) -> Result<SourceFile, Error> {
        self.sibling(extension).ok_or_else(|| {
            let missing = self.path.with_extension(extension);
            let text = format!(
                "its games are in {}, which is missing; keep all files of a database together",
                file_name(&missing)
            );
            Error::format(&self.path, text)
        })
    }

    /// [`SourceFile::open`], with an error that names the file.
    pub(crate) fn open_named(&self) -> Result<DataFile, Error> {
        self.open().map_err(|error| Error::io(self.path(), error))
    }

    /// [`SourceFile::open_named`], with the first `count` bytes.
    pub(crate) fn open_start(&self, count: usize) -> Result<(DataFile, Vec<u8>), Error> {
        let file = self.open_named()?;
        let start = file.start(count);
        let start = start.map_err(|error| Error::io(&self.path, error))?;
        Ok((file, start))
    }

    /// Opens it for random access. Of a damaged file in an archive, returns the bytes
    /// before the damage.
    pub(crate) fn open(&self) -> io::Result<DataFile> {
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
    pub(crate) fn bytes(&self) -> io::Result<Vec<u8>> {
        let file = self.open()?;
        let count = usize::try_from(file.len()).unwrap_or(usize::MAX);
        Ok(file.start(count)?)
    }

    /// Opens it as a stream that can seek.
    pub(crate) fn reader(&self) -> io::Result<FileReader> {
        let file = Arc::new(self.open()?);
        let len = file.len();
        Ok(FileReader::new(file, 0..len))
    }

    /// Opens it as a stream from start to end.
    pub(crate) fn stream(&self) -> io::Result<Box<dyn Read + Send>> {
        match &self.packed {
            Some((packed, index)) => packed.archive.clone().read(*index),
            None => Ok(Box::new(std::fs::File::open(&self.path)?)),
        }
    }
}
