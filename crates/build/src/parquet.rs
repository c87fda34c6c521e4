//! Reads Parquet files in several threads. Damaged files give errors.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use bytes::{Buf as _, Bytes};
use parquet::basic::{Compression, Encoding, Type as Physical};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{
    ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{
    ChunkReader, FileReader as _, Length, RowGroupReader, SerializedFileReader,
};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescriptor;

use super::packing::PagePacking;
use tabia_io::input::file::DataFile;
use tabia_io::input::reader::FileReader;
use tabia_io::progress::{Stop, Stopped};

/// Rows that are read at once.
const BATCH_ROWS: usize = 1024;

/// Buffer for reading page headers, in bytes.
const BUFFER_BYTES: usize = 8 << 10;

/// A column of a row group is read at once if it has at most so many bytes, else page by page.
const WHOLE_BYTES: u64 = 2 << 20;

/// What is wrong with a file or one of its columns, without their names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TableError(String);

impl TableError {
    fn new(text: &str) -> TableError {
        TableError(text.to_owned())
    }
}

/// A Parquet file. Several threads may read its row groups at once.
pub struct Table {
    reader: SerializedFileReader<Chunks>,
    file: Arc<Chunks>,
    /// Indices of the selected columns.
    columns: Vec<usize>,
}

impl Table {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is damaged.
    pub fn open(path: &Path) -> Result<Table, TableError> {
        let file = DataFile::open_in_pieces(path).map_err(|error| TableError(error.to_string()))?;
        let file = Chunks(Arc::new(file));
        let reader = SerializedFileReader::new(file.clone())
            .map_err(|error| TableError(error_text(&error)))?;
        match reader.metadata().row_groups().iter().all(is_sane) {
            true => Ok(Table {
                reader,
                file: Arc::new(file),
                columns: Vec::new(),
            }),
            false => Err(TableError::new("its footer is damaged")),
        }
    }

    /// Selects a column with one value per row. A row has its values in the order in
    /// which the columns were selected.
    ///
    /// # Errors
    ///
    /// The column is missing, or has lists of values.
    pub fn want(&mut self, name: &str) -> Result<&ColumnDescriptor, TableError> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let columns = || schema.columns().iter().enumerate();
        let named = |is: fn(&str, &str) -> bool| {
            columns().find(|(_, column)| match column.path().parts() {
                [found] => is(found, name),
                _ => false,
            })
        };
        // Snowflake, for instance, turns names without quotation marks into upper case.
        let found = named(|found, name| found == name).or_else(|| named(str::eq_ignore_ascii_case));
        let (at, column) = found.ok_or_else(|| {
            // What engines call a sum: sum(games), sum_games.
            let alike = named(|found, name| found.to_ascii_lowercase().contains(name));
            TableError(match alike {
                Some((_, column)) => format!(
                    "is missing; there is \"{0}\": give it the name, as in SUM({name}) AS {name}",
                    column.name()
                ),
                None => "is missing".to_owned(),
            })
        })?;
        if column.max_rep_level() > 0 {
            return Err(TableError::new(
                "is a list, but one value per row is expected",
            ));
        }
        self.columns.push(at);
        Ok(column)
    }

    /// A text that the writer put into the footer.
    pub fn note(&self, name: &str) -> Option<&str> {
        let notes = self
            .reader
            .metadata()
            .file_metadata()
            .key_value_metadata()?;
        let note = notes.iter().find(|note| note.key == name)?;
        note.value.as_deref()
    }

    /// Returns all row groups.
    pub fn groups(&self) -> impl Iterator<Item = RowGroup> + use<> {
        let mut rows_before = 0_u64;
        let groups = self.reader.metadata().row_groups().iter().enumerate();
        let groups = groups.map(|(number, group)| {
            let rows = group.num_rows().unsigned_abs();
            let before = rows_before;
            rows_before = before.saturating_add(rows);
            RowGroup {
                number,
                rows_before: before,
                rows,
                bytes: group.compressed_size().unsigned_abs(),
                unpacked_bytes: group.total_byte_size().unsigned_abs(),
            }
        });
        groups.collect::<Vec<_>>().into_iter()
    }

    /// Reads a row group: calls `take` with the number of each row in the file, counted
    /// from 1, and the row.
    ///
    /// # Errors
    ///
    /// The error of `take`, a request to stop, or the error that `unreadable` makes from
    /// the description of a fault in the file.
    pub fn each_row<E: From<Stopped>>(
        &self,
        group: &RowGroup,
        stop: Stop<'_>,
        unreadable: impl Fn(String) -> E,
        mut take: impl FnMut(u64, Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_batch(group, stop, unreadable, |before, batch| {
            (0..batch.rows).try_for_each(|at| take(before + at as u64 + 1, batch.row(at)))
        })
    }

    /// Reads a row group: calls `take` with some rows at once, and the number of rows before
    /// them in the file.
    ///
    /// # Errors
    ///
    /// As for [`Table::each_row`].
    pub(super) fn each_batch<E: From<Stopped>>(
        &self,
        group: &RowGroup,
        stop: Stop<'_>,
        unreadable: impl Fn(String) -> E,
        mut take: impl FnMut(u64, Batch<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let unreadable = |error: ParquetError| unreadable(error_text(&error));
        let reader = self.reader.get_row_group(group.number);
        let reader = reader.map_err(unreadable)?;
        let mut columns = Vec::new();
        for &place in &self.columns {
            columns.push(Column::open(&*reader, &self.file, place).map_err(unreadable)?);
        }
        let mut before = group.rows_before;
        let mut left = group.rows;
        while left > 0 {
            stop.go_on()?;
            let rows = left.min(BATCH_ROWS as u64) as usize;
            for column in &mut columns {
                column.fill(rows).map_err(unreadable)?;
            }
            let columns = columns.as_slice();
            take(before, Batch { columns, rows })?;
            before += rows as u64;
            left -= rows as u64;
        }
        Ok(())
    }
}

/// A group of consecutive rows in the file.
pub struct RowGroup {
    number: usize,
    rows_before: u64,
    rows: u64,
    /// Compressed size in bytes.
    pub bytes: u64,
    /// Size in bytes when its pages are unpacked.
    pub(super) unpacked_bytes: u64,
}

/// The selected columns of consecutive rows.
#[derive(Clone, Copy)]
pub(super) struct Batch<'c> {
    columns: &'c [Column],
    pub(super) rows: usize,
}

impl<'c> Batch<'c> {
    pub(super) fn row(self, at: usize) -> Row<'c> {
        let columns = self.columns;
        Row { columns, at }
    }

    /// The whole numbers in a column, with `null` where there is none; in `buffer` unless they
    /// are stored so.
    pub(super) fn numbers<'b>(self, column: usize, null: i64, buffer: &'b mut Vec<i64>) -> &'b [i64]
    where
        'c: 'b,
    {
        if let Some(Column::Long(cells)) = self.columns.get(column)
            && cells.full == 0
        {
            return &cells.values;
        }
        buffer.clear();
        buffer.extend((0..self.rows).map(|at| self.row(at).number(column).unwrap_or(null)));
        buffer
    }
}

