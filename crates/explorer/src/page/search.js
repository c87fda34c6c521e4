// Openings by name, code or moves, and players of an index of games.

import { get } from "./api.js";
import { by, el, grouped } from "./dom.js";
import { t } from "./lang.js";
import { listKeys, modal } from "./say.js";

export class Search {
  /** `go` is called with the opening that was chosen, `player` with a name, if there is an index (`indexed`); `books` gives the parameters that name the books. */
  constructor({ go, player, indexed, books }) {
    this.go = go;
    this.player = player;
    this.indexed = indexed;
    this.books = books;
    this.dialog = by("search-dialog");
    this.field = by("search-text");
    this.asked = 0;
    this.field.addEventListener("input", () => this.ask());
    listKeys(this.dialog, this.field, by("search-list"), () => this.choose());
  }

  open() {
    modal(this.dialog);
    this.field.select();
    this.ask();
  }

  /** Takes the first of what is listed: that may still be what was typed before. */
  async choose() {
    if (await this.listed) by("search-list").querySelector("button")?.click();
  }

  ask() {
    this.listed = this.list();
  }

  /** Lists what is called so; whether it is still wanted then. */
  async list() {
    const number = (this.asked += 1);
    const words = this.field.value.trim();
    const query = this.books();
    query.set("q", words);
    const openings = words ? get("/api/openings", query).catch(() => []) : [];
    const [found, player] = await Promise.all([openings, words ? this.gamesOf(words) : 0]);
    if (number !== this.asked) return false;
    by("search-none").hidden = !words || found.length > 0 || player > 0;
    const rows = found.map((opening) => {
      const games = opening.games ? ` · ${t`${grouped(opening.games)} games`}` : "";
      return this.row(opening.eco, opening.name, opening.line + games, () => this.go(opening));
    });
    const games = player ? [this.row("♟", words, t`${grouped(player)} games`, () => this.player(words))] : [];
    by("search-list").replaceChildren(...games, ...rows);
    return true;
  }

  row(code, name, hint, chosen) {
    const onclick = () => {
      this.dialog.close();
      chosen();
    };
    return el(
      "li",
      {},
      el(
        "button",
        { type: "button", onclick },
        el("span", { class: "code" }, code),
        el("span", {}, name, el("span", { class: "hint" }, hint)),
      ),
    );
  }

  /** The number of games of a player of this name in the index, if there is one. */
  async gamesOf(name) {
    if (!(await this.indexed())) return 0;
    const asked = ["white", "black"].map((color) => {
      const query = new URLSearchParams({ player: name, color, moves: "0", recentGames: "0" });
      return get("/player", query).catch(() => ({}));
    });
    const both = await Promise.all(asked);
    return both.reduce((sum, { white = 0, draws = 0, black = 0 }) => sum + white + draws + black, 0);
  }
}
