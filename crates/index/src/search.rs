//! Games with a position, read one by one: the rows of a position name only some of its games.

use shakmaty::{Bitboard, Chess, Color, Position, Rank, Role};

use crate::bucket::Bucket;
use crate::row::{GameRef, IndexedMove, ListedGame};
use crate::{Error, GameSelection, GamesIndex, key};
use tabia_games::tgx::{GAMES, GameBlock, Head};

/// Games that a search found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FoundGames {
    /// The games, in no order; their index is 0.
    pub games: Vec<ListedGame>,
    /// Number of games read, from the last of the index on. It is less than all if the limit
    /// was reached.
    pub read: u64,
}

/// Finds the games that a move was played in from a position, as the rows of the index count
/// them, and whose head `admits` accepts. The games are read from the last one on, without the
/// last `skip`, until `most` have been read, or a few more; `skip` is the sum of the numbers
/// of games read before.
///
/// # Errors
///
/// The index cannot be read, or is damaged.
pub fn find_games(
    index: &GamesIndex,
    position: &Chess,
    selection: &GameSelection,
    [skip, most]: [u64; 2],
    mut admits: impl FnMut(&Head) -> bool,
) -> Result<FoundGames, Error> {
    let file = index.file();
    let target = Target::new(position);
    let plies = usize::from(file.root().max_ply);
    let below = file.games().saturating_sub(skip);
    let mut found = FoundGames::default();
    let mut buffer = Vec::new();
    let mut tables: Vec<_> = file.tables(GAMES).collect();
    tables.reverse();
    for (segment, directory) in tables {
        let mut end = segment.first_game.saturating_add(segment.games);
        for block in (0..directory.len()).rev() {
            if found.read >= most {
                return Ok(found);
            }
            let first = directory.first_key(block).unwrap_or(end);
            let numbers = first..end;
            end = first;
            if first >= below {
                continue;
            }
            let mut games = GameBlock::new(file.block(directory, block, &mut buffer)?);
            for number in numbers.take_while(|number| *number < below) {
                let game = read(&mut games, &target, plies, selection, &mut admits);
                found.read += 1;
                if let Some((head, mv)) =
                    game.ok_or_else(|| file.damaged_block(directory, block))?
                {
                    found.games.push(ListedGame {
                        mv,
                        bucket: Bucket::from_facts(head.facts),
                        game: GameRef::new(head.facts, number as u32),
                        index: 0,
                    });
                }
            }
        }
    }
    Ok(found)
}

/// Reads the next game: its head and its move, if it is one of those wanted. `None` if the
/// block is damaged.
fn read(
    games: &mut GameBlock<'_>,
    target: &Target,
    plies: usize,
    selection: &GameSelection,
    admits: &mut impl FnMut(&Head) -> bool,
) -> Option<Option<(Head, IndexedMove)>> {
    let head = games.head()?;
    let facts = head.facts;
    let is_wanted = selection
        .result
        .is_none_or(|result| facts.result() == result)
        && selection.admits(Bucket::from_facts(facts))
        && admits(&head);
    if !is_wanted {
        games.skip_moves()?;
        return Some(None);
    }
    // The last move in a position counts.
    let (mut made, mut ply) = (None, 0);
    games.play(&head, |position, mv| {
        if ply >= plies || !target.can_follow(position) {
            return false;
        }
        ply += 1;
        if target.is(position) {
            made = Some(IndexedMove::from_move(mv));
        }
        true
    })?;
    Some(made.map(|mv| (head, mv)))
}

/// A position that games are searched for.
struct Target {
    key: u64,
    occupied: Bitboard,
    unmoved: Bitboard,
}

/// The pawns that have not moved.
fn unmoved(position: &Chess) -> Bitboard {
    let board = position.board();
    let pawns = |color: Color, rank: Rank| {
        board.by_role(Role::Pawn) & board.by_color(color) & Bitboard::from_rank(rank)
    };
    pawns(Color::White, Rank::Second) | pawns(Color::Black, Rank::Seventh)
}

impl Target {
    fn new(position: &Chess) -> Target {
        Target {
            key: key(position),
            occupied: position.board().occupied(),
            unmoved: unmoved(position),
        }
    }

    fn is(&self, position: &Chess) -> bool {
        position.board().occupied() == self.occupied && key(position) == self.key
    }

    /// Whether the position can come after another one: no piece and no unmoved pawn comes
    /// back.
    fn can_follow(&self, position: &Chess) -> bool {
        position.board().occupied().count() >= self.occupied.count()
            && self.unmoved.is_subset(unmoved(position))
    }
}
