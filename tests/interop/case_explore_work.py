"""Typical work on the page of `tabia explore`: engine, changes to the book, training."""

import json
import re
from pathlib import Path

from playwright.sync_api import Page, expect

from pages import WITHOUT_SERVER, drag, expect_line, explorer, is_firefox, marks, open_address, page_of, probe, reload, saved_by
from paths import STARTER, STOCKFISH, copy_starter, folder
from places import books, every_place
from procs import poll, run, wait_until
from runner import case


def engines_of(server) -> list[str]:
    """The programs that a server has started."""
    tasks = Path(f"/proc/{server.process.pid}/task")
    return [pid for children in tasks.glob("*/children") for pid in children.read_text().split()]


# Whether the engine's line is below the board and its buttons, or else between title and table.
LINE_STANDS = """(isBelow) => {
  const [line, board, steps, title, table] = ["engine-line", "board", "steps", "opening", "books"].map((id) => document.getElementById(id).getBoundingClientRect());
  if (isBelow) return steps.top >= board.bottom && line.top >= steps.bottom && line.bottom <= innerHeight && line.left >= board.left && line.right <= board.right + 1;
  return line.left >= title.right && line.right <= innerWidth && line.bottom <= table.top && line.bottom > title.top;
}"""


@case(limit=150, browsers=True, smoke=True)
def explorer_starts_one_engine_on_request_and_shows_its_lines():
    with explorer("--engine", STOCKFISH, "--threads", "1") as server, page_of(server, "?play=e2e4,c7c5") as page:
        # The engine starts only on request.
        expect(page.locator("#engine-pane")).to_be_hidden()
        assert not engines_of(server)

        def one_engine() -> str:
            found = poll(lambda: engines_of(server), lambda found: len(found) == 1)
            assert len(found) == 1, found
            return found[0]

        page.click("#engine-tab")
        page.click("#engine")
        expect(page.locator("#engine-list li")).to_have_count(3)
        expect(page.locator("#engine-message")).to_contain_text("Stockfish")
        # The likeliest book moves have values, each in its row.
        likely = [move["uci"] for move in probe(STARTER, "e2e4 c7c5")["moves"][:4]]
        for uci in likely:
            page.wait_for_function("(uci) => /^[+−]?\\d+\\.\\d\\d$/.test(document.querySelector(`tr[data-uci=\"${uci}\"] td.eval`).textContent)", arg=uci)
        one_engine()
        page.select_option("#engine-lines", "5")
        expect(page.locator("#engine-list li")).to_have_count(5)
        # The list is updated in place, so that a finger or pointer does not miss.
        listed = page.locator("#engine-list li:first-child button").first.element_handle()
        expect(page.locator("#engine-message")).not_to_have_text(page.locator("#engine-message").inner_text())
        assert listed.evaluate("(one) => one.isConnected")
        # A line can be previewed and played.
        third = page.locator("#engine-list li:first-child button").nth(2)
        third.hover()
        expect(page.locator(".pointed [data-arrow]")).to_have_count(3)
        names = page.locator("#engine-list li:first-child button").evaluate_all("(all) => all.slice(0, 3).map((one) => one.textContent.replace(/^\\d+[.…]/, ''))")
        third.click()
        expect_line(page, "e4", "c5", *names)
        # The value is White's, whoever is to move: an extra queen for Black is good for Black.
        # After a reload it is still on, and shows its best move and the values along the line.
        open_address(page, server.url + "?fen=" + "3qk3/8/8/8/8/8/8/4K3+w+-+-+0+1")
        expect(page.locator("#engine-list .value").first).to_contain_text("−")
        page.wait_for_function("() => parseFloat(document.querySelector('#gauge div').style.getPropertyValue('--white')) < 20")
        # Another page takes the engine; this one reports it.
        other = page.context.new_page()
        open_address(other, server.url)
        other.click("#engine-tab")
        other.click("#engine")
        expect(other.locator("#engine-message")).to_contain_text("depth")
        expect(page.locator("#engine-message")).to_contain_text("another page")
        one_engine()
        # When the other page releases it, this one takes it again.
        other.click("#engine-tab")
        other.click("#engine")
        expect(other.locator("#engine-pane")).to_be_hidden()
        expect(page.locator("#engine-message")).to_contain_text("depth")
        expect(page.locator(".best [data-arrow]")).to_have_count(1)
        open_address(page, server.url + "?play=e2e4,c7c5")
        page.keyboard.press("b")
        expect(page.locator("#plot .value")).to_have_count(1)
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#plot .value")).to_have_count(2)
        # With any panel its best line is beside the title, or below a board that leaves room for it.
        best = page.locator("#engine-line button").first
        for size, is_below in (((1366, 768), False), ((1600, 900), True), ((1920, 1080), True)):
            page.set_viewport_size(dict(zip(("width", "height"), size)))
            expect(best).to_be_visible()
            page.wait_for_function(LINE_STANDS, arg=is_below)
        best.hover()
        expect(page.locator(".pointed [data-arrow]")).to_have_count(1)
        best.click()
        expect(page.locator("#line [aria-current]")).not_to_have_text("e4")
        # Turned off.
        page.click("#engine-tab")
        page.click("#engine")
        expect(page.locator(".best [data-arrow]")).to_have_count(0)
        expect(page.locator("#engine-line")).to_be_hidden()
        one_engine()


