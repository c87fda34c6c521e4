//! `tabia build --evaluations`: evaluations of the games, stored beside the book.

use anyhow::ensure;

use super::progress;
use tabia_analysis::evaluate;
use tabia_book::evals::{self, EvalFile};
use tabia_build::BuildJob;
use tabia_games::Sources;
use tabia_io::input::path::{file_name, has_extension};

/// Whether the games can be read once more.
pub(super) fn check(job: &BuildJob) -> anyhow::Result<()> {
    for source in &job.sources {
        let path = &source.path;
        let stays = path
            .metadata()
            .map_or(true, |file| file.is_file() || file.is_dir());
        ensure!(
            stays && path.as_os_str() != "-",
            "--evaluations reads the games twice, which {} cannot be: write them to a file first",
            path.display()
        );
        ensure!(
            !has_extension(path, "parquet"),
            "{}: records hold no evaluations: leave --evaluations out",
            path.display()
        );
    }
    Ok(())
}

/// Adds what the games of a book that is built say about its positions to the
/// file beside it; gives how many evaluations are new there.
pub(super) fn keep(job: &BuildJob) -> anyhow::Result<u64> {
    let book = super::open_book(&job.target, false)?;
    let path = evals::beside(&job.target);
    let file = EvalFile::open(&path)?;
    let mut table = evals::read(&path)?.table;
    let (mut hits, mut new) = (0, 0);
    for source in &job.sources {
        let sources = Sources::list([&source.path])?.with_password(job.password.as_deref());
        let name = file_name(&source.path);
        let gathered = progress::watched(|watch| {
            let filter = &job.filter;
            evaluate::gather_games(&sources, filter, &name, &book, &mut table, &file, watch)
        })??;
        hits += gathered.read.hits;
        new += gathered.new;
    }
    say!(
        "{}: {hits} evaluations of positions of the book, {new} of them new",
        path.display()
    );
    Ok(new)
}
