//! Tabia lets any UCI chess engine play from ChessBase opening books.

pub mod book;
pub mod builtin;
pub mod cli;
pub mod engine;
