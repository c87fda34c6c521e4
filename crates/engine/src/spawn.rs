//! Starts an engine so that it cannot outlive the adapter.
//!
//! Three methods: the engine's standard input closes when the adapter ends (engines
//! treat end of input as `quit`); a process group (Unix) or job object (Windows) allows
//! killing the engine with its children; and if the adapter itself is killed, Linux
//! sends the engine SIGKILL through the parent-death signal and Windows closes the job.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use tabia_io::sanitize::Sanitized;

/// Why Tabia does not start, in one sentence.
pub const REASON: &str =
    "Tabia cannot be its own engine: name another one, or \"builtin\" for the built-in engine";

/// How to start an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineCommand {
    /// A path, or a name to search in `PATH`.
    pub program: PathBuf,
    /// Arguments, one each.
    pub args: Vec<OsString>,
    /// Working folder; `None` is the folder of the executable when `program` is a path
    /// (networks and ini files are there), else the current one.
    pub dir: Option<PathBuf>,
    /// Environment variables to add.
    pub env: Vec<(String, String)>,
    /// It may be Tabia's adapter, which is tested and not used as an engine.
    pub may_be_tabia: bool,
}

tabia_io::setters!(EngineCommand {
    args: Vec<OsString>,
    dir: Option<PathBuf>,
    env: Vec<(String, String)>,
    may_be_tabia: bool,
});

/// The command line as a user would type it.
impl fmt::Display for EngineCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.program.display().fmt(f)?;
        let mut args = self.args.iter();
        args.try_for_each(|arg| write!(f, " {}", arg.display()))
    }
}

/// A running engine, and the ends of its pipes.
#[derive(Debug)]
pub struct Spawned {
    /// Handle to wait for or kill the engine; shareable between threads.
    pub process: EngineProcess,
    /// Its standard input.
    pub stdin: ChildStdin,
    /// Its standard output.
    pub stdout: ChildStdout,
}

/// Why an engine could not be started.
#[derive(Debug, thiserror::Error)]
#[error("engine \"{}\" cannot be started: {reason}{}", program.display(), hint(reason))]
#[non_exhaustive]
pub struct SpawnError {
    /// The program that was tried.
    pub program: PathBuf,
    /// The error of the system; it is part of the message.
    pub reason: io::Error,
}

impl SpawnError {
    /// The engine is a Tabia.
    #[must_use]
    pub fn itself(program: &Path) -> SpawnError {
        SpawnError {
            program: program.to_owned(),
            reason: io::Error::other(REASON),
        }
    }
}

/// How long to wait for the last output of an engine on standard error.
const STDERR_LIMIT: Duration = Duration::from_millis(200);

/// Folders with engines outside `PATH`.
const OTHER_PLACES: &[&str] = if cfg!(unix) {
    &["/usr/games", "/usr/local/bin", "/opt/homebrew/bin"]
} else {
    &[]
};

/// The folders of `PATH`, and other usual folders of engines.
#[must_use]
pub fn search_path() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|folder| !folder.as_os_str().is_empty())
        .chain(OTHER_PLACES.iter().map(PathBuf::from))
        .collect()
}

/// Whether a bare name is that of a program in `PATH` or another usual folder of
/// engines.
#[must_use]
pub fn is_on_path(name: &str) -> bool {
    let file = Path::new(name).components().count() == 1;
    file && search_path()
        .into_iter()
        .map(|folder| folder.join(name))
        .any(|file| file.is_file() || cfg!(windows) && file.with_added_extension("exe").is_file())
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => " (give its full path in engines.toml, or put it on the PATH)",
        io::ErrorKind::PermissionDenied => " (is it an executable file?)",
        _ => "",
    }
}

impl EngineCommand {
    /// The command for this program, without arguments.
    pub fn new(program: impl Into<PathBuf>) -> EngineCommand {
        EngineCommand {
            program: program.into(),
            ..EngineCommand::default()
        }
    }

