//! Exports games to one file: PGN, or a database.
//!
//! Batches are read and encoded in several threads and written in the order of the
//! sources. The number of batches in memory is limited, so memory does not grow with
//! the number of games.

use std::io::Write;
use std::path::PathBuf;

use super::loss::GameLosses;
use super::same::{Compared, Fate, SameGames};
use super::{
    Batch, Batches, Error, Game, GameFilter, GameParts, GameReader, Loss, Losses, SkipReason,
    Sources, Starts, Tally, TextEncoding, write_pgn,
};
use super::{scdb, scid};
use tabia_io::atomic::{NewFile, Previous};
use tabia_io::parallel;
use tabia_io::progress::Watch;

/// Where the games are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportTarget {
    /// PGN text in a file.
    Pgn(PathBuf),
    /// PGN text on the output that [`ExportJob::run`] is given.
    Output,
    /// A Simple Chess Database, by the name of its index.
    Scdb(PathBuf),
    /// A Scid database of version 5, by the name of its index.
    Scid(PathBuf),
}

/// An export: sources, target and options.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExportJob {
    /// Files, folders, or `-` for standard input.
    pub sources: Vec<PathBuf>,
    /// Where the games are written.
    pub target: ExportTarget,
    /// What to do with an existing file.
    pub old: Previous,
    /// Password of encrypted archives.
    pub password: Option<String>,
    /// Encoding of texts that are not UTF-8.
    pub encoding: Option<TextEncoding>,
    /// The games to export.
    pub filter: GameFilter,
    /// Leaves out variations.
    pub no_variations: bool,
    /// Leaves out comments.
    pub no_comments: bool,
    /// Writes a game once that occurs several times, and none that is the beginning of
    /// another. Reads all games three times.
    pub dedupe: bool,
    /// Threads that decode and encode, 1 or more.
    pub threads: usize,
}

/// The result of an export.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Exported {
    /// Games read, skipped and filtered out.
    pub games: Tally,
    /// Games written.
    pub written: u64,
    /// Games left out because they were written before.
    pub duplicates: u64,
    /// Games left out because they are the beginning of another one.
    pub beginnings: u64,
    /// Parts of the written games that the format cannot hold.
    pub losses: Losses,
}

impl ExportJob {
    /// Exports all games with everything in them to a new file, on all processors.
    pub fn new(
        sources: impl IntoIterator<Item = impl Into<PathBuf>>,
        target: ExportTarget,
    ) -> ExportJob {
        ExportJob {
            sources: sources.into_iter().map(Into::into).collect(),
            target,
            old: Previous::default(),
            password: None,
            encoding: None,
            filter: GameFilter::default(),
            no_variations: false,
            no_comments: false,
            dedupe: false,
            threads: parallel::threads(),
        }
    }

    /// Writes the games. `output` gets the text for [`ExportTarget::Output`]; `watch`
    /// receives the progress and may cancel.
    ///
    /// # Errors
    ///
    /// No new file is written; an old file stays unchanged.
    pub fn run(&self, output: &mut dyn Write, watch: &mut Watch<'_>) -> Result<Exported, Error> {
        // Opened first, so that an unwritable target is found before any work.
        let mut sink = Sink::open(self, output)?;
        let sources = Sources::list(&self.sources)?
            .with_password(self.password.as_deref())
            .with_encoding(self.encoding);
        let mut summary = Exported::default();
        let mut same = match self.dedupe {
            true => {
                check_rereadable(&self.sources)?;
                let found = SameGames::find(&sources, &self.filter, self.threads, watch)?;
                Some(found)
            }
            false => None,
        };
        let reader = GameReader::new(&self.filter)
            .wanted(GameParts::EVERYTHING)
            .starts(Starts::Any)
            .threads(self.threads);
        let worker = |batches: &Batches<'_, Vec<EncodedBatch>, (), Error>| {
            let mut game = Game::default();
            batches.each(|batch| Ok(encode(self, batch, &mut game)))
        };
        let take = |all: Vec<EncodedBatch>| {
            for encoded in all {
                let compared = encoded.compared.as_ref();
                let fate = compared
                    .zip(same.as_mut())
                    .map(|(one, same)| same.next(one));
                match fate.unwrap_or(Fate::Kept) {
                    Fate::Duplicate => summary.duplicates += 1,
                    Fate::Beginning => summary.beginnings += 1,
                    Fate::Kept => {
                        summary.written += encoded.written;
                        sink.write(&encoded)?;
                        summary.losses.add(encoded.losses);
                    }
                }
            }
            Ok(())
        };
        let (games, _) = reader.read(&sources, worker, take, watch)?;
        sink.finish()?;
        Ok(Exported { games, ..summary })
    }
}

