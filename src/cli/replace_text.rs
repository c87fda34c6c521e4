//! Changing a text file of another program: all of it or nothing, and the old
//! one is kept.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};

/// A text file read for a change.
#[derive(Debug)]
pub(super) struct TextFile {
    /// The file itself, links followed.
    path: PathBuf,
    /// Held as long as this lives.
    lock: Option<File>,
    text: String,
}

impl TextFile {
    /// Reads a file that may not exist yet; its folder must. A lock keeps
    /// two of us apart.
    pub(super) fn open(path: &Path) -> anyhow::Result<TextFile> {
        let shown = path.display();
        let path = match fs::canonicalize(path) {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                ensure!(
                    fs::symlink_metadata(path).is_err(),
                    "{shown} is a link that leads nowhere"
                );
                return Ok(TextFile {
                    path: path.to_owned(),
                    lock: None,
                    text: String::new(),
                });
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read {shown}")),
        };
        ensure!(path.is_file(), "{shown} is no file");
        let lock = File::open(&path).with_context(|| format!("cannot read {shown}"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!(
                "{shown} is locked by another program: close that and try again; \
                 nothing was changed"
            ),
            // A file system without locks.
            Err(TryLockError::Error(_)) => {}
        }
        let bytes = fs::read(&path).with_context(|| format!("cannot read {shown}"))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            anyhow::anyhow!("{shown}: byte {at}: the text is not UTF-8; nothing was changed")
        })?;
        Ok(TextFile {
            path,
            lock: Some(lock),
            text,
        })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether there is such a file yet.
    pub(super) fn exists(&self) -> bool {
        self.lock.is_some()
    }

    /// Puts a new text in place of the old one. At every moment the file is
    /// the old one or the new one. Returns where the old one is kept.
    pub(super) fn replace(&mut self, text: &str) -> anyhow::Result<Option<PathBuf>> {
        let shown = self.path.display();
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let failed = || format!("cannot write {shown}; it is as it was");
        let mut new = tempfile::Builder::new()
            .prefix(".tabia-")
            .tempfile_in(folder)
            .with_context(failed)?;
        new.write_all(text.as_bytes()).with_context(failed)?;
        let Some(_) = &self.lock else {
            new.as_file().sync_all().with_context(failed)?;
            set_usual_permissions(new.as_file()).with_context(failed)?;
            new.persist_noclobber(&self.path)
                .map_err(|error| error.error)
                .with_context(failed)?;
            return Ok(None);
        };
        let old = fs::metadata(&self.path).with_context(failed)?;
        ensure!(
            !old.permissions().readonly(),
            "{shown} is read-only: it is as it was"
        );
        new.as_file()
            .set_permissions(old.permissions())
            .with_context(failed)?;
        new.as_file().sync_all().with_context(failed)?;
        let backup = self.back_up().with_context(failed)?;
        let now = fs::read(&self.path).with_context(failed)?;
        ensure!(
            now == self.text.as_bytes(),
            "{shown} was changed by another program meanwhile: try again"
        );
        // Windows replaces no file that is open, not even by us.
        #[cfg(windows)]
        drop(self.lock.take());
        new.persist(&self.path)
            .map_err(|error| error.error)
            .with_context(failed)?;
        Ok(Some(backup))
    }

    /// Copies the old file to the first free name: older backups stay.
    fn back_up(&self) -> io::Result<PathBuf> {
        let mut name = self.path.clone().into_os_string();
        name.push(".bak");
        for number in 1..1000 {
            let mut name = name.clone();
            if number > 1 {
                name.push(number.to_string());
            }
            match File::create_new(&name) {
                Ok(mut copy) => {
                    copy.write_all(self.text.as_bytes())?;
                    copy.set_permissions(fs::metadata(&self.path)?.permissions())?;
                    copy.sync_all()?;
                    return Ok(name.into());
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("there are 999 backups of it already"))
    }
}

/// Temporary files are readable by their owner alone; a configuration is as
/// other files are.
#[cfg(unix)]
fn set_usual_permissions(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn set_usual_permissions(_file: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_text_is_kept_and_older_backups_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        fs::write(&path, "one").unwrap();
        for (text, backup) in [("two", "a.json.bak"), ("three", "a.json.bak2")] {
            let mut file = TextFile::open(&path).unwrap();
            let before = file.text().to_owned();
            let kept = file.replace(text).unwrap().unwrap();
            assert_eq!(kept.file_name().unwrap(), backup);
            assert_eq!(fs::read_to_string(kept).unwrap(), before);
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_locked_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        fs::write(&path, "one").unwrap();
        let held = TextFile::open(&path).unwrap();
        let error = TextFile::open(&path).unwrap_err().to_string();
        assert!(error.contains("is locked by another program"), "{error}");
        drop(held);
        assert_eq!(TextFile::open(&path).unwrap().text(), "one");
    }

    #[test]
    fn a_file_changed_meanwhile_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        fs::write(&path, "one").unwrap();
        let mut file = TextFile::open(&path).unwrap();
        fs::write(&path, "theirs").unwrap();
        let error = file.replace("ours").unwrap_err().to_string();
        assert!(error.contains("changed by another program"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    }

    #[test]
    fn a_text_that_is_not_utf8_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        fs::write(&path, b"[\"K\xf6nig\"]").unwrap();
        let error = TextFile::open(&path).unwrap_err().to_string();
        assert!(error.contains("byte 3: the text is not UTF-8"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real.json");
        let link = folder.path().join("link.json");
        fs::write(&real, "one").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&real, &link).unwrap();
        TextFile::open(&link).unwrap().replace("two").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "two");
        assert_eq!(
            fs::metadata(&real).unwrap().permissions().mode() & 0o777,
            0o640
        );
    }
}
