"""Games indexes, and the opening explorer that answers from them.

Unmodified real clients with another address; and every number against an
independent count with python-chess.
"""

import collections
import http.client
import json
import os
import random
import signal
import subprocess
import time
import urllib.parse

import berserk
import chess
import requests

import explorer_oracle as oracle
from oracle import Oracle
from pages import Connection, Server, browser, send_10000_requests
from paths import SHARED, TABIA, THOROUGH, folder
from procs import TIMEOUT_FACTOR, environment, run, run_ok
from runner import case

PGN = SHARED / "data" / "pgn"


def _unpacked(name: str, games: int = 0) -> str:
    """The text of a collection, or of its first games."""
    text = subprocess.run(
        ["zstd", "-dcq", "--long=27", PGN / f"{name}.pgn.zst"], capture_output=True, check=True
    ).stdout.decode("latin-1")
    if not games:
        return text
    return "\n[Event ".join(text.split("\n[Event ")[:games]) + "\n"


def _index(texts: list[str], *arguments: str):
    """Makes an index and adds the texts one after the other."""
    place = folder("index")
    index = place / "games.tgx"
    for number, text in enumerate(texts):
        source = place / f"{number}.pgn"
        source.write_text(text, encoding="latin-1")
        more = ["--append"] if number else []
        run_ok("index", "-o", index, *more, *arguments, source, limit=120)
    return index


def _positions(explorer: oracle.Explorer, count: int) -> list[chess.Board]:
    """Some positions: the start, popular ones, and random ones."""
    draw = random.Random(18)
    boards = [chess.Board()]
    while len(boards) < count:
        board = chess.Board()
        for _ in range(draw.randint(1, 24)):
            known = explorer.answer(board)["moves"]
            if not known:
                break
            uci = draw.choice(sorted(known))
            board.push(board.parse_uci(_plain(board, uci)))
        boards.append(board)
    return boards


def _plain(board: chess.Board, uci: str) -> str:
    """Castling in the notation of python-chess."""
    if uci in ("e1h1", "e1a1", "e8h8", "e8a8") and board.kings & chess.BB_SQUARES[chess.parse_square(uci[:2])]:
        return uci[:2] + {"h": "g", "a": "c"}[uci[2]] + uci[3]
    return uci


def _same(answer: dict, expected: dict, what: str) -> None:
    for name in ("white", "draws", "black"):
        assert answer[name] == expected[name], f"{what}: {name} {answer[name]}, not {expected[name]}"
    shown = {move["uci"]: move for move in answer["moves"]}
    assert set(shown) == set(expected["moves"]), f"{what}: {sorted(shown)}, not {sorted(expected['moves'])}"
    for uci, move in expected["moves"].items():
        for name in ("white", "draws", "black", "averageRating"):
            if name in shown[uci]:
                assert shown[uci][name] == move[name], f"{what} {uci}: {name} {shown[uci][name]}, not {move[name]}"
        # A request for no games gets none with the moves either.
        named = answer.get("topGames") or answer.get("recentGames")
        assert not named or (shown[uci]["game"] is not None) == (len(move["games"]) == 1), what


