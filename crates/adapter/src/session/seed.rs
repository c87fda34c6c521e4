//! The seed of random choices: of the session, `Book Seed`, or of the game from `Book
//! Seed File`.

use super::{Moment, Outlet, Request, Session, info_string};

/// The seed for the choices of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seed {
    /// No two choices are the same.
    Session(u64),
    /// `Book Seed`: games with the same number in their sessions are equal.
    Engine(u32),
    /// From a file: games with this seed are equal.
    Game(u32),
}

/// The seed of the current game, from `Book Seed File`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum GameSeed {
    /// It has not been needed yet.
    #[default]
    Untaken,
    /// It has been requested.
    Asked,
    Taken(u32),
    /// There is none.
    Missing,
}

impl GameSeed {
    pub(super) const fn is_requested(self) -> bool {
        matches!(self, GameSeed::Asked)
    }
}

impl Session {
    /// Requests the seed of the game; true if this `go` has to wait for it.
    pub(super) fn take_seed(&mut self, out: &mut dyn Outlet) -> bool {
        let Some(path) = self.settings.options().seed_file.as_deref() else {
            return false;
        };
        if self.seed != GameSeed::Untaken {
            return false;
        }
        out.request(Request::TakeSeed(path.to_owned()));
        self.seed = GameSeed::Asked;
        true
    }

    /// Handles the seed, or the reason why there is none.
    pub(super) fn on_seed(&mut self, taken: Result<u32, &str>, at: &mut Moment<'_>) {
        self.seed = match taken {
            Ok(seed) => GameSeed::Taken(seed),
            Err(reason) => {
                info_string(reason, at.out);
                GameSeed::Missing
            }
        };
        self.go_on(at);
    }

    pub(super) fn seed_in_force(&self) -> Seed {
        let is_wanted = self.settings.options().seed_file.as_deref().is_some();
        match (self.seed, self.settings.options().seed) {
            (GameSeed::Taken(seed), _) if is_wanted => Seed::Game(seed),
            (_, 0) => Seed::Session(self.entropy),
            (_, seed) => Seed::Engine(seed),
        }
    }
}
