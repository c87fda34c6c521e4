// The program of the page without a server against `tabia explore`: the same requests, the same answers, byte for byte.
// `release/page` has made the page; TABIA is the program, PAGE the folder of the page.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";

const ROOT = new URL("../../", import.meta.url).pathname;
const { TABIA = join(ROOT, "target/release/tabia"), PAGE = join(ROOT, "target/page") } = process.env;

/** The worker's message handler, with what it asks of a browser. */
const messages = [];
let handler;
Object.assign(globalThis, {
  // The bytes of a file of this test are at hand; a Blob of Node cannot be read at once.
  FileReaderSync: class {
    readAsArrayBuffer = ({ bytes }) => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  },
  addEventListener: (_, receive) => (handler = receive),
  postMessage: (message) => messages.push(message),
});
await import("../../crates/explorer/offline/worker.js");
const { Files } = await import("../../crates/explorer/offline/wasi.js");

const file = (path, name) => {
  const bytes = readFileSync(path);
  return { name, bytes, size: bytes.length, slice: (from, to) => ({ bytes: bytes.subarray(from, to) }) };
};

function work(kind, value) {
  handler({ data: { number: 0, kind, value } });
  const { done, error } = messages.pop();
  if (error) throw new Error(error);
  return done;
}

const BOOK = join(ROOT, "books/tabia.ctg");
const GAMES = join(ROOT, "tests/data/sample.pgn");

let folder, server, url, token;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "tabia-offline-"));
  const names = ["ctg", "cto", "ctb"].map((kind) => `mine.${kind}`);
  for (const name of names) cpSync(BOOK.replace(/ctg$/, name.slice(-3)), join(folder, name));
  cpSync(GAMES, join(folder, "games.pgn"));
  const shown = ["mine.ctg", "games.pgn"].map((name) => join(folder, name));
  const env = { PATH: process.env.PATH, HOME: folder };
  server = spawn(TABIA, ["explore", "--no-open", ...shown], { env, stdio: ["ignore", "pipe", "ignore"] });
  url = String(await new Promise((resolve) => server.stdout.once("data", resolve))).trim();
  token = /name="tabia-token" content="(\w+)"/.exec(await (await fetch(url)).text())[1];
  const bytes = gunzipSync(readFileSync(join(PAGE, "page/tabia.wasm.gz")));
  const books = [...names, "games.pgn"].map((name) => file(join(folder, name), name));
  work("start", { bytes, books });
});

after(() => {
  server.kill("SIGINT");
  rmSync(folder, { recursive: true });
});

/** What differs because of place and time: the folder, and the arbitrary number at which changes are counted. */
const usual = (text) =>
  text
    .replaceAll(`${folder}/`, "/books/")
    .replace(/"changes":\d+/, '"changes":0')
    .replace(/\.tabia-\w{16}/, ".tabia");

