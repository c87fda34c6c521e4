//! Collects positions from games and suites.

use std::io::{BufRead as _, BufReader};
use std::path::Path;

use shakmaty::{Chess, EnPassantMode, Position as _};

use super::entry::{Candidate, StartPosition};
use super::filter::BoardFilter;
use super::job::Cut;
use super::text::text_of;
use crate::error::{Error, about};
use crate::funnel::{Funnel, FunnelStep};
use tabia_games::{Batches, Game, GameFilter, GameParts, GameReader, Sources, Starts, Tally};
use tabia_io::progress::Watch;
use tabia_notation as notation;

/// The checks of a position before it becomes a candidate.
#[derive(Clone, Copy, Debug)]
pub(super) struct CandidateFilter<'a> {
    pub(super) board: &'a BoardFilter,
    pub(super) mirrors: bool,
    /// Only positions after this one.
    pub(super) below: Option<&'a Chess>,
    pub(super) cut: Cut,
}

impl CandidateFilter<'_> {
    /// Makes a candidate, if the board meets the conditions.
    pub(super) fn admit(
        &self,
        position: &Chess,
        entry: StartPosition,
        source: u32,
        funnel: &mut Funnel,
    ) -> Option<Candidate> {
        funnel.seen += 1;
        if let Some(refusal) = self.board.refuses(position) {
            funnel.lose(refusal, 1);
            return None;
        }
        Some(Candidate::new(entry, position, source, self.mirrors))
    }

    /// Collects the positions of a game.
    fn game(&self, game: &Game, made: &mut CollectedPositions) {
        let plies = game.moves.len();
        let (first, last) = match self.cut {
            Cut::At(ply) => (ply as usize, ply as usize),
            Cut::Range(first, last) => (first as usize, last as usize),
            Cut::End | Cut::Exit => (plies, plies),
        };
        if first > plies {
            made.funnel.seen += 1;
            made.funnel.lose(FunnelStep::Short, 1);
            return;
        }
        let last = last.min(plies);
        let begin = match self.below {
            None => Some(0),
            Some(below) => {
                let mut positions = game.positions.iter().take(last + 1);
                positions.position(|position| same(position, below))
            }
        };
        let Some(begin) = begin else {
            made.funnel.seen += 1;
            made.funnel.lose(FunnelStep::Elsewhere, 1);
            return;
        };
        let start = game.positions.first().filter(|_| game.set_up);
        let before = made.candidates.len();
        for ply in first.max(begin)..=last {
            let (Some(position), Some(moves)) = (game.positions.get(ply), game.moves.get(..ply))
            else {
                break;
            };
            let mut entry = StartPosition::new(position, start, moves);
            entry.played = 1;
            if let Some(candidate) = self.admit(position, entry, 0, &mut made.funnel) {
                // A position counts once per game.
                let own = |c: &Candidate| c.entry.own == candidate.entry.own;
                let known = made.candidates.get(before..).unwrap_or_default();
                if !known.iter().any(own) {
                    made.candidates.push(candidate);
                } else {
                    made.funnel.seen -= 1;
                }
            }
        }
    }
}

/// Whether two positions are equal except for their counters.
pub(super) fn same(a: &Chess, b: &Chess) -> bool {
    a.board() == b.board()
        && a.turn() == b.turn()
        && a.castles().castling_rights() == b.castles().castling_rights()
        && a.ep_square(EnPassantMode::Legal) == b.ep_square(EnPassantMode::Legal)
}

#[derive(Default)]
struct CollectedPositions {
    candidates: Vec<Candidate>,
    funnel: Funnel,
    games: u64,
}

/// What was collected from games.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) tally: Tally,
    pub(super) funnel: Funnel,
    /// Games that counted.
    pub(super) games: u64,
}

/// Reads files of games.
pub(super) fn read_games(
    sources: &Sources,
    filter: &GameFilter,
    checks: CandidateFilter<'_>,
    threads: usize,
    watch: &mut Watch<'_>,
    mut keep: impl FnMut(Candidate) -> Result<(), Error>,
) -> Result<Read, Error> {
    let plies = match checks.cut {
        Cut::At(last) | Cut::Range(_, last) => last as usize,
        Cut::End | Cut::Exit => usize::MAX,
    };
    let reader = GameReader::new(filter)
        .wanted(GameParts::default().up_to(plies))
        .starts(Starts::SetUp)
        .threads(threads);
    let mut read = Read::default();
    let worker = |batches: &Batches<'_, CollectedPositions, (), Error>| {
        let mut game = Game::default();
        batches.each(|batch| {
            let mut made = CollectedPositions::default();
            while batch.next(&mut game) {
                made.games += 1;
                checks.game(&game, &mut made);
            }
            Ok(made)
        })
    };
    let take = |made: CollectedPositions| {
        read.funnel.add(&made.funnel);
        read.games += made.games;
        made.candidates.into_iter().try_for_each(&mut keep)
    };
    let (tally, _) = reader.read(sources, worker, take, watch)?;
    Ok(Read { tally, ..read })
}

/// Reads a suite of positions: one FEN or EPD per line. Invalid lines are reported.
pub(super) fn read_epd(
    path: &Path,
    checks: CandidateFilter<'_>,
    watch: &mut Watch<'_>,
    mut keep: impl FnMut(Candidate) -> Result<(), Error>,
) -> Result<Read, Error> {
    let text = text_of(path)?;
    let mut text = BufReader::new(text);
    let mut read = Read::default();
    let mut line = Vec::new();
    let mut number = 0_u64;
    loop {
        line.clear();
        let there = text.read_until(b'\n', &mut line);
        if there.map_err(|error| about(path, error))? == 0 {
            break;
        }
        number += 1;
        watch.position("reading", number, None)?;
        let shown = String::from_utf8_lossy(&line);
        let words = shown.trim_start_matches('\u{feff}').trim();
        if words.is_empty() || words.starts_with('#') {
            continue;
        }
        read.tally.read += 1;
        match notation::position(words) {
            Ok(position) => {
                read.games += 1;
                let mut entry = StartPosition::new(&position, Some(&position), &[]);
                entry.played = 1;
                let kept = checks.admit(&position, entry, 0, &mut read.funnel);
                if let Some(candidate) = kept {
                    keep(candidate)?;
                }
            }
            Err(error) => {
                read.tally.skipped += 1;
                if read.tally.remarks.len() < 20 {
                    let remark = format!("{}: line {number}: {error}", path.display());
                    read.tally.remarks.push(remark);
                }
            }
        }
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_that_meets_the_conditions_is_a_candidate() {
        let board = BoardFilter {
            side: Some(shakmaty::Color::White),
            ..BoardFilter::default()
        };
        let filter = CandidateFilter {
            board: &board,
            mirrors: false,
            below: None,
            cut: Cut::At(0),
        };
        let mut funnel = Funnel::default();
        let start = Chess::default();
        let black = tabia_notation::colours_exchanged(&start);
        for (position, is_admitted) in [(start, true), (black, false)] {
            let entry = StartPosition::new(&position, None, &[]);
            let found = filter.admit(&position, entry.clone(), 3, &mut funnel);
            let found = found.map(|found| (found.entry, found.source));
            assert_eq!(found, is_admitted.then_some((entry, 3)));
        }
        assert_eq!((funnel.seen, funnel.left()), (2, 1));
    }
}
