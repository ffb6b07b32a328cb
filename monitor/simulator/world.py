"""The host that the server runs on: which process listens, and what stands between it and whoever asks."""

from random import Random

from monitor.model.instant import SECOND, Duration
from monitor.simulator.agenda import Agenda
from monitor.simulator.process import BROKEN, Process, Reply
from monitor.simulator.request import Request
from monitor.simulator.script import BadAnswer, BadPage, Server, SlowPage

# Loading the model, before the port is open; in the recordings it took 100 s and more.
_LOADING: Duration = 100 * SECOND


class World:
    """What the faults change and the simulator shows."""

    def __init__(self, server: Server, now: float, random: Random) -> None:
        self.agenda = Agenda()
        self.server = server
        self.reachable = True
        self.bad_page: BadPage | None = None
        self.slow_page: SlowPage | None = None
        self.bad_answers: dict[str, BadAnswer] = {}
        self._random = random
        self._stopped = 0.0
        self.process: Process | None = None
        self.start(now)

    @property
    def listening(self) -> bool:
        return self.process is not None and self.reachable

    def start(self, now: float) -> None:
        """Replace whatever ran by a fresh process that listens from now on."""
        self.stop(now)
        started = max(self._stopped, now - _LOADING)
        self.process = Process(self.server, self.agenda, self._random, started=started, born=now)

    def kill_engine(self, now: float) -> None:
        """End the engines; what fronts them goes on for a moment with what it last knew."""
        if self.process:
            self.process.engine_died(now)

    def stop(self, now: float) -> None:
        """End the process: its connections break, the port is refused."""
        ended, self.process = self.process, None
        if ended:
            self._stopped = now
            ended.break_connections(now)

    def send(self, request: Request, reply: Reply, now: float, timeout: Duration | None) -> None:
        """Carry a client's request to the process. Clients come another way than scrapes: `reachable` is not theirs."""
        if self.process is None:
            reply(now, BROKEN)
        else:
            self.process.accept(request, reply, now, timeout)

    def advance(self, to: float) -> None:
        """Let everything happen that happens up to `to`."""
        agenda = self.agenda
        while True:
            step = self.process.next_step if self.process else to + 1
            planned = agenda.next
            if min(step, planned) > to:
                return
            if planned <= step or self.process is None:
                agenda.run_next()
            else:
                self.process.complete_step()
