// What is open: the program's books, which can be closed and opened again, and
// files of games, which stay in the browser until they are closed.

import { by, el } from "./dom.js";
import { t } from "./lang.js";
import { modal } from "./say.js";

/** Bytes of a file of games. */
const MOST_BYTES = 50_000_000;

// No file's name has a "/".
const split = (text) => (text ? text.split("/") : []);

export class Shelf {
  failed;
  want;
  show;

  /** `want` takes a step to another state; `show` lists a file's games: its name and their text. */
  constructor({ want, show, failed }) {
    Object.assign(this, { want, show, failed });
    this.names = [];
    /** Text of files of games, by name. */
    this.files = new Map();
    for (const id of ["first-book", "second-book"]) by(id).addEventListener("change", () => this.choose());
    by("open-files").addEventListener("click", () => by("open-input").click());
    by("open-input").addEventListener("change", async () => {
      await this.take([...by("open-input").files]).catch(this.failed);
      by("open-input").value = "";
    });
  }

  /** The books that the program has. */
  offer(books) {
    this.names = books.map((book) => book.name);
  }

  /** Those that are open in a state. */
  open(state) {
    const closed = split(state.closed);
    return this.names.filter((name) => !closed.includes(name));
  }

  /** How a state names the books that it shows: none is the program's first. */
  named(books) {
    return books.length === 1 && books[0] === this.names[0] ? "" : books.join("/");
  }

  choose() {
    const books = [...new Set([by("first-book").value, by("second-book").value].filter(Boolean))];
    this.want((from) => ({ ...from, books: this.named(books) }));
  }

  /** Shows which books are open, and which of them are `shown`. */
  draw(state, shown) {
    if (!this.names.length) return;
    const open = this.open(state);
    const key = open.join("/");
    if (key !== this.drawn) {
      this.drawn = key;
      const choices = () => open.map((name) => el("option", { value: name }, name));
      by("first-book").replaceChildren(...choices());
      by("second-book").replaceChildren(el("option", { value: "" }, t("no other")), ...choices());
      by("second-choice").hidden = open.length < 2;
    }
    // The columns of two books are called as these.
    const isPair = shown.length > 1;
    for (const [id, letter, name] of [
      ["first-name", "A", t("Book")],
      ["second-name", "B", t("Compare with")],
    ]) {
      by(id).textContent = isPair ? letter : name;
      by(id).className = isPair ? "letter" : "";
    }
    by("first-book").value = shown[0];
    by("second-book").value = shown[1] ?? "";
    if (by("open-dialog").open) this.list(state);
  }

  list(state) {
    const open = this.open(state);
    const book = (name, index) => {
      const box = el("input", {
        type: "checkbox",
        id: `open-${index}`,
        checked: open.includes(name),
        disabled: open.length === 1 && open[0] === name,
        onchange: () => this.turn(name, box.checked),
      });
      return el("li", {}, box, el("label", { for: `open-${index}` }, name));
    };
    const focused = document.activeElement?.id;
    by("open-books").replaceChildren(...this.names.map(book));
    by("open-list").replaceChildren(
      ...[...this.files].map(([name, text]) =>
        el(
          "li",
          {},
          el(
            "button",
            {
              type: "button",
              class: "quiet",
              onclick: () => {
                by("open-dialog").close();
                this.show(name, text);
              },
            },
            name,
          ),
          el(
            "button",
            {
              type: "button",
              class: "quiet",
              "aria-label": t`Close ${name}`,
              onclick: () => {
                this.files.delete(name);
                this.list(state);
              },
            },
            t("Close"),
          ),
        ),
      ),
    );
    if (focused?.startsWith("open-")) by(focused)?.focus();
  }

  /** Opens a book again, or closes it; the last one stays. */
  turn(name, opens) {
    this.want((from) => {
      const closed = split(from.closed)
        .filter((other) => other !== name)
        .concat(opens ? [] : [name]);
      const open = this.open({ closed: closed.join("/") });
      if (!open.length) return null;
      const shown = (from.books ? split(from.books) : this.names.slice(0, 1)).filter((other) => open.includes(other));
      return { ...from, closed: closed.join("/"), books: this.named(shown.length ? shown : open.slice(0, 1)) };
    });
  }

  openDialog(state) {
    this.list(state);
    modal(by("open-dialog"));
  }

  /** Files that were chosen, or dropped on the page: the last of them is shown. */
  async take(files) {
    let last = null;
    for (const file of files) {
      if (/\.(ctg|cto|ctb|bin|abk)$/i.test(file.name))
        throw new Error(t`Books are named when the program is started: tabia explore ${file.name}`);
      if (file.size > MOST_BYTES)
        throw new Error(t("The file is too large for the page: tabia build makes a book of it."));
      last = [file.name, await file.text()];
      this.files.set(last[0], last[1]);
    }
    if (!last) return;
    try {
      await this.show(...last);
    } catch (error) {
      // Nothing that could be looked at again.
      this.files.delete(last[0]);
      throw error;
    }
    by("open-dialog").close();
  }
}
