//! Replaces a file together with its companions; an interrupted replacement is completed
//! or taken back later.
//!
//! All that is needed for it lies in a temporary folder: the complete new files
//! (`new-NAME`), the old ones (`old-NAME`), and a record (`set`) of what belongs where.
//! Before the record exists nothing visible has changed. After that each [`Rename`] renames
//! one file, so the folder and the main file tell how far it got ([`SetState`]). A folder
//! with a record is not a leftover: only [`settle`] removes it,
//! unless all visible files are where they belong.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::temporary::{Owner, TempFolder, owner_of, temp_folders};
use super::{
    LOCK_WAIT, Locked, NewFile, Previous, WriteFileError, folder_of, followed, named_like,
    sync_folder,
};
use crate::input::path::to_text;

/// The name of the record, and of one that is being written.
const RECORD: &str = "set";
const UNFINISHED_RECORD: &str = "set-unfinished";

/// The first field of a record; the fields are separated by zero bytes, which no name
/// contains.
const MAGIC: &str = "tabia set 1";

/// Length and modification time: whether a file is still the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    /// In nanoseconds.
    modified: u128,
}

impl Stamp {
    /// `None` if the file does not exist.
    fn read(path: &Path) -> Option<Stamp> {
        let data = fs::metadata(path).ok()?;
        let since = data.modified().ok()?.duration_since(UNIX_EPOCH);
        Some(Stamp {
            bytes: data.len(),
            modified: since.map_or(0, |since| since.as_nanos()),
        })
    }
}

/// How far an interrupted replacement got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetState {
    /// The old file has its name; companions of it may lie in the folder.
    OldFile,
    /// The new file has its name; companions of it, or backups, may lie in the folder.
    NewFile,
    /// The file is neither: it has been changed or replaced since.
    OtherFile,
}

/// A replacement of a file and its companions that was interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptedSet {
    /// How far it got.
    pub state: SetState,
    /// The folder with the files that are not in their places.
    pub folder: PathBuf,
    /// The names of the files in `folder`: companions of the main file, and backups.
    pub away: Vec<String>,
}

/// Interrupted replacements of this file, without those by programs that still run. Changes
/// nothing.
#[must_use]
pub fn interrupted(path: &Path) -> Vec<InterruptedSet> {
    let path = &followed(path);
    let folders = temp_folders(path).into_iter();
    let sets = folders.filter_map(|folder| {
        let set = FileSet::read(&folder, path)?;
        match owner_of(&folder) {
            Owner::Running => None,
            Owner::Dead(_) | Owner::Unknown => set.interrupted(),
        }
    });
    sets.collect()
}

/// Completes interrupted replacements of this file if the new file has its name, takes
/// them back if the old one has it, and returns them. Replacements of
/// another file are returned too, but stay.
///
/// # Errors
///
/// A file cannot be renamed, for instance because the folder is read-only; it can be
/// tried again.
pub fn settle(path: &Path) -> Result<Vec<InterruptedSet>, WriteFileError> {
    let path = &followed(path);
    let folders = temp_folders(path);
    // Most folders contain none: then there is no need to wait.
    if folders.iter().all(|folder| !has_record(folder)) {
        return Ok(Vec::new());
    }
    match FolderLock::lock(path) {
        Some(held) => held.settle(path),
        None => Ok(Vec::new()),
    }
}

/// Deletes what is left of replacements that do not belong to this file any more
/// ([`SetState::OtherFile`]); returns their number.
#[must_use]
pub fn discard(path: &Path) -> usize {
    let path = &followed(path);
    let other = |folder: &PathBuf| {
        let Owner::Dead(dead) = owner_of(folder) else {
            return false;
        };
        let set = FileSet::read(folder, path);
        let is_other = set.is_some_and(|set| set.state() == SetState::OtherFile);
        if is_other {
            dead.remove();
        }
        is_other
    };
    temp_folders(path)
        .iter()
        .filter(|folder| other(folder))
        .count()
}

/// Whether a temporary folder contains the record of a replacement.
fn has_record(folder: &Path) -> bool {
    folder.join(RECORD).exists()
}

/// Whether a temporary folder without an owner contains files that are needed to complete
/// a replacement or to take it back.
pub(super) fn is_needed(folder: &Path) -> bool {
    let main = |bytes: Vec<u8>| name_of_bytes(bytes.split(|byte| *byte == 0).nth(1)?);
    match fs::read(folder.join(RECORD)).ok().map(main) {
        None => false,
        // Not ours, or of a later version.
        Some(None) => true,
        Some(Some(name)) => FileSet::read(folder, &folder.with_file_name(name))
            .is_none_or(|set| set.interrupted().is_some()),
    }
}

