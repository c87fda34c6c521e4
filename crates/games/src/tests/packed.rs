//! Games in compressed files and archives.

use std::fs;
use std::io::Write as _;

use super::archives::{data, pack_7z, pack_zip, parts};
use super::{Folder, assert_has, assert_refused, convert, pgn, sample};
use crate::{Previous, Watch, extract, open};

fn gzip(text: &str) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(text.as_bytes()).unwrap();
    out.finish().unwrap()
}

#[test]
fn games_before_the_end_of_a_truncated_stream_are_read() {
    let folder = Folder::new();
    let packed = gzip(&sample());
    let path = folder.put("cut.pgn.gz", &packed[..packed.len() / 2]);
    let (text, messages) = convert(&path);
    assert_has(
        &messages,
        "cut.pgn.gz: it is cut off or damaged after line ",
    );
    let games = text.matches("[Event ").count();
    assert!((50..150).contains(&games), "{games}");
    assert_has(&messages, "1 cut sources");
    folder.put("cut.pgn.gz", &packed[..5]);
    assert!(open(&path).is_err());
    // The damage is in the first bytes, by which the kind of a file is recognized.
    let packed_game = gzip("1. e4 e5 *\n");
    folder.put("cut.pgn.gz", &packed_game[..packed_game.len() - 1]);
    let (text, messages) = convert(&path);
    assert_has(&text, "1. e4 e5 *");
    assert_has(&messages, "1 cut sources");

    let path = folder.put("more.pgn.gz", [&packed[..], b"rubbish"].concat());
    let (text, messages) = convert(&path);
    assert_has(&messages, "0 cut sources");
    assert_has(
        &messages,
        "more.pgn.gz: other data after its compressed data is ignored",
    );
    assert_eq!(text, sample());
}

/// Whatever the text is cut to, no move, sign, tag or result is read that it did not have.
#[test]
fn a_word_that_is_cut_off_is_no_other_word() {
    let folder = Folder::new();
    let whole = "[Event \"cut\"]\n[White \"Smith\"]\n[Black \"Jones\"]\n\n\
        1. d4 d5 2. Nc3 Nc6 3. Bf4 Bf5 4. Qd2 $14 Qd7 5. O-O-O {fine} O-O-O 6. e3 1-0\n";
    let path = folder.put("whole.pgn", whole);
    let (all, _) = convert(&path);
    let moves = |text: &str| -> String {
        let moves = text.split("\n\n").nth(1).unwrap_or_default();
        moves.trim_end().trim_end_matches('*').trim_end().to_owned()
    };
    let all_moves = moves(&all);
    let mut cut_games = 0;
    for end in 30..whole.len() {
        // Without the check sum.
        let packed = gzip(whole.get(..end).unwrap());
        let path = folder.put("cut.pgn.gz", &packed[..packed.len() - 8]);
        let (text, messages) = convert(&path);
        assert_has(&messages, "1 cut sources");
        let read = moves(&text);
        assert!(all_moves.starts_with(&read), "{end}: {text}");
        for line in text.lines().filter(|line| line.starts_with("[White ")) {
            assert!(
                ["[White \"Smith\"]", "[White \"?\"]"].contains(&line),
                "{line}"
            );
        }
        let is_whole = end >= whole.len() - 1;
        assert_eq!(text.contains("1-0"), is_whole, "{end}: {text}");
        cut_games += usize::from(messages.contains("game cut short: the text ends here"));
    }
    assert!(cut_games > 60, "{cut_games}");
}

