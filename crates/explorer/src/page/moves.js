// The list of moves: a game's header, the main line, variations in brackets or indented, comments.

import { read, wordsOf } from "./commands.js";
import { by, el } from "./dom.js";
import { lettered, t } from "./lang.js";
import { signs } from "./icons.js";
import * as trees from "./tree.js";

/** The drawn list: its tree, its elements by content, its buttons by move, and the highlighted ones. */
let drawn = { tree: null, elements: new Map(), buttons: new Map() };
let later = new Set(),
  current = null;

export function showMoves({ tree, at, tail }) {
  if (tree !== drawn.tree) draw(tree);
  const walked = new Set(trees.path(tree, at));
  const ahead = trees.path(tree, tail).filter((id) => !walked.has(id));
  const nowLater = new Set(ahead.map((id) => drawn.buttons.get(id)));
  for (const button of later) if (!nowLater.has(button)) button.classList.remove("later");
  for (const button of nowLater) if (!later.has(button)) button.classList.add("later");
  later = nowLater;
  const button = drawn.buttons.get(at);
  if (button !== current) {
    current?.removeAttribute("aria-current");
    button?.setAttribute("aria-current", "step");
  }
  current = button;
  centreSoon();
}

/** Keeps the shown move in sight when the list gets another size, or is shown again. */
export const keepInSight = () => new ResizeObserver(centreSoon).observe(by("line"));

/** Sets the children of an element; existing ones are not moved. */
function sync(place, children) {
  const wanted = new Set(children);
  for (const child of [...place.childNodes]) if (!wanted.has(child)) child.remove();
  children.forEach((child, index) => {
    const known = place.childNodes[index];
    if (known !== child) place.insertBefore(child, known ?? null);
  });
}

/** Draws a tree; unchanged elements are reused. */
function draw(tree) {
  const elements = new Map(),
    buttons = new Map();
  const keep = (key, make) => {
    const element = drawn.elements.get(key) ?? make();
    elements.set(key, element);
    return element;
  };
  const span = (kind, id, text) =>
    text ? [keep(`${kind} ${id} ${text}`, () => el("span", { class: kind }, text))] : [];
  const move = (id, forced, depth) => {
    const one = trees.node(tree, id);
    const number = trees.numberOf(tree, id, forced);
    const text = lettered(one.san) + signs(one);
    const { clock } = read(one.comment);
    const place = keep(`${id} ${number}${text} ${clock} ${depth > 0}`, () =>
      el(
        "span",
        { class: `ply ${depth ? "side" : ""}` },
        number ? el("span", { class: "number" }, number) : null,
        el("button", { type: "button", "data-id": id }, text),
        clock ? el("span", { class: "clock" }, clock) : null,
      ),
    );
    buttons.set(id, place.querySelector("button"));
    return [place, ...span("remark", id, wordsOf(one.comment))];
  };
  const line = (from, forced, depth) => {
    const items = [];
    let id = from,
      force = forced;
    while (trees.node(tree, id).children.length) {
      const [main, ...others] = trees.node(tree, id).children;
      items.push(...move(main, force, depth));
      force = wordsOf(trees.node(tree, main).comment) !== "";
      for (const other of others) {
        const block = keep(`variation ${other} ${depth}`, () => el("span", { class: depth ? "aside" : "variation" }));
        const isCommented = wordsOf(trees.node(tree, other).comment) !== "";
        sync(block, [...move(other, true, depth + 1), ...line(other, isCommented, depth + 1)]);
        items.push(block);
        force = true;
      }
      id = main;
    }
    return items;
  };
  const items = [
    ...span("game", 0, header(tree.tags)),
    ...span("remark", 0, wordsOf(trees.node(tree, 0).comment)),
    ...line(0, true, 0),
  ];
  const hint = tree.fen ? t("A position of your own.") : t("Play a move, or choose one of the book.");
  sync(by("line"), items.length ? items : span("hint", 0, hint));
  drawn = { tree, elements, buttons };
}

/** Players, result, event and date of a game; empty for a line without players. */
function header(tags) {
  const known = new Map(tags);
  const of = (name) => (/^[?.]*$/.test(known.get(name) ?? "") ? "" : known.get(name));
  const player = (colour) => [of(colour), of(`${colour}Elo`)].filter(Boolean).join(" ");
  const players = [player("White"), player("Black")].filter(Boolean).join(" – ");
  const when = of("Date").replaceAll(/\.\?+/g, "");
  return (
    players &&
    [[players, of("Result").replace("*", "")].filter(Boolean).join(" "), of("Event"), when].filter(Boolean).join(" · ")
  );
}

let centring = 0;

/** Once for all changes before the next frame, which needs a layout anyway. */
function centreSoon() {
  if (!centring) centring = requestAnimationFrame(centre);
}

function centre() {
  centring = 0;
  const list = by("line");
  if (!current) {
    list.scrollTo(0, 0);
    return;
  }
  list.scrollTop = current.offsetTop - (list.clientHeight - current.offsetHeight) / 2;
  list.scrollLeft = current.offsetLeft - (list.clientWidth - current.offsetWidth) / 2;
}
