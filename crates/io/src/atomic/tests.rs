use std::ffi::OsStr;

use super::set::stopped::Stopped;
use super::*;

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("book.ctg");
    (folder, path)
}

fn begun(path: &Path, text: &str, old: Previous) -> NewFile {
    let mut file = NewFile::create(path, old).unwrap();
    file.write_bytes(text.as_bytes()).unwrap();
    file
}

/// Name and text of each file.
fn files_in(folder: &tempfile::TempDir) -> Vec<(String, String)> {
    let mut names: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap_or_default())
        })
        .collect();
    names.sort();
    names
}

fn are(folder: &tempfile::TempDir, wanted: &[(&str, &str)]) {
    let files = files_in(folder);
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (&**a, &**b)).collect();
    assert_eq!(files, wanted);
}

fn put_three(path: &Path, text: &str, old: Previous) -> Result<Placed, WriteFileError> {
    let companions = ["ctb", "cto"].map(|part| begun(&path.with_extension(part), text, old));
    begun(path, text, old).commit_with(companions.into())
}

#[test]
fn what_is_there_is_refused_and_stays() {
    let (folder, path) = folder();
    fs::write(&path, "old").unwrap();
    let error = NewFile::create(&path, Previous::Refuse)
        .unwrap_err()
        .to_string();
    assert!(error.contains("already exists"), "{error}");
    are(&folder, &[("book.ctg", "old")]);
}

#[test]
fn a_file_of_the_same_command_is_refused_under_any_name() {
    let (folder, path) = folder();
    let other = folder.path().join("other.ctg");
    check_apart(&path, [&other]).unwrap();
    for same in ["book.ctg", "BOOK.ctg", "./book.ctg"] {
        let same = folder.path().join(same);
        let error = check_apart(&path, [&other, &same]).unwrap_err();
        assert!(matches!(error, WriteFileError::Taken { .. }), "{error}");
    }
}

#[test]
fn what_came_meanwhile_is_refused_too() {
    let (folder, path) = folder();
    let new = begun(&path, "new", Previous::Refuse);
    fs::write(&path, "theirs").unwrap();
    assert!(matches!(new.commit(), Err(WriteFileError::Exists { .. })));
    are(&folder, &[("book.ctg", "theirs")]);
}

#[test]
fn an_index_of_another_book_is_refused() {
    let (folder, path) = folder();
    fs::write(folder.path().join("BOOK.CTO"), "theirs").unwrap();
    let error = check(&path, &["cto", "ctb"], Previous::Refuse).unwrap_err();
    assert!(error.to_string().contains("BOOK.CTO"), "{error}");
}

#[test]
fn all_three_old_files_are_kept_and_the_last_backup_alone() {
    let (folder, path) = folder();
    for text in ["one", "two", "three"] {
        let placed = put_three(&path, text, Previous::Keep).unwrap();
        assert_eq!(placed.bytes, text.len() as u64);
        assert_eq!(placed.kept.is_some(), text != "one");
    }
    are(
        &folder,
        &[
            ("book.ctb", "three"),
            ("book.ctb.bak", "two"),
            ("book.ctg", "three"),
            ("book.ctg.bak", "two"),
            ("book.cto", "three"),
            ("book.cto.bak", "two"),
        ],
    );
}

#[test]
fn each_backup_is_kept_under_one_number() {
    let (folder, path) = folder();
    fs::write(folder.path().join("book.cto.bak"), "theirs").unwrap();
    for text in ["one", "two"] {
        put_three(&path, text, Previous::KeepEach).unwrap();
    }
    let kept = put_three(&path, "three", Previous::KeepEach).unwrap().kept;
    assert_eq!(kept.unwrap(), folder.path().join("book.ctg.bak3"));
    let files = files_in(&folder);
    let text = |name: &str| &files.iter().find(|(own, _)| own == name).unwrap().1;
    assert_eq!(text("book.cto.bak"), "theirs");
    assert_eq!(text("book.cto.bak2"), "one");
    assert_eq!(text("book.cto.bak3"), "two");
}

#[test]
fn what_is_replaced_leaves_nothing_behind() {
    let (folder, path) = folder();
    for text in ["one", "two"] {
        put_three(&path, text, Previous::Replace).unwrap();
    }
    let two = [
        ("book.ctb", "two"),
        ("book.ctg", "two"),
        ("book.cto", "two"),
    ];
    are(&folder, &two);
}

