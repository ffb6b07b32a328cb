"""One world of the crash harness: a watched server, a Slack, and a daemon that is killed over and over."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from monitor.clock import SystemClock
from monitor.config.read import load
from monitor.dispatch.dispatcher import Delivery
from monitor.model.instant import SECOND, Duration, Instant
from monitor.model.labels import Labels
from monitor.notify.readings import NoFacts
from monitor.notify.slack.payload import message
from monitor.notify.slack.webhook import told_without_buttons
from tests.crash import verdicts
from tests.crash.history import History, prepare, read, rows
from tests.crash.places import INSTANT, OUTSIDE, Plan, choose
from tests.crash.script import RULES, PageServer, Script
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN, Posted
from tests.waiting import until

ROOT = Path(__file__).parents[2]
BOT, HOOK = "oncall/slack[0]", "oncall/slack[1]"
# Every so many lives one begins with the command that users type, and ends at an instant.
COMMAND_EVERY = 12
LATELY: Duration = 2 * SECOND

CONFIG = """\
global: {{scrape_interval: 100ms, slack_base_url: "{base_url}"}}
scrape_configs: [{{job_name: watched, static_configs: [{{targets: ["{target}"]}}]}}]
rule_files: [crash.rules.yaml]
route:
  receiver: oncall
  group_by: [alertname]
  group_wait: 0s
  group_interval: 300ms
  repeat_interval: 1h
  routes:
    - {{matchers: ['alertname=~"Held|Both"'], group_by: [alertname, k], group_interval: 100ms, repeat_interval: 400ms}}
receivers:
  - name: oncall
    slack_configs:
      - {{channel: {channel}, bot_token_file: token, flap_hold: 1s}}
      - {{api_url: "{webhook_url}"}}
