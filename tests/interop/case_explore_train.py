"""Training on the page of `tabia explore`: your games against your repertoire, moves without an answer, the choice of moves."""

import json
import random
import threading
import urllib.parse
import urllib.request
from collections import Counter
from pathlib import Path

from case_explore_changes import expect_status, window
from pages import Server, browser, explorer, fixed_port, is_firefox, marks, open_address, saved_by
from paths import copy_starter, folder
from procs import TIMEOUT_FACTOR, run
from runner import case

# A repertoire for White, and games of a player who uses it.
REPERTOIRE = "1. e4 c5 2. Nf3 d6 3. d4 1-0\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 1/2-1/2\n\n1. e4 e5 2. Nf3 d6 3. d4 1/2-1/2\n"


def game(white: str, black: str, moves: str, result: str = "1-0") -> str:
    return f'[Event "Club"]\n[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n\n{moves} {result}\n\n'


MINE = (
    3 * game("Me, Myself", "You", "1. e4 c5 2. Nc3 Nc6", "0-1")
    + 2 * game("Me, Myself", "Them", "1. e4 e6 2. d4 d5")
    + game("Me, Myself", "Them", "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6")
    + game("You", "Me, Myself", "1. d4 d5", "0-1")
)

MESSAGE = "document.querySelector('#train-message').textContent"

# Selects a file in a field.
CHOOSE = """return (() => {
    const data = new DataTransfer(), field = document.querySelector('%s');
    data.items.add(new File([%s], 'games.pgn'));
    field.files = data.files;
    field.dispatchEvent(new Event('change', { bubbles: true }));
    return true;
})()"""

# Pastes a text where the panel has the focus.
PASTE = """return (() => {
    const data = new DataTransfer();
    data.setData('text/plain', %s);
    document.querySelector('#work-panel').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    return true;
})()"""


def press(page, selector: str) -> None:
    """Presses a button by keyboard, wherever the panel has been scrolled to."""
    page.run(f"return (() => {{ document.querySelector('{selector}').click(); return true; }})()")


def repertoire(here, text: str = REPERTOIRE):
    games, book = here / "repertoire.pgn", here / "repertoire.ctg"
    games.write_text(text)
    assert run("build", "-o", str(book), str(games)).returncode == 0
    return book


def training_of(book: Path) -> Path:
    return book.with_name(book.name + ".training.jsonl")


def events(book: Path) -> list[dict]:
    """The events of a book's training, in the order in which they were written."""
    head, *lines = training_of(book).read_text().splitlines()
    assert json.loads(head) == {"format": "tabia-training-events", "version": 1}, head
    return [json.loads(line) for line in lines]


@case(limit=120)
def explorer_and_review_find_where_games_left_a_repertoire():
    here = folder("explore")
    book, mine, index = repertoire(here), here / "mine.pgn", here / "mine.tgx"
    mine.write_text(MINE)
    assert run("index", "-o", str(index), str(mine)).returncode == 0
    review = run("review", "--player", "Me, Myself", "--colour", "white", str(mine), str(book), "--json")
    assert review.returncode == 0, review.stderr
    departures = json.loads(review.stdout)["departures"]
    seen = [(one["by"], one["line"], one["played"]["san"], one["games"], one["score"], [move["san"] for move in one["book"]]) for one in departures]
    assert seen == [("player", "1. e4 c5", "Nc3", 3, 0, ["Nf3"]), ("opponent", "1. e4", "e6", 2, 1, ["e5", "c5"])], seen
    assert departures[1]["reply"]["san"] == "d4"
    reported = run("review", "--player", "Me, Myself", "--colour", "white", str(mine), str(book)).stdout
    assert "left by the player:\n  1. e4 c5: Nc3, not Nf3 (100 %): 3 games, +0 =0 -3" in reported, reported
    query = urllib.parse.urlencode({"player": "myself me", "color": "white"})
    with explorer(book, index) as server:
        # The same from the server, for the index and for a text.
        of_index = server.get(f"departures?{query}")
        request = urllib.request.Request(f"{server.url}departures?{query}", data=MINE.encode())
        with urllib.request.urlopen(request, timeout=20) as answer:
            of_text = json.load(answer)
        assert of_index["departures"] == of_text["departures"] == departures
        assert [of_text[name] for name in ("games", "others", "left_by_player", "left_by_opponent", "unanswered")] == [6, 1, 3, 2, 0], of_text
        assert server.status(f"departures?{query.replace('white', 'black')}&book=7") == 400
        assert server.status("departures?player=Nobody&color=white") == 400
        # By the book, the ends of its lines are no holes. By the games they are, where the games continue.
        assert server.get("coverage?color=black")["holes"] == []
        holes = server.get("coverage?color=white&opponents=1")["holes"]
        assert [(hole["line"], round(hole["share"], 3), hole["is_end"]) for hole in holes] == [("1. e4 e6", 0.333, False), ("1. e4 e5 2. Nf3 Nc6 3. Bb5", 0.167, True)], holes
    return f"{len(departures)} places"


