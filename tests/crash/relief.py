"""
`python -m tests.crash.relief [rounds [seed]]`: two daemons over one folder; the one on duty is killed or stopped.

Somebody posts as an Alertmanager does: each message until it is answered with success, to whichever of the two takes
it. What was so answered must stand in Slack, and once. One that was stopped wakes when the other one is on duty, and
must end without a word.
"""

import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import requests

from tests.acceptance.daemon import daemon_process
from tests.ports import free_port
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import TOKEN, Channel
from tests.waiting import until

# Slack takes a message a second in each channel.
CHANNELS = 12
# A busy machine keeps nobody silent for so long.
LEASE_SECONDS = 6
CONFIG = """\
global: {{slack_base_url: "{slack}"}}
rule_files: []
route: {{receiver: r0, group_interval: 1h}}
receivers:
{receivers}
storage: {{path: ../data}}
ha: {{lease: {lease}s}}
web: {{listen: "127.0.0.1:{port}"}}
"""
RECEIVER = "  - {{name: r{0}, slack_configs: [{{channel: C0CHAN{0:03}, bot_token_file: ../token, graphs: false}}]}}"


@dataclass
class House:
    """A folder with the folders of two daemons in it."""

    folder: Path
    slack: SlackStub
    ports: list[int] = field(default_factory=lambda: [free_port(), free_port()])
    processes: list["subprocess.Popen[str]"] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        (self.folder / "token").write_text(TOKEN)
        for number in range(CHANNELS):
            self.slack.workspace.channels[f"C0CHAN{number:03}"] = Channel(f"C0CHAN{number:03}", f"c{number}")
        receivers = "\n".join(RECEIVER.format(number) for number in range(CHANNELS))
        for number, port in enumerate(self.ports):
            self.home(number).mkdir()
            text = CONFIG.format(slack=self.slack.base_url, receivers=receivers, lease=LEASE_SECONDS, port=port)
            (self.home(number) / "monitor.yaml").write_text(text)
            self.processes.append(self.start(number))

    def home(self, number: int) -> Path:
        return self.folder / str(number)

    def start(self, number: int) -> "subprocess.Popen[str]":
        with (self.home(number) / "daemon.log").open("a") as log:
            return daemon_process(self.home(number), log, "--config", "monitor.yaml")

    def who(self) -> list[int]:
        """Return the one on duty, if any."""
        number = self.on_duty()
        return [] if number is None else [number]

    def on_duty(self) -> int | None:
        """Return which of the two is on duty."""
        for number, port in enumerate(self.ports):
            try:
                answer = requests.get(f"http://127.0.0.1:{port}/-/ready", timeout=1)
                if answer.ok and answer.json()["role"] == "active":
                    return number
            except requests.RequestException:
                continue
        return None

    def post(self) -> None:
        """Post one message after the other, each until it is taken."""
        number = 0
        while not self.stopping.is_set():
            name = f"Alert{number}"
            alert = {"status": "firing", "labels": {"alertname": name, "severity": "warning"}}
            message = {"version": "4", "groupKey": name, "groupLabels": {"alertname": name}, "alerts": [alert]}
            if any(self._taken(port, f"/alertmanager/r{number % CHANNELS}", message) for port in self.ports):
                self.taken.append(name)
                number += 1
            self.stopping.wait(0.1)

    def _taken(self, port: int, path: str, message: object) -> bool:
        try:
            return requests.post(f"http://127.0.0.1:{port}{path}", json=message, timeout=1).status_code == 200
        except requests.RequestException:
            return False

    def told(self) -> Counter[str]:
        """Return how many messages there are of each alert."""
        texts = (message.text.splitlines()[0] for message in self.slack.messages if not message.thread_ts)
        return Counter(word for text in texts for word in text.replace(":", " ").split() if word.startswith("Alert"))


def play(folder: Path, seed: int, rounds: int) -> tuple[list[str], Counter[str]]:
    """Return what is wrong, and what happened how often."""
    # A run can be repeated, though not how the threads of the daemons interleave.
    chance, tallies, complaints = random.Random(seed), Counter[str](), list[str]()  # noqa: S311 - no secret
    with SlackStub() as slack:
        house = House(folder, slack)
        poster = threading.Thread(target=house.post, daemon=True)
        try:
            until(lambda: house.on_duty() is not None, within=30)
            poster.start()
            for number in range(rounds):
                complaints += _round(house, chance, tallies, stops=number % 2 == 0)
            house.stopping.set()
            poster.join()
            tallies["messages taken"] = len(house.taken)
            complaints += _verdict(house)
        finally:
            house.stopping.set()
            for process in house.processes:
                process.kill()
                process.wait()
    return complaints, tallies


def _round(house: House, chance: random.Random, tallies: Counter[str], *, stops: bool) -> list[str]:
    first = until(house.who, within=30)[0]
    taken = len(house.taken)
    until(lambda: len(house.taken) > taken, within=30)
    house.stopping.wait(chance.uniform(0, 1.0))
    process = house.processes[first]
    process.send_signal(signal.SIGSTOP if stops else signal.SIGKILL)
    tallies["stopped" if stops else "killed"] += 1
    until(lambda: house.on_duty() == 1 - first, within=LEASE_SECONDS + 30)
    complaints = []
    if stops:
        house.stopping.wait(chance.uniform(0, 1.0))
        process.send_signal(signal.SIGCONT)
        if process.wait(timeout=60) != 1:
            complaints.append("one that was relieved and woke did not end")
    process.wait(timeout=60)
    house.processes[first] = house.start(first)
    return complaints


def _verdict(house: House) -> list[str]:
    wanted = set(house.taken)
    try:
        until(lambda: wanted <= house.told().keys(), within=60)
    except AssertionError:
        return [f"lost: {sorted(wanted - house.told().keys())}"]
    return [f"told {count} times: {name}" for name, count in house.told().items() if count > 1]


def main() -> int:
    given = [int(argument) for argument in sys.argv[1:]]
    rounds, seed = (*given, *(20, secrets.randbelow(1_000_000))[len(given) :])
    folder = Path(tempfile.mkdtemp(prefix="vllm-monitor-relief-"))
    complaints, tallies = play(folder, seed, rounds)
    for line in (f"seed {seed}: {dict(tallies)}", *complaints, *([f"see {folder}"] if complaints else [])):
        sys.stdout.write(f"{line}\n")
    if not complaints:
        shutil.rmtree(folder)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
