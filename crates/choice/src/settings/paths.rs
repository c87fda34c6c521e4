//! Several paths in one text: `Book File`.
//!
//! They are separated by `;`. A path that contains one is written between double quotes, and
//! a quote inside these is doubled: `"C:\a;b\x.ctg";main.ctg`.

/// The paths of a text, without blanks around them; empty ones are left out.
#[must_use]
pub fn split(text: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (path, after) = quoted(rest).unwrap_or_else(|| {
            let (path, after) = rest.split_once(';').unwrap_or((rest, ""));
            (path.trim_end().to_owned(), after)
        });
        if !path.is_empty() {
            paths.push(path);
        }
        rest = after.trim_start();
    }
    paths
}

/// The path between quotes at the start of a text, and the text after its separator;
/// `None` if the text does not begin with such a path.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut path = String::new();
    let mut rest = text.strip_prefix('"')?;
    loop {
        let (part, after) = rest.split_once('"')?;
        path.push_str(part);
        match after.strip_prefix('"') {
            Some(after) => {
                path.push('"');
                rest = after;
            }
            None => {
                rest = after.trim_start();
                break;
            }
        }
    }
    match rest.strip_prefix(';') {
        Some(after) => Some((path, after)),
        None => rest.is_empty().then_some((path, rest)),
    }
}

/// The text of these paths, which [`split`] takes apart.
#[must_use]
pub fn join(paths: &[String]) -> String {
    let written = |path: &String| {
        let is_plain = !path.starts_with('"') && !path.contains(';') && path.trim() == path;
        match is_plain {
            true => path.clone(),
            false => format!("\"{}\"", path.replace('"', "\"\"")),
        }
    };
    let written: Vec<String> = paths.iter().map(written).collect();
    written.join(";")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_separator_in_a_path_is_quoted() {
        for (text, paths) in [
            ("", &[][..]),
            (" ; ;", &[]),
            ("a b.ctg", &["a b.ctg"]),
            ("\"a b.ctg\"", &["a b.ctg"]),
            ("a.ctg; b.ctg ;c", &["a.ctg", "b.ctg", "c"]),
            ("\"a.ctg\";\"b.ctg\"", &["a.ctg", "b.ctg"]),
            ("\"C:\\a;b\\x.ctg\" ; c", &["C:\\a;b\\x.ctg", "c"]),
            ("\"a\"\"b\"", &["a\"b"]),
            // A name that only looks like a quoted one.
            ("\"a", &["\"a"]),
            ("\"a\"b;c", &["\"a\"b", "c"]),
            ("5\" disk", &["5\" disk"]),
        ] {
            assert_eq!(split(text), paths, "{text}");
        }
        assert_eq!(join(&["a b".to_owned(), "c;d".to_owned()]), "a b;\"c;d\"");
    }

    proptest! {
        #[test]
        fn paths_survive_being_one_text(
            paths in prop::collection::vec("[ -~é]{0,3}[\";a ]{0,4}[!-~é]", 0..4),
        ) {
            prop_assert_eq!(split(&join(&paths)), paths);
        }

        #[test]
        fn the_text_of_paths_is_stable(text in "[\";a b]{0,12}") {
            let paths = split(&text);
            prop_assert_eq!(split(&join(&paths)), paths);
        }
    }
}
