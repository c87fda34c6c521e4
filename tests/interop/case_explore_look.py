"""The layout of the page of `tabia explore`: nothing is cut off or misplaced, at every size, in long languages."""

import subprocess
import sys

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from pages import SAMPLE, SIZES, SOME_SIZES, browser, explorer, is_firefox, marks, open_address, paste
from paths import ROOT, STOCKFISH, TABIA, copy_starter, folder
from places import PANELS, books, every_place, first_places
from procs import poll, run
from runner import case

# Elements whose content is larger than they are, and by how many pixels.
CUT = """() => [document.documentElement, ...document.querySelectorAll('#books, .book, #books thead button, .top, #walk, #tabs, [role=tabpanel], [role=tabpanel] .head, dialog[open], dialog[open] .head, dialog[open] .buttons')]
    .map((one) => [one.id || one.className || one.tagName, one.scrollWidth - one.clientWidth]).filter(([, more]) => more > 0)"""

# Buttons and lists whose text does not fit; file names may be longer.
SHORT = """() => [...document.querySelectorAll('button, summary, select')].filter((one) => one.checkVisibility() && !one.closest('.book, #line, .lines, li, .choices')).map((one) => {
    const style = getComputedStyle(one), pen = document.createElement('canvas').getContext('2d');
    pen.font = style.font;
    const text = document.createRange();
    text.selectNodeContents(one);
    const wide = one.tagName === 'SELECT' ? pen.measureText(one.selectedOptions[0]?.textContent ?? '').width + parseFloat(style.paddingLeft) : text.getBoundingClientRect().width;
    return [`${one.id || one.className} “${(one.selectedOptions?.[0] ?? one).textContent.trim()}”`, Math.round(wide - one.clientWidth)];
}).filter(([, more]) => more > 0)"""

# Sizes at which all languages are checked.
EVERYWHERE = ((1366, 768), (390, 844))

# Visible cells in each row of the table, with their spans.
CELLS = """() => [...document.querySelectorAll('.book tr')].filter((row) => row.checkVisibility())
    .map((row) => [...row.cells].filter((cell) => cell.checkVisibility()).reduce((sum, cell) => sum + cell.colSpan, 0))"""

# How far above a part the window ends, and where the part ends, as shares of its height.
REACH = "(id) => { const box = document.getElementById(id).getBoundingClientRect(); return [box.top / innerHeight, box.bottom / innerHeight]; }"


@case(limit=900, browsers=True, all_only=True)
def explorer_cuts_nothing_off_at_any_size_in_long_languages():
    found = []
    with explorer(*books(folder("explore")), "--engine", STOCKFISH, "--threads", "1") as server, browser() as started:
        for width, height in {*SIZES, *EVERYWHERE}:
            for language in ("en-GB", "de", "ru", *(("es", "fr") if (width, height) in EVERYWHERE else ())):
                context = started.new_context(viewport={"width": width, "height": height}, has_touch=width < 1000, is_mobile=width < 1000, locale=language)
                page = context.new_page()
                if (width, height) == (360, 740):
                    # The board has the whole width.
                    open_address(page, server.url)
                    rows = page.evaluate("[...document.querySelectorAll('#books tr[data-uci]')].filter((row) => row.getBoundingClientRect().bottom <= innerHeight + 0.5).length")
                    assert rows >= 4, f"{rows} rows in {language}"
                for place in every_place(page, server.url):
                    cut = poll(lambda: page.evaluate(CUT) + page.evaluate(SHORT), lambda cut: not cut, 1)
                    found.extend(f"{width}x{height} {language} {place}: {what} by {more} px" for what, more in cut)
                    if place == "page":
                        board = page.evaluate(REACH, "board")
                        assert board[1] <= 1, f"the board of {width}x{height} ends at {board[1]:.0%}"
                    if place == "two books":
                        assert len(set(page.evaluate(CELLS))) == 1, page.evaluate(CELLS)
                    # A chosen panel is seen without scrolling; that of the book may be below its moves.
                    if place.startswith("panel") and place != "panel book":
                        top, bottom = page.evaluate(REACH, place.removeprefix("panel ") + "-panel")
                        assert top < 0.8 or bottom <= 1, f"{place} of {width}x{height} begins at {top:.0%}"
                    # Whatever its length, a dialog starts with its title visible.
                    if place.startswith("dialog"):
                        top = poll(lambda: page.evaluate("document.querySelector('dialog[open]').scrollTop"), lambda top: top == 0)
                        assert top == 0, f"{place} of {width}x{height} begins at {top}"
                context.close()
    assert not found, f"{len(found)} cut off:\n" + "\n".join(found)


