//! Reads the games of all sources in several threads, for every command that uses
//! collections.
//!
//! ```text
//! named -> Sources -> batches -> workers: games -> filter -> use of a game
//!                                                               |
//!                       in the order of the sources: sink <-----+
//! ```
//!
//! Games are decoded and used in several threads; the results of the batches are
//! returned in the order of the sources. [`Tally`] counts and names the games that were
//! skipped, filtered out or cut short.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::files::files_with;
use super::{
    Error, Game, GameBatch, GameFilter, GameParts, GameSource, OpenResult, Rejected, SkipReason,
    Skipped, TextEncoding, open_encoded,
};
use tabia_io::parallel::{self, Coordinator, Jobs, Panicked, Turn};
use tabia_io::progress::{Progress, Watch};

/// Number of skipped games whose places are stored.
const NAMED_SKIPS: usize = 1000;

/// Limit of open sources; each stays open until all of its games have been read.
const OPEN_SOURCES: usize = 64;

/// Files to read.
#[derive(Debug)]
pub struct Sources {
    named: Vec<PathBuf>,
    /// Each with the index of the named source that it belongs to.
    inputs: Vec<(usize, PathBuf)>,
    password: Option<String>,
    encoding: Option<TextEncoding>,
    open: fn(&Path, Option<&str>, Option<TextEncoding>) -> OpenResult,
}

impl Sources {
    /// The files of the given paths, without duplicates: see [`files`](crate::files()).
    ///
    /// # Errors
    ///
    /// A path does not exist, or a folder has no games.
    pub fn list<'p>(named: impl IntoIterator<Item = &'p PathBuf>) -> Result<Sources, Error> {
        Sources::list_with(named, |_| false)
    }

    /// As [`Sources::list`], with other files of folders for which `is_other` is true.
    ///
    /// # Errors
    ///
    /// A path does not exist, or a folder has neither.
    pub fn list_with<'p>(
        named: impl IntoIterator<Item = &'p PathBuf>,
        is_other: fn(&Path) -> bool,
    ) -> Result<Sources, Error> {
        let mut sources = Sources {
            named: Vec::new(),
            inputs: Vec::new(),
            password: None,
            encoding: None,
            open: open_encoded,
        };
        let mut seen = HashSet::new();
        for (argument, path) in named.into_iter().enumerate() {
            sources.named.push(path.clone());
            let found = files_with(path, &mut seen, is_other)?.into_iter();
            sources.inputs.extend(found.map(|path| (argument, path)));
        }
        Ok(sources)
    }

    /// Sets the password of encrypted archives.
    #[must_use]
    pub fn with_password(self, password: Option<&str>) -> Sources {
        let password = password.map(str::to_owned);
        Sources { password, ..self }
    }

    /// Sets the encoding of texts that are not UTF-8; without it, each format has its own.
    #[must_use]
    pub fn with_encoding(self, encoding: Option<TextEncoding>) -> Sources {
        Sources { encoding, ..self }
    }

    /// Whether a file was not named, but found in a folder.
    fn is_from_folder(&self, argument: usize, path: &Path) -> bool {
        self.named.get(argument).is_some_and(|named| named != path)
    }

    /// The files, in the order in which they are read.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.inputs.iter().map(|(_, path)| path.as_path())
    }

    /// Removes and returns the files for which `is_other` is true, with the indexes of
    /// their named sources.
    pub fn take(&mut self, is_other: impl Fn(&Path) -> bool) -> Vec<(usize, PathBuf)> {
        let taken = self.inputs.extract_if(.., |(_, path)| is_other(path));
        taken.collect()
    }
}

/// Counts of the games read, and messages about them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Games in the sources, used or not.
    pub read: u64,
    /// Games that did not meet the filter.
    pub filtered: u64,
    /// How many of the filtered games did not meet each condition.
    pub rejected: Rejected,
    /// Filtered games without a rating that the filter needs.
    pub unrated: u64,
    /// Games that could not be used.
    pub skipped: u64,
    /// Games that were used up to the place where they break off.
    pub cut: u64,
    /// Variations that were read up to a null move.
    pub null_variations: u64,
    /// Sources of which a part is lost.
    pub cut_sources: u64,
    /// Sources with games that contradict themselves.
    pub contradictory_sources: u64,
    /// Entries of databases that are not games, or deleted.
    pub left_out: u64,
    /// The first games that were skipped or cut short, in the order of the
    /// sources.
    pub named: Vec<Skipped>,
    /// Remarks about the sources.
    pub remarks: Vec<String>,
}

