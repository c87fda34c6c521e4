"""`tabia explore` in a real browser (Debian's Chromium, without a window)."""

import json
import os
import random
import re
import signal
import subprocess
import time
import urllib.parse

from playwright.sync_api import Page, expect

from pages import MODULE, SAMPLE, WITHOUT_SERVER, Connection, book_rows, drag, expect_figures, expect_line, expect_status, explorer, index, load_text, long_line, open_address, page_of, press, probe, send_10000_requests, square
from paths import STARTER, TABIA, copy_starter, folder
from procs import TIMEOUT_FACTOR, environment, poll, run, run_ok, wait_until
from runner import case

# Requests to the program, as the page counts them.
ASKED = "performance.getEntriesByType('resource').map((one) => new URL(one.name).pathname).filter((path) => path.startsWith('/api/')).sort().join(' ')"

# A click on a square by script, with the events of a mouse.
CLICKS = """(() => {
    for (const name of %s) {
        const place = document.querySelector(`[data-square="${name}"]`), box = place.getBoundingClientRect();
        const where = { bubbles: true, button: 0, pointerType: 'mouse', clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 };
        place.dispatchEvent(new PointerEvent('pointerdown', where));
        dispatchEvent(new PointerEvent('pointerup', where));
    }
})()"""

# What the rules say of these positions: legal moves, FEN, check.
BY_RULES = f"""async (lines) => {{
    const {{ legal, isCheck, play, read, write }} = await {MODULE % 'rules'};
    return lines.map(([fen, moves]) => {{
        const position = moves.reduce(play, read(fen));
        return {{ fen: write(position), check: isCheck(position), legal: legal(position).map(({{ uci, san, rook }}) => [uci, san, rook ?? null]).sort() }};
    }});
}}"""

STARTS = (
    None,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    # Chess960.
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "rkbbnrqn/pppppppp/8/8/8/8/PPPPPPPP/RKBBNRQN w KQkq - 0 1",
)


def clicks(page: Page, selector: str, *details: int):
    """Sends clicks by script, each with its number in the row: on a busy machine two mouse clicks may not make a double click."""
    script = "(one, details) => details.forEach((detail) => one.dispatchEvent(new MouseEvent('click', { bubbles: true, detail })))"
    page.locator(selector).first.evaluate(script, details)