@case(limit=900, browsers=True, all_only=True)
def explorer_has_no_accessibility_error_found_by_axe():
    axe = Axe()
    found = []
    with explorer(*books(folder("explore")), "--engine", STOCKFISH, "--threads", "1") as server, browser() as started:
        for width, height in ((360, 740), (740, 360), (683, 384), (768, 1024), (1366, 768), (1920, 1080)):
            for scheme in ("light", "dark"):
                # The page's own policy would block axe.
                context = started.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, bypass_csp=True, has_touch=width < 1000, is_mobile=width < 1000)
                page = context.new_page()
                for place in (every_place if width in (360, 1366) else first_places)(page, server.url):
                    results = axe.run(page).response
                    assert "color-contrast" in {rule["id"] for rule in results["passes"]}, place
                    for violation in results["violations"]:
                        nodes = [node["html"][:120] + " " + node.get("failureSummary", "")[:300] for node in violation["nodes"][:3]]
                        found.append(f"{width} {scheme} {place}: {violation['id']}: {violation['help']} {nodes}")
                    if place == "own position":
                        # There is no position to go back to, and no line to add.
                        expect(page.locator("#books")).to_have_text("This position is not in the book.")
                    if place == "promotion":
                        # Black's pieces are dark in both themes, and their background is not.
                        ground = page.evaluate("getComputedStyle(document.querySelector('.promotion button:last-child')).backgroundColor")
                        light = page.evaluate("getComputedStyle(document.querySelector('.square.light')).backgroundColor")
                        assert ground == light, (ground, light)
                context.close()
    assert not found, "\n".join(found)


# Whether nothing covers the middle of it.
SEEN = """(id) => {
    const one = document.getElementById(id), box = one.getBoundingClientRect();
    return one.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
}"""

# Positions of the controls in the dialog.
PLACES = "() => [...document.querySelectorAll('dialog[open] :is(button, label, input, select)')].map((one) => one.getBoundingClientRect()).map(({ x, y }) => [x, y])"

# Heights of the rows of two books, and whether the table is wider than its box; then without pencils.
WITH_AND_WITHOUT = """() => {
    const measure = () => [document.querySelector('#books').scrollWidth - document.querySelector('#books').clientWidth,
        ...[...document.querySelectorAll('.pair tr')].map((row) => row.getBoundingClientRect().height)];
    const pencils = [...document.querySelectorAll('.pair .pencil')].map((one) => [one, one.parentNode]);
    const before = measure();
    for (const [one] of pencils) one.remove();
    const after = measure();
    for (const [one, place] of pencils) place.append(one);
    return [pencils.length, before, after];
}"""


# Messages that are visible and not inert behind an open dialog.
MESSAGES = """() => {
    const dialog = document.querySelector('dialog[open]') ?? document;
    return [...dialog.querySelectorAll('[role=status], [role=alert]')].filter((one) => one.checkVisibility()).map((one) => one.textContent);
}"""