@case(limit=120, browsers=True)
def explorer_ignores_illegal_lines_of_an_engine():
    here = folder("explore")
    liar, told = here / "liar", here / "told"
    liar.write_text(
        "#!/bin/sh\n"
        f"while read -r line; do echo $line >> {told}; case $line in\n"
        "uci) echo 'id name <img src=x onerror=alert(1)>'; echo 'option name MultiPV type spin default 1 min 1 max 500'; echo uciok;;\n"
        "isready) echo readyok;;\n"
        "go*) echo 'info depth 9 multipv 1 score cp 30 pv e2e5 e7e5'; echo 'info depth 9 multipv 2 score cp 20 pv d2d4 d7d5 a1a8';\n"
        "  echo 'info depth 9 multipv 77 score mate 999999999999 pv g1f3'; echo 'info depth x score cp <b>';;\n"
        "stop) echo bestmove h9h9;;\n"
        "quit) exit;; esac; done\n"
    )
    liar.chmod(0o755)
    with explorer("--engine", liar) as server, page_of(server) as page:
        page.click("#engine-tab")
        page.click("#engine")
        # The line without a legal move is left out, the other ends before its illegal move.
        expect(page.locator("#engine-list li")).to_have_count(1)
        expect(page.locator("#engine-list li")).to_have_text("+0.201.d4d5")
        expect(page.locator("#engine-message")).to_contain_text("<img")
        expect(page.locator("#engine-pane img")).to_have_count(0)
        # When turned off it stops searching.
        last = lambda: told.read_text().splitlines()[-1]
        wait_until(lambda: last().startswith("go"), 15, told.read_text)
        page.click("#engine")
        wait_until(lambda: last() == "stop", 15, told.read_text)
    missing = run("explore", "--no-open", "--engine", "nobody")
    assert missing.returncode == 2 and "nobody" in missing.stderr, missing
    dead = here / "dead"
    dead.write_text("#!/bin/sh\nexit 3\n")
    dead.chmod(0o755)
    with explorer("--engine", dead) as server, page_of(server) as page:
        page.click("#engine-tab")
        page.click("#engine")
        expect(page.locator("#engine-list .stopped")).to_contain_text("the engine ended")


@case(limit=150, browsers=True)
def explorer_adds_and_deletes_lines_and_undoes_it():
    book = copy_starter(folder("explore"))
    before = book.read_bytes()
    has = lambda moves, uci: uci in [move["uci"] for move in probe(book, moves)["moves"] if not move["transposition"]]
    with explorer(book) as server, page_of(server) as page:
        # There is nothing to change on paper.
        expect(page.locator(".pencil").first).to_be_visible()
        on_paper(page, True)
        expect(page.locator(".pencil").first).to_be_hidden()
        on_paper(page, False)
        drag(page, "h2", "h4")
        expect(page.locator("#books")).to_contain_text("not in the book")
        page.click("#books .add")
        expect(page.locator("#status")).to_contain_text("added 1.h4")
        expect(page.locator("#books")).to_contain_text("ends here")
        assert has("", "h2h4")
        # A pasted game with a variation and annotations.
        page.keyboard.press("v")
        page.fill("#paste-text", "1. a4 a5! (1... h5 2. h4?) 2. Ra3 *")
        page.click("#paste-form .main")
        walked_moves = page.locator("#line button")
        expect(walked_moves).to_have_count(5)
        page.click("#line-menu")
        page.click("text=Add all lines to the book")
        expect(page.locator("#status")).to_contain_text("added 2 lines")
        assert has("a2a4 a7a5", "a1a3") and has("a2a4 h7h5", "h2h4")
        assert {move["uci"]: move["annotation"] for move in probe(book, "a2a4")["moves"]}["a7a5"] == "!"
        # Marks for White's moves of the line.
        page.click("#line-menu")
        page.click("text=Mark the whole line…")
        page.select_option("#line-side", "white")
        page.click("#line-form .main")
        expect(page.locator("#line-dialog")).to_be_hidden()
        marks = lambda moves: {move["uci"]: move["mark"] for move in probe(book, moves)["moves"]}
        assert (marks("")["a2a4"], marks("a2a4")["a7a5"], marks("a2a4 a7a5")["a1a3"]) == ("main", "none", "main")
        # A commentary, and two ways to delete.
        open_address(page, server.url + "?play=e2e4")
        page.click('button[aria-label="Change c5"]')
        page.select_option("#edit-commentary", "13")
        expect(page.locator("#status")).to_contain_text("commentary")
        assert {move["uci"]: move["commentary"] for move in probe(book, "e2e4")["moves"]}["c7c5"] == 13
        page.click("#remove-below")
        expect(page.locator("#edit-dialog")).to_be_hidden()
        page.click("#removal-begin")
        expect(page.locator("#status")).to_contain_text("deleted all after 1.e4 c5")
        assert has("e2e4", "c7c5") and not has("e2e4 c7c5", "g1f3")
        page.click('button[aria-label="Change e5"]')
        page.click("#remove-move")
        expect(page.locator("#edit-dialog")).to_be_hidden()
        page.click("#removal-begin")
        expect(page.locator('tr[data-uci="e7e5"]:not(.transposition)')).to_have_count(0)
        assert not has("e2e4", "e7e5")
        # Undo restores every byte, even after a reload.
        for reported in ("deleted 1.e4 e5", "deleted all after", "c5: commentary"):
            page.keyboard.press("Control+z")
            expect(page.locator("#status")).to_contain_text(f"Undone: {reported}")
        assert has("e2e4 c7c5", "g1f3") and has("e2e4", "e7e5")
        page.keyboard.press("Control+Shift+z")
        expect(page.locator("#status")).to_contain_text("Redone")
        for reported in ("c5: commentary", "1.a4 a5 2.Ra3: mark main", "added 2 lines", "added 1.h4"):
            page.keyboard.press("Control+z")
            expect(page.locator("#status")).to_contain_text(f"Undone: {reported}")
    assert book.read_bytes() == before
    assert json.loads(run("verify", str(book), "--json").stdout)["problems"] == []


