//! Looks of the engine while an answer is held: it warms up, or checks a book move
//! ([`verify`](crate::session::verify)).

use std::time::Duration;

use shakmaty::{Move, Position as _};

use super::{Moment, Parts, scene_of};
use crate::session::engine::{Engine, Readiness};
use crate::session::out::Out;
use crate::session::turn::{Held, Look, Turn};
use crate::session::verify::{Budget, Check, Outcome, Unchecked};
use tabia_choice::settings::Info;
use tabia_uci::gui::Go;

impl Parts {
    /// Begins the look that waits, if the engine is free.
    pub(super) fn begin_look(&mut self, at: &mut Moment<'_>) {
        let is_free = self.engine.is_free();
        let Turn::Held(Held {
            look: Some(look), ..
        }) = &mut self.turn
        else {
            return;
        };
        if !is_free || look.went().is_some() {
            return;
        }
        let line = match look {
            Look::Warming(_) => return,
            Look::WarmUp(line) => {
                let line = std::mem::take(line);
                *look = Look::Warming(at.now);
                line
            }
            Look::Check(check) => {
                let can_compare = self.engine.can_compare();
                let mode = self.game.castling_mode();
                let Some(line) = check.begin(at.now, can_compare, mode) else {
                    self.end_check(Unchecked::NoTime, at);
                    return self.play_held(at);
                };
                if check.compares_both() {
                    at.out.engine(&Engine::two_variations());
                }
                line.into_bytes()
            }
        };
        self.engine.expect_answer(self.game.judged_position());
        at.out.engine(line.trim_ascii_end());
    }

    /// A look is not needed any more: the engine ends it.
    pub(super) fn end_look(&mut self, look: Option<Look>, at: &mut Moment<'_>) {
        let Some(look) = look else { return };
        if let Some(went) = look.went() {
            self.engine.end_search(at.now, went, false, &mut at.out);
        }
        if let Look::Check(check) = look
            && check.compares_both()
        {
            self.end_comparison(&mut at.out);
        }
    }

    /// Ends the check of the held answer, for this reason; false if there is none.
    pub(super) fn end_check(&mut self, reason: Unchecked, at: &mut Moment<'_>) -> bool {
        let Some(check) = self.turn.take_check() else {
            return false;
        };
        let mv = check.candidate();
        self.end_look(Some(Look::Check(check)), at);
        self.say_unchecked(mv, reason, &mut at.out);
        true
    }

    /// The check of a book move, if it is switched on and possible; reports why it is not.
    pub(super) fn check_of(
        &mut self,
        line: &[u8],
        go: &Go,
        candidate: Move,
        at: &mut Moment<'_>,
    ) -> Option<Check> {
        let wanted = self.verify_time();
        let position = self.game.position().filter(|_| !wanted.is_zero())?;
        let turn = position.turn();
        let left = match go.ponder {
            true => None,
            false => go.left(Some(turn.is_white())),
        };
        let budget = match self.engine.readiness() {
            Readiness::Down => Err(Unchecked::NoEngine),
            Readiness::Starting => Err(Unchecked::Starting),
            Readiness::Silent => Err(Unchecked::Silent),
            Readiness::Up => Budget::new(at.now, wanted, left).ok_or(Unchecked::NoTime),
        };
        match budget {
            Ok(budget) => {
                let scene = scene_of(&self.game, &self.engine, at.book_set);
                let allowed = self.books.allowed(go, scene);
                let of = (candidate, turn);
                Some(Check::new(at.now, (line, go), of, allowed, budget))
            }
            Err(reason) => {
                self.say_unchecked(candidate, reason, &mut at.out);
                None
            }
        }
    }

    pub(super) fn verify_time(&self) -> Duration {
        Duration::from_millis(self.books.answering().verify.into())
    }

    /// Handles the engine's answer to the look of a check.
    pub(super) fn on_looked(&mut self, mut check: Box<Check>, answer: &[u8], at: &mut Moment<'_>) {
        let Some(position) = self.game.position() else {
            self.say_unchecked(check.candidate(), Unchecked::Stopped, &mut at.out);
            return self.play_held(at);
        };
        let margin = self.books.answering().verify_margin;
        let compared = check.compares_both();
        let outcome = check.judge(answer, margin, position);
        if compared {
            self.end_comparison(&mut at.out);
        }
        match outcome {
            Outcome::Play => self.play_held(at),
            Outcome::Unchecked(reason) => {
                self.say_unchecked(check.candidate(), reason, &mut at.out);
                self.play_held(at);
            }
            Outcome::Compare => self.check_again(check),
            Outcome::Veto(book, best) => {
                if self.is_talkative() {
                    let mode = self.game.castling_mode();
                    (at.out).info(&check.veto_text(at.now, [book, best], mode));
                }
                self.try_next(check, at);
            }
        }
    }

    /// Draws another book move and checks it; if there is none or no time, the engine
    /// plays.
    fn try_next(&mut self, mut check: Box<Check>, at: &mut Moment<'_>) {
        let next = check.veto(at.now).and_then(|end| {
            let (go, vetoed) = check.question();
            let scene = scene_of(&self.game, &self.engine, at.book_set);
            Some((end, self.books.draw(go, vetoed, scene, &mut at.out)?))
        });
        match next {
            Some((end, choice)) => {
                let lines = self.announce(choice, check.question().0, at);
                if let Some(held) = self.turn.held_mut() {
                    held.answer = lines;
                }
                match check.try_next(choice.mv, end) {
                    true => self.check_again(check),
                    false => self.play_held(at),
                }
            }
            None => {
                self.observers.forget_choice(&self.game);
                self.turn = Turn::Idle;
                let (line, go) = check.into_go(at.now, self.game.white_moves());
                self.have_engine_search(&line, go, false, at);
            }
        }
    }

    /// The held answer waits for another look of the check.
    fn check_again(&mut self, check: Box<Check>) {
        if let Some(held) = self.turn.held_mut() {
            held.look = Some(Look::Check(check));
        }
    }

    /// Restores the `MultiPV` that the GUI has set.
    fn end_comparison(&mut self, out: &mut Out<'_>) {
        let line = self.engine.as_many_variations();
        self.send(&line, out);
    }

    /// Reports that the book move is played, but not because the engine agrees.
    fn say_unchecked(&self, mv: Move, reason: Unchecked, out: &mut Out<'_>) {
        if self.is_talkative() {
            let mv = mv.to_uci(self.game.castling_mode());
            out.info(&format!("Book Verify: {mv} not checked: {reason}"));
        }
    }

    fn is_talkative(&self) -> bool {
        self.books.answering().info != Info::None
    }
}