def read_aloud(page: Page) -> list[str]:
    """Messages of the page that a screen reader can find: none behind an open dialog. Firefox does not export its
    accessibility tree: there the result follows the HTML standard."""
    if is_firefox(page):
        return page.evaluate(MESSAGES)
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    known = {node["nodeId"]: node for node in nodes}

    def text(node: dict) -> str:
        if node.get("role", {}).get("value") == "StaticText":
            return node["name"]["value"]
        return "".join(text(known[child]) for child in node.get("childIds", []) if child in known)

    return [text(node) for node in nodes if not node["ignored"] and node.get("role", {}).get("value") in ("status", "alert")]


# Pencils of two books that overlap the number beside them.
OVER = """() => {
    const box = (node) => { const range = document.createRange(); range.selectNodeContents(node); return range.getBoundingClientRect(); };
    return [...document.querySelectorAll('.pair td.prob:has(.pencil)')].map((cell) => [box(cell.querySelector('.pencil')), box(cell.querySelector('.number'))])
        .filter(([a, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5).length;
}"""


@case(limit=300, browsers=True, all_only=True)
def explorer_edit_buttons_of_two_books_take_no_room_and_cover_no_number():
    here = folder("explore")
    games = here / "games.pgn"
    games.write_text("1. e4 c5 2. Nf3 d6 1-0\n")
    small = [here / "first.ctg", here / "second.ctg"]
    for one in small:
        assert run("build", "-o", str(one), str(games)).returncode == 0
    with explorer(*books(here)[:3], *small) as server, browser() as started:
        for width, height in SIZES:
            touch = width < 1000
            context = started.new_context(viewport={"width": width, "height": height}, has_touch=touch, is_mobile=touch)
            page = context.new_page()
            for other in ("1", "2"):
                open_address(page, server.url + f"?play=e2e4&books=0/{other}")
                pencils, before, after = page.evaluate(WITH_AND_WITHOUT)
                stored = page.locator("#books tr[data-uci]").count()
                assert pencils >= 2 * (stored - page.locator("#books tr.lone").count()) > 0, (pencils, stored)
                assert before[0] == 0 and before == after, f"{width}x{height} {other}: {before} and without pencils {after}"
            # The widest numbers.
            open_address(page, server.url + "?books=3/4")
            numbers = page.locator(".pair td.prob .number").all_text_contents()
            assert [text.strip("\u202f%") for text in numbers] == ["100.0", "100.0"], numbers
            over = poll(lambda: page.evaluate(OVER), lambda over: over == 0, 2)
            assert over == 0, f"{width}x{height}: {over} pencils lie over a number"
            context.close()


@case(limit=200, browsers=True)
def explorer_shows_messages_in_front_of_an_open_dialog():
    here = folder("explore")
    with explorer(copy_starter(here), "--engine", STOCKFISH, "--threads", "1") as server, browser() as started:
        for width, height in SOME_SIZES:
            context = started.new_context(viewport={"width": width, "height": height}, has_touch=width < 1000, is_mobile=width < 1000)
            page = context.new_page()
            status = page.locator("#status")

            def expect_announced(place: str, text: str) -> None:
                """Waits until it is visible and a screen reader can find it, for example a moment after a dialog has closed."""
                assert poll(lambda: page.evaluate(SEEN, place)), f"{width}x{height}: “{text}” is hidden"
                announced = poll(lambda: read_aloud(page), lambda announced: any(text in one for one in announced))
                assert any(text in one for one in announced), (text, announced)

            def expect_message(text: str) -> None:
                expect(status).to_contain_text(text)
                expect_announced("status", text)

            # From the beginning, because adding an interception later takes the browser a moment.
            away: list[bool] = []
            page.route("**/api/position*", lambda route: route.abort() if away else route.continue_())
            open_address(page, server.url + "?play=e2e4")
            # An error appears in its dialog.
            load_text(page, "nonsense")
            expect_message("neither a FEN nor a game")
            press(page, "Escape")
            expect(status).to_be_empty()
            # The result appears in the dialog, and stays when it closes; nothing above it moves.
            page.locator("td.edit button").first.click()
            expect(page.locator("#edit-dialog")).to_be_visible()
            places = page.evaluate(PLACES)
            mark = page.locator('input[name="mark"]:not(:checked)').first
            mark.check(force=True)
            expect_message("Saved: ")
            if height > 700:
                assert poll(lambda: page.evaluate(PLACES), lambda now: now == places) == places, f"{width}x{height}: the dialog moves"
            page.locator("#edit-form button.main").click()
            expect(page.locator("dialog[open]")).to_have_count(0)
            expect_message("Saved: ")
            # The program ends while an option is changed, and starts again.
            press(page, "o")
            away.append(True)
            page.locator("#policy input[type=checkbox]").first.click()
            # Once a second the page briefly assumes that the program is back.
            expect(page.locator("#gone")).to_be_visible()
            expect_announced("gone", "does not answer")
            away.clear()
            expect(page.locator("#gone")).to_be_hidden()
            # The result of a menu command appears on the page.
            open_address(page, server.url)
            page.click("#line-menu")
            page.click("text=Add the line to")
            expect_message("There is no move to add yet")
            context.close()


