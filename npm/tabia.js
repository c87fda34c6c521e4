// Opening books in browsers, workers and Node: one module, no dependency.
// docs/npm.md is for users; crates/wasm is the other side of every call.

/** The base class of all errors: `file`, `page` (0 follows the header) and `byte` where known. */
export class TabiaError extends Error {
  constructor(text, { file, page, byte, cause } = {}) {
    super(text, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.file = file ?? undefined;
    this.page = page ?? undefined;
    this.byte = byte ?? undefined;
  }
}

/** The book cannot be opened or read, is damaged, or is not a book. */
export class BookError extends TabiaError {}

/** The text is not a position. */
export class PositionError extends TabiaError {}

/** There is no such option, or it does not take the value. */
export class OptionError extends TabiaError {}

/** The book cannot be written in this format. */
export class ConvertError extends TabiaError {}

/** The module has ended by a fault of its own, or lack of memory: open the book again. */
export class PanicError extends TabiaError {}

const CLASSES = { BookError, PositionError, OptionError, ConvertError };

/** The files that a book may have. */
const EXTENSIONS = ["ctg", "cto", "ctb", "bin", "abk", "bkt", "obk"];

/** Files of these kinds are read where they are asked, others at opening. */
const READ_IN_PIECES = ["ctg", "bin"];

/**
 * A larger blob of these kinds is read in pieces, where that is possible: in a worker. A read takes Chromium a fifth of
 * a millisecond, and a probe many of them.
 */
const MEMORY = 512 * 2 ** 20;

/** An array of the module's memory is shorter. */
const LARGEST_ARRAY = 2 ** 31 - 1;

/** Positions of a walk that are taken at once. */
const STEP = 256;

/** The usual options of choices. */
const NONE = {};

const encoder = new TextEncoder();
const decoder = new TextDecoder();

let compiled;

/**
 * Compiles the module from elsewhere than beside this file; openBook() waits for it.
 * @param source a WebAssembly.Module, its bytes, a response, or an address
 */
export function load(source = new URL("./tabia.wasm", import.meta.url)) {
  const made = compile(source);
  compiled = made;
  // What failed is tried again by the next call.
  made.catch(() => {
    if (compiled === made) compiled = undefined;
  });
  return made;
}

async function compile(source) {
  source = await source;
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  if (typeof Response === "undefined" || !(source instanceof Response)) {
    // Relative to the page; webpack takes another URL with import.meta.url for a file of the package.
    const address = new URL(source, globalThis.location?.href);
    if (address.protocol === "file:") return WebAssembly.compile(await fileOfNode(address));
    source = await fetch(address);
  }
  if (!source.ok) throw new TabiaError(`${source.url}: ${source.status} ${source.statusText}`);
  // Streams need a type that not every server sends.
  const type = source.headers.get("content-type") ?? "";
  if (type.startsWith("application/wasm")) return WebAssembly.compileStreaming(source);
  return WebAssembly.compile(await source.arrayBuffer());
}

async function fileOfNode(address) {
  // Bundlers would look for it in the browser.
  const name = ["node", "fs/promises"].join(":");
  const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ name);
  return readFile(address);
}

/**
 * Opens a book.
 * @param files `{ ctg, cto, ctb }` (the last two may be left out), or `{ bin }`, `{ abk }`,
 *     `{ bkt }`, `{ obk }`: each a Uint8Array, an ArrayBuffer, a Blob, or `{ size, read(offset,
 *     length) }`, which returns a Uint8Array at once; and perhaps the `name` of the book, and the bytes of `memory` for
 *     a blob
 */
export async function openBook(files) {
  const { name, memory = MEMORY, ...given } = files;
  const sources = [];
  for (const [extension, file] of Object.entries(given)) {
    if (!EXTENSIONS.includes(extension)) {
      throw new OptionError(`there is no file "${extension}": a book has ${EXTENSIONS.join(", ")}`);
    }
    if (file === undefined || file === null) continue;
    const path = nameOf(file, extension, name);
    sources.push({ path, content: await contentOf(file, extension, path, memory) });
  }
  const module = new Module(await instanceParts());
  for (const { path, content } of sources) module.file(path, content);
  return new Book(module, JSON.parse(module.text("open_book")));
}

