//! What JavaScript does for the module: two imports, which natively are stand-ins for tests.

use std::io;

use tabia_book::ReadAt;

/// A file that JavaScript reads, by the number that it gave it.
pub(crate) struct HostFile(pub(crate) u32);

impl ReadAt for HostFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        // A number of JavaScript is exact to 2^53.
        let count = imports::read(self.0, offset as f64, buffer);
        // JavaScript knows what was thrown, and throws it again.
        usize::try_from(count)
            .map(|count| count.min(buffer.len()))
            .map_err(|_| io::Error::other("its reader has failed"))
    }
}

/// Reports to JavaScript why the module will end.
pub(crate) fn panicked(text: &str) {
    imports::panicked(text);
}

#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code, reason = "JavaScript writes into memory, and reads it")]
mod imports {
    mod raw {
        #[link(wasm_import_module = "tabia")]
        unsafe extern "C" {
            /// Writes at most `length` bytes, from `offset` of a file on, to `to`; returns their
            /// number, -1 if that fails.
            pub(super) fn read(file: u32, offset: f64, to: *mut u8, length: usize) -> i32;
            pub(super) fn panicked(text: *const u8, length: usize);
        }
    }

    pub(super) fn read(file: u32, offset: f64, buffer: &mut [u8]) -> i32 {
        // SAFETY: npm/tabia.js writes into these bytes alone, and keeps nothing of them.
        unsafe { raw::read(file, offset, buffer.as_mut_ptr(), buffer.len()) }
    }

    pub(super) fn panicked(text: &str) {
        // SAFETY: npm/tabia.js reads these bytes alone, before it returns.
        unsafe { raw::panicked(text.as_ptr(), text.len()) }
    }
}

#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod imports {
    use std::cell::RefCell;

    thread_local! {
        /// The files of this thread, by their numbers; those without bytes cannot be read.
        pub(crate) static FILES: RefCell<Vec<Option<Vec<u8>>>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn read(file: u32, offset: f64, buffer: &mut [u8]) -> i32 {
        FILES.with_borrow(|files| {
            let Some(Some(bytes)) = files.get(file as usize) else {
                return -1;
            };
            let rest = bytes.get(offset as usize..).unwrap_or_default();
            let count = rest.len().min(buffer.len());
            let pairs = buffer.iter_mut().zip(rest);
            pairs.for_each(|(to, from)| *to = *from);
            count as i32
        })
    }

    pub(super) fn panicked(_: &str) {}
}
