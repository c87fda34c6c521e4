//! Creates an index, or adds games to one.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::Error;
use crate::count::Counter;
use crate::partitions::{MOST_SORT_BYTES, Partitions};
use crate::parts::{self, Joined};
use crate::posting::{Posting, id_key, player_key};
use crate::row::Row;
use crate::rows::write_rows;
use crate::{IDS, PLAYERS, POSITIONS};
use shakmaty::Color;
use tabia_games::tgx::{BlockMaker, EncodedGames, GAMES, Head, Segment, TableWriter, TgxWriter};
use tabia_games::{
    Batches, Game, GameFilter, GameParts, GameReader, Sources, Starts, Tally, TextEncoding,
};
use tabia_io::atomic::{self, Previous};
use tabia_io::parallel;
use tabia_io::progress::{Stopped, Watch};
use tabia_io::sort::{self, Merge, Runs, Sorter};

/// Plies of each game that are indexed by default.
pub const USUAL_PLIES: u16 = 50;

/// Sources, target and options of an index.
///
/// # Examples
///
/// ```
/// use tabia_index::{IndexJob, Watch};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("games.tgx");
/// # let [games, others] = ["Capa", "fob"].map(|name| format!("../../tests/data/chessbase/{name}.cbh"));
/// let mut job = IndexJob::new([games], &path);
/// job.max_ply = Some(30);
/// let made = job.run(&mut Watch::default())?;
/// assert_eq!((made.games, made.part.positions), (113, 2499));
///
/// let mut more = IndexJob::new([others], &path);
/// more.append = true;
/// let made = more.run(&mut Watch::default())?;
/// assert_eq!((made.added, made.games), (111, 224));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IndexJob {
    /// The games: files, folders, or `-` for standard input.
    pub sources: Vec<PathBuf>,
    /// Path of the index.
    pub target: PathBuf,
    /// What to do with an existing file.
    pub old: Previous,
    /// Whether the games are added to an existing index.
    pub append: bool,
    /// Whether all work is done, and then nothing kept: an existing index is as before.
    pub dry_run: bool,
    /// Password of encrypted archives.
    pub password: Option<String>,
    /// Encoding of texts that are not UTF-8.
    pub encoding: Option<TextEncoding>,
    /// The games to index.
    pub filter: GameFilter,
    /// The filter as text, stored in the index for later queries.
    pub conditions: String,
    /// Plies of each game that are indexed; `None` for those of the existing index, or
    /// [`USUAL_PLIES`].
    pub max_ply: Option<u16>,
    /// Threads that count, 1 or more.
    pub threads: usize,
    /// Memory limit in bytes.
    pub memory: u64,
    /// Folder of temporary files; by default that of the index.
    pub temp: Option<PathBuf>,
}

/// The result of making an index.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct IndexReport {
    /// Games read, skipped and filtered out.
    pub tally: Tally,
    /// Games without a result, which are not indexed.
    pub without_result: u64,
    /// Games that were added.
    pub added: u64,
    /// The segment of the index that contains them.
    pub part: Segment,
    /// Number of games in the index now.
    pub games: u64,
    /// Size of the index in bytes; an estimate after a dry run.
    pub bytes: u64,
    /// Bytes of the table of positions that was written.
    pub position_bytes: u64,
    /// Bytes that went through temporary files.
    pub sorted_on_disk: u64,
}

/// The result of a batch.
struct IndexedBatch {
    games: EncodedGames,
    without_result: u64,
    last_month: u32,
}

/// Where the sorts meet.
struct Sorts {
    rows: Runs<Row>,
    players: Arc<Runs<Posting>>,
    ids: Arc<Runs<Posting>>,
}

impl IndexJob {
    /// Indexes all games of the sources in a new file, with the usual depth, one gibibyte
    /// of memory and all processors.
    pub fn new(
        sources: impl IntoIterator<Item = impl Into<PathBuf>>,
        target: impl Into<PathBuf>,
    ) -> IndexJob {
        IndexJob {
            sources: sources.into_iter().map(Into::into).collect(),
            target: target.into(),
            old: Previous::default(),
            append: false,
            dry_run: false,
            password: None,
            encoding: None,
            filter: GameFilter::default(),
            conditions: String::new(),
            max_ply: None,
            threads: parallel::threads(),
            memory: 1 << 30,
            temp: None,
        }
    }

