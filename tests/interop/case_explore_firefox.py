"""`tabia explore` in Debian's Firefox: what Chromium does, it does, too."""

import json
from pathlib import Path

import axe_playwright_python

from firefox import firefox
from pages import SAMPLE, explorer, plies_of_a_game, probe
from places import HELD_KEY_RUNS, STOCKFISH, copy_starter, folder
from procs import run, settled
from runner import case

AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"

# Every answer about a position comes so many milliseconds later.
LATE = "const old = window.fetch; window.fetch = (...what) => new Promise((done) => setTimeout(() => done(old(...what)), arguments[0])); return true;"

# Clicks of which each is the one of so many in a row.
CLICKS = "const [at, ...numbers] = arguments; for (const detail of numbers) document.querySelector(at).dispatchEvent(new MouseEvent('click', { bubbles: true, detail })); return true;"


@case(limit=240)
def firefox_walks_marks_and_takes_back():
    book = copy_starter(folder("explore"))
    before = book.read_bytes()
    with explorer(book) as server, firefox() as page:
        page.open(server.url)
        page.drag("e2", "e4")
        page.walked("e4")
        page.click('tr[data-uci="c7c5"] td.n')
        page.walked("e4", "c5")
        page.keys("ArrowLeft", "ArrowLeft")
        page.until("!document.querySelector('#line [aria-current]')")
        page.keys("End")
        page.walked("e4", "c5")
        figures = page.run("Object.fromEntries([...document.querySelectorAll('tr[data-uci]')].map((row) => [row.dataset.uci, Number(row.querySelector('.number').dataset.probability)]))")
        assert figures == {move["uci"]: move["probability"] for move in probe(book, "e2e4 c7c5")["moves"]}
        # A mark and the way back.
        page.click('tr[data-uci="g1f3"] td.edit button')
        page.click('input[name="mark"][value="avoid"]')
        page.until("document.querySelector('tr[data-uci=\"g1f3\"].avoid')")
        page.keys("Escape")
        page.until("!document.querySelector('dialog[open]')")
        assert {move["uci"]: move["mark"] for move in probe(book, "e2e4 c7c5")["moves"]}["g1f3"] == "avoid"
        page.click("#undo")
        page.until("!document.querySelector('tr[data-uci=\"g1f3\"].avoid')")
        assert book.read_bytes() == before
        # Promotion on the board, a bad address, an opening by name.
        page.open(server.url + "?fen=" + "8/P6k/8/8/8/8/8/K7+w+-+-+0+1")
        page.drag("a7", "a8")
        page.click('.promotion button[aria-label="knight"]')
        page.walked("a8=N")
        page.open(server.url + "?play=d2d4,d7d5,e2e5")
        page.until("document.querySelector('#status').textContent.includes('not legal')")
        page.keys("/")
        page.type("#search-text", "B90")
        page.click("#search-list button")
        page.until("document.querySelector('#opening').textContent.includes('B90')")
        page.run("history.back(); return true;")
        page.walked("d4", "d5")


@case(limit=240)
def firefox_evaluates_trains_and_adds():
    here = folder("explore")
    games = here / "games.pgn"
    games.write_text("1. e4 c5 2. Nf3 d6 3. d4 1-0\n\n1. e4 c5 2. Nf3 Nc6 3. Bb5 1/2-1/2\n")
    book = here / "repertoire.ctg"
    assert run("build", "-o", str(book), str(games)).returncode == 0
    with explorer(book, "--engine", STOCKFISH, "--threads", "1") as server, firefox() as page:
        page.open(server.url + "?play=e2e4,c7c5")
        page.click("#engine-tab")
        page.click("#engine")
        page.until("document.querySelectorAll('#engine-list li').length === 3", limit=60)
        page.until("/^[+−]?\\d+\\.\\d\\d$/.test(document.querySelector('tr[data-uci=\"g1f3\"] td.eval').textContent)", limit=60)
        page.keys("l")
        page.until("document.querySelector('#engine-pane').hidden")
        page.keys("Home", "r")
        page.click("#train-learn")
        page.click("#train-form .main")
        page.until("document.querySelector('#train-told').textContent === 'Your move as White.'")
        page.drag("d2", "d4")
        page.until("document.querySelector('#train-told').textContent.includes('d4 is not the move')")
        page.drag("e2", "e4")
        page.walked("e4", "c5")
        page.keys("Escape")
        page.until("document.querySelector('#train-pane').hidden")
        page.open(server.url)
        page.drag("h2", "h4")
        page.click("#books .add")
        page.until("document.querySelector('#status').textContent.includes('added 1.h4')")
        assert "h2h4" in [move["uci"] for move in probe(book, "")["moves"]]
        page.keys("Home", "g")
        page.until("['d4', 'Bb5'].includes(document.querySelector('#line [aria-current]')?.textContent)")
        # Beside the move that was played before.
        found = settled(page.line, lambda line: len(line) == 6)
        assert found in (["h4", "e4", "c5", "Nf3", *end] for end in (["d6", "d4"], ["Nc6", "Bb5"])), found