@case(limit=150, browsers=True)
def explorer_trains_a_repertoire_and_plays_on():
    here = folder("explore")
    games = here / "games.pgn"
    games.write_text("1. e4 c5 2. Nf3 d6 3. d4 1-0\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 1/2-1/2\n")
    book = here / "repertoire.ctg"
    assert run("build", "-o", str(book), str(games)).returncode == 0
    replies = {"": ("e2", "e4"), "c5": ("g1", "f3"), "e5": ("g1", "f3"), "d6": ("d2", "d4"), "Nc6": ("f1", "b5")}
    with explorer(book, "--engine", STOCKFISH, "--threads", "1") as server, page_of(server) as page:
        reported = page.locator("#train-message")
        moves = page.locator("#line button")

        def own_move(count: int) -> None:
            """Plays the book move after `count` plies."""
            expect(moves).to_have_count(count)
            last = moves.last.inner_text() if count else ""
            drag(page, *replies[last])

        # The book always answers with its first move.
        page.evaluate("() => { Math.random = () => 0; }")
        page.keyboard.press("r")
        page.uncheck("#train-learn")
        page.click("#train-form .main")
        expect(reported).to_have_text("Your move as White.")
        # Nothing shows the move.
        for place in ("#books", "#plot-pane", ".likely"):
            expect(page.locator(place)).to_be_hidden()
        drag(page, "d2", "d4")
        expect(reported).to_contain_text("d4 is not the move")
        expect(moves).to_have_count(0)
        page.keyboard.press("ArrowRight")
        expect(moves).to_have_count(0)
        own_move(0)
        own_move(2)
        own_move(4)
        expect(reported).to_contain_text("line ends here")
        expect(page.locator("#train-score")).to_have_text("2 right, 1 missed, 1 to come again")
        # The missed move comes again, first of all.
        page.click("#train-next")
        expect(moves).to_have_count(0)
        expect(reported).to_have_text("Your move as White.")
        own_move(0)
        expect(page.locator("#train-score")).to_have_text("3 right, 1 missed, 0 to come again")
        # What follows is known: it is played, and not asked.
        expect(moves).to_have_count(5)
        expect(reported).to_contain_text("line ends here")
        page.evaluate("() => { Math.random = () => 0.999; }")
        page.click("#train-next")
        expect(moves).to_have_count(2)
        expect(reported).to_have_text("Your move as White.")
        # A move that was shown does not count as known.
        page.click("#train-show")
        expect(reported).to_have_text("The book plays Nf3.")
        expect(page.locator('.pointed [data-arrow="g1f3"]')).to_have_count(1)
        page.keyboard.press("Escape")
        expect(page.locator("#train-pane")).to_be_hidden()
        expect(page.locator("#books")).to_be_visible()
        expect(moves).to_have_count(0)
        # It is stored, and can be saved and loaded as a file.
        reload(page)
        page.keyboard.press("r")
        expect(page.locator("#train-cards")).to_contain_text("due in this book: 1 as White, 0 as Black")
        file = saved_by(page, lambda: page.click("#train-save"))
        cards = json.loads(file.read_text())["cards"]
        # By FSRS: a move known at once is due after 3.7 days, a missed one after half a day; that one is due now.
        stable = [card["stability"] for _, card in cards]
        assert any(abs(one - 3.7145) < 0.01 for one in stable) and any(abs(one - 0.4872) < 0.01 for one in stable), cards
        expect(page.locator("#train-tab")).to_have_attribute("title", "1 due today")
        page.click("#train-forget")
        # It asks first.
        expect(page.locator("#train-forget")).to_have_text(re.compile("^Forget [1-9]"))
        page.click("#train-forget")
        expect(page.locator("#train-cards")).to_contain_text("0 positions trained")
        page.set_input_files("#train-file", file)
        expect(page.locator("#train-cards")).to_contain_text("due in this book: 1 as White")
        bad = here / "bad.json"
        bad.write_text('{"format":"tabia-training","version":1,"cards":[["k",{"stability":99}],7,[1,2]]}')
        page.set_input_files("#train-file", bad)
        expect(page.locator("#status")).to_have_text("0 positions loaded.")
        page.keyboard.press("Escape")
        # From here the game continues against the engine.
        drag(page, "e2", "e4")
        expect_line(page, "e4")
        page.click("#engine-tab")
        page.click("#play-engine")
        expect(reported).to_have_text("Your move.")
        drag(page, "c7", "c5")
        expect(moves).to_have_count(3)
        expect(reported).to_have_text("Your move.")
        page.click("#train-stop")
        expect(moves).to_have_count(3)


