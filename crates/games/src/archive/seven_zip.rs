//! Reads `.7z` archives in place.
//!
//! Files are packed in blocks, which can only be unpacked from their start. A thread
//! unpacks a block and sends the requested file; then it waits for a request for a
//! later file of the block. So reading the files in order unpacks each block once.

use std::io::{self, BufReader, Read};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use sevenz_rust2::{Archive as Contents, BlockDecoder, Password};

use super::{Archive, ArchiveMember, ArchiveResult};
use tabia_io::input::file::DataFile;
use tabia_io::input::reader::FileReader;

/// Bytes of a piece sent by the thread.
const CHUNK_BYTES: usize = 256 << 10;

/// Number of pieces that may wait for the reader.
const CHUNKS_AHEAD: usize = 4;

/// Largest dictionary: that of the window of a `.zst` file.
const LARGEST_DICTIONARY_KB: usize = 2 << 20;

/// An open archive.
struct SevenZip {
    file: Arc<DataFile>,
    contents: Arc<Contents>,
    entries: Vec<ArchiveMember>,
    /// Numbers of `entries` in the archive, which also contains folders.
    numbers: Vec<usize>,
    /// The thread that has unpacked part of a block.
    unpacker: Mutex<Option<Unpacker>>,
}

struct Unpacker {
    block: usize,
    /// The first file that the thread can still send.
    next: usize,
    requests: Sender<Request>,
}

/// A request for a file, and the channel for its pieces; an empty piece is the end.
struct Request {
    file: usize,
    to: SyncSender<io::Result<Vec<u8>>>,
}

/// Whether a file begins like a `.7z` archive.
pub(crate) fn is_archive(start: &[u8]) -> bool {
    start.starts_with(b"7z\xbc\xaf\x27\x1c")
}

/// Opens the archive in a file.
///
/// # Errors
///
/// A message for the user about what is wrong with it.
pub(crate) fn archive(file: DataFile) -> ArchiveResult {
    let file = Arc::new(file);
    let contents = Contents::read_with_memory_limit(
        &mut reader(&file),
        &Password::empty(),
        LARGEST_DICTIONARY_KB,
    );
    let contents = contents.map_err(|error| match error {
        sevenz_rust2::Error::PasswordRequired => "it is encrypted: unpack it first".to_owned(),
        error => format!("not a readable .7z file: {}", error_text(error)),
    })?;
    let files = contents.files.iter().enumerate();
    let files = files.filter(|(_, file)| !file.is_directory() && !file.is_anti_item());
    let (numbers, entries) = files
        .map(|(number, file)| {
            let name = file.name().replace('\\', "/");
            let size = file.size();
            (number, ArchiveMember { name, size })
        })
        .unzip();
    Ok(Arc::new(SevenZip {
        file,
        contents: Arc::new(contents),
        entries,
        numbers,
        unpacker: Mutex::default(),
    }))
}

fn reader(file: &Arc<DataFile>) -> BufReader<FileReader> {
    let reader = FileReader::new(Arc::clone(file), 0..file.len());
    BufReader::with_capacity(CHUNK_BYTES, reader)
}

/// The message of an error, without the name of the library's variant.
fn error_text(error: sevenz_rust2::Error) -> String {
    match error {
        sevenz_rust2::Error::Io(error, _) => error.to_string(),
        error => error.to_string(),
    }
}

fn damaged(text: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text.into())
}

impl Archive for SevenZip {
    fn entries(&self) -> &[ArchiveMember] {
        &self.entries
    }

