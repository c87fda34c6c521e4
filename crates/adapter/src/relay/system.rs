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
/// One of them does not exist.
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
