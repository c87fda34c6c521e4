//! The options that the page shows: those that decide between moves.

use serde::Serialize;
use tabia_book::options::OptionKind;
use tabia_book::policy::Topic;
use tabia_choice::settings::{OptionId, Options};

/// An option, as the page needs it for its field.
#[derive(Serialize)]
pub(super) struct StartOption {
    name: &'static str,
    help: &'static str,
    default: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    least: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    greatest: Option<i64>,
    words: &'static [&'static str],
}

/// The value of an option.
#[derive(Serialize)]
pub(super) struct OptionView {
    name: &'static str,
    value: String,
}

/// The options, with these values as defaults.
pub(super) fn start(general: &Options) -> Vec<StartOption> {
    let shown = shown().into_iter();
    let start = shown.map(|id| {
        let (kind, limits, words) = match general.kind(id) {
            OptionKind::Check(_) => ("check", None, &[][..]),
            OptionKind::Spin {
                least, greatest, ..
            } => ("spin", Some((least, greatest)), &[][..]),
            OptionKind::Combo { words, .. } => ("combo", None, words),
            OptionKind::Text | OptionKind::Path | OptionKind::Paths => ("text", None, &[][..]),
        };
        let spec = id.spec();
        StartOption {
            name: spec.name,
            help: spec.help,
            default: general.get(id).to_string(),
            kind,
            least: limits.map(|(least, _)| least),
            greatest: limits.map(|(_, greatest)| greatest),
            words,
        }
    });
    start.collect()
}

/// The values of the options.
pub(super) fn views(options: &Options) -> Vec<OptionView> {
    let shown = shown().into_iter();
    let views = shown.map(|id| OptionView {
        name: id.spec().name,
        value: options.get(id).to_string(),
    });
    views.collect()
}

/// The options in the order of the page.
fn shown() -> Vec<OptionId> {
    let mut shown = OptionId::deciding();
    shown.sort_by_key(|id| id.topic().map(place));
    shown
}

/// The place of a topic on the page.
const fn place(topic: Topic) -> u8 {
    match topic {
        Topic::Draw => 0,
        Topic::Minimums => 1,
        Topic::Learning => 2,
        Topic::Line => 3,
        Topic::Marks => 4,
        Topic::Evaluations => 5,
        Topic::Positions => 6,
        Topic::Exit => 7,
    }
}
