//! Lines of the engine.
//!
//! # Answers that are none
//!
//! A move that is illegal in the position of the search is never passed on. Some engines
//! print each `bestmove` twice: the second one does not count. Any other illegal or
//! unreadable answer may be the engine's last word on this search: it searches again
//! once, and counts as dead if that does not help. Castling in letters and other moves in
//! SAN are converted. In a variant, and in a game that cannot be followed, every answer
//! in the form of UCI is passed on.

use std::borrow::Cow;

use super::restart::Loss;
use super::search::{Held, Search};
use super::{Moment, Session};
use shakmaty::Chess;
use tabia_notation as notation;
use tabia_uci::engine::{self, EngineReply};
use tabia_uci::line::{text, words};
use tabia_uci::message;

/// A `bestmove` line.
enum Answer<'a> {
    /// It may be passed on.
    Sound(Cow<'a, [u8]>),
    /// Its move is not legal in the position of the search.
    Illegal,
    /// It has no move in the form of UCI.
    Unreadable,
}

impl Session {
    pub(super) fn on_engine(&mut self, line: &[u8], at: &mut Moment<'_>) {
        let reply = engine::parse(line);
        if self.link.is_starting() && !self.link.hello.complete {
            return self.on_hello(line, reply, at);
        }
        if self.link.tried.is_some() {
            return self.on_trial(line, reply, at);
        }
        if matches!(reply, EngineReply::ReadyOk | EngineReply::BestMove) {
            self.link.options_unanswered = false;
        }
        match reply {
            EngineReply::Info => {
                // The GUI would take `info` lines of a background search for those of its
                // own.
                if !self.link.searches_in_background() {
                    self.learner.receive_info(line);
                    at.out.gui(line);
                } else if let Search::Held(Held {
                    check: Some(check), ..
                }) = &mut self.search
                {
                    check.receive(line);
                }
            }
            EngineReply::BestMove => self.on_best_move(line, at),
            EngineReply::ReadyOk => {
                let ended = self.link.searches_in_background();
                self.link.on_ready(at.now, at.out);
                if ended && self.search.is_engine() {
                    // Its `go` has waited until now.
                    self.expect_answer();
                }
                self.go_on_checking(at.now, at.out);
            }
            EngineReply::Id | EngineReply::Option | EngineReply::UciOk => {}
            EngineReply::Protection | EngineReply::Other => at.out.gui(line),
        }
    }

    fn on_best_move(&mut self, line: &[u8], at: &mut Moment<'_>) {
        let word = words(line).nth(1).unwrap_or_default();
        if self.is_second_answer(word) {
            let text = format!(
                "the engine has answered {} twice; the second answer does not count",
                shown(word)
            );
            return self.notice(&text, at.out);
        }
        let answer = self.read_answer(line, word);
        if self.link.searches_in_background() {
            return self.on_background_answer(line, answer, at);
        }
        // A second answer, or one without a search.
        let Search::Engine(running) = &self.search else {
            return;
        };
        let (kind, may_answer) = (running.kind, running.may_answer());
        let answer = match answer {
            Answer::Sound(answer) => answer,
            Answer::Illegal => {
                let text = format!("the engine's answer {} is not legal here", shown(word));
                self.link.last_answer = Some(word.to_vec());
                return self.reject_answer(&text, at);
            }
            Answer::Unreadable => return self.reject_answer(&unsound(line), at),
        };
        if let Cow::Owned(converted) = &answer {
            let mv = words(converted).nth(1).unwrap_or_default();
            let text = format!(
                "the engine's answer {} is not UCI: {} is passed on",
                shown(word),
                shown(mv)
            );
            self.notice(&text, at.out);
        }
        self.link.stop_repeating();
        self.link.last_answer = Some(word.to_vec());
        self.link.restarts.engine_answers();
        self.learn_answer(&answer);
        self.search = Search::Idle;
        self.report_stand_in(at.out);
        if may_answer {
            at.out.gui(&answer);
        } else {
            self.search = Search::hold(answer.into_owned(), kind);
        }
        self.go_on(at);
    }

