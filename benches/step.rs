//! The cost of a line inside the adapter, without pipes: the session's step with the
//! starter book.
//!
//! `cargo bench --bench step`; medians over batches, in nanoseconds. `-- --save-baseline
//! NAME` saves them, `-- --baseline NAME` shows the ratio to saved ones.

#![allow(clippy::print_stdout)] // The figures are for users.

#[path = "baseline/mod.rs"]
mod baseline;

use std::hint::black_box;
use std::time::{Duration, Instant};

use tabia_adapter::session::{Engines, Event, Output, Profile, Request, Session};
use tabia_choice::book_set::{BookSet, BookSpec, Opener};
use tabia_choice::settings::STARTER;

use baseline::{Baseline, Failure};

/// Collects lines as the relay does: in buffers that are reused.
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

struct Bench {
    session: Session,
    book_set: BookSet,
    out: Buffers,
    baseline: Baseline,
}

impl Bench {
    fn new(baseline: Baseline) -> Bench {
        let engines = Engines::one(Profile::default());
        let opener = Opener::here(true);
        let spec = BookSpec::new(STARTER);
        let (book_set, messages) = opener.book_set(&[spec], &BookSet::default());
        assert!(messages.is_empty(), "{messages:?}");
        let mut bench = Bench {
            session: Session::new(engines, 1),
            book_set,
            out: Buffers::default(),
            baseline,
        };
        bench.session.start(&mut bench.out);
        bench.step(Event::EngineUp);
        bench.step(Event::Engine(b"uciok"));
        bench.gui("uci");
        bench.gui("isready");
        bench.step(Event::BooksOpened(&[]));
        bench.step(Event::Engine(b"readyok"));
        bench
    }

    fn step(&mut self, event: Event<'_>) {
        self.session
            .step(Duration::ZERO, event, &self.book_set, &mut self.out);
    }

    fn gui(&mut self, line: &str) {
        self.step(Event::Gui(line.as_bytes()));
    }

    /// Median time of one run of `work`, after a check of its output.
    fn measure(&mut self, name: &str, expected: &str, work: impl FnMut(&mut Bench)) {
        self.measure_after(name, expected, |_| {}, work);
    }

    /// Measures with `before` called before each run, which is not measured.
    fn measure_after(
        &mut self,
        name: &str,
        expected: &str,
        mut before: impl FnMut(&mut Bench),
        mut work: impl FnMut(&mut Bench),
    ) {
        before(self);
        self.out.gui.clear();
        self.out.engine.clear();
        work(self);
        let sent = [self.out.gui.as_slice(), &self.out.engine].concat();
        let sent = String::from_utf8_lossy(&sent).into_owned();
        assert!(sent.contains(expected), "{name}: {sent}");
        const BATCH: u32 = 200;
        let mut times: Vec<f64> = (0..60)
            .map(|_| {
                let mut time = Duration::ZERO;
                for _ in 0..BATCH {
                    before(self);
                    self.out.gui.clear();
                    self.out.engine.clear();
                    let begin = Instant::now();
                    work(self);
                    time += begin.elapsed();
                }
                time.as_secs_f64() * 1e9 / f64::from(BATCH)
            })
            .collect();
        times.sort_by(f64::total_cmp);
        black_box(&self.out.gui);
        let time = times[times.len() / 2];
        let ratio = self.baseline.ratio(name, time);
        println!("{name:<44}{time:>10.0} ns{ratio}");
    }
}

fn main() -> Result<(), Failure> {
    let mut bench = Bench::new(Baseline::of("step")?);
    // The relay looks ahead between a position and its `go`.
    let go = "go wtime 60000 btime 60000 winc 600 binc 600";
    for (name, position) in [
        ("go in book, start position", "position startpos"),
        (
            "go in book, 3 plies",
            "position startpos moves e2e4 c7c5 g1f3",
        ),
    ] {
        let prepare = |bench: &mut Bench| {
            bench.gui("position startpos moves a2a3");
            bench.gui(position);
            bench.session.look_ahead(&bench.book_set);
        };
        bench.measure_after(name, "bestmove", prepare, |bench| bench.gui(go));
        bench.measure_after(
            &format!("{name}, not looked ahead"),
            "bestmove",
            |bench| bench.gui("position startpos moves a2a3"),
            |bench| {
                bench.gui(position);
                bench.gui(go);
            },
        );
    }
    bench.gui("position startpos");
    bench.gui("setoption name Book Info value none");
    bench.gui("setoption name Book Ponder value false");
    bench.measure("go in book, the bare move", "bestmove", |bench| {
        bench.gui("go movetime 100");
    });
    let mut game = "position startpos moves".to_owned();
    let mut shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"].into_iter().cycle();
    bench.measure("position, one ply more", "position", |bench| {
        game.push(' ');
        game.push_str(shuffle.next().unwrap_or_default());
        bench.gui(&game);
    });
    let long = format!(
        "position startpos moves{}",
        " g1f3 g8f6 f3g1 f6g8".repeat(75)
    );
    let longer = format!("{long} e2e4");
    let guess = format!("{long} e2e4 a7a6");
    let played = format!("{long} e2e4 b7b6");
    for (name, before, line) in [
        ("a line of 300 plies, one more", &long, &longer),
        ("a line of 300 plies, another move", &guess, &played),
        (
            "a line of 300 plies, all of it",
            &"position startpos".to_owned(),
            &longer,
        ),
    ] {
        bench.measure_after(
            name,
            "e2e4",
            |bench| bench.gui(before),
            |bench| bench.gui(line),
        );
    }
    bench.gui("position startpos moves a2a3");
    let info = b"info depth 20 seldepth 30 multipv 1 score cp 31 nodes 1000000 nps 900000 \
                 hashfull 100 tbhits 0 time 1100 pv e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6";
    bench.measure("info line of the engine", "info depth 20", |bench| {
        bench.step(Event::Engine(info));
    });
    bench.measure("isready and readyok", "readyok", |bench| {
        bench.gui("isready");
        bench.step(Event::Engine(b"readyok"));
    });
    bench.baseline.keep()
}