@case(limit=1200, needs_shared=True)
def numbers_are_those_of_an_independent_count():
    texts = [_unpacked("gnuchess_book_1.02", 18_400 if THOROUGH else 1_500), _unpacked("twic1599_1000k"), _unpacked("lichess_db_1000k")]
    games = oracle.Explorer(oracle.read("\n\n".join(texts)))
    index = _index(texts, "--memory", "8M")
    server = Server(index)
    asked = 0
    for board in _positions(games, 150):
        fen = urllib.parse.quote(board.fen())
        filters = {
            "masters?": lambda game: True,
            "masters?since=1960&until=1975": lambda game: 1960 <= game.year <= 1975,
            "lichess?": lambda game: True,
            "lichess?ratings=1600,1800": lambda game: game.group in (1600, 1800),
            "lichess?speeds=blitz,rapid": lambda game: game.speed in ("blitz", "rapid"),
            "lichess?since=2025-06": lambda game: (game.year, game.month) >= (2025, 6),
            "lichess?until=2025-05&ratings=2500": lambda game: game.month
            and (game.year, game.month) <= (2025, 5)
            and game.group == 2500,
        }
        for path, wanted in filters.items():
            expected = games.answer(board, wanted)
            answer = server.get(f"{path}&moves=100&fen={fen}")
            _same(answer, expected, f"{path} {board.fen()}")
            _same_games(answer, expected["games"], path)
            asked += 1
        history = server.get(f"lichess/history?until=3000-12&fen={fen}")
        months = {}
        for game in games.answer(board)["games"]:
            # Those with only a year count in its first month.
            if game.year:
                counted = months.setdefault(f"{game.year}-{game.month or 1:02}", {"white": 0, "draws": 0, "black": 0})
                counted[game.winner or "draws"] += 1
        counted = {month.pop("month"): month for month in history["history"] if sum(list(month.values())[1:])}
        assert counted == months, (counted, months)
    for name, color in _players(games):
        wanted = lambda game: game.names[color] == name
        player = urllib.parse.quote(name)
        for board in (chess.Board(), chess.Board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1")):
            target = f"player?player={player}&color={color}&recentGames=0&fen={urllib.parse.quote(board.fen())}"
            _same(server.get(target), games.answer(board, wanted), target)
            asked += 1
    return f"{len(games.games)} games, {asked} answers"


def _same_games(answer: dict, games: list, path: str) -> None:
    """Compares top games, and recent games as far as their order is defined."""
    date = lambda game: (game.year, game.month, game.day, game.number)
    rating = lambda game: sum(game.elo.values())
    if path.startswith("masters"):
        best = sorted(games, key=lambda game: (rating(game), date(game)), reverse=True)[:15]
        ratings = [game["white"]["rating"] + game["black"]["rating"] for game in answer["topGames"]]
        assert ratings == [rating(game) for game in best], (ratings, path)
        assert "recentGames" not in answer
        return
    top = answer["topGames"]
    newest = sorted(games, key=date, reverse=True)[: 8 + len(top)]
    names = {(game.names["white"], game.names["black"], game.year) for game in newest}
    for game in answer["recentGames"]:
        assert (game["white"]["name"], game["black"]["name"], game["year"]) in names, (game, path)
    assert len(answer["recentGames"]) == min(8 - len(top), len(games) - len(top)), path


def _players(games: oracle.Explorer) -> list[tuple[str, str]]:
    count = {}
    for game in games.games:
        for color in ("white", "black"):
            if len(game.names[color]) > 3:
                count[game.names[color], color] = count.get((game.names[color], color), 0) + 1
    # Names that differ only in case or order of words are one player.
    plain = lambda name: " ".join(sorted(name.lower().replace(",", " ").replace(".", " ").split()))
    forms = {}
    for name, _ in count:
        forms.setdefault(plain(name), set()).add(name)
    clear = [one for one in count if len(forms[plain(one[0])]) == 1]
    return sorted(clear, key=lambda one: (-count[one], one))[:20]


@case(limit=120, needs_shared=True)
def all_requests_of_berserk_are_answered():
    index = _index([_unpacked("lichess_db_1000k"), _unpacked("twic1599_1000k")])
    server = Server(index)
    client = berserk.Client(explorer_url=server.url.rstrip("/"))
    explorer = client.opening_explorer
    masters = explorer.get_masters_games(since=2025, moves=3, top_games=5)
    assert len(masters["moves"]) == 3 and len(masters["topGames"]) == 5
    lichess = explorer.get_lichess_games(
        speeds=["blitz", "rapid"], ratings=["1600", "1800"], since="2025-05", until="2025-05", history=True
    )
    assert lichess["moves"] and lichess["recentGames"] and len(lichess["history"]) == 1
    game = client.opening_explorer.get_otb_master_game(masters["topGames"][0]["id"])
    assert masters["topGames"][0]["white"]["name"] in game and game.rstrip()[-1] in "012"
    name = lichess["recentGames"][0]["white"]["name"]
    player = explorer.get_player_games(player=name, color="white", wait_for_indexing=True)
    assert player["white"] + player["draws"] + player["black"] > 0 and player["queuePosition"] == 0
    streamed = list(explorer.stream_player_games(player=name, color="white"))
    assert streamed[-1] == player


@case(limit=120, needs_shared=True)
def requests_as_lichess_bot_sends_them_are_answered():
    """`get_opening_explorer_move` of lichess-bot, with its address changed."""
    server = Server(_index([_unpacked("lichess_db_1000k")]))
    session = requests.Session()
    session.headers["Authorization"] = "Bearer lip_any"
    for source in ("masters", "lichess", "player"):
        params = {"fen": chess.STARTING_FEN, "moves": 100}
        if source == "player":
            params |= {"player": "alanbrito4", "color": "white"}
        params |= {"variant": "standard", "topGames": 0, "recentGames": 0}
        answer = session.get(f"{server.url}{source}", params=params, timeout=2 * TIMEOUT_FACTOR)
        answer.raise_for_status()
        best = None
        for move in answer.json()["moves"]:
            wins, losses = move["white"], move["black"]
            games = wins + losses + move["draws"]
            rate = (wins + move["draws"] * 0.5) / games
            best = max(best or (0, ""), (rate, move["uci"]))
        assert chess.Move.from_uci(best[1]) in chess.Board().legal_moves


@case(limit=120, needs_shared=True)
def scripts_of_other_clients_are_answered():
    server = Server(_index([_unpacked("lichess_db_1000k")]))
    fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR%20b%20KQkq%20-%200%201"
    bare = fen.replace("%20", "_")
    for target in (
        f"lichess?variant=standard&speeds=blitz,rapid&ratings=1600,1800&recentGames=0&topGames=0&moves=10&play=&fen={fen}",
        f"lichess?fen={fen}&variant=standard&speeds=&ratings=&since=2020-1&until=&moves=12&topGames=0&recentGames=0",
        f"lichess?fen={bare}&play=&variant=standard&ratings=&speeds=",
        f"masters?fen={fen}&since=1952&until=2030&moves=12&topGames=15",
        f"masters?topGames=0&fen={fen}",
        f"lichess?source=mobile&fen={fen}&variant=standard&speeds=bullet,blitz&ratings=1600&since=2024-1",
        f"lichess?variant=kingOfTheHill&fen={fen}",
        f"player?player=alanbrito4&variant=standard&fen={fen}&color=white&recentGames=0&speeds=blitz&modes=rated,casual",
        "master", "lichess/history", "personal?player=x&color=black",
    ):
        answer = requests.get(server.url + target, headers={"Authorization": "Bearer undefined"}, timeout=10 * TIMEOUT_FACTOR)
        assert answer.status_code == 200, (target, answer.text)
        answer.json()
        _schema(answer.json(), target)
    fens = "\n".join([chess.STARTING_FEN, "nonsense", urllib.parse.unquote(fen)])
    batch = requests.post(server.url + "lichess/batch?moves=1&topGames=0&recentGames=0", data=fens, timeout=10 * TIMEOUT_FACTOR)
    lines = [json.loads(line) for line in batch.text.splitlines()]
    assert len(lines) == 3 and "error" in lines[1] and lines[0]["white"] > 0 and len(lines[2]["moves"]) == 1


def _schema(answer: dict, target: str) -> None:
    """The constraints of the published schemas."""
    wanted = {"opening", "white", "draws", "black", "moves"}
    each = {"uci", "san", "white", "draws", "black", "game", "opening"}
    if target.startswith(("player", "personal")):
        wanted |= {"queuePosition", "recentGames"}
        each |= {"averageOpponentRating", "performance"}
    else:
        wanted |= {"topGames"}
        each |= {"averageRating"}
    assert wanted <= set(answer), target
    for move in answer["moves"]:
        assert each <= set(move), target
        assert all(isinstance(move[name], int) for name in ("white", "draws", "black")), target
    order = ["white", "draws", "black", "moves", "recentGames", "topGames", "opening", "queuePosition", "history", "notice"]
    assert list(answer) == [name for name in order if name in answer], list(answer)


@case(limit=120, needs_shared=True)
def a_page_of_another_site_reads_and_changes_nothing():
    index = _index([_unpacked("lichess_db_1000k")])
    place = folder("site")
    (place / "index.html").write_text("<title>elsewhere</title>")
    with subprocess.Popen(
        ["python3", "-m", "http.server", "--bind", "127.0.0.1", "0"],
        cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment() | {"PYTHONUNBUFFERED": "1"}, text=True,
    ) as site:
        try:
            origin = "http://127.0.0.1:" + site.stdout.readline().split("port ")[1].split()[0]
            closed, opened = Server(index), Server("--allow-origin", origin, index)
            ask = """async ([url, method]) => {
                try {
                    const answer = await fetch(url, {method, headers: {Authorization: "Bearer lip_x"}});
                    return (await answer.json()).moves?.length ?? "none";
                } catch (error) { return "refused"; }
            }"""
            with browser() as started:
                page = started.new_page()
                page.goto(origin)
                asked = lambda server, path, method="GET": page.evaluate(ask, [server.url + path, method])
                assert asked(opened, "lichess") > 3
                assert asked(closed, "lichess") == "refused"
                for path in ("api/start", "api/edit", "api/position"):
                    assert asked(opened, path) == "refused", path
                assert asked(opened, "api/edit", "POST") == "refused"
        finally:
            site.kill()


@case(limit=300, needs_shared=True)
def memory_of_an_index_does_not_grow_with_requests():
    """Required rates far below the usual ones: 25 us for an opening, 80 us for any other position."""
    server = Server(_index([_unpacked("gnuchess_book_1.02", 20_000)]))
    connection = Connection(server)
    draw = random.Random(20)

    def line(plies: int) -> str:
        moves = []
        while len(moves) < plies:
            known = connection.get("/lichess?topGames=0&recentGames=0&play=" + ",".join(moves))["moves"]
            if not known:
                return line(plies)
            moves.append(draw.choice(known)["uci"])
        return ",".join(moves)

    openings = [f"/lichess?play={line(number % 5)}" for number in range(40)]
    lines = [line(20) for _ in range(200)]
    far = [f"/lichess?moves={moves}&play={one}" for moves in range(12, 20) for one in lines]
    texts = []
    for name, targets in (
        ("at ply 20", far),
        ("openings", openings * (2500 if THOROUGH else 100)),
    ):
        for target in targets[:40]:
            connection.get(target)
        memory, before = server.memory_kb(), server.processor_seconds()
        for target in targets:
            connection.get(target)
        each = 1000 * (server.processor_seconds() - before) / len(targets)
        assert server.memory_kb() < memory + 4000, (name, memory, server.memory_kb())
        texts.append(f"{name} {each:.3f} ms of a processor")
    texts.append(send_10000_requests(server, "/lichess?play=e2e4"))
    assert server.get("lichess")["white"] > 0
    return ", ".join(texts)


@case(limit=300, needs_shared=True)
def an_index_is_intact_after_a_kill():
    """Also while parts are joined: the fourth part is being added."""
    place = folder("killed")
    small = _unpacked("lichess_db_1000k")
    index = _index([small] * 3)
    before = index.read_bytes()
    draw = random.Random(7)
    more = place / "more.pgn"
    more.write_text(_unpacked("gnuchess_book_1.02", 20_000), encoding="latin-1")
    for _ in range(12):
        adding = subprocess.Popen(
            [TABIA, "index", "-o", index, "--append", "--memory", "4M", more], stderr=subprocess.DEVNULL, env=environment()
        )
        # It may be at any step by then, or finished: the pause only chooses the step.
        time.sleep(draw.uniform(0.02, 1.5))
        adding.send_signal(signal.SIGKILL)
        adding.wait()
        info = json.loads(run("info", "--json", index).stdout)
        assert (info["games"], len(info["segments"])) in ((3 * 438, 3), (3 * 438 + _results(more), 1)), info
        if info["games"] != 3 * 438:
            index.write_bytes(before)
    run_ok("index", "-o", index, "--append", more, limit=60)
    copy = place / "compacted.tgx"
    copy.write_bytes(index.read_bytes())
    for _ in range(6):
        joining = subprocess.Popen([TABIA, "compact", copy], stderr=subprocess.DEVNULL, env=environment())
        # It too only chooses the step.
        time.sleep(draw.uniform(0.01, 0.3))
        joining.send_signal(signal.SIGKILL)
        joining.wait()
    done = run("compact", copy, limit=60)
    assert done.returncode == 0 and copy.stat().st_size < index.stat().st_size, done.stderr
    again = _index(["\n\n".join([small] * 3 + [more.read_text(encoding="latin-1")])])
    servers = [Server(one) for one in (index, copy, again)]
    for target in ("lichess", "masters?play=e2e4", "masters?play=d2d4,d7d5,c2c4", "player?player=alanbrito4&color=white"):
        one, *others = [server.get(target) for server in servers]
        assert all(one == other for other in others), target
    left = [name for name in os.listdir(index.parent) if name.startswith(".")]
    assert not left, left


def _results(path) -> int:
    text = path.read_text(encoding="latin-1")
    return sum(text.count(f'[Result "{result}"]') for result in ("1-0", "0-1", "1/2-1/2"))


@case(limit=300, needs_shared=True)
def games_with_a_move_and_games_that_reach_the_next_position_are_told_apart():
    text = _unpacked("gnuchess_book_1.02", 1_500)
    games = oracle.Explorer(oracle.read(text))
    reaching = collections.Counter()
    for game in games.games:
        reaching.update(set(game.reached))
    index = _index([text])
    book = folder("reaching") / "book.ctg"
    run_ok("build", "-o", book, "--max-ply", str(oracle.PLIES), index, limit=120)
    differ = ended = 0
    with Oracle(index) as indexed, Oracle(book) as built:
        for board in _positions(games, 600):
            expected = games.answer(board)["moves"]
            shown = indexed.look_up(board)["moves"]
            stored = {move["uci"]: move for move in built.look_up(board)["moves"]}
            assert {move["uci"] for move in shown} == {_plain(board, uci) for uci in expected}, board.fen()
            for uci, move in ((_plain(board, uci), move) for uci, move in expected.items()):
                after = board.copy(stack=False)
                after.push_uci(uci)
                played = len(move["games"])
                going_on = len(games.by_position.get(oracle.key(after), []))
                # With the games that end there.
                reached = reaching[oracle.key(after)]
                one = next(move for move in shown if move["uci"] == uci)
                assert (one["games"], one["played"]) == (played, played), (board.fen(), one)
                assert one["reached"] == max(played, going_on) <= reached, (board.fen(), one)
                # A book counts the mirrored positions of its normal form as one.
                assert "played" not in stored[uci] and stored[uci]["reached"] >= reached, (board.fen(), stored[uci])
                differ += one["reached"] > played
                ended += reached > one["reached"]
    assert differ > 30, differ
    return f"{differ} moves with games by another order, {ended} with more that end there"


@case(limit=300, needs_shared=True)
def damaged_indexes_are_reported():
    index = _index([_unpacked("lichess_db_1000k")])
    whole = index.read_bytes()
    draw = random.Random(5)
    refused = 0
    for number in range(60):
        damaged = bytearray(whole)
        if number % 2:
            damaged[draw.randrange(len(whole))] ^= 1 << draw.randrange(8)
        else:
            del damaged[draw.randrange(len(whole)) :]
        index.write_bytes(damaged)
        built = run("games", index, "-o", "-", limit=30)
        assert built.returncode in (0, 1, 2) and "panic" not in built.stderr, built.stderr
        info = run("info", index)
        assert info.returncode in (0, 2) and "panic" not in info.stderr, info.stderr
        refused += info.returncode == 2 or "damaged" in built.stderr
        if info.returncode == 0:
            server = Server(index)
            for target in ("/lichess", "/masters?play=e2e4", "/player?player=alanbrito4&color=white", "/masters/pgn/ENPo6ReH"):
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20 * TIMEOUT_FACTOR)
                connection.request("GET", target)
                assert connection.getresponse().status in (200, 404, 500), target
            server.process.terminate()
            server.process.wait()
    return f"{refused} of 60 refused"
