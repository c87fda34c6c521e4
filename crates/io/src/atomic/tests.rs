use super::*;

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("book.ctg");
    (folder, path)
}

fn begun(path: &Path, text: &str, old: Old) -> NewFile {
    let mut file = NewFile::create(path, old).unwrap();
    file.add(text.as_bytes()).unwrap();
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

fn put_three(path: &Path, text: &str, old: Old) -> Result<Placed, WriteFileError> {
    let companions = ["ctb", "cto"].map(|part| begun(&path.with_extension(part), text, old));
    begun(path, text, old).put_with(companions.into())
}

#[test]
fn what_is_there_is_refused_and_stays() {
    let (folder, path) = folder();
    fs::write(&path, "old").unwrap();
    let error = NewFile::create(&path, Old::Refuse).unwrap_err().to_string();
    assert!(error.contains("is there already"), "{error}");
    are(&folder, &[("book.ctg", "old")]);
}

#[test]
fn what_came_meanwhile_is_refused_too() {
    let (folder, path) = folder();
    let new = begun(&path, "new", Old::Refuse);
    fs::write(&path, "theirs").unwrap();
    assert!(matches!(new.put(), Err(WriteFileError::Exists { .. })));
    are(&folder, &[("book.ctg", "theirs")]);
}

#[test]
fn an_index_of_another_book_is_refused() {
    let (folder, path) = folder();
    fs::write(folder.path().join("BOOK.CTO"), "theirs").unwrap();
    let error = check(&path, &["cto", "ctb"], Old::Refuse).unwrap_err();
    assert!(error.to_string().contains("BOOK.CTO"), "{error}");
}

#[test]
fn all_three_old_files_are_kept_and_the_last_backup_alone() {
    let (folder, path) = folder();
    for text in ["one", "two", "three"] {
        let placed = put_three(&path, text, Old::Keep).unwrap();
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
        put_three(&path, text, Old::KeepEach).unwrap();
    }
    let kept = put_three(&path, "three", Old::KeepEach).unwrap().kept;
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
        put_three(&path, text, Old::Replace).unwrap();
    }
    let two = [
        ("book.ctb", "two"),
        ("book.ctg", "two"),
        ("book.cto", "two"),
    ];
    are(&folder, &two);
}

/// The last rename fails. Not on Windows, where an open file cannot be taken
/// away.
#[cfg(unix)]
#[test]
fn when_a_companion_cannot_come_the_old_files_are_back() {
    for old in [Old::Keep, Old::KeepEach, Old::Replace, Old::Refuse] {
        let (folder, path) = folder();
        if old != Old::Refuse {
            put_three(&path, "old", Old::Refuse).unwrap();
            fs::remove_file(path.with_extension("cto")).unwrap();
        }
        let ctb = begun(&path.with_extension("ctb"), "new", old);
        let cto = begun(&path.with_extension("cto"), "new", old);
        let new = begun(&path, "new", old);
        // Its temporary file is gone, so it cannot be renamed.
        fs::remove_file(&cto.temporary.0).unwrap();
        new.put_with(vec![ctb, cto]).unwrap_err();
        match old {
            Old::Refuse => are(&folder, &[]),
            _ => are(&folder, &[("book.ctb", "old"), ("book.ctg", "old")]),
        }
    }
}

#[test]
fn leftovers_of_killed_writers_go_and_those_of_others_stay() {
    let (folder, path) = folder();
    let at_work = begun(&path, "", Old::Refuse);
    fs::write(folder.path().join(".book.ctg.dead.tmp"), "").unwrap();
    fs::write(folder.path().join(".other.ctg.dead.tmp"), "").unwrap();
    let second = begun(&path, "", Old::Refuse);
    assert!(at_work.temporary.0.exists() && second.temporary.0.exists());
    drop((at_work, second));
    are(&folder, &[(".other.ctg.dead.tmp", "")]);
}

#[cfg(unix)]
#[test]
fn permissions_of_the_old_file_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_folder, path) = folder();
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    begun(&path, "new", Old::Replace).put().unwrap();
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
    begun(&path, "new", Old::Keep).put().unwrap();
    are(&folder, &[("book.ctg", "new"), ("book.ctg.bak", "old")]);
}

/// A kill is a step that is not followed by the next, nor by any clearing up.
#[test]
fn killed_between_two_steps_a_file_is_there_and_no_foreign_companion() {
    let (folder, path) = folder();
    put_three(&path, "old", Old::Refuse).unwrap();
    let companions = ["ctb", "cto"].map(|part| path.with_extension(part));
    let text = |name: &str| {
        let found = files_in(&folder);
        let found = found.iter().find(|(own, _)| own == name);
        found.map(|(_, text)| text.clone())
    };
    // Killed when the old files have got their other names.
    std::mem::forget(OldFiles::of(&path, &companions, Old::Keep).unwrap());
    assert_eq!(text("book.ctg").as_deref(), Some("old"));
    for kept in ["book.ctg.bak", "book.cto.bak", "book.ctb.bak"] {
        assert_eq!(text(kept).as_deref(), Some("old"), "{kept}");
    }
    assert_eq!((text("book.cto"), text("book.ctb")), (None, None));
    // Killed when the new file is in place.
    let mut new = begun(&path, "new", Old::Replace);
    new.complete().unwrap();
    new.rename().unwrap();
    assert_eq!(text("book.ctg").as_deref(), Some("new"));
    assert_eq!((text("book.cto"), text("book.ctb")), (None, None));
    assert_eq!(text("book.ctg.bak").as_deref(), Some("old"));
    // The next writer comes through, and keeps what it found.
    put_three(&path, "newer", Old::Keep).unwrap();
    are(
        &folder,
        &[
            ("book.ctb", "newer"),
            ("book.ctg", "newer"),
            ("book.ctg.bak", "new"),
            ("book.cto", "newer"),
        ],
    );
}

/// In pieces that are no whole blocks, and with a header that comes last.
#[test]
fn a_large_file_holds_what_was_written() {
    let (_folder, path) = folder();
    let mut expected: Vec<u8> = (0..700_001_u32).flat_map(u32::to_le_bytes).collect();
    let mut file = NewFile::create(&path, Old::Refuse).unwrap();
    for piece in expected.chunks(5003) {
        file.add(piece).unwrap();
    }
    file.seek(SeekFrom::Start(3)).unwrap();
    file.add(b"header").unwrap();
    expected[3..9].copy_from_slice(b"header");
    assert_eq!(file.put().unwrap().bytes, expected.len() as u64);
    assert!(fs::read(&path).unwrap() == expected);
}
