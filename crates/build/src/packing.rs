//! Pages of Parquet files, packed and unpacked without a C toolchain.
//!
//! The library reads Snappy, LZ4, and pages that are not packed. It needs a C toolchain for
//! zstd, and another copy of zlib for gzip; and it writes no checksums of pages, which engines
//! can verify. So pages are packed here, those of zstd and gzip are unpacked here, and the
//! library takes them for unpacked ones.

use std::io::{Read as _, Write as _};

use bytes::Bytes;
use parquet::basic::{Compression as Named, CompressionCodec, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter};
use parquet::errors::ParquetError;
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// Greatest length of an unpacked page, in bytes.
const LARGEST_PAGE: usize = 1 << 30;

/// How the pages of a table are packed when it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Fast, and read by every engine.
    #[default]
    Snappy,
    /// Smaller.
    Zstd,
    /// Smaller, slow, and read by every engine.
    Gzip,
    /// As it is.
    None,
}

impl Compression {
    /// All, in the order in which they are listed.
    pub const ALL: [Compression; 4] = [
        Compression::Snappy,
        Compression::Zstd,
        Compression::Gzip,
        Compression::None,
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Compression::Snappy => "snappy",
            Compression::Zstd => "zstd",
            Compression::Gzip => "gzip",
            Compression::None => "none",
        }
    }

    pub(super) fn codec(self) -> Named {
        match self {
            Compression::Snappy => Named::SNAPPY,
            Compression::Zstd => Named::ZSTD(Default::default()),
            Compression::Gzip => Named::GZIP(Default::default()),
            Compression::None => Named::UNCOMPRESSED,
        }
    }

    fn pack(self, plain: &Bytes) -> Result<Bytes, ParquetError> {
        Ok(match self {
            Compression::Snappy => {
                let packed = snap::raw::Encoder::new().compress_vec(plain);
                packed.map_err(|error| ParquetError::External(Box::new(error)))?
            }
            Compression::Zstd => compress_to_vec(&**plain, CompressionLevel::Fastest),
            Compression::Gzip => {
                let level = flate2::Compression::default();
                let mut out = flate2::write::GzEncoder::new(Vec::new(), level);
                out.write_all(plain)?;
                out.finish()?
            }
            Compression::None => return Ok(plain.clone()),
        }
        .into())
    }
}

/// Writes the pages of a column, each with the checksum that the format has for it.
pub(super) struct Pages<'o> {
    pub(super) out: &'o mut Vec<u8>,
    pub(super) compression: Compression,
}

impl PageWriter for Pages<'_> {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec, ParquetError> {
        let packed = self.compression.pack(page.compressed_page().buffer())?;
        let header = page_header(&page, &packed)?;
        let mut spec = PageWriteSpec::new();
        spec.page_type = page.page_type();
        spec.num_values = page.num_values();
        spec.offset = self.out.len() as u64;
        spec.uncompressed_size = header.len() + page.uncompressed_size();
        spec.compressed_size = header.len() + packed.len();
        spec.bytes_written = spec.compressed_size as u64;
        self.out.extend_from_slice(&header);
        self.out.extend_from_slice(&packed);
        Ok(spec)
    }

    fn close(&mut self) -> Result<(), ParquetError> {
        Ok(())
    }
}

/// The header of a page in Thrift's compact protocol: `PageHeader` of `parquet.thrift`. The
/// library has no public writer of it.
fn page_header(page: &CompressedPage, packed: &[u8]) -> Result<Vec<u8>, ParquetError> {
    let mut out = Vec::with_capacity(32);
    // One field of 32 bits after another; the number of a field is the distance to the last.
    let field = |out: &mut Vec<u8>, distance: u8, value: i32| {
        out.push(distance << 4 | THRIFT_I32);
        let mut rest = ((value << 1) ^ (value >> 31)) as u32;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    };
    let short = |length: usize| {
        let length = i32::try_from(length);
        length.map_err(|_| ParquetError::General("a page is too long".to_owned()))
    };
    field(&mut out, 1, page.page_type() as i32);
    field(&mut out, 1, short(page.uncompressed_size())?);
    field(&mut out, 1, short(packed.len())?);
    let mut crc = flate2::Crc::new();
    crc.update(packed);
    field(&mut out, 1, crc.sum() as i32);
    let (distance, levels) = match page.compressed_page() {
        Page::DataPage {
            def_level_encoding,
            rep_level_encoding,
            ..
        } => (1, vec![*def_level_encoding, *rep_level_encoding]),
        Page::DictionaryPage { .. } => (3, Vec::new()),
        Page::DataPageV2 { .. } => {
            let text = "a page of version 2 among those of version 1";
            return Err(ParquetError::General(text.to_owned()));
        }
    };
    out.push(distance << 4 | THRIFT_STRUCT);
    field(&mut out, 1, short(page.num_values() as usize)?);
    for encoding in [page.encoding()].into_iter().chain(levels) {
        field(&mut out, 1, encoding_number(encoding)?);
    }
    out.extend([THRIFT_END, THRIFT_END]);
    Ok(out)
}

const THRIFT_I32: u8 = 5;
const THRIFT_STRUCT: u8 = 12;
const THRIFT_END: u8 = 0;

/// The number of an encoding in the format, of those that version 1 of the writer uses.
fn encoding_number(encoding: Encoding) -> Result<i32, ParquetError> {
    match encoding {
        Encoding::PLAIN => Ok(0),
        Encoding::PLAIN_DICTIONARY => Ok(2),
        Encoding::RLE => Ok(3),
        Encoding::RLE_DICTIONARY => Ok(8),
        other => Err(ParquetError::General(format!(
            "an encoding that is not of version 1: {other}"
        ))),
    }
}

/// A compression that is unpacked here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PagePacking {
    Zstd,
    Gzip,
}

impl PagePacking {
    pub(super) fn of(codec: CompressionCodec) -> Option<PagePacking> {
        match codec {
            CompressionCodec::ZSTD => Some(PagePacking::Zstd),
            CompressionCodec::GZIP => Some(PagePacking::Gzip),
            _ => None,
        }
    }

    /// The bytes of a page; the first `plain` are not packed.
    pub(super) fn unpack(self, bytes: &Bytes, plain: usize) -> Result<Bytes, ParquetError> {
        let early = || ParquetError::EOF("a page ends early".to_owned());
        let (head, packed) = bytes.split_at_checked(plain).ok_or_else(early)?;
        let mut out = head.to_vec();
        // Without values there is nothing to unpack.
        if packed.is_empty() {
            return Ok(out.into());
        }
        // A damaged page may unpack to any length.
        let most = (LARGEST_PAGE - out.len()) as u64;
        match self {
            PagePacking::Zstd => {
                let stream = StreamingDecoder::new(packed);
                let stream = stream.map_err(|error| {
                    ParquetError::General(format!("damaged zstd data: {error}"))
                })?;
                stream.take(most).read_to_end(&mut out)?;
            }
            PagePacking::Gzip => {
                let stream = flate2::read::MultiGzDecoder::new(packed);
                stream.take(most).read_to_end(&mut out)?;
            }
        }
        Ok(out.into())
    }
}
