//! The time limits that follow from the clocks of a `go`.
//!
//! An engine that hangs looks like one that thinks. Only the clock distinguishes them,
//! and only when it has run out: these limits are so long that no engine that could still
//! win its game counts as hung.

use std::time::Duration;

use tabia_uci::gui::Go;

/// The time that an engine gets beyond its clock, increment or `movetime`. Match managers
/// tolerate some milliseconds, GUIs up to some seconds; an engine that is ten seconds
/// late has lost on time.
pub(in super::super) const MARGIN: Duration = Duration::from_secs(10);

/// How long the answer to a `stop` may take. The slowest engines take a second or two (a
/// batch on a graphics card); programs give up after 5 to 15.
pub(in super::super) const STOP_LIMIT: Duration = Duration::from_secs(30);

/// If an alarm comes later than this after its time, Tabia itself was not running: the
/// machine was asleep, or the program was stopped in a debugger.
pub(in super::super) const ASLEEP: Duration = Duration::from_secs(1);

/// How long the answer to a `go` may take before the engine counts as hung; `None` if the
/// line sets no time.
pub(super) fn allowance(go: &Go, white_moves: Option<bool>) -> Option<Duration> {
    Some(longest(go, white_moves)?.saturating_add(MARGIN))
}

/// The longest search that the times allow. A book does not wait on a clock of 0, but an
/// engine is not killed for one that may be no clock at all.
fn longest(go: &Go, white_moves: Option<bool>) -> Option<Duration> {
    go.longest(white_moves).filter(|_| !go.is_untimed())
}

/// How long a `go` may wait while the engine ends another search. The GUI did not
/// cause this delay, so it is at most a small part of the mover's time.
pub(super) fn patience(go: &Go, white_moves: Option<bool>) -> Option<Duration> {
    const LEAST: Duration = Duration::from_millis(250);
    const MOST: Duration = Duration::from_secs(5);
    let left = go.left(white_moves).filter(|_| !go.is_untimed())?;
    Some((left / 8).clamp(LEAST, MOST))
}
