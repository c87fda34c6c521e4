"""Steps on the page of `tabia explore` without waiting for the program: by the rules of chess, and from answers that have come."""

import random
import urllib.parse

from playwright.sync_api import expect

from case_explore_late import delayed, intercepted_page, mark, wait_for_delayed
from pages import Server, expect_line, explorer, fixed_port, marks, page_of
from paths import copy_starter, folder
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
            expect(page.locator("#line [aria-current]")).to_have_count(0)
            page.evaluate(MOVE, ["c2", "c4"])
            page.keyboard.press("ArrowRight")
            wait_for_delayed(page, routes, 1)
            expect(page.locator("#line [aria-current]")).to_have_text("c4")
        expect(page.locator("#line [aria-current]")).not_to_have_text("c4")
        expect(pending).to_have_count(0)


@case(limit=180, browsers=True)
def explorer_page_works_on_with_a_restarted_program_and_steps_without_one():
    book = copy_starter(folder("explore"))
    server = Server(book, "--port", fixed_port())
    with page_of(server) as page:
        pending = page.locator("#books.pending")
        page.evaluate(MOVE, ["e2", "e4"])
        expect(pending).to_have_count(0)
        # Meanwhile the page requests only the event stream, which reconnects by itself.
        with page.expect_response("**/api/events"):
            server.end()
            server = Server(book, "--port", server.port)
        mark(page, "e5", "avoid")
        expect(page.locator("#status")).to_have_text("Saved: e5: mark avoid")
        assert marks(book, "e2e4")["e7e5"] == "avoid"
        page.keyboard.press("Escape")
        expect(page.locator("dialog[open]")).to_have_count(0)
        page.evaluate(MOVE, ["e7", "e5"])
        expect(pending).to_have_count(0)
        server.kill()
        assert page.evaluate(PRESS, ["ArrowLeft", "e7"]) == "p"
        assert page.evaluate(PRESS, ["ArrowRight", "e5"]) == "p"
        assert page.evaluate(MOVE, ["g1", "f3"]) == "N"
        expect(page.locator("#gone")).to_be_visible()
        assert page.evaluate(MOVE, ["b8", "c6"]) == "n"
        assert page.evaluate(PRESS, ["Home", "e2"]) == "P"
        assert page.evaluate(PRESS, ["End", "c6"]) == "n"
        # The moves are made; their figures come with the program.
        expect(pending).to_have_count(1)
        server = Server(book, "--port", server.port)
        try:
            expect(page.locator("#gone")).to_be_hidden()
            expect(pending).to_have_count(0)
            expect_line(page, "e4", "e5", "Nf3", "Nc6")
            page.keyboard.press("ArrowRight")
            expect(page.locator("#line button")).to_have_count(5)
        finally:
            server.end()
