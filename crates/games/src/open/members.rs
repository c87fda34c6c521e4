//! Compressed streams of several members, as `cat a.gz b.gz` makes them, and other data
//! after the last one.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;
use ruzstd::decoding::StreamingDecoder;

use super::peek::PeekReader;
use super::zstd::Frame;
use tabia_notation::kind::Packing;

/// Whether an error means that compressed data are damaged or cut off, and not that the
/// system failed.
pub(crate) fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

/// Each decoder reports data that end too early in a different way.
fn in_plain_words(error: io::Error) -> io::Error {
    const EARLY: [&str; 4] = [
        "UnexpectedEof",
        "EOF reached",
        "incomplete deflate stream",
        "unexpected end of file",
    ];
    let text = error.to_string();
    match EARLY.iter().any(|words| text.contains(words)) {
        true => io::Error::new(error.kind(), "the compressed data end too early"),
        false => error,
    }
}

/// The largest window that `zstd --long=31` makes. It takes as much memory.
const LARGEST_WINDOW_BYTES: u64 = 1 << 31;

fn damaged_zstd(error: impl ToString) -> io::Error {
    let text = format!("damaged zstd data: {}", error.to_string());
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// Decompresses all members. Like gzip, it skips other data after them; a flag records
/// that there were some.
pub(crate) struct Members {
    decoder: Decoder,
    trailing_data: Arc<AtomicBool>,
}

enum Decoder {
    Start(Packing, PeekReader),
    Gzip(Box<GzDecoder<PeekReader>>),
    Bzip2(Box<BzDecoder<PeekReader>>),
    Zstd(Box<StreamingDecoder<Frame, ruzstd::decoding::FrameDecoder>>),
    End,
}

impl Members {
    pub(crate) fn new(
        packing: Packing,
        input: Box<dyn Read + Send>,
        trailing_data: Arc<AtomicBool>,
    ) -> Members {
        Members {
            decoder: Decoder::Start(packing, PeekReader::new(input)),
            trailing_data,
        }
    }

    /// Continues with the next member; false if there is none.
    fn go_on(&mut self) -> io::Result<bool> {
        let (packing, mut input) = match std::mem::replace(&mut self.decoder, Decoder::End) {
            Decoder::Start(packing, input) => (packing, input),
            Decoder::Gzip(gzip) => (Packing::Gzip, gzip.into_inner()),
            Decoder::Bzip2(bzip2) => (Packing::Bzip2, bzip2.into_inner()),
            Decoder::Zstd(zstd) => {
                let (input, frame) = zstd.into_parts();
                if input.is_cut_off() {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                let stored = frame.get_checksum_from_data();
                if stored.is_some() && stored != frame.get_calculated_checksum() {
                    return Err(damaged_zstd("its checksum is wrong"));
                }
                (Packing::Zstd, input.into_inner())
            }
            Decoder::End => return Ok(false),
        };
        // Skippable frames of Zstandard.
        while packing == Packing::Zstd
            && let [0x50..=0x5f, 0x2a, 0x4d, 0x18, a, b, c, d] = *input.peek(8)?
        {
            let length = 8 + u64::from(u32::from_le_bytes([a, b, c, d]));
            io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
        }
        let start = input.peek(4)?;
        if Packing::recognize(start) != Some(packing) {
            let is_trailing = !start.is_empty();
            self.trailing_data.fetch_or(is_trailing, Ordering::Relaxed);
            return Ok(false);
        }
        self.decoder = match packing {
            Packing::Gzip => Decoder::Gzip(Box::new(GzDecoder::new(input))),
            Packing::Bzip2 => Decoder::Bzip2(Box::new(BzDecoder::new(input))),
            Packing::Zstd => {
                let most = LARGEST_WINDOW_BYTES;
                let input = Frame::new(input)?;
                let frame = StreamingDecoder::new_with_max_window_size(input, most);
                Decoder::Zstd(Box::new(frame.map_err(damaged_zstd)?))
            }
        };
        Ok(true)
    }
}

impl Read for Members {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let read = match &mut self.decoder {
                Decoder::Gzip(gzip) => gzip.read(buffer),
                Decoder::Bzip2(bzip2) => bzip2.read(buffer),
                Decoder::Zstd(zstd) => zstd.read(buffer).map_err(damaged_zstd),
                Decoder::Start(..) | Decoder::End => Ok(0),
            };
            let count = read.map_err(in_plain_words)?;
            if count > 0 || !self.go_on().map_err(in_plain_words)? {
                return Ok(count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(text).unwrap();
        writer.finish().unwrap()
    }

    fn bzip2(text: &[u8]) -> Vec<u8> {
        let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        writer.write_all(text).unwrap();
        writer.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    }

    /// The bytes before the end or the error, and whether other data follow.
    fn read(packed: &[u8]) -> (Vec<u8>, bool, bool) {
        let trailing_data = Arc::new(AtomicBool::new(false));
        let packing = Packing::recognize(packed).unwrap();
        let input = Box::new(io::Cursor::new(packed.to_vec()));
        let mut members = Members::new(packing, input, Arc::clone(&trailing_data));
        let mut text = Vec::new();
        let whole = members.read_to_end(&mut text);
        assert!(whole.as_ref().err().is_none_or(is_damage), "{whole:?}");
        (text, whole.is_ok(), trailing_data.load(Ordering::Relaxed))
    }

    #[test]
    fn members_follow_each_other_and_trailing_data_is_passed_over() {
        let text: Vec<u8> = (0..400_000_u32)
            .flat_map(|n| (n / 7).wrapping_mul(2_654_435_761).to_le_bytes())
            .collect();
        let (one, two) = text.split_at(700_001);
        for pack in [gzip as fn(&[u8]) -> Vec<u8>, bzip2, zstd] {
            let skipped: &[u8] = match pack(one)[0] {
                0x28 => &[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3],
                _ => &[],
            };
            let mut packed = [skipped, &pack(one), skipped, &pack(two)].concat();
            assert!(read(&packed) == (text.clone(), true, false));
            // The undamaged bytes come first, then an error.
            let (part, whole, trailing_data) = read(&packed[..packed.len() / 2]);
            assert!(!whole && !trailing_data && part.len() > 1000 && text.starts_with(&part));
            // A file that is smaller than the window of its decoder, and any place of the cut.
            let small = pack(&text[..40_000]);
            for end in (0..small.len()).rev().step_by(997) {
                let (part, whole, _) = match end {
                    0..8 => continue,
                    _ => read(&small[..end]),
                };
                assert!(!whole && text.starts_with(&part));
            }
            packed.extend(b"rubbish");
            assert!(read(&packed) == (text.clone(), true, true));
        }
    }

    /// The window of the frame is as long as a block, so the decoder has given out nothing when
    /// the second block begins.
    #[test]
    fn a_zstd_block_of_the_greatest_length_may_be_cut_off() {
        const LONGEST: usize = 128 << 10;
        let block = |is_last: u8, letter: u8| {
            // Not compressed; the length is above the three lowest bits.
            let header = [is_last, 0, (LONGEST >> 13) as u8];
            [&header[..], &[letter; LONGEST]].concat()
        };
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3];
        let whole = [&frame[..], &block(0, b'a'), &block(1, b'b')].concat();
        let text = [[b'a'; LONGEST], [b'b'; LONGEST]].concat();
        assert!(read(&whole) == (text.clone(), true, false));
        for missing in [1, LONGEST, LONGEST + 3] {
            let (part, is_whole, _) = read(&whole[..whole.len() - missing]);
            assert!(!is_whole && part == text[..LONGEST], "{missing}");
        }
    }
}
