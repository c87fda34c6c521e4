// Games with the shown position, if the program has an index of games, and games of files, which stay in the
// browser until they are closed, or until the user has the program make an index of them.

import { get, newest, post } from "./api.js";
import { playersNamed } from "./search.js";
import { button, by, chooseFiles, el, fill, gamesText, grouped, item } from "./dom.js";
import { isBook, openPut, showIndexing } from "./files.js";
import { english, keep, stored, t, translated } from "./lang.js";
import { saveText } from "./share.js";
import { say } from "./toast.js";
import * as tabs from "./tabs.js";
import { put, request } from "./transport.js";
import { line } from "./tree.js";

/** Number of games of a file that are shown at once. */
const PAGE = 200;

/** Greatest size of a file of games, in bytes. */
const MOST_BYTES = 50_000_000;

/** Delay in milliseconds before a request, so that stepping past a position sends none. */
const PAUSE = 120;

/** Greatest number of spellings that are offered. */
const MOST_SPELLINGS = 8;

/** Greatest number of filter sets: one for each digit. */
const MOST_SETS = 9;

/** The names of the players of a game. */
const label = ({ players }) => players.map(({ name }) => name).join(" – ");

/** The sum of the Elo numbers that are known. */
const elo = ({ players }) => players.reduce((sum, { rating }) => sum + rating, 0);

const compare = (a, b) => (a < b ? -1 : Number(a > b));

/** Compares by a value from the least on; games without one come last from either end. */
const from = (of, up) => (a, b) => {
  const [x, y] = [of(a), of(b)];
  if (!x || !y) return Number(!x) - Number(!y);
  return up ? compare(x, y) : compare(y, x);
};

const eventOf = ({ event }) => event.toLowerCase();

/** Sort orders of the list, as the program names them. */
const ORDERS = {
  elo: from(elo, false),
  "elo-up": from(elo, true),
  newest: from(({ when }) => when, false),
  oldest: from(({ when }) => when, true),
  moves: from(({ plies }) => plies, false),
  "moves-up": from(({ plies }) => plies, true),
  event: from(eventOf, true),
  "event-down": from(eventOf, false),
};

/**
 * The columns of the list: class, heading, and the orders from one end and from the other.
 * @type {[string, string, string[]?][]}
 */
const COLUMNS = [
  ["result", english("Result")],
  ["player", english("White")],
  ["elo", english("Elo"), ["elo", "elo-up"]],
  ["player", english("Black")],
  ["elo", ""],
  ["event", english("Event"), ["event", "event-down"]],
  ["year", english("Year"), ["newest", "oldest"]],
  ["eco", english("ECO")],
  ["plies", english("Moves"), ["moves", "moves-up"]],
];

/** The order after a click on a heading: a second click reverses it, a third restores that of the list. */
export const nextOrder = (order, [first, second]) => ({ [first]: second, [second]: "" })[order] ?? first;

/** The names in the field of a player, which `;` separates. */
export const namesIn = (text) =>
  text
    .split(";")
    .map((name) => name.trim())
    .filter(Boolean);

/** A name without quotation marks. */
const named = (name) => name.replace(/^"|"$/g, "");

/** A name in quotation marks is one spelling; without them it is all names with its words. */
const isOne = (name) => name.startsWith('"');

/** The names with one more or, if it is there, one less. */
export function withName(text, name) {
  const names = namesIn(text);
  return (names.includes(name) ? names.filter((other) => other !== name) : [...names, name]).join("; ");
}

/** The filters without a value of one of them. */
export function withoutFilter(filter, name, value) {
  const left = name === "player" ? withName(filter[name], value) : "";
  const others = Object.entries(filter).filter(([other]) => other !== name);
  return Object.fromEntries(left ? [...others, [name, left]] : others);
}

