//! Finds engines and books by name and content only; starts no program.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::places::{Places, is_executable};
use super::programs::ChessProgram;
use tabia_adapter::config::Config;
use tabia_book::Format;
use tabia_io::atomic::is_temp_folder;
use tabia_io::input::sibling::sibling;
use tabia_notation::kind::{BookKind, Kind};

/// The files that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Finds {
    /// Programs that may be UCI engines, known strong ones first.
    pub engines: Vec<PathBuf>,
    /// Books, ChessBase's first, larger ones first; of books with the same content only
    /// one.
    pub books: Vec<PathBuf>,
    /// Copies of `books`, each with the book that it is a copy of.
    pub copies: Vec<(PathBuf, PathBuf)>,
    /// Files that are only named like books, and what they are.
    pub no_books: Vec<(PathBuf, &'static str)>,
    /// Chess programs.
    pub programs: Vec<ChessProgram>,
}

/// Beginnings of the file names of UCI engines, strongest first.
const ENGINES: &[&str] = &[
    "stockfish",
    "obsidian",
    "plentychess",
    "berserk",
    "torch",
    "lc0",
    "komodo",
    "dragon",
    "caissa",
    "ethereal",
    "koivisto",
    "rubichess",
    "viridithas",
    "alexandria",
    "clover",
    "seer",
    "houdini",
    "rofchade",
    "igel",
    "minic",
    "weiss",
    "arasan",
    "laser",
    "critter",
    "rybka",
    "fruit",
    "toga2",
    "glaurung",
];

/// Names of folders in which users and programs store engines.
const ENGINE_FOLDERS: &[&str] = &["engines", "engine"];

/// Beginnings of the names of folders with books and engines of chess programs and
/// players.
const CHESS_FOLDERS: &[&str] = &[
    "arena",
    "banksia",
    "chess",
    "cutechess",
    "scid",
    "winboard",
    "books",
    "engines",
];

/// How many levels and how many entries of such a folder are searched: a home folder may
/// be large.
const DEPTH: u32 = 4;
const ENTRIES: u32 = 20_000;

/// Number of bytes of two files that are compared at a time.
const PIECE: u64 = 256 << 10;

impl Finds {
    /// Searches the usual places, and `folders` with all their subfolders.
    #[must_use]
    pub(crate) fn search(places: &Places, folders: &[PathBuf]) -> Finds {
        let programs = places.chess_programs();
        let mut engines = BTreeSet::new();
        let mut books = Books::default();
        for folder in &places.path {
            let names = entries(folder).filter(|path| rank(path).is_some());
            engines.extend(names.filter(|path| is_executable(path)));
        }
        for program in &programs {
            if let ChessProgram::Edited(program, file) = program {
                let text = fs::read_to_string(file).unwrap_or_default();
                let known = program.engines(&text).into_iter();
                let known = known.map(PathBuf::from);
                let known = known.filter(|path| path.is_absolute() && is_executable(path));
                engines.extend(known);
            }
        }
        let usual = CHESS_FOLDERS
            .iter()
            .flat_map(|name| places.unpacked_as(name));
        let mut left = ENTRIES;
        for folder in usual.chain(places.shared.iter().cloned()) {
            look_through(&folder, DEPTH, &mut left, &mut engines, &mut books);
        }
        for folder in folders {
            // Folders named by the user are searched without limit.
            let (mut left, depth) = (u32::MAX, u32::MAX);
            look_through(folder, depth, &mut left, &mut engines, &mut books);
        }
        let mut engines: Vec<PathBuf> = engines
            .into_iter()
            .filter(|path| !stem(path).contains("tabia"))
            .collect();
        engines.sort_by_key(|path| (rank(path).unwrap_or(usize::MAX), stem(path)));
        one_of_each(&mut engines);
        let Books {
            mut books,
            mut others,
        } = books;
        // A named folder may be a usual one, too.
        others.sort_unstable();
        others.dedup();
        books.sort_by_key(|(kind, bytes, path)| {
            let lacks_index = *kind == BookKind::Ctg && !has_index(path);
            (order(*kind), u64::MAX - bytes, lacks_index, path.clone())
        });
        let mut books = books.into_iter().map(|(_, _, path)| path).collect();
        one_of_each(&mut books);
        let copies = without_repeats(&mut books, has_same_content);
        Finds {
            engines,
            books,
            copies,
            no_books: others,
            programs,
        }
    }

    /// Puts the engines and books of a configuration that still exist before the others:
    /// they may be in folders that were named only once.
    pub(crate) fn keep(&mut self, config: &Config, exists: &dyn Fn(&Path) -> bool) {
        let engines = config.engines.iter();
        let engines = engines.map(|engine| engine.command.program.clone());
        let books = config.books.iter().map(|book| PathBuf::from(&book.path));
        let still = |path: &PathBuf| path.is_absolute() && exists(path);
        put_first(&mut self.engines, engines.filter(still).collect());
        put_first(&mut self.books, books.filter(still).collect());
        self.copies
            .extend(without_repeats(&mut self.books, has_same_content));
    }

