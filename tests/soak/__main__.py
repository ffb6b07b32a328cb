"""
`python -m tests.soak [week|hours]`: a simulated week with twenty servers, as fast as it goes, and what came of it.

Ends with 1 when memory was not flat, the state file grew too large, or slots drifted.
"""

import logging
import sys
import tempfile
from pathlib import Path

from monitor.model.instant import HOUR
from tests.soak.week import HOURS, START, WEEK, Diary, Look, Pace, Soak

MEGABYTE = 1e6


def main() -> int:
    pace = {"week": WEEK, "hours": HOURS}[sys.argv[1] if len(sys.argv) > 1 else "week"]
    # Every tenth message fails on purpose.
    logging.disable()
    with tempfile.TemporaryDirectory(prefix="vllm-monitor-soak-") as folder:
        diary = Soak(Path(folder), pace, _say).run()
    complaints = list(diary.complaints(pace))
    sys.stdout.write("\n".join([_summary(diary, pace), *complaints, ""]))
    return bool(complaints)


def _say(look: Look) -> None:
    hour, rest = divmod(look.at - START, HOUR)
    if rest == 0 and hour % 2 == 0:
        sys.stdout.write(
            f"hour {hour:4d}: {look.resident / MEGABYTE:7.1f} MB resident, {look.blocks:8d} blocks,"
            f" {look.series:6d} series, database {look.database / MEGABYTE:5.2f} MB,"
            f" snapshot {look.snapshot / MEGABYTE:5.2f} MB\n"
        )
        sys.stdout.flush()


def _summary(diary: Diary, pace: Pace) -> str:
    since = START + pace.warm_up
    return (
        f"{diary.slots} slots, {diary.restarts} restarts, {diary.reloads} reloads, {diary.silences} silences,"
        f" {diary.delivered} messages, {len(diary.holes)} holes, {diary.missed} missed, {diary.seconds:.0f} s\n"
        f"after the warm-up: resident memory moved by {diary.spread(lambda look: look.resident, since):.1%},"
        f" allocated blocks by {diary.spread(lambda look: look.blocks, since):.1%};"
        f" database at most {diary.most(lambda look: look.database) / MEGABYTE:.2f} MB"
    )


if __name__ == "__main__":
    sys.exit(main())
