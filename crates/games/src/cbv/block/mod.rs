//! Blocks: the packed pieces of a member.
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 2 | bytes of the payload |
//! | 2 | 2 | sum of the payload's 16-bit words, without an odd last byte |
//! | 4 | | payload: one byte for the kind of packing, and the packed bytes |
//!
//! Little-endian. Kinds of packing: 0: none; 1: `lz`; 2: `huffman`; 3: `lz`, then
//! `huffman`.

mod huffman;
mod lz;

pub(super) use lz::FARTHEST;

/// A block with more unpacked bytes is damaged: genuine ones have 61,440.
pub(super) const LARGEST_BYTES: usize = 1 << 20;

/// Bytes before the payload.
pub(super) const HEAD_BYTES: usize = 4;

const CUT_CODE: &str = "it ends inside a code";

/// Buffers for unpacking.
#[derive(Debug, Default)]
pub(super) struct Unpacker {
    codes: Vec<u16>,
    middle: Vec<u8>,
}

impl Unpacker {
    /// Adds the unpacked bytes of a payload to `out`.
    ///
    /// # Errors
    ///
    /// What is wrong with the block.
    pub(super) fn unpack(
        &mut self,
        payload: &[u8],
        checksum: u16,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let found = sum(payload);
        if found != checksum {
            return Err(format!(
                "its checksum is {found:04x}, expected {checksum:04x}"
            ));
        }
        let (mode, data) = payload.split_first().ok_or("it is empty")?;
        match mode {
            0 => out.extend_from_slice(data),
            1 => lz::unpack(data, out)?,
            2 => huffman::unpack(data, &mut self.codes, out)?,
            3 => {
                self.middle.clear();
                huffman::unpack(data, &mut self.codes, &mut self.middle)?;
                lz::unpack(&self.middle, out)?;
            }
            mode => {
                return Err(format!("it is packed in the way {mode}, expected 0 to 3"));
            }
        }
        Ok(())
    }
}

fn sum(payload: &[u8]) -> u16 {
    let (words, _) = payload.as_chunks::<2>();
    let add = |sum: u16, word: &[u8; 2]| sum.wrapping_add(u16::from_le_bytes(*word));
    words.iter().fold(0, add)
}
