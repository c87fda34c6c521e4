// The only state of the page: the state and its answer change together or not at all. Requested steps wait in
// one queue; a step is taken only when its start position is known.

import * as trees from "./tree.js";

/** The result of a step that needs an answer which has not come yet. */
export const WAIT = Symbol("wait");

/** Number of likeliest moves that are requested in advance. */
export const AHEAD = 16;

export class Store {
  ask;
  shown;
  failed;

  /** `ask(state)` returns the answer for a state; `shown(how)` is called when both have changed, `failed(error)` on an error. */
  constructor(state, { ask, shown, failed }) {
    Object.assign(this, { state, ask, shown, failed });
    this.view = null;
    this.queue = [];
    this.running = null;
  }

  /**
   * Adds a step: `(state, store) => next state`, nothing, or WAIT. `how` is the change of the browser's
   * history: walk, jump, keep or pop; "again" is a jump whose moves need no undo. Resolves when the queue is empty: whether everything in it succeeded.
   */
  want(step, how = "jump") {
    this.queue.push({ step, how });
    return (this.running ??= this.run());
  }

  async run() {
    // `running` is set before the loop can end, and nothing runs between the last check of the queue and its
    // end: no step is left there.
    await null;
    let well = true;
    while (this.queue.length) {
      const waiting = [...this.queue];
      try {
        const { next, how } = this.lead();
        if (next === this.state) continue;
        const view = await this.ask(next);
        this.state = next;
        this.view = view;
        this.shown(how);
      } catch (error) {
        // Nothing was changed; later steps are dropped, too. If only the program is away, they are kept.
        const later = this.queue.filter((one) => !waiting.includes(one));
        const isGone = error.isGone === true;
        this.queue = isGone ? [...waiting, ...later] : [];
        well = false;
        this.failed(error);
        if (isGone) break;
      }
    }
    this.running = null;
    return well;
  }

  /** The state after those next steps of one kind that can be taken now. */
  lead() {
    let next = this.state,
      how = "keep";
    while (this.queue.length) {
      const [{ step, how: asked }] = this.queue;
      const result = step(next, this);
      if (result === WAIT && next !== this.state) break;
      this.queue.shift();
      if (!result || result === WAIT) continue;
      next = result;
      how = asked;
      // Another kind of step gets a separate entry in the history.
      if (this.queue[0]?.how !== asked) break;
    }
    return { next, how };
  }

  /** The likeliest move of a state; null if there is none, undefined if unknown. */
  likeliest(state) {
    if (
      !this.view ||
      state.books !== this.state.books ||
      state.set !== this.state.set ||
      state.filter !== this.state.filter
    )
      return undefined;
    if (!trees.isBelow(state.tree, this.state.at, state.at)) return undefined;
    const from = trees.path(state.tree, this.state.at).length;
    const steps = trees
      .path(state.tree, state.at)
      .slice(from)
      .map((id) => trees.node(state.tree, id).uci);
    const { ahead } = this.view;
    if (steps.some((uci, index) => ahead[index]?.uci !== uci)) return undefined;
    return ahead[steps.length] ?? (steps.length < AHEAD ? null : undefined);
  }
}