/** A chip for each filter, with a button that removes it; a name of a player is removed alone. */
export function chips(filter) {
  const values = Object.entries(filter).flatMap(([name, text]) =>
    (name === "player" ? namesIn(text) : [text]).map((value) => [name, value]),
  );
  return values.map(([name, value]) => {
    const field = by("games-filter").elements[name];
    const option = [...(field.options ?? [])].find((one) => one.value === value)?.text;
    const text = `${field.labels[0].firstChild.data.trim()} ${option ?? value}`;
    const data = { "data-filter": name, "data-value": value };
    return item(
      el("button", { type: "button", class: "chip", ...data, "aria-label": t`Without ${text}` }, `${text} ×`),
    );
  });
}

/** Whether two rows are of one game: each list has its own. */
const isSameGame = (one, other) => one === other || (one.id !== undefined && one.id === other?.id);

/** Filters as text, independent of their order. */
const wordsOf = (filter) => JSON.stringify(Object.entries(filter).sort());

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
        players: ["White", "Black"].map((side) => ({ name: tag(side), rating: Number(tag(`${side}Elo`)) || 0 })),
        event: tag("Event").replace(/^\?$/, ""),
        eco: tag("ECO").replace(/^\?$/, ""),
        result: tag("Result"),
        when: tag("Date").replaceAll(".??", ""),
        plies: mainLine(text).length,
      };
    });
}

/** The players of a game, as a key. */
const namesOf = ({ players }) => JSON.stringify(players.map(({ name }) => name));

/** A day as numbers: `2024.03.07`, `2024.3.7` and `2024.3.7.` are one, and what is unknown is 0. */
const dayOf = ({ when }) => JSON.stringify([0, 1, 2].map((part) => Number.parseInt(when.split(".")[part], 10) || 0));

