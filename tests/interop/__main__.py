"""The interoperability cases. Run them with `tests/interop/run`."""

import sys

# Importing a module adds its cases, in this order.
import case_tools  # noqa: F401
import case_probe  # noqa: F401
import case_clients  # noqa: F401
import case_analysis  # noqa: F401
import case_games  # noqa: F401
import case_index  # noqa: F401
import case_build  # noqa: F401
import case_databases  # noqa: F401
import case_cbh  # noqa: F401
import case_convert  # noqa: F401
import case_format  # noqa: F401
import case_mark  # noqa: F401
import case_scale  # noqa: F401
import case_register  # noqa: F401
import case_setup  # noqa: F401
import case_bad_input  # noqa: F401
import case_processes  # noqa: F401
import case_terminal  # noqa: F401
import case_matches  # noqa: F401
import case_latency  # noqa: F401
import case_explore  # noqa: F401
import case_suite  # noqa: F401
import runner

sys.exit(runner.main())
