//! The rows of the table in the module of what the GUI is owed.

use std::time::Duration;

use super::*;
use shakmaty::{Chess, Color, Position};
use tabia_uci::gui;

const NOW: Duration = Duration::from_secs(5);
const LATER: Duration = Duration::from_secs(6);

fn go(line: &str) -> Go {
    match gui::parse(line.as_bytes()) {
        GuiCommand::Go(go) => go,
        other => panic!("{other:?}"),
    }
}

/// An answer that is held for a `go`.
fn held(line: &str, due: Option<Duration>, search: Option<Background>) -> Owed {
    let mut owed = Owed::default();
    owed.hold(Held {
        answer: vec![b"bestmove e2e4".to_vec()],
        kind: SearchKind::from_go(&go(line)),
        due,
        search,
    });
    owed
}

fn check(line: &str) -> Option<Background> {
    let candidate = Chess::default().legal_moves()[0];
    let budget = Budget::new(NOW, Duration::from_millis(100), None).unwrap();
    let go = go(line);
    let check = Check::new(
        NOW,
        (line.as_bytes(), &go),
        (candidate, Color::White),
        None,
        budget,
    );
    Some(Background::Check(Box::new(check)))
}

/// An answer that is searched for.
fn searched(line: &str) -> Owed {
    let mut owed = Owed::default();
    owed.search(NOW, (line.as_bytes(), go(line)), Some(true));
    owed
}

#[test]
fn a_held_answer_is_sent_when_its_time_comes() {
    let mut owed = held("go movetime 10", Some(LATER), None);
    assert_eq!(owed.held_due(), Some(LATER));
    assert!(!owed.is_due(NOW) && owed.is_due(LATER));
    assert!(owed.release().is_some());
    assert!(owed.is_nothing());
    assert_eq!(owed.release(), None, "it is sent once");
}

#[test]
fn a_held_answer_waits_for_ponderhit_or_stop() {
    let hit = |owed: &mut Owed| owed.ponder_hit(NOW, Some(true), Duration::ZERO);
    let mut owed = held("go ponder", Some(LATER), None);
    assert_eq!(owed.held_due(), None, "the delay counts after ponderhit");
    assert!(!owed.is_due(LATER));
    assert_eq!(hit(&mut owed), HitOf::Held);
    assert!(owed.is_due(NOW), "without any delay");
    let mut owed = held("go ponder infinite", None, None);
    assert_eq!(hit(&mut owed), HitOf::Nothing);
    assert!(!owed.is_due(LATER));
    assert_eq!(owed.stop(NOW), StopOf::Held);
    let mut owed = held("go ponder", None, check("go ponder"));
    let wanted = Duration::from_millis(100);
    assert_eq!(owed.ponder_hit(NOW, Some(true), wanted), HitOf::Checked);
    let line = "go ponder wtime 100 btime 100";
    let mut owed = held(line, None, check(line));
    let late = HitOf::Unchecked(Unchecked::NoTime);
    assert_eq!(owed.ponder_hit(NOW, Some(true), wanted), late);
}

#[test]
fn a_background_search_waits_for_the_engine() {
    let think = Background::ThinkAhead(b"go ponder".to_vec());
    let mut owed = held("go ponder", None, Some(think));
    assert!(matches!(
        owed.take_waiting(),
        Some(Background::ThinkAhead(_))
    ));
    assert!(owed.take_waiting().is_none(), "it is made once");
    let mut owed = held("go movetime 1000", None, check("go movetime 1000"));
    assert_eq!(owed.held_due(), Some(NOW + Duration::from_millis(100)));
    assert_eq!(owed.lateness(), Unchecked::Busy);
    let Some(Background::Check(mut waiting)) = owed.take_waiting() else {
        panic!("{owed:?}");
    };
    assert!(
        waiting
            .begin(NOW, false, shakmaty::CastlingMode::Standard)
            .is_some()
    );
    owed.check(waiting);
    assert!(owed.take_waiting().is_none(), "it is under way");
    assert_eq!(owed.lateness(), Unchecked::Late);
    assert!(owed.take_check().is_some());
}

