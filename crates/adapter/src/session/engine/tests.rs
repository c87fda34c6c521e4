//! The rows of the table in the module of the engine.

use std::time::Duration;

use super::super::out::written;
use super::*;

const NOW: Duration = Duration::from_secs(5);

const fn ms(time: u64) -> Duration {
    Duration::from_millis(5000 + time)
}

fn starting() -> Engine {
    let profile = Profile {
        name: "fish".to_owned(),
        start_timeout: Duration::from_secs(8),
        ..Profile::default()
    };
    let mut engine = Engine::new(Engines {
        profiles: vec![profile],
        chain: 1,
        ..Engines::default()
    });
    assert_eq!(engine.first(), Some(0));
    assert_eq!(text(|out| engine.start(0, out)), ["start 0", "wake 8000"]);
    engine
}

fn idle() -> Engine {
    let mut engine = starting();
    assert_eq!(text(|out| engine.runs(out)), ["uci"]);
    let first = (Introduced::First, Vec::new());
    assert_eq!(written(|out| engine.introduce(NOW, out)), first);
    engine
}

fn searching() -> Engine {
    let mut engine = idle();
    assert_eq!(
        text(|out| engine.send_go(NOW, b"go infinite", out)),
        ["go infinite"]
    );
    engine
}

fn in_background() -> Engine {
    let mut engine = idle();
    let act = text(|out| engine.search_in_background(NOW, b"go ponder", out));
    assert_eq!(act, ["go ponder"]);
    engine
}

/// An engine that ends a search, which is stopped after [`PAUSE`].
fn ending() -> Engine {
    let mut engine = in_background();
    assert!(
        text(|out| engine.end_background(NOW, out)).is_empty(),
        "it may lose a stop"
    );
    engine
}

fn fenced() -> Engine {
    let mut engine = in_background();
    assert_eq!(text(|out| engine.on_hidden_answer(NOW, out)), ["isready"]);
    engine
}

