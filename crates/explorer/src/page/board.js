// The board: shows a position. It takes moves when the rest of the page has been loaded (`board-input.js`).

import { Arrows } from "./arrows.js";
import { by, el, fill, svg } from "./dom.js";
import { english, translated } from "./lang.js";

/** The pieces in words, by their letters in a FEN. */
const ON_SQUARES = {
  P: english("white pawn"),
  N: english("white knight"),
  B: english("white bishop"),
  R: english("white rook"),
  Q: english("white queen"),
  K: english("white king"),
  p: english("black pawn"),
  n: english("black knight"),
  b: english("black bishop"),
  r: english("black rook"),
  q: english("black queen"),
  k: english("black king"),
};

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

/** Column and row of a square from the upper left corner, 0 to 7. */
export function placeOf(square, flipped) {
  const [x, y] = [square.charCodeAt(0) - 97, 8 - Number(square[1])];
  return flipped ? [7 - x, 7 - y] : [x, y];
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
  /**
   * Called after each drawing with the earlier pieces, or null if squares and pieces are the same.
   * @type {(before: Map<string, string> | null) => void}
   */
  drawn = () => {};

  constructor() {
    this.place = by("board");
    this.pieces = new Map();
    this.squares = new Map();
    this.arrows = new Arrows((name) => this.centre(name));
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
            "aria-selected": "false",
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
  }

  /** Shows an answer, with Black at the bottom if `flipped`; `last` is the move that led to it, if any. */
  show(view, last, flipped) {
    // If the position is the same, only the values of the book may be new.
    const before = this.view?.fen === view.fen && flipped === this.flipped ? null : this.pieces;
    if (flipped !== this.flipped) {
      this.flipped = flipped;
      this.build();
    }
    if (before) this.arrows.clear();
    this.view = view;
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
    this.drawn(before);
  }

  describe(name) {
    const letter = this.pieces.get(name);
    if (!letter) return name;
    return `${name}, ${translated(ON_SQUARES[letter])}`;
  }

  centre(name) {
    return placeOf(name, this.flipped).map((part) => part + 0.5);
  }
}
