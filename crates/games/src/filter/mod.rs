//! Filters for games.

mod options;

pub use options::{FilterOption, Takes, ValueKind};

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use shakmaty::{Chess, Color, Position as _};

use crate::{Game, GameResult, Month, ParseError, Speed, Title};

options::game_filter! {
    options {
        /// The better of the two players has at least this rating.
        One MinElo min_elo: u16 = options::number,
            "min_elo", "--min-elo", "N",
            "Only games in which one player has this rating or more";
        /// Both players have at least this rating.
        One BothElo both_elo: u16 = options::number,
            "both_elo", "--both-elo", "N",
            "Only games in which both players have this rating or more";
        /// Played in this month or later.
        One Since since: Month = options::first_month,
            "since", "--since", "YEAR[-MONTH]",
            "Only games of this year or month (2025, 2025-01) or later";
        /// Played in this month or before.
        One Until until: Month = options::last_month,
            "until", "--until", "YEAR[-MONTH]",
            "Only games of this year or month or before";
        /// One of the players has this name: see [`has_name`].
        One Player player: String = options::name,
            "player", "--player", "NAME",
            "Only games of a player; every word must be in the name, in any order";
        /// The colour that `player` had.
        One Colour colour: Color = options::colour,
            "player_colour", "--colour", "COLOUR",
            "The colour of that player";
        /// How it ended; `None` for any result.
        One Result result: GameResult = options::result,
            "result", "--result", "RESULT",
            "Only games with this result: 1-0, 0-1 or 1/2-1/2";
        /// Its opening is in one of these ranges; empty for any.
        List Eco eco: EcoRange = EcoRange::from_str,
            "eco", "--eco", "CODES",
            "Only games of these openings: B20-B99, C57, D; several with commas";
        /// The mean of both ratings lies in these bounds.
        One EloBand elo_band: Band = Band::from_str,
            "elo_band", "--elo-band", "LO..HI",
            "Only games whose players' mean rating is in these bounds, as 1800..2000";
        /// The difference of the ratings is at most this.
        One MaxEloDiff max_elo_diff: u16 = options::number,
            "max_elo_diff", "--max-elo-diff", "N",
            "Only games of players whose ratings differ by this at most";
        /// It was played at one of these speeds; empty for any.
        List Speeds speeds: Speed = Speed::from_str,
            "speeds", "--speeds", "LIST",
            "Only games of these speeds, as lichess divides them: ultrabullet, bullet, \
             blitz, rapid, classical, correspondence; several with commas";
        /// The mean of both ratings lies in one of these [groups](group_of), each
        /// given by its least rating; empty for any.
        List Ratings groups: u16 = options::group,
            "ratings", "--ratings", "LIST",
            "Only games of these rating groups, as lichess divides them by the mean of both \
             players: 0, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2500 (1700 is in 1600); \
             several with commas";
        /// It counted for ratings.
        Nothing Rated rated: bool = options::flag,
            "rated", "--rated", "",
            "Only rated games (of lichess: by the name of the event)";
        /// One of the players has one of these titles; empty for any.
        List Title titles: Title = options::title,
            "titles", "--title", "LIST",
            "Only games in which a player has one of these titles, as GM,IM,WGM,BOT";
        /// None of the players has one of these names.
        Each NotPlayer not_players: String = options::name,
            "not_players", "--not-player", "NAME",
            "Leaves out games of a player; may be given several times";
        /// The game is not a draw: White or Black won.
        Nothing Decisive decisive: bool = options::flag,
            "decisive", "--decisive", "",
            "Only games that were not drawn";
    }
    others {
        /// Its result comes from its moves: see [`Conditions::forfeited`].
        ///
        /// [`Conditions::forfeited`]: crate::Conditions::forfeited
        PlayedOut played_out: bool, "games that were not played out";
        /// It has a position with this board, side to move and castling rights, among the
        /// plies that are read.
        Reaches reaches: Option<Chess>, "--line or --fen";
        /// It meets all conditions of one of these; empty for any game. So one pass over
        /// the games serves several jobs with different filters.
        AnyOf any_of: Vec<GameFilter>, "the conditions of each book";
    }
}

