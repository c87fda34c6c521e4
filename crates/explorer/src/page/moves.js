// The list of moves: the main line, its variations in brackets, comments.

import { by, el, fill } from "./dom.js";
import { lettered, t } from "./lang.js";
import { signs } from "./signs.js";
import * as trees from "./tree.js";

/** Calls `go` with the number of a move that is clicked. */
export function listenToMoves(go) {
  by("line").addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (button) go(Number(button.dataset.id));
  });
}

export function showMoves({ tree, at, tail }) {
  const current = new Set(trees.path(tree, tail));
  const walked = new Set(trees.path(tree, at));
  const items = [];
  const comment = (text) => text && items.push(el("span", { class: "remark" }, text));
  const move = (id, forced, depth) => {
    const one = trees.node(tree, id);
    const number = trees.numberOf(tree, id, forced);
    items.push(el("span", { class: `ply ${depth ? "side" : ""}` }, number ? el("span", { class: "number" }, number) : null, el("button", {
      type: "button", class: current.has(id) && !walked.has(id) ? "later" : "", "aria-current": id === at ? "step" : null, "data-id": id,
    }, lettered(one.san) + signs(one))));
    comment(one.comment);
    return one.comment !== "";
  };
  const walk = (from, forced, depth) => {
    let id = from, force = forced;
    while (trees.node(tree, id).children.length) {
      const [main, ...others] = trees.node(tree, id).children;
      force = move(main, force, depth);
      for (const other of others) {
        items.push(el("span", { class: "bracket", "aria-hidden": "true" }, "("));
        walk(other, move(other, true, depth + 1), depth + 1);
        items.push(el("span", { class: "bracket", "aria-hidden": "true" }, ")"));
        force = true;
      }
      id = main;
    }
  };
  comment(trees.node(tree, 0).comment);
  walk(0, true, 0);
  if (items.length === 0) items.push(el("span", { class: "hint" }, tree.fen ? t("A position of your own.") : t("Play a move, or choose one of the book.")));
  fill(by("line"), ...items);
  // Once for all that changes before the next frame, which lays it out anyway.
  if (!centring) centring = requestAnimationFrame(centre);
}

let centring = 0;

function centre() {
  centring = 0;
  const list = by("line");
  const now = list.querySelector("[aria-current]");
  if (!now) { list.scrollTo(0, 0); return; }
  list.scrollTop = now.offsetTop - (list.clientHeight - now.offsetHeight) / 2;
  list.scrollLeft = now.offsetLeft - (list.clientWidth - now.offsetWidth) / 2;
}
