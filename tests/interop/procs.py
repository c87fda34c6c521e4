"""Processes: starting them, their input and output, waiting and cleaning up.

Every process of a case inherits an environment variable with the name of the
case, so that its descendants are known even after their parents have ended.
"""

import os
import re
import queue
import select
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Callable, Iterable, Optional, Union

from paths import EMPTY_CONFIG, STOCKFISH, TABIA

# Limits are for an idle machine; on a busy one this multiple of the limit
# passes before a process counts as stuck.
TIMEOUT_FACTOR = 8

_MARK = "TABIA_INTEROP_CASE"
_count = 0
_clients: list["Client"] = []


def _mark() -> str:
    return f"{os.getpid()}.{_count}"


def environment() -> dict[str, str]:
    """The environment of everything that a case starts."""
    return {**os.environ, _MARK: _mark(), "TABIA_CONFIG": str(EMPTY_CONFIG)}


def begin_case() -> None:
    global _count
    _count += 1
    _clients.clear()


def alive(name: str = "") -> list[int]:
    """Running processes of this case (no zombies); of one program if stdin."""
    wanted = f"{_MARK}={_mark()}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if wanted not in (entry / "environ").read_bytes().split(b"\0"):
                continue
            program = (entry / "cmdline").read_bytes().split(b"\0")[0].decode()
        except OSError:
            continue
        if name in ("", Path(program).name):
            found.append(int(entry.name))
    return found


def children(pid: int) -> list[int]:
    """The running direct children of a process."""
    found = []
    for one in alive():
        try:
            stat = Path(f"/proc/{one}/stat").read_text()
        except OSError:
            continue
        if int(stat.rsplit(")", 1)[1].split()[1]) == pid:
            found.append(one)
    return found


def processor_seconds(pid: int) -> float:
    """Processor seconds that a process has used."""
    ticks = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def wait_for_exit(limit: float, name: str = "") -> None:
    """Waits until no process of the case is left."""

    def left() -> str:
        lines = []
        for pid in alive(name):
            try:
                lines.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                pass
        return "; ".join(lines)

    wait_until(lambda: not alive(name), limit, left)


def wait_for_end(pid: int, limit: float = 15.0) -> None:
    """Waits until a process has ended, whoever its parent is."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([process], [], [], TIMEOUT_FACTOR * limit)[0], f"process {pid} does not end"
    finally:
        os.close(process)


def poll(read: Callable[[], Any], is_done: Callable[[Any], object] = bool, limit: float = 15.0) -> Any:
    """Reads a changing value until it is_done; returns it. The limit is only for what never
    comes: then it returns the last value."""
    deadline = time.monotonic() + TIMEOUT_FACTOR * limit
    while not is_done(value := read()) and time.monotonic() < deadline:
        # Lets the processes run whose files and pages are read: no event tells of them.
        time.sleep(0.005)
    return value


def wait_until(is_done: Callable[[], bool], limit: float, what: Callable[[], object]) -> None:
    """Waits for a condition; on failure `what` describes the state."""
    assert poll(is_done, limit=limit), f"not so after {TIMEOUT_FACTOR * limit} s: {what()}"


def kill_all() -> None:
    """Ends all processes that a case has left, and those that they have just started."""
    while left := alive():
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        # They end a moment after the signal, and need not be our children.
        time.sleep(0.005)
    for client in _clients:
        client.close()


def quit_all() -> None:
    """Ends the clients that a case has left; each must end with code 0."""
    for client in _clients:
        if client.process.poll() is None:
            client.quit()


def check_stderr() -> None:
    """No client may have panicked."""
    for client in _clients:
        text = client.stderr()
        if "panicked" in text:
            raise AssertionError(f"panic: {text}")


def last_lines() -> str:
    """The last lines of the conversations, for a failure's report."""
    lines = []
    for client in _clients:
        lines.append(f"--- {' '.join(client.command)}")
        lines.extend(client.transcript[-14:])
        lines.extend("stderr: " + line for line in client.stderr().splitlines()[-5:])
    return "\n".join(line[:200] for line in lines)


Expected = Union[str, Callable[[str], bool]]


