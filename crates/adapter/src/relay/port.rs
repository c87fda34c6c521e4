//! What the loop needs of the system: to wait for several pipes at once and
//! to write without being blocked.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::book_set::BookSet;
use crate::session::Speaker;
use tabia_uci::line::LineBuffer;

/// What a wait has brought.
#[derive(Debug, Default)]
pub(super) struct Ready {
    /// The GUI has sent something, or closed its end.
    pub(super) gui: bool,
    /// The engine has sent something, or closed its end.
    pub(super) engine: bool,
    /// The engine's process has ended; reported once.
    pub(super) engine_ended: bool,
    /// The GUI has closed its end of our output.
    pub(super) gui_closed: bool,
    /// Reports of other threads.
    pub(super) news: Vec<News>,
}

/// What comes from another thread.
#[derive(Debug)]
pub(super) enum News {
    /// Books have been opened: the number of the request, the books, and messages
    /// about them.
    Books(u64, BookSet, Vec<String>),
    /// The system wants us to end.
    #[cfg(unix)]
    Terminate,
}

/// Hands news to the loop, from another thread. Cannot fail for want of
/// anything: it is made when there is enough of everything.
pub(super) type Deliver = Arc<dyn Fn(News) + Send + Sync>;

/// Which of the two is to be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listen {
    pub(super) gui: bool,
    pub(super) engine: bool,
}

/// The pipes to both sides.
pub(super) trait Port {
    /// Waits until something is ready, or `timeout` is over. Input that is not to be
    /// read is not waited for; if lines are left to be written, it waits for their
    /// pipe too.
    fn wait(
        &mut self,
        timeout: Option<Duration>,
        listen: Listen,
        gui_left: &[u8],
        engine_left: &[u8],
    ) -> Ready;

    /// Reads what a side has sent; 0 at its end.
    fn read(&mut self, from: Speaker, buffer: &mut LineBuffer) -> io::Result<usize>;

    /// Writes what the pipe of a side takes now, and removes it from `lines`.
    ///
    /// # Errors
    ///
    /// The other end is gone.
    fn write(&mut self, to: Speaker, lines: &mut Vec<u8>) -> io::Result<()>;

    /// Takes the pipes of an engine that has just been started, and the descriptor
    /// that reports the end of its process, where the system has such a thing.
    ///
    /// # Errors
    ///
    /// The system does not let us use them.
    fn attach(&mut self, stdin: File, stdout: File, end: Option<File>) -> io::Result<()>;

    /// Closes the engine's input and gives its output, where it is still
    /// ours to give.
    fn detach(&mut self) -> Option<File>;

    /// Waits until everything handed over has been written, at most `limit`.
    fn settle(&mut self, limit: Duration);

    /// A way to hand in news.
    fn deliver(&self) -> Deliver;
}