# The rows of the list of work: what each is about, how often, what it costs, and both.
WORK = """() => [...document.querySelectorAll('#work-table tbody tr')].map((row) => [row.querySelector('.go span').textContent, ...['often', 'cost', 'lost'].map((kind) => row.querySelector(`.${kind}`).textContent.replace(/\\s/g, ''))])"""


def work_on(page: Page, rows: int) -> list[list[str]]:
    """The list of work when it has so many rows."""
    expect(page.locator("#work-table tbody tr")).to_have_count(rows)
    return page.evaluate(WORK)


@case(limit=120, browsers=True)
def explorer_lists_work_on_a_book_and_each_row_leads_on():
    here = folder("explore")
    games = here / "games.pgn"
    game = lambda moves, count, result: f"{moves} {result}\n\n" * count
    games.write_text(game("1. e4 c5 2. Nf3 d6", 30, "1-0") + game("1. e4 c5 2. Nc3 d6", 20, "0-1") + game("1. e4 e5 2. Nf3", 40, "1/2-1/2") + game("1. e4 e6", 10, "0-1"))
    book, other = here / "one.ctg", here / "two.ctg"
    for name in (book, other):
        assert run("build", "-o", str(name), str(games)).returncode == 0
    assert run("mark", str(book), "--moves", "e2e4 c7c5", "--move", "b1c3", "--mark", "main").returncode == 0
    assert run("mark", str(book), "--moves", "", "--move", "e2e4", "--mark", "main").returncode == 0
    with explorer(book, other) as server, page_of(server) as page:
        page.keyboard.press("w")
        rows = dict((row[0], row[1:]) for row in work_on(page, 5))
        # The green move lost its 20 games, the other won its 30: a point of one, in half of the games.
        assert rows["Main move: Nc3"] == ["50.0%", "100.0", "50.00"], rows
        assert rows["No answer to e6"] == ["10.0%", "?", "?"], rows
        assert rows["The line ends after Nf3"] == ["40.0%", "?", "?"], rows
        # The greatest loss comes first. Other columns sort, too, and say so.
        first = page.locator("#work-table tbody .go span").first
        expect(first).to_have_text("Main move: Nc3")
        page.click("#work-table [data-sort=often]")
        expect(page.locator("#work-table th.often")).to_have_attribute("aria-sort", "descending")
        often = [float(row[1].strip("%")) for row in page.evaluate(WORK)]
        assert often == sorted(often, reverse=True), often
        page.keyboard.press("Enter")
        expect(page.locator("#work-table th.often")).to_have_attribute("aria-sort", "ascending")
        # By keyboard: from the headings to the rows, along them, and there.
        page.click("#work-table [data-sort=lost]")
        page.locator("#work-table button.go").first.focus()
        page.keyboard.press("ArrowDown")
        expect(page.locator("#work-table button.go").nth(1)).to_be_focused()
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        expect_line(page, "e4", "c5")
        expect(page.locator('.pointed [data-arrow="b1c3"]')).to_have_count(1)
        # G goes to the next row. Kinds can be left out.
        page.keyboard.press("g")
        expect(page.locator("#work-table [aria-current=true]")).to_have_count(1)
        page.click("#work-kinds [data-kind=marked]")
        assert not any(row[0].startswith("Main move") for row in page.evaluate(WORK))
        page.click("#work-kinds [data-kind=marked]")
        # A mark made here is one of the book.
        row = page.locator("#work-table tr", has_text="Main move: Nc3")
        row.locator("[data-act=mark]").click()
        page.click('.context button >> text="None"')
        expect(page.locator("#work-table tr.done")).to_have_count(1)
        if not WITHOUT_SERVER:
            assert marks(book, "e2e4 c7c5")["b1c3"] == "none"
        expect(page.locator("#work-message")).to_contain_text("the book has changed since")
        # A card is due in the training.
        page.locator("#work-table tbody [data-act=train]:enabled").first.click()
        expect(page.locator("#train-tab")).to_have_attribute("title", "1 due today")
        # From a position on there is less.
        open_address(page, server.url + "?play=e2e4,e7e6")
        page.click("#work-here")
        assert work_on(page, 1)[0] == ["No answer to e6", "100.0%", "?", "?"] or page.evaluate(WORK)[0][0] == "The line ends after e6", page.evaluate(WORK)
        # Files, with a row for each.
        text = saved_by(page, lambda: page.click("#work-csv")).read_text()
        assert text.count("\n") == 2 and text.startswith('"kind","line","fen"'), text
        assert "1. e4 e6" in saved_by(page, lambda: page.click("#work-pgn")).read_text()
        assert WITHOUT_SERVER or server.status("api/work?color=white") == 200 and server.status("api/work") == 400
    # An answer that only the second book has can be added to the first.
    games.write_text(game("1. e4 e6 2. d4", 30, "1-0") + game("1. e4 c5 2. Nf3", 30, "1-0"))
    third = here / "three.ctg"
    assert run("build", "-o", str(third), str(games)).returncode == 0
    with explorer(book, third) as server, page_of(server, "?books=one.ctg/three.ctg") as page:
        page.keyboard.press("w")
        page.wait_for_function("() => [...document.querySelectorAll('#work-table .go span')].some((one) => one.textContent === 'No answer to e6; elsewhere d4')")
        row = page.locator("#work-table tr", has_text="No answer to e6; elsewhere d4")
        row.locator("[data-act=add]").click()
        expect(page.locator("#work-table tr.done")).to_have_count(1)
        assert WITHOUT_SERVER or marks(book, "e2e4 e7e6") == {"d2d4": "main"}


