//! The parameters of `go`.

use shakmaty::uci::UciMove;

/// What a `go` line asks for. Numbers that are missing or unreadable count
/// as not given, negative ones as zero (GUIs that do not forfeit on time
/// send negative clocks).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) wtime: Option<u64>,
    pub(super) btime: Option<u64>,
    pub(super) winc: Option<u64>,
    pub(super) binc: Option<u64>,
    pub(super) movestogo: Option<u64>,
    pub(super) movetime: Option<u64>,
    pub(super) depth: Option<u64>,
    pub(super) nodes: Option<u64>,
    /// In moves, not plies.
    pub(super) mate: Option<u64>,
    pub(super) infinite: bool,
    pub(super) ponder: bool,
    pub(super) searchmoves: Vec<UciMove>,
}

impl Limits {
    /// Reads what follows the word `go`, in any order; unknown words are
    /// skipped.
    pub(super) fn parse<'a>(words: &mut impl Iterator<Item = &'a str>) -> Self {
        let mut limits = Self::default();
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            let target = match word {
                "wtime" => &mut limits.wtime,
                "btime" => &mut limits.btime,
                "winc" => &mut limits.winc,
                "binc" => &mut limits.binc,
                "movestogo" => &mut limits.movestogo,
                "movetime" => &mut limits.movetime,
                "depth" => &mut limits.depth,
                "nodes" => &mut limits.nodes,
                "mate" => &mut limits.mate,
                "infinite" => {
                    limits.infinite = true;
                    continue;
                }
                "ponder" => {
                    limits.ponder = true;
                    continue;
                }
                "searchmoves" => {
                    while let Some(m) = words.peek().and_then(|word| parse_move(word)) {
                        limits.searchmoves.push(m);
                        words.next();
                    }
                    continue;
                }
                _ => continue,
            };
            if let Some(number) = words.peek().and_then(|word| parse_number(word)) {
                *target = Some(number);
                words.next();
            }
        }
        limits
    }

    /// Nothing in the line would ever end the search.
    pub(super) fn is_endless(&self) -> bool {
        let clock = [self.wtime, self.btime, self.winc, self.binc];
        let limit = [self.movetime, self.depth, self.nodes, self.mate];
        self.infinite || clock.iter().chain(&limit).all(Option::is_none)
    }
}

/// A move in coordinate notation; AnMon's upper-case promotion letters pass.
pub(super) fn parse_move(word: &str) -> Option<UciMove> {
    word.parse()
        .or_else(|_| word.to_ascii_lowercase().parse())
        .ok()
}

/// Numbers beyond 64 bits become the largest.
fn parse_number(word: &str) -> Option<u64> {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    if word.starts_with('-') {
        return Some(0);
    }
    // Halved, so that sums of two never overflow.
    Some(digits.parse().unwrap_or(u64::MAX).min(u64::MAX / 16))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Limits {
        Limits::parse(&mut line.split_whitespace())
    }

    #[test]
    fn reads_parameters_in_any_order() {
        let limits = parse("ponder movestogo 0 btime -30 wtime 1000 winc 70000 depth 5");
        assert_eq!(limits.wtime, Some(1000));
        assert_eq!(limits.btime, Some(0));
        assert_eq!(limits.winc, Some(70_000));
        assert_eq!(limits.movestogo, Some(0));
        assert_eq!(limits.depth, Some(5));
        assert!(limits.ponder && !limits.infinite);
    }

    #[test]
    fn searchmoves_ends_at_the_first_word_that_is_no_move() {
        let limits = parse("searchmoves e2e4 A7A8Q depth 3 infinite");
        assert_eq!(limits.searchmoves.len(), 2);
        assert_eq!(limits.depth, Some(3));
        assert!(limits.infinite);
    }

    #[test]
    fn a_missing_number_does_not_swallow_the_next_parameter() {
        let limits = parse("wtime btime 7 depth x nodes 99999999999999999999999");
        assert_eq!(limits.wtime, None);
        assert_eq!(limits.btime, Some(7));
        assert_eq!(limits.depth, None);
        assert_eq!(limits.nodes, Some(u64::MAX / 16));
    }

    #[test]
    fn endless_or_not() {
        for (line, endless) in [
            ("", true),
            ("infinite depth 3", true),
            ("searchmoves e2e4", true),
            ("movestogo 3", true),
            ("depth 3", false),
            ("btime 1", false),
            ("mate 2", false),
        ] {
            assert_eq!(parse(line).is_endless(), endless, "{line}");
        }
    }
}
