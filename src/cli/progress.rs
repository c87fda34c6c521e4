//! What is seen while long work lasts, on a terminal only.

use std::fmt::Write;
use std::io::IsTerminal as _;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use indicatif::{
    HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};

use crate::book::{Progress, Watch};

/// Does long work under a bar; Ctrl-C ends it.
pub(super) fn watched<T>(work: impl FnOnce(&mut Watch<'_>) -> T) -> anyhow::Result<T> {
    let stop = super::stopped_by_ctrl_c()?;
    Ok(under_bar(&stop, work))
}

/// The same for one of several pieces of work that `stop` ends.
pub(super) fn under_bar<T>(stop: &AtomicBool, work: impl FnOnce(&mut Watch<'_>) -> T) -> T {
    let bar = bar();
    let done = work(&mut Watch::new(&mut |progress| show(&bar, progress), stop));
    bar.finish_and_clear();
    done
}

fn show(bar: &ProgressBar, progress: Progress) {
    if bar.is_hidden() {
        return;
    }
    let template = match progress.total {
        Some(_) => "{prefix} {wide_bar} {percent}%  {msg}{left}",
        None => "{prefix} {spinner} {msg}",
    };
    bar.set_style(style(template));
    if let Some(total) = progress.total {
        bar.set_length(total.max(progress.done));
    }
    bar.set_prefix(progress.stage);
    bar.set_message(format!("{} {}", HumanCount(progress.done), progress.unit));
    bar.set_position(progress.done);
}

/// A bar on standard error; hidden where that is no terminal.
pub(super) fn bar() -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr_with_hz(8)
    } else {
        ProgressDrawTarget::hidden()
    };
    ProgressBar::with_draw_target(None, target)
}

/// The style of a template of ours; `{left}` is how long it still takes, once
/// that can be told.
pub(super) fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    style
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("left", |state: &ProgressState, out: &mut dyn Write| {
            // Nothing can be done about a closed terminal.
            let _ = out.write_str(&left(state.elapsed(), state.pos(), state.eta()));
        })
}

/// `, 12s left`; nothing at the beginning, when any guess is wrong.
fn left(elapsed: Duration, done: u64, eta: Duration) -> String {
    match done > 0 && elapsed >= Duration::from_millis(500) {
        true => format!(", {:#} left", HumanDuration(eta)),
        false => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_to_tell_at_the_beginning() {
        let seconds = Duration::from_secs;
        assert_eq!(left(seconds(0), 100, seconds(0)), "");
        assert_eq!(left(seconds(5), 0, seconds(0)), "");
        assert_eq!(left(seconds(5), 10, seconds(12)), ", 12s left");
    }
}
