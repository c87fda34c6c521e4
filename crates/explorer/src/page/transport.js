// How the page reaches its program: by HTTP. The page without a server has another module of this name (`offline`).

/** Sends a request, as `fetch` does. */
export const request = (target, options) => fetch(target, options);

/** Events that the program sends. */
export const events = (path) => new EventSource(path);

/** Puts files of the user where the program can open them: a program on this machine reads them where they are. */
export const put = null;
