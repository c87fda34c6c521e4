//! Tests of whole files: databases and archives of other programs, our own, and damaged
//! ones.

mod archives;
mod border;
mod cbh;
mod damage;
mod export;
mod forms;
mod packed;
mod parts;
mod reader;
mod stored;
mod tgx;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use archives::data;

use crate::{ExportJob, ExportTarget, Game, GameParts, GamePlace, Loss};
use tabia_io::atomic::Previous;
use tabia_io::progress::Watch;

/// A new folder, which is removed in the end.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        fs::write(&path, content).unwrap();
        path
    }
}

/// Exports all games of a source; returns the text, if it is the target, and the messages.
fn convert_to(target: ExportTarget, source: &Path) -> (String, String) {
    let mut job = ExportJob::new([source], target);
    (job.old, job.threads) = (Previous::Keep, 2);
    run(&job)
}

fn run(job: &ExportJob) -> (String, String) {
    let mut output = Vec::new();
    let done = job.run(&mut output, &mut Watch::default()).unwrap();
    let games = done.games;
    let lost = |kind| done.losses.iter().find(|(loss, _)| *loss == kind);
    let mut messages = format!(
        "{} games read, {} written, {} skipped, {} cut, {} left out, \
 {} with tags lost, {} cut sources\n",
        games.read,
        done.written,
        games.skipped,
        games.cut,
        games.left_out,
        lost(Loss::Tags).map_or(0, |(_, count)| count.games),
        games.cut_sources
    );
    for text in games
        .named
        .iter()
        .map(ToString::to_string)
        .chain(games.remarks)
    {
        messages += &text;
        messages.push('\n');
    }
    for (loss, count) in done.losses.iter() {
        messages += &format!(
            "{}: {}, {} games\n",
            count.first,
            loss.as_str(),
            count.games
        );
    }
    (String::from_utf8(output).unwrap(), messages)
}

/// A source as PGN, and the messages about it.
fn convert(source: &Path) -> (String, String) {
    convert_to(ExportTarget::Output, source)
}

/// A source as PGN.
fn pgn(source: &Path) -> String {
    convert(source).0
}

fn assert_has(text: &str, part: &str) {
    assert!(text.contains(part), "no \"{part}\" in: {text}");
}

/// The games of a source by their places, and the messages about the others.
fn read_each(path: &Path, wanted: GameParts) -> (BTreeMap<GamePlace, Game>, Vec<String>) {
    let mut source = crate::open(path).unwrap();
    let (mut games, mut problems) = (BTreeMap::new(), Vec::new());
    let mut game = Game::default();
    let bytes = fs::metadata(path).unwrap().len();
    let mut before = source.bytes_read();
    while let Some(mut batch) = source.next_batch().unwrap() {
        let now = source.bytes_read();
        assert!(before <= now && now <= bytes, "{before} {now} of {bytes}");
        before = now;
        loop {
            match batch.next_game(wanted, &mut game) {
                Ok(false) => break,
                Ok(true) => assert!(games.insert(batch.place(), game.clone()).is_none()),
                Err(reason) => problems.push(batch.skip(reason).to_string()),
            }
        }
    }
    assert_eq!(source.bytes_read(), bytes);
    (games, problems)
}

/// Two hundred games without notes, as PGN.
fn sample() -> String {
    let mut job = ExportJob::new([data("sample.pgn")], ExportTarget::Output);
    (job.no_variations, job.no_comments) = (true, true);
    run(&job).0
}

/// Checks that the source is refused.
fn assert_refused(source: &Path, why: &str) {
    let error = crate::open(source).err().unwrap();
    assert_has(&error.to_string(), why);
}
