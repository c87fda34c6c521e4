//! Zstandard files of any window, any number of frames.

use std::io::{self, BufRead, BufReader, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The largest window that `zstd --long=31` makes. It takes as much memory.
const LARGEST_WINDOW_BYTES: u64 = 1 << 31;

/// Decompresses what it reads.
pub(super) struct ZstReader<R> {
    source: BufReader<R>,
    decoder: FrameDecoder,
    /// Whether the decoder is inside a frame.
    inside: bool,
}

impl<R: Read> ZstReader<R> {
    pub(super) fn new(source: R) -> ZstReader<R> {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(LARGEST_WINDOW_BYTES);
        ZstReader {
            source: BufReader::with_capacity(128 << 10, source),
            decoder,
            inside: false,
        }
    }

    /// Enters the next frame; false at the end.
    fn enter(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
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

impl<R: Read> Read for ZstReader<R> {
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
                let said = self.decoder.get_checksum_from_data();
                if said.is_some() && said != self.decoder.get_calculated_checksum() {
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
        ZstReader::new(bytes).read_to_end(&mut out)?;
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
        packed.push(1);
        assert!(read(&packed).is_err());
    }
}
