//! The seed of random choices: of the session, `Book Seed`, or of the game from `Book
//! Seed File`.

/// The seed for the choices of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seed {
    /// No two choices are the same.
    Entropy(u64),
    /// `Book Seed`: games with the same number in their sessions are equal.
    Engine(u32),
    /// From a file: games with this seed are equal.
    Game(u32),
}

/// The seed of the current game, from `Book Seed File`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum GameSeed {
    /// No seed has been needed yet.
    #[default]
    Untaken,
    /// The seed has been requested.
    Asked,
    Taken(u32),
    /// No seed could be taken from the file.
    Missing,
}
