//! Putting files in place: all of them, or none.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

/// A file that is being written beside its final place; deleted when dropped.
pub(super) struct Beside {
    /// What is written.
    pub(super) file: BufWriter<File>,
    temporary: TempPath,
    path: PathBuf,
}

impl Beside {
    /// Begins a file that will be `path`.
    pub(super) fn create(path: &Path) -> io::Result<Beside> {
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".tabia-").suffix(".tmp");
        // Readable to whom any new file is, not to the owner alone.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let made = builder.tempfile_in(folder);
        // The temporary name tells nobody anything.
        let (file, temporary) = made
            .map_err(|error| io::Error::from(error.kind()))?
            .into_parts();
        Ok(Beside {
            file: BufWriter::with_capacity(256 << 10, file),
            temporary,
            path: path.to_owned(),
        })
    }

    /// The final place.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Brings everything to the disk.
    fn complete(mut self) -> io::Result<Complete> {
        self.file.flush()?;
        let file = self.file.get_ref();
        // Who could read the old file can read the new one.
        if let Ok(old) = fs::metadata(&self.path) {
            let _ = file.set_permissions(old.permissions());
        }
        file.sync_all()?;
        Ok(Complete {
            temporary: self.temporary,
            path: self.path,
        })
    }
}

struct Complete {
    temporary: TempPath,
    path: PathBuf,
}

/// Puts files that belong together in place. The last one is that by which
/// readers know the others: it goes first and comes last, so that no moment
/// shows it with files it does not belong to. When that fails, what was there
/// before is there again.
///
/// # Errors
///
/// With the file that could not be put in place.
pub(super) fn put(files: Vec<Beside>) -> Result<(), (PathBuf, io::Error)> {
    let mut complete = Vec::with_capacity(files.len());
    for file in files {
        let path = file.path.clone();
        complete.push(file.complete().map_err(|error| (path, error))?);
    }
    if let [_] = complete.as_slice() {
        // A rename replaces the old one at once.
        return complete.into_iter().try_for_each(rename);
    }
    let mut aside = Aside::default();
    for file in complete.iter().rev() {
        let moved = aside.add(&file.path);
        moved.map_err(|error| (file.path.clone(), error))?;
    }
    for file in complete {
        let path = file.path.clone();
        rename(file)?;
        aside.placed.push(path);
    }
    aside.forget();
    Ok(())
}

fn rename(file: Complete) -> Result<(), (PathBuf, io::Error)> {
    fs::rename(&file.temporary, &file.path).map_err(|error| (file.path, error))?;
    // The name is gone; there is nothing to delete.
    let _ = file.temporary.keep();
    Ok(())
}

/// Old files under other names; back again when dropped.
#[derive(Default)]
struct Aside {
    moved: Vec<(PathBuf, PathBuf)>,
    /// New files that are in their places.
    placed: Vec<PathBuf>,
}

impl Aside {
    fn add(&mut self, path: &Path) -> io::Result<()> {
        if fs::symlink_metadata(path).is_err() {
            return Ok(());
        }
        let mut name = std::ffi::OsString::from(".tabia-old-");
        name.push(std::process::id().to_string());
        name.push(path.file_name().unwrap_or_default());
        let aside = path.with_file_name(name);
        fs::rename(path, &aside)?;
        self.moved.push((aside, path.to_owned()));
        Ok(())
    }

    /// The new files stay.
    fn forget(mut self) {
        self.placed.clear();
        for (aside, _) in self.moved.drain(..) {
            let _ = fs::remove_file(aside);
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        for path in &self.placed {
            let _ = fs::remove_file(path);
        }
        for (aside, path) in &self.moved {
            let _ = fs::rename(aside, path);
        }
    }
}
