//! The functions as C calls them.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::ptr;

use super::*;
use tabia_book::OpenOptions;
use tabia_book::policy::{Rules, choose};
use tabia_book::view::PositionView;
use tabia_book::walk::Order;
use tabia_choice::book_set::starter;

fn small() -> CString {
    c_text(&data("ctg/simple.ctg"))
}

fn data(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/tests/data");
    folder.join(name).to_str().unwrap().to_owned()
}

fn c_text(text: &str) -> CString {
    CString::new(text).unwrap()
}

fn from_c(text: &[c_char]) -> &str {
    // SAFETY: the library ends its texts with NUL.
    unsafe { CStr::from_ptr(text.as_ptr()) }.to_str().unwrap()
}

/// Takes an error, and returns its text; "" for none.
fn taken(error: *mut TabiaError) -> String {
    // SAFETY: the error is from the library; its text is copied before it is freed.
    unsafe {
        let text = CStr::from_ptr(tabia_error_text(error)).to_str().unwrap();
        let text = text.to_owned();
        tabia_error_free(error);
        text
    }
}

/// Calls a function that may fail, and returns the text of its error.
fn with_error<T>(call: impl FnOnce(*mut *mut TabiaError) -> T) -> (T, String) {
    let mut error = ptr::null_mut();
    let value = call(&raw mut error);
    (value, taken(error))
}

fn open(path: &CStr, options: &str) -> Result<*mut TabiaBook, String> {
    let options = c_text(options);
    // SAFETY: both are texts.
    let open = |error| unsafe { tabia_open(path.as_ptr(), options.as_ptr(), error) };
    match with_error(open) {
        (book, error) if book.is_null() => Err(error),
        (book, error) => {
            assert_eq!(error, "");
            Ok(book)
        }
    }
}

const EMPTY: TabiaMove = TabiaMove {
    uci: [0; 8],
    san: [0; 8],
    weight: 0.0,
    probability: 0.0,
    games: 0,
    wins: 0,
    draws: 0,
    losses: 0,
    learn: 0,
    mark: 0,
    annotation: 0,
};

/// The code, the moves that have room, and how many there are.
fn probe(book: *const TabiaBook, fen: &str, room: usize) -> (c_int, Vec<TabiaMove>, usize, String) {
    let (fen, mut moves, mut count) = (c_text(fen), vec![EMPTY; room], 0);
    let (code, error) = with_error(|error| {
        let moves = moves.as_mut_ptr();
        // SAFETY: there is room for so many moves, and the book is open or NULL.
        unsafe { tabia_probe(book, fen.as_ptr(), moves, room, &raw mut count, error) }
    });
    moves.truncate(count);
    (code, moves, count, error)
}

fn drawn(book: *const TabiaBook, fen: &str, seed: u64, size: usize) -> (c_int, String, String) {
    let (fen, mut buffer) = (c_text(fen), [1; 16]);
    let (code, error) = with_error(|error| {
        // SAFETY: the buffer is larger than any size that a test gives.
        unsafe { tabia_choose(book, fen.as_ptr(), seed, buffer.as_mut_ptr(), size, error) }
    });
    let text = match code {
        -1 => String::new(),
        _ => from_c(&buffer).to_owned(),
    };
    (code, text, error)
}

fn close(book: *mut TabiaBook) {
    // SAFETY: no test uses it after this.
    unsafe { tabia_close(book) };
}

/// All positions of a walk.
fn walked(book: *const TabiaBook) -> Vec<String> {
    // SAFETY: the book is open.
    let (walk, error) = with_error(|error| unsafe { tabia_walk_new(book, error) });
    assert_eq!(error, "");
    let (mut found, mut fen) = (Vec::new(), [0; 96]);
    loop {
        // SAFETY: the walk is not freed yet, and the buffer has this size.
        let next = |error| unsafe { tabia_walk_next(walk, fen.as_mut_ptr(), 96, error) };
        match with_error(next) {
            (0, _) => break,
            (code, error) => assert_eq!((code, error.as_str()), (1, "")),
        }
        found.push(from_c(&fen).to_owned());
    }
    // SAFETY: it is not used any more.
    unsafe { tabia_walk_free(walk) };
    found
}

