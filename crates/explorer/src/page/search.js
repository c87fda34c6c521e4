// Openings by name, code or moves, and players of an index of games.

import { get, newest } from "./api.js";
import { by, el, gamesText, item } from "./dom.js";
import { lettered, openingName, t } from "./lang.js";
import { listKeys, modal } from "./toast.js";

/** Greatest number of players beside the openings. */
const MOST_PLAYERS = 8;

/** Greatest number of spellings that the hint of a player names. */
const MOST_NAMED = 3;

/** What spellings of one name have in common: the first word, and the initial of the second. */
export function keyOf(name) {
  const words = name
    .replace(/\(.*?\)/g, " ")
    .toLowerCase()
    .split(/[\s,.]+/)
    .filter(Boolean);
  return [words[0] ?? "", words[1]?.[0] ?? ""].join(" ");
}

/** Players with their spellings joined, each as the names, the most frequent first, and the number of games. */
export function joined(players) {
  const people = new Map();
  for (const { name, games } of players) {
    const key = keyOf(name);
    const known = people.get(key) ?? { names: [], games: 0 };
    known.names.push(name);
    known.games += games;
    people.set(key, known);
  }
  return [...people.values()].sort((a, b) => b.games - a.games);
}

/**
 * The players of the index whose names begin with the words, most games first, and the number of names that have
 * these words, with their games.
 */
export const playersNamed = (words) =>
  get("/api/players", new URLSearchParams({ q: words })).catch(() => ({ players: [], spellings: 0, games: 0 }));

export class Search {
  /** `go` is called with the chosen opening, `player` with the spellings of a name, if there is an index (`indexed`); `books` returns the parameters that name the books. */
  constructor({ go, player, indexed, books }) {
    this.go = go;
    this.player = player;
    this.indexed = indexed;
    this.books = books;
    this.dialog = by("search-dialog");
    this.field = by("search-text");
    this.asked = newest();
    this.field.addEventListener("input", () => this.ask());
    listKeys(this.dialog, this.field, by("search-found"), () => this.choose());
  }

  open() {
    modal(this.dialog);
    this.field.select();
    this.ask();
  }

  /** Chooses the first result, after the list is up to date. */
  async choose() {
    if (await this.listed) by("search-found").querySelector("button")?.click();
  }

  ask() {
    this.listed = this.list();
  }

  /** Lists the results; returns whether they are still current. */
  async list() {
    const isNewest = this.asked();
    const words = this.field.value.trim();
    const query = this.books();
    query.set("q", words);
    const openings = words ? get("/api/openings", query).catch(() => []) : [];
    const [found, players] = await Promise.all([openings, words ? this.playersOf(words) : []]);
    if (!isNewest()) return false;
    by("search-none").hidden = !words || found.length > 0 || players.length > 0;
    const rows = found.map((opening) => {
      const games = opening.games ? ` · ${gamesText(opening.games)}` : "";
      return this.row(opening.eco, openingName(opening.name), lettered(opening.line) + games, () => this.go(opening));
    });
    const people = joined(players)
      .slice(0, MOST_PLAYERS)
      .map(({ names, games }) => {
        const others = names.slice(1, MOST_NAMED + 1).join(", ") + (names.length > MOST_NAMED + 1 ? ", …" : "");
        const about = [gamesText(games), others && t`also ${others}`].filter(Boolean).join(" · ");
        return this.row("♟", names[0], about, () => this.player(names));
      });
    by("search-list").replaceChildren(...rows);
    by("search-people").replaceChildren(...people);
    return true;
  }

  row(code, name, hint, chosen) {
    const onclick = () => {
      this.dialog.close();
      chosen();
    };
    const text = el("span", {}, name, el("span", { class: "hint" }, hint));
    return item(el("button", { type: "button", onclick }, el("span", { class: "code" }, code), text));
  }

  /** Players of the index, if there is one. */
  async playersOf(words) {
    return (await this.indexed()) ? (await playersNamed(words)).players : [];
  }
}