function nameOf(file, extension, name) {
  if (name !== undefined) return `${name}.${extension}`;
  if (typeof file.name === "string" && file.name.toLowerCase().endsWith(`.${extension}`)) return file.name;
  return `book.${extension}`;
}

async function contentOf(file, extension, path, memory) {
  if (ArrayBuffer.isView(file)) return new Uint8Array(file.buffer, file.byteOffset, file.byteLength);
  if (file instanceof ArrayBuffer) return new Uint8Array(file);
  if (typeof Blob !== "undefined" && file instanceof Blob) {
    if (file.size > memory && READ_IN_PIECES.includes(extension) && typeof FileReaderSync !== "undefined") {
      const reader = new FileReaderSync();
      const read = (offset, length) => new Uint8Array(reader.readAsArrayBuffer(file.slice(offset, offset + length)));
      return { size: file.size, read };
    }
    return new Uint8Array(await file.arrayBuffer());
  }
  if (typeof file.read === "function" && Number.isSafeInteger(file.size) && file.size >= 0) return file;
  throw new OptionError(`${path}: not a Uint8Array, an ArrayBuffer, a Blob, or { size, read(offset, length) }`);
}

/** A new instance, and what it calls. */
async function instanceParts() {
  const module = await (compiled ?? load());
  // The instance calls what is put here once it is made.
  const host = {};
  const tabia = {
    read: (file, offset, to, length) => host.read(file, offset, to, length),
    panicked: (text, length) => host.panicked(text, length),
  };
  const { exports } = await WebAssembly.instantiate(module, { tabia });
  return { exports, host };
}

/** An instance of the module: one for each book. */
class Module {
  #exports;
  #readers = [];
  /** What a reader has thrown, until the call that asked it has ended. */
  #thrown;
  #busy = false;
  /** Why it cannot be used any more. */
  #ruin;
  #ended;

  constructor({ exports, host }) {
    this.#exports = exports;
    host.read = (file, offset, to, length) => this.#read(file, offset, to, length);
    host.panicked = (text, length) => {
      this.#ruin = decoder.decode(this.#bytes(text, length));
    };
    this.call("start");
  }

  #bytes(at, length) {
    return new Uint8Array(this.#exports.memory.buffer, at >>> 0, length >>> 0);
  }