# A game with variations and comments.
ANNOTATED = "1. e4 {Best by test} c5 2. Nf3 d6 (2... Nc6 3. Bb5 g6 (3... e6 4. O-O)) 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. Be3 (6. Bg5 e6 7. f4) e5 7. Nb3 Be6 *"

# Parts of the page that lie over each other, and whether it scrolls sideways.
OVERLAPS = """() => {
    const ids = ['board-pane', 'title', 'line', 'tabs', 'books', 'plot-pane', 'engine-line', 'book-panel', 'games-panel', 'engine-panel', 'work-panel', 'train-panel', 'choice-panel'];
    const boxes = ids.map((id) => [id, document.getElementById(id)]).filter(([, one]) => one.checkVisibility()).map(([id, one]) => [id, one.getBoundingClientRect()]).filter(([, box]) => box.width && box.height);
    const over = boxes.flatMap(([id, a], index) => boxes.slice(index + 1)
        .filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1).map(([other]) => `${id} over ${other}`));
    return document.documentElement.scrollWidth > innerWidth ? [...over, 'scrolls sideways'] : over;
}"""

# Controls below 24 pixels, each box with its label.
SMALL = """() => [...document.querySelectorAll('button, select, input:not([type=file]), summary, textarea')].filter((one) => one.checkVisibility()).map((one) => {
    const boxes = [one, ...(one.labels ?? [])].map((part) => part.getBoundingClientRect());
    const size = (from, to) => Math.max(...boxes.map((box) => box[to])) - Math.min(...boxes.map((box) => box[from]));
    return [one.id || one.className || one.tagName, size('left', 'right'), size('top', 'bottom')];
}).filter(([, wide, high]) => wide > 1 && Math.min(wide, high) < 23.9)"""

BOX = "(id) => { const { left, top, right, bottom, width } = document.getElementById(id).getBoundingClientRect(); return { left, top, right, bottom, width }; }"


