"""
`python -m dashboards.check`: the committed dashboards against what Grafana knows; `make dashboards-check`.

Ends with 1 when a key, a value, a unit or a reducer is none of Grafana's. With `--browser` units and reducers are asked
of @grafana/data itself, in Chromium, and the list that the tests go by is written anew.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from dashboards.check.schema import Checker, MissingError
from dashboards.check.words import LISTED, Words
from dashboards.preview.drawing import Bundle, DrawingError, facts
from docs.pictures.browser import BrowserError
from monitor.shipped import shipped_dashboards


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m dashboards.check", description=__doc__)
    parser.add_argument("--browser", action="store_true", help="ask @grafana/data itself, in Chromium")
    parser.add_argument("files", nargs="*", type=Path, help="dashboards; without any, those that are shipped")
    options = parser.parse_args()
    try:
        words, checker = _asked() if options.browser else Words.listed(), Checker.generated()
    except (BrowserError, DrawingError, MissingError) as err:
        sys.stderr.write(f"{err}\n")
        return 1
    found = 0
    for path in options.files or shipped_dashboards():
        dashboard = json.loads(path.read_text(encoding="utf-8"))
        for problem in (*checker.problems(dashboard), *words.problems(dashboard)):
            found += 1
            sys.stdout.write(f"{path.name}: {problem}\n")
    return 1 if found else 0


def _asked() -> Words:
    with tempfile.TemporaryDirectory(prefix="vllm-monitor-check-") as folder:
        words = Words(**facts(Bundle.made(Path(folder))))
    LISTED.write_text(words.as_json(), encoding="utf-8")
    return words


if __name__ == "__main__":
    sys.exit(main())
