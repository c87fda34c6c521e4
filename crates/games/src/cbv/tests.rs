//! Tests with genuine and damaged archives.

use super::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

fn data(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/cbv");
    folder.join(name)
}

fn opened(name: &str, password: Option<&str>) -> Result<Arc<dyn Archive>, String> {
    let path = data(name);
    archive(&path, DataFile::open(&path, true).unwrap(), password)
}

fn in_memory(bytes: &[u8]) -> Result<Arc<dyn Archive>, String> {
    let path = Path::new("x.cbv");
    let (file, _) = DataFile::spool(path, &mut &bytes[..]).unwrap();
    archive(path, file, None)
}

/// The unpacked bytes of a member, and its fault.
fn unpack(archive: &Arc<dyn Archive>, index: usize) -> (Vec<u8>, Option<String>) {
    let mut bytes = Vec::new();
    let read = Arc::clone(archive).read(index);
    let fault = read.and_then(|mut stream| stream.read_to_end(&mut bytes));
    (bytes, fault.err().map(|error| error.to_string()))
}

/// The members that were also published unpacked: checksum and length by name.
fn expected() -> BTreeMap<String, (u32, usize)> {
    let text = fs::read_to_string(data("expected.crc32")).unwrap();
    let line = |line: &str| {
        let mut words = line.split(' ');
        let sum = u32::from_str_radix(words.next().unwrap(), 16).unwrap();
        let length = words.next().unwrap().parse().unwrap();
        (words.next().unwrap().to_owned(), (sum, length))
    };
    text.lines().map(line).collect()
}

#[test]
fn members_come_out_as_they_were_published() {
    let mut expected = expected();
    for (name, password) in [
        ("small.cbv", None),
        ("small.cbz", Some("password")),
        ("small3.cbz", Some("my long password")),
        ("twic1134_cut.cbv", None),
    ] {
        let archive = opened(name, password).unwrap();
        for (index, entry) in archive.entries().iter().enumerate() {
            let (bytes, fault) = unpack(&archive, index);
            assert_eq!(fault, None, "{name} {}", entry.name);
            let mut sum = flate2::Crc::new();
            sum.update(&bytes);
            let known = expected.remove(&format!("{name}/{}", entry.name));
            assert_eq!(known, Some((sum.sum(), bytes.len())), "{}", entry.name);
            assert_eq!(entry.size, bytes.len() as u64);
        }
    }
    assert!(expected.is_empty(), "{expected:?}");
}

#[test]
fn a_wrong_password_is_distinguished_from_damage() {
    let refusal = |password| opened("small.cbz", password).err().unwrap();
    assert!(
        refusal(None).contains("give its password"),
        "{}",
        refusal(None)
    );
    assert_eq!(refusal(Some("Password1")), "this is not its password");
    // An archive that is not encrypted ignores the password.
    assert!(opened("small.cbv", Some("x")).is_ok());
}

#[test]
fn a_wrong_byte_anywhere_is_noticed_or_harmless() {
    let genuine = fs::read(data("small.cbv")).unwrap();
    let whole = in_memory(&genuine).unwrap();
    let members = whole.entries().len();
    let right: Vec<_> = (0..members).map(|index| unpack(&whole, index).0).collect();
    let table = table::HEADER_BYTES + members * 173;
    for at in 0..genuine.len() {
        let mut bytes = genuine.clone();
        bytes[at] ^= 0x41;
        let Ok(archive) = in_memory(&bytes) else {
            continue;
        };
        for index in 0..archive.entries().len() {
            let (found, fault) = unpack(&archive, index);
            // The checksum of a block does not include an odd last byte.
            let is_last = bytes.len() == genuine.len() && at >= table;
            let is_right = right.get(index) == Some(&found);
            let same_length = right.get(index).map(Vec::len) == Some(found.len());
            assert!(fault.is_some() || is_right || is_last && same_length || at < table);
        }
    }
}

#[test]
fn an_archive_cut_anywhere_gives_what_is_there() {
    let genuine = fs::read(data("twic1134_cut.cbv")).unwrap();
    for step in 0..200 {
        let bytes = &genuine[..genuine.len() * step / 200];
        let Ok(archive) = in_memory(bytes) else {
            continue;
        };
        let faults = (0..archive.entries().len()).filter(|&index| {
            let (found, fault) = unpack(&archive, index);
            found.len() as u64 != archive.entries()[index].size || fault.is_some()
        });
        assert!(faults.count() > 0, "cut at {}", bytes.len());
    }
}
