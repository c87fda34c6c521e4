//! What the system knows about other processes.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Far longer than the end of any process takes: only one that never ends is waited for so
/// long.
const LIMIT: Timespec = Timespec {
    tv_sec: 60,
    tv_nsec: 0,
};

/// Waits until a process has ended, be it ours or not; a zombie has. False if it never does.
#[must_use]
pub fn ends(process: u32) -> bool {
    ends_within(process, &LIMIT)
}

fn ends_within(process: u32, limit: &Timespec) -> bool {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    match pidfd_open(pid.expect("a process"), PidfdFlags::empty()) {
        Ok(file) => {
            let mut files = [PollFd::new(&file, PollFlags::IN)];
            retry_on_intr(|| poll(&mut files, Some(limit))) != Ok(0)
        }
        Err(error) => error == Errno::SRCH,
    }
}

/// How often each thread of a process has given up its processor, if all of them sleep. The
/// same answer twice: it slept all the time between.
fn at_rest(process: u32) -> Option<String> {
    let mut found = String::new();
    for thread in fs::read_dir(format!("/proc/{process}/task")).ok()? {
        let status = fs::read_to_string(thread.ok()?.path().join("status")).ok()?;
        let of = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        of("State:")?.trim().starts_with('S').then_some(())?;
        let switches = of("voluntary_ctxt_switches:").zip(of("nonvoluntary_ctxt_switches:"));
        let _ = writeln!(found, "{:?}", (of("Pid:")?, switches?));
    }
    Some(found)
}

/// Waits until `holds`, which it asks in between, while every thread of these processes
/// sleeps: then they wait for somebody else. False as soon as `is_over`, or one has ended.
pub fn are_stuck(
    processes: &[u32],
    mut holds: impl FnMut() -> bool,
    mut is_over: impl FnMut() -> bool,
) -> bool {
    let all = || -> Option<Vec<String>> { processes.iter().map(|one| at_rest(*one)).collect() };
    let has_ended = |process: &u32| ends_within(*process, &Timespec::default());
    while !is_over() && !processes.iter().any(has_ended) {
        let before = all();
        if before.is_some() && holds() && before == all() {
            return true;
        }
        // No event tells that nothing happens any more; how long this takes decides nothing.
        std::thread::sleep(Duration::from_millis(2));
    }
    false
}
