//! From sources to one file: PGN, or a Simple Chess Database.
//!
//! Batches are read and encoded in several threads and written in the order of
//! the sources. So many are under way at most that memory does not grow with
//! the number of games.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::scdb;
use super::{
    Filter, Game, GameBatch, GameSource, Skipped, SourceError, Wanted, files, open, write_pgn,
};
use crate::place::{Beside, Old, PlaceError};

/// So many skipped games are remembered by name.
const NAMED_SKIPS: usize = 1000;

/// Where games go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// PGN text in a file.
    Pgn(PathBuf),
    /// PGN text on the output that [`run`] is given.
    Output,
    /// A Simple Chess Database, by the name of its index.
    Scdb(PathBuf),
}

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Job {
    /// Files, folders, or `-` for standard input.
    pub sources: Vec<PathBuf>,
    /// Where the games go.
    pub target: Target,
    /// What becomes of a file that is there already.
    pub old: Old,
    /// Which games go there.
    pub filter: Filter,
    /// Leaves out variations.
    pub no_variations: bool,
    /// Leaves out comments.
    pub no_comments: bool,
    /// Threads that decode and encode, 1 or more.
    pub threads: usize,
}

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Games that the sources hold, of whatever use.
    pub read: u64,
    /// Games written.
    pub written: u64,
    /// Games that did not meet the filter.
    pub filtered: u64,
    /// Games that were no use.
    pub skipped: u64,
    /// Games written as far as they could be read.
    pub cut: u64,
    /// What databases hold beside their games: deleted ones, texts.
    pub left_out: u64,
    /// Games some of whose tags the format has no room for.
    pub tags_lost: u64,
    /// The first games that were skipped or cut short, in the order of the
    /// sources.
    pub named: Vec<Skipped>,
    /// What is to be said about the sources.
    pub remarks: Vec<String>,
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Bytes of the sources read.
    pub bytes: u64,
    /// Bytes to read, if known.
    pub total: Option<u64>,
    /// Games written.
    pub games: u64,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A source cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A source has no game.
    #[error("{}: no games in it", path.display())]
    NoGames {
        /// As it was named.
        path: PathBuf,
    },
    /// A file cannot be put in place.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// Text cannot be written to the output that was given.
    #[error("standard output")]
    Output(#[source] io::Error),
    /// Somebody asked to stop.
    #[error("interrupted; nothing was changed")]
    Interrupted,
}

/// Writes the games. `output` gets the text for [`Target::Output`]; `observe`
/// is called now and then; `stop` ends the work where it is.
///
/// # Errors
///
/// There is no new file then; what stood in its place still does.
pub fn run(
    job: &Job,
    output: &mut dyn Write,
    observe: &mut dyn FnMut(Progress),
    stop: &AtomicBool,
) -> Result<Summary, ExportError> {
    // First, so that a target that may not be written costs no work.
    let mut sink = Sink::open(job, output)?;
    let inputs = list(job)?;
    let mut read_by = vec![0; job.sources.len()];
    let mut summary = Summary::default();
    let threads = job.threads.max(1);
    let (parcels, to_do) = sync_channel::<Parcel>(2 * threads);
    let (done, pieces) = channel::<Piece>();
    let to_do = Mutex::new(to_do);
    thread::scope(|scope| {
        for _ in 0..threads {
            let (to_do, done) = (&to_do, done.clone());
            scope.spawn(move || {
                while let Some(parcel) = next(to_do) {
                    if done.send(encode(job, parcel)).is_err() {
                        return;
                    }
                }
            });
        }
        // Else nobody would notice that the threads have gone.
        drop(done);
        let mut line = Line {
            parcels: &parcels,
            pieces: &pieces,
            most: 4 * threads as u64,
            sent: 0,
            written: 0,
            early: BTreeMap::new(),
            sink: &mut sink,
            summary: &mut summary,
            read_by: &mut read_by,
        };
        let result = line.work(&inputs, observe, stop);
        drop(parcels);
        result
    })?;
    for (argument, (path, read)) in job.sources.iter().zip(read_by).enumerate() {
        // A source may stand for files that an earlier one stands for already.
        let is_read = inputs.iter().any(|input| input.argument == argument);
        if read == 0 && is_read {
            let path = path.clone();
            return Err(ExportError::NoGames { path });
        }
    }
    sink.finish()?;
    Ok(summary)
}

/// A file to read, and the argument it belongs to.
struct Input {
    argument: usize,
    path: PathBuf,
}

fn list(job: &Job) -> Result<Vec<Input>, ExportError> {
    let mut seen = HashSet::new();
    let mut inputs = Vec::new();
    for (argument, named) in job.sources.iter().enumerate() {
        for path in files(named, &mut seen)? {
            inputs.push(Input { argument, path });
        }
    }
    Ok(inputs)
}

/// A batch on its way to a thread.
struct Parcel {
    number: u64,
    argument: usize,
    batch: Box<dyn GameBatch>,
}

fn next(to_do: &Mutex<Receiver<Parcel>>) -> Option<Parcel> {
    let to_do = to_do.lock().unwrap_or_else(PoisonError::into_inner);
    to_do.recv().ok()
}

/// What became of a parcel.
struct Piece {
    number: u64,
    argument: usize,
    text: String,
    records: Vec<scdb::Record>,
    /// Of these games alone.
    summary: Summary,
}