/// Not on Windows, where an open file cannot be taken away.
#[cfg(unix)]
#[test]
fn when_a_companion_is_gone_the_old_files_stay() {
    for old in [
        Previous::Keep,
        Previous::KeepEach,
        Previous::Replace,
        Previous::Refuse,
    ] {
        let (folder, path) = folder();
        if old != Previous::Refuse {
            put_three(&path, "old", Previous::Refuse).unwrap();
            fs::remove_file(path.with_extension("cto")).unwrap();
        }
        let ctb = begun(&path.with_extension("ctb"), "new", old);
        let cto = begun(&path.with_extension("cto"), "new", old);
        let new = begun(&path, "new", old);
        // Its temporary file is gone, so it cannot be renamed.
        fs::remove_file(&cto.temporary.0).unwrap();
        new.commit_with(vec![ctb, cto]).unwrap_err();
        match old {
            Previous::Refuse => are(&folder, &[]),
            _ => are(&folder, &[("book.ctb", "old"), ("book.ctg", "old")]),
        }
    }
}

#[test]
fn leftovers_of_killed_writers_go_and_those_of_others_stay() {
    let (folder, path) = folder();
    let at_work = begun(&path, "", Previous::Refuse);
    fs::write(folder.path().join(".book.ctg.dead.tmp"), "").unwrap();
    fs::write(folder.path().join(".other.ctg.dead.tmp"), "").unwrap();
    // Names as temporary files have them, whatever file they are for.
    let of_another = begun(&folder.path().join("games.tgx"), "", Previous::Refuse);
    for name in [
        ".x.jsonl.0123456789abcdef.tmp",
        ".tabia-0123456789abcdef.tmp",
    ] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    for name in [".x.0123456789ABCDEF.tmp", "x.0123456789abcdef.tmp"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let second = begun(&path, "", Previous::Refuse);
    assert!(at_work.temporary.0.exists() && second.temporary.0.exists());
    assert!(of_another.temporary.0.exists());
    drop((at_work, second, of_another));
    let others = [
        (".other.ctg.dead.tmp", ""),
        (".x.0123456789ABCDEF.tmp", ""),
        ("x.0123456789abcdef.tmp", ""),
    ];
    are(&folder, &others);
}

#[test]
fn names_that_differ_in_case_are_of_one_file() {
    let (folder, path) = folder();
    fs::write(&path, "").unwrap();
    let in_folder = |name: &str| folder.path().join(name);
    for name in ["book.ctg", "BOOK.ctg", "./book.CTG"] {
        assert!(is_same_file(&path, &in_folder(name)), "{name}");
    }
    fs::create_dir(in_folder("other")).unwrap();
    for name in ["books.ctg", "other/book.ctg", "none/book.ctg"] {
        assert!(!is_same_file(&path, &in_folder(name)), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn permissions_of_the_old_file_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_folder, path) = folder();
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    begun(&path, "new", Previous::Replace).commit().unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

/// After a crash between the two names and the rename, both names are of one
/// file; the next writer is not led astray.
#[test]
fn a_backup_that_is_the_file_itself_becomes_a_real_one() {
    let (folder, path) = folder();
    fs::write(&path, "old").unwrap();
    fs::hard_link(&path, folder.path().join("book.ctg.bak")).unwrap();
    begun(&path, "new", Previous::Keep).commit().unwrap();
    are(&folder, &[("book.ctg", "new"), ("book.ctg.bak", "old")]);
}

/// Links stay, and the old files are kept beside those that they lead to.
#[cfg(unix)]
#[test]
fn the_files_that_links_lead_to_are_replaced() {
    use std::os::unix::fs::symlink;
    let (folder, path) = folder();
    let link = folder.path().join("link.ctg");
    put_three(&path, "old", Previous::Refuse).unwrap();
    let of = |path: &Path, part: &str| path.with_extension(part);
    for part in ["ctg", "cto", "ctb"] {
        symlink(of(Path::new("book"), part), of(&link, part)).unwrap();
    }
    NewFile::create(&link, Previous::Refuse).unwrap_err();
    let companions = ["cto", "ctb"];
    for old in [Previous::Keep, Previous::KeepEach, Previous::Replace] {
        check(&link, &companions, old).unwrap();
        let number = if old == Previous::KeepEach { "2" } else { "" };
        let placed = put_three(&link, "new", old).unwrap();
        for part in ["ctg", "cto", "ctb"] {
            let kept = of(&path, &format!("{part}.bak{number}"));
            assert!(of(&link, part).is_symlink() && !kept.is_symlink());
            assert_eq!(fs::read_to_string(of(&path, part)).unwrap(), "new");
            assert!(kept.is_file() && !of(&link, &format!("{part}.bak")).exists());
        }
        assert_eq!(placed.kept.is_some(), old != Previous::Replace);
    }
    assert_eq!(fs::read_to_string(of(&path, "ctg.bak")).unwrap(), "old");
    assert!(is_same_file(
        &back_up(&link, &companions).unwrap(),
        &backup_of(&path)
    ));
    begun(&link, "one", Previous::Keep).commit().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "one");

    // An index that is not that of the book.
    fs::remove_file(of(&link, "cto")).unwrap();
    check(&link, &companions, Previous::Keep).unwrap();
    fs::write(of(&link, "cto"), "mine").unwrap();
    let error = check(&link, &companions, Previous::Keep).unwrap_err();
    assert!(
        error.to_string().contains("link.cto: links must lead"),
        "{error}"
    );
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    let index = begun(&other.join("link.cto"), "x", Previous::Keep);
    begun(&link, "x", Previous::Keep)
        .commit_with(vec![index])
        .unwrap_err();
    assert_eq!(fs::read_to_string(&path).unwrap(), "one");

    // A link that leads nowhere is replaced.
    fs::remove_file(&path).unwrap();
    begun(&link, "x", Previous::Replace).commit().unwrap();
    assert!(!link.is_symlink() && !path.exists());
}

/// The files of an old book, which is there or not, and of a new one.
fn old_book(path: &Path, has_old: bool) {
    if has_old {
        put_three(path, "old", Previous::Refuse).unwrap();
        // An older backup, of which the companions must not stay beside a newer one.
        for part in ["ctg.bak", "cto.bak"] {
            fs::write(path.with_extension(part), "older").unwrap();
        }
    }
}

/// What happens to an old book, whether there is one, and whether the file system has hard
/// links.
fn modes() -> impl Iterator<Item = (Previous, bool, bool)> {
    let modes = [
        (Previous::Refuse, false),
        (Previous::Replace, false),
        (Previous::Keep, false),
        (Previous::Replace, true),
        (Previous::Keep, true),
        (Previous::KeepEach, true),
    ];
    let of = |(old, has_old)| [true, false].map(|has_links| (old, has_old, has_links));
    modes.into_iter().flat_map(of)
}

fn prepared(path: &Path, old: Previous, has_links: bool) -> Stopped {
    let companions = ["ctb", "cto"].map(|part| begun(&path.with_extension(part), "newer", old));
    Stopped::prepare(begun(path, "newer", old), companions.into(), has_links)
}

/// Begins to replace a book and is killed after a number of steps; false if there are
/// not so many.
fn stopped_after(steps: usize, path: &Path, old: Previous) -> bool {
    let replacement = prepared(path, old, true);
    let is_stopped = replacement.run(steps).unwrap();
    replacement.kill();
    is_stopped
}

/// The text of the three files of a book: they are of one book.
fn book_of(folder: &tempfile::TempDir) -> Option<String> {
    let files = files_in(folder);
    let text = |name: &str| {
        files
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, t)| t.clone())
    };
    let [ctg, cto, ctb] = ["book.ctg", "book.cto", "book.ctb"].map(text);
    assert_eq!(ctg, cto);
    assert_eq!(ctg, ctb);
    ctg
}

