// The list of work on a book: positions without an answer, moves in which another book or the user's games differ from
// it, answers that are not decided, and marks. The program finds them from the shown position on, with how often each
// comes up and what it costs; each row leads there, or makes the change.

import { parameters } from "./address.js";
import { newest, receive } from "./api.js";
import { MARKS, takesLines } from "./columns.js";
import { openMenu } from "./context.js";
import { by, chooseFiles, decimal, el, gamesText, grouped, percent } from "./dom.js";
import { valueText } from "./icons.js";
import { english, keep, lettered, openingName, stored, t, translated } from "./lang.js";
import { toPgn } from "./pgn.js";
import { saveText } from "./share.js";
import * as tabs from "./tabs.js";
import { attempt, say } from "./toast.js";
import * as trees from "./tree.js";

/** Greatest number of suggested player names. */
const MOST_NAMES = 20;

/** Rows that are shown at once. */
const PAGE = 100;

/** The kinds of rows, as the program names them. */
const KINDS = {
  unanswered: english("No answer"),
  departure: english("My games"),
  difference: english("Differences"),
  undecided: english("Not decided"),
  end: english("Ends"),
  marked: english("Marks"),
};

/** The points that a row costs in a hundred games; null if that is unknown. */
export const lost = ({ frequency, cost }) => (cost && frequency !== null ? 100 * frequency * cost.score : null);

/**
 * The columns: name, heading, explanation, sort value.
 * @type {[string, string, string, (row: any) => any][]}
 */
const COLUMNS = [
  ["what", english("What"), english("By kind"), (row) => Object.keys(KINDS).indexOf(row.kind)],
  ["often", english("Often"), english("Share of the games that come here"), (row) => row.frequency],
  [
    "cost",
    english("Cost"),
    english("Points of a hundred that the move costs each time"),
    (row) => row.cost?.score ?? null,
  ],
  ["lost", english("Lost"), english("Points lost in a hundred games: how often, times the cost"), lost],
];

/** The rows in the order of a column; of equal ones the order stays, and unknown values come last. */
export function sorted(rows, { kind, up }) {
  const [, , , key] = COLUMNS.find(([name]) => name === kind);
  return rows
    .map((row) => [key(row), row])
    .sort(([a], [b]) => {
      if (a === null || b === null) return Number(a === null) - Number(b === null);
      return up ? a - b : b - a;
    })
    .map(([, row]) => row);
}

/** The next order after a click on a column: names begin with the first, figures with the greatest. */
export const nextOrder = ({ kind, up }, clicked) => ({
  kind: clicked,
  up: clicked === kind ? !up : clicked === "what",
});

/** The players of PGN games, most games first. */
export function playersOf(text) {
  const games = new Map();
  for (const [, name] of text.matchAll(/^\[(?:White|Black) "(.*)"\]/gm))
    if (name && name !== "?") games.set(name, (games.get(name) ?? 0) + 1);
  return [...games].sort(([, a], [, b]) => b - a).map(([name]) => name);
}

/** A move of a colour with its share and its value for White, if known. */
function named({ san, share, value }, colour) {
  const cp = value === undefined ? null : colour === "white" ? value : -value;
  const known = [share && percent(share, 0), cp !== null && valueText({ cp, mate: undefined })].filter(Boolean);
  return lettered(san) + (known.length ? ` (${known.join(", ")})` : "");
}

const turnOf = ({ fen }) => (fen.split(" ")[1] === "w" ? "white" : "black");

/** Greatest number of letters of a line in a row. */
const LINE = 44;

/** The end of a line, which tells more than its beginning. */
const endOf = (line) => (line.length > LINE ? `… ${line.slice(line.indexOf(" ", line.length - LINE) + 1)}` : line);

