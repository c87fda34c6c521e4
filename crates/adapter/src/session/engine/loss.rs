//! An engine that has been lost, until another one takes its place.
//!
//! | what is known of it | what follows |
//! |---|---|
//! | it got its options one by one | the last of them is left out; it is started again |
//! | it got all options, and has not answered since | it gets them one by one next time |
//! | it may return, and has not been lost too often | it is started again |
//! | no engine has started yet | the next one of the chain is started |
//! | none of these | the built-in engine stands in, or there is none |

use std::time::Duration;

use super::{Engine, Link, Patience, Phase, Process, Restarts, Sending, Starting};
use crate::session::backlog::Backlog;
use crate::session::out::Out;
use crate::session::{IfNoneStarts, Profile};
use tabia_choice::settings::NONE;
use tabia_uci::gui::{self, GuiCommand};

/// How an engine was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Cause {
    /// The engine could not be started, or has ended.
    Ended,
    /// The engine runs, but hangs or does not answer as it should.
    Useless,
}

/// A lost engine: what its successor needs to know.
#[derive(Debug)]
pub(in super::super) struct Loss {
    pub(super) index: usize,
    /// How long it was allowed to start, if it was starting.
    pub(super) start: Option<Patience>,
    /// All its options had been sent, and it had not answered since.
    options_unanswered: bool,
    /// The option that it got last, if these were sent one by one.
    tried: Option<Vec<u8>>,
    /// The lines that have waited for it.
    pub(super) waiting: Backlog,
}

impl Loss {
    /// Keeps lines that have waited for a search of this engine.
    pub(in super::super) fn keep(&mut self, lines: Backlog) {
        self.waiting.append(lines);
    }
}

impl Engine {
    /// The engine has ended, or is of no use. Returns what its successor needs, if it ran.
    pub(in super::super) fn lose(&mut self) -> Option<Loss> {
        match std::mem::take(&mut self.link) {
            down @ Link::Down { .. } => {
                self.link = down;
                None
            }
            Link::Starting(Starting {
                index,
                patience,
                phase,
                waiting,
            }) => Some(Loss {
                index,
                start: Some(patience),
                options_unanswered: false,
                tried: match phase {
                    Phase::Trying(mut tried) => tried.pop(),
                    Phase::Requested | Phase::Introducing => None,
                },
                waiting,
            }),
            Link::Up(Process {
                index,
                options_unanswered,
                waiting,
                ..
            }) => Some(Loss {
                index,
                start: None,
                options_unanswered,
                tried: None,
                waiting,
            }),
        }
    }

    fn profile_of(&self, loss: &Loss) -> Option<&Profile> {
        self.engines.profiles.get(loss.index)
    }

    /// Stops sending the option that the lost engine got last, if these were sent one by
    /// one; else they may have to be next time. True if it has stopped one.
    pub(in super::super) fn leave_deadly_option_out(
        &mut self,
        loss: &Loss,
        cause: Cause,
        out: &mut Out<'_>,
    ) -> bool {
        let tried = loss.tried.as_deref().map(gui::parse);
        let Some(GuiCommand::SetOption(option)) = tried else {
            self.sending = match loss.options_unanswered {
                true => Sending::OneByOne,
                false => Sending::Together,
            };
            return false;
        };
        let value = option.text();
        let value = if value.is_empty() { NONE } else { &value };
        let name = &option.name;
        let text = match cause {
            Cause::Ended => {
                format!("the engine ends itself when \"{name}\" is set to {value}: it is left out")
            }
            Cause::Useless => {
                let limit = self.profile_of(loss).map(|profile| profile.start_timeout);
                format!(
                    "the engine has not answered within {} ms after \"{name}\" was set to \
                     {value}: the option is left out",
                    limit.unwrap_or_default().as_millis()
                )
            }
        };
        self.options.leave_out(name);
        self.sending = Sending::OneByOne;
        out.notice(&text);
        true
    }

    /// Whether the lost engine had started, and got the last `position` line.
    pub(in super::super) const fn had_position(&self, loss: &Loss) -> bool {
        loss.start.is_none() && self.position_sent
    }

    /// Starts the lost engine again, if that has not been done too often; `anyway` if the
    /// death has been cured. Returns which one.
    pub(in super::super) fn restart(
        &mut self,
        loss: &Loss,
        now: Duration,
        anyway: bool,
        owes_a_move: bool,
    ) -> Option<usize> {
        let is_allowed = anyway || self.restarts.allow(now, owes_a_move);
        is_allowed.then_some(loss.index)
    }

    /// Whether no line of the GUI has been handled yet, because no engine of the chain has
    /// started so far.
    pub(in super::super) fn was_unknown(&self, loss: &Loss) -> bool {
        // The built-in engine is started later too, for a `go` that no book answers. To adopt the
        // first profile again then reset what the GUI had set, as `OwnBook`.
        let is_of_chain = loss.index < self.engines.chain;
        !self.was_up && is_of_chain && loss.start == Some(Patience::First)
    }

    /// The next engine of the chain, while none has started.
    pub(in super::super) fn next_of_chain(&mut self, loss: &Loss) -> Option<usize> {
        let next = loss.index + 1;
        let is_there = self.was_unknown(loss) && next < self.engines.chain;
        is_there.then(|| {
            self.restarts = Restarts::default();
            next
        })
    }

    /// Starts the built-in engine in place of a lost one or of none, unless it has been
    /// lost itself; true if it is there.
    pub(in super::super) fn start_builtin(
        &mut self,
        loss: Option<&mut Loss>,
        out: &mut Out<'_>,
    ) -> bool {
        let is_new = self.stands_in_for.is_none();
        let Some(index) = self.engines.stand_in.filter(|_| is_new) else {
            return false;
        };
        let lost = match &loss {
            Some(loss) => self.profile_of(loss),
            None => self.profile(),
        };
        let lost = lost.filter(|_| self.engines.chain > 0);
        let lost = lost.map(|profile| profile.name.clone());
        self.stands_in_for = Some(lost.unwrap_or_default());
        // The crashes of the built-in engine are counted from zero.
        self.restarts = Restarts::default();
        out.notice("the built-in engine stands in");
        self.start(index, loss, out);
        true
    }

    /// No other engine is found. Returns whether the lost one was the first of the session
    /// that was to start, and has to: see [`IfNoneStarts`].
    pub(in super::super) fn was_required(&self) -> bool {
        !self.was_up && self.engines.if_none_starts == IfNoneStarts::End
    }

    /// There is no engine any more: the lost one is tried again when it is to search.
    pub(in super::super) fn give_up(&mut self, loss: &Loss) {
        self.link = Link::Down {
            given_up: Some(loss.index),
        };
    }
}
