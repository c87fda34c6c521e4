// What the page's modules ask of a browser when they are loaded, and random values. There is no document here: what
// needs one is tested in browsers, in `tests/interop`.

import { readFileSync } from "node:fs";

const events = new EventTarget();

class Storage {
  #values = new Map();
  getItem = (name) => this.#values.get(name) ?? null;
  setItem = (name, value) => this.#values.set(name, String(value));
  removeItem = (name) => this.#values.delete(name);
  key = (index) => [...this.#values.keys()][index] ?? null;
  get length() {
    return this.#values.size;
  }
  clear = () => this.#values.clear();
}

const set = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });

set("localStorage", new Storage());
set("sessionStorage", new Storage());
set("navigator", { language: "en-GB" });
set("location", { search: "", pathname: "/" });
set("history", { state: null });
set("document", {
  querySelector: () => ({ content: "0" }),
  documentElement: { lang: "en" },
  body: {},
});
for (const name of ["addEventListener", "removeEventListener", "dispatchEvent"]) set(name, events[name].bind(events));

/** A file of the repository. */
export const file = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** A source of random numbers, the same for the same seed (mulberry32). */
export function randomFrom(seed) {
  let state = seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** A whole number below `end`. */
  const below = (end) => Math.floor(random() * end);
  return { random, below, one: (list) => list[below(list.length)], chance: (of) => random() < of };
}

/** Calls `test` with a random source for each of several seeds; an error names its seed. */
export function forSeeds(count, test) {
  for (let seed = 1; seed <= count; seed += 1) {
    try {
      test(randomFrom(seed));
    } catch (error) {
      error.message = `seed ${seed}: ${error.message}`;
      throw error;
    }
  }
}

/** The same for a test that waits. */
export async function forSeedsInTurn(count, test) {
  for (let seed = 1; seed <= count; seed += 1) {
    try {
      await test(randomFrom(seed));
    } catch (error) {
      error.message = `seed ${seed}: ${error.message}`;
      throw error;
    }
  }
}

/** Lets all that can go on without an event go on. */
export const settle = () => new Promise((resolve) => setImmediate(resolve));
