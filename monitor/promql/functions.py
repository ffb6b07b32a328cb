"""The functions that may be called: from a name and arguments to a node."""

import math
from collections.abc import Callable

from monitor.model.matcher import MatchError, compile_anchored
from monitor.promql import label_functions
from monitor.promql.absent import Absent
from monitor.promql.dates import DATE_FUNCTIONS
from monitor.promql.elementwise import Clamp, Elementwise, Round, Timestamp
from monitor.promql.failing import Failing, Floatless
from monitor.promql.histogram import HistogramFraction, HistogramQuantile
from monitor.promql.label_functions import Relabel
from monitor.promql.literal import Number, Time, ToScalar, ToVector
from monitor.promql.mathematics import FLOAT_FUNCTIONS
from monitor.promql.node import Node, VectorNode
from monitor.promql.ordering import Sort
from monitor.promql.over_time import KEEPS_NAME, OVER_TIME, Over, OverTime, QuantileOverTime
from monitor.promql.rate import DELTA, INCREASE, RATE, Change, Kind
from monitor.promql.signature import Arguments
from monitor.promql.trend import Derivative, Prediction

Make = Callable[[Arguments], Node]


def _change(kind: Kind) -> Make:
    return lambda given: Change(kind, given.matrix(0), given.position(0))


def _over_time(name: str, function: Over) -> Make:
    return lambda given: OverTime(function, given.matrix(0), keeps_name=name in KEEPS_NAME)


def _elementwise(function: Callable[[float], float]) -> Make:
    return lambda given: Elementwise(function, given.vector(0))


def _date(function: Callable[[float], float]) -> Make:
    return lambda given: Elementwise(function, given.vector(0) if len(given) else ToVector(Time()))


def _round(given: Arguments) -> Node:
    return Round(given.vector(0), given.scalar(1) if len(given) > 1 else Number(1.0))


def _clamp(given: Arguments) -> Node:
    return Clamp(given.vector(0), given.scalar(1), given.scalar(2))


def _clamp_min(given: Arguments) -> Node:
    return Clamp(given.vector(0), given.scalar(1), Number(math.inf))


def _clamp_max(given: Arguments) -> Node:
    return Clamp(given.vector(0), Number(-math.inf), given.scalar(1))


def _absent(given: Arguments) -> Node:
    return Absent(given.vector(0))


def _absent_over_time(given: Arguments) -> Node:
    return Absent(given.matrix(0))


def _histogram_quantile(given: Arguments) -> Node:
    return HistogramQuantile(given.scalar(0), given.vector(1), given.position(0), given.position(1))


def _histogram_fraction(given: Arguments) -> Node:
    return HistogramFraction(given.scalar(0), given.scalar(1), given.vector(2), given.position(2))


def _quantile_over_time(given: Arguments) -> Node:
    return QuantileOverTime(given.scalar(0), given.matrix(1), given.position(0))


def _sort(*, descending: bool) -> Make:
    return lambda given: Sort(given.vector(0), given.site.position, descending=descending)


def _label_replace(given: Arguments) -> VectorNode:
    of, texts = given.vector(0), [given.string(index) for index in range(1, 5)]
    to, template, source, regex = texts
    if not to:
        return Failing(f"invalid destination label name in label_replace(): {to}", of)
    try:
        pattern = compile_anchored(regex)
    except MatchError as err:
        return Failing(f"invalid regular expression in label_replace(): {err}", of)
    return Relabel(label_functions.replace(to, template, source, pattern), of)


def _label_join(given: Arguments) -> VectorNode:
    of, to, separator = given.vector(0), given.string(1), given.string(2)
    sources = [given.string(index) for index in range(3, len(given))]
    if not to:
        return Failing(f"invalid destination label name in label_join(): {to}", of)
    if not all(sources):
        return Failing("invalid source label name in label_join(): ", of)
    return Relabel(label_functions.join(to, separator, sources), of)


FUNCTIONS: dict[str, Make] = {
    **{name: _elementwise(function) for name, function in FLOAT_FUNCTIONS.items()},
    **{name: _date(function) for name, function in DATE_FUNCTIONS.items()},
    **{name: _over_time(name, function) for name, function in OVER_TIME.items()},
    "rate": _change(RATE),
    "increase": _change(INCREASE),
    "delta": _change(DELTA),
    "quantile_over_time": _quantile_over_time,
    "absent": _absent,
    "absent_over_time": _absent_over_time,
    "clamp": _clamp,
    "clamp_min": _clamp_min,
    "clamp_max": _clamp_max,
    "deriv": lambda given: Derivative(given.matrix(0)),
    "predict_linear": lambda given: Prediction(given.matrix(0), given.scalar(1)),
    "histogram_quantile": _histogram_quantile,
    "histogram_fraction": _histogram_fraction,
    # These read native histograms only: of float samples they make nothing.
    "histogram_avg": lambda given: Floatless(given.vector(0)),
    "histogram_count": lambda given: Floatless(given.vector(0)),
    "histogram_stddev": lambda given: Floatless(given.vector(0)),
    "histogram_stdvar": lambda given: Floatless(given.vector(0)),
    "histogram_sum": lambda given: Floatless(given.vector(0)),
    "label_join": _label_join,
    "label_replace": _label_replace,
    "pi": lambda _: Number(math.pi),
    "round": _round,
    "scalar": lambda given: ToScalar(given.vector(0)),
    "sort": _sort(descending=False),
    "sort_desc": _sort(descending=True),
    "time": lambda _: Time(),
    "timestamp": lambda given: Timestamp(given.vector(0)),
    "vector": lambda given: ToVector(given.scalar(0)),
}