@case(limit=120, browsers=True)
def explorer_sorts_games_by_their_columns_and_saves_the_list():
    here = folder("explore")
    index, games = here / "games.tgx", here / "games.pgn"
    game = lambda number, event, moves, elo, date: f'[Event "{event}"]\n[Date "{date}"]\n[White "W{number}"]\n[Black "B{number}"]\n[WhiteElo "{elo}"]\n[BlackElo "{elo}"]\n[Result "1-0"]\n\n{moves} 1-0\n\n'
    moves = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7".split(" ")
    games.write_text(game(1, "Wijk", " ".join(moves), 2500, "2020.01.02") + game(2, "Amber", " ".join(moves[:6]), 2600, "1999.01.01") + game(3, "Linares", " ".join(moves[:12]), 2400, "2024.05.05") + game(4, "?", " ".join(moves[:3]), 0, "????.??.??"))
    assert run("index", "-o", str(index), str(games)).returncode == 0
    with explorer(STARTER, index) as server, page_of(server) as page:
        page.click("#games-tab")
        names = lambda: page.locator("#games-list .player:nth-child(2)").all_text_contents()
        # From either end; games without a value are last. A third click brings back the order of the index, by Elo.
        for orders, first, second in (("event event-down", ["W2", "W3", "W1", "W4"], ["W1", "W3", "W2", "W4"]), ("moves moves-up", ["W1", "W3", "W2", "W4"], ["W4", "W2", "W3", "W1"]), ("newest oldest", ["W3", "W1", "W2", "W4"], ["W2", "W1", "W3", "W4"])):
            head = page.locator(f'#games-head [data-orders="{orders}"]')
            for expected in (first, second, ["W2", "W1", "W3", "W4"]):
                head.click()
                assert poll(names, lambda now: now == expected) == expected, (orders, names(), expected)
        elo = page.locator('#games-head [data-orders="elo elo-up"]')
        expect(elo).to_have_attribute("aria-pressed", "true")
        elo.click()
        assert poll(names, lambda now: now == ["W3", "W1", "W2", "W4"]) == ["W3", "W1", "W2", "W4"], names()
        assert page.locator("#games-list .plies").all_text_contents() == ["4", "5", "2", "1"]
        # The same games, in the same order; what was filtered out is not there.
        page.fill("#games-words", "w1")
        expect(page.locator("#games-list li")).to_have_count(1)
        page.fill("#games-words", "")
        expect(page.locator("#games-list li")).to_have_count(4)
        saved = saved_by(page, lambda: page.click("#games-save")).read_text()
        assert re.findall(r'White "(\w+)"', saved) == ["W3", "W1", "W2", "W4"], saved
        expect(page.locator("#status")).to_have_text("Saved: 4 games")
        # Below 700 pixels names come before Elo, which is left out.
        page.set_viewport_size({"width": 600, "height": 900})
        expect(page.locator("#games-list .elo").first).to_be_hidden()
        expect(page.locator("#games-order")).to_be_visible()
        # Find has the players beside the openings.
        page.keyboard.press("/")
        page.fill("#search-text", "w1")
        expect(page.locator("#search-people button")).to_have_count(1)


