//! Options that name files.

use std::fmt;
use std::ops::RangeFull;

use super::paths;
use tabia_book::options::{Expected, OptionKind, OptionValue};

/// The value for the book that comes with the program.
pub const STARTER: &str = "<starter>";
/// The value for no book.
pub const NONE: &str = "<empty>";
/// The value for the evaluation file next to a book.
pub const BESIDE: &str = "<beside>";
/// The value for the `[[books]]` of engines.toml.
pub const CONFIGURED: &str = "<configured>";

/// Paths of books, in the order in which they are asked; each may be [`STARTER`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Paths(pub Vec<String>);

/// The value of `Book File`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BookFiles {
    /// The `[[books]]` of engines.toml.
    Configured,
    /// These books.
    Listed(Paths),
}

/// The value of `Book Evaluations`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EvaluationFile {
    /// No evaluations.
    None,
    /// The file beside the book, if there is one.
    Beside,
    /// This file.
    Named(String),
}

/// The path of a file, or none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OptionalPath(pub Option<String>);

impl EvaluationFile {
    /// The path, if one is named.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            EvaluationFile::None | EvaluationFile::Beside => None,
            EvaluationFile::Named(path) => Some(path),
        }
    }
}

impl OptionalPath {
    /// The path, if there is one.
    #[must_use]
    pub fn as_deref(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

/// The book that comes with the program.
impl Default for BookFiles {
    fn default() -> BookFiles {
        BookFiles::Listed(Paths(vec![STARTER.to_owned()]))
    }
}

impl fmt::Display for Paths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.is_empty() {
            true => f.write_str(NONE),
            false => f.write_str(&paths::join(&self.0)),
        }
    }
}

impl fmt::Display for BookFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BookFiles::Configured => f.write_str(CONFIGURED),
            BookFiles::Listed(paths) => paths.fmt(f),
        }
    }
}

impl fmt::Display for EvaluationFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EvaluationFile::None => NONE,
            EvaluationFile::Beside => BESIDE,
            EvaluationFile::Named(path) => path,
        })
    }
}

impl fmt::Display for OptionalPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_deref().unwrap_or(NONE))
    }
}

/// The text of one path; some users write it between quotes. `None` for no file.
fn one_path(text: &str) -> Option<&str> {
    let path = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text);
    (!path.is_empty() && path.trim() != NONE).then_some(path)
}

impl OptionValue for Paths {
    type Range = RangeFull;

    fn read(text: &str, _: &RangeFull) -> Result<Paths, Expected> {
        let paths = paths::split(text);
        Ok(match paths == [NONE] {
            true => Paths::default(),
            false => Paths(paths),
        })
    }

    fn kind(&self, _: &RangeFull) -> OptionKind {
        OptionKind::Paths
    }
}

impl OptionValue for BookFiles {
    type Range = RangeFull;

    fn read(text: &str, range: &RangeFull) -> Result<BookFiles, Expected> {
        let paths = Paths::read(text, range)?;
        Ok(match paths.0 == [CONFIGURED] {
            true => BookFiles::Configured,
            false => BookFiles::Listed(paths),
        })
    }

    fn kind(&self, _: &RangeFull) -> OptionKind {
        OptionKind::Paths
    }
}

impl OptionValue for EvaluationFile {
    type Range = RangeFull;

    fn read(text: &str, _: &RangeFull) -> Result<EvaluationFile, Expected> {
        Ok(match one_path(text) {
            None => EvaluationFile::None,
            Some(BESIDE) => EvaluationFile::Beside,
            Some(path) => EvaluationFile::Named(path.to_owned()),
        })
    }

    fn kind(&self, _: &RangeFull) -> OptionKind {
        OptionKind::Text
    }
}

impl OptionValue for OptionalPath {
    type Range = RangeFull;

    fn read(text: &str, _: &RangeFull) -> Result<OptionalPath, Expected> {
        Ok(OptionalPath(one_path(text).map(str::to_owned)))
    }

    fn kind(&self, _: &RangeFull) -> OptionKind {
        OptionKind::Path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_for_files_are_values_of_their_own() {
        let books = |text| BookFiles::read(text, &..).unwrap();
        assert_eq!(books(" <configured> "), BookFiles::Configured);
        assert_eq!(books(STARTER), BookFiles::default());
        for none in ["", "<empty>", " ; "] {
            assert_eq!(books(none), BookFiles::Listed(Paths::default()));
            assert_eq!(books(none).to_string(), NONE);
        }
        let evaluations = |text| EvaluationFile::read(text, &..).unwrap();
        assert_eq!(evaluations(BESIDE), EvaluationFile::Beside);
        assert_eq!(evaluations(""), EvaluationFile::None);
        assert_eq!(evaluations(" <empty>"), EvaluationFile::None);
        let quoted = evaluations("\"C:\\my  books\\a.evals\"");
        assert_eq!(
            quoted,
            EvaluationFile::Named("C:\\my  books\\a.evals".to_owned())
        );
        assert_eq!(OptionalPath::read("\"\"", &..).unwrap(), OptionalPath(None));
    }

    fn is_stable<V: OptionValue<Range = RangeFull> + fmt::Debug>(text: &str) {
        let value = V::read(text, &..).unwrap();
        assert_eq!(V::read(&value.to_string(), &..).unwrap(), value, "{text}");
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_as_the_same(text in "[a b;<>é/]{0,8}|\"[a b]{0,3}\"|<[a-z]{5,10}>") {
            is_stable::<Paths>(&text);
            is_stable::<BookFiles>(&text);
            is_stable::<EvaluationFile>(&text);
            is_stable::<OptionalPath>(&text);
        }
    }
}
