//! Writes a suite and the files beside it.

use std::path::PathBuf;

use shakmaty::{Chess, Position as _};

use super::entry::{Ranked, StartPosition};
use super::figures::{Figures, SuiteSummary, beginning};
use super::job::SuiteJob;
use super::metadata::{self, Archive, Checksums, SuiteRow};
use super::output::{self, Counters, Form};
use crate::Error;
use tabia_io::atomic::{self, NewFile};
use tabia_io::input::path::file_name;
use tabia_io::progress::Watch;
use tabia_io::sort::Sorter;

/// What was written.
pub(super) struct Published {
    pub(super) figures: SuiteSummary,
    pub(super) row: SuiteRow,
    /// Files beside it.
    pub(super) files: Vec<PathBuf>,
}

/// Writes the positions in their order into the new file of the suite; returns `None` and
/// makes no file if there are none.
///
/// # Errors
///
/// As for [`atomic::commit_all`].
pub(super) fn publish(
    job: &SuiteJob,
    mut file: NewFile,
    chosen: Sorter<Ranked>,
    watch: &mut Watch<'_>,
) -> Result<Option<Published>, Error> {
    let mut merge = chosen.merge()?;
    let mut checksums = Checksums::default();
    let mut figures = Figures::default();
    let name = job.target.file_stem().unwrap_or_default().to_string_lossy();
    let mut text = String::new();
    let archive = job.zip.then(|| Archive::new(&job.target, job.old));
    let mut archive = archive.transpose()?;
    while let Some(Ranked { entry, .. }) = merge.next()? {
        let Some(position) = entry.position() else {
            continue;
        };
        watch.position("writing", figures.total, None)?;
        text.clear();
        let number = figures.total + 1;
        output::write(job.form, entry, &position, &name, number, &mut text);
        checksums.add(text.as_bytes());
        file.write_bytes(text.as_bytes())?;
        if let Some(archive) = &mut archive {
            archive.add(&text)?;
        }
        let path = match job.form {
            Form::Pgn if entry.start.is_empty() => Some(&*entry.path),
            Form::Pgn => Some(&[][..]),
            Form::Epd { .. } => None,
        };
        let opening = beginning(&position, path);
        let depth = depth(job.form, entry, &position);
        figures.add(&position, depth, entry.eval.as_ref(), opening.as_deref());
    }
    if figures.total == 0 {
        return Ok(None);
    }
    let row = row_of(&figures, &checksums);
    let mut outputs = vec![file];
    let mut files = Vec::new();
    if let Some(archive) = archive {
        let file = archive.finish()?;
        files.push(file.path().to_owned());
        outputs.push(file);
    }
    let name = file_name(&job.target);
    if let Some(path) = &job.metadata {
        outputs.extend(metadata::update(path, &name, &row)?);
        files.push(path.clone());
    }
    if let Some(folder) = &job.openbench {
        let source = job.source_url.clone();
        let source = source.unwrap_or_else(|| format!("{name}.zip"));
        let file = metadata::openbench(folder, &job.target, &checksums, &source)?;
        files.push(file.path().to_owned());
        outputs.push(file);
    }
    // All at once: the suite stayed, with exit code 2, where a file beside it failed.
    atomic::commit_all(outputs)?;
    Ok(Some(Published {
        figures: figures.summary(),
        row,
        files,
    }))
}

/// Plies as counted in `books.json`.
fn depth(form: Form, entry: &StartPosition, position: &Chess) -> Option<u32> {
    match form {
        Form::Pgn => Some(entry.path.len() as u32 / 2),
        Form::Epd {
            counters: Counters::Fen,
            operations: false,
        } => Some(entry.ply(position.turn())),
        Form::Epd { .. } => None,
    }
}

/// The entry of a suite in `books.json`.
pub(super) fn row_of(figures: &Figures, checksums: &Checksums) -> SuiteRow {
    SuiteRow {
        total: figures.total,
        white: figures.white,
        black: figures.total - figures.white,
        min_depth: figures.plies().map(|(least, _)| least),
        max_depth: figures.plies().map(|(_, most)| most),
        sri: checksums.sri(),
    }
}