    /// Starts the engine with piped input and output; its standard error is that of the
    /// adapter, filtered by [`Sanitized`] if that is a terminal.
    ///
    /// On Linux the engine is tied to the *calling thread*: it is killed when that
    /// thread ends, so call this from a thread that lives as long as the engine.
    ///
    /// # Errors
    ///
    /// The program does not exist, is not executable, is [this
    /// one](EngineCommand::is_this_program), or there is too little memory.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::{Write as _, read_to_string};
    /// use std::time::Duration;
    /// # use tabia_engine::EngineCommand;
    ///
    /// # let program = test_programs::engine::this_program();
    /// # let engine = EngineCommand::new(program).args(vec!["engine".into()]);
    /// let mut engine = engine.spawn()?;
    /// engine.stdin.write_all(b"uci\nquit\n")?;
    /// assert!(read_to_string(engine.stdout)?.starts_with("id name Odd\n"));
    /// // It is killed with all its children when `engine.process` is dropped.
    /// let status = engine.process.wait(Duration::from_secs(5));
    /// assert!(status.is_some_and(|status| status.success()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spawn(&self) -> Result<Spawned, SpawnError> {
        if !self.may_be_tabia && self.is_this_program() {
            return Err(SpawnError::itself(&self.program));
        }
        self.spawn_program(&self.resolved_program())
            .or_else(|error| self.spawn_elsewhere(error))
            .map_err(|reason| SpawnError {
                program: self.program.clone(),
                reason: self.missing_folder().unwrap_or(reason),
            })
    }

    /// For a missing folder the system reports the same error as for a missing program.
    fn missing_folder(&self) -> Option<io::Error> {
        let folder = self.dir.as_ref().filter(|folder| !folder.is_dir())?;
        let text = format!("there is no folder \"{}\" (dir)", folder.display());
        Some(io::Error::other(text))
    }

    /// Tries other usual folders for a bare name that is not in `PATH`: programs
    /// started from a desktop often have a short `PATH`, without the folder of games
    /// where Debian installs engines.
    fn spawn_elsewhere(&self, error: io::Error) -> io::Result<Spawned> {
        let is_bare = self.program.components().count() == 1;
        if error.kind() != io::ErrorKind::NotFound || !is_bare {
            return Err(error);
        }
        OTHER_PLACES
            .iter()
            .map(|folder| Path::new(folder).join(&self.program))
            .find(|program| program.is_file())
            .map_or(Err(error), |program| self.spawn_program(&program))
    }

    fn spawn_program(&self, program: &Path) -> io::Result<Spawned> {
        let mut command = Command::new(program);
        command
            .args(&self.args)
            .envs(self.depth())
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if let Some(dir) = self.working_folder() {
            command.current_dir(dir);
        }
        if io::stderr().is_terminal() {
            command.stderr(Stdio::piped());
        }
        let (mut child, group) = group::spawn(&mut command)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let complaints = child.stderr.take();
        let (passes_on, stderr) = mpsc::channel();
        // Whatever fails from here on ends the engine.
        let process = EngineProcess {
            child: Mutex::new(child),
            group,
            stderr: Mutex::new(Some(stderr)),
        };
        if let Some(mut complaints) = complaints {
            // Sanitized, so that its messages cannot control the terminal.
            let pass_on = move || {
                let _ = io::copy(&mut complaints, &mut Sanitized::new(io::stderr()));
                drop(passes_on);
            };
            let thread = thread::Builder::new().name("complaints".to_owned());
            thread.spawn(pass_on)?;
        }
        Ok(Spawned {
            process,
            stdin: stdin.ok_or(io::ErrorKind::BrokenPipe)?,
            stdout: stdout.ok_or(io::ErrorKind::BrokenPipe)?,
        })
    }

    /// A relative path is resolved from the current folder, not from the engine's
    /// working folder; a bare name is searched in `PATH`.
    pub(super) fn resolved_program(&self) -> PathBuf {
        if self.program.components().count() > 1 {
            let program = tabia_io::input::path::from_home(&self.program);
            std::path::absolute(&program).unwrap_or(program)
        } else {
            self.program.clone()
        }
    }

    fn working_folder(&self) -> Option<PathBuf> {
        if self.dir.is_some() {
            return self.dir.clone();
        }
        let parent = self.program.parent()?;
        (!parent.as_os_str().is_empty()).then(|| parent.to_path_buf())
    }
}

/// A started engine. Killed with its whole group when dropped.
#[derive(Debug)]
pub struct EngineProcess {
    child: Mutex<Child>,
    group: group::Group,
    /// Closed when all of its standard error is on the terminal. Nothing is sent.
    stderr: Mutex<Option<Receiver<Infallible>>>,
}

