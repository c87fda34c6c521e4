//! Lines on their way out.
//!
//! Several threads put lines in; whoever flushes first writes for all, so a
//! forwarded line costs one write and no change of threads. The order is
//! that in which lines were put in.

use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A flush that may wait holds back its thread while more than this waits.
const HIGH_WATER: usize = 1 << 20;

/// What a pipe takes without blocking once it says that it is writable
/// (`PIPE_BUF` on Linux; POSIX promises 512).
const SAFE_CHUNK: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// A queue of lines before a pipe.
#[derive(Debug)]
pub(super) struct Outbox {
    queue: Mutex<Queue>,
    drained: Condvar,
    pipe: Mutex<Option<File>>,
}

#[derive(Debug, Default)]
struct Queue {
    lines: Vec<u8>,
    /// Taken in turns with `lines`, so that both keep their memory.
    spare: Vec<u8>,
    /// Some thread is writing.
    busy: bool,
    /// The other end is gone: lines are thrown away.
    broken: bool,
}

/// Whether a flush may wait for the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// It may: the thread has nothing else to do.
    Wait,
    /// It may not: what cannot be written now is left to another thread.
    Hurry,
}

impl Outbox {
    pub(super) fn new(pipe: File) -> Outbox {
        Outbox {
            queue: Mutex::default(),
            drained: Condvar::new(),
            pipe: Mutex::new(Some(pipe)),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line; the line end is put behind it.
    pub(super) fn push(&self, line: &[u8]) {
        let mut queue = self.queue();
        if !queue.broken {
            queue.lines.extend_from_slice(line);
            queue.lines.push(b'\n');
        }
    }

    /// Writes what waits, unless another thread is at it already.
    ///
    /// # Errors
    ///
    /// The other end is gone.
    pub(super) fn flush(self: &Arc<Self>, patience: Patience) -> io::Result<()> {
        let mut queue = self.queue();
        if queue.busy {
            while patience == Patience::Wait && queue.busy && queue.lines.len() > HIGH_WATER {
                queue = self
                    .drained
                    .wait(queue)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            return Ok(());
        }
        queue.busy = true;
        let result = self.write_all(queue, patience);
        if let Err(error) = &result {
            let mut queue = self.queue();
            queue.broken = true;
            queue.busy = false;
            queue.lines.clear();
            self.drained.notify_all();
            log::debug!("a pipe is closed: {error}");
        }
        result
    }

    /// Writes until nothing waits; `busy` is set and belongs to us.
    fn write_all<'a>(
        self: &'a Arc<Self>,
        mut queue: MutexGuard<'a, Queue>,
        patience: Patience,
    ) -> io::Result<()> {
        while !queue.lines.is_empty() {
            let mut lines = std::mem::take(&mut queue.spare);
            std::mem::swap(&mut lines, &mut queue.lines);
            drop(queue);
            let written = self.write(&lines, patience)?;
            queue = self.queue();
            if written < lines.len() {
                // In front of what has come meanwhile.
                lines.drain(..written);
                lines.append(&mut queue.lines);
                queue.lines = lines;
                self.leave_to_another_thread();
                return Ok(());
            }
            lines.clear();
            // A flood may have made it large.
            lines.shrink_to(HIGH_WATER);
            queue.spare = lines;
            self.drained.notify_all();
        }
        queue.busy = false;
        self.drained.notify_all();
        Ok(())
    }

    /// Hands the turn, which is ours, to a thread that may wait.
    fn leave_to_another_thread(self: &Arc<Self>) {
        let outbox = Arc::clone(self);
        let drain = move || {
            outbox.queue().busy = false;
            let _ = outbox.flush(Patience::Wait);
        };
        let _ = std::thread::Builder::new()
            .name("drain".to_owned())
            .spawn(drain);
    }

    /// Writes as much as `patience` allows; how much that was.
    fn write(&self, lines: &[u8], patience: Patience) -> io::Result<usize> {
        let mut pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(pipe) = pipe.as_mut() else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        if patience == Patience::Wait {
            pipe.write_all(lines)?;
            return Ok(lines.len());
        }
        let mut written = 0;
        for chunk in lines.chunks(SAFE_CHUNK) {
            if !is_writable(pipe) {
                break;
            }
            pipe.write_all(chunk)?;
            written += chunk.len();
        }
        Ok(written)
    }

    /// Writes what waits and closes the pipe, if that is possible at once.
    pub(super) fn close(self: &Arc<Self>) {
        let _ = self.flush(Patience::Hurry);
        self.queue().broken = true;
        if let Ok(mut pipe) = self.pipe.try_lock() {
            *pipe = None;
        }
    }

    /// Waits until nothing waits any more, at most `limit`.
    pub(super) fn settle(&self, limit: std::time::Duration) {
        let queue = self.queue();
        let _ = self
            .drained
            .wait_timeout_while(queue, limit, |queue| {
                !queue.broken && (queue.busy || !queue.lines.is_empty())
            })
            .unwrap_or_else(PoisonError::into_inner);
    }
}

#[cfg(unix)]
fn is_writable(pipe: &File) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut fds = [PollFd::new(pipe, PollFlags::OUT)];
    // Not to be told is no reason to hold back.
    poll(&mut fds, Some(&Timespec::default())).map_or(true, |ready| ready > 0)
}

/// Windows does not tell; a full pipe makes us wait there.
#[cfg(not(unix))]
fn is_writable(_pipe: &File) -> bool {
    true
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::time::Duration;

    fn pair() -> (Arc<Outbox>, io::PipeReader) {
        let (reader, writer) = io::pipe().unwrap();
        let pipe = File::from(std::os::fd::OwnedFd::from(writer));
        (Arc::new(Outbox::new(pipe)), reader)
    }

    fn read_lines(mut reader: io::PipeReader) -> Vec<String> {
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn lines_come_out_in_order_whoever_writes() {
        let (outbox, reader) = pair();
        let read = std::thread::spawn(move || read_lines(reader));
        for number in 0..5000 {
            outbox.push(format!("line {number}").as_bytes());
            let patience = if number % 2 == 0 {
                Patience::Wait
            } else {
                Patience::Hurry
            };
            outbox.flush(patience).unwrap();
        }
        outbox.settle(Duration::from_secs(20));
        outbox.close();
        let expected: Vec<String> = (0..5000).map(|number| format!("line {number}")).collect();
        assert_eq!(read.join().unwrap(), expected);
    }

    #[test]
    fn who_is_in_a_hurry_never_waits_for_a_reader_that_sleeps() {
        let (outbox, reader) = pair();
        let line = [b'x'; 1000];
        // More than any pipe holds: it returns all the same.
        for _ in 0..2000 {
            outbox.push(&line);
            outbox.flush(Patience::Hurry).unwrap();
        }
        let read = std::thread::spawn(move || read_lines(reader));
        outbox.settle(Duration::from_secs(20));
        outbox.close();
        let lines = read.join().unwrap();
        assert_eq!(lines.len(), 2000);
        assert!(lines.iter().all(|line| line.len() == 1000));
    }

    #[test]
    fn a_reader_that_is_gone_is_an_error_once_and_no_memory_later() {
        let (outbox, reader) = pair();
        drop(reader);
        outbox.push(b"hello");
        assert!(outbox.flush(Patience::Wait).is_err());
        outbox.push(b"hello");
        assert!(outbox.queue().lines.is_empty());
    }
}