    fn read(self: Arc<Self>, index: usize) -> io::Result<Box<dyn Read + Send>> {
        let file = *self.numbers.get(index).ok_or(io::ErrorKind::NotFound)?;
        let blocks = &self.contents.stream_map.file_block_index;
        let Some(block) = blocks.get(file).copied().flatten() else {
            return Ok(Box::new(io::empty()));
        };
        if self.contents.is_file_encrypted(file) {
            return Err(damaged("it is encrypted: unpack it first"));
        }
        let (to, from) = mpsc::sync_channel(CHUNKS_AHEAD);
        let request = Request { file, to };
        let mut unpacker = self.unpacker.lock().unwrap_or_else(PoisonError::into_inner);
        let before = unpacker.take();
        let before = before.filter(|one| one.block == block && one.next <= file);
        // A thread that found damage has ended.
        let sent = match before {
            Some(one) => one.requests.send(request).map(|()| one.requests),
            None => Err(mpsc::SendError(request)),
        };
        let requests = match sent {
            Ok(requests) => requests,
            Err(mpsc::SendError(request)) => self.unpack(block, request)?,
        };
        *unpacker = Some(Unpacker {
            block,
            next: file + 1,
            requests,
        });
        drop(unpacker);
        Ok(Box::new(Unpacked {
            from,
            piece: io::Cursor::default(),
            is_over: false,
        }))
    }
}

impl SevenZip {
    /// Starts a thread that unpacks a block. It ends at damage, or when all senders
    /// of requests are dropped.
    fn unpack(&self, block: usize, first: Request) -> io::Result<Sender<Request>> {
        let (requests, more) = mpsc::channel();
        let (file, contents) = (Arc::clone(&self.file), Arc::clone(&self.contents));
        thread::Builder::new()
            .name("7z".to_owned())
            .spawn(move || unpack(&file, &contents, block, first, &more))?;
        Ok(requests)
    }
}

fn unpack(
    file: &Arc<DataFile>,
    contents: &Contents,
    block: usize,
    first: Request,
    more: &Receiver<Request>,
) {
    let password = Password::empty();
    let mut source = reader(file);
    let limit = LARGEST_DICTIONARY_KB;
    let decoder =
        BlockDecoder::new_with_memory_limit(1, limit, block, contents, &password, &mut source);
    let starts = &contents.stream_map.block_first_file_index;
    let mut number = starts.get(block).copied().unwrap_or(0);
    let mut wanted = Some(first);
    let done = decoder.for_each_entries(&mut |_, bytes| {
        let this = number;
        number += 1;
        let Some(request) = wanted.take_if(|request| request.file == this) else {
            return Ok(true);
        };
        if !give(bytes, &request) {
            return Ok(false);
        }
        wanted = more.recv().ok().filter(|request| request.file > this);
        Ok(wanted.is_some())
    });
    // A file before the requested one is damaged.
    if let (Err(error), Some(request)) = (done, wanted) {
        let _ = request.to.send(Err(damaged(error_text(error))));
    }
}

/// Sends a file; false at damage. Stops early if the reader was dropped.
fn give(bytes: &mut dyn Read, request: &Request) -> bool {
    loop {
        let mut piece = Vec::new();
        let read = bytes.take(CHUNK_BYTES as u64).read_to_end(&mut piece);
        let is_end = read.is_ok() && piece.is_empty();
        if !piece.is_empty() && request.to.send(Ok(piece)).is_err() {
            return true;
        }
        if let Err(error) = read {
            let _ = request.to.send(Err(damaged(error.to_string())));
            return false;
        }
        if is_end {
            let _ = request.to.send(Ok(Vec::new()));
            return true;
        }
    }
}

/// Reads a file from the thread that unpacks it.
struct Unpacked {
    from: Receiver<io::Result<Vec<u8>>>,
    piece: io::Cursor<Vec<u8>>,
    is_over: bool,
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.piece.read(buffer)?;
            if count > 0 || self.is_over || buffer.is_empty() {
                return Ok(count);
            }
            // If the thread ended without a message, the library panicked.
            let piece = self.from.recv().unwrap_or_else(|_| {
                self.is_over = true;
                Err(damaged("it cannot be unpacked"))
            });
            self.is_over |= piece.as_ref().map_or(true, Vec::is_empty);
            self.piece = io::Cursor::new(piece?);
        }
    }
}