impl Tally {
    /// Adds the counts of another part of the work.
    pub fn add(&mut self, other: Tally) {
        self.read += other.read;
        self.filtered += other.filtered;
        self.rejected.add(&other.rejected);
        self.unrated += other.unrated;
        self.skipped += other.skipped;
        self.cut += other.cut;
        self.null_variations += other.null_variations;
        self.cut_sources += other.cut_sources;
        self.contradictory_sources += other.contradictory_sources;
        self.left_out += other.left_out;
        let room = NAMED_SKIPS.saturating_sub(self.named.len());
        self.named.extend(other.named.into_iter().take(room));
        self.remarks.extend(other.remarks);
    }

    /// Describes in one sentence how many games were skipped, where the first of them
    /// is, and how many the filter rejected.
    #[must_use]
    pub fn what_is_left(&self) -> String {
        let left = self.read.saturating_sub(self.skipped + self.filtered);
        let mut text = match left {
            0 => format!("no game is left of {}", self.read),
            _ if self.read == 1 => "1 game read".to_owned(),
            _ => format!("{} games read", self.read),
        };
        let first = self.named.iter().find(|skipped| !skipped.cut);
        if self.skipped > 0 {
            text += &format!("; skipped: {}", self.skipped);
        }
        if let Some(first) = first {
            text += &format!(" (the first: {first})");
        }
        if self.filtered > 0 {
            text += &format!("; {} did not match the conditions", self.filtered);
        }
        if self.unrated > 0 {
            text += &format!(" ({} of them without a rating)", self.unrated);
        }
        if self.rejected.total() > 0 {
            text += &format!(": {}", self.rejected);
        }
        // Where nothing is left, a remark may be the reason.
        if left == 0
            && let Some(first) = self.remarks.first()
        {
            text += &format!("; {first}");
        }
        text
    }
}

/// How the games of [`Sources`] are read.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct GameReader<'a> {
    /// Games that do not meet it are left out.
    pub filter: &'a GameFilter,
    /// The parts of each game to read.
    pub wanted: GameParts,
    /// The accepted first positions.
    pub starts: Starts,
    /// Threads that decode, 1 or more.
    pub threads: usize,
}

/// Accepted first positions; games with others are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    /// Only the standard position.
    Usual,
    /// Set-up positions of standard chess too.
    SetUp,
    /// All, Chess960 included.
    Any,
}

impl<'a> GameReader<'a> {
    /// Reads the main lines of games from the standard position that meet the filter, on
    /// all processors.
    #[must_use]
    pub fn new(filter: &'a GameFilter) -> GameReader<'a> {
        GameReader {
            filter,
            wanted: GameParts::default(),
            starts: Starts::Usual,
            threads: parallel::threads(),
        }
    }

    /// Reads these parts of each game.
    #[must_use]
    pub fn wanted(self, wanted: GameParts) -> GameReader<'a> {
        GameReader { wanted, ..self }
    }

