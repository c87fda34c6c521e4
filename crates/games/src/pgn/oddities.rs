//! What is odd about games without preventing their use: counted for each file, and said in
//! one line about each kind.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A kind of oddity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Oddity {
    Result,
    Comment,
    Kings,
    Sign,
    Dash,
    Number,
    Month,
    Date,
    UnusedFen,
    Encoding,
    Stray,
    AfterResult,
    Tag,
    Open,
    Closing,
}

impl Oddity {
    /// All kinds, in the order of their numbers.
    const ALL: [Oddity; 15] = [
        Oddity::Result,
        Oddity::Comment,
        Oddity::Kings,
        Oddity::Sign,
        Oddity::Dash,
        Oddity::Number,
        Oddity::Month,
        Oddity::Date,
        Oddity::UnusedFen,
        Oddity::Encoding,
        Oddity::Stray,
        Oddity::AfterResult,
        Oddity::Tag,
        Oddity::Open,
        Oddity::Closing,
    ];

    /// The message about a game.
    const fn text(self) -> &'static str {
        match self {
            Oddity::Result => "the result after the moves contradicts the tag Result, which counts",
            Oddity::Comment => "a comment contains what looks like another game",
            Oddity::Kings => {
                "a king is put in the centre after the last move, as boards of DGT record the \
                 end; the game is read up to there"
            }
            Oddity::Sign => "a sign that PGN has no number for is left out",
            Oddity::Dash => "a dash stands between moves and is passed over",
            Oddity::Number => "a number between moves is not that of the move; it is passed over",
            Oddity::Month => "the month and the day of a date may be exchanged; the year counts",
            Oddity::Date => "a date is not understood",
            Oddity::UnusedFen => {
                "the tags contradict each other: SetUp \"0\" and a position; the one from which \
                 the moves are legal counts"
            }
            Oddity::Encoding => {
                "names are not UTF-8 and are read as Windows-1252; if they look wrong, \
                 give --encoding (windows-1251, cp866, ...)"
            }
            Oddity::Stray => "a comment belongs to no game and is left out",
            Oddity::AfterResult => "moves follow a result and are read as part of the game",
            Oddity::Tag => {
                "the tag Result is not one of PGN's four values; the result after the moves counts"
            }
            Oddity::Open => "a variation has no closing bracket and goes on to the end of the game",
            Oddity::Closing => "a closing bracket ends no variation and is passed over",
        }
    }
}

/// The oddities of one game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Oddities(u16);

impl Oddities {
    pub(super) fn one(oddity: Oddity) -> Oddities {
        let mut one = Oddities::default();
        one.add(oddity);
        one
    }

    #[inline]
    pub(super) fn add(&mut self, oddity: Oddity) {
        self.0 |= 1 << oddity as u16;
    }

    pub(super) fn has(self, oddity: Oddity) -> bool {
        self.0 & 1 << oddity as u16 > 0
    }

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The oddities of the games of a file.
#[derive(Debug)]
pub(super) struct Findings([Finding; Oddity::ALL.len()]);

/// Games with an oddity, and the first line of the first one.
#[derive(Debug)]
struct Finding {
    count: AtomicU64,
    first: AtomicU64,
}

impl Default for Findings {
    fn default() -> Findings {
        Findings(std::array::from_fn(|_| Finding {
            count: AtomicU64::new(0),
            first: AtomicU64::new(u64::MAX),
        }))
    }
}

impl Findings {
    /// Counts the oddities of the game on a line.
    #[cold]
    pub(super) fn add(&self, odd: Oddities, line: u64) {
        let all = Oddity::ALL.into_iter().zip(&self.0);
        for (_, finding) in all.filter(|(oddity, _)| odd.has(*oddity)) {
            finding.count.fetch_add(1, Relaxed);
            finding.first.fetch_min(line, Relaxed);
        }
    }

    /// Whether a game has an oddity.
    pub(super) fn has(&self, wanted: Oddity) -> bool {
        let mut all = Oddity::ALL.into_iter().zip(&self.0);
        all.any(|(oddity, finding)| oddity == wanted && finding.count.load(Relaxed) > 0)
    }

    /// The messages about a file.
    pub(super) fn report(&self, name: &str) -> impl Iterator<Item = String> {
        let all = Oddity::ALL.into_iter().zip(&self.0);
        all.filter_map(move |(oddity, finding)| {
            let line = finding.first.load(Relaxed);
            let text = oddity.text();
            match finding.count.load(Relaxed) {
                0 => None,
                1 => Some(format!("{name}: line {line}: {text}")),
                count => Some(format!(
                    "{name}: in {count} games, {text}; the first is on line {line}"
                )),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_oddities_of_its_games_only() {
        for odd in Oddity::ALL {
            let findings = Findings::default();
            for line in [9, 5] {
                findings.add(Oddities::one(odd), line);
            }
            for other in Oddity::ALL {
                assert_eq!(findings.has(other), other == odd, "{other:?} {odd:?}");
            }
            let text = odd.text();
            let report: Vec<_> = findings.report("x").collect();
            assert_eq!(
                report,
                [format!("x: in 2 games, {text}; the first is on line 5")]
            );
        }
    }
}
