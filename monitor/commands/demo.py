"""`vllm-monitor demo`: a simulated vLLM lives through an incident, and the daemon's own pipeline watches it."""

import threading
from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry
from rich.console import Console
from rich.text import Text

from monitor import __version__
from monitor.build import Builder
from monitor.clock import SystemClock, VirtualClock, monotonic_seconds
from monitor.config.config import Config
from monitor.config.flags import Flags, from_flags
from monitor.dispatch.notification import NotifyError
from monitor.dispatching import Dispatching
from monitor.metrics import Metrics
from monitor.model.instant import MINUTE, SECOND, Duration, Instant, slot_at_or_before, to_seconds
from monitor.notify.letter import Attempt
from monitor.notify.moment import utc
from monitor.replay import catch_up, replay
from monitor.rules.alerting import AlertState
from monitor.simulator.scenarios import SCENARIOS
from monitor.simulator.script import Scenario
from monitor.simulator.server import SimulatedServer
from monitor.simulator.simulator import Simulator
from monitor.storage.window import Window
from monitor.yamldoc.mistake import DocumentError

STEP: Duration = 5 * SECOND
# After the end, for messages that Slack made us hold back.
PATIENCE: Duration = MINUTE
_STYLES = {AlertState.PENDING: "yellow", AlertState.FIRING: "red", AlertState.INACTIVE: "green"}


def play(name: str, seconds: float, environment: Mapping[str, str]) -> str:
    """Play the scenario `name`, see `play_scenario`."""
    scenario = SCENARIOS.get(name)
    if scenario is None:
        return f'no scenario "{name}" (there are {", ".join(sorted(SCENARIOS))})'
    return play_scenario(scenario, seconds, environment, Console())


def play_scenario(scenario: Scenario, seconds: float, environment: Mapping[str, str], console: Console) -> str:
    """
    Play `scenario` in about `seconds` (0: as fast as it goes); returns what went wrong, or "".

    With SLACK_WEBHOOK_URL, or SLACK_BOT_TOKEN and SLACK_CHANNEL, the messages go to Slack, else to the terminal.
    """
    start = slot_at_or_before(SystemClock().now() - scenario.duration, STEP)
    with SimulatedServer(Simulator(scenario, start=start)) as server:
        try:
            stage = Stage(from_flags(Flags(targets=(server.url,)), environment), console, start)
        except DocumentError as err:
            return str(err)
        stage.introduce(scenario, server.url)
        stage.play(server.simulator, seconds)
        return stage.close()


class Stage:
    """The daemon's pipeline on a clock that the play moves, and the terminal beside it."""

    def __init__(self, config: Config, console: Console, start: Instant) -> None:
        self._console = console
        self._to_slack = bool(config.receivers[0].slack_configs)
        self._clock = VirtualClock(start)
        self._problem: NotifyError | None = None
        self._states: dict[str, AlertState] = {}
        # Its hours pass in minutes, and no graph would come in time.
        builder = Builder(self._clock, Window(), Metrics(CollectorRegistry(), __version__), draws=False, probes=True)
        parts = builder.build(config, console=console)
        self._pipeline = builder.assemble(parts, Dispatching(config, parts.integrations).dispatcher, self._report)

    def introduce(self, scenario: Scenario, url: str) -> None:
        told = "Slack is told" if self._to_slack else "what Slack would be told is printed here"
        self._console.print(Text.assemble((f"{scenario.name}: ", "bold"), scenario.summary))
        self._console.print(
            f"Scraped from {url}/metrics every 5 s, judged by the shipped rules; {told}.\n", style="dim"
        )

    def play(self, simulator: Simulator, seconds: float) -> None:
        """Move the clock from slot to slot to the scenario's end."""
        slots = range(simulator.start, simulator.end + 1, STEP)
        began, pause = monotonic_seconds(), threading.Event()
        for number, slot in enumerate(slots):
            replay(self._pipeline, self._clock, [slot], simulator.advance)
            self._tell_changes()
            pause.wait(max(0.0, began + seconds * number / len(slots) - monotonic_seconds()))

    def close(self) -> str:
        """Let the last messages out; returns what went wrong, or ""."""
        pause = threading.Event()
        for _ in range(0, PATIENCE, SECOND):
            if not sum(self._pipeline.outbox.waiting().values()):
                self._console.print("The incident is over. The same rules run in your Prometheus: see rules/.")
                return ""
            if self._problem is not None and not self._problem.retryable:
                break
            pause.wait(to_seconds(SECOND))
            catch_up(self._pipeline, self._clock, self._clock.now() + SECOND)
        return f"Slack was not told everything: {self._problem}"

    def _report(self, attempt: Attempt) -> None:
        """Hear of an attempt to deliver a message."""
        if attempt.error is not None:
            self._problem = attempt.error
            self._console.print(self._line(Text(f"not delivered: {attempt.error}", "red")))
        elif self._to_slack:
            self._console.print(self._line(Text(f"told Slack: {attempt.delivery.notification.group_labels}", "dim")))

    def _tell_changes(self) -> None:
        now = dict(self._worst_states())
        for rule, state in sorted(now.items()):
            before = self._states.get(rule, AlertState.INACTIVE)
            if state is not before:
                # What only was pending has not resolved: nobody was told of it.
                word = "resolved" if before is AlertState.FIRING else state.value
                self._console.print(self._line(Text.assemble((word, _STYLES[state]), f" {rule}")))
        self._states = now

    def _worst_states(self) -> Iterator[tuple[str, AlertState]]:
        for group in self._pipeline.manager.groups:
            for rule in group.alerting:
                yield rule.spec.name, rule.state

    def _line(self, text: Text) -> Text:
        return Text.assemble((f"{utc(self._clock.now(), seconds=True)}  ", "dim"), text)
