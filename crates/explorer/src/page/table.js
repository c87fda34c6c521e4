// The book table: the moves of one book in the position, or of two side by side.

import { by, decimal, el, fill, grouped, percent } from "./dom.js";
import {
  COLUMNS,
  amount,
  canChange,
  emptyColumns,
  matters,
  shortened,
  sorted,
  takesLines,
  totals,
  worthOf,
} from "./columns.js";
import { chips } from "./games.js";
import { english, lettered, openingName, storedJson, t, translated } from "./lang.js";
import { comment, markSign, results, signed, valueText } from "./icons.js";

const whole = (number) => (number === null || number === undefined ? "–" : Math.round(number).toString());

const cell = (kind, content, title = null) => el("td", { class: kind, title }, content);

/** How many games reach the position after a move, if some do by another order of moves. */
const reaching = ({ played = null, reached = null }) =>
  played !== null && reached > played ? t`${grouped(reached)} games reach the position after it` : null;

/** A table of rows of headings, bodies and one last row. */
const grid = (kind, heads, bodies, last) =>
  el("table", { class: kind }, el("thead", {}, ...heads), ...bodies, el("tfoot", {}, last));

const scored = ({ score }) => (score === null ? "–" : decimal(100 * score, 1));

export class Table {
  /** Called after the moves of another position have been drawn. */
  drawn = () => {};

  /** The running engine's values of the moves, by UCI notation; null if it is off. */
  values = null;

  /** What to write under the moves of a position about the user's own games: its FEN, and texts by the names of moves. */
  own = { fen: "", moves: new Map() };

  constructor() {
    this.place = by("books");
    this.sort = storedJson("sort", null);
    /** Whether the moves of only one book are shown, as the user chose. */
    this.open = new Map();
    /** Whether the board shows a later position than the table, whose answer has not come. */
    this.isPending = false;
  }

  /** Dims the figures of the last position while those of the shown one are on their way. */
  wait(isPending) {
    this.isPending = isPending;
    this.place.classList.toggle("pending", isPending);
    this.place.ariaBusy = String(isPending);
  }

  show(view, filter = this.filter) {
    this.filter = filter;
    const isNew = this.view?.fen !== view.fen;
    const focused = document.activeElement?.closest?.("#books button.move");
    const focusedMove = focused && { uci: focused.dataset.uci, same: !isNew };
    // Only if needed, because it forces a layout of all changes.
    if (this.scrolled && isNew) {
      this.place.scrollTop = 0;
      this.scrolled = false;
    }
    this.view = view;
    this.place.classList.toggle("two", view.books.length > 1);
    fill(
      this.place,
      ...this.filters(view.books),
      view.books.length > 1 ? this.pair(view.books) : this.single(view.books[0]),
    );
    const first = this.place.querySelector("button.move");
    if (first) first.tabIndex = 0;
    if (focusedMove) (this.button(focusedMove.same ? focusedMove.uci : null) ?? first)?.focus({ preventScroll: true });
    if (isNew) this.drawn();
  }

  /** The active filters for games of an index, and the shown books on which they do not act. */
  filters(books) {
    const notices = books
      .flatMap((book) => book.notice ?? [])
      .map((text) => el("li", { class: "hint" }, translated(text)));
    const { filter } = this;
    if (!Object.keys(filter ?? {}).length) return [];
    const others = books.filter((book) => !book.has_games).map((book) => book.name);
    if (others.length)
      notices.push(el("li", { class: "hint" }, t`No filter acts on ${others.join(", ")}: it keeps no games.`));
    return [el("ul", { class: "chips", "aria-label": t("Filters of games") }, ...chips(filter), ...notices)];
  }

  /** Why a book has no move here. */
  nothing(book) {
    const { end, at } = this.view;
    if (end) return end === "checkmate" ? t("Checkmate.") : t("Stalemate.");
    if (book.error) return translated(book.error);
    if (book.in_book) return t("The book’s line ends here.");
    if (book.has_games) return this.withoutGames(book);
    return at > 0
      ? t("This position is not in the book. ← goes back to where it was.")
      : t("This position is not in the book.");
  }

