//! Conditions of a book in `[[books]]`: opponent, time control, rating, variant.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

use std::fmt;
use std::time::Duration;

use tabia_book::options::OptionValue as _;

tabia_notation::named! {
    /// The time control by the measure of lichess: the initial clock plus forty increments.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Pace {
        /// Below three minutes.
        Bullet = "bullet",
        /// Below eight.
        Blitz = "blitz",
        /// Below twenty-five.
        Rapid = "rapid",
        /// Longer.
        Classical = "classical",
    }
}

impl Pace {
    /// The time control, from the first clocks of a game: for each player the time, if it is
    /// known, and the increment, in milliseconds. `None` without clocks.
    #[must_use]
    pub fn from_clocks(clocks: [(Option<i64>, i64); 2]) -> Option<Pace> {
        let estimate = |(time, increment): (Option<i64>, i64)| {
            let increments = increment.max(0).saturating_mul(40);
            Some(time?.max(0).saturating_add(increments))
        };
        let longest = clocks.into_iter().filter_map(estimate).max();
        // Programs without clocks send zeros.
        let longest = longest.filter(|longest| *longest > 0)?;
        let time = Duration::from_millis(longest.unsigned_abs());
        Some(match time.as_secs() {
            0..180 => Pace::Bullet,
            180..480 => Pace::Blitz,
            480..1500 => Pace::Rapid,
            _ => Pace::Classical,
        })
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The rules of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Ordinary chess.
    #[default]
    Chess,
    /// Ordinary chess from other places of king and rooks.
    Chess960,
    /// Other rules, by their name in lower case without blanks and hyphens.
    Other(String),
}

impl Variant {
    /// The variant of this name in `UCI_Variant`; the programs differ in the names.
    #[must_use]
    pub fn named(name: &str) -> Variant {
        let words = name.chars().filter(|c| c.is_alphanumeric());
        let name: String = words.flat_map(char::to_lowercase).collect();
        match name.as_str() {
            // As Fairy-Stockfish, XBoard, Cute Chess and lichess write it.
            "" | "chess" | "normal" | "standard" | "fromposition" => Variant::Chess,
            "chess960" | "fischerandom" | "fischerrandom" => Variant::Chess960,
            "threecheck" => Variant::Other("3check".to_owned()),
            "koth" => Variant::Other("kingofthehill".to_owned()),
            _ => Variant::Other(name),
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Variant::Chess => "ordinary chess",
            Variant::Chess960 => "Chess960",
            Variant::Other(name) => name,
        })
    }
}

/// Variants that some engines switch on by an option of their own: `UCI_Atomic`.
const SWITCHES: [&str; 12] = [
    "3check",
    "antichess",
    "atomic",
    "crazyhouse",
    "giveaway",
    "horde",
    "kingofthehill",
    "losers",
    "racingkings",
    "shatranj",
    "suicide",
    "threecheck",
];

/// What is known of a game at its first move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GameConditions {
    /// The value of `UCI_Opponent`: title, rating, `computer` or `human`, name.
    pub opponent: String,
    /// From the first clock.
    pub pace: Option<Pace>,
    /// From `UCI_Variant`.
    variant: Variant,
    /// From `UCI_Chess960`: castling is written as king takes rook.
    chess960: bool,
}

impl GameConditions {
    /// Handles an option of the engine that may set the rules; true if it does.
    pub fn set_rules(&mut self, option: &str, value: &str) -> bool {
        // A value that means nothing is not sent to the engine either.
        let on = bool::read(value, &..).ok();
        let option = option.to_ascii_lowercase();
        match option.strip_prefix("uci_") {
            Some("variant") if value.trim() == "<empty>" => self.variant = Variant::Chess,
            Some("variant") => self.variant = Variant::named(value),
            Some("chess960") => self.chess960 = on.unwrap_or(self.chess960),
            Some(name) if SWITCHES.contains(&name) => {
                let named = Variant::named(name);
                match on {
                    Some(true) => self.variant = named,
                    Some(false) if self.variant == named => self.variant = Variant::Chess,
                    Some(false) | None => {}
                }
            }
            _ => return false,
        }
        true
    }

    /// Forgets what options have set.
    pub fn forget_rules(&mut self) {
        self.variant = Variant::Chess;
        self.chess960 = false;
    }

    /// The rules of the game.
    #[must_use]
    pub fn rules(&self) -> &Variant {
        match self.variant {
            Variant::Chess if self.chess960 => &Variant::Chess960,
            _ => &self.variant,
        }
    }

