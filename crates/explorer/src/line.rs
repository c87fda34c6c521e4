//! Reads a line of moves from the parameters of a request.

use super::message::{Message, translatable};
use tabia_notation::Line;

/// Reads a line: a first position and moves.
///
/// # Errors
///
/// One sentence about the invalid part.
pub(super) fn read(fen: Option<&str>, play: Option<&str>) -> Result<Line, Message> {
    Line::read(fen.unwrap_or_default(), play.unwrap_or_default()).map_err(Message::from)
}

/// The valid beginning of a line, so that an old bookmark or a broken link still shows a
/// position; and one sentence about what was left out.
pub(super) fn read_prefix(fen: Option<&str>, play: Option<&str>) -> (Line, Option<Message>) {
    let mut line = match Line::read(fen.unwrap_or_default(), "") {
        Ok(line) => line,
        Err(error) => {
            let problem = translatable!(
                "The address names a position that cannot be shown: {0}.",
                Message::from(error)
            );
            return (Line::default(), Some(problem));
        }
    };
    let problem = line.extend(play.unwrap_or_default()).err().map(|error| {
        let before = match line.plies() {
            0 => translatable!("Nothing before it could be kept"),
            1 => translatable!("The move before it is shown"),
            plies => translatable!("The {0} moves before it are shown", plies),
        };
        translatable!(
            "The address names a line that cannot be played: {0}. {1}.",
            Message::from(error),
            before
        )
    });
    (line, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_valid_beginning_of_a_broken_line_is_played() {
        let (line, problem) = read_prefix(None, Some("e2e4,c7c5,e4e6,g1f3"));
        assert_eq!(line.to_string(), "1.e4 c5");
        let problem = problem.unwrap().to_string();
        assert!(problem.contains("move 3 (e4e6) is not legal"), "{problem}");
        assert!(problem.contains("The 2 moves before it"), "{problem}");
        let (line, problem) = read_prefix(Some("nonsense"), Some("e2e4"));
        assert_eq!((line.plies(), problem.is_some()), (0, true));
        assert_eq!(read_prefix(None, Some("e2e4")).1, None);
    }
}