@case(limit=360, browsers=True, smoke=True)
def explorer_moves_by_drag_keyboard_clicks_and_swipes_however_fast_by_the_rules_and_shows_the_figures_of_probe():
    with explorer() as server, page_of(server) as page:
        # The page contains the answer about the position; a connection for events may not be counted before it ends.
        expected = "/api/events /api/line /api/start /api/training"
        if not WITHOUT_SERVER:
            seen = poll(lambda: page.evaluate(ASKED), lambda seen: seen in (expected, expected.removeprefix("/api/events ")))
            assert seen in (expected, expected.removeprefix("/api/events ")), seen
        expect_figures(page, probe(STARTER, ""))
        drag(page, "e2", "e4")
        expect_line(page, "e4")
        drag(page, "c7", "c5")
        expect_line(page, "e4", "c5")
        drag(page, "g1", "f3")
        expect_line(page, "e4", "c5", "Nf3")
        expect_figures(page, probe(STARTER, "e2e4 c7c5 g1f3"))
        expect(page.locator("#opening")).to_contain_text("B27 Sicilian Defense")
        page.wait_for_url("**/?play=e2e4,c7c5,g1f3")
        # Back to the start by keyboard; then with the cursor on the board.
        press(page, *("ArrowLeft",) * 3)
        expect(page.locator("#line [aria-current]")).to_have_count(0)
        page.locator('[data-square="e1"]').focus()
        press(page, "ArrowUp", "Enter")
        expect(page.locator('[data-square="e2"]')).to_have_attribute("aria-selected", "true")
        press(page, "ArrowUp", "ArrowUp", "Enter")
        expect(page.locator("#line [aria-current]")).to_have_text("e4")
        # A typed move, and one chosen in the book window.
        press(page, "Tab")
        page.evaluate("document.activeElement.blur()")
        press(page, "m")
        page.keyboard.type("c5")
        press(page, "Enter")
        expect(page.locator("#line [aria-current]")).to_have_text("c5")
        press(page, "Escape", "ArrowDown")
        expect(page.locator("button.move").first).to_be_focused()
        expect(page.locator("button.move").first).to_have_text("Nf3")
        press(page, "Enter")
        expect(page.locator("#line [aria-current]")).to_have_text("Nf3")
        expect_figures(page, probe(STARTER, "e2e4 c7c5 g1f3"))
        # Clicks all at once: each is for the position after the moves before it.
        open_address(page, server.url)
        page.evaluate(CLICKS % json.dumps(["e2", "e4", "c7", "c5", "g1", "f3"]))
        expect_line(page, "e4", "c5", "Nf3")
        # A key that is held: the same text occurs several times in the line, so the position decides.
        open_address(page, f"{server.url}?play={','.join(long_line(60))}&at=0")
        press(page, *("ArrowRight",) * 60)
        expect(page.locator("#line button").last).to_have_attribute("aria-current", "step")
        # From positions not yet cached: always the likeliest move, however slow the answers.
        open_address(page, server.url)
        press(page, *("ArrowRight",) * 30)
        expect_line(page, *(point["san"] for point in server.get("api/line")["points"][1:31]))
        press(page, "Home")
        expect(page.locator("#line [aria-current]")).to_have_count(0)
        # A step back after a double click, in the same queue, leads to where it began.
        clicks(page, 'tr[data-uci="d2d4"] td.n', 1, 2)
        expect(page.locator("#line [aria-current]")).to_have_text("d4")
        press(page, "ArrowLeft")
        expect(page.locator("#line [aria-current]")).to_have_count(0)
        press(page, "ArrowRight")
        expect(page.locator("#line [aria-current]")).to_have_text("d4")
        # However fast: the table may have changed between the two clicks.
        clicks(page, 'tr[data-uci="d7d5"] td.n', 2)
        page.click('tr[data-uci="g8f6"] td.n')
        expect(page.locator("#line [aria-current]")).to_have_text("Nf6")
        # The page knows the rules as the program does.
        chance, lines, expected = random.Random(58), [], []
        for start in STARTS:
            for _ in range(8):
                moves: list[str] = []
                for _ in range(25):
                    query = urllib.parse.urlencode({"play": ",".join(moves), **({"fen": start} if start else {})})
                    view = server.get(f"api/position?{query}")
                    legal = view["legal"]
                    lines.append([start, list(moves)])
                    expected.append({"fen": view["fen"], "check": view["check"], "legal": sorted([one["uci"], one["san"], one.get("rook")] for one in legal)})
                    if not legal:
                        break
                    # Rare moves are tried more often.
                    rare = [one["uci"] for one in legal if set(one["san"]) & set("O=+#") or len(one["uci"]) == 5]
                    moves.append(chance.choice(rare if rare and chance.random() < 0.4 else [one["uci"] for one in legal]))
        found = page.evaluate(BY_RULES, lines)
        wrong = [(line, a, b) for line, a, b in zip(lines, found, expected) if a != b]
        assert not wrong, f"{len(wrong)} of {len(lines)}: {wrong[0]}"
        kinds = {kind for one in expected for _, san, _ in one["legal"] for kind in "O=#+x" if kind in san}
        assert kinds == set("O=#+x"), kinds
    with explorer() as server, page_of(server, "?play=e2e4,c7c5", has_touch=True, reduced_motion="reduce") as page:
        swipe = """(way) => {
            const at = document.querySelector('[data-square="d5"]').getBoundingClientRect();
            const touch = (type, x) => new PointerEvent(type, { bubbles: true, pointerType: 'touch', button: 0, clientX: x, clientY: at.y + 20 });
            document.querySelector('[data-square="d5"]').dispatchEvent(touch('pointerdown', at.x));
            dispatchEvent(touch('pointerup', at.x + way));
        }"""
        page.evaluate(swipe, 120)
        expect(page.locator("#line [aria-current]")).to_have_text("e4")
        page.evaluate(swipe, -120)
        expect(page.locator("#line [aria-current]")).to_have_text("c5")
        page.evaluate(swipe, -120)
        expect(page.locator("#line button")).to_have_count(3)
        # A movement shorter than a swipe does nothing.
        page.evaluate(swipe, 20)
        expect(page.locator("#line button")).to_have_count(3)
        glides = "document.getAnimations().filter((one) => one.effect.target.closest?.('#board .piece')).length"
        press(page, "ArrowLeft")
        expect(page.locator("#line [aria-current]")).to_have_text("c5")
        assert page.evaluate(glides) == 0, "a piece glides"
    return f"{len(lines)} positions, {sum(len(one['legal']) for one in expected)} moves"


