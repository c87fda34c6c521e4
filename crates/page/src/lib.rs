//! The explorer as WebAssembly, for `crates/explorer/offline/worker.js`, which is the only caller: requests go in,
//! and the same responses come out that `tabia explore` sends.
//!
//! The target is `wasm32-wasip1`: books, games, indexes and changes are files, in a file system
//! that `wasi.js` beside it has in memory, so that whatever reads and writes files works as it is.
//! Nothing here knows of a browser, and the explorer knows nothing of this package.
//!
//! A request goes in by [`input`]: it makes room, and JavaScript writes there before it calls
//! [`answer`]. The response is at [`output`]. Both are a line of JSON (`Head`), and the body.
//! Nothing here dereferences a pointer: both buffers are the module's own.

mod exchange;
mod site;

use std::cell::RefCell;
use std::path::Path;

use site::Site;

/// What the module knows.
#[derive(Default)]
struct State {
    input: Vec<u8>,
    output: Vec<u8>,
    site: Option<Site>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

include!("../../wasm/src/exports.rs");

exports! {
    /// Makes room for so many bytes of input, and returns where they are written.
    fn input(state, length: usize) -> *mut u8 {
        state.input.clear();
        state.input.resize(length, 0);
        state.input.as_mut_ptr()
    }

    /// Answers the request that is the input; returns the length of the output.
    fn answer(state) -> usize {
        let input = std::mem::take(&mut state.input);
        let site = state.site.get_or_insert_with(|| Site::new(site::FOLDERS.map(Path::new)));
        state.output = site.answer(input);
        state.output.len()
    }

    /// Where the response is.
    fn output(state) -> *const u8 {
        state.output.as_ptr()
    }
}
