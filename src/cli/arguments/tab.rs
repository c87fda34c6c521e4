//! Tab in a shell: the script of each shell runs the program again at each Tab, with
//! [`ASKED`] in its environment, and gets what may be typed there.
//!
//! `clap_complete` calls this interface unstable: only this module and [`complete`] use it.
//!
//! [`complete`]: super::complete

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_complete::env::{self, Elvish, EnvCompleter, Fish, Powershell, Shells};
use clap_complete::{CompleteEnv, Shell, engine};

/// The variable with which a script asks. Clap's own, `COMPLETE`, may be set for something
/// else where a GUI starts this program.
const ASKED: &str = "TABIA_COMPLETE";

const SHELLS: Shells<'_> = Shells(&[
    &Tidy(BASH),
    &Tidy(Elvish),
    &Tidy(Fish),
    &Tidy(Powershell),
    &Tidy(ZSH),
]);

/// Completes, and ends the program, if a shell asks.
pub(crate) fn answer(tabia: fn() -> Command) {
    let asked = CompleteEnv::with_factory(tabia).var(ASKED);
    asked.shells(SHELLS).complete();
}

/// Writes the script that makes a shell ask.
pub(crate) fn script(shell: Shell, out: &mut dyn Write) -> io::Result<()> {
    let shell = SHELLS.completer(&shell.to_string());
    let shell = shell.ok_or(io::ErrorKind::Unsupported)?;
    let mut text = Vec::new();
    shell.write_registration(ASKED, "tabia", "tabia", "tabia", &mut text)?;
    // Fish prints an error at each Tab where the program that is typed is not on the PATH.
    let here = "--command tabia --condition 'command -q tabia' ";
    let text = String::from_utf8_lossy(&text).replace("--command tabia ", here);
    out.write_all(text.as_bytes())
}

/// The words of the line that is completed.
pub(crate) fn typed() -> Vec<String> {
    let args = std::env::args_os().skip_while(|arg| arg != "--").skip(1);
    args.flat_map(|arg| words(&arg.to_string_lossy()).0)
        .collect()
}

/// A shell of `clap_complete`, with less noise.
struct Tidy<S>(S);

impl<S: EnvCompleter> EnvCompleter for Tidy<S> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn is(&self, name: &str) -> bool {
        self.0.is(name)
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.0.write_registration(var, name, bin, completer, out)
    }

    fn write_complete(
        &self,
        tabia: &mut Command,
        mut args: Vec<OsString>,
        folder: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        // These pass the words with their quotes and backslashes.
        if ["fish", "zsh"].contains(&self.name()) {
            for arg in &mut args {
                *arg = words(&arg.to_string_lossy()).0.join(" ").into();
            }
        }
        let mut text = Vec::new();
        self.0.write_complete(tabia, args, folder, &mut text)?;
        // Options only where nothing else fits: they would hide the only book of a folder.
        let lines = || text.split_inclusive(|byte| *byte == b'\n');
        let is_option = |line: &[u8]| line.starts_with(b"-");
        let only_options = lines().all(is_option);
        let mut wanted = lines().filter(|line| only_options || !is_option(line));
        wanted.try_for_each(|line| match self.name() {
            "powershell" => out.write_all(&in_quotes(line)),
            _ => out.write_all(line),
        })
    }
}

/// A line for PowerShell, which inserts a word as it is: one with a blank in quotation marks.
fn in_quotes(line: &[u8]) -> Vec<u8> {
    let end = line.iter().position(|byte| b"\t\n".contains(byte));
    let (word, help) = line.split_at(end.unwrap_or(line.len()));
    match word.contains(&b' ') {
        true => {
            let word = String::from_utf8_lossy(word).replace('\'', "''");
            [b"'", word.as_bytes(), b"'", help].concat()
        }
        false => line.to_vec(),
    }
}

/// A shell with a script of our own.
struct Scripted {
    name: &'static str,
    /// `ASKED` stands for the variable.
    script: &'static str,
    answer: Answer,
}

/// Writes what may be typed, as [`EnvCompleter::write_complete`].
type Answer = fn(&mut Command, Vec<OsString>, Option<&Path>, &mut dyn Write) -> io::Result<()>;

impl EnvCompleter for Scripted {
    fn name(&self) -> &'static str {
        self.name
    }

    fn is(&self, name: &str) -> bool {
        name == self.name
    }

    fn write_registration(
        &self,
        var: &str,
        _name: &str,
        _bin: &str,
        _completer: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        out.write_all(self.script.replace("ASKED", var).as_bytes())
    }

    fn write_complete(
        &self,
        tabia: &mut Command,
        args: Vec<OsString>,
        folder: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        (self.answer)(tabia, args, folder, out)
    }
}

/// Zsh: after `=` there is no space, and `~/` stays as it is.
const ZSH: Scripted = Scripted {
    name: "zsh",
    script: ZSH_SCRIPT,
    answer: |tabia, args, folder, out| env::Zsh.write_complete(tabia, args, folder, out),
};