impl EngineProcess {
    fn child(&self) -> MutexGuard<'_, Child> {
        tabia_io::parallel::lock(&self.child)
    }

    /// The process id, for messages and tests.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child().id()
    }

    /// A file that becomes readable when the engine's process ends, if the system
    /// supports it (Linux since 5.3). End of output may come later or never, because
    /// child processes of the engine can keep it open.
    #[must_use]
    pub fn end(&self) -> Option<File> {
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{Pid, PidfdFlags, pidfd_open};
            let pid = i32::try_from(self.id()).ok().and_then(Pid::from_raw)?;
            pidfd_open(pid, PidfdFlags::empty()).ok().map(File::from)
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// The exit status, if the engine has ended.
    #[must_use]
    pub fn status(&self) -> Option<ExitStatus> {
        self.reap(&mut self.child())
    }

    /// The exit status, if the engine has ended. Its child processes are killed before
    /// it is reaped, because after that the group id may be used again.
    fn reap(&self, child: &mut Child) -> Option<ExitStatus> {
        // Check first: a process may end between two calls, and asking for its status
        // would free its id too early.
        if !self.group.end_if_leader_has_ended(child) {
            return None;
        }
        child.try_wait().ok().flatten()
    }

    /// Waits at most `limit` for the engine to end by itself.
    ///
    /// Polls with growing pauses: an engine that ends at once costs a fraction of a
    /// millisecond.
    #[must_use]
    pub fn wait(&self, limit: Duration) -> Option<ExitStatus> {
        let start = Instant::now();
        let mut pause = Duration::from_micros(100);
        loop {
            if let Some(status) = self.status() {
                return Some(status);
            }
            if start.elapsed() >= limit {
                return None;
            }
            std::thread::sleep(pause.min(limit.saturating_sub(start.elapsed())));
            pause = (pause * 2).min(Duration::from_millis(5));
        }
    }

    /// Kills the engine and its children, and reaps it. Waits for its last output on
    /// standard error.
    pub fn kill(&self) {
        let mut child = self.child();
        if self.reap(&mut child).is_none() {
            self.group.kill(&child);
            let _ = child.kill();
            let _ = child.wait();
        }
        drop(child);
        if let Some(stderr) = tabia_io::parallel::lock(&self.stderr).take() {
            // An escaped process may keep the pipe open, or the terminal may block.
            let _ = stderr.recv_timeout(STDERR_LIMIT);
        }
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

// process-wrap (19 crates) also has groups and jobs, but neither the death signal nor a look at
// a leader that is not reaped yet: `unsafe` and `waitid` would stay here beside it.
#[cfg(unix)]
mod group {
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

    #[derive(Debug)]
    pub(super) struct Group;

    #[cfg_attr(target_os = "linux", allow(unsafe_code))]
    pub(super) fn spawn(command: &mut Command) -> io::Result<(Child, Group)> {
        command.process_group(0);
        #[cfg(target_os = "linux")]
        {
            let parent = rustix::process::getpid();
            // SAFETY: between fork and exec the closure only makes system calls and
            // touches no memory, lock or allocator, as `CommandExt::pre_exec` demands.
            unsafe {
                command.pre_exec(move || {
                    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
                    // The parent may have died before the call above took effect. Exit
                    // silently: no process would receive an error, and the child would
                    // abort with a message.
                    if rustix::process::getppid() != Some(parent) {
                        let me = rustix::process::getpid();
                        rustix::process::kill_process(me, Signal::KILL)?;
                    }
                    Ok(())
                });
            }
        }
        Ok((command.spawn()?, Group))
    }

    fn number(child: &Child) -> Option<Pid> {
        i32::try_from(child.id()).ok().and_then(Pid::from_raw)
    }

    impl Group {
        #[allow(clippy::unused_self)]
        pub(super) fn kill(&self, child: &Child) {
            if let Some(pid) = number(child) {
                let _ = kill_process_group(pid, Signal::KILL);
            }
        }

        /// Kills the rest of the process group if its leader has ended but was not
        /// reaped; after that the id may belong to another process. False while the
        /// leader lives.
        pub(super) fn end_if_leader_has_ended(&self, child: &Child) -> bool {
            let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            let Some(pid) = number(child) else {
                return true;
            };
            match waitid(WaitId::Pid(pid), peek) {
                Ok(Some(_)) => self.kill(child),
                Ok(None) => return false,
                // It has been reaped already.
                Err(_) => {}
            }
            true
        }
    }
}

#[cfg(windows)]
mod group {
    use std::io;
    use std::os::windows::io::AsRawHandle;
    use std::process::{Child, Command};

    use win32job::Job;

    #[derive(Debug)]
    pub(super) struct Group(Option<Job>);

    pub(super) fn spawn(command: &mut Command) -> io::Result<(Child, Group)> {
        let child = command.spawn()?;
        Ok((job_around(&child), child)).map(|(job, child)| (child, Group(job)))
    }

    /// A job that ends its members when its last handle closes; the system does that
    /// when the adapter dies. Before Windows 8 jobs cannot be nested: then only the
    /// closed pipe ends the engine.
    fn job_around(child: &Child) -> Option<Job> {
        let job = Job::create().ok()?;
        let mut limits = job.query_extended_limit_info().ok()?;
        limits.limit_kill_on_job_close();
        job.set_extended_limit_info(&limits).ok()?;
        job.assign_process(child.as_raw_handle() as isize).ok()?;
        Some(job)
    }

    impl Group {
        pub(super) fn kill(&self, _child: &Child) {
            // Other members end when the job's handle closes, when this value is
            // dropped.
            let _ = &self.0;
        }

        /// Closing the job's handle does this.
        #[allow(clippy::unused_self)]
        pub(super) fn end_if_leader_has_ended(&self, _child: &Child) -> bool {
            true
        }
    }
}

/// Systems without processes, such as WebAssembly: nothing starts.
#[cfg(not(any(unix, windows)))]
mod group {
    use std::io;
    use std::process::{Child, Command};

    #[derive(Debug)]
    pub(super) struct Group;

    pub(super) fn spawn(command: &mut Command) -> io::Result<(Child, Group)> {
        Ok((command.spawn()?, Group))
    }

    #[allow(clippy::unused_self)]
    impl Group {
        pub(super) fn kill(&self, _child: &Child) {}

        pub(super) fn end_if_leader_has_ended(&self, _child: &Child) -> bool {
            true
        }
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Read, Write};
    #[cfg(target_os = "linux")]
    use test_programs::processes::ends;

    fn shell(script: &str) -> EngineCommand {
        EngineCommand {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            ..EngineCommand::default()
        }
    }

    #[test]
    fn talks_through_pipes_and_reports_the_exit_status() {
        let mut engine = shell("read x; echo got $x; exit 3").spawn().unwrap();
        engine.stdin.write_all(b"hello\n").unwrap();
        let mut line = String::new();
        BufReader::new(engine.stdout).read_line(&mut line).unwrap();
        assert_eq!(line, "got hello\n");
        let status = engine.process.wait(Duration::from_secs(20)).unwrap();
        assert_eq!(status.code(), Some(3));
    }

    #[test]
    fn a_folder_that_is_missing_is_named() {
        let engine = shell("exit").dir(Some("/no/such/folder".into()));
        let error = engine.spawn().unwrap_err().to_string();
        assert!(
            error.ends_with("started: there is no folder \"/no/such/folder\" (dir)"),
            "{error}"
        );
    }

    #[test]
    fn an_engine_knows_that_it_is_one_unless_it_may_be_tabia() {
        for (may_be_tabia, wanted) in [(false, "1"), (true, "")] {
            let mut engine = shell("echo $TABIA_DEPTH")
                .may_be_tabia(may_be_tabia)
                .spawn()
                .unwrap();
            let mut line = String::new();
            engine.stdout.read_to_string(&mut line).unwrap();
            assert_eq!(line.trim(), wanted);
        }
    }

    #[test]
    fn a_relative_path_counts_from_our_own_folder() {
        // Tests run in the package's folder.
        let folder = tempfile::tempdir_in(".").unwrap();
        let relative = Path::new(folder.path().file_name().unwrap()).join("engine");
        // A copy may count as being written until others have been started.
        std::os::unix::fs::symlink("/bin/sh", &relative).unwrap();
        let command = EngineCommand {
            program: relative,
            args: vec!["-c".into(), "exit 4".into()],
            ..EngineCommand::default()
        };
        let engine = command.spawn().unwrap();
        let status = engine.process.wait(Duration::from_secs(20)).unwrap();
        assert_eq!(status.code(), Some(4));
    }

    #[test]
    fn a_missing_program_is_named_with_the_way_out() {
        let command = EngineCommand {
            program: "/nowhere/fish".into(),
            ..EngineCommand::default()
        };
        let text = command.spawn().unwrap_err().to_string();
        assert!(text.contains("/nowhere/fish"), "{text}");
        assert!(text.contains("full path"), "{text}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn kill_takes_grandchildren_along() {
        let (engine, grandchild) = with_grandchild("sleep 600 & echo $!; wait");
        engine.process.kill();
        assert!(ends(grandchild), "{grandchild} still runs");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_engine_that_ends_by_itself_takes_grandchildren_along() {
        let (engine, grandchild) = with_grandchild("sleep 600 >/dev/null & echo $!");
        let status = engine.process.wait(Duration::from_secs(20)).unwrap();
        assert_eq!(status.code(), Some(0));
        assert!(ends(grandchild), "{grandchild} still runs");
    }

    #[cfg(target_os = "linux")]
    fn with_grandchild(script: &str) -> (Spawned, u32) {
        let mut engine = shell(script).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(&mut engine.stdout)
            .read_line(&mut line)
            .unwrap();
        (engine, line.trim().parse().unwrap())
    }
}
