// The first view: board, title, moves and table. This script is part of the page, together with the answer
// for the page's address, and needs nothing else. The rest of the page, which handles all input, is loaded
// after the first paint.

import * as address from "./address.js";
import { Board } from "./board.js";
import { by, el, fill, whole } from "./dom.js";
import { recordInput } from "./early.js";
import { begin, t, translate } from "./lang.js";
import { showMoves } from "./moves.js";
import { applyAppearance } from "./settings.js";
import { Table } from "./table.js";
import * as tabs from "./tabs.js";
import * as trees from "./tree.js";

/** Greatest delay of the first paint, and the delay before the rest of the page is requested again, in milliseconds. */
const LONGEST_MS = 500,
  AGAIN_MS = 1000;

recordInput();
export const board = new Board();
export const table = new Table();

/** Shows a state and its answer. */
export function show(state, view) {
  const { tree, at, tail } = state;
  board.show(view, trees.node(tree, at).uci, state.flip);
  table.show(view, state.filter);
  board.arrows.book(view.books[0].moves);
  showOpening(view, tree);
  showMoves(state);
  by("back").disabled = by("to-start").disabled = at === 0;
  by("to-end").disabled = at === tail;
  by("forward").disabled = at === tail && view.ahead.length === 0;
  // Once only, because a browser stores every mark while the page is open.
  if (!performance.getEntriesByName("shown").length) performance.mark("shown");
}

function showOpening({ opening, fullmove, turn }, tree) {
  fill(
    by("opening"),
    ...(opening
      ? [
          el("abbr", { title: t("Encyclopaedia of Chess Openings") }, opening.eco),
          document.createTextNode(` ${opening.name}`),
        ]
      : [document.createTextNode(tree.fen ? t("Own position") : t("First position"))]),
  );
  by("to-move").textContent =
    turn === "white" ? t`White to move, move ${fullmove}` : t`Black to move, move ${fullmove}`;
  document.title = opening ? `${opening.eco} ${opening.name} – Tabia` : "Tabia";
}

/** The answer for this address that came with the page, and its state; null if there is none. */
function sent() {
  const place = by("first"),
    text = place.textContent;
  place.remove();
  if (!text) return null;
  const view = JSON.parse(text);
  return { view, state: (!view.problem && address.left()) || address.stateOf(view) };
}

async function open() {
  applyAppearance();
  tabs.restore();
  const translation = begin();
  if (translation) await translation;
  const first = sent();
  if (first) show(first.state, first.view);
  return first;
}

/** The first view. */
export const opened = open();

/** Applies a style sheet, which is in a script of another type: the policy is not for such data. */
function applyStyle(script) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(script.textContent);
  document.adoptedStyleSheets.push(sheet);
  script.remove();
}

/**
 * Adds the elements of an HTML file to the page: those in an element with `data-place` to the element of that id.
 * Applies its style sheet. The policy forbids HTML from text but allows XMLHttpRequest for documents. `missed` is
 * called if the program does not answer.
 */
export const loadPart = (name, missed = () => {}) =>
  new Promise((resolve) => {
    const asked = new XMLHttpRequest();
    asked.open("GET", `/page/${name}.html`);
    asked.responseType = "document";
    asked.onloadend = () => {
      // The program has another version now, with another page.
      if (asked.status === 404) location.reload();
      if (asked.status !== 200) {
        missed();
        setTimeout(() => resolve(loadPart(name)), AGAIN_MS);
        return;
      }
      const { body } = asked.response;
      for (const script of body.querySelectorAll("script")) applyStyle(script);
      translate(body);
      for (const part of body.querySelectorAll("[data-place]")) {
        by(part.dataset.place).append(...part.children);
        part.remove();
      }
      resolve(document.body.append(...body.children));
    };
    asked.send();
  });

async function rest() {
  await loadPart("later");
  await import("/page/main.js");
}

/** Resolves after the first paint: loading earlier would only delay it. */
const painted = new Promise((resolve) => {
  if (document.hidden) resolve();
  // There may be no paint, for example if the user leaves the tab.
  setTimeout(resolve, LONGEST_MS);
  new PerformanceObserver((list) => list.getEntriesByName("first-contentful-paint").length && resolve()).observe({
    type: "paint",
    buffered: true,
  });
});

Promise.allSettled([opened, whole, painted]).then(rest);
