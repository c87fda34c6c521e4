//! The output files of a build.

use std::sync::Arc;

use super::emit::{self, Stored};
use super::how_far::writing;
use super::node::Node;
use super::polyglot::{self, Played};
use super::records::{self, Part};
use super::{BuildError, BuildJob, PolyglotRule, Product, Summary};
use tabia_book::ctg::{BookWriter, MAX_COUNT, WriteOptions};
use tabia_io::atomic::NewFile;
use tabia_io::progress::Watch;
use tabia_io::sort::{self, Runs, Sorted};

/// The file that a job writes, and the counts for it.
pub(super) enum Output {
    Book(Box<BookWriter>, Arc<Runs<Node>>),
    Polyglot(PolyglotRule, NewFile, Arc<Runs<Played>>),
    Records(NewFile, Arc<Runs<Node>>),
}

/// A complete file, ready to replace its target.
pub(super) enum Complete {
    Book(Box<BookWriter>),
    File(NewFile),
}

impl Output {
    /// Creates the output, with `room` bytes for runs in memory. The first job decides
    /// the folder of temporary files.
    pub(super) fn create(
        job: &BuildJob,
        first: &BuildJob,
        room: u64,
    ) -> Result<Output, BuildError> {
        let folder = sort::folder(first.temp.as_deref(), &job.target)?;
        Ok(match job.product {
            Product::Book => {
                let options = WriteOptions::default().old(job.old).only(job.only);
                let writer = BookWriter::create(&job.target, options)?;
                Output::Book(Box::new(writer), Arc::new(Runs::new(room, folder)))
            }
            Product::Polyglot(rule) => {
                let file = NewFile::create(&job.target, job.old)?;
                Output::Polyglot(rule, file, Arc::new(Runs::new(room, folder)))
            }
            Product::Records => {
                let file = records::create(&job.target, job.old)?;
                Output::Records(file, Arc::new(Runs::new(room, folder)))
            }
        })
    }

    /// Writes the counts into the file; `part` is what the footer of records says.
    pub(super) fn write(
        self,
        job: &BuildJob,
        part: Part,
        summary: &mut Summary,
        watch: &mut Watch<'_>,
    ) -> Result<Complete, BuildError> {
        Ok(match self {
            Output::Book(mut writer, runs) => {
                let divisor = match job.scale_counts {
                    true => summary.games.div_ceil(MAX_COUNT.into()).max(1),
                    false => 1,
                };
                write_entries(job, divisor, &mut writer, &runs.take(), watch)?;
                summary.sorted_on_disk = runs.bytes_written();
                Complete::Book(writer)
            }
            Output::Polyglot(rule, mut file, runs) => {
                summary.written = polyglot::write(job, rule, &runs.take(), &mut file, watch)?;
                summary.sorted_on_disk = runs.bytes_written();
                Complete::File(file)
            }
            Output::Records(file, runs) => {
                let sorted = runs.take();
                let compression = job.compression;
                summary.written = records::write(&file, &sorted, part, compression, watch)?;
                summary.sorted_on_disk = runs.bytes_written();
                Complete::File(file)
            }
        })
    }
}

impl Complete {
    pub(super) fn put(self, summary: &mut Summary) -> Result<(), BuildError> {
        match self {
            Complete::Book(writer) => {
                let games = u32::try_from(summary.games).unwrap_or(u32::MAX);
                summary.written = writer.finish(games)?;
            }
            Complete::File(file) => {
                summary.written.bytes = file.commit()?.bytes;
            }
        }
        Ok(())
    }
}

fn write_entries(
    job: &BuildJob,
    divisor: u64,
    writer: &mut BookWriter,
    sorted: &Sorted<Node>,
    watch: &mut Watch<'_>,
) -> Result<(), BuildError> {
    let min_games = job.min_games;
    let mut positions = 0;
    let stored = Stored { min_games, divisor };
    emit::emit(sorted, stored, job.threads, |piece| {
        positions += piece.write(writer)?;
        Ok(watch.step(writing(positions, piece.last_order()))?)
    })?;
    match positions {
        0 => Err(BuildError::NoPositions { min_games }),
        _ => Ok(()),
    }
}
