//! The rows of the tables in the modules of the turn.

use std::time::Duration;

use super::super::engine::ReadyOk;
use super::super::engine::tests::up;
use super::super::out::written;
use super::super::verify::Budget;
use super::*;
use shakmaty::{CastlingMode, Chess, Color, Position};
use tabia_uci::gui;

const NOW: Duration = Duration::from_secs(5);
const LATER: Duration = Duration::from_secs(6);

const fn ms(time: u64) -> Duration {
    Duration::from_millis(5000 + time)
}

fn go(line: &str) -> Go {
    match gui::parse(line.as_bytes()) {
        GuiCommand::Go(go) => go,
        other => panic!("{other:?}"),
    }
}

/// A turn with a game and an engine.
struct Table {
    turn: Turn,
    engine: Engine,
    game: Game,
}

impl Table {
    fn idle() -> Table {
        Table {
            turn: Turn::Idle,
            engine: up(),
            game: Game::default(),
        }
    }

    /// With an answer that is held for a `go`.
    fn held(line: &str, due: Option<Duration>, look: Option<Look>) -> Table {
        let held = Held {
            answer: vec![b"bestmove e2e4".to_vec()],
            kind: SearchKind::from_go(&go(line)),
            due,
            look,
        };
        Table {
            turn: Turn::Held(held),
            ..Table::idle()
        }
    }

    /// With an answer that is searched for.
    fn searching(line: &str) -> Table {
        let mut table = Table::idle();
        assert_eq!(table.go(line), [line]);
        table
    }

    /// With an engine that still has to send the `readyok` of another search.
    fn fenced() -> Table {
        let mut table = Table::idle();
        written(|out| table.engine.look_has_ended(NOW, NOW, out));
        table
    }

    /// What is written while `work` is done at this time, and its result.
    fn at<T>(
        &mut self,
        now: Duration,
        work: impl FnOnce(&mut Turn, &mut Outside<'_, '_>) -> T,
    ) -> (T, Vec<String>) {
        written(|out| {
            let mut to = Outside {
                now,
                game: &self.game,
                engine: &mut self.engine,
                out,
            };
            work(&mut self.turn, &mut to)
        })
    }

    fn go(&mut self, line: &str) -> Vec<String> {
        let go = (line.as_bytes(), go(line));
        self.at(NOW, |turn, to| turn.begin(go, to)).1
    }

    fn send(&mut self, line: &str) -> Vec<String> {
        written(|out| self.turn.send(line.as_bytes(), &mut self.engine, out)).1
    }

    fn stop(&mut self, now: Duration) -> Vec<String> {
        self.at(now, Turn::stop).1
    }

    fn ponder_hit(&mut self, now: Duration) -> (PonderHitTarget, Vec<String>) {
        let wanted = Duration::from_millis(100);
        self.at(now, |turn, to| turn.ponder_hit(wanted, to))
    }

    fn info(&mut self, now: Duration, line: &str) -> Vec<String> {
        let info = |turn: &mut Turn, to: &mut Outside<'_, '_>| {
            turn.search_mut().unwrap().receive(line.as_bytes(), to);
        };
        self.at(now, info).1
    }

    fn due_stop(&mut self, now: Duration) -> Vec<String> {
        self.at(now, Turn::due_stop).1
    }

    fn stop_due(&self) -> Option<Duration> {
        self.turn.stop_due(&self.engine)
    }

    fn ask_ready(&mut self) -> Vec<String> {
        self.at(NOW, Turn::ask_ready).1
    }

    fn abandon(&mut self, now: Duration) -> Vec<String> {
        self.at(now, Turn::abandon).1
    }

    /// The `readyok` after the fence.
    fn freed(&mut self) -> Vec<String> {
        let free = |turn: &mut Turn, to: &mut Outside<'_, '_>| {
            assert_eq!(to.engine.on_ready_ok(to.now, to.out), ReadyOk::Free);
            if let Some(search) = turn.search_mut() {
                search.engine_is_free(to);
            }
        };
        self.at(ms(900), free).1
    }

    /// The `bestmove` of the search: what is sent, and to whom.
    fn answer(&mut self) -> Vec<String> {
        let answer = |turn: &mut Turn, to: &mut Outside<'_, '_>| {
            to.engine.has_answered(b"e2e4");
            if let Some(search) = turn.search_mut() {
                search.has_answered(to.out);
            }
            if let Some(line) = turn.answer_search(b"bestmove e2e4") {
                to.out.gui(line);
            }
        };
        self.at(NOW, answer).1
    }

