//! Archives, genuine and damaged.

use super::*;
use std::path::Path;

fn archive(name: &str, password: Option<&str>) -> Result<Arc<Cbv>, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/cbv")
        .join(name);
    let file = DataFile::open(&path, true).unwrap();
    Cbv::open(file, password).map(Arc::new)
}

#[test]
fn x() {
    for (n, p) in [
        ("small.cbv", None),
        ("small.cbz", Some("password")),
        ("small3.cbz", Some("my long password")),
        ("twic1134_cut.cbv", None),
        ("hedgehog_made.cbv", None),
    ] {
        let a = archive(n, p).unwrap();
        for (i, e) in a.entries().iter().enumerate() {
            let mut b = Vec::new();
            a.clone().read(i).unwrap().read_to_end(&mut b).unwrap();
            assert_eq!(b.len() as u64, e.size);
            let d = Path::new("/tmp/fmt").join(n);
            std::fs::create_dir_all(&d).unwrap();
            std::fs::write(d.join(&e.name), &b).unwrap();
        }
    }
}
