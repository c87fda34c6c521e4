//! Problems with an engine, its books and its files.

/// Greatest number of reasons in the verdict.
const REASONS: usize = 3;

/// Problems with an engine of the configuration: numbers of each kind.
#[derive(Clone, Default)]
pub(super) struct Faults {
    /// Options that the engine does not have, or with invalid values.
    pub(super) options: u32,
    /// The engine is not ready after it got its options.
    pub(super) unready: u32,
    /// Books that cannot be opened.
    pub(super) missing: u32,
    /// Books that can be opened but have no moves.
    pub(super) silent: u32,
    /// Other files that cannot be used.
    pub(super) files: u32,
    /// Books that stop answering in every position that has a value.
    pub(super) exits: u32,
    /// Books whose conditions no game meets.
    pub(super) unmet: u32,
    /// No book answers in any game.
    pub(super) never: u32,
    /// What is wrong, with its place.
    pub(super) reasons: Vec<String>,
}

impl Faults {
    /// Part of a sentence for each kind; empty if there is no problem.
    pub(super) fn describe(&self) -> String {
        let number = |count: u32, one: &str, more: &str| match count {
            0 => None,
            1 => Some(one.to_owned()),
            count => Some(format!("{count} {more}")),
        };
        let texts = [
            number(self.missing, "a book does not open", "books do not open"),
            number(
                self.silent,
                "a book answers nothing",
                "books answer nothing",
            ),
            number(self.files, "a file cannot be used", "files cannot be used"),
            number(
                self.exits,
                "Book Exit Below is above Book Exit Above",
                "books have Book Exit Below above Book Exit Above",
            ),
            number(
                self.unmet,
                "no game meets the conditions of a book",
                "books have conditions that no game meets",
            ),
            number(self.never, "no book answers in any game", ""),
            number(self.options, "an option is wrong", "options are wrong"),
            number(self.unready, "it is not ready with its options", ""),
        ];
        let text = texts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let named = self.reasons.get(..REASONS).unwrap_or(&self.reasons);
        match (named, self.reasons.len() - named.len()) {
            ([], _) => text,
            (named, 0) => format!("{text} ({})", named.join("; ")),
            (named, more) => format!("{text} ({}; and {more} more)", named.join("; ")),
        }
    }
}
