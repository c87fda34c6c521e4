//! The program as a process: its arguments, input, output and exit code.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::Folder;

pub const TABIA: &str = env!("CARGO_BIN_EXE_tabia");

/// The arguments after the program's name: a line as typed in a shell, or its words.
pub trait Arguments {
    fn words(&self) -> Vec<OsString>;
}

impl Arguments for str {
    fn words(&self) -> Vec<OsString> {
        let words = shlex::split(self).expect("quotation marks in pairs");
        words.into_iter().map(OsString::from).collect()
    }
}

impl Arguments for String {
    fn words(&self) -> Vec<OsString> {
        self.as_str().words()
    }
}

impl<W: AsRef<OsStr>> Arguments for [W] {
    fn words(&self) -> Vec<OsString> {
        self.iter().map(|word| word.as_ref().to_owned()).collect()
    }
}

impl<W: AsRef<OsStr>, const N: usize> Arguments for [W; N] {
    fn words(&self) -> Vec<OsString> {
        self.as_slice().words()
    }
}

impl<W: AsRef<OsStr>> Arguments for Vec<W> {
    fn words(&self) -> Vec<OsString> {
        self.as_slice().words()
    }
}

/// The program with its arguments, without the user's configuration.
pub fn command(arguments: &(impl Arguments + ?Sized)) -> Command {
    let mut command = Command::new(TABIA);
    command
        .args(arguments.words())
        .env("TABIA_CONFIG", "")
        .env("XDG_CONFIG_HOME", "/nowhere")
        .stdin(Stdio::null());
    command
}

/// Runs the program in the folder of the project.
pub fn tabia(arguments: &(impl Arguments + ?Sized)) -> Ran {
    Ran::of(&mut command(arguments))
}

/// The result of a run.
#[derive(Debug)]
pub struct Ran {
    command: String,
    output: Output,
}

impl Ran {
    pub fn of(command: &mut Command) -> Ran {
        let output = command.output().unwrap();
        let command = format!("{command:?}");
        Ran { command, output }
    }

    /// Runs it with this text on its standard input.
    pub fn with_input(command: &mut Command, input: &[u8]) -> Ran {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = pipes.stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            // It may end before it has read everything.
            scope.spawn(move || stdin.write_all(input));
            child.wait_with_output().unwrap()
        });
        let command = format!("{command:?}");
        Ran { command, output }
    }

    /// Its standard output.
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    /// Its standard error.
    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// Whether it succeeded.
    pub fn is_ok(&self) -> bool {
        self.output.status.success()
    }

    /// Checks the exit code; returns the messages.
    #[track_caller]
    pub fn ends(&self, code: i32) -> String {
        let (ended, messages) = (self.output.status.code(), self.err());
        assert_eq!(ended, Some(code), "{}: {messages}", self.command);
        messages
    }

    /// Checks that it succeeded; returns the messages.
    #[track_caller]
    pub fn ok(&self) -> String {
        self.ends(0)
    }

    /// Checks that it succeeded; returns the output.
    #[track_caller]
    pub fn printed(&self) -> String {
        self.ok();
        self.out()
    }

    /// Checks that its answer is negative; returns the output.
    #[track_caller]
    pub fn negative(&self) -> String {
        self.ends(1);
        self.out()
    }

    /// Checks that it succeeded; returns the output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.printed()).unwrap()
    }

    /// Checks that it failed with this reason; returns the messages.
    #[track_caller]
    pub fn refused(&self, why: &str) -> String {
        self.ends_with(2, why)
    }

    /// Checks the exit code, and that the message contains `part`.
    #[track_caller]
    pub fn ends_with(&self, code: i32, part: &str) -> String {
        let messages = self.ends(code);
        assert!(
            messages.contains(part),
            "{}: no \"{part}\": {messages}",
            self.command
        );
        messages
    }
}

/// Checks that a text contains `part`.
#[track_caller]
pub fn assert_has(text: &str, part: &str) {
    assert!(text.contains(part), "no \"{part}\" in: {text}");
}

/// A program of `tests/programs`, which is built if it is not there.
pub fn example(name: &str) -> PathBuf {
    test_programs::built::example(
        Path::new(TABIA),
        Path::new(env!("CARGO_TARGET_TMPDIR")),
        name,
    )
}

/// Compresses a text.
pub fn gzip(text: &str) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    gz.finish().unwrap()
}

impl Folder {
    /// The program in this folder, without the user's side files.
    pub fn command(&self, arguments: &(impl Arguments + ?Sized)) -> Command {
        let mut command = command(arguments);
        command
            .current_dir(self)
            .env("XDG_DATA_HOME", self.join("data"));
        command
    }

    /// Runs the program in this folder.
    pub fn tabia(&self, arguments: &(impl Arguments + ?Sized)) -> Ran {
        Ran::of(&mut self.command(arguments))
    }

    /// The output of `tabia probe --json` here for the position after some moves.
    #[track_caller]
    pub fn probe(&self, book: &str, moves: &str) -> Value {
        let probed = self.tabia(&["probe", book, "--json", "--moves", moves]);
        serde_json::from_str(&probed.out()).unwrap()
    }

    /// Runs the program in this folder and checks that it succeeds; returns the messages.
    #[track_caller]
    pub fn done(&self, arguments: &(impl Arguments + ?Sized)) -> String {
        self.tabia(arguments).ok()
    }
}

/// A field of each stored move of a position, without moves that only lead into the book.
pub fn stored(view: &Value, field: &str) -> Vec<Value> {
    let moves = view["moves"].as_array().unwrap().iter();
    let stored = moves.filter(|mv| mv["transposition"] == false);
    stored.map(|mv| mv[field].clone()).collect()
}