  empty(book) {
    const { end } = this.view;
    const adds = takesLines(book) && !book.in_book && !book.error && !end && this.view.at > 0;
    return el(
      "div",
      { class: `notice ${book.error ? "error" : ""}` },
      el("p", {}, this.nothing(book)),
      adds ? el("button", { type: "button", class: "add" }, t`Add the line to ${book.name}`) : null,
    );
  }

  /** Why an index has no game that goes on from the position. */
  withoutGames({ depth }) {
    if (this.view.at >= depth)
      return t`The index has the first ${depth} plies of each game, and this position is behind them.`;
    return Object.keys(this.filter ?? {}).length
      ? t("No game under these filters goes on from this position.")
      : t("No game of the index goes on from this position.");
  }

  /** The moves in the chosen order; with two books, `of` returns the move in the one that counts. */
  sorted(moves, of) {
    return sorted(moves, this.sort, (move) => this.worth(move), of);
  }

  /** The heading of a column, which sorts. */
  head(content, help, kind, side = 0) {
    const isSorted = this.sort?.kind === kind && (this.sort.side ?? 0) === side;
    const sorted = isSorted ? (this.sort.up ? "ascending" : "descending") : null;
    const button = { type: "button", class: "sort", title: help, "data-kind": kind, "data-side": side };
    return el(
      "th",
      { scope: "col", class: `${kind} ${side ? "b" : ""}`, "aria-sort": sorted },
      el("button", button, ...content, sorted && el("span", { "aria-hidden": "true" }, this.sort.up ? " ▴" : " ▾")),
    );
  }

  single(book) {
    if (book.moves.length === 0) return el("section", { class: "book", "aria-label": book.name }, this.empty(book));
    const { moves } = book;
    const all = moves.reduce((sum, move) => sum + amount(move), 0);
    // Empty columns are hidden.
    const hasValues = Boolean(this.values);
    const without = emptyColumns(moves, hasValues).map((kind) => `no-${kind}`);
    if (hasValues || moves.some((move) => move.evaluation !== undefined)) without.push("values");
    const named = {
      ...(moves.some((move) => move.stored_weight !== undefined) && { n: english("Weight") }),
      ...(moves.some((move) => move.priority !== undefined) && { learn: english("Priority") }),
    };
    const parts = ["w", "d", "b"].map((part) => el("span", { class: part }));
    const key = el("span", { class: "key", "aria-hidden": "true" }, ...parts);
    const heads = COLUMNS.map(([name, help, kind]) =>
      this.head(
        kind === "results" ? [el("span", { class: "word" }, translated(name)), key] : [translated(named[kind] ?? name)],
        translated(named[kind] ?? (help || english("By name"))),
        kind,
      ),
    );
    if (book.editable)
      heads.push(el("th", { scope: "col", class: "edit" }, el("span", { class: "unseen" }, t("Change"))));
    const body = el("tbody", {}, ...this.sorted(moves).map((move) => this.row(book, move, all)));
    const table = grid(without.join(" "), [el("tr", {}, ...heads)], [body], this.sum(book));
    return el("section", { class: "book", "aria-label": book.name }, table);
  }

  /** The sums of all moves of a book. */
  totals(book) {
    const { amount: all, score, probability } = totals(book, this.view.turn);
    return {
      n: grouped(all),
      score: scored({ score }),
      prob: probability === null ? "–" : this.share(probability, 0),
    };
  }

  sum(book) {
    const cells = this.totals(book);
    return el(
      "tr",
      {},
      el("th", { scope: "row", class: "move" }, `${t("Position")} `, comment(book.commentary)),
      ...COLUMNS.slice(1).map(([, , kind]) =>
        cell(kind, kind === "results" && book.in_book ? results(book) : (cells[kind] ?? "")),
      ),
      book.editable ? cell("edit") : null,
    );
  }

