//! The games of each player and of each game id.

use std::cmp::Ordering;

use shakmaty::Color;

use tabia_io::input::bytes::{Cursor, FNV_START, fnv1a, put_varint};
use tabia_io::sort::Record;

/// The games of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Posting {
    /// Key of a player or of a game id.
    pub(crate) key: u64,
    /// Numbers, ascending.
    pub(crate) games: Vec<u32>,
}

impl Posting {
    /// Adds the games of another one.
    pub(crate) fn merge(&mut self, other: &Posting) {
        let is_sorted = self.games.last() < other.games.first();
        self.games.extend_from_slice(&other.games);
        if !is_sorted {
            self.games.sort_unstable();
        }
    }

    pub(crate) fn encode_games(&self, out: &mut Vec<u8>) {
        put_varint(self.games.len() as u64, out);
        let mut last = 0;
        for &game in &self.games {
            put_varint(u64::from(game - last), out);
            last = game;
        }
    }

    pub(crate) fn decode_games(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        self.games.clear();
        let mut last = 0_u32;
        for _ in 0..cursor.varint()? {
            last = last.checked_add(u32::try_from(cursor.varint()?).ok()?)?;
            self.games.push(last);
        }
        Some(())
    }
}

impl Record for Posting {
    fn order(&self) -> u32 {
        (self.key >> 32) as u32
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }

    fn join(&mut self, other: &Self) -> bool {
        self.merge(other);
        true
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.key.to_be_bytes());
        self.encode_games(out);
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut cursor = Cursor::new(bytes);
        self.key = cursor.be_u64()?;
        self.decode_games(&mut cursor)?;
        Some(cursor.position())
    }
}

/// The words of a name, in lower case and sorted: "Carlsen, Magnus" becomes
/// "carlsen magnus".
#[must_use]
pub(crate) fn plain_name(name: &str) -> String {
    let name = name.to_lowercase();
    let parts = name.split(|c: char| c == ',' || c == '.' || c.is_whitespace());
    let mut words: Vec<&str> = parts.filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    words.join(" ")
}

/// The key of a player's games with a colour.
#[must_use]
pub(crate) fn player_key(name: &str, color: Color) -> u64 {
    let start = color.fold_wb(FNV_START, 0x9e37_79b9_7f4a_7c15);
    let sum = fnv1a(start, plain_name(name).as_bytes());
    // Spread over all bits: the upper ones are the order.
    let sum = (sum ^ sum >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    sum ^ sum >> 32
}

/// Letters of a game's name.
const ID_LETTERS: usize = 8;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The number that a name of eight letters and digits is; `None` if it is none.
#[must_use]
pub(crate) fn id_number(id: &str) -> Option<u64> {
    if id.len() != ID_LETTERS {
        return None;
    }
    id.bytes().try_fold(0_u64, |sum, byte| {
        let digit = DIGITS.iter().position(|digit| *digit == byte)?;
        Some(sum * 62 + digit as u64)
    })
}

/// The name that Tabia makes for a game without one, in the index with this place: eight
/// letters and digits have room for the numbers of some 50,000 indexes.
#[must_use]
pub(crate) fn own_id(place: u16, game: u64) -> String {
    let mut rest = (u64::from(place) << 32) + game + 1;
    let mut letters = [b'0'; ID_LETTERS];
    for letter in letters.iter_mut().rev() {
        if let Some(digit) = DIGITS.get((rest % 62) as usize) {
            *letter = *digit;
        }
        rest /= 62;
    }
    letters.iter().map(|letter| char::from(*letter)).collect()
}

/// The game of the index with this place that has a name made by Tabia, which is a number.
#[must_use]
pub(crate) fn own_game(place: u16, number: u64) -> Option<u64> {
    let game = number.checked_sub(1)?.checked_sub(u64::from(place) << 32)?;
    // An index numbers its games with 32 bits.
    (game <= u64::from(u32::MAX)).then_some(game)
}

/// The key of a game's name: such numbers have 48 bits.
#[must_use]
pub(crate) fn id_key(id: &str) -> Option<u64> {
    Some(id_number(id)? << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_in_any_order() {
        assert_eq!(plain_name("Carlsen, Magnus"), plain_name("magnus  CARLSEN"));
        assert_ne!(plain_name("a-b"), plain_name("b-a"));
        assert_eq!(plain_name("Praggnanandhaa,R"), "praggnanandhaa r");
        let key = |name| player_key(name, Color::White);
        assert_eq!(key("DrNykterstein"), key("drnykterstein"));
        assert_ne!(key("x"), player_key("x", Color::Black));
    }

    /// Keys are stored in files, so they never change. The reference is FNV-1a over the
    /// words and two rounds of mixing, computed by another program.
    #[test]
    fn keys_of_players_stay_as_they_are_in_files() {
        assert_eq!(
            player_key("Carlsen, Magnus", Color::White),
            0xa672_6f9b_eeae_3915
        );
        assert_eq!(
            player_key("Carlsen, Magnus", Color::Black),
            0xf9e3_cce2_3345_84c7
        );
    }

    #[test]
    fn games_have_names_of_eight_letters() {
        let games = [0, 61, 62, 12_345_678, u64::from(u32::MAX)];
        for (place, game) in [0, 1, 50_000]
            .map(|place| games.map(|game| (place, game)))
            .concat()
        {
            let number = id_number(&own_id(place, game)).unwrap();
            assert_eq!(own_game(place, number), Some(game), "{place} {game}");
            assert_eq!(own_game(place + 1, number), None, "{place} {game}");
            let before = place.checked_sub(1);
            assert_eq!(before.and_then(|place| own_game(place, number)), None);
        }
        // Those of a single index were always these.
        assert_eq!(own_id(0, 62), "00000011");
        assert_eq!(id_number("ENPo6Re"), None);
        assert_eq!(id_number("ENPo6Re-"), None);
        assert_ne!(id_number("ENPo6ReH"), id_number("ENPo6Reh"));
    }

    #[test]
    fn a_posting_comes_back() {
        let mut posting = Posting {
            key: 7,
            games: vec![3, 9, 4_000_000_000],
        };
        let mut bytes = Vec::new();
        posting.encode(&mut bytes);
        let mut back = Posting::default();
        assert_eq!(back.decode(&bytes), Some(bytes.len()));
        assert_eq!(back, posting);
        assert_eq!(back.decode(&bytes[..bytes.len() - 1]), None);
        let games = vec![1, 5];
        assert!(posting.join(&Posting { key: 7, games }));
        assert_eq!(posting.games, [1, 3, 5, 9, 4_000_000_000]);
    }
}