impl GameFilter {
    /// The conditions that an option sets, each as it would be typed; a position that games
    /// must reach by its FEN. A colour without a player is not a condition.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let options = GameFilter::OPTIONS
            .iter()
            .filter(|option| self.player.is_some() || option.condition != GameCondition::Colour);
        let words = options.flat_map(|option| {
            let name = option.name();
            let mut values = self.typed(option.condition);
            if option.value == ValueKind::Name {
                values
                    .iter_mut()
                    .for_each(|value| *value = format!("\"{value}\""));
            }
            match option.takes {
                Takes::List if !values.is_empty() => values = vec![values.join(",")],
                Takes::Nothing | Takes::One | Takes::List | Takes::Each => {}
            }
            let words = values.into_iter();
            let words = words.map(move |value| format!("--{name} {value}"));
            words.map(|words| words.trim_end().to_owned())
        });
        let reaches = self.reaches.iter();
        let reaches =
            reaches.map(|position| format!("--fen \"{}\"", tabia_notation::fen(position)));
        words.chain(reaches).collect()
    }
}

/// Numbers of games that a filter rejected, each by the first condition that it does not
/// meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rejected([u64; GameCondition::ALL.len()]);

impl Rejected {
    /// Counts a game.
    pub fn count(&mut self, condition: GameCondition) {
        if let Some(count) = self.0.get_mut(condition as usize) {
            *count += 1;
        }
    }

    /// Adds the numbers of other games.
    pub fn add(&mut self, other: &Rejected) {
        for (count, other) in self.0.iter_mut().zip(other.0) {
            *count += other;
        }
    }

    /// The number of games.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// As in "150 by --since, 50 by --player".
impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = GameCondition::ALL.iter().zip(self.0);
        for (n, (condition, count)) in counts.filter(|(_, count)| *count > 0).enumerate() {
            let comma = if n > 0 { ", " } else { "" };
            write!(f, "{comma}{count} by {}", condition.as_str())?;
        }
        Ok(())
    }
}

impl GameFilter {
    /// Whether the game meets the filter. A missing tag never meets a condition.
    #[must_use]
    pub fn admits(&self, game: &Game) -> bool {
        self.unmet(game).is_none()
    }

    /// The first condition that the game does not meet.
    #[must_use]
    pub fn unmet(&self, game: &Game) -> Option<GameCondition> {
        self.unmet_by(game, Known::Moves)
    }

    /// Whether the tags of a game whose moves are not read yet meet the filter.
    pub(crate) fn admits_tags(&self, game: &Game) -> bool {
        self.unmet_by(game, Known::Tags).is_none()
    }

    fn unmet_by(&self, game: &Game, known: Known) -> Option<GameCondition> {
        let mut all = GameCondition::ALL.iter().copied();
        all.find(|condition| self.is_unmet(*condition, game, known))
    }

    fn is_unmet(&self, condition: GameCondition, game: &Game, parts: Known) -> bool {
        let (white, black) = (game.elo.white, game.elo.black);
        let known = white > 0 && black > 0;
        let played = &game.conditions;
        let played_as = |name: &String| {
            let played = |colour| {
                self.colour.is_none_or(|wanted| wanted == colour)
                    && has_name(game.names.get(colour), name)
            };
            played(Color::White) || played(Color::Black)
        };
        match condition {
            GameCondition::MinElo => self.min_elo.is_some_and(|elo| white.max(black) < elo),
            GameCondition::BothElo => self.both_elo.is_some_and(|elo| white.min(black) < elo),
            GameCondition::Since => self
                .since
                .is_some_and(|since| game.months().is_none_or(|(first, _)| first < since)),
            GameCondition::Until => self
                .until
                .is_some_and(|until| game.months().is_none_or(|(_, last)| last > until)),
            GameCondition::Result => self.result.is_some_and(|result| game.result != result),
            GameCondition::Eco => {
                !self.eco.is_empty() && !self.eco.iter().any(|range| range.contains(game.eco))
            }
            GameCondition::Player => self.player.as_ref().is_some_and(|name| !played_as(name)),
            // It is of the player.
            GameCondition::Colour => false,
            GameCondition::EloBand => self.elo_band.is_some_and(|band| {
                let sum = u32::from(white) + u32::from(black);
                !known || !(2 * u32::from(band.low)..=2 * u32::from(band.high)).contains(&sum)
            }),
            GameCondition::Ratings => {
                let group = || group_of(u16::midpoint(white, black));
                !(self.groups.is_empty() || known && self.groups.contains(&group()))
            }
            GameCondition::MaxEloDiff => self
                .max_elo_diff
                .is_some_and(|most| !known || white.abs_diff(black) > most),
            GameCondition::Speeds => {
                let speed = played.speed;
                !self.speeds.is_empty() && speed.is_none_or(|speed| !self.speeds.contains(&speed))
            }
            GameCondition::Rated => self.rated && played.rated != Some(true),
            GameCondition::PlayedOut => self.played_out && played.forfeited,
            GameCondition::Title => {
                let titles = [&played.titles.white, &played.titles.black];
                !self.titles.is_empty() && !titles.iter().any(|title| self.titles.contains(title))
            }
            GameCondition::Decisive => self.decisive && !matches!(game.result, GameResult::Won(_)),
            GameCondition::NotPlayer => self.not_players.iter().any(|name| {
                let names = [&game.names.white, &game.names.black];
                names.iter().any(|other| has_name(other, name))
            }),
            GameCondition::Reaches => match (&self.reaches, parts) {
                (None, _) | (_, Known::Tags) => false,
                (Some(wanted), Known::Moves) => {
                    !game.positions.iter().any(|at| is_same(at, wanted))
                }
            },
            GameCondition::AnyOf => {
                let mut any_of = self.any_of.iter();
                !self.any_of.is_empty() && !any_of.any(|one| one.unmet_by(game, parts).is_none())
            }
        }
    }