  moveCell(move) {
    const { opening } = this.view;
    const name = move.opening && move.opening.name !== opening?.name ? move.opening.name : "";
    const own = this.own.fen === this.view.fen && this.own.moves.get(move.san);
    const below = [own, openingName(shortened(name, opening?.name ?? ""))].filter(Boolean);
    const full = [own, openingName(name)].filter(Boolean).join(" · ");
    const leads = { class: "leads", title: t("This move is not stored, but leads to a position of the book") };
    return el(
      "th",
      { scope: "row", class: "move" },
      markSign(move.mark),
      el(
        "button",
        { type: "button", class: "move", tabindex: "-1", "data-uci": move.uci },
        move.transposition ? el("span", leads, "↝\u202f") : "",
        lettered(move.san),
        el("span", { class: "sign" }, move.annotation),
      ),
      comment(move.commentary),
      below.length ? el("span", { class: "name", title: full }, below.join(" · ")) : null,
    );
  }

  row(book, move, all) {
    const classes = [move.mark, move.transposition && "transposition", move.not_played && "out"]
      .filter(Boolean)
      .join(" ");
    const n = amount(move);
    return el(
      "tr",
      { class: classes, "data-uci": move.uci },
      this.moveCell(move),
      cell("n", grouped(n), reaching(move)),
      cell("share", all > 0 ? percent(n / all, n / all < 0.1 ? 1 : 0) : "–"),
      cell("score", scored(move)),
      cell("eval", this.evaluation(move)),
      cell("av", whole(move.average_elo)),
      cell("perf", whole(move.performance)),
      cell("learn", move.priority ?? signed(move.learn_value)),
      this.chance(move),
      cell("results", results(move)),
      book.editable ? cell("edit", this.pencil(book, move, lettered(move.san))) : null,
    );
  }

  /** The value of a move for White, in centipawns: from the running engine, or from the evaluations of the book. */
  value(move) {
    const live = this.values?.get(move.uci);
    if (live) return live;
    if (move.evaluation === undefined) return null;
    return { cp: this.view.turn === "white" ? move.evaluation : -move.evaluation };
  }

  /** The value as a number for sorting, for the player of the move. */
  worth(move) {
    const value = this.value(move);
    return value && worthOf(value, this.view.turn);
  }

  evaluation(move, unknown = "–") {
    const value = this.value(move);
    return value ? valueText(value) : unknown;
  }

  /** A button that opens the dialog to change `what`, if anything can be changed. */
  pencil(book, move, what) {
    if (!canChange(book, move)) return null;
    const title = book.most_weight === undefined ? t("Mark, annotation, learn value (E)") : t("Weight (E)");
    const names = { title, "aria-label": t`Change ${what}` };
    return el("button", { type: "button", class: "quiet pencil", "data-book": book.book, ...names }, "✎");
  }

  /** A share in per cent; the per cent sign may be hidden if there is little space. */
  share(of, digits = 1) {
    return el("span", {}, decimal(100 * of, digits), el("span", { class: "unit" }, "\u202f%"));
  }

  chance(move, pencil = null) {
    const bar = el("span", { class: "chance", "aria-hidden": "true" });
    bar.style.width = `${100 * move.probability}%`;
    const number = { class: "number", "data-probability": move.probability };
    const shown = el("span", number, move.not_played ? "–" : this.share(move.probability));
    const reason = move.not_played && el("span", { class: "reason" }, t`not played: ${translated(move.reason)}`);
    return el("td", { class: "prob" }, bar, shown, reason, pencil);
  }

  /** The share for one of two books, with its pencil. */
  chanceIn(book, move) {
    return this.chance(move, this.pencil(book, move, t`${lettered(move.san)} in ${book.name}`));
  }

