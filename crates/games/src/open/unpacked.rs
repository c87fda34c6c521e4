//! The databases of an archive, one after the other.

use std::io;
use std::sync::Arc;

use super::{Access, Opened, SourceError, open_located};
use crate::archive::{Archive, Located, Packed};
use crate::members::is_damage;
use crate::{GameBatch, GameSource};
use tabia_io::input::file::DataFile;
use tabia_io::input::kind::Kind;

/// Opens all databases in an archive.
///
/// # Errors
///
/// The archive cannot be read, holds no database, or the first one cannot be
/// read.
pub(super) fn open(
    file: &Located,
    access: Access<'_>,
    archive: impl FnOnce(DataFile) -> Result<Arc<dyn Archive>, String>,
) -> Result<Opened, SourceError> {
    let path = file.path();
    let format_error = |text| SourceError::format(path, text);
    let bytes = file.open_named()?;
    let size = bytes.len();
    let packed = Packed::new(path, archive(bytes).map_err(format_error)?);
    let is_wanted = |file: &Located| Kind::of_games(file.path()).is_some();
    let databases: Vec<Located> = packed.files().filter(is_wanted).collect();
    if databases.is_empty() {
        let count = packed.files().count();
        let text = format!("no game database among the {count} files in it");
        return Err(format_error(text));
    }
    let mut source = Unpacked {
        parts: databases.len() as u64,
        databases: databases.into_iter(),
        packed,
        password: access.password.map(str::to_owned),
        depth: access.depth + 1,
        size,
        started: 0,
        source: None,
        done: Vec::new(),
        remarks: Vec::new(),
    };
    if !source.next_database()? {
        return Err(format_error(source.remarks.join("; ")));
    }
    Ok(Opened {
        source: Box::new(source),
        bytes: Some(size),
    })
}

struct Unpacked {
    packed: Arc<Packed>,
    /// Those that come.
    databases: std::vec::IntoIter<Located>,
    /// How many there are, and how many of them have been opened.
    parts: u64,
    started: u64,
    password: Option<String>,
    depth: usize,
    /// Of the archive, in bytes.
    size: u64,
    source: Option<Opened>,
    /// The earlier ones: their remarks are complete when all games are read.
    done: Vec<Box<dyn GameSource>>,
    /// What broke off.
    remarks: Vec<String>,
}

impl Unpacked {
    /// Goes to the next one; false if there is none.
    fn next_database(&mut self) -> Result<bool, SourceError> {
        self.done.extend(self.source.take().map(|open| open.source));
        for file in self.databases.by_ref() {
            let access = Access {
                password: self.password.as_deref(),
                depth: self.depth,
            };
            self.started += 1;
            match open_located(&file, access) {
                Ok(opened) => {
                    self.source = Some(opened);
                    return Ok(true);
                }
                Err(SourceError::Io { name, source }) if is_damage(&source) => {
                    self.remarks.push(format!("{name}: {source}; it is lost"));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}

impl GameSource for Unpacked {
    fn next_batch(&mut self) -> Result<Option<Box<dyn GameBatch>>, SourceError> {
        loop {
            let Some(open) = &mut self.source else {
                return Ok(None);
            };
            match open.source.next_batch() {
                Ok(Some(batch)) => return Ok(Some(batch)),
                Ok(None) => {}
                // A damaged file of the archive ends here; the others need not.
                Err(SourceError::Io { name, source })
                    if source.kind() == io::ErrorKind::InvalidData =>
                {
                    self.remarks
                        .push(format!("{name}: {source}; the rest of it is lost"));
                }
                Err(error) => return Err(error),
            }
            if !self.next_database()? {
                return Ok(None);
            }
        }
    }

    /// As if all databases in it were of one size.
    fn bytes_read(&self) -> u64 {
        let part = |count: u64| self.size / self.parts.max(1) * count;
        let Some(open) = &self.source else {
            return self.size;
        };
        let all = open.bytes.unwrap_or(0).max(1) as f64;
        let done = (open.source.bytes_read() as f64 / all).min(1.0);
        part(self.started.saturating_sub(1)) + (part(1) as f64 * done) as u64
    }

    fn is_cut(&self) -> bool {
        let open = self.source.iter().map(|open| &open.source);
        let mut sources = self.done.iter().chain(open);
        let is_cut = sources.any(|source| source.is_cut());
        is_cut || !self.remarks.is_empty() || !self.packed.faults().is_empty()
    }

    fn remarks(&self) -> Vec<String> {
        let open = self.source.iter().map(|open| &open.source);
        let sources = self.done.iter().chain(open);
        let mut remarks: Vec<String> = sources.flat_map(|source| source.remarks()).collect();
        remarks.extend(self.remarks.iter().cloned());
        remarks.extend(self.packed.faults());
        remarks
    }
}