const ZSH_SCRIPT: &str = r#"#compdef tabia
_tabia() {
    local word
    local -a open whole
    for word in "${(@f)$(ASKED=zsh _CLAP_IFS=$'\n' _CLAP_COMPLETE_INDEX=$((CURRENT - 1)) \
        ${~words[1]} -- "${words[@]}" 2>/dev/null)}"; do
        word=${word#\~/}
        case ${word%%:*} in
            '') ;;
            *[=/]) open+=("$word") ;;
            *) whole+=("$word") ;;
        esac
    done
    compset -P '\~/'
    (( $#whole )) && _describe -V values whole
    (( $#open )) && _describe -V values open -S ''
}
if [[ $funcstack[1] == _tabia ]]; then
    _tabia "$@"
else
    compdef _tabia tabia
fi
"#;

/// Bash, which splits words at `=` and inserts what it gets as it is: so this reads the whole
/// line, and writes what stands in place of the part that bash replaces.
const BASH: Scripted = Scripted {
    name: "bash",
    script: BASH_SCRIPT,
    answer: answer_bash,
};

const BASH_SCRIPT: &str = r#"_tabia() {
    local word
    COMPREPLY=()
    while IFS= read -r word; do
        COMPREPLY+=("$word")
    done < <(ASKED=bash "${1/#\~\//$HOME/}" -- "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
    if [[ ${COMPREPLY-} == *[=/] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o bashdefault -o default -F _tabia tabia
"#;

fn answer_bash(
    tabia: &mut Command,
    args: Vec<OsString>,
    folder: Option<&Path>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let args: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
    let [line, replaced] = args.as_slice() else {
        return Ok(());
    };
    let (typed, quote) = words(line);
    let replaced = match quote {
        Some(_) => replaced.to_string(),
        None => words(replaced).0.concat(),
    };
    let last = typed.len() - 1;
    let kept = typed.last().and_then(|word| word.strip_suffix(&replaced));
    let kept = kept.map_or(0, str::len);
    let typed = typed.into_iter().map(OsString::from).collect();
    for offered in engine::complete(tabia, typed, last, folder)? {
        let offered = offered.get_value().to_string_lossy();
        let rest = offered.get(kept..).unwrap_or_default();
        writeln!(out, "{}", quoted(rest, quote))?;
    }
    Ok(())
}

/// The words of a line as a shell reads them, up to the one that is typed, which may be empty;
/// and the quotation mark that is open in it.
fn words(line: &str) -> (Vec<String>, Option<char>) {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if quote.is_none() && letter.is_ascii_whitespace() {
            words.extend(word.take());
            continue;
        }
        let word = word.get_or_insert_default();
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None | Some('"'), '\\') => word.extend(letters.next()),
            _ => word.push(letter),
        }
    }
    words.push(word.unwrap_or_default());
    (words, quote)
}

/// The text as a shell reads it back, in these quotation marks or in none.
fn quoted(text: &str, quote: Option<char>) -> String {
    let is_safe = |letter: char| match quote {
        Some('\'') => letter != '\'',
        Some(_) => !matches!(letter, '"' | '$' | '`' | '\\'),
        None => letter.is_alphanumeric() || "-_./:=,+@%~".contains(letter),
    };
    let letters = text.chars();
    let letters = letters.map(|letter| match quote {
        _ if is_safe(letter) => letter.to_string(),
        Some('\'') => "'\\''".to_owned(),
        _ => format!("\\{letter}"),
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_a_shell_reads_it() {
        for (line, wanted, open) in [
            ("tabia  probe", "tabia|probe", None),
            ("tabia probe ", "tabia|probe|", None),
            (r#"a "b c" d\ e 'f"g'"#, r#"a|b c|d e|f"g"#, None),
            (r#"a --set "Book V"#, "a|--set|Book V", Some('"')),
            (r"a 'b\c", r"a|b\c", Some('\'')),
            (r#"a "Book Learn="tr"#, "a|Book Learn=tr", None),
        ] {
            let (words, quote) = words(line);
            assert_eq!((words.join("|").as_str(), quote), (wanted, open), "{line}");
        }
    }

    #[test]
    fn powershell_gets_words_with_blanks_in_quotation_marks() {
        for (line, wanted) in [
            ("Book Ponder=\thelp of it\n", "'Book Ponder='\thelp of it\n"),
            ("it's a book.ctg", "'it''s a book.ctg'"),
            ("--json\thelp of it\n", "--json\thelp of it\n"),
        ] {
            assert_eq!(in_quotes(line.as_bytes()), wanted.as_bytes());
        }
    }

    /// What is quoted is read back, wherever it stands.
    #[test]
    fn what_is_quoted_is_read_back() {
        for text in [
            "plain.ctg",
            "my book's.ctg",
            r#"a"b$c`d\e"#,
            "<x>&;*[]",
            "für",
        ] {
            for quote in [None, Some('"'), Some('\'')] {
                let mark = quote.map_or_else(String::new, String::from);
                let line = format!("{mark}{}{mark}", quoted(text, quote));
                assert_eq!(words(&line), (vec![text.to_owned()], None), "{line}");
            }
        }
    }
}
