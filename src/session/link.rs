//! The link to the engine: what state it is in, what it has been told, and
//! what waits to be told to it.

use std::collections::VecDeque;

use super::Outlet;
use super::handshake::{ChildOptions, Hello};
use super::restart::Restarts;
use crate::uci::gui::{self, GuiCommand};
use crate::uci::line;

/// State of the child engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Engine {
    /// Asked for; no `uciok` yet.
    Starting { index: usize, late: bool },
    /// Ready for commands.
    Up { index: usize },
    /// None to be had.
    #[default]
    None,
}

/// The engine as seen from here.
#[derive(Debug, Default)]
pub(super) struct Link {
    pub(super) state: Engine,
    /// Some engine has said `uciok` in this session.
    pub(super) was_up: bool,
    pub(super) restarts: Restarts,
    /// The engine in whose place the built-in one plays.
    pub(super) stands_in_for: Option<String>,
    pub(super) hello: Hello,
    pub(super) options: ChildOptions,
    /// Lines that wait until it has ended a search that the GUI knows
    /// nothing of.
    outbound: VecDeque<Vec<u8>>,
    /// It searches to warm up, which the GUI knows nothing of.
    pub(super) warming: bool,
    /// Answers of the engine that nobody is to see.
    pub(super) ignored_bestmoves: u32,
    /// `isready` commands that it has still to answer.
    pub(super) ready_owed: u32,
    /// It has been given the last `position` line.
    pub(super) position_sent: bool,
}

impl Link {
    pub(super) const fn is_starting(&self) -> bool {
        matches!(self.state, Engine::Starting { .. })
    }

    pub(super) const fn is_up(&self) -> bool {
        matches!(self.state, Engine::Up { .. })
    }

    /// It makes, or ends, a search that the GUI knows nothing of.
    pub(super) const fn is_aside(&self) -> bool {
        self.warming || self.ignored_bestmoves > 0
    }

    /// Sends a line to the engine, now or when it has ended a search that
    /// only we know of.
    pub(super) fn tell(&mut self, line: &[u8], out: &mut dyn Outlet) {
        match self.state {
            // One that starts is told everything when it is up.
            Engine::None | Engine::Starting { .. } => {}
            Engine::Up { .. } if self.is_aside() => self.outbound.push_back(line.to_vec()),
            Engine::Up { .. } => out.engine(line::trimmed_end(line)),
        }
    }

    /// Ends the search by which it warms up.
    pub(super) fn end_warming(&mut self, out: &mut dyn Outlet) {
        if std::mem::take(&mut self.warming) {
            out.engine(b"stop");
            self.ignored_bestmoves += 1;
        }
    }

    /// It has answered; true if nobody is to see that.
    pub(super) fn ignores_answer(&mut self, out: &mut dyn Outlet) -> bool {
        if self.ignored_bestmoves > 0 {
            self.ignored_bestmoves -= 1;
        } else if !std::mem::take(&mut self.warming) {
            return false;
        }
        if self.ignored_bestmoves == 0 {
            self.flush(out);
        }
        true
    }

    /// Sends the lines that wait.
    pub(super) fn flush(&mut self, out: &mut dyn Outlet) {
        while let Some(line) = self.outbound.pop_front() {
            out.engine(line::trimmed_end(&line));
        }
    }

    /// Another engine is to take its place, which has searched nothing yet:
    /// of the lines that wait, those stay that it would not be told anyway.
    pub(super) fn begin_again(&mut self, index: usize) {
        self.state = Engine::Starting { index, late: false };
        self.hello.begin();
        self.warming = false;
        self.ignored_bestmoves = 0;
        self.outbound.retain(|line| match gui::parse(line) {
            GuiCommand::Other => true,
            // A button: its name is not remembered.
            GuiCommand::SetOption(option) => option.value.is_none(),
            _ => false,
        });
    }

    /// There is no engine any more.
    pub(super) fn lose(&mut self) {
        self.state = Engine::None;
        self.hello.complete = false;
        self.warming = false;
        self.ignored_bestmoves = 0;
        self.outbound.clear();
    }
}