storage: {{path: state}}
web: {{listen: 127.0.0.1:0}}
"""
# How often what a machine that is busy brings about is waited for.
_LAST_LIVES = 10


@dataclass
class Outcome:
    """What a run came to; `complaints` is what must not be."""

    seed: int
    complaints: list[str] = field(default_factory=list)
    tallies: Counter[str] = field(default_factory=Counter)

    def text(self) -> str:
        return json.dumps({"seed": self.seed, "complaints": self.complaints, "tallies": self.tallies})


class World:
    """Everything of one run lies in `folder`."""

    def __init__(self, folder: Path, seed: int, page: PageServer, slack: SlackStub) -> None:
        self._folder = folder
        self._dice = Random(seed)  # noqa: S311 - a seeded script
        self._page = page
        self._slack = slack
        self._clock = SystemClock()
        self._births: list[Instant] = []
        self._doomed: tuple[int, Plan] | None = None
        self.outcome = Outcome(seed)
        self._write_files()
        self._route = load(folder / "monitor.yaml").route
        self._kill_when_posted()

    def run(self, rounds: int) -> Outcome:
        """Kill the daemon so many times, let it come to rest, and judge."""
        with (self._folder / "launcher.log").open("w") as output:
            launcher = subprocess.Popen(
                [sys.executable, "-m", "tests.crash.launcher", str(self._folder / "monitor.yaml")],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
            )
            with launcher:
                try:
                    for number in range(rounds):
                        if number % COMMAND_EVERY == COMMAND_EVERY - 1:
                            self._command_round()
                        else:
                            self._round(launcher, choose(self._dice))
                    # Leaves a snapshot of the window, so that the last life may believe that an alert is over.
                    self._life(launcher, Plan(INSTANT, 0, 0.5, signal.SIGTERM))
                finally:
                    launcher.communicate()
        self._come_to_rest()
        self._judge()
        return self.outcome

    def _round(self, launcher: "subprocess.Popen[str]", plan: Plan) -> None:
        planned = self._life(launcher, plan)
        self.outcome.tallies["rounds"] += 1
        self.outcome.tallies[f"killed {plan.place if planned else INSTANT}"] += 1

    def _life(self, launcher: "subprocess.Popen[str]", plan: Plan) -> bool:
        assert launcher.stdin is not None
        assert launcher.stdout is not None
        self._births.append(self._clock.now())
        launcher.stdin.write(plan.text() + "\n")
        launcher.stdin.flush()
        with _handle(int(launcher.stdout.readline())) as handle:
            self._doomed = (handle, plan) if handle is not None else None
            planned = launcher.stdout.readline() == "1\n" or (handle is not None and self._doomed is None)
            self._doomed = None
        self._let_slack_finish()
        return planned

    def _command_round(self) -> None:
        process = self._start_command()
        threading.Event().wait(self._dice.uniform(0.9, 2.0))
        process.kill()
        process.wait()
        self._let_slack_finish()
        self.outcome.tallies["rounds"] += 1
        self.outcome.tallies["killed command"] += 1

    def _start_command(self) -> "subprocess.Popen[bytes]":
        self._births.append(self._clock.now())
        command = [str(Path(sys.executable).with_name("vllm-monitor")), "run", "--config", "monitor.yaml"]
        with (self._folder / "command.log").open("a") as output:
            return subprocess.Popen(command, cwd=self._folder, stdout=output, stderr=output)

    def _come_to_rest(self) -> None:
        self._page.calm.set()
        for _ in range(_LAST_LIVES):
            process = self._start_command()
            try:
                until(lambda: not self._unrest(), within=60)
            finally:
                process.terminate()
                process.wait(60)
            # On a busy machine a scrape may time out between the look and the end: its letters are for another life.
            if not self._unrest():
                return

    def _unrest(self) -> bool:
        history = read(rows(self._folder / "state"))
        evaluations = [one for one in history.evaluations if one.at > self._births[-1]]
        waiting = {letter.notification.id for letter in history.letters} - history.settled
        stands = {letter.key: bool(letter.notification.firing) for letter in history.letters}
        return not evaluations or bool(waiting or evaluations[-1].firing) or any(stands.values())

    def _judge(self) -> None:
        history = read(rows(self._folder / "state"))
        posted = self._slack.messages
        bot = [one for one in posted if one.via != "webhook"]
        hook = _recognised(history, [one for one in posted if one.via == "webhook"])
        for words in (self._edited(history, bot), *self._common(history, hook, HOOK)):
            self.outcome.complaints += words
        self.outcome.complaints += verdicts.tried_without_need(history, hook, self._births)
        self.outcome.complaints += verdicts.untold(history, self._births, self._route, [BOT, HOOK])
        self._count(history, bot, hook)

    def _common(self, history: History, posts: Sequence[Delivery], integration: str) -> list[verdicts.Complaints]:
        first = list({post.notification.id: post for post in posts}.values())
        mine = History(
            history.evaluations,
            [letter for letter in history.letters if letter.integration == integration],
            history.settled,
            history.attempts,
            history.fired,
        )
        return [
            verdicts.lost(mine, first),
            verdicts.out_of_order(posts),
            verdicts.resolved_without_having_fired(mine, first),
            verdicts.silently_dropped(first, _firing_lately(history)),
            verdicts.said_again(first, self._repeat_interval),
        ]

    def _edited(self, history: History, posted: Sequence[Posted]) -> verdicts.Complaints:
        letters = [letter for letter in history.letters if letter.integration == BOT]
        told = [verdicts.Told(_stamp(one), one.ts, one.thread_ts, one.text, one.edits) for one in posted]
        return verdicts.edited_wrongly(letters, history.settled, told, _firing_lately(history))

    def _repeat_interval(self, key: str) -> Duration:
        routes = [route for route in (*self._route.routes, self._route) if key.startswith(f"{route.key}:")]
        return routes[0].repeat_interval

    def _count(self, history: History, bot: Sequence[Posted], hook: Sequence[Delivery]) -> None:
        tallies = self.outcome.tallies
        tallies["restarts"] = len(self._births) - 1
        tallies["evaluations"] = len(history.evaluations)
        tallies["alerts that fired"] = len(history.fired)
        tallies["letters"] = len(history.letters)
        tallies["attempts"] = len(history.attempts)
        tallies["messages by bot"] = sum(not one.thread_ts for one in bot)
        tallies["replies by bot"] = sum(bool(one.thread_ts) for one in bot)
        tallies["edits by bot"] = sum(one.edits for one in bot)
        tallies["messages by webhook"] = len(hook)
        tallies["twice by webhook"] = len(hook) - len({post.notification.id for post in hook})
        tallies["looks"] = sum(request.name.startswith("conversations.") for request in self._slack.requests)

    def _write_files(self) -> None:
        text = CONFIG.format(
            base_url=self._slack.base_url,
            target=self._page.address,
            channel=CHANNEL,
            webhook_url=self._slack.webhook_url,
        )
        (self._folder / "monitor.yaml").write_text(text)
        (self._folder / "crash.rules.yaml").write_text(RULES)
        (self._folder / "token").write_text(TOKEN)
        prepare(self._folder / "state")

    def _kill_when_posted(self) -> None:
        """Let a life whose plan says so end when a message of it stands, before Slack has answered."""
        post, passed = self._slack.workspace.post, Counter[Instant]()

        def posted(channel: str, payload: dict[str, Any], via: str) -> Posted:
            stands = post(channel, payload, via)
            doomed = self._doomed
            if doomed is not None and doomed[1].place in OUTSIDE:
                passed[self._births[-1]] += 1
                if passed[self._births[-1]] == doomed[1].n:
                    self._doomed = None
                    signal.pidfd_send_signal(doomed[0], signal.SIGKILL)
            return stands

        self._slack.workspace.post = posted  # type: ignore[method-assign]  # a place of the far end, which is ours

    def _let_slack_finish(self) -> None:
        """Wait until what the dead process sent has been read: a look can only find what has arrived."""
        until(lambda: not [one for one in threading.enumerate() if "process_request_thread" in one.name], within=10)


@contextlib.contextmanager
def _handle(process: int) -> Iterator[int | None]:
    """Hand out what a signal can be sent to that hits nobody else; None when the process has ended already."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)