    /// What the filter asks for and an index of games does not store.
    pub(crate) fn not_in_indexes(&self) -> BTreeSet<&'static str> {
        let titles = (!self.titles.is_empty()).then_some("titles: none of its games meets --title");
        let ends = self
            .played_out
            .then_some("time forfeits: its games count with their results");
        let of_one = self.any_of.iter().flat_map(GameFilter::not_in_indexes);
        titles.into_iter().chain(ends).chain(of_one).collect()
    }

    /// Whether the filter needs a rating that the game does not have.
    #[must_use]
    pub fn lacks_rating(&self, game: &Game) -> bool {
        let (white, black) = (game.elo.white, game.elo.black);
        let lacks = |condition: &GameCondition| {
            let is_missing = match condition {
                GameCondition::MinElo => white.max(black) == 0,
                GameCondition::BothElo
                | GameCondition::EloBand
                | GameCondition::MaxEloDiff
                | GameCondition::Ratings => white.min(black) == 0,
                GameCondition::Since
                | GameCondition::Until
                | GameCondition::Player
                | GameCondition::Colour
                | GameCondition::Result
                | GameCondition::Eco
                | GameCondition::Speeds
                | GameCondition::Rated
                | GameCondition::Title
                | GameCondition::NotPlayer
                | GameCondition::Decisive
                | GameCondition::PlayedOut
                | GameCondition::Reaches
                | GameCondition::AnyOf => false,
            };
            // A rating of 0 is not asked for.
            is_missing && self.is_unmet(*condition, game, Known::Tags)
        };
        GameCondition::ALL.iter().any(lacks) || self.any_of.iter().any(|one| one.lacks_rating(game))
    }
}

/// What is known of a game.
#[derive(Clone, Copy, Debug)]
enum Known {
    Tags,
    Moves,
}

/// Whether two positions are the same, apart from the counters and en passant.
fn is_same(one: &Chess, other: &Chess) -> bool {
    one.turn() == other.turn()
        && one.board() == other.board()
        && one.castles().castling_rights() == other.castles().castling_rights()
}

/// The lowest rating of each group, as lichess divides them. The last one has no upper
/// limit.
pub const GROUPS: [u16; 9] = [0, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2500];

/// The group of a rating, given by its lowest rating.
#[must_use]
pub fn group_of(rating: u16) -> u16 {
    let found = GROUPS.iter().rev().find(|least| **least <= rating);
    found.copied().unwrap_or(0)
}

/// A range of ratings, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Band {
    low: u16,
    high: u16,
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.low, self.high)
    }
}

impl FromStr for Band {
    type Err = ParseError;

    /// Reads `1800..2000`; an end may be missing. (`..`: of any rating, but with one.)
    fn from_str(text: &str) -> Result<Band, ParseError> {
        const WANTED: ParseError = ParseError("expected ratings as 1800..2000");
        let (low, high) = text.split_once("..").ok_or(WANTED)?;
        let number = |text: &str, missing: u16| match text.trim() {
            "" => Ok(missing),
            text => text.parse().map_err(|_| WANTED),
        };
        let (low, high) = (number(low, 0)?, number(high, u16::MAX)?);
        if low > high {
            return Err(ParseError("the lower rating comes first"));
        }
        Ok(Band { low, high })
    }
}

