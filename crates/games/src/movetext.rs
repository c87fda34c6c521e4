//! The moves of a game, with signs, comments and variations.

use std::ops::Deref;

use shakmaty::Move;

/// One item of a movetext, in the order of PGN: the tree of a game as a flat list, so
/// that programs need no recursion to read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A move, legal in its position.
    Move(Move),
    /// A null move: the side to move passes.
    Null,
    /// A numeric annotation glyph of the last move: 1 is `!`, 2 `?`, 3 `!!`.
    Nag(u8),
    /// The comment on the last move of this line or, at the start of a line, on the moves
    /// after it.
    Comment(String),
    /// A variation begins: an alternative to the last move of this line.
    Begin,
    /// The variation that began last ends.
    End,
}

/// The movetext of a game: each move is followed by its signs (NAGs), by at most one comment
/// and by its variations, in this order; a line may begin with a comment.
///
/// Items are added in any order, and each takes its place: further comments on a move, also
/// after its variations, are joined to its first comment with a blank between, as
/// python-chess and kokopu do. Scid 5.0.2 loses them otherwise, and many programs refuse a
/// PGN file with two.
#[derive(Clone, Debug, Default)]
pub struct Movetext {
    items: Vec<Item>,
    main: LineEnd,
    /// The variations that are open.
    open: Vec<Variation>,
    /// Number of open variations that have no move before them, and so no place.
    ignored: usize,
}

/// Where the last move of a line is.
#[derive(Clone, Debug, Default)]
struct LineEnd {
    last: Option<usize>,
    /// Signs before the first move, which are about it.
    waiting: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Variation {
    /// The index of its beginning.
    begin: usize,
    line: LineEnd,
}

impl Movetext {
    /// Adds an item at its place. Variations before the first move of a line are left out,
    /// as are empty comments, a sign that the move has, and the sign 0, which says nothing.
    pub fn push(&mut self, item: Item) {
        match item {
            Item::Begin if self.ignored > 0 || self.line().last.is_none() => self.ignored += 1,
            Item::End if self.ignored > 0 => self.ignored -= 1,
            _ if self.ignored > 0 => {}
            Item::Move(_) | Item::Null => {
                let place = self.items.len();
                self.items.push(item);
                let line = self.line();
                line.last = Some(place);
                let waiting = std::mem::take(&mut line.waiting);
                self.items.extend(waiting.into_iter().map(Item::Nag));
            }
            Item::Nag(0) => {}
            Item::Nag(nag) => self.nag(nag),
            Item::Comment(text) => self.comment(text),
            Item::Begin => {
                self.open.push(Variation {
                    begin: self.items.len(),
                    line: LineEnd::default(),
                });
                self.items.push(item);
            }
            Item::End => self.end(),
        }
    }

    /// Keeps the items for which `is_kept` is true.
    pub(super) fn retain(&mut self, mut is_kept: impl FnMut(&Item) -> bool) {
        let items = std::mem::take(&mut self.items);
        self.clear();
        self.extend(items.into_iter().filter(|item| is_kept(item)));
    }

    /// Removes all items; the memory is reused.
    pub fn clear(&mut self) {
        self.items.clear();
        self.main = LineEnd::default();
        self.open.clear();
        self.ignored = 0;
    }

    fn line(&mut self) -> &mut LineEnd {
        let open = self.open.last_mut().map(|variation| &mut variation.line);
        open.unwrap_or(&mut self.main)
    }

    /// The place after the last move of the line and its signs.
    fn after_signs(&self, last: usize) -> usize {
        let after = self.items.get(last + 1..).unwrap_or_default();
        let signs = after.iter().take_while(|item| matches!(item, Item::Nag(_)));
        last + 1 + signs.count()
    }

    fn nag(&mut self, nag: u8) {
        let line = self.line();
        let Some(last) = line.last else {
            if !line.waiting.contains(&nag) {
                line.waiting.push(nag);
            }
            return;
        };
        let place = self.after_signs(last);
        let known = self.items.get(last..place).unwrap_or_default();
        if !known.contains(&Item::Nag(nag)) {
            self.items.insert(place, Item::Nag(nag));
        }
    }

    fn comment(&mut self, text: String) {
        if text.trim_ascii().is_empty() {
            return;
        }
        let begin = self.open.last().map(|variation| variation.begin + 1);
        let place = match self.line().last {
            Some(last) => self.after_signs(last),
            None => begin.unwrap_or(0),
        };
        match self.items.get_mut(place) {
            Some(Item::Comment(known)) => {
                known.push(' ');
                known.push_str(&text);
            }
            _ => self.items.insert(place, Item::Comment(text)),
        }
    }