def on_paper(page: Page, is_paper: bool) -> None:
    """Shows the page as printed. BiDi prints, but cannot show that: in Firefox the print rules become screen rules."""
    if not is_firefox(page):
        page.emulate_media(media="print" if is_paper else "screen")
        return
    swap = """([from, to]) => [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
        .filter((rule) => rule.media?.mediaText === from).forEach((rule) => { rule.media.mediaText = to; })"""
    page.evaluate(swap, ["print", "all"] if is_paper else ["all", "print"])


# Names of keys on a keyboard of that language: Ctrl, Shift, Home, End, Delete, Escape.
KEYS = {
    "de": ("Strg", "Umschalt", "Pos1", "Ende", "Entf", "Esc"),
    "es": ("Ctrl", "Mayús", "Inicio", "Fin", "Supr", "Esc"),
    "fr": ("Ctrl", "Maj", "Origine", "Fin", "Suppr", "Échap"),
    "ru": ("Ctrl", "Shift", "Home", "End", "Del", "Esc"),
}


@case(limit=180, browsers=True, smoke=True)
def explorer_speaks_five_languages_and_changes_its_looks():
    titles = {"de": "Grundstellung", "es": "Posición inicial", "fr": "Position initiale", "ru": "Начальная позиция"}
    knights = {"de": "Sf3", "es": "Cf3", "fr": "Cf3", "ru": "Кf3"}
    with explorer() as server, page_of(server, "?play=e2e4,e7e5") as page:
        # Score and probability of a move.
        numbers = lambda: "".join(page.locator('tr[data-uci="g1f3"] :is(td.score, .number)').all_text_contents())
        assert numbers().count(".") == 2 and "," not in numbers(), numbers()
        settings = lambda: page.click("#menu") or page.locator("[role=menuitem]").nth(-2).click()
        settings()
        page.select_option("#set-board", "brown")
        page.wait_for_function("() => getComputedStyle(document.documentElement).getPropertyValue('--dark-square').trim() === '#b98f63'")
        page.select_option("#set-pieces", "strong")
        page.wait_for_function("() => getComputedStyle(document.querySelector('.piece')).strokeWidth === '2.4px'")
        # Another piece set, on the board at once and after the next move.
        page.select_option("#set-pieces", "round")
        drawn = "[...document.querySelectorAll('.piece use')].map((one) => one.getAttribute('href')).filter((name) => name.startsWith('#round-') && document.querySelector(name)).length"
        assert page.evaluate(drawn) == 32
        page.keyboard.press("Escape")
        expect(page.locator("#settings-dialog")).to_be_hidden()
        page.keyboard.press("Home")
        expect(page.locator("#line [aria-current]")).to_have_count(0)
        assert page.evaluate(drawn) == 32
        page.keyboard.press("End")
        expect_line(page, "e4", "e5")
        # The coordinates are beside the board.
        board, *names = (page.locator(f"#{one}").bounding_box() for one in ("board", "ranks", "files"))
        assert names[0]["x"] + names[0]["width"] <= board["x"] + 1 and names[1]["y"] >= board["y"] + board["height"] - 1, (board, names)
        # A print contains board, line and table, and no controls.
        on_paper(page, True)
        for one, is_seen in (("#board", True), ("#line", True), ("#books", True), ("#tabs", False), ("#choice-panel", False), ("#menu", False), ("#first-book", False), ("#flip", False)):
            assert page.locator(one).is_visible() == is_seen, one
        printed = page.pdf()
        assert printed.startswith(b"%PDF")
        # One page. (Firefox compresses the page objects.)
        assert is_firefox(page) or len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
        on_paper(page, False)
        for code, title in titles.items():
            settings()
            with page.expect_navigation():
                page.select_option("#set-language", code)
            page.wait_for_selector("html[data-ready]")
            expect(page.locator("html")).to_have_attribute("lang", code)
            # Moves with the piece letters of the language, in the table and in the line.
            expect(page.locator('button.move[data-uci="g1f3"]')).to_have_text(knights[code])
            assert numbers().count(",") == 2 and "." not in numbers(), (code, numbers())
            ctrl, shift, home, end, delete, escape = KEYS[code]
            texts = page.locator("#help-dialog kbd").all_text_contents()
            assert {ctrl, shift, home, end, delete, "N", "W", "G", "E"} <= set(texts), texts
            for place, key in (("#to-start", home), ("#to-end", end), ("#redo", f"{ctrl}+{shift}+Z")):
                expect(page.locator(place)).to_have_attribute("title", re.compile(re.escape(f"({key})")))
            page.click('tr[data-uci="g1f3"]')
            expect(page.locator("#line button").last).to_have_text(knights[code])
            # And in messages to screen readers.
            expect(page.locator("#announce")).not_to_be_empty()
            page.keyboard.press("Home")
            expect(page.locator("#opening")).to_have_text(title)
            # Nor is a message of the program in English.
            open_address(page, server.url + "?play=e2e5")
            expect(page.locator("#status")).to_contain_text("(e2e5)")
            expect(page.locator("#status")).not_to_contain_text("The address")
            # What comes with its panel.
            page.click("#train-tab")
            text = page.locator("#train-stop").text_content()
            assert text.endswith(f"({escape})"), text
            open_address(page, server.url + "?play=e2e4,e7e5")
        settings()
        with page.expect_navigation():
            page.select_option("#set-letters", "figurines")
        page.wait_for_selector("html[data-ready]")
        expect(page.locator('button.move[data-uci="g1f3"]')).to_have_text("♘f3")


