//! Lines of UCI, and whole conversations.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tabia_adapter::session::{Engines, Event, IfNoneStarts, Output, Profile, Request, Session};
use tabia_book::Book;
use tabia_choice::book_set::{self, BookSet, BookSpec, OpenBook};
use tabia_choice::settings::Settings;
use tabia_uci::gui::GuiCommand;
use tabia_uci::line::{LineBuffer, MAX_LINE, text, words};
use tabia_uci::{engine, gui};

/// Parses each line as one of the GUI and as one of the engine. The first byte decides
/// the sizes of the pieces in which the bytes arrive.
pub fn uci_line(data: &[u8]) {
    let Some((step, mut rest)) = data.split_first() else {
        return;
    };
    let mut buffer = LineBuffer::default();
    while !rest.is_empty() {
        let (mut piece, later) = rest.split_at(rest.len().min(usize::from(*step) + 1));
        rest = later;
        while !piece.is_empty() {
            let count = buffer.fill(&mut piece);
            assert!(matches!(count, Ok(1..)), "a slice can always be read");
            while let Some(line) = buffer.next_line() {
                one_line(line);
            }
        }
    }
    if let Some(line) = buffer.last_line() {
        one_line(line);
    }
}

fn one_line(line: &[u8]) {
    assert!(!line.contains(&b'\n') && line.len() <= MAX_LINE);
    let command = gui::from_command(line);
    match gui::parse(command) {
        GuiCommand::SetOption(option) => drop((option.text(), option.name)),
        GuiCommand::Position => {
            if let Some(read) = gui::position(command) {
                let _ = gui::moves(read.moves).count();
                let _ = read.fen.as_deref().map(tabia_notation::position);
            }
        }
        _ => {}
    }
    drop((text(line), words(line).count()));
    let _ = (engine::parse(line), engine::id(line));
    if let Some(option) = engine::option(line) {
        let announced = option.announce("");
        assert!(!announced.contains(&b'\n'), "{announced:?}");
        assert!(engine::option(&announced).is_some(), "{announced:?}");
    }
}

static STARTER: LazyLock<Arc<Book>> = LazyLock::new(|| {
    Arc::new(book_set::starter().unwrap_or_else(|error| panic!("the starter book: {error}")))
});

/// What the session sent and requested.
#[derive(Default)]
struct Received {
    best_moves: usize,
    ready: usize,
    uci: usize,
    exited: bool,
    opening: bool,
    seeding: bool,
    covering: bool,
    starting: bool,
}

impl Output for Received {
    fn gui(&mut self, line: &[u8]) {
        assert!(!line.contains(&b'\n'), "{}", text(line));
        assert!(!self.exited, "said after the end: {}", text(line));
        match words(line).next() {
            Some(b"bestmove") => self.best_moves += 1,
            Some(b"readyok") => self.ready += 1,
            Some(b"uciok") => self.uci += 1,
            _ => {}
        }
    }

    fn engine(&mut self, line: &[u8]) {
        assert!(!line.contains(&b'\n'), "{}", text(line));
    }

    fn request(&mut self, request: Request) {
        match request {
            Request::Exit(_) => self.exited = true,
            Request::OpenBooks(_) => self.opening = true,
            Request::StartEngine(_) => self.starting = true,
            Request::TakeSeed(_) => self.seeding = true,
            Request::ReadCover(_) => self.covering = true,
            _ => {}
        }
    }
}

