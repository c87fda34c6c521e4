"""What a player does on the page of `tabia explore`: engine, changes to the book, training."""

import json
from pathlib import Path

from playwright.sync_api import expect

from pages import drag, explorer, page_of, probe, walked
from places import STARTER, STOCKFISH, copy_starter, folder
from procs import run
from runner import case


def engines_of(server) -> list[str]:
    """The programs that a server has started."""
    tasks = Path(f"/proc/{server.process.pid}/task")
    return [pid for children in tasks.glob("*/children") for pid in children.read_text().split()]


def busy(pid: str) -> int:
    """Ticks of a processor that a process has used."""
    with open(f"/proc/{pid}/stat") as stat:
        return sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:13]))


@case(limit=150)
def explorer_lets_the_engine_evaluate_while_somebody_looks():
    with explorer("--engine", STOCKFISH, "--threads", "1") as server, page_of(server, "?play=e2e4,c7c5") as page:
        # Nothing runs before it is asked for.
        expect(page.locator("#engine-pane")).to_be_hidden()
        assert not engines_of(server)
        page.click("#engine")
        expect(page.locator("#engine-list li")).to_have_count(3)
        expect(page.locator("#engine-told")).to_contain_text("Stockfish")
        # The book's likeliest moves have values, each in its row.
        likely = [move["uci"] for move in probe(STARTER, "e2e4 c7c5")["moves"][:4]]
        for uci in likely:
            page.wait_for_function("(uci) => /^[+−]?\\d+\\.\\d\\d$/.test(document.querySelector(`tr[data-uci=\"${uci}\"] td.eval`).textContent)", arg=uci, timeout=30_000)
        assert len(engines_of(server)) == 1
        page.select_option("#engine-lines", "5")
        expect(page.locator("#engine-list li")).to_have_count(5)
        # A line can be pointed at and played.
        third = page.locator("#engine-list li:first-child button").nth(2)
        third.hover()
        expect(page.locator(".pointed [data-arrow]")).to_have_count(3)
        names = page.locator("#engine-list li:first-child button").evaluate_all("(all) => all.slice(0, 3).map((one) => one.textContent.replace(/^\\d+[.…]/, ''))")
        third.click()
        walked(page, "e4", "c5", *names)
        # The value is White's whoever is to move: a queen more for Black is good for Black.
        page.goto(server.url + "?fen=" + "3qk3/8/8/8/8/8/8/4K3+w+-+-+0+1")
        page.click("#engine")
        expect(page.locator("#engine-score")).to_contain_text("−")
        page.wait_for_function("parseFloat(document.querySelector('#gauge div').style.getPropertyValue('--white')) < 20")
        # Another page takes the engine; this one says so.
        other = page.context.new_page()
        other.goto(server.url)
        other.wait_for_selector("html[data-ready]")
        other.click("#engine")
        expect(other.locator("#engine-told")).to_contain_text("depth")
        expect(page.locator("#engine-told")).to_contain_text("another page")
        assert len(engines_of(server)) == 1
        # Turned off it thinks no more.
        other.click("#engine")
        expect(other.locator("#engine-pane")).to_be_hidden()
        (engine,) = engines_of(server)
        page.wait_for_timeout(1000)
        before = busy(engine)
        page.wait_for_timeout(1500)
        assert busy(engine) - before < 20, "the engine goes on for nobody"


@case(limit=120)
def explorer_does_not_believe_a_bad_engine():
    here = folder("explore")
    liar = here / "liar"
    liar.write_text(
        "#!/bin/sh\n"
        "while read -r line; do case $line in\n"
        "uci) echo 'id name <img src=x onerror=alert(1)>'; echo 'option name MultiPV type spin default 1 min 1 max 500'; echo uciok;;\n"
        "isready) echo readyok;;\n"
        "go*) echo 'info depth 9 multipv 1 score cp 30 pv e2e5 e7e5'; echo 'info depth 9 multipv 2 score cp 20 pv d2d4 d7d5 a1a8';\n"
        "  echo 'info depth 9 multipv 77 score mate 999999999999 pv g1f3'; echo 'info depth x score cp <b>'; echo bestmove h9h9;;\n"
        "quit) exit;; esac; done\n"
    )
    liar.chmod(0o755)
    with explorer("--engine", liar) as server, page_of(server) as page:
        page.click("#engine")
        # The line that cannot be played is left out, the other ends before its bad move.
        expect(page.locator("#engine-list li")).to_have_count(1)
        expect(page.locator("#engine-list li")).to_have_text("+0.201.d4d5")
        expect(page.locator("#engine-told")).to_contain_text("<img")
        assert page.locator("#engine-pane img").count() == 0
    missing = run("explore", "--no-open", "--engine", "nobody")
    assert missing.returncode == 2 and "nobody" in missing.stderr, missing
    dead = here / "dead"
    dead.write_text("#!/bin/sh\nexit 3\n")
    dead.chmod(0o755)
    with explorer("--engine", dead) as server, page_of(server) as page:
        page.click("#engine")
        expect(page.locator("#engine-told")).to_contain_text("the engine ended")


