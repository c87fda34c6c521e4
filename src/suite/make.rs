//! From sources to a suite.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use shakmaty::Position as _;
use tempfile::TempDir;

use super::entry::{ALL, Candidate, Ranked, StartPosition, mix, number_of};
use super::evaluate::{self, Asked, Keys, Saved};
use super::figures::{Figures, Summary};
use super::funnel::{Funnel, Step};
use super::gather::{self, Sieve};
use super::metadata::{self, Checksums, Row};
use super::output;
use super::walk::Walk;
use super::worth::{Outside, Values};
use super::{Error, Form, Job, Order, is_epd};
use crate::book::{Book, OpenOptions};
use crate::crew;
use crate::evals::EvalKey;
use crate::games::{Sources, Tally};
use crate::input::kind::{BookKind, Kind};
use crate::place::{self, Beside};
use crate::sort::Sorter;
use crate::watch::{Progress, Watch};

/// What was made.
#[derive(Clone, Debug)]
pub struct Made {
    /// What became of the positions.
    pub funnel: Funnel,
    /// What became of the games.
    pub tally: Tally,
    /// The suite in figures.
    pub figures: Summary,
    /// Its entry in `books.json`.
    pub row: Row,
    /// Values out of files, and out of engines.
    pub values: (u64, u64),
    /// Files that were written beside it.
    pub files: Vec<PathBuf>,
}

/// The sources, by what they are.
struct Kinds {
    games: Vec<PathBuf>,
    books: Vec<PathBuf>,
    suites: Vec<PathBuf>,
    /// What was made of others; gone when dropped.
    _made: TempDir,
}

impl Kinds {
    fn of(job: &Job, watch: &mut Watch<'_>) -> Result<Kinds, Error> {
        let failed = |path: &Path, error: std::io::Error| {
            Error::Text(format!("{}: {error}", path.display()))
        };
        let folder = place::folder_of(&job.target);
        let made = tempfile::Builder::new()
            .prefix(".tabia-")
            .tempdir_in(folder);
        let made = made.map_err(|error| failed(folder, error))?;
        let (mut games, mut books, mut suites) = (Vec::new(), Vec::new(), Vec::new());
        for (number, source) in job.sources.iter().enumerate() {
            if source == Path::new("-") {
                let mut text = Vec::new();
                let read = std::io::stdin().lock().read_to_end(&mut text);
                read.map_err(|error| failed(Path::new("standard input"), error))?;
                let is_suite = is_epd(&text);
                let name = if is_suite { "input.epd" } else { "input.pgn" };
                let path = made.path().join(name);
                std::fs::write(&path, text).map_err(|error| failed(&path, error))?;
                let to = if is_suite { &mut suites } else { &mut games };
                to.push(path);
            } else if let Some(Kind::Book(kind)) = Kind::of_file(source) {
                let is_open = matches!(kind, BookKind::Ctg | BookKind::Bin | BookKind::Abk);
                if is_open {
                    books.push(source.clone());
                    continue;
                }
                let path = made.path().join(format!("{number}.ctg"));
                let convert = crate::convert::Job::new(source.clone(), path.clone());
                crate::convert::run(&convert, watch)?;
                books.push(path);
            } else if is_suite(source) {
                suites.push(source.clone());
            } else {
                games.push(source.clone());
            }
        }
        Ok(Kinds {
            games,
            books,
            suites,
            _made: made,
        })
    }
}

/// Whether a file is a suite of positions.
fn is_suite(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let mut start = Vec::new();
    let text = super::text_of(path);
    let read = text.map(|text| text.take(4096).read_to_end(&mut start));
    matches!(read, Ok(Ok(_))) && is_epd(&start)
}

/// Makes a suite.
///
/// # Errors
///
/// A source cannot be read, nothing is left, or the file cannot be written:
/// then none is.
pub fn run(job: &Job, watch: &mut Watch<'_>) -> Result<Made, Error> {
    place::check(&job.target, &[], job.old)?;
    if job.zip {
        place::check(&metadata::archive_of(&job.target), &[], job.old)?;
    }
    let mut making = Making {
        job,
        funnel: Funnel::default(),
        tally: Tally::default(),
        games: 0,
        values: Values::default(),
        counts: (0, 0),
    };
    let candidates = making.gather(watch)?;
    let (ranked, keys) = making.unite(candidates, watch)?;
    making.read_values(&keys)?;
    drop(keys);
    let chosen = making.choose(ranked, watch)?;
    making.write(chosen, watch)
}

