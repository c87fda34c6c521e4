//! Finds faults of a suite: those that stop a match manager, or make it play something
//! other than intended.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::io::{BufReader, Read};
use std::path::Path;

use rustc_hash::FxBuildHasher;
use serde::Serialize;
use shakmaty::fen::Fen;
use shakmaty::{
    CastlingMode, Chess, EnPassantMode, FromSetup as _, Position as _, PositionError,
    PositionErrorKinds,
};

use super::entry::{bytes_of, number_of, other_wing, pack};
use super::figures::{Figures, SuiteSummary, beginning};
use super::metadata::{Checksums, SuiteRow};
use super::text::{is_epd, text_of};
use super::values::PositionEval;
use crate::each_game::each_game;
use crate::error::{Error, about};
use tabia_book::evals::epd;
use tabia_games::{Game, GameFilter, GameParts, Starts};
use tabia_io::input::path::has_extension;
use tabia_io::progress::Watch;
use tabia_notation as notation;

/// A fault of a line or a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SuiteFault {
    /// The file begins with a byte order mark.
    ByteOrderMark,
    /// Lines end in CR LF.
    LineEnds,
    /// A line that is not a position.
    NoPosition,
    /// An illegal position.
    Illegal,
    /// The side that is not to move is in check.
    OppositeCheck,
    /// The game is over on the board.
    Over,
    /// EPD operations after the counters of a FEN: match managers ignore the counters.
    LostCounters,
    /// A position that occurred before.
    Duplicate,
    /// A position that occurred before with colours exchanged.
    Mirror,
    /// A game with an illegal move.
    IllegalMove,
    /// A game shorter than the others.
    Short,
}

/// A remark that is not a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SuiteNote {
    /// The games have many lengths, so that none counts as short.
    ManyLengths,
    /// So many lines have an en passant square where no pawn can be taken.
    SuperfluousEnPassant(u64),
    /// So many lines have the counters of a FEN, which cutechess-cli does not read.
    DroppedCounters(u64),
}

/// A fault and its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundFault {
    /// The line number in the text; for a game its number.
    pub line: u64,
    pub fault: SuiteFault,
    /// The text there, or the line that it repeats.
    pub text: String,
}

/// The result of checking a suite.
#[derive(Clone, Debug, Serialize)]
pub struct SuiteCheck {
    /// The first faults, in the order of the file.
    pub faults: Vec<FoundFault>,
    /// The number of faults of each kind.
    pub counts: Vec<(SuiteFault, u64)>,
    /// Remarks that are not faults.
    pub notes: Vec<SuiteNote>,
    /// Different positions.
    pub exits: u64,
    /// Positions that occurred before with wings exchanged, if nobody may castle.
    pub wing_mirrors: u64,
    /// Statistics of the suite.
    pub figures: SuiteSummary,
    /// Its entry in `books.json`.
    pub metadata: SuiteRow,
}

/// Highest number of faults in the list.
const NAMED: usize = 100;

/// Checks a suite. `plies` is the number of plies that are played of its games.
///
/// # Errors
///
/// The suite cannot be read.
pub fn check(path: &Path, plies: Option<u32>, watch: &mut Watch<'_>) -> Result<SuiteCheck, Error> {
    let text = text_of(path)?;
    let mut text = BufReader::with_capacity(1 << 20, text);
    let mut start = Vec::new();
    text.by_ref()
        .take(4096)
        .read_to_end(&mut start)
        .map_err(|error| about(path, error))?;
    let is_pgn = has_extension(path, "pgn") || !has_extension(path, "epd") && !is_epd(&start);
    let mut checking = Checking::default();
    let text = BufReader::new(std::io::Cursor::new(start).chain(text));
    checking
        .lines(text, is_pgn, watch)
        .map_err(|error| match error {
            Error::Text(why) => about(path, why),
            error => error,
        })?;
    if is_pgn {
        checking.games(path, plies, watch)?;
    }
    let checked = checking.finish();
    match checked.figures.positions == 0 && checked.faults.is_empty() {
        true => Err(about(path, "no position in it")),
        false => Ok(checked),
    }
}

#[derive(Default)]
struct Checking {
    faults: Vec<FoundFault>,
    counts: HashMap<SuiteFault, u64>,
    notes: Vec<SuiteNote>,
    /// The line in which each position occurred first.
    seen: HashMap<u64, u64, FxBuildHasher>,
    exits: u64,
    wing_mirrors: u64,
    superfluous: u64,
    dropped: u64,
    figures: Figures,
    checksums: Checksums,
}

impl Checking {
    fn found(&mut self, line: u64, fault: SuiteFault, text: impl Into<String>) {
        *self.counts.entry(fault).or_default() += 1;
        if self.faults.len() < NAMED {
            let text: String = text.into().trim_end().chars().take(100).collect();
            self.faults.push(FoundFault { line, fault, text });
        }
    }

