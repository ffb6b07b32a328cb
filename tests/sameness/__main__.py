"""
`make sameness`: the same rules over the same series in every engine, as tables. Ends with 1 when anything differs.

`--past` leaves out what takes real time, `--live` does that alone.
"""

import sys
import tempfile
from pathlib import Path

from tests.sameness import live, whole
from tests.sameness.history import rule_files


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="vllm-monitor-sameness-") as name:
        folder = Path(name)
        rules = folder / "rules"
        rules.mkdir()
        wrong = [] if "--live" in sys.argv[1:] else list(whole.play(folder, _say))
        if "--past" not in sys.argv[1:]:
            wrong += live.watch(folder, rule_files(rules), _say)
    for one in wrong:
        _say(f"DIFFERS: {one}")
    return 1 if wrong else 0


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - it is a program


if __name__ == "__main__":
    sys.exit(main())