    /// Removes the same book in another format: of the books with one name in a folder the
    /// first stays, which is the `.ctg`. Returns the pairs.
    pub(crate) fn drop_namesakes(&mut self) -> Vec<(PathBuf, PathBuf)> {
        let name = |path: &Path| path.with_extension("");
        without_repeats(&mut self.books, |known, path| name(known) == name(path))
    }
}

fn put_first(found: &mut Vec<PathBuf>, mut known: Vec<PathBuf>) {
    found.retain(|path| !known.contains(path));
    known.append(found);
    *found = known;
}

fn has_index(book: &Path) -> bool {
    let mut index = ["cto", "ctb"].into_iter();
    index.all(|extension| sibling(book, extension).is_some())
}

/// Removes books with the same content as an earlier one; returns the pairs.
fn without_repeats(
    books: &mut Vec<PathBuf>,
    is_same: impl Fn(&Path, &Path) -> bool,
) -> Vec<(PathBuf, PathBuf)> {
    let mut first: Vec<PathBuf> = Vec::new();
    let mut repeats = Vec::new();
    for path in books.drain(..) {
        match first.iter().find(|known| is_same(known, &path)) {
            Some(known) => repeats.push((path, known.clone())),
            None => first.push(path),
        }
    }
    *books = first;
    repeats
}

/// Whether two files have the same bytes; false if one cannot be read.
fn has_same_content(one: &Path, other: &Path) -> bool {
    let compare = || -> io::Result<bool> {
        let [mut one, mut other] = [fs::File::open(one)?, fs::File::open(other)?];
        if one.metadata()?.len() != other.metadata()?.len() {
            return Ok(false);
        }
        let [mut a, mut b] = [(); 2].map(|()| Vec::with_capacity(PIECE as usize));
        loop {
            a.clear();
            b.clear();
            (&mut one).take(PIECE).read_to_end(&mut a)?;
            (&mut other).take(PIECE).read_to_end(&mut b)?;
            if a != b || a.is_empty() {
                return Ok(a == b);
            }
        }
    };
    compare().unwrap_or(false)
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

fn look_through(
    folder: &Path,
    depth: u32,
    left: &mut u32,
    engines: &mut BTreeSet<PathBuf>,
    books: &mut Books,
) {
    for path in entries(folder) {
        let Some(fewer) = left.checked_sub(1) else {
            return;
        };
        *left = fewer;
        // Links are not followed: they may form cycles.
        let Ok(data) = path.symlink_metadata() else {
            continue;
        };
        if data.is_dir() {
            // Files in a temporary folder will soon be deleted.
            if is_temp_folder(&path) {
                continue;
            }
            if let Some(depth) = depth.checked_sub(1) {
                look_through(&path, depth, left, engines, books);
            }
        } else if BookKind::of_played(&path).is_some() {
            books.add(path, data.len());
        } else if is_executable(&path) && may_be_engine(&path) {
            engines.insert(path);
        }
    }
}

/// The files that are named like books.
#[derive(Default)]
struct Books {
    /// By their content, with their lengths in bytes.
    books: Vec<(BookKind, u64, PathBuf)>,
    /// Files that are something else, and what.
    others: Vec<(PathBuf, &'static str)>,
}

impl Books {
    fn add(&mut self, path: PathBuf, bytes: u64) {
        match Kind::of_file(&path) {
            Some(Kind::Book(BookKind::Jsonl)) | None => {}
            Some(Kind::Book(kind)) => self.books.push((kind, bytes, path)),
            Some(kind) => {
                let what = kind.no_book().unwrap_or_default();
                self.others.push((path, what));
            }
        }
    }
}

/// Books that can be changed to any extent come first, then those with results of games.
fn order(kind: BookKind) -> u8 {
    match Format::of_kind(kind) {
        Some(format) if format.has_lines_to_change() => 0,
        Some(format) if format.has_results() => 1,
        _ => 2,
    }
}

/// Whether it is an engine by its name, or because it is in a folder for engines.
fn may_be_engine(path: &Path) -> bool {
    let in_folder = path.ancestors().skip(1).any(|folder| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        ENGINE_FOLDERS.contains(&name.to_ascii_lowercase().as_str())
    });
    rank(path).is_some() || in_folder && is_program_of_this_system(path)
}

/// Whether a file begins like a program of this system; scripts are excluded: they may
/// install or remove something.
fn is_program_of_this_system(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(4).read_to_end(&mut start));
    // Windows; Linux; macOS, for one processor and for several.
    let windows = start.starts_with(b"MZ");
    let others: [&[u8]; 3] = [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"];
    read.is_ok()
        && match cfg!(windows) {
            true => windows,
            false => others.contains(&start.as_slice()),
        }
}

/// The rank of a known engine: its name is one of [`ENGINES`], followed by no more
/// letters (`stockfish-16`, `lc0.exe`).
fn rank(path: &Path) -> Option<usize> {
    let stem = stem(path);
    ENGINES.iter().position(|name| {
        stem.strip_prefix(name)
            .is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
    })
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().to_lowercase()
}

/// Removes paths that lead to the same file as an earlier one.
fn one_of_each(paths: &mut Vec<PathBuf>) {
    let mut seen = BTreeSet::new();
    paths.retain(|path| seen.insert(fs::canonicalize(path).unwrap_or_else(|_| path.clone())));
}
