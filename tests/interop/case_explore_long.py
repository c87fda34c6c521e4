"""The page of `tabia explore` during long use: no resource grows."""

import contextlib
import os
import statistics
import time
from pathlib import Path
from typing import Callable

from playwright.sync_api import CDPSession, Page, expect

from devtools import tab
from pages import browser, drag, expect_line, explorer, load_text, long_line, open_address, own_memory_kb, page_of, press
from paths import STOCKFISH, USE_MINUTES, copy_starter, folder
from procs import wait_until
from runner import case

# Number of plies in a round.
PLIES = 60


def walk(page: Page, plies: int) -> float:
    """Goes to the end of a line and back; returns moves per second on the way there."""
    moves = page.locator("#line button")
    press(page, "Home")
    expect(page.locator("#line [aria-current]")).to_have_count(0)
    begun = time.monotonic()
    press(page, *("ArrowRight",) * plies)
    expect(moves.last).to_have_attribute("aria-current", "step")
    rate = plies / (time.monotonic() - begun)
    press(page, "Home")
    expect(page.locator("#line [aria-current]")).to_have_count(0)
    return rate


def paste(page: Page, text: str) -> None:
    load_text(page, text)
    expect(page.locator("#paste-dialog")).to_be_hidden()


def use(page: Page, turn: int) -> float:
    """The actions of a player in an evening, once each."""
    paste(page, "position startpos moves " + " ".join(long_line(PLIES)))
    rate = walk(page, PLIES)
    # A game with variations and comments, then another one.
    paste(page, f"1. e4 {{round {turn}}} e5 (1... c5 2. Nf3 d6) 2. Nf3 Nc6 3. Bb5 *")
    expect(page.locator("#line button")).to_have_count(8)
    press(page, "/")
    page.fill("#search-text", ("najdorf", "caro-kann", "B90", "catalan")[turn % 4])
    page.locator("#search-list button").nth(turn % 3).click()
    expect(page.locator("#search-dialog")).to_be_hidden()
    # The status message comes with the opening itself.
    expect(page.locator("#status")).not_to_be_empty()
    press(page, "w")
    expect(page.locator("#work-table tbody tr").first).to_be_visible()
    press(page, "g")
    # The row may be about the first position.
    expect(page.locator("#work-table [aria-current=true]")).to_have_count(1)
    # A mark, and undo.
    paste(page, "startpos")
    expect(page.locator("#line button")).to_have_count(0)
    page.click('button[aria-label="Change d4"]')
    page.check('input[name="mark"][value="avoid"]', force=True)
    expect(page.locator('tr[data-uci="d2d4"] .mark.avoid')).to_have_count(1)
    page.click("#edit-form button.main")
    press(page, "Control+z")
    expect(page.locator('tr[data-uci="d2d4"] .mark.avoid')).to_have_count(0)
    # The engine, for several moves.
    page.click("#engine-tab")
    page.click("#engine")
    drag(page, "e2", "e4")
    expect_line(page, "e4")
    page.wait_for_function("() => /^[+−]?\\d/.test(document.querySelector('#engine-list .value')?.textContent)")
    press(page, "ArrowRight")
    expect(page.locator("#line button")).to_have_count(2)
    page.click("#engine-tab")
    page.click("#engine")
    # The other dialogs.
    for key in ("o", "b", "?"):
        press(page, key, "Escape")
    press(page, "f")
    expect(page.locator(".square").first).to_have_attribute("data-square", "a8" if turn % 2 else "h1")
    return rate


# Memory that the browser's driver leaves in the page in each round (a few bytes
# per request; typed text in the undo history of fields), measured with rounds
# of requests only. A leak in the page would be many times larger.
OF_THE_DRIVER = {"JSHeapUsedSize": 4096, "Nodes": 4, "JSEventListeners": 0.1, "server": 0}

# Growth from the third to the last quarter of the time that counts as none: for
# a minute the allocators of the server's threads still fill up.
NOTHING = {"JSHeapUsedSize": 0.06, "Nodes": 0.06, "JSEventListeners": 0.06, "server": 0.35}


def quarters(samples: list[float]) -> list[float]:
    """The median of each quarter of the time."""
    step = len(samples) // 4
    return [statistics.median(samples[at * step : (at + 1) * step]) for at in range(4)]


def at_rest(page: Page, tools: CDPSession) -> dict[str, float]:
    """Memory of the page at rest, after collecting the latest garbage."""
    reported: list[dict[str, float]] = [{}]

    def measure() -> bool:
        # The page's last timers and animations end; when it is at rest is counted in nodes.
        page.wait_for_timeout(100)
        tools.send("HeapProfiler.collectGarbage")
        reported.append({one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]})
        return reported[-1]["Nodes"] == reported[-2].get("Nodes")

    wait_until(measure, 15, lambda: reported[-10:])
    return reported[-1]