    fn lines(
        &mut self,
        mut text: impl std::io::BufRead,
        is_pgn: bool,
        watch: &mut Watch<'_>,
    ) -> Result<(), Error> {
        let mut line = Vec::new();
        let mut number = 0;
        let mut returns = 0_u64;
        loop {
            line.clear();
            let read = text.read_until(b'\n', &mut line);
            if read.map_err(|error| Error::Text(error.to_string()))? == 0 {
                break;
            }
            self.checksums.add(&line);
            number += 1;
            watch.position("checking", number, None)?;
            let mut shown = String::from_utf8_lossy(&line).into_owned();
            if number == 1 && shown.starts_with('\u{feff}') {
                shown.remove(0);
                self.found(1, SuiteFault::ByteOrderMark, "");
            }
            if line.ends_with(b"\r\n") {
                returns += 1;
                if returns == 1 {
                    self.found(number, SuiteFault::LineEnds, "");
                }
            }
            let words = shown.trim();
            if !is_pgn && !words.is_empty() {
                self.line(number, words);
            }
        }
        Ok(())
    }

    fn line(&mut self, number: u64, words: &str) {
        let fields: Vec<&str> = words.split_whitespace().collect();
        let number_at = |n: usize| fields.get(n)?.parse::<u32>().ok();
        let setup = fields
            .get(..4)
            .and_then(|four| four.join(" ").parse::<Fen>().ok())
            .map(Fen::into_setup);
        let Some(setup) = setup else {
            return self.found(number, SuiteFault::NoPosition, words);
        };
        let mode = CastlingMode::detect(&setup);
        let ep = setup.ep_square;
        let position = match Chess::from_setup(setup, mode)
            .or_else(PositionError::ignore_invalid_ep_square)
            .or_else(PositionError::ignore_impossible_check)
        {
            Ok(position) => position,
            Err(error) => {
                let fault = match error.kinds().contains(PositionErrorKinds::OPPOSITE_CHECK) {
                    true => SuiteFault::OppositeCheck,
                    false => SuiteFault::Illegal,
                };
                return self.found(number, fault, words);
            }
        };
        let counters = number_at(4).zip(number_at(5));
        if counters.is_some() && fields.len() > 6 {
            self.found(number, SuiteFault::LostCounters, words);
        }
        if counters.is_some() && fields.get(4..6) != Some(&["0", "1"]) {
            self.dropped += 1;
        }
        if ep != position.ep_square(EnPassantMode::Legal) {
            self.superfluous += 1;
        }
        let eval = epd::read(words).ok();
        let eval = eval.map(|(position, value)| PositionEval::new(&position, &value));
        let ply = counters.map(|(_, full)| notation::ply(full, position.turn()));
        let opening = beginning(&position, None);
        self.position(number, &position, words);
        self.figures
            .add(&position, ply, eval.as_ref(), opening.as_deref());
    }

    /// The checks that lines and games have in common.
    fn position(&mut self, number: u64, position: &Chess, words: &str) {
        if position.is_game_over() {
            self.found(number, SuiteFault::Over, words);
        }
        let key = number_of(&pack(position));
        match self.seen.entry(key) {
            Slot::Occupied(first) => {
                let first = *first.get();
                return self.found(number, SuiteFault::Duplicate, format!("as {first}"));
            }
            Slot::Vacant(slot) => slot.insert(number),
        };
        self.exits += 1;
        let mirror = number_of(&pack(&notation::colours_exchanged(position)));
        if mirror != key
            && let Some(first) = self.seen.get(&mirror).copied()
        {
            self.found(number, SuiteFault::Mirror, format!("of {first}"));
        }
        if let Some(other) = other_wing(position) {
            let other = number_of(&pack(&other));
            self.wing_mirrors += u64::from(other != key && self.seen.contains_key(&other));
        }
    }

    fn games(
        &mut self,
        path: &Path,
        plies: Option<u32>,
        watch: &mut Watch<'_>,
    ) -> Result<(), Error> {
        let wanted = GameParts::default().up_to(plies.map_or(usize::MAX, |plies| plies as usize));
        let end = |game: &Game| {
            let moves = game.moves.iter().filter(|_| !game.set_up);
            let path: Vec<u8> = moves.flat_map(|mv| bytes_of(*mv)).collect();
            let end = game.positions.last().cloned();
            Ok(end.map(|end| (beginning(&end, Some(&path)), end, game.moves.len() as u32)))
        };
        let (ends, tally) = each_game(
            path,
            &GameFilter::default(),
            wanted,
            Starts::Any,
            watch,
            end,
        )?;
        let mut lengths: Vec<u32> = Vec::new();
        for (opening, end, length) in ends.into_iter().flatten() {
            lengths.push(length);
            let number = lengths.len() as u64;
            self.position(number, &end, &notation::fen(&end));
            self.figures
                .add(&end, Some(length), None, opening.as_deref());
        }
        for skipped in &tally.named {
            self.found(0, SuiteFault::IllegalMove, skipped.to_string());
        }
        // The most frequent length is the intended one.
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for length in &lengths {
            *counts.entry(*length).or_default() += 1;
        }
        let usual = counts
            .iter()
            .max_by_key(|(length, count)| (**count, **length));
        let meant = plies.or(usual
            .filter(|(_, count)| 2 * **count > lengths.len())
            .map(|(l, _)| *l));
        match meant {
            Some(meant) => {
                for (number, length) in lengths.iter().enumerate().filter(|(_, l)| **l < meant) {
                    let text = format!("{length} plies instead of {meant}");
                    self.found(number as u64 + 1, SuiteFault::Short, text);
                }
            }
            None => self.notes.push(SuiteNote::ManyLengths),
        }
        Ok(())
    }

