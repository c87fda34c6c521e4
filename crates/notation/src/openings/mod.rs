//! Names and ECO codes of openings.
//!
//! The table (`names.tsv`: code, name, moves) is lichess's chess-openings, which is in
//! the public domain (CC0 1.0), with its rows sorted by their moves.

use std::collections::HashMap;
use std::sync::LazyLock;

use shakmaty::san::San;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Position as _};

/// The ECO code and name of an opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Opening {
    /// ECO code, as `B27`.
    pub eco: &'static str,
    /// English name, as `Sicilian Defense: Hyperaccelerated Dragon`.
    pub name: &'static str,
}

static NAMES: LazyLock<HashMap<u64, Opening>> = LazyLock::new(|| read(include_str!("names.tsv")));

/// Builds the table now, which takes some milliseconds, instead of at the first look-up.
pub fn warm_up() {
    LazyLock::force(&NAMES);
}

/// The opening of a position, whatever moves led to it; `None` if it has no name.
///
/// # Examples
///
/// ```
/// use tabia_notation::{Line, after, openings};
///
/// let line = Line::read("", "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6")?;
/// let of_each = line.moves().map(|(position, mv)| openings::find(&after(position, mv)));
/// let known: Vec<_> = of_each.flatten().collect();
/// assert_eq!(known[1].name, "Sicilian Defense");
/// let last = known.last().unwrap();
/// assert_eq!((last.eco, last.name), ("B90", "Sicilian Defense: Najdorf Variation"));
/// # Ok::<(), tabia_notation::LineError>(())
/// ```
#[must_use]
pub fn find(position: &Chess) -> Option<Opening> {
    NAMES.get(&key(position)).copied()
}

/// The opening of the last named position of a line.
#[must_use]
pub fn find_in_line(positions: &[Chess]) -> Option<Opening> {
    positions.iter().rev().find_map(find)
}

/// All openings with the moves that lead to them, as `1. e4 c5`.
pub fn rows() -> impl Iterator<Item = (Opening, &'static str)> {
    include_str!("names.tsv").lines().filter_map(|row| {
        let mut fields = row.split('\t');
        let (eco, name) = (fields.next()?, fields.next()?);
        Some((Opening { eco, name }, fields.next()?))
    })
}

fn key(position: &Chess) -> u64 {
    position
        .zobrist_hash::<Zobrist64>(EnPassantMode::Legal)
        .into()
}

/// Reads the table. Neighbouring rows begin with the same moves, so each row is played
/// from the position where it differs from the row before.
fn read(table: &'static str) -> HashMap<u64, Opening> {
    let mut names = HashMap::new();
    let mut line: Vec<(&str, Chess)> = Vec::new();
    'rows: for row in table.lines() {
        let mut fields = row.split('\t');
        let (Some(eco), Some(name), Some(moves)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let mut plies = 0;
        for word in moves.split(' ').filter(|word| !word.ends_with('.')) {
            plies += 1;
            if line.get(plies - 1).is_some_and(|(known, _)| *known == word) {
                continue;
            }
            line.truncate(plies - 1);
            let mut position = line.last().map_or_else(Chess::default, |(_, p)| p.clone());
            let played = word
                .parse::<San>()
                .ok()
                .and_then(|san| san.to_move(&position).ok());
            let Some(mv) = played else { continue 'rows };
            position.play_unchecked(mv);
            line.push((word, position));
        }
        line.truncate(plies);
        if let Some((_, position)) = line.last() {
            names.insert(key(position), Opening { eco, name });
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions_after(moves: &str) -> Vec<Chess> {
        let mut positions = vec![Chess::default()];
        for word in moves.split(' ') {
            let mut position = positions[positions.len() - 1].clone();
            let mv = word.parse::<San>().unwrap().to_move(&position).unwrap();
            position.play_unchecked(mv);
            positions.push(position);
        }
        positions
    }

    fn name_of(moves: &str) -> Option<Opening> {
        find(&positions_after(moves)[moves.split(' ').count()])
    }

    #[test]
    fn every_row_names_a_position_of_its_own() {
        assert_eq!(NAMES.len(), include_str!("names.tsv").lines().count());
    }

    #[test]
    fn a_row_that_is_the_beginning_of_the_one_before_has_its_own_position() {
        let names = read("A00\tlong\t1. e4 e5 2. Nf3\nA01\tshort\t1. e4\n");
        assert_eq!(
            names.get(&key(&positions_after("e4")[1])).unwrap().name,
            "short"
        );
    }

    #[test]
    fn a_line_is_called_by_its_last_named_position() {
        let sicilian = name_of("e4 c5").unwrap();
        assert_eq!((sicilian.eco, sicilian.name), ("B20", "Sicilian Defense"));
        let line = positions_after("e4 c5 h3 h6 a3 a6 b3");
        assert_eq!(find(&line[line.len() - 1]), None);
        assert!(
            find_in_line(&line)
                .unwrap()
                .name
                .starts_with("Sicilian Defense")
        );
        assert_eq!(find_in_line(&[Chess::default()]), None);
    }

    #[test]
    fn transpositions_have_the_same_name() {
        let one = name_of("d4 Nf6 c4 e6 g3");
        assert!(one.is_some());
        assert_eq!(one, name_of("c4 e6 g3 Nf6 d4"));
    }
}