    /// Whether castling is written as king takes rook.
    #[must_use]
    pub fn king_takes_rook(&self) -> bool {
        self.chess960 || self.variant == Variant::Chess960
    }

    /// Whether the game is a variant with other rules, so that the adapter can judge neither
    /// moves nor positions.
    #[must_use]
    pub const fn has_other_rules(&self) -> bool {
        matches!(self.variant, Variant::Other(_))
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.opponent.split_whitespace()
    }

    fn title(&self) -> Option<&str> {
        self.words().next().filter(|word| *word != "none")
    }

    fn elo(&self) -> Option<u32> {
        self.words().nth(1)?.parse().ok()
    }

    fn kind(&self) -> Option<&str> {
        self.words().nth(2)
    }

    fn name(&self) -> String {
        self.words().skip(3).collect::<Vec<_>>().join(" ")
    }
}

/// The conditions of a book; all that are set must be met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BookConditions {
    /// `GM|computer|human|NAME*`: a title, a kind, or a name, in which `*` matches
    /// anything.
    pub opponent: Option<String>,
    /// The time controls.
    pub paces: Vec<Pace>,
    /// The lowest and the highest rating of the opponent.
    pub elo: Option<(u32, u32)>,
    /// The rules; empty: chess, Chess960 included.
    pub variants: Vec<Variant>,
}

impl BookConditions {
    /// Reads the value of a key of `[[books]]`; `None` if the key is not a condition. The
    /// error lists the valid values.
    ///
    /// # Errors
    ///
    /// The condition does not take the value.
    pub fn read(&mut self, key: &str, text: &str) -> Option<Result<(), &'static str>> {
        let parts = || text.split('|').map(str::trim);
        Some(match key {
            "opponent" if parts().any(str::is_empty) => {
                Err("\"GM\", \"computer\", \"human\" or a name, several with | between")
            }
            "opponent" => {
                self.opponent = Some(text.to_owned());
                Ok(())
            }
            "time_control" => match parts().map(Pace::from_name).collect::<Option<Vec<Pace>>>() {
                Some(paces) => {
                    self.paces = paces;
                    Ok(())
                }
                None => Err("bullet, blitz, rapid or classical, several with | between"),
            },
            "elo" => {
                let band = text.split_once("..");
                let number = |text: &str| text.trim().parse::<u32>().ok();
                let band = band.and_then(|(low, high)| Some((number(low)?, number(high)?)));
                match band.filter(|(low, high)| low <= high) {
                    Some(band) => {
                        self.elo = Some(band);
                        Ok(())
                    }
                    None => Err("two ratings, as 1200..1800"),
                }
            }
            "variant" if parts().any(str::is_empty) => Err(
                "the name of a variant as in UCI_Variant: antichess, 3check; several with | between",
            ),
            "variant" => {
                self.variants = parts().map(Variant::named).collect();
                Ok(())
            }
            _ => return None,
        })
    }

    /// The conditions that are set: key and value, as they are written.
    #[must_use]
    pub fn given(&self) -> Vec<(&'static str, String)> {
        let paces: Vec<String> = self.paces.iter().map(ToString::to_string).collect();
        let elo = self.elo.map(|(low, high)| format!("{low}..{high}"));
        let variants = self.variants.iter().map(|variant| match variant {
            Variant::Chess => "chess".to_owned(),
            other => other.to_string().to_lowercase(),
        });
        let variants: Vec<String> = variants.collect();
        let all = [
            ("opponent", self.opponent.clone()),
            ("time_control", (!paces.is_empty()).then(|| paces.join("|"))),
            ("elo", elo),
            (
                "variant",
                (!variants.is_empty()).then(|| variants.join("|")),
            ),
        ];
        let given = all
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)));
        given.collect()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == BookConditions::default()
    }

    /// Whether a game meets these conditions. An unknown property of the game does not
    /// meet its condition.
    #[must_use]
    pub fn hold(&self, game: &GameConditions) -> bool {
        self.hold_in(game.rules())
            && self
                .opponent
                .as_deref()
                .is_none_or(|wanted| fits(wanted, game))
            && (self.paces.is_empty() || game.pace.is_some_and(|pace| self.paces.contains(&pace)))
            && self
                .elo
                .is_none_or(|(low, high)| game.elo().is_some_and(|elo| (low..=high).contains(&elo)))
    }
}

