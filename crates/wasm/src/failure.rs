//! Errors as JavaScript gets them: an object with the name of their class.

use serde::Serialize;
use tabia_book::Error;

/// A class of `npm/tabia.js`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Class {
    /// A book that cannot be opened or read.
    #[serde(rename = "BookError")]
    Book,
    /// The text is not a position.
    #[serde(rename = "PositionError")]
    Position,
    /// There is no such option, or it does not take the value.
    #[serde(rename = "OptionError")]
    Option,
    /// The book cannot be written in this format.
    #[serde(rename = "ConvertError")]
    Convert,
}

/// An error.
#[derive(Debug, Serialize)]
pub(crate) struct Failure {
    pub(crate) class: Class,
    pub(crate) text: String,
    #[serde(flatten)]
    at: At,
}

/// Where it is, as far as that is known.
#[derive(Debug, Default, Serialize)]
struct At {
    file: Option<String>,
    page: Option<u32>,
    byte: Option<u64>,
}

impl Failure {
    pub(crate) fn new(class: Class, text: impl ToString) -> Failure {
        Failure {
            class,
            text: text.to_string(),
            at: At::default(),
        }
    }

    /// A new book that could not be made, unless it is the old one that cannot be read.
    pub(crate) fn of_conversion(error: &Error) -> Failure {
        match error.place().file {
            Some(_) => Failure::from(error),
            None => Failure::new(Class::Convert, error),
        }
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Failure {
        let place = error.place();
        Failure {
            class: Class::Book,
            text: error.to_string(),
            at: At {
                file: place.file.map(|file| file.display().to_string()),
                page: place.page,
                byte: place.byte,
            },
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::from(&error)
    }
}
