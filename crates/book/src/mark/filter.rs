//! A small language for conditions on moves.
//!
//! ```text
//! games<10 and (score < 40% or mark = avoid) and not annotation = "!"
//! ```
//!
//! | word | is, from the view of the player of the move |
//! |---|---|
//! | `games` `wins` `draws` `losses` | games through the position after the move |
//! | `score` | per cent of the games with a result, 50 without any |
//! | `learn_value` (once `factor`) | the learn value, -125 to 125 |
//! | `mark` | `main`, `avoid` or `none` |
//! | `annotation` | `! ? !! ?? !? ?!`, `none`, or a NAG number |
//! | `commentary` | of the position after the move as on the real board: `+=`, a NAG number, `none` |
//! | `elo` | average rating of the players of the move |
//! | `performance` | performance rating |
//! | `share` | per cent of the games of all stored moves of the position |
//! | `ply` | plies from the start position, 1 for the first move |
//! | `weight` | Polyglot's weight or Arena's priority |
//!
//! Comparisons are `<` `<=` `>` `>=` `=` `!=`; they are joined by `and`, `or`, `not` and
//! brackets; `and` binds tighter than `or`. Comparisons with a number that a move does
//! not have (such as a rating) are false.

use super::words;
use crate::{Annotation, Mark, Preference, Stats};

/// The values that a filter tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subject {
    /// From the view of the player of the move.
    pub stats: Stats,
    /// The learn value, from the same view.
    pub learn_value: i8,
    /// The colour.
    pub mark: Mark,
    /// The commentary of the position after the move, as on the real board.
    pub commentary: u8,
    /// The annotation of the move; `None` if there is no move.
    pub annotation: Option<Annotation>,
    /// Per cent of the games of all stored moves of the position, 0 to 100.
    pub share: Option<f64>,
    /// 1 for the first move of a game.
    pub ply: Option<u32>,
    /// The weight or priority of the move, in books that have one.
    pub preference: Preference,
}

/// A condition on moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    root: Condition,
}

/// The error of a text that is not a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {text}")]
#[non_exhaustive]
pub struct FilterError {
    /// Column of the error, from 1.
    pub column: usize,
    /// What is wrong.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Condition {
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
    Compare(Word, Comparison, f64),
}

tabia_notation::named! {
    /// The value that is compared.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Word {
        Games = "games",
        Wins = "wins",
        Draws = "draws",
        Losses = "losses",
        Score = "score",
        LearnValue = "learn_value" | "factor",
        Mark = "mark",
        Annotation = "annotation",
        Commentary = "commentary",
        Elo = "elo",
        Performance = "performance",
        Share = "share",
        Ply = "ply",
        Weight = "weight",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Other,
}

/// Highest depth of nested brackets and `not`.
const DEEPEST: u32 = 50;

impl Filter {
    /// Parses a condition.
    ///
    /// # Errors
    ///
    /// The text is invalid; the error has the column and what was expected there.
    pub fn parse(text: &str) -> Result<Filter, FilterError> {
        let mut parser = Parser {
            tokens: tokens(text)?,
            at: 0,
            end: text.chars().count() + 1,
            depth: 0,
        };
        let root = parser.or()?;
        match parser.peek() {
            None => Ok(Filter { root }),
            Some(_) => Err(parser.expected("\"and\", \"or\" or the end")),
        }
    }

    /// Whether a move meets the condition.
    #[must_use]
    pub fn admits(&self, subject: &Subject) -> bool {
        self.root.admits(subject)
    }

    /// Whether it tests a value of the move itself, not only of the position after it.
    #[must_use]
    pub(crate) fn tests_moves(&self) -> bool {
        self.root
            .names(&|word, _| matches!(word, Word::Annotation | Word::Share | Word::Ply))
    }

    /// Whether it tests a value that differs when colours are exchanged: a commentary
    /// that gives one side the advantage.
    #[must_use]
    pub(crate) fn depends_on_side(&self) -> bool {
        self.root.names(&|word, comparison| {
            let (sign, number) = comparison;
            let is_equality = matches!(sign, Comparison::Equal | Comparison::Other);
            // "= 0" is the same for both sides; "= 16" and "< 16" are not.
            word == Word::Commentary && (!is_equality || (14.0..=19.0).contains(&number))
        })
    }

