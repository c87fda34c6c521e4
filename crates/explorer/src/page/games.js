// Games: those that reached the position, where the program has an index of games,
// and those of a file that was dropped on the page, which stays in the browser.

import { get } from "./api.js";
import { by, el } from "./dom.js";
import { t } from "./lang.js";
import { modal, say } from "./say.js";

/** Games that are listed at once. */
const MOST = 200;

const RESULTS = { white: "1-0", black: "0-1" };

/** The games of a PGN file, as text with the values of their tags. */
export function split(pgn) {
  return pgn
    .replaceAll("\r\n", "\n")
    .split(/\n+(?=\[Event )/)
    .filter((text) => text.trim())
    .map((text) => {
      const tag = (name) => new RegExp(`^\\[${name} "((?:[^"\\\\]|\\\\.)*)"`, "m").exec(text)?.[1] ?? "?";
      return {
        text,
        label: `${tag("White")} – ${tag("Black")}`,
        result: tag("Result"),
        when: tag("Date").replaceAll(".??", ""),
      };
    });
}

export class Games {
  load;
  failed;
  query;

  /** `load` takes the text of a game; `failed` an error; `query` gives the parameters of the position that is shown. */
  constructor({ load, failed, query }) {
    Object.assign(this, { load, failed, query });
    this.dialog = by("games-dialog");
    this.dropped = null;
    /** Whether the program has games at all, once that is known. */
    this.indexed = new Promise((resolve) => {
      this.know = resolve;
    });
    for (const id of [
      "games-source",
      "games-player",
      "games-colour",
      "games-speed",
      "games-rating",
      "games-since",
      "games-until",
      "games-words",
    ]) {
      by(id).addEventListener(id === "games-words" ? "input" : "change", () => this.list());
    }
  }

  async offer() {
    const answer = await get("/lichess", "moves=0&topGames=1&recentGames=1").catch(() => ({}));
    this.know((answer.topGames?.length ?? 0) + (answer.recentGames?.length ?? 0) > 0);
    by("show-games").hidden = !(await this.indexed);
  }

  /** The games of a dropped file: one is shown at once, of several one is chosen. */
  take(name, text) {
    const games = split(text);
    if (games.length === 1) return this.load(games[0].text);
    this.dropped = games;
    by("games-title").textContent = t`${name}: ${games.length} games`;
    this.show();
    return undefined;
  }

  /** Those with the position that is shown; of a player of this name, those with any. */
  async open(name = "") {
    if (!(await this.indexed)) return;
    this.dropped = null;
    this.ofPlayer = name;
    by("games-player").value = name;
    by("games-title").textContent = name ? t`Games of ${name}` : t("Games with this position");
    this.show();
  }

  show() {
    by("games-filter").hidden = this.dropped !== null;
    by("games-words").parentElement.hidden = this.dropped === null;
    by("games-words").value = "";
    this.list();
    modal(this.dialog);
  }

  async list() {
    const number = (this.asked = (this.asked ?? 0) + 1);
    let found;
    if (this.dropped) {
      const words = by("games-words").value.toLowerCase().split(/\s+/).filter(Boolean);
      found = this.dropped.filter(({ label, when }) =>
        words.every((word) => `${label} ${when}`.toLowerCase().includes(word)),
      );
    } else {
      found = await this.fromIndex().catch((error) => {
        if (number === this.asked) this.failed(error);
        return null;
      });
    }
    if (number !== this.asked || !found) return;
    this.listed = found;
    by("games-none").hidden = found.length > 0;
    by("games-list").replaceChildren(
      ...found.slice(0, MOST).map((game) =>
        el(
          "li",
          {},
          el(
            "button",
            {
              type: "button",
              onclick: () => {
                this.dialog.close();
                this.choose(game).catch(this.failed);
              },
            },
            el("span", {}, game.label),
            el("span", { class: "hint" }, `${game.result} · ${game.when}`),
          ),
        ),
      ),
    );
  }

  /** The games that the index has of the position, under the filters. */
  async fromIndex() {
    const player = by("games-player").value.trim();
    const query = player && player === this.ofPlayer ? new URLSearchParams() : this.query();
    const set = (name, value) => value && query.set(name, value);
    query.set("moves", 0);
    query.set("topGames", 15);
    query.set("recentGames", 15);
    set("speeds", by("games-speed").value);
    const least = Number(by("games-rating").value);
    if (least)
      query.set(
        "ratings",
        [0, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2500].filter((rating) => rating >= least).join(","),
      );
    set("since", by("games-since").value);
    set("until", by("games-until").value);
    const colours = player ? [by("games-colour").value || ["white", "black"]].flat() : [null];
    const answers = colours.map((color) => {
      const asked = new URLSearchParams(query);
      if (color) for (const [key, value] of Object.entries({ player, color })) asked.set(key, value);
      return get(color ? "/player" : by("games-source").value, asked);
    });
    const found = (await Promise.all(answers)).flatMap((one) => [...(one.topGames ?? []), ...(one.recentGames ?? [])]);
    const games = new Map(found.map((game) => [game.id, game]));
    const named = ({ name, rating }) => (rating ? `${name} ${rating}` : name);
    return [...games.values()].map((game) => ({
      id: game.id,
      label: `${named(game.white)} – ${named(game.black)}`,
      result: RESULTS[game.winner] ?? "½-½",
      when: String(game.month ?? game.year),
    }));
  }

  choose(game) {
    this.chosen = game;
    return this.load(game.text ?? this.pgn(game.id));
  }

  /** The game after the one that was chosen last in its list, or before it. */
  step(by) {
    const next = this.listed?.[this.listed.indexOf(this.chosen) + by];
    if (!this.chosen || !next) say(t("There is no other game in the list."));
    else this.choose(next).catch(this.failed);
  }

  async pgn(id) {
    const response = await fetch(`/masters/pgn/${encodeURIComponent(id)}`);
    if (!response.ok) throw new Error(t("The game cannot be had."));
    return response.text();
  }
}
