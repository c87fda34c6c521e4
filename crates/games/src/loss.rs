//! What a format cannot hold of the games that are written in it.

use shakmaty::Color;

use super::date::parts_said;
use super::{Date, Game};

tabia_notation::named! {
    /// What a format cannot hold of a game.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Loss {
        /// Other tags, or their values are too long.
        Tags = "tags that the format has no room for",
        /// A rating that is too high, 0, or no whole number.
        Ratings = "ratings that the format cannot hold",
        /// A date that is too late, or not understood.
        Dates = "dates that the format cannot hold",
        /// A code that is not one of ECO, or finer than the format knows.
        Openings = "ECO codes that the format cannot hold",
    }
}

/// The losses of one game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GameLosses([bool; Loss::ALL.len()]);

impl GameLosses {
    /// Notes a loss, if it is one.
    pub(crate) fn note(&mut self, loss: Loss, is_lost: bool) {
        if let Some(known) = self.0.get_mut(loss as usize) {
            *known |= is_lost;
        }
    }

    /// Notes it if a rating is not stored as its tag says.
    pub(crate) fn note_rating(&mut self, game: &Game, color: Color, stored: u16) {
        let tag = color.fold_wb("WhiteElo", "BlackElo");
        let elo = *game.elo.get(color);
        let said = game.tags.get(tag).map(|text| text.trim().trim_matches('?'));
        let is_kept = match said {
            // Also 0 and `-`, of players without a rating: formats have 0 for an unknown one.
            Some(text) if !text.is_empty() => stored > 0 && text.parse() == Ok(f64::from(stored)),
            Some(_) | None => elo == stored,
        };
        self.note(Loss::Ratings, !is_kept);
    }

    /// Notes it if a date is not stored as its text says.
    pub(crate) fn note_date(&mut self, text: &str, stored: Date) {
        let said = Date::from_pgn(text);
        // Also those that have no meaning: a month 13, a day without a month.
        let parts = [stored.year, stored.month.into(), stored.day.into()];
        let parts = parts.iter().filter(|part: &&u16| **part > 0).count();
        let is_less = parts_said(text).min(3) > parts;
        self.note(
            Loss::Dates,
            is_less || said != Date::default() && said != stored,
        );
    }
}

/// Losses of all games, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses([LossCount; Loss::ALL.len()]);

/// How often something was lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LossCount {
    /// The number of games.
    pub games: u64,
    /// Source and place of the first of them.
    pub first: String,
}

impl Losses {
    /// Counts the losses of a game; `place` says where it is.
    pub(crate) fn count(&mut self, lost: GameLosses, place: impl Fn() -> String) {
        for (known, is_lost) in self.0.iter_mut().zip(lost.0) {
            if is_lost {
                if known.games == 0 {
                    known.first = place();
                }
                known.games += 1;
            }
        }
    }

    /// Adds the losses of later games.
    pub(crate) fn add(&mut self, other: Losses) {
        for (known, other) in self.0.iter_mut().zip(other.0) {
            if known.games == 0 {
                known.first = other.first;
            }
            known.games += other.games;
        }
    }

    /// What was lost, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (Loss, &LossCount)> {
        let all = Loss::ALL.iter().copied().zip(&self.0);
        all.filter(|(_, count)| count.games > 0)
    }
}
