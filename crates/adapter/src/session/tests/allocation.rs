//! Forwarding a line allocates nothing, once buffers have their size.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use crate::session::{Engines, Event, Output, Profile, Request, Session};
use tabia_choice::book_set::BookSet;
use tabia_uci::line::LineBuffer;

/// Takes lines as the relay does.
#[derive(Default)]
struct Buffers {
    gui: Vec<u8>,
    engine: Vec<u8>,
}

impl Output for Buffers {
    fn gui(&mut self, line: &[u8]) {
        self.gui.extend_from_slice(line);
        self.gui.push(b'\n');
    }

    fn engine(&mut self, line: &[u8]) {
        self.engine.extend_from_slice(line);
        self.engine.push(b'\n');
    }

    fn request(&mut self, _request: Request) {}
}

fn forward(
    session: &mut Session,
    buffer: &mut LineBuffer,
    out: &mut Buffers,
    mut bytes: &[u8],
    from_gui: bool,
) {
    let book_set = BookSet::default();
    while !bytes.is_empty() {
        buffer.fill(&mut bytes).unwrap();
        while let Some(line) = buffer.next_line() {
            let event = if from_gui {
                Event::Gui(line)
            } else {
                Event::Engine(line)
            };
            session.step(Duration::ZERO, event, &book_set, out);
        }
    }
}

#[test]
fn a_forwarded_line_allocates_nothing() {
    let engines = Engines {
        profiles: vec![Profile::default()],
        chain: 1,
        ..Engines::default()
    };
    let mut session = Session::new(engines, 1);
    let mut out = Buffers::default();
    let book_set = BookSet::default();
    session.start(&mut out);
    session.step(Duration::ZERO, Event::EngineUp, &book_set, &mut out);
    session.step(Duration::ZERO, Event::Engine(b"uciok"), &book_set, &mut out);
    session.step(Duration::ZERO, Event::Gui(b"isready"), &book_set, &mut out);
    session.step(Duration::ZERO, Event::BooksOpened(&[]), &book_set, &mut out);
    session.step(
        Duration::ZERO,
        Event::Engine(b"readyok"),
        &book_set,
        &mut out,
    );
    session.step(
        Duration::ZERO,
        Event::Gui(b"go infinite"),
        &book_set,
        &mut out,
    );

    let infos = b"info depth 20 seldepth 300 score cp 31 nodes 1 pv e2e4 e7e5\r\n".repeat(500);
    let pings = b"isready\nd\ndebug on\n".repeat(100);
    let pongs = b"readyok\n".repeat(100);
    let mut from_gui = LineBuffer::default();
    let mut from_engine = LineBuffer::default();
    let mut round = |out: &mut Buffers| {
        out.gui.clear();
        out.engine.clear();
        forward(&mut session, &mut from_engine, out, &infos, false);
        forward(&mut session, &mut from_gui, out, &pings, true);
        forward(&mut session, &mut from_engine, out, &pongs, false);
    };
    round(&mut out);
    let counted = allocation_counter::measure(|| round(&mut out));
    assert_eq!(counted.count_total, 0);
    let sent = out.gui.split(|byte| *byte == b'\n').count() - 1;
    assert_eq!(sent, 600, "500 infos and 100 readyok came through");
}
