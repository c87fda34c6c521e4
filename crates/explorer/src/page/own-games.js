// The user's own games under the book's moves, if an index of games is open and the user's name is known.

import { get, newest } from "./api.js";
import { parameters } from "./address.js";
import { by, gamesText, percent } from "./dom.js";
import { keep, t } from "./lang.js";

/** Delay in milliseconds before a request, so that stepping past a position sends none. */
const PAUSE = 150;

/** The texts for the moves of an answer about a player with a colour, by their names. */
export function figures({ moves }, color) {
  return new Map(
    moves.map(({ san, white, draws, black }) => {
      const games = white + draws + black;
      const score = ((color === "white" ? white : black) + draws / 2) / games;
      return [san, t`you: ${gamesText(games)}, ${percent(score, 0)}`];
    }),
  );
}

export class Own {
  draw;
  indexed;

  /** `draw` gets the texts of a position, by the names of its moves; `indexed()` promises whether there is an index. */
  constructor({ draw, indexed }) {
    Object.assign(this, { draw, indexed });
    this.asked = newest();
    by("mine-name").addEventListener("change", () => {
      keep("mine-name", by("mine-name").value.trim());
      if (this.last) this.shown(...this.last);
    });
  }

  /** The page shows a position: the user plays the colour at the bottom of the board. */
  async shown(state, view) {
    this.last = [state, view];
    const isNewest = this.asked();
    const player = by("mine-name").value.trim();
    if (!player || !(await this.indexed())) {
      this.draw({ fen: view.fen, moves: new Map() });
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    if (!isNewest()) return;
    const color = state.flip ? "black" : "white";
    const query = parameters({ ...state, books: "", set: {}, filter: { player, color } });
    query.set("recentGames", "0");
    const found = await get("/player", query).catch(() => ({ moves: [] }));
    if (isNewest()) this.draw({ fen: view.fen, moves: figures(found, color) });
  }
}
