// What is shown of a position before the program answers: from the answers that have come, else by the rules of chess.

import { parameters } from "./address.js";
import * as rules from "./rules.js";
import * as trees from "./tree.js";

/** Greatest number of answers that are kept. */
const MOST = 300;

/** The answers that have come and those on their way, by what was asked. */
export class Seen {
  request;

  /** `request(query)` gets an answer. */
  constructor(request) {
    this.request = request;
    this.clear();
  }

  /** Forgets all, as a book may have changed. */
  clear() {
    this.views = new Map();
    this.coming = new Map();
  }

  /** The answer for a state; what is on its way is not requested again. */
  ask(state) {
    const query = parameters(state);
    const key = String(query);
    const { coming } = this;
    if (!coming.has(key)) {
      const asked = this.request(query).then((view) => this.keep(state, view));
      coming.set(key, asked);
      asked.catch(() => {}).then(() => coming.delete(key));
    }
    return coming.get(key);
  }

  /** Keeps an answer and returns it; those from before a change to a book are left. */
  keep(state, view) {
    if (view.changes !== this.changes) this.views.clear();
    this.changes = view.changes;
    const key = String(parameters(state));
    this.views.delete(key);
    this.views.set(key, view);
    if (this.views.size > MOST) this.views.delete(this.views.keys().next().value);
    return view;
  }

  /** The answer for a state, if it has come. */
  get(state) {
    return this.views.get(String(parameters(state))) ?? null;
  }
}

/** The likeliest moves after a step from a state with these; nothing if that is unknown. */
function aheadAfter(from, next, ahead) {
  const [path, old] = [next, from].map((state) => trees.line(state.tree, state.at));
  const isOn = old.every((uci, index) => path[index] === uci);
  const steps = path.slice(old.length);
  return isOn && ahead && steps.every((uci, index) => ahead[index]?.uci === uci) ? ahead.slice(steps.length) : null;
}

/** The part of an answer that follows from the rules, for a step from a shown state; null if it is not such a step. */
export function guess(next, from, view) {
  if (next.books !== from.books || next.set !== from.set || next.filter !== from.filter) return null;
  if (trees.isSamePlace(next, from)) return view.isGuess ? view : null;
  const line = trees.line(next.tree, next.at);
  const first = rules.read(next.tree.fen);
  const position = first && line.reduce(rules.play, first);
  if (!position) return null;
  const legal = rules.legal(position);
  const check = rules.isCheck(position);
  return {
    ...view,
    isGuess: true,
    problem: null,
    fen: rules.write(position),
    at: line.length,
    turn: position.white ? "white" : "black",
    fullmove: position.full,
    check,
    end: legal.length ? null : check ? "checkmate" : "stalemate",
    legal,
    ahead: aheadAfter(from, next, view.ahead),
    books: view.books.map((book) => ({ ...book, moves: [] })),
  };
}
