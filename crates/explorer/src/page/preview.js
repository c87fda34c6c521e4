// A small board: the position after a move of the table or of an engine's line, or at the end of a game of the list.
// It is shown when the pointer rests on one, and by a key for the one that has the focus: on the left of the panel, where
// it covers no row, or below the pointer if there is no room.

import { picture, placeOf } from "./board.js";
import { el } from "./dom.js";
import { along } from "./rules.js";

/** Delay in milliseconds before a resting pointer shows it. */
const REST = 450;

/** Distance from the panel or the pointer, in pixels. */
const GAP = 16;

export class Preview {
  find;

  /** `find(element)` returns what is shown for an element: the element that it belongs to and a promise of `{ fen, moves, last, flip }`. */
  constructor(find) {
    this.find = find;
    this.place = el("div", { id: "preview", "aria-hidden": "true", hidden: true });
    /** The element whose position is shown or will be. */
    this.of = null;
    /** Where the pointer was last. */
    this.at = { x: -1, y: -1 };
  }

  listen() {
    document.body.append(this.place);
    addEventListener("pointerover", (event) => {
      // The page may also have moved below a pointer that rests.
      const isStill = event.clientX === this.at.x && event.clientY === this.at.y;
      if (event.pointerType === "touch" || isStill) return;
      const found = this.find(event.target);
      if (found?.of === this.of) return;
      this.hide();
      if (!found || event.buttons) return;
      this.of = found.of;
      this.timer = setTimeout(() => this.show(found, event), REST);
    });
    addEventListener("pointermove", ({ clientX: x, clientY: y }) => (this.at = { x, y }), true);
    for (const kind of ["pointerdown", "wheel", "keydown", "blur"]) addEventListener(kind, () => this.hide(), true);
  }

  /** Shows the position of the element with the focus. */
  ofFocus() {
    const found = this.find(document.activeElement);
    if (!found) return;
    const { left: x, bottom: y } = found.of.getBoundingClientRect();
    this.of = found.of;
    this.show(found, { clientX: x, clientY: y });
  }

  hide() {
    clearTimeout(this.timer);
    this.of = null;
    this.place.hidden = true;
    this.place.replaceChildren();
  }

  async show({ of, position }, { clientX: x, clientY: y }) {
    const found = await position().catch(() => null);
    // Meanwhile the pointer may be elsewhere, or the row shows another move.
    if (!found || of !== this.of || !of.isConnected) return;
    const { fen, moves, flip } = found;
    const last = moves.at(-1);
    this.place.replaceChildren(
      ...(last ? [last.slice(0, 2), last.slice(2, 4)] : []).map((square) => this.put(el("i", {}), square, flip)),
      ...[...along(fen, moves)].map(([square, letter]) => {
        const piece = this.put(picture(letter), square, flip);
        piece.dataset.letter = letter;
        return piece;
      }),
    );
    this.place.hidden = false;
    const { offsetWidth: wide, offsetHeight: high } = this.place;
    const beside = of.closest("main > *").getBoundingClientRect().left - wide - GAP;
    const isBelow = y + GAP + high < innerHeight;
    const [left, top] = beside > 0 ? [beside, y - high / 2] : [x + GAP, isBelow ? y + GAP : y - GAP - high];
    this.place.style.left = `${Math.max(4, Math.min(left, innerWidth - wide - 4))}px`;
    this.place.style.top = `${Math.max(4, Math.min(top, innerHeight - high - 4))}px`;
  }

  /** Puts an element on a square. */
  put(element, square, flip) {
    const [x, y] = placeOf(square, flip);
    element.dataset.on = square;
    element.style.left = `${12.5 * x}%`;
    element.style.top = `${12.5 * y}%`;
    return element;
  }
}