/** What a row is about, in a few words. */
function textOf(row) {
  const turn = turnOf(row);
  const move = row.move && named(row.move, turn);
  const answers = row.book.map((one) => named(one, turn)).join(", ");
  const last = row.moves.length ? lettered(row.moves.at(-1).san) : t("Start");
  const texts = {
    unanswered: () => (move ? t`No answer to ${last}; elsewhere ${move}` : t`No answer to ${last}`),
    end: () => t`The line ends after ${last}`,
    undecided: () => t`Several main moves: ${answers}`,
    marked: () =>
      ({ main: () => t`Main move: ${move}`, avoid: () => t`To avoid: ${move}`, none: () => t`Annotated: ${move}` })[
        row.mark
      ](),
    difference: () =>
      ({
        first: () => t`Only in A: ${move}; B plays ${row.cost ? lettered(row.cost.better.san) : "–"}`,
        second: () => t`Only in B: ${move}; A plays ${answers || "–"}`,
        both: () => t`Marked differently: ${move}`,
      })[row.has](),
    departure: () =>
      ({
        player: () => t`You: ${move}, the book: ${answers}`,
        opponent: () => {
          const played = named(row.after, turn === "white" ? "black" : "white");
          return move ? t`The opponent: ${played}, you then: ${move}` : t`The opponent: ${played}`;
        },
        book: () => t`No answer in the book; you: ${move}`,
      })[row.by](),
  };
  return texts[row.kind]();
}

/** A field of a CSV file. */
const quoted = (value) => `"${String(value ?? "").replaceAll('"', '""')}"`;

/** The rows as CSV. */
export function toCsv(rows, sources) {
  const head = ["kind", "line", "fen", "move", "book", "frequency", "cost", "centipawns", "source", "lost"];
  const fields = (row) => [
    row.kind,
    row.line,
    row.fen,
    row.move?.san,
    row.book.map(({ san }) => san).join(" "),
    row.frequency,
    row.cost?.score,
    row.cost?.centipawns,
    row.cost && sources[row.cost.source],
    lost(row),
  ];
  return [head, ...rows.map(fields)].map((one) => one.map(quoted).join(",")).join("\r\n") + "\r\n";
}

/** The rows as games in PGN: the line and the move, with what it is about as a comment. */
export function allAsPgn(rows, start, text) {
  const game = (row) => {
    const moves = row.move ? [...row.moves, row.move] : row.moves;
    const [tree, at] = trees.fromMoves(start, moves);
    return toPgn({ ...trees.note(tree, at, { comment: text(row), nags: [] }), tags: [["Event", row.kind]] });
  };
  return rows.map(game).join("\n");
}

export class Work {
  now;
  cards;
  load;
  point;
  write;
  mark;
  indexed;
  trained;

