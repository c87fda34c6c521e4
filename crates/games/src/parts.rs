//! The parts of a game that a caller asks for.

/// Which parts of each game are read; by default the moves of the main line. Other parts
/// are not checked either.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct GameParts {
    /// Plies of the main line; later moves are not read.
    pub plies: usize,
    /// Moves of variations too, as [`Game::side_moves`](crate::Game::side_moves).
    pub variations: bool,
    /// Everything that a PGN file can contain: [`Game::tags`](crate::Game::tags) and [`Game::movetext`](crate::Game::movetext).
    pub notes: bool,
    /// Annotations (NAGs) of moves and positions, as [`Game::annotations`](crate::Game::annotations).
    pub annotations: bool,
    /// The header, as [`Game::tags`](crate::Game::tags).
    pub headers: bool,
}

impl GameParts {
    /// Every move of the main lines.
    const MAIN_LINES: GameParts = GameParts {
        plies: usize::MAX,
        variations: false,
        notes: false,
        annotations: false,
        headers: false,
    };

    /// Everything, to write the game again.
    pub const EVERYTHING: GameParts = GameParts {
        notes: true,
        headers: true,
        ..GameParts::MAIN_LINES
    };

    /// Reads only this number of plies of the main line.
    #[must_use]
    pub fn up_to(self, plies: usize) -> GameParts {
        GameParts { plies, ..self }
    }

    /// Reads the header too: [`Game::tags`](crate::Game::tags).
    #[must_use]
    pub fn with_headers(self) -> GameParts {
        GameParts {
            headers: true,
            ..self
        }
    }

    /// Reads variations too: [`Game::side_moves`](crate::Game::side_moves).
    #[must_use]
    pub fn with_variations(self) -> GameParts {
        GameParts {
            variations: true,
            ..self
        }
    }

    /// Reads annotations too: [`Game::annotations`](crate::Game::annotations).
    #[must_use]
    pub fn with_annotations(self) -> GameParts {
        GameParts {
            annotations: true,
            ..self
        }
    }

    /// The number of plies of the main line to read; `None` if all lines are read.
    pub(crate) fn main_line(self) -> Option<usize> {
        let all = self.plies > 0 && (self.variations || self.notes);
        (!all).then_some(self.plies)
    }

    /// Whether tags are read.
    pub(crate) fn tags(self) -> bool {
        self.notes || self.headers
    }
}

impl Default for GameParts {
    fn default() -> GameParts {
        GameParts::MAIN_LINES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_main_line_is_read_alone_if_nothing_else_is_wanted() {
        let few = |plies| GameParts::MAIN_LINES.up_to(plies);
        assert_eq!(GameParts::default().main_line(), Some(usize::MAX));
        assert_eq!(few(9).with_headers().main_line(), Some(9));
        assert_eq!(few(9).with_variations().main_line(), None);
        assert_eq!(few(0).with_variations().main_line(), Some(0));
    }
}