    fn finish(mut self) -> SuiteCheck {
        let notes = [
            SuiteNote::SuperfluousEnPassant(self.superfluous),
            SuiteNote::DroppedCounters(self.dropped),
        ];
        for (note, count) in notes.into_iter().zip([self.superfluous, self.dropped]) {
            self.notes.extend((count > 0).then_some(note));
        }
        let mut counts: Vec<(SuiteFault, u64)> = self.counts.into_iter().collect();
        counts.sort_unstable();
        self.faults.sort_by_key(|found| found.line);
        SuiteCheck {
            faults: self.faults,
            counts,
            notes: self.notes,
            exits: self.exits,
            wing_mirrors: self.wing_mirrors,
            metadata: super::publish::row_of(&self.figures, &self.checksums),
            figures: self.figures.summary(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(name: &str, text: &str) -> Vec<SuiteFault> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let report = check(&path, None, &mut Watch::default()).unwrap();
        report.counts.iter().map(|(fault, _)| *fault).collect()
    }

    const FIRST: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";

    #[test]
    fn every_fault_of_a_line_is_found() {
        let of = |line: &str| faults("a.epd", &format!("{FIRST} 0 1\n{line}\n"));
        assert_eq!(faults("a.epd", &format!("{FIRST} 0 1\n\n")), []);
        assert_eq!(
            faults("a.epd", &format!("{FIRST} 0 1\r\n")),
            [SuiteFault::LineEnds]
        );
        assert_eq!(
            faults("a.epd", &format!("\u{feff}{FIRST}\n")),
            [SuiteFault::ByteOrderMark]
        );
        assert_eq!(of("# made by hand"), [SuiteFault::NoPosition]);
        assert_eq!(of("8/8/8/8/8/8/8/K7 w - -"), [SuiteFault::Illegal]);
        assert_eq!(
            of("4k3/4R3/8/8/8/8/8/4K3 w - -"),
            [SuiteFault::OppositeCheck]
        );
        assert_eq!(of(&format!("{FIRST} 3 9")), [SuiteFault::Duplicate]);
        // A superfluous en passant square is ignored.
        let other = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3";
        assert_eq!(of(other), [SuiteFault::Duplicate]);
        let mirror = "rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        assert_eq!(of(mirror), [SuiteFault::Mirror]);
        let mate = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3";
        assert_eq!(of(mate), [SuiteFault::Over]);
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
        assert_eq!(
            of(&format!("{start} 3 3 bm e4;")),
            [SuiteFault::LostCounters]
        );
        assert_eq!(of(&format!("{start} hmvc 3; fmvn 5;")), []);
    }

    #[test]
    fn games_that_are_wrong_or_short_are_found() {
        let game = |moves: &str| format!("[Result \"*\"]\n\n{moves} *\n\n");
        let good = [game("1. e4 e5"), game("1. d4 d5"), game("1. c4 c5")].concat();
        assert_eq!(faults("a.pgn", &good), []);
        let bad = [good.clone(), game("1. e4 Ke6")].concat();
        assert_eq!(faults("a.pgn", &bad), [SuiteFault::IllegalMove]);
        let short = [good, game("1. f4")].concat();
        assert_eq!(faults("a.pgn", &short), [SuiteFault::Short]);
    }

    #[test]
    fn the_entry_is_the_genuine_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("startpos.epd");
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n";
        std::fs::write(&path, start).unwrap();
        let checked = check(&path, None, &mut Watch::default()).unwrap();
        assert_eq!((checked.exits, checked.figures.positions), (1, 1));
        let row = checked.metadata;
        let genuine = SuiteRow {
            total: 1,
            white: 1,
            black: 0,
            min_depth: Some(0),
            max_depth: Some(0),
            sri: "B0D/PN334ez5R9K8mGspR5ZjfXb0sWoEObBnkCI7sczqZbaOHQ5aooqk97zeHM0a".to_owned(),
        };
        assert_eq!(row, genuine);
    }
}
