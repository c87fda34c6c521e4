//! Fills the file of evaluations beside a book: from other files ([`gather()`]), and with
//! engines ([`work()`]); and backs the values up to every position ([`backed_up()`]).
//!
//! The first two write each new evaluation to the file at once, so that nothing is lost
//! when they are interrupted, and use those already in the file.

mod backed_up;
mod collected;
mod fishnet;
mod from_games;
mod gather;
mod search;
mod work;
mod worker;

pub use backed_up::backed_up;
pub(crate) use collected::cancelled;
pub use collected::{Gathered, GatheredFrom};
pub use from_games::gather_games;
pub use gather::gather;
pub(crate) use search::each;
pub use search::{Searched, search};
pub(crate) use work::others;
pub use work::{Task, likeliest_first, plan, work};
pub use worker::EnginePlan;
pub(crate) use worker::{Outcome, Worker};
