"""How alerts stood, as a server tells it by its series ALERTS and ALERTS_FOR_STATE."""

from collections import defaultdict
from collections.abc import Iterable

from monitor.model.instant import MINUTE, SECOND, Duration, Instant, from_seconds
from monitor.model.labels import METRIC_NAME, Labels
from monitor.promql import Matrix
from monitor.remote.client import Client
from monitor.remote.engine import value_of
from monitor.remote.options import RemoteOptions
from monitor.rules.alerting_rule import ALERT_STATE, ALERTS, ALERTS_FOR_STATE
from tests.sameness.moments import Moments, Standing

_SERIES = (METRIC_NAME, ALERT_STATE)


def moments(url: str, slots: Iterable[Instant], without: Iterable[str] = ()) -> Moments:
    """Return how everything stood at `slots`; labels `without` are left out: what an engine adds."""
    times = sorted(slots)
    length = times[-1] - times[0] + SECOND
    client = Client(RemoteOptions(url, timeout=MINUTE))
    since = _samples(client, ALERTS_FOR_STATE, times[-1], length)
    found: defaultdict[Instant, dict[Labels, Standing]] = defaultdict(dict, {at: {} for at in times})
    for at, labels in _samples(client, ALERTS, times[-1], length):
        if at in found:
            identity = labels.without(_SERIES)
            active_at = from_seconds(since[at, identity])
            found[at][identity.without(tuple(without))] = Standing(labels.value(ALERT_STATE), active_at)
    client.close()
    return dict(found)


def _samples(client: Client, name: str, at: Instant, length: Duration) -> dict[tuple[Instant, Labels], float]:
    """Return the samples of a name: all that there are, with their own times."""
    answer = client.query(f"{name}[{length}ms]", at)
    value = value_of(answer.data, at, client.name)
    assert isinstance(value, Matrix)
    keep = (METRIC_NAME,) if name == ALERTS_FOR_STATE else ()
    return {
        (time, series.labels.without(keep)): number
        for series in value
        for time, number in zip(series.times, series.values, strict=True)
    }
