// The board: shows a position, takes moves by drag, click and keyboard. The
// program sends it the legal moves.

import { Arrows } from "./arrows.js";
import { by, el, fill, svg } from "./dom.js";
import { t } from "./lang.js";

export const NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };
const GLIDE_MS = 120;
/** The size of a piece relative to its square, as in the style sheet. */
const PIECE = 0.96;

const still = matchMedia("(prefers-reduced-motion: reduce)");

/** The piece letters of a FEN by square name. */
export function pieces(fen) {
  const found = new Map();
  fen
    .split(" ")[0]
    .split("/")
    .forEach((row, index) => {
      let file = 0;
      for (const letter of row) {
        if (letter >= "1" && letter <= "8") file += Number(letter);
        else found.set("abcdefgh"[file++] + (8 - index), letter);
      }
    });
  return found;
}

/** A piece as a picture. */
export function picture(letter) {
  const colour = letter === letter.toUpperCase() ? "white" : "black";
  return svg(
    "svg",
    { class: `piece ${colour}`, viewBox: "0 0 45 45", "aria-hidden": "true" },
    svg("use", { href: `#${document.documentElement.dataset.set}-${letter.toLowerCase()}` }),
  );
}

export class Board {
  /** `play` is called with a move in UCI notation, `swipe` with true for a swipe forwards. */
  constructor(play, swipe) {
    this.play = play;
    this.swipe = swipe;
    this.place = by("board");
    this.flipped = false;
    /** The move that was made last, until it is shown. */
    this.sent = null;
    this.cursor = "e1";
    this.from = null;
    this.legal = [];
    this.pieces = new Map();
    this.arrows = new Arrows((name) => this.centre(name));
    this.build();
    this.place.addEventListener("pointerdown", (event) => this.press(event));
    this.place.addEventListener("contextmenu", (event) => event.preventDefault());
    this.place.addEventListener("keydown", (event) => this.key(event));
    this.place.addEventListener("focusin", () => this.showCursor());
  }

  /** Makes the squares, with White or Black at the bottom. */
  build() {
    this.squares = new Map();
    const ranks = [8, 7, 6, 5, 4, 3, 2, 1];
    const files = [..."abcdefgh"];
    if (this.flipped) {
      ranks.reverse();
      files.reverse();
    }
    const rows = ranks.map((rank) =>
      el(
        "div",
        { role: "row" },
        ...files.map((file) => {
          const dark = (file.charCodeAt(0) + rank) % 2 === 0;
          const square = el("div", {
            role: "gridcell",
            tabindex: "-1",
            class: `square ${dark ? "dark" : "light"}`,
            "data-square": file + rank,
          });
          this.squares.set(file + rank, square);
          return square;
        }),
      ),
    );
    this.place.replaceChildren(...rows, this.arrows.layer);
    fill(by("ranks"), ...ranks.map((rank) => el("span", {}, String(rank))));
    fill(by("files"), ...files.map((file) => el("span", {}, file)));
    this.setCursor(this.cursor);
  }

  flip(flipped) {
    if (flipped === this.flipped) return;
    this.flipped = flipped;
    this.leave();
    this.build();
    if (this.view) this.show(this.view, this.last);
  }

  /** Cancels any input on the board. */
  leave() {
    this.from = null;
    this.unasked?.();
    this.arrows.clear();
  }

  /** Shows an answer; `last` is the move that led to it, if any. */
  show(view, last) {
    // If the position is the same, only the values of the book may be new.
    const before = this.view?.fen === view.fen ? null : this.pieces;
    if (before) this.leave();
    this.view = view;
    this.last = last;
    this.legal = view.legal;
    this.pieces = pieces(view.fen);
    const king = [...this.pieces].find(([, letter]) => letter === (view.turn === "white" ? "K" : "k"))?.[0];
    for (const [name, square] of this.squares) {
      const letter = this.pieces.get(name);
      const piece = square.querySelector(".piece");
      if (piece?.dataset.letter !== letter) {
        piece?.remove();
        if (letter) {
          const made = picture(letter);
          made.dataset.letter = letter;
          square.append(made);
        }
      }
      square.setAttribute("aria-label", this.describe(name));
      square.classList.toggle("last", last?.startsWith(name) || last?.slice(2, 4) === name);
      square.classList.toggle("check", view.check && name === king);
    }
    if (before && before.size) this.glide(before);
    this.mark();
  }