/// While this exists, no other program renames files of a set in the folder. Where folders
/// cannot be locked (Windows, some network file systems) it does nothing.
pub(super) struct FolderLock(#[allow(dead_code, reason = "unlocked on drop")] Option<Locked>);

impl FolderLock {
    /// `None` if another program holds the folder for longer than [`LOCK_WAIT`].
    pub(super) fn lock(path: &Path) -> Option<FolderLock> {
        match File::open(folder_of(path)) {
            Ok(folder) => Locked::within(LOCK_WAIT, folder).map(|folder| FolderLock(Some(folder))),
            Err(_) => Some(FolderLock(None)),
        }
    }

    /// As [`settle`].
    fn settle(&self, path: &Path) -> Result<Vec<InterruptedSet>, WriteFileError> {
        let mut found = Vec::new();
        for folder in temp_folders(path) {
            let Some(set) = FileSet::read(&folder, path) else {
                continue;
            };
            let Owner::Dead(dead) = owner_of(&folder) else {
                continue;
            };
            let interrupted = set.interrupted();
            let settled = match set.state() {
                SetState::OldFile => set.take_back(),
                SetState::NewFile => set.complete(),
                SetState::OtherFile => {
                    found.extend(interrupted);
                    continue;
                }
            };
            settled.map_err(|error| WriteFileError::io(path, error))?;
            sync_folder(path);
            dead.remove();
            found.extend(interrupted);
        }
        Ok(found)
    }

    /// Replaces a file, and its companions, which are useless without it; companions named
    /// `gone` have no new ones. Returns the path of the backup.
    pub(super) fn replace(
        &self,
        main: NewFile,
        companions: Vec<NewFile>,
        gone: &[PathBuf],
    ) -> Result<Option<PathBuf>, WriteFileError> {
        let path = main.path.clone();
        self.settle(&path)?;
        let (set, folder) = FileSet::prepare(main, companions, gone)?;
        let mut synced = true;
        for step in set.steps() {
            // The order must hold after a power failure, too.
            if !synced && matches!(step, Rename::Place(_)) {
                sync_folder(&path);
            }
            if let Err(error) = set.run(&step) {
                let own = set.own(step.name());
                // If it cannot be taken back, the next program completes it.
                match set.take_back() {
                    Ok(()) => set.remove_record(),
                    Err(_) => folder.abandon(),
                }
                return Err(match error.kind() {
                    io::ErrorKind::AlreadyExists => WriteFileError::Exists { path: own },
                    _ => WriteFileError::io(&own, error),
                });
            }
            synced = false;
        }
        sync_folder(&path);
        set.remove_record();
        let has_backup = set.record.backup.is_some() && set.record.before.is_some();
        Ok(has_backup.then(|| set.backup(set.main())))
    }
}

/// A rename of one file of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Rename {
    /// An old file gets its name in the folder.
    SetAside(OsString),
    /// An old file in the folder becomes a backup.
    Keep(OsString),
    /// A new file gets its name.
    Place(OsString),
}

impl Rename {
    fn name(&self) -> &OsStr {
        match self {
            Rename::SetAside(name) | Rename::Keep(name) | Rename::Place(name) => name,
        }
    }
}

/// The files of a replacement.
#[derive(Debug)]
struct FileSet {
    folder: PathBuf,
    path: PathBuf,
    record: Record,
}

/// What the folder alone does not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Record {
    /// The main file before and after; `None` if there was none.
    before: Option<Stamp>,
    after: Stamp,
    /// The number of the backups, if old files are kept.
    backup: Option<u32>,
    /// Whether existing files are refused.
    refuses: bool,
    /// Whether the old main file has a second name in the folder; else it is moved there.
    is_linked: bool,
    /// The names of the new and of the old companions.
    new: Vec<OsString>,
    old: Vec<OsString>,
}

