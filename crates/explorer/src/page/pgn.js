// A game as PGN.

import * as trees from "./tree.js";

/** Greatest length of a line, unless a word is longer. */
const WIDTH = 79;

/** A text with line breaks in place of blanks; a line that begins with such a sign would be no part of the game. */
function wrapped(text) {
  const lines = [];
  for (const word of text.split(/\s+/)) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && (longer.length <= WIDTH || /^%|^\[/.test(word))) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.join("\n");
}

/** A comment as all readers take it: without braces, and with `[%` at whole commands only. */
const said = (text) =>
  text
    .replaceAll("{", "(")
    .replaceAll("}", ")")
    .replace(/\[%(?![\w.-]+\s+[^\s\]][^\]]*\])/g, "[ %")
    // For kokopu 4.13.4 "\\}" does not end a comment.
    .replace(/\\$/, "\\ ");

/** The name of a tag: letters, digits and "_" only. */
const named = (name) => name.replace(/\W/g, "_");

/** The tree as PGN, with all its data. */
export function toPgn(tree) {
  const usual = { Event: "?", Site: "?", Date: "????.??.??", Round: "?", White: "?", Black: "?", Result: "*" };
  // These come first: files are cut into games at the tag Event.
  const known = new Map([...Object.entries(usual), ...tree.tags]);
  if (tree.fen) known.set("SetUp", "1").set("FEN", tree.fen);
  const tags = [...known].map(([name, value]) => `[${named(name)} "${value.replace(/["\\]/g, "'")}"]`);
  const words = [];
  // Brackets of a variation belong to the words beside them.
  let opened = "";
  const put = (word) => {
    words.push(opened + word);
    opened = "";
  };
  const close = () => words.push(`${words.pop()})`);
  const say = (text) => text && put(`{${said(text)}}`);
  const write = (id, forced) => {
    const one = trees.node(tree, id);
    const number = trees.numberOf(tree, id, forced).replace("…", "...");
    [...(number ? [number] : []), one.san, ...one.nags.map((nag) => `$${nag}`)].forEach(put);
    say(one.comment);
    return one.comment !== "";
  };
  const walk = (id, forced) => {
    let at = id,
      force = forced;
    while (trees.node(tree, at).children.length) {
      const [main, ...others] = trees.node(tree, at).children;
      force = write(main, force);
      for (const other of others) {
        opened = "(";
        walk(other, write(other, true));
        close();
        force = true;
      }
      at = main;
    }
  };
  say(trees.node(tree, 0).comment);
  walk(0, true);
  words.push(known.get("Result"));
  return `${tags.join("\n")}\n\n${wrapped(words.join(" "))}\n`;
}
