"""Pictures of the explorer: see `make`.

Beside each picture are the words on its page. With `--check` no picture is made: it fails if these
words are not those of the page any more.
"""

import difflib
import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

TABIA = sys.argv[1]
CHECKS = "--check" in sys.argv
ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
NAJDORF = "?play=e2e4,c7c5,g1f3,d7d6,d2d4,c5d4,f3d4,g8f6,b1c3"

# Name, address, width, height, light or dark, what is done.
PICTURES = [
    ("explore-light", NAJDORF, 1366, 768, "light", None),
    ("explore-two-books-dark", NAJDORF + "&books=0,1", 1366, 768, "dark", None),
    ("explore-phone", NAJDORF, 360, 740, "light", None),
    ("explore-engine", NAJDORF, 1366, 768, "light", "engine"),
    ("explore-training", NAJDORF, 1366, 768, "dark", "training"),
]


# The words that a user can read, one line for each text: no numbers, and nothing that depends on the engine's speed.
WORDS = """() => {
    const varies = '.lines, #engine-message, #train-why, #plot, td, noscript, script, option:not(:checked)';
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) {
        const { data, parentElement: one } = walker.currentNode;
        if (one.closest(varies) || !(one.closest('select') ?? one).checkVisibility({ visibilityProperty: true })) continue;
        const words = data.match(/[\\p{L}…’'(),.-]*\\p{L}{2}[\\p{L}…’'(),.-]*/gu);
        if (words) texts.push(words.join(' '));
    }
    return texts.concat([...document.querySelectorAll('[placeholder]')].filter((one) => one.checkVisibility()).map((one) => one.placeholder));
}"""


def compare(words: str, name: str) -> bool:
    """Whether the words of a page are those beside its picture; prints the differences."""
    path = HERE / f"{name}.txt"
    stored = path.read_text() if path.exists() else ""
    lines = difflib.unified_diff(stored.splitlines(), words.splitlines(), str(path.relative_to(ROOT)), "the page", lineterm="", n=1)
    print("".join(f"{line}\n" for line in lines), end="")
    return words == stored


def keep(picture: bytes, name: str) -> None:
    """256 colours are plenty for a page, and take a third of the bytes."""
    # It makes the pictures only, not the check.
    from PIL import Image

    path = HERE / f"{name}.png"
    colours = Image.open(io.BytesIO(picture)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    colours.save(path, optimize=True)
    size = path.stat().st_size
    assert size < 200_000, f"{path}: {size} bytes"
    print(path.relative_to(ROOT), size)


def change(page, move: str, what: str) -> None:
    """Changes a move by hand, so that the pictures have something to show."""
    page.click(f'.book >> nth=0 >> button[aria-label="Change {move}"]')
    page.check(f'#edit-form input[value="{what}"]', force=True)
    page.wait_for_function("(text) => document.getElementById('status').textContent.startsWith('Saved')", arg=move)
    page.click("#edit-form button.main")


def engine(page) -> None:
    """Lets the engine think until each move of the book has a value, which the check does not need."""
    page.keyboard.press("l")
    page.wait_for_selector("th.eval")
    if CHECKS:
        return
    page.wait_for_function("() => [...document.querySelectorAll('td.eval')].every((cell) => cell.textContent !== '–')", timeout=120_000)
    page.wait_for_timeout(3000)


def training(page) -> None:
    """A move that is not the book's."""
    page.keyboard.press("r")
    page.select_option("#train-colour", "black")
    page.uncheck("#train-learn")
    page.click("#train-form .main")
    # Two moves are green: whatever of them.
    page.click("#train-choices button:last-child")
    page.wait_for_function("() => document.querySelector('#train-message').textContent.startsWith('Your move')")
    page.click('[data-square="h7"]')
    page.click('[data-square="h5"]')
    page.wait_for_function("() => document.querySelector('#train-message').textContent.startsWith('h5')")
    if not CHECKS:
        page.wait_for_function("() => / costs /.test(document.querySelector('#train-why').textContent)", timeout=60_000)


with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
    for ending in ("ctg", "cto", "ctb"):
        shutil.copy(ROOT / "books" / f"tabia.{ending}", Path(folder) / f"main.{ending}")
    books = [Path(folder) / "main.ctg", Path(folder) / "sample.ctg"]
    subprocess.run([TABIA, "build", "-o", books[1], ROOT / "tests" / "data" / "sample.pgn"], check=True)
    command = [TABIA, "explore", "--no-open", *books]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        url = server.stdout.readline().strip()
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        marked = False
        outdated = []
        for name, address, width, height, scheme, done in PICTURES:
            context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            page = context.new_page()
            page.goto(url + address)
            page.wait_for_selector("html[data-ready]")
            if not marked:
                change(page, "a6", "main")
                change(page, "Nc6", "main")
                change(page, "Nc6", "!?")
                change(page, "e5", "avoid")
                marked = True
                page.reload()
                page.wait_for_selector("html[data-ready]")
            if done:
                {"engine": engine, "training": training}[done](page)
            # Messages have gone by then.
            page.wait_for_function("() => document.getElementById('status').textContent === ''")
            words = "".join(f"{text}\n" for text in page.evaluate(WORDS))
            if CHECKS:
                if not compare(words, name):
                    outdated.append(name)
            else:
                keep(page.screenshot(), name)
                (HERE / f"{name}.txt").write_text(words)
            context.close()
        chromium.close()
        server.terminate()
if outdated:
    sys.exit(f"not the words of the page any more: {', '.join(outdated)}. docs/pictures/make takes the pictures again.")