    /// Whether it tests games, their results or players, which a Polyglot book does not
    /// store.
    #[must_use]
    pub(crate) fn tests_games(&self) -> bool {
        use Word::{Draws, Elo, Games, Losses, Performance, Score, Share, Wins};
        self.root.names(&|word, _| {
            let counts = [Games, Wins, Draws, Losses, Score, Elo, Performance, Share];
            counts.contains(&word)
        })
    }

    /// Whether it tests the distance of a move from the start position.
    #[must_use]
    pub(crate) fn tests_ply(&self) -> bool {
        self.root.names(&|word, _| word == Word::Ply)
    }

    /// No move further from the start position meets the condition; `None` if some may.
    #[must_use]
    pub(crate) fn most_plies(&self) -> Option<u32> {
        self.root.most_plies()
    }
}

impl Condition {
    fn most_plies(&self) -> Option<u32> {
        match self {
            Condition::And(a, b) => match (a.most_plies(), b.most_plies()) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
            Condition::Or(a, b) => Some(a.most_plies()?.max(b.most_plies()?)),
            Condition::Compare(
                Word::Ply,
                Comparison::Less | Comparison::AtMost | Comparison::Equal,
                number,
                // A move that is one ply too far away does no harm.
            ) => Some(*number as u32),
            Condition::Not(_) | Condition::Compare(..) => None,
        }
    }

    fn admits(&self, subject: &Subject) -> bool {
        match self {
            Condition::And(a, b) => a.admits(subject) && b.admits(subject),
            Condition::Or(a, b) => a.admits(subject) || b.admits(subject),
            Condition::Not(a) => !a.admits(subject),
            Condition::Compare(word, comparison, number) => {
                word.value_in(subject)
                    .is_some_and(|value| match comparison {
                        Comparison::Less => value < *number,
                        Comparison::AtMost => value <= *number,
                        Comparison::More => value > *number,
                        Comparison::AtLeast => value >= *number,
                        Comparison::Equal => (value - *number).abs() < 1e-9,
                        Comparison::Other => (value - *number).abs() >= 1e-9,
                    })
            }
        }
    }

    fn names(&self, wanted: &dyn Fn(Word, (Comparison, f64)) -> bool) -> bool {
        match self {
            Condition::And(a, b) | Condition::Or(a, b) => a.names(wanted) || b.names(wanted),
            Condition::Not(a) => a.names(wanted),
            Condition::Compare(word, comparison, number) => wanted(*word, (*comparison, *number)),
        }
    }
}

const fn mark_number(mark: Mark) -> f64 {
    match mark {
        Mark::None => 0.0,
        Mark::Main => 1.0,
        Mark::Avoid => 2.0,
    }
}

impl Word {
    fn value_in(self, subject: &Subject) -> Option<f64> {
        let stats = &subject.stats;
        match self {
            Word::Games => Some(stats.games.into()),
            Word::Wins => Some(stats.wins.into()),
            Word::Draws => Some(stats.draws.into()),
            Word::Losses => Some(stats.losses.into()),
            Word::Score => Some(100.0 * stats.score().unwrap_or(0.5)),
            Word::LearnValue => Some(subject.learn_value.into()),
            Word::Mark => Some(mark_number(subject.mark)),
            Word::Annotation => subject.annotation.map(|sign| sign.nag().into()),
            Word::Commentary => Some(subject.commentary.into()),
            Word::Elo => stats.average_elo(),
            Word::Performance => stats.performance(),
            Word::Share => subject.share,
            Word::Ply => subject.ply.map(f64::from),
            Word::Weight => match subject.preference {
                Preference::Statistics => None,
                Preference::Weight(weight) => Some(weight.into()),
                Preference::Priority(priority) => Some(priority.into()),
            },
        }
    }

