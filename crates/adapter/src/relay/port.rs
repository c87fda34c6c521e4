//! What the loop needs from the system: waiting for several pipes at once and writing
//! without blocking.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::session::Side;
use tabia_choice::book_set::BookSet;
use tabia_uci::line::LineBuffer;

/// The result of a wait.
#[derive(Debug, Default)]
pub(super) struct Ready {
    /// The GUI has sent something, or closed its end.
    pub(super) gui: bool,
    /// The engine has sent something, or closed its end.
    pub(super) engine: bool,
    /// The engine's process has ended; reported once.
    pub(super) engine_ended: bool,
    /// The GUI has closed its end of Tabia's output.
    pub(super) gui_closed: bool,
    /// Reports of other threads.
    pub(super) reports: Vec<ThreadReport>,
}

/// A report of another thread.
#[derive(Debug)]
pub(super) enum ThreadReport {
    /// Books have been opened: the number of the request, the books, and messages
    /// about them.
    Books(u64, BookSet, Vec<String>),
    /// A signal asks Tabia to end.
    #[cfg(unix)]
    Terminate,
}

/// Sends reports to the loop from another thread. It cannot fail: everything that it needs
/// is allocated in advance.
pub(super) type Deliver = Arc<dyn Fn(ThreadReport) + Send + Sync>;

/// Which sides are to be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listen {
    pub(super) gui: bool,
    pub(super) engine: bool,
}

/// The pipes to both sides.
pub(super) trait Port {
    /// The clock of the loop and the session, which tests set.
    fn now(&self) -> Instant {
        Instant::now()
    }

    /// Waits until something is ready, or `timeout` is over. It waits for a side's input
    /// only if that is to be read, and for a side's output only if lines are left to
    /// write.
    fn wait(
        &mut self,
        timeout: Option<Duration>,
        listen: Listen,
        gui_left: &[u8],
        engine_left: &[u8],
    ) -> Ready;

    /// Reads what a side has sent; returns 0 at its end.
    fn read(&mut self, from: Side, buffer: &mut LineBuffer) -> io::Result<usize>;

    /// Writes as many `lines` as the pipe of a side takes now, and removes them.
    ///
    /// # Errors
    ///
    /// The other end is closed.
    fn write(&mut self, to: Side, lines: &mut Vec<u8>) -> io::Result<()>;

    /// Takes the pipes of an engine that has just been started, and the descriptor that
    /// reports the end of its process, if the system has one.
    ///
    /// # Errors
    ///
    /// The system cannot use them.
    fn attach(&mut self, stdin: File, stdout: File, end: Option<File>) -> io::Result<()>;

    /// Closes the engine's input and returns its output, unless a thread owns it.
    fn detach(&mut self) -> Option<File>;

    /// Waits at most `limit` until all output has been written.
    fn flush(&mut self, limit: Duration);

    /// Returns a function for sending reports to the loop.
    fn deliver(&self) -> Deliver;
}
