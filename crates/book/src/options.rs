//! Options with types: how their values are read, written and declared.
//!
//! [`policy_options!`](crate::policy_options) is a table of such options: one row makes a
//! field, its default, and everything else that is known of it.

use std::borrow::Cow;
use std::fmt;
use std::ops::{RangeFull, RangeInclusive};

/// A type of the values of options. What it prints, it reads as the same value.
pub trait OptionValue: Clone + PartialEq + fmt::Display {
    /// The values that an option takes: numbers have a range, other types `..`.
    type Range;

    /// Reads a value as users and GUIs write it.
    ///
    /// # Errors
    ///
    /// The text is not a value, or is a value outside the range.
    fn read(text: &str, range: &Self::Range) -> Result<Self, Expected>;

    /// How the option is declared, with this value.
    fn kind(&self, range: &Self::Range) -> OptionKind;
}

/// How an option is declared, with its value. Text, path and paths are written as they
/// print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// On or off.
    Check(bool),
    /// A whole number.
    Spin {
        /// Its value.
        value: i64,
        /// The least.
        least: i64,
        /// The greatest.
        greatest: i64,
    },
    /// One of a few words.
    Combo {
        /// Its value.
        value: &'static str,
        /// All words.
        words: &'static [&'static str],
    },
    /// Text.
    Text,
    /// The path of a file.
    Path,
    /// Paths of files, separated by `;`.
    Paths,
}

/// The values that an option takes, as the end of a sentence: `a whole number from 0 to
/// 100`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Expected(Cow<'static, str>);

impl Expected {
    /// These values.
    pub fn new(values: impl Into<Cow<'static, str>>) -> Expected {
        Expected(values.into())
    }

    /// One of these words.
    #[must_use]
    pub fn one_of(words: &[&str]) -> Expected {
        Expected::new(format!("one of {}", words.join(", ")))
    }
}

impl OptionValue for bool {
    type Range = RangeFull;

    fn read(text: &str, _: &RangeFull) -> Result<bool, Expected> {
        match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Ok(true),
            "false" | "0" | "no" | "off" => Ok(false),
            _ => Err(Expected::new("true or false")),
        }
    }

    fn kind(&self, _: &RangeFull) -> OptionKind {
        OptionKind::Check(*self)
    }
}

impl OptionValue for u32 {
    type Range = RangeInclusive<u32>;

    fn read(text: &str, range: &Self::Range) -> Result<u32, Expected> {
        read_number(text, range)
    }

    fn kind(&self, range: &Self::Range) -> OptionKind {
        spin(*self, range)
    }
}

impl OptionValue for i32 {
    type Range = RangeInclusive<i32>;

    fn read(text: &str, range: &Self::Range) -> Result<i32, Expected> {
        read_number(text, range)
    }

    fn kind(&self, range: &Self::Range) -> OptionKind {
        spin(*self, range)
    }
}

fn read_number<N>(text: &str, range: &RangeInclusive<N>) -> Result<N, Expected>
where
    N: Copy + PartialOrd + fmt::Display + TryFrom<i64>,
{
    let number = text.trim().parse::<i64>().ok();
    number
        .and_then(|number| N::try_from(number).ok())
        .filter(|number| range.contains(number))
        .ok_or_else(|| {
            let (least, greatest) = (range.start(), range.end());
            Expected::new(format!("a whole number from {least} to {greatest}"))
        })
}

fn spin<N: Copy + Into<i64>>(value: N, range: &RangeInclusive<N>) -> OptionKind {
    OptionKind::Spin {
        value: value.into(),
        least: (*range.start()).into(),
        greatest: (*range.end()).into(),
    }
}

/// Makes an `enum` whose values are words, each of which is written here only: it prints, and
/// is read and declared as an option, by these words.
#[macro_export]
macro_rules! words {
    (
        $(#[$of_type:meta])*
        $vis:vis enum $name:ident {
            $($(#[$of_value:meta])* $value:ident = $word:literal),+ $(,)?
        }
    ) => {
        $(#[$of_type])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis enum $name {
            $($(#[$of_value])* $value),+
        }

        impl $name {
            /// The words of all values.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word of the value.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $($name::$value => $word),+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.word())
            }
        }

        impl $crate::options::OptionValue for $name {
            type Range = ::std::ops::RangeFull;

            /// Upper and lower case are the same.
            fn read(
                text: &str,
                _: &::std::ops::RangeFull,
            ) -> ::std::result::Result<$name, $crate::options::Expected> {
                $(if text.trim().eq_ignore_ascii_case($word) {
                    return Ok($name::$value);
                })+
                Err($crate::options::Expected::one_of($name::WORDS))
            }

            fn kind(&self, _: &::std::ops::RangeFull) -> $crate::options::OptionKind {
                $crate::options::OptionKind::Combo {
                    value: self.word(),
                    words: $name::WORDS,
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Judgement;
    use proptest::prelude::*;

    #[test]
    fn values_are_read_as_guis_write_them() {
        for (text, on) in [
            ("FALSE", false),
            (" 1", true),
            ("off", false),
            ("Yes", true),
        ] {
            assert_eq!(bool::read(text, &..), Ok(on), "{text}");
        }
        assert_eq!(Judgement::read(" Both ", &..), Ok(Judgement::Both));
        let error = |read: Result<Judgement, Expected>| read.unwrap_err().to_string();
        let expected = "one of results, evaluations, both";
        for wrong in ["", "bot", "both both"] {
            assert_eq!(error(Judgement::read(wrong, &..)), expected);
        }
        assert!(bool::read("", &..).is_err());
    }

    proptest! {
        #[test]
        fn a_number_is_read_if_it_is_in_the_range(
            number in -30_i64..30,
            least in -20_i32..0,
            greatest in 0_i32..20,
        ) {
            let read = i32::read(&format!(" {number} "), &(least..=greatest));
            let is_valid = (i64::from(least)..=i64::from(greatest)).contains(&number);
            prop_assert_eq!(read.clone().ok().map(i64::from), is_valid.then_some(number));
            if let Err(expected) = read {
                let text = format!("a whole number from {least} to {greatest}");
                prop_assert_eq!(expected.to_string(), text);
            }
            let positive = u32::read(&number.to_string(), &(0..=20));
            prop_assert_eq!(positive.ok().map(i64::from), (0..=20).contains(&number).then_some(number));
        }

        #[test]
        fn what_is_no_number_is_refused(text in "[a-z.+-]{0,4}|[0-9]{20,30}|[0-9]{1,3}[a-z. ][0-9]") {
            prop_assert!(u32::read(&text, &(0..=u32::MAX)).is_err());
        }
    }
}
