//! Records a game move by move while a source decodes it.

use shakmaty::{Chess, Move, Position};

use super::{Game, GameParts, Item, MoveAnnotation, SkipReason};

use tabia_notation as notation;

/// Fills the moves of a [`Game`]. A source calls it for each item, in the order of PGN;
/// it tracks the current position, separates main line and variations, and stores the
/// requested parts.
///
/// The game is complete only after this is dropped: then its last position is stored.
pub(crate) struct Recorder<'g> {
    game: &'g mut Game,
    wanted: GameParts,
    /// The last position of the main line. Moves are played here, not in the game's
    /// list, because reading a position just copied is slow.
    now: Chess,
    /// The state of the main line after a null move in it: later moves are stored in
    /// the movetext only.
    beyond: Option<SideLine>,
    /// Open variations that are recorded.
    side_lines: Vec<SideLine>,
    /// Number of open variations that are not recorded, inside one another.
    ignored: usize,
}

/// Deeper variations are ignored: they come from damage, or from a file made to exhaust
/// the memory.
const DEEPEST: usize = 500;

/// A variation, or the main line after a null move.
#[derive(Default)]
struct SideLine {
    /// The position before its last move, and its ply.
    before: Option<(usize, Chess)>,
    /// The position after its last move, and its ply; `None` if the line is not
    /// recorded further.
    now: Option<(usize, Chess)>,
    /// Index of its last move in the side moves.
    last: Option<usize>,
}

impl Drop for Recorder<'_> {
    fn drop(&mut self) {
        self.game.positions.push(self.now.clone());
    }
}

