//! `tabia replay`: replays a session recorded by `--log`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;

use tabia_adapter::transcript::{Difference, Recording, escape, replay};
use tabia_choice::book_set::Opener;

/// Greatest number of lines shown of a difference.
const SHOWN: usize = 6;

/// Arguments of `replay`.
#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// What `tabia --log FILE` has written
    pub(crate) log: PathBuf,
}

/// Replays the log; returns the exit code.
pub(crate) fn run(args: &ReplayArgs, out: &mut dyn Write) -> anyhow::Result<u8> {
    let name = args.log.display().to_string();
    let bytes = std::fs::read(&args.log).with_context(|| name.clone())?;
    let text = String::from_utf8_lossy(&bytes);
    let recordings = Recording::read_all(&text).with_context(|| name.clone())?;
    let count = recordings.len();
    let mut code = 0;
    for (number, recording) in recordings.iter().enumerate() {
        let of = match count {
            1 => name.clone(),
            _ => format!("{name}: session {} of {count}", number + 1),
        };
        code |= run_one(&of, recording, &text, out)?;
    }
    Ok(code)
}

/// Replays a session; returns 1 if it differs, else 0.
fn run_one(
    name: &str,
    recording: &Recording,
    text: &str,
    out: &mut dyn Write,
) -> anyhow::Result<u8> {
    let opener = Opener {
        folders: recording.folders.iter().map(PathBuf::from).collect(),
        mmap: recording.mmap,
        settles: false,
    };
    let version = env!("CARGO_PKG_VERSION");
    if recording.version != version {
        writeln!(
            out,
            "note: the log is of Tabia {}, this is {version}",
            escape(recording.version.as_bytes())
        )?;
    }
    let replayed = replay(
        recording,
        version,
        &mut |wanted, present| opener.book_set(wanted, present).0,
        &|path| opener.identity(path),
    );
    if let Some(line) = recording.cut {
        writeln!(
            out,
            "note: the log is cut off in the middle of line {line}: replayed as far as the line before"
        )?;
    }
    for note in &replayed.notes {
        writeln!(out, "note: {}", escape(note.as_bytes()))?;
    }
    let Some(difference) = &replayed.difference else {
        writeln!(
            out,
            "{name}: {} events, {} lines sent: the same output",
            replayed.came, replayed.matched
        )?;
        return Ok(0);
    };
    let lines: Vec<&str> = text.lines().collect();
    write_difference(name, difference, &lines, out)?;
    Ok(1)
}

fn write_difference(
    name: &str,
    difference: &Difference,
    lines: &[&str],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    writeln!(
        out,
        "{name}: line {}: the answers differ here",
        difference.line
    )?;
    let from = difference.line.saturating_sub(SHOWN);
    for line in lines.get(from..difference.line).unwrap_or_default() {
        writeln!(out, "  {line}")?;
    }
    for (head, sent) in [("then:", &difference.then), ("now:", &difference.now)] {
        writeln!(out, "{head}")?;
        if sent.is_empty() {
            writeln!(out, "  (nothing)")?;
        }
        for line in sent.iter().take(SHOWN) {
            writeln!(out, "  {line}")?;
        }
        if sent.len() > SHOWN {
            writeln!(out, "  ... and {} lines more", sent.len() - SHOWN)?;
        }
    }
    Ok(())
}
