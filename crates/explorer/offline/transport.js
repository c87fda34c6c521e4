// How the page without a server reaches its program, which is WebAssembly in a worker. It takes the place of the
// module of this name in crates/explorer/src/page; all other modules are the same.

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

const waiting = new Map();
let last = 0;

/** A worker from bytes has the policy of this page; one from an address would have none. */
const worker = (async () => {
  const names = JSON.parse(packed("own-books") ?? "[]");
  const [code, bytes, ...contents] = await Promise.all(["worker.js", "tabia.wasm", ...names].map(unpacked));
  const books = contents.map((content, index) => new File([content], names[index]));
  const made = new Worker(script(URL.createObjectURL(new Blob([code], { type: "text/javascript" }))));
  made.addEventListener("message", ({ data: { number, done, error } }) => {
    const { resolve, reject } = waiting.get(number);
    waiting.delete(number);
    if (error) reject(new Error(error));
    else resolve(done);
  });
  await call(made, "start", { bytes, books });
  return made;
})();

function call(to, kind, value) {
  const number = (last += 1);
  return new Promise((resolve, reject) => {
    waiting.set(number, { resolve, reject });
    to.postMessage({ number, kind, value });
  });
}

/** Requests that change a book in memory, which is lost with the page unless a copy with all of it was saved. */
const CHANGES = ["edit", "add", "remove", "undo", "redo"].map((name) => `/api/${name}`);
const unsaved = new Set();
addEventListener("beforeunload", (event) => unsaved.size && event.preventDefault());

/** Sends a request, as `fetch` does. */
export async function request(target, { method = "GET", headers = {}, body = null, signal = null } = {}) {
  const bytes = await new Blob(body === null ? [] : [body]).arrayBuffer();
  let to;
  try {
    to = await worker;
  } catch (error) {
    return Response.json({ error: `${error}` }, { status: 500 });
  }
  signal?.throwIfAborted();
  // A file of the page has its address.
  const path = target instanceof URL ? `/page/${target.pathname.split("/").at(-1)}` : target;
  const asked = { method, target: path, headers: Object.entries(headers), body: bytes };
  const answered = await call(to, "answer", asked);
  if (answered.status === 200) {
    if (CHANGES.includes(path)) unsaved.add(String(JSON.parse(body).book));
    const copied = path.startsWith("/api/copy?") && new URLSearchParams(path.split("?")[1]);
    // Other formats do not have all that a changed book has.
    if (copied && copied.get("format") === "ctg") unsaved.delete(copied.get("book"));
  }
  signal?.throwIfAborted();
  return new Response(answered.body, { status: answered.status, headers: answered.headers });
}

/** Events about changes by other programs: there are none. */
export const events = () => Object.assign(new EventTarget(), { readyState: EventSource.OPEN, close() {} });

/** Puts files of the user where the program can open them. */
export const put = async (files) => call(await worker, "put", files);

// The folder works without a network, too.
if (!packed("packed-worker.js") && "serviceWorker" in navigator)
  navigator.serviceWorker.register(script("service.js")).catch(() => {});
