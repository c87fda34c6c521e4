//! Runs the cases, checks their results and reports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use libtest_mimic::{Arguments, Trial};
use test_programs::processes::ends;

use super::case::{self, Case, Gui, Moment, Seen};
use super::gui::{Observation, Place, Player};
use super::{flood, table};

/// Limit for the adapter's memory, in KiB.
pub(crate) const MEMORY_LIMIT_KIB: u64 = 32 << 10;

/// Limit for the adapter's memory in a case without pages of its program file, in KiB.
const OWN_LIMIT_KIB: u64 = 8 << 10;

/// Number of cases at a time: most of them mostly wait.
const AT_ONCE: usize = 12;

/// The argument that makes this program the GUI of a case.
const AS_GUI: &str = "as-gui";

pub(crate) fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == AS_GUI) {
        kill_gui(&words[1..]);
    }
    // libtest_mimic prints a panic as a failure.
    std::panic::set_hook(Box::new(|_| {}));
    let mut args = Arguments::from_args();
    // Print dots instead of hundreds of names.
    args.quiet |= args.format.is_none() && args.filter.is_none();
    let report = Arc::<Mutex<Report>>::default();
    let mut trials = vec![Trial::test("table", || Ok(table::check()?))];
    trials.extend(case::all().into_iter().map(|case| {
        let report = Arc::clone(&report);
        Trial::test(case.to_string(), move || {
            let (seen, kept) = run(&case)?;
            let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
            report.add(&case, &seen, kept);
            Ok(())
        })
    }));
    args.test_threads.get_or_insert(AT_ONCE);
    let of_table = libtest_mimic::run(&args, trials);
    let report = report.lock().unwrap_or_else(PoisonError::into_inner);
    report.print();
    // Alone, because the amount of buffered data depends on scheduling.
    args.test_threads = Some(1);
    let floods = vec![
        Trial::test("flood/of-the-engine", || {
            flood::check();
            Ok(())
        }),
        Trial::test("flood/of-the-gui", || {
            flood::check_from_gui();
            Ok(())
        }),
    ];
    let floods = libtest_mimic::run(&args, floods);
    let failed = of_table.has_failed() || floods.has_failed() || report.is_empty();
    ExitCode::from(if failed { 101 } else { 0 })
}

/// The engine with the faults, which is built if it is not there.
pub(crate) fn engine() -> PathBuf {
    let tabia = Path::new(env!("CARGO_BIN_EXE_tabia"));
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    test_programs::built::example(tabia, temporary, "faulty_engine")
}

/// The results of all cases.
#[derive(Default)]
struct Report {
    outcomes: BTreeMap<String, usize>,
    longest_end: (Duration, String),
    peak_kib: u64,
    /// Cases that were in time for `quit`, and those that were late.
    in_time: usize,
    late: Vec<String>,
}

impl Report {
    fn add(&mut self, case: &Case, seen: &Observation, kept: Kept) {
        match kept {
            Kept::Always => {}
            Kept::InTime => self.in_time += 1,
            Kept::Late => self.late.push(case.to_string()),
        }
        let what = match (case.gui.0.stays(), seen.code) {
            (true, _) => case.seen.to_string(),
            (false, Some(code)) => format!("exit {code}"),
            (false, None) => "all gone".to_owned(),
        };
        *self
            .outcomes
            .entry(format!("{:<17}{what}", case.gui.1))
            .or_default() += 1;
        self.peak_kib = self.peak_kib.max(seen.peak_kib);
        if seen.end_took > self.longest_end.0 {
            self.longest_end = (seen.end_took, case.to_string());
        }
    }

    fn print(&self) {
        if self.outcomes.is_empty() {
            return;
        }
        for (what, count) in &self.outcomes {
            println!("  {count:>4}  {what}");
        }
        println!(
            "  the longest end: {:.2} s ({}); most memory: {:.1} MiB",
            self.longest_end.0.as_secs_f64(),
            self.longest_end.1,
            self.peak_kib as f64 / 1024.0
        );
        println!(
            "  {} cases within the half second of `quit`; {} too late to show anything: {:?}",
            self.in_time,
            self.late.len(),
            self.late
        );
    }

    /// Whether cases depended on the half second of `quit`, and none was in time.
    fn is_empty(&self) -> bool {
        self.in_time == 0 && !self.late.is_empty()
    }
}

