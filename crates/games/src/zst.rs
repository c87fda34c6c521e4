//! Zstandard files of any window, any number of frames.

use std::io::{self, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::peeked::Input;
use tabia_io::input::kind::Packing;

/// The largest window that `zstd --long=31` makes. It takes as much memory.
const LARGEST_WINDOW_BYTES: u64 = 1 << 31;

/// Decompresses what it reads.
pub(super) struct ZstReader {
    source: Input,
    decoder: FrameDecoder,
    /// Whether the decoder is inside a frame.
    inside: bool,
}

impl ZstReader {
    pub(super) fn new(source: Input) -> ZstReader {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(LARGEST_WINDOW_BYTES);
        ZstReader {
            source,
            decoder,
            inside: false,
        }
    }

    /// The input after the frames.
    pub(super) fn into_inner(self) -> Input {
        self.source
    }

    /// Enters the next frame; false if there is none.
    fn enter(&mut self) -> io::Result<bool> {
        while Packing::of(self.source.peek(4)?) == Some(Packing::Zstd) {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.inside = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(
                        &mut self.source.by_ref().take(length.into()),
                        &mut io::sink(),
                    )?;
                }
                Err(error) => return Err(damaged(error)),
            }
        }
        Ok(false)
    }
}

impl Read for ZstReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.inside && self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if self.inside && !self.decoder.is_finished() {
                let strategy = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder
                    .decode_blocks(&mut self.source, strategy)
                    .map_err(damaged)?;
                continue;
            }
            if self.inside {
                self.inside = false;
                let stored = self.decoder.get_checksum_from_data();
                if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
                    return Err(damaged("its checksum is wrong"));
                }
            }
            if !self.enter()? {
                return Ok(0);
            }
        }
    }
}

fn damaged(error: impl ToString) -> io::Error {
    let text = format!("damaged zstd data: {}", error.to_string());
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        let input = Box::new(io::Cursor::new(bytes.to_vec()));
        ZstReader::new(Input::new(input)).read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn frames_follow_each_other_and_others_are_skipped() {
        let text: Vec<u8> = (0..300_000_u32)
            .flat_map(|n| (n / 7).to_le_bytes())
            .collect();
        let (first, second) = text.split_at(500_000);
        let mut packed = compress_to_vec(first, CompressionLevel::Fastest);
        packed.extend([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
        packed.extend(compress_to_vec(second, CompressionLevel::Fastest));
        assert!(read(&packed).unwrap() == text);
        assert!(read(&packed[..packed.len() / 2]).is_err());
    }
}
