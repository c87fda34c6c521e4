//! The code of each fuzz target, and the inputs that are always tried.
//!
//! The targets in `fuzz_targets/` pass on the fuzzer's inputs. The test
//! `tests/program/fuzz_corpus.rs` of the program includes this file and passes the
//! seeds and everything in `regressions/`, so that a fixed fault stays fixed.

#[path = "../../crates/book/src/tests/reader.rs"]
mod book_reader;
mod books;
mod conversation;
#[path = "../../crates/games/src/tests/reader.rs"]
mod game_reader;
mod games;
mod other_books;
mod texts;

pub use books::{ctg_book, ctg_page};
pub use conversation::{session, uci_line};
pub use games::{cbf, cbh, cbh2, cbv, nic_text, scdb, scid, zip};
pub use other_books::{abk, bin, bkt, jsonl, obk};
pub use texts::{engines_toml, pgn};

use std::fs;
use std::path::{Path, PathBuf};

/// The code of a target for one input. It panics if something is wrong.
pub type Body = fn(&[u8]);

/// Every target with its name.
pub const TARGETS: &[(&str, Body)] = &[
    ("uci_line", uci_line),
    ("session", session),
    ("ctg_page", ctg_page),
    ("ctg_book", ctg_book),
    ("engines_toml", engines_toml),
    ("pgn", pgn),
    ("bin", bin),
    ("abk", abk),
    ("obk", obk),
    ("bkt", bkt),
    ("jsonl", jsonl),
    ("cbh", cbh),
    ("scdb", scdb),
    ("cbf", cbf),
    ("nic_text", nic_text),
    ("zip", zip),
    ("cbv", cbv),
    ("cbh2", cbh2),
    ("scid", scid),
];

/// The inputs that are always tried with a target: seeds from test data, then
/// regressions in the order of their names.
pub fn inputs(target: &str) -> Vec<Vec<u8>> {
    let mut inputs = match target {
        "uci_line" => conversation::line_seeds(),
        "session" => conversation::seeds(),
        "ctg_page" => books::page_seeds(),
        "ctg_book" => books::seeds(),
        "engines_toml" => texts::toml_seeds(),
        "pgn" => texts::pgn_seeds(),
        "bin" => other_books::bin_seeds(),
        "abk" => other_books::abk_seeds(),
        "obk" => other_books::obk_seeds(),
        "bkt" => other_books::bkt_seeds(),
        "jsonl" => other_books::jsonl_seeds(),
        "cbh" => games::cbh_seeds(),
        "zip" => games::zip_seeds(),
        "cbv" => games::cbv_seeds(),
        "cbh2" => games::cbh2_seeds(),
        "scid" => games::scid_seeds(),
        "scdb" => games::scdb_seeds(),
        "cbf" => games::cbf_seeds(),
        "nic_text" => games::nic_seeds(),
        _ => Vec::new(),
    };
    inputs.extend(regressions(target).into_iter().map(|(_, bytes)| bytes));
    inputs
}

/// Inputs that once failed: the name of each, and its bytes.
pub fn regressions(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = root().join("fuzz/regressions").join(target);
    let mut found: Vec<_> = files(&folder)
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap_or_default();
            (name.to_string_lossy().into_owned(), read(&path))
        })
        .collect();
    found.sort();
    found
}

/// Writes the inputs of a target to the fuzzer's corpus folder.
pub fn write_seeds(target: &str) {
    let folder = root().join("fuzz/corpus").join(target);
    fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for (number, seed) in inputs(target).iter().enumerate() {
        let path = folder.join(format!("seed-{number:03}"));
        fs::write(&path, seed).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// The root folder of the sources.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The package is `fuzz` itself or, in the tests, its parent.
    if here.join("fuzz_targets").is_dir() {
        here.join("..")
    } else {
        here.to_owned()
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The first `limit` bytes of a source file.
fn sample(path: &str, limit: usize) -> Vec<u8> {
    let mut bytes = read(&root().join(path));
    bytes.truncate(limit);
    bytes
}

/// A folder for the files of one input, in memory if the system has such a folder.
fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    folder.unwrap_or_else(|error| panic!("a temporary folder: {error}"))
}