/// Reads a parcel's games and encodes them.
fn encode(job: &Job, mut parcel: Parcel) -> Piece {
    let mut piece = Piece {
        number: parcel.number,
        argument: parcel.argument,
        text: String::new(),
        records: Vec::new(),
        summary: Summary::default(),
    };
    let mut game = Game::default();
    loop {
        match parcel.batch.next_game(Wanted::EVERYTHING, &mut game) {
            Ok(false) => return piece,
            Ok(true) => add(job, &*parcel.batch, &mut game, &mut piece),
            Err(skipped) => {
                piece.summary.read += 1;
                if skipped.reason.is_intended() {
                    piece.summary.left_out += 1;
                } else {
                    piece.summary.skipped += 1;
                    piece.summary.named.push(skipped);
                }
            }
        }
    }
}

fn add(job: &Job, batch: &dyn GameBatch, game: &mut Game, piece: &mut Piece) {
    let summary = &mut piece.summary;
    summary.read += 1;
    if !job.filter.admits(game) {
        summary.filtered += 1;
        return;
    }
    game.strip(job.no_variations, job.no_comments);
    match &job.target {
        Target::Pgn(_) | Target::Output => write_pgn(game, &mut piece.text),
        Target::Scdb(_) => match scdb::Record::new(game) {
            Ok(record) => {
                summary.tags_lost += u64::from(record.loses_tags);
                piece.records.push(record);
            }
            Err(reason) => {
                summary.skipped += 1;
                summary.named.push(batch.skip(reason));
                return;
            }
        },
    }
    summary.written += 1;
    if let Some(reason) = game.cut.take() {
        summary.cut += 1;
        summary.named.push(batch.skip(reason).cut_short());
    }
}

/// The thread that reads sources and writes what the others have encoded.
struct Line<'a, 'o> {
    parcels: &'a std::sync::mpsc::SyncSender<Parcel>,
    pieces: &'a Receiver<Piece>,
    /// So many parcels may be under way.
    most: u64,
    sent: u64,
    written: u64,
    /// Encoded before those that stand before them.
    early: BTreeMap<u64, Piece>,
    sink: &'a mut Sink<'o>,
    summary: &'a mut Summary,
    read_by: &'a mut Vec<u64>,
}

impl Line<'_, '_> {
    fn work(
        &mut self,
        inputs: &[Input],
        observe: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<(), ExportError> {
        let size = |input: &Input| {
            let metadata = fs::metadata(&input.path).ok()?;
            metadata.is_file().then_some(metadata.len())
        };
        let total = inputs.iter().map(size).sum::<Option<u64>>();
        let mut before = 0;
        for input in inputs {
            let mut source: Box<dyn GameSource> = open(&input.path)?.source;
            while let Some(batch) = source.next_batch()? {
                if stop.load(Relaxed) {
                    return Err(ExportError::Interrupted);
                }
                let parcel = Parcel {
                    number: self.sent,
                    argument: input.argument,
                    batch,
                };
                if self.parcels.send(parcel).is_err() {
                    break;
                }
                self.sent += 1;
                self.receive(self.most)?;
                observe(Progress {
                    bytes: before + source.bytes_read(),
                    total,
                    games: self.summary.written,
                });
            }
            self.receive(0)?;
            self.summary.remarks.extend(source.remarks());
            before += source.bytes_read();
        }
        if stop.load(Relaxed) {
            return Err(ExportError::Interrupted);
        }
        Ok(())
    }

    /// Writes what is ready, until no more than `most` parcels are under way.
    fn receive(&mut self, most: u64) -> Result<(), ExportError> {
        loop {
            while let Some(piece) = self.early.remove(&self.written) {
                self.write(piece)?;
            }
            let piece = if self.sent - self.written > most {
                self.pieces.recv().ok()
            } else {
                self.pieces.try_recv().ok()
            };
            let Some(piece) = piece else {
                return Ok(());
            };
            self.early.insert(piece.number, piece);
        }
    }

    fn write(&mut self, piece: Piece) -> Result<(), ExportError> {
        self.written += 1;
        self.sink.write(&piece)?;
        let (all, new) = (&mut *self.summary, piece.summary);
        all.read += new.read;
        all.written += new.written;
        all.filtered += new.filtered;
        all.skipped += new.skipped;
        all.cut += new.cut;
        all.left_out += new.left_out;
        all.tags_lost += new.tags_lost;
        let room = NAMED_SKIPS.saturating_sub(all.named.len());
        all.named.extend(new.named.into_iter().take(room));
        if let Some(read) = self.read_by.get_mut(piece.argument) {
            *read += new.read;
        }
        Ok(())
    }
}

/// Where pieces are written.
enum Sink<'o> {
    Pgn(Box<Beside>),
    Output(&'o mut dyn Write),
    Scdb(Box<scdb::Writer>),
}

impl<'o> Sink<'o> {
    fn open(job: &Job, output: &'o mut dyn Write) -> Result<Sink<'o>, ExportError> {
        Ok(match &job.target {
            Target::Pgn(path) => Sink::Pgn(Box::new(Beside::create(path, job.old)?)),
            Target::Output => Sink::Output(output),
            Target::Scdb(path) => Sink::Scdb(Box::new(scdb::Writer::create(path, job.old)?)),
        })
    }

    fn write(&mut self, piece: &Piece) -> Result<(), ExportError> {
        let text = piece.text.as_bytes();
        match self {
            Sink::Pgn(beside) => Ok(beside.add(text)?),
            Sink::Output(output) => output.write_all(text).map_err(ExportError::Output),
            Sink::Scdb(writer) => {
                for record in &piece.records {
                    writer.push(record)?;
                }
                Ok(())
            }
        }
    }

    fn finish(self) -> Result<(), ExportError> {
        match self {
            Sink::Pgn(beside) => Ok(beside.put().map(drop)?),
            Sink::Output(output) => output.flush().map_err(ExportError::Output),
            Sink::Scdb(writer) => Ok(writer.finish()?),
        }
    }
}
