"""The page of `tabia explore`, used for a long time: nothing grows."""

import statistics
import time

from playwright.sync_api import Page, expect

from pages import drag, explorer, page_of, plies_of_a_game, walked
from places import STOCKFISH, USE_MINUTES, copy_starter, folder
from runner import case

# Plies that are walked through in a round.
PLIES = 60


def walk(page: Page, plies: int) -> float:
    """Walks a line to its end and back; returns moves a second of the way there."""
    moves = page.locator("#line button")
    page.keyboard.press("Home")
    expect(page.locator("#line [aria-current]")).to_have_count(0)
    begun = time.monotonic()
    for _ in range(plies):
        page.keyboard.press("ArrowRight")
    expect(moves.last).to_have_attribute("aria-current", "step")
    rate = plies / (time.monotonic() - begun)
    page.keyboard.press("Home")
    expect(page.locator("#line [aria-current]")).to_have_count(0)
    return rate


def paste(page: Page, text: str) -> None:
    page.keyboard.press("v")
    page.fill("#paste-text", text)
    page.click("#paste-form .main")
    expect(page.locator("#paste-dialog")).to_be_hidden()


def use(page: Page, turn: int) -> float:
    """What a player does in an evening, once."""
    paste(page, "position startpos moves " + " ".join(plies_of_a_game(PLIES)))
    rate = walk(page, PLIES)
    # A game with variations and comments, then another one.
    paste(page, f"1. e4 {{round {turn}}} e5 (1... c5 2. Nf3 d6) 2. Nf3 Nc6 3. Bb5 *")
    expect(page.locator("#line button")).to_have_count(8)
    page.keyboard.press("/")
    page.fill("#search-text", ("najdorf", "caro-kann", "B90", "catalan")[turn % 4])
    page.locator("#search-list button").nth(turn % 3).click()
    expect(page.locator("#search-dialog")).to_be_hidden()
    page.keyboard.press("g")
    page.wait_for_function("() => document.querySelector('#line [aria-current]') !== null")
    # A mark, and its way back.
    paste(page, "startpos")
    expect(page.locator('tr[data-uci="d2d4"]')).to_be_visible()
    page.click('button[aria-label="Change d4"]')
    page.check('input[name="mark"][value="avoid"]', force=True)
    expect(page.locator('tr[data-uci="d2d4"] .mark.avoid')).to_have_count(1)
    page.click("#edit-form button.main")
    page.keyboard.press("Control+z")
    expect(page.locator('tr[data-uci="d2d4"] .mark.avoid')).to_have_count(0)
    # The engine, over some moves.
    page.click("#engine")
    drag(page, "e2", "e4")
    walked(page, "e4")
    page.wait_for_function("() => /^[+−]?\\d/.test(document.querySelector('#engine-score').textContent)")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#line button")).to_have_count(2)
    page.click("#engine")
    # The other dialogs.
    for key in ("o", "b", "?"):
        page.keyboard.press(key)
        page.keyboard.press("Escape")
    page.keyboard.press("f")
    return rate


def growth(samples: list[tuple[float, float]]) -> float:
    """How much more there is at the end than at the beginning, by the median of
    all slopes between two samples (Theil and Sen), so that one odd sample is
    nothing."""
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for at, a in enumerate(samples) for b in samples[at + 1 :]]
    return statistics.median(slopes) * (samples[-1][0] - samples[0][0])


@case(limit=USE_MINUTES * 60 * 1.5 + 300)
def explorer_does_not_grow_while_it_is_used():
    book = copy_starter(folder("explore"))
    with explorer(book, "--engine", STOCKFISH, "--threads", "1") as server, page_of(server) as page:
        tools = page.context.new_cdp_session(page)
        tools.send("Performance.enable")
        kinds = ("JSHeapUsedSize", "Nodes", "JSEventListeners")
        samples: dict[str, list[tuple[float, float]]] = {}
        rates = []
        begun = time.monotonic()
        end = begun + 60 * USE_MINUTES
        turn = 0
        # The first rounds fill what is kept for good, the processor's time aside.
        warm_up = 8
        while time.monotonic() < end or turn < warm_up + 12:
            rates.append(use(page, turn))
            turn += 1
            if turn < warm_up:
                continue
            tools.send("HeapProfiler.collectGarbage")
            told = {one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]}
            told["server"] = server.memory_kb() * 1024
            for kind in (*kinds, "server"):
                samples.setdefault(kind, []).append((time.monotonic() - begun, told[kind]))
        grown = {kind: growth(of[-1000:]) for kind, of in samples.items()}
        first = {kind: of[0][1] for kind, of in samples.items()}
        told = ", ".join(f"{kind} {first[kind]:.0f} {grown[kind]:+.0f}" for kind in samples)
        minutes = (samples["server"][-1][0] - samples["server"][0][0]) / 60
        report = f"{turn} rounds, {minutes:.1f} minutes: {told}; {statistics.median(rates):.0f} moves/s of play-through"
        # Wide: what leaks in each round is more than that after an hour, and after two minutes.
        for kind, most in (("JSHeapUsedSize", 0.10), ("Nodes", 0.10), ("JSEventListeners", 0.10), ("server", 0.25)):
            assert grown[kind] <= most * first[kind], report
        return report