# A table that has every text, in brackets, in place of the German one.
BRACKETS = """(() => {
    const json = Response.prototype.json;
    // The document has texts that are no sentences: its first answer.
    const has = (_, text) => /^(\\{\\d\\}|[^{])*\\p{L}/u.test(String(text));
    const table = new Proxy({}, { has, get: (_, text) => `⟦${String(text)}⟧` });
    Response.prototype.json = function () { return this.url.endsWith('/de.json') ? Promise.resolve(table) : json.call(this); };
})()"""

# Texts that a user can read outside of brackets, with their elements. Names, moves, files and UCI options are data.
LEFT = """() => {
    const data = '#books .name, button.move, .sign, #line, #opening, .choices option, #open-books, #set-language, .keys kbd, #search-list, #games-list, #files-list, .lines, #engine-message, #plot .moves, #search-people';
    const without = (text) => { const shorter = text.replace(/⟦[^⟦⟧]*⟧|[\\w.]+\\.(ctg|tgx|bin)/g, ''); return shorter === text ? text : without(shorter); };
    return [...document.querySelectorAll('body *')]
        .filter((one) => (one.closest('select') ?? one).checkVisibility() && !one.closest(data))
        .flatMap((one) => [...[...one.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data), one.title, one.ariaLabel, one.placeholder].map((text) => [one.id || one.className || one.tagName, without(text ?? '')]))
        .filter(([, text]) => /\\p{L}{3}/u.test(text));
}"""


@case(limit=240, browsers=True)
def explorer_translates_every_text_that_it_shows():
    own = books(folder("explore"), "other")
    with explorer(*own, "--engine", STOCKFISH, "--threads", "1", "--folder", own[0].parent) as server, page_of(server, locale="de") as page:
        page.add_init_script(BRACKETS)

        def check(where: str) -> None:
            left = poll(lambda: page.evaluate(LEFT), lambda left: not left, 2)
            assert not left, f"{where}: {left}"

        for place in every_place(page, server.url):
            check(place)
        open_address(page, server.url + "?fen=nonsense")
        expect(page.locator("#to-move")).to_contain_text("⟦")
        check("no FEN")
        page.keyboard.press("p")
        expect(page.locator("#files-dialog")).to_be_visible()
        check("files")


@case(limit=60, browsers=True)
def explorer_steps_by_swiping_and_respects_reduced_motion():
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
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#line [aria-current]")).to_have_text("c5")
        assert page.evaluate(glides) == 0, "a piece glides"


