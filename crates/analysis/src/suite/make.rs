//! Makes a suite from sources.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use super::book_positions::BookPositions;
use super::entry::{ALL, Candidate, Ranked, StartPosition};
use super::equal::Group;
use super::evaluate::{self, Evaluated, Evaluator};
use super::figures::SuiteSummary;
use super::full_lines::FullLines;
use super::gather::{self, CandidateFilter};
use super::job::SuiteJob;
use super::metadata::{self, SuiteRow};
use super::publish::{Published, publish};
use super::selection::{Confirmed, Selection, selection_rank};
use super::sources::SortedSources;
use super::values::Values;
use crate::Error;
use crate::evaluate::Worker;
use crate::funnel::{Funnel, FunnelStep};
use tabia_book::ctg::Salvage;
use tabia_book::evals::{self, EvalFile, EvalKey};
use tabia_book::{Book, OpenOptions};
use tabia_games::{Sources, Tally};
use tabia_io::atomic::{self, NewFile, Previous};
use tabia_io::parallel;
use tabia_io::progress::{Progress, Watch};
use tabia_io::sort::Sorter;

/// The result of making a suite.
#[derive(Clone, Debug)]
pub struct MadeSuite {
    /// Numbers of positions at each step.
    pub funnel: Funnel,
    /// Numbers of games.
    pub tally: Tally,
    /// Statistics of the suite.
    pub figures: SuiteSummary,
    /// Its entry in `books.json`.
    pub row: SuiteRow,
    /// Number of values from files, and from engines.
    pub values: (u64, u64),
    /// Numbers of positions that were searched again.
    pub confirmed: Confirmed,
    /// Files that were written beside the suite.
    pub files: Vec<PathBuf>,
    /// What could not be read of books; what is behind it is left out.
    pub unread: Salvage,
}

/// Makes a suite.
///
/// # Errors
///
/// A source cannot be read, no position is left, or the file cannot be written: then
/// there is no file.
pub fn make(job: &SuiteJob, watch: &mut Watch<'_>) -> Result<MadeSuite, Error> {
    check_beside(job)?;
    // Fails before hours of work if no file can be made there.
    let file = NewFile::create(&job.target, job.old)?;
    let mut making = Making {
        job,
        funnel: Funnel::default(),
        tally: Tally::default(),
        games: 0,
        values: Values::default(),
        counts: (0, 0),
        confirmed: Confirmed::default(),
        unread: Salvage::default(),
    };
    let candidates = making.gather(watch)?;
    let ranked = making.merge_equal(candidates, watch)?;
    for file in &job.eval_files {
        evaluate::read_file(file, &mut making.values, watch)?;
    }
    making.counts.0 = making.values.len() as u64;
    let chosen = making.choose(ranked, watch);
    let made = chosen.and_then(|chosen| making.publish(file, chosen, watch));
    made.map_err(|error| match &job.save {
        Some(saved) => crate::evaluate::cancelled(error, saved),
        None => error,
    })
}

/// Checks the files that are written beside the suite: each can be written, and is another
/// one than the suite, the others and the sources.
fn check_beside(job: &SuiteJob) -> Result<(), Error> {
    let archive = job.zip.then(|| metadata::archive_of(&job.target));
    let folder = job.openbench.as_deref();
    let openbench = folder.map(|folder| metadata::openbench_of(folder, &job.target));
    let replaced = [
        (archive.as_ref(), job.old),
        (openbench.as_ref(), Previous::Keep),
        (job.metadata.as_ref(), Previous::Keep),
    ];
    let replaced = replaced.into_iter();
    let replaced = replaced.filter_map(|(path, old)| Some((path?, Some(old))));
    // The only one that grows.
    let saved = job.save.iter().map(|path| (path, None));
    let mut taken: Vec<&PathBuf> = job.sources.iter().chain([&job.target]).collect();
    for (path, old) in replaced.chain(saved) {
        atomic::check_apart(path, &taken)?;
        match old {
            Some(old) => atomic::check(path, &[], old)?,
            None => EvalFile::check(path)?,
        }
        taken.push(path);
    }
    match &job.metadata {
        Some(path) => metadata::check(path),
        None => Ok(()),
    }
}

struct Making<'a> {
    job: &'a SuiteJob,
    funnel: Funnel,
    tally: Tally,
    games: u64,
    values: Values,
    counts: (u64, u64),
    confirmed: Confirmed,
    unread: Salvage,
}