@case(limit=USE_MINUTES * 60 * 1.5 + 300, all_only=True)
def explorer_page_does_not_grow_while_it_is_used():
    book = copy_starter(folder("explore"))
    with explorer(book, "--engine", STOCKFISH, "--threads", "1") as server, page_of(server) as page:
        tools = page.context.new_cdp_session(page)
        tools.send("Performance.enable")
        kinds = ("JSHeapUsedSize", "Nodes", "JSEventListeners")
        samples: dict[str, list[float]] = {}
        rates = []
        table = ["minute  round  heap kB   nodes  listeners  server kB"]
        begun = time.monotonic()
        end = begun + 60 * USE_MINUTES
        turn = 0
        # The first rounds fill the permanent caches and the browser's history.
        warm_up = 8
        while time.monotonic() < end or turn < warm_up + 12:
            rates.append(use(page, turn))
            turn += 1
            if turn < warm_up:
                continue
            # The length of the engine's last output depends on the speed of the machine.
            page.evaluate("document.querySelector('#engine-list').replaceChildren()")
            reported = at_rest(page, tools)
            reported["server"] = server.memory_kb() * 1024
            for kind in OF_THE_DRIVER:
                samples.setdefault(kind, []).append(reported[kind])
            minute = int((time.monotonic() - begun) / 60)
            if minute >= len(table) - 1:
                heap, nodes, listeners = (round(reported[kind]) for kind in kinds)
                table.append(f"{minute:6}  {turn:5}  {heap // 1024:7}  {nodes:6}  {listeners:9}  {server.memory_kb():9}")
        found = {kind: quarters(of) for kind, of in samples.items()}
        reported = "; ".join(f"{kind} " + ", ".join(f"{one:.0f}" for one in of) for kind, of in found.items())
        minutes = (time.monotonic() - begun) / 60
        report = f"{turn} rounds in {minutes:.1f} minutes, by quarters: {reported}; {statistics.median(rates):.0f} moves/s of play-through"
        for kind, (_, _, third, last) in found.items():
            most = NOTHING[kind] * third + OF_THE_DRIVER[kind] * turn / 4
            assert last - third <= most, f"{kind} grows: {report}"
        return "\n".join([report, *table])


# To the end of a line and back, one frame per step; then another sort order of
# the table, and the other side of the board.
ROUND = """(async () => {
    const key = (name) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
    const frame = () => new Promise((is) => requestAnimationFrame(() => setTimeout(is)));
    const moves = () => [...document.querySelectorAll('#line button')];
    const until = async (ply) => {
        while (moves().findIndex((move) => move.ariaCurrent) !== ply - 1) await frame();
        await frame();
    };
    const plies = moves().length;
    key('Home');
    await until(0);
    for (let ply = 1; ply <= plies; ply++) { key('ArrowRight'); await until(ply); }
    for (let ply = plies - 1; ply >= 0; ply--) { key('ArrowLeft'); await until(ply); }
    for (let turn = 0; turn < 3; turn++) { document.querySelector('#books th.n button').click(); await frame(); }
    for (let turn = 0; turn < 2; turn++) { key('f'); await frame(); }
    return 2 * plies;
})()"""

# A line in the book, so that the table is the largest part of the page.
OF_THE_BOOK = "e2e4,c7c5,g1f3,d7d6,d2d4,c5d4,f3d4,g8f6,b1c3,a7a6"


def takes_no_more(walk: Callable[[], int], memory_kb: Callable[[], int]) -> str:
    """`walk` uses the page, and returns the number of moves."""
    samples: list[float] = []
    walked = 0
    begun = time.monotonic()
    end = begun + 60 * USE_MINUTES
    # The permanent caches are full after some hundred moves.
    while time.monotonic() < end or len(samples) < 20:
        walked += walk()
        if walked > 400:
            samples.append(memory_kb())
    first, _, third, last = quarters(samples)
    minutes = (time.monotonic() - begun) / 60
    report = f"{walked} moves in {minutes:.1f} minutes, memory by quarters {first:.0f} to {last:.0f} kB"
    assert last - third <= 0.1 * third, f"it grows: {report}"
    return report


def pages_of_firefox() -> list[int]:
    """The content processes of the browser that this case started."""
    parents, commands = {}, {}
    for one in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(one.name)] = int((one / "stat").read_text().rpartition(")")[2].split()[1])
            commands[int(one.name)] = (one / "cmdline").read_text().rstrip("\0")

    def is_ours(pid: int) -> bool:
        return pid == os.getpid() or (pid in parents and is_ours(parents[pid]))

    return [pid for pid, command in commands.items() if "-contentproc" in command and command.endswith("tab") and is_ours(pid)]


@case(limit=USE_MINUTES * 60 * 1.5 + 300, browsers=True, all_only=True)
def explorer_memory_of_the_browser_does_not_grow():
    address = "?play=" + OF_THE_BOOK
    if os.environ.get("TABIA_BROWSER") != "Firefox":
        with explorer() as server, tab() as page:
            page.open(server.url + address, "document.documentElement?.dataset.ready")
            return takes_no_more(lambda: page.run(ROUND), page.memory_kb)
    with explorer() as server, browser() as started:
        page = started.new_page()
        open_address(page, server.url + address)

        def memory_kb() -> int:
            page.evaluate("TestUtils.gc()")
            return max(map(own_memory_kb, pages_of_firefox()))

        return takes_no_more(lambda: page.evaluate(ROUND), memory_kb)
