//! A game, in the form that all sources return.

use rustc_hash::FxHashMap;
use shakmaty::{ByColor, Chess, Color, Move};

use super::{Conditions, Date, Item, Month, Movetext};

/// How a game ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// `1-0`, `0-1`
    Won(Color),
    /// `1/2-1/2`
    Draw,
    /// `*`, or no result given.
    #[default]
    Unknown,
}

impl GameResult {
    /// Results in the order of their numbers in Scid and Simple Chess Database.
    const NUMBERED: [GameResult; 4] = [
        GameResult::Unknown,
        GameResult::Won(Color::White),
        GameResult::Won(Color::Black),
        GameResult::Draw,
    ];

    pub(super) fn from_number(number: u8) -> GameResult {
        let known = GameResult::NUMBERED.get(usize::from(number));
        known.copied().unwrap_or_default()
    }

    pub(super) fn number(self) -> u8 {
        let mut known = GameResult::NUMBERED.iter();
        known.position(|one| *one == self).unwrap_or(0) as u8
    }

    /// Reads a PGN result; anything else is [`GameResult::Unknown`].
    #[must_use]
    pub fn from_pgn(text: &[u8]) -> GameResult {
        match text {
            b"1-0" => GameResult::Won(Color::White),
            b"0-1" => GameResult::Won(Color::Black),
            b"1/2-1/2" | b"1/2" => GameResult::Draw,
            _ => GameResult::Unknown,
        }
    }

    /// The result in the form of PGN.
    #[must_use]
    pub fn to_pgn(self) -> &'static str {
        match self {
            GameResult::Won(Color::White) => "1-0",
            GameResult::Won(Color::Black) => "0-1",
            GameResult::Draw => "1/2-1/2",
            GameResult::Unknown => "*",
        }
    }
}

/// The ECO code of a number: A00 is 0, E99 is 499. Zeros if there is none.
pub(super) fn eco_code(number: Option<u16>) -> [u8; 3] {
    let digit = |value: u16| b'0' + (value % 10) as u8;
    match number {
        Some(code @ 0..500) => [b'A' + (code / 100) as u8, digit(code / 10), digit(code)],
        _ => [0; 3],
    }
}

/// The number of an ECO code; `None` if it is not valid.
pub(super) fn eco_number(code: [u8; 3]) -> Option<u16> {
    match code {
        [volume @ b'A'..=b'E', tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => {
            let [volume, tens, ones] = [volume - b'A', tens - b'0', ones - b'0'].map(u16::from);
            Some(100 * volume + 10 * tens + ones)
        }
        _ => None,
    }
}

/// One game, with the parts that were requested (see [`super::GameParts`]).
#[derive(Clone, Debug)]
pub struct Game {
    /// Names of the players, empty if unknown.
    pub names: ByColor<String>,
    /// Ratings, 0 if unknown.
    pub elo: ByColor<u16>,
    /// Year it was played in, 0 if unknown.
    pub year: u16,
    /// Month it was played in, from 1; 0 if unknown. Always 0 without a year.
    pub month: u8,
    /// ECO code as `C57`, zeros if unknown.
    pub eco: [u8; 3],
    /// How it ended.
    pub result: GameResult,
    /// Speed, rated or not, titles, forfeits.
    pub conditions: Conditions,
    /// Whether it does not start from the standard position.
    pub set_up: bool,
    /// Whether it is played by the rules of Chess960.
    pub chess960: bool,
    /// Every position of the main line, with the first one: always one more than there
    /// are moves.
    pub positions: Vec<Chess>,
    /// The main line, up to the first null move.
    pub moves: Vec<Move>,
    /// Moves of variations, each with the position before it and its ply number from
    /// the first position.
    pub side_moves: Vec<(usize, Chess, Move)>,
    /// Only with [`super::GameParts::annotations`]: the annotations (NAGs).
    pub annotations: Vec<MoveAnnotation>,
    /// Without notes: variations that end at a null move, which books cannot store.
    pub null_variations: u32,
    /// Why a part is missing: the game or a variation could not be read to the end.
    pub cut: Option<super::SkipReason>,
    /// Only with [`super::GameParts::notes`]: the tags that the fields above do not
    /// contain, or not in the words of the source.
    pub tags: Tags,
    /// Only with [`super::GameParts::notes`]: everything between the first position
    /// and the result.
    pub movetext: Movetext,
}

impl Default for Game {
    fn default() -> Game {
        Game {
            names: ByColor::default(),
            elo: ByColor::default(),
            year: 0,
            month: 0,
            eco: [0; 3],
            result: GameResult::Unknown,
            conditions: Conditions::default(),
            set_up: false,
            chess960: false,
            positions: vec![Chess::default()],
            moves: Vec::new(),
            side_moves: Vec::new(),
            annotations: Vec::new(),
            null_variations: 0,
            cut: None,
            tags: Tags::default(),
            movetext: Movetext::default(),
        }
    }
}

impl Game {
    /// Resets it to an empty game from the standard position; buffers are reused.
    pub fn clear(&mut self) {
        self.names.white.clear();
        self.names.black.clear();
        self.elo = ByColor::default();
        self.year = 0;
        self.month = 0;
        self.eco = [0; 3];
        self.result = GameResult::Unknown;
        self.conditions = Conditions::default();
        self.set_up = false;
        self.chess960 = false;
        self.null_variations = 0;
        self.cut = None;
        self.tags.clear();
        self.start_from(Chess::default());
    }

    /// The date from its tags or, without them, from `year` and `month`.
    #[must_use]
    pub fn date(&self) -> Date {
        let tags = ["Date", "UTCDate"].map(|name| self.tags.get(name).map(Date::from_pgn));
        let mut known = tags.into_iter().flatten();
        known.find(|date| date.year > 0).unwrap_or(Date {
            year: self.year.min(4095),
            ..Date::default()
        })
    }

    /// Sets year and month from a date.
    pub(super) fn set_date(&mut self, date: Date) {
        (self.year, self.month) = (date.year, date.month);
    }

    /// The first and the last possible month; `None` if the year is unknown.
    #[must_use]
    pub fn months(&self) -> Option<(Month, Month)> {
        let (year, month) = (self.year, self.month);
        Date {
            year,
            month,
            day: 0,
        }
        .range()
    }

    /// Resets it to a game without moves from a position.
    pub fn start_from(&mut self, position: Chess) {
        self.positions.clear();
        self.positions.push(position);
        self.moves.clear();
        self.side_moves.clear();
        self.annotations.clear();
        self.movetext.clear();
    }

    /// Removes variations or comments from the movetext.
    pub fn strip(&mut self, variations: bool, comments: bool) {
        if !variations && !comments {
            return;
        }
        let mut depth = 0_usize;
        self.movetext.retain(|item| {
            let outside = depth == 0;
            match item {
                Item::Begin => depth += 1,
                Item::End => depth = depth.saturating_sub(1),
                _ => {}
            }
            let is_variation = !outside || matches!(item, Item::Begin);
            !(variations && is_variation || comments && matches!(item, Item::Comment(_)))
        });
    }
}

/// A numeric annotation glyph of a move or of the position after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveAnnotation {
    /// Number as in PGN: 1 is `!`, 14 a small advantage of White.
    pub nag: u8,
    /// Whether the move is one of [`Game::side_moves`], not of [`Game::moves`].
    pub side_move: bool,
    /// Index of the move in that list.
    pub index: usize,
}

