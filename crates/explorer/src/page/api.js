// Requests to the program of this page.

import { keep, t, translated } from "./lang.js";
import { events, request } from "./transport.js";

const place = document.querySelector('meta[name="tabia-token"]');
let token = place.content;

/** A text that no other page, and no other call, gets. */
export const unique = () => crypto.getRandomValues(new Uint32Array(2)).join("");

/**
 * Identifies this page among others that change the same books. It stays the same when the page is left and
 * opened again, and the next page takes it over when the tab is closed: so its changes can still be undone.
 */
export const client = lasting();

function lasting() {
  const name = "client",
    old = "client-left";
  try {
    const id = sessionStorage.getItem(name) ?? localStorage.getItem(old) ?? unique();
    const isHere = () => localStorage.getItem(old) === id && localStorage.removeItem(old);
    isHere();
    sessionStorage.setItem(name, id);
    addEventListener("pagehide", () => keep(old, id));
    addEventListener("pageshow", isHere);
    return id;
  } catch {
    return unique();
  }
}

/** Identifies this page's requests to the engine: no two pages have the same value. */
const engineClient = unique();

/** The program cannot be reached. */
export class Gone extends Error {
  isGone = true;
}

const gone = () => new Gone(t("The program does not answer. What you see is kept."));

/** The error for a refused request. */
const refusal = ({ error, message }, status) =>
  new Error(error ? translated(message ?? error) : t`The program answered ${status}.`);

async function received(coming) {
  try {
    return await coming;
  } catch {
    throw gone();
  }
}

async function answer(coming) {
  const response = await received(coming);
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw refusal(body, response.status);
  return body;
}

/** A copy of a book in a format, and what it lacks. */
export async function copyOf(book, format) {
  const coming = request(`/api/copy?${new URLSearchParams({ book, format })}`);
  const response = await received(coming);
  if (!response.ok) throw refusal(await response.json().catch(() => ({})), response.status);
  const notes = response.headers.get("x-tabia-notes") ?? "";
  return { blob: await response.blob(), notes: [...new URLSearchParams(notes).keys()] };
}

/** Sends a GET request; `parameters` are the part of the address after "?". */
export const get = (path, parameters) => answer(request(parameters ? `${path}?${parameters}` : path));

/** Greatest number of characters in requests that continue after the page is left. */
const MOST_KEPT = 10_000;

function carrying(body, signal) {
  const isData = typeof body === "string" || body instanceof Blob;
  const headers = { "content-type": isData ? "text/plain" : "application/json", "x-tabia-token": token };
  const sent = isData ? body : JSON.stringify(body);
  const isShort = !(sent instanceof Blob) && sent.length < MOST_KEPT;
  return { method: "POST", headers, body: sent, signal, keepalive: !signal && isShort };
}

/** Gets the program's token again, which changes when the program is restarted. */
async function renew() {
  const page = await (await request("/")).text();
  token = /name="tabia-token" content="([0-9a-f]+)"/.exec(page)?.[1] ?? token;
}

/** Sends a change; once more if only the token was refused. */
async function send(path, body, signal) {
  const used = token;
  const response = await request(path, carrying(body, signal));
  if (response.status !== 403) return response;
  if (token === used) await renew();
  return token === used ? response : request(path, carrying(body, signal));
}

/** Sends a change, a text to read, or a file. */
export const post = (path, body) => answer(send(path, body));

/** Sends a text or an object if there is one, else requests the program's own data. */
export const receive = (path, body, signal) =>
  answer(body ? send(path, body, signal) : request(path, signal && { signal }));

/** Runs asynchronous actions one after another: each starts when the one before has ended. */
export function inTurn() {
  let last = Promise.resolve();
  return (action) => {
    const done = last.then(action);
    last = done.catch(() => {});
    return done;
  };
}

/**
 * For requests of which only the last one counts: begins one, and returns a function that tells whether it is still
 * the last.
 */
export function newest() {
  let count = 0;
  return () => {
    const number = (count += 1);
    return () => number === count;
  };
}

/**
 * The messages in the parts of a text that arrive one after another, which may end anywhere: the returned function
 * takes a part and returns the messages that it completes.
 */
export function messages() {
  let rest = "";
  return (part) => {
    const pieces = (rest + part).split("\n\n");
    rest = pieces.pop();
    return pieces.filter((piece) => piece.startsWith("data: ")).map((piece) => JSON.parse(piece.slice(6)));
  };
}

/** Reads an answer that arrives in parts, calls `onMessage` for each, and returns when it ends or `signal` aborts it. */
export async function follow(path, body, onMessage, signal) {
  const response = await send(path, { ...body, client: engineClient }, signal);
  if (!response.ok) throw refusal(await response.json(), response.status);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const completed = messages();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    completed(value).forEach((message) => onMessage(message));
  }
}

/** Waits until the program answers again. */
export async function comeBack() {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    try {
      return await renew();
    } catch {
      /* It does not answer yet. */
    }
  }
}

/**
 * Calls `changed` with the number of changes to books when that may have changed, and `lost` with an error when the
 * program cannot be reached. Only one of all visible pages listens, and notifies the others, because a browser opens
 * few connections to a program.
 */
export function listen(changed, lost) {
  const others = new BroadcastChannel("changes");
  const asks = "?",
    left = "!";
  let count = null,
    leave = () => {};
  const receive = (number) => {
    count = number;
    if (!document.hidden) changed(number);
  };
  others.addEventListener("message", ({ data }) => {
    if (data === left) lost(gone());
    else if (data !== asks) receive(data);
    else if (count !== null) others.postMessage(count);
  });
  /** Listens until this page is hidden. */
  const connect = () =>
    new Promise((ended) => {
      const source = events("/api/events");
      source.addEventListener("change", ({ data }) => {
        receive(Number(data));
        others.postMessage(count);
      });
      source.addEventListener("error", async () => {
        // A connection ends after some minutes, too: only a second failure tells.
        if (document.hidden || source.readyState === EventSource.CLOSED) return;
        const isThere = await request("/monitor").catch(() => null);
        if (isThere || source.readyState === EventSource.CLOSED) return;
        lost(gone());
        others.postMessage(left);
      });
      leave = () => ended(source.close());
      if (document.hidden) leave();
    });
  const follow = () => {
    leave();
    if (document.hidden) return;
    others.postMessage(asks);
    const giveUp = new AbortController();
    leave = () => giveUp.abort();
    // Pages from other machines have no locks: each of them listens.
    const { locks } = navigator;
    if (locks) locks.request("changes", { signal: giveUp.signal }, connect).catch(() => {});
    else connect();
  };
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", () => leave());
  addEventListener("pageshow", ({ persisted }) => persisted && follow());
  follow();
}