@case(limit=150, browsers=True, smoke=True)
def explorer_accepts_clicks_promotions_castling_pasted_games_openings_and_links():
    with explorer() as server, page_of(server) as page:
        page.mouse.click(*square(page, "d2"))
        expect(page.locator(".square.target")).to_have_count(2)
        page.mouse.click(*square(page, "d4"))
        expect_line(page, "d4")
        page.click("#flip")
        expect(page.locator(".square").first).to_have_attribute("data-square", "h1")
        drag(page, "d7", "d5")
        expect_line(page, "d4", "d5")
        load_text(page, "8/P6k/8/8/8/8/8/K7 w - - 0 1")
        expect(page.locator(".piece")).to_have_count(3)
        drag(page, "a7", "a8")
        expect(page.locator(".promotion button")).to_have_count(4)
        # The pieces are over the file of the pawn.
        box, of = (page.locator(one).bounding_box() for one in (".promotion", '[data-square="a8"]'))
        assert abs(box["x"] - of["x"]) < 1 and abs(box["y"] + box["height"] - of["y"] - of["height"]) < 1, (box, of)
        page.click('.promotion button[aria-label="knight"]')
        expect_line(page, "a8=N")
        load_text(page, "nonsense")
        expect_status(page, "neither a FEN nor a game")
        page.fill("#paste-text", '[Event "x"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 {Spanish} *')
        page.click("#paste-form .main")
        expect_line(page, "e4", "e5", "Nf3", "Nc6", "Bb5")
        expect(page.locator("#opening")).to_contain_text("Ruy Lopez")
        expect(page.locator("#books tfoot")).to_contain_text("Position")
        open_address(page, server.url + "?fen=8/8/8/8/8/4k3/8/4K2R+w+K+-+0+40")
        expect(page.locator("#books")).to_contain_text("not in the book")
        press(page, "m")
        page.keyboard.type("O-O")
        press(page, "Enter")
        expect_line(page, "O-O")
        open_address(page, server.url + "?fen=1k2r3/8/8/8/8/8/8/5KR1+w+G+-+0+1")
        drag(page, "f1", "g1")
        expect_line(page, "O-O")
        press(page, "/")
        page.fill("#search-text", "B90")
        page.click("#search-list button >> nth=0")
        expect(page.locator("#opening")).to_contain_text("B90 Sicilian Defense: Najdorf")
        expect(page.locator("#line button")).to_have_count(10)
        page.go_back()
        expect_line(page, "O-O")
        for typed, meant in (("spanisch", "Ruy Lopez"), ("KID", "King's Indian Defense"), ("e4 c5", "Sicilian Defense")):
            press(page, "/")
            page.fill("#search-text", typed)
            expect(page.locator("#search-list button").first).to_contain_text(meant)
            press(page, "Enter")
            expect(page.locator("#opening")).to_contain_text(meant)
        # A link has position, side and options.
        open_address(page, server.url + "?play=e2e4,c7c5,g1f3&at=2&flip=1&Book+Variety=20")
        expect(page.locator("#line [aria-current]")).to_have_text("c5")
        expect(page.locator("#line button.later")).to_have_text("Nf3")
        expect(page.locator(".square").first).to_have_attribute("data-square", "h1")
        expect_figures(page, probe(STARTER, "e2e4 c7c5", "Book Variety=20"))
        press(page, "ArrowRight")
        expect(page.locator("#line [aria-current]")).to_have_text("Nf3")
        page.go_back()
        expect(page.locator("#line [aria-current]")).to_have_text("c5")
        open_address(page, server.url + "?play=d2d4,d7d5,e2e5,g8f6")
        expect_status(page, "not legal")
        expect_line(page, "d4", "d5")
        drag(page, "c2", "c4")
        expect_line(page, "d4", "d5", "c4")


