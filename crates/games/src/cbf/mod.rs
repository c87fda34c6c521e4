//! ChessBase for DOS and Atari: .cbf with the games, .cbi with their offsets.
//!
//! Written from public descriptions: Carsten's post about his converter (Usenet,
//! January 1994), the opening part of "The Chess Base File Format" (1993), and the
//! behaviour of Scidb's reader. No genuine file was available. So every move is
//! checked, and a file whose games break off at once is refused.

mod header;
mod movelist;
mod moves;
mod source;
mod text;

pub(super) use source::{is_cbf, open};

/// Byte masks from the last to the first: each is `factor` times the one after it.
fn series(last: u8, factor: u8, length: usize) -> impl Iterator<Item = u8> {
    std::iter::successors(Some(last), move |mask| Some(mask.wrapping_mul(factor))).take(length)
}

/// Unscrambles bytes; the mask grows from the last byte to the first.
fn unscramble(bytes: &mut [u8], last: u8, factor: u8) {
    let masks = series(last, factor, bytes.len());
    for (byte, mask) in bytes.iter_mut().rev().zip(masks) {
        *byte ^= mask;
    }
}
