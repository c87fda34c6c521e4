//! No module uses one that uses it. `cargo modules --acyclic` does not find such circles: to
//! it, the use of an item of a module is not one of the module (its issue 185).
//!
//! A module and its submodules are one thing, and may use each other. An item that a module
//! only passes on (`pub use`) is of the module that has it. What an error names does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

use crate::common::project;

/// Modules that are one thing in several files, each with its reason.
const ONE_THING: [(&str, &[&str]); 7] = [
    // The filter is made of a book, and asked by its reader.
    (
        "crates/book",
        &["ctg/filter", "ctg/pages", "ctg/reader", "ctg/scan"],
    ),
    // An entry that is visited may bring the graph along, which is made of visits.
    ("crates/book", &["ctg/graph", "ctg/visit"]),
    // The languages of piece letters are told apart by reading the main line in each.
    ("crates/games", &["pgn/language", "pgn/parse"]),
    // A database, and how the games of it are decoded.
    ("crates/games", &["scdb/decode", "scdb/source"]),
    // The games of a player are added up as others are.
    ("crates/index", &["player", "query"]),
    // Temporary folders, and the sets of files in them, are cleared away together.
    ("crates/io", &["atomic/set", "atomic/temporary"]),
    // What a book finds, one after the other.
    ("python", &["book", "found"]),
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let all = paths.flat_map(|path| match path.is_dir() {
        true => sources(&path),
        false => vec![path],
    });
    all.filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect()
}

/// The paths that a file names, outside tests.
#[derive(Default)]
struct Named {
    paths: BTreeSet<Vec<String>>,
    /// The names that `use` gives to paths.
    given: BTreeMap<String, Vec<String>>,
}

fn is_test(attributes: &[Attribute]) -> bool {
    let is_test = |one: &Attribute| {
        let list = one.meta.require_list();
        one.path().is_ident("cfg") && list.is_ok_and(|list| list.tokens.to_string() == "test")
    };
    attributes.iter().any(is_test)
}

impl Named {
    fn tree(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.tree(&with(&path.ident), &path.tree),
            UseTree::Name(name) if name.ident == "self" => {
                self.paths.insert(before.to_vec());
            }
            UseTree::Name(name) => {
                self.given.insert(name.ident.to_string(), with(&name.ident));
                self.paths.insert(with(&name.ident));
            }
            UseTree::Rename(name) => {
                self.given
                    .insert(name.rename.to_string(), with(&name.ident));
                self.paths.insert(with(&name.ident));
            }
            UseTree::Glob(_) => {
                self.paths.insert(before.to_vec());
            }
            UseTree::Group(group) => group.items.iter().for_each(|one| self.tree(before, one)),
        }
    }
}

impl<'a> Visit<'a> for Named {
    fn visit_item(&mut self, item: &'a Item) {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => &Vec::new(),
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    /// `super` in a module within the file is the file.
    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        let mut inside = Named::default();
        visit::visit_item_mod(&mut inside, item);
        self.paths.extend(inside.paths.into_iter().map(|path| {
            let is_super = path.first().is_some_and(|word| word == "super");
            path.into_iter().skip(usize::from(is_super)).collect()
        }));
    }

    fn visit_item_use(&mut self, item: &'a ItemUse) {
        self.tree(&[], &item.tree);
        if matches!(item.vis, Visibility::Inherited) {
            visit::visit_item_use(self, item);
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let words = path.segments.iter().map(|word| word.ident.to_string());
        let words: Vec<String> = words.collect();
        if words.len() > 1 {
            self.paths.insert(words);
        }
        visit::visit_path(self, path);
    }
}

/// The modules of a package: `ctg/reader` is that of `ctg/reader.rs`, and `` is the first.
struct Modules(BTreeMap<String, Named>);

impl Modules {
    fn read(root: &Path) -> Modules {
        let named = sources(root).into_iter().map(|path| {
            let name = path.strip_prefix(root).unwrap().with_extension("");
            let name = name.to_str().unwrap().replace('\\', "/");
            let name = name.trim_end_matches("/mod");
            let file = syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap();
            let mut named = Named::default();
            named.visit_file(&file);
            let first = ["lib", "main"].contains(&name);
            (if first { "" } else { name }.to_owned(), named)
        });
        let is_test = |name: &str| name.split('/').any(|part| part == "tests");
        Modules(named.filter(|(name, _)| !is_test(name)).collect())
    }

