//! What is seen while long work lasts, on a terminal only.

use std::io::IsTerminal as _;

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::book::{Progress, Watch};

/// Does long work under a bar; Ctrl-C ends it.
pub(super) fn watched<T>(work: impl FnOnce(&mut Watch<'_>) -> T) -> anyhow::Result<T> {
    let stop = super::stopped_by_ctrl_c()?;
    let bar = bar();
    let done = work(&mut Watch::new(&mut |progress| show(&bar, progress), &stop));
    bar.finish_and_clear();
    Ok(done)
}

fn show(bar: &ProgressBar, progress: Progress) {
    if bar.is_hidden() {
        return;
    }
    let template = match progress.total {
        Some(_) => "{prefix} {wide_bar} {percent}%  {msg}, {eta} left",
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

/// The style of a template of ours.
pub(super) fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
