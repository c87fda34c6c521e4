//! What the parts of a session want done.

use std::borrow::Cow;
use std::time::Duration;

use super::Request;

/// Something that a part wants done. Parts return these in the order in which they are to
/// be done, and do not know what carries them out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act<'a> {
    /// A line for the GUI.
    Gui(Cow<'a, [u8]>),
    /// A line for the engine.
    Engine(Cow<'a, [u8]>),
    /// A message for the GUI, at once.
    Info(String),
    /// A message for the GUI; it waits until the GUI has got `uciok`.
    Notice(String),
    /// A request to the environment.
    Ask(Request),
    /// An alarm after this time, unless the session is ending and has set its last one.
    Alarm(Duration),
}

impl<'a> Act<'a> {
    /// A line for the GUI.
    pub(super) fn gui(line: &'a [u8]) -> Act<'a> {
        Act::Gui(Cow::Borrowed(line))
    }

    /// A line for the engine, without blanks at its end.
    pub(super) fn engine(line: &'a [u8]) -> Act<'a> {
        Act::Engine(Cow::Borrowed(line.trim_ascii_end()))
    }
}