    /// The module that has what a module means by a path; `None` if it is of another package.
    fn owner(&self, from: &str, path: &[String], depth: usize) -> Option<String> {
        let mut words = path.iter().map(String::as_str).peekable();
        let above = |name: &str| {
            name.rsplit_once('/')
                .map_or("", |(above, _)| above)
                .to_owned()
        };
        let mut at = from.to_owned();
        let mut is_here = words.next_if_eq(&"self").is_some();
        if words.next_if_eq(&"crate").is_some() {
            (at, is_here) = (String::new(), true);
        }
        while words.next_if_eq(&"super").is_some() {
            (at, is_here) = (above(&at), true);
        }
        let within = |at: &str, word: &str| match at {
            "" => word.to_owned(),
            at => format!("{at}/{word}"),
        };
        while let Some(word) = words.peek()
            && self.0.contains_key(&within(&at, word))
        {
            (at, is_here) = (within(&at, word), true);
            words.next();
        }
        let given = words
            .peek()
            .and_then(|word| self.0.get(&at)?.given.get(*word));
        match given {
            // More would be a circle of names.
            Some(given) if given != path && depth < 8 => {
                self.owner(&at, given, depth + 1).or(Some(at))
            }
            _ => is_here.then_some(at),
        }
    }

    /// The modules that each uses, without those above and below it.
    fn uses(&self) -> BTreeMap<String, BTreeSet<String>> {
        let is_within = |name: &str, other: &str| {
            other.is_empty() || name == other || name.starts_with(&format!("{other}/"))
        };
        let used = self.0.iter().map(|(name, named)| {
            let owners = named.paths.iter();
            let owners = owners.filter_map(|path| self.owner(name, path, 0));
            let others = owners.filter(|other| !is_within(name, other) && !is_within(other, name));
            let is_error = name == "error" || name.ends_with("/error");
            let others = others.filter(|_| !is_error);
            (name.clone(), others.collect())
        });
        used.collect()
    }
}

/// The circles: modules that reach each other by what they use.
fn circles(uses: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<Vec<&str>> {
    let reached = |from: &'_ str| {
        let (mut reached, mut waiting) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(next) = waiting.pop() {
            let new = uses.get(&next).into_iter().flatten();
            waiting.extend(new.filter(|name| reached.insert((*name).clone())).cloned());
        }
        reached
    };
    let all: BTreeMap<&str, BTreeSet<String>> = uses
        .keys()
        .map(|name| (name.as_str(), reached(name)))
        .collect();
    let in_circle = all
        .iter()
        .filter(|(name, reached)| reached.contains(**name));
    let circle_of = |(name, reached): (&&str, &BTreeSet<String>)| {
        let back = all
            .iter()
            .filter(|(other, from_there)| reached.contains(**other) && from_there.contains(*name));
        back.map(|(other, _)| *other).collect()
    };
    in_circle.map(circle_of).collect()
}

#[test]
fn no_module_uses_one_that_uses_it() {
    let packages = fs::read_dir(project("crates")).unwrap();
    let packages = packages.map(|entry| entry.unwrap().path());
    let mut found = BTreeSet::new();
    let roots = packages.chain([project("."), project("python")]);
    for root in roots {
        let package = root.strip_prefix(project("."));
        let package = package.unwrap_or(&root).to_str().unwrap().to_owned();
        let modules = Modules::read(&root.join("src"));
        let uses = modules.uses();
        for circle in circles(&uses) {
            let names = circle.iter().map(ToString::to_string);
            found.insert((package.clone(), names.collect::<Vec<_>>()));
        }
    }
    let listed = ONE_THING.map(|(package, names)| {
        let names = names.iter().map(ToString::to_string);
        (package.to_owned(), names.collect::<Vec<_>>())
    });
    assert_eq!(found, BTreeSet::from(listed));
}

/// What is used under a name that another module passes on is found too.
#[test]
fn a_circle_is_found_through_names_that_are_passed_on() {
    let named = |text: &str| {
        let mut named = Named::default();
        named.visit_file(&syn::parse_file(text).unwrap());
        named
    };
    let modules = Modules(BTreeMap::from([
        (
            String::new(),
            named("mod a; mod b; pub use b::{Item as Thing, more};"),
        ),
        (
            "a".to_owned(),
            named("use crate::Thing; fn f(_: Thing) {} pub struct A;"),
        ),
        (
            "b".to_owned(),
            named("pub struct Item(super::a::A); #[cfg(test)] mod tests { use crate::c; }"),
        ),
        (
            "c".to_owned(),
            named("mod inside { fn f() -> super::super::a::A {} }"),
        ),
    ]));
    let uses = modules.uses();
    assert_eq!(circles(&uses), BTreeSet::from([vec!["a", "b"]]));
    assert_eq!(uses["c"], BTreeSet::from(["a".to_owned()]));
    assert!(uses[""].is_empty() || !uses[""].contains(""), "{uses:?}");
}
