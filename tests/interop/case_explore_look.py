"""The look of the page of `tabia explore`: nothing is cut off, misplaced, too small or without contrast, at every size."""

import re
import subprocess
import sys
from typing import Iterator

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from pages import SIZES, SOME_SIZES, WITHOUT_SERVER, browser, expect_status, explorer, index, is_firefox, load_text, open_address, paste, press, square
from paths import ROOT, STOCKFISH, TABIA, copy_starter, folder
from places import PANELS, books, every_place, first_places
from procs import poll
from runner import case


# Elements whose content is larger than they are, and by how many pixels.
CUT = """() => [document.documentElement, ...document.querySelectorAll('#books, .book, #books thead button, .top, #walk, #tabs, [role=tabpanel], [role=tabpanel] .head, dialog[open], dialog[open] .head, dialog[open] .buttons')]
    .map((one) => [one.id || one.className || one.tagName, one.scrollWidth - one.clientWidth]).filter(([, more]) => more > 0)"""

# Buttons and lists whose text does not fit; file names may be longer. A list would be as wide as it likes
# to be with its chosen text alone: that has room for the arrow.
SHORT = """() => [...document.querySelectorAll('button, summary, select')].filter((one) => one.checkVisibility() && !one.closest('.book, #line, .lines, li, .choices')).map((one) => {
    const chosen = one.selectedOptions?.[0], text = document.createRange();
    text.selectNodeContents(one);
    let more = text.getBoundingClientRect().width - one.clientWidth;
    if (chosen) {
        const alone = one.cloneNode(false);
        alone.append(chosen.cloneNode(true));
        alone.style.cssText = 'position: absolute; width: auto; min-width: 0; max-width: none;';
        one.after(alone);
        more = alone.offsetWidth - one.offsetWidth;
        alone.remove();
    }
    return [`${one.id || one.className} “${(chosen ?? one).textContent.trim()}”`, Math.round(more)];
}).filter(([, more]) => more > 0)"""

# Sizes at which all languages are checked.
EVERYWHERE = ((1366, 768), (390, 844))

# Sizes at which axe looks at the page, and the places that it looks at in all of them.
OF_AXE = ((360, 740), (740, 360), (683, 384), (768, 1024), (1366, 768), (1920, 1080))
FIRST = ("page", "engine", "two books with values", "two books")

# Visible cells in each row of the table, with their spans.
CELLS = """() => [...document.querySelectorAll('.book tr')].filter((row) => row.checkVisibility())
    .map((row) => [...row.cells].filter((cell) => cell.checkVisibility()).reduce((sum, cell) => sum + cell.colSpan, 0))"""

# How far above a part the window ends, and where the part ends, as shares of its height.
REACH = "(id) => { const box = document.getElementById(id).getBoundingClientRect(); return [box.top / innerHeight, box.bottom / innerHeight]; }"

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

# Pencils of two books that overlap the number beside them.
OVER = """() => {
    const box = (node) => { const range = document.createRange(); range.selectNodeContents(node); return range.getBoundingClientRect(); };
    return [...document.querySelectorAll('.pair td.prob:has(.pencil)')].map((cell) => [box(cell.querySelector('.pencil')), box(cell.querySelector('.number'))])
        .filter(([a, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5).length;
}"""

# Minimum size of a touch target in CSS pixels. Squares of the board are no controls;
# squares of the plot lead to positions that the line of moves offers too. The heads of the
# list of games are as wide as its columns.
FINGER = 44
CONTROLS = "button:not(#games-head *), select, input:not([type=hidden]), textarea, summary, a[href]:not(.skip)"