    /// Accepts these first positions.
    #[must_use]
    pub fn starts(self, starts: Starts) -> GameReader<'a> {
        GameReader { starts, ..self }
    }

    /// Decodes in this number of threads.
    #[must_use]
    pub fn threads(self, threads: usize) -> GameReader<'a> {
        GameReader { threads, ..self }
    }

    /// Reads all games. `worker` is called once in each thread: it prepares its
    /// buffers, uses [`Batches::each`], and returns a value, which is returned with the
    /// tally. `sink` receives the result of each batch.
    ///
    /// # Errors
    ///
    /// The first error; all threads have ended then.
    pub fn read<P: Send, H: Send, E: From<Error> + Send>(
        &self,
        sources: &Sources,
        worker: impl Fn(&Batches<'_, P, H, E>) -> Result<H, E> + Sync,
        sink: impl FnMut(P) -> Result<(), E>,
        watch: &mut Watch<'_>,
    ) -> Result<(Tally, Vec<H>), E> {
        let ((tally, games_of), held) = parallel::run(
            self.threads,
            |jobs| worker(&Batches { reader: self, jobs }).map_err(Failure),
            |coordinator| {
                let mut reader = Reader {
                    coordinator,
                    sink,
                    watch,
                    tally: Tally::default(),
                    games_of: vec![0; sources.named.len()],
                };
                reader.read(sources).map_err(Failure)?;
                Ok((reader.tally, reader.games_of))
            },
        )
        .map_err(|Failure(error)| error)?;
        for (argument, (path, games)) in sources.named.iter().zip(games_of).enumerate() {
            // A file of this source may already belong to an earlier one.
            let is_read = sources.inputs.iter().any(|(number, _)| *number == argument);
            if games == 0 && is_read {
                let path = path.clone();
                return Err(Error::NoGames { path }.into());
            }
        }
        Ok((tally, held))
    }

    /// Adds up all games: each thread has its own sum, to which `add` adds a game. The
    /// sums are returned in no particular order.
    ///
    /// # Errors
    ///
    /// As for [`read`](GameReader::read).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use tabia_games::{Error, Game, GameFilter, GameReader, Sources, Starts, Watch};
    ///
    /// # let path = "../../tests/data/chessbase/Capa.cbh".into();
    /// let sources = Sources::list([&path])?;
    /// let filter = GameFilter::default();
    /// let reader = GameReader::new(&filter).starts(Starts::Any);
    /// let add = |results: &mut BTreeMap<_, u64>, game: &Game| {
    ///     *results.entry(game.result.to_pgn()).or_default() += 1;
    ///     Ok::<(), Error>(())
    /// };
    /// let (tally, sums) = reader.add_up(&sources, add, &mut Watch::default())?;
    /// assert_eq!((tally.read, tally.skipped), (113, 0));
    /// let count = |result| sums.iter().filter_map(|sum| sum.get(result)).sum::<u64>();
    /// assert_eq!([count("1-0"), count("1/2-1/2"), count("0-1")], [67, 4, 42]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn add_up<S: Default + Send, E: From<Error> + Send>(
        &self,
        sources: &Sources,
        add: impl Fn(&mut S, &Game) -> Result<(), E> + Sync,
        watch: &mut Watch<'_>,
    ) -> Result<(Tally, Vec<S>), E> {
        let worker = |batches: &Batches<'_, (), S, E>| {
            let mut sum = S::default();
            let mut game = Game::default();
            batches.each(|batch| {
                while batch.next(&mut game) {
                    add(&mut sum, &game)?;
                }
                Ok(())
            })?;
            Ok(sum)
        };
        self.read(sources, worker, |()| Ok(()), watch)
    }
}

/// Why reading ended: the caller's error, which also stands for a panic.
struct Failure<E>(E);

impl<E: From<Error>> From<Panicked> for Failure<E> {
    fn from(panicked: Panicked) -> Failure<E> {
        Failure(Error::from(panicked).into())
    }
}

/// A batch, with the index of its named source.
type Numbered = (usize, Box<dyn GameBatch>);

/// The result of a batch, with the same index.
type BatchResult<P> = (usize, Tally, P);

/// The thread that reads batches from sources and receives their results.
struct Reader<'l, 'c, 'w, P, H, E, S> {
    coordinator: &'l mut Coordinator<'c, Numbered, BatchResult<P>, H, Failure<E>>,
    sink: S,
    watch: &'l mut Watch<'w>,
    tally: Tally,
    /// Number of games, by named source.
    games_of: Vec<u64>,
}