/// What is written while `work` is done.
fn text<T>(work: impl FnOnce(&mut Out<'_>) -> T) -> Vec<String> {
    written(work).1
}

/// What waits is sent after the `readyok`.
fn freed(engine: &mut Engine) -> Vec<String> {
    let (ready, lines) = written(|out| engine.on_ready_ok(ms(900), out));
    assert_eq!(ready, ReadyOk::Free);
    lines
}

#[test]
fn a_line_is_sent_waits_or_is_lost() {
    let mut down = Engine::new(Engines::default());
    assert_eq!(text(|out| down.send(b"d", out)), [""; 0]);
    assert_eq!(down.backlog(), 0);
    for (mut engine, is_sent, waits) in [
        (starting(), false, 1),
        (idle(), true, 0),
        (searching(), true, 0),
        (in_background(), false, 1),
        (ending(), false, 1),
        (fenced(), false, 1),
    ] {
        assert_eq!(
            !text(|out| engine.send(b"d", out)).is_empty(),
            is_sent,
            "{engine:?}"
        );
        assert_eq!(engine.backlog(), waits, "{engine:?}");
    }
    let mut engine = starting();
    assert_eq!(
        text(|out| engine.send(b"setoption name Hash value 4", out)),
        [""; 0]
    );
    assert_eq!(engine.backlog(), 0, "the session remembers it");
}

#[test]
fn a_position_that_waits_is_replaced() {
    for mut engine in [in_background(), ending(), fenced()] {
        for line in ["position startpos", "position startpos moves e2e4"] {
            assert_eq!(
                text(|out| engine.send_position(line.as_bytes(), out)),
                [""; 0]
            );
        }
        assert_eq!(engine.backlog(), 28);
    }
    assert!(!text(|out| idle().send_position(b"position startpos", out)).is_empty());
    assert!(!text(|out| searching().send_position(b"position startpos", out)).is_empty());
    let mut engine = starting();
    assert_eq!(
        text(|out| engine.send_position(b"position startpos", out)),
        [""; 0]
    );
    assert!(engine.has_position(), "it gets it later");
}

#[test]
fn a_withheld_position_is_sent_once() {
    let mut engine = idle();
    engine.withhold_position();
    assert!(!text(|out| engine.send_withheld(b"position fen", out)).is_empty());
    assert!(text(|out| engine.send_withheld(b"position fen", out)).is_empty());
}

#[test]
fn a_go_waits_for_the_end_of_a_background_search() {
    let mut engine = fenced();
    assert_eq!(text(|out| engine.send_go(NOW, b"go depth 3", out)), [""; 0]);
    engine.check_state(true);
    assert_eq!(freed(&mut engine), ["go depth 3"]);
    engine.check_state(true);
    assert_eq!(engine.stop_due(), None);
    text(|out| engine.has_answered(b"e2e4", out));
    assert!(engine.is_idle());
}

#[test]
fn a_stop_goes_to_the_search_that_waits() {
    let mut engine = fenced();
    assert_eq!(
        text(|out| engine.send_go(NOW, b"go infinite", out)),
        [""; 0]
    );
    assert_eq!(text(|out| engine.stop(NOW, out)), [""; 0]);
    assert_eq!(freed(&mut engine), ["go infinite"]);
    assert_eq!(engine.stop_due(), Some(ms(950)));
    assert_eq!(text(|out| engine.due_stop(ms(950), out)), ["stop"]);
    // The engine has not shown that it searches.
    assert_eq!(engine.stop_due(), Some(ms(1950)));
    assert_eq!(text(|out| engine.due_stop(ms(1950), out)), ["stop"]);
    assert_eq!(
        engine.stop_due(),
        None,
        "once is enough: the GUI repeats it"
    );
}

#[test]
fn a_stop_or_ponderhit_waits_until_the_search_has_begun() {
    let mut engine = searching();
    assert_eq!(text(|out| engine.ponder_hit(ms(1), out)), [""; 0]);
    assert_eq!(text(|out| engine.stop(ms(1), out)), [""; 0]);
    assert_eq!(
        text(|out| engine.stop(ms(2), out)),
        [""; 0],
        "one is enough"
    );
    // Nothing may overtake them.
    assert_eq!(text(|out| engine.ask_ready(ms(3), out)), [""; 0]);
    assert_eq!(text(|out| engine.send(b"d", out)), [""; 0]);
    assert_eq!(engine.backlog(), 9 + 4 + 7 + 1);
    assert!(text(|out| engine.receive(NOW, b"info string NNUE", out)).is_empty());
    let sent = text(|out| engine.receive(NOW, b"info depth 1 score cp 3", out));
    assert_eq!(sent, ["ponderhit", "stop", "isready", "d"]);
    assert_eq!(engine.stop_due(), None);
    assert!(text(|out| engine.receive(NOW, b"info depth 2", out)).is_empty());
    assert_eq!(text(|out| engine.stop(ms(4), out)), ["stop"]);
    // Without a word of the engine they wait as long as it may take to begin.
    let mut engine = searching();
    assert_eq!(text(|out| engine.ponder_hit(ms(10), out)), [""; 0]);
    assert_eq!(engine.stop_due(), Some(ms(50)));
    assert_eq!(text(|out| engine.due_stop(ms(50), out)), ["ponderhit"]);
    assert_eq!(engine.stop_due(), None);
    let mut engine = searching();
    assert_eq!(text(|out| engine.stop(ms(60), out)), ["stop"]);
    assert_eq!(engine.stop_due(), None);
    assert_eq!(text(|out| idle().stop(NOW, out)), [""; 0]);
    assert_eq!(text(|out| starting().stop(NOW, out)), [""; 0]);
}

#[test]
fn an_engine_that_has_moved_gets_no_stop() {
    let mut engine = searching();
    assert_eq!(text(|out| engine.stop(ms(1), out)), [""; 0]);
    assert_eq!(text(|out| engine.ask_ready(ms(1), out)), [""; 0]);
    assert_eq!(text(|out| engine.has_answered(b"e2e4", out)), ["isready"]);
    assert!(engine.is_idle());
    let mut engine = searching();
    assert_eq!(text(|out| engine.ponder_hit(ms(1), out)), [""; 0]);
    assert_eq!(text(|out| engine.send(b"d", out)), [""; 0]);
    assert_eq!(text(|out| engine.abandon(ms(1), out)), ["d"]);
    assert_eq!(text(|out| engine.due_stop(ms(50), out)), ["stop"]);
}

#[test]
fn an_engine_that_was_lost_has_more_time_to_begin() {
    let mut engine = searching();
    assert!(engine.lose());
    text(|out| engine.start(0, out));
    text(|out| engine.runs(out));
    text(|out| engine.introduce(NOW, out));
    text(|out| engine.resume(NOW, false, None, out));
    for longest in [500, 50] {
        assert!(!text(|out| engine.send_go(NOW, b"go infinite", out)).is_empty());
        assert_eq!(text(|out| engine.stop(NOW, out)), [""; 0]);
        assert_eq!(engine.stop_due(), Some(ms(longest)));
        text(|out| engine.has_answered(b"e2e4", out));
    }
}

#[test]
fn an_abandoned_search_is_ended_or_does_not_begin() {
    let mut engine = searching();
    assert_eq!(text(|out| engine.abandon(ms(60), out)), ["stop"]);
    assert_eq!(engine.ending_since(), Some(ms(60)));
    let mut engine = fenced();
    assert_eq!(
        text(|out| engine.send_go(NOW, b"go infinite", out)),
        [""; 0]
    );
    assert!(text(|out| engine.abandon(ms(60), out)).is_empty());
    assert_eq!(freed(&mut engine), [""; 0]);
    engine.check_state(false);
}

#[test]
fn a_stop_is_repeated_until_the_search_has_ended() {
    let mut engine = ending();
    let mut stops = Vec::new();
    while stops.len() < 4 {
        let due = engine.stop_due().unwrap();
        assert_eq!(text(|out| engine.due_stop(due, out)), ["stop"]);
        stops.push(due);
    }
    assert_eq!(stops, [ms(50), ms(250), ms(500), ms(1000)]);
    assert_eq!(engine.first_stop_late(ms(2000)), None);
    assert_eq!(
        text(|out| engine.on_hidden_answer(ms(1100), out)),
        ["isready"]
    );
    assert_eq!(
        text(|out| engine.on_hidden_answer(ms(1100), out)),
        [""; 0],
        "a second bestmove"
    );
    assert_eq!(engine.stop_due(), None);
    assert_eq!(engine.ending_since(), Some(NOW));
}

#[test]
fn a_doubtful_search_counts_as_ended_after_its_stop() {
    for mut engine in [searching(), in_background(), ending()] {
        assert!(text(|out| engine.doubt(ms(10), out)).is_empty());
        assert_eq!(
            text(|out| engine.on_hidden_answer(ms(20), out)),
            [""; 0],
            "doubtful as well"
        );
        assert_eq!(
            engine.first_stop_late(ms(70)),
            Some(Duration::from_millis(20))
        );
        assert_eq!(
            text(|out| engine.due_stop(ms(50), out)),
            ["stop", "isready"]
        );
        assert!(text(|out| engine.doubt(ms(60), out)).is_empty());
        assert_eq!(freed(&mut engine), [""; 0]);
    }
}

#[test]
fn each_isready_of_the_gui_is_answered_once() {
    let mut engine = fenced();
    assert_eq!(text(|out| engine.ask_ready(NOW, out)), ["isready"]);
    assert!(freed(&mut engine).is_empty());
    assert_eq!(engine.ready_due(), Some(ms(8000)));
    assert_eq!(engine.answer_ready(), 1);
    engine.mark_silent();
    assert_eq!(engine.readiness(), Readiness::Silent);
    let (ready, _) = written(|out| engine.on_ready_ok(ms(100), out));
    assert_eq!(ready, ReadyOk::OfNobody);
    assert_eq!(engine.readiness(), Readiness::Up);
    assert_eq!(text(|out| engine.ask_ready(NOW, out)), ["isready"]);
    let (ready, _) = written(|out| engine.on_ready_ok(NOW, out));
    assert_eq!(ready, ReadyOk::OfGui);
    assert!(!engine.owes_ready());
}

#[test]
fn a_lost_engine_leaves_only_what_nobody_remembers() {
    for mut engine in [in_background(), ending(), fenced()] {
        assert_eq!(
            text(|out| engine.send_position(b"position startpos", out)),
            [""; 0]
        );
        assert_eq!(text(|out| engine.send(b"d", out)), [""; 0]);
        assert_eq!(
            text(|out| engine.send_go(NOW, b"go infinite", out)),
            [""; 0]
        );
        assert_eq!(
            !text(|out| engine.ask_ready(NOW, out)).is_empty(),
            engine.is_up()
        );
        assert!(engine.lose());
        assert!(!engine.lose(), "it is lost only once");
        assert_eq!(engine.restart(NOW, false, true), Some(0));
        assert_eq!(text(|out| engine.start(0, out)), ["start 0", "wake 8000"]);
        assert_eq!(text(|out| engine.runs(out)), ["uci"]);
        let again = (Introduced::Again, Vec::new());
        assert_eq!(written(|out| engine.introduce(NOW, out)), again);
        let acts = text(|out| engine.resume(NOW, false, Some(b"position startpos"), out));
        let then = ["ucinewgame", "position startpos", "d", "isready"];
        assert_eq!(acts, then);
        engine.check_state(false);
    }
}

#[test]
fn nobody_hears_an_engine_that_does_not_run_yet() {
    let mut engine = starting();
    assert_eq!(engine.hearing(), Hearing::Nobody);
    text(|out| engine.runs(out));
    assert_eq!(engine.hearing(), Hearing::Introduction);
    assert_eq!(text(|out| engine.runs(out)), [""; 0], "it runs already");
    assert_eq!(searching().hearing(), Hearing::Service);
}

#[test]
fn an_engine_that_is_late_gets_the_same_time_again() {
    let mut engine = starting();
    assert!(engine.is_unknown());
    let (over, lines) = written(|out| engine.time_over(out));
    assert_eq!((over, &*lines[1]), (TimeOver::Late, "wake 8000"));
    assert!(engine.is_late() && !engine.is_unknown());
    assert!(matches!(
        written(|out| engine.time_over(out)).0,
        TimeOver::Useless(_, false)
    ));
    assert!(matches!(
        written(|out| idle().time_over(out)).0,
        TimeOver::Started
    ));
}

#[test]
fn options_are_sent_one_by_one_to_the_engine_after_one_that_died_of_them() {
    let mut engine = idle();
    let lines = ["setoption name Hash value 4", "setoption name Path value x"];
    for line in lines {
        let GuiCommand::SetOption(option) = gui::parse(line.as_bytes()) else {
            panic!("{line}");
        };
        assert_eq!(
            text(|out| engine.set_option(line.as_bytes(), &option, out)),
            [line]
        );
    }
    let start_again = |engine: &mut Engine| {
        assert!(engine.lose());
        let (cure, _) = written(|out| engine.leave_deadly_option_out(Loss::Ended, out));
        text(|out| engine.start(0, out));
        text(|out| engine.runs(out));
        let (introduced, lines) = written(|out| engine.introduce(NOW, out));
        (cure, introduced, lines)
    };
    let again = (false, Introduced::Again, vec![]);
    assert_eq!(start_again(&mut engine), again);
    text(|out| engine.resume(NOW, false, None, out));
    let alone = |line: &str| [line, "isready", "wake 8000"].map(str::to_owned).to_vec();
    let trying = (false, Introduced::Trying, alone(lines[0]));
    assert_eq!(start_again(&mut engine), trying);
    assert_eq!(engine.hearing(), Hearing::Trial);
    let next = (Trial::Next, alone(lines[1]));
    assert_eq!(written(|out| engine.survives_option(out)), next);
    let without = (true, Introduced::Trying, alone(lines[0]));
    assert_eq!(start_again(&mut engine), without);
    assert!(engine.leaves_out("Path"));
    assert_eq!(written(|out| engine.survives_option(out)).0, Trial::Over);
    assert_eq!(
        text(|out| engine.resume(NOW, true, None, out)),
        ["ucinewgame"]
    );
}

#[test]
fn an_engine_that_was_given_up_is_tried_again_when_it_is_needed() {
    let mut engine = idle();
    assert!(engine.lose());
    assert!(engine.stay_down(true));
    assert_eq!(engine.readiness(), Readiness::Down);
    let lines = text(|out| engine.try_again(out));
    assert_eq!(
        lines,
        ["the engine is started again", "start 0", "wake 8000"]
    );
    assert!(engine.is_starting());
    let mut engine = idle();
    assert!(engine.lose());
    assert!(!engine.stay_down(false));
    assert_eq!(text(|out| engine.try_again(out)), [""; 0]);
    assert_eq!(
        text(|out| engine.start_builtin(out)),
        [""; 0],
        "there is none"
    );
}
