"""Training on the page of `tabia explore`: your own games against your repertoire, and what it lacks."""

import json
import urllib.parse

from pages import explorer, folder
from devtools import BROWSERS
from procs import run
from runner import case
