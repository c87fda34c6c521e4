// The dialogs in which a book is changed: a move's marks, a line's marks, and
// what comes in or goes. Each change is written at once and can be taken back.

import { by, el } from "./dom.js";
import { lettered, t } from "./lang.js";
import { modal } from "./say.js";
import { OF_POSITIONS, offer } from "./signs.js";
import * as trees from "./tree.js";

const MARKS = [["main", "✓ Main (green)"], ["avoid", "✕ Avoid (red)"], ["none", "None"]];
const ANNOTATIONS = ["none", "!", "!!", "!?", "?!", "?", "??", "□"];

/** A tree as lines for the book, each with the signs of its moves. */
export function linesOf(tree, ids) {
  return ids.map((id) => {
    const path = trees.path(tree, id).map((at) => trees.node(tree, at));
    return { play: path.map((move) => move.uci).join(","), signs: path.flatMap((move, index) => move.nags.filter((nag) => nag < 256).map((nag) => [index, nag])) };
  });
}

/** The last moves of all lines of a tree. */
export const ends = (tree) => [...tree.nodes.values()].filter((one) => one.id !== 0 && one.children.length === 0).map((one) => one.id);

export class EditDialog {
  /** `change(entry, what, value)` and `remove(entry, below)` write and return a promise; `failed` takes what went wrong. */
  constructor(change, remove, failed) {
    Object.assign(this, { change, failed });
    this.dialog = by("edit-dialog");
    this.radios("edit-mark", "mark", MARKS);
    this.radios("edit-annotation", "annotation", ANNOTATIONS.map((sign) => [sign, sign === "none" ? "None" : sign]));
    const slider = by("edit-factor"), number = by("edit-factor-number");
    slider.addEventListener("input", () => { number.value = slider.value; });
    slider.addEventListener("change", () => this.write("factor", slider.value));
    number.addEventListener("change", () => {
      if (number.value === "" || !number.checkValidity()) return;
      slider.value = number.value;
      this.write("factor", number.value);
    });
    by("edit-weight").addEventListener("change", () => {
      const weight = by("edit-weight");
      if (weight.value !== "" && weight.reportValidity()) this.write("weight", weight.value);
    });
    by("edit-commentary").addEventListener("change", () => this.write("commentary", by("edit-commentary").value));
    for (const [id, below] of [["remove-move", false], ["remove-below", true]]) {
      by(id).addEventListener("click", async () => {
        const { entry } = this;
        try {
          await remove(entry, below);
          if (entry === this.entry) this.dialog.close();
        } catch (error) { failed(error); }
      });
    }
    this.dialog.addEventListener("close", () => this.after?.());
  }

  radios(place, name, choices) {
    const list = el("div", { class: "radios" }, ...choices.map(([value, text]) => {
      const id = `${name}-${choices.findIndex(([other]) => other === value)}`;
      return el("span", { class: `radio ${value}` },
        el("input", { type: "radio", id, name, value, onchange: () => this.write(name, value) }),
        el("label", { for: id }, t(text)));
    }));
    by(place).append(list);
  }

  /** For a move of a book at a place, wherever the page goes meanwhile. */
  open(book, move, place, after) {
    const seen = { mark: move.mark, annotation: move.annotation || "none", factor: String(move.factor), commentary: String(move.commentary) };
    this.entry = { book: book.book, move, place, seen };
    this.after = after;
    this.weigh(book, move);
    by("edit-title").textContent = t`${lettered(move.san)} in ${book.name}`;
    this.dialog.querySelector(`input[name="mark"][value="${move.mark}"]`).checked = true;
    const sign = move.annotation || "none";
    for (const radio of this.dialog.querySelectorAll('input[name="annotation"]')) radio.checked = radio.value === sign;
    // Nobody stored a transposition, so there is nothing to annotate.
    by("edit-annotation").disabled = move.transposition;
    by("remove-move").disabled = move.transposition;
    offer(by("edit-commentary"), OF_POSITIONS, move.commentary);
    by("edit-factor").value = move.factor;
    by("edit-factor-number").value = move.factor;
    modal(this.dialog);
  }

  /** A book with a number beside each move has nothing else to change. */
  weigh(book, move) {
    const most = book.most_weight;
    for (const place of this.dialog.querySelectorAll("fieldset")) place.hidden = (place.id === "edit-weigh") !== (most !== undefined);
    // What was typed and never taken would keep the dialog from closing.
    by("edit-weight").value = "";
    if (most === undefined) return;
    const isArena = move.priority !== undefined;
    const now = isArena ? move.priority : Math.min(most, move.stored_weight);
    const [label, hint] = by("edit-weigh").querySelectorAll("label, .hint");
    label.textContent = isArena ? t("Priority") : t("Weight");
    hint.textContent = isArena ? t("0 never, 5 as usual, 9 most of all.") : t("0 never, up to 65535; played in proportion to the weights of all moves.");
    by("edit-weight").max = most;
    by("edit-weight").value = this.entry.seen.weight = String(now);
  }

  async write(what, value) {
    try {
      await this.change(this.entry, what, String(value));
    } catch (error) {
      this.failed(error);
    }
  }
}
