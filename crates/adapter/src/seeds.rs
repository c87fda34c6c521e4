//! Seeds of games from a file that several adapters share.
//!
//! One number on each line; blank lines and lines that start with `#` are ignored.
//! `FILE.taken`, locked while it is used, has the number of seeds taken: delete it to
//! start again.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::book_set::Opener;
use tabia_io::lock_within;

/// How long to wait for the lock of another adapter: a game is waiting.
const PATIENCE: Duration = Duration::from_millis(20);

impl Opener {
    /// Takes the next seed of a file.
    ///
    /// # Errors
    ///
    /// A sentence for the user: the files cannot be read or written, a line is not a
    /// seed, none is left, or another adapter has the lock.
    pub fn take_seed(&self, path: &str) -> Result<u32, String> {
        let candidates = self.candidates(path);
        let found = candidates.iter().find(|path| path.is_file());
        let found = found.ok_or_else(|| format!("no seed: there is no file {path}"))?;
        take(found)
    }
}

fn take(path: &Path) -> Result<u32, String> {
    let count_path = beside(path);
    let trouble =
        |path: &Path, text: &dyn std::fmt::Display| format!("no seed: {}: {text}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| trouble(path, &error))?;
    let of_count = |error: std::io::Error| trouble(&count_path, &error);
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&count_path)
        .map_err(of_count)?;
    if !lock_within(&file, PATIENCE) {
        return Err(trouble(&count_path, &"another adapter uses it"));
    }
    let mut count = String::new();
    file.read_to_string(&mut count).map_err(of_count)?;
    let taken: usize = match count.trim() {
        "" => 0,
        number => number
            .parse()
            .map_err(|_| trouble(&count_path, &"line 1: a number is expected"))?,
    };
    let seed = seed(&text, taken).map_err(|text| trouble(path, &text))?;
    file.seek(SeekFrom::Start(0)).map_err(of_count)?;
    // The new text is at least as long as the one that it replaces.
    writeln!(file, "{}", taken + 1).map_err(of_count)?;
    Ok(seed)
}

/// The seed at this index.
fn seed(text: &str, taken: usize) -> Result<u32, String> {
    let lines = text.lines().enumerate();
    let mut seeds = lines.filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let (number, line) = seeds
        .nth(taken)
        .ok_or_else(|| format!("all {taken} seeds are taken"))?;
    let seed = line.trim().parse().ok().filter(|seed| *seed <= MOST);
    seed.ok_or_else(|| {
        let number = number + 1;
        format!("line {number}: a whole number from 0 to {MOST} is expected")
    })
}

/// The greatest seed, the same as for `Book Seed`.
const MOST: u32 = 2_147_483_647;

fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".taken");
    PathBuf::from(name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn seeds_come_in_their_order(seeds in prop::collection::vec(0..=MOST, 0..9), gap: bool) {
            let lines = seeds.iter().map(|seed| match gap {
                true => format!("# a seed\n\n {seed} \r\n"),
                false => format!("{seed}\n"),
            });
            let text: String = lines.collect();
            let read: Vec<u32> = (0..seeds.len()).map(|n| seed(&text, n).unwrap()).collect();
            prop_assert_eq!(read, &seeds[..]);
            prop_assert!(seed(&text, seeds.len()).unwrap_err().contains("are taken"));
        }
    }

    #[test]
    fn no_two_adapters_take_the_same_seed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seeds");
        let text: String = (0..64).map(|seed| format!("{seed}\n")).collect();
        std::fs::write(&path, text).unwrap();
        let opener = Opener::here(true);
        let name = path.to_str().unwrap();
        let take_all = || {
            let mut taken = Vec::new();
            loop {
                match opener.take_seed(name) {
                    Ok(seed) => taken.push(seed),
                    Err(text) if text.contains("are taken") => return taken,
                    // On a busy machine the other adapter may wait too long.
                    Err(text) => assert!(text.contains("uses it"), "{text}"),
                }
            }
        };
        let mut all: Vec<u32> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(take_all)).collect();
            let taken = threads.into_iter().map(|thread| thread.join().unwrap());
            taken.flatten().collect()
        });
        all.sort_unstable();
        assert_eq!(all, (0..64).collect::<Vec<u32>>());
    }

    #[test]
    fn what_is_no_seed_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seeds");
        std::fs::write(&path, "5\nsix\n").unwrap();
        let opener = Opener::here(true);
        let name = path.to_str().unwrap();
        assert_eq!(opener.take_seed(name), Ok(5));
        assert!(opener.take_seed(name).unwrap_err().contains("line 2"));
        assert!(
            opener
                .take_seed("/no/such/file")
                .unwrap_err()
                .contains("/no/such/file")
        );
    }
}
