//! The lines of a ChessBase book: each entry is read once for all positions that it is
//! for.

use std::cmp::Reverse;

use shakmaty::{
    CastlingMode, CastlingSide, Chess, Color, EnPassantMode, File, Move, Position as _, Role,
    Setup, Square,
    zobrist::{Zobrist64, ZobristValue as _},
};

use super::reach::{Form, Reach};
use super::{Counts, Line, Lines, weights};
use crate::convert::{ConvertJob, Converted, UNREACHED, Work, wanted};
use crate::ctg::{
    Arrival, BookGraph, CanonicalBoard, Contents, CtgBook, Entry, EntryNumber, Target,
};
use crate::policy::{self, Weighed};
use crate::polyglot::PackedMove;
use crate::{BookMove, Error, Wanted, position_of};

pub(super) fn lines(
    work: &mut Work<'_, '_>,
    book: &CtgBook,
    lines: &Lines,
    summary: &mut Converted,
) -> Result<Counts, Error> {
    let job = work.job;
    // The lines of a book for one side continue by moves that it does not play.
    let wanted = match book.only() {
        Some(_) => Wanted::Transpositions,
        None => wanted(job),
    };
    let contents = Contents {
        records: true,
        transpositions: wanted == Wanted::Transpositions,
        unfound: job.all_forms,
        ..Contents::default()
    };
    let (graph, salvage) = book.graph(contents, &mut work.watch.part(0, 500))?;
    summary.lose(job, salvage)?;
    let mut reach = Reach::new(&graph);
    if !job.all_forms {
        if let Some(start) = graph.start() {
            let mut done = 0;
            let total = Some(graph.found());
            reach.walk(&graph, start, |entries| {
                done += entries;
                work.steps("walking", done, total)
            })?;
        }
        summary.note(graph.found().saturating_sub(reach.entries()), UNREACHED);
    }
    let writer = LineWriter {
        job,
        graph: &graph,
        reach: &reach,
        played: forms_of(book.only()),
        is_for_one: book.only().is_some(),
    };
    let mut counts = Counts::default();
    book.each_block_of(
        &graph,
        "weighing",
        &mut work.watch.part(500, 900),
        |number| (job.all_forms || reach.forms(number) != 0) && graph.has_moves(number),
        |block| {
            let mut counts = Counts::default();
            lines.add(|sorter| {
                let mut buffers = Buffers::default();
                for (number, entry) in block.entries(&graph) {
                    writer.each_line(number, &entry, &mut buffers, |line, moves| {
                        counts.count(moves, line.moves.len());
                        match line.moves.is_empty() {
                            true => Ok(()),
                            false => sorter.push(line),
                        }
                    })?;
                }
                Ok(())
            })?;
            Ok::<_, Error>(counts)
        },
        |more| {
            counts.add(&more);
            Ok(())
        },
    )?;
    Ok(counts)
}

/// The policy does not look at the moves themselves.
const ANY: Move = Move::Put {
    role: Role::Pawn,
    to: Square::A1,
};

struct LineWriter<'w> {
    job: &'w ConvertJob,
    graph: &'w BookGraph,
    reach: &'w Reach,
    /// The forms whose moves the book plays.
    played: u8,
    is_for_one: bool,
}

/// Buffers for an entry.
#[derive(Default)]
struct Buffers {
    line: Line,
    /// The moves on the board of the entry, and as a probe returns them.
    packed: Vec<PackedMove>,
    found: Vec<BookMove>,
    verdicts: Vec<Weighed>,
    weights: Vec<Option<u16>>,
}

