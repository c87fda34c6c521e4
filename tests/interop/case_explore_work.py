"""Typical work on the page of `tabia explore`: the engine, the list of work on a book, languages."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from pages import WITHOUT_SERVER, build, expect_line, explorer, is_firefox, marks, on_paper, open_address, page_of, press, probe, saved_by
from paths import STARTER, STOCKFISH, folder
from places import books, every_place
from procs import poll, run, run_ok, wait_until
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


@case(limit=270, browsers=True, smoke=True)
def explorer_starts_one_engine_on_request_shows_its_lines_and_ignores_illegal_ones():
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
        press(page, "b")
        expect(page.locator("#plot .value")).to_have_count(1)
        press(page, "ArrowLeft")
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


# The rows of the list of work: what each is about, how often, what it costs, and both.
WORK = """() => [...document.querySelectorAll('#work-table tbody tr')].map((row) => [row.querySelector('.go span').textContent, ...['often', 'cost', 'lost'].map((kind) => row.querySelector(`.${kind}`).textContent.replace(/\\s/g, ''))])"""


def work_on(page: Page, rows: int) -> list[list[str]]:
    """The list of work when it has so many rows."""
    expect(page.locator("#work-table tbody tr")).to_have_count(rows)
    return page.evaluate(WORK)


@case(limit=120, browsers=True)
def explorer_lists_work_on_a_book_and_each_row_leads_on():
    here = folder("explore")
    game = lambda moves, count, result: f"{moves} {result}\n\n" * count
    games = game("1. e4 c5 2. Nf3 d6", 30, "1-0") + game("1. e4 c5 2. Nc3 d6", 20, "0-1") + game("1. e4 e5 2. Nf3", 40, "1/2-1/2") + game("1. e4 e6", 10, "0-1")
    book, other = build(here / "one.ctg", games), build(here / "two.ctg", games)
    third = build(here / "three.ctg", game("1. e4 e6 2. d4", 30, "1-0") + game("1. e4 c5 2. Nf3", 30, "1-0"))
    for line, move in (("e2e4 c7c5", "b1c3"), ("", "e2e4")):
        run_ok("mark", book, "--moves", line, "--move", move, "--mark", "main")
    with explorer(book, other) as server, page_of(server) as page:
        press(page, "w")
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
        press(page, "Enter")
        expect(page.locator("#work-table th.often")).to_have_attribute("aria-sort", "ascending")
        # By keyboard: from the headings to the rows, along them, and there.
        page.click("#work-table [data-sort=lost]")
        page.locator("#work-table button.go").first.focus()
        press(page, "ArrowDown")
        expect(page.locator("#work-table button.go").nth(1)).to_be_focused()
        press(page, "ArrowUp", "Enter")
        expect_line(page, "e4", "c5")
        expect(page.locator('.pointed [data-arrow="b1c3"]')).to_have_count(1)
        # G goes to the next row. Kinds can be left out.
        press(page, "g")
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
    with explorer(book, third) as server, page_of(server, "?books=one.ctg/three.ctg") as page:
        press(page, "w")
        row = page.locator("#work-table tr", has=page.get_by_text("No answer to e6; elsewhere d4", exact=True))
        row.locator("[data-act=add]").click()
        expect(page.locator("#work-table tr.done")).to_have_count(1)
        assert WITHOUT_SERVER or marks(book, "e2e4 e7e6") == {"d2d4": "main"}


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
        press(page, "Escape")
        expect(page.locator("#settings-dialog")).to_be_hidden()
        press(page, "Home")
        expect(page.locator("#line [aria-current]")).to_have_count(0)
        assert page.evaluate(drawn) == 32
        press(page, "End")
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
            press(page, "Home")
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
        press(page, "p")
        expect(page.locator("#files-dialog")).to_be_visible()
        check("files")