struct Making<'a> {
    job: &'a Job,
    funnel: Funnel,
    tally: Tally,
    /// Games that counted.
    games: u64,
    values: Values,
    counts: (u64, u64),
}

impl Making<'_> {
    fn folder(&self) -> &Path {
        place::folder_of(&self.job.target)
    }

    fn sieve(&self) -> Sieve<'_> {
        Sieve {
            board: &self.job.board,
            mirrors: self.job.mirrors,
            below: self.job.below(),
            cut: self.job.cut,
        }
    }

    fn note(&mut self, read: gather::Read) {
        self.funnel.add(&read.funnel);
        self.games += read.games;
        self.tally.read += read.tally.read;
        self.tally.filtered += read.tally.filtered;
        self.tally.skipped += read.tally.skipped;
        self.tally.cut += read.tally.cut;
        self.tally.left_out += read.tally.left_out;
        self.tally.named.extend(read.tally.named);
        self.tally.remarks.extend(read.tally.remarks);
    }

    /// All candidates, in the order of their positions.
    fn gather(&mut self, watch: &mut Watch<'_>) -> Result<Sorter<Candidate>, Error> {
        let job = self.job;
        let kinds = Kinds::of(job, watch)?;
        let mut sorter = Sorter::alone(self.folder(), job.memory / 2);
        let mut first = 0_u64;
        // In the order of the sources within a kind.
        if !kinds.games.is_empty() {
            let sources = Sources::list(&kinds.games).map_err(crate::games::ReadError::from)?;
            let sources = sources.with_password(job.password.as_deref());
            let keep = |candidate| push(&mut sorter, candidate, &mut first);
            let sieve = self.sieve();
            let read = gather::read_games(&sources, &job.filter, sieve, job.threads, watch, keep)?;
            self.note(read);
        }
        for suite in &kinds.suites {
            let keep = |candidate| push(&mut sorter, candidate, &mut first);
            let read = gather::read_epd(suite, self.sieve(), watch, keep)?;
            self.note(read);
        }
        for (number, book) in kinds.books.iter().enumerate() {
            let book = Book::open(book, &OpenOptions::default())?;
            let mut funnel = Funnel::default();
            let start = shakmaty::Chess::default();
            let line = job.below.as_ref();
            let first_of_line = line.map(crate::notation::Line::start);
            let moves: Vec<_> =
                line.map_or_else(Vec::new, |line| line.moves().map(|(_, mv)| mv).collect());
            let walk = Walk {
                book: &book,
                play: &job.play,
                start: first_of_line.filter(|first| !gather::same(first, &start)),
                moves: &moves,
                from: line.map_or(&start, crate::notation::Line::last),
                cut: job.cut,
                threads: job.threads,
                memory: job.memory / 4,
                folder: self.folder(),
            };
            let sieve = self.sieve();
            let source = number as u32 + 1;
            walk.run(
                |position, entry| match sieve.admit(position, entry, source, &mut funnel) {
                    Some(candidate) => push(&mut sorter, candidate, &mut first),
                    None => Ok(()),
                },
                |_, done| Ok(watch.step(Progress::new("walking", "positions", done, None))?),
            )?;
            self.funnel.add(&funnel);
        }
        Ok(sorter)
    }

    /// Equal positions become one; the rare ones stay behind.
    fn unite(
        &mut self,
        candidates: Sorter<Candidate>,
        watch: &mut Watch<'_>,
    ) -> Result<(Sorter<Ranked>, Keys), Error> {
        let job = self.job;
        let wants_values = !job.eval_files.is_empty() || job.engine.is_some();
        let mut keys = Keys::default();
        let mut ranked = Sorter::alone(self.folder(), job.memory / 2);
        let mut merge = candidates.merge()?;
        let mut group = Group::default();
        let (mut done, mut kinds) = (0, 0);
        let mut lost = Funnel::default();
        let candidates_seen = self.funnel.left();
        loop {
            let next = merge.next()?;
            let is_new = next.is_none_or(|next| next.one != group.one);
            kinds += if is_new {
                group.members.len() as u64
            } else {
                0
            };
            if is_new && let Some(entry) = group.finish(&mut lost) {
                done += 1;
                watch.position("uniting", done, None)?;
                if self.is_popular(&entry) {
                    if wants_values && let Some(position) = entry.position() {
                        keys.insert(EvalKey::of(&position));
                    }
                    let rank = rank_of_choice(job, &entry, self.share_of(&entry));
                    ranked.push(&Ranked { rank, entry })?;
                }
            }
            match next {
                Some(next) => group.add(next),
                None => break,
            }
        }
        lost.lose(Step::Duplicate, candidates_seen - kinds);
        self.funnel.add(&lost);
        Ok((ranked, keys))
    }

    /// How often a position is reached, 0 to 1.
    fn share_of(&self, entry: &StartPosition) -> f64 {
        let of_games = entry.played as f64 / self.games.max(1) as f64;
        (entry.share as f64 / ALL as f64).max(of_games)
    }

    fn is_popular(&mut self, entry: &StartPosition) -> bool {
        let job = self.job;
        // A book without games says nothing about their number.
        let counts = entry.games() > 0 || job.min_games > 1;
        if counts && entry.games() < job.min_games {
            self.funnel.lose(Step::Games, 1);
            return false;
        }
        if 100.0 * self.share_of(entry) < job.min_share {
            self.funnel.lose(Step::Share, 1);
            return false;
        }
        true
    }

    fn read_values(&mut self, keys: &Keys) -> Result<(), Error> {
        for file in &self.job.eval_files {
            evaluate::read_file(file, keys, &mut self.values)?;
        }
        self.counts.0 = self.values.len() as u64;
        Ok(())
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
        let saved = Saved::open(engine.and_then(|job| job.save.as_deref()), &mut values)?;
        let mut chosen = Sorter::alone(self.folder(), job.memory / 2);
        let mut merge = ranked.merge()?;
        let mut choice = Choice::default();
        let jobs = engine.map_or(1, |engine| engine.jobs.max(1));
        let window = job.window;
        let evaluate = |mut entry: StartPosition, asked: &mut Option<Asked<'_>>| {
            if let Some(position) = entry.position() {
                entry.worth = values.get(&position);
                // Who is not in the window for sure need not be searched.
                if entry.worth.is_none()
                    && let Some(asked) = asked
                {
                    entry.worth = Some(asked.evaluate(&position)?);
                    return Ok((entry, true));
                }
            }
            Ok((entry, false))
        };
        let funnel = &mut self.funnel;
        let counts = &mut self.counts;
        let mut take = |(entry, searched): (StartPosition, bool)| -> Result<bool, Error> {
            counts.1 += u64::from(searched);
            watch.position("choosing", choice.seen, None)?;
            choice.take(job, window, entry, funnel, &mut chosen)?;
            Ok(job.count.is_none_or(|count| choice.taken < count))
        };
        crew::run(
            jobs,
            |crew_jobs| {
                let mut asked = engine.map(|engine| Asked::new(engine, &saved));
                crew_jobs.each(|entry, _| evaluate(entry, &mut asked))
            },
            |lead| {
                let mut go_on = job.count != Some(0);
                while go_on && let Some(next) = merge.next()? {
                    lead.give(next.entry.clone());
                    while go_on && let Some(made) = lead.ready()? {
                        go_on = take(made)?;
                    }
                }
                while let Some(made) = lead.rest()? {
                    if go_on {
                        go_on = take(made)?;
                    }
                }
                Ok::<(), Error>(())
            },
        )?;
        // How many more there were is not worth a search.
        let left = funnel_left(&mut merge)?;
        self.funnel.lose(Step::Count, left);
        Ok(chosen)
    }

    /// Writes the file, and what goes with it.
    fn write(self, chosen: Sorter<Ranked>, watch: &mut Watch<'_>) -> Result<Made, Error> {
        let job = self.job;
        let mut merge = chosen.merge()?;
        let mut file = Beside::create(&job.target, job.old)?;
        let mut checksums = Checksums::default();
        let mut figures = Figures::default();
        let name = job.target.file_stem().unwrap_or_default().to_string_lossy();
        let mut text = String::new();
        let mut longest = 0;
        while let Some(Ranked { entry, .. }) = merge.next()? {
            let Some(position) = entry.position() else {
                continue;
            };
            watch.position("writing", figures.total, None)?;
            text.clear();
            output::write(
                job.form,
                entry,
                &position,
                &name,
                figures.total + 1,
                &mut text,
            );
            checksums.add(text.as_bytes());
            file.add(text.as_bytes())?;
            let plies = entry.path.len() as u32 / 2;
            longest = longest.max(plies);
            let opening = entry.path.get(..8).filter(|_| entry.start.is_empty());
            figures.add(
                &position,
                self.depth(entry, &position),
                entry.worth.as_ref(),
                opening,
            );
        }
        if figures.total == 0 {
            return Err(match self.funnel.worst() {
                Some((filter, lost)) => Error::Empty {
                    seen: self.funnel.seen,
                    filter,
                    lost,
                },
                None => Error::Text("the sources hold no position".to_owned()),
            });
        }
        file.put()?;
        let row = row_of(&figures, &checksums);
        let mut files = Vec::new();
        if job.zip {
            files.push(metadata::pack(&job.target, job.old)?);
        }
        let name = metadata::name_of(&job.target);
        if let Some(path) = &job.metadata {
            metadata::update(path, &name, &row)?;
            files.push(path.clone());
        }
        if let Some(folder) = &job.openbench {
            let source = job
                .source_url
                .clone()
                .unwrap_or_else(|| format!("{name}.zip"));
            let path = metadata::openbench(folder, &job.target, &checksums, &source)?;
            files.push(path);
        }
        Ok(Made {
            funnel: self.funnel,
            tally: self.tally,
            figures: figures.summary(),
            row,
            values: self.counts,
            files,
        })
    }

    /// Plies as the entry in `books.json` counts them.
    fn depth(&self, entry: &StartPosition, position: &shakmaty::Chess) -> Option<u32> {
        match self.job.form {
            Form::Pgn => Some(entry.path.len() as u32 / 2),
            Form::Epd {
                counters: super::Counters::Fen,
                operations: false,
            } => Some(entry.ply(position.turn())),
            Form::Epd { .. } => None,
        }
    }
}