    /// Parses the right side of the comparison.
    fn value(self, text: &str) -> Result<f64, &'static str> {
        match self {
            Word::Mark => words::mark(text)
                .map(mark_number)
                .ok_or("main, avoid or none"),
            Word::Commentary => words::commentary(text)
                .map(f64::from)
                .ok_or("none, a NAG number or one of = += =+ +/- -/+ +- -+"),
            Word::Annotation => Annotation::from_symbol(text)
                .map(|sign| sign.nag().into())
                .ok_or("one of ! ? !! ?? !? ?! none, or a NAG number below 32"),
            _ => {
                let number = text.strip_suffix('%').unwrap_or(text);
                let number: f64 = number.parse().map_err(|_| "a number")?;
                number.is_finite().then_some(number).ok_or("a number")
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Sign(&'static str),
}

const SIGNS: [&str; 13] = [
    "<=", ">=", "!=", "<>", "==", "&&", "||", "<", ">", "=", "(", ")", "≠",
];

/// Tokens and the columns they begin in.
fn tokens(text: &str) -> Result<Vec<(usize, Token)>, FilterError> {
    let mut tokens: Vec<(usize, Token)> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let before = text.get(..text.len() - rest.len()).unwrap_or_default();
        let column = before.chars().count() + 1;
        let step = |count: usize| rest.get(count..).unwrap_or_default();
        // "annotation=!" and "annotation=!?" need no quotes; "!=" is an operator.
        let after_sign =
            matches!(tokens.last(), Some((_, Token::Sign(s))) if *s != "(" && *s != ")");
        if first.is_whitespace() {
            rest = step(first.len_utf8());
        } else if first == '"' || first == '\'' {
            let inner = step(1);
            let Some(end) = inner.find(first) else {
                let text = "the quoted text has no end".to_owned();
                return Err(FilterError { column, text });
            };
            let (quoted, after) = inner.split_at(end);
            tokens.push((column, Token::Word(quoted.to_owned())));
            rest = after.get(1..).unwrap_or_default();
        } else if let Some(symbol) = words::SYMBOLS
            .iter()
            .find(|s| after_sign && starts(rest, s))
        {
            // "commentary=+=" needs no quotes either.
            tokens.push((column, Token::Word((*symbol).to_owned())));
            rest = step(symbol.len());
        } else if matches!(first, '!' | '?') && (after_sign || !rest.starts_with("!=")) {
            let end = rest.find(|c| !matches!(c, '!' | '?')).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            tokens.push((column, Token::Word(word.to_owned())));
            rest = after;
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push((column, Token::Sign(sign)));
            rest = step(sign.len());
        } else {
            let is_part =
                |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '+' | '%' | '$' | '_');
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            if end == 0 {
                let text = format!("\"{first}\" has no meaning here");
                return Err(FilterError { column, text });
            }
            let (word, after) = rest.split_at(end);
            tokens.push((column, Token::Word(word.to_owned())));
            rest = after;
        }
    }
    Ok(tokens)
}

/// Whether a text begins with a symbol that ends there.
fn starts(text: &str, symbol: &str) -> bool {
    text.strip_prefix(symbol)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ')', '\t']))
}

struct Parser {
    tokens: Vec<(usize, Token)>,
    at: usize,
    /// The column after the text.
    end: usize,
    depth: u32,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    fn expected(&self, what: &str) -> FilterError {
        let (column, found) = match self.tokens.get(self.at) {
            Some((column, Token::Word(word))) => (*column, format!("\"{word}\"")),
            Some((column, Token::Sign(sign))) => (*column, format!("\"{sign}\"")),
            None => (self.end, "the end".to_owned()),
        };
        FilterError {
            column,
            text: format!("expected {what}, not {found}"),
        }
    }

    fn take(&mut self, word: &str, sign: &str) -> bool {
        let is_it = match self.peek() {
            Some(Token::Word(found)) => found.eq_ignore_ascii_case(word),
            Some(Token::Sign(found)) => *found == sign,
            None => false,
        };
        self.at += usize::from(is_it);
        is_it
    }

    fn or(&mut self) -> Result<Condition, FilterError> {
        let mut node = self.and()?;
        while self.take("or", "||") {
            node = Condition::Or(Box::new(node), Box::new(self.and()?));
        }
        Ok(node)
    }

    fn and(&mut self) -> Result<Condition, FilterError> {
        let mut node = self.one()?;
        while self.take("and", "&&") {
            node = Condition::And(Box::new(node), Box::new(self.one()?));
        }
        Ok(node)
    }

