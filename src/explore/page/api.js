// Requests to the program that served this page.

import { t, told } from "./lang.js";

const place = document.querySelector('meta[name="tabia-token"]');
let token = place.content;

/** Tells this page from others that change the same books. */
export const client = crypto.getRandomValues(new Uint32Array(2)).join("");

/** The program cannot be reached. */
export class Gone extends Error {}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Gone(t("The program does not answer. What you see is kept."));
  }
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.error ? told(body.error) : t`The program answered ${response.status}.`);
  return body;
}

/** Asks for something; `parameters` are the part of the address behind "?". */
export const get = (path, parameters) => ask(parameters ? `${path}?${parameters}` : path);

function carrying(body, signal) {
  const headers = { "content-type": "application/json", "x-tabia-token": token };
  return { method: "POST", headers, body: JSON.stringify(body), signal };
}

/** Asks for a change. */
export const post = (path, body) => ask(path, carrying(body));

/** Asks for something that is told piece by piece, until it ends or `signal` ends it. */
export async function follow(path, body, heard, signal) {
  const response = await fetch(path, carrying({ ...body, client }, signal));
  if (!response.ok) throw new Error(told((await response.json()).error));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const pieces = (rest + value).split("\n\n");
    rest = pieces.pop();
    for (const piece of pieces) if (piece.startsWith("data: ")) heard(JSON.parse(piece.slice(6)));
  }
}

/** Waits until the program answers again; started anew it has another token. */
export async function comeBack() {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    try {
      const page = await (await fetch("/")).text();
      token = /name="tabia-token" content="([0-9a-f]+)"/.exec(page)?.[1] ?? token;
      return;
    } catch { /* Not yet. */ }
  }
}

/**
 * Calls `changed` when a book has changed, and whenever it may have changed unheard: before anybody listened.
 * Only a page that is seen listens: browsers have few connections to give.
 */
export function listen(changed) {
  let source = null;
  const follow = () => {
    source?.close();
    source = null;
    if (document.hidden) return;
    source = new EventSource("/api/events");
    for (const kind of ["open", "change"]) source.addEventListener(kind, changed);
  };
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", () => source?.close());
  follow();
}
