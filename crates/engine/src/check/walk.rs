//! Runs the steps of a check with a running engine.

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Move, Position};

use super::lines::Info;
use super::{CheckReport, CheckStep, Outcome, Patience};
use crate::peer::{Missing, Peer};
use tabia_notation::Line;
use tabia_uci::engine::EngineOption;

/// Limit of restarts; after it the check ends.
const MAX_RESTARTS: u32 = 6;

/// The result of a step that did not fail, and a note.
pub(super) type Verdict = (Outcome, String);

/// Passed with `note`, unless there are remarks.
pub(super) fn with_remarks(note: String, remarks: &[String]) -> Verdict {
    match remarks {
        [] => (Outcome::Passed, note),
        _ => (Outcome::Warning, remarks.join("; ")),
    }
}

/// Why a step failed, as a text for users.
pub(super) type Fault = String;

pub(super) type StepFn = fn(&mut Walk<'_>) -> Result<Verdict, Fault>;

/// A position to search: the `position` line, the board, and how castling is written.
#[derive(Clone)]
pub(super) struct Scene {
    pub(super) line: String,
    pub(super) board: Chess,
    mode: CastlingMode,
}

impl Scene {
    /// The position after `moves` from the start position or a FEN; an error is a bug
    /// in the checker, which a test excludes.
    pub(super) fn new(fen: &str, moves: &str, mode: CastlingMode) -> Result<Self, Fault> {
        let read = Line::read(fen, moves);
        let board = read.map_err(|error| error.to_string())?.last().clone();
        let start = match fen {
            "" => "startpos".to_owned(),
            fen => format!("fen {fen}"),
        };
        let moves = match moves {
            "" => String::new(),
            moves => format!(" moves {moves}"),
        };
        Ok(Self {
            line: format!("position {start}{moves}"),
            board,
            mode,
        })
    }

    /// The legal move that a word means on a board, if all programs can read it; else
    /// what is wrong with it, as a text for users.
    fn read_move(&self, board: &Chess, word: &str) -> Result<Move, String> {
        let uci: UciMove =
            (word.to_ascii_lowercase().parse()).map_err(|_| format!("\"{word}\" is not a move"))?;
        let mv = uci.to_move(board);
        let mv = mv.map_err(|_| format!("{word} is not legal"))?;
        match mv.to_uci(self.mode).to_string() {
            usual if usual == word => Ok(mv),
            usual => Err(format!("{word} should be written {usual}")),
        }
    }

    /// Checks a variation from here; the error describes its fault.
    fn check_pv(&self, pv: &[String]) -> Result<(), String> {
        let mut board = self.board.clone();
        for word in pv {
            board.play_unchecked(self.read_move(&board, word)?);
        }
        Ok(())
    }
}

/// A scene of standard chess.
pub(super) fn standard(fen: &str, moves: &str) -> Result<Scene, Fault> {
    Scene::new(fen, moves, CastlingMode::Standard)
}

/// A search that has been answered.
pub(super) struct Answer {
    pub(super) best: String,
    pub(super) infos: Vec<Info>,
    pub(super) took: Duration,
    /// Not wrong, but worth a warning.
    pub(super) remarks: Vec<String>,
}

impl Answer {
    pub(super) fn remark(&mut self, text: impl Into<String>) {
        self.remarks.push(text.into());
    }

    pub(super) fn verdict(self) -> Verdict {
        let note = format!("{} after {} ms", self.best, self.took.as_millis());
        with_remarks(note, &self.remarks)
    }

    /// The verdict on the time used: an error if it was more than the clock had.
    pub(super) fn in_time(self, clock_ms: u128) -> Result<Verdict, Fault> {
        let took = self.took.as_millis();
        if took > clock_ms {
            return Err(format!("took {took} ms with {clock_ms} ms on the clock"));
        }
        Ok(self.verdict())
    }
}

/// The checker's state between steps.
pub(super) struct Walk<'a> {
    start: &'a dyn Fn() -> Result<Peer, Fault>,
    pub(super) patience: &'a Patience,
    peer: Option<Peer>,
    /// Lines of a process that has ended.
    exchange: Vec<String>,
    restarts: u32,
    pub(super) name: Option<String>,
    pub(super) options: Vec<EngineOption>,
}

