//! What a table says about itself: in its footer, and, as engines drop the footer, in the row
//! that counts games, as sums that an engine adds up like all others.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::checksum::hash;
use super::{COUNTERS, RecordsError};
use crate::BuildJob;

/// The name of [`Part`] in the footer.
pub(super) const NOTE: &str = "tabia";

/// Bytes at the beginning and the end of a source of which its digest is made. Sources have
/// gigabytes, and are to be distinguished, not verified.
const DIGEST_BYTES: u64 = 8 << 20;

/// The footer, as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    /// Version of the program.
    pub(crate) version: String,
    pub(crate) games: u64,
    pub(crate) conditions: Conditions,
    pub(crate) sources: Vec<PartSource>,
    /// The checksum of all rows, in hexadecimal digits.
    pub(crate) checksum: String,
}

/// A file of games.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PartSource {
    /// The path as the user named it.
    pub(crate) path: String,
    pub(crate) bytes: u64,
    /// The digest of the beginning and end of the file, in hexadecimal digits.
    pub(crate) digest: String,
}

impl PartSource {
    /// `None` for what is not a file.
    pub(crate) fn of(path: &Path) -> io::Result<Option<PartSource>> {
        if path == Path::new("-") || !path.metadata()?.is_file() {
            return Ok(None);
        }
        let mut file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let mut ends = Vec::new();
        (&file).take(DIGEST_BYTES).read_to_end(&mut ends)?;
        file.seek(SeekFrom::Start(bytes.saturating_sub(DIGEST_BYTES)))?;
        file.take(DIGEST_BYTES).read_to_end(&mut ends)?;
        Ok(Some(PartSource {
            path: path.display().to_string(),
            bytes,
            digest: hex(hash(&ends)),
        }))
    }
}

pub(super) fn hex(number: u64) -> String {
    format!("{number:016x}")
}

/// Under which conditions games were counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Conditions {
    /// The options as they are typed. `None` if an engine added tables up.
    options: Option<Vec<String>>,
    /// A number of [`FINGERPRINT_BITS`] made of them, which differs for other conditions, but for one pair in 65,536.
    fingerprint: u64,
    max_ply: u64,
    /// The index of the only side whose moves are counted, in [`SIDES`].
    side: u64,
}

/// So few that the squares of a million of them can be added up.
const FINGERPRINT_BITS: u32 = 16;

const SIDES: [&str; 3] = ["both", "white", "black"];

impl Conditions {
    pub(crate) fn of_job(job: &BuildJob) -> Conditions {
        let side = job.only.map_or(0, |side| side.fold_wb(1, 2));
        let mut options = vec![plies_option(job.max_ply as u64)];
        options.extend(side_option(side));
        options.extend(job.eco_relative.map(|n| format!("--eco-relative {n}")));
        let flags = [
            (job.setups, "--setups"),
            (job.variations, "--variations"),
            (job.dedupe, "--dedupe"),
        ];
        options.extend(flags.iter().filter(|flag| flag.0).map(|flag| flag.1.into()));
        options.extend(job.filter.words());
        Conditions {
            fingerprint: hash(options.join("\n").as_bytes()) & ((1 << FINGERPRINT_BITS) - 1),
            options: Some(options),
            max_ply: job.max_ply as u64,
            side,
        }
    }

