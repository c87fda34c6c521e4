//! Recognizes Tabia's adapter as the engine of a Tabia, which would start processes
//! without end: each adapter starts its engine, which is the next adapter.
//!
//! An engine that is this very program file is refused before it is started. A script
//! around it cannot be recognized by its file: engines get `TABIA_DEPTH` in their
//! environment, and an adapter that finds it there prints [`REFUSAL`] as its first line
//! and ends.

use std::path::PathBuf;

use same_file::is_same_file;

use super::EngineCommand;
pub use super::spawn::REASON;
use super::spawn::search_path;

/// The environment variable that engines get: an adapter that finds it is the engine of
/// another Tabia.
const DEPTH: &str = "TABIA_DEPTH";

/// The line that an adapter prints instead of an introduction.
pub const REFUSAL: &str = "info string Tabia cannot be its own engine";

/// Whether this process is the engine of another Tabia.
#[must_use]
pub fn is_engine_of_tabia() -> bool {
    std::env::var_os(DEPTH).is_some_and(|depth| !depth.is_empty() && depth != "0")
}

/// Whether an engine has printed that it is a Tabia.
#[must_use]
pub fn is_refusal(line: &[u8]) -> bool {
    line.trim_ascii_end() == REFUSAL.as_bytes()
}

impl EngineCommand {
    /// Whether this would start the adapter of this program. `tabia engine` is the
    /// built-in engine.
    #[must_use]
    pub fn is_this_program(&self) -> bool {
        if self.args.first().is_some_and(|first| first == "engine") {
            return false;
        }
        let this = std::env::current_exe().ok();
        // By links of any kind, on Windows too.
        this.zip(self.found_program())
            .is_some_and(|(this, program)| is_same_file(this, program).unwrap_or(false))
    }

    /// The file of the program.
    fn found_program(&self) -> Option<PathBuf> {
        let program = self.resolved_program();
        if program.components().count() > 1 {
            return Some(program);
        }
        let places = search_path();
        let files = places.iter().flat_map(|folder| {
            let file = folder.join(&program);
            let exe = cfg!(windows).then(|| file.with_added_extension("exe"));
            std::iter::once(file).chain(exe)
        });
        let mut files = files.filter(|file| file.is_file());
        files.next()
    }

    /// The variable for the environment of an engine.
    pub(super) fn depth(&self) -> Option<(&'static str, &'static str)> {
        (!self.may_be_tabia).then_some((DEPTH, "1"))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::spawn::is_on_path;

    fn command(program: &Path, args: &[&str]) -> EngineCommand {
        EngineCommand {
            program: program.to_owned(),
            args: args.iter().map(Into::into).collect(),
            ..EngineCommand::default()
        }
    }

    #[test]
    fn this_program_is_recognized_by_any_of_its_names() {
        let this = std::env::current_exe().unwrap();
        // A hard link is on the volume of its file.
        let folder = tempfile::tempdir_in(this.parent().unwrap()).unwrap();
        let hard = folder.path().join("hard");
        let copy = folder.path().join("copy");
        std::fs::write(&copy, "").unwrap();
        assert!(command(&this, &[]).is_this_program());
        assert!(command(&this, &["play"]).is_this_program());
        assert!(!command(&this, &["engine"]).is_this_program());
        assert!(!command(&copy, &[]).is_this_program());
        assert!(!command(&folder.path().join("missing"), &[]).is_this_program());
        assert!(!command(Path::new("no-such-program"), &[]).is_this_program());
        // Not every file system has them.
        if std::fs::hard_link(&this, &hard).is_ok() {
            assert!(command(&hard, &[]).is_this_program());
        }
        #[cfg(unix)]
        {
            let soft = folder.path().join("soft");
            std::os::unix::fs::symlink(&this, &soft).unwrap();
            assert!(command(&soft, &[]).is_this_program());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_bare_name_is_that_of_a_file_on_the_path() {
        let found = command(Path::new("sh"), &[]).found_program().unwrap();
        assert!(found.is_absolute() && found.is_file(), "{found:?}");
        assert!(
            command(Path::new("no-such-program"), &[])
                .found_program()
                .is_none()
        );
        assert!(is_on_path("sh") && !is_on_path("no-such-program"));
        assert!(!is_on_path(found.to_str().unwrap()));
    }

    #[test]
    fn this_program_is_not_started_unless_it_may_be() {
        let this = std::env::current_exe().unwrap();
        let refused = command(&this, &["--list"]).spawn();
        assert!(refused.unwrap_err().to_string().contains(REASON));
        let started = EngineCommand {
            may_be_tabia: true,
            ..command(&this, &["--list"])
        };
        let started = started.spawn().unwrap();
        drop(started.stdin);
        let mut out = std::io::BufReader::new(started.stdout);
        std::io::copy(&mut out, &mut std::io::sink()).unwrap();
    }
}
