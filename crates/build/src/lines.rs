//! Books of lines without games: their moves are stored like those of variations.

use std::path::Path;
use std::sync::Arc;

use shakmaty::Color;

use super::BuildError;
use super::count::Counter;
use super::emit::{self, Stored};
use super::node::Node;
use tabia_book::ctg::{BookWriter, WriteOptions, Written};
use tabia_games::{Game, MoveAnnotation};
use tabia_io::atomic;
use tabia_io::sort::Runs;
use tabia_notation::Line;

/// Memory in bytes, enough for lines that a user typed.
const MEMORY: u64 = 1 << 20;

/// Writes a book of lines. Each annotation has the index of its move, from 0, and its
/// NAG as in PGN (1 is `!`). Positions and moves have no games. With `only` the book is for
/// that side and has no moves of the other.
///
/// ```
/// use shakmaty::Color;
/// use tabia_notation::Line;
///
/// let folder = tempfile::tempdir()?;
/// let spanish = Line::read("", "1. e4 e5 2. Nf3 Nc6 3. Bb5")?;
/// let open = Line::read("", "1. e4 c5 2. Nf3 d6 3. d4")?;
/// // 3. Bb5 gets a `!`.
/// let lines = [(spanish, vec![(4, 1)]), (open, vec![])];
/// let target = folder.path().join("white.ctg");
/// let written = tabia_build::write_lines(&lines, &target, Some(Color::White))?;
/// assert_eq!(written.moves, 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The format cannot store a move, or the book cannot be written.
pub fn write_lines(
    lines: &[(Line, Vec<(usize, u8)>)],
    target: &Path,
    only: Option<Color>,
) -> Result<Written, BuildError> {
    let options = WriteOptions::default().only(only);
    let mut writer = BookWriter::create(target, options)?;
    let runs: Arc<Runs<Node>> = Arc::new(Runs::new(MEMORY, atomic::folder_of(target)));
    let mut counter = Counter::new(&runs, MEMORY, 0);
    for (line, annotations) in lines {
        let before = counter.unstorable;
        let mut game = Game::default();
        let moves = line.moves().enumerate();
        game.side_moves
            .extend(moves.map(|(ply, (position, mv))| (ply, position.clone(), mv)));
        game.annotations
            .extend(annotations.iter().map(|&(index, nag)| MoveAnnotation {
                nag,
                side_move: true,
                index,
            }));
        counter.count_only_side_moves(&game, only)?;
        let lost = counter.unstorable - before;
        if lost > 0 {
            return Err(BuildError::Unstorable(line.clone(), lost));
        }
    }
    counter.finish()?;
    emit::emit(&runs.take(), Stored::default(), 1, |piece| {
        piece.write(&mut writer).map(drop)
    })?;
    Ok(writer.finish(0)?)
}
