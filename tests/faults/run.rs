//! Runs the cases, judges them and reports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::case::{self, Case, Gui, Seen};
use super::gui::{Observation, Place, Player, is_gone, wait_until};
use super::{flood, table};

/// Most memory that the adapter may ever hold, in KiB.
pub(crate) const MEMORY_LIMIT_KIB: u64 = 32 << 10;

/// Cases at a time: most of them wait most of the time.
const AT_ONCE: usize = 12;

/// The word by which this program is the GUI of a case.
const AS_GUI: &str = "as-gui";

pub(crate) fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|word| word == AS_GUI) {
        die_as_gui(&args[1..]);
    }
    let words: Vec<&String> = args.iter().filter(|word| !word.starts_with('-')).collect();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(*word));
    let mut failures = Vec::new();
    if wanted("table")
        && let Err(error) = table::check()
    {
        failures.push(format!("table: {error}"));
    }
    let cases: Vec<Case> = case::all()
        .into_iter()
        .filter(|case| wanted(&case.to_string()))
        .collect();
    failures.extend(run_all(&cases));
    if wanted("flood") {
        for check in [flood::check, flood::check_from_gui] {
            if let Err(error) = std::panic::catch_unwind(check) {
                failures.push(format!("flood: {}", panic_text(&*error)));
            }
        }
    }
    for failure in &failures {
        eprintln!("FAILED {failure}");
    }
    ExitCode::from(u8::from(!failures.is_empty()))
}

/// Examples lie beside the binary.
pub(crate) fn engine() -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_tabia")).with_file_name("examples/faulty_engine");
    assert!(
        path.exists(),
        "run `cargo build --examples` first: {path:?}"
    );
    path
}

fn run_all(cases: &[Case]) -> Vec<String> {
    let begin = Instant::now();
    let next = AtomicUsize::new(0);
    let report = Mutex::new(Report::default());
    std::panic::set_hook(Box::new(|_| {}));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(cases.len()) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = std::panic::catch_unwind(|| run(case));
                    let outcome = outcome.unwrap_or_else(|panic| Err(panic_text(&*panic)));
                    report
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .add(case, outcome);
                }
            });
        }
    });
    let _ = std::panic::take_hook();
    let report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !cases.is_empty() {
        report.print(cases.len(), begin.elapsed());
    }
    report.failures
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_default()
}

#[derive(Default)]
struct Report {
    failures: Vec<String>,
    outcomes: BTreeMap<String, usize>,
    longest_end: (Duration, String),
    peak_kib: u64,
}

impl Report {
    fn add(&mut self, case: &Case, outcome: Result<Observation, String>) {
        let seen = match outcome {
            Ok(seen) => seen,
            Err(error) => return self.failures.push(format!("{case}: {error}")),
        };
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

    fn print(&self, cases: usize, took: Duration) {
        println!(
            "{cases} cases in {:.1} s, {} failed",
            took.as_secs_f64(),
            self.failures.len()
        );
        for (what, count) in &self.outcomes {
            println!("  {count:>4}  {what}");
        }
        println!(
            "  the longest end: {:.2} s ({}); most memory: {:.1} MiB",
            self.longest_end.0.as_secs_f64(),
            self.longest_end.1,
            self.peak_kib as f64 / 1024.0
        );
    }
}

fn run(case: &Case) -> Result<Observation, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let place = Place::in_folder(folder.path());
    place.set_up(&engine(), case);
    let seen = match case.gui.0 {
        Gui::Killed => killed(case, folder.path())?,
        _ => Player::start(*case, &place).play(),
    };
    judge(case, &place, &seen).map_err(|error| {
        let heard = &seen.heard[seen.heard.len().saturating_sub(6)..];
        format!(
            "{error}\n  code {:?}, {} go, {} isready; heard {heard:#?}",
            seen.code, seen.asked_go, seen.asked_ready
        )
    })?;
    Ok(seen)
}

/// A GUI that is a process of its own and ends by SIGKILL.
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

fn die_as_gui(args: &[String]) {
    let [name, folder] = args else { return };
    let case = case::all()
        .into_iter()
        .find(|case| case.to_string() == *name);
    let place = Place::in_folder(Path::new(folder));
    let mut player = Player::start(case.expect("a case"), &place);
    player.play_to_the_moment();
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}

fn judge(case: &Case, place: &Place, seen: &Observation) -> Result<(), String> {
    let gui = case.gui.0;
    // In one write, `quit` may be there before the engine comes to its fault.
    if case.engine.name != "none" && gui != Gui::OneWrite && !place.has_failed() {
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
    if gui.stays() && !as_expected {
        return Err(format!("{:?} was seen, not {:?}", seen.seen(), case.seen));
    }
    if gui == Gui::OneWrite
        && matches!(case.seen, Seen::Plays | Seen::Restarts | Seen::NoEngine)
        && (seen.count("bestmove") != seen.asked_go || seen.count("readyok") != seen.asked_ready)
    {
        return Err("not all is answered".to_owned());
    }
    if seen.count("bestmove") > seen.asked_go || seen.count("readyok") > seen.asked_ready {
        return Err("more answers than questions".to_owned());
    }
    if seen.count("uciok") > 1 {
        return Err("uciok came twice".to_owned());
    }
    if let Some(line) = seen.heard.iter().find(|line| !is_protocol(line)) {
        return Err(format!("no UCI: {line:?}"));
    }
    if seen.peak_kib > MEMORY_LIMIT_KIB {
        return Err(format!("{} KiB of memory", seen.peak_kib));
    }
    wait_until("the end of all processes", || {
        place.processes().into_iter().all(is_gone)
    });
    Ok(())
}

fn is_protocol(line: &str) -> bool {
    let word = line.split(' ').next().unwrap_or_default();
    ["id", "option", "uciok", "readyok", "bestmove", "info"].contains(&word)
}
