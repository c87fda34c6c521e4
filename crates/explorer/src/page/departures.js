// Compares the user's games with the repertoire: where the user or an opponent left it. The program finds the
// positions; each can become a card, or its move be added to the book.

import { receive } from "./api.js";
import { takesLines } from "./columns.js";
import { button, by, chooseFiles, el, gamesText, percent, row } from "./dom.js";
import { keep, lettered, openingName, stored, t } from "./lang.js";
import { attempt, say } from "./toast.js";
import { valueText } from "./icons.js";

/** Greatest number of suggested player names. */
const MOST_NAMES = 20;

/** A move of a colour with its share and its value for White, if known. */
function named({ san, share, value }, colour) {
  const cp = value === undefined ? null : colour === "white" ? value : -value;
  const known = [share && percent(share, 0), cp !== null && valueText({ cp, mate: undefined })].filter(Boolean);
  return lettered(san) + (known.length ? ` (${known.join(", ")})` : "");
}

/** The players of PGN games, most games first. */
export function playersOf(text) {
  const games = new Map();
  for (const [, name] of text.matchAll(/^\[(?:White|Black) "(.*)"\]/gm))
    if (name && name !== "?") games.set(name, (games.get(name) ?? 0) + 1);
  return [...games].sort(([, a], [, b]) => b - a).map(([name]) => name);
}

export class Departures {
  trainer;
  load;
  write;
  indexed;

  /**
   * `load(text)` shows a line, `write(book, play, uci)` adds it and its last move as a main move to the book,
   * `indexed()` promises whether there is an index.
   */
  constructor(trainer, { load, write, indexed }) {
    Object.assign(this, { trainer, load, write, indexed });
    this.text = "";
    by("mine-name").value = stored("mine-name", "");
    chooseFiles("mine-open", "mine-file", (files) => attempt(() => this.read(files)));
    by("mine-form").addEventListener("submit", (event) => {
      event.preventDefault();
      if (!by("mine-index").hidden) this.text = "";
      else if (!this.text) return;
      attempt(() => this.compare(true));
    });
    for (const id of ["mine-name", "train-colour"])
      by(id).addEventListener("change", () => this.text && attempt(() => this.compare()));
    const panel = by("train-panel");
    panel.addEventListener("drop", (event) => {
      const files = [...(event.dataTransfer?.files ?? [])];
      if (!files.length || this.trainer.on) return;
      event.preventDefault();
      event.stopPropagation();
      attempt(() => this.read(files));
    });
    panel.addEventListener("paste", (event) => {
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (!playersOf(text).length) return;
      event.preventDefault();
      event.stopPropagation();
      attempt(() => this.take(text));
    });
  }

  /** Offers the games of an index if one is open by now. */
  async offer() {
    by("mine-index").hidden = !(await this.indexed());
  }

  async read(files) {
    await this.take((await Promise.all(files.map((file) => file.text()))).join("\n\n"));
  }

  /** Loads games: they stay until others are loaded, also for the other colour. */
  async take(text) {
    by("mine").open = true;
    this.text = text;
    const names = playersOf(text);
    by("mine-names").replaceChildren(...names.slice(0, MOST_NAMES).map((value) => el("option", { value })));
    // The player with the most games is probably the user.
    if (!names.includes(by("mine-name").value)) by("mine-name").value = names[0] ?? "";
    await this.compare(true);
  }

  /** Compares the games; if the user asked for that, the answer is scrolled into view and gets the focus. */
  async compare(isAsked = false) {
    const player = by("mine-name").value.trim();
    if (!player) return;
    keep("mine-name", player);
    const [book] = this.trainer.now().view.books;
    const color = by("train-colour").value;
    const query = new URLSearchParams({ ...this.trainer.now().state.set, player, color, book: book.book });
    by("mine-message").textContent = t("The games are being compared…");
    by("mine-list").replaceChildren();
    try {
      const moves = this.trainer.cards.chosen(book.deck, color);
      const sent = moves.length ? { pgn: this.text, moves } : this.text;
      this.show(await receive(`/departures?${query}`, sent), { book, color });
      if (!isAsked) return;
      by("mine").scrollIntoView();
      by("mine-message").focus({ preventScroll: true });
    } catch (error) {
      by("mine-message").textContent = "";
      throw error;
    }
  }

  show(found, of) {
    by("mine-message").textContent =
      t`${gamesText(found.games)}. Left by you: ${found.left_by_player}, by the opponent: ${found.left_by_opponent}, without an answer: ${found.unanswered}.`;
    const several = found.several.map((one) => this.several(one, of));
    by("mine-list").replaceChildren(...several, ...found.departures.map((one) => this.row(one, of)));
  }

  /** A position in which the repertoire does not say what the answer is. */
  several({ book, games, line, moves }, { color }) {
    const answers = book.map((move) => named(move, color)).join(", ");
    return row(
      () => attempt(() => this.load(moves.map((move) => move.uci).join(" "))),
      t`Several main moves in the book: ${answers}`,
      [gamesText(games), lettered(line)].filter(Boolean).join(" · "),
    );
  }

  row(one, { book, color }) {
    const other = color === "white" ? "black" : "white";
    const side = one.by === "opponent" ? other : color;
    const [played, instead] = [named(one.played, side), one.book.map((move) => named(move, side)).join(", ")];
    const texts = {
      player: () => t`You: ${played}, the book: ${instead}`,
      opponent: () =>
        one.reply ? t`The opponent: ${played}, you then: ${named(one.reply, color)}` : t`The opponent: ${played}`,
      book: () => t`No answer in the book; you: ${played}`,
    };
    const score = one.score === null ? null : percent(one.score, 0);
    const about = [
      gamesText(one.games),
      score,
      one.opening && `${one.eco} ${openingName(one.opening)}`,
      lettered(one.line),
    ];
    // If the opponent left it, the book lacks the answer.
    const last = one.by === "opponent" ? one.reply : one.played;
    const before = one.by === "opponent" ? [...one.moves, one.played] : one.moves;
    const uci = (moves) => moves.map((move) => move.uci);
    const write = ({ currentTarget }) =>
      attempt(async () => {
        await this.write(book.book, uci(before), last.uci);
        currentTarget.disabled = true;
      });
    return row(
      () => attempt(() => this.load(uci(before).join(" "))),
      texts[one.by](),
      about.filter(Boolean).join(" · "),
      one.by === "player" ? button(t("Make a card"), () => this.ask(one, book, color), { class: "quiet" }) : null,
      last && takesLines(book) ? button(t`Add ${lettered(last.san)} to the book`, write, { class: "quiet" }) : null,
    );
  }

  /** Adds the position to the training. */
  ask(one, book, color) {
    const { cards } = this.trainer;
    cards.want(cards.key(book.deck, color, one.fen), {
      fen: null,
      line: one.moves.map(({ uci, san }) => ({ uci, san })),
    });
    this.trainer.offer();
    say(t("Added to the cards that are due."));
  }
}
