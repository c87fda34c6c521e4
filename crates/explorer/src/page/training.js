// Loads the training when it is needed: when its tab is shown, or at once if there are cards, which may be
// due.

import { Gone, script } from "./api.js";
import { loadPart } from "./face.js";
import { stored } from "./lang.js";
import * as tabs from "./tabs.js";

export class Training {
  parts;

  /** `parts` are the arguments of the trainer, and `failed`, which gets errors. */
  constructor(parts) {
    this.parts = parts;
    /** The trainer, when it has been loaded. */
    this.trainer = null;
    this.loading = null;
    tabs.whenShown("train", () => this.run((trainer) => trainer.offer()));
  }

  /** Whether a question or a game is running. */
  get on() {
    return this.trainer?.on ?? false;
  }

  /** Runs an action with the trainer, after loading it. */
  async run(action) {
    try {
      await (this.loading ??= this.load());
      await action(this.trainer);
    } catch (error) {
      this.parts.failed(error);
    }
  }

  async load() {
    try {
      const { Trainer } = await script("trainer");
      // Last, so that no button is shown before it works.
      await loadPart("training", () => this.parts.failed(new Gone()));
      this.trainer = new Trainer(this.parts);
    } catch (error) {
      this.loading = null;
      throw error;
    }
  }

  /** The page shows another position. */
  shown(state, view) {
    if (this.trainer) this.trainer.shown(state, view);
    else if (tabs.isShown("train") || stored("training", null)) this.run((trainer) => trainer.offer());
  }

  /** Handles a move on the board. */
  played(move) {
    return this.trainer.played(move);
  }

  stop() {
    this.trainer?.stop();
  }
}