    /// The limit after which the engine counts as hung.
    fn due(&self) -> Option<Duration> {
        self.turn.search().unwrap().due()
    }
}

const ANSWER: [&str; 1] = ["gui bestmove e2e4"];

fn check(line: &str) -> Option<Look> {
    let candidate = Chess::default().legal_moves()[0];
    let budget = Budget::new(NOW, Duration::from_millis(100), None).unwrap();
    let go = go(line);
    let of = (candidate, Color::White);
    let check = Check::new(NOW, (line.as_bytes(), &go), of, None, budget);
    Some(Look::Check(Box::new(check)))
}

// An answer that is held.

#[test]
fn a_held_answer_is_sent_when_its_time_comes() {
    let mut turn = Table::held("go movetime 10", Some(LATER), None).turn;
    assert_eq!(turn.held_due(), Some(LATER));
    assert!(!turn.is_due(NOW) && turn.is_due(LATER));
    assert!(turn.release().is_some());
    assert!(turn.is_idle());
    assert!(turn.release().is_none(), "it is sent once");
}

#[test]
fn a_held_answer_waits_for_ponderhit_or_stop() {
    let mut table = Table::held("go ponder", Some(LATER), None);
    assert_eq!(
        table.turn.held_due(),
        None,
        "the delay counts after ponderhit"
    );
    assert!(!table.turn.is_due(LATER));
    assert_eq!(table.ponder_hit(NOW).0, PonderHitTarget::Held);
    assert!(table.turn.is_due(NOW), "without any delay");
    let mut table = Table::held("go ponder infinite", None, None);
    assert_eq!(table.ponder_hit(NOW).0, PonderHitTarget::Nothing);
    assert!(!table.turn.is_due(LATER));
    assert!(table.at(NOW, Turn::stop).0, "it is sent");
    let mut table = Table::held("go ponder", None, check("go ponder"));
    assert_eq!(
        table.ponder_hit(NOW).0,
        PonderHitTarget::Nothing,
        "it is checked"
    );
    let line = "go ponder wtime 100 btime 100";
    let mut table = Table::held(line, None, check(line));
    let late = PonderHitTarget::Unchecked(Unchecked::NoTime);
    assert_eq!(table.ponder_hit(NOW).0, late);
}

#[test]
fn a_look_is_made_once() {
    let think = Look::WarmUp(b"go ponder".to_vec());
    let mut turn = Table::held("go ponder", None, Some(think)).turn;
    assert!(!turn.is_looking() && turn.take_begun_look().is_none());
    turn.held_mut().unwrap().look = Some(Look::Warming(NOW));
    assert!(turn.is_looking() && turn.take_check().is_none());
    assert!(matches!(
        turn.take_begun_look(),
        Some((NOW, Look::Warming(_)))
    ));
    let mut turn = Table::held("go movetime 1000", None, check("go movetime 1000")).turn;
    assert_eq!(turn.held_due(), Some(NOW + Duration::from_millis(100)));
    assert_eq!(turn.lateness(), Unchecked::Busy);
    let mut waiting = turn.take_check().unwrap();
    assert!(waiting.begin(NOW, false, CastlingMode::Standard).is_some());
    turn.held_mut().unwrap().look = Some(Look::Check(waiting));
    assert!(turn.is_looking());
    assert_eq!(turn.lateness(), Unchecked::Late);
    assert!(turn.take_begun_look().is_some());
}

#[test]
fn lines_wait_for_the_end_of_a_look() {
    let mut table = Table::held("go ponder", None, Some(Look::Warming(NOW)));
    assert_eq!(table.send("d"), [""; 0]);
    let (_, lines) = table.at(NOW, |turn, to| turn.send_position(to));
    assert_eq!(lines, [""; 0]);
    assert!(table.turn.hides(&table.engine));
    let (went, _) = table.turn.take_begun_look().unwrap();
    written(|out| table.engine.look_has_ended(NOW, went, out));
    assert!(table.turn.hides(&table.engine));
    assert_eq!(table.freed()[0], "d");
    assert!(!table.turn.hides(&table.engine));
}

// The answer of the engine.

#[test]
fn the_answer_of_the_engine_is_sent_or_held() {
    assert_eq!(Table::searching("go depth 3").answer(), ANSWER);
    let mut table = Table::searching("go infinite");
    assert_eq!(table.answer(), [""; 0]);
    assert!(table.turn.is_held());
    let mut table = Table::searching("go infinite");
    table.stop(ms(60));
    assert_eq!(table.answer(), ANSWER);
    assert!(table.turn.is_idle());
    assert_eq!(table.answer(), [""; 0], "there is no search");
}

