//! The lines of a ChessBase book: each entry is read once for all positions that it is
//! for.

use std::cmp::Reverse;
use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use shakmaty::{
    CastlingMode, CastlingSide, Chess, Color, EnPassantMode, File, Position as _, Role, Setup,
    Square,
    zobrist::{Zobrist64, ZobristValue as _},
};

use super::reachable::{Form, Reach, Steps};
use super::{Counts, Line, Lines, weights};
use crate::convert::{ConvertJob, Converted, UNREACHED, Work, wanted};
use crate::ctg::{CanonicalBoard, CtgBook, DirectoryReader, Entry, EntryAddress, Key};
use crate::policy::{self, Weighed};
use crate::polyglot::PackedMove;
use crate::{Error, Lookup, Wanted, position_of};

/// Weights of an entry's moves in one form, if they differ from the others.
type OtherWeights = HashMap<(usize, u8), Vec<Option<u16>>, FxBuildHasher>;

/// The results of one thread for some entries.
#[derive(Default)]
struct Chunk {
    steps: Steps,
    /// Entry number in the chunk, form, and weights.
    others: Vec<(usize, u8, Vec<Option<u16>>)>,
    /// The number of entries.
    entries: usize,
    /// The entries that a look-up finds, if that was requested, and their forms.
    found: Vec<(EntryAddress, u8)>,
    /// Buffers for the current entry.
    buffers: (Lookup, Vec<Weighed>),
}