@case(limit=600)
def firefox_bears_a_key_that_is_held():
    line = plies_of_a_game(60)
    with explorer() as server, firefox() as page:
        for latency, runs in HELD_KEY_RUNS:
            page.open(f"{server.url}?play={','.join(line)}&at=0")
            page.run(LATE, latency)
            for _ in range(runs):
                page.hold("ArrowRight", 60, 8)
                page.until("[...document.querySelectorAll('#line button')].findIndex((one) => one.getAttribute('aria-current') === 'step') === 59", limit=60)
                page.until("document.querySelectorAll('#line button').length === 60")
                page.keys("Home")
                page.until("!document.querySelector('#line [aria-current]')", limit=60)
        # A double click plays once, however late the answer is, and however soon. (On a busy
        # machine two clicks may be too far from each other to be one double click: it is said to be one.)
        page.open(server.url)
        page.run(LATE, 300)
        page.run(CLICKS, 'tr[data-uci="d2d4"] td.n', 1, 2)
        page.walked("d4")
        page.run(CLICKS, 'tr[data-uci="d7d5"] td.n', 2)
        page.run(CLICKS, 'tr[data-uci="g8f6"] td.n', 1)
        page.until("document.querySelectorAll('#line button').length > 1")
        page.walked("d4", "Nf6")


@case(limit=600)
def firefox_fits_every_size_without_a_finding_of_axe():
    here = folder("explore")
    other = here / "other.ctg"
    run("build", "-o", str(other), str(SAMPLE))
    found = []
    with explorer(copy_starter(here), other) as server:
        for dark in (False, True):
            with firefox(dark, policy=False) as page:
                for width, height in ((360, 740), (740, 360), (683, 384), (768, 1024), (1366, 768), (1920, 1080)):
                    # Firefox forgets the zoom of a page that it leaves.
                    page.open(server.url + f"?play=e2e4,c7c5{'&books=0,1' if dark else ''}")
                    page.size(width, height)
                    sizes = lambda: page.run("const box = document.querySelector('#board').getBoundingClientRect(); return [document.documentElement.scrollWidth, box.bottom, box.width];")
                    wide, bottom, board = settled(sizes, lambda now: now[0] <= width + 1 and now[1] <= height + 1, 2)
                    assert wide <= width + 1, f"{wide} wide on {width}"
                    assert bottom <= height + 1, f"the board ends at {bottom} of {height}"
                    assert width != 1366 or board >= 600, board
                    page.run(AXE.read_text() + "; return true;")
                    page.run("window.found = null; axe.run().then((result) => { window.found = result; }); return true;")
                    page.until("window.found !== null", limit=60)
                    assert "color-contrast" in page.run("window.found.passes.map((rule) => rule.id)")
                    for violation in page.run("window.found.violations.map(({ id, nodes }) => ({ id, nodes: nodes.slice(0, 3).map(({ html, failureSummary }) => html.slice(0, 120) + failureSummary) }))"):
                        found.append(f"{width} {'dark' if dark else 'light'}: {json.dumps(violation)}")
    assert not found, "\n".join(found)