/// Fails for what cannot be read again.
fn check_rereadable(sources: &[PathBuf]) -> Result<(), Error> {
    let is_stream = |path: &&PathBuf| {
        let metadata = path.metadata();
        path.as_os_str() == "-" || metadata.is_ok_and(|it| !it.is_file() && !it.is_dir())
    };
    match sources.iter().find(is_stream) {
        Some(path) => Err(Error::ReadOnce(path.clone())),
        None => Ok(()),
    }
}

/// The encoded games of a batch; a single game if duplicates are looked for.
#[derive(Default)]
struct EncodedBatch {
    compared: Option<Compared>,
    text: String,
    scdb: Vec<scdb::ScdbRecord>,
    scid: Vec<scid::ScidRecord>,
    written: u64,
    losses: Losses,
}

/// Encodes the games of a batch.
fn encode(job: &ExportJob, batch: &mut Batch<'_>, game: &mut Game) -> Vec<EncodedBatch> {
    let mut all = Vec::new();
    let mut encoded = EncodedBatch::default();
    while batch.next(game) {
        game.strip(job.no_variations, job.no_comments);
        match encoded.add(&job.target, game) {
            Ok(lost) => {
                encoded.losses.count(lost, || batch.place());
                encoded.written += 1;
            }
            Err(reason) => batch.refuse(reason),
        }
        if job.dedupe {
            encoded.compared = Some(Compared::new(game));
            all.push(std::mem::take(&mut encoded));
        }
    }
    all.push(encoded);
    all
}

impl EncodedBatch {
    /// Encodes a game; returns which parts were lost.
    fn add(&mut self, target: &ExportTarget, game: &Game) -> Result<GameLosses, SkipReason> {
        let mut lost = GameLosses::default();
        match target {
            ExportTarget::Pgn(_) | ExportTarget::Output => {
                lost.note(Loss::Tags, write_pgn(game, &mut self.text) > 0);
            }
            ExportTarget::Scid(_) => self.scid.push(scid::ScidRecord::new(game, &mut lost)?),
            ExportTarget::Scdb(_) => self.scdb.push(scdb::ScdbRecord::new(game, &mut lost)?),
        }
        Ok(lost)
    }
}

/// The file or output that is written.
enum Sink<'o> {
    Pgn(Box<NewFile>),
    Output(&'o mut dyn Write),
    Scdb(Box<scdb::ScdbWriter>),
    Scid(Box<scid::ScidWriter>),
}

impl<'o> Sink<'o> {
    fn open(job: &ExportJob, output: &'o mut dyn Write) -> Result<Sink<'o>, Error> {
        Ok(match &job.target {
            ExportTarget::Pgn(path) => Sink::Pgn(Box::new(NewFile::create(path, job.old)?)),
            ExportTarget::Output => Sink::Output(output),
            ExportTarget::Scdb(path) => {
                Sink::Scdb(Box::new(scdb::ScdbWriter::create(path, job.old)?))
            }
            ExportTarget::Scid(path) => {
                Sink::Scid(Box::new(scid::ScidWriter::create(path, job.old)?))
            }
        })
    }

    fn write(&mut self, encoded: &EncodedBatch) -> Result<(), Error> {
        let text = encoded.text.as_bytes();
        match self {
            Sink::Pgn(beside) => Ok(beside.write_bytes(text)?),
            Sink::Output(output) => output.write_all(text).map_err(Error::Output),
            Sink::Scdb(writer) => Ok(encoded.scdb.iter().try_for_each(|one| writer.push(one))?),
            Sink::Scid(writer) => Ok(encoded.scid.iter().try_for_each(|one| writer.push(one))?),
        }
    }

    fn finish(self) -> Result<(), Error> {
        match self {
            Sink::Pgn(beside) => Ok(beside.commit().map(drop)?),
            Sink::Output(output) => output.flush().map_err(Error::Output),
            Sink::Scdb(writer) => Ok(writer.finish()?),
            Sink::Scid(writer) => Ok(writer.finish()?),
        }
    }
}
