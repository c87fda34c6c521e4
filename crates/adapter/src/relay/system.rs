//! Signals, standard streams and exit codes of processes.

use std::fs::File;
use std::io;
use std::process::ExitStatus;

use super::port::Port;

/// Makes a termination signal act like `quit`: the engine and its child processes end
/// too.
#[cfg(unix)]
pub(super) fn handle_signals(port: &impl Port) {
    use std::io::Read as _;

    use signal_hook::consts::{SIGINT, SIGTERM};

    use super::port::ThreadReport;
    let deliver = port.deliver();
    let install = || {
        let (mut reader, writer) = io::pipe()?;
        for signal in [SIGINT, SIGTERM] {
            signal_hook::low_level::pipe::register(signal, writer.try_clone()?)?;
        }
        let wait = move || {
            let mut byte = [0];
            while matches!(reader.read(&mut byte), Ok(1)) {
                deliver(ThreadReport::Terminate);
            }
        };
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(wait)
            .map(drop)
    };
    if let Err(error) = install() {
        let error: io::Error = error;
        log::warn!("signals end the program at once: {error}");
    }
}

/// Windows ends the job object of the engine and all its child processes.
#[cfg(not(unix))]
pub(super) fn handle_signals(_port: &impl Port) {}

#[cfg(unix)]
pub(super) fn into_file(pipe: impl Into<std::os::fd::OwnedFd>) -> File {
    File::from(pipe.into())
}

#[cfg(windows)]
pub(super) fn into_file(pipe: impl Into<std::os::windows::io::OwnedHandle>) -> File {
    File::from(pipe.into())
}

/// Standard input and output as files, unbuffered: lines are read and written in large
/// chunks.
///
/// # Errors
///
/// One of the two streams does not exist.
pub fn standard_streams() -> io::Result<(File, File)> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        Ok((
            into_file(io::stdin().as_fd().try_clone_to_owned()?),
            into_file(io::stdout().as_fd().try_clone_to_owned()?),
        ))
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        Ok((
            into_file(io::stdin().as_handle().try_clone_to_owned()?),
            into_file(io::stdout().as_handle().try_clone_to_owned()?),
        ))
    }
}

/// Standard error during a game, for whole lines. A line is cut at `WARNING` bytes, and lost
/// if the pipe is full: programs that start engines may never read it, and that must not stop
/// the game.
#[derive(Clone, Copy, Debug, Default)]
pub struct Warnings;

/// What a pipe takes without blocking once `poll` reports it writable.
const WARNING: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

impl io::Write for Warnings {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if takes_a_line() {
            let mut stderr = io::stderr().lock();
            match line.get(..WARNING - 4) {
                Some(cut) if line.len() > WARNING => {
                    stderr.write_all(&[cut, b"...\n"].concat())?;
                }
                _ => stderr.write_all(line)?,
            }
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(unix)]
fn takes_a_line() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stderr = io::stderr();
    let mut fds = [PollFd::new(&stderr, PollFlags::OUT)];
    // If `poll` fails, try to write anyway.
    poll(&mut fds, Some(&Timespec::default())).map_or(true, |ready| ready > 0)
}

#[cfg(not(unix))]
fn takes_a_line() -> bool {
    true
}

pub(super) fn describe_end(status: Option<ExitStatus>) -> String {
    let Some(status) = status else {
        return "the engine closed its output and was ended".to_owned();
    };
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            let hint = match signal {
                4 => " (illegal instruction: is this build for this processor?)",
                9 => " (killed: out of memory?)",
                _ => "",
            };
            return format!("the engine was ended by signal {signal}{hint}");
        }
    }
    match status.code() {
        Some(code) => format!("the engine has ended with exit code {code}"),
        None => "the engine has ended".to_owned(),
    }
}
