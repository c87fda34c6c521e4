//! The parameters of a request: `name=value`, percent-encoded.

use super::line;
use super::message::{Message, translatable};
use tabia_choice::settings::{OptionId, Options, Settings};
use tabia_notation::Line;

/// Parameters in their order.
#[derive(Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads the part of an address after `?`.
    pub(super) fn read(text: &str) -> Query {
        Query(
            form_urlencoded::parse(text.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    /// The last value of a name; `None` if it is missing or empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.trim())
            .filter(|value| !value.is_empty())
    }

    /// Replaces the value of a name.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.0.push((name.to_owned(), value.to_owned()));
    }

    /// A number, or `default` if it is missing.
    pub(super) fn number(&self, name: &str, default: usize) -> Result<usize, Message> {
        Ok(self.optional_number(name)?.unwrap_or(default))
    }

    /// A number, if it is given.
    pub(super) fn optional_number(&self, name: &str) -> Result<Option<usize>, Message> {
        let number = self.get(name).map(str::parse).transpose();
        number.map_err(|_| translatable!("{0}: expected a whole number", name))
    }

    /// The line of moves `play` from the position `fen`.
    pub(super) fn line(&self) -> Result<Line, Message> {
        line::read(self.get("fen"), self.get("play"))
    }

    /// The values of all parameters that are UCI options.
    ///
    /// # Errors
    ///
    /// The value of an option is invalid.
    pub(super) fn settings(&self, general: &Options) -> Result<Options, Message> {
        let mut settings = Settings::from(general.clone());
        for (name, value) in &self.0 {
            if let Some(id) = OptionId::by_name(name).filter(|id| id.topic().is_some()) {
                let set = settings.set(id, value);
                set.map_err(|error| Message::from(error.to_string()))?;
            }
        }
        Ok(settings.options().clone())
    }
}

/// Decodes percent codes.
pub(super) fn decode_percent(text: &str) -> String {
    // Escaped as in a parameter, where "+" would be a blank.
    let text = text.replace('+', "%2B").replace('&', "%26");
    let value = format!("x={text}");
    let mut pairs = form_urlencoded::parse(value.as_bytes());
    pairs
        .next()
        .map_or_else(String::new, |(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_decoded() {
        let query = Query::read("fen=8%2F8+w&fen=last&play=&n=7&m=x");
        assert_eq!(query.get("fen"), Some("last"));
        assert_eq!(query.get("play"), None);
        assert_eq!(query.number("n", 1), Ok(7));
        assert_eq!(query.number("o", 1), Ok(1));
        assert!(query.number("m", 1).is_err());
    }

    #[test]
    fn options_have_their_uci_names() {
        let set = |text: &str| Query::read(text).settings(&Options::default());
        let settings = set("book+variety=20&Book%20Tournament=false&x=1").unwrap();
        assert_eq!(settings.policy.variety, 20);
        assert!(!settings.policy.tournament);
        assert!(set("Book+Variety=101").is_err());
        // A request cannot set options that are paths.
        let settings = set("Book+File=/etc/passwd").unwrap();
        assert_eq!(settings, Options::default());
    }
}
