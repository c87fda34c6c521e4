//! Options by the names that users write.

use super::{OptionId, Options, Preset, Scope, Setting};
use tabia_book::options::OptionKind;
use tabia_book::policy::Topic;

/// The name that a word was probably meant to be: it differs by at most two letters, and by
/// fewer than half of the word's.
pub fn nearest<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let distances = names.into_iter();
    let distances = distances.map(|name| (strsim::damerau_levenshtein(word, name), name));
    let (distance, name) = distances.min()?;
    (distance <= 2 && 2 * distance < word.chars().count()).then_some(name)
}

/// Stands before the name of an engine's option that has the name of one of Tabia's.
pub const ENGINE_PREFIX: &str = "Engine ";

impl OptionId {
    /// The option of this UCI name; upper and lower case are the same.
    #[must_use]
    pub fn by_name(name: &str) -> Option<OptionId> {
        OptionId::find(|id| id.spec().name.eq_ignore_ascii_case(name))
    }

    /// The option that the user probably meant by a similar name: without blanks, with
    /// underscores, or with a typing error.
    #[must_use]
    pub fn like(name: &str) -> Option<OptionId> {
        let plain = |name: &str| -> String {
            name.chars()
                .filter(char::is_ascii_alphanumeric)
                .map(|c| c.to_ascii_lowercase())
                .collect()
        };
        let name = plain(name);
        let distance = |id: &OptionId| strsim::damerau_levenshtein(&name, &plain(id.spec().name));
        OptionId::ALL
            .iter()
            .map(|id| (distance(id), *id))
            .min_by_key(|(distance, _)| *distance)
            .filter(|(distance, _)| *distance <= 2 && name.len() > 5)
            .map(|(_, id)| id)
    }

    /// The option that is meant by a name that nobody has: one that [is like
    /// it](OptionId::like), or that lacks the `Book` (as "Variety").
    #[must_use]
    pub fn meant_by(name: &str) -> Option<OptionId> {
        OptionId::like(name).or_else(|| OptionId::by_key(name))
    }

    /// The option of this key in a `[book]` table of engines.toml: the name
    /// in lower case with `_` for blanks, with or without "book" before it.
    #[must_use]
    pub fn by_key(key: &str) -> Option<OptionId> {
        let plain = |text: &str| text.to_ascii_lowercase().replace([' ', '-'], "_");
        let key = plain(key);
        OptionId::find(|id| id.spec().key == key || plain(id.spec().name) == key)
    }

    /// What the option is about, if it decides between the moves of a book.
    #[must_use]
    pub const fn topic(self) -> Option<Topic> {
        match self.spec().scope {
            Scope::Choice(topic) => Some(topic),
            Scope::Opening | Scope::Book | Scope::Adapter(_) => None,
        }
    }

    /// The options that decide between the moves of a book, by their topics.
    #[must_use]
    pub fn deciding() -> Vec<OptionId> {
        let all = OptionId::ALL.iter().copied();
        by_topic(all.filter(|id| id.topic().is_some()))
    }

    /// The options that presets set, by their topics.
    #[must_use]
    pub fn of_presets() -> Vec<OptionId> {
        let settings = Setting::of_preset(Preset::Normal);
        by_topic(settings.iter().map(Setting::id))
    }

    /// Values of an option, its default first: for tests that try every option.
    #[must_use]
    pub fn sample_values(self) -> Vec<Setting> {
        let usual = Options::default();
        let texts: Vec<String> = match usual.kind(self) {
            OptionKind::Check(_) => ["true", "false"].map(str::to_owned).into(),
            OptionKind::Spin {
                least, greatest, ..
            } => [least, least + 1, greatest]
                .map(|number| number.to_string())
                .into(),
            OptionKind::Combo { words, .. } => words.iter().map(ToString::to_string).collect(),
            OptionKind::Text | OptionKind::Path | OptionKind::Paths => {
                ["", "800", "<starter>", "<configured>"]
                    .map(str::to_owned)
                    .into()
            }
        };
        let read = texts
            .iter()
            .filter_map(|text| Setting::read(self, text).ok());
        std::iter::once(usual.get(self)).chain(read).collect()
    }

    /// The engine's name of an option that bears a name of Tabia's: both are told apart by
    /// "Engine " before it (`Engine OwnBook`). Other names are the engine's as they stand.
    #[must_use]
    pub fn name_for_engine(name: &str) -> &str {
        OptionId::without_prefix(name).unwrap_or(name)
    }

    /// The name after [`ENGINE_PREFIX`], if it is one of Tabia's too.
    #[must_use]
    pub fn without_prefix(name: &str) -> Option<&str> {
        let start = name.get(..ENGINE_PREFIX.len())?;
        let rest = name.get(ENGINE_PREFIX.len()..)?;
        (start.eq_ignore_ascii_case(ENGINE_PREFIX) && OptionId::by_name(rest).is_some())
            .then_some(rest)
    }

    fn find(is_wanted: impl Fn(OptionId) -> bool) -> Option<OptionId> {
        OptionId::ALL.iter().copied().find(|id| is_wanted(*id))
    }
}

/// Sorted by topics; the options of one in the order of the table.
fn by_topic(ids: impl Iterator<Item = OptionId>) -> Vec<OptionId> {
    let mut ids: Vec<OptionId> = ids.collect();
    ids.sort_by_key(|id| id.topic());
    ids
}
