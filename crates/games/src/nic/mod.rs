//! NicBase: its printed text as a source, and an error with advice for its
//! own files.
//!
//! The text has fields and a movetext without capture signs:
//!
//! ```text
//! Keycode: SL 5.5
//! Source: Q94
//! White: Kramnik,Vladimir  Title: IGM  Elo: 2725
//! Black: Anand,Vishwanathan  Title: IGM  Elo: 2740
//! Place: Groningen PCA Qualifiers  Round: 11  Year: 1993
//! 1.d4 d5 2.c4 c6 3.cd5 cd5 4.Nf3 Nf6 1/2
//! Info: Both qualified
//! Annotator: Kramnik/Anand
//! ```
//!
//! (after CONVERT.TXT of 1994, a text about conversions that was
//! distributed with them). What the program's own files hold is described in one post of 1994
//! that leaves out where the moves begin; so they are refused.

mod fields;
mod movetext;
mod refuse;
mod text;

pub(super) use refuse::{is_binary, refuse};
pub(super) use text::{is_text, open};
