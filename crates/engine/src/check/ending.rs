//! Checks of the ways to end.

use super::Outcome;
use super::walk::{Fault, StepFn, Verdict, Walk, seconds};

pub(super) const STEPS: &[(&str, StepFn)] = &[
    ("ends on \"quit\"", |walk| end(walk, true)),
    ("ends on \"quit\" during a search", |walk| {
        search(walk)?;
        end(walk, true)
    }),
    ("ends with its input", |walk| end(walk, false)),
    ("ends with its input during a search", |walk| {
        search(walk)?;
        match end(walk, false) {
            // No GUI depends on it, but if a GUI crashes, such an engine runs on and
            // uses a whole processor.
            Err(text) => {
                walk.drop_peer();
                Ok((Outcome::Warning, text))
            }
            passed => passed,
        }
    }),
];

fn search(walk: &mut Walk<'_>) -> Result<(), Fault> {
    walk.send("position startpos")?;
    walk.send("go infinite")?;
    // Gives the search time to start.
    walk.watch(walk.patience.watch / 4)?;
    Ok(())
}

fn end(walk: &mut Walk<'_>, quit: bool) -> Result<Verdict, Fault> {
    let limit = walk.patience.quit;
    let peer = walk.peer()?;
    let start = peer.now();
    if quit {
        peer.send("quit");
    } else {
        peer.close_input();
    }
    let Some(status) = peer.ends(limit) else {
        return Err(format!("it still runs after {}", seconds(limit)));
    };
    let took = peer.now() - start;
    let left_behind = peer.process().is_some_and(|it| group_survives(it.id()));
    walk.drop_peer();
    if left_behind {
        return Err("it ended, but processes that it started still run".into());
    }
    if !status.success() {
        return Err(format!("it ended with a failure ({status})"));
    }
    Ok((Outcome::Passed, format!("after {} ms", took.as_millis())))
}

/// Whether the engine's process group has members left.
#[cfg(unix)]
fn group_survives(id: u32) -> bool {
    use rustix::process::{Pid, test_kill_process_group};

    let Some(group) = i32::try_from(id).ok().and_then(Pid::from_raw) else {
        return false;
    };
    // Child processes may end a moment later, and no event tells when: they are not this
    // program's children, and a pidfd is for one process, not for a group.
    for _ in 0..20 {
        if test_kill_process_group(group).is_err() {
            return false;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // Kill them, so that the check leaves no process running.
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    true
}

/// The job object ends the children together with the engine.
#[cfg(not(unix))]
fn group_survives(_id: u32) -> bool {
    false
}
