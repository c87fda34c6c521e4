//! Filling the evaluations beside a book: from what others have found
//! ([`gather`]), and by engines ([`work()`]).
//!
//! Both write to the file what is new as soon as they know it, so that nothing
//! is lost whatever ends them, and begin with what stands there.

mod gather;
mod work;

pub use gather::{GatherError, Gathered, gather};
pub use work::{Fault, Plan, Task, WorkError, Worked, plan, work};
