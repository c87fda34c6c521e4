//! An engine that evaluates positions.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _, fen::Fen, uci::UciMove};

use super::peer::{Missing, Peer};
use super::{Cancellation, EngineCommand, SpawnError};
use tabia_notation::value::Evaluation;
use tabia_uci::info;

/// How long an engine searches a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// This number of nodes, the same on every machine.
    Nodes(u64),
    /// To this depth in plies.
    Depth(u16),
    /// For this time.
    Time(Duration),
}

impl Effort {
    /// Whether an earlier evaluation took at least this effort. Node counts of engines
    /// vary a little; the time of a search is not stored.
    #[must_use]
    pub fn is_reached_by(self, known: &Evaluation) -> bool {
        match self {
            Effort::Nodes(nodes) => known.nodes >= nodes / 10 * 9,
            Effort::Depth(depth) => known.depth >= depth,
            Effort::Time(_) => true,
        }
    }
}

/// A position to evaluate.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Question<'a> {
    /// The position; it has legal moves.
    pub position: &'a Chess,
    /// The moves to search; empty means all.
    pub only: &'a [UciMove],
    /// Number of lines (MultiPV), at least 1.
    pub lines: u16,
    /// Whether the engine first clears its hash table, so that the result does not
    /// depend on earlier searches.
    pub afresh: bool,
}

tabia_io::setters!(Question<'a> {
    only: &'a [UciMove],
    lines: u16,
    afresh: bool,
});

impl<'a> Question<'a> {
    /// The question about the best move of a position, for one line.
    #[must_use]
    pub fn new(position: &'a Chess) -> Question<'a> {
        Question {
            position,
            only: &[],
            lines: 1,
            afresh: false,
        }
    }
}

/// Why an engine returned no evaluation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnalystError {
    /// It cannot be started.
    #[error(transparent)]
    Start(#[from] SpawnError),
    /// It ended.
    #[error("the engine ended{}", status(.0))]
    Gone(Option<ExitStatus>),
    /// It did not send an expected line in time.
    #[error("the engine did not send \"{word}\" within {} s", limit.as_secs_f32().ceil())]
    Silent {
        /// The first word of this line.
        word: &'static str,
        /// The time limit.
        limit: Duration,
    },
    /// It printed too much, or lines that are too long.
    #[error("the engine prints too much")]
    Flood,
    /// Its search reported no exact score.
    #[error("the engine reported no score")]
    NoScore,
    /// It goes on after the number of nodes that it was asked for: Toga II 3.0 and GNU Chess
    /// 6.2 do.
    #[error(
        "the engine has searched {searched} nodes instead of {wanted}: it ignores \"go nodes\"; \
         limit its searches by --depth or --movetime"
    )]
    IgnoresNodes {
        /// The number that it was asked for.
        wanted: u64,
        /// How many it has searched at least.
        searched: u64,
    },
}

impl AnalystError {
    fn of(missing: Missing, word: &'static str, limit: Duration) -> AnalystError {
        match missing {
            Missing::Silent => AnalystError::Silent { word, limit },
            Missing::Gone(status) => AnalystError::Gone(status),
            Missing::TooLong | Missing::Flood => AnalystError::Flood,
            Missing::Itself(refused) => AnalystError::Start(refused),
        }
    }
}

fn status(status: &Option<ExitStatus>) -> String {
    status.map_or_else(String::new, |status| format!(" ({status})"))
}

/// A running engine. Ended when dropped.
pub struct Analyst {
    pub(super) peer: Peer,
    name: Arc<str>,
    has_multipv: bool,
    lines: u16,
}

/// An engine that has searched ten times as many nodes as it should, and these, ignores the
/// number: some count coarsely, and several threads overshoot. Without this, each position
/// took Toga II and GNU Chess the 31 seconds of its limit.
const FAR_TOO_MANY: u64 = 1_000_000;

/// The number of nodes in an `info` line.
fn nodes(line: &str) -> Option<u64> {
    let mut words = line.split_ascii_whitespace();
    if words.next() != Some("info") {
        return None;
    }
    words
        .by_ref()
        .find(|word| *word == "nodes" || *word == "string")?;
    words.next()?.parse().ok()
}

/// For `readyok`, which may load a network or clear a large table.
const READY: Duration = Duration::from_secs(30);

impl Analyst {
    /// Starts an engine and sets its options. The calling thread must live as long as
    /// the engine is used ([`EngineCommand::spawn`]).
    ///
    /// # Errors
    ///
    /// It does not start, or does not answer within `patience`.
    pub fn start(
        command: &EngineCommand,
        options: &[(String, String)],
        patience: Duration,
    ) -> Result<Analyst, AnalystError> {
        Analyst::start_on(&Cancellation::default(), command, options, patience)
    }

