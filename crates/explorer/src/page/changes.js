// Changes to books by this page, and their undo.

import { Gone, client, get, inTurn, post } from "./api.js";
import { by } from "./dom.js";
import { t, translated } from "./lang.js";
import { modal, say } from "./toast.js";
import { takesLines } from "./columns.js";
import * as trees from "./tree.js";

/** After this time in milliseconds the page shows that a change is running. */
const SOON = 500;

/** Greatest number of replaced trees that can be brought back. */
const MOST_TREES = 20;

/** The lines of a tree for the book, each with the annotations of its moves. */
export function linesOf(tree, ids) {
  return ids.map((id) => {
    const path = trees.path(tree, id).map((at) => trees.node(tree, at));
    return {
      play: path.map((move) => move.uci).join(","),
      signs: path.flatMap((move, index) => move.nags.filter((nag) => nag < 256).map((nag) => [index, nag])),
    };
  });
}

/** The last moves of all lines of a tree. */
export const ends = (tree) =>
  [...tree.nodes.values()].filter((one) => one.id !== 0 && one.children.length === 0).map((one) => one.id);

export class Changes {
  store;
  refresh;
  failed;

  /** `refresh` requests the shown data again; `failed` gets errors. */
  constructor(store, { refresh, failed }) {
    Object.assign(this, { store, refresh, failed });
    /** Changed books and, as states, trees that others have replaced; the last one last. */
    this.made = [];
    this.undone = [];
    /** Changes are sent in order, so that undo always concerns the last one. */
    this.turn = inTurn();
  }

  /** The shown place as requests name it: the page may show another one when the user answers a question. */
  place(at = this.store.state.at) {
    const { tree } = this.store.state;
    return { fen: tree.fen, play: trees.line(tree, at).join(",") };
  }