TOO_SMALL = """([controls, finger]) => {
    const open = document.querySelector('dialog[open]');
    const found = [];
    for (const control of (open ?? document).querySelectorAll(controls)) {
        if (!control.checkVisibility({ visibilityProperty: true })) continue;
        // Of a box with its label, both are hit.
        const label = control.labels?.[0], boxes = [control.getBoundingClientRect()];
        if (label && /radio|checkbox/.test(control.type)) boxes.push(label.getBoundingClientRect());
        // A whole row is clickable.
        const row = control.matches('button.move') && control.closest('tr');
        if (row) boxes.push(row.getBoundingClientRect());
        const [left, top] = [Math.min(...boxes.map((box) => box.left)), Math.min(...boxes.map((box) => box.top))];
        const wide = Math.max(...boxes.map((box) => box.right)) - left, high = Math.max(...boxes.map((box) => box.bottom)) - top;
        if (wide && (wide < finger - 0.5 || high < finger - 0.5)) found.push(`${control.id || control.className || control.tagName} “${control.textContent.trim().slice(0, 12)}” ${wide.toFixed(0)}x${high.toFixed(0)}`);
    }
    return [...new Set(found)];
}"""


def cut_off(page: Page, place: str, size: str) -> Iterator[str]:
    """What is cut off in a place, if nothing of it is misplaced."""
    yield from (f"{what} is cut by {more} px" for what, more in poll(lambda: page.evaluate(CUT) + page.evaluate(SHORT), lambda cut: not cut, 1))
    if place == "page":
        board = page.evaluate(REACH, "board")
        assert board[1] <= 1, f"the board of {size} ends at {board[1]:.0%}"
    if place == "two books":
        assert len(set(page.evaluate(CELLS))) == 1, page.evaluate(CELLS)
    # A chosen panel is seen without scrolling; that of the book may be below its moves.
    if place.startswith("panel") and place != "panel book":
        top, bottom = page.evaluate(REACH, place.removeprefix("panel ") + "-panel")
        assert top < 0.8 or bottom <= 1, f"{place} of {size} begins at {top:.0%}"
    # Whatever its length, a dialog starts with its title visible.
    if place.startswith("dialog"):
        top = poll(lambda: page.evaluate("document.querySelector('dialog[open]').scrollTop"), lambda top: top == 0)
        assert top == 0, f"{place} of {size} begins at {top}"
    # Edit buttons of two books take no room.
    if place in ("two books", "weights beside a book"):
        pencils, before, after = page.evaluate(WITH_AND_WITHOUT)
        stored = page.locator("#books tr[data-uci]").count()
        assert pencils >= 2 * (stored - page.locator("#books tr.lone").count()) > 0, (pencils, stored)
        assert before[0] == 0 and before == after, f"{size} {place}: {before} and without pencils {after}"
    # Nor do they lie over the widest numbers.
    if place == "two books with one line":
        numbers = page.locator(".pair td.prob .number").all_text_contents()
        assert [re.sub(r"\D", "", text) for text in numbers] == ["1000", "1000"], numbers
        lying = poll(lambda: page.evaluate(OVER), lambda lying: lying == 0, 2)
        assert lying == 0, f"{size}: {lying} pencils lie over a number"


def too_small(page: Page, place: str, size: str) -> Iterator[str]:
    """Controls that are too small for a finger."""
    yield from (f"{one} is under {FINGER} px" for one in poll(lambda: page.evaluate(TOO_SMALL, [CONTROLS, FINGER]), lambda small: not small, 1))
    # With the engine the table is widest.
    wider = page.evaluate("[document.documentElement, document.querySelector('#books')].map((one) => one.scrollWidth - one.clientWidth)")
    assert max(wider) <= 0, f"{size} {place}: {wider} too wide"


def errors_of_axe(page: Page, place: str) -> Iterator[str]:
    results = Axe().run(page).response
    assert "color-contrast" in {rule["id"] for rule in results["passes"]}, place
    for violation in results["violations"]:
        nodes = [node["html"][:120] + " " + node.get("failureSummary", "")[:300] for node in violation["nodes"][:3]]
        yield f"{violation['id']}: {violation['help']} {nodes}"
    if place == "own position":
        # There is no position to go back to, and no line to add.
        expect(page.locator("#books")).to_have_text("This position is not in the book.")
    if place == "promotion":
        # Black's pieces are dark in both themes, and their background is not.
        ground, light = (page.evaluate(f"getComputedStyle(document.querySelector('{one}')).backgroundColor") for one in (".promotion button:last-child", ".square.light"))
        assert ground == light, (ground, light)