impl FileSet {
    /// Moves the new files into a temporary folder and writes the record.
    fn prepare(
        main: NewFile,
        companions: Vec<NewFile>,
        gone: &[PathBuf],
    ) -> Result<(FileSet, TempFolder), WriteFileError> {
        let path = main.path.clone();
        let failed = |error| WriteFileError::io(&path, error);
        let old = main.old;
        let mut others = Vec::new();
        for companion in companions.iter().map(|new| &new.path).chain(gone) {
            others.extend(named_like(companion).map_err(failed)?);
        }
        if old == Previous::Refuse
            && let Some(path) = others.first()
        {
            let path = path.clone();
            return Err(WriteFileError::Exists { path });
        }
        let number = match old {
            Previous::Refuse | Previous::Replace => None,
            Previous::Keep => Some(1),
            Previous::KeepEach => Some(free_number(&path, &others).map_err(failed)?),
        };
        let name_of = |path: &PathBuf| path.file_name().unwrap_or_default().to_owned();
        let folder = TempFolder::beside(&path).map_err(failed)?;
        let mut set = FileSet {
            folder: folder.path().to_owned(),
            path: path.clone(),
            record: Record {
                before: Stamp::read(&path),
                // Of the new file, which has no name in the folder yet.
                after: Stamp::read(&main.temporary.0)
                    .ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?,
                backup: number,
                refuses: old == Previous::Refuse,
                is_linked: false,
                new: companions.iter().map(|new| name_of(&new.path)).collect(),
                old: others.iter().map(name_of).collect(),
            },
        };
        for new in std::iter::once(main).chain(companions) {
            let fresh = set.fresh(&name_of(&new.path));
            new.move_to(&fresh)?;
        }
        set.record.is_linked = set.record.before.is_some()
            && !set.record.refuses
            && fs::hard_link(&path, set.aside(set.main())).is_ok();
        set.write_record().map_err(failed)?;
        Ok((set, folder))
    }

    /// All renames in order.
    fn steps(&self) -> Vec<Rename> {
        let record = &self.record;
        let main = self.main().to_owned();
        let keeps = record.backup.is_some();
        let has_main = record.before.is_some() && keeps;
        let old = || record.old.iter().cloned();
        let mut steps: Vec<Rename> = old().map(Rename::SetAside).collect();
        match has_main {
            true if record.is_linked => steps.push(Rename::Keep(main.clone())),
            // Without hard links, for a moment no file has its name.
            true => steps.push(Rename::SetAside(main.clone())),
            false => {}
        }
        steps.push(Rename::Place(main.clone()));
        steps.extend(record.new.iter().cloned().map(Rename::Place));
        if has_main && !record.is_linked {
            steps.push(Rename::Keep(main));
        }
        if keeps {
            steps.extend(old().map(Rename::Keep));
        }
        steps
    }

    fn run(&self, step: &Rename) -> io::Result<()> {
        match step {
            Rename::SetAside(name) => fs::rename(self.own(name), self.aside(name)),
            Rename::Keep(name) => {
                if name == self.main() {
                    self.remove_older_backups();
                }
                fs::rename(self.aside(name), self.backup(name))
            }
            Rename::Place(name) if self.record.refuses => {
                let (fresh, own) = (self.fresh(name), self.own(name));
                // A link replaces no file. Not every file system has links.
                match fs::hard_link(&fresh, &own) {
                    Ok(()) => fs::remove_file(fresh),
                    Err(_) if fs::symlink_metadata(&own).is_err() => fs::rename(fresh, own),
                    Err(_) => Err(io::ErrorKind::AlreadyExists.into()),
                }
            }
            Rename::Place(name) => fs::rename(self.fresh(name), self.own(name)),
        }
    }

    /// An older backup must not get the companions of a newer one.
    fn remove_older_backups(&self) {
        let companions = self.record.new.iter().chain(&self.record.old);
        for name in companions {
            for stale in named_like(&self.backup(name)).unwrap_or_default() {
                let _ = fs::remove_file(stale);
            }
        }
    }

    fn state(&self) -> SetState {
        let Record { before, after, .. } = self.record;
        let now = Stamp::read(&self.path);
        let is_waiting = self.fresh(self.main()).exists();
        // A new file in its place may have the stamp of the old one.
        if now == Some(after) && !is_waiting {
            SetState::NewFile
        } else if now == before || now.is_none() && self.aside(self.main()).exists() {
            SetState::OldFile
        } else if now == Some(after) && self.record.refuses {
            // Killed between its link and the removal of the other name.
            SetState::NewFile
        } else {
            SetState::OtherFile
        }
    }

    /// Does the steps that are left after the new file got its name.
    fn complete(&self) -> io::Result<()> {
        for step in self.steps() {
            let is_left = match &step {
                Rename::SetAside(_) => false,
                Rename::Keep(name) => self.aside(name).exists(),
                Rename::Place(name) => name != self.main() && self.fresh(name).exists(),
            };
            if is_left {
                // The file itself has its name, so these belong there.
                match &step {
                    Rename::Place(name) => fs::rename(self.fresh(name), self.own(name)),
                    step => self.run(step),
                }?;
            }
        }
        Ok(())
    }

