// Training and what belongs to it is loaded when it is wanted: when its tab is shown,
// or at once where something was trained before, which may be due.

import { Gone, script } from "./api.js";
import { by } from "./dom.js";
import { furnish } from "./face.js";
import { stored } from "./lang.js";
import * as tabs from "./tabs.js";

export class Training {
  parts;

  /** `parts` are what the trainer gets, and `failed`, which takes errors. */
  constructor(parts) {
    this.parts = parts;
    /** The trainer, when it has been loaded. */
    this.trainer = null;
    this.loading = null;
    tabs.whenShown("train", () => this.run((trainer) => trainer.offer()));
  }

  /** Whether moves are asked for, or a game is played. */
  get on() {
    return this.trainer?.on ?? false;
  }

  /** Does something with the trainer, which is loaded before. */
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
      // Last of all, so that no button is there before it does something.
      await furnish("training", by("train-panel"), () => this.parts.failed(new Gone()));
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

  /** A move on the board. */
  played(move) {
    return this.trainer.played(move);
  }

  stop() {
    this.trainer?.stop();
  }
}
