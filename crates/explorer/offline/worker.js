// The program of the page without a server: the explorer as WebAssembly, which answers one request after the other.

import { Files } from "./wasi.js";

/** Where the books of the beginning and the files of the user are: FOLDERS in crates/page/src/site.rs. */
const BOOKS = "books",
  OPENED = "files";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const files = new Files([BOOKS, OPENED, "tmp"]);

let module = null,
  program = null,
  complaints = "";

/** The requests that have opened a book: a program that has ended by a fault is started again with the same books. */
const opened = [];

const put = (folder, chosen) => chosen.forEach((file) => files.put(folder, file.name, file));

function start() {
  complaints = "";
  const instance = new WebAssembly.Instance(module, {
    wasi_snapshot_preview1: files.imports({
      memory: () => /** @type {any} */ (instance.exports.memory),
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

/** Starts the program again, after a fault, and opens its books. */
function restart() {
  for (const folder of [BOOKS, OPENED, "tmp"]) files.tidy(folder);
  start();
  // One with which it ends again is left out the next time.
  for (const request of opened.splice(0)) {
    ask(request);
    opened.push(request);
  }
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
  /** Starts the program, which opens these books. */
  start({ bytes, books }) {
    module = new WebAssembly.Module(bytes);
    put(BOOKS, books);
    start();
  },
  answer,
  /** Puts files of the user where the program finds them. */
  put: (chosen) => put(OPENED, chosen),
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
