// The file picker: books and games in the folders of the program. The page names a file by its identifier in the list.
// A file that the user chooses in the browser, which tells no path, is opened where it is if the list has it; else the
// program keeps a copy.

import { get, post } from "./api.js";
import { button, el, grouped, row } from "./dom.js";
import { keep, storedJson, t } from "./lang.js";
import { listKeys, modal, say } from "./toast.js";
import { put } from "./transport.js";

/** Greatest number of recently opened files that the browser stores. */
const MOST_RECENT = 8;

/** Greatest size in bytes of files that are sent to the program. */
const MOST_SENT = 60e6;

/** Time in milliseconds between questions about the progress of an index. */
const EACH = 400;

const BOOKS = { ctg: "ChessBase", bin: "Polyglot", abk: "Arena", bkt: "Shredder", obk: "Chessmaster" };

/** Whether the name is that of a book, or of a file beside one. */
export const isBook = (name) => [...Object.keys(BOOKS), "cto", "ctb"].includes(name.split(".").at(-1).toLowerCase());

/** Sort orders of the list. */
const ORDERS = {
  newest: (a, b) => b.changed - a.changed,
  largest: (a, b) => b.bytes - a.bytes,
};

const recentHere = () => [storedJson("recent-files", [])].flat();

/** A file size as text. */
function size(bytes) {
  const [unit, of] = bytes < 1e6 ? ["kilobyte", 1e3] : bytes < 1e9 ? ["megabyte", 1e6] : ["gigabyte", 1e9];
  const { lang } = document.documentElement;
  const maximumFractionDigits = bytes < 10 * of ? 1 : 0;
  return new Intl.NumberFormat(lang, { style: "unit", unit, maximumFractionDigits }).format(bytes / of);
}

const date = (seconds) =>
  new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium" }).format(1000 * seconds);

/** Shows in a bar and as text how far the program is with an index, until `work` ends. */
export async function showIndexing(bar, text, work) {
  const before = text.textContent;
  bar.hidden = false;
  bar.removeAttribute("value");
  const timer = setInterval(async () => {
    const { done, unit, part } = await get("/api/indexing").catch(() => ({ done: 0 }));
    if (bar.hidden || !done) return;
    text.textContent = unit === "games" ? t`${grouped(done)} games so far…` : t("The games are being indexed…");
    if (part === null) bar.removeAttribute("value");
    else bar.value = part;
  }, EACH);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    bar.hidden = true;
    text.textContent = before;
  }
}

/** Opens those of the user's files that are books or games; returns the name of the last one. */
export async function openPut(files) {
  await put(files);
  const names = new Set(files.map(({ name }) => name));
  const listed = (await get("/api/files")).files.filter(({ name }) => names.has(name));
  if (!listed.length) throw new Error(t("None of these files is a book or a database."));
  let opened;
  for (const { id } of listed) opened = (await post("/api/open", { id })).name;
  return opened;
}

export class Files {
  opened;
  failed;

  /** `opened` is called with the name of the opened book; `failed` with an error. */
  constructor({ opened, failed }) {
    Object.assign(this, { opened, failed });
    this.words = el("input", { type: "text", maxlength: 80, spellcheck: "false", autocomplete: "off" });
    this.words.setAttribute("aria-label", t("Part of a name"));
    this.words.placeholder = t("Part of a name");
    this.order = el(
      "select",
      { "aria-label": t("Order") },
      ...[
        ["", t("by name")],
        ["newest", t("newest first")],
        ["largest", t("largest first")],
      ].map(([value, text]) => el("option", { value }, text)),
    );
    this.none = el("p", { class: "hint", role: "status" });
    this.bar = el("progress", { hidden: true, "aria-label": t("The games are being indexed…") });
    this.list = el("ul", { id: "files-list", "aria-label": t("Books and games") });
    this.dialog = el(
      "dialog",
      { id: "files-dialog", "aria-labelledby": "files-title" },
      el(
        "form",
        { method: "dialog" },
        el("h2", { id: "files-title" }, t("Open a book or games")),
        el("div", { class: "fields" }, this.words, this.order),
        this.none,
        this.bar,
        this.list,
        el("div", { class: "buttons end" }, el("button", { type: "submit", class: "quiet" }, t("Close"))),
      ),
    );
    this.chosen = el("input", { type: "file", multiple: true, hidden: true, id: "files-chosen" });
    this.chosen.addEventListener("change", () => {
      const files = [...this.chosen.files];
      this.chosen.value = "";
      this.take(files).catch(this.failed);
    });
    this.none.before(
      el(
        "div",
        { class: "buttons" },
        button(t("Choose a file…"), () => this.chosen.click(), { class: "quiet" }),
        this.chosen,
      ),
    );
    for (const field of [this.words, this.order]) field.addEventListener("input", () => this.draw());
    listKeys(this.dialog, this.words, this.list, () => this.list.querySelector("button")?.click());
    document.body.append(this.dialog);
  }

