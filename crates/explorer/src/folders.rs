//! Books and games indexes that a page may open: those in the folders that the user
//! named, or that the program offers without any, and those that the page has sent.
//!
//! A page names a file by its identifier in the list. The folders are searched for each
//! request, and only listed files are opened: no text of a request becomes a path. Links
//! that lead out of a folder are ignored.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, UNIX_EPOCH};

use serde::Serialize;

use super::books::ExploredBook;
use super::content::OpenError;
use super::reply::{Refusal, unreadable};
use super::uploads::{self, SentFile};
use tabia_choice::learn::NO_DATA_FOLDER;
use tabia_games::is_game_file;
use tabia_index::GamesIndex;
use tabia_io::append_line;
use tabia_io::input::bytes::{FNV_START, fnv1a};
use tabia_io::input::path::file_name;
use tabia_io::parallel::lock;
use tabia_io::progress::Progress;
use tabia_notation::kind::{BookKind, Kind};

/// How many levels of folders are searched.
const DEPTH: u32 = 4;

/// Greatest number of folder entries read for a list.
const MOST_ENTRIES: usize = 20_000;

/// Greatest number of listed files.
const MOST_FILES: usize = 1000;

/// Greatest number of files in the list of recently opened ones.
const MOST_RECENT: usize = 20;

/// The file that remembers which files were opened, by their identifiers.
const OPENED: &str = "opened";
const OPENED_HEADER: &str = "# tabia opened 1\n";

/// An opened file.
pub enum OpenedFile {
    /// A book.
    Book(Box<ExploredBook>),
    /// An index of games.
    Index(GamesIndex),
}

/// Opens files for pages. Games without an index take a while: the functions get the
/// progress.
pub trait OpenFiles: Send + Sync {
    /// Opens a file of a folder, under this name if it is a book.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    fn open(
        &self,
        path: &Path,
        name: String,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<OpenedFile, OpenError>;

    /// Makes an index of games in PGN that a page sends, for this run of the program;
    /// `name` is that of the file which the user chose, for messages.
    ///
    /// # Errors
    ///
    /// They have no game of which an index can be made, or there is no room on the disk.
    fn index(
        &self,
        name: &str,
        pgn: &[u8],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<GamesIndex, OpenError>;
}

/// The folders, and what opens their files.
pub(super) struct Folders {
    folders: Vec<PathBuf>,
    open: Box<dyn OpenFiles>,
    /// Where files that pages send are kept, and which files were opened is remembered.
    data: Option<PathBuf>,
    /// Identifiers of opened files, the last one first.
    recent: Mutex<Vec<String>>,
    /// The progress of the file that is being opened.
    progress: Mutex<Option<Progress>>,
}

/// How far a page is that waits for an index.
#[derive(Debug, Default, Serialize)]
pub(super) struct Indexing {
    /// Games or positions so far, and what is counted; 0 if nothing is being indexed.
    done: u64,
    unit: &'static str,
    /// The part that is done, 0 to 1, if it is known.
    part: Option<f64>,
}

/// The files that a page may open.
#[derive(Debug, Serialize)]
pub(super) struct FileList {
    pub(super) files: Vec<ListedFile>,
    /// Whether more files exist than were searched.
    is_cut: bool,
    recent: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct ListedFile {
    /// Identifier; constant as long as the path of the file is.
    pub(super) id: String,
    pub(super) name: String,
    /// The named folder and its subfolders down to the file.
    pub(super) folder: String,
    kind: &'static str,
    bytes: u64,
    /// Time of modification in seconds since 1970.
    changed: u64,
    /// Path without links.
    #[serde(skip)]
    pub(super) path: PathBuf,
}

impl Folders {
    pub(super) fn new(folders: Vec<PathBuf>, open: Box<dyn OpenFiles>) -> Folders {
        Folders {
            folders,
            open,
            data: None,
            recent: Mutex::default(),
            progress: Mutex::default(),
        }
    }