#[test]
fn killed_after_any_step_the_whole_book_is_old_or_new_again() {
    for (old, has_old, has_links) in modes() {
        let mut outcomes = Vec::new();
        for steps in 0.. {
            let (folder, path) = folder();
            old_book(&path, has_old);
            let replacement = prepared(&path, old, has_links);
            let is_stopped = replacement.run(steps).unwrap();
            replacement.kill();
            if !is_stopped {
                break;
            }
            let context = format!("{old:?} {has_old} {has_links} {steps}");
            let found = interrupted(&path);
            // What is needed is not a leftover.
            remove_leftovers(&path);
            assert_eq!(interrupted(&path), found, "{context}");
            if found.is_empty() {
                let folders = temporary::temp_folders(&path);
                assert!(folders.is_empty(), "{context}: {folders:?}");
            }
            let settled = settle(&path).unwrap();
            assert_eq!(found, settled, "{context}");
            assert_eq!(interrupted(&path), [], "{context}");
            assert_eq!(settle(&path).unwrap(), [], "{context}");
            let book = book_of(&folder);
            match (settled.first().map(|set| set.state), book.as_deref()) {
                (None | Some(SetState::OldFile), None) => assert!(!has_old, "{context}"),
                (None | Some(SetState::OldFile), Some("old")) => assert!(has_old, "{context}"),
                (None | Some(SetState::NewFile), Some("newer")) => {}
                other => panic!("{context}: {other:?}"),
            }
            let files = files_in(&folder);
            let hidden = files.iter().filter(|(name, _)| name.starts_with('.'));
            assert_eq!(hidden.count(), 0, "{context}: {files:?}");
            // A backup is the old book or the older one, never a mixture.
            let backup = |part: &str| {
                let number = if old == Previous::KeepEach {
                    "bak2"
                } else {
                    "bak"
                };
                let name = format!("book.{part}.{number}");
                let file = files.iter().find(|(own, _)| *own == name);
                file.map(|(_, text)| text.as_str())
            };
            let [ctg, cto, ctb] = ["ctg", "cto", "ctb"].map(backup);
            if has_old && old != Previous::Replace && book.as_deref() == Some("newer") {
                assert_eq!([ctg, cto, ctb], [Some("old"); 3], "{context}");
            }
            if ctg == Some("older") {
                assert_ne!(cto, Some("old"), "{context}");
            }
            outcomes.push(book);
        }
        // Old files first; the new one from the step on that places the file.
        let is_new = |book: &Option<String>| book.as_deref() == Some("newer");
        assert!(outcomes.is_sorted_by_key(is_new), "{outcomes:?}");
        assert!(
            !is_new(&outcomes[0]) && outcomes.iter().any(is_new),
            "{old:?}"
        );
    }
}

