"""
`python -m tests.crash [worlds [rounds [seed]]]`: kills the daemon for as long as you like, and prints what came of it.

Each world has its own server, Slack and state file; the seed decides what they live through and where the kills fall,
though not how the threads of the daemon interleave. The folder of a run with complaints is kept.
"""

import secrets
import shutil
import sys
import tempfile
from pathlib import Path

from tests.crash.run import run

WORLDS, ROUNDS, SECONDS_PER_ROUND = 4, 250, 5.0


def main() -> int:
    given = [int(argument) for argument in sys.argv[1:]]
    worlds, rounds, seed = (*given, *(WORLDS, ROUNDS, secrets.randbelow(1_000_000))[len(given) :])
    folder = Path(tempfile.mkdtemp(prefix="vllm-monitor-crash-"))
    say = sys.stdout.write
    say(f"seed {seed}: {worlds} worlds, {rounds} rounds each\n")
    sys.stdout.flush()
    report = run(folder, seed, worlds, rounds, 60 + rounds * SECONDS_PER_ROUND)
    say(f"{report}\n")
    if report.complaints:
        say(f"{len(report.complaints)} complaints; what happened lies in {folder}\n")
        return 1
    shutil.rmtree(folder)
    say("nothing lost, nothing said twice, nothing resolved that had not fired\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