impl LineWriter<'_> {
    /// The lines of an entry in the forms that were reached and are played, each with the
    /// number of moves that the book has there.
    fn each_line<E>(
        &self,
        number: EntryNumber,
        entry: &Entry<'_>,
        buffers: &mut Buffers,
        mut found: impl FnMut(&Line, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(key) = entry.key() else {
            return Ok(());
        };
        let Ok(board) = CanonicalBoard::from_key(&key) else {
            return Ok(());
        };
        let (reached, plain) = match self.job.all_forms {
            // Wings are only exchanged if neither side may castle.
            true if self.graph.is_found(number) => match board.may_castle() {
                true => (0b0011, 0b0011),
                false => (0b1111, 0b1111),
            },
            true => (0, 0),
            false => (self.reach.forms(number), self.reach.plain_forms(number)),
        };
        let reached = reached & self.played;
        if reached == 0 {
            return Ok(());
        }
        self.find_moves(number, entry, &board, buffers);
        let several = buffers.found.iter().filter(|known| known.transposition);
        let several = several.count() > 1;
        if !several {
            self.weigh(buffers);
        }
        // Only if a capture can be tried at all.
        let position = match several || board.en_passant().is_some() {
            true => position_of(&key).map(|(_, position)| position),
            false => None,
        };
        let file = position
            .as_ref()
            .and_then(|position| position.pseudo_legal_ep_square())
            .map(Square::file);
        let setup = board.to_setup();
        let passants = self.reach.passants(number);
        for form in Form::ALL.into_iter().filter(|form| form.is_in(reached)) {
            if several {
                // The order of transpositions depends on the legal moves of the real board;
                // it can change the last digit of sums.
                self.weigh_in(form, position.as_ref(), buffers);
            }
            let key = key_in(form, &setup);
            let line = &mut buffers.line;
            line.moves.clear();
            for (mv, weight) in buffers.packed.iter().zip(&buffers.weights) {
                let weight =
                    weight.map(|weight| (Reverse(weight), form.orientation().apply_to_packed(*mv)));
                line.moves.extend(weight);
            }
            line.sort_moves();
            let passant = |file: File| {
                let file = match form.orientation().mirrored {
                    true => file.flip_horizontal(),
                    false => file,
                };
                Zobrist64::zobrist_for_en_passant_file(file).0
            };
            if form.is_in(plain) {
                line.key = key ^ file.map_or(0, passant);
                found(line, buffers.packed.len())?;
            }
            let files = passants.get(usize::from(form.0)).copied().unwrap_or(0);
            for file in (0..8).filter(|file| files >> file & 1 != 0) {
                line.key = key ^ passant(File::new(file));
                found(line, buffers.packed.len())?;
            }
        }
        Ok(())
    }

    /// The moves of an entry, as a probe returns them and packed.
    fn find_moves(
        &self,
        number: EntryNumber,
        entry: &Entry<'_>,
        board: &CanonicalBoard,
        buffers: &mut Buffers,
    ) {
        buffers.packed.clear();
        buffers.found.clear();
        let after = |to: Arrival| self.graph.record(to.entry);
        for ((byte, annotation), (_, to)) in entry.moves().zip(self.graph.moves(number)) {
            let after = match to {
                Target::Illegal | Target::Repeated => continue,
                Target::Nowhere => None,
                Target::Entry(to) => Some(after(to)),
            };
            if let Some(mv) = board.squares_of(byte) {
                buffers.packed.push(mv);
                buffers.found.push(BookMove::stored(ANY, annotation, after));
            }
        }
        if !self.is_for_one {
            for (mv, to) in self.graph.transpositions(number) {
                buffers.packed.push(mv);
                buffers.found.push(BookMove::transposition(ANY, after(to)));
            }
        }
    }

    fn weigh(
        &self,
        Buffers {
            found,
            verdicts,
            weights,
            ..
        }: &mut Buffers,
    ) {
        policy::weigh(found, &self.job.policy, |_| None, verdicts);
        weights.clear();
        weights.extend(super::weights(self.job, found, verdicts));
    }

    /// Weighs the moves in the order that they have in a form; the weights stay in the order
    /// of the moves.
    fn weigh_in(&self, form: Form, position: Option<&Chess>, buffers: &mut Buffers) {
        let legal = position.and_then(|position| in_form(form, position));
        let legal = legal.map(|position| position.legal_moves());
        let rank = |(known, mv): (&BookMove, &PackedMove)| match (known.transposition, &legal) {
            (true, Some(legal)) => {
                let packed = form.orientation().apply_to_packed(*mv);
                let mut legal = legal.iter();
                legal
                    .position(|mv| PackedMove::from_move(*mv) == packed)
                    .map(|n| n + 1)
            }
            _ => Some(0),
        };
        let both = buffers.found.iter().zip(&buffers.packed);
        let mut order: Vec<_> = both.map(rank).zip(0_usize..).collect();
        order.sort_unstable();
        let moves = order.iter().filter_map(|(_, n)| buffers.found.get(*n));
        let moves: Vec<_> = moves.cloned().collect();
        policy::weigh(&moves, &self.job.policy, |_| None, &mut buffers.verdicts);
        buffers.weights.clear();
        buffers.weights.resize(moves.len(), None);
        for ((_, n), weight) in order
            .iter()
            .zip(weights(self.job, &moves, &buffers.verdicts))
        {
            if let Some(known) = buffers.weights.get_mut(*n) {
                *known = weight;
            }
        }
    }
}

/// A position, White to move, in a form.
fn in_form(form: Form, position: &Chess) -> Option<Chess> {
    let mut setup = position.to_setup(EnPassantMode::Always);
    let orientation = form.orientation();
    if orientation.inverted {
        setup.board.flip_vertical();
        setup.board.swap_colors();
        setup.castling_rights = setup.castling_rights.flip_vertical();
        setup.ep_square = setup.ep_square.map(Square::flip_vertical);
        setup.turn = Color::Black;
    }
    if orientation.mirrored {
        if setup.castling_rights.any() {
            return None;
        }
        setup.board.flip_horizontal();
        setup.ep_square = setup.ep_square.map(Square::flip_horizontal);
    }
    setup.position(CastlingMode::Standard).ok()
}

/// The forms in which a side is to move; all for `None`.
fn forms_of(side: Option<Color>) -> u8 {
    let is_of =
        |form: &Form| side.is_none_or(|side| side.is_black() == form.orientation().inverted);
    Form::ALL
        .into_iter()
        .filter(is_of)
        .fold(0, |forms, Form(form)| forms | 1 << form)
}

/// Polyglot's key of a position, White to move, in a form; without en passant.
fn key_in(form: Form, setup: &Setup) -> u64 {
    let orientation = form.orientation();
    let color = |color: Color| match orientation.inverted {
        true => !color,
        false => color,
    };
    let mut key = match orientation.inverted {
        true => 0,
        false => Zobrist64::zobrist_for_white_turn().0,
    };
    for role in Role::ALL {
        let men = setup.board.by_role(role);
        for known in Color::ALL {
            let piece = role.of(color(known));
            for square in men & setup.board.by_color(known) {
                key ^= Zobrist64::zobrist_for_piece(orientation.apply(square), piece).0;
            }
        }
    }
    let rights = [
        (Square::H1, Color::White, CastlingSide::KingSide),
        (Square::A1, Color::White, CastlingSide::QueenSide),
        (Square::H8, Color::Black, CastlingSide::KingSide),
        (Square::A8, Color::Black, CastlingSide::QueenSide),
    ];
    for (square, known, side) in rights {
        if setup.castling_rights.contains(square) {
            key ^= Zobrist64::zobrist_for_castling_right(color(known), side).0;
        }
    }
    key
}