@case(limit=210, browsers=True)
def explorer_shows_a_book_as_options_change_it_with_reasons_two_books_in_one_table_an_index_of_games_and_a_warning():
    here = folder("explore")
    other, torn = here / "other.ctg", copy_starter(here, "torn")
    run_ok("build", "-o", other, SAMPLE)
    torn.with_suffix(".ctb").unlink()
    # Books have names, so the order of the command line does not matter.
    with explorer(index(here / "games.tgx"), other, STARTER, torn) as server, page_of(server, "?play=e2e4,c7c5&books=tabia.ctg") as page:
        before = book_rows(page)
        page.click("#choice-tab")
        expect(page.locator("#books")).to_be_visible()
        page.locator('input[type="range"][name="Book Variety"]').fill("100")
        page.wait_for_function("(old) => document.querySelector('td.prob .number').dataset.probability != old", arg=str(before[0]["probability"]))
        expect_figures(page, probe(STARTER, "e2e4 c7c5", "Book Variety=100"))
        page.wait_for_url("**Book+Variety=100**")
        page.locator('input[name="Book Minimum Games"]').evaluate("slider => { slider.value = 15; slider.dispatchEvent(new Event('input')); }")
        page.wait_for_function("() => new URLSearchParams(location.search).has('Book Minimum Games')")
        expect(page.locator("#chips .chip")).to_have_count(2)
        games = page.evaluate("new URLSearchParams(location.search).get('Book Minimum Games')")
        page.wait_for_function("() => [...document.querySelectorAll('tbody tr')].some((row) => row.classList.contains('out'))")
        expected = probe(STARTER, "e2e4 c7c5", "Book Variety=100", f"Book Minimum Games={games}")
        page.wait_for_function(
            "(count) => document.querySelectorAll('tbody tr.out').length === count",
            arg=sum(move["probability"] == 0 for move in expected["moves"]),
        )
        expect_figures(page, expected)
        page.select_option('select[name="Book Preset"]', "Optimize")
        expect(page.locator('input[type="range"][name="Book Variety"]')).to_have_value("15")
        expect_figures(page, probe(STARTER, "e2e4 c7c5", "Book Preset=Optimize"))
        page.click("#reset")
        expect(page.locator('input[type="range"][name="Book Variety"]')).to_have_value("50")
        expect_figures(page, probe(STARTER, "e2e4 c7c5"))
        # Why a move is not played is in its cell: reasons that are not clipped.
        reasons = "[...document.querySelectorAll('.reason')].filter((one) => getComputedStyle(one).clipPath === 'none').map((one) => one.textContent)"
        open_address(page, server.url + "?play=e2e4,c7c5&books=tabia.ctg")
        assert page.locator("#books tr.out .reason").count() > 2 and page.evaluate(reasons) == []
        # By keyboard: of the selected move.
        page.locator("#books tr.out button.move").first.focus()
        page.wait_for_function(f"() => {reasons}.length === 1 && {reasons}[0].startsWith('not played: ')")
        press(page, "ArrowUp")
        page.wait_for_function(f"() => {reasons}.length === 0")
        # By finger or mouse: of the dash, which plays nothing.
        page.locator("#books tr.out td.prob").first.click()
        page.wait_for_function(f"() => document.querySelector('#books td.prob.open') && {reasons}.length === 1")
        expect(page.locator("#line button")).to_have_count(2)
        # Two books.
        open_address(page, server.url + "?play=e2e4,c7c5&books=tabia.ctg/other.ctg")
        press(page, "b")
        moves = lambda book: {move["uci"]: move for move in probe(book, "e2e4 c7c5")["moves"]}
        first, second = moves(STARTER), moves(other)
        cells = page.evaluate(
            """() => Object.fromEntries([...document.querySelectorAll('tr[data-uci]:not(.lone)')].map((row) =>
                [row.dataset.uci, [...row.querySelectorAll('.number')].map((cell) => Number(cell.dataset.probability))]))"""
        )
        assert cells == {uci: [first[uci]["probability"], second[uci]["probability"]] for uci in first.keys() & second.keys()}
        # Moves of only one book are folded unless one of them is important.
        alone = [first[uci] for uci in first.keys() - second.keys()]
        matters = any(move["mark"] != "none" or move["probability"] >= 0.05 for move in alone)
        fold = page.locator(".fold").first
        for is_open in (matters, not matters):
            expect(fold).to_have_attribute("aria-expanded", "true" if is_open else "false")
            rows = page.locator("tbody:has(.fold) + tbody").first.locator("tr.lone:visible")
            expect(rows).to_have_count(len(alone) if is_open else 0)
            fold.click()
        # The last row has the sums of both books; either book can sort the table.
        expect(page.locator("tfoot td.n").nth(1)).to_have_text("{:,}".format(probe(other, "e2e4 c7c5")["games"]).replace(",", "\u202f"))
        page.click("th.n.b button")
        games = sorted((second[uci]["games"] for uci in first.keys() & second.keys()), reverse=True)
        expect(page.locator("tr[data-uci]:not(.lone) td.n.b")).to_have_text([f"{count:,}".replace(",", "\u202f") for count in games])
        colour = lambda selector: page.locator(selector).first.evaluate("cell => getComputedStyle(cell).boxShadow")
        assert colour("td.differs") != colour("td:not(.differs)"), "what differs is coloured"
        page.select_option("#second-book", "")
        expect(page.locator("#books .pair")).to_have_count(0)
        page.wait_for_url("**books=tabia.ctg")
        page.go_back()
        expect(page.locator("#books .pair")).to_have_count(1)
        # An index of games.
        open_address(page, server.url + "?play=e2e4&books=games.tgx")
        reported = {move["uci"]: str(move["white"] + move["draws"] + move["black"]) for move in server.get("lichess?play=e2e4&moves=100")["moves"]}
        assert len(reported) > 5 and {row["uci"]: row["games"] for row in book_rows(page)} == reported, reported
        # Nothing in it can be changed.
        expect(page.locator("#books .pencil")).to_have_count(0)
        expect(page.locator("#plot .hint")).to_have_text(re.compile(r"^Main line \d+ moves deep: \d"))
        # With a book it is the other column.
        open_address(page, server.url + "?play=e2e4&books=tabia.ctg/games.tgx")
        expect(page.locator('#books .pair tr[data-uci="c7c5"] td.n.b')).to_have_count(1)
        # A warning about a file is a sign beside its name, and no message before it is asked for.
        expect(page.locator(".sign-of:visible")).to_have_count(0)
        open_address(page, server.url + "?books=torn.ctg")
        expect(page.locator("#first-sign")).to_have_attribute("aria-label", re.compile("^Warning about torn.*torn.ctb is missing"))
        expect(page.locator("#status")).to_be_empty()
        page.click("#first-sign")
        expect_status(page, "torn.ctb is missing")


