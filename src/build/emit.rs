//! From runs to the entries of the book, with two or more threads, in order.

use std::cmp::Reverse;
use std::io;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};

use super::merge::merge;
use super::node::Node;
use super::runs::{PARTS, Run};
use crate::book::ctg::{Key, encode_entry};
use crate::book::{Annotation, PositionRecord};

/// The most moves of an entry: old readers have room for no more.
pub const MAX_MOVES: usize = 50;

/// The raw recommendation of a main move.
const MAIN_MOVE: u8 = 0x80;

/// Entries travel in pieces of about this size.
const PIECE_BYTES: usize = 256 << 10;

/// Pieces that may wait between a merging thread and the writer.
const WAITING_PIECES: usize = 4;

/// Bytes of runs that one turn of a thread merges, if the parts are fine
/// enough.
const SPAN_BYTES: u64 = 1 << 20;

/// What is stored of a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// Positions and moves of fewer games are left out.
    pub(super) min_games: u32,
}

impl Rule {
    /// Appends the entry of a node, if it is to be stored; gives the number of
    /// its moves.
    fn entry(self, node: &Node, scratch: &mut Vec<(u8, u64)>, out: &mut Vec<u8>) -> Option<usize> {
        let least = u64::from(self.min_games);
        // Positions of variations have no games; they are wanted unless
        // somebody asks for more than one.
        let admitted = |games: u64| games >= least || games == 0 && least <= 1;
        if !admitted(node.tally.games) {
            return None;
        }
        scratch.clear();
        scratch.extend(node.moves.iter().filter(|(_, games)| admitted(*games)));
        scratch.sort_unstable_by_key(|&(byte, games)| (Reverse(games), byte));
        scratch.truncate(MAX_MOVES);
        let mut moves = [(0, Annotation::default()); MAX_MOVES];
        for (to, (byte, _)) in moves.iter_mut().zip(scratch.iter()) {
            to.0 = *byte;
        }
        let (stats, points) = node.tally.fitted();
        let record = PositionRecord {
            stats,
            points,
            recommendation: u8::from(node.main) * MAIN_MOVE,
            factor: 0,
            commentary: 0,
        };
        let key = Key::from_padded(node.place.key);
        encode_entry(&key, moves.get(..scratch.len())?, &record, out);
        Some(scratch.len())
    }
}

/// Entries in order, back to back.
#[derive(Default)]
pub(super) struct Piece {
    bytes: Vec<u8>,
    lengths: Vec<u16>,
    /// Moves of all its entries.
    pub(super) moves: u64,
}

impl Piece {
    pub(super) fn entries(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.bytes.as_slice();
        self.lengths.iter().map_while(move |&length| {
            let (entry, behind) = rest.split_at_checked(usize::from(length))?;
            rest = behind;
            Some(entry)
        })
    }

    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }
}

/// Cuts the order into spans for the threads: neighbouring parts, together not
/// much larger than one turn should be.
fn spans(runs: &[Run]) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for part in 0..PARTS {
        let more: u64 = runs.iter().map(|run| run.part_bytes(part)).sum();
        if bytes > 0 && bytes + more > SPAN_BYTES {
            spans.push(start..part);
            (start, bytes) = (part, 0);
        }
        bytes += more;
    }
    spans.push(start..PARTS);
    spans
}

/// Merges the runs with some threads and hands the entries to `sink`, in
/// order.
pub(super) fn emit<E: From<io::Error> + Send>(
    runs: &[Run],
    rule: Rule,
    threads: usize,
    sink: &mut dyn FnMut(&Piece) -> Result<(), E>,
) -> Result<(), E> {
    type Span = (Range<usize>, SyncSender<io::Result<Piece>>);
    // Every span has a channel of its own. The writer empties them one after
    // the other; the threads fill the next few.
    let (senders, receivers): (Vec<Span>, Vec<Receiver<io::Result<Piece>>>) = spans(runs)
        .into_iter()
        .map(|span| {
            let (sender, receiver) = sync_channel(WAITING_PIECES);
            ((span, sender), receiver)
        })
        .unzip();
    // So that no thread runs far ahead of the writer, a span needs a ticket.
    let (tickets, admitted) = channel();
    for _ in 0..=threads {
        let _ = tickets.send(());
    }
    let work = Mutex::new((senders.into_iter(), admitted));
    let next = || {
        let mut work = work.lock().ok()?;
        work.1.recv().ok()?;
        work.0.next()
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((span, sender)) = next() {
                    if let Err(Stop::Failed(error)) = merge_span(runs, span, rule, &sender) {
                        let _ = sender.send(Err(error));
                    }
                }
            });
        }
        // Ends, or fails, by leaving the scope without it: who waits for a
        // ticket stops then.
        let tickets = tickets;
        for receiver in receivers {
            for piece in receiver {
                sink(&piece?)?;
            }
            let _ = tickets.send(());
        }
        Ok(())
    })
}

/// Why a thread stops merging.
enum Stop {
    Failed(io::Error),
    /// Nobody wants the rest.
    Unwanted,
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Failed(error)
    }
}

fn merge_span(
    runs: &[Run],
    span: Range<usize>,
    rule: Rule,
    sender: &SyncSender<io::Result<Piece>>,
) -> Result<(), Stop> {
    let readers = runs.iter().map(|run| run.read(span.clone())).collect();
    let mut piece = Piece::default();
    let mut scratch = Vec::new();
    let send = |piece: &mut Piece| {
        sender
            .send(Ok(std::mem::take(piece)))
            .map_err(|_| Stop::Unwanted)
    };
    merge(readers, &mut |node: &Node| {
        let start = piece.bytes.len();
        if let Some(moves) = rule.entry(node, &mut scratch, &mut piece.bytes) {
            piece.lengths.push((piece.bytes.len() - start) as u16);
            piece.moves += moves as u64;
            if piece.bytes.len() >= PIECE_BYTES {
                send(&mut piece)?;
            }
        }
        Ok::<_, Stop>(())
    })?;
    if piece.len() > 0 {
        send(&mut piece)?;
    }
    Ok(())
}
