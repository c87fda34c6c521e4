//! Parquet files, opened so that damaged ones are errors.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, Length, SerializedFileReader};

use super::file::read_at;

/// Bytes that are read at once where pages are headed.
const BUFFER_BYTES: usize = 8 << 10;

/// Opens a file; several threads may read it at once.
///
/// # Errors
///
/// It cannot be read, or is damaged: what is wrong, for people.
pub(crate) fn open(path: &Path) -> Result<SerializedFileReader<At>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    let at = At {
        file: Arc::new(file),
        length,
    };
    let reader = SerializedFileReader::new(at).map_err(|error| said(&error))?;
    // The library panics on some of these.
    let is_sane = reader.metadata().row_groups().iter().all(|group| {
        group.num_rows() >= 0
            && group.columns().iter().all(|column| {
                let places = [
                    Some(column.data_page_offset()),
                    column.dictionary_page_offset(),
                ];
                let sizes = [column.compressed_size(), column.num_values()];
                let mut all = places.into_iter().flatten().chain(sizes);
                all.all(|number| number >= 0)
            })
    });
    match is_sane {
        true => Ok(reader),
        false => Err("its footer is damaged".to_owned()),
    }
}

/// What a Parquet error says, without its kind.
pub(crate) fn said(error: &ParquetError) -> String {
    let text = error.to_string();
    if let Some((_, codec)) = text.split_once("Disabled feature at compile time: ") {
        return format!("it is compressed by {codec}: write it anew with Snappy, or plain");
    }
    let text = text.split_once(": ").map_or(&*text, |(_, text)| text);
    text.lines().next().unwrap_or_default().to_owned()
}

/// A file that several threads read, each at its own place.
pub(crate) struct At {
    file: Arc<File>,
    length: u64,
}

/// Reads on from a place.
pub(crate) struct From {
    file: Arc<File>,
    place: u64,
}

impl Read for From {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = read_at(&self.file, buffer, self.place)?;
        self.place += count as u64;
        Ok(count)
    }
}

impl Length for At {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for At {
    type T = io::BufReader<From>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let from = From {
            file: self.file.clone(),
            place: start,
        };
        Ok(io::BufReader::with_capacity(BUFFER_BYTES, from))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        // A damaged file may ask for any length.
        if length as u64 > self.length {
            return Err(ParquetError::EOF("it ends early".to_owned()));
        }
        let mut bytes = vec![0; length];
        self.get_read(start)?.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_about_a_compression_is_said() {
        let error = ParquetError::General("Disabled feature at compile time: zstd".to_owned());
        assert!(said(&error).contains("by zstd: write it anew with Snappy"));
        assert_eq!(
            said(&ParquetError::EOF("it ends early".to_owned())),
            "it ends early"
        );
    }
}
