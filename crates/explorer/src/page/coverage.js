// Positions after the opponents' moves for which the repertoire has no answer.

import { receive } from "./api.js";
import { by, percent, row } from "./dom.js";
import { lettered, openingName, t } from "./lang.js";
import { attempt } from "./toast.js";

export class Coverage {
  trainer;
  load;

  /** `load(text)` shows a line. */
  constructor(trainer, { load }) {
    Object.assign(this, { trainer, load });
    by("coverage").addEventListener("toggle", () => this.show());
    by("train-colour").addEventListener("change", () => this.show());
  }

  /** Requests them again if the book, its content, the colour or the opponents' moves have changed. */
  async show() {
    const { view, state } = this.trainer.now();
    if (!by("coverage").open || !view || this.trainer.on) return;
    const [book, opponents] = view.books;
    const query = new URLSearchParams({ ...state.set, book: book.book, color: by("train-colour").value });
    if (opponents) query.set("opponents", opponents.book);
    const moves = this.trainer.cards.chosen(book.deck, by("train-colour").value);
    const asked = `${view.changes} ${query} ${JSON.stringify(moves)}`;
    if (asked === this.asked) return;
    this.asked = asked;
    by("coverage-message").textContent = t("The book is being searched…");
    try {
      const { holes } = await receive(`/coverage?${query}`, moves.length ? { moves } : null);
      if (asked !== this.asked) return;
      by("coverage-message").textContent = holes.length
        ? t("A click shows the position. Play your move there and add the line.")
        : t("Every move of the book has an answer.");
      by("coverage-list").replaceChildren(...holes.map((hole) => this.row(hole)));
    } catch (error) {
      this.asked = null;
      by("coverage-message").textContent = error.message;
    }
  }

  row({ moves, line, share, eco, opening, is_end }) {
    const last = moves.length ? lettered(moves.at(-1).san) : t("Start");
    const about = [opening && `${eco} ${openingName(opening)}`, lettered(line)];
    const show = () => attempt(() => this.load(moves.map(({ uci }) => uci).join(" ")));
    const ends = () =>
      share === null
        ? t`The line ends after ${last}: how many games continue is unknown`
        : t`The line ends after ${last}: ${percent(share)} of games go on`;
    const missing = () =>
      share === null
        ? t`No answer to ${last}: how often it is played is unknown`
        : t`No answer to ${last}: ${percent(share)} of games`;
    return row(show, is_end ? ends() : missing(), about.filter(Boolean).join(" · "));
  }
}
