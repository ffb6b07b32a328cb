"""Random expressions over the series of `series.py`: all operators, aggregations and functions, to some depth."""

from collections.abc import Callable, Sequence
from random import Random

from monitor.promql.dates import DATE_FUNCTIONS
from monitor.promql.mathematics import FLOAT_FUNCTIONS
from monitor.promql.over_time import OVER_TIME

_METRICS = ("requests_total", "errors_total", "vllm:num_requests_running", "wild", "up", "latency_seconds_bucket")
_LABELS = ("job", "instance", "path", "model_name", "le", "version", "nosuch")
_RANGES = ("1s", "30s", "1m", "90s", "2m", "5m", "7m3s", "20m", "300", "0x1e")
_COMPUTED = ("2m + 30s", "60*-1+4m", "2 * (1m - 10s)", "10m / 3", "17m % 5m", "2^7", "-2^2 + 1m", "+(90s)", "7s^1.5*2")
_OVER_TIME = (*OVER_TIME, "rate", "increase", "rate", "increase", "delta", "deriv", "absent_over_time")
_ELEMENTWISE = (*FLOAT_FUNCTIONS, *DATE_FUNCTIONS, "timestamp", "sort", "sort_desc", "absent", "round", "histogram_sum")
_CYCLIC = frozenset({"sin", "cos", "tan", *DATE_FUNCTIONS})
_AGGREGATIONS = ("sum", "avg", "min", "max", "count", "group", "stddev", "stdvar")
_ARITHMETIC = ("+", "-", "*", "/", "%", "^", "atan2")
_FRACTIONS = ("1", "1.5", "2", "2.2", "3", "99", "Inf", "-Inf", "NaN", "scalar(nosuch)")
_COMPARISON = ("==", "!=", "<", "<=", ">", ">=")


