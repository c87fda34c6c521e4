//! Games as PGN text, in the standard's export format.
//!
//! The seven tags of the roster come first, in their order, the others by
//! name. A line has at most 79 characters, unless a single word is longer.
//! Reading the text and writing it again changes no byte.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::slice::Iter;

use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode};

use crate::{Game, Item};
use tabia_notation::pgn::{MoveText, Remarks, tag_name, write_tag};

/// Adds a game to `out`, with the empty line after it. Returns the number of tags that are
/// left out, because their names have no letter or digit.
pub fn write_pgn(game: &Game, out: &mut String) -> u64 {
    let left_out = write_tags(game, out);
    out.push('\n');
    write_movetext(game, out);
    out.push('\n');
    left_out
}

/// Returns the number of tags that are left out.
fn write_tags(game: &Game, out: &mut String) -> u64 {
    let value = |name: &str| game.tags.get(name).filter(|value| !value.is_empty());
    let or = |name: &str, other: &str| value(name).unwrap_or(other).to_owned();
    let unknown = |name: &String| if name.is_empty() { "?" } else { name }.to_owned();
    let roster = [
        ("Event", or("Event", "?")),
        ("Site", or("Site", "?")),
        ("Date", or("Date", "????.??.??")),
        ("Round", or("Round", "?")),
        ("White", unknown(&game.names.white)),
        ("Black", unknown(&game.names.black)),
        ("Result", game.result.to_pgn().to_owned()),
    ];
    let mut others: Vec<(&str, String)> = game
        .tags
        .iter()
        .filter(|(name, _)| roster.iter().all(|(known, _)| known != name))
        .map(|(name, value)| (name, value.to_owned()))
        .collect();
    let mut add = |name: &'static str, value: String| {
        if game.tags.get(name).is_none() {
            others.push((name, value));
        }
    };
    for (name, elo) in [("WhiteElo", game.elo.white), ("BlackElo", game.elo.black)] {
        if elo > 0 {
            add(name, elo.to_string());
        }
    }
    if let Ok(eco) = std::str::from_utf8(&game.eco)
        && !eco.starts_with('\0')
    {
        add("ECO", eco.to_owned());
    }
    if game.set_up || game.chess960 {
        add("SetUp", "1".to_owned());
        add("FEN", first_fen(game));
    }
    if game.chess960 {
        add("Variant", "Chess960".to_owned());
    }
    for (name, value) in &roster {
        write_tag(name, value, out);
    }
    // By the name that is written, and with one of its own for each: a reader takes the last
    // of equal ones.
    let mut written: BTreeMap<Cow<'_, str>, &str> = BTreeMap::new();
    let mut left_out = 0;
    for (name, value) in &others {
        let Some(mut name) = tag_name(name) else {
            left_out += 1;
            continue;
        };
        while written.contains_key(&name) || roster.iter().any(|(known, _)| name == *known) {
            name.to_mut().push('_');
        }
        written.insert(name, value);
    }
    for (name, value) in written {
        write_tag(&name, value, out);
    }
    left_out
}

/// The first position as FEN.
pub(crate) fn first_fen(game: &Game) -> String {
    let position = game.positions.first().cloned().unwrap_or_default();
    Fen::from_position(&position, EnPassantMode::Always).to_string()
}

/// The comment that comes next; empty if there is none.
fn comment<'g>(items: &mut Peekable<Iter<'g, Item>>) -> &'g str {
    match items.next_if(|next| matches!(next, Item::Comment(_))) {
        Some(Item::Comment(comment)) => comment,
        _ => "",
    }
}

/// A line of moves while it is written.
struct TextLine {
    /// The position before its last move, if variations replace it.
    before: Chess,
    now: Chess,
}

fn write_movetext(game: &Game, out: &mut String) {
    let mut items = game.movetext.iter().peekable();
    let mut text = MoveText::new(out, comment(&mut items));
    let mut line = TextLine {
        before: Chess::default(),
        now: game.positions.first().cloned().unwrap_or_default(),
    };
    // The lines around the variation.
    let mut around = Vec::new();
    let mut nags = Vec::new();
    // The comment before the first move of a variation.
    let mut begins = None;
    while let Some(item) = items.next() {
        match item {
            Item::Move(_) | Item::Null => {
                let mv = match item {
                    Item::Move(mv) => Some(*mv),
                    _ => None,
                };
                nags.clear();
                while let Some(Item::Nag(nag)) = items.next_if(|next| matches!(next, Item::Nag(_)))
                {
                    nags.push(*nag);
                }
                let remarks = Remarks {
                    nags: &nags,
                    comment: comment(&mut items),
                };
                if matches!(items.peek(), Some(Item::Begin)) {
                    line.before.clone_from(&line.now);
                }
                match begins.take() {
                    Some(comment) => text.begin_variation(comment, &mut line.now, mv, remarks),
                    None => text.play(&mut line.now, mv, remarks),
                }
            }
            Item::Begin => {
                begins = Some(comment(&mut items));
                let now = line.before.clone();
                let inner = TextLine {
                    before: Chess::default(),
                    now,
                };
                around.push(std::mem::replace(&mut line, inner));
            }
            Item::End => {
                text.end_variation();
                line = around.pop().unwrap_or(line);
            }
            // Each is read with its move.
            Item::Nag(_) | Item::Comment(_) => {}
        }
    }
    // Closes the variations that are still open; one without a move has not been begun.
    for _ in usize::from(begins.is_some())..around.len() {
        text.end_variation();
    }
    text.finish(game.result.to_pgn());
}