def _stamp(posted: Posted) -> str:
    return str(posted.payload["metadata"]["event_payload"]["id"])


def _recognised(history: History, posted: Sequence[Posted]) -> list[Delivery]:
    """
    Return the letters of messages without a stamp, by what they say.

    Of letters that say the same, each has as many of the messages as it had attempts, but for those that were in vain.
    """
    tried = Counter(letter for letter, _ in history.attempts)
    counts = Counter(_print(one.payload) for one in posted)
    alike: dict[str, list[Delivery]] = {}
    for letter in history.letters:
        if letter.integration == HOOK:
            said = message(told_without_buttons(letter.notification, NoFacts(), ""))
            alike.setdefault(_print({"text": said.text, "attachments": said.attachments}), []).append(letter)
    owners = {}
    for text, letters in alike.items():
        tries = [tried[letter.notification.id] for letter in letters]
        while sum(tries) > counts[text] and max(tries) > 1:
            tries[tries.index(max(tries))] -= 1
        owners[text] = iter([letter for letter, times in zip(letters, tries, strict=True) for _ in range(times)])
    return [next(owners[_print(one.payload)]) for one in posted]


def _firing_lately(history: History) -> set[Labels]:
    """Return what fired so shortly before the end that its group was not flushed again."""
    end = history.evaluations[-1].at
    return {labels for one in history.evaluations if one.at > end - LATELY for labels in one.firing}


def _print(payload: Mapping[str, Any]) -> str:
    return json.dumps([payload["text"], payload["attachments"]], sort_keys=True)


def main() -> None:
    """Run one world: folder, seed, rounds."""
    folder, seed, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    clock = SystemClock()
    with PageServer(Script(seed), clock) as page, SlackStub() as slack:
        outcome = World(folder, seed, page, slack).run(rounds)
    sys.stdout.write(outcome.text() + "\n")


if __name__ == "__main__":
    main()