    /// Gives the old files their names back.
    fn take_back(&self) -> io::Result<()> {
        let record = &self.record;
        let main = self.main();
        let is_new = !self.fresh(main).exists();
        let restore = |name: &OsStr| {
            let kept = record.backup.map(|_| self.backup(name));
            let places = std::iter::once(self.aside(name)).chain(kept);
            let place = places.into_iter().find(|place| place.exists());
            place.map_or(Ok(()), |place| fs::rename(place, self.own(name)))
        };
        if is_new && Stamp::read(&self.path) == Some(record.after) {
            let kept = record.backup.map(|_| self.backup(main));
            let is_there = |place: &PathBuf| Stamp::read(place) == record.before;
            let second = std::iter::once(self.aside(main)).chain(kept).find(is_there);
            match second {
                Some(second) if record.before.is_some() => fs::rename(second, &self.path)?,
                _ if record.before.is_none() => fs::remove_file(&self.path)?,
                // The old file is lost: without hard links it had only one name.
                _ => return Err(io::ErrorKind::NotFound.into()),
            }
            for name in &record.new {
                if !self.fresh(name).exists() {
                    fs::remove_file(self.own(name))?;
                }
            }
        } else if Stamp::read(&self.path).is_none() {
            restore(main)?;
        } else if self.is_second_name(main) {
            // Of the file in its place: no backup.
            fs::remove_file(self.backup(main))?;
        }
        for name in &record.old {
            if fs::symlink_metadata(self.own(name)).is_err() {
                restore(name)?;
            }
        }
        Ok(())
    }

    /// Whether the backup of this old file exists already, made by this replacement.
    fn is_second_name(&self, name: &OsStr) -> bool {
        let record = &self.record;
        name == self.main()
            && record.is_linked
            && record.backup.is_some()
            && !self.aside(name).exists()
            && Stamp::read(&self.backup(name)) == record.before
    }

    /// This set, unless each visible file is where it belongs.
    fn interrupted(&self) -> Option<InterruptedSet> {
        let record = &self.record;
        let state = self.state();
        let mut away: Vec<PathBuf> = Vec::new();
        match state {
            SetState::OldFile => {
                let old = record.old.iter().filter(|name| self.aside(name).exists());
                away.extend(old.map(|name| self.own(name)));
                let main = Some(self.path.clone());
                away.extend(main.filter(|path| record.before.is_some() && !path.exists()));
            }
            SetState::NewFile => {
                let new = record.new.iter().filter(|name| self.fresh(name).exists());
                away.extend(new.map(|name| self.own(name)));
                if record.backup.is_some() {
                    let old = [self.main()].into_iter();
                    let old = old.chain(record.old.iter().map(OsString::as_os_str));
                    let old = old.filter(|name| self.aside(name).exists());
                    away.extend(old.map(|name| self.backup(name)));
                }
            }
            SetState::OtherFile => {}
        }
        let name = |path: &PathBuf| to_text(Path::new(path.file_name().unwrap_or_default()));
        (state == SetState::OtherFile || !away.is_empty()).then(|| InterruptedSet {
            state,
            folder: self.folder.clone(),
            away: away.iter().map(name).collect(),
        })
    }