/// The selected columns of one row.
#[derive(Clone, Copy)]
pub struct Row<'c> {
    columns: &'c [Column],
    at: usize,
}

impl<'c> Row<'c> {
    /// The text in a column; `None` if it is null.
    #[inline]
    pub fn bytes(self, column: usize) -> Option<&'c [u8]> {
        match self.columns.get(column)? {
            Column::Bytes(cells) => cells.get(self.at).map(|bytes| bytes.data()),
            Column::Fixed(cells) => cells.get(self.at).map(|bytes| bytes.data()),
            Column::Plain(cells) => cells.get(self.at),
            Column::Short(_) | Column::Long(_) | Column::Real(_) => None,
        }
    }

    /// The whole number in a column; `None` if it is null.
    #[inline]
    pub fn number(self, column: usize) -> Option<i64> {
        match self.columns.get(column)? {
            Column::Short(cells) => cells.get(self.at).map(|&number| number.into()),
            Column::Long(cells) => cells.get(self.at).copied(),
            Column::Real(cells) => {
                let number = cells.get(self.at).filter(|number| !number.is_nan());
                number.map(|&number| number as i64)
            }
            Column::Bytes(_) | Column::Fixed(_) | Column::Plain(_) => None,
        }
    }
}

/// The current rows of one column.
enum Column {
    Bytes(Cells<ByteArrayType>),
    Plain(PlainCells),
    /// All of one length.
    Fixed(Cells<FixedLenByteArrayType>),
    Short(Cells<Int32Type>),
    Long(Cells<Int64Type>),
    /// pandas stores whole numbers in this type if values are missing.
    Real(Cells<DoubleType>),
}

