//! The argument of a look-up: a board of python-chess, a FEN, or a key.

use std::num::NonZeroU32;

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyList, PyString};
use shakmaty::{
    Bitboard, Board, ByColor, ByRole, CastlingMode, Chess, Color, Position as _, Setup, Square,
};
use tabia_notation::{self as notation, Line};

use crate::error;

/// The argument of a look-up.
pub(crate) enum Asked<'py> {
    /// A position of standard chess or Chess960.
    Position {
        /// The position.
        position: Chess,
        /// How its castling moves are written.
        mode: CastlingMode,
    },
    /// A board that only python-chess can handle: another variant, or one with a piece
    /// that standard chess does not have.
    Foreign(Bound<'py, PyAny>),
    /// A Polyglot key; `None` is a key of no position.
    Key(Option<u64>),
}

/// Reads the argument, without the move counters of a board, which no look-up needs.
/// Boards are read by their public attributes, ten times faster than by FEN.
pub(crate) fn read<'py>(asked: &Bound<'py, PyAny>) -> PyResult<Asked<'py>> {
    read_with(asked, false)
}

/// Reads the argument with all that is shown to users.
pub(crate) fn read_whole<'py>(asked: &Bound<'py, PyAny>) -> PyResult<Asked<'py>> {
    read_with(asked, true)
}

fn read_with<'py>(asked: &Bound<'py, PyAny>, counters: bool) -> PyResult<Asked<'py>> {
    let py = asked.py();
    if let Ok(text) = asked.cast::<PyString>() {
        let text = text.to_cow()?;
        // "startpos moves e2e4" is for lines alone: as a FEN it would be the start position.
        let position = match text.contains("moves") {
            true => Line::read(&text, "")
                .map(|line| line.last().clone())
                .map_err(|fault| fault.to_string()),
            false => notation::position(&text).map_err(|fault| fault.to_string()),
        };
        let position = position.map_err(|fault| error::no_position(py, &fault))?;
        let mode = position.castles().mode();
        return Ok(Asked::Position { position, mode });
    }
    // The usual class; this saves reading one attribute.
    if board_class(py).is_some_and(|class| asked.get_type().is(class)) {
        return read_board(asked, counters);
    }
    // An integer has no variant.
    if let Some(variant) = asked.getattr_opt(intern!(py, "uci_variant"))? {
        return if variant.eq(intern!(py, "chess"))? {
            read_board(asked, counters)
        } else {
            Ok(Asked::Foreign(asked.clone()))
        };
    }
    // Anything that int() accepts, as in python-chess.
    let key = py.get_type::<PyInt>().call1((asked,)).map_err(|error| {
        match error.is_instance_of::<PyTypeError>(py) {
            true => PyTypeError::new_err(format!(
                "expected a chess.Board, a FEN or a Polyglot key, not {}",
                asked
                    .get_type()
                    .name()
                    .map_or_else(|_| String::new(), |name| name.to_string())
            )),
            false => error,
        }
    })?;
    match key.extract::<u64>() {
        Ok(key) => Ok(Asked::Key(Some(key))),
        Err(error) if error.is_instance_of::<PyOverflowError>(py) => Ok(Asked::Key(None)),
        Err(error) => Err(error),
    }
}

/// `chess.Board`, where python-chess is installed.
fn board_class(py: Python<'_>) -> Option<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Option<Py<PyAny>>> = PyOnceLock::new();
    let class = CLASS.get_or_init(py, || {
        let module = py.import(intern!(py, "chess")).ok()?;
        module.getattr(intern!(py, "Board")).ok().map(Bound::unbind)
    });
    class.as_ref().map(|class| class.bind(py))
}

/// A board of standard chess or Chess960.
fn read_board<'py>(board: &Bound<'py, PyAny>, counters: bool) -> PyResult<Asked<'py>> {
    let py = board.py();
    let bits = |name: &Bound<'py, PyString>| -> PyResult<Bitboard> {
        board.getattr(name)?.extract().map(Bitboard)
    };
    let by_role = ByRole {
        pawn: bits(intern!(py, "pawns"))?,
        knight: bits(intern!(py, "knights"))?,
        bishop: bits(intern!(py, "bishops"))?,
        rook: bits(intern!(py, "rooks"))?,
        queen: bits(intern!(py, "queens"))?,
        king: bits(intern!(py, "kings"))?,
    };
    let colours = board.getattr(intern!(py, "occupied_co"))?;
    let colours = colours.cast::<PyList>()?;
    let white = Bitboard(colours.get_item(1)?.extract()?);
    let all = by_role.iter().fold(Bitboard(0), |all, own| all | *own);
    let by_color = ByColor {
        black: all & !white,
        white,
    };
    let is_960: bool = board.getattr(intern!(py, "chess960"))?.extract()?;
    let mode = if is_960 {
        CastlingMode::Chess960
    } else {
        CastlingMode::Standard
    };
    let Ok(pieces) = Board::try_from_bitboards(by_role, by_color) else {
        return Ok(Asked::Foreign(board.clone()));
    };
    let mut setup = Setup::empty();
    setup.board = pieces;
    setup.turn = Color::from_white(board.getattr(intern!(py, "turn"))?.extract()?);
    setup.castling_rights = bits(intern!(py, "castling_rights"))?;
    let square = board.getattr(intern!(py, "ep_square"))?;
    setup.ep_square = match square.extract::<Option<i64>>()? {
        None => None,
        Some(number) => {
            let wrong = |_| error::no_position(py, &format!("ep_square is {number}"));
            Some(Square::try_from(number).map_err(wrong)?)
        }
    };
    if counters {
        setup.halfmoves = board.getattr(intern!(py, "halfmove_clock"))?.extract()?;
        let fullmoves = board.getattr(intern!(py, "fullmove_number"))?.extract()?;
        setup.fullmoves = NonZeroU32::new(fullmoves).unwrap_or(NonZeroU32::MIN);
    }
    // As the same position is read from a FEN.
    Ok(match notation::position_of(setup, mode) {
        Ok(position) => Asked::Position { position, mode },
        Err(_) => Asked::Foreign(board.clone()),
    })
}
