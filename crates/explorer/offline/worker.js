// The program of the page without a server: the explorer as WebAssembly, which answers one request after the other. One
// worker has the books, and makes all changes; each of those for long answers has copies of its files.

import { Files } from "./wasi.js";

/** Where the books of the beginning, the files of the user and indexes are: FOLDERS in crates/page/src/site.rs. */
const BOOKS = "books",
  OPENED = "files",
  MADE = "made",
  FOLDERS = [BOOKS, OPENED, MADE];

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const files = new Files([...FOLDERS, "tmp"]);

let module = null,
  program = null,
  complaints = "";

/** The requests that have opened a book: a program that is started again has the same books. */
const opened = [];

const put = (folder, chosen) => chosen.forEach((file) => files.put(folder, file.name, file));

/** Tells the page how far the program is with an index: a line of JSON. */
const report = (progress) => postMessage({ progress });

function start() {
  complaints = "";
  const instance = new WebAssembly.Instance(module, {
    wasi_snapshot_preview1: files.imports({
      memory: () => /** @type {any} */ (instance.exports.memory),
      report,
      complain: (text) => (complaints += text),
    }),
  });
  program = /** @type {any} */ (instance.exports);
  program.__wasm_call_ctors();
}

/** Sends the program a request; its answer has status, headers and body. */
function ask({ method, target, headers, body }) {
  const head = encoder.encode(`${JSON.stringify({ method, target, headers })}\n`);
  const length = head.length + body.byteLength;
  const at = program.input(length);
  const input = new Uint8Array(program.memory.buffer, at, length);
  input.set(head);
  input.set(new Uint8Array(body), head.length);
  const size = program.answer();
  const output = new Uint8Array(program.memory.buffer, program.output(), size);
  const end = output.indexOf("\n".charCodeAt(0));
  return { ...JSON.parse(decoder.decode(output.subarray(0, end))), body: output.slice(end + 1).buffer };
}

/** Starts the program, also again after a fault, with the books that these requests opened. */
function startWith(requests) {
  start();
  // One with which it ends again is left out the next time.
  for (const request of requests) {
    ask(request);
    opened.push(request);
  }
}

function restart() {
  for (const folder of [...FOLDERS, "tmp"]) files.tidy(folder);
  startWith(opened.splice(0));
}

function answer(request) {
  try {
    if (!program) restart();
    const done = ask(request);
    if (["/api/open", "/api/index"].includes(request.target.split("?")[0]) && done.status === 200) opened.push(request);
    return done;
  } catch (error) {
    // The memory of a program that has panicked is not used again; its files are not in that memory.
    program = null;
    const text = { error: `internal error: ${complaints.trim() || error.message}` };
    return {
      status: 500,
      headers: [["content-type", "application/json"]],
      body: encoder.encode(JSON.stringify(text)).buffer,
    };
  }
}

const work = {
  /** Starts the program, which opens these books; returns what starts it faster. */
  start({ bytes, books }) {
    module = new WebAssembly.Module(bytes);
    put(BOOKS, books);
    start();
    return module;
  },
  answer,
  /** Puts files of the user where the program finds them. */
  put: (chosen) => put(OPENED, chosen),
  /** All that another worker needs to answer as this one. */
  state: () => ({ folders: FOLDERS.map((folder) => [folder, files.list(folder)]), opened }),
  /** Starts the program of another worker. */
  continue({ compiled, state }) {
    module = compiled;
    for (const [folder, content] of state.folders) for (const { name, blob } of content) files.put(folder, name, blob);
    startWith(state.opened);
  },
  /** The indexes that this worker has. */
  made: () => files.list(MADE),
  /** Takes those that another worker has made. */
  take(made) {
    const known = new Set(files.list(MADE).map(({ name }) => name));
    for (const { name, blob } of made) if (!known.has(name)) files.put(MADE, name, blob);
  },
};

addEventListener("message", ({ data: { number, kind, value } }) => {
  let done, error;
  try {
    done = work[kind](value);
  } catch (failure) {
    error = failure.message;
  }
  postMessage({ number, done, error }, { transfer: done?.body ? [done.body] : [] });
});
