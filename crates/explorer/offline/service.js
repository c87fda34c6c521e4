// Keeps the files of the page without a server, so that it opens without a network. `release/page` fills in the names of
// the files and the version, which is made of their contents.

const CACHE = "tabia-{{version}}";
const FILES = ["{{files}}"];

const service = /** @type {any} */ (globalThis);

service.addEventListener("install", (event) =>
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(FILES.map((name) => new Request(name, { cache: "reload" }))))
      .then(() => service.skipWaiting()),
  ),
);

service.addEventListener("activate", (event) =>
  event.waitUntil(
    caches
      .keys()
      .then((names) =>
        Promise.all(
          names.filter((name) => name.startsWith("tabia-") && name !== CACHE).map((name) => caches.delete(name)),
        ),
      )
      .then(() => service.clients.claim()),
  ),
);

service.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== service.location.origin) return;
  // The query is the line of moves that the page shows.
  const found = caches.match(request, { ignoreSearch: true, cacheName: CACHE });
  event.respondWith(found.then((answer) => answer ?? fetch(request)));
});
