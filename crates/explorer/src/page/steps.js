// Steps from one state of the page to the next, for the store. Each is a function of the state, and of the
// store if it needs the answer.

import { withWords } from "./commands.js";
import { WAIT } from "./store.js";
import * as trees from "./tree.js";

const tailFrom = (tree, id, tail) => (trees.isBelow(tree, id, tail) ? tail : trees.endOf(tree, id));

export const to = (id) => (from) =>
  from.tree.nodes.has(id) ? { ...from, at: id, tail: tailFrom(from.tree, id, from.tail) } : null;

export function walkTo(from, move) {
  const [tree, at] = trees.add(from.tree, from.at, move);
  return { ...from, tree, at, tail: tailFrom(tree, at, from.tail) };
}

/** Plays moves in the position shown in `meant`: does nothing if the board shows another one now. */
export const playFrom = (meant, moves) => (from) =>
  trees.isSamePlace(from, meant) ? moves.reduce(walkTo, from) : null;

/** The next move of the line; after its end the likeliest book move. */
export function forward(from, store) {
  if (from.at !== from.tail) {
    const rest = trees.path(from.tree, from.tail);
    return { ...from, at: rest[trees.path(from.tree, from.at).length] };
  }
  const move = store.likeliest(from);
  if (move === undefined) return WAIT;
  return move && walkTo(from, move);
}

export const back = (from) => (from.at === 0 ? null : { ...from, at: trees.node(from.tree, from.at).parent });
export const toStart = (from) => (from.at === 0 ? null : { ...from, at: 0 });
export const toEnd = (from) => (from.at === from.tail ? null : { ...from, at: from.tail });
export const flip = (from) => ({ ...from, flip: !from.flip });

/** Follows moves that are all in the tree; otherwise does nothing. */
export const along = (moves) => (from) => {
  const at = trees.find(from.tree, moves);
  return at === undefined ? null : to(at)(from);
};

/** Changes the words of the comment and the annotation of the move shown in `meant`. */
export const annotate = (meant, words, sign) => (from) => {
  const at = from.tree.fen === meant.tree.fen ? trees.find(from.tree, trees.line(meant.tree, meant.at)) : undefined;
  if (at === undefined) return null;
  const { nags, comment } = trees.node(from.tree, at);
  const others = sign === (nags[0] ?? 0) ? nags : sign ? [sign] : [];
  return { ...from, tree: trees.note(from.tree, at, { comment: withWords(comment, words), nags: others }) };
};

export const promote = (from) => ({ ...from, tree: trees.promote(from.tree, from.at) });

export function remove(from) {
  if (from.at === 0) return null;
  const { parent } = trees.node(from.tree, from.at);
  const tree = trees.remove(from.tree, from.at);
  return { ...from, tree, at: parent, tail: trees.endOf(tree, parent) };
}

/** Changes an option; `options` are all with their defaults, `shown` the present values. */
export const set = (options, shown, name, value) => (from) => {
  const usual = (other) => options.find((option) => option.name === other).default;
  let now = { ...from.set };
  if (name === "Book Preset") {
    // A preset sets several options: it replaces those set by hand.
    now = value === "Custom" ? now : { [name]: value };
  } else {
    if (now["Book Preset"]) {
      // If one of a preset's options is changed, the others stay as they are shown.
      const others = shown.filter((option) => option.name !== "Book Preset" && option.value !== usual(option.name));
      now = Object.fromEntries(others.map((option) => [option.name, option.value]));
    }
    now[name] = value;
    if (value === usual(name)) delete now[name];
  }
  return { ...from, set: now };
};

export const unset = (name) => (from) => {
  const now = { ...from.set };
  delete now[name];
  return { ...from, set: now };
};

/**
 * The legal moves that a typed text can mean: those written so; else those with these letters without signs; else
 * those with these letters in any case.
 */
export function meantBy(legal, text) {
  const plain = (san) =>
    san
      .replace(/[+#x=-]/g, "")
      .replaceAll("0", "O")
      .toLowerCase();
  const exact = legal.filter((move) => move.san === text || move.uci === text.toLowerCase());
  // "bc4" may be a pawn's or a bishop's move: an exact match of case comes first.
  const near = legal.filter((move) => move.san.replace(/[+#x]/g, "") === text.replace(/[+#x]/g, ""));
  const loose = legal.filter((move) => plain(move.san) === plain(text));
  return [exact, near, loose].find((list) => list.length > 0) ?? [];
}
