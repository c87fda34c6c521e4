// How the page without a server reaches its program, which is WebAssembly in workers. It takes the place of the
// module of this name in crates/explorer/src/page; all other modules are the same.
//
// One worker has the books, answers what is short and makes all changes. A long request gets another one, with copies
// of the files, so that the page goes on meanwhile; it is ended with its worker, which has nothing that could be lost.

/** The text of an element with data; in the single file, each packed file has one. */
const packed = (id) => document.getElementById(id)?.textContent;

/** The bytes of a packed file: of the single file, or of the folder. */
async function unpacked(name) {
  const text = packed(`packed-${name}`);
  let bytes = text
    ? Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
    : new Uint8Array(
        await (await fetch(new URL(`page/${encodeURIComponent(name)}.gz`, document.baseURI))).arrayBuffer(),
      );
  // Some servers say of such a file that it is packed: then it arrives unpacked.
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  }
  return bytes;
}

// The policy of the page admits no other addresses of scripts.
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy("tabia", {
  createScriptURL: (url) => url,
});
const script = (url) => policy?.createScriptURL(url) ?? url;

/** A worker, which answers one call after another. */
class Program {
  #waiting = new Map();
  #last = 0;
  /** How far it is with an index; null if it makes none. */
  progress = null;

  /** From bytes, so that it has the policy of this page; one from an address would have none. */
  constructor(code) {
    this.worker = new Worker(script(URL.createObjectURL(new Blob([code], { type: "text/javascript" }))));
    this.worker.addEventListener("message", ({ data: { number, done, error, progress } }) => {
      if (progress) {
        this.progress = progress;
        return;
      }
      const { resolve, reject } = this.#waiting.get(number);
      this.#waiting.delete(number);
      if (error) reject(new Error(error));
      else resolve(done);
    });
  }

  call(kind, value = null) {
    const number = (this.#last += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      this.worker.postMessage({ number, kind, value });
    });
  }
}

const started = (async () => {
  const names = JSON.parse(packed("own-books") ?? "[]");
  const [code, bytes, ...contents] = await Promise.all(["worker.js", "tabia.wasm", ...names].map(unpacked));
  const books = contents.map((content, index) => new File([content], names[index]));
  const program = new Program(code);
  const compiled = await program.call("start", { bytes, books });
  return { code, program, compiled };
})();

const OPEN = "/api/open",
  INDEX = "/api/index";

/** The requests whose answers take long: a test of crates/explorer/src/route.rs compares them with `Effort::Long`. */
const LONG = ["/api/work", "/api/copy", "/api/games.pgn", INDEX];

/** The path of a request without its query. */
const plain = (target) => target.split("?")[0];

/** The identifiers of games among the files: their opening takes as long as an index of them. */
const games = new Set();

function isLong({ path, body }) {
  return path === OPEN ? games.has(JSON.parse(body).id) : LONG.includes(plain(path));
}

/** Requests that change a book in memory, which is lost with the page unless a copy with all of it was saved. */
const CHANGES = ["edit", "add", "remove", "undo", "redo"].map((name) => `/api/${name}`);

/** Counts what was sent to the program that changes its files or its books. */
let changes = 0;

/** Sends the program a request. */
function send(program, asked) {
  if (CHANGES.includes(asked.target) || opens(asked)) changes += 1;
  return program.call("answer", asked);
}

const opens = ({ target }) => target === OPEN || plain(target) === INDEX;

/** Workers of long requests: those that are busy, and one that waits for the next. */
const busy = new Set();
let idle = null;

/** Another worker, which answers as the program does now. */
async function another() {
  const { code, program, compiled } = await started;
  const found = idle;
  idle = null;
  if (found?.changes === changes) return found;
  found?.worker.terminate();
  const made = Object.assign(new Program(code), { changes });
  try {
    await made.call("continue", { compiled, state: await program.call("state") });
  } catch (error) {
    made.worker.terminate();
    throw error;
  }
  return made;
}

/** Answers a long request in another worker, which ends when the signal says so. */
async function answerAside(asked, signal) {
  const { program } = await started;
  const made = await another();
  const stopped = new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  busy.add(made);
  try {
    signal?.throwIfAborted();
    const answered = await Promise.race([made.call("answer", asked), stopped]);
    if (opens(asked) && answered.status === 200) {
      // The program opens it now from the index that was made.
      await program.call("take", await made.call("made"));
      return await send(program, asked);
    }
    if (!idle && made.changes === changes) idle = made;
    return answered;
  } finally {
    busy.delete(made);
    made.progress = null;
    if (made !== idle) made.worker.terminate();
  }
}

/** What was changed and not saved: books, with the number of the last change. */
const unsaved = new Map();
addEventListener("beforeunload", (event) => unsaved.size && event.preventDefault());

/** Sends a request, as `fetch` does. */
export async function request(target, { method = "GET", headers = {}, body = null, signal = null } = {}) {
  const bytes = await new Blob(body === null ? [] : [body]).arrayBuffer();
  // A file of the page has its address.
  const path = target instanceof URL ? `/page/${target.pathname.split("/").at(-1)}` : target;
  const progress = [...busy].map((one) => one.progress).find(Boolean);
  if (path === "/api/indexing" && progress) return new Response(progress);
  const asked = { method, target: path, headers: Object.entries(headers), body: bytes };
  let answered, at;
  try {
    const { program } = await started;
    signal?.throwIfAborted();
    const coming = isLong({ path, body }) ? answerAside(asked, signal) : send(program, asked);
    at = changes;
    answered = await coming;
  } catch (error) {
    signal?.throwIfAborted();
    return Response.json({ error: `${error}` }, { status: 500 });
  }
  if (answered.status === 200) {
    if (path === "/api/files") {
      const { files } = JSON.parse(new TextDecoder().decode(answered.body));
      for (const { id, kind } of files) if (kind === "games") games.add(id);
    }
    if (CHANGES.includes(path)) unsaved.set(String(JSON.parse(body).book), at);
    const copied = path.startsWith("/api/copy?") && new URLSearchParams(path.split("?")[1]);
    // Other formats do not have all that a changed book has, and the copy has what was sent before it.
    if (copied && copied.get("format") === "ctg" && unsaved.get(copied.get("book")) <= at)
      unsaved.delete(copied.get("book"));
  }
  signal?.throwIfAborted();
  return new Response(answered.body, { status: answered.status, headers: answered.headers });
}

/** Events about changes by other programs: there are none. */
export const events = () => Object.assign(new EventTarget(), { readyState: EventSource.OPEN, close() {} });

/** Puts files of the user where the program can open them. */
export async function put(files) {
  const { program } = await started;
  changes += 1;
  return program.call("put", files);
}

// The folder works without a network, too.
if (!packed("packed-worker.js") && "serviceWorker" in navigator)
  navigator.serviceWorker.register(script("service.js")).catch(() => {});
