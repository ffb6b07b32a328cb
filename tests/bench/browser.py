"""`python -m tests.bench.browser`: asks what a dashboard asks, six questions at a time as browsers do."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import requests

from monitor.clock import monotonic_seconds

_AT_ONCE = 6


def main() -> None:
    """Print the seconds of each round; standard input says what is asked."""
    wanted = json.load(sys.stdin)
    with requests.Session() as session, ThreadPoolExecutor(_AT_ONCE) as pool:

        def ask(question: tuple[str, dict[str, str]]) -> None:
            path, parameters = question
            answer = session.post(f"{wanted['url']}/api/v1/{path}", data=parameters, timeout=60)
            assert answer.json()["status"] == "success", answer.text

        for _ in range(wanted["rounds"]):
            begun = monotonic_seconds()
            list(pool.map(ask, wanted["questions"]))
            sys.stdout.write(f"{monotonic_seconds() - begun}\n")


if __name__ == "__main__":
    main()