@case(limit=1800, browsers=True, all_only=True)
def explorer_cuts_nothing_off_at_any_size_in_long_languages_has_controls_for_a_finger_and_no_error_found_by_axe():
    found = []
    with explorer(*books(folder("explore")), "--engine", STOCKFISH, "--threads", "1") as server, browser() as started:
        for width, height in dict.fromkeys((*SIZES, *EVERYWHERE)):
            size, is_small = f"{width}x{height}", width < 1000
            # In English by axe in both themes, and with a finger on a large screen, too.
            walks = [(language, "light", is_small) for language in ("en-GB", "de", "ru", *(("es", "fr") if (width, height) in EVERYWHERE else ()))]
            walks += [("en-GB", "dark", is_small)] if (width, height) in OF_AXE else []
            walks += [] if is_small else [("en-GB", "light", True)]
            for language, scheme, has_touch in walks:
                # The page's own policy would block axe.
                context = started.new_context(viewport={"width": width, "height": height}, locale=language, color_scheme=scheme, has_touch=has_touch, is_mobile=has_touch, bypass_csp=True)
                page = context.new_page()
                if (width, height) == (360, 740):
                    # The board has the whole width.
                    open_address(page, server.url)
                    rows = page.evaluate("[...document.querySelectorAll('#books tr[data-uci]')].filter((row) => row.getBoundingClientRect().bottom <= innerHeight + 0.5).length")
                    assert rows >= 4, f"{rows} rows in {language}"
                in_all = width in (360, 1366)
                for place in (first_places if scheme == "dark" and not in_all else every_place)(page, server.url):
                    errors = [] if scheme == "dark" or has_touch != is_small else [*cut_off(page, place, size)]
                    errors += too_small(page, place, size) if has_touch and (language, scheme) == ("en-GB", "light") else []
                    if (width, height) in OF_AXE and language == "en-GB" and has_touch == is_small and (in_all or place in FIRST):
                        errors += errors_of_axe(page, place)
                    found += [f"{size} {language} {scheme} {place}: {error}" for error in errors]
                assert not has_touch or page.evaluate("matchMedia('(pointer: coarse)').matches")
                context.close()
    assert not found, f"{len(found)}:\n" + "\n".join(found)


# Text and its background, in the colours as drawn, with transparency applied.
CONTRASTS = """() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const seen = (...layers) => {
        canvas.clearRect(0, 0, 1, 1);
        for (const [colour, opacity] of layers) { canvas.globalAlpha = opacity; canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = (colour) => colour.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
    const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
    const style = (one) => getComputedStyle(typeof one === 'string' ? document.querySelector(one) : one);
    // As it comes out for light or dark.
    const probe = document.body.appendChild(document.createElement('i'));
    const value = (name) => { probe.style.color = `var(${name})`; return style(probe).color; };
    const all = {};
    const note = (name, front, back) => { all[name] = Math.round(100 * contrast(front, back)) / 100; };
    // Arrows and dots, on each kind of square.
    const squares = Object.fromEntries(['--light-square', '--dark-square', '--last-light', '--last-dark'].map((name) => [name, value(name)]));
    // While one points, the others step back.
    document.querySelector('.likely').classList.remove('faint');
    for (const [kind, square] of Object.entries(squares)) {
        const ground = [square, 1], on = (colour, opacity = 1) => seen(ground, [colour, opacity]);
        for (const group of ['likely', 'pointed', 'own']) {
            const arrow = document.querySelector(`.${group} [data-arrow] polygon`);
            note(`${group} arrow on ${kind}`, on(style(arrow).fill, Number(style(`.${group}`).opacity)), seen(ground));
        }
        note(`dot on ${kind}`, on(value('--spot')), seen(ground));
    }
    // Bars: parts beside each other, and their frame on the panel.
    const panel = seen([style('#books').backgroundColor, 1]);
    const part = (name) => seen([style(`.bar .${name}`).backgroundColor, 1]);
    note('bar: white beside draws', part('w'), part('d'));
    note('bar: draws beside black', part('d'), part('b'));
    note('bar: frame', seen([value('--bar-edge'), 1]), panel);
    note('probability: end of its bar', seen([value('--accent'), 1]), panel);
    note('gauge', seen([style('#gauge div').backgroundColor, 1]), seen([style('#gauge').backgroundColor, 1]));
    note('gauge: frame', seen([value('--bar-edge'), 1]), seen([style(document.body).backgroundColor, 1]));
    for (const name of ['.games:not(.walked)', '.walked']) note(`plot: ${name}`, seen([style(`#plot ${name}`).fill, 1]), panel);
    note('plot: score', seen([style('#plot .score').stroke, 1]), panel);
    note('plot: place', seen([style('#plot .here').stroke, 1]), panel);
    probe.remove();
    return all;
}"""


