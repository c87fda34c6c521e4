// Moves on the board, by drag, click and keyboard. The program sends the legal moves.

import { picture } from "./board.js";
import { button, by, el } from "./dom.js";
import { PIECES, t, translated } from "./lang.js";

const GLIDE_MS = 120;
/** The size of a piece relative to its square, as in the style sheet. */
const PIECE = 0.96;

const still = matchMedia("(prefers-reduced-motion: reduce)");

export class BoardInput {
  board;
  play;
  swipe;

  /** `play` is called with a move in UCI notation, `swipe` with true for a swipe forwards. */
  constructor(board, { play, swipe }) {
    Object.assign(this, { board, play, swipe });
    this.place = by("board");
    /** The move that was made last, until it is shown. */
    this.sent = null;
    this.cursor = "e1";
    this.from = null;
  }

  listen() {
    this.board.drawn = (before) => this.drawn(before);
    this.setCursor(this.cursor);
    this.place.addEventListener("pointerdown", (event) => this.press(event));
    this.place.addEventListener("contextmenu", (event) => event.preventDefault());
    this.place.addEventListener("keydown", (event) => this.key(event));
    this.place.addEventListener("focusin", () => this.showCursor());
  }

  get legal() {
    return this.board.view?.legal ?? [];
  }

  drawn(before) {
    if (!before) {
      this.mark();
      return;
    }
    const { dragged } = this;
    this.dragged = false;
    this.unasked?.();
    this.drop();
    this.setCursor(this.cursor);
    if (!dragged && !still.matches) this.glide(before);
  }

  /** Animates the piece that has moved, if it is only one. */
  glide(before) {
    const { pieces, squares } = this.board;
    const came = [...pieces].filter(([name, letter]) => before.get(name) !== letter);
    const left = [...before].filter(([name, letter]) => pieces.get(name) !== letter);
    if (came.length > 2 || left.length > 3) return;
    for (const [name, letter] of came) {
      const from = left.find(([, old]) => old === letter)?.[0];
      if (!from) continue;
      const [x1, y1] = this.board.centre(from),
        [x2, y2] = this.board.centre(name);
      // Relative to the piece's size, which is a little less than its square's: nothing is measured.
      const part = (count) => `${(count * 100) / PIECE}%`;
      const start = `translate(${part(x1 - x2)}, ${part(y1 - y2)})`;
      squares
        .get(name)
        .querySelector(".piece")
        .animate([{ transform: start }, { transform: "none" }], { duration: GLIDE_MS, easing: "ease-out" });
    }
  }

  /** The legal moves of the selected piece to a square: the king castles also by taking its rook. */
  movesTo(name) {
    const from = this.legal.filter(({ uci }) => uci.startsWith(this.from));
    const plain = from.filter(({ uci }) => uci.slice(2, 4) === name);
    return plain.length ? plain : from.filter(({ rook }) => rook === name);
  }

  /** Marks the target squares of the selected piece. */
  mark() {
    for (const [name, square] of this.board.squares) {
      square.classList.toggle("from", name === this.from);
      square.classList.toggle("target", this.from !== null && this.movesTo(name).length > 0);
      square.setAttribute("aria-selected", String(name === this.from));
    }
  }

  take(name) {
    this.from = this.legal.some(({ uci }) => uci.startsWith(name)) ? name : null;
    this.mark();
    return this.from !== null;
  }

  drop() {
    this.from = null;
    this.mark();
  }

  /** Drops the selected piece; resolves when that is shown. */
  set(name, dragged = false) {
    const moves = this.movesTo(name);
    this.drop();
    if (moves.length > 1) this.promote(name, moves);
    if (moves.length !== 1) return undefined;
    this.dragged = dragged;
    return this.play(moves[0].uci);
  }

