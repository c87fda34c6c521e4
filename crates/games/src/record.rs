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
