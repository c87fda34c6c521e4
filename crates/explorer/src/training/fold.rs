//! The state of all trained positions after some events. Nothing here reads a file or a clock.

use std::collections::{BTreeMap, HashSet};

use super::event::{Action, CardPosition, Event, State, Way};
use super::memory::UNASKED;

/// Milliseconds of a day.
const DAY: f64 = 86_400_000.0;

/// The state of a trained position, and the moves that lead to it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Card {
    pub(super) state: State,
    pub(super) way: Option<Way>,
}

/// The result of events in the order of their times: the order in which they were written
/// changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Training {
    pub(super) cards: BTreeMap<CardPosition, Card>,
    /// The right moves of positions with several; an empty text means any of them.
    pub(super) choices: BTreeMap<CardPosition, String>,
    /// The events that were undone.
    undone: HashSet<String>,
    /// The time of the last event, and its identifier.
    last: (u64, String),
}

impl Training {
    /// Folds events in any order.
    pub(super) fn fold<'e>(events: impl IntoIterator<Item = &'e Event>) -> Training {
        let mut events: Vec<&Event> = events.into_iter().collect();
        events.sort_by(|a, b| (a.time, &a.id).cmp(&(b.time, &b.id)));
        let undone = events.iter().filter_map(|event| match &event.action {
            Action::Undo { event } => Some(event.clone()),
            _ => None,
        });
        let mut training = Training {
            undone: undone.collect(),
            ..Training::default()
        };
        for event in events {
            training.apply(event);
        }
        training
    }

    /// Folds one more event. False if it is older than the last one, or undoes an earlier one:
    /// then all must be folded again.
    pub(super) fn add(&mut self, event: &Event) -> bool {
        let is_last = (event.time, &event.id) >= (self.last.0, &self.last.1);
        let is_undo = matches!(event.action, Action::Undo { .. });
        let is_next = is_last && !is_undo;
        if is_next {
            self.apply(event);
        }
        is_next
    }

    fn apply(&mut self, event: &Event) {
        let now = event.time;
        self.last = (now, event.id.clone());
        if self.undone.contains(&event.id) {
            return;
        }
        match &event.action {
            Action::Answer { at, right, way } => {
                let card = self.card(at, way.as_ref(), now);
                let state = &mut card.state;
                #[allow(clippy::cast_precision_loss)] // Milliseconds since 1970 have 41 bits.
                let days = now.saturating_sub(state.asked) as f64 / DAY;
                let memory = state.memory().after(*right, days);
                state.stability = memory.stability;
                state.difficulty = memory.difficulty;
                state.asked = now;
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                // At most a year.
                let delay = (memory.stability * DAY) as u64;
                state.due = now + if *right { delay } else { 0 };
                let count = match right {
                    true => &mut state.right,
                    false => &mut state.wrong,
                };
                *count = count.saturating_add(1);
            }
            Action::Want { at, way } => self.card(at, way.as_ref(), now).state.due = now,
            Action::Choose { at, uci } => {
                self.choices.insert(at.clone(), uci.clone());
            }
            Action::Import { at, state, way } => {
                let card = self.card(at, way.as_ref(), now);
                if card.state.answers() < state.answers() || card.state.answers() == 0 {
                    card.state = *state;
                }
            }
            Action::Forget => {
                self.cards.clear();
                self.choices.clear();
            }
            // Its effect was looked for before.
            Action::Undo { .. } => {}
        }
    }

    /// The card of a position, which may be new, with the last known way to it.
    fn card(&mut self, at: &CardPosition, way: Option<&Way>, now: u64) -> &mut Card {
        let card = self.cards.entry(at.clone()).or_insert_with(|| Card {
            state: State {
                stability: UNASKED.stability,
                difficulty: UNASKED.difficulty,
                right: 0,
                wrong: 0,
                asked: now,
                due: now,
            },
            way: None,
        });
        if let Some(way) = way {
            card.way = Some(way.clone());
        }
        card
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event(id: &str, time: u64, rest: serde_json::Value) -> Event {
        let mut value = serde_json::json!({"id": id, "time": time});
        for (name, field) in rest.as_object().unwrap() {
            value[name] = field.clone();
        }
        let event: Event = serde_json::from_value(value).unwrap();
        event.checked().unwrap()
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

    fn answer(id: &str, time: u64, right: bool) -> Event {
        let rest = serde_json::json!({"kind": "answer", "fen": START, "right": right, "way": {"line": ""}});
        event(id, time, rest)
    }

    fn only(training: &Training) -> State {
        assert_eq!(training.cards.len(), 1);
        training.cards.values().next().unwrap().state
    }

    #[test]
    fn forgetting_is_an_event_that_can_be_undone() {
        let day = 86_400_000;
        let [forget, undo] = [
            event("f", 3 * day, serde_json::json!({"kind": "forget"})),
            event(
                "u",
                4 * day,
                serde_json::json!({"kind": "undo", "event": "f"}),
            ),
        ];
        let mut events = vec![answer("a", day, true), answer("b", 2 * day, false)];
        let before = Training::fold(&events);
        assert_eq!((only(&before).right, only(&before).wrong), (1, 1));
        events.push(forget);
        assert!(Training::fold(&events).cards.is_empty());
        // An answer of another page, given before and sent later, is forgotten, too.
        events.push(answer("c", 2 * day + 1, true));
        assert!(Training::fold(&events).cards.is_empty());
        events.pop();
        events.push(undo);
        assert_eq!(Training::fold(&events).cards, before.cards);
        events.push(answer("d", 5 * day, true));
        assert_eq!(only(&Training::fold(&events)).right, 2);
    }

    #[test]
    fn of_two_imported_states_the_one_with_more_answers_stays() {
        let import = |id: &str, right: u32| {
            let state = serde_json::json!({"stability": 3, "difficulty": 5, "right": right,
                "wrong": 0, "asked": 1, "due": 2});
            let rest = serde_json::json!({"kind": "import", "fen": START, "state": state});
            event(id, 10, rest)
        };
        for order in [[1, 7], [7, 1]] {
            let [a, b] = [import("a", order[0]), import("b", order[1])];
            assert_eq!(only(&Training::fold([&a, &b])).right, 7);
        }
        let answered = [answer("0", 1, true), answer("1", 2, true)];
        let one = import("a", 1);
        let training = Training::fold(answered.iter().chain([&one]));
        assert_eq!(only(&training).right, 2);
    }

    proptest! {
        #[test]
        fn the_order_of_writing_changes_nothing(
            events in proptest::collection::vec((0..50_u64, 0..6_u8), 0..40),
            shuffled in any::<prop::sample::Index>(),
        ) {
            let made: Vec<Event> = events.iter().enumerate().map(|(number, (time, kind))| {
                let id = format!("e{number}");
                match kind {
                    0..4 => answer(&id, *time, *kind < 3),
                    4 => event(&id, *time, serde_json::json!({"kind": "forget"})),
                    _ => event(&id, *time, serde_json::json!({"kind": "undo", "event": "e0"})),
                }
            }).collect();
            let whole = Training::fold(&made);
            let mut other = made.clone();
            if !other.is_empty() {
                let at = shuffled.index(other.len());
                other.rotate_left(at);
            }
            prop_assert_eq!(&Training::fold(&other), &whole);
            // One after another gives the same.
            let mut grown = Training::default();
            for (number, event) in other.iter().enumerate() {
                if !grown.add(event) {
                    grown = Training::fold(&other[..=number]);
                }
            }
            prop_assert_eq!(&grown, &whole);
        }
    }
}
