// The only state of the page. Requested steps wait in one queue; a step is taken only when what it starts from is known.
// A step to a position that is known, or that follows by the rules of chess, is shown at once; its answer comes later, and
// only for the state that is shown then. Other steps change the state and its answer together or not at all.

import * as trees from "./tree.js";

/** The result of a step that needs an answer which has not come yet. */
export const WAIT = Symbol("wait");

/** A step whose answer did not come; the error has been shown. */
class Dropped extends Error {}

/** Number of answers on their way at once, of steps that were shown before. */
const AT_ONCE = 4;

/** Number of likeliest moves that are requested in advance. */
export const AHEAD = 16;

export class Store {
  ask;
  shown;
  failed;
  known;
  wanted;

  /**
   * `ask(state)` returns the answer for a state; `wanted(how)` is called when a step is wanted, `shown(how)` when state
   * and answer have changed, `failed(error)` on an error. `known(state)` returns the answer if it is known, or a part of
   * it, with `isGuess`; else nothing.
   */
  constructor(
    state,
    {
      ask,
      shown,
      failed,
      wanted = /** @type {(how: string) => void} */ (() => {}),
      known = /** @type {(state: any) => any} */ (() => null),
    },
  ) {
    Object.assign(this, { state, ask, shown, failed, wanted, known });
    this.view = null;
    this.queue = [];
    this.running = null;
    /** The last requests for what is shown as a guess: whether each succeeded. */
    this.filling = [];
  }

  /**
   * Adds a step: `(state, store) => next state`, nothing, or WAIT. `how` is the change of the browser's
   * history: walk, jump, keep or pop; "again" is a jump whose moves need no undo, and "follow" one that the page takes
   * by itself. Resolves when the queue is empty: whether everything in it succeeded.
   */
  want(step, how = "jump") {
    this.wanted(how);
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
        const { next, how, waits } = this.lead();
        // A step from a guess that needs the answer.
        if (waits && !(await this.filled())) throw new Dropped();
        if (next === this.state) continue;
        const view = this.known(next) ?? (await this.ask(next));
        this.state = next;
        this.view = view;
        this.shown(how);
        if (view.isGuess) this.fill();
      } catch (error) {
        // Nothing was changed; later steps are dropped, too. If only the program is away, they are kept.
        const later = this.queue.filter((one) => !waiting.includes(one));
        const isGone = error.isGone === true;
        this.queue = isGone ? [...waiting, ...later] : [];
        well = false;
        if (!(error instanceof Dropped)) this.failed(error);
        if (isGone) break;
      }
    }
    this.running = null;
    return well;
  }

  /** Asks for the answer of the shown guess. If several are on their way, only the newest of the others is asked for. */
  fill() {
    if (this.filling.length >= AT_ONCE) return;
    const { state } = this;
    const asked = this.ask(state).then(
      (view) => {
        if (this.state !== state) return true;
        this.view = view;
        this.shown("keep");
        return true;
      },
      (error) => {
        if (this.state === state) this.failed(error);
        return false;
      },
    );
    this.filling.push(asked);
    asked.then((well) => {
      this.filling = this.filling.filter((one) => one !== asked);
      // It was left out; after an error, `failed` decides what comes next.
      if (well && this.view.isGuess && !this.filling.length) this.fill();
    });
  }

  /** Resolves when what is shown is not a guess: whether it is not one. */
  async filled() {
    while (this.view?.isGuess && this.filling.length) await Promise.race(this.filling);
    return !this.view?.isGuess;
  }

  /** The state after those next steps of one kind that can be taken now. */
  lead() {
    let next = this.state,
      how = "keep";
    while (this.queue.length) {
      const [{ step, how: asked }] = this.queue;
      const result = step(next, this);
      if (result === WAIT && next !== this.state) break;
      if (result === WAIT && this.view?.isGuess) return { next, how, waits: true };
      this.queue.shift();
      if (!result || result === WAIT) continue;
      next = result;
      how = asked;
      // Another kind of step gets a separate entry in the history.
      if (this.queue[0]?.how !== asked) break;
    }
    return { next, how, waits: false };
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
    const { ahead, isGuess } = this.view;
    if (!ahead) return undefined;
    if (steps.some((uci, index) => ahead[index]?.uci !== uci)) return undefined;
    return ahead[steps.length] ?? (steps.length < AHEAD && !isGuess ? null : undefined);
  }
}