    /// Ends a variation. What stands in one without a move is said of the move before it.
    fn end(&mut self) {
        let Some(Variation { begin, line }) = self.open.pop() else {
            return;
        };
        if line.last.is_some() {
            self.items.push(Item::End);
            return;
        }
        let comment = self.items.pop_if(|item| matches!(item, Item::Comment(_)));
        self.items.truncate(begin);
        for nag in line.waiting {
            self.nag(nag);
        }
        if let Some(Item::Comment(text)) = comment {
            self.comment(text);
        }
    }
}

impl Deref for Movetext {
    type Target = [Item];

    fn deref(&self) -> &[Item] {
        &self.items
    }
}

impl Extend<Item> for Movetext {
    fn extend<I: IntoIterator<Item = Item>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

impl FromIterator<Item> for Movetext {
    fn from_iter<I: IntoIterator<Item = Item>>(items: I) -> Movetext {
        let mut text = Movetext::default();
        text.extend(items);
        text
    }
}

impl<'t> IntoIterator for &'t Movetext {
    type Item = &'t Item;
    type IntoIter = std::slice::Iter<'t, Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl PartialEq for Movetext {
    fn eq(&self, other: &Movetext) -> bool {
        self.items == other.items
    }
}

impl Eq for Movetext {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Game, GameParts, GameSource as _, PgnSource, write_pgn};
    use proptest::prelude::*;
    use shakmaty::{Chess, Move, Position as _};
    use std::sync::Arc;

    /// What is said of a move, or before the first move of a line.
    #[derive(Debug, Default, PartialEq)]
    struct Said {
        nags: Vec<u8>,
        words: Vec<String>,
    }

    /// A line, without regard to what stands where.
    #[derive(Debug, Default, PartialEq)]
    struct Line {
        before: Said,
        moves: Vec<(Option<Move>, Said, Vec<Line>)>,
    }

    impl Line {
        fn said(&mut self) -> &mut Said {
            match self.moves.last_mut() {
                Some((_, said, _)) => said,
                None => &mut self.before,
            }
        }

        /// Signs before the first move are about it.
        fn settle(&mut self) {
            if let Some((_, said, _)) = self.moves.first_mut() {
                let mut nags = std::mem::take(&mut self.before.nags);
                for nag in said.nags.drain(..) {
                    if !nags.contains(&nag) {
                        nags.push(nag);
                    }
                }
                said.nags = nags;
            }
        }
    }

    /// Random items, legal but in any order, and the lines that they are.
    fn random(choices: &[u8]) -> (Vec<Item>, Line) {
        let mut items = Vec::new();
        let mut lines = vec![(Line::default(), Chess::default(), Chess::default())];
        let words = [
            "good",
            "a}b",
            "{",
            "[%clk 1:00]",
            "[%x",
            "%",
            "[Event",
            "(",
            ";",
            "é",
            "$3",
        ];
        for pair in choices.chunks(2) {
            let [kind, which] = *pair else { break };
            let which = usize::from(which);
            let depth = lines.len();
            let (line, before, now) = lines.last_mut().unwrap();
            match kind % 10 {
                0..=3 => {
                    let legal = now.legal_moves();
                    let next = match legal.get(which % legal.len().max(1)) {
                        Some(mv) if which != 7 => {
                            Some((Some(*mv), tabia_notation::after(now, *mv)))
                        }
                        _ => tabia_notation::pass(now).map(|next| (None, next)),
                    };
                    let Some((mv, next)) = next else { continue };
                    items.push(mv.map_or(Item::Null, Item::Move));
                    line.moves.push((mv, Said::default(), Vec::new()));
                    *before = std::mem::replace(now, next);
                }
                4 => {
                    let nag = which as u8;
                    items.push(Item::Nag(nag));
                    let nags = &mut line.said().nags;
                    if nag > 0 && !nags.contains(&nag) {
                        nags.push(nag);
                    }
                }
                5 | 6 => {
                    let text = words[which % words.len()];
                    items.push(Item::Comment(text.to_owned()));
                    line.said().words.extend(text.split(' ').map(str::to_owned));
                }
                7 if !line.moves.is_empty() && depth < 5 => {
                    items.push(Item::Begin);
                    let start = before.clone();
                    lines.push((Line::default(), start.clone(), start));
                }
                8 | 9 if depth > 1 => {
                    items.push(Item::End);
                    close(&mut lines);
                }
                _ => {}
            }
        }
        while lines.len() > 1 {
            items.push(Item::End);
            close(&mut lines);
        }
        let mut main = lines.remove(0).0;
        main.settle();
        if main.moves.is_empty() {
            main.before.nags.clear();
        }
        (items, main)
    }