@case(limit=120)
def explorer_has_help_refuses_files_that_it_cannot_open_and_does_not_grow_with_requests_of_which_10000_at_once_end():
    assert "--read-only" in run("explore", "--help").stdout
    missing = run("explore", "--no-open", "nowhere.ctg")
    assert missing.returncode == 2 and "nowhere.ctg" in missing.stderr
    # The browser is the one with which the desktop opens addresses.
    here = folder("explore")
    opened = here / "opened"
    (here / "xdg-open").write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}.new && mv {opened}.new {opened}\n')
    (here / "xdg-open").chmod(0o755)
    path = f"{here}{os.pathsep}{os.environ['PATH']}"
    process = subprocess.Popen([TABIA, "explore"], stdout=subprocess.PIPE, env={**environment(), "PATH": path}, text=True)
    url = process.stdout.readline().strip()
    wait_until(opened.exists, 15, lambda: "no browser was opened")
    assert opened.read_text() == url
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20 * TIMEOUT_FACTOR) == 0
    with explorer("--read-only") as server:
        assert server.get("api/start")["read_only"] is True
        taken = run("explore", "--no-open", "--port", str(server.port))
        assert taken.returncode == 2 and str(server.port) in taken.stderr
    with explorer() as server:
        get = Connection(server).get
        targets, line = [], []
        while len(targets) < 40:
            moves = get("/api/position?play=" + ",".join(line))["books"][0]["moves"]
            targets.append("/api/position?play=" + ",".join(line))
            line = line + [moves[len(targets) % len(moves)]["uci"]] if moves else []
        for target in targets * 5:
            get(target)
        memory, cpu, start = server.memory_kb(), server.processor_seconds(), time.monotonic()
        count = 0
        for _ in range(100):
            for target in targets:
                get(target)
                count += 1
        spent, cpu = time.monotonic() - start, server.processor_seconds() - cpu
        after = poll(server.memory_kb, lambda now: now < memory + 4000, 2)
        assert after < memory + 4000, (memory, after)
        reported = send_10000_requests(server, "/api/position?play=e2e4")
        assert server.get("api/position")["books"][0]["in_book"]
        return f"{count / spent:.0f} a second, {1000 * cpu / count:.2f} ms of a processor each; {reported}"