#[test]
fn a_7z_archive_is_read_as_a_zip_is() {
    let folder = Folder::new();
    let text = sample();
    let [first, second] = [&text[..text.len() / 2], &text[text.len() / 2..]];
    let at = second.find("[Event ").unwrap();
    let (rest, second) = second.split_at(at);
    let first = format!("{first}{rest}");
    let part = |name: &str| fs::read(data(&format!("scid/five.{name}"))).unwrap();
    let [si4, sn4, sg4] = ["si4", "sn4", "sg4"].map(part);
    let path = folder.put(
        "x.7z",
        pack_7z(&[
            ("read.me", b"no games"),
            ("a/one.pgn", first.as_bytes()),
            ("two.pgn", second.as_bytes()),
            ("five.sn4", &sn4),
            ("five.si4", &si4),
            ("five.sg4", &sg4),
        ]),
    );
    assert!(pgn(&path) == text.clone() + &pgn(&data("scid/five.si4")));

    let whole = fs::read(&path).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 0xff;
    let bad = folder.put("bad.7z", damaged);
    assert_has(&convert(&bad).1, "1 cut sources");
    let short = folder.put("short.7z", &whole[..whole.len() / 2]);
    assert_refused(&short, "not a readable .7z file");
}

#[test]
fn a_second_file_of_one_name_in_a_zip_is_reported() {
    let folder = Folder::new();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in [("a.pgn", "1. e4 *\n"), ("b.pgn", "1. d4 *\n")] {
        zip.start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    let mut bytes = zip.finish().unwrap().into_inner();
    while let Some(at) = bytes.windows(5).position(|name| name == b"b.pgn") {
        bytes[at] = b'a';
    }
    let messages = convert(&folder.put("x.zip", bytes)).1;
    assert_has(
        &messages,
        "x.zip: a file in it has the same name as another; only the last one is read",
    );
    assert_has(&messages, "1 cut sources");
}

/// Names that lead out of the folder, or that a system has for devices, are not written.
#[test]
fn an_archive_is_unpacked_into_its_folder_only() {
    let folder = Folder::new();
    let files = ["a/one.pgn", "../out.pgn", "two.txt", "A/ONE.pgn", "nul"];
    let path = folder.put("x.7z", pack_7z(&files.map(|name| (name, name.as_bytes()))));
    let unpack = |old| {
        let watch = Watch::default();
        extract(&path, &folder.join("to"), None, old, &watch)
    };
    let done = unpack(Previous::Refuse).unwrap();
    let [one, two] = ["to/a/one.pgn", "to/two.txt"].map(|name| fs::read(folder.join(name)));
    assert_eq!(
        (one.unwrap(), two.unwrap()),
        (b"a/one.pgn".to_vec(), b"two.txt".to_vec())
    );
    assert!(!folder.join("out.pgn").exists() && !folder.join("to/nul").exists());
    assert_eq!((done.files, done.bytes), (2, 16));
    for (fault, name) in done.faults.iter().zip(["../out.pgn", "A/ONE.pgn", "nul"]) {
        let text = format!("x.7z: not unpacked: {name:?} is not a name for a file in a folder");
        assert!(fault.contains(&text), "{fault}");
    }
    assert_eq!(done.faults.len(), 3);
    assert!(unpack(Previous::Refuse).is_err());
    assert_eq!(unpack(Previous::Replace).unwrap(), done);
    let refused = extract(
        &folder.join("to/two.txt"),
        folder.path(),
        None,
        Previous::Refuse,
        &Watch::default(),
    );
    assert!(refused.unwrap_err().to_string().contains("not an archive"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_is_read_once_as_pgn() {
    use std::os::fd::AsRawFd as _;
    let (reader, mut writer) = std::io::pipe().unwrap();
    let writing = std::thread::spawn(move || writer.write_all(sample().as_bytes()));
    let path = format!("/proc/self/fd/{}", reader.as_raw_fd());
    assert_eq!(pgn(path.as_ref()), sample());
    writing.join().unwrap().unwrap();
}

/// Beside other games it is skipped, and named.
#[test]
fn an_archive_of_one_database_that_is_none_is_refused() {
    let folder = Folder::new();
    let mut files = parts("scid/five", &["si4", "sn4", "sg4"]);
    files[0].1[..8].fill(b'x');
    let alone = folder.put("alone.zip", pack_zip(&files));
    assert_refused(&alone, "alone.zip/five.si4");
    files.push(("games.pgn".to_owned(), sample().into_bytes()));
    let (text, messages) = convert(&folder.put("both.zip", pack_zip(&files)));
    assert_eq!(text, sample());
    assert_has(&messages, "both.zip/five.si4");
    assert_has(&messages, "; skipped");
}