  /** Shows the four pieces in a column on the board, beginning at the promotion square. */
  promote(name, moves) {
    const white = this.board.view.turn === "white";
    const [x, y] = this.board.centre(name);
    const column = el(
      "div",
      { class: "promotion", role: "group", "aria-label": t("Promote to") },
      ...["q", "n", "r", "b"].map((letter) =>
        button(picture(white ? letter.toUpperCase() : letter), () => choose(letter), {
          "aria-label": translated(PIECES[letter.toUpperCase()]),
        }),
      ),
    );
    column.style.setProperty("--file", x - 0.5);
    column.style.setProperty("--rank", y < 4 ? 0 : 4);
    column.classList.toggle("upwards", y > 4);
    const close = (this.unasked = () => {
      this.unasked = null;
      column.remove();
      removeEventListener("pointerdown", outside, true);
    });
    const choose = (letter) => {
      close();
      this.play(moves.find(({ uci }) => uci.endsWith(letter)).uci);
    };
    const outside = (event) => {
      if (column.contains(event.target)) return;
      close();
      event.stopPropagation();
    };
    column.addEventListener("keydown", (event) => {
      const buttons = [...column.children];
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) buttons[(buttons.indexOf(document.activeElement) + step + 4) % 4].focus();
      else if (event.key === "Escape") close();
      else if (event.key !== "Tab" && event.key !== "Enter" && event.key !== " ") return;
      if (step || event.key === "Escape") event.preventDefault();
      event.stopPropagation();
    });
    addEventListener("pointerdown", outside, true);
    // Not inside the grid, which may contain only rows.
    this.place.after(column);
    column.firstChild.focus();
  }

  at(event) {
    return document.elementFromPoint(event.clientX, event.clientY)?.closest("#board [data-square]")?.dataset.square;
  }

  /** Queues clicks until a move is shown: they are for the position after it. */
  wait(shown) {
    const sent = (this.sent = Promise.resolve(shown).finally(() => {
      if (this.sent === sent) this.sent = null;
    }));
  }

  /** Handles a click when the earlier moves are shown. */
  queue(name) {
    const click = () => {
      if (this.from && this.from !== name && this.movesTo(name).length > 0) return this.set(name);
      return this.take(name);
    };
    this.wait(this.sent.then(click));
  }

  press(event) {
    const name = event.target.closest("[data-square]")?.dataset.square;
    if (!name) return;
    if (this.sent && event.button === 0) {
      event.preventDefault();
      this.queue(name);
      const released = (end) => {
        const target = this.at(end);
        if (target && target !== name) this.queue(target);
      };
      addEventListener("pointerup", released, { once: true });
      return;
    }
    if (event.button === 2) {
      this.draw(event, name);
      return;
    }
    if (event.button !== 0) return;
    // Squares get the focus only by Tab: for mouse users the arrow keys step through the line.
    event.preventDefault();
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    this.board.arrows.forget();
    if (this.from && this.from !== name && this.movesTo(name).length > 0) {
      this.wait(this.set(name));
      return;
    }
    const again = this.from === name;
    if (this.take(name)) this.drag(event, name, again);
    else if (event.pointerType === "touch") this.swiped(event);
  }

  /** A swipe over the board without a piece steps through the moves. */
  swiped(start) {
    addEventListener(
      "pointerup",
      (end) => {
        const x = end.clientX - start.clientX,
          y = end.clientY - start.clientY;
        if (Math.abs(x) > 40 && Math.abs(x) > 2 * Math.abs(y)) this.swipe(x < 0);
      },
      { once: true },
    );
  }

  /** Draws an arrow or a circle of the user with the right button. */
  draw(event, name) {
    addEventListener(
      "pointerup",
      (end) => {
        const target = this.at(end);
        if (target) this.board.arrows.toggle(name, target);
      },
      { once: true },
    );
  }

  drag(start, name, again) {
    const piece = this.board.squares.get(name).querySelector(".piece");
    const size = this.place.clientWidth / 8;
    let moved = false;
    const follow = (event) => {
      if (!moved && Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) < 4) return;
      moved = true;
      const home = this.board.squares.get(name).getBoundingClientRect();
      piece.classList.add("dragged");
      piece.style.transform = `translate(${event.clientX - home.left - size / 2}px, ${event.clientY - home.top - size / 2}px)`;
    };
    const end = (event) => {
      removeEventListener("pointermove", follow);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      piece.classList.remove("dragged");
      piece.style.transform = "";
      // Another position has come meanwhile: the piece is not selected any more.
      if (this.from !== name) return;
      if (!moved) {
        if (again) this.drop();
        return;
      }
      const target = event.type === "pointerup" ? this.at(event) : undefined;
      if (target && target !== name) this.wait(this.set(target, true));
      else this.drop();
    };
    addEventListener("pointermove", follow);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  }

  setCursor(name) {
    this.board.squares.get(this.cursor)?.setAttribute("tabindex", "-1");
    this.cursor = name;
    this.board.squares.get(name)?.setAttribute("tabindex", "0");
  }

  showCursor() {
    const name = document.activeElement?.dataset?.square;
    if (name) this.setCursor(name);
  }

  key(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (step) {
      const sign = this.board.flipped ? -1 : 1;
      const file = this.cursor.charCodeAt(0) - 97 + sign * step[0];
      const rank = Number(this.cursor[1]) + sign * step[1];
      if (file >= 0 && file < 8 && rank >= 1 && rank <= 8) {
        this.setCursor("abcdefgh"[file] + rank);
        this.board.squares.get(this.cursor).focus();
      }
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.sent) this.queue(this.cursor);
      else if (this.from && this.from !== this.cursor && this.movesTo(this.cursor).length > 0)
        this.wait(this.set(this.cursor));
      else if (this.from === this.cursor) this.drop();
      else this.take(this.cursor);
    } else if (event.key === "Escape" && this.from) {
      this.drop();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
