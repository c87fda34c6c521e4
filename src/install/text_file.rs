//! Changes a text file of another program completely or not at all, with a backup of the
//! old one.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};

use tabia_io::atomic::{LOCK_WAIT, Locked, NewFile, Previous};

/// A text file read for a change.
#[derive(Debug)]
pub(crate) struct TextFile {
    /// The path of the file, with links resolved.
    path: PathBuf,
    /// The lock is released on drop.
    lock: Option<Locked>,
    text: String,
}

impl TextFile {
    /// The text of a file; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is locked: the reason, with the name of the file.
    pub(crate) fn text_of(path: &Path) -> Result<Option<String>, String> {
        let file = TextFile::open(path).map_err(|error| format!("{error:#}"))?;
        Ok(file.exists().then(|| file.text().to_owned()))
    }

    /// Reads a file that may not exist yet; its folder must. A lock excludes other
    /// processes of Tabia.
    pub(crate) fn open(path: &Path) -> anyhow::Result<TextFile> {
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
        ensure!(path.is_file(), "{shown} is not a file");
        let lock = File::open(&path).with_context(|| format!("cannot read {shown}"))?;
        let Some(lock) = Locked::within(LOCK_WAIT, lock) else {
            bail!(
                "{shown} is locked by another program: close that and try again; \
                 nothing was changed"
            );
        };
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

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the file exists already.
    pub(crate) fn exists(&self) -> bool {
        self.lock.is_some()
    }

    /// Writes a new text beside the file, which [`Prepared::commit`] puts in its place, with or
    /// without a backup of the old one: what cannot be written is found before any file changes.
    pub(crate) fn prepare(self, text: &str, old: Previous) -> anyhow::Result<Prepared> {
        let shown = self.path.display();
        let old = match self.exists() {
            true => old,
            false => Previous::Refuse,
        };
        if self.exists() {
            let now = fs::metadata(&self.path).with_context(|| format!("cannot read {shown}"))?;
            ensure!(
                !now.permissions().readonly(),
                "{shown} is read-only: it is as it was"
            );
        }
        let mut new = NewFile::create(&self.path, old)?;
        new.write_bytes(text.as_bytes())?;
        Ok(Prepared { file: self, new })
    }

    /// Replaces the text. At every moment the file has its old or its new content. Returns the
    /// path of the backup.
    pub(crate) fn replace(self, text: &str, old: Previous) -> anyhow::Result<Option<PathBuf>> {
        self.prepare(text, old)?.commit()
    }
}

/// A new text beside its file; without [`Prepared::commit`] the file stays as it is.
#[derive(Debug)]
pub(crate) struct Prepared {
    file: TextFile,
    new: NewFile,
}

impl Prepared {
    /// Puts the new text in the place of the old one. Returns the path of the backup.
    pub(crate) fn commit(self) -> anyhow::Result<Option<PathBuf>> {
        let Prepared { file, new } = self;
        let shown = file.path.display();
        if file.exists() {
            let now = fs::read(&file.path).with_context(|| format!("cannot read {shown}"))?;
            ensure!(
                now == file.text.as_bytes(),
                "{shown} was changed by another program meanwhile: try again"
            );
        }
        // Windows does not replace a file that is open, even by this process.
        #[cfg(windows)]
        drop(file);
        Ok(new.commit()?.kept)
    }
}

/// Folders that were made for files; when dropped, those that are still empty are removed, as
/// after an error.
#[derive(Debug, Default)]
pub(crate) struct NewFolders(Vec<PathBuf>);

impl NewFolders {
    /// Makes the folder of a file, and those it is in.
    pub(crate) fn make_for(&mut self, path: &Path) -> anyhow::Result<()> {
        for folder in missing(path) {
            make_folder(&folder)?;
            self.0.push(folder);
        }
        Ok(())
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        for folder in self.0.iter().rev() {
            // One with files is not empty and stays.
            fs::remove_dir(folder).ok();
        }
    }
}

/// The missing folders of a file, outermost first.
pub(crate) fn missing(path: &Path) -> Vec<PathBuf> {
    let folders = path.ancestors().skip(1);
    let mut missing: Vec<PathBuf> = folders
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .map(Path::to_owned)
        .collect();
    missing.reverse();
    missing
}

/// Makes a folder, and those it is in.
pub(crate) fn make_folder(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))
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
            let file = TextFile::open(&path).unwrap();
            let before = file.text().to_owned();
            let kept = file.replace(text, Previous::KeepEach).unwrap().unwrap();
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
        let file = TextFile::open(&path).unwrap();
        fs::write(&path, "theirs").unwrap();
        let error = file
            .replace("ours", Previous::KeepEach)
            .unwrap_err()
            .to_string();
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

    #[test]
    fn what_is_not_committed_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one/two/a.json");
        let mut folders = NewFolders::default();
        folders.make_for(&path).unwrap();
        let file = TextFile::open(&path).unwrap();
        drop(file.prepare("one", Previous::KeepEach).unwrap());
        drop(folders);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        // A folder with a file stays.
        let mut folders = NewFolders::default();
        folders.make_for(&path).unwrap();
        let file = TextFile::open(&path).unwrap();
        file.replace("one", Previous::KeepEach).unwrap();
        drop(folders);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
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
        TextFile::open(&link)
            .unwrap()
            .replace("two", Previous::KeepEach)
            .unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "two");
        assert_eq!(
            fs::metadata(&real).unwrap().permissions().mode() & 0o777,
            0o640
        );
    }
}