@case(limit=60)
def explorer_and_review_know_which_of_several_moves_was_chosen():
    here = folder("explore")
    book, mine, training = repertoire(here, "1. e4 e5 1-0\n\n1. d4 d5 1-0\n"), here / "mine.pgn", here / "training.json"
    for line in ("e4", "d4"):
        assert run("mark", str(book), "--line", line, "main").returncode == 0
    mine.write_text(game("Me", "You", "1. d4 d5", "1-0"))
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"
    training.write_text(json.dumps({"format": "tabia-training", "moves": [[f"{book.name}|white|{start}", "e2e4"]]}))
    review = lambda *more: json.loads(run("review", "--player", "Me", "--colour", "white", str(mine), str(book), "--json", *more).stdout).get("departures", [])
    assert review() == []
    several = lambda answer: [(one["line"], sorted(move["san"] for move in one["book"]), one["games"]) for one in answer["several"]]
    both = run("review", "--player", "Me", "--colour", "white", str(mine), str(book), "--json")
    assert several(json.loads(both.stdout)) == [("", ["d4", "e4"], 1)], both.stdout
    [left] = review("--training", str(training))
    assert (left["by"], left["played"]["san"], [move["san"] for move in left["book"]]) == ("player", "d4", ["e4"]), left
    wrong = run("review", "--colour", "white", str(mine), str(book), "--training", str(mine))
    assert wrong.returncode == 2 and "not a training file" in wrong.stderr, wrong.stderr
    with explorer(book) as server:
        body = json.dumps({"pgn": mine.read_text(), "moves": [[start, "e2e4"]]}).encode()
        with urllib.request.urlopen(urllib.request.Request(f"{server.url}departures?player=Me&color=white", data=body), timeout=20) as answer:
            answer = json.load(answer)
            assert answer["departures"] == [left] and answer["several"] == []
        with urllib.request.urlopen(urllib.request.Request(f"{server.url}departures?player=Me&color=white", data=mine.read_bytes()), timeout=20) as answer:
            assert several(json.load(answer)) == [("", ["d4", "e4"], 1)]


@case(limit=120, browsers=True)
def explorer_compares_own_games_with_the_repertoire():
    here = folder("explore")
    book = repertoire(here)
    with explorer(book) as server, window() as page:
        page.open(server.url)
        page.keys("w")
        page.wait_for("document.querySelectorAll('#work-message')[0].textContent.includes('place') || document.querySelector('#work-message').textContent.includes('nothing')")
        # In Firefox, script events have no clipboard.
        page.run(PASTE % json.dumps(MINE) if not is_firefox(page.page) else CHOOSE % ("#mine-file", json.dumps(MINE)))
        page.wait_for("document.querySelector('#work-message').textContent.includes('6 games of Me, Myself compared')")
        # The answer is what one sees and hears.
        page.wait_for("document.activeElement.id === 'work-message'")
        assert page.run("document.querySelector('#mine-name').value") == "Me, Myself"
        of_games = "[...document.querySelectorAll('#work-table tbody tr')].filter((row) => /^You|opponent/.test(row.querySelector('.go span').textContent))"
        rows = page.run(f"return {of_games}.map((row) => [row.querySelector('.go span').textContent, row.querySelector('.often').textContent])")
        assert sorted(rows) == [["The opponent: e6, you then: d4 (100\u202f%)", "33.3\u202f%"], ["You: Nc3, the book: Nf3 (100\u202f%)", "50.0\u202f%"]], rows
        row = lambda text: page.page.locator("#work-table tr", has_text=text)
        row("You: Nc3").locator(".go").click()
        page.wait_for("[...document.querySelectorAll('#line button')].map((one) => one.textContent).join() === 'e4,c5'")
        # From now on it is trained: first it is shown.
        row("You: Nc3").locator("[data-act=train]").click()
        page.wait_for("document.querySelector('#train-tab').title === '1 due today'")
        # The answer to the opponents' move is added to the book, as the main move.
        row("The opponent: e6").locator("[data-act=add]").click()
        expect_status(page, "Saved:")
        page.wait_for("document.querySelector('#work-table tr.done')")
        assert marks(book, "e2e4 e7e6") == {"d2d4": "main"}, (marks(book, "e2e4 e7e6"))
    # Black has an answer to 1.e4, but not to 1.d4.
    with explorer(repertoire(folder("explore"), "1. e4 e5 1-0\n\n1. d4 1-0\n")) as server, window() as page:
        page.open(server.url)
        page.keys("w")
        page.wait_for("document.querySelector('#work-colour').checkVisibility()")
        page.run("return (() => { const colour = document.querySelector('#work-colour'); colour.value = 'black'; colour.dispatchEvent(new Event('change', { bubbles: true })); return true; })()")
        page.wait_for("[...document.querySelectorAll('#work-table .go span')].some((one) => one.textContent === 'No answer to d4')")
        page.page.locator("#work-table tr", has_text="No answer to d4").locator(".go").click()
        page.wait_for("document.querySelector('#line [aria-current]')?.textContent === 'd4'")


