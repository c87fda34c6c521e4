//! Opening suites: files of start positions for matches between engines.
//!
//! ```text
//! games, suites -> gather --+
//!                           +-> candidates, sorted: equal ones are merged
//! books ----------> walk ---+        |
//!                                    v
//!       popularity -> values -> window -> count -> order -> .epd or .pgn
//! ```
//!
//! Intermediate data are sorted on disk (`tabia_io::sort`), and every order depends only
//! on the positions themselves: the same sources give the same bytes whatever the number
//! of threads and the order of the sources. [`check()`] reports on suites, and
//! [`match_report`] on games played from one.

mod book_positions;
mod check;
mod entry;
mod equal;
mod evaluate;
mod figures;
mod filter;
mod full_lines;
mod gather;
mod job;
mod make;
mod matches;
mod metadata;
mod output;
mod publish;
mod selection;
mod sources;
mod text;
mod values;

pub(crate) use entry::other_wing;

pub use crate::funnel::{Funnel, FunnelRow, FunnelStep};
pub use check::{FoundFault, SuiteCheck, SuiteFault, SuiteNote, check};
pub use figures::{Diversity, SuiteEvaluations, SuiteSummary};
pub use filter::{BoardFilter, Castled, ParseRangeError, Queens, Range};
pub use job::{Cut, Play, SuiteJob, SuiteOrder};
pub use make::{MadeSuite, make};
pub use matches::{MatchOpening, MatchReport, Pairing, match_report};
pub use metadata::SuiteRow;
pub use output::{Counters, Form};
pub use selection::Confirmed;
pub use values::{PositionEval, ValueView, ValueWindow};