/** Asks the server, by a connection of its own: it closes those that wait. */
const ask = (target, method, headers, body) =>
  new Promise((resolve, reject) => {
    const sent = httpRequest(new URL(target, url), { method, headers, agent: false }, (answer) => {
      const parts = [];
      answer.on("data", (part) => parts.push(part));
      answer.on("end", () =>
        resolve({ body: Buffer.concat(parts), status: answer.statusCode, headers: answer.headers }),
      );
      answer.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });

async function answers(target, body = null) {
  const isText = typeof body === "string";
  const headers = body === null ? {} : { "content-type": isText ? "text/plain" : "application/json" };
  const sent = body === null ? null : isText ? body : JSON.stringify(body);
  const method = body === null ? "GET" : "POST";
  const native = await ask(target, method, { ...headers, "x-tabia-token": token }, sent ?? undefined);
  const there = {
    status: native.status,
    kind: native.headers["content-type"],
    notes: native.headers["x-tabia-notes"] ?? null,
    body: native.body.toString("latin1"),
  };
  const asked = Object.entries({ ...headers, "x-tabia-token": "0" });
  const answer = work("answer", { method, target, headers: asked, body: new TextEncoder().encode(sent ?? "").buffer });
  const own = Object.fromEntries(answer.headers);
  const here = {
    status: answer.status,
    kind: own["content-type"],
    notes: own["x-tabia-notes"] ?? null,
    body: Buffer.from(answer.body).toString("latin1"),
  };
  for (const one of [here, there]) one.body = usual(one.body);
  return { here, there };
}

let equal = 0;
const inLastDigit = [];

/** JSON whose numbers are those of another one, or differ by less than one part in 10^12: WebAssembly has another `pow`. */
function isNear(one, other) {
  if (typeof one === "number" && typeof other === "number")
    return Math.abs(one - other) <= 1e-12 * Math.max(Math.abs(one), Math.abs(other));
  if (one === null || other === null || typeof one !== "object" || typeof other !== "object") return one === other;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => isNear(one[name], other[name]));
}

async function same(target, body = null) {
  const { here, there } = await answers(target, body);
  // The training of a book has its name from the path, which differs.
  for (const one of [here, there]) one.body = one.body.replaceAll(/"deck":"[^"]*"/g, '"deck":""');
  const isSame = here.status === there.status && here.kind === there.kind && here.notes === there.notes;
  const what = `${target} ${body === null ? "" : JSON.stringify(body).slice(0, 200)}`;
  assert.ok(
    isSame,
    `${what}\nhere ${here.status} ${here.kind} ${here.notes} ${here.body.slice(0, 300)}\nthere ${there.status} ${there.kind} ${there.notes} ${there.body.slice(0, 300)}`,
  );
  if (here.body === there.body) equal += 1;
  else {
    const isJson = here.kind.startsWith("application/json");
    assert.ok(
      isJson && isNear(JSON.parse(here.body), JSON.parse(there.body)),
      `${what}\nhere  ${here.body.slice(0, 600)}\nthere ${there.body.slice(0, 600)}`,
    );
    inLastDigit.push(target);
  }
  return there;
}

/** Lines of the book, likely moves first. */
async function lines(most) {
  const all = [""];
  for (let at = 0; at < all.length && all.length < most; at += 1) {
    const view = JSON.parse((await answers(`/api/position?play=${all[at]}&books=mine.ctg`)).there.body);
    for (const { uci } of view.books[0].moves.slice(0, 3)) all.push([all[at], uci].filter(Boolean).join(","));
  }
  return all.slice(0, most);
}

test("what the page asks about positions", async () => {
  for (const play of await lines(150)) {
    await same(`/api/position?play=${play}&books=mine.ctg&client=a&ahead=4`);
    await same(`/api/position?play=${play}&books=mine.ctg/games.pgn&Book+Variety=15&Book+Depth=12`);
    await same(`/api/line?play=${play}&book=0`);
    for (const path of ["lichess", "masters"]) await same(`/${path}?play=${play}`);
  }
  for (const play of await lines(20)) {
    await same(`/api/position?play=${play}&books=0&Book+Leave+Early=2`);
    await same(`/api/games?play=${play}&books=games.pgn&order=newest`);
    await same(`/api/work?play=${play}&books=0/1&color=white`);
  }
});

test("what the page asks about books, games and players", async () => {
  for (const words of ["", "najdorf", "B9", "ruy lopez", "zzz"])
    await same(`/api/openings?q=${encodeURIComponent(words)}&books=0`);
  for (const name of ["carlsen", "a", "x y", ""]) await same(`/api/players?q=${encodeURIComponent(name)}`);
  const pgn = readFileSync(GAMES, "latin1");
  const player = /\[White "([^"]+)"/.exec(pgn)[1];
  for (const color of ["white", "black"]) {
    await same(`/player?player=${encodeURIComponent(player)}&color=${color}`);
    await same(`/departures?book=0&player=${encodeURIComponent(player)}&color=${color}`);
    await same(`/departures?book=0&player=${encodeURIComponent(player)}&color=${color}`, { pgn, moves: [] });
    await same(`/coverage?book=0&color=${color}&opponents=1`);
  }
  await same("/lichess/batch", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\nx\n");
  for (const text of ["1. e4 e5 2. Nf3 {x} (2. f4)", "nonsense", "8/P6k/8/8/8/8/8/K7 w - - 0 1", "e4 e5"])
    await same("/api/read", { text });
  await same("/api/indexing");
  await same("/api/nothing");
  await same("/api/position?play=x");
  await same("/api/position?books=7");
});

test("changes, and how they are undone", async () => {
  const client = "a";
  const of = { book: 0, client };
  const edit = (change, value, uci = "e2e4") => ({ ...of, fen: null, play: "", uci, change, value });
  for (const [change, value] of [
    ["mark", "avoid"],
    ["annotation", "!?"],
    ["learn_value", "40"],
    ["commentary", "+="],
    ["mark", "nonsense"],
  ])
    await same("/api/edit", edit(change, value));
  await same("/api/position?books=0&client=a");
  await same("/api/add", { ...of, fen: null, lines: [{ play: "a2a3,a7a5,a1a2", signs: [[0, 1]] }] });
  await same("/api/position?play=a2a3&books=0&client=a");
  await same("/api/count-removed", { ...of, play: "e2e4,c7c5", below: false });
  await same("/api/remove", { ...of, play: "e2e4,c7c5", below: false });
  await same("/api/position?play=e2e4&books=0&client=a");
  for (let step = 0; step < 7; step += 1) await same("/api/undo", of);
  for (let step = 0; step < 3; step += 1) await same("/api/redo", of);
  await same("/api/position?books=0&client=a");
  // What is saved after that are the files that the program has on disk.
  for (const format of ["ctg", "bin", "abk", "pgn", "csv", "jsonl", "xyz"])
    await same(`/api/copy?book=0&format=${format}`);
  await same("/api/copy?book=1&format=bin");
});

test("an index of games that the page sends", async () => {
  const pgn = readFileSync(GAMES, "latin1");
  await same("/api/index?name=sent.pgn", pgn);
  await same("/api/index?name=empty.pgn", "no game");
  await same("/api/position?play=e2e4&books=sent.pgn");
  await same("/api/games?books=sent.pgn");
});

test("a file that the user opens", async () => {
  for (const kind of ["ctg", "cto", "ctb"]) work("put", [file(BOOK.replace(/ctg$/, kind), `dropped.${kind}`)]);
  const own = (method, target, body = "") => {
    const headers = [
      ["x-tabia-token", "0"],
      ["content-type", "application/json"],
    ];
    const answer = work("answer", { method, target, headers, body: new TextEncoder().encode(body).buffer });
    return JSON.parse(Buffer.from(answer.body));
  };
  const { files } = own("GET", "/api/files");
  const { id } = files.find(({ name }) => name === "dropped.ctg");
  assert.deepEqual(own("POST", "/api/open", JSON.stringify({ id })), { name: "dropped.ctg" });
  const shown = own("GET", "/api/position?books=dropped.ctg").books[0];
  assert.ok(shown.editable && shown.moves.length > 3);
});

test("a large file is read in blocks, each once", () => {
  // A byte of it is known by its place.
  const byte = (at) => (at * 2_654_435_761) >>> 24;
  const reads = [];
  const of = (from, to) => {
    reads.push([from, to - from]);
    return { bytes: Uint8Array.from({ length: to - from }, (_, at) => byte(from + at)) };
  };
  const large = (size) => ({ size, slice: (from, to) => of(from, Math.min(to, size)) });
  const files = new Files(["files"]);
  const block = 2 ** 20;
  const size = 300 * block + 5;
  files.put("files", "large.ctg", large(size));
  const node = files.find("files/large.ctg");
  const places = [
    [0, 8],
    [block - 3, 7],
    [7 * block - 1, block + 2],
    [size - 9, 100],
    [size, 4],
  ];
  for (const round of [1, 2])
    for (const [from, length] of places) {
      const expected = Array.from({ length: Math.min(length, size - from) }, (_, at) => byte(from + at));
      assert.deepEqual([...node.read(from, length)], expected, `${round}: ${from}`);
    }
  const blocks = [0, 1, 6, 7, 8, 299, 300].map((number) => [number * block, number < 300 ? block : 5]);
  assert.deepEqual(reads, blocks);
  // Another worker reads the same file.
  assert.equal(files.list("files")[0].blob.size, size);
  // One that is larger than what is kept is read in small blocks.
  files.put("files", "huge.ctg", large(2 ** 33));
  const last = 2 ** 33 - 4;
  assert.deepEqual(
    [...files.find("files/huge.ctg").read(last, 9)],
    [0, 1, 2, 3].map((at) => byte(last + at)),
  );
  assert.deepEqual(reads.at(-1), [2 ** 33 - 2 ** 14, 2 ** 14]);
});

test("a program that has ended by a fault is started again", () => {
  const headers = [];
  // More than its memory can be.
  const fault = work("answer", { method: "POST", target: "/api/read", headers, body: { byteLength: 3.9e9 } });
  assert.equal(fault.status, 500);
  assert.match(Buffer.from(fault.body).toString(), /internal error: .*alloc/s);
  const again = work("answer", { method: "GET", target: "/api/start", headers, body: new ArrayBuffer(0) });
  const names = JSON.parse(Buffer.from(again.body)).books.map(({ name }) => name);
  assert.deepEqual(names, ["mine.ctg", "games.pgn", "sent.pgn", "dropped.ctg"]);
});

test("so many answers were the same", () => {
  console.log(
    `${equal} answers are equal, ${inLastDigit.length} but for a last digit: ${inLastDigit.slice(0, 5).join(" ")}`,
  );
  assert.ok(equal > 800 && inLastDigit.length < equal / 20);
});