@case(limit=120, browsers=True, smoke=True)
def explorer_trains_one_move_of_several_and_shows_new_ones_first():
    book = repertoire(folder("explore"), "1. e4 e5 1-0\n\n1. d4 d5 1-0\n")
    with explorer(book) as server, window() as page:
        page.open(server.url)
        page.keys("r")
        page.click("#train-form .main")
        page.wait_for(f"{MESSAGE} === 'The book has several moves here. Which is yours?'")
        page.click("#train-choices button:first-child")
        page.wait_for(f"{MESSAGE} === 'The book’s line ends here.'")
        # It comes again, without showing its move; the other is wrong now.
        page.click("#train-next")
        page.wait_for(f"{MESSAGE} === 'Your move as White.' && !document.querySelector('#train-choices button')")
        [chosen] = [event["move"] for event in events(book) if event["kind"] == "choose"]
        other = {"e2e4": "d2d4", "d2d4": "e2e4"}[chosen]
        page.click(f"[data-square={other[:2]}]")
        page.click(f"[data-square={other[2:]}]")
        page.wait_for(f"{MESSAGE}.endsWith('is not the move. Try again.')")
        page.click(f"[data-square={chosen[:2]}]")
        page.click(f"[data-square={chosen[2:]}]")
        page.wait_for(f"{MESSAGE} === 'The book’s line ends here.'")
        page.keys("Escape")
        page.wait_for("document.querySelector('#train-progress').checkVisibility() && document.querySelector('#train-openings td').textContent === '1'")
        # Without its answers, a chosen move is new, and shown first; it counts when found unaided.
        left = [line for line in training_of(book).read_text().splitlines(keepends=True) if '"kind":"answer"' not in line and '"kind":"want"' not in line]
        training_of(book).write_text("".join(left))
        page.open(server.url)
        page.keys("r")
        page.click("#train-form .main")
        page.wait_for(f"{MESSAGE}.startsWith('New: ')")
        page.wait_for(f"document.querySelector('.pointed [data-arrow=\"{chosen}\"]')")


# A session of some answers, by the page's own code. The positions are those after one move of White and one of Black.
SESSION = """async ([deck, tab, session]) => {
    await Promise.race([window.cards.open(deck, "book"), new Promise((resolve) => setTimeout(resolve, 50))]);
    const given = [];
    for (let number = 0; number < 3; number += 1) {
        const [from, to] = [(session + number) % 8, (tab * 3 + number) % 8].map((file) => "abcdefgh"[file]);
        const line = [`${from}2${from}3`, `${to}7${to}6`].map((uci) => ({ uci, san: uci }));
        const pawns = (file, letter, at) => [...letter.repeat(8)].map((one, index) => (index === file.charCodeAt(0) - 97) === at ? one : " ").join("");
        const row = (text) => text.replace(/ +/g, (gap) => gap.length);
        const fen = `rnbqkbnr/${row(pawns(to, "p", false))}/${row(pawns(to, "p", true))}/8/8/${row(pawns(from, "P", true))}/${row(pawns(from, "P", false))}/RNBQKBNR w KQkq - 0 2`;
        const key = window.cards.key(deck, "white", fen);
        const right = (session + number) % 4 > 0;
        window.cards.answered(key, right, { fen: null, line });
        given.push([fen.split(" ").slice(0, 4).join(" "), right]);
        await new Promise((resolve) => setTimeout(resolve, 5 + 40 * Math.random()));
    }
    return given;
}"""