pub(super) fn lines(
    work: &mut Work<'_, '_>,
    book: &CtgBook,
    lines: &Lines,
    summary: &mut Converted,
) -> Result<Counts, Error> {
    let job = work.job;
    let (directory, salvage) = book.directory(work.watch)?;
    summary.lose(job, salvage)?;
    let mut reach = Reach::default();
    let mut others = OtherWeights::default();
    let (mut entries, mut found) = (0, Vec::new());
    book.in_blocks(
        "weighing",
        work.watch,
        || (DirectoryReader::new(&directory, book), Chunk::default()),
        |(reader, chunk), place, entry| chunk.look_at(job, reader, place, entry),
        |(_, chunk)| {
            for (number, form, weights) in chunk.others {
                others.insert((entries + number, form), weights);
            }
            entries += chunk.entries;
            found.extend(chunk.found);
            reach.take(chunk.steps);
            Ok(())
        },
    )?;
    reach.number_all();
    if job.all_forms {
        for (place, forms) in found {
            if let Some(number) = reach.number(place) {
                reach.mark_reached(number, forms);
            }
        }
    } else {
        let total = Some(directory.entries());
        let start = DirectoryReader::new(&directory, book).entry_of(&Chess::default())?;
        let number = start.and_then(|start| reach.number(start.place));
        if let (Some(number), Some(start)) = (number, start) {
            let mut done = 0;
            reach.walk(
                number,
                Form::from_orientation(start.orientation),
                |entries| {
                    done += entries;
                    work.steps("walking", done, total)
                },
            )?;
        }
        summary.note(
            directory.entries().saturating_sub(reach.entries()),
            UNREACHED,
        );
    }
    drop(directory);
    let played = forms_of(book.only());
    let mut counts = Counts::default();
    book.each_block(
        "sorting",
        work.watch,
        |keys: &mut Vec<(usize, Key)>, entry| {
            // The first pass has reported damage.
            if let Ok((place, entry)) = entry
                && let Some(number) = reach.number(place)
                && reach.forms(number) != 0
            {
                keys.extend(entry.key().map(|key| (number, key)));
            }
            Ok(())
        },
        |keys| {
            let mut counts = Counts::default();
            lines.add(|sorter| {
                let mut line = Line::default();
                for (number, key) in &keys {
                    each_line(
                        &reach,
                        &others,
                        played,
                        *number,
                        key,
                        &mut line,
                        |line, moves| {
                            counts.count(moves, line.moves.len());
                            match line.moves.is_empty() {
                                true => Ok(()),
                                false => sorter.push(line),
                            }
                        },
                    )?;
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

impl Chunk {
    /// Reads an entry on its own board.
    fn look_at(
        &mut self,
        job: &ConvertJob,
        reader: &mut DirectoryReader<'_>,
        place: EntryAddress,
        entry: &Entry<'_>,
    ) -> Result<(), Error> {
        let number = self.entries;
        self.entries += 1;
        self.steps.entry(place);
        let Some(here) = entry.key().and_then(|key| position_of(&key)) else {
            return Ok(());
        };
        let position = &here.1;
        if job.all_forms {
            let known = reader.entry_of(position)?;
            let is_found = known.is_some_and(|known| known.place == place);
            // Wings are only exchanged if neither side may castle.
            let forms = match position.castles().any() {
                true => 0b0011,
                false => 0b1111,
            };
            self.found.extend(is_found.then_some((place, forms)));
        }
        let (found, verdicts) = (&mut self.buffers.0, &mut self.buffers.1);
        // The lines of a book for one side continue by moves that it does not play.
        let is_for_one = reader.book().only().is_some();
        let wanted = match is_for_one {
            true => Wanted::Transpositions,
            false => wanted(job),
        };
        reader.probe_entry(&here, entry, wanted, found)?;
        let played = match is_for_one {
            true => found.moves.partition_point(|entry| !entry.transposition),
            false => found.moves.len(),
        };
        let unplayed = found.moves.split_off(played);
        policy::weigh(&found.moves, &job.policy, |_| None, verdicts);
        let own = || weights(job, &found.moves, verdicts);
        for ((entry, weight), after) in found.moves.iter().zip(own()).zip(reader.after()) {
            self.steps
                .add(PackedMove::from_move(entry.mv), weight, *after);
        }
        for (entry, after) in unplayed.iter().zip(reader.after().iter().skip(played)) {
            self.steps.pass(PackedMove::from_move(entry.mv), *after);
        }
        // The order of transpositions depends on the legal moves of the real board; it
        // can change the last digit of sums.
        if found
            .moves
            .iter()
            .filter(|entry| entry.transposition)
            .count()
            > 1
        {
            for form in Form::ALL {
                if let Some(weights) = weights_in(form, job, position, found)
                    && !own().eq(weights.iter().copied())
                {
                    self.others.push((number, form.0, weights));
                }
            }
        }
        Ok(())
    }
}

/// The weights of the moves of a position in another form, in the same order; `None` if
/// it has no such form.
fn weights_in(
    form: Form,
    job: &ConvertJob,
    position: &Chess,
    found: &Lookup,
) -> Option<Vec<Option<u16>>> {
    let legal = in_form(form, position)?.legal_moves();
    let mut order: Vec<(usize, usize)> = Vec::new();
    for (n, entry) in found.moves.iter().enumerate() {
        let packed = form.apply(PackedMove::from_move(entry.mv));
        let rank = match entry.transposition {
            true => {
                1 + legal
                    .iter()
                    .position(|mv| PackedMove::from_move(*mv) == packed)?
            }
            false => 0,
        };
        order.push((rank, n));
    }
    order.sort_unstable();
    let moves = order.iter().filter_map(|(_, n)| found.moves.get(*n));
    let moves: Vec<_> = moves.cloned().collect();
    let mut verdicts: Vec<Weighed> = Vec::new();
    policy::weigh(&moves, &job.policy, |_| None, &mut verdicts);
    let mut weighed: Vec<(usize, Option<u16>)> = order
        .iter()
        .map(|(_, n)| *n)
        .zip(weights(job, &moves, &verdicts))
        .collect();
    weighed.sort_unstable_by_key(|(n, _)| *n);
    Some(weighed.into_iter().map(|(_, weight)| weight).collect())
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

/// The lines of an entry in the forms that were reached and are `played`, each with the number of moves
/// that the book has there.
fn each_line<E>(
    reach: &Reach,
    others: &OtherWeights,
    played: u8,
    number: usize,
    key: &Key,
    line: &mut Line,
    mut found: impl FnMut(&Line, usize) -> Result<(), E>,
) -> Result<(), E> {
    let Ok(board) = CanonicalBoard::from_key(key) else {
        return Ok(());
    };
    let setup = board.to_setup();
    // Only if a capture can be tried at all.
    let file = setup.ep_square.and_then(|_| {
        let (_, position) = position_of(key)?;
        position.pseudo_legal_ep_square().map(Square::file)
    });
    let reached = reach.forms(number) & played;
    let passants = reach.passants(number);
    for form in Form::ALL.into_iter().filter(|form| form.is_in(reached)) {
        let key = key_in(form, &setup);
        let other = others.get(&(number, form.0)).map(Vec::as_slice);
        line.moves.clear();
        let mut moves = 0;
        for (n, (mv, weight)) in reach.moves(number).enumerate() {
            moves += 1;
            let weight = other.map_or(weight, |other| other.get(n).copied().flatten());
            let weight = weight.map(|weight| (Reverse(weight), form.apply(mv)));
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
        if form.is_in(reach.plain_forms(number)) {
            line.key = key ^ file.map_or(0, passant);
            found(line, moves)?;
        }
        let files = passants.get(usize::from(form.0)).copied().unwrap_or(0);
        for file in (0..8).filter(|file| files >> file & 1 != 0) {
            line.key = key ^ passant(File::new(file));
            found(line, moves)?;
        }
    }
    Ok(())
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
