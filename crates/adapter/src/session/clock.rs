//! What the clocks of a `go` allow.
//!
//! An engine that hangs looks like one that thinks. Only the clock distinguishes
//! them, and only when it has run out: the numbers here are such that no engine which
//! could still win its game is taken for a hung one.

use std::time::Duration;

use tabia_uci::gui::Go;

/// What an engine has beyond its clock, its increment or its `movetime`. Match
/// managers forgive some milliseconds, GUIs up to some seconds; an engine that is ten
/// seconds late has lost wherever time counts.
pub(super) const MARGIN: Duration = Duration::from_secs(10);

/// How long a `stop` may go unanswered. The slowest engines take a second or
/// two (a batch on a graphics card); programs give up after 5 to 15.
pub(super) const STOP_LIMIT: Duration = Duration::from_secs(30);

/// An alarm that comes later than this after its time means that Tabia itself was not
/// running: the machine slept, or the program was stopped in a debugger.
pub(super) const ASLEEP: Duration = Duration::from_secs(1);

/// A `go` that has waited for at least this time is passed on with shorter clocks.
/// After a shorter wait its bytes are not changed.
pub(super) const LEAST_CORRECTED_WAIT: Duration = Duration::from_millis(20);

/// How long the answer to a `go` may take before the engine counts as hung;
/// `None` when nothing in the line sets a time.
pub(super) fn allowance(go: &Go, white_moves: Option<bool>) -> Option<Duration> {
    Some(go.longest(white_moves)?.saturating_add(MARGIN))
}

/// How long a `go` may wait because the engine has still to end a search of
/// which the GUI knows nothing. That is not the GUI's fault: it gets no more
/// than a small part of the mover's time, and never a second too late.
pub(super) fn patience(go: &Go, white_moves: Option<bool>) -> Option<Duration> {
    const LEAST: Duration = Duration::from_millis(250);
    const MOST: Duration = Duration::from_secs(5);
    Some((go.longest(white_moves)? / 8).clamp(LEAST, MOST))
}