  /** Opens the dialog with the present files. */
  async show() {
    this.found = await get("/api/files");
    this.words.value = "";
    this.draw();
    if (!this.dialog.open) modal(this.dialog);
    this.words.focus();
  }

  /** Shows the files with all the words; recently opened ones come first. */
  draw() {
    const { files, recent, is_cut } = this.found;
    const words = this.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const named = files.filter(({ folder, name }) =>
      words.every((word) => `${folder}/${name}`.toLowerCase().includes(word)),
    );
    const ids = [...new Set([...recent, ...recentHere()])];
    const last = ids.map((id) => named.find((file) => file.id === id)).filter(Boolean);
    const others = named.filter((file) => !ids.includes(file.id));
    const order = ORDERS[this.order.value];
    if (order) others.sort(order);
    this.none.textContent = !named.length
      ? t("There is no such book in the folders.")
      : is_cut
        ? t("The folders have more files than are listed.")
        : "";
    this.list.replaceChildren(
      ...last.map((file) => this.row(file, t("opened last"))),
      ...others.map((file) => this.row(file)),
    );
  }

  row(file, note) {
    const { name, folder, kind, bytes, changed } = file;
    const about = [note, folder, BOOKS[kind] ?? t("Games"), size(bytes), date(changed)].filter(Boolean).join(" · ");
    return row(() => this.open(file), name, about);
  }

  /** Opens a file of the list. Games without an index get one first. */
  open({ id, kind }) {
    return this.shown(async () => {
      const opening = post("/api/open", { id });
      const { name } = await (kind === "games" ? showIndexing(this.bar, this.none, opening) : opening);
      keep("recent-files", JSON.stringify([id, ...recentHere().filter((other) => other !== id)].slice(0, MOST_RECENT)));
      return { name };
    });
  }

  /** Opens what the user has chosen in the browser: a book, games, or all files of a book or a database. */
  async take(files) {
    if (!files.length) return;
    this.found ??= await get("/api/files");
    const isListed = (file) => (one) =>
      one.name === file.name && one.bytes === file.size && one.changed === Math.floor(file.lastModified / 1000);
    const listed = files.map((file) => this.found.files.find(isListed(file))).find(Boolean);
    if (listed) {
      await this.open(listed);
      return;
    }
    const bytes = files.reduce((sum, file) => sum + file.size, 0);
    if (bytes > MOST_SENT)
      throw new Error(t`${size(bytes)} are too large to be copied: start tabia explore with the file.`);
    // The one to open comes first, if its name shows which it is.
    files.sort((a, b) => Number(isBook(b.name)) - Number(isBook(a.name)));
    const query = new URLSearchParams({
      names: files.map(({ name }) => name).join("/"),
      sizes: files.map((file) => file.size).join(","),
    });
    await this.shown(async () => {
      const sent = post(`/api/open-sent?${query}`, new Blob(files));
      const { name } = await showIndexing(this.bar, this.none, sent);
      return { name, message: t`${name} is a copy, which stays in the list. The file that you chose is not changed.` };
    });
  }

  /** Shows the book that an action opens; if it fails, the page stays the same. */
  async shown(action) {
    if (this.isBusy) return;
    this.isBusy = true;
    let opened = null;
    try {
      opened = await action();
      this.dialog.close();
    } catch (error) {
      this.failed(error);
    } finally {
      this.isBusy = false;
    }
    if (!opened) return;
    await this.opened(opened.name);
    if (opened.message) say(opened.message);
  }
}
