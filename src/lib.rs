//! Tabia lets any UCI chess engine play from ChessBase opening books.

pub mod book;
pub mod choose;
pub mod engine;
pub mod settings;
pub mod uci;
