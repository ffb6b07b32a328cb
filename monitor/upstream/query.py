"""The rules' questions to Prometheus: those of one evaluation side by side, and what comes of each."""

import logging
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from monitor.clock import monotonic_seconds
from monitor.model.instant import Duration, Instant, to_seconds
from monitor.model.labels import EMPTY, Labels
from monitor.promql import Scalar, Vector
from monitor.remote.answer import Answer
from monitor.remote.client import Client
from monitor.remote.engine import value_of
from monitor.remote.errors import Reason, RemoteError
from monitor.rules.context import Query
from monitor.rules.errors import PartialAnswerError, RuleError, UnansweredError
from monitor.upstream.clock import TOLERANCE
from monitor.upstream.outage import Outage
from monitor.upstreammetrics import UpstreamMetrics
from monitor.workers import Workers

log = logging.getLogger(__name__)

Samples = Sequence[tuple[Labels, float]]
_Question = tuple[str, Instant]
# Where one question fails for such a reason, the next one would.
_HOPELESS = (Reason.UNREACHABLE, Reason.CREDENTIALS, Reason.NOT_PROMETHEUS)
# What finds something because something is missing: from a part of the data it would find anything.
_FINDS_ABSENCE = re.compile(r"\b(absent|absent_over_time|unless)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Local:
    """What answers from the window, and which expressions it can answer."""

    query: Query
    holds: Callable[[str], bool]


@dataclass
class _Round:
    """The questions of one evaluation: until when all must be answered, and what made the rest hopeless."""

    end: float
    answers: "dict[_Question, Future[Samples]]" = field(default_factory=dict)
    broken: RemoteError | None = None


class UpstreamQuery:
    """
    Answers the rules from Prometheus, and from the window what `local` holds.

    All questions of an evaluation together take no longer than the client's timeout. With `is_strict` an answer from
    a part of the data is none. `offset` returns how far the clock of Prometheus is ahead, in milliseconds.
    """

    def __init__(
        self,
        client: Client,
        local: Local,
        outage: Outage,
        metrics: UpstreamMetrics,
        *,
        is_strict: bool = False,
        offset: Callable[[], Duration] = lambda: 0,
    ) -> None:
        self._client = client
        self._local = local
        self._outage = outage
        self._metrics = metrics
        self._is_strict = is_strict
        self._offset = offset
        self._workers = Workers(client.options.connections, "prometheus")
        self._lock = threading.Lock()
        self._round = _Round(0.0)
        self._stopped = False

    def ahead(self, questions: Sequence[_Question]) -> None:
        """An evaluation begins that will ask these: all are asked now."""
        this = self._begin()
        for question in dict.fromkeys(questions):
            if not self._local.holds(question[0]):
                self._put(this, question)

    def __call__(self, expr: str, at: Instant) -> Samples:
        """
        Return an instant vector; a scalar is one element without labels.

        Raises UnansweredError, PartialAnswerError or, where Prometheus refuses the expression, RuleError.
        """
        if self._local.holds(expr):
            return self._local.query(expr, at)
        # What a template asks for, nobody has known before.
        asked = self._round.answers.get((expr, at)) or self._put(self._round, (expr, at))
        return asked.result()

    def stop(self) -> None:
        """Ask nothing any more, and let nobody wait for what is under way."""
        with self._lock:
            self._stopped = True
            for waiting in self._round.answers.values():
                _settle(waiting, UnansweredError("stopped"))
        self._workers.stop()
        self._client.close()

    def _begin(self) -> _Round:
        self._round = _Round(monotonic_seconds() + to_seconds(self._client.options.timeout))
        return self._round

    def _put(self, this: _Round, question: _Question) -> "Future[Samples]":
        asked: Future[Samples] = Future()
        with self._lock:
            this.answers[question] = asked
            if self._stopped:
                _settle(asked, UnansweredError("stopped"))
                return asked
        self._workers.submit(asked, lambda: self._work(this, question, asked))
        return asked

    def _work(self, this: _Round, question: _Question, asked: "Future[Samples]") -> None:
        try:
            outcome: Samples | RuleError = self._ask(this, *question)
        except RuleError as err:
            outcome = err
        except Exception as err:  # a defect of ours is that rule's failure, and no thread's end
            log.exception("a question failed unexpectedly", extra={"expr": question[0]})
            outcome = RuleError(f"internal error: {type(err).__name__}")
        with self._lock:
            _settle(asked, outcome)

    def _ask(self, this: _Round, expr: str, at: Instant) -> Samples:
        try:
            answer = self._answer(this, expr, at)
            samples = _samples(answer, at, self._client.name)
        except RemoteError as err:
            if not self._stopped:
                self._outage.note(err)
            if err.reason in _HOPELESS:
                this.broken = err
            raise (UnansweredError if err.is_outage else RuleError)(str(err)) from err
        self._outage.note(None)
        if answer.partial:
            raise self._partial(expr, answer, samples)
        return samples

    def _answer(self, this: _Round, expr: str, at: Instant) -> Answer:
        if this.broken is not None:
            raise this.broken
        began, offset = monotonic_seconds(), self._offset()
        self._metrics.queries.inc()
        try:
            answer = self._client.query(expr, at + offset, max(this.end - began, 0.0))
            if abs(self._offset() - offset) < TOLERANCE:
                return answer
            # Its first answers tell how far off its clock is: what it found for another time counts for nothing.
            return self._client.query(expr, at + self._offset(), max(this.end - monotonic_seconds(), 0.0))
        except RemoteError as err:
            self._metrics.failures.labels(err.reason.value).inc()
            raise
        finally:
            self._metrics.seconds.observe(monotonic_seconds() - began)

    def _partial(self, expr: str, answer: Answer, samples: Samples) -> RuleError:
        self._metrics.partial.inc()
        what = f"answered from a part of the data: {answer.partial}"
        if self._is_strict or _FINDS_ABSENCE.search(expr):
            return UnansweredError(what)
        return PartialAnswerError(what, samples)


def _settle(asked: "Future[Samples]", outcome: Samples | RuleError) -> None:
    if asked.done():
        return
    if isinstance(outcome, RuleError):
        asked.set_exception(outcome)
    else:
        asked.set_result(outcome)


def _samples(answer: Answer, at: Instant, name: str) -> Samples:
    value = value_of(answer.data, at, name)
    if isinstance(value, Vector):
        return value.samples
    if isinstance(value, Scalar):
        return [(EMPTY, value.value)]
    raise RemoteError("rule result is not a vector or scalar", reason=Reason.REFUSED)
