//! Detects the language of piece letters in a game.
//!
//! English is always tried first. Another language is accepted only if the whole main
//! line is legal in it, and no other language gives a different legal game; if several
//! do, the first games of the file decide.

use std::sync::OnceLock;

use super::parse::main_line;
use super::tokens::Tokens;
use tabia_notation::Letters;

/// Number of games at the beginning of a file that are examined.
const FIRST_GAMES: usize = 50;

/// The start of a file, and the language found in it.
#[derive(Debug)]
pub(super) struct Language {
    start: Vec<u8>,
    found: OnceLock<Option<&'static Letters>>,
}

impl Language {
    /// Number of bytes that are examined.
    pub(super) const START_BYTES: usize = 64 << 10;

    /// The language of a file that starts with these complete games.
    pub(super) fn new(start: &[u8]) -> Language {
        Language {
            start: start.to_owned(),
            found: OnceLock::new(),
        }
    }

    /// The language of the game at an offset, if it is not English.
    pub(super) fn for_game(&self, text: &[u8], at: usize) -> Option<&'static Letters> {
        let for_file = *self.found.get_or_init(|| for_file(&self.start));
        if for_file.is_some_and(|letters| main_line(text, at, letters).is_some()) {
            return for_file;
        }
        let languages = Letters::OTHERS.iter();
        let mut readings =
            languages.filter_map(|letters| Some((letters, main_line(text, at, letters)?)));
        let (letters, moves) = readings.next()?;
        readings
            .all(|(_, others)| others == moves)
            .then_some(letters)
    }

    /// The language of the file, if it is not English.
    pub(super) fn for_file(&self) -> Option<&'static Letters> {
        self.found.get().copied().flatten()
    }
}

/// The language in which most of the first non-English games are legal; `None` if two
/// are equal.
fn for_file(start: &[u8]) -> Option<&'static Letters> {
    let mut counts = vec![0_u32; Letters::OTHERS.len()];
    let mut tokens = Tokens::new(start, 0);
    for _ in 0..FIRST_GAMES {
        if !tokens.go_to_game() {
            break;
        }
        let at = tokens.at();
        if main_line(start, at, Letters::ENGLISH).is_none() {
            for (count, letters) in counts.iter_mut().zip(Letters::OTHERS) {
                *count += u32::from(main_line(start, at, letters).is_some());
            }
        }
        while tokens.next_tag().is_some() {}
        tokens.skip_movetext();
    }
    // Where nothing is legal, all are equal.
    let most = counts.iter().copied().max()?;
    let mut best = counts.iter().zip(Letters::OTHERS);
    let (_, letters) = best.find(|(count, _)| **count == most)?;
    let is_alone = best.all(|(count, _)| *count < most);
    is_alone.then_some(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(file: &str, game: &str) -> Option<Vec<shakmaty::Move>> {
        let language = Language::new(file.as_bytes());
        let letters = language.for_game(game.as_bytes(), 0)?;
        main_line(game.as_bytes(), 0, letters)
    }

    fn english(game: &str) -> Option<Vec<shakmaty::Move>> {
        main_line(game.as_bytes(), 0, Letters::ENGLISH)
    }

    #[test]
    fn a_game_shows_its_language() {
        let wanted = english("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. Qe2 Qe7 5. Kf1 Rb8 *").unwrap();
        assert_eq!(wanted.len(), 10);
        for game in [
            "1. e4 e5 2. Sf3 Sc6 3. Lc4 Lc5 4. De2 De7 5. Kf1 Tb8 *",
            "1. e4 e5 2. Cf3 Cc6 3. Fc4 Fc5 4. De2 De7 5. Rf1 Tb8 *",
            "1. e4 e5 2. Cf3 Cc6 3. Ac4 Ac5 4. De2 De7 5. Rf1 Tb8 *",
            "1. e4 e5 2. Кf3 Кc6 3. Сc4 Сc5 4. Фe2 Фe7 5. Крf1 Лb8 *",
            "1. e4 e5 2. Pf3 Pc6 3. Lc4 Lc5 4. De2 De7 5. Kf1 Tb8 *",
            "1. e4 e5 2. Cf3 Cc6 3. Bc4 Bc5 4. De2 De7 5. Rf1 Tb8 *",
            "1. e4 e5 2. Sf3 Sc6 3. Gc4 Gc5 4. He2 He7 5. Kf1 Wb8 *",
            "1. e4 e5 2. Jf3 Jc6 3. Sc4 Sc5 4. De2 De7 5. Kf1 Vb8 *",
            "1. e4 e5 2. Hf3 Hc6 3. Fc4 Fc5 4. Ve2 Ve7 5. Kf1 Bb8 *",
            "1. e4 e5 2. ♘f3 ♞c6 3. ♗c4 ♝c5 4. ♕e2 ♛e7 5. ♔f1 ♜b8 *",
        ] {
            let found = letters("", game).or_else(|| english(game));
            assert_eq!(found.as_ref(), Some(&wanted), "{game}");
        }
        // No language has both of these.
        assert_eq!(letters("", "1. e4 e5 2. Sf3 Cc6 *"), None);
        // A Hungarian knight, but no Polish queen gets there.
        assert_eq!(letters("", "1. e4 e5 2. Hh3"), english("1. e4 e5 2. Nh3"));
    }

    #[test]
    fn the_first_games_say_what_one_game_does_not() {
        // A German knight or a Czech bishop.
        let game = "1. e4 e5 2. Se2 *";
        assert_eq!(letters("", game), None);
        let german = "1. e4 e5 2. Sf3 Sc6 3. Lc4 *\n\n1. d4 Sf6 2. Lf4 *\n";
        assert_eq!(letters(german, game), english("1. e4 e5 2. Ne2 *"));
        let czech = "1. e4 e5 2. Jf3 Jc6 3. Sc4 *\n";
        assert_eq!(letters(czech, game), english("1. e4 e5 2. Be2 *"));
    }
}