impl<'g> Recorder<'g> {
    /// Continues from the last position of `game`'s main line.
    pub(crate) fn new(wanted: GameParts, game: &'g mut Game) -> Recorder<'g> {
        let now = game.positions.pop().unwrap_or_default();
        Recorder {
            game,
            wanted,
            now,
            beyond: None,
            side_lines: Vec::new(),
            ignored: 0,
        }
    }

    /// Restarts from a position.
    pub(crate) fn start_from(&mut self, position: Chess) {
        self.game.start_from(position);
        self.now = self.game.positions.pop().unwrap_or_default();
    }

    /// The game recorded so far.
    pub(crate) fn game(&mut self) -> &mut Game {
        self.game
    }

    /// Whether notes are recorded: comments, NAGs and the like.
    #[must_use]
    pub(crate) fn wants_notes(&self) -> bool {
        self.wanted.notes
    }

    /// Whether variations are recorded.
    #[inline]
    #[must_use]
    pub(crate) fn wants_variations(&self) -> bool {
        self.wanted.variations || self.wanted.notes
    }

    /// Whether no later part of the game is needed.
    #[inline]
    #[must_use]
    pub(crate) fn is_done(&self) -> bool {
        let gave_up = self.beyond.as_ref().is_some_and(|line| line.now.is_none());
        // What follows the last move may be about it.
        let ends = !self.wants_variations() && !self.wanted.annotations;
        let full = ends && self.game.moves.len() >= self.wanted.plies;
        self.is_main_line() && (gave_up || full)
    }

    /// Whether the current line is the main line.
    #[inline]
    #[must_use]
    pub(crate) fn is_main_line(&self) -> bool {
        self.side_lines.is_empty() && self.ignored == 0
    }

    /// The position of the next move; `None` if the move is not needed or its line was
    /// abandoned.
    #[inline]
    #[must_use]
    pub(crate) fn position(&self) -> Option<&Chess> {
        let (ply, position) = match (self.side_lines.last(), &self.beyond) {
            _ if self.ignored > 0 => return None,
            (Some(line), _) | (None, Some(line)) => {
                line.now.as_ref().map(|(ply, now)| (*ply, now))?
            }
            (None, None) => (self.game.moves.len(), &self.now),
        };
        (ply < self.wanted.plies).then_some(position)
    }

    /// The number of the next move as in `12...`, for messages.
    #[must_use]
    pub(crate) fn move_number(&self) -> String {
        self.position().map_or_else(String::new, notation::number)
    }

    /// Plays a move, which must be legal in [`Recorder::position`]. If that is `None`,
    /// the move is ignored.
    #[inline]
    pub(crate) fn play(&mut self, m: Move) {
        if self.beyond.is_some() || !self.is_main_line() {
            self.play_side_move(m);
            return;
        }
        if self.game.moves.len() >= self.wanted.plies {
            self.drop_line();
            return;
        }
        if self.wanted.notes {
            self.game.movetext.push(Item::Move(m));
        }
        self.game.moves.push(m);
        self.game.positions.push(self.now.clone());
        self.now.play_unchecked(m);
    }

    /// Plays a move in a line other than the main line.
    fn play_side_move(&mut self, m: Move) {
        let Some(position) = self.position() else {
            self.drop_line();
            return;
        };
        let mut next = position.clone();
        next.play_unchecked(m);
        if self.wanted.notes {
            self.game.movetext.push(Item::Move(m));
        }
        match self.side_lines.last_mut() {
            None => {
                if let Some(line) = &mut self.beyond {
                    line.step(next);
                }
            }
            Some(line) => {
                if self.wanted.variations
                    && self.beyond.is_none()
                    && let Some((ply, position)) = &line.now
                {
                    line.last = Some(self.game.side_moves.len());
                    self.game.side_moves.push((*ply, position.clone(), m));
                }
                line.step(next);
            }
        }
    }

    /// Plays a null move; false if the side to move is in check. Books cannot store
    /// one: without notes the line ends here. That cuts a game short, not a variation.
    pub(crate) fn play_null(&mut self) -> bool {
        let Some(position) = self.position() else {
            self.drop_line();
            return true;
        };
        if !self.wanted.notes && !self.is_main_line() {
            self.game.null_variations += 1;
            self.drop_line();
            return true;
        }
        if !self.wanted.notes {
            let number = notation::number(position);
            let text = format!("move {number} is a null move");
            self.give_up_line(SkipReason::Text(text));
            return true;
        }
        let Some(next) = notation::pass(position) else {
            return false;
        };
        self.game.movetext.push(Item::Null);
        match self.side_lines.last_mut() {
            Some(line) => line.step(next),
            None => {
                let ply = self.game.moves.len();
                let now = &self.now;
                let line = self.beyond.get_or_insert_with(|| SideLine {
                    now: Some((ply, now.clone())),
                    ..SideLine::default()
                });
                line.step(next);
            }
        }
        true
    }

    /// Records a NAG of the last move. One above 255 has no meaning, and formats have no
    /// room for it: it is left out, and the game is cut short.
    pub(crate) fn nag(&mut self, nag: impl Into<u32>) {
        let nag = nag.into();
        let Ok(nag) = u8::try_from(nag) else {
            if (self.wanted.notes || self.wanted.annotations) && !self.is_given_up() {
                let text = format!("the sign ${nag} is left out: the greatest is $255");
                self.game.cut.get_or_insert(SkipReason::Text(text));
            }
            return;
        };
        if self.wanted.annotations && !self.is_given_up() {
            let annotation = match self.side_lines.last() {
                Some(line) => line.last.map(|index| (true, index)),
                None if self.beyond.is_some() => None,
                None => self
                    .game
                    .moves
                    .len()
                    .checked_sub(1)
                    .map(|index| (false, index)),
            };
            let annotations = &mut self.game.annotations;
            annotations.extend(annotation.map(|(side_move, index)| MoveAnnotation {
                nag,
                side_move,
                index,
            }));
        }
        if !self.wanted.notes || self.is_given_up() {
            return;
        }
        self.game.movetext.push(Item::Nag(nag));
    }

    /// Records a comment.
    pub(crate) fn comment(&mut self, text: impl Into<String>) {
        if self.wanted.notes && !self.is_given_up() {
            self.game.movetext.push(Item::Comment(text.into()));
        }
    }

    /// Begins a variation: an alternative to the last move.
    pub(crate) fn begin_variation(&mut self) {
        let before = match (self.side_lines.last(), &self.beyond) {
            _ if !self.wants_variations() => None,
            (Some(line), _) | (None, Some(line)) => line.before.clone(),
            (None, None) => {
                // The position in which the last move was played.
                let ply = self.game.moves.len().checked_sub(1);
                ply.and_then(|ply| Some((ply, self.game.positions.get(ply)?.clone())))
            }
        };
        let is_too_deep = self.side_lines.len() >= DEEPEST;
        if before.is_none() || self.ignored > 0 || is_too_deep {
            let text = match before {
                _ if self.ignored > 0 => None,
                Some(_) => Some(format!("variations more than {DEEPEST} deep are left out")),
                None => self.is_before_first_move().then(|| {
                    "a variation before the first move of its line is left out".to_owned()
                }),
            };
            if let Some(text) = text {
                self.game.cut.get_or_insert(SkipReason::Text(text));
            }
            self.ignored += 1;
            return;
        }
        if self.wanted.notes {
            self.game.movetext.push(Item::Begin);
        }
        self.side_lines.push(SideLine {
            before: None,
            now: before,
            last: None,
        });
    }

    /// Whether the current line is recorded and has no move yet.
    fn is_before_first_move(&self) -> bool {
        match (self.side_lines.last(), &self.beyond) {
            _ if !self.wants_variations() => false,
            (Some(line), _) | (None, Some(line)) => line.before.is_none() && line.now.is_some(),
            (None, None) => self.game.moves.is_empty(),
        }
    }

    /// Ends the variation. Without one it does nothing.
    pub(crate) fn end_variation(&mut self) {
        if self.ignored > 0 {
            self.ignored -= 1;
        } else if self.side_lines.pop().is_some() && self.wanted.notes {
            self.game.movetext.push(Item::End);
        }
    }

    /// Ends all open variations at the end of the game.
    pub(crate) fn finish(&mut self) {
        self.ignored = 0;
        while !self.side_lines.is_empty() {
            self.end_variation();
        }
    }

    /// Marks that the rest of the line cannot be read and is left out. The game keeps
    /// the first reason.
    pub(crate) fn give_up_line(&mut self, reason: SkipReason) {
        if self.ignored == 0 {
            self.game.cut.get_or_insert(reason);
        }
        self.drop_line();
    }

    /// As [`Recorder::give_up_line`] without a reason: also if the next move is not needed.
    pub(crate) fn drop_line(&mut self) {
        match self.side_lines.last_mut() {
            _ if self.ignored > 0 => {}
            Some(line) => (line.before, line.now) = (None, None),
            None => self.beyond = Some(SideLine::default()),
        }
    }

    /// Whether the current item belongs to a line that is not recorded.
    fn is_given_up(&self) -> bool {
        match (self.side_lines.last(), &self.beyond) {
            _ if self.ignored > 0 => true,
            (Some(line), _) | (None, Some(line)) => line.now.is_none(),
            (None, None) => false,
        }
    }
}

impl SideLine {
    fn step(&mut self, next: Chess) {
        let ply = self.now.as_ref().map_or(0, |(ply, _)| *ply);
        self.before = self.now.replace((ply + 1, next));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::san::San;

    /// What is recorded of items: main line, side moves with their plies, annotations with the
    /// index of their move (`~` in a variation), movetext, variations cut at a null move, and
    /// why something was left out. `#` drops a line, `!` gives it up; a dot at the end says that
    /// nothing more is needed.
    fn recorded(wanted: GameParts, items: &str) -> String {
        let mut game = Game::default();
        let mut recorder = Recorder::new(wanted, &mut game);
        for item in items.split(' ') {
            match item.split_at(1) {
                ("(", _) => recorder.begin_variation(),
                (")", _) => recorder.end_variation(),
                ("-", _) => assert!(recorder.play_null()),
                ("$", nag) => recorder.nag(nag.parse::<u32>().unwrap()),
                ("{", text) => recorder.comment(text.trim_end_matches('}')),
                ("#", _) => recorder.drop_line(),
                ("!", _) => {
                    let number = recorder.move_number();
                    recorder.give_up_line(SkipReason::Text(format!("broken at {number}")));
                }
                _ => {
                    let san: San = item.parse().unwrap();
                    let unneeded = Chess::default().legal_moves()[0];
                    let position = recorder.position();
                    let m = position.map_or(unneeded, |at| san.to_move(at).unwrap());
                    recorder.play(m);
                }
            }
        }
        let is_done = recorder.is_done();
        recorder.finish();
        assert!(recorder.is_main_line());
        drop(recorder);
        assert_eq!(game.positions.len(), game.moves.len() + 1);
        let squares = |m: &Move| format!("{}{}", m.from().unwrap(), m.to());
        let main = game.moves.iter().map(squares);
        let side = game.side_moves.iter();
        let side = side.map(|(ply, position, m)| {
            assert!(position.is_legal(*m));
            format!("{ply}{}", squares(m))
        });
        let notes = game.annotations.iter();
        let notes = notes.map(|note| {
            let side = if note.side_move { "~" } else { "" };
            format!("{side}{}${}", note.index, note.nag)
        });
        let text = game.movetext.iter().map(|item| match item {
            Item::Move(m) => squares(m),
            Item::Null => "--".to_owned(),
            Item::Nag(nag) => format!("${nag}"),
            Item::Comment(text) => format!("{{{text}}}"),
            Item::Begin => "(".to_owned(),
            Item::End => ")".to_owned(),
        });
        let cut = game.cut.iter().map(ToString::to_string);
        let parts = [
            main.collect(),
            side.collect(),
            notes.collect(),
            text.collect(),
            (0..game.null_variations)
                .map(|_| "null".to_owned())
                .collect(),
            cut.collect::<Vec<_>>(),
        ];
        let parts = parts.iter().map(|part| part.join(" "));
        let text = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>();
        text.join(" | ") + if is_done { " ." } else { "" }
    }

    #[test]
    fn what_is_wanted_of_a_game_is_recorded() {
        let main = GameParts::default();
        let side = main.with_variations().with_annotations();
        let marks = main.with_annotations();
        let all = GameParts {
            annotations: true,
            variations: true,
            ..GameParts::EVERYTHING
        };
        let game = "$3 {a} e4 $1 {b} ( d4 $2 ( c4 {c} ) d5 $4 ) e5 ( ( c5 ) Nf6 $5 ) Nf3";
        let nulls = "e4 ( d4 -- c4 $2 ) -- d4 $3 ( Nf3 $4 ) Nf6 ( Nc6 )";
        let broken = "e4 ( d4 ! d5 $1 ( c5 ) {x} ) e5 ! Nf3 $2 {y} ( Nc3 )";
        for (wanted, items, expected) in [
            (main, game, "e2e4 e7e5 g1f3"),
            (main.up_to(2), game, "e2e4 e7e5 ."),
            (main.up_to(3), game, "e2e4 e7e5 g1f3 ."),
            (
                side,
                game,
                "e2e4 e7e5 g1f3 | 0d2d4 0c2c4 1d7d5 1g8f6 | 0$1 ~0$2 ~2$4 ~3$5 | a variation before the first move of its line is left out",
            ),
            (side.up_to(1), game, "e2e4 | 0d2d4 0c2c4 | 0$1 ~0$2 ."),
            (marks, game, "e2e4 e7e5 g1f3 | 0$1"),
            (marks.up_to(1), "e4 $1 e5 $2", "e2e4 | 0$1 ."),
            (
                all,
                game,
                "e2e4 e7e5 g1f3 | 0d2d4 0c2c4 1d7d5 1g8f6 | 0$1 ~0$2 ~2$4 ~3$5 | {a} e2e4 $3 $1 {b} ( d2d4 $2 ( c2c4 {c} ) d7d5 $4 ) e7e5 ( g8f6 $5 ) g1f3 | a variation before the first move of its line is left out",
            ),
            (
                all.up_to(1),
                game,
                "e2e4 | 0d2d4 0c2c4 | 0$1 ~0$2 | {a} e2e4 $3 $1 {b} ( d2d4 $2 ( c2c4 {c} ) ) .",
            ),
            (main, nulls, "e2e4 | move 1... is a null move ."),
            (
                side,
                nulls,
                "e2e4 | 0d2d4 | null | move 1... is a null move .",
            ),
            (
                all,
                nulls,
                "e2e4 | 0d2d4 2c2c4 | ~1$2 | e2e4 ( d2d4 -- c2c4 $2 ) -- d2d4 $3 ( g1f3 $4 ) g8f6 ( b8c6 )",
            ),
            (main, broken, "e2e4 e7e5 | broken at 2. ."),
            (side, broken, "e2e4 e7e5 | 0d2d4 | broken at 1... ."),
            (
                all,
                broken,
                "e2e4 e7e5 | 0d2d4 | e2e4 ( d2d4 ) e7e5 | broken at 1... .",
            ),
            (main, "( e4 ) d4", "d2d4"),
            (
                all,
                "( e4 ( d4 ) ) d4 ( ( c4 ) e4 )",
                "d2d4 | 0e2e4 | d2d4 ( e2e4 ) | a variation before the first move of its line is left out",
            ),
            (
                all,
                "e4 ) e5 ( # c5 ( c6 ) $1 {x} ) Nf3 $256 $255",
                "e2e4 e7e5 g1f3 | 2$255 | e2e4 e7e5 g1f3 $255 | the sign $256 is left out: the greatest is $255",
            ),
            (main, "e4 $256 # e5", "e2e4 ."),
            (all, "e4 # e5 $256", "e2e4 | e2e4 ."),
        ] {
            assert_eq!(recorded(wanted, items), expected, "{wanted:?} {items}");
        }
        // As deep as is recorded, and one more.
        for (depth, cut) in [(DEEPEST, false), (DEEPEST + 1, true)] {
            let text = recorded(side, &format!("e4{}", " ( d4".repeat(depth)));
            assert_eq!(text.ends_with("more than 500 deep are left out"), cut);
        }
        // A null move in check is none.
        let mut game = Game::default();
        let mut recorder = Recorder::new(all, &mut game);
        for san in ["e4", "f5", "Qh5"] {
            let san: San = san.parse().unwrap();
            let m = san.to_move(recorder.position().unwrap()).unwrap();
            recorder.play(m);
        }
        assert!(!recorder.play_null());
    }
}
