//! The UCI session with the GUI.

use std::io::{self, Read, Write};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;

use shakmaty::{CastlingMode, Color, Position};

use super::control::Control;
use super::output::Output;
use super::position::Board;
use super::search::SearchJob;
use super::time::{Budget, is_endless};
use super::worker::{self, Job};
use tabia_uci::engine::check_value;
use tabia_uci::gui::{self, Go, GuiCommand, SetOption};
use tabia_uci::line::LineBuffer;

const DEFAULT_HASH_MIB: usize = 16;
const MAX_HASH_MIB: usize = 16_384;
/// Greatest value of `MultiPV`: no position has more moves.
const MAX_LINES: usize = 256;
const DEFAULT_OVERHEAD_MS: u64 = 30;
const MAX_OVERHEAD_MS: usize = 5000;

/// littlewing recurses once for each ply, with large stack frames in debug builds.
const SEARCH_STACK_BYTES: usize = 16 << 20;

/// Runs the engine's side of UCI until `quit` or the end of `input`; a search that still
/// runs then is stopped and answered.
///
/// Reads on the calling thread and searches on another, which has ended on return.
/// Unknown lines are ignored.
///
/// # Errors
///
/// `input` cannot be read, or the search thread cannot be started. A closed `output` ends
/// the session without an error.
pub(crate) fn run(input: impl Read, output: impl Write + Send + 'static) -> io::Result<()> {
    let output = Output::new(output);
    let (jobs, todo) = mpsc::channel();
    let worker = thread::Builder::new()
        .name("search".to_owned())
        .stack_size(SEARCH_STACK_BYTES)
        .spawn({
            let output = output.clone();
            move || worker::work(&todo, &output)
        })?;
    let mut session = Session {
        jobs,
        output,
        board: Some(Board::default()),
        current: None,
        lines: 1,
        castling: CastlingMode::Standard,
        overhead_ms: DEFAULT_OVERHEAD_MS,
    };
    let result = session.read(input);
    session.stop();
    drop(session);
    // The worker handles its panics; no answer is left to lose.
    let _ = worker.join();
    result
}

struct Session {
    jobs: Sender<Job>,
    output: Output,
    /// `None` after a `position` that is not legal.
    board: Option<Board>,
    current: Option<Arc<Control>>,
    /// Number of best lines that a search shows.
    lines: usize,
    /// How castling is written; it is read in both notations.
    castling: CastlingMode,
    overhead_ms: u64,
}

/// Whether to read more lines.
#[derive(PartialEq, Eq)]
enum Next {
    Read,
    Quit,
}

impl Session {
    fn read(&mut self, mut input: impl Read) -> io::Result<()> {
        let mut lines = LineBuffer::default();
        while !self.output.is_gone() {
            let is_over = lines.fill(&mut input)? == 0;
            while let Some(line) = lines.next_line() {
                if self.command(line) == Next::Quit {
                    return Ok(());
                }
            }
            if lines.take_dropped() > 0 {
                self.output.line("info string line too long, ignored");
            }
            if is_over {
                if let Some(line) = lines.last_line() {
                    self.command(line);
                }
                break;
            }
        }
        Ok(())
    }

    fn command(&mut self, line: &[u8]) -> Next {
        match gui::parse(line) {
            GuiCommand::Uci => self.introduce(),
            GuiCommand::IsReady => self.ready(),
            GuiCommand::SetOption(option) => self.set_option(&option),
            GuiCommand::NewGame => self.work(Job::NewGame),
            GuiCommand::Position => self.position(line),
            GuiCommand::Go(go) => self.go(go),
            GuiCommand::Stop => self.stop(),
            GuiCommand::PonderHit => {
                if let Some(current) = &self.current {
                    current.ponderhit();
                }
            }
            GuiCommand::Quit => return Next::Quit,
            GuiCommand::Blank | GuiCommand::Other => {}
        }
        Next::Read
    }

    fn introduce(&self) {
        for line in [
            "id name Little Wing",
            "id author Vincent Ollivier",
            &format!(
                "option name Hash type spin default {DEFAULT_HASH_MIB} min 1 max {MAX_HASH_MIB}"
            ),
            "option name Ponder type check default false",
            &format!("option name MultiPV type spin default 1 min 1 max {MAX_LINES}"),
            &format!(
                "option name Move Overhead type spin default {DEFAULT_OVERHEAD_MS} \
                 min 0 max {MAX_OVERHEAD_MS}"
            ),
            "option name UCI_Chess960 type check default false",
            "uciok",
        ] {
            self.output.line(line);
        }
    }

    fn work(&self, job: Job) {
        if self.jobs.send(job).is_err() {
            self.output.line("info string the search thread has ended");
        }
    }

    /// Sends `readyok`: at once during a search, else after all earlier work.
    fn ready(&self) {
        if self.current.as_ref().is_none_or(|c| c.is_finished()) {
            let (answer, done) = mpsc::channel();
            self.work(Job::Ready(answer));
            // An error means that the worker has ended, which `work` has reported.
            let _ = done.recv();
        }
        self.output.line("readyok");
    }

    fn set_option(&mut self, option: &SetOption) {
        let (name, value) = (&option.name, option.text());
        let number = |range: RangeInclusive<usize>| {
            let number = value.parse().ok();
            number.filter(|number| range.contains(number))
        };
        let problem = match name.to_ascii_lowercase().as_str() {
            "hash" => match number(1..=MAX_HASH_MIB) {
                Some(mib) => return self.work(Job::Hash(mib)),
                None => "expected a number of MiB",
            },
            "multipv" => match number(1..=MAX_LINES) {
                Some(lines) => return self.lines = lines,
                None => "expected a number of lines",
            },
            "move overhead" => match number(0..=MAX_OVERHEAD_MS) {
                Some(ms) => return self.overhead_ms = ms as u64,
                None => "expected a number of milliseconds",
            },
            "uci_chess960" => match check_value(&value) {
                Some(on) => return self.castling = CastlingMode::from_chess960(on),
                None => "expected true or false",
            },
            // The option only says that the GUI may ponder; `go ponder` starts it.
            "ponder" => return,
            _ => "no such option",
        };
        self.output
            .line(&format!("info string setoption {name:?}: {problem}"));
    }

    fn position(&mut self, line: &[u8]) {
        let board = Board::parse(line);
        if let Err(problem) = &board {
            self.output.line(&format!("info string {problem}"));
        }
        self.board = board.ok();
    }

    fn go(&mut self, go: Go) {
        // The worker answers the earlier search first, because it works in order.
        self.stop();
        let board = self.board.as_ref();
        let white = board.is_none_or(|board| board.now().turn() == Color::White);
        let control = Arc::new(Control::new(
            Budget::new(&go, white, self.overhead_ms),
            is_endless(&go),
            go.ponder,
        ));
        self.current = Some(control.clone());
        self.work(Job::Search(Box::new(SearchJob {
            board: self.board.clone(),
            go,
            lines: self.lines,
            castling: self.castling,
            control,
        })));
    }

    fn stop(&mut self) {
        if let Some(current) = &self.current {
            current.stop();
        }
    }
}