#[test]
fn another_position_ends_the_delay() {
    let mut owed = held("go movetime 10", Some(LATER), None);
    owed.end_delay();
    assert!(owed.is_due(NOW));
}

#[test]
fn the_answer_of_the_engine_is_sent_or_held() {
    let answer = b"bestmove e2e4";
    let sent = Some(Reply::Send(answer.to_vec()));
    assert_eq!(searched("go depth 3").found(answer), sent);
    let mut owed = searched("go infinite");
    assert_eq!(owed.found(answer), Some(Reply::Hold));
    assert!(owed.is_held());
    let mut owed = searched("go infinite");
    assert_eq!(owed.stop(NOW), StopOf::Search);
    assert_eq!(owed.found(answer), sent);
    assert!(owed.is_nothing());
    assert_eq!(owed.found(answer), None, "there is no search");
}

#[test]
fn a_stop_shortens_the_limit_once() {
    let mut owed = searched("go infinite");
    assert_eq!(owed.search_due(), None);
    owed.stop(NOW);
    owed.stop(LATER);
    assert_eq!(owed.search_due(), Some(NOW + STOP_LIMIT));
    let mut owed = searched("go movetime 100");
    let due = owed.search_due();
    assert!(due < Some(NOW + STOP_LIMIT));
    owed.stop(NOW);
    assert_eq!(owed.search_due(), due);
}

#[test]
fn the_clock_of_a_ponder_search_begins_at_the_first_ponderhit() {
    let mut owed = searched("go ponder movetime 100");
    assert_eq!(owed.search_due(), None);
    for now in [NOW, LATER] {
        let hit = owed.ponder_hit(now, Some(true), Duration::ZERO);
        assert_eq!(hit, HitOf::Search);
        let due = NOW + Duration::from_millis(100) + MARGIN;
        assert_eq!(owed.search_due(), Some(due));
    }
}

#[test]
fn a_search_is_replaced_unless_it_was_stopped() {
    let mut owed = searched("go infinite");
    assert!(owed.abandon());
    assert!(owed.is_nothing());
    let mut owed = searched("go infinite");
    owed.stop(NOW);
    assert!(!owed.abandon());
    assert!(owed.is_searched_for());
    assert!(!held("go ponder", None, None).abandon());
}

#[test]
fn a_search_is_repeated_with_the_time_that_is_left() {
    let mut owed = searched("go wtime 3000 btime 900");
    let again = owed.search_again(LATER, Some(true)).unwrap();
    assert_eq!(again.line, b"go wtime 2000 btime 900");
    assert!(!again.stopped);
    owed.stop(LATER);
    assert!(owed.search_again(LATER, Some(true)).unwrap().stopped);
    assert!(
        held("go ponder", None, None)
            .search_again(NOW, None)
            .is_none()
    );
}

#[test]
fn an_engine_gets_a_second_chance() {
    let mut owed = searched("go depth 3");
    assert!(owed.may_ignore_repeat());
    assert!(!owed.may_ignore_repeat(), "it may mean it");
    assert_eq!(owed.reject(), Amends::SearchAgain);
    assert!(!owed.may_ignore_repeat());
    assert_eq!(owed.reject(), Amends::GiveUp);
    assert_eq!(searched("go perft 3").reject(), Amends::None);
    assert_eq!(Owed::default().reject(), Amends::None);
}

#[test]
fn nothing_waits_for_perft() {
    let position = GuiCommand::Position;
    assert!(searched("go depth 3").disturbs(&position, false));
    let mut owed = searched("go perft 3");
    assert!(!owed.disturbs(&position, false));
    assert!(owed.forget_perft());
    assert!(owed.is_nothing());
    assert!(!searched("go depth 3").forget_perft());
}
