//! Lists the files of the page and its translations, which the program contains. Without the
//! server it contains the translations alone: nobody would ask it for the page.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let has_page = env::var_os("CARGO_FEATURE_SERVER").is_some();
    let folders = ["locales"]
        .into_iter()
        .chain(has_page.then_some("src/page"));
    for folder in folders {
        println!("cargo::rerun-if-changed={folder}");
        for entry in fs::read_dir(folder)? {
            let path = fs::canonicalize(entry?.path())?;
            // Those without a reader in the browser.
            if path
                .extension()
                .is_some_and(|kind| kind != "txt" && kind != "ts")
            {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let mut table = String::from("&[\n");
    for path in &paths {
        let name = path.file_name().unwrap_or_default();
        let _ = writeln!(table, "({name:?}, include_bytes!({path:?})),");
    }
    table.push(']');
    let out = env::var_os("OUT_DIR").unwrap_or_default();
    fs::write(Path::new(&out).join("files.rs"), table)
}