    /// Creates the index, or adds to it.
    ///
    /// # Errors
    ///
    /// No index is created; an existing one is unchanged.
    pub fn run(&self, watch: &mut Watch<'_>) -> Result<IndexReport, Error> {
        let sources = Sources::list(&self.sources)?
            .with_password(self.password.as_deref())
            .with_encoding(self.encoding);
        let is_target = |path: &&PathBuf| atomic::is_same_file(path, &self.target);
        if let Some(path) = self.sources.iter().find(is_target) {
            let path = path.clone();
            return Err(Error::Itself { path });
        }
        // Fails before hours of counting if the index cannot be written.
        let (mut writer, before) = match self.append {
            true => {
                let (writer, before) = TgxWriter::append(&self.target)?;
                (writer, Some(before))
            }
            false => {
                TgxWriter::check_name(&self.target)?;
                let plies = self.max_ply.unwrap_or(USUAL_PLIES);
                (TgxWriter::create(&self.target, self.old, plies)?, None)
            }
        };
        let max_ply = writer.root().max_ply;
        if let Some(wanted) = self.max_ply.filter(|wanted| *wanted != max_ply) {
            return Err(Error::OtherDepth {
                path: self.target.clone(),
                found: max_ply,
                wanted,
            });
        }
        let folder = sort::folder(self.temp.as_deref(), &self.target)?;
        let sorts = Sorts {
            rows: Runs::new(self.memory / 8 * 3, folder),
            players: Arc::new(Runs::new(self.memory / 16, folder)),
            ids: Arc::new(Runs::new(self.memory / 16, folder)),
        };
        let first_game = writer.root().games();
        let (mut summary, mut games, partitions) =
            read(self, &sources, &sorts, &mut writer, max_ply, watch)?;
        if summary.added == 0 {
            return Err(Error::NothingLeft {
                tally: summary.tally.what_is_left(),
                without_result: summary.without_result,
            });
        }
        let mut parts: Vec<u64> = writer
            .root()
            .segments
            .iter()
            .map(|part| part.games)
            .collect();
        parts.push(summary.added);
        let older = parts::due(&parts) - 1;
        let mut parts = writer.replace_last(older);
        parts.push(Segment {
            first_game,
            games: summary.added,
            last_month: summary.part.last_month,
            sources: self
                .sources
                .iter()
                .map(|path| path.display().to_string())
                .collect(),
            filter: self.conditions.clone(),
            ..Segment::default()
        });
        if let Some(before) = &before {
            parts::include_earlier_games(&mut games, before, older);
        }
        writer.end_table(GAMES, games)?;
        let part = &mut summary.part;
        *part = parts::merged_segment(&parts);
        let table = |name| Joined::new(name, before.as_ref(), older);
        let (done, moves) = write_rows(
            self.threads,
            &sorts.rows,
            partitions,
            table(POSITIONS)?,
            &mut writer,
            watch,
        )?;
        (part.positions, part.moves) = (done.entries, part.moves + moves - done.shared_moves);
        summary.position_bytes = done.bytes;
        for (name, runs) in [(PLAYERS, &sorts.players), (IDS, &sorts.ids)] {
            write_postings(
                name,
                &mut runs.take().merge()?,
                table(name)?,
                &mut writer,
                watch,
            )?;
        }
        summary.sorted_on_disk =
            sorts.rows.bytes_written() + sorts.players.bytes_written() + sorts.ids.bytes_written();
        summary.games = first_game + summary.added;
        summary.bytes = match self.dry_run {
            true => writer.bytes(),
            false => writer.finish(summary.part.clone())?,
        };
        Ok(summary)
    }
}

