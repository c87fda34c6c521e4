//! Renames old files while new ones are written; can undo it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Old, TempFolder, WriteFileError, named_like};

/// The old files; restored when dropped.
pub(super) struct OldFiles {
    path: PathBuf,
    old: Old,
    /// Contains files that will be deleted, until they are certainly not needed.
    folder: Option<TempFolder>,
    /// The second name of the old file, which also has its own name until the new file
    /// replaces it.
    second: Option<PathBuf>,
    /// Backup and original names of its companions.
    companions: Vec<(PathBuf, PathBuf)>,
    /// Whether the new file has its final name.
    pub(super) placed: bool,
    /// New companions that have their final names.
    pub(super) new: Vec<PathBuf>,
    done: bool,
}

impl OldFiles {
    /// Gives the old files other names.
    pub(super) fn of(
        path: &Path,
        companions: &[PathBuf],
        old: Old,
    ) -> Result<OldFiles, WriteFileError> {
        let mut old_files = OldFiles {
            path: path.to_owned(),
            old,
            folder: None,
            second: None,
            companions: Vec::new(),
            placed: false,
            new: Vec::new(),
            done: false,
        };
        let mut others = Vec::new();
        for companion in companions {
            let alike = named_like(companion).map_err(|error| WriteFileError::io(path, error))?;
            others.extend(alike);
        }
        if old == Old::Refuse {
            return match others.into_iter().next() {
                Some(path) => Err(WriteFileError::Exists { path }),
                None => Ok(old_files),
            };
        }
        let number = old_files
            .free_number(&others)
            .map_err(|error| WriteFileError::io(path, error))?;
        if old == Old::Keep {
            // So that an older backup does not get the companions of a newer one.
            for companion in companions {
                for stale in named_like(&backup(companion, number)).unwrap_or_default() {
                    let _ = fs::remove_file(stale);
                }
            }
        }
        let is_alone = companions.is_empty() && old == Old::Replace;
        let has_old = !is_alone && fs::symlink_metadata(path).is_ok();
        if !has_old && others.is_empty() {
            return Ok(old_files);
        }
        let folder = TempFolder::beside(path).map_err(|error| WriteFileError::io(path, error))?;
        let folder = old_files.folder.insert(folder).path().to_owned();
        let other_name = |own: &Path| match old {
            Old::Replace => folder.join(own.file_name().unwrap_or_default()),
            _ => backup(own, number),
        };
        if has_old {
            let second = other_name(path);
            match old_files.name_twice(&folder, &second) {
                Ok(()) => old_files.second = Some(second),
                // In this case the old file cannot be restored later.
                Err(_) if old == Old::Replace => {}
                Err(error) => return Err(WriteFileError::io(path, error)),
            }
        }
        for own in others {
            let other = other_name(&own);
            fs::rename(&own, &other).map_err(|error| WriteFileError::io(&own, error))?;
            old_files.companions.push((other, own));
        }
        if old != Old::Replace {
            old_files.folder = None;
        }
        Ok(old_files)
    }

    /// The file that is replaced.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Completes the replacement; returns the path of the backup.
    pub(super) fn forget(mut self) -> Option<PathBuf> {
        self.done = true;
        // The other old files are deleted with the folder.
        let kept = self.second.take();
        kept.filter(|_| self.old != Old::Replace)
    }

    /// Gives the old file a second name. Without hard links, a file to be kept is
    /// moved: then, for a moment, no file has its name.
    fn name_twice(&self, folder: &Path, second: &Path) -> io::Result<()> {
        let link = folder.join("link");
        match fs::hard_link(&self.path, &link) {
            // Two names of one file stay two when one is renamed to the other;
            // then the first goes with its folder.
            Ok(()) => fs::rename(&link, second),
            Err(_) if self.old != Old::Replace => fs::rename(&self.path, second),
            Err(error) => Err(error),
        }
    }

    /// The smallest number for which all backup names are free; 1 means no number.
    fn free_number(&self, companions: &[PathBuf]) -> io::Result<u32> {
        if self.old != Old::KeepEach {
            return Ok(1);
        }
        let is_free = |number: &u32| {
            let mut paths = companions.iter().chain([&self.path]);
            paths.all(|path| fs::symlink_metadata(backup(path, *number)).is_err())
        };
        (1..1000)
            .find(is_free)
            .ok_or_else(|| io::Error::other("there are 999 backups of it already"))
    }
}

impl Drop for OldFiles {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        for path in &self.new {
            let _ = fs::remove_file(path);
        }
        if let Some(second) = &self.second {
            let is_gone = fs::symlink_metadata(&self.path).is_err();
            let _ = match self.placed || is_gone {
                true => fs::rename(second, &self.path),
                false => fs::remove_file(second),
            };
        } else if self.placed && self.old == Old::Refuse {
            let _ = fs::remove_file(&self.path);
        }
        for (other, own) in &self.companions {
            let _ = fs::rename(other, own);
        }
    }
}

/// `book.ctg.bak`, `book.ctg.bak2`.
fn backup(path: &Path, number: u32) -> PathBuf {
    let mut name = OsString::from(path.file_name().unwrap_or_default());
    name.push(".bak");
    if number > 1 {
        name.push(number.to_string());
    }
    path.with_file_name(name)
}
