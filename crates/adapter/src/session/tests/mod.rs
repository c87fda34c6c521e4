//! The session as a function of events: conversations, random events, and what
//! a forwarded line costs.

mod allocation;
mod book_options;
mod conversations;
mod interleavings;
