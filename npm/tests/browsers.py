"""The package in Chromium and in Firefox, in a page and in a worker, against the program.

    browsers.py FOLDER    the folder in which npm/check has installed it

The files come from a server of plain files, with the strictest policy of content that the module
allows. Prints how many positions are equal, and probes a second, which nothing judges.
"""

import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'; img-src 'self'"

# The work, in a page or a worker: opens a book, and answers positions.
WORK = """
import { openBook } from "./node_modules/tabia/tabia.js";
export async function work({ files, positions, large }) {
  const given = {};
  for (const [extension, name] of Object.entries(files)) {
    const bytes = await (await fetch(name)).arrayBuffer();
    given[extension] = large ? new File([bytes], name.split("/").pop()) : new Blob([bytes]);
  }
  const book = await openBook({ name: "tabia", ...given, ...(large ? { memory: 1 << 20 } : {}) });
  const start = performance.now();
  const views = positions.map((fen) => book.probe(fen));
  const second = Math.round((1000 * positions.length) / (performance.now() - start));
  const bin = book.convert("bin");
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bin));
  book.close();
  return { views, second, notices: book.notices, digest: [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("") };
}
"""
WORKER = """
import { work } from "./work.js";
onmessage = async ({ data }) => postMessage(await work(data).catch((error) => ({ error: `${error.stack}` })));
"""
PAGE = """<!DOCTYPE html><meta charset="utf-8"><title>books</title><script type="module" src="page.js"></script>"""
SCRIPT = """
import { work } from "./work.js";
window.here = work;
window.there = (asked) => new Promise((resolve, reject) => {
  const worker = new Worker("worker.js", { type: "module" });
  worker.onmessage = ({ data }) => (data.error ? reject(new Error(data.error)) : resolve(data));
  worker.onerror = (event) => reject(new Error(event.message));
  worker.postMessage(asked);
});
window.ready = true;
"""


class Handler(http.server.SimpleHTTPRequestHandler):
    def end_headers(self):
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, *_):
        pass


def answers(program, book, positions):
    """The objects of `tabia probe --json`."""
    done = subprocess.run([program, "probe", book, "-", "--json"], input="\n".join(positions), capture_output=True, text=True)
    assert done.returncode < 2, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def reversed_colours(fen):
    board, turn, rights, square, *numbers = fen.split(" ")
    square = square if square == "-" else square[0] + str(9 - int(square[1]))
    board = "/".join(reversed(board.swapcase().split("/")))
    return " ".join([board, "b" if turn == "w" else "w", "".join(sorted(rights.swapcase())), square, *numbers])


def main():
    folder = Path(sys.argv[1])
    program = os.environ["TABIA"]
    for name, text in {"work.js": WORK, "worker.js": WORKER, "page.js": SCRIPT, "page.html": PAGE}.items():
        (folder / name).write_text(text)
    books = folder / "books"
    for extension in ["bin", "abk"]:
        made = books / f"tabia.{extension}"
        made.unlink(missing_ok=True)
        subprocess.run([program, "convert", "-q", books / "tabia.ctg", made], check=True, capture_output=True)
    again = books / "again.bin"
    handler = functools.partial(Handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    # Its rows begin with the position.
    subprocess.run([program, "convert", "-q", books / "tabia.ctg", books / "tabia.csv", "--force"], check=True, capture_output=True)
    fens = list(dict.fromkeys(line.split(",")[0] for line in (books / "tabia.csv").read_text().splitlines()[1:]))
    positions = fens[:: max(1, len(fens) // 1250)][:1250]
    positions = [reversed_colours(fen) if at % 3 == 2 else fen for at, fen in enumerate(positions)]
    ctg = {extension: f"books/tabia.{extension}" for extension in ["ctg", "cto", "ctb"]}
    cases = [("here", ctg, False), ("there", ctg, False), ("there", ctg, True), ("there", {"ctg": ctg["ctg"]}, False), ("here", {"bin": "books/tabia.bin"}, False), ("there", {"abk": "books/tabia.abk"}, False)]
    with sync_playwright() as playwright:
        started = {
            "Chromium": lambda: playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"]),
            "Firefox": lambda: playwright.firefox.launch(channel="moz-firefox", executable_path=shutil.which("firefox-esr")),
        }
        for name, start in started.items():
            browser = start()
            page = browser.new_page()
            page.set_default_timeout(120_000)
            complaints = []
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.goto(f"{address}/page.html")
            page.wait_for_function("window.ready")
            for where, files, large in cases:
                book = books / Path(next(iter(files.values()))).name
                expected = answers(program, book, positions)
                found = page.evaluate(f"(asked) => window.{where}(asked)", {"files": files, "positions": positions, "large": large})
                different = [fen for fen, one, other in zip(positions, found["views"], expected, strict=True) if one != other]
                assert not different, (name, where, files, len(different), different[:3])
                again.unlink(missing_ok=True)
                subprocess.run([program, "convert", "-q", book, again], check=False, capture_output=True)
                if book.suffix != ".bin":
                    same = subprocess.run(["sha256sum", again], check=True, capture_output=True, text=True).stdout.split()[0]
                    assert found["digest"] == same, (name, where, files)
                kind = "a file in pieces" if large else "blobs"
                place = {"here": "in the page", "there": "in a worker"}[where]
                print(f"{name}, {place}, {'+'.join(files)} as {kind}: {len(positions)} equal, {found['second']} a second", flush=True)
            assert not complaints, complaints
            browser.close()
    server.shutdown()


main()
