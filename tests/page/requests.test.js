// Requests to the program: late answers, refusals, answers in parts.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { forSeeds, settle } from "./support.js";

/** What the program was asked, and how it answers. */
let asked, answers, api;
let loads = 0;

const response = (status, body) => ({ ok: status === 200, status, json: async () => body, text: async () => body });

beforeEach(async () => {
  asked = [];
  answers = [];
  globalThis.fetch = async (path, options) => {
    asked.push([path, options]);
    const answer = answers.shift();
    if (!answer) throw new TypeError("no connection");
    return answer;
  };
  sessionStorage.removeItem("client");
  localStorage.removeItem("client-left");
  api = await import(`../../crates/explorer/src/page/api.js?${(loads += 1)}`);
});

test("only the last of several requests counts, in whatever order their answers come", () => {
  forSeeds(50, (rng) => {
    const begin = api.newest();
    const waiting = [];
    let shown = -1,
      last = -1;
    for (let turn = 0; turn < 40; turn += 1) {
      if (waiting.length && rng.chance(0.5)) {
        const [{ number, isNewest }] = waiting.splice(rng.below(waiting.length), 1);
        assert.equal(isNewest(), number === last);
        if (isNewest()) shown = number;
      } else waiting.push({ number: (last = turn), isNewest: begin() });
    }
    for (const { number, isNewest } of waiting) if (isNewest()) shown = number;
    assert.equal(shown, last);
  });
});

test("changes are sent one after another, each after the answer to the one before", async () => {
  const turn = api.inTurn();
  const log = [];
  const step = (name, fails = false) =>
    turn(async () => {
      log.push(`${name} begins`);
      await settle();
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const all = await Promise.allSettled([step("one"), step("two", true), step("three")]);
  assert.deepEqual(log, ["one begins", "one ends", "two begins", "two ends", "three begins", "three ends"]);
  assert.deepEqual(
    all.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
});

test("an answer in parts is the same wherever the parts end", () => {
  forSeeds(100, (rng) => {
    const messages = Array.from({ length: rng.below(6) }, (_, index) => ({ index, text: "a\nb: data: {é}" }));
    const text = messages
      .map((message) => (rng.chance(0.3) ? ": a comment\n\n" : "") + `data: ${JSON.stringify(message)}\n\n`)
      .join("");
    const completed = api.messages();
    const found = [];
    for (let at = 0; at < text.length;) {
      const end = at + 1 + rng.below(20);
      found.push(...completed(text.slice(at, end)));
      at = end;
    }
    assert.deepEqual(found, messages);
  });
});

test("a refused request says why, a program that does not answer is gone", async () => {
  answers.push(response(400, { error: "no book 7" }));
  await assert.rejects(api.get("/api/position", "books=7"), { message: "no book 7" });
  assert.equal(asked[0][0], "/api/position?books=7");
  answers.push(response(400, { error: "x", message: { code: "no book {0}", args: ["7"] } }));
  await assert.rejects(api.get("/api/position"), { message: "no book 7" });
  answers.push(response(500, {}));
  await assert.rejects(api.get("/api/position"), { message: "The program answered 500." });
  await assert.rejects(api.get("/api/position"), api.Gone);
  await assert.rejects(api.get("/api/position"), { message: "The program does not answer. What you see is kept." });
});

test("a change carries the page's token, and a new one if the program was restarted", async () => {
  answers.push(response(200, { done: true }));
  assert.deepEqual(await api.post("/api/edit", { a: 1 }), { done: true });
  const token = (index) => asked[index][1].headers["x-tabia-token"];
  assert.deepEqual([token(0), asked[0][1].body, asked[0][1].keepalive], ["0", '{"a":1}', true]);
  answers.push(response(403, {}), response(200, '<meta name="tabia-token" content="abc123">'), response(200, 7));
  assert.equal(await api.post("/api/edit", { a: 2 }), 7);
  assert.deepEqual([asked.length, asked[2][0], token(3)], [4, "/", "abc123"]);
  assert.equal(asked[3][1].body, asked[1][1].body);
  // With a token that is still that of the program it is refused for another reason: once is enough.
  answers.push(response(403, { error: "read-only" }), response(200, '<meta name="tabia-token" content="abc123">'));
  await assert.rejects(api.post("/api/edit", {}), { message: "read-only" });
  assert.equal(asked.length, 6);
});

test("a text is sent as text, and a long one not after the page is left", async () => {
  answers.push(response(200, 1), response(200, 2), response(200, 3));
  await api.post("/api/read", "1. e4");
  assert.deepEqual([asked[0][1].headers["content-type"], asked[0][1].body], ["text/plain", "1. e4"]);
  await api.receive("/departures", { pgn: "x".repeat(20_000) });
  assert.deepEqual([asked[1][1].keepalive, asked[1][1].headers["content-type"]], [false, "application/json"]);
  await api.receive("/departures", null);
  assert.equal(asked[2][1], undefined);
});

test("a page that is left and opened again is the same client, two pages at once are not", async () => {
  const again = () => import(`../../crates/explorer/src/page/api.js?${(loads += 1)}`);
  const { client } = api;
  assert.equal((await again()).client, client, "a reload");
  // The tab is closed, and another is opened.
  dispatchEvent(new Event("pagehide"));
  sessionStorage.removeItem("client");
  const heir = await again();
  assert.equal(heir.client, client);
  // A third one beside it is another client.
  sessionStorage.removeItem("client");
  assert.notEqual((await again()).client, client);
});