impl BookConditions {
    /// A game that meets these conditions and has no other properties; `None` if there is
    /// none.
    #[must_use]
    pub fn example(&self) -> Option<GameConditions> {
        let BookConditions {
            opponent,
            paces,
            elo,
            variants,
        } = self;
        let wanted = opponent.as_deref().unwrap_or_default();
        let elo = elo.map_or_else(|| "none".to_owned(), |(low, _)| low.to_string());
        let games = wanted.split('|').map(str::trim).flat_map(|part| {
            // A part may be a title, a kind, or a name.
            let name = part.replace('*', "");
            [
                format!("{part} {elo}"),
                format!("none {elo} {part}"),
                format!("none {elo} human {name}"),
                format!("none {elo} human {name}x"),
            ]
        });
        let mut games = games.map(|opponent| GameConditions {
            opponent,
            pace: paces.first().copied(),
            variant: variants.first().cloned().unwrap_or_default(),
            chess960: false,
        });
        games.find(|game| self.hold(game))
    }

    /// Whether the book is for games with these rules.
    #[must_use]
    pub fn hold_in(&self, rules: &Variant) -> bool {
        match self.variants.is_empty() {
            true => !matches!(rules, Variant::Other(_)),
            false => self.variants.contains(rules),
        }
    }
}

fn fits(wanted: &str, game: &GameConditions) -> bool {
    let name = game.name().to_lowercase();
    wanted.split('|').map(str::trim).any(|part| {
        let is = |word: Option<&str>| word.is_some_and(|word| word.eq_ignore_ascii_case(part));
        is(game.title()) || is(game.kind()) || is_like(&part.to_lowercase(), &name)
    })
}

