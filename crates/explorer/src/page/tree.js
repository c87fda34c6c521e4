// An immutable tree of moves: every function returns a new tree. Move 0 is the first position; the first
// child of a move is its main line.

const root = () => ({ id: 0, parent: null, uci: "", san: "", nags: [], comment: "", children: [] });

export const empty = (fen = null) => ({ fen, tags: [], nodes: new Map([[0, root()]]), next: 1 });

export const node = (tree, id) => tree.nodes.get(id);

function change(tree, ...changed) {
  const nodes = new Map(tree.nodes);
  for (const one of changed) nodes.set(one.id, one);
  return { ...tree, nodes };
}

/** Finds or adds the child of `at` with this move; returns the tree and its number. */
export function add(tree, at, { uci, san, nags = [], comment = "" }) {
  const parent = node(tree, at);
  const known = parent.children.find((id) => node(tree, id).uci === uci);
  if (known !== undefined) return [tree, known];
  const id = tree.next;
  const child = { id, parent: at, uci, san, nags, comment, children: [] };
  const grown = change(tree, child, { ...parent, children: [...parent.children, id] });
  return [{ ...grown, next: id + 1 }, id];
}

/** A tree of successive moves, and the number of the last one. */
export const fromMoves = (fen, moves) => moves.reduce(([tree, at], move) => add(tree, at, move), [empty(fen), 0]);

/** The moves from the first position to `id`, the last one. */
export function path(tree, id) {
  const found = [];
  for (let at = id; at !== 0 && at !== null; at = node(tree, at).parent) found.unshift(at);
  return found;
}

/** The moves of `path` with their names. */
export const moves = (tree, id) =>
  path(tree, id)
    .map((at) => node(tree, at))
    .map(({ uci, san }) => ({ uci, san }));

/** The moves of `path` in UCI notation. */
export const line = (tree, id) => path(tree, id).map((at) => node(tree, at).uci);

/** The move at the end of a line, if it is in the tree. */
export const find = (tree, moves) =>
  moves.reduce(
    (at, uci) => (at === undefined ? at : node(tree, at).children.find((child) => node(tree, child).uci === uci)),
    0,
  );

/** Whether two states are at the same place of the same game. */
export const isSamePlace = (one, other) =>
  one.tree.fen === other.tree.fen && String(line(one.tree, one.at)) === String(line(other.tree, other.at));

/** Whether a tree has all moves of an older one, from these places on. */
export const hasAll = (tree, old, at = 0, from = 0) =>
  tree.fen === old.fen &&
  node(old, from).children.every((child) => {
    const there = node(tree, at).children.find((id) => node(tree, id).uci === node(old, child).uci);
    return there !== undefined && hasAll(tree, old, there, child);
  });

export const isBelow = (tree, above, id) => above === 0 || path(tree, id).includes(above);

/** The last move of the main line from `id` on. */
export function endOf(tree, id) {
  let at = id;
  while (node(tree, at).children.length) at = node(tree, at).children[0];
  return at;
}

/** Makes the line to `id` the main line. */
export function promote(tree, id) {
  let now = tree;
  for (const at of path(tree, id)) {
    const parent = node(now, node(now, at).parent);
    now = change(now, { ...parent, children: [at, ...parent.children.filter((other) => other !== at)] });
  }
  return now;
}

/** Removes `id` and all moves after it. */
export function remove(tree, id) {
  const parent = node(tree, node(tree, id).parent);
  const now = change(tree, { ...parent, children: parent.children.filter((other) => other !== id) });
  const drop = (at) => {
    node(tree, at).children.forEach(drop);
    now.nodes.delete(at);
  };
  drop(id);
  return now;
}

/** Changes comment or annotations at `id`. */
export const note = (tree, id, what) => change(tree, { ...node(tree, id), ...what });

/** Makes a tree from an answer of the program. */
export function fromPasted({ fen, nodes, comment, tags }) {
  let tree = empty(fen);
  const ids = [];
  for (const one of nodes) {
    const [grown, id] = add(tree, one.parent === null ? 0 : ids[one.parent], one);
    tree = grown;
    ids.push(id);
  }
  return { ...note(tree, 0, { comment }), tags };
}

/** The tree as plain data, for the browser's history. */
export const pack = (tree) => ({ ...tree, nodes: [...tree.nodes.values()] });
export const unpack = (data) => ({ ...data, nodes: new Map(data.nodes.map((one) => [one.id, one])) });

/** The number before a move: "3." for White, "3…" for Black if needed. */
export function numberOf(tree, id, always) {
  const fen = tree.fen?.split(" ") ?? [];
  const ply = path(tree, id).length - 1 + (fen[1] === "b" ? 1 : 0);
  const number = (Number(fen[5]) || 1) + Math.floor(ply / 2);
  if (ply % 2 === 0) return `${number}.`;
  return always ? `${number}…` : "";
}
