"""Engines with one fault each: `faulty_engine.py FAULT`. None of them plays well."""

import os
import signal
import sys

fault = sys.argv[1]


def send(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if fault == "garbage":
    sys.stdout.buffer.write(bytes(range(256)) * 20 + b"\n\n\n\x00\xff\xfe option name\noption\n")
    sys.stdout.buffer.write(b"info string \xff\xfe\nbestmove\nid\nuciok uciok\n" * 3)
    sys.stdout.flush()
if fault == "ignores-end":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
if fault == "evil":
    sys.stderr.write("\x1b]0;evil\x07 complaint\n")
    sys.stderr.flush()

move = "a2a3"
for line in sys.stdin:
    words = line.split()
    if words == ["uci"]:
        send("id name \x1b]0;evil\x07" if fault == "evil" else "id name Odd")
        send("option name Ponder type check default false")
        send("uciok")
    elif words == ["isready"]:
        send("readyok")
    elif words[:1] == ["position"]:
        # Legal in the positions of the cases.
        move = "a3a4" if "a2a3" in words else "a2a3"
    elif words[:1] == ["go"]:
        if fault == "dies-on-go":
            os._exit(3)
        if fault == "ends-after-a-flood":
            # A little less than the adapter's buffer for a GUI and two pipes can contain.
            flood = (b"info depth 1 pv a2a3" + b" " * 78 + b"\n") * 11_700 + b"bestmove a2a3\n"
            # Python itself loses the rest of a write that filled the pipe.
            while flood:
                flood = flood[os.write(1, flood) :]
            os._exit(0)
        if fault == "garbage":
            sys.stdout.buffer.write(b"\x1b[2J\xff\xfe\x00 info depth\ninfo pv\n\n")
        if fault == "evil":
            send("info string \x1b]0;evil\x07\x1b[2J")
        send(f"bestmove {move}")
    elif words == ["quit"] and fault != "ignores-end":
        break

if fault == "evil":
    sys.stderr.write("a last complaint\n")
while fault == "ignores-end":
    signal.pause()
