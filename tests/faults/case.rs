//! The cases: the fault of the engine, the fault of the GUI, the moment, and the
//! expected result.

use std::fmt;

/// The moment of the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The GUI has sent `uci`.
    Handshake,
    /// It has sent `isready`.
    Idle,
    /// It has sent `go ponder` in a position of the book.
    InBook,
    /// The engine searches with a clock.
    Thinking,
    /// The engine ponders.
    Pondering,
    /// The GUI has sent `stop`.
    AfterStop,
    /// The GUI has sent `quit`.
    Quitting,
}

pub(crate) const MOMENTS: [(Moment, &str); 7] = [
    (Moment::Handshake, "handshake"),
    (Moment::Idle, "idle"),
    (Moment::InBook, "in-book"),
    (Moment::Thinking, "thinking"),
    (Moment::Pondering, "pondering"),
    (Moment::AfterStop, "after-stop"),
    (Moment::Quitting, "quitting"),
];

/// The fault of the GUI at that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gui {
    /// Nothing.
    Sound,
    /// It sends one byte at a time.
    ByteByByte,
    /// Its lines end with CR LF.
    CarriageReturns,
    /// It sends meaningless bytes.
    Garbage,
    /// It sends the whole conversation at once, `quit` included.
    OneWrite,
    /// It closes the adapter's input.
    ClosesInput,
    /// It closes the adapter's output, and leaves the input open.
    ClosesOutput,
    /// It stops reading, but continues to send commands, and sends `quit`.
    StopsReading,
    /// It is killed.
    Killed,
}

impl Gui {
    /// Whether it receives the results.
    pub(crate) fn stays(self) -> bool {
        use Gui::{ByteByByte, CarriageReturns, Garbage, Sound};
        matches!(self, Sound | ByteByByte | CarriageReturns | Garbage)
    }
}

pub(crate) const GUIS: [(Gui, &str); 9] = [
    (Gui::Sound, "sound"),
    (Gui::ByteByByte, "byte-by-byte"),
    (Gui::CarriageReturns, "carriage-returns"),
    (Gui::Garbage, "garbage"),
    (Gui::OneWrite, "one-write"),
    (Gui::ClosesInput, "closes-input"),
    (Gui::ClosesOutput, "closes-output"),
    (Gui::StopsReading, "stops-reading"),
    (Gui::Killed, "killed"),
];

/// The result that a GUI sees if it [stays](Gui::stays).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Every command is answered, as with an engine without faults; exit code 0.
    Plays,
    /// As `Plays`, with a message that the engine was started again.
    Restarts,
    /// As `Plays`, but no engine has started: out of book the built-in one plays, with a
    /// message.
    BuiltIn,
    /// The adapter waits for the engine's answer; `quit` ends it with exit code 0.
    Waits,
    /// Exit code 2 with a message: a move is due and there is no engine to find it.
    Ends,
    /// `Restarts` or `Ends`: it depends on whether the command comes between two crashes
    /// or after the last.
    RestartsOrEnds,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Seen::Plays => "plays",
            Seen::Restarts => "restarts",
            Seen::BuiltIn => "built-in",
            Seen::Waits => "waits",
            Seen::Ends => "ends",
            Seen::RestartsOrEnds => "restarts or ends",
        })
    }
}

/// A fault of an engine, its description, and the result at each moment.
pub(crate) struct EngineFault {
    pub(crate) name: &'static str,
    pub(crate) is: &'static str,
    pub(crate) seen: [Seen; 7],
}

use Seen::{BuiltIn, Ends, Plays, Restarts, RestartsOrEnds, Waits};

const fn fault(name: &'static str, is: &'static str, seen: [Seen; 7]) -> EngineFault {
    EngineFault { name, is, seen }
}

/// Columns as in [`MOMENTS`].
#[rustfmt::skip]
pub(crate) const ENGINES: [EngineFault; 15] = [
    fault("none", "makes no mistake",
        [Plays, Plays, Plays, Plays, Plays, Plays, Plays]),
    fault("late", "takes its time",
        [Plays, Plays, Plays, Plays, Plays, Plays, Plays]),
    fault("floods", "prints infos faster than they are read",
        [Plays, Plays, Plays, Plays, Plays, Plays, Plays]),
    fault("answers-twice", "answers twice, or what nobody asked",
        [Plays, Plays, Plays, Plays, Plays, Plays, Plays]),
    fault("loses-stop", "loses a `stop` or `ponderhit` that comes before its search has begun, and then reads no more",
        [Plays, Plays, Plays, Plays, Plays, Plays, Plays]),
    fault("plays-illegal", "answers with illegal moves and bad options",
        [Restarts, Restarts, Restarts, Restarts, Restarts, Restarts, Plays]),
    fault("forks", "starts a process of its own",
        [Plays, Plays, Plays, Plays, Plays, Plays, Plays]),
    fault("ignores-quit", "ends neither at `quit` nor at the end of its input",
        [Plays, Plays, Plays, Plays, Plays, Plays, Plays]),
    fault("crashes-once", "dies",
        [Restarts, Restarts, Restarts, Restarts, Restarts, Restarts, Plays]),
    fault("forks-and-dies", "dies, and what it has started holds its output open",
        [Restarts, Restarts, Restarts, Restarts, Restarts, Restarts, Plays]),
    fault("closes-output", "closes its output and lives on",
        [Restarts, Restarts, Restarts, Restarts, Restarts, Restarts, Plays]),
    fault("crashes", "dies each time that it comes to this",
        [BuiltIn, RestartsOrEnds, RestartsOrEnds, Ends, Ends, Ends, Plays]),
    fault("silent", "reads, but says nothing any more",
        [BuiltIn, Waits, Waits, Waits, Waits, Waits, Plays]),
    fault("hangs", "neither reads nor writes any more",
        [BuiltIn, Waits, Waits, Waits, Waits, Waits, Plays]),
    fault("no-newline", "does not end its line, and says nothing any more",
        [BuiltIn, Waits, Waits, Waits, Waits, Waits, Plays]),
];

/// One case.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) engine: &'static EngineFault,
    pub(crate) gui: (Gui, &'static str),
    pub(crate) moment: (Moment, &'static str),
    pub(crate) seen: Seen,
}

impl Case {
    /// Whether the case is valid only if the engine has shown its fault. In one write,
    /// `quit` may come before it.
    pub(crate) fn must_fail(&self) -> bool {
        self.engine.name != "none" && self.gui.0 != Gui::OneWrite
    }

    /// Whether all commands of one write are answered before its `quit`.
    pub(crate) fn is_answered_in_one_write(&self) -> bool {
        let answers = matches!(self.seen, Plays | Restarts | BuiltIn);
        answers && self.gui.0 == Gui::OneWrite
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.engine.name, self.gui.1, self.moment.1)
    }
}

/// Every engine with every GUI at every moment.
pub(crate) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for engine in &ENGINES {
        for gui in GUIS {
            for (moment, seen) in MOMENTS.into_iter().zip(engine.seen) {
                cases.push(Case {
                    engine,
                    gui,
                    moment,
                    seen,
                });
            }
        }
    }
    cases
}