# The page's own module in a tab.
CARDS = "import(document.querySelector('link[href$=\"/cards.js\"]').href)"
BEGIN = f"async () => {{ const {{ Cards }} = await {CARDS}; window.cards = new Cards(); window.cards.sendWaiting(); return true; }}"

# An answer in the first position.
ANSWER = f"async () => {{ const {{ Cards }} = await {CARDS}; const cards = new Cards(); const {{ books }} = await (await fetch('/api/position')).json(); cards.answered(cards.key(books[0].deck, 'white', 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1'), true, {{ fen: null, line: [] }}); await cards.sync(books[0].deck); return true; }}"

WAITING = "Object.keys(localStorage).filter((name) => name.startsWith('training-event-')).length"


@case(limit=400, browsers=True)
def explorer_loses_no_answer_of_three_tabs_while_the_program_is_killed():
    """100 sessions in three tabs at once; the program is killed at random, and one tab, too."""
    book, port = copy_starter(folder("explore")), fixed_port()
    server = Server(book, "--port", port)
    chance = random.Random(58)
    kills, given = 0, []
    with browser() as started:
        context = started.new_context()
        tabs = [context.new_page() for _ in range(3)]
        for tab in tabs:
            open_address(tab, server.url)
            tab.evaluate(BEGIN)
        deck = server.get("api/position")["books"][0]["deck"]
        for session in range(100):
            number = session % 3
            # In the middle of a session, perhaps while it writes.
            killer = threading.Timer(0.12 * chance.random(), server.process.kill) if chance.random() < 0.2 else None
            if killer:
                killer.start()
            given += tabs[number].evaluate(SESSION, [deck, number, session // 3])
            if killer:
                killer.join()
                server.kill()
                kills += 1
                server = Server(book, "--port", port)
            if session == 50:
                # A closed tab leaves what it could not send to the next one.
                tabs[1].close()
                tabs[1] = context.new_page()
                open_address(tabs[1], server.url)
                tabs[1].evaluate(BEGIN)
        for tab in tabs:
            tab.evaluate("() => window.cards.refresh()")
        for tab in tabs:
            tab.wait_for_function(f"{WAITING} === 0", timeout=60_000 * TIMEOUT_FACTOR)
        # Every page now knows the same.
        open_address(tabs[0], server.url)
        body = json.dumps({"deck": deck, "events": []}).encode()
        token = tabs[0].evaluate("document.querySelector('meta[name=tabia-token]').content")
        request = urllib.request.Request(f"{server.url}api/training", data=body, headers={"x-tabia-token": token, "content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            known = json.load(answer)
        server.end()
    stored = events(book)
    ids = [event["id"] for event in stored]
    assert len(ids) == len(set(ids)), "an answer is stored twice"
    answers = [(event["fen"], event["right"]) for event in stored if event["kind"] == "answer"]
    assert Counter(answers) == Counter(map(tuple, given)), (len(answers), len(given))
    assert len(given) == 300 and kills > 5, (len(given), kills)
    counts = {card["at"]["fen"]: (card["right"], card["wrong"]) for card in known["cards"]}
    by_place = Counter(answers)
    assert counts == {fen: (by_place[fen, True], by_place[fen, False]) for fen, _ in answers}
    return f"{len(given)} answers in {len(counts)} positions, {kills} kills"


@case(limit=60, browsers=True)
def explorer_keeps_the_training_of_a_renamed_book_and_says_where_it_cannot_store():
    here = folder("explore")
    book = repertoire(here)
    with explorer(book) as server, window() as page:
        page.open(server.url)
        assert page.page.evaluate(ANSWER)
        page.keys("r")
        page.wait_for("document.querySelector('#train-cards').textContent.startsWith('1 positions trained')")
    # The book is renamed without the file beside it.
    renamed = book.rename(here / "renamed.ctg")
    with explorer(renamed) as server, window() as page:
        page.open(server.url)
        page.keys("r")
        page.wait_for("document.querySelector('#train-cards').textContent.startsWith('0 positions trained')")
        press(page, "#train-left button")
        page.wait_for("document.querySelector('#train-cards').textContent.startsWith('1 positions trained') && !document.querySelector('#train-left button')")
        assert not training_of(book).exists() and len(events(renamed)) == 1
    before = training_of(renamed).read_bytes()
    with explorer(renamed, "--read-only") as server, window() as page:
        page.open(server.url)
        page.keys("r")
        page.click("#train-form .main")
        page.wait_for(f"{MESSAGE} === 'Your move as White.' || {MESSAGE}.startsWith('You know')  || {MESSAGE}.startsWith('New: ')")
        page.keys("Escape")
        assert page.page.evaluate(ANSWER)
        page.open(server.url)
        page.keys("r")
        page.wait_for("document.querySelector('#train-cards').textContent.includes('1 answers wait in this browser until the program stores them: the explorer was started read-only')")
        assert training_of(renamed).read_bytes() == before


COURSE = '[Event "Course: Italian"]\n\n1. e4 {Best by test.} e5 2. Nf3 *\n\n[Event "Course: Sicilian"]\n\n1. e4 c5 2. Nf3 *\n'

@case(limit=120, browsers=True)
def explorer_trains_chapters_of_a_file():
    with explorer() as server, window() as page:
        page.open(server.url)
        page.keys("r")
        page.click("#train-learn")
        page.run(CHOOSE % ("#chapters-file", json.dumps(COURSE)))
        page.wait_for("[...document.querySelectorAll('#chapters-list span')].map((one) => one.textContent).join() === 'games.pgn,Course: Italian,Course: Sicilian'")
        # They are stored in the browser, and saved in the training file.
        page.open(server.url)
        page.keys("r")
        page.wait_for("document.querySelectorAll('#chapters-list li').length === 3")
        page.click("#chapters summary")
        page.click("#chapters-list .file button")
        page.wait_for("!document.querySelector('#chapters-list li')")
        page.run(CHOOSE % ("#chapters-file", json.dumps(COURSE)))
        page.click("#chapters-list li:nth-child(2) button")
        page.wait_for(f"{MESSAGE} === 'Your move as White.'")
        page.click("[data-square=e2]")
        page.click("[data-square=e4]")
        page.wait_for(f"{MESSAGE} === 'e4 (Best by test.) is right.' && document.querySelectorAll('#line button').length === 2")
        page.click("[data-square=d2]")
        page.click("[data-square=d4]")
        page.wait_for(f"{MESSAGE} === 'd4 is not the move. Try again.'")
        page.click("[data-square=g1]")
        page.click("[data-square=f3]")
        page.wait_for(f"{MESSAGE} === 'The book’s line ends here.'")
        page.keys("Escape")
        listed = "[...document.querySelectorAll('#chapters-list span')].map((one) => one.textContent).join() === 'games.pgn,Course: Italian,1 due today,Course: Sicilian'"
        page.wait_for(listed)
        # The training file contains them too, with their progress.
        saved = saved_by(page.page, lambda: page.click("#train-save")).read_text()
        # It asks, and can be undone.
        trained = "document.querySelector('#train-cards').textContent"
        before = page.run(trained)
        for _ in range(2):
            page.click("#train-forget")
            page.wait_for("document.querySelector('#train-forget').textContent.endsWith('positions?')")
            page.click("#train-forget")
            page.wait_for(f"{trained}.startsWith('0 positions') && document.querySelector('#train-forget').textContent === 'Bring them back'")
            page.click("#train-forget")
            page.wait_for(f"{trained} === {json.dumps(before)}")
        page.click("#train-forget")
        page.click("#train-forget")
        page.click("#chapters-list .file button")
        page.wait_for("!document.querySelector('#chapters-list li')")
        page.run(CHOOSE % ("#train-file", json.dumps(saved)))
        page.wait_for(listed)
        # After loading, the browser has them too.
        page.open(server.url)
        page.keys("r")
        page.wait_for(listed)
