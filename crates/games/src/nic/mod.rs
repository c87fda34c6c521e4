//! NicBase: reads its printed text as a source, and refuses its own files with
//! advice.
//!
//! The text has fields, and a movetext without capture signs:
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
//! (From CONVERT.TXT of 1994, a text that came with conversion programs.)
//! The only description of the program's own files is a post of 1994, which does not
//! say where the moves begin, so they are refused.

mod fields;
mod movetext;
mod refuse;
mod text;

pub(super) use refuse::{is_binary, refuse};
pub(super) use text::{is_text, open};
