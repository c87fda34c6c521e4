// The book window: what one book, or two side by side, say about the position.

import { by, el, grouped, percent } from "./dom.js";

/** Commentaries by their NAG number. */
const COMMENTS = {
  7: ["□", "forced"], 10: ["=", "equal"], 11: ["=", "equal, quiet"], 12: ["=", "equal, active"], 13: ["∞", "unclear"],
  14: ["⩲", "White is slightly better"], 15: ["⩱", "Black is slightly better"],
  16: ["±", "White is better"], 17: ["∓", "Black is better"],
  18: ["+−", "White is winning"], 19: ["−+", "Black is winning"],
  22: ["⨀", "zugzwang"], 32: ["⟳", "development"], 36: ["↑", "initiative"], 40: ["→", "attack"],
  44: ["=∞", "compensation"], 132: ["⇆", "counterplay"], 138: ["⊕", "time trouble"], 140: ["∆", "with the idea"],
  146: ["N", "novelty"],
};

/** From which difference in probability on two books disagree. */
const DISAGREEMENT = 0.1;

const COLUMNS = [
  ["Move", "", "move"], ["N", "Games", "n"], ["%", "Score of the player of the move", "score"],
  ["Av", "Average Elo", "av"], ["Perf", "Performance Elo", "perf"], ["Fact", "Learn value, −125 to +125", "fact"],
  ["Prob", "Probability with which the adapter plays it", "prob"],
  ["Results", "White wins · draws · Black wins", "results"],
];

function comment(nag) {
  if (!nag) return null;
  const [sign, meaning] = COMMENTS[nag] ?? [`$${nag}`, `commentary ${nag}`];
  return el("span", { class: "comment", title: meaning, role: "img", "aria-label": meaning }, sign);
}

function markSign(mark) {
  if (mark === "main") return el("span", { class: "mark main", title: "Main move (green)", role: "img", "aria-label": "main move" }, "✓");
  if (mark === "avoid") return el("span", { class: "mark avoid", title: "Not in tournaments (red)", role: "img", "aria-label": "avoid" }, "✕");
  return el("span", { class: "mark", "aria-hidden": "true" });
}

/** Wins, draws and losses as a bar, White first. */
function results({ white, draws, black }) {
  const all = white + draws + black;
  if (all === 0) return el("div", { class: "bar none" }, "no results");
  const parts = [["w", white], ["d", draws], ["b", black]].filter(([, count]) => count > 0);
  const label = `White ${percent(white / all, 0)}, draws ${percent(draws / all, 0)}, Black ${percent(black / all, 0)}`;
  return el("div", { class: "bar", role: "img", "aria-label": label, title: `${label} (${grouped(white)} · ${grouped(draws)} · ${grouped(black)})` },
    ...parts.map(([name, count]) => {
      const share = count / all;
      const part = el("span", { class: name }, share >= 0.16 ? Math.round(100 * share) + "%" : "");
      part.style.flexGrow = String(share);
      return part;
    }));
}

function chance(move) {
  const bar = el("span", { class: "chance", "aria-hidden": "true" });
  bar.style.width = `${100 * move.probability}%`;
  const text = move.not_played ? "–" : percent(move.probability);
  return [bar, el("span", { class: "number", "data-probability": move.probability }, text),
    move.not_played ? el("span", { class: "unseen" }, `not played: ${move.not_played}`) : null];
}

const signed = (number) => (number > 0 ? `+${number}` : String(number).replace("-", "−"));
const rounded = (number) => (number === null ? "–" : Math.round(number).toString());

/** What about a move differs between two books; the empty text for nothing. */
function disagreement(move, other) {
  if (!other) return "only in this book";
  if (move.mark !== other.mark) return `the other book marks it ${other.mark === "none" ? "not at all" : other.mark}`;
  if (move.annotation !== other.annotation) return `the other book annotates it ${other.annotation || "not at all"}`;
  if (Math.abs(move.probability - other.probability) >= DISAGREEMENT) return `the other book plays it with ${percent(other.probability)}`;
  return "";
}