#[test]
fn after_any_step_the_old_book_can_be_taken_back() {
    for (old, has_old, has_links) in modes() {
        for steps in 0.. {
            let (folder, path) = folder();
            old_book(&path, has_old);
            let replacement = prepared(&path, old, has_links);
            if !replacement.run(steps).unwrap() {
                break;
            }
            match replacement.take_back() {
                Ok(()) => assert_eq!(book_of(&folder).as_deref(), has_old.then_some("old")),
                // It had one name only, which the new one has got.
                Err(_) => assert!(has_old && !has_links && old == Previous::Replace),
            }
        }
    }
}

#[test]
fn what_comes_at_the_last_moment_is_not_replaced() {
    for has_links in [true, false] {
        let (folder, path) = folder();
        let replacement = prepared(&path, Previous::Refuse, has_links);
        fs::write(&path, "theirs").unwrap();
        let error = replacement.run(9).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        replacement.take_back().unwrap();
        are(&folder, &[("book.ctg", "theirs")]);
    }
}

#[test]
fn the_next_writer_settles_what_was_interrupted() {
    for steps in 0..7 {
        let (folder, path) = folder();
        old_book(&path, true);
        assert!(stopped_after(steps, &path, Previous::Keep));
        put_three(&path, "newest", Previous::Keep).unwrap();
        let files = files_in(&folder);
        assert_eq!(book_of(&folder).as_deref(), Some("newest"));
        assert_eq!(files.len(), 6, "{files:?}");
        let kept = match steps {
            // The file itself is renamed after the two old companions and the backup.
            ..4 => "old",
            _ => "newer",
        };
        let backups = files.iter().filter(|(name, _)| name.ends_with(".bak"));
        assert!(backups.clone().all(|(_, text)| text == kept), "{files:?}");
    }
}

/// Somebody copies a backup over the file: companions of another file are not put beside
/// it, nor thrown away.
#[test]
fn a_file_that_was_restored_meanwhile_is_left_alone() {
    for steps in [1, 2, 3, 4] {
        let (folder, path) = folder();
        old_book(&path, true);
        assert!(stopped_after(steps, &path, Previous::Replace));
        fs::write(&path, "restored").unwrap();
        let before = files_in(&folder);
        for _ in 0..2 {
            let settled = settle(&path).unwrap();
            let states: Vec<SetState> = settled.iter().map(|set| set.state).collect();
            assert_eq!(states, [SetState::OtherFile]);
            assert!(settled[0].folder.is_dir());
        }
        assert_eq!(files_in(&folder), before);
        assert_eq!((discard(&path), discard(&path)), (1, 0));
        assert_eq!(interrupted(&path), []);
        let files = files_in(&folder);
        assert!(!files.iter().any(|(name, _)| name.starts_with('.')));
        assert!(files.contains(&("book.ctg".to_owned(), "restored".to_owned())));
    }
}

