//! The rows of the table in the module of the engine.

use std::time::Duration;

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
    assert_eq!(text(engine.start(0)), ["start 0", "alarm 8000"]);
    engine
}

fn idle() -> Engine {
    let mut engine = starting();
    assert_eq!(text(engine.runs()), ["uci"]);
    assert_eq!(engine.introduce(NOW), (Introduced::First, Vec::new()));
    engine
}

fn searching() -> Engine {
    let mut engine = idle();
    assert_eq!(text(engine.send_go(NOW, b"go infinite")), ["go infinite"]);
    engine
}

fn in_background() -> Engine {
    let mut engine = idle();
    let act = engine.search_in_background(NOW, b"go ponder".to_vec());
    assert_eq!(text([act]), ["go ponder"]);
    engine
}

/// An engine that ends a search, which is stopped after [`PAUSE`].
fn ending() -> Engine {
    let mut engine = in_background();
    assert!(engine.end_background(NOW).is_empty(), "it may lose a stop");
    engine
}

fn fenced() -> Engine {
    let mut engine = in_background();
    assert_eq!(text(engine.on_hidden_answer(NOW)), ["isready"]);
    engine
}

fn text<'a>(acts: impl IntoIterator<Item = Act<'a>>) -> Vec<String> {
    let line = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
    acts.into_iter()
        .map(|act| match act {
            Act::Engine(sent) => line(&sent),
            Act::Gui(sent) => format!("gui {}", line(&sent)),
            Act::Ask(request) => request.to_string(),
            Act::Alarm(after) => format!("alarm {}", after.as_millis()),
            Act::Info(text) | Act::Notice(text) => text,
        })
        .collect()
}