#[test]
fn a_book_says_to_c_what_it_says_to_rust() {
    let simple = data("ctg/simple.ctg");
    let of_file = Book::open(Path::new(&simple), &OpenOptions::default()).unwrap();
    for (path, own) in [
        (simple.as_str(), of_file),
        ("<starter>", starter().unwrap()),
    ] {
        let book = open(&c_text(path), "").unwrap();
        let mut seen = 0;
        for (at, visited) in own.walk(Order::Breadth).take(500).enumerate() {
            // In a book that was read for many probes, nothing else is found.
            if at == 250 {
                // SAFETY: the book is open.
                unsafe { tabia_reserve(book, u64::MAX) };
            }
            let position = visited.unwrap().position;
            let known = choose(&own, &position, &[], &Rules::default()).unwrap();
            let view = PositionView::new(&position, &known);
            let (code, moves, count, error) = probe(book, &view.fen, 256);
            assert_eq!((code, error.as_str()), (i32::from(view.in_book), ""));
            assert_eq!((count, moves.len()), (view.moves.len(), view.moves.len()));
            for (mv, expected) in moves.iter().zip(&view.moves) {
                assert_eq!(from_c(&mv.uci), expected.uci);
                assert_eq!(from_c(&mv.san), expected.san);
                assert_eq!(
                    (mv.weight, mv.probability),
                    (expected.weight, expected.probability)
                );
                assert_eq!(u32::try_from(mv.games), Ok(expected.games));
                assert_eq!(u64::try_from(mv.wins), Ok(expected.results.wins));
                assert_eq!(u64::try_from(mv.draws), Ok(expected.results.draws));
                assert_eq!(u64::try_from(mv.losses), Ok(expected.results.losses));
                seen += 1;
            }
        }
        assert!(seen > 0, "{path}");
        close(book);
    }
}

