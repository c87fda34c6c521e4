//! A search that reports intermediate results.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use shakmaty::Position as _;
use shakmaty::uci::UciMove;

use super::analyst::{Analyst, AnalystError, Question, wait};
use super::peer::Missing;
use tabia_notation::value::Value;
use tabia_uci::info;

/// Time limit for `bestmove` after `stop`.
const STOPPING: Duration = Duration::from_secs(5);

/// Interval of the calls of `on_update`.
const TICK: Duration = Duration::from_millis(50);

/// The results of a search so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchUpdate {
    /// Variations by their `multipv` number, the best first; `None` if the engine has
    /// not reported it.
    pub lines: Vec<Option<Variation>>,
    /// Nodes searched.
    pub nodes: u64,
    /// Nodes a second, if the engine reports them.
    pub nodes_a_second: Option<u64>,
}

/// A variation with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variation {
    /// The value from White's view.
    pub value: Value,
    /// The depth of the value.
    pub depth: u16,
    /// The moves as the engine sent them; not checked for legality.
    pub moves: Vec<UciMove>,
}

impl Analyst {
    /// Searches and calls `on_update` repeatedly with the results so far, also without
    /// new ones, until `on_update` breaks the search off.
    ///
    /// # Errors
    ///
    /// The engine ended or hangs: drop it then.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use std::time::Duration;
    /// use shakmaty::Chess;
    /// use tabia_engine::{Analyst, Question};
    /// # use tabia_engine::EngineCommand;
    ///
    /// # let program = test_programs::engine::this_program();
    /// # let engine = EngineCommand::new(program).args(vec!["engine".into()]);
    /// let patience = Duration::from_secs(10);
    /// let mut analyst = Analyst::start(&engine, &[], patience)?;
    /// let start = Chess::default();
    /// // Until the engine has a variation.
    /// let last = analyst.think(Question::new(&start), patience, |update| {
    ///     match update.lines.first() {
    ///         Some(Some(_)) => ControlFlow::Break(()),
    ///         _ => ControlFlow::Continue(()),
    ///     }
    /// })?;
    /// let variation = last.lines[0].as_ref().unwrap();
    /// assert_eq!((last.nodes, variation.depth, variation.moves.len()), (1, 1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn think(
        &mut self,
        question: Question<'_>,
        limit: Duration,
        mut on_update: impl FnMut(&SearchUpdate) -> ControlFlow<()>,
    ) -> Result<SearchUpdate, AnalystError> {
        let turn = question.position.turn();
        let end = Instant::now() + limit;
        let mut search = info::Search::new(turn, question.lines);
        let mut update = SearchUpdate::default();
        self.begin(question, "go infinite".to_owned())?;
        loop {
            match self.peer.next(TICK) {
                Ok(line) if line.split_ascii_whitespace().next() == Some("bestmove") => {
                    return Ok(update);
                }
                Ok(line) => {
                    search.add(&line);
                    update = SearchUpdate::from_search(&search);
                }
                Err(Missing::Silent) => {}
                Err(Missing::Gone(status)) => return Err(AnalystError::Gone(status)),
                Err(Missing::TooLong | Missing::Flood) => return Err(AnalystError::Flood),
                Err(Missing::Itself(refused)) => return Err(refused.into()),
            }
            if on_update(&update).is_break() || Instant::now() >= end {
                break;
            }
        }
        self.peer.send("stop");
        let rest = wait(&mut self.peer, "bestmove", STOPPING)?;
        for line in &rest {
            search.add(line);
        }
        Ok(SearchUpdate::from_search(&search))
    }
}

impl SearchUpdate {
    fn from_search(search: &info::Search) -> SearchUpdate {
        let variation = |found: info::VariationResult<'_>| Variation {
            value: found.value,
            depth: found.depth,
            moves: found.moves.to_vec(),
        };
        let lines = search.results().map(|found| {
            let found = found.filter(|found| !found.moves.is_empty());
            found.map(variation)
        });
        SearchUpdate {
            lines: lines.collect(),
            nodes: search.nodes,
            nodes_a_second: search.nodes_a_second,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use shakmaty::Color;

    #[test]
    fn the_newest_value_of_each_line_counts() {
        let mut search = info::Search::new(Color::White, 3);
        for line in [
            "info depth 5 multipv 1 score cp 30 nodes 100 nps 1000 pv e2e4 e7e5 junk g1f3",
            "info depth 5 multipv 3 score cp 10 pv a2a3",
            "info depth 6 multipv 1 score cp 300 upperbound nodes 200 pv d2d4",
            "info depth 6 multipv 9 score cp 1 pv h2h3",
            "info depth 6 multipv 2 score mate 3",
            "info depth 6 multipv 65535 score cp 1 pv h2h3",
        ] {
            search.add(line);
        }
        let update = SearchUpdate::from_search(&search);
        assert_eq!((update.nodes, update.nodes_a_second), (200, Some(1000)));
        assert_eq!(update.lines.len(), 3);
        let first = update.lines[0].as_ref().unwrap();
        assert_eq!((first.value, first.depth), (Value::Cp(30), 5));
        let moves: Vec<String> = first.moves.iter().map(ToString::to_string).collect();
        assert_eq!(moves, ["e2e4", "e7e5"]);
        assert_eq!(update.lines[1], None);
    }
}