fn run(case: &Case) -> Result<(Observation, Kept), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let place = Place::in_folder(folder.path());
    place.set_up(&engine(), case);
    let seen = match case.gui.0 {
        Gui::Killed => killed(case, folder.path())?,
        _ => Player::start(*case, &place).play(),
    };
    let kept = kept(case, &place, &seen);
    check_case(case, &place, &seen, kept).map_err(|error| {
        let received = &seen.received[seen.received.len().saturating_sub(6)..];
        format!(
            "{error}\n  code {:?}, {} go, {} isready; received {received:#?}",
            seen.code, seen.asked_go, seen.asked_ready
        )
    })?;
    Ok((seen, kept))
}

/// What a case shows whose result depends on the half second that `quit` waits, or on the
/// time in which a search begins: a machine on which nothing ran in that time has shown
/// nothing, which is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// It does not depend on that.
    Always,
    InTime,
    Late,
}

fn kept(case: &Case, place: &Place, seen: &Observation) -> Kept {
    // An engine that should fail at "quit" may be killed before it receives it.
    let is_late = if case.must_fail() && case.moment.0 == Moment::Quitting {
        !place.has_failed()
    } else if case.is_answered_in_one_write() {
        !seen.is_answered() && seen.code == Some(0)
    } else if case.engine.name == "loses-stop" {
        seen.seen() == Some(Seen::Restarts)
    } else {
        return Kept::Always;
    };
    if is_late { Kept::Late } else { Kept::InTime }
}

/// Runs the GUI as a separate process that ends by SIGKILL.
fn killed(case: &Case, folder: &Path) -> Result<Observation, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(this)
        .arg(AS_GUI)
        .arg(case.to_string())
        .arg(folder)
        .output()
        .map_err(|error| error.to_string())?;
    use std::os::unix::process::ExitStatusExt;
    if output.status.signal() == Some(9) {
        return Ok(Observation::default());
    }
    Err(format!(
        "the GUI: {}",
        String::from_utf8_lossy(&output.stderr)
    ))
}

fn kill_gui(args: &[String]) {
    let [name, folder] = args else { return };
    let case = case::all()
        .into_iter()
        .find(|case| case.to_string() == *name);
    let place = Place::in_folder(Path::new(folder));
    let mut player = Player::start(case.expect("a case"), &place);
    player.play_until_moment();
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}

fn check_case(case: &Case, place: &Place, seen: &Observation, kept: Kept) -> Result<(), String> {
    let gui = case.gui.0;
    let is_late = kept == Kept::Late;
    if case.must_fail() && !place.has_failed() && !is_late {
        return Err("the engine has not failed".to_owned());
    }
    if gui != Gui::Killed {
        let codes: &[i32] = match (gui.stays(), case.seen) {
            (true, Seen::Ends) => &[2],
            (_, Seen::RestartsOrEnds) | (false, Seen::Ends) => &[0, 2],
            _ => &[0],
        };
        if !seen.code.is_some_and(|code| codes.contains(&code)) {
            return Err(format!("exit code {:?}, not among {codes:?}", seen.code));
        }
    }
    let as_expected = match case.seen {
        Seen::RestartsOrEnds => matches!(seen.seen(), Some(Seen::Restarts | Seen::Ends)),
        one => seen.seen() == Some(one),
    };
    if gui.stays() && !as_expected && !is_late {
        return Err(format!("{:?} was seen, not {:?}", seen.seen(), case.seen));
    }
    if case.is_answered_in_one_write() && !seen.is_answered() && !is_late {
        return Err("not all is answered".to_owned());
    }
    if seen.count("bestmove") > seen.asked_go || seen.count("readyok") > seen.asked_ready {
        return Err("more answers than questions".to_owned());
    }
    if seen.count("uciok") > 1 {
        return Err("uciok came twice".to_owned());
    }
    if let Some(line) = seen.received.iter().find(|line| !is_protocol(line)) {
        return Err(format!("no UCI: {line:?}"));
    }
    if seen.peak_kib > OWN_LIMIT_KIB {
        return Err(format!("{} KiB of memory of its own", seen.peak_kib));
    }
    if let Some(process) = place.processes().into_iter().find(|one| !ends(*one)) {
        return Err(format!("process {process} still runs"));
    }
    if case.moment.0 == Moment::Thinking && !place.has_recorded() {
        return Err("the game is not recorded".to_owned());
    }
    Ok(())
}

fn is_protocol(line: &str) -> bool {
    let word = line.split(' ').next().unwrap_or_default();
    ["id", "option", "uciok", "readyok", "bestmove", "info"].contains(&word)
}
