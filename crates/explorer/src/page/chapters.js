// A repertoire from PGN: the games of a file are its chapters, each with a name. They are stored in the
// browser, and exported with the training data.

import { post } from "./api.js";
import { subjectOf } from "./cards.js";
import { by, chooseFiles, el, row } from "./dom.js";
import { split } from "./games.js";
import { storedJson, t } from "./lang.js";
import { attempt, say } from "./toast.js";
import { signs } from "./icons.js";
import * as trees from "./tree.js";

/** Greatest number of stored chapters; the newest stay. */
const MOST = 500;

const PLACE = "chapters";

/** The valid chapters of a list, which may come from anywhere. */
export const valid = (chapters) =>
  (Array.isArray(chapters) ? chapters : []).filter((one) =>
    [one?.file, one?.name, one?.text].every((text) => typeof text === "string"),
  );

/** Games with names: the event if it differs between games, else the players. */
export function named(games) {
  const events = new Set(games.map(({ event }) => event));
  const isByEvent = events.size === games.length && !events.has("");
  return games.map((game) => ({ text: game.text, name: isByEvent ? game.event : game.label }));
}

/** Chapters with others: those of a file replace its old ones, and the newest stay. */
export function joined(old, chapters) {
  const files = new Set(chapters.map(({ file }) => file));
  return [...old.filter(({ file }) => !files.has(file)), ...chapters].slice(-MOST);
}

/** The moves of a chapter in a position, in the form of a book. */
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
    this.all = valid(storedJson(PLACE, []));
    chooseFiles("chapters-open", "chapters-file", ([file]) => attempt(() => this.read(file)));
  }

  async read(file) {
    this.add(named(split(await file.text())).map((chapter) => ({ file: file.name, ...chapter })));
  }

  /** Adds chapters. */
  add(chapters) {
    this.set(joined(this.all, chapters));
  }

  set(all) {
    this.all = all;
    this.draw();
    try {
      localStorage.setItem(PLACE, JSON.stringify(all));
    } catch {
      say(t("The browser cannot store these chapters: they are lost when the page is closed."), true);
    }
  }

  /** Shows the chapters, and the number of due cards of each. */
  draw() {
    const colour = by("train-colour").value;
    const rowOf = (chapter) => {
      const due = this.trainer.cards.due(subjectOf(this.nameOf(chapter)), colour).length;
      return row(() => attempt(() => this.begin(chapter)), chapter.name, due ? t`${due} due today` : null);
    };
    const head = (file) => {
      const leave = () => this.set(this.all.filter((chapter) => chapter.file !== file));
      const close = { type: "button", class: "quiet", "aria-label": t`Without ${file}`, onclick: leave };
      return el("li", { class: "file" }, el("span", {}, file), el("button", close, "×"));
    };
    const files = [...new Set(this.all.map(({ file }) => file))];
    by("chapters-list").replaceChildren(
      ...files.flatMap((file) => [head(file), ...this.all.filter((chapter) => chapter.file === file).map(rowOf)]),
    );
  }

  /** Whether a chapter has this name. */
  has = (name) => this.all.some((chapter) => this.nameOf(chapter) === name);

  /** The name under which the cards of a chapter are stored, like that of a book. */
  nameOf({ file, name }) {
    return `${file}: ${name}`;
  }

  async begin(chapter) {
    const pasted = await post("/api/read", { text: chapter.text });
    this.trainer.begin(by("train-colour").value, { name: this.nameOf(chapter), tree: trees.fromPasted(pasted) });
  }
}