export class BookWindow {
  /** `play`, `point` take a move in UCI notation; `edit` a book's view and a move; `undo` a book's number. */
  constructor({ play, point, edit, undo }) {
    Object.assign(this, { play, point, edit, undo });
    this.place = by("books");
    this.chosen = null;
    this.place.addEventListener("focusin", (event) => this.follow(event));
    this.place.addEventListener("pointerover", (event) => this.follow(event));
    this.place.addEventListener("pointerleave", () => this.point(this.chosen));
  }

  show(view) {
    const focused = document.activeElement?.closest?.("#books button.move");
    const kept = focused && { book: focused.dataset.book, uci: focused.dataset.uci, path: this.path === view.fen };
    this.path = view.fen;
    this.view = view;
    const books = view.books;
    this.place.classList.toggle("two", books.length > 1);
    const order = this.order(books);
    this.place.replaceChildren(...books.map((book, index) => this.panel(view, book, books[1 - index], order)));
    const first = this.place.querySelector("button.move");
    if (first) first.tabIndex = 0;
    if (kept) (this.button(kept.book, kept.path ? kept.uci : null) ?? first)?.focus({ preventScroll: true });
    this.chosen = document.activeElement?.dataset?.uci ?? null;
    this.point(this.chosen);
  }

  /** With two books, both show the same moves in the same rows. */
  order(books) {
    const seen = new Set();
    const longest = Math.max(...books.map((book) => book.moves.length), 0);
    for (let index = 0; index < longest; index += 1) {
      for (const book of books) if (book.moves[index]) seen.add(book.moves[index].uci);
    }
    return [...seen];
  }

  panel(view, book, other, order) {
    const title = `book-${book.book}-title`;
    const head = el("div", { class: "head" },
      el("h2", { id: title }, book.name),
      el("p", { class: "total" }, book.in_book ? `${grouped(book.games)} ${book.games === 1 ? "game" : "games"} ` : "", comment(book.commentary)),
      book.editable ? el("button", {
        type: "button", class: "quiet undo", disabled: book.undo === 0, onclick: () => this.undo(book.book),
        title: book.last_change ? `Take back: ${book.last_change} (Ctrl+Z)` : "Nothing to take back",
      }, book.undo ? `Undo (${book.undo})` : "Undo") : null);
    if (book.error) return el("section", { class: "book", "aria-labelledby": title }, head, el("p", { class: "notice error" }, book.error));
    if (order.length === 0) {
      const text = view.end ? (view.end === "checkmate" ? "Checkmate." : "Stalemate.")
        : book.in_book ? "The line ends here." : "This position is not in the book.";
      return el("section", { class: "book", "aria-labelledby": title }, head, el("p", { class: "notice" }, text));
    }
    const moves = new Map(book.moves.map((move) => [move.uci, move]));
    const others = other && new Map(other.moves.map((move) => [move.uci, move]));
    const table = el("table", { "aria-labelledby": title },
      el("thead", {}, el("tr", {}, ...COLUMNS.map(([name, help, kind]) => el("th", { scope: "col", class: kind, title: help || null }, name)),
        book.editable ? el("th", { scope: "col", class: "edit" }, el("span", { class: "unseen" }, "Change")) : null)),
      el("tbody", {}, ...order.map((uci) => this.row(book, moves.get(uci), others, uci))));
    return el("section", { class: "book", "aria-labelledby": title }, head, table, this.foot(book));
  }

  foot(book) {
    const legend = [];
    if (book.moves.some((move) => move.transposition)) legend.push("Grey, with ↝: nobody stored the move, but it leads into the book.");
    return el("p", { class: "hint", id: `hint-${book.book}` }, legend.join(" "));
  }

