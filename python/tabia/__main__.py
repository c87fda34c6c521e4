"""``python -m tabia``: the program that is part of the package."""

import os
import shutil
import subprocess
import sys
import sysconfig
from typing import Optional

NO_PROGRAM = "this package was built without the program; `cargo install tabia` makes it"


def program() -> Optional[str]:
    """The path of the program: that of the package, or another one."""
    name = "tabia.exe" if os.name == "nt" else "tabia"
    beside = os.path.join(sysconfig.get_path("scripts"), name)
    return beside if os.path.isfile(beside) else shutil.which("tabia")


def main() -> int:
    found = program()
    if found is None:
        print(f"tabia: {NO_PROGRAM}", file=sys.stderr)
        return 2
    command = [found, *sys.argv[1:]]
    if os.name == "nt":
        return subprocess.call(command)
    os.execv(found, command)


if __name__ == "__main__":
    sys.exit(main())