impl<P, H, E, S> Reader<'_, '_, '_, P, H, E, S>
where
    E: From<Error>,
    S: FnMut(P) -> Result<(), E>,
{
    fn read(&mut self, sources: &Sources) -> Result<(), E> {
        let Sources {
            inputs,
            open,
            password,
            encoding,
            ..
        } = sources;
        let size = |(_, path): &(usize, PathBuf)| {
            let metadata = fs::metadata(path).ok()?;
            metadata.is_file().then_some(metadata.len())
        };
        let total = inputs.iter().map(size).sum::<Option<u64>>();
        let mut before = 0;
        let mut open_sources = Vec::new();
        let mut unreadable = None;
        for (argument, path) in inputs {
            let mut source = match open(path, password.as_deref(), *encoding) {
                // Of a folder the other files are read.
                Err(error) if error.is_of_content() && sources.is_from_folder(*argument, path) => {
                    self.tally.remarks.push(format!("{error}; skipped"));
                    self.tally.cut_sources += 1;
                    unreadable.get_or_insert(error);
                    continue;
                }
                opened => opened?,
            };
            while let Some(batch) = source.next_batch()? {
                self.watch.go_on().map_err(Error::from)?;
                self.coordinator.give((*argument, batch));
                while let Some(result) = self.coordinator.ready().map_err(|Failure(error)| error)? {
                    self.take(result)?;
                }
                let bytes = before + source.bytes_read();
                let progress = Progress::reading("games", self.tally.read, bytes, total);
                self.watch.step(progress).map_err(Error::from)?;
            }
            before += source.bytes_read();
            open_sources.push(source);
            if open_sources.len() >= OPEN_SOURCES {
                self.close(&mut open_sources)?;
            }
        }
        self.close(&mut open_sources)?;
        match unreadable {
            Some(error) if self.tally.cut_sources == inputs.len() as u64 => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Collects the remarks of sources whose batches are done.
    fn close(&mut self, open_sources: &mut Vec<Box<dyn GameSource>>) -> Result<(), E> {
        while let Some(result) = self.coordinator.rest().map_err(|Failure(error)| error)? {
            self.watch.go_on().map_err(Error::from)?;
            self.take(result)?;
        }
        for source in open_sources.drain(..) {
            self.tally.remarks.extend(source.remarks());
            self.tally.cut_sources += u64::from(source.is_cut());
            let contradicts = source.has_contradictions();
            self.tally.contradictory_sources += u64::from(contradicts);
        }
        Ok(self.watch.go_on().map_err(Error::from)?)
    }

    fn take(&mut self, (argument, tally, made): BatchResult<P>) -> Result<(), E> {
        if let Some(games) = self.games_of.get_mut(argument) {
            *games += tally.read;
        }
        self.tally.add(tally);
        (self.sink)(made)
    }
}

/// The batches of one worker.
pub struct Batches<'c, P, H, E> {
    reader: &'c GameReader<'c>,
    jobs: &'c Jobs<Numbered, BatchResult<P>, H, Failure<E>>,
}

impl<P, H, E> Batches<'_, P, H, E> {
    /// Calls `work` with every batch.
    ///
    /// # Errors
    ///
    /// The first error of `work`.
    pub fn each(&self, mut work: impl FnMut(&mut Batch<'_>) -> Result<P, E>) -> Result<(), E> {
        let each = self.jobs.each(|(argument, batch), turn| {
            let mut batch = Batch {
                reader: self.reader,
                argument,
                batch,
                turn,
                tally: Tally::default(),
                was_cut: false,
            };
            let made = work(&mut batch).map_err(Failure)?;
            Ok((argument, batch.tally, made))
        });
        each.map_err(|Failure(error)| error)
    }
}

/// A batch of games of a source.
pub struct Batch<'c> {
    reader: &'c GameReader<'c>,
    argument: usize,
    batch: Box<dyn GameBatch>,
    turn: &'c Turn<'c>,
    tally: Tally,
    /// The last game was cut short.
    was_cut: bool,
}