/** The moves of a game without comments, variations, signs and numbers. */
export function mainLine(pgn) {
  const bare = pgn.replace(/^\[.*\]\s*$/gm, " ").replace(/\{[^}]*\}|;.*$|^%.*$/gm, " ");
  let depth = 0;
  const words = bare.match(/[()]|[^\s()]+/g) ?? [];
  return words
    .filter((word) => {
      if (word === "(") depth += 1;
      else if (word === ")") depth -= 1;
      else return depth === 0;
      return false;
    })
    .map((word) => word.replace(/^\d+\.+/, "").replace(/[!?+#]+$/, ""))
    .filter((word) => word && !/^(\$\d+|\d+|1-0|0-1|1\/2-1\/2|\*|\.+)$/.test(word));
}

/**
 * The game of these that another text is of: with the same players and moves, and of several the one with the same
 * result, day and event, because an index writes these in its own form. Undefined if there is none, or no difference.
 */
export function wholeOf(pgn, games) {
  const [game] = split(pgn);
  if (!game) return undefined;
  const moves = mainLine(pgn).join(" ");
  let alike = (games.get(namesOf(game)) ?? []).filter(({ text }) => mainLine(text).join(" ") === moves);
  for (const of of [({ result }) => result, dayOf, ({ event }) => event]) {
    const same = alike.filter((one) => of(one) === of(game));
    if (same.length) alike = same;
  }
  return alike.every(({ text }) => text === alike[0].text) ? alike[0] : undefined;
}

/** The games of a file by their players. */
export function byPlayers(pgn) {
  const games = new Map();
  for (const game of split(pgn)) {
    const names = namesOf(game);
    if (!games.has(names)) games.set(names, []);
    games.get(names).push(game);
  }
  return games;
}

/** The games that contain all words, in an order; of unknown orders, that of the file. */
export function listed(games, text, order) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = games.filter((game) =>
    words.every((word) => `${label(game)} ${game.event} ${game.when}`.toLowerCase().includes(word)),
  );
  return ORDERS[order] ? found.sort(ORDERS[order]) : found;
}

/** The valid named sets of filters of a stored text; `fields` are the name and the id of each field. */
export function setsOf(text, fields) {
  try {
    const sets = JSON.parse(text);
    const known = Array.isArray(sets) ? sets.filter((one) => one?.name && one.values).slice(0, MOST_SETS) : [];
    // An older version stored them by the ids of the fields.
    const valuesOf = (values) => fields.map((field) => [field.name, values[field.name] ?? values[field.id]]);
    return known.map(({ name, values }) => ({
      name,
      values: Object.fromEntries(valuesOf(values).filter(([, value]) => value)),
    }));
  } catch {
    return [];
  }
}

/** The sets with one more, in place of an older one of its name; without values the name goes. Null: no room. */
export function withSet(sets, name, values) {
  const others = sets.filter((one) => one.name !== name);
  if (Object.keys(values).length === 0) return others;
  return others.length < MOST_SETS ? [...others, { name, values }] : null;
}

/** Whether two sets of filters are the same. */
export const isSameFilter = (one, other) => wordsOf(one) === wordsOf(other);

export class Games {
  load;
  failed;
  query;
  change;
  opened;
  sendBook;
  /** Whether the program makes an index of games that it gets, and whether one of the next files is wanted. */
  canIndex = false;
  indexesNext = false;

  /**
   * `load` gets the text of a game; `opened` the name of a new index; `failed` an error; `query` returns the
   * parameters of the shown position and filters; `change` gets other filters, `unfilter` the name of one and the
   * value to remove, `sendBook` files of a book.
   */
  constructor({ load, opened, failed, query, change, unfilter, sendBook }) {
    Object.assign(this, { load, opened, failed, query, change, sendBook });
    /** The shown filters: values by the names of the fields. */
    this.filter = {};
    /** What the fields had when their values were last requested or shown. */
    this.known = {};
    /** The tree of the game that was chosen from the list, and the shown one: the list waits while they are the same. */
    this.pinned = this.tree = null;
    this.isOpening = false;
    /** What the last answer said about the games of the index. */
    this.about = {};
    /** The shown games of a file, and all files with their texts, by name. */
    this.dropped = null;
    this.asked = newest();
    this.files = new Map();
    /** The games of files of which the program has made an index: it has no comments and variations. */
    this.whole = [];
    this.indexed = new Promise((resolve) => {
      this.know = resolve;
    });
    tabs.whenShown("games", () => this.isPinned || this.list());
    by("games-filter").addEventListener("change", () => this.request(this.values));
    by("games-filter").addEventListener("submit", (event) => event.preventDefault());
    for (const id of ["games-words", "games-order"])
      by(id).addEventListener("input", () => (this.dropped ? this.list() : this.listSoon()));
    // The chips are here if the fields are folded, else above the table.
    for (const id of ["games-chips", "books"])
      by(id).addEventListener("click", ({ target }) => {
        const { filter, value } = target.closest("button")?.dataset ?? {};
        if (filter) unfilter(filter, value);
      });
    by("games-next").addEventListener("click", () => this.list(true));
    by("games-save").addEventListener("click", () => this.save().catch(this.failed));
    by("games-head").addEventListener("click", ({ target }) => {
      const { orders } = target.closest("button")?.dataset ?? {};
      if (!orders) return;
      by("games-order").value = nextOrder(this.order, orders.split(" "));
      this.list();
      by("games-head").querySelector(`[data-orders="${orders}"]`).focus();
    });
    by("games-player").addEventListener("input", () => this.suggest());
    by("games-players").addEventListener("click", ({ target }) => {
      const { name } = target.closest("button")?.dataset ?? {};
      if (!name) return;
      const field = by("games-player");
      const kept = isOne(name) ? namesIn(field.value).filter(isOne) : [];
      field.value = withName(kept.join("; "), name) || this.typed;
      this.request(this.values);
    });
    /** The name of which spellings are offered. */
    this.typed = "";
    this.suggesting = newest();
    by("games-sets").addEventListener("submit", (event) => {
      event.preventDefault();
      this.saveSet(by("games-name").value.trim());
    });
    this.drawSets();
    by("games-here").addEventListener("click", () => this.here());
    by("open-files").addEventListener("click", () => {
      this.indexesNext = false;
    });
    if (put) by("open-input").removeAttribute("accept");
    chooseFiles("open-files", "open-input", (files) => this.open(files).catch(this.failed));
  }

  /** Opens the file dialog for books, and games of which no index is made. */
  pick() {
    this.indexesNext = false;
    by("open-input").click();
  }

  /** Opens the file dialog: an index of the chosen games is made if the program can do that. */
  /** Opens files that are put where the program finds them; an index of games shows how far it is. */
  openPut(files) {
    const opening = openPut(files);
    if (files.every(({ name }) => isBook(name))) return opening;
    if (!tabs.isShown("games")) tabs.choose("games");
    return showIndexing(by("games-bar"), by("games-none"), opening);
  }

  pickToIndex() {
    this.indexesNext = this.canIndex;
    by("open-input").click();
  }

  /** Finds out whether there is an index: one may have been opened since the last time. */
  async offer() {
    const answer = await get("/lichess", "moves=0&topGames=1&recentGames=1").catch(() => ({}));
    const isIndexed = (answer.topGames?.length ?? 0) + (answer.recentGames?.length ?? 0) > 0;
    this.know(isIndexed);
    this.indexed = Promise.resolve(isIndexed);
  }

  /** Opens chosen or dropped files: the last of them is shown. */
  async open(files) {
    const isText = ({ name, size }) => /\.(pgn|txt)$/i.test(name) && size <= MOST_BYTES;
    const others = put ? files.filter((file) => !isText(file)) : [];
    if (others.length) await this.opened(await this.openPut(others));
    const rest = files.filter((one) => !others.includes(one));
    if (rest.some(({ name }) => isBook(name))) {
      await this.sendBook(rest);
      return;
    }
    let last = null;
    for (const file of rest) {
      if (file.size > MOST_BYTES)
        throw new Error(t("The file is too large for the page: tabia build makes a book of it."));
      last = [file.name, await file.text()];
      this.files.set(file.name, { file, text: last[1] });
    }
    if (!last) return;
    const { dropped } = this;
    try {
      await this.take(...last);
    } catch (error) {
      // The file has no games to show.
      this.files.delete(last[0]);
      throw error;
    } finally {
      this.drawFiles();
    }
    if (this.indexesNext && this.dropped !== dropped) await this.index(last[0]);
  }

  /**
   * Sends the games of a file to the program, and shows the index that it makes of them. The bytes are sent: the program
   * knows encodings that the browser does not recognize.
   */
  async index(name) {
    const sent = post(`/api/index?${new URLSearchParams({ name })}`, this.files.get(name).file);
    const made = await showIndexing(by("games-bar"), by("games-none"), sent);
    this.whole.push(byPlayers(this.files.get(name).text));
    this.files.delete(name);
    this.drawFiles();
    this.here();
    await this.opened(made.name);
  }

  /** Takes the games of a file: a single one is shown at once, of several the user chooses one. */
  take(name, text) {
    const games = split(text);
    if (games.length === 1) return this.load(games[0].text);
    this.show(games, t`${name}: ${games.length} games`);
    return undefined;
  }

  drawFiles() {
    const quiet = (text, onclick, label) => button(text, onclick, { class: "quiet", "aria-label": label });
    const close = (name) => () => {
      this.files.delete(name);
      this.drawFiles();
    };
    by("open-list").replaceChildren(
      ...[...this.files].map(([name, { text }]) =>
        item(
          quiet(name, () => Promise.resolve(this.take(name, text)).catch(this.failed)),
          this.canIndex ? quiet(t("Index"), () => this.index(name).catch(this.failed), t`Index ${name}`) : null,
          quiet(t("Close"), close(name), t`Close ${name}`),
        ),
      ),
    );
  }

  /** Lists the games with the shown position. */
  here() {
    this.show(null, t("Games with this position"));
  }

  /** Lists the games of a player, by the spellings of the name. */
  of(names) {
    this.request({ player: names.map((name) => `"${name}"`).join("; ") });
    this.here();
  }

  /** Requests other filters. What the fields have now may be replaced by them, what is typed later may not. */
  request(filter) {
    this.known = this.values;
    this.change(filter);
  }

  show(dropped, title) {
    this.dropped = dropped;
    this.pinned = null;
    by("games-title").textContent = title;
    by("games-title").classList.toggle("unseen", !dropped);
    by("games-words").value = "";
    if (tabs.isShown("games")) this.list();
    else tabs.choose("games");
  }

  /** The page shows another position or other filters: updates the list if needed. */
  shown({ filter, books, tree, at }) {
    this.ply = line(tree, at).length;
    this.tree = tree;
    if (books !== this.books) this.pinned = null;
    this.books = books;
    if (!isSameFilter(filter, this.filter)) {
      this.filter = filter;
      this.pinned = null;
      for (const field of this.fields) {
        // The answer may be late: what was typed meanwhile stays.
        if (field.value.trim() !== (this.known[field.name] ?? "").trim()) continue;
        field.value = this.known[field.name] = filter[field.name] ?? "";
      }
      by("games-chips").replaceChildren(...chips(filter));
      this.drawSets();
      this.suggest();
    }
    this.listSoon();
  }

  /** Offers the spellings of the typed name: all together, which is what it means, or some of them. */
  async suggest() {
    const isNewest = this.suggesting();
    const names = namesIn(by("games-player").value);
    const typed = names.filter((name) => !isOne(name)).at(-1) ?? (names.length ? this.typed || named(names[0]) : "");
    const found = typed && (await this.indexed) ? await playersNamed(typed) : { players: [], spellings: 0 };
    if (!isNewest()) return;
    this.typed = typed;
    const chip = (name, text) => {
      const isChosen = String(names.includes(name));
      return item(el("button", { type: "button", class: "chip", "aria-pressed": isChosen, "data-name": name }, text));
    };
    const others = names.filter((name) => isOne(name) && found.players.every((one) => one.name !== named(name)));
    by("games-players").replaceChildren(
      ...(found.spellings > 1 ? [chip(typed, t`All ${found.spellings} spellings · ${gamesText(found.games)}`)] : []),
      ...found.players
        .slice(0, MOST_SPELLINGS)
        .map(({ name, games }) => chip(`"${name}"`, `${name} · ${gamesText(games)}`)),
      ...others.map((name) => chip(name, named(name))),
    );
  }

  /** Whether the list is kept: its game is shown, or comes. */
  get isPinned() {
    return this.isOpening || (this.pinned !== null && this.pinned === this.tree);
  }

  listSoon() {
    clearTimeout(this.timer);
    if (tabs.isShown("games") && !this.dropped && !this.isPinned) this.timer = setTimeout(() => this.list(), PAUSE);
  }

  /** Lists the games from the first one on, or `goesOn` with the next ones. */
  async list(goesOn = false) {
    const isNewest = this.asked();
    const isIndexed = await this.indexed;
    if (!isNewest()) return;
    by("games-more").hidden = by("games-chips").hidden = by("games-named").hidden = this.dropped !== null || !isIndexed;
    by("games-search").hidden = !this.dropped && !isIndexed;
    const before = goesOn ? this.found : [];
    if (this.dropped) {
      this.found = listed(this.dropped, by("games-words").value, by("games-order").value);
      this.limit = (goesOn ? this.limit : 0) + PAGE;
    } else if (isIndexed) {
      const found = await this.fromIndex(goesOn ? this.about.next : null).catch((error) => {
        if (isNewest()) this.failed(error);
        return null;
      });
      if (!isNewest() || !found) return;
      this.found = [...before, ...found];
      this.limit = this.found.length;
    } else this.found = [];
    this.isIndexed = isIndexed;
    this.draw();
  }

  /** Offers the list for the shown position while another one is shown. */
  offerHere() {
    by("games-here").hidden = !this.isIndexed || !(this.dropped || this.isPinned);
  }

  /** Shows the found games. */
  draw() {
    if (!this.found) return;
    this.offerHere();
    const { found, limit } = this;
    by("games-none").textContent =
      this.dropped || this.isIndexed
        ? this.howMany()
        : t(
            "No index of games is open: “tabia index” makes one. Files of games can be opened here, or dropped on the page.",
          );
    by("games-next").hidden = this.dropped ? found.length <= limit : !this.about.next || !this.isIndexed;
    by("games-save").hidden = by("games-head").hidden = !found.length;
    this.drawHead();
    by("games-list").replaceChildren(...found.slice(0, limit).map((game, index) => this.row(game, index)));
  }

  /** The order of the list; an index has its games by Elo. */
  get order() {
    return by("games-order").value || (this.dropped ? "" : "elo");
  }

  /** The headings of the columns: those that sort are buttons. */
  drawHead() {
    const { order } = this;
    const head = ([kind, text, orders = null]) => {
      const at = orders?.indexOf(order) ?? -1;
      const sign = at < 0 ? "" : at === 0 ? " ▾" : " ▴";
      const names = { class: `sort ${kind}`, "data-orders": orders?.join(" "), "aria-pressed": String(at >= 0) };
      return orders
        ? el("button", { type: "button", ...names }, translated(text), el("span", { "aria-hidden": "true" }, sign))
        : el("span", { class: kind }, text && translated(text));
    };
    fill(by("games-head"), ...COLUMNS.map(head));
  }

  /** Saves all games of the list as PGN, as the program has them; those of a file that the page has are whole. */
  async save() {
    const whole = (text) => this.whole.map((games) => wholeOf(text, games)).find(Boolean)?.text ?? text;
    let texts = [];
    if (this.dropped) texts = this.found.map(({ text }) => text);
    else {
      const response = await request(`/api/games.pgn?${this.asking()}`);
      if (!response.ok) throw new Error(t("The games could not be loaded."));
      texts = split(await response.text()).map(({ text }) => whole(text));
    }
    saveText(texts.map((text) => `${text.trim()}\n`).join("\n"), "application/x-chess-pgn", "games.pgn");
    const all = this.dropped ? texts.length : this.about.found;
    say(
      texts.length < all || this.about.read
        ? t`Saved: ${grouped(texts.length)} games; there are more`
        : t`Saved: ${gamesText(texts.length)}`,
    );
  }

  /** A game as one line of aligned columns; the open one is marked. */
  row(game, index) {
    const cell = (kind, text = "") => el("span", { class: kind }, text);
    const { players, result, event, when, eco, plies } = game;
    const attributes = {
      type: "button",
      title: [label(game), event, when].filter(Boolean).join(" · "),
      "aria-current": isSameGame(game, this.chosen) ? "true" : null,
      onclick: () => this.choose(game, this.found).catch(this.failed),
      "data-row": index,
    };
    const cells = [
      cell("result", result.replaceAll("1/2", "½")),
      ...players.flatMap(({ name, rating }) => [cell("player", name), cell("elo", rating || "")]),
      cell("event", event),
      cell("year", when.slice(0, 4)),
      cell("eco", eco),
      cell("plies", plies ? String(Math.ceil(plies / 2)) : ""),
    ];
    return item(el("button", attributes, ...cells));
  }

  /** Says which games the list leaves out, or why there are none. */
  howMany() {
    const { found, limit, about } = this;
    if (this.dropped) {
      if (!found.length) return t("No game of the file has these words.");
      return found.length > limit ? t`${grouped(limit)} of ${grouped(found.length)} games` : "";
    }
    const { all = 0, found: total = 0, depth = 0 } = about;
    const hasWords = by("games-words").value.trim() !== "";
    if (about.read)
      return t`${grouped(found.length)} games so far: the newest ${grouped(about.read)} games of the index were searched.`;
    if (about.sorted)
      return t`${grouped(total)} games: the ${grouped(about.sorted)} of the highest Elo are sorted, the others follow.`;
    if (found.length) return found.length < total ? t`${grouped(found.length)} of ${grouped(total)} games` : "";
    if (this.ply >= depth)
      return t`The index has the first ${depth} plies of each game, and this position is behind them.`;
    if (hasWords && all) return t`None of the ${grouped(all)} games with this position has these words.`;
    return Object.keys(this.filter).length
      ? t("There is no game with this position under these filters.")
      : t("No game of the index goes on from this position.");
  }

  /** Requests the games with the position that match the filters: from the first, or where a list goes on. */
  async fromIndex(from) {
    const query = this.asking();
    if (from) query.set("from", from);
    const { games, ...about } = await get("/api/games", query);
    this.about = about;
    return games.map(({ id, white, black, result, event, date, eco, plies }) => ({
      id,
      players: [white, black],
      event,
      eco,
      result,
      when: date.replaceAll("?", ""),
      plies,
    }));
  }

  /** The parameters of the list: position, filters, words and order. */
  asking() {
    const query = this.query();
    for (const [name, id] of [
      ["q", "games-words"],
      ["order", "games-order"],
    ])
      if (by(id).value.trim()) query.set(name, by(id).value);
    return query;
  }

  /** The input fields of the filters. */
  get fields() {
    return [...by("games-filter").elements].filter(({ name }) => name);
  }

  /** The values in the fields. */
  get values() {
    return Object.fromEntries(this.fields.filter(({ value }) => value.trim()).map(({ name, value }) => [name, value]));
  }

  /** The named sets of filters. */
  get sets() {
    return setsOf(stored("games-sets", "[]"), this.fields);
  }

  /** Stores the filters under a name, replacing older ones; without any filter the name is deleted. */
  saveSet(name) {
    if (!name) return;
    const sets = withSet(this.sets, name, this.values);
    if (!sets) {
      say(t`At most ${MOST_SETS} sets of filters can be stored.`, true);
      return;
    }
    keep("games-sets", JSON.stringify(sets));
    by("games-name").value = "";
    this.drawSets();
  }

  drawSets() {
    by("games-named").replaceChildren(
      ...this.sets.map(({ name, values }, index) => {
        const chip = { class: "chip", "aria-pressed": String(this.isShown(values)) };
        return item(button(`${index + 1} ${name}`, () => this.useSet(index), chip));
      }),
    );
  }

  /** Whether these filters are shown. */
  isShown(values) {
    return isSameFilter(values, this.filter);
  }

  /** Applies a set of filters, or removes the filters if it is applied already. */
  useSet(index) {
    const set = this.sets[index];
    if (!set) return;
    this.request(this.isShown(set.values) ? {} : set.values);
    if (!tabs.isShown("games")) tabs.choose("games");
  }

  /** Shows a game; `series` is the list that it was chosen from. */
  async choose(game, series) {
    this.chosen = game;
    this.series = series;
    this.isOpening = true;
    clearTimeout(this.timer);
    this.draw();
    try {
      const tree = await this.load(this.textOf(game));
      if (game === this.chosen) this.pinned = tree;
    } finally {
      if (game === this.chosen) this.isOpening = false;
      this.offerHere();
    }
  }

  /** The text of a game, which an index sends only if it is wanted. */
  textOf(game) {
    return game.text ?? this.pgn(game.id);
  }

  /** The text of the game in whose row an element is; nothing if it is in none. */
  textAt(element) {
    const game = this.found?.[element.closest("#games-list button")?.dataset.row];
    return game && this.textOf(game);
  }

  /** Shows the game after or before the last chosen one in its list. */
  step(by) {
    const next = this.series?.[this.series.indexOf(this.chosen) + by];
    if (!next) say(t("There is no other game in the list."));
    else this.choose(next, this.series).catch(this.failed);
  }

  async pgn(id) {
    const response = await request(`/masters/pgn/${encodeURIComponent(id)}`);
    if (!response.ok) throw new Error(t("The game could not be loaded."));
    const text = await response.text();
    const found = this.whole.map((games) => wholeOf(text, games)).find(Boolean);
    return found?.text ?? text;
  }
}
