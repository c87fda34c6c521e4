//! Where the programs of the tests are.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What the tests of `tabia` start.
const STARTED: [&str; 4] = [
    "odd_engine",
    "scoring_engine",
    "faulty_engine",
    "match_games",
];

/// The path of an example of this workspace. `tabia` is the tested program, beside which
/// cargo puts them, and `temporary` the folder `CARGO_TARGET_TMPDIR` of the test.
///
/// `cargo test` has built them; with `--test` it has not, so they are built here, as
/// `tabia` was. Where all are current this takes a moment, once.
///
/// # Panics
///
/// They cannot be built, or the one wanted is not there.
#[must_use]
pub fn example(tabia: &Path, temporary: &Path, name: &str) -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    // Includes the drive on Windows.
    let tabia = std::path::absolute(tabia).expect("a current folder");
    // Under Wine there is no cargo to start: `.ci/windows` has built them.
    if cfg!(unix)
        && let Some(cargo) = std::env::var_os("CARGO")
    {
        BUILT.get_or_init(|| build(&cargo, &tabia, temporary));
    }
    let name = format!("examples/{name}{}", std::env::consts::EXE_SUFFIX);
    let path = tabia.with_file_name(name);
    assert!(
        path.exists(),
        "run `cargo build --examples` first: {path:?}"
    );
    path
}

fn build(cargo: &OsStr, tabia: &Path, temporary: &Path) {
    let (folder, target) = (tabia.parent(), temporary.parent());
    let (folder, target) = folder.zip(target).expect("`target/debug/tabia`");
    let name = |folder: &Path| folder.file_name().unwrap_or_default().to_owned();
    let mut command = Command::new(cargo);
    command
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .args(["build", "--target-dir"])
        .arg(target);
    match name(folder) {
        debug if debug == "debug" => {}
        profile => drop(command.arg("--profile").arg(profile)),
    }
    // `target/TRIPLE/debug`
    if let Some(of_triple) = folder.parent().filter(|parent| *parent != target) {
        command.arg("--target").arg(name(of_triple));
    }
    command.args(STARTED.iter().flat_map(|name| ["--example", name]));
    let output = command.output().expect("cargo");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {messages}");
}