/// Whether every word of `wanted` is a word of `name`, in any order and case: "bobby
/// fischer" and "fischer" both find "Fischer, Bobby".
#[must_use]
pub fn has_name(name: &str, wanted: &str) -> bool {
    let name = name.to_lowercase();
    words(&wanted.to_lowercase()).all(|word| words(&name).any(|other| other == word))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

/// A range of ECO codes, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcoRange {
    first: [u8; 3],
    last: [u8; 3],
}

impl EcoRange {
    /// Whether the range contains a code such as `B97`.
    #[must_use]
    pub fn includes(self, eco: &str) -> bool {
        let code = eco.as_bytes().first_chunk();
        code.is_some_and(|code| self.contains(*code))
    }

    fn contains(self, code: [u8; 3]) -> bool {
        (self.first..=self.last).contains(&code)
    }
}

impl fmt::Display for EcoRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = |code: &[u8]| String::from_utf8_lossy(code).into_owned();
        write!(f, "{}-{}", code(&self.first), code(&self.last))
    }
}

impl FromStr for EcoRange {
    type Err = ParseError;

    /// Reads `B20-B99`, `C57`, or `D` for all of a volume.
    fn from_str(text: &str) -> Result<EcoRange, ParseError> {
        const WANTED: ParseError = ParseError("expected ECO codes like B20-B99, C57 or D");
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let code = |text: &str, missing: u8| {
            let text = text.trim().to_ascii_uppercase();
            match *text.as_bytes() {
                [volume @ b'A'..=b'E'] => Ok([volume, missing, missing]),
                [volume @ b'A'..=b'E', tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => {
                    Ok([volume, tens, ones])
                }
                _ => Err(WANTED),
            }
        };
        let range = EcoRange {
            first: code(first, b'0')?,
            last: code(last, b'9')?,
        };
        (range.first <= range.last).then_some(range).ok_or(WANTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eco_ranges_are_read_and_hold_their_ends() {
        let range: EcoRange = "B20-B99".parse().unwrap();
        assert!(range.contains(*b"B20") && range.contains(*b"B99"));
        assert!(!range.contains(*b"B19") && !range.contains(*b"C00") && !range.contains([0; 3]));
        let volume: EcoRange = "d".parse().unwrap();
        assert!(volume.contains(*b"D00") && volume.contains(*b"D99"));
        let one: EcoRange = "C57".parse().unwrap();
        assert!(one.contains(*b"C57") && !one.contains(*b"C58"));
        for bad in ["", "F00", "B2", "B99-B20", "B20-", "B200"] {
            assert!(bad.parse::<EcoRange>().is_err(), "{bad}");
        }
    }

    #[test]
    fn names_are_found_by_whole_words() {
        assert!(has_name("Fischer, Robert James", "fischer"));
        assert!(has_name("Fischer, Robert James", "Robert Fischer"));
        assert!(!has_name("Fischerova, A", "Fischer"));
        assert!(has_name("Hübner, Robert", "HÜBNER"));
    }

    #[test]
    fn ratings_lie_in_a_band_and_near_each_other() {
        let band = |text: &str| GameFilter {
            elo_band: Some(text.parse().unwrap()),
            ..GameFilter::default()
        };
        let mut game = Game::default();
        assert!(!band("..").admits(&game));
        (game.elo.white, game.elo.black) = (1900, 2001);
        assert!(band("1950..").admits(&game) && !band("1951..").admits(&game));
        assert!(!band("..1950").admits(&game) && band("1800..1951").admits(&game));
        let diff = |most| GameFilter {
            max_elo_diff: Some(most),
            ..GameFilter::default()
        };
        assert!(diff(101).admits(&game) && !diff(100).admits(&game));
        for bad in ["2000", "2000..1000", "x..", "70000.."] {
            assert!(bad.parse::<Band>().is_err(), "{bad}");
        }
        let one = "1800..1800".parse::<Band>().map(|band| band.to_string());
        assert_eq!(one.as_deref(), Ok("1800..1800"));
    }

    #[test]
    fn circumstances_and_names_that_are_not_wanted() {
        let mut game = Game::default();
        let filter = GameFilter {
            speeds: vec![Speed::Blitz, Speed::Rapid],
            rated: true,
            titles: vec![*b"GM\0", *b"BOT"],
            not_players: vec!["fischer".to_owned()],
            decisive: true,
            ..GameFilter::default()
        };
        assert!(!filter.admits(&game));
        game.conditions.read_tag(b"Event", b"Rated Rapid game");
        game.conditions.read_tag(b"BlackTitle", b"GM");
        game.result = GameResult::Won(Color::Black);
        assert!(filter.admits(&game));
        game.names.white = "Fischer, Bobby".to_owned();
        assert!(!filter.admits(&game));
        game.names.white.clear();
        game.result = GameResult::Draw;
        assert!(!filter.admits(&game));
    }

    #[test]
    fn players_openings_and_results_that_are_wanted() {
        let mut game = Game::default();
        game.names.white = "Fischer, Robert James".to_owned();
        (game.eco, game.result) = (*b"B21", GameResult::Won(Color::White));
        game.conditions.forfeited = true;
        let eco = |ranges: &[&str]| GameFilter {
            eco: ranges.iter().map(|range| range.parse().unwrap()).collect(),
            ..GameFilter::default()
        };
        let player = |name: &str, colour| GameFilter {
            player: Some(name.to_owned()),
            colour,
            ..GameFilter::default()
        };
        let result = |result| GameFilter {
            result: Some(result),
            ..GameFilter::default()
        };
        let played_out = GameFilter {
            played_out: true,
            ..GameFilter::default()
        };
        for (filter, unmet) in [
            (eco(&["A00", "B20-B21"]), None),
            (eco(&["A00", "B22"]), Some(GameCondition::Eco)),
            (player("fischer", None), None),
            (player("fischer", Some(Color::White)), None),
            (
                player("fischer", Some(Color::Black)),
                Some(GameCondition::Player),
            ),
            (player("spassky", None), Some(GameCondition::Player)),
            (result(GameResult::Won(Color::White)), None),
            (result(GameResult::Draw), Some(GameCondition::Result)),
            (played_out, Some(GameCondition::PlayedOut)),
        ] {
            assert_eq!(filter.unmet(&game), unmet, "{filter:?}");
        }
    }

    #[test]
    fn a_position_counts_once_the_moves_are_known() {
        use tabia_notation::Line;
        let line = |moves: &str| Line::read("", moves).unwrap();
        let filter = GameFilter {
            reaches: Some(line("e4 e6 d4 d5").last().clone()),
            ..GameFilter::default()
        };
        let game = |moves: &str| Game {
            positions: line(moves).positions().to_vec(),
            ..Game::default()
        };
        assert!(filter.admits(&game("d4 e6 e4 d5 Nc3")));
        assert_eq!(filter.unmet(&game("e4 e5")), Some(GameCondition::Reaches));
        assert!(filter.admits_tags(&game("e4 e5")));
        let any = GameFilter {
            any_of: vec![filter],
            ..GameFilter::default()
        };
        assert!(any.admits_tags(&game("e4 e5")) && !any.admits(&game("e4 e5")));
    }

    #[test]
    fn one_of_several_filters_is_enough() {
        let one = |min_elo| GameFilter {
            min_elo: Some(min_elo),
            ..GameFilter::default()
        };
        let either = GameFilter {
            decisive: true,
            any_of: vec![one(2500), one(1500)],
            ..GameFilter::default()
        };
        let mut game = Game::default();
        game.elo.white = 2000;
        assert!(!either.admits(&game));
        game.result = GameResult::Won(Color::White);
        assert!(either.admits(&game));
        game.elo.white = 1400;
        assert!(!either.admits(&game));
    }

    /// The conditions that `unmet` names are counted, and named in this order.
    #[test]
    fn rejected_games_are_counted_by_condition() {
        let mut all = Rejected::default();
        for (condition, count) in [(GameCondition::Player, 2), (GameCondition::Since, 3)] {
            let mut some = Rejected::default();
            (0..count).for_each(|_| some.count(condition));
            assert_eq!(some.total(), count);
            all.add(&some);
            all.add(&some);
        }
        assert_eq!(all.total(), 10);
        assert_eq!(all.to_string(), "6 by --since, 4 by --player");
    }

    #[test]
    fn each_rating_condition_is_what_it_says() {
        let filter = |set: &dyn Fn(&mut GameFilter)| {
            let mut filter = GameFilter::default();
            set(&mut filter);
            filter
        };
        let group = |mean: u16| {
            let within = GROUPS
                .windows(2)
                .find(|pair| (pair[0]..pair[1]).contains(&mean));
            within.map_or(2500, |pair| pair[0])
        };
        // Zero is unknown; 1800 is each of the limits.
        let ratings = [0, 1, 1599, 1600, 1799, 1800, 1801, 1999, 2000, 2600];
        for white in ratings {
            for black in ratings {
                let mut game = Game::default();
                (game.elo.white, game.elo.black) = (white, black);
                let (known, mean) = (white > 0 && black > 0, u16::midpoint(white, black));
                let half = f64::from(white).midpoint(f64::from(black));
                let difference = i32::from(white) - i32::from(black);
                let of_both = [
                    (
                        filter(&|filter| filter.both_elo = Some(1800)),
                        white >= 1800 && black >= 1800,
                    ),
                    (
                        filter(&|filter| filter.elo_band = "1800..2000".parse().ok()),
                        known && (1800.0..=2000.0).contains(&half),
                    ),
                    (
                        filter(&|filter| filter.max_elo_diff = Some(200)),
                        known && (-200..=200).contains(&difference),
                    ),
                    (
                        filter(&|filter| filter.groups = vec![1600, 2500]),
                        known && [1600, 2500].contains(&group(mean)),
                    ),
                ];
                let of_better = (
                    filter(&|filter| filter.min_elo = Some(1800)),
                    white >= 1800 || black >= 1800,
                );
                let of_none = (
                    filter(&|filter| (filter.min_elo, filter.both_elo) = (Some(0), Some(0))),
                    true,
                );
                let cases = of_both.into_iter().map(|case| (case, !known));
                let others = [(of_better, white == 0 && black == 0), (of_none, false)];
                for ((filter, admits), lacks) in cases.chain(others) {
                    let any = GameFilter {
                        any_of: vec![filter.clone()],
                        ..GameFilter::default()
                    };
                    for filter in [filter, any] {
                        assert_eq!(filter.admits(&game), admits, "{white} {black} {filter:?}");
                        assert_eq!(
                            filter.lacks_rating(&game),
                            lacks,
                            "{white} {black} {filter:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn months_may_be_anywhere_in_a_year_that_is_known() {
        let (first, last) = (Month::new(2000, 3), Month::new(2001, 10));
        let filter = GameFilter {
            since: Some(first),
            until: Some(last),
            ..GameFilter::default()
        };
        for year in 1999..2003 {
            for month in 0..13 {
                let game = Game {
                    year,
                    month,
                    ..Game::default()
                };
                let months = if month == 0 { 1..=12 } else { month..=month };
                let mut months = months.map(|month| (year, month));
                let admits = months.all(|month| ((2000, 3)..=(2001, 10)).contains(&month));
                assert_eq!(filter.admits(&game), admits, "{year} {month}");
            }
        }
    }

    #[test]
    fn what_is_not_known_meets_no_condition() {
        let mut game = Game::default();
        let filter = GameFilter {
            until: Some(Month::new(1900, 12)),
            ..GameFilter::default()
        };
        assert!(!filter.admits(&game));
        game.year = 1850;
        assert!(filter.admits(&game));
        assert!(GameFilter::default().admits(&game));
    }

    /// What the command line and Python give is what is typed again, in provenance files.
    #[test]
    fn every_option_reads_what_it_prints() {
        let samples = |option: &FilterOption| match option.value {
            ValueKind::Number => vec!["1800", "0", "2500"],
            ValueKind::Month => vec!["2025-01"],
            ValueKind::Words(words) => words.to_vec(),
            ValueKind::Name => vec!["Smith, Jane"],
            ValueKind::Text => match option.condition {
                GameCondition::Result => vec!["1-0", "1/2-1/2", "*"],
                GameCondition::Eco => vec!["B20-B99", "C57-C57"],
                GameCondition::EloBand => vec!["1800..2000"],
                GameCondition::Speeds => Speed::ALL.iter().map(|speed| speed.as_str()).collect(),
                GameCondition::Title => vec!["GM", "BOT"],
                other => {
                    assert_eq!(option.takes, Takes::Nothing, "{other:?}: give samples");
                    vec![""]
                }
            },
        };
        for option in GameFilter::OPTIONS {
            for sample in samples(option) {
                let mut filter = GameFilter::default();
                filter.set(option.condition, sample).unwrap();
                assert_eq!(filter.typed(option.condition), [sample], "{option:?}");
                assert_ne!(filter, GameFilter::default(), "{option:?}");
            }
            let mut filter = GameFilter::default();
            assert!(filter.typed(option.condition).is_empty(), "{option:?}");
            let takes_any = option.takes == Takes::Nothing;
            for without_meaning in ["?????", "", " ", "-"] {
                let result = filter.set(option.condition, without_meaning);
                assert_eq!(result.is_ok(), takes_any, "{option:?} {without_meaning:?}");
            }
        }
        let mut filter = GameFilter::default();
        assert!(filter.set(GameCondition::Reaches, "").is_err());
    }
}
