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
//!
//! ```
//! use tabia_analysis::{Watch, suite::{self, Cut, SuiteJob}};
//!
//! let folder = tempfile::tempdir()?;
//! let target = folder.path().join("six.epd");
//! let book = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books/tabia.ctg");
//! let mut job = SuiteJob::new(vec![book.into()], target.clone());
//! job.cut = Cut::At(6);
//! job.count = Some(50);
//! job.board.quiet = true;
//! let made = suite::make(&job, &mut Watch::default())?;
//! assert_eq!(made.figures.positions, 50);
//! for row in made.funnel.rows() {
//!     println!("{}: {} left out, {} left", row.step.as_str(), row.lost, row.left);
//! }
//! // Nothing in it would make a match manager stumble.
//! assert!(suite::check(&target, None, &mut Watch::default())?.faults.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