#[test]
fn what_a_format_does_not_have_is_minus_one() {
    let start = |path: &str| {
        let book = open(&c_text(path), "").unwrap();
        let (_, moves, ..) = probe(book, "startpos", 1);
        close(book);
        moves[0]
    };
    let mv = start("<starter>");
    assert!(mv.games > 0 && mv.mark >= 0 && mv.annotation >= 0);
    let folder = std::env::temp_dir().join(format!("tabia-c-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("one.bin");
    // 1.e4 with the weight 7.
    let key = 0x463b_9618_1691_fc9c_u64.to_be_bytes();
    let entry = [&key[..], &0x031c_u16.to_be_bytes(), &[0, 7, 0, 0, 0, 0]].concat();
    std::fs::write(&path, entry).unwrap();
    let mv = start(path.to_str().unwrap());
    assert_eq!((from_c(&mv.uci), mv.weight > 0.0), ("e2e4", true));
    assert_eq!([mv.games, mv.wins, mv.draws, mv.losses], [-1; 4]);
    assert_eq!([mv.learn, mv.mark, mv.annotation], [-1; 3]);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_seed_draws_the_same_move_and_options_count() {
    let book = open(&small(), "").unwrap();
    let first = drawn(book, "startpos", 7, 8);
    assert_eq!(first.0, 1);
    assert!((0..20).all(|_| drawn(book, "startpos", 7, 8) == first));
    assert_eq!(
        drawn(book, "8/8/4k3/8/8/4K3/8/8 w - -", 7, 8),
        (0, String::new(), String::new())
    );
    close(book);
    // Past the depth no move is played, and the moves are there nevertheless.
    let book = open(&small(), "depth=0").unwrap();
    assert_eq!(drawn(book, "startpos", 7, 8).0, 0);
    let (code, moves, ..) = probe(book, "startpos", 8);
    assert_eq!(code, 1);
    assert!(moves.iter().all(|mv| mv.probability == 0.0));
    close(book);
}

#[test]
fn the_moves_that_have_no_room_are_counted() {
    let book = open(c"<starter>", "").unwrap();
    let (_, all, count, _) = probe(book, "startpos", 64);
    assert!(count > 2);
    let (_, some, known, _) = probe(book, "startpos", 2);
    assert_eq!((some.as_slice(), known), (&all[..2], count));
    assert_eq!(probe(book, "startpos", 0).2, count);
    // NULL is the start position, and nothing has to be asked for.
    // SAFETY: NULL is allowed for all of these.
    let code = unsafe {
        tabia_probe(
            book,
            ptr::null(),
            ptr::null_mut(),
            9,
            ptr::null_mut(),
            ptr::null_mut(),
        )
    };
    assert_eq!(code, 1);
    close(book);
}

#[test]
fn a_walk_goes_through_all_positions_and_outlives_its_book() {
    let book = open(&small(), "").unwrap();
    let own = Book::open(Path::new(&data("ctg/simple.ctg")), &OpenOptions::default()).unwrap();
    let expected = own.walk(Order::Likeliest);
    let expected = expected.map(|visited| notation::fen(&visited.unwrap().position));
    assert_eq!(walked(book), expected.collect::<Vec<_>>());
    // SAFETY: the book is open; the walk shares what it needs.
    let walk = unsafe { tabia_walk_new(book, ptr::null_mut()) };
    close(book);
    let mut fen = [1; 96];
    // SAFETY: the walk is not freed yet, and the buffer has this size.
    unsafe {
        assert_eq!(
            tabia_walk_next(walk, fen.as_mut_ptr(), 96, ptr::null_mut()),
            1
        );
        tabia_walk_free(walk);
    }
    assert!(from_c(&fen).starts_with("rnbqkbnr/"));
}

#[test]
fn a_walk_ends_with_its_first_error() {
    let book = open(&small(), "").unwrap();
    // SAFETY: the book is open.
    let walk = unsafe { tabia_walk_new(book, ptr::null_mut()) };
    let mut fen = [1; 96];
    // SAFETY: the walk is not freed yet, and the buffer has more room.
    let mut next = |size| unsafe { tabia_walk_next(walk, fen.as_mut_ptr(), size, ptr::null_mut()) };
    assert_eq!([next(96), next(8), next(96), next(96)], [1, -1, 0, 0]);
    // SAFETY: it is not used any more.
    unsafe { tabia_walk_free(walk) };
    close(book);
}

#[test]
fn mistakes_become_errors() {
    let missing = open(c"/nowhere/main.ctg", "").unwrap_err();
    assert!(missing.contains("/nowhere/main.ctg"), "{missing}");
    let option = open(&small(), "varity=3").unwrap_err();
    assert!(option.contains("did you mean"), "{option}");
    let name = CString::new(vec![0xff]).unwrap();
    assert!(open(&name, "").unwrap_err().contains("not UTF-8"));
    let book = open(&small(), "").unwrap();
    let (code, _, count, error) = probe(book, "rubbish", 8);
    assert_eq!((code, count), (-1, 0));
    assert!(error.contains("rubbish"), "{error}");
    assert_eq!(probe(ptr::null(), "startpos", 8).3, "no book is given");
    let (code, _, error) = drawn(book, "startpos", 1, 4);
    assert_eq!(code, -1);
    assert!(error.contains("5 bytes are needed"), "{error}");
    close(book);
    // Nothing happens.
    close(ptr::null_mut());
    // SAFETY: NULL is allowed.
    unsafe {
        tabia_walk_free(ptr::null_mut());
        tabia_error_free(ptr::null_mut());
    }
    assert_eq!(taken(ptr::null_mut()), "");
}

#[test]
fn a_panic_becomes_an_error() {
    let fails = |text: &'static str| move || -> Result<i32, String> { panic!("{text}") };
    // SAFETY: the error may be written to, or is NULL.
    let (value, error) = with_error(|error| unsafe { guard(error, -1, fails("it is broken")) });
    assert_eq!(value, -1);
    assert_eq!(error, "a mistake in libtabia: it is broken");
    // SAFETY: as above.
    assert_eq!(unsafe { guard(ptr::null_mut(), -1, fails("")) }, -1);
}

#[test]
fn threads_share_a_book() {
    struct Shared(*mut TabiaBook);
    // SAFETY: the header promises it.
    unsafe impl Sync for Shared {}
    let shared = &Shared(open(c"<starter>", "").unwrap());
    let expected = probe(shared.0, "startpos", 64);
    let asked = |shared: &Shared| (0..200).all(|_| probe(shared.0, "startpos", 64) == expected);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| asked(shared))).collect();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
    });
    close(shared.0);
}

#[test]
fn the_version_is_that_of_the_package() {
    // SAFETY: the text ends with NUL.
    let version = unsafe { CStr::from_ptr(tabia_version()) };
    assert_eq!(version.to_str(), Ok(env!("CARGO_PKG_VERSION")));
    assert_eq!(tabia_abi(), TABIA_ABI);
    let soname = format!("libtabia.so.{TABIA_ABI}");
    assert!(include_str!("../build.rs").contains(&soname), "{soname}");
}

/// `UPDATE=1` writes it.
#[test]
fn the_header_is_made_from_the_functions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let mut made = Vec::new();
    cbindgen::Builder::new()
        .with_config(config)
        .with_src(folder.join("src/lib.rs"))
        .generate()
        .unwrap()
        .write(&mut made);
    let made = String::from_utf8(made).unwrap();
    // The heading that Rust wants.
    let made = made.replace(" # Safety\n\n", " Conditions:\n");
    let path = folder.join("include/tabia.h");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap_or_default() == made,
        "the header is not that of the functions: run UPDATE=1 cargo test -p tabia-c header"
    );
}