def _reset_signals() -> None:
    """The parent may ignore some signals (nohup, a background job of a shell)."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


class Client:
    """A UCI client on raw pipes."""

    def __init__(self, command: Iterable[str], cwd: Optional[str] = None):
        self.command = [str(word) for word in command]
        self.transcript: list[str] = []
        self.lines: queue.Queue[Optional[str]] = queue.Queue()
        self._stderr = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=environment(),
            cwd=cwd,
            bufsize=0,
            preexec_fn=_reset_signals,
        )
        self.pid = self.process.pid
        _clients.append(self)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        rest = b""
        try:
            while chunk := os.read(self.process.stdout.fileno(), 1 << 16):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self.lines.put(line.decode("utf-8", "backslashreplace"))
        except (OSError, ValueError):
            pass
        self.lines.put(None)

    def write(self, data: bytes) -> None:
        """Writes bytes unchanged."""
        for line in data.decode("utf-8", "backslashreplace").splitlines():
            self.transcript.append(">> " + line)
        # A pipe may accept only a part.
        while data:
            data = data[self.process.stdin.write(data) :]

    def send(self, *lines: str) -> None:
        """Sends lines in one write."""
        self.write("".join(line + "\n" for line in lines).encode())

    def next(self, limit: float = 10.0) -> Optional[str]:
        """The next line; `None` at the end of the output."""
        return self._next(TIMEOUT_FACTOR * limit)

    def _next(self, seconds: float) -> Optional[str]:
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            raise AssertionError(f"nothing came for {seconds} s") from None
        if line is None:
            # Later calls find the end again.
            self.lines.put(None)
        else:
            self.transcript.append("<< " + line)
        return line

    def expect(self, expected: Expected, limit: float = 10.0) -> list[str]:
        """The lines up to and including the first expected one."""
        is_done = expected if callable(expected) else lambda line: line.split()[:1] == [expected]
        deadline = time.monotonic() + TIMEOUT_FACTOR * limit
        got = []
        while True:
            try:
                line = self._next(max(0.0, deadline - time.monotonic()))
            except AssertionError:
                raise AssertionError(f"no {expected} within {TIMEOUT_FACTOR * limit} s; got {got[-5:]}") from None
            if line is None:
                raise AssertionError(f"ended instead of {expected}; got {got[-5:]}")
            got.append(line)
            if is_done(line):
                return got

    def exchange(self, *lines: str, until: Expected, limit: float = 10.0) -> list[str]:
        self.send(*lines)
        return self.expect(until, limit)

    def expect_none(self, word: str = "bestmove") -> list[str]:
        """The lines so far, all sent before the answer to `isready`; none may begin with `word`."""
        *got, _ = self.ready()
        early = [line for line in got if line.split()[:1] == [word]]
        assert not early, f"too early: {early}"
        return got

    def handshake(self, limit: float = 10.0) -> list[str]:
        return self.exchange("uci", until="uciok", limit=limit)

    def ready(self, limit: float = 10.0) -> list[str]:
        return self.exchange("isready", until="readyok", limit=limit)

    def go(self, position: str, go: str = "go movetime 20", limit: float = 10.0) -> "Answer":
        """Asks for a move."""
        return Answer(self.exchange(position, go, until="bestmove", limit=limit))

    def quit(self, limit: float = 3.0, code: int = 0) -> list[str]:
        """Sends `quit`; returns the remaining lines."""
        self.send("quit")
        return self.end(limit, code)

    def end(self, limit: float = 3.0, code: int = 0) -> list[str]:
        """Waits for the end of the output; checks the exit code."""
        deadline = time.monotonic() + TIMEOUT_FACTOR * limit
        got = []
        while (line := self._next(max(0.01, deadline - time.monotonic()))) is not None:
            got.append(line)
        actual = self.process.wait(max(0.01, deadline - time.monotonic()))
        assert actual == code, f"exit code {actual}, not {code}"
        return got

    def kill(self) -> None:
        """Kills the client, and waits until it has ended: its environment is gone a moment earlier."""
        self.process.kill()
        self.process.wait(5 * TIMEOUT_FACTOR)

    def stderr(self) -> str:
        if self._stderr.closed:
            return ""
        self._stderr.seek(0)
        return self._stderr.read().decode("utf-8", "replace")

    def close(self) -> None:
        """Removes a client that has ended or was killed."""
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            pass
        self._stderr.close()


class Answer:
    """The lines that answer a `go`."""

    def __init__(self, lines: list[str]):
        self.lines = lines
        words = lines[-1].split()
        self.move = words[1]
        self.reply = words[3] if words[2:3] == ["ponder"] else None
        self.from_book = any(line.startswith("info string book ") for line in lines) and any(
            re.match(f"info depth 1 seldepth 1 multipv 1 score cp 0( wdl [0-9 ]+)? nodes 1 nps 1 time 0 pv {self.move}", line)
            for line in lines
        )


def tabia(*arguments: str, engine: Iterable[str] = (STOCKFISH,), cwd: Optional[str] = None) -> Client:
    """The adapter around an engine."""
    return Client([TABIA, *map(str, arguments), "--", *engine], cwd)


def ready_tabia(*arguments: str, engine: Iterable[str] = (STOCKFISH,)) -> Client:
    """The adapter around an engine, after `uciok` and `readyok`."""
    client = tabia(*arguments, engine=engine)
    client.handshake()
    client.ready()
    return client


def run(*arguments, stdin: Union[str, bytes] = b"", limit: float = 10.0) -> subprocess.CompletedProcess:
    """Runs the program to its end."""
    if isinstance(stdin, str):
        stdin = stdin.encode()
    done = subprocess.run(
        [TABIA, *map(str, arguments)], input=stdin, capture_output=True, env=environment(), timeout=TIMEOUT_FACTOR * limit
    )
    done.stdout = done.stdout.decode("utf-8", "replace")
    done.stderr = done.stderr.decode("utf-8", "replace")
    assert "panicked" not in done.stderr, done.stderr
    return done


def run_ok(*arguments, stdin: Union[str, bytes] = b"", limit: float = 10.0) -> subprocess.CompletedProcess:
    """Runs the program, which must succeed."""
    done = run(*arguments, stdin=stdin, limit=limit)
    assert done.returncode == 0, done.stderr
    return done
