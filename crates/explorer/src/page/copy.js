// Saves a copy of a shown book as a file, in its own format or another one.

import { by, el } from "./dom.js";
import { t } from "./lang.js";
import { copyOf } from "./api.js";
import { save } from "./share.js";
import { modal, say } from "./toast.js";

/** The formats: extension of the file that is saved, and name. */
const FORMATS = {
  ctg: ["zip", "ChessBase (.ctg, .cto, .ctb: .zip)"],
  bin: ["bin", "Polyglot (.bin)"],
  abk: ["abk", "Arena (.abk)"],
  pgn: ["pgn", "PGN (.pgn)"],
  csv: ["csv", "CSV (.csv)"],
  jsonl: ["jsonl", "JSON (.jsonl)"],
};

/** The name of a book's file with another extension. */
const named = (name, extension) => `${name.replace(/\.(ctg|bin|abk|bkt|obk)\b/i, "")}.${extension}`;

/** Asks for the book, of those that are shown, and the format. */
export function open(books, failed) {
  by("copy-dialog")?.remove();
  const select = (label, options) =>
    el("label", {}, `${label} `, el("select", {}, ...options.map(([value, text]) => el("option", { value }, text))));
  const of = select(
    t("Book"),
    books.map(({ book, name }) => [book, name]),
  );
  const format = select(
    t("Format"),
    Object.entries(FORMATS).map(([value, [, text]]) => [value, text]),
  );
  const dialog = el(
    "dialog",
    { id: "copy-dialog", "aria-labelledby": "copy-title" },
    el(
      "form",
      { method: "dialog" },
      el("h2", { id: "copy-title" }, t("Save a copy of a book")),
      el("div", { class: "fields" }, of, format),
      el(
        "div",
        { class: "buttons end" },
        el("button", { type: "submit", value: "save" }, t("Save")),
        el("button", { type: "submit", class: "quiet" }, t("Close")),
      ),
    ),
  );
  dialog.querySelector("form").addEventListener("submit", async ({ submitter }) => {
    if (submitter?.value !== "save") return;
    const [book, kind] = [of, format].map((label) => label.querySelector("select").value);
    const [extension] = FORMATS[kind];
    try {
      const { blob, notes } = await copyOf(book, kind);
      save(blob, named(books.find((one) => String(one.book) === book).name, extension));
      if (notes.length) say(notes.join(" · "));
    } catch (error) {
      failed(error);
    }
  });
  document.body.append(dialog);
  modal(dialog);
}