@case(limit=300, browsers=True, all_only=True)
def explorer_shows_arrows_dots_and_bars_with_enough_contrast():
    found = []
    least = 99.0
    with explorer() as server, browser() as started:
        for width, height in SIZES:
            for scheme in ("light", "dark"):
                context = started.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
                page = context.new_page()
                for board in ("green", "brown", "blue", "grey", "sand", "violet"):
                    open_address(page, server.url + "?play=e2e4,c7c5")
                    page.evaluate("(board) => { document.documentElement.dataset.board = board; }", board)
                    # The user's arrow, and one of the table.
                    page.mouse.move(*square(page, "a2"))
                    page.mouse.down(button="right")
                    page.mouse.move(*square(page, "a4"))
                    page.mouse.up(button="right")
                    page.hover("#books tr[data-uci] td.n >> nth=0")
                    for group in ("likely", "own", "pointed"):
                        page.wait_for_selector(f".{group} [data-arrow] polygon", state="attached")
                    reported = page.evaluate(CONTRASTS)
                    least = min(least, *reported.values())
                    found += [f"{width}x{height} {scheme} {board}: {name} {ratio}" for name, ratio in reported.items() if ratio < 3]
                context.close()
    assert not found, f"{len(found)} under 3:1:\n" + "\n".join(found)
    return f"the least contrast is {least}:1"


# Whether nothing covers the middle of it.
SEEN = """(id) => {
    const one = document.getElementById(id), box = one.getBoundingClientRect();
    return one.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
}"""

# Positions of the controls in the dialog.
PLACES = "() => [...document.querySelectorAll('dialog[open] :is(button, label, input, select)')].map((one) => one.getBoundingClientRect()).map(({ x, y }) => [x, y])"

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


# Buttons and fields that the message covers.
COVERED = """() => {
    const a = document.getElementById('status').getBoundingClientRect();
    return [...document.querySelectorAll('button, select, input, summary')].filter((one) => one.checkVisibility() && !one.closest('#messages')).filter((one) => {
        const b = one.getBoundingClientRect();
        return Math.min(a.right, b.right) > Math.max(a.left, b.left) && Math.min(a.bottom, b.bottom) > Math.max(a.top, b.top);
    }).map((one) => one.id || one.className);
}"""


def expect_messages_in_front(started: Browser, url: str) -> None:
    """Messages are in front of an open dialog."""
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
            expect_status(page, text)
            expect_announced("status", text)

        # From the beginning, because adding an interception later takes the browser a moment.
        away: list[bool] = []
        page.route("**/api/position*", lambda route: route.abort() if away else route.continue_())
        open_address(page, url + "?play=e2e4")
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
        open_address(page, url)
        page.click("#line-menu")
        page.click("text=Add the line to")
        expect_message("There is no move to add yet")
        context.close()


@case(limit=350, browsers=True)
def explorer_messages_are_in_front_of_dialogs_go_by_themselves_and_cover_no_button():
    with explorer(copy_starter(folder("explore"))) as server, browser() as started:
        if not WITHOUT_SERVER:
            expect_messages_in_front(started, server.url)
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
            expect_status(page, "neither a FEN nor a game")
            page.clock.fast_forward(60_000)
            expect_status(page, "neither a FEN nor a game")
            page.context.close()


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
    found = []
    with explorer(copy_starter(here), index(here / "games.tgx"), "--engine", STOCKFISH, "--threads", "1") as server, browser() as started:
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


@case(limit=200, all_only=True)
def explorer_pictures_of_the_documentation_have_the_words_of_the_page():
    script = ROOT / "docs" / "pictures" / "explore.py"
    done = subprocess.run([sys.executable, "-B", str(script), TABIA, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