    /// Like [`Analyst::start`], but another thread can kill the engine through
    /// `cancellation`.
    ///
    /// # Errors
    ///
    /// As [`Analyst::start`]; also when it has been cancelled.
    pub fn start_on(
        cancellation: &Cancellation,
        command: &EngineCommand,
        options: &[(String, String)],
        patience: Duration,
    ) -> Result<Analyst, AnalystError> {
        let mut peer = Peer::start(command)?;
        if let Some(process) = peer.process() {
            cancellation.hold(process);
        }
        peer.send("uci");
        let lines = wait(&mut peer, "uciok", patience)?;
        let name = lines.iter().find_map(|line| line.strip_prefix("id name "));
        let name = name.unwrap_or("engine").trim().to_owned();
        let has = |option: &str| {
            let option = format!("option name {option} ");
            let mut lines = lines.iter();
            lines.any(|line| line.to_ascii_lowercase().starts_with(&option))
        };
        let has_multipv = has("multipv");
        if has("uci_showwdl") {
            peer.send("setoption name UCI_ShowWDL value true");
        }
        for (option, value) in options {
            peer.send(&format!("setoption name {option} value {value}"));
        }
        peer.send("isready");
        wait(&mut peer, "readyok", READY)?;
        Ok(Analyst {
            peer,
            name: name.into(),
            has_multipv,
            lines: 1,
        })
    }

    /// Its name from `id name`.
    #[must_use]
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Evaluates a position. An engine that has not answered after `patience`
    /// counts as hung: drop it then.
    ///
    /// # Errors
    ///
    /// The engine ended, hangs, or reported no score.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tabia_engine::{Analyst, Effort, Question};
    /// use tabia_notation::{Line, value::Value};
    /// # use tabia_engine::EngineCommand;
    ///
    /// # let program = test_programs::engine::this_program();
    /// # let engine = EngineCommand::new(program).args(vec!["engine".into()]);
    /// let patience = Duration::from_secs(10);
    /// let mut analyst = Analyst::start(&engine, &[], patience)?;
    /// let line = Line::read("", "1. e4 c5")?;
    /// let question = Question::new(line.last()).afresh(true);
    /// let found = analyst.evaluate(question, Effort::Nodes(100_000), patience)?;
    /// assert_eq!((&*found.source, found.value, found.depth), ("Odd", Value::Cp(0), 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn evaluate(
        &mut self,
        question: Question<'_>,
        effort: Effort,
        patience: Duration,
    ) -> Result<Evaluation, AnalystError> {
        let go = match effort {
            Effort::Nodes(nodes) => format!("go nodes {nodes}"),
            Effort::Depth(depth) => format!("go depth {depth}"),
            Effort::Time(time) => format!("go movetime {}", time.as_millis()),
        };
        self.begin(question, go)?;
        let mut searched = 0;
        let wanted = match effort {
            Effort::Nodes(nodes) => nodes,
            Effort::Depth(_) | Effort::Time(_) => u64::MAX,
        };
        let most = wanted.saturating_mul(10).saturating_add(FAR_TOO_MANY);
        let answer = self.peer.until_or("bestmove", patience, &mut |line| {
            searched = nodes(line).unwrap_or_default().max(searched);
            searched >= most
        });
        let lines = match answer {
            Err(Missing::Silent) if searched / 2 > wanted => {
                return Err(AnalystError::IgnoresNodes { wanted, searched });
            }
            answer => answer.map_err(|missing| AnalystError::of(missing, "bestmove", patience))?,
        };
        let turn = question.position.turn();
        let found = info::finding(turn, lines.iter().map(String::as_str));
        let found = found.ok_or(AnalystError::NoScore)?;
        Ok(Evaluation {
            source: Arc::clone(&self.name),
            ..found
        })
    }

    /// Sends the position and the `go` command.
    pub(super) fn begin(
        &mut self,
        question: Question<'_>,
        mut go: String,
    ) -> Result<(), AnalystError> {
        self.peer.new_exchange();
        if question.afresh {
            self.peer.send("ucinewgame");
            self.peer.send("isready");
            wait(&mut self.peer, "readyok", READY)?;
        }
        let lines = question.lines.max(1);
        if self.has_multipv && lines != self.lines {
            self.peer
                .send(&format!("setoption name MultiPV value {lines}"));
            self.lines = lines;
        }
        let fen = Fen::from_position(question.position, EnPassantMode::Legal);
        self.peer.send(&format!("position fen {fen}"));
        if !question.only.is_empty() {
            go.push_str(" searchmoves");
            for mv in question.only {
                go.push(' ');
                go.push_str(&in_standard_form(*mv, question.position));
            }
        }
        self.peer.send(&go);
        Ok(())
    }

    /// Whether it supports `MultiPV`.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        self.has_multipv
    }
}

impl Drop for Analyst {
    fn drop(&mut self) {
        self.peer.send("quit");
        self.peer.close_input();
        // If it does not end in this time, it is killed.
        self.peer.ends(Duration::from_millis(200));
    }
}

/// Writes castling as the king's two steps, as engines expect outside Chess960.
fn in_standard_form(mv: UciMove, position: &Chess) -> String {
    match mv.to_move(position) {
        Ok(mv) => UciMove::from_move(mv, CastlingMode::Standard).to_string(),
        Err(_) => mv.to_string(),
    }
}

pub(super) fn wait(
    peer: &mut Peer,
    word: &'static str,
    limit: Duration,
) -> Result<Vec<String>, AnalystError> {
    peer.until(word, limit)
        .map_err(|missing| AnalystError::of(missing, word, limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_read_from_info_lines_alone() {
        for (line, found) in [
            ("info depth 3 nodes 520000 nps 7", Some(520_000)),
            ("info string nodes 7", None),
            ("info depth 3 pv e2e4", None),
            ("info nodes", None),
            ("nodes 7", None),
        ] {
            assert_eq!(nodes(line), found, "{line}");
        }
    }
}