    /// Handles an answer to a search that the GUI does not know of.
    fn on_background_answer(&mut self, line: &[u8], answer: Answer<'_>, at: &mut Moment<'_>) {
        let is_checked = self.link.is_warming();
        // The position of an abandoned search is not known any more.
        let is_sound = engine::sound_answer(line).is_some();
        let ends_search = match &answer {
            Answer::Sound(Cow::Borrowed(_)) => true,
            Answer::Sound(Cow::Owned(_)) | Answer::Illegal => is_sound && !is_checked,
            Answer::Unreadable => false,
        };
        if ends_search {
            let word = words(line).nth(1).unwrap_or_default();
            self.link.last_answer = Some(word.to_vec());
            self.link.ignore_answer(at.now, at.out);
        } else {
            if let Answer::Unreadable = answer {
                self.notice(&unsound(line), at.out);
            }
            self.link.doubt_search(at.now, at.out);
        }
        if is_checked {
            let answer = match &answer {
                Answer::Sound(answer) => answer,
                Answer::Illegal | Answer::Unreadable => line,
            };
            self.on_looked(answer, at);
        }
    }

    /// Call this when the engine begins to search the present position.
    pub(super) fn expect_answer(&mut self) {
        if self.link.searches_in_background() {
            return;
        }
        let last = self.link.last_answer.take();
        let position = self.judged_position();
        let is_stray = |word: &Vec<u8>| {
            let is_legal = |position| legal_answer(position, word).is_some();
            // An engine may have no move, as for impossible `searchmoves`, more than once.
            !engine::is_no_move(word) && position.is_some_and(|position| !is_legal(position))
        };
        self.link.stray = last.filter(is_stray);
    }

    /// Whether an answer is the one to the last search, printed again during this one.
    fn is_second_answer(&mut self, word: &[u8]) -> bool {
        if self.link.stray.as_deref() != Some(word) {
            return false;
        }
        if self.link.searches_in_background() {
            // This search is being stopped, so that its own answer comes soon.
            return true;
        }
        // An engine that prints it yet again may mean it: that is no answer either.
        match &mut self.search {
            Search::Engine(running) => {
                !running.has_searched_again && !std::mem::replace(&mut running.has_ignored, true)
            }
            Search::Idle | Search::Held(_) => false,
        }
    }

    /// Reads a `bestmove` line; `word` is the one after `bestmove`.
    fn read_answer<'a>(&self, line: &'a [u8], word: &[u8]) -> Answer<'a> {
        let sound = engine::sound_answer(line);
        let is_known = |position| notation::find_uci(position, word).is_some();
        let written = match (sound, self.game.position(), self.judged_position()) {
            (Some(sound), _, None) => return Answer::Sound(sound.into()),
            (Some(sound), _, Some(position)) => {
                if engine::is_no_move(word) || is_known(position) {
                    return Answer::Sound(sound.into());
                }
                legal_answer(position, word)
            }
            (None, Some(position), _) => notation::read_move(position, &text(word)).ok(),
            (None, None, _) => None,
        };
        match (written, sound) {
            (Some(mv), _) => {
                let mv = mv.to_uci(self.castling_mode());
                Answer::Sound(Cow::Owned(message::best_move(&mv, None).into_bytes()))
            }
            (None, Some(_)) => Answer::Illegal,
            (None, None) => Answer::Unreadable,
        }
    }

    /// An answer that cannot be the one to this search: the engine searches again.
    fn reject_answer(&mut self, why: &str, at: &mut Moment<'_>) {
        let Search::Engine(running) = &mut self.search else {
            return;
        };
        // `perft` ends without an answer.
        if running.parsed.perft {
            return self.notice(why, at.out);
        }
        if std::mem::replace(&mut running.has_searched_again, true) {
            let reason = format!("{why} again: it is ended");
            return self.replace_engine(&reason, Loss::Useless, true, at);
        }
        self.notice(&format!("{why}: it searches again"), at.out);
        self.link.doubt_search(at.now, at.out);
        if !self.game.raw().is_empty() {
            self.link.send_position(self.game.raw(), at.out);
        }
        self.search_again(at.now, at.out);
    }
}

/// The legal move for an answer in the form of UCI: in upper case too, and for a queen if
/// the letter of the promotion is missing.
fn legal_answer(position: &Chess, word: &[u8]) -> Option<shakmaty::Move> {
    let lower = word.to_ascii_lowercase();
    let with_queen = [&lower, &b"q"[..]].concat();
    let mut written = [word, &lower, &with_queen].into_iter();
    written.find_map(|word| notation::find_uci(position, word))
}

/// The message about an answer that is not a move, which programs would take for one.
fn unsound(line: &[u8]) -> String {
    format!(
        "the engine's answer is no UCI and does not count: {}",
        shown(line)
    )
}

fn shown(part: &[u8]) -> String {
    text(part).chars().take(80).collect()
}
