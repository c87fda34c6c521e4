//! The output of `tabia diff --json`: one object on each line.

use serde_json::{Map, Value, json};

use shakmaty::Chess;
use tabia_book::compare::{Aspect, Compared, Difference, MoveDifference};
use tabia_book::{Field, Mark, Preference};
use tabia_notation::{self as notation, Line};

/// The object on the last line.
pub(crate) fn summary(compared: &Compared) -> Value {
    let mut by_aspect = Map::new();
    for (aspect, count) in Aspect::ALL.iter().zip(compared.by_aspect) {
        for name in aspect.names() {
            by_aspect.insert(name.replace('-', "_"), json!(count));
        }
    }
    json!({ "summary": {
        "positions": compared.positions,
        "different": compared.different,
        "only_in_a": compared.only_in_a,
        "only_in_b": compared.only_in_b,
        "differing": by_aspect,
        "unread": compared.unread,
        "without_line": compared.without_line,
    }})
}

/// A differing position: each pair has the values of A and B, as stored.
pub(crate) fn difference(difference: &Difference, line: Option<Line>) -> Value {
    let position = &difference.position;
    let mut object = json!({ "fen": notation::fen(position) });
    let mut set = |name: &str, value: Value| {
        object[name] = value;
    };
    set("line", json!(line.as_ref().map(line_text)));
    if let Some(line) = &line {
        set("moves_from_start", json!(line.uci_words()));
    }
    if let Some(side) = difference.only_in {
        set("only_in", json!(side.as_str()));
        set("games", json!(difference.record.stats.games));
        set("stored_moves", json!(difference.stored_moves));
        return object;
    }
    if let Some((a, b)) = &difference.stats {
        set("stats", json!([a, b]));
    }
    if let Some((a, b)) = difference.points {
        set("points", json!([a, b]));
    }
    if let Some((a, b)) = difference.recommendation {
        set("recommendation", json!([a, b]));
        set(
            "mark",
            json!([Mark::from_byte(a).as_str(), Mark::from_byte(b).as_str()]),
        );
    }
    if let Some((a, b)) = difference.learn_value {
        // For the player of the move that leads to the position, as elsewhere.
        for name in Field::LearnValue.names() {
            set(name, json!([-i16::from(a), -i16::from(b)]));
        }
    }
    if let Some((a, b)) = difference.commentary {
        set("commentary", json!([a, b]));
    }
    let moves: Vec<Value> = difference
        .moves
        .iter()
        .map(|mv| move_json(mv, position))
        .collect();
    if !moves.is_empty() {
        set("moves", json!(moves));
    }
    object
}

/// The line to a difference as text.
pub(crate) fn line_text(line: &Line) -> String {
    match line.plies() {
        0 if *line.start() == Chess::default() => "start position".to_owned(),
        0 => "the position given".to_owned(),
        _ => line.to_string(),
    }
}

fn move_json(entry: &MoveDifference, position: &Chess) -> Value {
    let mut object = json!({
        "uci": notation::uci(entry.mv),
        "san": notation::san(position, entry.mv),
    });
    if let Some(side) = entry.only_in {
        object["only_in"] = json!(side.as_str());
    }
    if let Some((a, b)) = entry.annotation {
        object["annotation"] = json!([a.symbol(), b.symbol()]);
        object["annotation_byte"] = json!([a.0, b.0]);
    }
    match entry.preference {
        Some((Preference::Weight(a), Preference::Weight(b))) => {
            object["weight"] = json!([a, b]);
        }
        Some((Preference::Priority(a), Preference::Priority(b))) => {
            object["priority"] = json!([a, b]);
        }
        _ => {}
    }
    if let Some((a, b)) = &entry.stats {
        object["stats"] = json!([a, b]);
    }
    object
}
