// One source of truth: the state and the answer that belongs to it change
// together or not at all. What people want waits in one queue; a wish is only
// understood where the position it is about is known.

import * as trees from "./tree.js";

/** A wish that needs an answer which is not here yet. */
export const WAIT = Symbol("wait");

/** How many likeliest moves are asked for beforehand. */
export const AHEAD = 16;

export class Store {
  /** `ask(state)` gives the answer to a state; `shown(how)` is told when both have changed; `failed(error)` when not. */
  constructor(state, { ask, shown, failed }) {
    Object.assign(this, { state, ask, shown, failed });
    this.view = null;
    this.queue = [];
    this.running = null;
  }

  /**
   * Adds a wish: `(state, store) => next state`, nothing, or WAIT. `how` says
   * what becomes of the browser's history: walk, jump, keep or pop.
   */
  want(wish, how = "jump") {
    this.queue.push({ wish, how });
    this.running ??= this.run().finally(() => { this.running = null; });
    return this.running;
  }

  async run() {
    while (this.queue.length) {
      let next = this.state, how = "keep", waits = false;
      while (this.queue.length && !waits) {
        const [{ wish, how: asked }] = this.queue;
        const step = wish(next, this);
        if (step === WAIT && next === this.state) { this.queue.shift(); continue; }
        waits = step === WAIT;
        if (waits) break;
        this.queue.shift();
        if (!step) continue;
        next = step;
        how = asked;
        // Another kind of step is an entry of its own in the history.
        if (this.queue[0]?.how !== asked) break;
      }
      if (next === this.state) continue;
      try {
        const view = await this.ask(next);
        this.state = next;
        this.view = view;
        this.shown(how);
      } catch (error) {
        // Nothing has happened, then; what was wanted after it is void, too.
        this.queue.length = 0;
        this.failed(error);
      }
    }
  }

  /** The legal moves of a state; undefined when they are not known. */
  legal(state) {
    return this.view && state.at === this.state.at && state.tree.fen === this.state.tree.fen ? this.view.legal : undefined;
  }

  /** The likeliest move of a state, null when there is none, undefined when that is not known. */
  likeliest(state) {
    if (!this.view || state.books !== this.state.books || state.set !== this.state.set) return undefined;
    if (!trees.isBelow(state.tree, this.state.at, state.at)) return undefined;
    const from = trees.path(state.tree, this.state.at).length;
    const steps = trees.path(state.tree, state.at).slice(from).map((id) => trees.node(state.tree, id).uci);
    const { ahead } = this.view;
    if (steps.some((uci, index) => ahead[index]?.uci !== uci)) return undefined;
    return ahead[steps.length] ?? (steps.length < AHEAD ? null : undefined);
  }
}