#[test]
fn an_engine_gets_a_second_chance() {
    let mut table = Table::searching("go depth 3");
    let search = table.turn.search_mut().unwrap();
    assert!(search.may_ignore_repeat());
    assert!(!search.may_ignore_repeat(), "it may mean it");
    assert_eq!(search.reject(), Retry::SearchAgain);
    assert!(!search.may_ignore_repeat());
    assert_eq!(search.reject(), Retry::GiveUp);
    let mut perft = Table::searching("go perft 3");
    assert_eq!(perft.turn.search_mut().unwrap().reject(), Retry::None);
}

#[test]
fn a_search_whose_answer_cannot_be_meant_is_made_again_behind_its_end() {
    let mut table = Table::searching("go wtime 3000 btime 900");
    table.game.update(b"position startpos");
    let (_, lines) = table.at(LATER, Turn::search_again);
    assert_eq!(lines, ["stop", "isready"]);
    assert_eq!(table.send("d"), [""; 0]);
    let lines = ["position startpos", "go wtime 2000 btime 900", "d"];
    assert_eq!(table.freed(), lines);
}

// Limits.

#[test]
fn a_stop_shortens_the_limit_once() {
    let mut table = Table::searching("go infinite");
    assert_eq!(table.due(), None);
    table.stop(NOW);
    table.stop(LATER);
    assert_eq!(table.due(), Some(NOW + STOP_LIMIT));
    let mut table = Table::searching("go movetime 100");
    let due = table.due();
    assert!(due < Some(NOW + STOP_LIMIT));
    table.stop(NOW);
    assert_eq!(table.due(), due);
}

#[test]
fn the_clock_of_a_ponder_search_begins_at_the_first_ponderhit() {
    let mut table = Table::searching("go ponder movetime 100");
    assert_eq!(table.due(), None);
    for now in [NOW, LATER] {
        assert_eq!(table.ponder_hit(now).0, PonderHitTarget::Nothing);
        let due = NOW + Duration::from_millis(100) + MARGIN;
        assert_eq!(table.due(), Some(due));
    }
}

// A search behind another, and its beginning.

#[test]
fn a_go_waits_for_the_end_of_another_search() {
    let mut table = Table::fenced();
    assert_eq!(table.send("d 1"), [""; 0]);
    assert_eq!(table.go("go depth 3"), [""; 0]);
    assert_eq!(table.send("d 2"), [""; 0]);
    assert_eq!(table.turn.backlog() + table.engine.backlog(), 3 + 10 + 3);
    assert_eq!(table.freed(), ["d 1", "go depth 3", "d 2"]);
    assert_eq!(table.turn.backlog(), 0);
    assert_eq!(table.stop_due(), None);
    assert_eq!(table.answer(), ANSWER);
}

#[test]
fn a_stop_goes_to_the_search_that_waits() {
    let mut table = Table::fenced();
    table.go("go infinite");
    assert_eq!(table.stop(NOW), [""; 0]);
    assert_eq!(table.freed(), ["go infinite"]);
    assert_eq!(table.stop_due(), Some(ms(950)));
    assert_eq!(table.due_stop(ms(949)), [""; 0]);
    assert_eq!(table.due_stop(ms(950)), ["stop"]);
    // The engine has not shown that it searches.
    assert_eq!(table.stop_due(), Some(ms(1950)));
    assert_eq!(table.due_stop(ms(1950)), ["stop"]);
    assert_eq!(table.stop_due(), None, "once is enough: the GUI repeats it");
}

#[test]
fn a_stop_or_ponderhit_waits_until_the_search_has_begun() {
    let mut table = Table::searching("go ponder");
    assert_eq!(table.ponder_hit(ms(1)).1, [""; 0]);
    for time in [1, 2] {
        assert_eq!(table.stop(ms(time)), [""; 0], "one is enough");
    }
    // Nothing may overtake them.
    assert_eq!(table.ask_ready(), [""; 0]);
    assert_eq!(table.send("d"), [""; 0]);
    assert_eq!(table.turn.backlog(), 9 + 4 + 7 + 1);
    assert_eq!(table.info(NOW, "info string NNUE"), [""; 0]);
    let sent = table.info(NOW, "info depth 1 score cp 3");
    assert_eq!(sent, ["ponderhit", "stop", "isready", "d"]);
    assert_eq!(table.stop_due(), None);
    assert_eq!(table.info(NOW, "info depth 2"), [""; 0]);
    assert_eq!(table.stop(ms(4)), ["stop"]);
    // Without a word of the engine they wait as long as it may take to begin.
    let mut table = Table::searching("go ponder");
    table.ponder_hit(ms(10));
    assert_eq!(table.stop_due(), Some(ms(50)));
    assert_eq!(table.due_stop(ms(50)), ["ponderhit"]);
    assert_eq!(table.stop_due(), None);
    let mut table = Table::searching("go infinite");
    assert_eq!(table.stop(ms(60)), ["stop"]);
    assert_eq!(table.stop_due(), None);
    assert_eq!(Table::idle().stop(NOW), [""; 0]);
}

