//! The page's modules as a few scripts: one for what is seen first, one for the rest, and
//! one for each part that few visits need, so that a visit does not need two dozen
//! requests. The files are plain modules without a build step.
//!
//! Each module becomes a function that runs once, after those that it imports, and
//! returns its exports. Few forms of `import` and `export` are supported: see [`join_modules`].
//! Comments are removed: see [`strip_comments`].

use std::collections::BTreeSet;

/// Joins modules and all that they import, in the order in which they run, to one script
/// each, without modules of earlier scripts. The first script is part of the page, and
/// all others see its names; the others are modules with these names in one folder, and
/// import from each other.
///
/// Supported are `import * as name from "./file.js";`, `import { a, b as c } from
/// "./file.js";`, and `export` before `const`, `class`, `function` and `async function`.
/// `source` returns the text of a file.
pub(super) fn join_modules<'a, const N: usize>(
    mains: [&str; N],
    source: impl Fn(&str) -> Option<&'a str>,
) -> [String; N] {
    let mut bundle = Bundle {
        text: String::new(),
        modules: Vec::new(),
        script: 0,
        shared: BTreeSet::new(),
    };
    let mut script = 0;
    let mut scripts = mains.map(|main| {
        bundle.script = script;
        let exported = bundle.add(main, &source);
        let mut text = std::mem::take(&mut bundle.text);
        if script > 0 && !exported.is_empty() {
            let (names, name) = (exported.join(", "), name_of(main));
            text += &format!("export const {{ {names} }} = {name};\n");
        }
        script += 1;
        text
    });
    for (from, to, name) in &bundle.shared {
        if let (Some(main), Some(text)) = (mains.get(*from), scripts.get_mut(*to)) {
            *text = format!("import {{ {name} }} from \"./{main}\";\n{text}");
        }
    }
    let exports: BTreeSet<_> = bundle
        .shared
        .iter()
        .map(|(from, _, n)| (*from, n))
        .collect();
    for (from, name) in exports {
        if let Some(text) = scripts.get_mut(from) {
            *text += &format!("export {{ {name} }};\n");
        }
    }
    scripts
}

/// The lines of a script or style sheet without indentation, blank lines and comments on
/// separate lines. A string must not contain line breaks.
pub(super) fn strip_comments(text: &str) -> impl Iterator<Item = &str> {
    let mut in_comment = false;
    text.lines().map(str::trim).filter(move |line| {
        let ends = line.find("*/").map(|at| at + "*/".len());
        let is_alone = ends.is_none_or(|end| end == line.len());
        let is_comment = in_comment || line.starts_with("/*") && is_alone;
        in_comment = is_comment && ends.is_none();
        !is_comment && !line.is_empty() && !line.starts_with("//")
    })
}

struct Bundle {
    text: String,
    /// The modules, and the numbers of their scripts.
    modules: Vec<(String, usize)>,
    /// The number of the current script.
    script: usize,
    /// Names used from other scripts: using script, defining script, name.
    shared: BTreeSet<(usize, usize, String)>,
}

impl Bundle {
    /// Adds a module, and returns what it exports.
    fn add<'a>(&mut self, file: &str, source: &impl Fn(&str) -> Option<&'a str>) -> Vec<&'a str> {
        if let Some(&(_, script)) = self.modules.iter().find(|(known, _)| known == file) {
            // The names of the first script are visible to all.
            if script > 0 && script != self.script {
                self.shared.insert((script, self.script, name_of(file)));
            }
            return Vec::new();
        }
        self.modules.push((file.to_owned(), self.script));
        let mut body = String::new();
        let mut exported: Vec<&str> = Vec::new();
        let mut lines = strip_comments(source(file).unwrap_or_default());
        while let Some(line) = lines.next() {
            let mut statement = line.to_owned();
            while line.starts_with("import ") && !statement.ends_with(';') {
                statement += lines.next().unwrap_or(";");
            }
            if let Some((names, from)) = parse_import(&statement) {
                self.add(from, source);
                body += &format!("const {names} = {};\n", name_of(from));
                continue;
            }
            let declaration = line.strip_prefix("export ");
            exported.extend(declaration.and_then(declared_name));
            body += declaration.unwrap_or(line);
            body.push('\n');
        }
        let (name, names) = (name_of(file), exported.join(", "));
        self.text += &format!("const {name} = (() => {{\n{body}return {{ {names} }};\n}})();\n");
        exported
    }
}

/// The name of a module within the scripts.
pub(super) fn name_of(file: &str) -> String {
    format!("${}", file.trim_end_matches(".js").replace('-', "_"))
}

/// The imports of a line, as the left side of a declaration, and their file.
fn parse_import(line: &str) -> Option<(String, &str)> {
    let (names, from) = line.strip_prefix("import ")?.split_once(" from \"./")?;
    let names = match names.strip_prefix("* as ") {
        Some(all) => all.to_owned(),
        None => names.replace(" as ", ": "),
    };
    Some((names, from.strip_suffix("\";")?))
}

/// The name that an exported line declares.
fn declared_name(line: &str) -> Option<&str> {
    let line = line.strip_prefix("async ").unwrap_or(line);
    let kinds = ["const ", "class ", "function "];
    let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_indentation_are_removed() {
        let text = "// One.\n/* Two. */ .a {}\n/** Three,\n * four. */\n\n  let b = 1; // Five.\n/* Six. */\n/* Seven\n */\nc();";
        let left: Vec<&str> = strip_comments(text).collect();
        assert_eq!(left, ["/* Two. */ .a {}", "let b = 1; // Five.", "c();"]);
    }

    #[test]
    fn modules_run_once_each_after_those_that_they_import() {
        let source = |file: &str| match file {
            "main.js" => Some(
                "import * as b from \"./b.js\";\nimport {\n  a as first,\n  Two,\n} from \"./a-a.js\";\nfirst(b);\n",
            ),
            "b.js" => Some("import { a } from \"./a-a.js\";\nexport const c = a();\n"),
            "a-a.js" => Some(
                "const own = 1;\nexport async function a() { return own; }\nexport class Two {}\n",
            ),
            "rare.js" => Some(
                "import * as b from \"./b.js\";\nimport { a } from \"./a-a.js\";\nexport class Rare {}\n",
            ),
            _ => None,
        };
        let early = "\
const $a_a = (() => {
const own = 1;
async function a() { return own; }
class Two {}
return { a, Two };
})();
";
        let late = "\
const $b = (() => {
const { a } = $a_a;
const c = a();
return { c };
})();
const $main = (() => {
const b = $b;
const {a: first,Two,} = $a_a;
first(b);
return {  };
})();
";
        assert_eq!(join_modules(["a-a.js", "main.js"], source), [early, late]);
        assert_eq!(join_modules(["main.js"], source), [early.to_owned() + late]);
        let rare = "\
import { $b } from \"./main.js\";
const $rare = (() => {
const b = $b;
const { a } = $a_a;
class Rare {}
return { Rare };
})();
export const { Rare } = $rare;
";
        let late = late.to_owned() + "export { $b };\n";
        assert_eq!(
            join_modules(["a-a.js", "main.js", "rare.js"], source),
            [early, &late, rare]
        );
    }
}
