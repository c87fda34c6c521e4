//! The options of Tabia in the introduction of UCI.

use tabia_book::options::OptionKind;
use tabia_choice::settings::{OptionId, Options};
use tabia_uci::message::UciOptionConfig;

/// Tabia's own options as UCI declares them, with these values as defaults.
pub fn declarations(options: &Options) -> impl Iterator<Item = UciOptionConfig> {
    OptionId::ALL.iter().map(|id| {
        let name = id.spec().name.to_owned();
        match options.kind(*id) {
            OptionKind::Check(value) => UciOptionConfig::Check {
                name,
                default: Some(value),
            },
            OptionKind::Spin {
                value,
                least,
                greatest,
            } => UciOptionConfig::Spin {
                name,
                default: Some(value),
                min: Some(least),
                max: Some(greatest),
            },
            OptionKind::Combo { value, words } => UciOptionConfig::Combo {
                name,
                default: Some(value.to_owned()),
                var: words.iter().map(ToString::to_string).collect(),
            },
            OptionKind::Text | OptionKind::Path | OptionKind::Paths => UciOptionConfig::String {
                name,
                default: Some(options.get(*id).to_string()),
            },
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabia_uci::message::UciMessage;

    /// What GUIs require of option lines.
    #[test]
    fn declarations_suit_the_strictest_gui() {
        let lines: Vec<String> = declarations(&Options::default())
            .map(|option| UciMessage::Option(option).to_string())
            .collect();
        assert_eq!(lines.len(), OptionId::ALL.len());
        for id in OptionId::ALL {
            let name = id.spec().name;
            for word in name.split(' ') {
                let key = ["name", "type", "default", "min", "max", "var", "value"];
                assert!(!key.contains(&word), "{name}");
            }
            match Options::default().kind(*id) {
                OptionKind::Spin {
                    value,
                    least,
                    greatest,
                } => assert!((least..=greatest).contains(&value)),
                OptionKind::Combo { words, .. } => {
                    assert!(words.iter().all(|word| !word.contains(' ')));
                }
                _ => {}
            }
        }
        for expected in [
            "option name Book White File type string default <empty>",
            "option name Book Depth type spin default 1000 min 0 max 1000",
            "option name Book Info type combo default full var none var brief var full",
        ] {
            assert!(lines.iter().any(|line| line == expected), "{expected}");
        }
    }
}
