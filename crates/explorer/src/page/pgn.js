// A game as PGN.

import * as trees from "./tree.js";

/** The tree as PGN, with all its data. */
export function toPgn(tree) {
  const known = new Map(tree.tags);
  const usual = { Event: "?", Site: "?", Date: "????.??.??", Round: "?", White: "?", Black: "?", Result: "*" };
  for (const [name, value] of Object.entries(usual)) if (!known.has(name)) known.set(name, value);
  if (tree.fen) known.set("SetUp", "1").set("FEN", tree.fen);
  const tags = [...known].map(([name, value]) => `[${name} "${value.replace(/["\\]/g, "'")}"]`);
  const words = [];
  const say = (text) => text && words.push(`{${text.replaceAll("}", ")")}}`);
  const write = (id, forced) => {
    const one = trees.node(tree, id);
    const number = trees.numberOf(tree, id, forced).replace("…", "...");
    words.push((number ? `${number} ` : "") + one.san, ...one.nags.map((nag) => `$${nag}`));
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
        words.push("(");
        walk(other, write(other, true));
        words.push(")");
        force = true;
      }
      at = main;
    }
  };
  say(trees.node(tree, 0).comment);
  walk(0, true);
  words.push(known.get("Result"));
  const text = words.join(" ").replaceAll("( ", "(").replaceAll(" )", ")");
  const lines = text.match(/.{1,79}(?: |$)/g) ?? [text];
  return `${tags.join("\n")}\n\n${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}