  /**
   * `now()` returns the shown state and its answer; `cards` are those of the training, and `trained()` is called when
   * one was added; `load(text)` shows a line, `point(uci)` a move on the board; `write(book, play, uci)` adds a line and
   * its last move as a main move; `mark(book, row, mark)` changes a mark; `indexed()` promises whether there is an index.
   */
  constructor(parts) {
    Object.assign(this, parts);
    /** The games of chosen files. */
    this.text = "";
    this.order = { kind: "lost", up: false };
    this.hidden = new Set();
    this.asked = newest();
    this.limit = PAGE;
    this.table = by("work-table");
    by("mine-name").value = stored("mine-name", "");
    chooseFiles("mine-open", "mine-file", (files) => attempt(() => this.read(files)));
    by("work-form").addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(() => this.list(this.now().state));
    });
    for (const id of ["work-colour", "mine-name"]) by(id).addEventListener("change", () => attempt(() => this.again()));
    by("work-colour").addEventListener("change", () => keep("train-colour", by("work-colour").value));
    by("work-start").addEventListener("click", () => attempt(() => this.list(this.fromStart())));
    by("work-stop").addEventListener("click", () => this.end());
    by("work-more").addEventListener("click", () => {
      this.limit += PAGE;
      this.draw();
    });
    by("work-csv").addEventListener("click", () =>
      saveText(toCsv(this.rows, this.found.sources), "text/csv", "work.csv"),
    );
    by("work-pgn").addEventListener("click", () =>
      saveText(allAsPgn(this.rows, this.of.start, textOf), "application/x-chess-pgn", "work.pgn"),
    );
    by("work-kinds").addEventListener("click", ({ target }) => {
      const { kind } = target.closest("button")?.dataset ?? {};
      if (!kind) return;
      if (!this.hidden.delete(kind)) this.hidden.add(kind);
      this.draw();
      by("work-kinds").querySelector(`[data-kind="${kind}"]`)?.focus();
    });
    this.table.addEventListener("click", (event) => this.clicked(event));
    this.table.addEventListener("keydown", (event) => this.pressed(event));
    tabs.whenShown("work", () => attempt(() => this.shown()));
    const panel = by("work-panel");
    panel.addEventListener("drop", (event) => {
      const files = [...(event.dataTransfer?.files ?? [])];
      if (!files.length) return;
      event.preventDefault();
      event.stopPropagation();
      attempt(() => this.read(files));
    });
    panel.addEventListener("paste", (event) => {
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (!playersOf(text).length) return;
      event.preventDefault();
      event.stopPropagation();
      attempt(() => this.take(text));
    });
  }

  /** The state at the first position of the shown line. */
  fromStart() {
    const { state } = this.now();
    return { ...state, at: 0 };
  }

  /** The panel or another position is shown: the list is made if there is none of the shown books. */
  async shown() {
    const { state, view } = this.now();
    if (!tabs.isShown("work") || !view) return;
    if (!this.of) by("work-colour").value = stored("train-colour", state.flip ? "black" : "white");
    const books = view.books.map(({ name }) => name).join("/");
    if (books !== this.of?.books) await this.list(this.fromStart());
    else if (this.found && view.changes !== this.of.changes) this.tell();
  }

  /** Lists the same again, for another colour or player. */
  async again() {
    const player = by("mine-name").value.trim();
    keep("mine-name", player);
    if (this.of) await this.list(this.of.state);
  }

  async read(files) {
    await this.take((await Promise.all(files.map((file) => file.text()))).join("\n\n"));
  }

  /** Compares games: they stay until others are chosen. */
  async take(text) {
    this.text = text;
    const names = playersOf(text);
    by("mine-names").replaceChildren(...names.slice(0, MOST_NAMES).map((value) => el("option", { value })));
    // The player with the most games is probably the user.
    if (!names.includes(by("mine-name").value)) by("mine-name").value = names[0] ?? "";
    keep("mine-name", by("mine-name").value);
    await this.list(this.of?.state ?? this.fromStart());
    by("work-message").focus({ preventScroll: true });
  }

  /** Requests the list from the position of a state on. */
  async list(state) {
    const isNewest = this.asked();
    this.stop?.abort();
    const stop = (this.stop = new AbortController());
    if (this.found) this.before ??= this.of;
    const { view } = this.now();
    const [book] = view.books;
    const colour = by("work-colour").value;
    const player = by("mine-name").value.trim();
    const of = {
      state,
      colour,
      book,
      books: view.books.map(({ name }) => name).join("/"),
      changes: view.changes,
      start: state.tree.fen,
    };
    this.of = of;
    const query = parameters(state);
    query.set("color", colour);
    if (player && (this.text || (await this.indexed()))) query.set("player", player);
    const moves = this.cards.chosen(book.deck, colour);
    by("work-message").textContent = t("The book is being searched…");
    by("work-table").setAttribute("aria-busy", "true");
    by("work-stop").hidden = false;
    try {
      const body = this.text || moves.length ? { pgn: this.text, moves } : null;
      const found = await receive(`/api/work?${query}`, body, stop.signal);
      if (!isNewest()) return;
      this.found = found;
      this.before = null;
      this.limit = PAGE;
      this.done = new Set();
      this.current = null;
      this.tell();
      this.draw();
    } catch (error) {
      if (!isNewest()) return;
      this.of = null;
      by("work-message").textContent = "";
      throw error;
    } finally {
      if (stop === this.stop) this.rest();
    }
  }

  rest() {
    by("work-table").removeAttribute("aria-busy");
    by("work-stop").hidden = true;
  }

  /** Ends the search: the list that was there stays. */
  end() {
    this.asked();
    this.stop.abort();
    this.rest();
    if (this.before) {
      this.of = this.before;
      this.before = null;
      by("work-colour").value = this.of.colour;
      this.tell();
    } else by("work-message").textContent = "";
    by("work-here").focus();
  }

  /** Says what was found, and what was left out. */
  tell() {
    const { items, left_out: out, is_complete: isComplete, games, unread } = this.found;
    const { changes } = this.now().view;
    const texts = [
      items.length ? t`${grouped(items.length)} places` : t("There is nothing to do."),
      out && t`left out, of lower rank: ${grouped(out)}`,
      !isComplete && t("only the likeliest positions were searched"),
      games !== null && t`${gamesText(games)} of ${by("mine-name").value.trim()} compared`,
      unread && t`${gamesText(unread)} could not be read`,
      changes !== this.of.changes && t("the book has changed since"),
    ];
    const { state } = this.of;
    if (state.at) texts.push(t`from ${lettered(trees.node(state.tree, state.at).san)} on`);
    by("work-message").textContent = texts.filter(Boolean).join(" · ");
  }

  /** The rows of the chosen kinds, in their order. */
  get rows() {
    const items = this.found?.items ?? [];
    return sorted(
      items.filter(({ kind }) => !this.hidden.has(kind)),
      this.order,
    );
  }

  draw() {
    const { items } = this.found;
    const counts = Object.keys(KINDS).map((kind) => [kind, items.filter((row) => row.kind === kind).length]);
    by("work-kinds").replaceChildren(
      ...counts
        .filter(([, count]) => count)
        .map(([kind, count]) => {
          const chip = {
            type: "button",
            class: "chip",
            "data-kind": kind,
            "aria-pressed": String(!this.hidden.has(kind)),
          };
          return el("button", chip, `${translated(KINDS[kind])} ${grouped(count)}`);
        }),
    );
    const { rows } = this;
    by("work-saves").hidden = !rows.length;
    by("work-more").hidden = rows.length <= this.limit;
    const heads = COLUMNS.map(([name, text, help]) => {
      const isSorted = name === this.order.kind;
      const sort = isSorted ? (this.order.up ? "ascending" : "descending") : null;
      const sign = isSorted && el("span", { "aria-hidden": "true" }, this.order.up ? " ▴" : " ▾");
      const sorter = { type: "button", class: "sort", title: translated(help), "data-sort": name };
      const cell = { role: "columnheader", scope: "col", class: name, "aria-sort": sort };
      return el("th", cell, el("button", sorter, translated(text), sign));
    });
    heads.push(el("th", { role: "columnheader", class: "acts" }, el("span", { class: "unseen" }, t("Change"))));
    this.table.replaceChildren(
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...heads)),
      el("tbody", { role: "rowgroup" }, ...rows.slice(0, this.limit).map((row) => this.row(row))),
    );
    this.table.hidden = !rows.length;
  }

  row(row) {
    const names = new Map(COLUMNS.map(([kind, text]) => [kind, translated(text)]));
    const cell = (kind, content, title = null) =>
      el("td", { role: "cell", class: kind, title, "data-name": names.get(kind) }, content);
    const { cost, frequency } = row;
    const about = [
      row.games && gamesText(row.games),
      row.score !== undefined && row.score !== null && percent(row.score, 0),
      row.opening && `${row.eco} ${openingName(row.opening)}`,
      lettered(endOf(row.line)),
    ];
    const unknown =
      turnOf(row) === this.of.colour
        ? t("No open book has an evaluation, or results of ten games, for both moves")
        : t("What a move of the opponent costs is unknown");
    const points = lost(row);
    const isDone = this.done.has(row);
    return el(
      "tr",
      { role: "row", class: isDone ? "done" : null, "aria-current": row === this.current ? "true" : null },
      el(
        "th",
        { role: "rowheader", scope: "row", class: "what" },
        el(
          "button",
          { type: "button", class: "go", title: `${t("Go there")}: ${lettered(row.line)}` },
          el("span", {}, textOf(row)),
          el("span", { class: "hint" }, about.filter(Boolean).join(" · ")),
        ),
      ),
      cell(
        "often",
        frequency === null ? "?" : percent(frequency, frequency < 0.1 ? 2 : 1),
        frequency === null ? t("It is unknown how often this comes up") : null,
      ),
      cell("cost", cost ? decimal(100 * cost.score, 1) : "?", cost ? this.whyOf(row) : unknown),
      cell("lost", points === null ? "?" : decimal(points, 2), cost ? null : unknown),
      el("td", { role: "cell", class: "acts" }, ...this.acts(row, isDone)),
    );
  }

  /** By what figures a row costs that much. */
  whyOf({ cost, move }) {
    const source = this.found.sources[cost.source];
    const than = move ? lettered(move.san) : t("the others");
    const better = lettered(cost.better.san);
    return cost.centipawns === null
      ? t`${better} against ${than}: results of ${gamesText(cost.games)} in ${source}`
      : t`${better} against ${than}: ${decimal(cost.centipawns / 100, 2)} pawns by the evaluations of ${source}`;
  }

  /** The buttons of a row: what can be done with it. */
  acts(row, isDone) {
    const { book, colour } = this.of;
    const act = (what, text, label) =>
      el("button", { type: "button", class: "quiet", "data-act": what, "aria-label": label, disabled: isDone }, text);
    const isOwn = turnOf(row) === colour;
    return [
      row.move && row.mark === null && takesLines(book)
        ? act("add", t`Add ${lettered(row.move.san)}`, t`Add ${lettered(row.move.san)} to the book`)
        : null,
      row.move && row.mark !== null && takesLines(book)
        ? act("mark", t("Mark…"), t`Mark ${lettered(row.move.san)}…`)
        : null,
      isOwn && (row.book.length || isDone)
        ? act("train", t("Train"), t`Train the position after ${row.line || t("Start")}`)
        : null,
    ];
  }

  rowOf(element) {
    const tr = element.closest("tbody tr");
    return tr && this.rows[[...tr.parentNode.children].indexOf(tr)];
  }

  clicked(event) {
    const one = event.target.closest("button");
    if (!one) return;
    if (one.dataset.sort) {
      this.order = nextOrder(this.order, one.dataset.sort);
      this.draw();
      this.table.querySelector(`[data-sort="${one.dataset.sort}"]`).focus();
      return;
    }
    const row = this.rowOf(one);
    if (!row) return;
    const acts = {
      add: () => this.add(row),
      train: () => this.train(row, one),
      mark: () => this.askMark(row, one),
    };
    if (one.dataset.act) attempt(acts[one.dataset.act]);
    else attempt(() => this.go(row));
  }

  /** Arrow keys go from row to row, instead of along the moves of the book. */
  pressed(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const all = [...this.table.querySelectorAll("button.go")];
    const at = all.indexOf(event.target.closest("tr")?.querySelector("button.go"));
    all[Math.min(Math.max(at + step, 0), all.length - 1)]?.focus();
    event.preventDefault();
  }

  /** Goes to the row after the last one that was shown. */
  async next() {
    if (!this.found || !tabs.isShown("work")) tabs.choose("work");
    if (!this.found) return;
    const { rows } = this;
    const row = rows[rows.indexOf(this.current) + 1];
    if (!row) {
      say(t("The list of work ends here."));
      return;
    }
    await this.go(row);
  }

  /** Shows the position of a row, and its move on the board. */
  async go(row) {
    const moves = row.moves.map(({ uci }) => uci).join(" ");
    const { start } = this.of;
    const old = this.table.querySelector("[aria-current]");
    this.current = row;
    old?.removeAttribute("aria-current");
    const now = this.table.querySelectorAll("tbody tr")[this.rows.indexOf(row)];
    now?.setAttribute("aria-current", "true");
    now?.scrollIntoView({ block: "nearest" });
    const isShown = await this.load(start ? `position fen ${start} moves ${moves}` : moves || "startpos");
    if (isShown && row.move) this.point(row.move.uci);
  }

  /** The row is settled: its book has what it lacked. */
  settle(row) {
    this.done.add(row);
    const { rows } = this;
    const old = this.table.querySelectorAll("tbody tr")[rows.indexOf(row)];
    old?.replaceWith(this.row(row));
  }

  async add(row) {
    await this.write(
      this.of.book.book,
      this.of.start,
      row.moves.map(({ uci }) => uci),
      row.move.uci,
    );
    row.mark = "main";
    this.settle(row);
  }

  /** Asks for the new mark of the move of a row. */
  async askMark(row, one) {
    const { left: x, bottom: y } = one.getBoundingClientRect();
    const set = (mark) => () =>
      attempt(async () => {
        await this.mark(this.of.book, { row, start: this.of.start, mark });
        row.mark = mark;
        this.settle(row);
      });
    openMenu(
      { x, y },
      MARKS.map(([mark, text]) => [translated(text), set(mark)]),
    );
  }

  /** Makes a card of the position, which is due at once. */
  async train(row, one) {
    const { book, colour, start } = this.of;
    const line = row.moves.map(({ uci, san }) => ({ uci, san }));
    this.cards.want(this.cards.key(book.deck, colour, row.fen), { fen: start, line });
    this.trained();
    one.disabled = true;
    say(t("Added to the cards that are due."));
  }
}
