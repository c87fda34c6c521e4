//! What the parts of a session write to, and how far the session is with the GUI.

use std::time::Duration;

use super::{Output, Request};
use tabia_uci::message::UciMessage;

/// The introduction of Tabia and its engine to the GUI.
#[derive(Debug)]
enum Introduction {
    /// The introduction has not been sent: these messages wait for it.
    Due(Vec<String>),
    /// The introduction has been sent, or the GUI plays without having asked for one.
    Made,
}

/// Whether the session goes on.
#[derive(Debug, PartialEq, Eq)]
enum Life {
    Playing,
    /// The GUI has sent `quit` or closed Tabia's input: pending answers are sent first.
    Leaving,
    /// The session is over; the reason, if the end is not ordinary.
    Ended(Option<String>),
}

/// The session as the GUI has it: introduced or not, playing or ending.
#[derive(Debug)]
pub(super) struct Contact {
    introduction: Introduction,
    /// Number of `uci` commands that wait for the engine's `uciok`.
    uci: u32,
    life: Life,
}

impl Default for Contact {
    fn default() -> Contact {
        Contact {
            introduction: Introduction::Due(Vec::new()),
            uci: 0,
            life: Life::Playing,
        }
    }
}

impl Contact {
    /// The GUI leaves; false if it has left already.
    pub(super) fn leave(&mut self) -> bool {
        let is_news = self.life == Life::Playing;
        if is_news {
            self.life = Life::Leaving;
        }
        is_news
    }

    pub(super) const fn is_leaving(&self) -> bool {
        matches!(self.life, Life::Leaving)
    }

    pub(super) const fn has_ended(&self) -> bool {
        matches!(self.life, Life::Ended(_))
    }

    pub(super) fn end_reason(&self) -> Option<&str> {
        match &self.life {
            Life::Ended(reason) => reason.as_deref(),
            Life::Playing | Life::Leaving => None,
        }
    }

    /// A `uci` waits for the engine.
    pub(super) const fn defer_uci(&mut self) {
        self.uci += 1;
    }

    /// Takes the number of `uci` that wait for the engine: each is answered now.
    pub(super) const fn take_uci(&mut self) -> u32 {
        std::mem::replace(&mut self.uci, 0)
    }

    /// Whether a `uci` waits for the engine.
    pub(super) const fn has_uci(&self) -> bool {
        self.uci > 0
    }
}

/// Where the parts of a session write.
pub(super) struct Out<'a> {
    to: &'a mut dyn Output,
    pub(super) contact: &'a mut Contact,
}

impl<'a> Out<'a> {
    pub(super) fn new(to: &'a mut dyn Output, contact: &'a mut Contact) -> Out<'a> {
        Out { to, contact }
    }

    /// A line for the GUI.
    pub(super) fn gui(&mut self, line: &[u8]) {
        self.to.gui(line);
    }

    /// A line for the engine.
    pub(super) fn engine(&mut self, line: &[u8]) {
        self.to.engine(line);
    }

    /// A message for the GUI, at once.
    pub(super) fn info(&mut self, text: &str) {
        let mut line = b"info string ".to_vec();
        // The message must stay one line without control characters: names come from files.
        line.extend(text.bytes().map(|byte| match byte {
            byte if byte.is_ascii_control() => b' ',
            byte => byte,
        }));
        self.to.gui(&line);
    }

    /// A message for the GUI; before `uciok` it waits.
    pub(super) fn notice(&mut self, text: &str) {
        match &mut self.contact.introduction {
            Introduction::Due(messages) => messages.push(text.to_owned()),
            Introduction::Made => self.info(text),
        }
    }

    /// Sends the messages that have waited for `uciok`; later ones are sent at once.
    pub(super) fn introduce(&mut self) {
        let made = std::mem::replace(&mut self.contact.introduction, Introduction::Made);
        if let Introduction::Due(messages) = made {
            messages.iter().for_each(|message| self.info(message));
        }
    }

    /// Ends the introduction of Tabia and its engine.
    pub(super) fn uci_ok(&mut self) {
        self.introduce();
        self.gui(UciMessage::UciOk.to_string().as_bytes());
    }

    /// A request to the environment.
    pub(super) fn request(&mut self, request: Request) {
        self.to.request(request);
    }

    /// An alarm after this time, unless the session is ending and has set its last one.
    pub(super) fn alarm(&mut self, after: Duration) {
        if !self.contact.is_leaving() {
            self.request(Request::WakeUp(after));
        }
    }

    /// The session is over; the reason, if the end is not ordinary.
    pub(super) fn exit(&mut self, code: u8, reason: Option<String>) {
        self.contact.life = Life::Ended(reason);
        self.request(Request::Exit(code));
    }
}

/// What `work` writes, after the introduction: a line each, `gui` before those for the GUI.
#[cfg(test)]
pub(super) fn written<T>(work: impl FnOnce(&mut Out<'_>) -> T) -> (T, Vec<String>) {
    #[derive(Default)]
    struct Written(Vec<String>);

    impl Output for Written {
        fn gui(&mut self, line: &[u8]) {
            let line = String::from_utf8_lossy(line);
            let text = line.strip_prefix("info string ");
            self.0
                .push(text.map_or_else(|| format!("gui {line}"), str::to_owned));
        }

        fn engine(&mut self, line: &[u8]) {
            self.0.push(String::from_utf8_lossy(line).into_owned());
        }

        fn request(&mut self, request: Request) {
            self.0.push(request.to_string());
        }
    }

    let (mut to, mut contact) = (Written::default(), Contact::default());
    contact.introduction = Introduction::Made;
    let result = work(&mut Out::new(&mut to, &mut contact));
    (result, to.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_wait_for_the_introduction() {
        let (_, lines) = written(|out| {
            out.contact.introduction = Introduction::Due(Vec::new());
            out.notice("first");
            out.info("at\nonce");
            out.uci_ok();
            out.notice("second");
            out.uci_ok();
        });
        assert_eq!(
            lines,
            ["at once", "first", "gui uciok", "second", "gui uciok"]
        );
    }

    #[test]
    fn the_last_alarm_is_that_of_the_end() {
        let (_, lines) = written(|out| {
            out.alarm(Duration::from_millis(3));
            assert!(out.contact.leave() && !out.contact.leave());
            out.alarm(Duration::from_millis(4));
            out.exit(2, Some("lost".to_owned()));
            assert_eq!(out.contact.end_reason(), Some("lost"));
        });
        assert_eq!(lines, ["wake 3", "exit 2"]);
    }
}
