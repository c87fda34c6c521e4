"""``python -m tabia``: the program that is part of the package."""

import os
import shutil
import subprocess
import sys
import sysconfig


def main() -> int:
    name = "tabia.exe" if os.name == "nt" else "tabia"
    beside = os.path.join(sysconfig.get_path("scripts"), name)
    program = beside if os.path.isfile(beside) else shutil.which("tabia")
    if program is None:
        print(
            "tabia: this package was built without the program; `cargo install tabia` makes it",
            file=sys.stderr,
        )
        return 2
    command = [program, *sys.argv[1:]]
    if os.name == "nt":
        return subprocess.call(command)
    os.execv(program, command)


if __name__ == "__main__":
    sys.exit(main())