/// The entry of a suite in `books.json`.
pub(super) fn row_of(figures: &Figures, checksums: &Checksums) -> Row {
    Row {
        total: figures.total,
        white: figures.white,
        black: figures.total - figures.white,
        min_depth: figures.plies().map(|(least, _)| least),
        max_depth: figures.plies().map(|(_, most)| most),
        sri: checksums.sri(),
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

fn funnel_left(merge: &mut crate::sort::Merge<Ranked>) -> Result<u64, Error> {
    let mut left = 0;
    while merge.next()?.is_some() {
        left += 1;
    }
    Ok(left)
}

/// Candidates that count as one position.
#[derive(Default)]
struct Group {
    one: Vec<u8>,
    /// The position and its mirror, each with what its books say.
    members: Vec<Member>,
}

struct Member {
    /// With the best line so far; the sums of all.
    entry: StartPosition,
    /// How often that line was met.
    best: (u64, u64),
    /// Games by book: what it says twice counts once.
    books: Vec<(u32, u64)>,
}

impl Group {
    fn add(&mut self, candidate: &Candidate) {
        if self.members.is_empty() {
            self.one.clone_from(&candidate.one);
        }
        let entry = &candidate.entry;
        let known = self.members.iter_mut().find(|m| m.entry.own == entry.own);
        let Some(member) = known else {
            self.members.push(Member {
                entry: StartPosition {
                    book_games: 0,
                    ..entry.clone()
                },
                best: (entry.played, entry.share),
                books: vec![(candidate.source, entry.book_games)],
            });
            return;
        };
        // Lines come in the order of their bytes: of equals the first stays,
        // but a line is better than a position without one.
        let best = (entry.played, entry.share);
        let has_line = |e: &StartPosition| e.start.is_empty();
        let (old, new) = (has_line(&member.entry), has_line(entry));
        if (new, best) > (old, member.best) {
            member.best = best;
            member.entry.path.clone_from(&entry.path);
            member.entry.start.clone_from(&entry.start);
            member.entry.halfmoves = entry.halfmoves;
            member.entry.fullmoves = entry.fullmoves;
        }
        member.entry.played += entry.played;
        member.entry.share = member.entry.share.saturating_add(entry.share);
        member.entry.first = member.entry.first.min(entry.first);
        match member
            .books
            .iter_mut()
            .find(|(source, _)| *source == candidate.source)
        {
            Some((_, games)) => *games = entry.book_games.max(*games),
            None => member.books.push((candidate.source, entry.book_games)),
        }
    }

    /// The position that stays: the more popular of it and its mirror.
    fn finish(&mut self, funnel: &mut Funnel) -> Option<StartPosition> {
        let members = std::mem::take(&mut self.members);
        let count = members.len() as u64;
        let sums = members.into_iter().map(|member| {
            let book_games = member.books.iter().map(|(_, games)| games).sum();
            StartPosition {
                book_games,
                ..member.entry
            }
        });
        let rank = |e: &StartPosition| (e.games(), e.share);
        let best = sums.reduce(|a, b| if rank(&b) > rank(&a) { b } else { a })?;
        funnel.lose(Step::Mirror, count - 1);
        Some(best)
    }
}

/// The place in the order of choice: by games, then by share; or drawn by
/// weight (each gets the -ln of a random number divided by its weight, the
/// least come first: Efraimidis and Spirakis).
fn rank_of_choice(job: &Job, entry: &StartPosition, share: f64) -> (u32, u64, u64) {
    let key = number_of(&entry.own);
    if !job.sample {
        let games = u32::try_from(entry.games()).unwrap_or(u32::MAX);
        return (
            u32::MAX - games,
            u64::MAX - entry.share,
            mix(key ^ job.seed),
        );
    }
    let random = mix(key ^ mix(job.seed.wrapping_mul(2).wrapping_add(1)));
    let uniform = ((random >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let weight = match entry.games() {
        0 => share.max(1e-12),
        games => games as f64,
    };
    // Positive numbers are in the order of their bits.
    let bits = (-uniform.ln() / weight).to_bits();
    ((bits >> 32) as u32, bits << 32, key)
}

/// The place in the file.
fn rank_of_order(job: &Job, entry: &StartPosition) -> (u32, u64, u64) {
    let key = number_of(&entry.own);
    let random = mix(key ^ mix(job.seed));
    match job.order {
        Order::Random => ((random >> 32) as u32, random, key),
        Order::Popular => {
            let games = u32::try_from(entry.games()).unwrap_or(u32::MAX);
            (u32::MAX - games, u64::MAX - entry.share, random)
        }
        Order::Eval => {
            let cp = entry
                .worth
                .map_or(u32::MAX, |worth| worth.cp().unsigned_abs());
            (cp, random, key)
        }
        Order::File => ((entry.first >> 32) as u32, entry.first, key),
    }
}

/// What was taken so far.
#[derive(Default)]
struct Choice {
    seen: u64,
    taken: u64,
    lines: HashMap<u64, u32>,
}

impl Choice {
    fn take(
        &mut self,
        job: &Job,
        window: super::Window,
        entry: StartPosition,
        funnel: &mut Funnel,
        chosen: &mut Sorter<Ranked>,
    ) -> Result<(), Error> {
        self.seen += 1;
        let Some(position) = entry.position() else {
            return Ok(());
        };
        let outside = match &entry.worth {
            Some(worth) => window
                .refuses(&position, worth)
                .map(|outside| match outside {
                    Outside::Decided => Step::Decided,
                    Outside::Cp => Step::Cp,
                    Outside::Wins => Step::Wins,
                }),
            None => window.needs_value().then_some(Step::Unknown),
        };
        if let Some(step) = outside {
            funnel.lose(step, 1);
            return Ok(());
        }
        if let Some((most, plies)) = job.per_line {
            let path = entry.path.get(..2 * plies).unwrap_or(&entry.path);
            let line = [entry.start.as_slice(), path].concat();
            let count = self.lines.entry(number_of(&line)).or_default();
            if *count >= most {
                funnel.lose(Step::Line, 1);
                return Ok(());
            }
            *count += 1;
        }
        if job.count.is_some_and(|count| self.taken >= count) {
            funnel.lose(Step::Count, 1);
            return Ok(());
        }
        self.taken += 1;
        let rank = rank_of_order(job, &entry);
        Ok(chosen.push(&Ranked { rank, entry })?)
    }
}
