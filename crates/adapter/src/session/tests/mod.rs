//! The session as a function of events: conversations, random events, what a forwarded
//! line costs, and what its parts know of each other.

mod allocation;
mod book_options;
mod conversations;
mod interleavings;
mod parts;
