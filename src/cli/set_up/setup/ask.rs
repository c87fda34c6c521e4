//! What `setup` asks, and what answers mean.

use std::io::{self, BufRead as _, Write};

use super::SetupArgs;

/// Asks the user; any answer but yes means no, and so does the end of the input.
pub(super) fn agreed(
    args: &SetupArgs,
    question: &str,
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    if args.yes {
        out.flush()?;
        return Ok(true);
    }
    write!(out, "{question} [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    let yes = ["y", "yes"].contains(&answer.trim().to_lowercase().as_str());
    if !yes {
        if answer.is_empty() {
            writeln!(out)?;
        }
        writeln!(out, "Nothing was changed. (--yes does it without asking.)")?;
        out.flush()?;
    }
    Ok(yes)
}

/// An answer to the one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Yes,
    No,
    Books,
    Programs,
    Lines,
}

/// What an answer means; `None` if it must be asked for again. Nothing, and the end of the
/// input, mean no.
pub(super) fn reply(answer: &str, [books, programs]: [bool; 2]) -> Option<Reply> {
    Some(match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Reply::Yes,
        "" | "n" | "no" => Reply::No,
        "b" if books => Reply::Books,
        "p" if programs => Reply::Programs,
        "d" => Reply::Lines,
        _ => return None,
    })
}

pub(super) fn ask(may_choose: [bool; 2], out: &mut impl Write) -> anyhow::Result<Reply> {
    let mut more = Vec::new();
    let [books, programs] = may_choose;
    more.extend(books.then_some("b chooses books"));
    more.extend(programs.then_some("p programs"));
    more.push("d shows each line");
    loop {
        write!(out, "Do this? ({}) [y/N] ", more.join(", "))?;
        out.flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        if answer.is_empty() {
            writeln!(out)?;
        }
        match reply(&answer, may_choose) {
            Some(Reply::No) => {
                writeln!(out, "Nothing was changed. (--yes does it without asking.)")?;
                out.flush()?;
                return Ok(Reply::No);
            }
            Some(reply) => return Ok(reply),
            None => writeln!(out, "Please answer y or n.")?,
        }
    }
}

/// Asks which of a list are used, in which order, until the answer can be read; an empty one
/// means all.
pub(super) fn choose<T: Clone>(
    list: &[T],
    title: &str,
    name: impl Fn(&T) -> String,
    out: &mut impl Write,
) -> io::Result<Vec<T>> {
    writeln!(out, "\n{title}:")?;
    for (index, one) in list.iter().enumerate() {
        writeln!(out, "  {}  {}", index + 1, name(one))?;
    }
    loop {
        write!(out, "Numbers in the order you want, or nothing for all: ")?;
        out.flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        if answer.is_empty() {
            writeln!(out)?;
        }
        match chosen(&answer, list) {
            Some(chosen) => return Ok(chosen),
            None => writeln!(out, "Please type numbers from 1 to {}.", list.len())?,
        }
    }
}

/// The entries of an answer like "2 1"; `None` if the answer is invalid.
pub(super) fn chosen<T: Clone>(answer: &str, list: &[T]) -> Option<Vec<T>> {
    let words = answer.split(|c: char| c.is_whitespace() || c == ',');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return Some(list.to_vec());
    }
    let entry = |word: &str| {
        let number: usize = word.parse().ok()?;
        list.get(number.checked_sub(1)?).cloned()
    };
    words.into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn several_books_are_chosen_by_their_numbers() {
        let books: Vec<PathBuf> = ["a", "b", "c"].map(PathBuf::from).into();
        for (answer, expected) in [
            ("\n", Some("a b c")),
            ("", Some("a b c")),
            ("2\n", Some("b")),
            ("3, 1", Some("c a")),
            ("4", None),
            ("0", None),
            ("yes", None),
        ] {
            let found = chosen(answer, &books).map(|chosen| {
                let names = chosen.iter().map(|book| book.to_str().unwrap());
                names.collect::<Vec<_>>().join(" ")
            });
            assert_eq!(found.as_deref(), expected, "{answer}");
        }
    }

    #[test]
    fn an_answer_that_means_nothing_is_asked_for_again() {
        let reply = |answer| reply(answer, [true, false]);
        assert_eq!(reply("Y\n"), Some(Reply::Yes));
        for answer in ["", "\n", "n", "No\n"] {
            assert_eq!(reply(answer), Some(Reply::No), "{answer:?}");
        }
        assert_eq!(reply("b"), Some(Reply::Books));
        assert_eq!(reply("d\n"), Some(Reply::Lines));
        // There are no programs to choose from.
        for answer in ["p", "1 2", "maybe", "j"] {
            assert_eq!(reply(answer), None, "{answer:?}");
        }
    }
}
