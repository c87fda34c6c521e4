//! Progress of long work, shown on a terminal only.

use std::fmt::Write;
use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use indicatif::{
    HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};

use super::output;
use tabia_io::progress::{Progress, Watch};

/// Whether Ctrl-C was pressed.
static STOP: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that Ctrl-C (signal 2), SIGTERM (15) or SIGHUP (1) has ended.
static ENDED_BY: AtomicU8 = AtomicU8::new(0);

/// The exit code, if work was ended by one of these signals.
pub(crate) fn ended_by_signal() -> Option<u8> {
    Some(ENDED_BY.load(Ordering::Relaxed)).filter(|code| *code > 0)
}

/// Makes Ctrl-C set [`STOP`], so that long work ends without leaving files.
fn listen() -> anyhow::Result<()> {
    at_end(|| {})
}

/// As above, for a program that does more than such work: `first` is called, too. Only the
/// first call has an effect, so it comes before the work.
pub(crate) fn at_end(first: impl Fn() + Send + Sync + 'static) -> anyhow::Result<()> {
    static HANDLER: Mutex<bool> = Mutex::new(false);
    let mut is_set = HANDLER.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_set {
        at_ctrl_c(move || {
            STOP.store(true, Ordering::Relaxed);
            first();
        })?;
        *is_set = true;
    }
    Ok(())
}

/// Calls `first` at the first Ctrl-C, or when the system asks the program to end (SIGTERM), or
/// its terminal is closed (SIGHUP). A second one ends the program at once; but of SIGHUP the
/// shell sends another one after that of the system.
pub(crate) fn at_ctrl_c(first: impl Fn() + Send + Sync + 'static) -> anyhow::Result<()> {
    let pressed = AtomicBool::new(false);
    let interrupt = Arc::new(move |signal: u8| {
        if !pressed.swap(true, Ordering::Relaxed) {
            ENDED_BY.store(128 + signal, Ordering::Relaxed);
            first();
        } else if signal != 1 {
            std::process::exit((128 + signal).into());
        }
    });
    at_requests(&interrupt).context("cannot listen for SIGTERM")?;
    ctrlc::set_handler(move || interrupt(2)).context("cannot listen for Ctrl-C")
}

/// Not with the feature `termination` of `ctrlc`, which would also undo `nohup`.
#[cfg(unix)]
fn at_requests(interrupt: &Arc<impl Fn(u8) + Send + Sync + 'static>) -> io::Result<()> {
    use std::io::Read as _;

    use signal_hook::consts::{SIGHUP, SIGTERM};

    for (signal, number) in [(SIGTERM, 15), (SIGHUP, 1)] {
        if signal == SIGHUP && outlives_terminal() {
            continue;
        }
        let (mut reader, writer) = io::pipe()?;
        signal_hook::low_level::pipe::register(signal, writer)?;
        let interrupt = Arc::clone(interrupt);
        let wait = move || {
            let mut byte = [0];
            while matches!(reader.read(&mut byte), Ok(1)) {
                interrupt(number);
            }
        };
        let thread = std::thread::Builder::new().name("signals".to_owned());
        thread.spawn(wait)?;
    }
    Ok(())
}

/// Whether the program was started so that it ignores SIGHUP, as by `nohup`. Where the system
/// does not tell (macOS), the signal keeps its effect.
#[cfg(unix)]
fn outlives_terminal() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut ignored = status
        .lines()
        .filter_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored
        .next()
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_none_or(|mask| mask & 1 != 0)
}

/// Windows has no such request for programs without windows.
#[cfg(not(unix))]
fn at_requests(_interrupt: &Arc<impl Fn(u8) + Send + Sync + 'static>) -> io::Result<()> {
    Ok(())
}

