"""The interoperability cases. Run them with `tests/interop/run`."""

import importlib
import sys
from pathlib import Path

import runner

# Importing a module registers its cases.
for file in sorted(Path(__file__).parent.glob("case_*.py")):
    importlib.import_module(file.stem)

sys.exit(runner.main())