    fn close(lines: &mut Vec<(Line, Chess, Chess)>) {
        let (mut line, ..) = lines.pop().unwrap();
        line.settle();
        let (outer, ..) = lines.last_mut().unwrap();
        if line.moves.is_empty() {
            let said = outer.said();
            for nag in line.before.nags {
                if !said.nags.contains(&nag) {
                    said.nags.push(nag);
                }
            }
            said.words.extend(line.before.words);
        } else {
            outer.moves.last_mut().unwrap().2.push(line);
        }
    }

    /// The lines of a movetext, which must be in order.
    fn lines_of(items: &mut std::iter::Peekable<std::slice::Iter<'_, Item>>) -> Line {
        let mut line = Line::default();
        let words = |text: &String| text.split(' ').map(str::to_owned).collect();
        if let Some(Item::Comment(text)) = items.next_if(|item| matches!(item, Item::Comment(_))) {
            line.before.words = words(text);
        }
        while let Some(item) = items.next_if(|item| matches!(item, Item::Move(_) | Item::Null)) {
            let mv = match item {
                Item::Move(mv) => Some(*mv),
                _ => None,
            };
            let (mut said, mut others) = (Said::default(), Vec::new());
            while let Some(Item::Nag(nag)) = items.next_if(|item| matches!(item, Item::Nag(_))) {
                said.nags.push(*nag);
            }
            if let Some(Item::Comment(text)) =
                items.next_if(|item| matches!(item, Item::Comment(_)))
            {
                said.words = words(text);
            }
            while items.next_if(|item| **item == Item::Begin).is_some() {
                others.push(lines_of(items));
                assert_eq!(items.next(), Some(&Item::End));
            }
            line.moves.push((mv, said, others));
        }
        line
    }

    /// The words of a comment as they are written.
    fn written(line: &mut Line) {
        let spell = |said: &mut Said| {
            let text = said.words.join(" ").replace('{', "(").replace('}', ")");
            let text = text.replace("[%x", "[ %x");
            said.words = text
                .split(' ')
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect();
        };
        spell(&mut line.before);
        for (_, said, others) in &mut line.moves {
            spell(said);
            others.iter_mut().for_each(written);
        }
    }

    /// Whether the words of a text are a move, its signs, one comment and its variations, again
    /// and again.
    fn is_in_order(text: &str) -> bool {
        let mut rest = text.trim();
        // What may follow the last part: 0 a move, 1 also a sign, 2 a comment, 3 a variation.
        let mut last = 'b';
        while !rest.is_empty() {
            let (kind, length) = match rest.as_bytes()[0] {
                b'{' => ('c', rest.find('}').unwrap() + 1),
                b'(' => ('(', 1),
                b')' => (')', 1),
                b'$' => ('$', rest.find([' ', '\n', ')']).unwrap_or(rest.len())),
                _ => ('m', rest.find([' ', '\n', ')']).unwrap_or(rest.len())),
            };
            let (word, after) = rest.split_at(length);
            let is_allowed = match kind {
                '$' => matches!(last, 'm' | '$'),
                // At the start of a line, or after a move.
                'c' => matches!(last, 'b' | 'm' | '$' | '('),
                '(' => matches!(last, 'm' | '$' | 'c' | ')'),
                ')' => last != '(',
                _ => true,
            };
            if !is_allowed || kind == 'c' && word[1..].contains('{') {
                return false;
            }
            last = kind;
            rest = after.trim_start();
        }
        true
    }

    proptest! {
        #[test]
        fn every_item_takes_its_place_and_the_text_is_read_as_the_same_game(
            choices in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let (items, mut expected) = random(&choices);
            let game = Game {
                movetext: items.into_iter().collect(),
                ..Game::default()
            };
            let found = lines_of(&mut game.movetext.iter().peekable());
            prop_assert_eq!(&found, &expected);
            let mut text = String::new();
            write_pgn(&game, &mut text);
            let (_, moves) = text.split_once("\n\n").unwrap();
            prop_assert!(is_in_order(moves), "{}", moves);
            let bytes = Box::new(std::io::Cursor::new(text.clone().into_bytes()));
            let mut source = PgnSource::new("x", bytes, Arc::default());
            let mut batch = source.next_batch().unwrap().unwrap();
            let mut read = Game::default();
            prop_assert!(batch.next_game(GameParts::EVERYTHING, &mut read).unwrap());
            prop_assert_eq!(&read.cut, &None, "{}", text);
            written(&mut expected);
            let mut again = lines_of(&mut read.movetext.iter().peekable());
            // Line breaks of a comment are kept when it is read.
            written(&mut again);
            let joined = |line: &Line| format!("{line:?}").replace("\\n", "\", \"");
            prop_assert_eq!(joined(&again), joined(&expected), "{}", text);
        }
    }
}
