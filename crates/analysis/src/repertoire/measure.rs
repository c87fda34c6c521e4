//! Measures the score of a repertoire in games that were not used to choose its moves.

use shakmaty::{Chess, Move, Position as _};

use super::Repertoire;
use super::states::{State, points};
use crate::Error;
use tabia_book::tree::weight;
use tabia_book::{Book, Lookup, PositionRecord, Probe as _, Wanted};
use tabia_notation as notation;

/// The score of a repertoire in other games.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Points a game, 0 to 1.
    pub score: f64,
    /// Half of the 95 per cent interval of that score, by the number of these games.
    pub error: f64,
    /// Points a game of all games through the first position of the repertoire, whatever
    /// was played.
    pub all: f64,
}

/// A position with fewer of these games counts with its own results, whatever is played
/// next: in lines of a few games chance matters more than moves.
const LEAST: f64 = 50.0;

/// The variance of the points of one game.
const VARIANCE: f64 = 0.15;

/// A mean and its variance.
#[derive(Clone, Copy)]
struct Mean {
    value: f64,
    variance: f64,
}

impl Mean {
    /// The mean over all games of a position.
    fn from_record(record: &PositionRecord, is_own: bool) -> Option<Mean> {
        let (points, games) = points(record, is_own);
        (games > 0.0).then(|| Mean {
            value: points / games,
            variance: VARIANCE / games,
        })
    }

    /// The weighted mean of parts, each with its share.
    fn sum(parts: &[(f64, Mean)]) -> Option<Mean> {
        let all: f64 = parts.iter().map(|(share, _)| share).sum();
        let sum = |of: &dyn Fn(&(f64, Mean)) -> f64| parts.iter().map(of).sum::<f64>();
        (all > 0.0).then(|| Mean {
            value: sum(&|(share, mean)| share * mean.value) / all,
            variance: sum(&|(share, mean)| share * share * mean.variance) / (all * all),
        })
    }
}

/// The progress at a state.
#[derive(Clone, Copy)]
enum StateProgress {
    Unvisited,
    /// The state is being computed; reaching it again means a cycle.
    InProgress,
    Done(Option<Mean>),
}

struct Measuring<'r> {
    repertoire: &'r Repertoire<'r>,
    games: &'r Book,
    found: Vec<StateProgress>,
}

impl Repertoire<'_> {
    /// The score of the moves in `games`, a book of games that were not used to choose
    /// the moves, against the replies in these games; `None` if its first position is not
    /// in that book. Lines count as far as fifty of these games follow them.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn measure(&self, games: &Book) -> Result<Option<Measured>, Error> {
        let mut measuring = Measuring {
            repertoire: self,
            games,
            found: vec![StateProgress::Unvisited; self.states.len()],
        };
        let Some(mean) = measuring.state(0)? else {
            return Ok(None);
        };
        let base = self.options.line.last();
        let is_own = base.turn() == self.options.colour;
        let state = self.states.find(base, is_own)?;
        let all = match state.and_then(|n| self.states.get(n)) {
            Some(state) if !state.is_given => measuring.all(base, is_own)?,
            _ => None,
        };
        Ok(Some(Measured {
            score: mean.value,
            error: 1.96 * mean.variance.sqrt(),
            all: all.unwrap_or(mean).value,
        }))
    }
}

impl Measuring<'_> {
    fn all(&self, position: &Chess, is_own: bool) -> Result<Option<Mean>, Error> {
        let mut found = Lookup::default();
        self.games.probe(position, Wanted::Stored, &mut found)?;
        Ok(found
            .here
            .and_then(|record| Mean::from_record(&record, is_own)))
    }

    /// Recursive; its depth is the length of the lines.
    fn state(&mut self, n: usize) -> Result<Option<Mean>, Error> {
        let repertoire = self.repertoire;
        let Some(state) = repertoire.states.get(n) else {
            return Ok(None);
        };
        match self.found.get(n) {
            Some(StateProgress::Done(mean)) => return Ok(*mean),
            Some(StateProgress::InProgress) => {
                let position = repertoire.states.position(state)?;
                return self.all(&position, state.is_own);
            }
            _ => {}
        }
        let (position, moves) = repertoire.states.moves(state)?;
        self.set_progress(n, StateProgress::InProgress);
        let mut here = Lookup::default();
        self.games.probe(&position, Wanted::Stored, &mut here)?;
        let all = here
            .here
            .and_then(|record| Mean::from_record(&record, state.is_own));
        let is_rare = all.is_none_or(|all| all.variance > VARIANCE / LEAST);
        let parts = match state.is_own || state.is_given {
            _ if is_rare => Vec::new(),
            true => self.chosen(n)?,
            false => self.replies(state, (&position, &moves), &here)?,
        };
        let mean = Mean::sum(&parts).or(all);
        self.set_progress(n, StateProgress::Done(mean));
        Ok(mean)
    }

    fn set_progress(&mut self, n: usize, found: StateProgress) {
        if let Some(place) = self.found.get_mut(n) {
            *place = found;
        }
    }

    /// The moves of the repertoire that were played in these games.
    fn chosen(&mut self, n: usize) -> Result<Vec<(f64, Mean)>, Error> {
        let mut parts = Vec::new();
        let repertoire = self.repertoire;
        for (_, step, share) in repertoire.taken(&repertoire.play.choices, n) {
            let Some(to) = step.to() else {
                continue;
            };
            parts.extend(self.state(to as usize)?.map(|mean| (share, mean)));
        }
        Ok(parts)
    }

    /// The opponents' replies, with their frequencies in these games.
    fn replies(
        &mut self,
        state: &State,
        (position, moves): (&Chess, &[Move]),
        here: &Lookup,
    ) -> Result<Vec<(f64, Mean)>, Error> {
        let mut parts = Vec::new();
        let steps = self.repertoire.states.steps(state);
        for known in &here.moves {
            let step = moves.iter().position(|mv| *mv == known.mv);
            let step = step.and_then(|n| steps.get(n));
            let mean = match step.and_then(|step| step.to()) {
                Some(to) => self.state(to as usize)?,
                None => self.all(&notation::after(position, known.mv), true)?,
            };
            parts.extend(mean.map(|mean| (weight(known), mean)));
        }
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_of_parts_varies_less_than_they_do() {
        let part = |share, value, variance| (share, Mean { value, variance });
        assert!(Mean::sum(&[]).is_none());
        let mean = Mean::sum(&[part(3.0, 0.5, 0.2), part(1.0, 0.9, 0.4)]).unwrap();
        assert!((mean.value - 0.6).abs() < 1e-12);
        assert!((mean.variance - (9.0 * 0.2 + 0.4) / 16.0).abs() < 1e-12);
    }
}