    fn main(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    /// The place of a file.
    fn own(&self, name: &OsStr) -> PathBuf {
        self.path.with_file_name(name)
    }

    /// The old file in the folder.
    fn aside(&self, name: &OsStr) -> PathBuf {
        self.in_folder("old-", name)
    }

    /// The new file in the folder.
    fn fresh(&self, name: &OsStr) -> PathBuf {
        self.in_folder("new-", name)
    }

    fn in_folder(&self, prefix: &str, name: &OsStr) -> PathBuf {
        let mut prefix = OsString::from(prefix);
        prefix.push(name);
        self.folder.join(prefix)
    }

    /// The backup of an old file.
    fn backup(&self, name: &OsStr) -> PathBuf {
        backup(&self.own(name), self.record.backup.unwrap_or(1))
    }

    /// Writes the record, complete or not at all.
    fn write_record(&self) -> io::Result<()> {
        let Record {
            before,
            after,
            backup,
            refuses,
            is_linked,
            new,
            old,
        } = &self.record;
        let stamp = |stamp: Stamp| format!("{} {}", stamp.bytes, stamp.modified);
        let numbers = [
            before.map_or_else(String::new, stamp),
            stamp(*after),
            backup.map_or_else(String::new, |number| number.to_string()),
            refuses.to_string(),
            is_linked.to_string(),
            new.len().to_string(),
        ];
        let mut fields = vec![MAGIC.as_bytes(), self.main().as_encoded_bytes()];
        fields.extend(numbers.iter().map(String::as_bytes));
        let names = new.iter().chain(old);
        fields.extend(names.map(|name| name.as_encoded_bytes()));
        let unfinished = self.folder.join(UNFINISHED_RECORD);
        let mut file = File::create(&unfinished)?;
        file.write_all(&fields.join(&0))?;
        file.sync_all()?;
        let record = self.folder.join(RECORD);
        fs::rename(unfinished, &record)?;
        // The folder with its files, then its name.
        sync_folder(&record);
        sync_folder(&self.path);
        Ok(())
    }

    /// Makes the folder one that anybody may remove.
    fn remove_record(&self) {
        let _ = fs::remove_file(self.folder.join(RECORD));
    }

    /// Reads the record in a folder; `None` if it has none, or none of this file.
    fn read(folder: &Path, path: &Path) -> Option<FileSet> {
        let bytes = fs::read(folder.join(RECORD)).ok()?;
        let mut fields = bytes.split(|byte| *byte == 0);
        let main = path.file_name()?;
        if fields.next()? != MAGIC.as_bytes() || fields.next()? != main.as_encoded_bytes() {
            return None;
        }
        let mut text = || std::str::from_utf8(fields.next()?).ok();
        let stamp = |text: &str| {
            let (bytes, modified) = text.split_once(' ')?;
            Some(Stamp {
                bytes: bytes.parse().ok()?,
                modified: modified.parse().ok()?,
            })
        };
        let before = stamp(text()?);
        let after = stamp(text()?)?;
        let backup = text()?.parse().ok();
        let refuses = text()?.parse().ok()?;
        let is_linked = text()?.parse().ok()?;
        let count: usize = text()?.parse().ok()?;
        let mut new: Vec<OsString> = fields.map(name_of_bytes).collect::<Option<_>>()?;
        let old = new.split_off(count.min(new.len()));
        Some(FileSet {
            folder: folder.to_owned(),
            path: path.to_owned(),
            record: Record {
                before,
                after,
                backup,
                refuses,
                is_linked,
                new,
                old,
            },
        })
    }
}

/// A name in a record. On Windows a name that is not Unicode cannot be read back.
fn name_of_bytes(bytes: &[u8]) -> Option<OsString> {
    #[cfg(unix)]
    let name = Some(std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec()));
    #[cfg(not(unix))]
    let name = String::from_utf8(bytes.to_vec()).ok().map(OsString::from);
    name
}

/// `book.ctg.bak`, `book.ctg.bak2`.
pub(super) fn backup(path: &Path, number: u32) -> PathBuf {
    let mut name = OsString::from(path.file_name().unwrap_or_default());
    name.push(".bak");
    if number > 1 {
        name.push(number.to_string());
    }
    path.with_file_name(name)
}

/// The smallest number for which all backup names are free; 1 means no number.
fn free_number(path: &Path, companions: &[PathBuf]) -> io::Result<u32> {
    let is_free = |number: &u32| {
        let mut paths = companions.iter().map(PathBuf::as_path).chain([path]);
        paths.all(|path| fs::symlink_metadata(backup(path, *number)).is_err())
    };
    (1..1000)
        .find(is_free)
        .ok_or_else(|| io::Error::other("it already has 999 backups"))
}

/// A test can stop after any step.
#[cfg(test)]
pub(super) mod stopped {
    use super::*;

    /// A replacement that is prepared.
    pub(in super::super) struct Stopped(FileSet, TempFolder);

    impl Stopped {
        /// `has_links`: the file system has hard links.
        pub(in super::super) fn prepare(
            mut main: NewFile,
            mut companions: Vec<NewFile>,
            has_links: bool,
        ) -> Stopped {
            for file in std::iter::once(&mut main).chain(&mut companions) {
                file.complete().unwrap();
            }
            let (mut set, folder) = FileSet::prepare(main, companions, &[]).unwrap();
            if !has_links && std::mem::take(&mut set.record.is_linked) {
                fs::remove_file(set.aside(set.main())).unwrap();
                set.write_record().unwrap();
            }
            Stopped(set, folder)
        }

        /// Does so many steps; false if there are not so many.
        pub(in super::super) fn run(&self, steps: usize) -> io::Result<bool> {
            let all = self.0.steps();
            for step in all.iter().take(steps) {
                self.0.run(step)?;
            }
            Ok(steps <= all.len())
        }

        pub(in super::super) fn take_back(self) -> io::Result<()> {
            self.0.take_back()
        }

        /// The program is killed.
        pub(in super::super) fn kill(self) {
            self.1.abandon();
        }
    }
}