    /// Keeps files that pages send, and remembers which were opened, in this folder.
    pub(super) fn with_data(self, data: PathBuf) -> Folders {
        let known = fs::read_to_string(data.join(OPENED)).unwrap_or_default();
        let mut recent: Vec<String> = Vec::new();
        for id in known.lines().rev().filter(|line| !line.starts_with('#')) {
            if recent.len() < MOST_RECENT && recent.iter().all(|known| known != id) {
                recent.push(id.to_owned());
            }
        }
        Folders {
            data: Some(data),
            recent: Mutex::new(recent),
            ..self
        }
    }

    /// Stores files that a page sends, and uses the one to open, if there is one; what cannot be
    /// used is not kept.
    pub(super) fn store<T>(
        &self,
        files: &[SentFile<'_>],
        open: impl FnOnce(Option<ListedFile>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let none = || unreadable(NO_DATA_FOLDER);
        let root = self.uploads().ok_or_else(none)?;
        let (folder, is_new) = uploads::store(&root, files).map_err(unreadable)?;
        let folder = folder.canonicalize().map_err(unreadable)?;
        let mut found = FolderSearch::new();
        found.search(&folder, &folder, &file_name(&folder), 0);
        found.files.sort_by(|a, b| a.name.cmp(&b.name));
        let opened = open(found.files.iter().find_map(FoundFile::listed));
        if opened.is_err() && is_new {
            let _ = fs::remove_dir_all(&folder);
        }
        opened
    }

    fn uploads(&self) -> Option<PathBuf> {
        Some(self.data.as_ref()?.join("books"))
    }

    /// Whether there are any: else pages can only send games.
    pub(super) fn are_named(&self) -> bool {
        !self.folders.is_empty() || self.data.is_some()
    }

    /// Opens a file of the list.
    pub(super) fn open(&self, file: &ListedFile, name: String) -> Result<OpenedFile, OpenError> {
        self.watched(|watch| self.open.open(&file.path, name, watch))
    }

    /// Makes an index of the games that a page sends.
    pub(super) fn index(&self, name: &str, pgn: &[u8]) -> Result<GamesIndex, OpenError> {
        self.watched(|watch| self.open.index(name, pgn, watch))
    }

    fn watched<T>(&self, work: impl FnOnce(&mut dyn FnMut(Progress)) -> T) -> T {
        let done = work(&mut |progress| *lock(&self.progress) = Some(progress));
        *lock(&self.progress) = None;
        done
    }

    /// How far the file is that is being opened.
    pub(super) fn indexing(&self) -> Indexing {
        let Some(progress) = *lock(&self.progress) else {
            return Indexing::default();
        };
        Indexing {
            done: progress.done,
            unit: progress.unit,
            part: progress.done_of_whole(),
        }
    }

    /// Files by name; a file that is found twice is listed once.
    pub(super) fn list(&self) -> FileList {
        let FolderSearch {
            mut files,
            left,
            is_all_read,
        } = self.search();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
        files.sort_by_cached_key(|file| (file.name.to_lowercase(), file.folder.clone()));
        let is_cut = left == 0 || !is_all_read || files.len() > MOST_FILES;
        let files = files.iter().filter_map(FoundFile::listed);
        FileList {
            files: files.take(MOST_FILES).collect(),
            is_cut,
            recent: lock(&self.recent).clone(),
        }
    }

    /// The file with an identifier, if it exists now. Only that file is read.
    pub(super) fn find(&self, id: &str) -> Option<ListedFile> {
        let FolderSearch { files, .. } = self.search();
        files.iter().find(|file| file.id() == id)?.listed()
    }

    fn search(&self) -> FolderSearch {
        let mut found = FolderSearch::new();
        for folder in self.folders.iter().chain(&self.uploads()) {
            // A missing folder has no files.
            if let Ok(root) = folder.canonicalize() {
                let name = file_name(&root).into_owned();
                found.search(&root, &root, &name, DEPTH);
            }
        }
        found
    }

    /// Adds an opened file to the recent ones.
    pub(super) fn add_recent(&self, id: String) {
        let mut recent = lock(&self.recent);
        if recent.first() != Some(&id)
            && let Some(data) = &self.data
        {
            // If it cannot be remembered, it is still open.
            let _ = append_line(&data.join(OPENED), OPENED_HEADER, &id, Duration::ZERO);
        }
        recent.retain(|other| *other != id);
        recent.insert(0, id);
        recent.truncate(MOST_RECENT);
    }
}

/// Files found, how many more entries may be read, and whether each one that was met could
/// be.
struct FolderSearch {
    files: Vec<FoundFile>,
    left: usize,
    is_all_read: bool,
}

/// A file with the extension of a supported format.
struct FoundFile {
    /// Path without links.
    path: PathBuf,
    name: String,
    folder: String,
}

impl FolderSearch {
    fn new() -> FolderSearch {
        FolderSearch {
            files: Vec::new(),
            left: MOST_ENTRIES,
            is_all_read: true,
        }
    }

    /// Searches a folder; `name` is its name in pages. Links to folders are not followed.
    fn search(&mut self, root: &Path, at: &Path, name: &str, depth: u32) {
        let Ok(entries) = fs::read_dir(at) else {
            self.is_all_read = false;
            return;
        };
        for entry in entries {
            let Some(left) = self.left.checked_sub(1) else {
                break;
            };
            self.left = left;
            let known = entry.and_then(|entry| Ok((entry.file_type()?, entry)));
            let Ok((kind, entry)) = known else {
                self.is_all_read = false;
                continue;
            };
            let path = entry.path();
            // Hidden folders belong to programs, as that of undoable changes.
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if !kind.is_dir() {
                self.files.extend(FoundFile::find(root, &path, name));
            } else if let Some(depth) = depth.checked_sub(1) {
                let name = format!("{name}/{}", file_name(&path));
                self.search(root, &path, &name, depth);
            }
        }
    }
}

impl FoundFile {
    /// A file with a suitable name, if it is inside the folder.
    fn find(root: &Path, path: &Path, folder: &str) -> Option<FoundFile> {
        let is_index = path.extension()?.eq_ignore_ascii_case("tgx");
        if !is_index && BookKind::of_played(path).is_none() && !is_game_file(path) {
            return None;
        }
        let real = path.canonicalize().ok()?;
        real.starts_with(root).then(|| FoundFile {
            name: file_name(path).into_owned(),
            folder: folder.to_owned(),
            path: real,
        })
    }

    fn id(&self) -> String {
        let sum = fnv1a(FNV_START, self.path.as_os_str().as_encoded_bytes());
        format!("{sum:016x}")
    }

    /// The file, if its content can be opened.
    fn listed(&self) -> Option<ListedFile> {
        let kind = match Kind::of_file(&self.path)? {
            Kind::Book(BookKind::Jsonl) => return None,
            Kind::Book(book) => book.as_str(),
            Kind::Other if self.path.extension()?.eq_ignore_ascii_case("tgx") => "tgx",
            _ if is_game_file(&self.path) => "games",
            _ => return None,
        };
        let data = self.path.metadata().ok()?;
        let changed = data.modified().ok();
        let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Some(ListedFile {
            id: self.id(),
            name: self.name.clone(),
            folder: self.folder.clone(),
            kind,
            bytes: data.len(),
            changed: changed.map_or(0, |time| time.as_secs()),
            path: self.path.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nowhere;

    impl OpenFiles for Nowhere {
        fn open(
            &self,
            _: &Path,
            _: String,
            _: &mut dyn FnMut(Progress),
        ) -> Result<OpenedFile, OpenError> {
            Err("not here".into())
        }

        fn index(
            &self,
            _: &str,
            _: &[u8],
            _: &mut dyn FnMut(Progress),
        ) -> Result<GamesIndex, OpenError> {
            Err("not here".into())
        }
    }

    fn folders(of: &[&Path]) -> Folders {
        let of = of.iter().map(|path| path.to_path_buf());
        Folders::new(of.collect(), Box::new(Nowhere))
    }

    fn names(folders: &Folders) -> Vec<String> {
        let files = folders.list().files.into_iter();
        files
            .map(|file| format!("{}/{}", file.folder, file.name))
            .collect()
    }

    #[test]
    fn only_files_of_the_folders_are_listed() {
        let place = tempfile::tempdir().unwrap();
        let put = |path: &str| {
            let path = place.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "\0").unwrap();
        };
        for path in [
            "in/b.ctg",
            "in/A.CTG",
            "in/b.cto",
            "in/sub/c.bin",
            "in/sub/d.abk",
            "in/games.tgx",
            "in/text.pgn",
            "in/text.txt",
            "in/.hidden/e.ctg",
            "in/1/2/3/4/near.ctg",
            "in/1/2/3/4/5/far.ctg",
            "out/secret.ctg",
        ] {
            put(path);
        }
        let inside = place.path().join("in");
        let expected = [
            "in/A.CTG",
            "in/b.ctg",
            "in/sub/c.bin",
            "in/sub/d.abk",
            "in/games.tgx",
            "in/1/2/3/4/near.ctg",
            "in/text.pgn",
        ];
        assert_eq!(names(&folders(&[&inside])), expected);
        // A folder within another one adds no files.
        let both = folders(&[&inside, &inside.join("sub"), &inside.join("gone")]);
        assert_eq!(both.list().files.len(), expected.len());
        let id = |name: &str| {
            let files = both.list().files.into_iter();
            let mut named = files.filter(|file| file.name == name);
            named.next().map(|file| file.id)
        };
        let known = id("b.ctg").unwrap();
        assert_eq!(both.find(&known).unwrap().name, "b.ctg");
        fs::rename(inside.join("b.ctg"), inside.join("z.ctg")).unwrap();
        assert!(both.find(&known).is_none() && id("z.ctg").is_some());
        for text in ["", "../out/secret.ctg", "b.ctg", "/etc/passwd"] {
            assert!(both.find(text).is_none(), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out_of_the_folders() {
        use std::os::unix::fs::symlink;
        let place = tempfile::tempdir().unwrap();
        let [inside, outside] = ["in", "out"].map(|name| place.path().join(name));
        for folder in [&inside, &outside] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("book.ctg"), "x").unwrap();
        }
        symlink(outside.join("book.ctg"), inside.join("link.ctg")).unwrap();
        symlink("../out/book.ctg", inside.join("up.ctg")).unwrap();
        symlink(&outside, inside.join("folder")).unwrap();
        symlink(&inside, inside.join("circle")).unwrap();
        assert_eq!(names(&folders(&[&inside])), ["in/book.ctg"]);
        // The named folder itself may be a link.
        let named = place.path().join("named");
        symlink(&inside, &named).unwrap();
        assert_eq!(names(&folders(&[&named])), ["in/book.ctg"]);
        let known = folders(&[&inside]).list().files.remove(0).id;
        fs::remove_file(inside.join("book.ctg")).unwrap();
        symlink(outside.join("book.ctg"), inside.join("book.ctg")).unwrap();
        assert!(folders(&[&inside]).find(&known).is_none());
    }

    #[test]
    fn the_recent_files_begin_with_the_last_opened_one() {
        let folders = folders(&[]);
        for id in ["a", "b", "a"] {
            folders.add_recent(id.to_owned());
        }
        assert_eq!(folders.list().recent, ["a", "b"]);
        (0..50).for_each(|number| folders.add_recent(number.to_string()));
        assert_eq!(folders.list().recent.len(), MOST_RECENT);
    }
}