  row(book, move, others, uci) {
    if (!move) {
      const san = this.view.legal.find((legal) => legal.uci === uci)?.san ?? uci;
      return el("tr", { class: "missing differs" }, el("th", { scope: "row", class: "move" }, el("span", { class: "differ", "aria-hidden": "true" }, "≠"), ` ${san}`),
        el("td", { colspan: COLUMNS.length - 1 + (book.editable ? 1 : 0) }, "not in this book"));
    }
    const differs = others ? disagreement(move, others.get(uci)) : "";
    const classes = [move.mark, move.transposition && "transposition", move.not_played && "out", differs && "differs"].filter(Boolean);
    const cell = (kind, text, title) => el("td", { class: kind, title }, text);
    return el("tr", { class: classes.join(" "), "data-uci": uci },
      el("th", { scope: "row", class: "move" },
        markSign(move.mark),
        el("button", {
          type: "button", class: "move", tabindex: "-1", "data-uci": uci, "data-book": book.book, title: move.not_played ? `Not played: ${move.not_played}` : null,
          onclick: () => this.play(uci),
        }, move.transposition ? "↝\u202f" : "", move.san, el("span", { class: "sign" }, move.annotation)),
        comment(move.commentary),
        differs ? el("span", { class: "differ", title: differs, role: "img", "aria-label": `differs: ${differs}` }, "≠") : null),
      cell("n", move.stored_weight === undefined ? grouped(move.games) : `w ${grouped(move.stored_weight)}`, move.stored_weight === undefined ? null : "weight in the Polyglot book"),
      cell("score", move.score === null ? "–" : (100 * move.score).toFixed(1)),
      cell("av", rounded(move.average_elo)),
      cell("perf", rounded(move.performance)),
      move.priority === undefined ? cell("fact", signed(move.factor)) : cell("fact", `p ${move.priority}`, "priority in the Arena book"),
      el("td", { class: "prob", title: move.not_played ? `Not played: ${move.not_played}` : null }, ...chance(move)),
      el("td", { class: "results" }, results(move)),
      book.editable ? el("td", { class: "edit" }, el("button", {
        type: "button", class: "quiet", "aria-label": `Change ${move.san}`, title: "Mark, annotation, factor (E)", onclick: () => this.edit(book, move),
      }, "✎")) : null);
  }

  button(book, uci) {
    if (!uci) return null;
    return this.place.querySelector(`button.move[data-book="${CSS.escape(book)}"][data-uci="${CSS.escape(uci)}"]`);
  }

  /** The arrow on the board follows focus and pointer. */
  follow(event) {
    const uci = event.target.closest?.("tr[data-uci]")?.dataset.uci;
    if (!uci) return;
    if (event.type === "focusin") {
      for (const button of this.place.querySelectorAll("button.move")) button.tabIndex = -1;
      const button = event.target.closest("tr").querySelector("button.move");
      button.tabIndex = 0;
      this.chosen = uci;
    }
    this.point(uci);
  }

  /** Moves the choice up or down. */
  step(by) {
    const buttons = [...this.place.querySelectorAll("button.move")];
    if (buttons.length === 0) return;
    const now = buttons.indexOf(document.activeElement);
    const next = now < 0 ? (by > 0 ? 0 : buttons.length - 1) : Math.min(Math.max(now + by, 0), buttons.length - 1);
    buttons[next].focus();
  }

  /** Opens the dialog for the chosen move. */
  editChosen() {
    const row = document.activeElement?.closest?.("#books tr[data-uci]");
    const number = Number(row?.querySelector("button.move").dataset.book);
    const book = this.view.books.find((book) => book.book === number);
    const move = book?.moves.find((move) => move.uci === row.dataset.uci);
    if (move && book.editable) this.edit(book, move);
  }

  /** The likeliest move of the first book. */
  likeliest() {
    const moves = this.view?.books[0]?.moves ?? [];
    return moves.reduce((best, move) => (move.probability > (best?.probability ?? 0) ? move : best), null)?.uci ?? moves[0]?.uci;
  }
}
