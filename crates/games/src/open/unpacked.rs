//! Reads the databases of an archive, one after the other.

use std::io;
use std::sync::Arc;

use super::{is_damage, is_game_file, open_file};
use crate::archive::{Archive, OpenArchive, SourceFile};
use crate::{Error, GameBatch, GameSource};

/// Opens all databases in an archive, the content of `file`, which has `depth` - 1
/// archives around it.
///
/// # Errors
///
/// The archive contains no database, or the first one cannot be read.
pub(super) fn open(
    file: &SourceFile,
    archive: Arc<dyn Archive>,
    password: Option<&str>,
    depth: usize,
) -> Result<Box<dyn GameSource>, Error> {
    let path = file.path();
    let packed = OpenArchive::new(path, archive, file.encoding());
    let is_wanted = |file: &SourceFile| is_game_file(file.path());
    let databases: Vec<SourceFile> = packed.files().filter(is_wanted).collect();
    if databases.is_empty() {
        let count = packed.files().count();
        let text = format!("no game database among the {count} files in it");
        return Err(Error::format(path, text));
    }
    let mut source = Unpacked {
        parts: databases.len() as u64,
        databases: databases.into_iter(),
        packed,
        password: password.map(str::to_owned),
        depth,
        size: file.size(),
        started: 0,
        source: None,
        done: Vec::new(),
        remarks: Vec::new(),
    };
    if !source.next_database()? {
        return Err(Error::format(path, source.remarks.join("; ")));
    }
    Ok(Box::new(source))
}

struct Unpacked {
    packed: Arc<OpenArchive>,
    /// The databases not opened yet.
    databases: std::vec::IntoIter<SourceFile>,
    /// Number of all databases; `started`: of the opened ones.
    parts: u64,
    started: u64,
    password: Option<String>,
    depth: usize,
    /// Size of the archive in bytes.
    size: u64,
    /// The open database, and the size of its file.
    source: Option<(Box<dyn GameSource>, u64)>,
    /// Earlier databases: their remarks are complete when all games are read.
    done: Vec<Box<dyn GameSource>>,
    /// Messages about files that broke off.
    remarks: Vec<String>,
}

impl Unpacked {
    /// All databases opened so far.
    fn sources(&self) -> impl Iterator<Item = &dyn GameSource> {
        let open = self.source.iter().map(|(source, _)| source);
        self.done.iter().chain(open).map(|source| &**source)
    }

    /// Opens the next database; false if there is none.
    fn next_database(&mut self) -> Result<bool, Error> {
        self.done
            .extend(self.source.take().map(|(source, _)| source));
        for file in self.databases.by_ref() {
            self.started += 1;
            match open_file(&file, self.password.as_deref(), self.depth) {
                Ok(source) => {
                    self.source = Some((source, file.size()));
                    return Ok(true);
                }
                Err(Error::Io { name, reason }) if is_damage(&reason) => {
                    self.remarks.push(format!("{name}: {reason}; it is lost"));
                }
                // The other databases can still be read.
                Err(error @ Error::Format { .. }) if self.parts > 1 => {
                    self.remarks.push(format!("{error}; skipped"));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}

impl GameSource for Unpacked {
    fn next_batch(&mut self) -> Result<Option<Box<dyn GameBatch>>, Error> {
        loop {
            let Some((source, _)) = &mut self.source else {
                return Ok(None);
            };
            match source.next_batch() {
                Ok(Some(batch)) => return Ok(Some(batch)),
                Ok(None) => {}
                // A damaged file ends here; the next ones can still be read.
                Err(Error::Io { name, reason }) if reason.kind() == io::ErrorKind::InvalidData => {
                    self.remarks
                        .push(format!("{name}: {reason}; the rest of it is lost"));
                }
                Err(error) => return Err(error),
            }
            if !self.next_database()? {
                return Ok(None);
            }
        }
    }

    /// An estimate, as if all databases were of the same size.
    fn bytes_read(&self) -> u64 {
        let part = |count: u64| self.size / self.parts.max(1) * count;
        let Some((source, bytes)) = &self.source else {
            return self.size;
        };
        let done = (source.bytes_read() as f64 / (*bytes).max(1) as f64).min(1.0);
        part(self.started.saturating_sub(1)) + (part(1) as f64 * done) as u64
    }

    fn is_cut(&self) -> bool {
        let is_cut = self.sources().any(|source| source.is_cut());
        is_cut || !self.remarks.is_empty() || !self.packed.faults().is_empty()
    }

    fn has_contradictions(&self) -> bool {
        self.sources().any(|source| source.has_contradictions())
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = self.sources().flat_map(|source| source.remarks()).collect();
        remarks.extend(self.remarks.iter().cloned());
        remarks.extend(self.packed.faults());
        remarks
    }
}
