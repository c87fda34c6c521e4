//! Tests an engine with a UCI conversation and reports what it does wrong.
//!
//! The steps follow what GUIs and tournament managers really send and expect
//! (fastchess' compliance check among them), so a failure here is one that a user would
//! see. The engine cannot block or overload the checker: every wait, line and buffer is
//! limited.
//!
//! * `lines` checks single lines of output;
//! * `peer`, beside this module, is the engine's process, with a thread for each direction;
//! * `walk` keeps an engine running from step to step;
//! * `handshake`, `play`, `clocks` and `ending` are the steps.

mod clocks;
mod ending;
mod handshake;
mod lines;
mod play;
mod walk;

use std::time::Duration;

use crate::EngineCommand;
use crate::peer::Peer;
use tabia_uci::engine::{self, EngineOption, EngineReply};

tabia_io::options! {
    /// Time limits.
    #[derive(Clone, Debug)]
    pub struct Patience {
        /// From the start of the process to `uciok`.
        start: Duration = Duration::from_secs(10),
        /// For `readyok`, which may load a network or allocate a table.
        ready: Duration = Duration::from_secs(15),
        /// For the `bestmove` of a very short search.
        search: Duration = Duration::from_secs(10),
        /// For `bestmove` after `stop`.
        stop: Duration = Duration::from_secs(5),
        /// For the end of the process after `quit` or the end of its input.
        quit: Duration = Duration::from_secs(1),
        /// How long to watch for output that must not occur.
        watch: Duration = Duration::from_millis(300),
    }
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Correct.
    Passed,
    /// It works, but may cause problems in some programs.
    Warning,
    /// It does not work.
    Failed,
    /// Does not apply to this engine, or could not be tested.
    Skipped,
}

/// One test of the check.
#[derive(Clone, Debug)]
pub struct CheckStep {
    /// What was tested, in a few words.
    pub name: &'static str,
    /// The result.
    pub outcome: Outcome,
    /// What was seen and what it means; may be empty for a step that passed.
    pub explanation: String,
    /// The last lines exchanged, `>> ` before those sent and `<< ` before
    /// those received. Long ones are cut.
    pub exchange: Vec<String>,
}

/// The results of all tests.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CheckReport {
    /// The engine's name from `id name`.
    pub name: Option<String>,
    /// In the order of the tests.
    pub steps: Vec<CheckStep>,
}

impl CheckReport {
    /// Whether no step failed; warnings do not count.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.count(Outcome::Failed) == 0
    }

    /// The number of steps with this result.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> usize {
        self.steps
            .iter()
            .filter(|step| step.outcome == outcome)
            .count()
    }
}

/// Why an engine gave no answer, as a text for users.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CheckError(String);

/// What an engine sent after its start.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Greeting {
    /// Its name from `id name`.
    pub name: Option<String>,
    /// From the start of the process to `uciok`.
    pub took: Duration,
    /// The options that it declared.
    pub options: Vec<EngineOption>,
    /// Whether it was ready after the options were set, or why not.
    pub ready: Result<(), CheckError>,
}

/// Starts an engine, waits for `uciok`, and ends it.
///
/// # Errors
///
/// It cannot be started or does not answer in time.
pub fn greet(command: &EngineCommand, limit: Duration) -> Result<Greeting, CheckError> {
    let (peer, greeting) = introduce(command, limit).map_err(CheckError)?;
    end(peer);
    Ok(greeting)
}

/// Starts an engine, waits for `uciok`, sets those options, names and values,
/// that `chosen` takes from what it has declared, waits for `readyok` after each,
/// and ends it.
///
/// # Errors
///
/// As for [`greet`].
pub fn try_options(
    command: &EngineCommand,
    limit: Duration,
    chosen: impl FnOnce(&[EngineOption]) -> Vec<(String, String)>,
) -> Result<Greeting, CheckError> {
    let (mut peer, mut greeting) = introduce(command, limit).map_err(CheckError)?;
    // Each option may load a network.
    let limit = limit.max(Patience::default().ready);
    let lines = chosen(&greeting.options).into_iter();
    let lines = lines.map(|(name, value)| Some(format!("setoption name {name} value {value}")));
    for line in std::iter::once(None).chain(lines) {
        line.iter().for_each(|line| peer.send(line));
        if let Err(why) = walk::ask(&mut peer, "isready", "readyok", limit) {
            greeting.ready =
                Err(CheckError(line.map_or(why.clone(), |line| {
                    format!("after \"{line}\": {why}")
                })));
            break;
        }
    }
    end(peer);
    Ok(greeting)
}

