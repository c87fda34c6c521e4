// What is always shown: board, title, moves and table. The answer for the page's address is part of the page.

import * as address from "./address.js";
import { Board } from "./board.js";
import { read } from "./commands.js";
import { by, el, fill } from "./dom.js";
import { begin, openingName, t } from "./lang.js";
import { showMoves } from "./moves.js";
import { applyAppearance } from "./settings.js";
import { Table } from "./table.js";
import * as tabs from "./tabs.js";
import * as trees from "./tree.js";

applyAppearance();
tabs.restore();
await begin();

export const board = new Board();
export const table = new Table();

/** Shows a state and its answer. Of a guess the figures come later: those of the last position are dimmed. */
export function show(state, view) {
  const { tree, at, tail } = state;
  board.show(view, trees.node(tree, at).uci, state.flip);
  table.wait(Boolean(view.isGuess));
  if (!view.isGuess) {
    table.show(view, state.filter);
    board.arrows.book(view.books[0].moves);
  }
  board.arrows.notes(read(trees.node(tree, at).comment).places);
  showOpening(view, tree);
  showMoves(state);
  by("back").disabled = by("to-start").disabled = at === 0;
  by("to-end").disabled = at === tail;
  by("forward").disabled = at === tail && !view.isGuess && view.ahead.length === 0;
}

function showOpening({ opening, fullmove, turn }, tree) {
  const name = opening ? openingName(opening.name) : tree.fen ? t("Own position") : t("First position");
  const code = opening && el("abbr", { title: t("Encyclopaedia of Chess Openings") }, opening.eco);
  fill(by("opening"), ...(code ? [code, document.createTextNode(` ${name}`)] : [document.createTextNode(name)]));
  by("opening").title = name;
  by("to-move").textContent =
    turn === "white" ? t`White to move, move ${fullmove}` : t`Black to move, move ${fullmove}`;
  document.title = opening ? `${opening.eco} ${name} – Tabia` : "Tabia";
}

/** The answer for this address that came with the page, and its state; null if there is none. */
export function sent() {
  const place = by("first"),
    text = place.textContent;
  place.remove();
  if (!text) return null;
  const view = JSON.parse(text);
  return { view, state: (!view.problem && address.left()) || address.stateOf(view) };
}