    /// Whether games that were counted so can be added to these. Of what an engine has added up,
    /// only the fingerprint is left.
    pub(super) fn is_as(&self, other: &Conditions) -> bool {
        match (&self.options, &other.options) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => self.fingerprint == other.fingerprint,
        }
    }

    /// The options, as they are typed.
    pub(super) fn text(&self) -> String {
        match &self.options {
            Some(options) => options.join(" "),
            None => {
                let known = [Some(plies_option(self.max_ply)), side_option(self.side)];
                known.into_iter().flatten().collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// The options that only these conditions have, and the ones that only `other` has.
    pub(super) fn unlike(&self, other: &Conditions) -> (String, String) {
        let (Some(mine), Some(theirs)) = (&self.options, &other.options) else {
            return (self.text(), other.text());
        };
        let only = |these: &[String], those: &[String]| {
            let only = these.iter().filter(|option| !those.contains(option));
            let text = only.cloned().collect::<Vec<_>>().join(" ");
            if text.is_empty() {
                "without it".to_owned()
            } else {
                text
            }
        };
        (only(mine, theirs), only(theirs, mine))
    }

    /// Whether a job can take the records of a file with these conditions: games that the job
    /// counts itself must be counted alike, and its options must not ask for other conditions.
    /// A job without options takes the records as they are.
    ///
    /// # Errors
    ///
    /// The job cannot take them.
    pub(crate) fn check(
        &self,
        path: &Path,
        job: &BuildJob,
        games: Option<&Path>,
    ) -> Result<(), RecordsError> {
        let asked = Conditions::of_job(job);
        let unfit = |text: String| {
            let path = path.to_owned();
            Err(RecordsError::Unfit { path, text })
        };
        let with = self.text();
        if let Some(games) = games.filter(|_| !self.is_as(&asked)) {
            let (games, asked) = (games.display(), asked.text());
            return unfit(format!("was counted with {with}, but {games} with {asked}"));
        }
        if self.side != asked.side {
            return unfit(format!(
                "was counted with {with}: give the same side (--only) for the book"
            ));
        }
        let usual = BuildJob::new(Vec::new(), job.target.clone()).only(job.only);
        let usual = Conditions::of_job(&usual).options.unwrap_or_default();
        let known = match &self.options {
            Some(options) => options.clone(),
            None => vec![plies_option(self.max_ply)],
        };
        let mut asked = asked.options.iter().flatten();
        let other = asked.find(|option| {
            let can_be_known = self.options.is_some() || option.starts_with(PLIES);
            can_be_known && !known.contains(option) && !usual.contains(option)
        });
        match other {
            Some(other) => unfit(format!(
                "was counted with {with}, not {other}: count its games again"
            )),
            None => Ok(()),
        }
    }
}

const PLIES: &str = "--max-ply";

fn plies_option(plies: u64) -> String {
    format!("{PLIES} {plies}")
}

fn side_option(side: u64) -> Option<String> {
    let name = SIDES.get(side as usize).filter(|_| side > 0)?;
    Some(format!("--only {name}"))
}

/// The row that counts games, added up over tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GamesRow {
    pub(super) games: u64,
    /// Number of parts; none in a table of another program.
    pub(super) parts: u64,
    fingerprints: u64,
    /// Sum of their squares: numbers are all the same if the square of their sum is their
    /// count times the sum of their squares.
    squares: u64,
    plies: u64,
    sides: u64,
    /// Sums of the halves of checksums.
    low: u64,
    high: u64,
}

impl GamesRow {
    pub(super) fn new(games: u64, conditions: &Conditions) -> GamesRow {
        GamesRow {
            games,
            parts: 1,
            fingerprints: conditions.fingerprint,
            squares: conditions.fingerprint * conditions.fingerprint,
            plies: conditions.max_ply,
            sides: conditions.side,
            low: 0,
            high: 0,
        }
    }

    /// With the checksum of all rows; this row itself enters it without a checksum.
    pub(super) fn with_checksum(self, checksum: u64) -> GamesRow {
        GamesRow {
            low: checksum & u64::from(u32::MAX),
            high: checksum >> 32,
            ..self
        }
    }

    pub(super) fn checksum(&self) -> u64 {
        self.low.wrapping_add(self.high << 32)
    }

    /// The columns `games`, `wins`, `draws`, `losses`, `own_rated`, `own_sum`,
    /// `other_rated`, `other_sum`, `main`.
    pub(super) fn counters(&self) -> [u64; COUNTERS.len()] {
        [
            self.games,
            self.parts,
            self.fingerprints,
            self.squares,
            self.plies,
            self.low,
            self.sides,
            self.high,
            0,
        ]
    }

    pub(super) fn from_counters(counters: &[u64; COUNTERS.len()]) -> GamesRow {
        let [
            games,
            parts,
            fingerprints,
            squares,
            plies,
            low,
            sides,
            high,
            _,
        ] = *counters;
        GamesRow {
            games,
            parts,
            fingerprints,
            squares,
            plies,
            sides,
            low,
            high,
        }
    }

    pub(super) fn add(&mut self, other: &GamesRow) {
        let sums = self.counters().into_iter().zip(other.counters());
        let mut all = [0; COUNTERS.len()];
        for (to, (one, two)) in all.iter_mut().zip(sums) {
            *to = one.wrapping_add(two);
        }
        *self = GamesRow::from_counters(&all);
    }

    /// The conditions of all parts; `None` if they are not the same.
    pub(super) fn conditions(&self) -> Option<Conditions> {
        let (parts, sum) = (u128::from(self.parts), u128::from(self.fingerprints));
        if parts == 0 || parts * u128::from(self.squares) != sum * sum {
            return None;
        }
        Some(Conditions {
            options: None,
            fingerprint: self.fingerprints / self.parts,
            max_ply: self.plies / self.parts,
            side: self.sides / self.parts,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use shakmaty::Color;

    proptest! {
        #[test]
        fn a_sum_has_the_conditions_of_its_parts_if_they_are_the_same(
            fingerprint in 0..1_u64 << 16, other in 0..1_u64 << 16,
            max_ply in 0..500_u64, side in 0..3_u64, parts in 1..50_u64,
        ) {
            let one = Conditions { options: None, fingerprint, max_ply, side };
            let mut sum = GamesRow::default();
            for games in 0..parts {
                sum.add(&GamesRow::new(games, &one));
            }
            prop_assert_eq!(sum.conditions(), Some(one.clone()));
            sum.add(&GamesRow::new(1, &Conditions { fingerprint: other, ..one }));
            prop_assert_eq!(sum.conditions().is_some(), other == fingerprint);
        }
    }

    /// As two of 65,536 conditions have.
    #[test]
    fn conditions_with_the_same_fingerprint_are_not_the_same() {
        let of = |options: Option<&[&str]>| Conditions {
            options: options.map(|words| words.iter().map(|&word| word.to_owned()).collect()),
            fingerprint: 7,
            max_ply: 40,
            side: 0,
        };
        let (one, other) = (of(Some(&["--min-elo 2000"])), of(Some(&["--since 1990"])));
        assert!(one.is_as(&one) && !one.is_as(&other));
        // What an engine has added up has nothing else.
        assert!(of(None).is_as(&one));
    }

    fn job(plies: usize, only: Option<Color>) -> BuildJob {
        BuildJob::new(Vec::new(), "book.ctg".into())
            .max_ply(plies)
            .only(only)
    }

    /// As they are typed, and what is left of them in a sum: plies and side.
    #[test]
    fn conditions_are_shown_as_options() {
        let mut all = job(30, Some(Color::Black)).eco_relative(Some(4));
        (all.setups, all.variations, all.dedupe) = (true, true, true);
        all.filter.min_elo = Some(2000);
        let all = Conditions::of_job(&all);
        let text = "--max-ply 30 --only black --eco-relative 4 --setups --variations --dedupe \
                    --min-elo 2000";
        assert_eq!(all.text(), text);
        let plain = Conditions::of_job(&job(30, None));
        let sum = |one: &Conditions| GamesRow::new(1, one).conditions().unwrap();
        assert_eq!(sum(&all).text(), "--max-ply 30 --only black");
        assert_eq!(sum(&plain).text(), "--max-ply 30");
        assert!(sum(&all).is_as(&all) && !sum(&all).is_as(&plain));
        let unlike = |one: &Conditions, other: &Conditions| {
            let (mine, theirs) = one.unlike(other);
            format!("{mine} | {theirs}")
        };
        let white = Conditions::of_job(&job(31, Some(Color::White)));
        assert_eq!(
            unlike(&white, &plain),
            "--max-ply 31 --only white | --max-ply 30"
        );
        let rest = text.strip_prefix("--max-ply 30 ").unwrap();
        assert_eq!(unlike(&all, &plain), format!("{rest} | without it"));
        assert_eq!(
            unlike(&sum(&all), &plain),
            "--max-ply 30 --only black | --max-ply 30"
        );
    }

    #[test]
    fn a_job_takes_records_as_they_are_or_of_its_own_conditions() {
        let strong = |plies| {
            let mut job = job(plies, None);
            job.filter.min_elo = Some(2000);
            job
        };
        let white = || job(40, Some(Color::White));
        // Those of the usual 40 plies ask for nothing.
        for (counted, asked, with_games, of_records, of_sum) in [
            (job(30, None), job(40, None), false, "", ""),
            (
                job(40, None),
                job(30, None),
                false,
                "x: was counted with --max-ply 40, not --max-ply 30: count its games again",
                "x: was counted with --max-ply 40, not --max-ply 30: count its games again",
            ),
            (
                job(30, None),
                strong(40),
                false,
                "x: was counted with --max-ply 30, not --min-elo 2000: count its games again",
                "",
            ),
            (strong(40), strong(40), true, "", ""),
            (
                job(30, None),
                job(40, None),
                true,
                "x: was counted with --max-ply 30, but g.pgn with --max-ply 40",
                "x: was counted with --max-ply 30, but g.pgn with --max-ply 40",
            ),
            (white(), white(), false, "", ""),
            (
                white(),
                job(40, None),
                false,
                "x: was counted with --max-ply 40 --only white: give the same side (--only) for \
                 the book",
                "x: was counted with --max-ply 40 --only white: give the same side (--only) for \
                 the book",
            ),
        ] {
            let records = Conditions::of_job(&counted);
            let sum = GamesRow::new(1, &records).conditions().unwrap();
            for (known, expected) in [(records, of_records), (sum, of_sum)] {
                let games = with_games.then_some(Path::new("g.pgn"));
                let error = known.check(Path::new("x"), &asked, games).err();
                let error = error.map(|error| error.to_string()).unwrap_or_default();
                assert_eq!(error, expected);
            }
        }
    }

    #[test]
    fn a_source_is_known_by_its_length_and_its_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.pgn");
        std::fs::write(&path, "abc").unwrap();
        let source = PartSource::of(&path).unwrap().unwrap();
        assert_eq!(source.path, path.display().to_string());
        assert_eq!((source.bytes, source.digest), (3, hex(hash(b"abcabc"))));
        for none in [folder.path(), Path::new("-")] {
            assert!(PartSource::of(none).unwrap().is_none());
        }
        assert!(PartSource::of(&folder.path().join("none")).is_err());
    }

    /// Of more than 2^32, as checksums are.
    #[test]
    fn a_row_of_games_comes_back() {
        let conditions = Conditions::of_job(&job(30, Some(Color::Black)));
        let row = GamesRow::new(7, &conditions).with_checksum(0x1234_5678_9abc_def0);
        assert_eq!(GamesRow::from_counters(&row.counters()), row);
        assert_eq!(row.checksum(), 0x1234_5678_9abc_def0);
        let [games, parts, number, square, plies, low, side, high, _] = row.counters();
        assert_eq!([games, parts, plies, side], [7, 1, 30, 2]);
        assert_eq!(square, number * number);
        assert!(number > 0 && low == 0x9abc_def0 && high == 0x1234_5678);
    }
}