@case(limit=150)
def explorer_adds_and_deletes_lines_with_the_way_back():
    book = copy_starter(folder("explore"))
    before = book.read_bytes()
    has = lambda moves, uci: uci in [move["uci"] for move in probe(book, moves)["moves"] if not move["transposition"]]
    with explorer(book) as server, page_of(server) as page:
        drag(page, "h2", "h4")
        expect(page.locator("#books")).to_contain_text("not in the book")
        page.click("#books .add")
        expect(page.locator("#status")).to_contain_text("added 1.h4")
        expect(page.locator("#books")).to_contain_text("ends here")
        assert has("", "h2h4")
        # A pasted game with a variation and signs.
        page.keyboard.press("v")
        page.fill("#paste-text", "1. a4 a5! (1... h5 2. h4?) 2. Ra3 *")
        page.click("#paste-form .main")
        walked_moves = page.locator("#line button")
        expect(walked_moves).to_have_count(5)
        page.click("#menu")
        page.click("#add-tree")
        expect(page.locator("#status")).to_contain_text("added 2 lines")
        assert has("a2a4 a7a5", "a1a3") and has("a2a4 h7h5", "h2h4")
        assert {move["uci"]: move["annotation"] for move in probe(book, "a2a4")["moves"]}["a7a5"] == "!"
        # Marks for White's moves of the line.
        page.click("#menu")
        page.click("#mark-line")
        page.select_option("#line-side", "white")
        page.click("#line-form .main")
        expect(page.locator("#line-dialog")).to_be_hidden()
        marks = lambda moves: {move["uci"]: move["mark"] for move in probe(book, moves)["moves"]}
        assert (marks("")["a2a4"], marks("a2a4")["a7a5"], marks("a2a4 a7a5")["a1a3"]) == ("main", "none", "main")
        # A commentary, and two ways to delete.
        page.goto(server.url + "?play=e2e4")
        page.wait_for_selector("html[data-ready]")
        page.click('button[aria-label="Change c5"]')
        page.select_option("#edit-commentary", "13")
        expect(page.locator("#status")).to_contain_text("commentary")
        assert {move["uci"]: move["commentary"] for move in probe(book, "e2e4")["moves"]}["c7c5"] == 13
        page.click("#remove-below")
        expect(page.locator("#edit-dialog")).to_be_hidden()
        expect(page.locator("#status")).to_contain_text("deleted all behind 1.e4 c5")
        assert has("e2e4", "c7c5") and not has("e2e4 c7c5", "g1f3")
        page.click('button[aria-label="Change e5"]')
        page.click("#remove-move")
        expect(page.locator('tr[data-uci="e7e5"]:not(.transposition)')).to_have_count(0)
        assert not has("e2e4", "e7e5")
        # Back to the first byte; the page was loaded anew in between, so the rest is another page's.
        for told in ("deleted 1.e4 e5", "deleted all behind", "c5: commentary"):
            page.keyboard.press("Control+z")
            expect(page.locator("#status")).to_contain_text(f"Taken back: {told}")
        assert has("e2e4 c7c5", "g1f3") and has("e2e4", "e7e5")
        page.keyboard.press("Control+Shift+z")
        expect(page.locator("#status")).to_contain_text("Done again")
        page.keyboard.press("Control+z")
        expect(page.locator("#status")).to_contain_text("Taken back")
    assert book.read_bytes() != before
    assert json.loads(run("verify", str(book), "--json").stdout)["problems"] == []