/// Runs a conversation in the form of the files in `crates/adapter/tests/session/`: `gui>`,
/// `eng>`, `up`, `gone`, `opened`, `wake`, `time`, `eof`, `set NAME=VALUE`,
/// `engine`. Other lines are ignored.
pub fn session(data: &[u8]) {
    let received = Rc::new(RefCell::new(Received::default()));
    let mut out = Recorder(Rc::clone(&received));
    let lines: Vec<&[u8]> = data.split(|byte| *byte == b'\n').collect();
    let mut settings = Settings::default();
    let mut chain = 1;
    for line in &lines {
        if let Some(set) = line.strip_prefix(b"set ") {
            let set = text(set);
            let known = set.split_once('=').and_then(|(name, value)| {
                Some((
                    tabia_choice::settings::OptionId::by_name(name)?,
                    value.to_owned(),
                ))
            });
            if let Some((id, value)) = known {
                let _ = settings.set(id, &value);
            }
        } else if line.starts_with(b"engine ") && chain < 4 {
            chain += 1;
        }
    }
    let mut profile = Profile::default();
    profile.name = "fuzz".to_owned();
    profile.settings = settings;
    let mut engines = Engines::default();
    engines.profiles = vec![profile; chain + 1];
    engines.stand_in = Some(chain);
    engines.chain = chain;
    if lines.contains(&&b"named"[..]) {
        engines.if_none_starts = IfNoneStarts::End;
    }
    engines.record_games = lines.contains(&&b"games"[..]);
    let book = OpenBook::new(BookSpec::new("starter"), Arc::clone(&STARTER) as _);
    let book_set = BookSet::from(vec![book]);
    let mut session = Session::new(engines, 7);
    session.start(&mut out);
    let (mut now, mut sent_go, mut sent_ready, mut sent_uci) = (Duration::ZERO, 0, 0, 0);
    for line in lines {
        let messages;
        let event = if let Some(said) = line.strip_prefix(b"gui> ") {
            match gui::parse(gui::from_command(said)) {
                GuiCommand::Go(_) => sent_go += 1,
                GuiCommand::IsReady => sent_ready += 1,
                GuiCommand::Uci => sent_uci += 1,
                _ => {}
            }
            Event::Gui(said)
        } else if let Some(said) = line.strip_prefix(b"eng> ") {
            Event::Engine(said)
        } else if let Some(ms) = line.strip_prefix(b"time ") {
            let ms: u32 = text(ms).trim().parse().unwrap_or(0);
            now = now.saturating_add(Duration::from_millis(ms.into()));
            continue;
        } else if line.starts_with(b"up") && received.borrow().starting {
            received.borrow_mut().starting = false;
            Event::EngineUp
        } else if line.starts_with(b"gone") {
            received.borrow_mut().starting = false;
            Event::EngineGone("it is gone")
        } else if line.starts_with(b"opened") && received.borrow().opening {
            received.borrow_mut().opening = false;
            messages = vec![text(line)];
            Event::BooksOpened(&messages)
        } else if line.starts_with(b"wake") {
            Event::WakeUp
        } else if line == b"eof" {
            Event::GuiClosed
        } else {
            continue;
        };
        session.step(now, event, &book_set, &mut out);
        if std::mem::take(&mut received.borrow_mut().seeding) {
            session.step(now, Event::Seed(Ok(7)), &book_set, &mut out);
        }
        if std::mem::take(&mut received.borrow_mut().covering) {
            session.step(now, Event::Cover(Ok("")), &book_set, &mut out);
        }
        let received = received.borrow();
        assert!(received.best_moves <= sent_go, "more bestmove than go");
        assert!(received.ready <= sent_ready, "more readyok than isready");
        assert!(received.uci <= sent_uci, "more uciok than uci");
    }
}

/// An outlet of the session that shares what it receives.
struct Recorder(Rc<RefCell<Received>>);

impl Output for Recorder {
    fn gui(&mut self, line: &[u8]) {
        self.0.borrow_mut().gui(line);
    }

    fn engine(&mut self, line: &[u8]) {
        self.0.borrow_mut().engine(line);
    }

    fn request(&mut self, request: Request) {
        self.0.borrow_mut().request(request);
    }
}

/// The conversations of the tests.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    super::files(&super::root().join("crates/adapter/tests/session"))
        .iter()
        .map(|path| super::read(path))
        .collect()
}

/// Each distinct line of the conversations, and some unusual lines.
pub(crate) fn line_seeds() -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = seeds()
        .iter()
        .flat_map(|seed| seed.split(|byte| *byte == b'\n'))
        .filter_map(|line| {
            line.strip_prefix(b"gui> ")
                .or_else(|| line.strip_prefix(b"eng> "))
        })
        .map(|line| [&b"\x07"[..], line].concat())
        .collect();
    lines.sort();
    lines.dedup();
    for odd in [
        &b"\xffgo wtime -1 btime 99999999999999999999 movestogo 0\r\n"[..],
        b"\0position fen 8/8/8/8/8/8/8/8 w - - 0 1 moves 0000 e7e8Q\n",
        b"\x03setoption name  a  value \x1b[2J\xff value b\nsetoption value x name y",
        b"\x01option name x type combo default a var a var b\noption name y type spin min -9 max 9999999999999",
        b"\x01bestmove (none) ponder 0000\nbestmove\ninfo string \x1b]0;x\x07",
    ] {
        lines.push(odd.to_vec());
    }
    lines
}