    fn one(&mut self) -> Result<Condition, FilterError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.expected("fewer brackets"));
        }
        let node = if self.take("not", "") {
            Condition::Not(Box::new(self.one()?))
        } else if self.take("", "(") {
            let inner = self.or()?;
            if !self.take("", ")") {
                return Err(self.expected("\")\""));
            }
            inner
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(node)
    }

    fn comparison(&mut self) -> Result<Condition, FilterError> {
        let word = match self.peek() {
            Some(Token::Word(name)) => Word::from_name(name),
            _ => None,
        };
        let Some(word) = word else {
            let names: Vec<&str> = Word::ALL.iter().map(|word| word.as_str()).collect();
            return Err(self.expected(&format!("one of {}", names.join(", "))));
        };
        self.at += 1;
        let comparison = match self.peek() {
            Some(Token::Sign("<")) => Comparison::Less,
            Some(Token::Sign("<=")) => Comparison::AtMost,
            Some(Token::Sign(">")) => Comparison::More,
            Some(Token::Sign(">=")) => Comparison::AtLeast,
            Some(Token::Sign("=" | "==")) => Comparison::Equal,
            Some(Token::Sign("!=" | "<>" | "≠")) => Comparison::Other,
            _ => return Err(self.expected("one of < <= > >= = !=")),
        };
        self.at += 1;
        let value = match self.peek() {
            Some(Token::Word(text)) => word.value(text).map_err(|what| self.expected(what))?,
            _ => return Err(self.expected("what to compare with")),
        };
        self.at += 1;
        Ok(Condition::Compare(word, comparison, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_says_how_far_its_moves_are() {
        let most = |text| Filter::parse(text).unwrap().most_plies();
        assert_eq!(most("ply<=20"), Some(20));
        assert_eq!(most("games>5 and (ply<8 or ply=12)"), Some(12));
        assert_eq!(most("ply<=9 and ply<=4"), Some(4));
        for open in ["ply>3", "not ply>3", "ply<3 or games>5", "games>5"] {
            assert_eq!(most(open), None, "{open}");
        }
    }

    fn subject() -> Subject {
        Subject {
            stats: Stats {
                games: 10,
                wins: 2,
                draws: 4,
                losses: 4,
                ..Stats::default()
            },
            learn_value: -7,
            mark: Mark::Avoid,
            annotation: Some(Annotation::DUBIOUS),
            share: Some(12.5),
            commentary: 14,
            ..Subject::default()
        }
    }

    #[test]
    fn conditions_mean_what_they_say() {
        for (text, meant) in [
            ("games<10", false),
            ("games <= 10 AND wins=2", true),
            ("score=40", true),
            ("score >= 40.1%", false),
            ("learn_value<0", true),
            ("factor = -7", true),
            ("learn_value = -7", true),
            ("Learn_Value>0", false),
            ("mark=avoid", true),
            ("mark != red", false),
            ("annotation=?!", true),
            ("annotation != \"?!\"", false),
            ("annotation!=!!", true),
            ("annotation=$6", true),
            ("annotation = none", false),
            ("games<5 or draws=4 and losses=4", true),
            ("(games<5 or draws=4) and losses=3", false),
            ("not games<5 && !(games=3)", true),
            ("share>12", true),
            ("elo<3000", false),
            ("not elo<3000", true),
            ("ply<3", false),
            ("commentary=+=", true),
            ("(commentary = +/-)", false),
            ("commentary = \"+/=\"", true),
            ("commentary=14 and games=10", true),
            ("commentary!=none", true),
        ] {
            if text.contains("!(") {
                // "!" is an annotation here, not a "not".
                assert!(Filter::parse(text).is_err());
                continue;
            }
            assert_eq!(
                Filter::parse(text).unwrap().admits(&subject()),
                meant,
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_column() {
        for (text, column, part) in [
            ("", 1, "expected one of games"),
            ("games", 6, "< <= >"),
            ("games<", 7, "compare"),
            ("games<x", 7, "a number"),
            ("games<1 games>2", 9, "\"and\""),
            ("(games<1", 9, "\")\""),
            ("gmaes<1", 1, "gmaes"),
            ("games<1 and mark=blue", 18, "main, avoid or none"),
            ("games # 1", 7, "no meaning"),
            ("annotation=\"!", 12, "no end"),
            ("games<inf", 7, "a number"),
        ] {
            let error = Filter::parse(text).unwrap_err();
            assert_eq!(error.column, column, "{text}: {error}");
            assert!(error.text.contains(part), "{text}: {error}");
        }
        let deep = format!("{}games<1", "not ".repeat(1000));
        assert!(Filter::parse(&deep).is_err());
    }
}