  /** Sends a change; if it is refused, the book may have changed since it was shown. */
  async send(path, body) {
    const timer = setTimeout(() => say(t("The book is being written…")), SOON);
    try {
      return await post(path, { client, ...body });
    } catch (error) {
      say("");
      if (!(error instanceof Gone)) await this.refresh();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Sends a change and shows the book anew. `written` is called between the two: a dialog that is closed then never
   * stands above a page that shows its change already, where it would swallow an undo.
   */
  async write(path, book, body, written = () => {}) {
    const done = await this.send(path, { book, ...body });
    if (done.is_step) this.made.push(book);
    this.undone.length = 0;
    written();
    await this.refresh();
    say(t`Saved: ${translated(done.last_change)}`);
  }

  /**
   * Changes the mark or another value of a move; `seen` has the values that the page shows. Changes of one `gesture`
   * are undone together.
   */
  mark({ book, move, place, seen }, what, value, gesture = null) {
    return this.turn(async () => {
      const edit = { ...place, uci: move.uci, change: what, value, seen: seen[what], gesture };
      await this.write("/api/edit", book, edit);
      seen[what] = value;
    });
  }

  /** Changes the mark of a shown move. */
  markMove(book, move, mark) {
    const [what, value] = book.most_weight === undefined ? ["mark", mark] : ["weight", "0"];
    return this.mark({ book: book.book, move, place: this.place(), seen: { mark: move.mark } }, what, value);
  }

  /** Why no shown book can be changed. */
  locked() {
    const { books = [] } = this.store.view ?? {};
    const reasons = books.filter((book) => book.locked).map((book) => `${book.name}: ${translated(book.locked)}`);
    return books.some((book) => book.editable) ? "" : reasons.join(" ");
  }

  sayLocked() {
    say(this.locked() || t("This cannot be changed in the book."), true);
  }

  /** The current view of a book for the move of a dialog, and the move if it is still there. */
  now({ book, move, place }) {
    return this.turn(async () => {
      const {
        books: [view],
      } = await get(
        "/api/position",
        new URLSearchParams({ books: book, play: place.play, ...(place.fen && { fen: place.fen }) }),
      );
      return { book: view, move: view.moves.find(({ uci }) => uci === move.uci) };
    });
  }

  /** The fields of a request to delete. */
  removal({ move, place }, below) {
    if (place.fen) throw new Error(t("Only lines from the usual first position can be deleted."));
    return { play: [place.play, move.uci].filter(Boolean).join(","), below };
  }

  /** The number of positions that a deletion removes from the book. */
  async count(entry, below) {
    return (await post("/api/count-removed", { client, book: entry.book, ...this.removal(entry, below) })).positions;
  }

  remove(entry, below, written) {
    const body = this.removal(entry, below);
    return this.turn(() => this.write("/api/remove", entry.book, body, written));
  }

  /** Adds the lines to these moves to the first book that accepts lines. */
  add(ids) {
    const book = this.store.view?.books.find(takesLines);
    const { tree } = this.store.state;
    if (book && ids.length)
      return this.turn(() => this.write("/api/add", book.book, { fen: tree.fen, lines: linesOf(tree, ids) }));
    say(
      book ? t("There is no move to add yet: play one.") : t("Lines cannot be added to any of the books shown."),
      true,
    );
    return undefined;
  }

  /** Adds a line from the position `fen`, and marks its last move as a main move. */
  addMain(book, fen, before, uci) {
    const play = before.join(",");
    return this.turn(async () => {
      await this.write("/api/add", book, { fen, lines: [{ play: [...before, uci].join(","), signs: [] }] });
      await this.write("/api/edit", book, { fen, play, uci, change: "mark", value: "main" });
    });
  }

  /** The book for marks: the first shown one that can be changed. */
  editable() {
    return this.store.view?.books.find((book) => book.editable);
  }

  openLine(id) {
    const book = this.editable();
    if (!book || id === 0) {
      say(book ? t("There is no line yet: play one.") : t("None of the books shown can be changed."), true);
      return;
    }
    this.marked = { book: book.book, place: this.place(id) };
    by("line-title").textContent = t`Marks for the whole line in ${book.name}`;
    // In a book with weights and no marks, "avoid" sets the weight 0.
    for (const option of by("line-mark").options)
      option.hidden = option.disabled = book.most_weight !== undefined && option.value !== "avoid";
    if (by("line-mark").selectedOptions[0].disabled) by("line-mark").value = "avoid";
    modal(by("line-dialog"));
  }

  markLine() {
    const { book, place } = this.marked;
    const body = { ...place, along: by("line-side").value, change: "mark", value: by("line-mark").value };
    return this.turn(() => this.write("/api/edit", book, body, () => by("line-dialog").close())).catch(this.failed);
  }

  /** The moves of a state were deleted or replaced. */
  lost(state) {
    this.made.push(state);
    const states = this.made.filter((one) => one.tree);
    if (states.length > MOST_TREES) this.made.splice(this.made.indexOf(states[0]), 1);
  }

  takeBack() {
    return this.turn(async () => {
      const last = this.made.at(-1);
      if (last?.tree) {
        this.made.pop();
        if (await this.store.want((from) => ({ ...from, tree: last.tree, at: last.at, tail: last.tail }), "again"))
          say(t("The moves are back."));
        return;
      }
      const book = this.made.at(-1) ?? this.store.view.books.find((one) => one.editable && one.undo > 0)?.book;
      if (book === undefined) return;
      const done = await this.send("/api/undo", { book });
      this.made.pop();
      if (done.taken_back) this.undone.push(book);
      await this.refresh();
      say(done.taken_back ? t`Undone: ${translated(done.taken_back)}` : t("There is nothing to undo."));
    }).catch(this.failed);
  }

  doAgain() {
    return this.turn(async () => {
      const book = this.undone.at(-1) ?? this.store.view.books.find((one) => one.redo > 0)?.book;
      if (book === undefined) return;
      const done = await this.send("/api/redo", { book });
      this.undone.pop();
      if (done.is_step) this.made.push(book);
      await this.refresh();
      say(t`Redone: ${translated(done.last_change)}`);
    }).catch(this.failed);
  }

  /** Shows the buttons for these books. */
  show(books) {
    const book =
      books.find(({ book: number }) => number === this.made.at(-1)) ?? books.find(({ editable }) => editable);
    by("undo").hidden = by("redo").hidden = !book?.editable;
    by("undo").disabled = !book?.undo;
    by("undo").title = book?.last_change ? t`Undo: ${translated(book.last_change)} (Ctrl+Z)` : t("Nothing to undo");
    by("redo").disabled = !book?.redo;
    by("locked").textContent = by("locked").title = this.locked();
    by("locked").hidden = !by("locked").textContent;
  }
}