  /** Animates the piece that has moved, if it is only one. */
  glide(before) {
    const dragged = this.dragged;
    this.dragged = false;
    if (dragged || still.matches) return;
    const came = [...this.pieces].filter(([name, letter]) => before.get(name) !== letter);
    const left = [...before].filter(([name, letter]) => this.pieces.get(name) !== letter);
    if (came.length > 2 || left.length > 3) return;
    for (const [name, letter] of came) {
      const from = left.find(([, old]) => old === letter)?.[0];
      if (!from) continue;
      const [x1, y1] = this.centre(from),
        [x2, y2] = this.centre(name);
      // Relative to the piece's size, which is a little less than its square's: nothing is measured.
      const part = (squares) => `${(squares * 100) / PIECE}%`;
      const start = `translate(${part(x1 - x2)}, ${part(y1 - y2)})`;
      this.squares
        .get(name)
        .querySelector(".piece")
        .animate([{ transform: start }, { transform: "none" }], { duration: GLIDE_MS, easing: "ease-out" });
    }
  }

  describe(name) {
    const letter = this.pieces.get(name);
    if (!letter) return name;
    return `${name}, ${t(`${letter === letter.toUpperCase() ? "white" : "black"} ${NAMES[letter.toLowerCase()]}`)}`;
  }

  centre(name) {
    const x = name.charCodeAt(0) - 97,
      y = 8 - Number(name[1]);
    return this.flipped ? [7.5 - x, 7.5 - y] : [x + 0.5, y + 0.5];
  }

  /** The legal moves of the selected piece to a square: the king castles also by taking its rook. */
  movesTo(name) {
    const from = this.legal.filter(({ uci }) => uci.startsWith(this.from));
    const plain = from.filter(({ uci }) => uci.slice(2, 4) === name);
    return plain.length ? plain : from.filter(({ rook }) => rook === name);
  }

  /** Marks the target squares of the selected piece. */
  mark() {
    for (const [name, square] of this.squares) {
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
    const white = this.view.turn === "white";
    const [x, y] = this.centre(name);
    const column = el(
      "div",
      { class: "promotion", role: "group", "aria-label": t("Promote to") },
      ...["q", "n", "r", "b"].map((letter) =>
        el(
          "button",
          {
            type: "button",
            "aria-label": t(NAMES[letter]),
            onclick: () => {
              close();
              this.play(moves.find(({ uci }) => uci.endsWith(letter)).uci);
            },
          },
          picture(white ? letter.toUpperCase() : letter),
        ),
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
    this.arrows.forget();
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
        if (target) this.arrows.toggle(name, target);
      },
      { once: true },
    );
  }

  drag(start, name, again) {
    const piece = this.squares.get(name).querySelector(".piece");
    const size = this.place.clientWidth / 8;
    let moved = false;
    const follow = (event) => {
      if (!moved && Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) < 4) return;
      moved = true;
      const home = this.squares.get(name).getBoundingClientRect();
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
    this.squares.get(this.cursor)?.setAttribute("tabindex", "-1");
    this.cursor = name;
    this.squares.get(name).setAttribute("tabindex", "0");
  }

  showCursor() {
    const name = document.activeElement?.dataset?.square;
    if (name) this.setCursor(name);
  }

  key(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (step) {
      const sign = this.flipped ? -1 : 1;
      const file = this.cursor.charCodeAt(0) - 97 + sign * step[0];
      const rank = Number(this.cursor[1]) + sign * step[1];
      if (file >= 0 && file < 8 && rank >= 1 && rank <= 8) {
        this.setCursor("abcdefgh"[file] + rank);
        this.squares.get(this.cursor).focus();
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