  /** Two books in one table: a pair of columns for games, score and probability. */
  pair([a, b]) {
    const error = [a, b]
      .filter((book) => book.error)
      .map((book) => el("p", { class: "notice error" }, `${book.name}: ${translated(book.error)}`));
    const of = (book) => new Map(book.moves.map((move) => [move.uci, move]));
    const [first, second] = [of(a), of(b)];
    const shared = a.moves.filter((move) => second.has(move.uci));
    const only = (book, other) => book.moves.filter((move) => !other.has(move.uci));
    /** @type {[string, string, string][]} */
    const kinds = [
      ["n", english("N"), english("Games")],
      ["score", english("%"), english("Score")],
      ["prob", english("Prob"), english("Probability")],
    ];
    const ofSide = (move) => (this.sort?.side ? second.get(move.uci) : move);
    /** @type {(column: string[], book: any, side: number) => Element} */
    const head = ([kind, short], book, side) =>
      this.head([el("span", { class: "kind" }, `${translated(short)} `), "AB"[side]], book.name, kind, side);
    const sums = [a, b].map((book) => this.totals(book));
    const body = [
      el("tbody", {}, ...this.sorted(shared, ofSide).map((move) => this.pairRow(a, b, move, second.get(move.uci)))),
      ...this.lone(a, only(a, second), 0),
      ...this.lone(b, only(b, first), 1),
    ];
    const titles = kinds.map(([, , name]) => el("th", { scope: "colgroup", colspan: 2 }, translated(name)));
    const heads = kinds.flatMap((kind) => [head(kind, a, 0), head(kind, b, 1)]);
    const rows = [
      el("tr", { class: "kinds" }, el("td", {}), ...titles),
      el("tr", {}, this.head([t("Move")], t("By name"), "move"), ...heads),
    ];
    const figures = kinds.flatMap(([kind]) => sums.map((cells) => cell(kind, cells[kind])));
    const last = el("tr", {}, el("th", { scope: "row", class: "move" }, t("Position")), ...figures);
    const isEmpty = a.moves.length + b.moves.length === 0 && error.length === 0;
    const shown = isEmpty ? this.empty(a) : grid(null, rows, body, last);
    return el("section", { class: "book pair", "aria-label": t("Two books") }, ...error, shown);
  }

  pairRow(a, b, move, other) {
    // Only what makes the books play differently is coloured.
    const tint = (cell, differs, why) => {
      if (!differs) return cell;
      cell.classList.add("differs");
      cell.title = why;
      return cell;
    };
    const marks = [move.mark, other.mark];
    const areOpposed = marks.includes("main") && marks.includes("avoid");
    const isPlayedByOne = move.probability > 0 !== other.probability > 0;
    const head = this.moveCell(move);
    if (move.mark !== other.mark || move.annotation !== other.annotation) {
      const otherSigns = [
        other.mark !== "none" && markSign(other.mark),
        other.annotation || (other.mark === "none" && t("none")),
      ].filter(Boolean);
      head.querySelector("button").after(el("span", { class: "other" }, "B: ", ...otherSigns));
      tint(head, areOpposed, t("main in one book, to avoid in the other"));
    }
    head.querySelector("button").after(el("span", { class: "worth" }, this.evaluation(move, "")));
    const games = (one, side) => cell(`n ${side}`, grouped(amount(one)));
    const score = (one, side) => cell(`score ${side}`, scored(one));
    const chance = (book, one) => tint(this.chanceIn(book, one), isPlayedByOne, t("only one of the books plays it"));
    return el(
      "tr",
      { "data-uci": move.uci, class: move.mark },
      head,
      games(move, "a"),
      games(other, "b"),
      score(move, "a"),
      score(other, "b"),
      chance(a, move),
      chance(b, other),
    );
  }

  /** The moves that only one of two books has, folded unless one of them is important. */
  lone(book, moves, side) {
    if (moves.length === 0) return [];
    const letter = "AB"[side];
    const rows = el(
      "tbody",
      { hidden: !(this.open.get(letter) ?? moves.some(matters)) },
      ...moves.map((move) => {
        const cells = [cell("n", grouped(amount(move))), cell("score", scored(move)), this.chanceIn(book, move)];
        const both = cells.flatMap((one) => (side ? [cell("blank", ""), one] : [one, cell("blank", "")]));
        return el("tr", { "data-uci": move.uci, class: `lone ${move.mark}` }, this.moveCell(move), ...both);
      }),
    );
    const button = el(
      "button",
      { type: "button", class: "quiet fold", "data-letter": letter, "aria-expanded": String(!rows.hidden) },
      t`Only in ${letter} (${moves.length})`,
    );
    return [el("tbody", {}, el("tr", { class: "group" }, el("th", { scope: "rowgroup", colspan: 7 }, button))), rows];
  }

  button(uci) {
    return uci ? this.place.querySelector(`button.move[data-uci="${CSS.escape(uci)}"]`) : null;
  }
}