@case(limit=180, browsers=True)
def explorer_closes_and_opens_books_and_reads_files_of_games():
    here = folder("explore")
    one, two = copy_starter(here, "one"), copy_starter(here, "two")
    games = here / "games.pgn"
    games.write_text("\n\n".join(f'[Event "x"]\n[White "Player {n}"]\n\n1. {move} *' for n, move in enumerate(("a3", "h3"))))
    dropped = "\n\n".join(
        f'[Event "Open"]\n[White "Player {n}"]\n[Black "Other {n}"]\n[Date "20{n:02}.??.??"]\n[Result "1-0"]\n\n1. e4 c5 2. {move} d6 1-0' for n, move in enumerate(("Nf3", "c3", "Nc3"), start=10)
    )
    drop = """([name, text]) => {
        const files = new DataTransfer();
        files.items.add(new File([text], name));
        const at = (type) => new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: files });
        document.body.dispatchEvent(at('dragover'));
        document.body.dispatchEvent(at('drop'));
    }"""
    with explorer(one, two, STARTER) as server, page_of(server, "?books=one.ctg/two.ctg") as page:
        names = page.locator("#first-book option")
        expect(names).to_have_text(["one.ctg", "two.ctg", "tabia.ctg"])
        page.uncheck("#open-books li:nth-child(1) input")
        # A closed book is not shown and cannot be chosen.
        expect(names).to_have_text(["two.ctg", "tabia.ctg"])
        expect(page.locator("#first-book")).to_have_value("two.ctg")
        expect(page.locator("#books .pair")).to_have_count(0)
        page.wait_for_url("**/?books=two.ctg&closed=one.ctg")
        page.uncheck("#open-books li:nth-child(2) input")
        expect(names).to_have_text(["tabia.ctg"])
        expect(page.locator("#second-choice")).to_be_hidden()
        # The last one cannot be closed.
        expect(page.locator("#open-books li:nth-child(3) input")).to_be_disabled()
        page.wait_for_url("**/?books=tabia.ctg&closed=one.ctg%2Ftwo.ctg")
        # The address contains the choice; back opens them again.
        reload(page)
        expect(names).to_have_text(["tabia.ctg"])
        page.go_back()
        expect(names).to_have_text(["two.ctg", "tabia.ctg"])
        page.check("#open-books li:nth-child(1) input")
        expect(names).to_have_text(["one.ctg", "two.ctg", "tabia.ctg"])
        page.wait_for_url("**/?books=two.ctg")
        # Files stay in the browser: no request contains them.
        sent = []
        page.on("request", lambda request: sent.append((request.url, request.post_data)))
        page.set_input_files("#open-input", games)
        expect(page.locator("#games-title")).to_have_text("games.pgn: 2 games")
        expect(page.locator("#games-panel")).to_be_visible()
        page.click("#open-list li button:first-child")
        expect(page.locator("#games-list li")).to_have_count(2)
        assert not any(body or "games" in url for url, body in sent), sent
        page.click("#games-list li:nth-child(2) button")
        # It is shown from the position at which it was chosen.
        expect(page.locator("#line button.later")).to_have_text(["h3"])
        page.click('#open-list button[aria-label="Close games.pgn"]')
        expect(page.locator("#open-list li")).to_have_count(0)
        # A book in none of the folders of the program: the browser does not say where it is.
        page.set_input_files("#open-input", one)
        expect(page.locator("#status")).to_contain_text("is a copy, which stays in the list")
        nothing = here / "nothing.pgn"
        nothing.write_text("nonsense")
        page.set_input_files("#open-input", nothing)
        expect(page.locator("#status")).to_contain_text("neither a FEN nor a game")
        expect(page.locator("#open-list li")).to_have_count(0)
        # Dropped on the page.
        open_address(page, server.url + "?play=e2e4,c7c5")
        page.evaluate(drop, ["open.pgn", dropped])
        expect(page.locator("#games-title")).to_have_text("open.pgn: 3 games")
        expect(page.locator("#games-list li")).to_have_count(3)
        page.fill("#games-words", "player 2011")
        expect(page.locator("#games-list li")).to_have_count(1)
        page.click("#games-list button")
        expect(page.locator("#line button")).to_have_text(["e4", "c5", "c3", "d6"])
        # At the position on the board, so that the game can be played through from there.
        expect(page.locator("#line [aria-current]")).to_have_text("c5")
        page.keyboard.press("ArrowRight")
        expect(page.locator("#line [aria-current]")).to_have_text("c3")
        # A single game is shown at once; invalid text gives a message.
        page.evaluate(drop, ["one.pgn", "1. d4 d5 2. c4 *"])
        expect(page.locator("#line button")).to_have_text(["d4", "d5", "c4"])
        page.evaluate(drop, ["picture.png", "nonsense"])
        expect(page.locator("#status")).to_contain_text("neither a FEN nor a game")
        # Without an index there are no games with a position.
        page.click("#book-tab")
        page.keyboard.press("i")
        expect(page.locator("#games-none")).to_contain_text("No index of games is open")
        expect(page.locator("#games-more")).to_be_hidden()
        # Until the program is asked for one: the games are then a book.
        open_address(page, server.url)
        page.evaluate(drop, ["open.pgn", dropped])
        page.click('#open-list button[aria-label="Index open.pgn"]')
        expect(page.locator("#first-book")).to_have_value("open.pgn")
        expect(page.locator("#books tr[data-uci] button.move")).to_have_text(["e4"])
        expect(page.locator("#games-list li")).to_have_count(3)
        expect(page.locator("#open-list li")).to_have_count(0)
        page.click("#games-list li:first-child button")
        expect(page.locator("#line button")).to_have_count(4)
        # What cannot be indexed stays a list, with the reason.
        page.evaluate(drop, ["late.pgn", dropped.replace("1-0", "*")])
        page.click('#open-list button[aria-label="Index late.pgn"]')
        expect(page.locator("#status")).to_contain_text("late.pgn: no index")
        expect(page.locator("#open-list li")).to_have_count(1)
    mine = here / "mine.pgn"
    # As an older program writes it: not in UTF-8, which the browser takes it for.
    mine.write_bytes(dropped.replace("Player", "Müller").encode("latin-1"))
    with explorer() as server, page_of(server) as page:
        # Someone without a book begins with games: their index is made at once.
        page.click("#begin-games")
        with page.expect_file_chooser() as choosing:
            page.click("text=Choose a file…")
        choosing.value.set_files(mine)
        expect(page.locator("#first-book")).to_have_value("mine.pgn")
        expect(page.locator("#books tr[data-uci] button.move")).to_have_text(["e4"])
        expect(page.locator("#begin")).to_be_hidden()
        page.keyboard.press("i")
        expect(page.locator("#games-list .player").first).to_contain_text("Müller")