/// PGN tags in the order of the source; each name once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tags {
    list: Vec<(String, String)>,
    /// Index of each name in the list, if there are many.
    places: FxHashMap<String, usize>,
}

/// Up to this number of names a linear search is as fast.
const FEW_TAGS: usize = 40;

impl Tags {
    /// The value of a tag.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.list.get(self.place(name)?)?;
        Some(value)
    }

    /// Sets a tag; an existing tag keeps its position.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        let place = self.place(name);
        if let Some((_, old)) = place.and_then(|place| self.list.get_mut(place)) {
            *old = value;
            return;
        }
        self.list.push((name.to_owned(), value));
        if self.list.len() > FEW_TAGS {
            let known = self.places.len();
            let new = self.list.iter().enumerate().skip(known);
            let new = new.map(|(place, (name, _))| (name.clone(), place));
            self.places.extend(new);
        }
    }

    fn place(&self, name: &str) -> Option<usize> {
        match self.places.is_empty() {
            true => self.list.iter().position(|(other, _)| other == name),
            false => self.places.get(name).copied(),
        }
    }

    /// Sets a tag, if the value is not empty.
    pub(super) fn set_known(&mut self, name: &str, value: impl Into<String> + AsRef<str>) {
        if !value.as_ref().is_empty() {
            self.set(name, value);
        }
    }

    /// Removes all tags.
    pub fn clear(&mut self) {
        self.list.clear();
        self.places.clear();
    }

    /// Iterates over names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.list
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// However many there are.
        #[test]
        fn tags_have_their_last_values_in_the_order_of_the_first(
            set in prop::collection::vec((0..90_u8, 0..9_u8), 0..200),
        ) {
            let mut tags = Tags::default();
            let mut expected: Vec<(String, String)> = Vec::new();
            for (name, value) in set {
                let (name, value) = (format!("T{name}"), value.to_string());
                tags.set(&name, value.as_str());
                match expected.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, old)) => *old = value,
                    None => expected.push((name, value)),
                }
            }
            let found = tags.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
            prop_assert_eq!(found.collect::<Vec<_>>(), expected.clone());
            for (name, value) in &expected {
                prop_assert_eq!(tags.get(name), Some(value.as_str()));
            }
            prop_assert_eq!(tags.get("T90"), None);
            tags.clear();
            prop_assert_eq!(tags, Tags::default());
        }
    }

    #[test]
    fn each_opening_has_its_number() {
        for number in 0..500 {
            let code = eco_code(Some(number));
            let text = str::from_utf8(&code).unwrap();
            assert_eq!(
                text,
                format!(
                    "{}{:02}",
                    ["A", "B", "C", "D", "E"][usize::from(number / 100)],
                    number % 100
                )
            );
            assert_eq!(eco_number(code), Some(number));
        }
        for bad in [b"F00", b"@00", b"A:0", b"A0/", b"a00"] {
            assert_eq!(eco_number(*bad), None);
        }
        assert_eq!((eco_code(Some(500)), eco_code(None)), ([0; 3], [0; 3]));
    }
}
