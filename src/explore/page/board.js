// The board: shows a position, takes moves by drag, click and keyboard. Which
// moves are legal it is told.

import { by, el, svg } from "./dom.js";

const PICTURES = new URL("pieces.svg", import.meta.url).pathname;
const NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };

/** The piece letters of a FEN by square name. */
export function pieces(fen) {
  const found = new Map();
  const rows = fen.split(" ")[0].split("/");
  rows.forEach((row, index) => {
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
  return svg("svg", { class: `piece ${colour}`, viewBox: "0 0 45 45", "aria-hidden": "true" },
    svg("use", { href: `${PICTURES}#${letter.toLowerCase()}` }));
}

export class Board {
  /** `play` is called with a move in UCI notation. */
  constructor(play) {
    this.play = play;
    this.place = by("board");
    this.flipped = false;
    this.cursor = "e1";
    this.from = null;
    this.legal = [];
    this.pieces = new Map();
    this.build();
    this.place.addEventListener("pointerdown", (event) => this.press(event));
    this.place.addEventListener("keydown", (event) => this.key(event));
    this.place.addEventListener("focusin", () => this.showCursor());
  }

  /** Makes the squares, seen from White's or Black's side. */
  build() {
    this.squares = new Map();
    const ranks = [8, 7, 6, 5, 4, 3, 2, 1];
    const files = [..."abcdefgh"];
    if (this.flipped) { ranks.reverse(); files.reverse(); }
    const rows = ranks.map((rank, row) => el("div", { role: "row" }, ...files.map((file, column) => {
      const dark = (file.charCodeAt(0) + rank) % 2 === 0;
      const square = el("div", {
        role: "gridcell", tabindex: "-1", class: `square ${dark ? "dark" : "light"}`, "data-square": file + rank,
      });
      if (column === 0) square.append(el("span", { class: "rank", "aria-hidden": "true" }, String(rank)));
      if (row === 7) square.append(el("span", { class: "file", "aria-hidden": "true" }, file));
      this.squares.set(file + rank, square);
      return square;
    })));
    this.overlay = svg("svg", { class: "overlay", viewBox: "0 0 8 8", "aria-hidden": "true" });
    this.place.replaceChildren(...rows, this.overlay);
    this.setCursor(this.cursor);
  }

  flip(flipped) {
    if (flipped === this.flipped) return;
    this.flipped = flipped;
    this.build();
    if (this.view) this.show(this.view);
  }

  show(view) {
    this.view = view;
    this.legal = view.legal.map((move) => move.uci);
    this.pieces = pieces(view.fen);
    this.from = null;
    const last = view.line[view.at - 1]?.uci;
    const king = [...this.pieces].find(([, letter]) => letter === (view.turn === "white" ? "K" : "k"))?.[0];
    for (const [name, square] of this.squares) {
      const letter = this.pieces.get(name);
      square.querySelector(".piece")?.remove();
      if (letter) square.append(picture(letter));
      square.setAttribute("aria-label", this.describe(name));
      square.classList.toggle("last", last?.startsWith(name) || last?.slice(2, 4) === name);
      square.classList.toggle("check", view.check && name === king);
    }
    this.mark();
    this.point(null);
  }

  describe(name) {
    const letter = this.pieces.get(name);
    if (!letter) return name;
    return `${name}, ${letter === letter.toUpperCase() ? "white" : "black"} ${NAMES[letter.toLowerCase()]}`;
  }

  /** An arrow for a move; none for `null`. */
  point(uci) {
    this.overlay.replaceChildren();
    if (!uci) return;
    const [x1, y1] = this.centre(uci.slice(0, 2));
    const [x2, y2] = this.centre(uci.slice(2, 4));
    const length = Math.hypot(x2 - x1, y2 - y1);
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const [hx, hy] = [x2 - dx * 0.42, y2 - dy * 0.42];
    const head = [[x2 - dx * 0.08, y2 - dy * 0.08], [hx - dy * 0.22, hy + dx * 0.22], [hx + dy * 0.22, hy - dx * 0.22]];
    this.overlay.append(
      svg("line", { x1: x1 + dx * 0.3, y1: y1 + dy * 0.3, x2: hx, y2: hy }),
      svg("polygon", { points: head.map((point) => point.join(",")).join(" ") }),
    );
  }

  centre(name) {
    const x = name.charCodeAt(0) - 97, y = 8 - Number(name[1]);
    return this.flipped ? [7.5 - x, 7.5 - y] : [x + 0.5, y + 0.5];
  }

  targets() {
    return this.from ? this.legal.filter((uci) => uci.startsWith(this.from)).map((uci) => uci.slice(2, 4)) : [];
  }

  /** Shows where the piece in hand may go. */
  mark() {
    const targets = this.targets();
    for (const [name, square] of this.squares) {
      square.classList.toggle("from", name === this.from);
      square.classList.toggle("target", targets.includes(name));
      square.setAttribute("aria-selected", String(name === this.from));
    }
  }

  take(name) {
    this.from = this.legal.some((uci) => uci.startsWith(name)) ? name : null;
    this.mark();
    return this.from !== null;
  }

  /** Sets the piece in hand down; true when that is a move. */
  async set(name) {
    const moves = this.legal.filter((uci) => uci.slice(0, 4) === this.from + name);
    this.from = null;
    this.mark();
    if (moves.length === 0) return false;
    const move = moves.length === 1 ? moves[0] : await this.promotion(moves);
    if (move) this.play(move);
    return true;
  }

  promotion(moves) {
    const dialog = by("promotion-dialog");
    const white = this.view.turn === "white";
    by("promotion-choices").replaceChildren(...["q", "r", "b", "n"].map((letter) => el("button", {
      type: "submit", value: moves.find((uci) => uci.endsWith(letter)) ?? "", "aria-label": NAMES[letter],
    }, picture(white ? letter.toUpperCase() : letter))));
    dialog.returnValue = "";
    dialog.showModal();
    return new Promise((resolve) => {
      dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true });
    });
  }

  at(event) {
    const square = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-square]");
    return square?.dataset.square;
  }

  press(event) {
    const name = event.target.closest("[data-square]")?.dataset.square;
    if (!name || event.button !== 0) return;
    // Squares take the focus by Tab alone: the arrow keys of a mouse user walk the line.
    event.preventDefault();
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    if (this.from && this.from !== name && this.targets().includes(name)) { this.set(name); return; }
    const again = this.from === name;
    if (!this.take(name)) return;
    this.drag(event, name, again);
  }

  drag(start, name, again) {
    const piece = this.squares.get(name).querySelector(".piece");
    const size = this.place.getBoundingClientRect().width / 8;
    let moved = false;
    const follow = (event) => {
      const dx = event.clientX - start.clientX, dy = event.clientY - start.clientY;
      if (!moved && Math.hypot(dx, dy) < 4) return;
      moved = true;
      const home = this.squares.get(name).getBoundingClientRect();
      piece.classList.add("dragged");
      piece.style.transform =
        `translate(${event.clientX - home.left - size / 2}px, ${event.clientY - home.top - size / 2}px)`;
    };
    const end = (event) => {
      removeEventListener("pointermove", follow);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      piece.classList.remove("dragged");
      piece.style.transform = "";
      if (!moved) {
        if (again) { this.from = null; this.mark(); }
        return;
      }
      const target = event.type === "pointerup" ? this.at(event) : undefined;
      if (target && target !== name) this.set(target);
      else { this.from = null; this.mark(); }
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
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const step = steps[event.key];
    if (step) {
      const sign = this.flipped ? -1 : 1;
      const file = this.cursor.charCodeAt(0) - 97 + sign * step[0];
      const rank = Number(this.cursor[1]) + sign * step[1];
      if (file >= 0 && file < 8 && rank >= 1 && rank <= 8) {
        this.setCursor("abcdefgh"[file] + rank);
        this.squares.get(this.cursor).focus();
      }
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.from && this.from !== this.cursor && this.targets().includes(this.cursor)) this.set(this.cursor);
      else if (this.from === this.cursor) { this.from = null; this.mark(); }
      else this.take(this.cursor);
    } else if (event.key === "Escape" && this.from) {
      this.from = null;
      this.mark();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