class Expressions:
    """Makes expressions; `random` decides."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def any(self) -> str:
        kind = self._random.random()
        if kind < 0.04:
            return self.scalar(3)
        return self.vector(self._random.choice((1, 2, 2, 3, 3, 4)))

    def _choose(self, *options: Callable[[int], str], depth: int) -> str:
        return self._random.choice(options)(depth)

    def vector(self, depth: int) -> str:
        if depth <= 0:
            return self.selector()
        return self._choose(
            self._over_time,
            self._over_time,
            self._over_time,
            self._aggregation,
            self._aggregation,
            self._elementwise,
            self._with_scalar,
            self._between,
            self._between,
            self._sets,
            self._histogram,
            self._labels,
            self._special,
            lambda _: self.selector(),
            depth=depth - 1,
        )

    def scalar(self, depth: int) -> str:
        random = self._random
        if depth <= 0 or random.random() < 0.6:
            return random.choice(
                ("0", "1", "2", "-1", "0.5", "1e3", "NaN", "Inf", "-Inf", "0.9", "5m", "0x10", "1_0", "3")
            )
        return random.choice(
            (
                "time()",
                "pi()",
                f"scalar({self.vector(depth - 1)})",
                f"({self.scalar(depth - 1)} {random.choice(_ARITHMETIC)} {self.scalar(depth - 1)})",
                f"({self.scalar(depth - 1)} {random.choice(_COMPARISON)} bool {self.scalar(depth - 1)})",
                f"-({self.scalar(depth - 1)})",
            )
        )

    def selector(self) -> str:
        return self._name() + self._shift()

    def _name(self) -> str:
        random = self._random
        name = random.choice(_METRICS)
        if random.random() < 0.15:
            return random.choice(('{__name__=~"requests_total|errors_total"}', '{__name__=~".+_total",job="api"}'))
        matchers = random.choice(
            (
                "",
                "",
                '{job="vllm"}',
                '{job!="vllm",instance=~"i.*"}',
                '{path=""}',
                "{path!~`/[ab]`}",
                '{instance="i0",job="api"}',
                '{path=~"/a|"}',
                '{nosuch="x",job="a",path=~"b"}',
            )
        )
        return name + matchers

    def _shift(self) -> str:
        return self._random.choice(
            ("",) * 10 + (" offset 1m", " offset -90s", " @ start()", " @ end()", " offset 1m @ end()", " @ @middle@")
        )

    def matrix(self, depth: int) -> str:
        random = self._random
        if depth > 0 and random.random() < 0.2:
            step = random.choice(("", "15s", "30s", "1m", "7s", "1m / 2 - 1", "(5*3)"))
            range_ = random.choice((*_RANGES[2:8], *_COMPUTED))
            return f"({self.vector(depth - 1)})[{range_}:{step}]" + self._computed_shift()
        return f"{self._name()}[{random.choice((*_RANGES, *_COMPUTED))}]" + self._computed_shift()

    def _computed_shift(self) -> str:
        """Return what may stand behind a range; what follows is no operator, which 3.5 takes for part of the offset."""
        random = self._random
        if random.random() < 0.9:
            return self._shift()
        return f" offset {random.choice(('', '+', '-'))}({random.choice(_COMPUTED)})"

    def _over_time(self, depth: int) -> str:
        random = self._random
        kind = random.random()
        if kind < 0.07:
            return f"quantile_over_time({self.scalar(depth)}, {self.matrix(depth)})"
        if kind < 0.14:
            return f"predict_linear({self.matrix(depth)}, {self.scalar(0)})"
        return f"{random.choice(_OVER_TIME)}({self.matrix(depth)})"

    def _clause(self) -> str:
        random = self._random
        if random.random() < 0.3:
            return ""
        labels = random.sample(_LABELS, random.randint(0, 3))
        return f" {random.choice(('by', 'without'))} ({', '.join(labels)})"

    def _aggregation(self, depth: int) -> str:
        random = self._random
        of = self.vector(depth)
        kind = random.random()
        if kind < 0.1:
            # 3.5 forgets start() and end() in the parameter, and that it may move where the rest is fixed.
            q = self.scalar(depth)
            return f"quantile{self._clause()} ({'0.9' if '@' in q + of else q}, {of})"
        if kind < 0.2:
            # A value that becomes a label must agree to the last bit.
            counted = random.choice((self.selector(), f"changes({self._name()}[5m])", f"floor({self.selector()})"))
            return f'count_values{self._clause()} ("{random.choice(("value", "job", "path"))}", {counted})'
        if kind < 0.3:
            # Ties are broken as it happens: only among values that are all different.
            return (
                f"{random.choice(('topk', 'bottomk'))}{self._clause()} ({random.choice('0123')}, noise{self._shift()})"
            )
        return f"{random.choice(_AGGREGATIONS)}{self._clause()} ({of})"

    def _elementwise(self, depth: int) -> str:
        name = self._random.choice(_ELEMENTWISE)
        # The last bit of a huge number turns its angle round, and its clock.
        return f"{name}({self.selector() if name in _CYCLIC else self.vector(depth)})"

    def _with_scalar(self, depth: int) -> str:
        random = self._random
        operator = random.choice((*_ARITHMETIC, *_COMPARISON, *(f"{one} bool" for one in _COMPARISON)))
        # A remainder makes much of the last bit.
        sides = [self.selector() if operator == "%" else self.vector(depth), self.scalar(depth)]
        random.shuffle(sides)
        return f"({sides[0]} {operator} {sides[1]})"

    def _between(self, depth: int) -> str:
        random = self._random
        operator = random.choice((*_ARITHMETIC, *_COMPARISON, *(f"{one} bool" for one in _COMPARISON)))
        left, right = self.vector(depth), self.vector(depth)
        if "std" in left + right or operator == "%":
            # Their last bit depends on the order of the series, and a difference may be nothing but that.
            left, right = self.selector(), self.selector()
        if random.random() < 0.4:
            right = left
        matching = self._matching()
        if matching and random.random() < 0.4:
            included = ", ".join(
                label for label in ("version", "path") if label not in matching and random.random() < 0.5
            )
            matching += f" {random.choice(('group_left', 'group_right'))} ({included})"
            if random.random() < 0.6:
                right = "build_info"
        return f"({left} {operator}{matching} {right})"

    def _matching(self) -> str:
        random = self._random
        return random.choice(
            (
                "",
                "",
                " on (job, instance)",
                " ignoring (path)",
                " on (job)",
                " ignoring (le, path, model_name)",
                " on ()",
            )
        )

    def _sets(self, depth: int) -> str:
        operator = self._random.choice(("and", "or", "unless"))
        return f"({self.vector(depth)} {operator}{self._matching()} {self.vector(depth)})"

    def _histogram(self, depth: int) -> str:
        random = self._random
        name = random.choice(("latency_seconds_bucket", "latency_seconds_bucket", "odd_bucket"))
        buckets = random.choice((name, f"rate({name}[{random.choice(_RANGES[3:])}])", f"increase({name}[2m])"))
        if random.random() < 0.5:
            buckets = f"sum by (le{random.choice(('', ', job', ', instance'))}) ({buckets})"
        if random.random() < 0.4:
            # Below the first bound 3.5 knows no answer yet: see the conformance cases of histogram_fraction.
            lower, upper = random.choice(_FRACTIONS), random.choice(_FRACTIONS)
            return f"histogram_fraction({lower}, {upper}, {buckets})"
        return f"histogram_quantile({random.choice(('0.5', '0.95', '0', '1', '2', self.scalar(depth)))}, {buckets})"

    def _labels(self, depth: int) -> str:
        random = self._random
        if random.random() < 0.4:
            sources: Sequence[str] = random.sample(_LABELS, random.randint(0, 2))
            listed = "".join(f', "{source}"' for source in sources)
            return f'label_join({self.vector(depth)}, "{random.choice(_LABELS)}", "-"{listed})'
        template = random.choice(("$1", "x-${1}", "$1x", "", "$$", "${first}-$2"))
        regex = random.choice(("(.*)", "(i)(.)", "(?P<first>.)(.*)", "nosuch", "v.*"))
        to, source = random.choice(_LABELS), random.choice(_LABELS)
        return f'label_replace({self.vector(depth)}, "{to}", "{template}", "{source}", "{regex}")'

    def _special(self, depth: int) -> str:
        random = self._random
        return random.choice(
            (
                f"clamp({self.vector(depth)}, {self.scalar(depth)}, {self.scalar(depth)})",
                f"clamp_min({self.vector(depth)}, {self.scalar(depth)})",
                f"clamp_max({self.vector(depth)}, {self.scalar(depth)})",
                f"round({self.vector(depth)}, {self.scalar(depth)})",
                f"vector({self.scalar(depth)})",
                f"-{self.vector(0)}",
                f"-({self.vector(depth)})",
                f"+({self.vector(depth)})",
                "hour()",
                "minute()",
            )
        )
