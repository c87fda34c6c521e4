//! Counts of what could not be read of a book.

use super::Error;

/// Damage in books that were read completely.
#[derive(Clone, Debug, Default)]
pub struct Salvage {
    /// Pages that cannot be read to their end.
    pub bad_pages: u64,
    /// Entries left out because their key is not a position.
    pub bad_keys: u64,
    /// Entries left out because one with the same key is earlier in the file, or is the
    /// one that readers find.
    pub repeated: u64,
    /// Pages that no slot leads to. Of these, entries that are nowhere else were used.
    pub unreached_pages: u64,
    /// The first of these problems, in words, with file and offset.
    pub messages: Vec<String>,
    /// Parts of books of other formats that are missing, damaged or not read, as
    /// [`Book::notices`](crate::Book::notices) has them, too: who opens a book prints those.
    pub parts: Vec<String>,
    /// The fault of the first bad page.
    pub(super) first_fault: Option<Error>,
}

impl Salvage {
    const MAX_MESSAGES: usize = 20;

    pub(super) fn message(&mut self, text: impl FnOnce() -> String) {
        if self.messages.len() < Salvage::MAX_MESSAGES {
            self.messages.push(text());
        }
    }

    /// Records a page that cannot be read to its end.
    pub fn bad_page(&mut self, fault: Error) {
        self.bad_pages += 1;
        self.message(|| fault.to_string());
        self.first_fault.get_or_insert(fault);
    }

    /// Records an entry whose key is not a position.
    pub(super) fn bad_key(&mut self, text: impl FnOnce() -> String) {
        self.bad_keys += 1;
        self.message(text);
    }

    /// Whether something could not be read.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        self.bad_pages + self.bad_keys > 0 || !self.parts.is_empty()
    }

    /// An error if something was lost and `strict` is set.
    pub(crate) fn checked(&self, strict: bool) -> Result<(), Error> {
        match strict && self.is_loss() {
            true => Err(Error::Loss(self.summary_text())),
            false => Ok(()),
        }
    }

    /// A sentence with the number of losses and the first one.
    #[must_use]
    pub fn summary_text(&self) -> String {
        format!(
            "{}; the first: {}",
            self.notes().join("; "),
            self.first_text()
        )
    }

    /// The first problem, in words.
    pub(crate) fn first_text(&self) -> &str {
        let mut all = self.messages.iter().chain(&self.parts);
        all.next().map_or("", String::as_str)
    }

    /// A short list of all losses.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let end = match self.bad_pages {
            1 => "not read to its end",
            _ => "not read to their end",
        };
        [
            (self.bad_pages, "damaged page", end),
            (self.bad_keys, "position", "with an impossible key left out"),
            (self.repeated, "repeated position", "left out"),
            (self.unreached_pages, "page", "that no slot led to"),
            (
                self.parts.len() as u64,
                "missing or damaged part",
                "not read",
            ),
        ]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, what, fate)| format!("{count} {what}{} {fate}", plural(count)))
        .collect()
    }

    /// Adds the damage of another book, or of another part of this one.
    pub fn add(&mut self, other: Salvage) {
        self.bad_pages += other.bad_pages;
        self.bad_keys += other.bad_keys;
        self.repeated += other.repeated;
        self.unreached_pages += other.unreached_pages;
        for message in other.messages {
            self.message(|| message);
        }
        self.parts.extend(other.parts);
        if let Some(fault) = other.first_fault {
            self.first_fault.get_or_insert(fault);
        }
    }
}
