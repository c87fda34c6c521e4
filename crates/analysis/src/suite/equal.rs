//! Merges equal positions.

use super::entry::{Candidate, StartPosition};
use super::funnel::{Funnel, FunnelStep};

/// Candidates that count as one position.
#[derive(Default)]
pub(super) struct Group {
    pub(super) one: Vec<u8>,
    /// The position and its mirror image, each with the numbers of its books.
    members: Vec<Member>,
}

struct Member {
    /// The entry with the best line so far, and the sums of all.
    entry: StartPosition,
    /// How often that line occurred.
    best: (u64, u64),
    /// Games by book: repetitions in one book count once.
    books: Vec<(u32, u64)>,
}

impl Group {
    /// The number of different positions: one, perhaps also its mirror image.
    pub(super) fn len(&self) -> u64 {
        self.members.len() as u64
    }

    pub(super) fn add(&mut self, candidate: &Candidate) {
        if self.members.is_empty() {
            self.one.clone_from(&candidate.one);
        }
        let entry = &candidate.entry;
        let known = self.members.iter_mut().find(|m| m.entry.own == entry.own);
        let Some(member) = known else {
            self.members.push(Member {
                entry: StartPosition {
                    book_games: 0,
                    ..entry.clone()
                },
                best: (entry.played, entry.share),
                books: vec![(candidate.source, entry.book_games)],
            });
            return;
        };
        // Lines are sorted by their bytes: of equally frequent ones the first stays, but
        // a line is preferred to a position without one.
        let best = (entry.played, entry.share);
        let has_line = |e: &StartPosition| e.start.is_empty();
        let (old, new) = (has_line(&member.entry), has_line(entry));
        if (new, best) > (old, member.best) {
            member.best = best;
            member.entry.path.clone_from(&entry.path);
            member.entry.start.clone_from(&entry.start);
            member.entry.halfmoves = entry.halfmoves;
            member.entry.fullmoves = entry.fullmoves;
        }
        member.entry.played += entry.played;
        member.entry.share = member.entry.share.saturating_add(entry.share);
        member.entry.first = member.entry.first.min(entry.first);
        match member
            .books
            .iter_mut()
            .find(|(source, _)| *source == candidate.source)
        {
            Some((_, games)) => *games = entry.book_games.max(*games),
            None => member.books.push((candidate.source, entry.book_games)),
        }
    }

    /// The position that stays: it or its mirror image, whichever is more popular.
    pub(super) fn finish(&mut self, funnel: &mut Funnel) -> Option<StartPosition> {
        let members = std::mem::take(&mut self.members);
        let count = members.len() as u64;
        let sums = members.into_iter().map(|member| {
            let book_games = member.books.iter().map(|(_, games)| games).sum();
            StartPosition {
                book_games,
                ..member.entry
            }
        });
        let rank = |e: &StartPosition| (e.games(), e.share);
        let best = sums.reduce(|a, b| if rank(&b) > rank(&a) { b } else { a })?;
        funnel.lose(FunnelStep::Mirror, count - 1);
        Some(best)
    }
}
