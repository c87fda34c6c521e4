//! The text shown when the adapter is started at a terminal without naming
//! an engine or a book.

use std::fs::File;
use std::io::{self, BufRead as _, IsTerminal as _, Write};

use crate::cli::arguments::common::PlayArgs;
use crate::cli::print::output::messages;
use tabia_adapter::config::Config;
use tabia_book::Format;

/// Whether a user is at the terminal, and no option names an engine or a book.
pub(crate) fn is_due(args: &PlayArgs, config: &Config) -> bool {
    let named = std::env::var_os("TABIA_CONFIG").is_some_and(|path| !path.is_empty());
    let given = args.config.config.is_some()
        || args.engine.is_some()
        || !args.book.is_empty()
        || !args.set.is_empty()
        || !args.command.is_empty()
        || args.log.is_some();
    let looked_at = io::stdin().is_terminal() && io::stderr().is_terminal();
    looked_at && !named && !given && config.is_empty()
}

/// Explains the program, and reads the first typed line.
pub(crate) fn ask(plays: &str) -> io::Result<String> {
    let mut out = messages();
    let formats = Format::ALL.iter();
    let formats: Vec<String> = formats.map(|one| format!(".{}", one.as_str())).collect();
    writeln!(
        out,
        "Tabia {} is a chess engine for your chess program: it plays from opening books\n\
         ({}), and then a real engine plays on.\n\n\
         Nothing is set up yet; for now it plays {plays}.\n\n  \
         tabia setup    finds engines, books and chess programs here and makes them\n                 \
         play together; it shows every step, and asks before it writes\n  \
         tabia explore  shows a book in the browser\n  \
         tabia --help   everything else\n",
        env!("CARGO_PKG_VERSION"),
        formats.join(", "),
    )?;
    write!(
        out,
        "Set it up now? [y/N, or a UCI command such as \"uci\"] "
    )?;
    out.flush()?;
    let mut line = String::new();
    // Nothing is lost in the buffer of standard input: a terminal sends one line at a
    // time.
    io::stdin().lock().read_line(&mut line)?;
    Ok(line)
}

/// Whether the answer is yes or no; `None` for anything else.
pub(crate) fn is_yes(line: &str) -> Option<bool> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" | "setup" | "tabia setup" => Some(true),
        "n" | "no" => Some(false),
        "" if line.ends_with('\n') => Some(false),
        _ => None,
    }
}

/// The input, preceded by a line that was read already.
pub(crate) fn with_line(line: String, mut input: File) -> io::Result<File> {
    let (reader, mut writer) = io::pipe()?;
    std::thread::spawn(move || {
        // The thread ends with the terminal, or with the process.
        let _ = writer
            .write_all(line.as_bytes())
            .and_then(|()| io::copy(&mut input, &mut writer).map(drop));
    });
    #[cfg(unix)]
    return Ok(File::from(std::os::fd::OwnedFd::from(reader)));
    #[cfg(windows)]
    return Ok(File::from(std::os::windows::io::OwnedHandle::from(reader)));
}
