"""Steps on the page of `tabia explore` without waiting for the program: by the rules of chess, and from answers that have come."""

import random
import statistics
import urllib.parse

from playwright.sync_api import Page, expect

from case_explore_late import delayed, intercepted_page, wait_for_delayed
from case_explore_train import repertoire
from pages import Server, explorer, expect_line, fixed_port, open_address, page_of
from paths import folder
from runner import case

# The page's own module.
RULES = "import(document.querySelector('link[href$=\"/rules.js\"]').href)"

# What the rules say of these positions: legal moves, FEN, check.
BY_RULES = f"""async (lines) => {{
    const {{ legal, isCheck, play, read, write }} = await {RULES};
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


@case(limit=200, browsers=True)
def explorer_page_knows_the_rules_as_the_program_does():
    chance = random.Random(58)
    with explorer() as server, page_of(server) as page:
        lines, expected = [], []
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
    return f"{len(lines)} positions, {sum(len(one['legal']) for one in expected)} moves"


# Presses a key, and tells what the board has one frame later.
PRESS = """([key, square]) => new Promise((resolve) => {
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    requestAnimationFrame(() => resolve(document.querySelector(`[data-square=${square}] .piece`)?.dataset.letter ?? null));
})"""

# Plays a move by two clicks, and tells what the board has one frame later.
MOVE = """([from, to]) => new Promise((resolve) => {
    for (const name of [from, to]) {
        const square = document.querySelector(`[data-square=${name}]`);
        for (const kind of ['pointerdown', 'pointerup']) square.dispatchEvent(new PointerEvent(kind, { bubbles: true, button: 0 }));
    }
    requestAnimationFrame(() => resolve(document.querySelector(`[data-square=${to}] .piece`)?.dataset.letter ?? null));
})"""


@case(limit=120, browsers=True, smoke=True)
def explorer_moves_pieces_before_the_program_answers():
    with explorer() as server, intercepted_page(server) as page:
        pending = page.locator("#books.pending")
        rows = page.locator("#books tr[data-uci]")
        with delayed(page, "**/api/position*") as routes:
            # However long the answers take: each move is there within a frame, also one that no answer has brought.
            assert page.evaluate(MOVE, ["e2", "e4"]) == "P"
            assert page.evaluate(MOVE, ["a7", "a6"]) == "p"
            assert page.evaluate(MOVE, ["g1", "f3"]) == "N"
            expect(page.locator("#line button")).to_have_text(["e4", "a6", "Nf3"])
            # The figures of the last position can neither be clicked nor changed.
            expect(pending).to_have_count(1)
            page.evaluate("document.querySelector('#books tr[data-uci] button.move').click()")
            expect(page.locator("#line button")).to_have_count(3)
            wait_for_delayed(page, routes, 3)
            # A late answer for an earlier position shows nothing.
            with page.expect_response("**/api/position*"):
                routes.pop(0).continue_()
            # No event tells that nothing is shown.
            page.wait_for_timeout(100)
            expect(pending).to_have_count(1)
            with page.expect_response("**/api/position*"):
                routes.pop(1).continue_()
            expect(pending).to_have_count(0)
            expect(page.locator("#to-move")).to_have_text("Black to move, move 2")
            # Back to where an answer has come since: the whole page within a frame, without a request.
            before = len(routes)
            page.evaluate(PRESS, ["ArrowLeft", "g1"])
            assert page.evaluate(PRESS, ["ArrowLeft", "a7"]) == "p"
            expect(pending).to_have_count(0)
            assert rows.first.get_attribute("data-uci") and len(routes) == before
            # The start, which came with the page; and forward again.
            assert page.evaluate(PRESS, ["Home", "e2"]) == "P"
            expect(pending).to_have_count(0)
            assert page.evaluate(PRESS, ["ArrowRight", "e4"]) == "P"
            assert page.evaluate(PRESS, ["End", "f3"]) == "N"
            expect(pending).to_have_count(0)
        # A step that only an answer can tell waits for it.
        with delayed(page, "**/api/position*") as routes:
            page.keyboard.press("Home")
            expect_line_at(page, None)
            page.evaluate(MOVE, ["c2", "c4"])
            page.keyboard.press("ArrowRight")
            wait_for_delayed(page, routes, 1)
            expect(page.locator("#line [aria-current]")).to_have_text("c4")
        expect(page.locator("#line [aria-current]")).not_to_have_text("c4")
        expect(pending).to_have_count(0)


def expect_line_at(page: Page, san: "str | None") -> None:
    current = page.locator("#line [aria-current]")
    if san is None:
        expect(current).to_have_count(0)
    else:
        expect(current).to_have_text(san)


@case(limit=120, browsers=True)
def explorer_steps_without_a_program():
    book = repertoire(folder("explore"))
    server = Server(book, "--port", fixed_port())
    with page_of(server) as page:
        page.evaluate(MOVE, ["e2", "e4"])
        page.evaluate(MOVE, ["e7", "e5"])
        expect(page.locator("#books.pending")).to_have_count(0)
        server.kill()
        assert page.evaluate(PRESS, ["ArrowLeft", "e7"]) == "p"
        assert page.evaluate(PRESS, ["ArrowRight", "e5"]) == "p"
        assert page.evaluate(MOVE, ["g1", "f3"]) == "N"
        expect(page.locator("#gone")).to_be_visible()
        assert page.evaluate(MOVE, ["b8", "c6"]) == "n"
        assert page.evaluate(PRESS, ["Home", "e2"]) == "P"
        assert page.evaluate(PRESS, ["End", "c6"]) == "n"
        server = Server(book, "--port", server.port)
        try:
            expect(page.locator("#gone")).to_be_hidden()
            expect_line(page, "e4", "e5", "Nf3", "Nc6")
            expect(page.locator('#books tr[data-uci="f1b5"]')).to_have_count(1)
        finally:
            server.end()


# Milliseconds from a key to the moved piece, and to the whole table.
TIMED = """([key, square, letter]) => new Promise((resolve) => {
    const start = performance.now();
    let moved = null;
    const look = () => {
        const has = document.querySelector(`[data-square=${square}] .piece`)?.dataset.letter ?? null;
        if (has === letter) moved ??= performance.now() - start;
        if (moved !== null && !document.querySelector('#books.pending')) resolve([moved, performance.now() - start]);
        else requestAnimationFrame(look);
    };
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    requestAnimationFrame(look);
})"""

@case(limit=200, all_only=True)
def explorer_takes_so_long_for_a_step():
    """The times of steps by the latency of the network: nothing is judged by them."""
    report = [f"{'latency':>8}  {'first visit':>24}  {'seen before':>24}", f"{'':>8}  {'piece':>11} {'table':>12}  {'piece':>11} {'table':>12}"]
    with explorer() as server, page_of(server) as page:
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        for latency in (0, 100, 400):
            network.send("Network.emulateNetworkConditions", {"offline": False, "latency": latency, "downloadThroughput": -1, "uploadThroughput": -1})
            new, seen = [], []
            for line in ("e2e4,e7e5,g1f3,b8c6,f1b5,a7a6", "d2d4,d7d5,c2c4,e7e6,b1c3,g8f6", "c2c4,e7e5,b1c3,g8f6,g1f3,b8c6"):
                open_address(page, f"{server.url}?play={line}&at=0&x={latency}")
                for times in (new, seen):
                    for uci in line.split(","):
                        square = uci[2:4]
                        letter = page.evaluate("async ([line, square]) => { const { along } = await " + RULES + "; return along(null, line).get(square); }", [line.split(",")[: line.split(",").index(uci) + 1], square])
                        times.append(page.evaluate(TIMED, ["ArrowRight", square, letter]))
                    page.keyboard.press("Home")
                    expect_line_at(page, None)
            median = lambda times, which: f"{statistics.median(one[which] for one in times):.0f} ({max(one[which] for one in times):.0f})"
            report.append(f"{latency:>5} ms  {median(new, 0):>11} {median(new, 1):>12}  {median(seen, 0):>11} {median(seen, 1):>12}")
    return "\n".join(report + ["milliseconds: median (greatest)"])
