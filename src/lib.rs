//! Tabia lets any UCI chess engine play from ChessBase opening books.

pub mod book;
pub mod build;
pub mod builtin;
pub mod choose;
pub mod cli;
pub mod config;
pub mod engine;
pub mod games;
pub mod relay;
pub mod session;
pub mod settings;
pub mod shelf;
pub mod uci;
