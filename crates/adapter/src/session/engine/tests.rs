//! The rows of the tables in the modules of the engine.

use std::time::Duration;

use super::super::out::written;
use super::*;

const NOW: Duration = Duration::from_secs(5);

const fn ms(time: u64) -> Duration {
    Duration::from_millis(5000 + time)
}

/// What is written while `work` is done.
fn text<T>(work: impl FnOnce(&mut Out<'_>) -> T) -> Vec<String> {
    written(work).1
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
    let lines = text(|out| engine.start(0, None, out));
    assert_eq!(lines, ["start 0", "wake 8000"]);
    engine
}

/// An engine that has introduced itself.
pub(in super::super) fn up() -> Engine {
    let mut engine = starting();
    assert_eq!(text(|out| engine.runs(out)), ["uci"]);
    let first = (Introduced::First, Vec::new());
    assert_eq!(written(|out| engine.introduce(NOW, out)), first);
    engine
}

/// An engine that ends a search, which is stopped after [`PAUSE`].
fn ending() -> Engine {
    let mut engine = up();
    let lines = text(|out| engine.end_search(NOW, NOW, false, out));
    assert_eq!(lines, [""; 0], "it may lose a stop");
    engine
}

fn fenced() -> Engine {
    let mut engine = ending();
    assert_eq!(text(|out| engine.has_ended_search(out)), ["isready"]);
    engine
}

/// What waits is sent after the `readyok`.
fn freed(engine: &mut Engine) -> Vec<String> {
    let (ready, lines) = written(|out| engine.on_ready_ok(ms(900), out));
    assert_eq!(ready, ReadyOk::Free);
    assert!(engine.is_free());
    lines
}

#[test]
fn a_line_is_sent_waits_or_is_lost() {
    let down = Engine::new(Engines::default());
    for (mut engine, is_sent, waits) in [
        (down, false, 0),
        (starting(), false, 1),
        (up(), true, 0),
        (ending(), false, 1),
        (fenced(), false, 1),
    ] {
        let lines = text(|out| engine.send(b"d ", false, out));
        assert_eq!(lines == ["d"], is_sent, "{engine:?}");
        assert_eq!(engine.backlog(), waits, "{engine:?}");
    }
    let mut engine = up();
    assert_eq!(text(|out| engine.send(b"d", true, out)), [""; 0]);
    assert_eq!(engine.backlog(), 1, "it waits for the end of the look");
    let mut engine = starting();
    text(|out| engine.send(b"setoption name Hash value 4", false, out));
    assert_eq!(engine.backlog(), 0, "the session remembers it");
}

#[test]
fn a_position_that_waits_is_replaced() {
    let lines = ["position startpos", "position startpos moves e2e4"];
    for mut engine in [ending(), fenced()] {
        for line in lines {
            let sent = text(|out| engine.send_position(line.as_bytes(), false, out));
            assert_eq!(sent, [""; 0]);
        }
        assert_eq!(engine.backlog(), 28);
    }
    let sent = text(|out| up().send_position(b"position startpos ", false, out));
    assert_eq!(sent, lines[..1]);
    let mut engine = starting();
    text(|out| engine.send_position(b"position startpos", false, out));
    assert!(engine.has_position(), "it gets it later");
}

#[test]
fn a_withheld_position_is_sent_once() {
    let mut engine = up();
    engine.withhold_position();
    for times in [1, 0] {
        let lines = text(|out| engine.send_withheld(b"position fen", out));
        assert_eq!(lines.len(), times);
    }
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
    assert_eq!(text(|out| engine.has_ended_search(out)), ["isready"]);
    let second = text(|out| engine.has_ended_search(out));
    assert_eq!(second, [""; 0], "a second bestmove");
    assert_eq!(engine.stop_due(), None);
    assert_eq!(engine.ending_since(), Some(NOW));
    assert_eq!(freed(&mut engine), [""; 0]);
}

#[test]
fn a_look_that_ends_by_itself_is_fenced_at_once() {
    let mut engine = up();
    let lines = text(|out| engine.look_has_ended(ms(1), NOW, out));
    assert_eq!(lines, ["isready"]);
    assert_eq!(freed(&mut engine), [""; 0]);
}

#[test]
fn a_doubtful_search_counts_as_ended_after_its_stop() {
    let mut searched = up();
    text(|out| searched.end_search(ms(10), NOW, true, out));
    let mut ended = ending();
    text(|out| ended.doubt(ms(10), out));
    for mut engine in [searched, ended] {
        let second = text(|out| engine.has_ended_search(out));
        assert_eq!(second, [""; 0], "doubtful as well");
        let late = engine.first_stop_late(ms(70));
        assert_eq!(late, Some(Duration::from_millis(20)));
        let lines = text(|out| engine.due_stop(ms(50), out));
        assert_eq!(lines, ["stop", "isready"]);
        assert_eq!(text(|out| engine.doubt(ms(60), out)), [""; 0]);
        assert_eq!(freed(&mut engine), [""; 0]);
    }
}

#[test]
fn each_isready_of_the_gui_is_answered_once() {
    let mut engine = fenced();
    assert_eq!(text(|out| engine.ask_ready(NOW, false, out)), ["isready"]);
    assert!(freed(&mut engine).is_empty());
    assert_eq!(engine.ready_due(), Some(ms(8000)));
    assert_eq!(engine.answer_ready(), 1);
    engine.mark_silent();
    assert_eq!(engine.readiness(), Readiness::Silent);
    let ready = |engine: &mut Engine| written(|out| engine.on_ready_ok(ms(100), out)).0;
    assert_eq!(ready(&mut engine), ReadyOk::OfNobody);
    assert_eq!(engine.readiness(), Readiness::Up);
    assert_eq!(text(|out| engine.ask_ready(NOW, false, out)), ["isready"]);
    assert_eq!(ready(&mut engine), ReadyOk::OfGui);
    assert!(!engine.owes_ready());
    assert_eq!(ready(&mut engine), ReadyOk::OfNobody, "nobody has asked");
}

#[test]
fn a_lost_engine_leaves_only_what_nobody_remembers() {
    for mut engine in [ending(), fenced()] {
        text(|out| engine.send_position(b"position startpos", false, out));
        text(|out| engine.send(b"d", false, out));
        text(|out| engine.ask_ready(NOW, false, out));
        let mut loss = engine.lose().unwrap();
        assert!(engine.lose().is_none(), "it is lost only once");
        let mut lines = Backlog::default();
        lines.put(b"bench");
        loss.keep(lines);
        assert_eq!(engine.restart(&loss, NOW, false, true), Some(0));
        let lines = text(|out| engine.start(0, Some(&mut loss), out));
        assert_eq!(lines, ["start 0", "wake 8000"]);
        assert_eq!(text(|out| engine.runs(out)), ["uci"]);
        let again = (Introduced::Again, Vec::new());
        assert_eq!(written(|out| engine.introduce(NOW, out)), again);
        let position: &[u8] = b"position startpos";
        let lines = text(|out| engine.resume(NOW, false, Some(position), out));
        let then = ["ucinewgame", "position startpos", "d", "bench", "isready"];
        assert_eq!(lines, then);
        assert!(engine.is_free());
    }
}

#[test]
fn nobody_hears_an_engine_that_does_not_run_yet() {
    let mut engine = starting();
    assert_eq!(engine.hearing(), Hearing::Nobody);
    text(|out| engine.runs(out));
    assert_eq!(engine.hearing(), Hearing::Introduction);
    assert_eq!(text(|out| engine.runs(out)), [""; 0], "it runs already");
    assert_eq!(up().hearing(), Hearing::Service);
}

#[test]
fn an_engine_that_is_late_gets_the_same_time_again() {
    let mut engine = starting();
    assert!(engine.is_unknown());
    let (over, lines) = written(|out| engine.time_over(out));
    assert_eq!((over, &*lines[1]), (TimeOver::Late, "wake 8000"));
    assert!(engine.is_late() && !engine.is_unknown());
    let (over, _) = written(|out| engine.time_over(out));
    assert!(matches!(over, TimeOver::Useless(_, false)));
    // The GUI has got `uciok`: another engine does not get the first time once more.
    let mut loss = engine.lose().unwrap();
    assert!(!engine.was_unknown(&loss));
    text(|out| engine.start(0, Some(&mut loss), out));
    assert!(engine.is_late());
    assert_eq!(written(|out| up().time_over(out)).0, TimeOver::Started);
}

#[test]
fn options_are_sent_one_by_one_to_the_engine_after_one_that_died_of_them() {
    let mut engine = up();
    let lines = ["setoption name Hash value 4", "setoption name Path value x"];
    for line in lines {
        let GuiCommand::SetOption(option) = gui::parse(line.as_bytes()) else {
            panic!("{line}");
        };
        let (sent, _) = written(|out| {
            let sent = engine.set_option(line.as_bytes(), &option, out);
            sent.map(Cow::into_owned)
        });
        assert_eq!(sent.as_deref(), Some(line.as_bytes()));
    }
    let start_again = |engine: &mut Engine| {
        let mut loss = engine.lose().unwrap();
        let of = |out: &mut Out<'_>| engine.leave_deadly_option_out(&loss, Cause::Ended, out);
        let (cure, _) = written(of);
        text(|out| engine.start(0, Some(&mut loss), out));
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
    let lines = text(|out| engine.resume(NOW, true, None, out));
    assert_eq!(lines, ["ucinewgame"]);
}

#[test]
fn an_engine_that_was_given_up_is_tried_again_when_it_is_needed() {
    let mut engine = up();
    let loss = engine.lose().unwrap();
    assert_eq!(text(|out| engine.try_again(out)), [""; 0], "it is not yet");
    engine.give_up(&loss);
    assert_eq!(engine.readiness(), Readiness::Down);
    let lines = text(|out| engine.try_again(out));
    assert_eq!(
        lines,
        ["the engine is started again", "start 0", "wake 8000"]
    );
    assert!(engine.is_starting());
    let (is_there, _) = written(|out| up().start_builtin(None, out));
    assert!(!is_there, "there is no built-in engine");
}
