//! Standard output and standard error.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use tabia_io::sanitize::Sanitized;

/// Whether summaries and progress are left out.
static SILENT: AtomicBool = AtomicBool::new(false);

/// Sets whether summaries and progress are left out.
pub(crate) fn silence(silent: bool) {
    SILENT.store(silent, Ordering::Relaxed);
}

pub(crate) fn is_silent() -> bool {
    SILENT.load(Ordering::Relaxed)
}

/// Runs a command that prints, and flushes its output.
pub(crate) fn with_output<W: Write>(
    mut out: W,
    run: impl FnOnce(&mut W) -> anyhow::Result<u8>,
) -> anyhow::Result<u8> {
    let code = run(&mut out)?;
    out.flush()?;
    Ok(code)
}

/// Standard output, written in large chunks, with control characters escaped.
pub(crate) fn output() -> Sanitized<io::BufWriter<io::Stdout>> {
    Sanitized::new(io::BufWriter::new(io::stdout()))
}

/// Standard error, for messages, with control characters escaped.
pub(crate) fn messages() -> Sanitized<io::Stderr> {
    Sanitized::new(io::stderr())
}

/// Standard output for text with colours: these go only to a terminal, and not if
/// `NO_COLOR` is set.
pub(crate) fn painted() -> Sanitized<Box<dyn io::Write>> {
    let stdout = io::stdout();
    if anstream::AutoStream::choice(&stdout) == anstream::ColorChoice::Never {
        anstream::ColorChoice::Never.write_global();
        let buffer = io::BufWriter::with_capacity(64 << 10, stdout);
        return Sanitized::new(Box::new(buffer));
    }
    Sanitized::with_colours(Box::new(io::BufWriter::new(anstream::stdout())))
}

/// Prints one JSON object in one line.
pub(crate) fn print_json(
    object: &impl serde::Serialize,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    Ok(writeln!(out, "{}", serde_json::to_string(object)?)?)
}

pub(crate) fn is_closed_output(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