/// What waits is sent after the `readyok`.
fn freed(engine: &mut Engine) -> Vec<String> {
    match engine.on_ready_ok(ms(900)) {
        Readied::Free(acts) => text(acts),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_line_is_sent_waits_or_is_lost() {
    let mut down = Engine::new(Engines::default());
    assert_eq!(down.send(b"d"), None);
    assert_eq!(down.backlog(), 0);
    for (mut engine, is_sent, waits) in [
        (starting(), false, 1),
        (idle(), true, 0),
        (searching(), true, 0),
        (in_background(), false, 1),
        (ending(), false, 1),
        (fenced(), false, 1),
    ] {
        assert_eq!(engine.send(b"d").is_some(), is_sent, "{engine:?}");
        assert_eq!(engine.backlog(), waits, "{engine:?}");
    }
    let mut engine = starting();
    assert_eq!(engine.send(b"setoption name Hash value 4"), None);
    assert_eq!(engine.backlog(), 0, "the session remembers it");
}

#[test]
fn a_position_that_waits_is_replaced() {
    for mut engine in [in_background(), ending(), fenced()] {
        for line in ["position startpos", "position startpos moves e2e4"] {
            assert_eq!(engine.send_position(line.as_bytes()), None);
        }
        assert_eq!(engine.backlog(), 28);
    }
    assert!(idle().send_position(b"position startpos").is_some());
    assert!(searching().send_position(b"position startpos").is_some());
    let mut engine = starting();
    assert_eq!(engine.send_position(b"position startpos"), None);
    assert!(engine.has_position(), "it gets it later");
}

#[test]
fn a_withheld_position_is_sent_once() {
    let mut engine = idle();
    engine.withhold_position();
    assert!(engine.send_withheld(b"position fen").is_some());
    assert!(engine.send_withheld(b"position fen").is_none());
}

#[test]
fn a_go_waits_for_the_end_of_a_background_search() {
    let mut engine = fenced();
    assert_eq!(engine.send_go(NOW, b"go depth 3"), None);
    engine.check_state(true);
    assert_eq!(freed(&mut engine), ["go depth 3"]);
    engine.check_state(true);
    assert_eq!(engine.stop_due(), None);
    engine.has_answered(b"e2e4");
    assert!(engine.is_idle());
}

#[test]
fn a_stop_goes_to_the_search_that_waits() {
    let mut engine = fenced();
    assert_eq!(engine.send_go(NOW, b"go infinite"), None);
    assert_eq!(engine.stop(NOW), None);
    assert_eq!(freed(&mut engine), ["go infinite"]);
    assert_eq!(engine.stop_due(), Some(ms(950)));
    assert_eq!(text(engine.due_stop(ms(950))), ["stop"]);
    // The engine has not shown that it searches.
    assert_eq!(engine.stop_due(), Some(ms(1950)));
    assert_eq!(text(engine.due_stop(ms(1950))), ["stop"]);
    assert_eq!(
        engine.stop_due(),
        None,
        "once is enough: the GUI repeats it"
    );
}

#[test]
fn a_stop_or_ponderhit_waits_until_the_search_has_begun() {
    let mut engine = searching();
    assert_eq!(engine.ponder_hit(ms(1)), None);
    assert_eq!(engine.stop(ms(1)), None);
    assert_eq!(engine.stop(ms(2)), None, "one is enough");
    // Nothing may overtake them.
    assert_eq!(engine.ask_ready(ms(3)), None);
    assert_eq!(engine.send(b"d"), None);
    assert_eq!(engine.backlog(), 9 + 4 + 7 + 1);
    assert!(engine.receive(NOW, b"info string NNUE").is_empty());
    let sent = text(engine.receive(NOW, b"info depth 1 score cp 3"));
    assert_eq!(sent, ["ponderhit", "stop", "isready", "d"]);
    assert_eq!(engine.stop_due(), None);
    assert!(engine.receive(NOW, b"info depth 2").is_empty());
    assert_eq!(text(engine.stop(ms(4))), ["stop"]);
    // Without a word of the engine they wait as long as it may take to begin.
    let mut engine = searching();
    assert_eq!(engine.ponder_hit(ms(10)), None);
    assert_eq!(engine.stop_due(), Some(ms(50)));
    assert_eq!(text(engine.due_stop(ms(50))), ["ponderhit"]);
    assert_eq!(engine.stop_due(), None);
    let mut engine = searching();
    assert_eq!(text(engine.stop(ms(60))), ["stop"]);
    assert_eq!(engine.stop_due(), None);
    assert_eq!(idle().stop(NOW), None);
    assert_eq!(starting().stop(NOW), None);
}

#[test]
fn an_engine_that_has_moved_gets_no_stop() {
    let mut engine = searching();
    assert_eq!(engine.stop(ms(1)), None);
    assert_eq!(engine.ask_ready(ms(1)), None);
    assert_eq!(text(engine.has_answered(b"e2e4")), ["isready"]);
    assert!(engine.is_idle());
    let mut engine = searching();
    assert_eq!(engine.ponder_hit(ms(1)), None);
    assert_eq!(engine.send(b"d"), None);
    assert_eq!(text(engine.abandon(ms(1))), ["d"]);
    assert_eq!(text(engine.due_stop(ms(50))), ["stop"]);
}

#[test]
fn an_engine_that_was_lost_has_more_time_to_begin() {
    let mut engine = searching();
    assert!(engine.lose());
    engine.start(0);
    engine.runs();
    engine.introduce(NOW);
    engine.resume(NOW, false, None);
    for longest in [500, 50] {
        assert!(engine.send_go(NOW, b"go infinite").is_some());
        assert_eq!(engine.stop(NOW), None);
        assert_eq!(engine.stop_due(), Some(ms(longest)));
        engine.has_answered(b"e2e4");
    }
}

#[test]
fn an_abandoned_search_is_ended_or_does_not_begin() {
    let mut engine = searching();
    assert_eq!(text(engine.abandon(ms(60))), ["stop"]);
    assert_eq!(engine.ending_since(), Some(ms(60)));
    let mut engine = fenced();
    assert_eq!(engine.send_go(NOW, b"go infinite"), None);
    assert!(engine.abandon(ms(60)).is_empty());
    assert_eq!(freed(&mut engine), [""; 0]);
    engine.check_state(false);
}

#[test]
fn a_stop_is_repeated_until_the_search_has_ended() {
    let mut engine = ending();
    let mut stops = Vec::new();
    while stops.len() < 4 {
        let due = engine.stop_due().unwrap();
        assert_eq!(text(engine.due_stop(due)), ["stop"]);
        stops.push(due);
    }
    assert_eq!(stops, [ms(50), ms(250), ms(500), ms(1000)]);
    assert_eq!(engine.first_stop_late(ms(2000)), None);
    assert_eq!(text(engine.on_hidden_answer(ms(1100))), ["isready"]);
    assert_eq!(engine.on_hidden_answer(ms(1100)), None, "a second bestmove");
    assert_eq!(engine.stop_due(), None);
    assert_eq!(engine.ending_since(), Some(NOW));
}

#[test]
fn a_doubtful_search_counts_as_ended_after_its_stop() {
    for mut engine in [searching(), in_background(), ending()] {
        assert!(engine.doubt(ms(10)).is_empty());
        assert_eq!(engine.on_hidden_answer(ms(20)), None, "doubtful as well");
        assert_eq!(
            engine.first_stop_late(ms(70)),
            Some(Duration::from_millis(20))
        );
        assert_eq!(text(engine.due_stop(ms(50))), ["stop", "isready"]);
        assert!(engine.doubt(ms(60)).is_empty());
        assert_eq!(freed(&mut engine), [""; 0]);
    }
}

#[test]
fn each_isready_of_the_gui_is_answered_once() {
    let mut engine = fenced();
    assert_eq!(text(engine.ask_ready(NOW)), ["isready"]);
    assert!(freed(&mut engine).is_empty());
    assert_eq!(engine.ready_due(), Some(ms(8000)));
    assert_eq!(engine.answer_ready(), 1);
    engine.mark_silent();
    assert_eq!(engine.readiness(), Readiness::Silent);
    assert_eq!(engine.on_ready_ok(ms(100)), Readied::OfNobody);
    assert_eq!(engine.readiness(), Readiness::Up);
    assert_eq!(text(engine.ask_ready(NOW)), ["isready"]);
    assert_eq!(engine.on_ready_ok(NOW), Readied::OfGui);
    assert!(!engine.owes_ready());
}

#[test]
fn a_lost_engine_leaves_only_what_nobody_remembers() {
    for mut engine in [in_background(), ending(), fenced()] {
        assert_eq!(engine.send_position(b"position startpos"), None);
        assert_eq!(engine.send(b"d"), None);
        assert_eq!(engine.send_go(NOW, b"go infinite"), None);
        assert_eq!(engine.ask_ready(NOW).is_some(), engine.is_up());
        assert!(engine.lose());
        assert!(!engine.lose(), "it is lost only once");
        assert_eq!(engine.restart(NOW, false, true), Some(0));
        assert_eq!(text(engine.start(0)), ["start 0", "alarm 8000"]);
        assert_eq!(text(engine.runs()), ["uci"]);
        assert_eq!(engine.introduce(NOW), (Introduced::Again, Vec::new()));
        let acts = engine.resume(NOW, false, Some(b"position startpos"));
        let then = ["ucinewgame", "position startpos", "d", "isready"];
        assert_eq!(text(acts), then);
        engine.check_state(false);
    }
}

#[test]
fn nobody_hears_an_engine_that_does_not_run_yet() {
    let mut engine = starting();
    assert_eq!(engine.hearing(), Hearing::Nobody);
    engine.runs();
    assert_eq!(engine.hearing(), Hearing::Introduction);
    assert_eq!(engine.runs(), None, "it runs already");
    assert_eq!(searching().hearing(), Hearing::Service);
}

#[test]
fn an_engine_that_is_late_gets_the_same_time_again() {
    let mut engine = starting();
    assert!(engine.is_unknown());
    let TimeOver::Late(acts) = engine.time_over() else {
        panic!("{engine:?}");
    };
    assert_eq!(text(acts)[1], "alarm 8000");
    assert!(engine.is_late() && !engine.is_unknown());
    assert!(matches!(engine.time_over(), TimeOver::Useless(_, false)));
    assert!(matches!(idle().time_over(), TimeOver::Started));
}

#[test]
fn options_are_sent_one_by_one_to_the_engine_after_one_that_died_of_them() {
    let mut engine = idle();
    let lines = ["setoption name Hash value 4", "setoption name Path value x"];
    for line in lines {
        let GuiCommand::SetOption(option) = gui::parse(line.as_bytes()) else {
            panic!("{line}");
        };
        assert_eq!(text(engine.set_option(line.as_bytes(), &option)), [line]);
    }
    let start_again = |engine: &mut Engine| {
        assert!(engine.lose());
        let cure = engine.leave_deadly_option_out(Loss::Ended);
        engine.start(0);
        engine.runs();
        (cure, engine.introduce(NOW))
    };
    assert_eq!(
        start_again(&mut engine),
        (None, (Introduced::Again, vec![]))
    );
    engine.resume(NOW, false, None);
    let (cure, (introduced, acts)) = start_again(&mut engine);
    assert_eq!((cure, introduced), (None, Introduced::Trying));
    assert_eq!(text(acts), [lines[0], "isready", "alarm 8000"]);
    assert_eq!(engine.hearing(), Hearing::Trial);
    let Trial::Next(acts) = engine.survives_option() else {
        panic!("{engine:?}");
    };
    assert_eq!(text(acts), [lines[1], "isready", "alarm 8000"]);
    let (cure, (introduced, acts)) = start_again(&mut engine);
    assert!(cure.is_some() && engine.leaves_out("Path"));
    assert_eq!(introduced, Introduced::Trying);
    assert_eq!(text(acts), [lines[0], "isready", "alarm 8000"]);
    assert_eq!(engine.survives_option(), Trial::Over);
    assert_eq!(text(engine.resume(NOW, true, None)), ["ucinewgame"]);
}

#[test]
fn an_engine_that_was_given_up_is_tried_again_when_it_is_needed() {
    let mut engine = idle();
    assert!(engine.lose());
    assert!(engine.stay_down(true));
    assert_eq!(engine.readiness(), Readiness::Down);
    assert_eq!(
        engine.try_again().map(text).unwrap().last().unwrap(),
        "alarm 8000"
    );
    assert!(engine.is_starting());
    let mut engine = idle();
    assert!(engine.lose());
    assert!(!engine.stay_down(false));
    assert_eq!(engine.try_again(), None);
    assert_eq!(engine.start_builtin(), None, "there is none");
}