  #read(number, offset, to, length) {
    try {
      const bytes = this.#readers[number].read(offset, length >>> 0);
      if (!(bytes instanceof Uint8Array)) throw new TypeError("read() returns a Uint8Array, and no promise of one");
      const part = bytes.length > length ? bytes.subarray(0, length) : bytes;
      this.#bytes(to, length).set(part);
      return part.length;
    } catch (error) {
      this.#thrown = error;
      return -1;
    }
  }

  /** Calls an exported function. */
  call(name, ...numbers) {
    if (this.#exports === undefined) throw this.#ended();
    if (this.#busy) throw new TabiaError("read() must not use the book that it reads for");
    this.#busy = true;
    try {
      return this.#exports[name](...numbers);
    } catch (error) {
      const why = this.#ruin ?? `${error.message} (is there too little memory?)`;
      this.end(() => new PanicError(`internal error: ${why}; open the book again`, { cause: error }));
      throw this.#ended();
    } finally {
      this.#busy = false;
    }
  }

  get isOpen() {
    return this.#exports !== undefined;
  }

  /** Frees the instance; calls throw that from now on. */
  end(error) {
    this.#exports = undefined;
    this.#readers = [];
    this.#ended = error;
  }

  /** Gives it the input of the next call. */
  input(content) {
    if (typeof content === "string") {
      const { length } = content;
      // Nearly every text is ASCII, where each character is a byte.
      if (encoder.encodeInto(content, this.#bytes(this.call("input", length), length)).read === length) return;
    }
    const bytes = typeof content === "string" ? encoder.encode(content) : content;
    this.#bytes(this.call("input", bytes.length), bytes.length).set(bytes);
  }

  file(path, content) {
    this.input(path);
    this.call("file_name");
    if (!(content instanceof Uint8Array)) {
      this.call("file_reader", this.#readers.push(content) - 1, content.size);
    } else if (content.length > LARGEST_ARRAY) {
      throw new BookError(`${path}: ${content.length} bytes do not fit into memory: open it by { size, read }`, {
        file: path,
      });
    } else {
      this.input(content);
      this.call("file_bytes");
    }
  }

  /** The output of a call that may fail, until the next one. */
  output(name, ...numbers) {
    const failed = this.call(name, ...numbers);
    const cause = this.#thrown;
    this.#thrown = undefined;
    const output = this.#bytes(this.call("output"), this.call("output_length"));
    if (!failed) return output;
    const { class: kind, text, ...at } = JSON.parse(decoder.decode(output));
    const why = cause === undefined ? text : `${text}: ${cause?.message ?? cause}`;
    throw new CLASSES[kind](why, { ...at, cause });
  }

  text(name, ...numbers) {
    return decoder.decode(this.output(name, ...numbers));
  }
}

/** An open book: see openBook(). */
class Book {
  #module;
  #about;
  /** The options that the module has. */
  #options = "{}";

  constructor(module, about) {
    this.#module = module;
    this.#about = about;
  }

  /** `ctg`, `bin`, `abk`, `bkt` or `obk`. */
  get format() {
    return this.#about.format;
  }

  /** What is wrong with its files although it could be opened, one sentence each. */
  get notices() {
    return [...this.#about.notices];
  }

  #ask(fen, options) {
    if (typeof fen !== "string")
      throw new PositionError('a position is a string: a FEN, perhaps with "moves" and moves after it');
    const text = options === NONE ? "{}" : JSON.stringify(options);
    if (text !== this.#options) {
      this.#module.input(text);
      // If they are refused, the old ones are still there.
      this.#module.output("configure");
      this.#options = text;
    }
    this.#module.input(fen);
  }

  /** What the book has in a position: the object of `tabia probe --json`. */
  probe(fen, options = NONE) {
    this.#ask(fen, options);
    return JSON.parse(this.#module.text("probe"));
  }

  /** Draws a move, in UCI notation; null if there is none. The same seed draws the same one. */
  choose(fen, { seed = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER), ...options } = {}) {
    if (!Number.isSafeInteger(seed) || seed < 0)
      throw new OptionError(`seed: a whole number from 0 to 2^53 - 1, not ${seed}`);
    this.#ask(fen, options);
    return this.#module.text("choose", seed) || null;
  }

  /**
   * The FEN of every position, as the book stores it. What cannot be read is thrown; the next
   * call of next() goes on after it.
   */
  positions() {
    const module = this.#module;
    const walk = module.call("walk");
    let lines = [];
    let ended = false;
    const end = () => {
      if (!ended && module.isOpen) module.call("end_walk", walk);
      ended = true;
      return { done: true, value: undefined };
    };
    return {
      next() {
        if (lines.length === 0 && !ended) {
          // The first one is the last of the array.
          lines = module.text("step", walk, STEP).split("\n").slice(0, -1).reverse();
        }
        return lines.length === 0 ? end() : { done: false, value: lines.pop() };
      },
      return() {
        lines = [];
        return end();
      },
      [Symbol.iterator]() {
        return this;
      },
    };
  }

  /**
   * The bytes of `tabia convert`: to `bin`, `abk`, `csv`, `pgn`, and a ChessBase book to
   * `jsonl`. `report` is called with what was made and what was left out.
   */
  convert(format, { report, ...options } = {}) {
    this.#module.input(`${format}\n${JSON.stringify(options)}`);
    const bytes = this.#module.output("convert").slice();
    this.#module.call("free_output");
    report?.(JSON.parse(this.#module.text("converted")));
    return bytes;
  }

  /** Announces probes: a `.ctg` is read once, and each of many probes takes less time then. */
  reserve(probes = 1e6) {
    if (!(probes >= 0)) throw new OptionError(`a number of probes, not ${probes}`);
    this.#module.output("reserve", probes);
  }

  /** Frees its memory. */
  close() {
    this.#module.end(() => new BookError("the book is closed"));
  }
}