@case(limit=300, browsers=True, smoke=True)
def explorer_uses_its_space_and_nothing_overlaps():
    here = folder("explore")
    index = here / "games.tgx"
    run("index", "-o", str(index), str(SAMPLE))
    found = []
    with explorer(copy_starter(here), index, "--engine", STOCKFISH, "--threads", "1") as server, browser() as started:
        for width, height in ((320, 256), (360, 740), (568, 320), (768, 1024), (1366, 768), (1920, 1080), (2560, 1440)):
            touch = width < 1000
            context = started.new_context(viewport={"width": width, "height": height}, has_touch=touch, is_mobile=touch)
            page = context.new_page()
            box = lambda name: page.evaluate(BOX, name)
            open_address(page, server.url)
            if (width, height) == (1366, 768):
                page.click("#book-tab")
                rows = page.evaluate("[...document.querySelectorAll('#books tr[data-uci]')].filter((row) => row.getBoundingClientRect().bottom <= document.querySelector('#books tfoot').getBoundingClientRect().top + 1).length")
                assert rows >= 12 and box("board")["width"] >= 600, (rows, box("board"))
            paste(page, ANNOTATED)
            expect(page.locator("#line [data-id]")).to_have_count(22)
            for name in PANELS:
                page.evaluate("(name) => document.querySelector(`#${name}-tab`).click()", name)
                expect(page.locator(f"#{name}-panel")).to_be_visible()
                if name == "work":
                    expect(page.locator("#work-table tbody tr").first).to_be_visible()
                if name == "engine":
                    page.evaluate("document.querySelector('#engine').click()")
                    expect(page.locator("#engine-list .value").first).to_be_visible()
                    values = page.evaluate("[...document.querySelectorAll('#engine-line .value, #engine-score')].filter((one) => one.checkVisibility()).length")
                    assert values == 0, "the value of the best line is there twice"
                    page.evaluate("document.querySelector('#engine').click()")
                over = poll(lambda: page.evaluate(OVERLAPS), lambda over: not over, 2)
                found.extend(f"{width}x{height} {name}: {what}" for what in over)
                found.extend(f"{width}x{height} {name}: {what[0]} has {what[1]:.1f}x{what[2]:.1f}" for what in page.evaluate(SMALL))
            if width == 360:
                assert abs(box("board")["width"] - 360) < 1, box("board")
            if width >= 1600:
                line, books = box("line"), box("books")
                share = line["width"] / (line["right"] - books["left"])
                size = page.evaluate("parseFloat(getComputedStyle(document.getElementById('line')).fontSize)")
                assert share >= 0.35 and 16 <= size <= 17, (share, size)
                plot = box("plot-pane")
                assert plot["left"] < box("board")["right"] and height - plot["bottom"] < 10 and plot["top"] - box("steps")["bottom"] < 30, (plot, box("steps"))
            context.close()
    assert not found, f"{len(found)}:\n" + "\n".join(found)


# Buttons and fields that the message covers.
COVERED = """() => {
    const a = document.getElementById('status').getBoundingClientRect();
    return [...document.querySelectorAll('button, select, input, summary')].filter((one) => one.checkVisibility() && !one.closest('#messages')).filter((one) => {
        const b = one.getBoundingClientRect();
        return Math.min(a.right, b.right) > Math.max(a.left, b.left) && Math.min(a.bottom, b.bottom) > Math.max(a.top, b.top);
    }).map((one) => one.id || one.className);
}"""


@case(limit=150, browsers=True)
def explorer_messages_go_by_themselves_and_cover_no_button():
    here = folder("explore")
    with explorer(copy_starter(here)) as server, browser() as started:
        for width, height in ((360, 740), (568, 320), (1366, 768), (1920, 1080)):
            page = started.new_context(messages_stay=False, viewport={"width": width, "height": height}, has_touch=width < 1000, is_mobile=width < 1000).new_page()
            page.clock.install(time=0)
            status = page.locator("#status")
            open_address(page, server.url)
            # From now on the time passes only as the case says.
            page.clock.pause_at(3600)
            press(page, "PageDown")
            expect(status).to_have_text("There is no other game in the list.")
            covered = page.evaluate(COVERED)
            assert not covered, f"{width}x{height}: {covered}"
            page.clock.fast_forward(3000)
            expect(status).not_to_be_empty()
            page.clock.fast_forward(1500)
            expect(status).to_be_empty()
            # What needs an act stays.
            load_text(page, "nonsense")
            expect(status).to_contain_text("neither a FEN nor a game")
            page.clock.fast_forward(60_000)
            expect(status).to_contain_text("neither a FEN nor a game")
            page.context.close()


@case(limit=200, all_only=True)
def explorer_pictures_of_the_documentation_have_the_words_of_the_page():
    script = ROOT / "docs" / "pictures" / "explore.py"
    done = subprocess.run([sys.executable, "-B", str(script), TABIA, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