impl Column {
    fn open(
        group: &dyn RowGroupReader,
        file: &Arc<Chunks>,
        place: usize,
    ) -> Result<Column, ParquetError> {
        let column = group.metadata().schema_descr().column(place);
        let full = column.max_def_level();
        let pages = open_pages(group, file, place)?;
        if column.physical_type() == Physical::BYTE_ARRAY
            && full == 0
            && is_plain(group.metadata().column(place))
        {
            return Ok(Column::Plain(PlainCells::new(pages)));
        }
        Ok(match get_column_reader(Arc::clone(&column), pages) {
            ColumnReader::ByteArrayColumnReader(reader) => Column::Bytes(Cells::new(reader, full)),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                Column::Fixed(Cells::new(reader, full))
            }
            ColumnReader::Int32ColumnReader(reader) => Column::Short(Cells::new(reader, full)),
            ColumnReader::Int64ColumnReader(reader) => Column::Long(Cells::new(reader, full)),
            ColumnReader::DoubleColumnReader(reader) => Column::Real(Cells::new(reader, full)),
            _ => {
                let (name, kind) = (column.name(), column.physical_type());
                let text = format!("column {name}: its type is {kind}");
                return Err(ParquetError::General(text));
            }
        })
    }

    fn fill(&mut self, count: usize) -> Result<(), ParquetError> {
        match self {
            Column::Bytes(cells) => cells.fill(count),
            Column::Plain(cells) => cells.fill(count),
            Column::Fixed(cells) => cells.fill(count),
            Column::Short(cells) => cells.fill(count),
            Column::Long(cells) => cells.fill(count),
            Column::Real(cells) => cells.fill(count),
        }
    }
}

struct Cells<T: DataType> {
    reader: ColumnReaderImpl<T>,
    /// One value per row; arbitrary where the row is null.
    values: Vec<T::T>,
    levels: Vec<i16>,
    /// Definition level of a value that is not null; 0 if the column has no nulls.
    full: i16,
}

impl<T: DataType> Cells<T> {
    fn new(reader: ColumnReaderImpl<T>, full: i16) -> Cells<T> {
        Cells {
            reader,
            values: Vec::with_capacity(BATCH_ROWS),
            levels: Vec::new(),
            full,
        }
    }

