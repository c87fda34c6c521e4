// A repertoire from PGN: the games of a file are its chapters, each with a name. The
// file stays in the browser until the page is left; what was trained of it stays longer.

import { post } from "./api.js";
import { by, el } from "./dom.js";
import { split } from "./games.js";
import { t } from "./lang.js";
import { say } from "./say.js";
import { signs } from "./signs.js";
import * as trees from "./tree.js";

/** Chapters that are listed. */
const MOST = 500;

/** Games with their names: by the event where that differs from game to game, else by the players. */
export function named(games) {
  const events = new Set(games.map(({ event }) => event));
  const isByEvent = events.size === games.length && !events.has("");
  return games.map((game) => ({ text: game.text, name: isByEvent ? game.event : game.label }));
}

/** What a chapter has in a position, in the form of a book. */
export function bookOf(tree, moves) {
  const at = trees.find(tree, moves);
  const children = at === undefined ? [] : trees.node(tree, at).children.map((id) => trees.node(tree, id));
  return {
    moves: children
      .filter(({ uci }) => uci !== "0000")
      .map((node) => ({
        ...node,
        annotation: signs(node),
        mark: "none",
        games: 1,
        probability: 1,
        transposition: false,
      })),
  };
}

export class Chapters {
  trainer;

  constructor(trainer) {
    this.trainer = trainer;
    this.file = "";
    this.all = [];
    by("chapters-open").addEventListener("click", () => by("chapters-file").click());
    by("chapters-file").addEventListener("change", () => {
      const [file] = by("chapters-file").files;
      by("chapters-file").value = "";
      this.try(() => this.read(file));
    });
  }

  try(action) {
    return action().catch((error) => say(error.message, true));
  }

  async read(file) {
    this.all = named(split(await file.text())).slice(0, MOST);
    this.file = file.name;
    this.draw();
  }

  /** Shows the chapters, and how many cards of each are due. */
  draw() {
    const colour = by("train-colour").value;
    const row = (chapter) => {
      const due = this.trainer.cards.due(this.nameOf(chapter), colour).length;
      return el(
        "li",
        {},
        el(
          "button",
          { type: "button", onclick: () => this.try(() => this.begin(chapter)) },
          el("span", {}, chapter.name),
          due ? el("span", { class: "hint" }, t`${due} due today`) : null,
        ),
      );
    };
    by("chapters-list").replaceChildren(...this.all.map(row));
  }

  /** What the cards of a chapter are stored under, in place of the name of a book. */
  nameOf({ name }) {
    return `${this.file}: ${name}`;
  }

  async begin(chapter) {
    const pasted = await post("/api/read", { text: chapter.text });
    this.trainer.begin(by("train-colour").value, { name: this.nameOf(chapter), tree: trees.fromPasted(pasted) });
  }
}
