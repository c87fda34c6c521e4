//! Exports games to one file: PGN, or a database.
//!
//! Batches are read and encoded in several threads and written in the order of the
//! sources. The number of batches in memory is limited, so memory does not grow with
//! the number of games.

use std::io::Write;
use std::path::PathBuf;

use super::{
    Batch, Batches, Error, Game, GameFilter, GameParts, Intake, SkipReason, Sources, Starts, Tally,
    write_pgn,
};
use super::{scdb, scid};
use tabia_io::atomic::{NewFile, Old};
use tabia_io::progress::Watch;

/// Where the games are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// PGN text in a file.
    Pgn(PathBuf),
    /// PGN text on the output that [`run`] is given.
    Output,
    /// A Simple Chess Database, by the name of its index.
    Scdb(PathBuf),
    /// A Scid database of version 5, by the name of its index.
    Scid(PathBuf),
}

/// An export: sources, target and options.
#[derive(Clone, Debug)]
pub struct ExportJob {
    /// Files, folders, or `-` for standard input.
    pub sources: Vec<PathBuf>,
    /// Where the games are written.
    pub target: Target,
    /// What to do with an existing file.
    pub old: Old,
    /// Password of encrypted archives.
    pub password: Option<String>,
    /// The games to export.
    pub filter: GameFilter,
    /// Leaves out variations.
    pub no_variations: bool,
    /// Leaves out comments.
    pub no_comments: bool,
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
    /// Games with tags that the format cannot store.
    pub tags_lost: u64,
}

/// Writes the games. `output` gets the text for [`Target::Output`]; `watch` receives
/// the progress and may cancel.
///
/// # Errors
///
/// No new file is written; an old file stays unchanged.
pub fn run(
    job: &ExportJob,
    output: &mut dyn Write,
    watch: &mut Watch<'_>,
) -> Result<Exported, Error> {
    // Opened first, so that an unwritable target is found before any work.
    let mut sink = Sink::open(job, output)?;
    let sources = Sources::list(&job.sources)?.with_password(job.password.as_deref());
    let mut summary = Exported::default();
    let intake = Intake {
        filter: &job.filter,
        wanted: GameParts::EVERYTHING,
        starts: Starts::Any,
        threads: job.threads,
    };
    let worker = |batches: &Batches<'_, Piece, (), Error>| {
        let mut game = Game::default();
        batches.each(|batch| Ok(encode(job, batch, &mut game)))
    };
    let take = |piece: Piece| {
        summary.written += piece.written;
        summary.tags_lost += piece.tags_lost;
        sink.write(&piece)
    };
    let (games, _) = intake.read(&sources, worker, take, watch)?;
    sink.finish()?;
    Ok(Exported { games, ..summary })
}

/// The encoded games of a batch.
#[derive(Default)]
struct Piece {
    text: String,
    scdb: Vec<scdb::ScdbRecord>,
    scid: Vec<scid::ScidRecord>,
    written: u64,
    tags_lost: u64,
}

/// Encodes the games of a batch.
fn encode(job: &ExportJob, batch: &mut Batch<'_>, game: &mut Game) -> Piece {
    let mut piece = Piece::default();
    while batch.next(game) {
        game.strip(job.no_variations, job.no_comments);
        match piece.add(&job.target, game) {
            Ok(loses_tags) => {
                piece.tags_lost += u64::from(loses_tags);
                piece.written += 1;
            }
            Err(reason) => batch.refuse(reason),
        }
    }
    piece
}

impl Piece {
    /// Encodes a game; returns whether tags of it are lost.
    fn add(&mut self, target: &Target, game: &Game) -> Result<bool, SkipReason> {
        Ok(match target {
            Target::Pgn(_) | Target::Output => {
                write_pgn(game, &mut self.text);
                false
            }
            Target::Scid(_) => {
                self.scid.push(scid::ScidRecord::new(game)?);
                self.scid.last().is_some_and(|record| record.loses_tags)
            }
            Target::Scdb(_) => {
                self.scdb.push(scdb::ScdbRecord::new(game)?);
                self.scdb.last().is_some_and(|record| record.loses_tags)
            }
        })
    }
}

/// The file or output that is written.
enum Sink<'o> {
    Pgn(Box<NewFile>),
    Output(&'o mut dyn Write),
    Scdb(Box<scdb::Writer>),
    Scid(Box<scid::Writer>),
}

impl<'o> Sink<'o> {
    fn open(job: &ExportJob, output: &'o mut dyn Write) -> Result<Sink<'o>, Error> {
        Ok(match &job.target {
            Target::Pgn(path) => Sink::Pgn(Box::new(NewFile::create(path, job.old)?)),
            Target::Output => Sink::Output(output),
            Target::Scdb(path) => Sink::Scdb(Box::new(scdb::Writer::create(path, job.old)?)),
            Target::Scid(path) => Sink::Scid(Box::new(scid::Writer::create(path, job.old)?)),
        })
    }

    fn write(&mut self, piece: &Piece) -> Result<(), Error> {
        let text = piece.text.as_bytes();
        match self {
            Sink::Pgn(beside) => Ok(beside.add(text)?),
            Sink::Output(output) => output.write_all(text).map_err(Error::Output),
            Sink::Scdb(writer) => Ok(piece.scdb.iter().try_for_each(|one| writer.push(one))?),
            Sink::Scid(writer) => Ok(piece.scid.iter().try_for_each(|one| writer.push(one))?),
        }
    }

    fn finish(self) -> Result<(), Error> {
        match self {
            Sink::Pgn(beside) => Ok(beside.put().map(drop)?),
            Sink::Output(output) => output.flush().map_err(Error::Output),
            Sink::Scdb(writer) => Ok(writer.finish()?),
            Sink::Scid(writer) => Ok(writer.finish()?),
        }
    }
}