impl Making<'_> {
    fn folder(&self) -> &Path {
        atomic::folder_of(&self.job.target)
    }

    fn checks(&self) -> CandidateFilter<'_> {
        CandidateFilter {
            board: &self.job.board,
            mirrors: self.job.mirrors,
            below: self.job.below(),
            cut: self.job.cut,
        }
    }

    fn add_counts(&mut self, read: gather::Read) {
        self.funnel.add(&read.funnel);
        self.games += read.games;
        self.tally.add(read.tally);
    }

    /// All candidates, sorted by position.
    fn gather(&mut self, watch: &mut Watch<'_>) -> Result<Sorter<Candidate>, Error> {
        let job = self.job;
        let kinds = SortedSources::sort(job, watch)?;
        let mut sorter = Sorter::alone(self.folder(), job.memory / 2);
        let mut first = 0_u64;
        // In the order of the sources within a kind.
        if !kinds.games.is_empty() {
            let sources = Sources::list(&kinds.games)?;
            let sources = sources.with_password(job.password.as_deref());
            let sources = sources.with_encoding(job.encoding);
            let keep = |candidate| push(&mut sorter, candidate, &mut first);
            let checks = self.checks();
            let read = gather::read_games(&sources, &job.filter, checks, job.threads, watch, keep)?;
            self.add_counts(read);
        }
        for suite in &kinds.suites {
            let keep = |candidate| push(&mut sorter, candidate, &mut first);
            let read = gather::read_epd(suite, self.checks(), watch, keep)?;
            self.add_counts(read);
        }
        for (number, book) in kinds.books.iter().enumerate() {
            let book = Book::open(book, &OpenOptions::default())?;
            let mut funnel = Funnel::default();
            let start = shakmaty::Chess::default();
            let line = job.below.as_ref();
            let first_of_line = line.map(tabia_notation::Line::start);
            let moves: Vec<_> =
                line.map_or_else(Vec::new, |line| line.moves().map(|(_, mv)| mv).collect());
            let walk = BookPositions {
                book: &book,
                play: &job.play,
                start: first_of_line.filter(|first| !gather::same(first, &start)),
                moves: &moves,
                from: line.map_or(&start, tabia_notation::Line::last),
                cut: job.cut,
                threads: job.threads,
                memory: job.memory / 4,
                folder: self.folder(),
            };
            let checks = self.checks();
            let source = number as u32 + 1;
            walk.run(
                |position, entry| match checks.admit(position, entry, source, &mut funnel) {
                    Some(candidate) => push(&mut sorter, candidate, &mut first),
                    None => Ok(()),
                },
                |_, done| Ok(watch.step(Progress::new("walking", "positions", done, None))?),
            )?;
            self.funnel.add(&funnel);
            // Positions behind damaged pages are not found: of the starter book with a third of
            // its pages damaged there were 250 in place of 1,353, without a word.
            self.unread.add(book.unread());
        }
        Ok(sorter)
    }

    /// Merges equal positions; rare ones are left out.
    fn merge_equal(
        &mut self,
        candidates: Sorter<Candidate>,
        watch: &mut Watch<'_>,
    ) -> Result<Sorter<Ranked>, Error> {
        let job = self.job;
        let wants_values = !job.eval_files.is_empty() || job.engine.is_some();
        let mut keys = Vec::new();
        let mut ranked = Sorter::alone(self.folder(), job.memory / 2);
        let mut merge = candidates.merge()?;
        let mut group = Group::default();
        let (mut done, mut kinds) = (0, 0);
        let mut lost = Funnel::default();
        let candidates_seen = self.funnel.left();
        loop {
            let next = merge.next()?;
            let is_new = next.is_none_or(|next| next.one != group.one);
            kinds += if is_new { group.len() } else { 0 };
            if is_new && let Some(entry) = group.finish(&mut lost) {
                done += 1;
                watch.position("uniting", done, None)?;
                if self.is_popular(&entry) {
                    if wants_values && let Some(position) = entry.position() {
                        keys.push(EvalKey::from_position(&position));
                    }
                    let rank = selection_rank(job, &entry, self.share_of(&entry));
                    ranked.push(&Ranked { rank, entry })?;
                }
            }
            match next {
                Some(next) => group.add(next),
                None => break,
            }
        }
        lost.lose(FunnelStep::Duplicate, candidates_seen - kinds);
        self.funnel.add(&lost);
        self.values = Values::for_keys(keys);
        Ok(ranked)
    }

    /// How often a position is reached, 0 to 1.
    fn share_of(&self, entry: &StartPosition) -> f64 {
        let of_games = entry.played as f64 / self.games.max(1) as f64;
        (entry.share as f64 / ALL as f64).max(of_games)
    }

    fn is_popular(&mut self, entry: &StartPosition) -> bool {
        let job = self.job;
        // A book without games has no number of games to compare.
        let counts = entry.games() > 0 || job.min_games > 1;
        if counts && entry.games() < job.min_games {
            self.funnel.lose(FunnelStep::Games, 1);
            return false;
        }
        if 100.0 * self.share_of(entry) < job.min_share {
            self.funnel.lose(FunnelStep::Share, 1);
            return false;
        }
        true
    }

    /// Takes positions in the order of choice until there are enough.
    fn choose(
        &mut self,
        ranked: Sorter<Ranked>,
        watch: &mut Watch<'_>,
    ) -> Result<Sorter<Ranked>, Error> {
        let job = self.job;
        let engine = job.engine.as_ref();
        let mut values = std::mem::take(&mut self.values);
        let save = job.save.as_deref();
        let saved = save.map(EvalFile::open).transpose()?;
        if let Some(path) = save {
            values.add_table(&evals::read(path)?.table);
        }
        let restarts = AtomicU64::new(0);
        let mut chosen = Sorter::alone(self.folder(), job.memory / 2);
        let mut merge = ranked.merge()?;
        let full = FullLines::default();
        let mut selection = Selection::new(job, &full);
        let evaluator = Evaluator {
            job,
            values,
            saved,
            full: &full,
        };
        let funnel = &mut self.funnel;
        let counts = &mut self.counts;
        // Returns whether more are needed.
        let mut take = |evaluated: Evaluated| -> Result<bool, Error> {
            if selection.goes_on() {
                counts.1 += u64::from(evaluated.searched);
                watch.position("choosing", selection.seen, None)?;
                // A search takes long.
                if evaluated.searched {
                    watch.go_on()?;
                }
                selection.take(evaluated, funnel, &mut chosen)?;
            } else {
                funnel.lose(FunnelStep::Count, 1);
            }
            Ok(selection.goes_on())
        };
        let mut go_on = job.count != Some(0);
        match engine {
            // To hand 111,000 positions over one by one took a fifth of the whole time.
            None => {
                while go_on && let Some(next) = merge.next()? {
                    go_on = take(evaluator.evaluate(next.entry.clone(), &mut None)?)?;
                }
            }
            Some(plan) => {
                parallel::run(
                    plan.jobs.max(1),
                    |jobs| {
                        let mut worker = Some(Worker::new(plan, &restarts));
                        jobs.each(|entry, _| evaluator.evaluate(entry, &mut worker))
                    },
                    |lead| {
                        while go_on && let Some(next) = merge.next()? {
                            lead.give(next.entry.clone());
                            while let Some(made) = lead.ready()? {
                                go_on = take(made)?;
                            }
                        }
                        while let Some(made) = lead.rest()? {
                            take(made)?;
                        }
                        Ok::<(), Error>(())
                    },
                )?;
            }
        }
        self.confirmed = selection.confirmed;
        // Counting how many more there were needs no search.
        while merge.next()?.is_some() {
            self.funnel.lose(FunnelStep::Count, 1);
        }
        Ok(chosen)
    }

    fn publish(
        self,
        file: NewFile,
        chosen: Sorter<Ranked>,
        watch: &mut Watch<'_>,
    ) -> Result<MadeSuite, Error> {
        let Some(Published {
            figures,
            row,
            files,
        }) = publish(self.job, file, chosen, watch)?
        else {
            let lost_games = self.tally.filtered + self.tally.skipped;
            let worst = self.funnel.worst();
            return Err(match worst.filter(|(_, lost)| *lost > lost_games) {
                None if lost_games > 0 => Error::Text(format!(
                    "no position is left: {}",
                    self.tally.what_is_left()
                )),
                Some((step, lost)) => Error::NoPositionLeft {
                    seen: self.funnel.seen,
                    step,
                    lost,
                },
                None => Error::Text("the sources contain no positions".to_owned()),
            });
        };
        Ok(MadeSuite {
            funnel: self.funnel,
            tally: self.tally,
            figures,
            row,
            values: self.counts,
            confirmed: self.confirmed,
            files,
            unread: self.unread,
        })
    }
}

fn push(
    sorter: &mut Sorter<Candidate>,
    mut candidate: Candidate,
    first: &mut u64,
) -> Result<(), Error> {
    candidate.entry.first = *first;
    *first += 1;
    Ok(sorter.push(&candidate)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_that_lost_most_is_named_if_no_position_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games.pgn");
        let good = "[WhiteElo \"2000\"]\n[BlackElo \"2000\"]\n\n1. e4 e5 *\n\n";
        let games = format!("{good}[Event \"broken\"]\n\n1. e4 Ke3 *\n\n");
        std::fs::write(&path, games).unwrap();
        let mut job = SuiteJob::new(vec![path], folder.path().join("a.epd"));
        let said = |job: &SuiteJob| match make(job, &mut Watch::default()) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        assert!(said(&job).contains("no position is left"), "{}", said(&job));
        job.filter.min_elo = Some(2500);
        assert!(said(&job).contains("no position is left"), "{}", said(&job));
        job.filter.min_elo = None;
        job.cut = super::super::Cut::At(1);
        assert_eq!(said(&job), "");
    }
}