/// Whether a name matches a pattern, in which `*` matches anything.
fn is_like(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == name && !name.is_empty();
    };
    let Some(mut left) = name.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = rest.split('*').collect();
    let Some((last, middle)) = parts.split_last() else {
        return true;
    };
    for part in middle {
        match left.split_once(part) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn conditions(pairs: &[(&str, &str)]) -> BookConditions {
        let mut all = BookConditions::default();
        for (key, text) in pairs {
            all.read(key, text).unwrap().unwrap();
        }
        all
    }

    #[test]
    fn a_book_is_for_games_that_meet_all_its_conditions() {
        let game = |opponent: &str, pace| GameConditions {
            opponent: opponent.to_owned(),
            pace,
            ..GameConditions::default()
        };
        let bot = game("BOT 2200 computer Maia Nine", Some(Pace::Blitz));
        let person = game("none 1500 human smith", Some(Pace::Rapid));
        let unknown = game("", None);
        for (pairs, expected) in [
            (&[][..], [true, true, true]),
            (&[("opponent", "computer")], [true, false, false]),
            (&[("opponent", "GM|human")], [false, true, false]),
            (&[("opponent", "bot")], [true, false, false]),
            (&[("opponent", "maia*")], [true, false, false]),
            (&[("opponent", "*nine")], [true, false, false]),
            (&[("opponent", "maia")], [false, false, false]),
            (&[("opponent", "Smith")], [false, true, false]),
            (&[("elo", "1200..1800")], [false, true, false]),
            (&[("time_control", "bullet|blitz")], [true, false, false]),
            (
                &[("time_control", "rapid"), ("opponent", "computer")],
                [false, false, false],
            ),
        ] {
            let all = conditions(pairs);
            let again: Vec<_> = all.given();
            let again: Vec<(&str, &str)> = again
                .iter()
                .map(|(key, value)| (*key, value.as_str()))
                .collect();
            assert_eq!(conditions(&again), all);
            let holds = [&bot, &person, &unknown].map(|game| all.hold(game));
            assert_eq!(holds, expected, "{pairs:?}");
        }
    }

    #[test]
    fn the_error_for_a_wrong_condition_lists_the_valid_values() {
        for (key, text) in [
            ("opponent", ""),
            ("opponent", "GM|"),
            ("time_control", "fast"),
            ("elo", "1800"),
            ("elo", "1800..1200"),
            ("variant", " "),
        ] {
            let read = BookConditions::default().read(key, text);
            assert!(read.unwrap().is_err(), "{key} {text}");
        }
        assert!(BookConditions::default().read("variety", "5").is_none());
    }

    #[test]
    fn a_book_is_for_chess_unless_it_names_a_variant() {
        let rules = |options: &[(&str, &str)]| {
            let mut game = GameConditions::default();
            for (name, value) in options {
                assert!(game.set_rules(name, value), "{name}");
            }
            game
        };
        // Which of these books answer: one without the key, for chess, for Chess960, for
        // three checks.
        let books = ["", "chess", "Chess960", "threeCheck"].map(|variant| match variant {
            "" => BookConditions::default(),
            variant => conditions(&[("variant", variant)]),
        });
        for (options, expected) in [
            (&[][..], [true, true, false, false]),
            (&[("UCI_Variant", "Standard")], [true, true, false, false]),
            (&[("uci_variant", "normal")], [true, true, false, false]),
            (&[("UCI_Variant", "<empty>")], [true, true, false, false]),
            (&[("UCI_Chess960", "true")], [true, false, true, false]),
            (
                &[("UCI_Variant", "fischerandom")],
                [true, false, true, false],
            ),
            (&[("UCI_Variant", "antichess")], [false; 4]),
            (&[("UCI_Variant", "kingOfTheHill")], [false; 4]),
            (&[("UCI_Variant", "no such game")], [false; 4]),
            (&[("UCI_Variant", "3check")], [false, false, false, true]),
            (&[("UCI_3Check", "true")], [false, false, false, true]),
            (
                &[("UCI_Variant", "3-check"), ("UCI_Chess960", "true")],
                [false, false, false, true],
            ),
            (
                &[("UCI_Variant", "atomic"), ("UCI_Variant", "chess")],
                [true, true, false, false],
            ),
            (
                &[("UCI_Atomic", "true"), ("UCI_Atomic", "false")],
                [true, true, false, false],
            ),
        ] {
            let game = rules(options);
            let holds = [0, 1, 2, 3].map(|index| books[index].hold(&game));
            assert_eq!(holds, expected, "{options:?}");
        }
        assert!(!GameConditions::default().set_rules("UCI_Opponent", "true"));
        let given = conditions(&[("variant", "Three-Check")]).given();
        assert_eq!(given, [("variant", "3check".to_owned())]);
    }

    #[test]
    fn a_clock_of_zero_counts_if_it_has_an_increment() {
        let of = |time, increment| Pace::from_clocks([(time, increment), (None, 0)]);
        assert_eq!(of(Some(0), 0), None);
        assert_eq!(of(None, 2000), None);
        assert_eq!(of(Some(0), 2000), Some(Pace::Bullet));
        assert_eq!(of(Some(-5), 10_000), Some(Pace::Blitz));
    }

    proptest! {
        #[test]
        fn an_example_meets_the_conditions(
            opponent in prop::option::of("(GM|human|[a-z]{1,5}|[a-z]{0,3}[*][a-z]{0,3})([|][A-Za-z*]{1,4})?"),
            pace in prop::option::of(0_usize..4),
            elo in prop::option::of((0_u32..3000, 0_u32..3000)),
            variants in prop::collection::vec("chess|Chess960|antichess|3check", 0..3),
        ) {
            let mut all = BookConditions { opponent, ..BookConditions::default() };
            all.paces.extend(pace.map(|pace| Pace::ALL[pace]));
            all.elo = elo.map(|(a, b)| (a.min(b), a.max(b)));
            all.variants = variants.iter().map(|name| Variant::named(name)).collect();
            let example = all.example().unwrap();
            prop_assert!(all.hold(&example), "{example:?}");
            let mut again = BookConditions::default();
            for (key, text) in all.given() {
                prop_assert_eq!(again.read(key, &text), Some(Ok(())));
            }
            prop_assert_eq!(again, all);
        }

        #[test]
        fn a_name_is_like_itself_with_anything_left_out(name in "[a-z ]{1,12}", cut in 0_usize..12) {
            prop_assert!(is_like(&name, &name));
            let cut = cut.min(name.len());
            let (start, end) = name.split_at(cut);
            let patterns = [format!("{start}*"), format!("*{end}"), format!("{start}*{end}")];
            prop_assert!(patterns.iter().all(|pattern| is_like(pattern, &name)));
        }

        #[test]
        fn longer_clocks_are_no_faster(time in 1_i64..4_000_000, more in 0_i64..4_000_000, increment in 0_i64..60_000) {
            let rank = |time| {
                Pace::from_clocks([(Some(time), increment), (None, 0)]).map(|pace| pace as u8)
            };
            prop_assert!(rank(time) <= rank(time + more));
        }
    }
}