    /// Reads the next rows.
    fn fill(&mut self, count: usize) -> Result<(), ParquetError> {
        self.values.clear();
        self.levels.clear();
        let mut rows = 0;
        while rows < count {
            let levels = (self.full > 0).then_some(&mut self.levels);
            let left = count - rows;
            let (more, _, _) = self
                .reader
                .read_records(left, levels, None, &mut self.values)?;
            if more == 0 {
                return Err(ends_early());
            }
            rows += more;
        }
        // Nulls are not stored: move each value to its row, starting with the last.
        let mut from = self.values.len();
        if from < count {
            self.values.resize(count, T::T::default());
            for to in (0..count).rev() {
                if self.levels.get(to) == Some(&self.full) && from > 0 {
                    from -= 1;
                    self.values.swap(from, to);
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn get(&self, at: usize) -> Option<&T::T> {
        let is_there = self.full == 0 || self.levels.get(at) == Some(&self.full);
        self.values.get(at).filter(|_| is_there)
    }
}

/// Texts without nulls that are stored one after the other. The library makes a counted
/// reference of each, which takes more time than all else that is done with it.
struct PlainCells {
    pages: Box<dyn PageReader>,
    /// The current page, and how many of its bytes and values were read.
    page: Bytes,
    at: usize,
    values_left: usize,
    /// The stored form of the rows, and where in it each value is.
    bytes: Vec<u8>,
    places: Vec<(usize, usize)>,
}

impl PlainCells {
    fn new(pages: Box<dyn PageReader>) -> PlainCells {
        PlainCells {
            pages,
            page: Bytes::new(),
            at: 0,
            values_left: 0,
            bytes: Vec::new(),
            places: Vec::with_capacity(BATCH_ROWS),
        }
    }

    fn fill(&mut self, count: usize) -> Result<(), ParquetError> {
        self.bytes.clear();
        self.places.clear();
        while self.places.len() < count {
            if self.values_left == 0 {
                self.next_page()?;
                continue;
            }
            let stored = self.page.get(self.at..).unwrap_or_default();
            let mut rest = stored;
            let values = self.values_left.min(count - self.places.len());
            let first = self.bytes.len();
            for _ in 0..values {
                let value = rest.split_first_chunk().and_then(|(length, rest)| {
                    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
                });
                let (value, after) = value.ok_or_else(ends_early)?;
                let end = first + stored.len() - after.len();
                self.places.push((end - value.len(), end));
                rest = after;
            }
            let read = stored.len() - rest.len();
            self.bytes
                .extend_from_slice(stored.get(..read).unwrap_or_default());
            self.at += read;
            self.values_left -= values;
        }
        Ok(())
    }

    fn next_page(&mut self) -> Result<(), ParquetError> {
        // Levels, which there are none of, would be the first bytes.
        let (page, at, values, encoding) = match self.pages.get_next_page()? {
            None => return Err(ends_early()),
            Some(Page::DataPage {
                buf,
                num_values,
                encoding,
                ..
            }) => (buf, 0, num_values, encoding),
            Some(Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            }) => {
                let levels = def_levels_byte_len as usize + rep_levels_byte_len as usize;
                (buf, levels, num_values, encoding)
            }
            Some(Page::DictionaryPage { .. }) => {
                let text = "a dictionary that its footer does not name";
                return Err(ParquetError::General(text.to_owned()));
            }
        };
        if encoding != Encoding::PLAIN {
            let text = format!("a page has the encoding {encoding}, unlike its footer");
            return Err(ParquetError::General(text));
        }
        (self.page, self.at, self.values_left) = (page, at, values as usize);
        Ok(())
    }

    #[inline]
    fn get(&self, at: usize) -> Option<&[u8]> {
        let &(start, end) = self.places.get(at)?;
        self.bytes.get(start..end)
    }
}

fn ends_early() -> ParquetError {
    ParquetError::EOF("a column ends early".to_owned())
}

/// Whether no number of a footer is negative: the library panics on some of these faults.
fn is_sane(group: &RowGroupMetaData) -> bool {
    let of_columns = group.columns().iter().flat_map(|column| {
        [
            column.data_page_offset(),
            column.dictionary_page_offset().unwrap_or(0),
            column.compressed_size(),
            column.num_values(),
        ]
    });
    of_columns
        .chain([group.num_rows()])
        .all(|number| number >= 0)
}

/// Whether all values of a column are stored as they are.
fn is_plain(column: &ColumnChunkMetaData) -> bool {
    column.dictionary_page_offset().is_none()
        // Levels are RLE.
        && column
            .encodings()
            .all(|encoding| matches!(encoding, Encoding::PLAIN | Encoding::RLE))
}

/// The text of a Parquet error, without its kind.
fn error_text(error: &ParquetError) -> String {
    let text = error.to_string();
    if let Some((_, codec)) = text.split_once("Disabled feature at compile time: ") {
        return format!(
            "it is compressed with {codec}: write it again with zstd, Snappy, gzip, LZ4 or uncompressed"
        );
    }
    let text = text.split_once(": ").map_or(&*text, |(_, text)| text);
    text.lines().next().unwrap_or_default().to_owned()
}

/// The pages of a column, unpacked.
fn open_pages(
    group: &dyn RowGroupReader,
    file: &Arc<Chunks>,
    place: usize,
) -> Result<Box<dyn PageReader>, ParquetError> {
    let column = group.metadata().column(place);
    let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    let bytes = Arc::new(Piece::new(file, column)?);
    let Some(packing) = PagePacking::of(column.compression_codec()) else {
        let pages = SerializedPageReader::new(bytes, column, rows, None)?;
        return Ok(Box::new(pages));
    };
    let as_stored = column.clone().into_builder();
    let as_stored = as_stored
        .set_compression(Compression::UNCOMPRESSED)
        .build()?;
    let pages = SerializedPageReader::new(bytes, &as_stored, rows, None)?;
    Ok(Box::new(PackedPages { packing, pages }))
}

/// The pages of a column that the library gives as they are stored.
struct PackedPages {
    packing: PagePacking,
    pages: SerializedPageReader<Piece>,
}

impl PackedPages {
    fn unpack(&self, mut page: Page) -> Result<Page, ParquetError> {
        let (bytes, plain) = match &mut page {
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => (buf, 0),
            Page::DataPageV2 {
                is_compressed: false,
                ..
            } => return Ok(page),
            Page::DataPageV2 {
                buf,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => (
                buf,
                *def_levels_byte_len as usize + *rep_levels_byte_len as usize,
            ),
        };
        *bytes = self.packing.unpack(bytes, plain)?;
        Ok(page)
    }
}

impl Iterator for PackedPages {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Result<Page, ParquetError>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for PackedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        let page = self.pages.get_next_page()?;
        page.map(|page| self.unpack(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool, ParquetError> {
        self.pages.at_record_boundary()
    }
}

/// A file as the Parquet library reads it, in pieces.
#[derive(Clone)]
struct Chunks(Arc<DataFile>);

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for Chunks {
    type T = io::BufReader<FileReader>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let rest = FileReader::new(Arc::clone(&self.0), start..self.0.len());
        Ok(io::BufReader::with_capacity(BUFFER_BYTES, rest))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        // A damaged file may request any length.
        if length as u64 > self.0.len() {
            return Err(ParquetError::EOF("it ends early".to_owned()));
        }
        let mut bytes = vec![0; length];
        self.get_read(start)?.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// A file, of which the bytes of one column are in memory unless they are many.
struct Piece {
    file: Arc<Chunks>,
    start: u64,
    bytes: Bytes,
}

impl Piece {
    fn new(file: &Arc<Chunks>, column: &ColumnChunkMetaData) -> Result<Piece, ParquetError> {
        let (start, length) = column.byte_range();
        let bytes = match length <= WHOLE_BYTES {
            true => file.get_bytes(start, length as usize)?,
            false => Bytes::new(),
        };
        let file = Arc::clone(file);
        Ok(Piece { file, start, bytes })
    }

    /// What is in memory from a place of the file on.
    fn held(&self, start: u64) -> Option<Bytes> {
        let at = usize::try_from(start.checked_sub(self.start)?).ok()?;
        (at < self.bytes.len()).then(|| self.bytes.slice(at..))
    }
}

impl Length for Piece {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for Piece {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(match self.held(start) {
            Some(bytes) => Box::new(bytes.reader()),
            None => Box::new(self.file.get_read(start)?),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        match self.held(start) {
            Some(bytes) if length <= bytes.len() => Ok(bytes.slice(..length)),
            _ => self.file.get_bytes(start, length),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of more rows than are read at once, in several groups.
    #[test]
    fn each_row_has_its_values_and_its_nulls() {
        use ::parquet::file::writer::SerializedFileWriter;
        use ::parquet::schema::parser::parse_message_type;
        const ROWS: usize = 10_000;
        let of = |row: usize, n: usize| (row * n % 7 > 2).then_some((row * n) as i64);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let schema = "message t { OPTIONAL INT64 a; OPTIONAL DOUBLE b; OPTIONAL BYTE_ARRAY c; }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let file = std::fs::File::create(&path).unwrap();
        let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
        for group in [0..6000, 6000..6001, 6001..ROWS] {
            let mut out = writer.next_row_group().unwrap();
            for n in 1..4 {
                let mut column = out.next_column().unwrap().unwrap();
                let cells = group.clone().map(|row| of(row, n));
                let levels: Vec<i16> = cells.clone().map(|cell| cell.is_some().into()).collect();
                let numbers: Vec<i64> = cells.flatten().collect();
                let levels = Some(levels.as_slice());
                match n {
                    1 => column
                        .typed::<Int64Type>()
                        .write_batch(&numbers, levels, None),
                    2 => {
                        let reals: Vec<f64> = numbers.iter().map(|n| *n as f64).collect();
                        column
                            .typed::<DoubleType>()
                            .write_batch(&reals, levels, None)
                    }
                    _ => {
                        let text = |n: &i64| n.to_string().into_bytes().into();
                        let texts: Vec<_> = numbers.iter().map(text).collect();
                        column
                            .typed::<ByteArrayType>()
                            .write_batch(&texts, levels, None)
                    }
                }
                .unwrap();
                column.close().unwrap();
            }
            out.close().unwrap();
        }
        writer.close().unwrap();

        let mut table = Table::open(&path).unwrap();
        for name in ["c", "a", "b"] {
            table.want(name).unwrap();
        }
        assert!(table.want("d").is_err());
        let mut count = 0;
        for group in table.groups() {
            let each =
                table.each_row::<Failure>(&group, Stop::default(), Failure::Text, |row, cells| {
                    count += 1;
                    assert_eq!(row, count);
                    let row = row as usize - 1;
                    let text = of(row, 3).map(|n| n.to_string());
                    assert_eq!(cells.bytes(0), text.as_deref().map(str::as_bytes));
                    assert_eq!([cells.number(1), cells.number(2)], [of(row, 1), of(row, 2)]);
                    Ok(())
                });
            each.unwrap();
        }
        assert_eq!(count, ROWS as u64);
    }

    #[derive(Debug)]
    enum Failure {
        Text(#[expect(dead_code, reason = "shown if the test fails")] String),
        Stopped,
    }

    impl From<Stopped> for Failure {
        fn from(_: Stopped) -> Failure {
            Failure::Stopped
        }
    }

    #[test]
    fn negative_numbers_of_a_footer_are_damage() {
        use ::parquet::schema::parser::parse_message_type;
        use ::parquet::schema::types::SchemaDescriptor;
        let schema = parse_message_type("message t { REQUIRED INT64 a; }").unwrap();
        let schema = Arc::new(SchemaDescriptor::new(Arc::new(schema)));
        let with = |numbers: [i64; 5]| {
            let [rows, data, dictionary, bytes, values] = numbers;
            let column = ColumnChunkMetaData::builder(schema.column(0))
                .set_data_page_offset(data)
                .set_dictionary_page_offset(Some(dictionary))
                .set_total_compressed_size(bytes)
                .set_num_values(values);
            let group = RowGroupMetaData::builder(Arc::clone(&schema)).set_num_rows(rows);
            let group = group.set_column_metadata(vec![column.build().unwrap()]);
            is_sane(&group.build().unwrap())
        };
        assert!(with([0; 5]) && with([1; 5]));
        for place in 0..5 {
            let mut numbers = [1; 5];
            numbers[place] = -1;
            assert!(!with(numbers), "{place}");
        }
    }

    /// The bytes of a column from memory or from the file, but none that are not there.
    #[test]
    fn pieces_of_a_file_are_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        let whole: Vec<u8> = (0..100).collect();
        std::fs::write(&path, &whole).unwrap();
        let file = Arc::new(Chunks(Arc::new(DataFile::open_in_pieces(&path).unwrap())));
        let bytes = file.get_bytes(20, 10).unwrap();
        let piece = Piece {
            file: Arc::clone(&file),
            start: 20,
            bytes,
        };
        assert_eq!((Length::len(&*file), Length::len(&piece)), (100, 100));
        for (start, length) in [
            (0, 100),
            (20, 10),
            (25, 5),
            (25, 6),
            (29, 1),
            (30, 1),
            (19, 2),
        ] {
            let range = &whole[start..start + length];
            assert_eq!(file.get_bytes(start as u64, length).unwrap(), range);
            assert_eq!(piece.get_bytes(start as u64, length).unwrap(), range);
            let mut read = vec![0; length.min(5)];
            let mut from = piece.get_read(start as u64).unwrap();
            from.read_exact(&mut read).unwrap();
            assert_eq!(read, range[..read.len()]);
        }
        for held in [20, 29] {
            assert!(piece.held(held).is_some());
        }
        assert!(piece.held(19).is_none() && piece.held(30).is_none());
        let error = file.get_bytes(0, 101).unwrap_err();
        assert_eq!(error_text(&error), "it ends early");
        assert!(file.get_bytes(1, 100).is_err());
    }

    #[test]
    fn the_error_for_a_compression_contains_advice() {
        let error = ParquetError::General("Disabled feature at compile time: brotli".to_owned());
        assert!(error_text(&error).contains("with brotli: write it again with zstd"));
        assert_eq!(
            error_text(&ParquetError::EOF("it ends early".to_owned())),
            "it ends early"
        );
    }
}
