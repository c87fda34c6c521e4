//! Filling the evaluations beside a book: from what others have found
//! ([`gather`]), and by engines ([`work()`]); and what follows for every
//! position ([`backed_up()`]).
//!
//! The first two write to the file what is new as soon as they know it, so that nothing
//! is lost whatever ends them, and begin with what is there.

mod backed_up;
mod collected;
#[cfg(feature = "parquet")]
mod fishnet;
mod from_games;
mod gather;
mod gathered;
mod search;
mod work;
mod worker;

pub use backed_up::backed_up;
pub use from_games::gather_games;
pub use gather::gather;
pub use gathered::Gathered;
pub(crate) use search::{Outcome, each};
pub use search::{Searched, search};
pub(crate) use work::others;
pub use work::{Task, likeliest_first, plan, work};
pub use worker::EnginePlan;
pub(crate) use worker::Worker;