impl<'a> Walk<'a> {
    /// `start` starts the engine, each time that it is needed.
    pub(super) fn new(start: &'a dyn Fn() -> Result<Peer, Fault>, patience: &'a Patience) -> Self {
        Self {
            start,
            patience,
            peer: None,
            exchange: Vec::new(),
            restarts: 0,
            name: None,
            options: Vec::new(),
        }
    }

    /// Runs the steps; if one that is `essential` fails, the others are skipped.
    pub(super) fn run(
        mut self,
        steps: &[&[(&'static str, StepFn)]],
        essential: fn(&str) -> bool,
        seen: &mut dyn FnMut(&CheckStep),
    ) -> CheckReport {
        let mut report = CheckReport::default();
        for &(name, step_fn) in steps.iter().copied().flatten() {
            let step = self.step(name, step_fn);
            let failed = step.outcome == Outcome::Failed;
            seen(&step);
            report.steps.push(step);
            if !failed {
                continue;
            }
            // The next step gets a new process, because the state of this one is
            // unknown.
            self.peer = None;
            let lost = if essential(name) {
                "the engine does not communicate"
            } else if self.restarts >= MAX_RESTARTS {
                "too many failures before"
            } else {
                continue;
            };
            let rest = CheckStep {
                name: "all other steps",
                outcome: Outcome::Skipped,
                explanation: lost.to_owned(),
                exchange: Vec::new(),
            };
            seen(&rest);
            report.steps.push(rest);
            break;
        }
        report.name = self.name.take();
        report
    }

    fn step(&mut self, name: &'static str, step_fn: StepFn) -> CheckStep {
        self.exchange.clear();
        if let Some(peer) = &mut self.peer {
            peer.new_exchange();
        }
        let (outcome, explanation) = step_fn(self).unwrap_or_else(|why| (Outcome::Failed, why));
        let exchange = self
            .peer
            .as_ref()
            .map_or_else(|| std::mem::take(&mut self.exchange), Peer::exchange);
        CheckStep {
            name,
            outcome,
            explanation,
            exchange,
        }
    }

    /// Starts a process that has sent nothing yet.
    pub(super) fn start(&mut self) -> Result<&mut Peer, Fault> {
        self.peer = None;
        let peer = (self.start)()?;
        Ok(self.peer.insert(peer))
    }

    /// The running engine; restarted, with a new handshake, if the last one was lost.
    pub(super) fn peer(&mut self) -> Result<&mut Peer, Fault> {
        if self.peer.is_none() {
            self.restarts += 1;
            let (start, ready) = (self.patience.start, self.patience.ready);
            let peer = self.start()?;
            ask(peer, "uci", "uciok", start)?;
            ask(peer, "isready", "readyok", ready)?;
            peer.new_exchange();
        }
        self.peer.as_mut().ok_or_else(|| "no engine".into())
    }

    /// Ends this process; the next step starts another.
    pub(super) fn drop_peer(&mut self) {
        if let Some(peer) = self.peer.take() {
            self.exchange = peer.exchange();
        }
    }

    /// The engine's time.
    pub(super) fn now(&mut self) -> Result<Instant, Fault> {
        Ok(self.peer()?.now())
    }

    pub(super) fn send(&mut self, line: &str) -> Result<(), Fault> {
        self.peer()?.send(line);
        Ok(())
    }

    pub(super) fn until(&mut self, word: &str, limit: Duration) -> Result<Vec<String>, Fault> {
        self.peer()?
            .until(word, limit)
            .map_err(|missing| explain(&missing, word, limit))
    }

    pub(super) fn watch(&mut self, time: Duration) -> Result<Vec<String>, Fault> {
        self.peer()?
            .watch(time)
            .map_err(|missing| explain(&missing, "answer", time))
    }

    /// Sends `isready` and accepts only `readyok` and `info string` lines.
    pub(super) fn ready(&mut self) -> Result<(), Fault> {
        self.send("isready")?;
        let lines = self.until("readyok", self.patience.ready)?;
        if lines.iter().any(|line| first_word(line) == "bestmove") {
            return Err("it sent a bestmove that was not asked for".into());
        }
        Ok(())
    }

    /// Sends a position and a `go`, and checks all output.
    pub(super) fn search(&mut self, scene: &Scene, go: &str) -> Result<Answer, Fault> {
        self.send(&scene.line)?;
        let start = self.now()?;
        self.send(go)?;
        self.answer(scene, start, self.patience.search)
    }

    /// The answer to a search that began at `start`.
    pub(super) fn answer(
        &mut self,
        scene: &Scene,
        start: Instant,
        limit: Duration,
    ) -> Result<Answer, Fault> {
        let mut lines = self.until("bestmove", limit)?;
        let took = self.now()? - start;
        let last = lines.pop().unwrap_or_default();
        self.ready()?;
        let (infos, mut remarks) = check_lines(&lines, scene)?;
        let mut words = last.split_ascii_whitespace().skip(1);
        let best = words.next().unwrap_or_default().to_owned();
        if scene.board.legal_moves().is_empty() {
            if !["(none)", "0000", "NULL"].contains(&&*best) {
                remarks.push(format!(
                    "without a legal move \"bestmove (none)\" is expected, not \"{last}\""
                ));
            }
        } else {
            let mv = scene.read_move(&scene.board, &best);
            let mv = mv.map_err(|problem| format!("bestmove: {problem}"))?;
            if let (Some("ponder"), Some(reply)) = (words.next(), words.next()) {
                let after = tabia_notation::after(&scene.board, mv);
                if let Err(problem) = scene.read_move(&after, reply) {
                    remarks.push(format!("ponder move: {problem}"));
                }
            }
            let mut lines_of_play = infos.iter().rev().filter(|info| info.is_first_line());
            if let Some(first) = lines_of_play.next().and_then(|info| info.pv.first())
                && *first != best
            {
                remarks.push(format!(
                    "the last line of play begins with {first} but it played {best}"
                ));
            }
        }
        Ok(Answer {
            best,
            infos,
            took,
            remarks,
        })
    }
}

fn check_lines(lines: &[String], scene: &Scene) -> Result<(Vec<Info>, Vec<String>), Fault> {
    let mut infos = Vec::new();
    let mut remarks: Vec<String> = Vec::new();
    let mut remark = |text: String| {
        // Report each remark only once.
        if remarks.len() < 5 && !remarks.contains(&text) {
            remarks.push(text);
        }
    };
    for line in lines {
        match first_word(line) {
            "info" => {}
            "" => continue,
            _ => {
                remark("it prints lines during a search that are not UCI".to_owned());
                continue;
            }
        }
        let info = Info::parse(line).map_err(|problem| format!("\"{line}\": {problem}"))?;
        if let Some(word) = info.unknown.first() {
            remark(format!("info lines with a word unknown to UCI: \"{word}\""));
        }
        if let Err(problem) = scene.check_pv(&info.pv) {
            remark(format!("a line of play (pv) is wrong: {problem}"));
        }
        infos.push(info);
    }
    Ok((infos, remarks))
}

pub(super) fn first_word(line: &str) -> &str {
    line.split_ascii_whitespace().next().unwrap_or_default()
}

/// Explains a missing answer to users.
pub(super) fn explain(missing: &Missing, word: &str, limit: Duration) -> Fault {
    match missing {
        Missing::Silent => format!("no \"{word}\" within {}", seconds(limit)),
        Missing::TooLong => "it printed a line of more than 64 KiB".to_owned(),
        Missing::Flood => format!("it printed more than 4 MiB without \"{word}\""),
        Missing::Gone(status) => gone(*status),
        Missing::Itself(refused) => refused.to_string(),
    }
}

/// Sends a line; returns the output up to the line that begins with `word`.
pub(super) fn ask(
    peer: &mut Peer,
    line: &str,
    word: &str,
    limit: Duration,
) -> Result<Vec<String>, Fault> {
    peer.send(line);
    let lines = peer.until(word, limit);
    lines.map_err(|missing| explain(&missing, word, limit))
}

fn gone(status: Option<ExitStatus>) -> String {
    let Some(status) = status else {
        return "it closed its output".to_owned();
    };
    let text = format!("it ended by itself ({status})");
    if text.contains("SIGILL") || status.code() == Some(0xC000_001D_u32.cast_signed()) {
        return text + "; was it built for another processor?";
    }
    text
}

pub(super) fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{} ms", time.as_millis())
    } else {
        format!("{} s", time.as_secs_f32())
    }
}
