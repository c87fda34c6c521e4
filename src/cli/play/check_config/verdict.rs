//! Whether it would play, from all tests.

use super::books::FirstMove;
use super::faults::Faults;
use super::{shown, unready};
use tabia_adapter::config::Config;
use tabia_adapter::session::{Engines, IfNoneStarts, Profile};
use tabia_engine::check::{CheckError, Greeting};
use tabia_uci::engine::OptionError;

/// The tests of an engine.
pub(super) struct TestedEngine<'a> {
    pub(super) profile: &'a Profile,
    pub(super) answer: Result<Greeting, CheckError>,
    /// Options that it does not have, or with invalid values.
    pub(super) wrong: Vec<(&'a (String, String), OptionError)>,
    pub(super) first_move: FirstMove,
}

/// The result of all tests.
#[derive(Default)]
pub(super) struct Verdict {
    pub(super) plays: Option<Plays>,
    /// Another engine has wrong options, or is not ready with them.
    is_wrong_elsewhere: bool,
    /// Why engines do not answer.
    dead: Vec<String>,
}

/// The engine that would play.
pub(super) struct Plays {
    pub(super) name: String,
    pub(super) faults: Faults,
    pub(super) first_move: String,
}

impl Verdict {
    pub(super) fn of(tested: &[TestedEngine<'_>], config: &Config, troubles: &[String]) -> Verdict {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let mut verdict = Verdict::default();
        for engine in tested {
            let name = &engine.profile.name;
            let mut of_list = config.engines.iter();
            let of_list = of_list.find(|entry| entry.name == *name);
            let wrong = engine.wrong.iter().filter(|(option, _)| {
                // Options of the command line are for the engine that plays; another one of
                // the list need not have them.
                verdict.plays.is_none()
                    || of_list.is_some_and(|entry| entry.options.contains(option))
            });
            let mut reasons: Vec<String> =
                wrong.map(|(_, error)| shown(&error.to_string())).collect();
            let options = number(reasons.len());
            let unready = unready(&engine.answer);
            match &engine.answer {
                _ if verdict.plays.is_some() => {
                    verdict.is_wrong_elsewhere |= options > 0 || unready.is_some();
                }
                Ok(_) => {
                    let FirstMove { text, faults } = engine.first_move.clone();
                    reasons.extend(unready.clone());
                    reasons.extend(faults.reasons);
                    reasons.extend(troubles.iter().map(|trouble| shown(trouble)));
                    verdict.plays = Some(Plays {
                        name: name.clone(),
                        first_move: text,
                        faults: Faults {
                            options,
                            unready: unready.is_some().into(),
                            files: faults.files.saturating_add(number(troubles.len())),
                            reasons,
                            ..faults
                        },
                    });
                }
                Err(reason) => {
                    let reason = shown(&reason.to_string());
                    verdict.dead.push(format!("{}: {reason}", shown(name)));
                }
            }
        }
        verdict
    }

    /// Whether the adapter could do its main job.
    pub(super) fn is_good(&self) -> bool {
        let plays = self.plays.as_ref();
        !self.is_wrong_elsewhere && plays.is_some_and(|plays| plays.faults.describe().is_empty())
    }

    pub(super) fn text(&self, engines: &Engines) -> String {
        let mut text = match &self.plays {
            None => {
                let plays_on = engines.if_none_starts == IfNoneStarts::PlayOn;
                let more = match engines.stand_in.filter(|_| plays_on) {
                    Some(_) => "; the built-in engine would, out of book",
                    None => "",
                };
                let why = self.dead.join("; ");
                format!("no engine would play: none of them answers ({why}){more}")
            }
            Some(Plays { name, faults, .. }) => match faults.describe() {
                none if none.is_empty() => format!("{name} would play"),
                faults => format!("{name} would play, but {faults}"),
            },
        };
        if self.is_wrong_elsewhere {
            text += "\nanother engine has invalid options";
        }
        text
    }
}
