// Changes to books that this page makes, and the way back.

import { client, post } from "./api.js";
import { by } from "./dom.js";
import { linesOf } from "./edit.js";
import { t, told } from "./lang.js";
import { modal, say } from "./say.js";
import { takesLines } from "./table.js";
import * as trees from "./tree.js";

export class Changes {
  /** `refresh` asks for what is shown anew; `failed` takes what went wrong. */
  constructor(store, { refresh, failed }) {
    Object.assign(this, { store, refresh, failed });
    /** Books that were changed, the last one last. */
    this.made = [];
    this.undone = [];
  }

  /** The moves from the first position to the one that is shown. */
  line() {
    const { tree, at } = this.store.state;
    return trees.path(tree, at).map((id) => trees.node(tree, id).uci);
  }

  async write(path, book, body) {
    const done = await post(path, { book, client, ...body });
    this.made.push(book);
    this.undone.length = 0;
    await this.refresh();
    say(t`Saved: ${told(done.last_change)}`);
  }

  /** Another mark, or whatever else stands beside a move; `seen` is what the page showed. */
  mark(book, move, what, value, seen) {
    return this.write("/api/edit", book, { fen: this.store.state.tree.fen, play: this.line().join(","), uci: move.uci, change: what, value, seen });
  }

  remove(book, move, below) {
    if (this.store.state.tree.fen) throw new Error(t("Only lines from the usual first position can be deleted."));
    return this.write("/api/remove", book, { play: [...this.line(), move.uci].join(","), below });
  }

  /** The lines to these moves of the tree, into the first book that takes lines. */
  add(ids) {
    const book = this.store.view?.books.find(takesLines);
    const { tree } = this.store.state;
    if (book && ids.length) return this.write("/api/add", book.book, { fen: tree.fen, lines: linesOf(tree, ids) });
    say(book ? t("There is no move to add yet: play one.") : t("No book that is shown takes lines."), true);
    return undefined;
  }

  /** The book that is marked: the first shown that can be. */
  editable() {
    return this.store.view?.books.find((book) => book.editable);
  }

  openLine() {
    const book = this.editable();
    if (!book || this.store.state.at === 0) { say(book ? t("There is no line yet: play one.") : t("No book that is shown can be changed."), true); return; }
    by("menu-dialog").close();
    by("line-title").textContent = t`Marks for the whole line in ${book.name}`;
    // Where there are weights and no marks, avoiding is weight 0.
    for (const option of by("line-mark").options) option.hidden = option.disabled = book.most_weight !== undefined && option.value !== "avoid";
    if (by("line-mark").selectedOptions[0].disabled) by("line-mark").value = "avoid";
    modal(by("line-dialog"));
  }

  async markLine() {
    try {
      const body = { fen: this.store.state.tree.fen, play: this.line().join(","), along: by("line-side").value, change: "mark", value: by("line-mark").value };
      await this.write("/api/edit", this.editable().book, body);
      by("line-dialog").close();
    } catch (error) { this.failed(error); }
  }

  async takeBack() {
    const book = this.made.at(-1) ?? this.store.view.books.find((one) => one.editable && one.undo > 0)?.book;
    if (book === undefined) return;
    try {
      const done = await post("/api/undo", { book, client });
      this.made.pop();
      if (done.taken_back) this.undone.push(book);
      await this.refresh();
      say(done.taken_back ? t`Taken back: ${told(done.taken_back)}` : t("There is nothing to take back."));
    } catch (error) { this.failed(error); }
  }

  async doAgain() {
    const book = this.undone.at(-1) ?? this.store.view.books.find((one) => one.redo > 0)?.book;
    if (book === undefined) return;
    try {
      const done = await post("/api/redo", { book, client });
      this.undone.pop();
      this.made.push(book);
      await this.refresh();
      say(t`Done again: ${told(done.last_change)}`);
    } catch (error) { this.failed(error); }
  }

  /** The buttons that a page with these books has. */
  show(books) {
    const book = books.find(({ book: number }) => number === this.made.at(-1)) ?? books.find(({ editable }) => editable);
    by("undo").hidden = by("redo").hidden = by("book-menu").hidden = !book?.editable;
    by("add-line").hidden = by("add-tree").hidden = !books.some(takesLines);
    by("undo").disabled = !book?.undo;
    by("undo").title = book?.last_change ? t`Take back: ${told(book.last_change)} (Ctrl+Z)` : t("Nothing to take back");
    by("redo").disabled = !book?.redo;
  }
}