/// Reads every game, stores it, and sorts the records for its positions, players and
/// names.
fn read(
    job: &IndexJob,
    sources: &Sources,
    sorts: &Sorts,
    writer: &mut TgxWriter,
    max_ply: u16,
    watch: &mut Watch<'_>,
) -> Result<(IndexReport, TableWriter, Vec<Partitions>), Error> {
    let share = job.memory / 2 / job.threads.max(1) as u64;
    let reader = GameReader::new(&job.filter)
        .wanted(GameParts::default().with_headers())
        .starts(Starts::SetUp)
        .threads(job.threads);
    let first = u32::try_from(writer.root().games()).map_err(|_| Error::TooMany)?;
    let next = AtomicU32::new(first);
    let worker = |batches: &Batches<'_, IndexedBatch, Partitions, Error>| {
        let sort_bytes = (share / 4 * 3).min(MOST_SORT_BYTES) as usize;
        let mut counter = Counter::new(&sorts.rows, sort_bytes);
        let mut players = Sorter::new(Arc::clone(&sorts.players), share / 8);
        let mut ids = Sorter::new(Arc::clone(&sorts.ids), share / 8);
        let mut game = Game::default();
        // For the batch: keys of players and of names, with the numbers of games.
        let (mut named, mut known) = (Vec::new(), Vec::new());
        let mut posting = Posting::default();
        batches.each(|batch| {
            let (mut without_result, mut last_month) = (0, 0);
            named.clear();
            known.clear();
            let (mut games, mut number) = (EncodedGames::default(), 0);
            while batch.next(&mut game) {
                let Some(head) = Head::from_game(&game) else {
                    without_result += 1;
                    continue;
                };
                counter.take(&game, head.facts, number, max_ply.into());
                games.push(&head, &game);
                let month = head.facts.date.month().map_or(0, |month| month.number());
                last_month = last_month.max(month);
                for color in Color::ALL {
                    let name = head.names.get(color);
                    if !name.is_empty() && name != "?" {
                        named.push((player_key(name, color), number));
                    }
                }
                let id = head.lichess_id().and_then(id_key);
                known.extend(id.map(|key| (key, number)));
                number += 1;
            }
            if !batch.wait_for_turn() {
                return Err(Stopped.into());
            }
            let count = u32::try_from(games.count).map_err(|_| Error::TooMany)?;
            let start = next.load(Relaxed);
            let end = start.checked_add(count).ok_or(Error::TooMany)?;
            next.store(end, Relaxed);
            batch.pass_turn();
            counter.end_batch(start)?;
            for (sorter, keys) in [(&mut players, &named), (&mut ids, &known)] {
                for &(key, number) in keys {
                    posting.key = key;
                    posting.games.clear();
                    posting.games.push(start + number);
                    sorter.push(&posting)?;
                }
            }
            Ok(IndexedBatch {
                games,
                without_result,
                last_month,
            })
        })?;
        players.finish()?;
        ids.finish()?;
        Ok(counter.finish())
    };
    let mut table = TableWriter::default();
    let (mut summary, mut last_month) = (IndexReport::default(), 0);
    let mut blocks = BlockMaker::new(first.into());
    let sink = |batch: IndexedBatch| {
        blocks.add(&batch.games, |first, block| {
            table.block(first, block, writer)
        })?;
        summary.added += batch.games.count;
        summary.without_result += batch.without_result;
        last_month = last_month.max(batch.last_month);
        Ok(())
    };
    let (tally, partitions) = reader.read(sources, worker, sink, watch)?;
    blocks.finish(|first, block| table.block(first, block, writer))?;
    summary.tally = tally;
    summary.part.last_month = last_month;
    Ok((summary, table, partitions))
}

fn write_postings(
    name: &str,
    merge: &mut Merge<Posting>,
    mut table: Joined<'_>,
    writer: &mut TgxWriter,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let mut bytes = Vec::new();
    while let Some(posting) = merge.next()? {
        watch.go_on()?;
        bytes.clear();
        posting.encode_games(&mut bytes);
        table.put(posting.key, &bytes, writer)?;
    }
    table.finish(name, writer, watch)?;
    Ok(())
}
