//! An engine that is watched while it thinks.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use shakmaty::Position as _;
use shakmaty::uci::UciMove;

use super::analyst::{Analyst, AnalystError, Question, wait};
use super::info;
use super::peer::Missing;
use crate::eval::Value;

/// How long an engine may go on after `stop`.
const STOPPING: Duration = Duration::from_secs(5);

/// How often whoever watches is asked whether it goes on.
const TICK: Duration = Duration::from_millis(50);

/// What a search has found so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thought {
    /// Lines by their number, the best first; those that were never told are
    /// empty.
    pub lines: Vec<Option<Variation>>,
    /// Nodes searched.
    pub nodes: u64,
    /// Nodes a second, if the engine tells.
    pub nodes_a_second: Option<u64>,
}

/// A line of play with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variation {
    /// From White's view.
    pub value: Value,
    /// The depth that it comes from.
    pub depth: u16,
    /// What the engine called its moves; nobody has seen whether they are legal.
    pub moves: Vec<UciMove>,
}

impl Analyst {
    /// Lets the engine think for a time, and tells again and again what it has
    /// found, also when nothing is new, until `told` breaks it off.
    ///
    /// # Errors
    ///
    /// The engine ended or hangs: drop it then.
    pub fn think(
        &mut self,
        question: Question<'_>,
        limit: Duration,
        mut told: impl FnMut(&Thought) -> ControlFlow<()>,
    ) -> Result<Thought, AnalystError> {
        let turn = question.position.turn();
        let end = Instant::now() + limit;
        let mut thought = Thought::default();
        self.begin(question, "go infinite".to_owned())?;
        loop {
            match self.peer.next(TICK) {
                Ok(line) if line.split_ascii_whitespace().next() == Some("bestmove") => {
                    return Ok(thought);
                }
                Ok(line) => {
                    if let Some(info) = info::read(turn, &line) {
                        thought.hear(info, question.lines);
                    }
                }
                Err(Missing::Silent) => {}
                Err(Missing::Gone(status)) => return Err(AnalystError::Gone(status)),
                Err(Missing::TooLong | Missing::Flood) => return Err(AnalystError::Flood),
            }
            if told(&thought).is_break() || Instant::now() >= end {
                break;
            }
        }
        self.peer.send("stop");
        let rest = wait(&mut self.peer, "bestmove", STOPPING)?;
        for info in rest.iter().filter_map(|line| info::read(turn, line)) {
            thought.hear(info, question.lines);
        }
        Ok(thought)
    }
}

impl Thought {
    fn hear(&mut self, info: info::Info, lines: u16) {
        self.nodes = info.nodes.unwrap_or(self.nodes);
        self.nodes_a_second = info.nodes_a_second.or(self.nodes_a_second);
        let place = usize::from(info.multipv.max(1)) - 1;
        let (Some(value), false) = (info.value, info.line.is_empty()) else {
            return;
        };
        if place >= usize::from(lines.max(1)) {
            return;
        }
        if self.lines.len() <= place {
            self.lines.resize(place + 1, None);
        }
        if let Some(slot) = self.lines.get_mut(place) {
            *slot = Some(Variation {
                value,
                depth: info.depth,
                moves: info.line,
            });
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use shakmaty::Color;

    #[test]
    fn the_newest_exact_value_of_each_line_stands() {
        let mut thought = Thought::default();
        for line in [
            "info depth 5 multipv 1 score cp 30 nodes 100 nps 1000 pv e2e4 e7e5 junk g1f3",
            "info depth 5 multipv 3 score cp 10 pv a2a3",
            "info depth 6 multipv 1 score cp 300 lowerbound nodes 200 pv d2d4",
            "info depth 6 multipv 9 score cp 1 pv h2h3",
            "info depth 6 multipv 2 score mate 3",
            "info depth 6 multipv 65535 score cp 1 pv h2h3",
        ] {
            thought.hear(info::read(Color::White, line).unwrap(), 3);
        }
        assert_eq!((thought.nodes, thought.nodes_a_second), (200, Some(1000)));
        assert_eq!(thought.lines.len(), 3);
        let first = thought.lines[0].as_ref().unwrap();
        assert_eq!((first.value, first.depth), (Value::Cp(30), 5));
        let moves: Vec<String> = first.moves.iter().map(ToString::to_string).collect();
        assert_eq!(moves, ["e2e4", "e7e5"]);
        assert_eq!(thought.lines[1], None);
    }
}