/// Waits for an engine to end by itself.
fn end(mut peer: Peer) {
    peer.send("quit");
    let _ = peer.ends(Patience::default().quit);
}

fn introduce(command: &EngineCommand, limit: Duration) -> Result<(Peer, Greeting), String> {
    let mut peer = Peer::start(command).map_err(|error| error.to_string())?;
    let begun = peer.now();
    let lines = walk::ask(&mut peer, "uci", "uciok", limit)?;
    let name = lines.iter().find_map(|line| line.strip_prefix("id name "));
    let declared = lines
        .iter()
        .map(|line| line.as_bytes())
        .filter(|line| engine::parse(line) == EngineReply::Option);
    let greeting = Greeting {
        name: name.map(|name| name.trim().to_owned()),
        took: peer.now() - begun,
        options: declared.filter_map(engine::option).collect(),
        ready: Ok(()),
    };
    Ok((peer, greeting))
}

/// A move that an engine played.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlayedMove {
    /// The move as the engine wrote it.
    pub mv: String,
    /// The texts of its `info string` lines during the search.
    pub remarks: Vec<String>,
}

/// Starts an engine, lets it play one move in each position (`startpos`, or `fen
/// ...`), each in a separate game, and ends it.
///
/// # Errors
///
/// It cannot be started, does not answer in time, or has no move.
///
/// # Examples
///
/// ```
/// use tabia_engine::check::{Patience, play};
/// # use tabia_engine::EngineCommand;
///
/// # let program = test_programs::engine::this_program();
/// # let engine = EngineCommand::new(program).args(vec!["engine".into()]);
/// let positions = ["startpos moves e2e4", "fen 8/8/8/8/r7/1k6/8/K7 w - - 0 1"];
/// let played = play(&engine, &positions, &Patience::default())?;
/// assert_eq!(played[1].mv, "a1b1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn play(
    command: &EngineCommand,
    positions: &[&str],
    patience: &Patience,
) -> Result<Vec<PlayedMove>, CheckError> {
    played(command, positions, patience).map_err(CheckError)
}

fn played(
    command: &EngineCommand,
    positions: &[&str],
    patience: &Patience,
) -> Result<Vec<PlayedMove>, String> {
    let (mut peer, _) = introduce(command, patience.start)?;
    let mut played = Vec::new();
    for position in positions {
        peer.send("ucinewgame");
        walk::ask(&mut peer, "isready", "readyok", patience.ready)?;
        peer.send(&format!("position {position}"));
        let lines = walk::ask(&mut peer, "go movetime 500", "bestmove", patience.search)?;
        let mv = lines.last().and_then(|line| line.split_whitespace().nth(1));
        let mv = mv.filter(|mv| !["0000", "(none)", "none"].contains(mv));
        let mv = mv.ok_or_else(|| format!("it has no move in the position {position}"))?;
        let remarks = lines
            .iter()
            .filter_map(|line| line.strip_prefix("info string "));
        played.push(PlayedMove {
            mv: mv.to_owned(),
            remarks: remarks.map(str::to_owned).collect(),
        });
    }
    end(peer);
    Ok(played)
}

/// Runs every step, and calls `seen` after each.
///
/// Starts the engine as often as needed (after each failure, and for the two ways to
/// end it) and leaves none running. Takes a few seconds with a good engine.
///
/// # Examples
///
/// ```
/// use tabia_engine::check::{Outcome, Patience, check};
/// # use tabia_engine::EngineCommand;
///
/// # let program = test_programs::engine::this_program();
/// # let engine = EngineCommand::new(program).args(vec!["engine".into()]);
/// let mut names = Vec::new();
/// let report = check(&engine, &Patience::default(), &mut |step| names.push(step.name));
/// assert_eq!(names[0], "answers \"uci\"");
/// assert_eq!(names.len(), report.steps.len());
/// assert_eq!(report.count(Outcome::Failed), 0);
/// ```
pub fn check(
    command: &EngineCommand,
    patience: &Patience,
    seen: &mut dyn FnMut(&CheckStep),
) -> CheckReport {
    let start = || Peer::start(command).map_err(|error| error.to_string());
    walk(&start, patience, seen)
}

fn walk(
    start: &dyn Fn() -> Result<Peer, walk::Fault>,
    patience: &Patience,
    seen: &mut dyn FnMut(&CheckStep),
) -> CheckReport {
    let steps = [handshake::STEPS, play::STEPS, ending::STEPS];
    walk::Walk::new(start, patience).run(&steps, handshake::is_essential, seen)
}

#[cfg(all(test, unix))]
mod tests;