/// Does long work, or a part of it, with a progress bar; Ctrl-C cancels it.
pub(crate) fn watched<T>(work: impl FnOnce(&mut Watch<'_>) -> T) -> anyhow::Result<T> {
    watched_also(&mut |_| {}, work)
}

/// Like [`watched`]; `also` gets the progress, too.
pub(crate) fn watched_also<T>(
    also: &mut dyn FnMut(Progress),
    work: impl FnOnce(&mut Watch<'_>) -> T,
) -> anyhow::Result<T> {
    listen()?;
    let bar = bar();
    let mut step = (Progress::new("", "", 0, None), Instant::now());
    let mut report = |progress: Progress| {
        also(progress);
        show(&bar, progress, &mut step);
    };
    let done = work(&mut Watch::new(&mut report, &STOP));
    bar.finish_and_clear();
    Ok(done)
}

/// Length of the bar of a whole work.
const WHOLE: u64 = 1_000_000;

/// Where the bar stands: never at its end, because work that reports its progress goes on.
fn position(progress: &Progress) -> Option<u64> {
    let done = progress.done_of_whole()?;
    Some(((done * WHOLE as f64) as u64).min(WHOLE * 99 / 100))
}

/// Shows the progress. `step` is the step so far, and when it began.
fn show(bar: &ProgressBar, progress: Progress, step: &mut (Progress, Instant)) {
    if bar.is_hidden() {
        return;
    }
    let at = position(&progress);
    let template = match (at, progress.bytes) {
        (Some(_), _) => "{prefix} {wide_bar} {percent}%  {msg}{left}",
        (None, Some(_)) => "{prefix} {spinner} {bytes}  {msg}",
        (None, None) => "{prefix} {spinner} {msg}",
    };
    let (before, began) = step;
    if (before.stage, before.part) != (progress.stage, progress.part) {
        *began = Instant::now();
        bar.set_prefix(progress.stage);
        // Another work, not the next step of the same one.
        if at.is_none_or(|at| at < bar.position()) {
            bar.reset();
        }
    }
    *before = progress;
    bar.set_style(style(template));
    if at.is_some() {
        bar.set_length(WHOLE);
    }
    let seconds = began.elapsed().as_secs_f64().max(0.001);
    let speed = HumanCount((progress.done as f64 / seconds) as u64);
    bar.set_message(format!(
        "{} {}, {speed} a second",
        HumanCount(progress.done),
        progress.unit
    ));
    let bytes = progress.bytes.map_or(progress.done, |(bytes, _)| bytes);
    bar.set_position(at.unwrap_or(bytes));
}

/// A progress bar on standard error; hidden if that is not a terminal.
fn bar() -> ProgressBar {
    let target = if std::io::stderr().is_terminal() && !output::is_silent() {
        ProgressDrawTarget::stderr_with_hz(8)
    } else {
        ProgressDrawTarget::hidden()
    };
    ProgressBar::with_draw_target(None, target)
}

/// The style of a template; `{left}` is the remaining time, once it can be estimated.
fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    style
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("left", |state: &ProgressState, out: &mut dyn Write| {
            // Nothing can be done about a closed terminal.
            let _ = out.write_str(&left(state.elapsed(), state.pos(), state.eta()));
        })
}

/// `, 12s left`; empty at the beginning, when estimates are unreliable, and at the end.
fn left(elapsed: Duration, done: u64, eta: Duration) -> String {
    match done > 0 && elapsed >= Duration::from_millis(500) && eta >= Duration::from_secs(1) {
        true => format!(", {:#} left", HumanDuration(eta)),
        false => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_beginning_no_remaining_time_is_shown() {
        let seconds = Duration::from_secs;
        assert_eq!(left(seconds(0), 100, seconds(0)), "");
        assert_eq!(left(seconds(5), 0, seconds(0)), "");
        assert_eq!(left(seconds(5), 10, seconds(12)), ", 12s left");
        assert_eq!(left(seconds(5), 10, Duration::from_millis(400)), "");
    }

    #[test]
    fn the_bar_is_at_its_end_when_the_work_is() {
        let at = |done| position(&Progress::new("writing", "positions", done, Some(100)));
        assert_eq!(at(50), Some(WHOLE / 2));
        assert_eq!(at(100), Some(WHOLE * 99 / 100));
        assert_eq!(position(&Progress::new("reading", "games", 5, None)), None);
    }
}