#[test]
fn an_engine_that_has_moved_gets_no_stop() {
    let mut table = Table::searching("go movetime 100");
    table.stop(ms(1));
    table.ask_ready();
    assert_eq!(table.answer(), ["isready", ANSWER[0]]);
    let mut table = Table::searching("go ponder");
    table.ponder_hit(ms(1));
    table.send("d");
    assert_eq!(table.abandon(ms(1)), ["d"]);
    assert_eq!(table.due_stop(ms(50)), ["stop"]);
}

#[test]
fn an_engine_that_prints_when_it_begins_has_more_time_for_that() {
    let mut table = Table::idle();
    for (longest, after) in [(50, 501), (50, 500), (500, 500)] {
        table.go("go infinite");
        table.stop(NOW);
        assert_eq!(table.stop_due(), Some(ms(longest)));
        table.info(ms(after), "info depth 1");
        table.answer();
    }
}

// Another search, or none.

#[test]
fn a_search_is_replaced_unless_it_was_stopped() {
    let mut table = Table::searching("go infinite");
    assert_eq!(table.abandon(ms(60)), ["stop"]);
    assert!(table.turn.is_idle());
    assert_eq!(table.engine.ending_since(), Some(ms(60)));
    let mut table = Table::fenced();
    table.go("go infinite");
    table.stop(NOW);
    table.send("d");
    assert_eq!(table.abandon(ms(60)), [""; 0]);
    assert!(table.turn.is_searching(), "its answer is awaited");
    let mut table = Table::fenced();
    table.go("go ponder");
    table.ponder_hit(NOW);
    table.send("d");
    assert_eq!(table.abandon(ms(60)), [""; 0]);
    assert_eq!(table.freed(), ["d"], "it has not begun");
    let mut table = Table::held("go ponder", None, None);
    table.abandon(NOW);
    assert!(table.turn.is_held());
}

#[test]
fn nothing_waits_for_perft() {
    let position = GuiCommand::Position;
    assert!(Table::searching("go depth 3").turn.delays(&position, false));
    let mut table = Table::searching("go perft 3");
    assert!(!table.turn.delays(&position, false));
    assert!(table.at(NOW, Turn::forget_perft).0);
    assert!(table.turn.is_idle());
    let mut table = Table::searching("go depth 3");
    assert!(!table.at(NOW, Turn::forget_perft).0);
    assert!(table.turn.is_searching());
}

#[test]
fn a_perft_is_made_whatever_follows() {
    let mut table = Table::fenced();
    table.go("go perft 3");
    table.stop(NOW);
    table.send("d");
    assert_eq!(table.abandon(NOW), [""; 0]);
    assert!(table.turn.is_idle());
    table.go("go depth 3");
    assert_eq!(table.freed(), ["go perft 3", "d", "go depth 3"]);
    let mut table = Table::searching("go perft 3");
    assert_eq!(table.abandon(ms(60)), [""; 0], "its end would not show");
    assert!(table.engine.is_free());
}

// The loss of the engine.

#[test]
fn a_search_is_repeated_with_the_time_that_is_left() {
    for stops in [false, true] {
        let mut table = Table::searching("go wtime 3000 btime 900");
        if stops {
            table.stop(ms(60));
        }
        let lines = table.turn.lose_engine();
        assert!(lines.is_empty());
        let (_, lines) = table.at(LATER, Turn::engine_has_started);
        assert_eq!(lines, ["go wtime 2000 btime 900"]);
        let due = stops.then(|| LATER + engine_time());
        assert_eq!(table.stop_due(), due, "a stop waits for its beginning");
    }
    let mut table = Table::held("go ponder", None, None);
    assert!(table.turn.lose_engine().is_empty());
}

/// How long an engine may take to begin that has shown nothing.
fn engine_time() -> Duration {
    up().time_to_begin()
}
