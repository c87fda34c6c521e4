//! Limits of how often an engine is restarted.

use std::collections::VecDeque;
use std::time::Duration;

/// Greatest number of restarts before an engine has answered a search.
const WITHOUT_ANSWER: u32 = 2;

/// Greatest number of restarts within [`WHILE`]. An engine that is killed again and again
/// from outside, but answers in between, must be restarted; one that only crashes is
/// detected earlier, by [`WITHOUT_ANSWER`].
const IN_A_WHILE: usize = 600;
const WHILE: Duration = Duration::from_secs(60);

/// An engine that ran this long without a search did not die of its start.
const LIVED: Duration = Duration::from_secs(10);

/// Prevents endless restarts of an engine that dies again and again.
#[derive(Debug)]
pub(super) struct Restarts {
    left: u32,
    /// Times of restarts, oldest first; none older than [`WHILE`].
    recent: VecDeque<Duration>,
    up_since: Option<Duration>,
}

impl Default for Restarts {
    fn default() -> Restarts {
        Restarts {
            left: WITHOUT_ANSWER,
            recent: VecDeque::new(),
            up_since: None,
        }
    }
}

impl Restarts {
    pub(super) fn engine_up(&mut self, now: Duration) {
        self.up_since = Some(now);
    }

    /// Call this when the engine has answered a search.
    pub(super) fn engine_answers(&mut self) {
        self.left = WITHOUT_ANSWER;
    }

    /// Whether one more restart is allowed; counts it if so.
    pub(super) fn allow(&mut self, now: Duration, owes_a_move: bool) -> bool {
        let lived = self.up_since.take().map(|since| now.saturating_sub(since));
        if !owes_a_move && lived.is_some_and(|lived| lived >= LIVED) {
            self.left = WITHOUT_ANSWER;
        }
        while self
            .recent
            .front()
            .is_some_and(|then| now.saturating_sub(*then) > WHILE)
        {
            self.recent.pop_front();
        }
        if self.left == 0 || self.recent.len() >= IN_A_WHILE {
            return false;
        }
        self.left -= 1;
        self.recent.push_back(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_engine_is_started_for_ever() {
        let seconds = Duration::from_secs;
        let mut restarts = Restarts::default();
        assert!(restarts.allow(seconds(1), true));
        assert!(restarts.allow(seconds(2), true));
        assert!(!restarts.allow(seconds(3), true), "it owes a move still");
        restarts.engine_answers();
        assert!(restarts.allow(seconds(4), true));
        assert!(restarts.allow(seconds(5), false));
        restarts.engine_up(seconds(6));
        assert!(!restarts.allow(seconds(7), false), "it dies at once");
        restarts.engine_up(seconds(6));
        assert!(!restarts.allow(seconds(30), true), "it owes a move");
        restarts.engine_up(seconds(6));
        assert!(restarts.allow(seconds(30), false), "it had lived");
    }

    #[test]
    fn nor_too_often_in_a_minute() {
        let mut restarts = Restarts::default();
        let mut allowed = 0;
        for step in 0..2400 {
            restarts.engine_answers();
            allowed += usize::from(restarts.allow(Duration::from_millis(50 * step), true));
        }
        assert_eq!(allowed, 2 * IN_A_WHILE);
    }
}