#[test]
fn a_copy_of_the_book_replaces_an_older_backup_with_all_its_files() {
    let (folder, path) = folder();
    put_three(&path, "old", Previous::Refuse).unwrap();
    for part in ["ctg.bak", "cto.bak", "ctb.bak"] {
        fs::write(path.with_extension(part), "older").unwrap();
    }
    // Without an index the backup has none either.
    fs::remove_file(path.with_extension("cto")).unwrap();
    let backup = back_up(&path, &["cto", "ctb"]).unwrap();
    assert_eq!(backup, path.with_extension("ctg.bak"));
    fs::write(&path, "changed in place").unwrap();
    are(
        &folder,
        &[
            ("book.ctb", "old"),
            ("book.ctb.bak", "old"),
            ("book.ctg", "changed in place"),
            ("book.ctg.bak", "old"),
        ],
    );
}

/// A program that still runs completes its replacement itself.
#[test]
fn a_running_replacement_is_not_touched() {
    let (folder, path) = folder();
    old_book(&path, true);
    assert!(stopped_after(2, &path, Previous::Replace));
    let names = files_in(&folder);
    let lock = names.iter().find(|(name, _)| name.ends_with(".lock"));
    let lock = File::open(folder.path().join(&lock.unwrap().0)).unwrap();
    // Unlocked on drop: a child that another test starts has the file open for a moment.
    let lock = Locked::within(LOCK_WAIT, lock).unwrap();
    assert_eq!(interrupted(&path), []);
    assert_eq!(settle(&path).unwrap(), []);
    assert_eq!(files_in(&folder), names);
    drop(lock);
    assert_eq!(settle(&path).unwrap().len(), 1);
    assert_eq!(book_of(&folder).as_deref(), Some("old"));
}

/// Files of another book in the same folder are that book's.
#[test]
fn an_interrupted_replacement_of_another_file_stays() {
    let (folder, path) = folder();
    old_book(&path, true);
    assert!(stopped_after(4, &path, Previous::Replace));
    let other = folder.path().join("other.ctg");
    put_three(&other, "other", Previous::Refuse).unwrap();
    assert_eq!(settle(&other).unwrap(), []);
    assert_eq!(settle(&path).unwrap().len(), 1);
    assert_eq!(book_of(&folder).as_deref(), Some("newer"));
}

#[cfg(unix)]
#[test]
fn names_that_are_no_text_are_settled_too() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().unwrap();
    for stem in [&b"gro\xdf"[..], "größe".as_bytes(), b"two\nlines"] {
        let path = folder
            .path()
            .join(OsStr::from_bytes(stem))
            .with_extension("ctg");
        put_three(&path, "old", Previous::Refuse).unwrap();
        assert!(stopped_after(4, &path, Previous::Replace));
        assert_eq!(settle(&path).unwrap().len(), 1);
        for part in ["ctg", "cto", "ctb"] {
            assert_eq!(fs::read(path.with_extension(part)).unwrap(), b"newer");
        }
    }
}

/// In pieces that are not whole blocks, and with a header that comes last.
#[test]
fn a_large_file_holds_what_was_written() {
    let (_folder, path) = folder();
    let mut expected: Vec<u8> = (0..700_001_u32).flat_map(u32::to_le_bytes).collect();
    let mut file = NewFile::create(&path, Previous::Refuse).unwrap();
    for piece in expected.chunks(5003) {
        file.write_bytes(piece).unwrap();
    }
    file.seek(SeekFrom::Start(3)).unwrap();
    file.write_bytes(b"header").unwrap();
    expected[3..9].copy_from_slice(b"header");
    assert_eq!(file.commit().unwrap().bytes, expected.len() as u64);
    assert!(fs::read(&path).unwrap() == expected);
}

#[test]
fn of_several_files_an_error_says_which_are_new_already() {
    let (folder, _) = folder();
    let paths = ["a", "b", "c"].map(|name| folder.path().join(name));
    for path in &paths {
        fs::write(path, "old").unwrap();
    }
    let commit_with_folder = |at: usize| {
        let files = paths
            .iter()
            .map(|path| begun(path, "new", Previous::Replace));
        let files: Vec<NewFile> = files.collect();
        fs::remove_file(&paths[at]).unwrap();
        fs::create_dir(&paths[at]).unwrap();
        let error = commit_all(files).unwrap_err().to_string();
        fs::remove_dir(&paths[at]).unwrap();
        error.replace(folder.path().to_str().unwrap(), "")
    };
    let error = commit_with_folder(1);
    assert!(error.starts_with("/b: cannot be written: "), "{error}");
    assert!(
        error.ends_with("; new already: /a; as before: /b, /c"),
        "{error}"
    );
    are(&folder, &[("a", "new"), ("c", "old")]);
    fs::write(&paths[1], "old").unwrap();
    let error = commit_with_folder(0);
    assert!(!error.contains("as before"), "{error}");
    are(&folder, &[("b", "old"), ("c", "old")]);
}