impl Batch<'_> {
    /// Index of the named source.
    #[must_use]
    pub fn argument(&self) -> usize {
        self.argument
    }

    /// The number of the batch in the order of all batches, from 0.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.turn.number()
    }

    /// Waits until all earlier batches are done or have [passed](Batch::pass_turn) their
    /// turn. False if the work has failed.
    #[must_use]
    pub fn wait_for_turn(&self) -> bool {
        self.turn.wait()
    }

    /// Lets the next batch have its turn before this one is done.
    pub fn pass_turn(&self) {
        self.turn.pass();
    }

    /// Reads the next game that meets the filter; false at the end.
    pub fn next(&mut self, game: &mut Game) -> bool {
        let GameReader { filter, wanted, .. } = *self.reader;
        loop {
            self.was_cut = false;
            let read = self.batch.next_for(wanted, filter, game);
            if matches!(read, Ok(false)) {
                return false;
            }
            self.tally.read += 1;
            let starts = self.reader.starts;
            match read {
                Err(reason) if reason.is_intended() => self.tally.left_out += 1,
                Err(reason) => {
                    let others = self.batch.lost_with_it();
                    self.tally.read += others;
                    self.tally.skipped += others;
                    self.skip(reason);
                }
                Ok(_) if game.chess960 && starts != Starts::Any => {
                    self.skip(SkipReason::Variant("Chess960".to_owned()));
                }
                Ok(_) if game.set_up && starts == Starts::Usual => self.skip(SkipReason::SetUp),
                Ok(_) => {
                    if let Some(condition) = filter.unmet(game) {
                        self.tally.filtered += 1;
                        self.tally.rejected.count(condition);
                        self.tally.unrated += u64::from(filter.lacks_rating(game));
                        continue;
                    }
                    self.tally.null_variations += u64::from(game.null_variations);
                    if let Some(reason) = game.cut.take() {
                        self.was_cut = true;
                        self.tally.cut += 1;
                        self.tally.named.push(self.batch.skip(reason).cut_short());
                    }
                    return true;
                }
            }
        }
    }

    /// Source and place of the last game, for messages.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}: {}", self.batch.source(), self.batch.place())
    }

    /// Counts the last game as skipped, for a reason found by the caller.
    pub fn refuse(&mut self, reason: SkipReason) {
        if std::mem::take(&mut self.was_cut) {
            self.tally.cut -= 1;
            self.tally.named.pop();
        }
        self.skip(reason);
    }

    fn skip(&mut self, reason: SkipReason) {
        self.tally.skipped += 1;
        self.tally.named.push(self.batch.skip(reason));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::GamePlace;

    #[test]
    fn what_is_left_is_said_in_one_sentence() {
        let skipped = |number, cut| Skipped {
            source: "x".to_owned(),
            place: GamePlace::Game(number),
            cut,
            reason: SkipReason::SetUp,
        };
        let mut tally = Tally {
            read: 1,
            ..Tally::default()
        };
        assert_eq!(tally.what_is_left(), "1 game read");
        tally.read = 9;
        assert_eq!(tally.what_is_left(), "9 games read");
        (tally.skipped, tally.filtered, tally.unrated) = (2, 4, 3);
        tally.named = vec![skipped(3, true), skipped(4, false), skipped(5, false)];
        tally.rejected.count(crate::GameCondition::Since);
        let all = "; skipped: 2 (the first: x: game 4: game skipped: it starts from a set-up \
                   position); 4 did not match the conditions (3 of them without a rating): \
                   1 by --since";
        assert_eq!(tally.what_is_left(), format!("9 games read{all}"));
        tally.filtered = 7;
        let all = all.replace("; 4", "; 7");
        assert_eq!(tally.what_is_left(), format!("no game is left of 9{all}"));
        let mut more = tally.clone();
        more.named = vec![skipped(7, false); NAMED_SKIPS];
        tally.add(more);
        assert_eq!((tally.read, tally.skipped, tally.filtered), (18, 4, 14));
        assert_eq!((tally.unrated, tally.rejected.total()), (6, 2));
        assert_eq!(tally.named.len(), NAMED_SKIPS);
        assert_eq!(
            tally.named[1..4],
            [skipped(4, false), skipped(5, false), skipped(7, false)]
        );
    }

    /// Each first position is accepted where it is asked for.
    #[test]
    fn games_are_added_up_by_their_starts() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["x.pgn", "y.pgn"].map(|name| folder.path().join(name));
        let fen = "[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n\n1. O-O *\n\n";
        let chess960 = "[Variant \"Chess960\"]\n\
            [FEN \"1rk4r/8/8/8/8/8/8/1RK4R w KQkq - 0 1\"]\n\n1. O-O *\n\n";
        for path in &paths {
            fs::write(path, format!("1. e4 e5 *\n\n{fen}{chess960}1. d4 *\n")).unwrap();
        }
        let sources = Sources::list(&paths[..1]).unwrap();
        for (starts, games, plies) in [
            (Starts::Usual, 2, 3),
            (Starts::SetUp, 3, 4),
            (Starts::Any, 4, 5),
        ] {
            let filter = GameFilter::default();
            let reader = GameReader::new(&filter).starts(starts).threads(2);
            let add = |sum: &mut (u64, usize), game: &Game| {
                (sum.0, sum.1) = (sum.0 + 1, sum.1 + game.moves.len());
                Ok::<(), Error>(())
            };
            let added = reader.add_up(&sources, add, &mut Watch::default());
            let (tally, sums) = added.unwrap();
            let sum = |part: fn(&(u64, usize)) -> u64| sums.iter().map(part).sum::<u64>();
            assert_eq!((sum(|sum| sum.0), sum(|sum| sum.1 as u64)), (games, plies));
            assert_eq!((tally.read, tally.skipped), (4, 4 - games));
            // A batch knows its source.
            let worker = |batches: &Batches<'_, usize, (), Error>| {
                batches.each(|batch| {
                    while batch.next(&mut Game::default()) {}
                    Ok(batch.argument())
                })
            };
            let mut found = Vec::new();
            let sink = |argument| {
                found.push(argument);
                Ok(())
            };
            let twice = Sources::list(&paths).unwrap();
            reader
                .read(&twice, worker, sink, &mut Watch::default())
                .unwrap();
            assert_eq!(found, [0, 1]);
        }
    }

    #[test]
    fn games_without_a_rating_are_counted_apart_from_those_of_weaker_players() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.pgn");
        let games = ["2400", "1800", "?", "1900", "0"];
        let games = games.map(|elo| format!("[WhiteElo \"{elo}\"]\n\n1. e4 *\n\n"));
        fs::write(&path, games.concat()).unwrap();
        let filter = GameFilter {
            min_elo: Some(2000),
            ..GameFilter::default()
        };
        let add = |_: &mut (), _: &Game| Ok::<(), Error>(());
        let sources = Sources::list([&path]).unwrap();
        let added = GameReader::new(&filter).add_up(&sources, add, &mut Watch::default());
        let (tally, _) = added.unwrap();
        assert_eq!((tally.read, tally.filtered, tally.unrated), (5, 4, 2));
    }

    /// Twenty batches of ten games; the name of the file selects the failure.
    struct Faulty {
        name: String,
        batch: u64,
    }

    struct FaultyBatch {
        name: String,
        number: u64,
        end: u64,
    }

    fn faulty(path: &Path, _: Option<&str>, _: Option<TextEncoding>) -> OpenResult {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name.starts_with("unreadable") {
            return Err(Error::format(Path::new(&name), "torn"));
        }
        if name == "forbidden" {
            let reason = std::io::ErrorKind::PermissionDenied;
            return Err(Error::io(path, reason));
        }
        Ok(Box::new(Faulty { name, batch: 0 }))
    }

    impl GameSource for Faulty {
        fn next_batch(&mut self) -> Result<Option<Box<dyn GameBatch>>, Error> {
            self.batch += 1;
            if self.name == "source" && self.batch > 5 {
                return Err(Error::format(Path::new(&self.name), "torn"));
            }
            let batch = FaultyBatch {
                name: self.name.clone(),
                number: 10 * self.batch,
                end: 10 * self.batch + 10,
            };
            Ok((self.batch <= 20).then(|| Box::new(batch) as _))
        }

        fn bytes_read(&self) -> u64 {
            0
        }

        fn remarks(&self) -> Vec<String> {
            vec![format!("{} read", self.name)]
        }
    }

    impl GameBatch for FaultyBatch {
        fn next_game(&mut self, _: GameParts, game: &mut Game) -> Result<bool, SkipReason> {
            self.number += 1;
            assert!(self.name != "panics" || self.number < 77, "a bad byte");
            if self.name == "skips" && self.number.is_multiple_of(7) && self.number <= self.end {
                return Err(SkipReason::SetUp);
            }
            game.clear();
            game.year = self.number as u16;
            game.set_up = self.number.is_multiple_of(5);
            Ok(self.number <= self.end)
        }

        fn source(&self) -> &str {
            &self.name
        }

        fn place(&self) -> GamePlace {
            GamePlace::Game(self.number)
        }
    }

    /// The years of all games, which are their numbers. At game `full` the worker
    /// fails.
    fn years(name: &str, threads: usize, full: u16) -> Result<(Vec<u16>, Tally), Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, "").unwrap();
        years_of(
            Sources::list([&path]).unwrap(),
            name == "stopped",
            threads,
            full,
        )
    }

    /// As [`years`], of several files.
    fn years_of(
        mut sources: Sources,
        is_stopped: bool,
        threads: usize,
        full: u16,
    ) -> Result<(Vec<u16>, Tally), Error> {
        sources.open = faulty;
        let filter = GameFilter::default();
        let reader = GameReader::new(&filter).threads(threads);
        let mut all = Vec::new();
        let worker = |batches: &Batches<'_, Vec<u16>, (), Error>| {
            let mut game = Game::default();
            batches.each(|batch| {
                let mut years = Vec::new();
                while batch.next(&mut game) {
                    if game.year >= full {
                        return Err(Error::format(Path::new("worker"), "full"));
                    }
                    years.push(game.year);
                }
                if batch.wait_for_turn() {
                    batch.pass_turn();
                }
                Ok(years)
            })
        };
        let take = |years| {
            all.extend(years);
            Ok(())
        };
        let stop = AtomicBool::new(is_stopped);
        let read = reader.read(&sources, worker, take, &mut Watch::stopped_by(&stop));
        Ok((all, read?.0))
    }

    #[test]
    fn games_come_in_order_and_the_others_are_counted() {
        let (one, tally) = years("skips", 1, u16::MAX).unwrap();
        assert!(one.is_sorted() && one.iter().all(|year| year % 7 > 0 && year % 5 > 0));
        assert_eq!((tally.read, tally.skipped), (200, 200 - one.len() as u64));
        assert!(tally.named.is_sorted() && tally.named.len() as u64 == tally.skipped);
        assert_eq!(tally.remarks, ["skips read"]);
        assert_eq!((tally.cut_sources, tally.contradictory_sources), (0, 0));
        assert_eq!(years("skips", 4, u16::MAX).unwrap(), (one, tally));
    }

    /// A file of a folder that cannot be read is reported, and the others are used; one
    /// that was named ends the work.
    #[test]
    fn an_unreadable_file_of_a_folder_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = folder.path().join(name);
            fs::write(&path, "").unwrap();
            path
        };
        let read = |sources: Sources| years_of(sources, false, 1, u16::MAX);
        let unreadable = write("unreadable.pgn");
        let of_folder = || Sources::list([&folder.path().to_owned()]).unwrap();
        let none = read(of_folder()).unwrap_err();
        assert_eq!(none.to_string(), "unreadable: torn");
        let good = write("good.pgn");
        let (found, tally) = read(of_folder()).unwrap();
        assert_eq!(tally.remarks, ["unreadable: torn; skipped", "good read"]);
        assert_eq!((tally.read, tally.cut_sources), (200, 1));
        assert!(!found.is_empty());
        let named = read(Sources::list([&good, &unreadable]).unwrap()).unwrap_err();
        assert_eq!(named.to_string(), "unreadable: torn");
        // What is wrong with the system is not passed over.
        write("forbidden.pgn");
        let failed = read(of_folder()).unwrap_err().to_string();
        assert!(failed.contains("forbidden.pgn"), "{failed}");
    }

    /// A reader that panics, one that fails, a worker that fails, and a caller that
    /// cancels: no thread waits for ever.
    #[test]
    fn whatever_fails_ends_the_reading_with_its_message() {
        for threads in [1, 2, 4] {
            for (name, full, message) in [
                ("panics", u16::MAX, "internal error: a bad byte"),
                ("source", u16::MAX, "source: torn"),
                ("full", 55, "worker: full"),
                ("stopped", u16::MAX, "interrupted; nothing was changed"),
            ] {
                let failure = years(name, threads, full).unwrap_err();
                assert_eq!(failure.to_string(), message);
            }
        }
    }
}
