//! Checks with clocks of all kinds, as match managers send them.

use super::Outcome;
use super::walk::{Answer, Fault, Verdict, Walk, first_word, standard};

/// Time on each clock in these checks.
const CLOCK_MS: u128 = 500;

/// Time allowed for a move when the clock is empty: managers begin to warn at about
/// this.
const LAST_MOVE_MS: u128 = 200;

fn search(walk: &mut Walk<'_>, moves: &str, go: &str) -> Result<Answer, Fault> {
    walk.search(&standard("", moves)?, go)
}

/// A match manager may omit the opponent's clock; fastchess does so when it checks
/// engines, and expects a score too.
pub(super) fn own_clock_alone(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    search(walk, "", &format!("go wtime {CLOCK_MS}"))?.in_time(CLOCK_MS)?;
    let mut answer = search(walk, "e2e4", &format!("go btime {CLOCK_MS}"))?;
    if !answer.infos.iter().any(|info| info.scored) {
        answer.remark("no info line with a score as Black");
    }
    answer.in_time(CLOCK_MS)
}

pub(super) fn moves_to_go(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    let clocks = format!("wtime {CLOCK_MS} btime {CLOCK_MS} winc 20 binc 20");
    search(walk, "e2e4 e7e5", &format!("go {clocks} movestogo 5"))?.in_time(CLOCK_MS)?;
    // The last move before the control, and the order that others use.
    let clocks = format!("movestogo 1 winc 20 binc 20 wtime {CLOCK_MS} btime {CLOCK_MS}");
    search(walk, "e2e4 e7e5", &format!("go {clocks}"))?.in_time(CLOCK_MS)
}

/// Almost empty and empty clocks.
pub(super) fn no_time_left(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    let mut slowest = search(walk, "d2d4", "go wtime 1 btime 1")?;
    let late = search(walk, "d2d4", "go wtime -20 btime -20 winc 10 binc 10")?;
    if late.took > slowest.took {
        slowest = late;
    }
    let took = slowest.took.as_millis();
    if took > LAST_MOVE_MS {
        slowest.remark(format!("took {took} ms with no time left"));
    }
    Ok(slowest.verdict())
}

/// A late `stop` or `ponderhit` must have no effect.
pub(super) fn late_stop(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    walk.send("stop")?;
    walk.ready()?;
    walk.send("ponderhit")?;
    walk.ready()?;
    let lines = walk.watch(walk.patience.watch)?;
    if lines.iter().any(|line| first_word(line) == "bestmove") {
        return Err("it sent a bestmove that was not asked for".into());
    }
    Ok((Outcome::Passed, String::new()))
}
