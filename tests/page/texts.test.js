// The texts that a user can read, and their translations: a text without one is shown in English, and listed here as
// a warning. That every text passes through `t` or `translated` is a case in a browser (`tests/interop`).
// Names of openings are translated by their parts; `openings.txt` is not among the texts.

import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";

import { file } from "./support.js";

const EXPLORER = "crates/explorer";
const LANGUAGES = ["de", "es", "fr", "ru"];

/** The files of a folder and those below, by path. */
const filesOf = (folder, ending) =>
  readdirSync(new URL(`../../${folder}`, import.meta.url), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.name.endsWith(ending))
    .map((entry) => `${entry.path ?? entry.parentPath}/${entry.name}`.split("/../../").pop())
    .map((path) => path.slice(path.indexOf(folder)));

const placeOf = (path, text, at) => `${path}:${text.slice(0, at).split("\n").length}`;

/** A string in double or single quotes, as its value. */
const QUOTED = String.raw`"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\.)*)'`;
const valueOf = (text) => JSON.parse(`"${text.replaceAll("\\'", "'").replace(/(?<!\\)"/g, '\\"')}"`);

/** The forms in which a script has its texts; eslint allows no other. */
const CALL = /(?<![\w.]|function )(?:t|english)\(/g;
const LITERAL = new RegExp(String.raw`(?<![\w.])(?:t|english)\(\s*(?:${QUOTED}),?\s*\)`, "g");
const TEMPLATE = /(?<![\w.])t`((?:[^`$\\]|\\.|\$(?!\{)|\$\{(?:[^{}`]|\{[^{}]*\})*\})*)`/g;

/** The texts of a script, with their places. */
function textsOf(path) {
  const text = file(path).replace(/^[ \t]*(\/\/|\*|\/\*\*).*$/gm, "");
  const literals = [...text.matchAll(LITERAL)].map((found) => [found.index, valueOf(found[1] ?? found[2])]);
  const read = new Set(literals.map(([at]) => at));
  for (const { index } of text.matchAll(CALL))
    assert.ok(read.has(index), `${placeOf(path, text, index)}: only a text itself can be translated; see english()`);
  const templates = [...text.matchAll(TEMPLATE)].map(({ index, 1: template }) => {
    let number = 0;
    return [index, template.replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, () => `{${number++}}`)];
  });
  const begun = [...text.matchAll(/(?<![\w.])t`/g)].length;
  assert.equal(templates.length, begun, `${path}: a text with another template inside: give that a name first`);
  return [...literals, ...templates].map(([at, value]) => [value, placeOf(path, text, at)]);
}

/** The texts of the page: between tags, and in attributes that the page translates. */
function textsOfPage() {
  const html = file(`${EXPLORER}/src/page/index.html`)
    .split(/<body[^>]*>/)[1]
    .replace(/<!--[\s\S]*?-->/g, "")
    .replace(/<script[\s\S]*?<\/script>/g, "");
  const between = html.split(/<[^>]*>/).map((text) => text.trim());
  const attributes = [...html.matchAll(/\s(?:title|aria-label|placeholder)="([^"]*)"/g)].map(([, text]) => text);
  return [...between, ...attributes].filter((text) => !text.startsWith("{{")).map((text) => [text, "index.html"]);
}

const linesOf = (name) => file(`${EXPLORER}/locales/${name}`).split("\n").filter(Boolean);

/** The messages of the program: of the macro, and those listed in two files, which `cargo test` compares. */
function textsOfProgram() {
  const code = new RegExp(String.raw`\btranslatable!\(\s*"((?:[^"\\]|\\[\s\S])*)"`, "g");
  const found = filesOf(`${EXPLORER}/src`, ".rs").flatMap((path) => {
    const [text] = file(path).split("\n#[cfg(test)]");
    return [...text.matchAll(code)].map(({ 1: value, index }) => [
      valueOf(value.replace(/\\\n\s*/g, "")),
      placeOf(path, text, index),
    ]);
  });
  const listed = ["messages.txt", "options.txt"].flatMap((name) => linesOf(name).map((text) => [text, name]));
  return [...found, ...listed];
}

/** Texts that are the same in every language: names, keys, examples to type; and one that is shown without scripts. */
const SAME = [
  "Tabia",
  "Cmd",
  "English",
  "e4, Nf3",
  "najdorf, B90, KID, e4 c5",
  "This page needs JavaScript; everything it runs comes from this program.",
];

/** Whether there is something to translate: more than signs or a key's letter. */
const hasWords = (text) => {
  const bare = text.replaceAll("&nbsp;", "");
  return [...bare].length > 1 && /\p{L}/u.test(bare);
};

/** The rows of a table in their order; an object alone would hide that a text is there twice. */
function rowsOf(code) {
  const text = file(`${EXPLORER}/locales/${code}.json`);
  const table = JSON.parse(text);
  const keys = [...text.matchAll(/^  ("(?:[^"\\]|\\.)*"):/gm)].map(([, key]) => JSON.parse(key));
  return keys.map((key) => [key, table[key]]);
}

/** The forms of a translation. */
const formsOf = (translation) => (typeof translation === "string" ? [translation] : Object.values(translation));

/** Removes rows from a table. */
function without(code, texts) {
  const starts = texts.map((text) => `  ${JSON.stringify(text)}:`);
  const rows = file(`${EXPLORER}/locales/${code}.json`).split(/\n(?=  "|\})/);
  const kept = rows.filter((row) => !starts.some((start) => row.startsWith(start)));
  // The last row has no comma.
  const table = kept.join("\n").replace(/,\n\}/, "\n}");
  writeFileSync(new URL(`../../${EXPLORER}/locales/${code}.json`, import.meta.url), table);
}

/** The parts of the names of openings, of which the tables translate some. */
const openings = new Set(
  file("crates/notation/src/openings/names.tsv")
    .split("\n")
    .filter(Boolean)
    .flatMap((row) => row.split("\t")[1].split(/: |, /)),
);

const scripts = filesOf(`${EXPLORER}/src/page`, ".js");
const shown = new Map([...scripts.flatMap(textsOf), ...textsOfPage(), ...textsOfProgram()]);

test("texts are found where they are", () => {
  assert.ok(scripts.length > 30 && shown.size > 300, `${scripts.length} scripts, ${shown.size} texts`);
  for (const text of ["Checkmate.", "{0} due today", "white knight", "Learn value, −125 to +125", "move {0}", "Undo"])
    assert.ok(shown.has(text), text);
});

for (const language of LANGUAGES)
  test(`${language}.json has the texts that are shown, once each`, (context) => {
    const rows = rowsOf(language);
    const known = new Map(rows);
    const counts = new Map();
    for (const [text] of rows) counts.set(text, (counts.get(text) ?? 0) + 1);
    assert.deepEqual(
      [...counts].filter(([, count]) => count > 1),
      [],
      "a text is there twice",
    );
    for (const [text, place] of shown)
      if (!known.has(text) && hasWords(text) && !SAME.includes(text))
        context.diagnostic(`warning: ${language}.json lacks "${text}" (${place}), which is shown in English`);
    const unused = [...known.keys()].filter((text) => !shown.has(text) && !openings.has(text));
    if (process.env.UPDATE) return without(language, unused);
    assert.deepEqual(unused, [], "nothing shows them: UPDATE=1 removes them");
  });

test("the same parts of names of openings are translated in every language", () => {
  const partsIn = (language) =>
    rowsOf(language)
      .map(([text]) => text)
      .filter((text) => openings.has(text));
  const [first, ...others] = LANGUAGES.map(partsIn);
  assert.ok(first.length >= 150);
  others.forEach((parts) => assert.deepEqual(parts, first));
});

for (const language of LANGUAGES)
  test(`every translation in ${language}.json has the places of its text and is short enough`, () => {
    const places = (text) => [...new Set(text.match(/\{\d\}/g))].sort();
    for (const [from, translation] of rowsOf(language))
      for (const to of formsOf(translation)) {
        assert.ok(to.trim(), from);
        assert.deepEqual(places(to), places(from), `${from}: ${to}`);
        const [long, most] = [[...to].length, Math.floor(([...from].length * 3) / 2) + 16];
        assert.ok(long <= most, `${long} letters, at most ${most}: ${to}`);
      }
  });

for (const language of LANGUAGES)
  test(`every text in ${language}.json that changes with a number has all forms of the language`, () => {
    const rules = new Intl.PluralRules(language);
    const numbers = Array.from({ length: 200 }, (_, number) => rules.select(number));
    const needed = [...new Set([...numbers, "other"])].sort();
    const changing = rowsOf(language).filter(([, translation]) => typeof translation !== "string");
    assert.ok(changing.length >= 2);
    for (const [text, forms] of changing) assert.deepEqual(Object.keys(forms).sort(), needed, text);
  });
