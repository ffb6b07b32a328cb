"""What is asked of a version of Prometheus, and how its answers are known to differ from the newest."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.differential.comparison import Answer


@dataclass(frozen=True)
class Dialect:
    """
    One version.

    `late` and `beyond` are the milliseconds after the full second of samples and of queries; None lets them meet.
    `rewrites` puts what the version does not read in an older form; what matches one of `not_asked` is not asked;
    `known` are patterns of differences.
    """

    late: int | None = None
    beyond: int | None = None
    has_remarks: bool = True
    rewrites: Mapping[str, str] = field(default_factory=dict)
    not_asked: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, str] = field(default_factory=dict)

    def asks(self, query: str) -> str | None:
        """Return the query as this version reads it, or None."""
        if any(re.search(pattern, query) for pattern in self.not_asked.values()):
            return None
        for pattern, new in self.rewrites.items():
            query = re.sub(pattern, new, query)
        return query

    def without_remarks(self, answer: Answer) -> Answer:
        """Return an answer as this version gives it."""
        if self.has_remarks:
            return answer
        return {key: value for key, value in answer.items() if key not in ("warnings", "infos")}

    def knows(self, query: str, difference: str) -> bool:
        return any(re.search(pattern, f"{query}: {difference}", re.DOTALL) for pattern in self.known.values())


_CHANGED_LATER = {
    "3.5: what @ names inside a subquery with an offset is not read, where the offset leads away from it": (
        r"@ .*:[^]]*\] offset .*only theirs \[\]"
    ),
    "3.8: series that are one after dropping the name are merged where they do not overlap": (
        "ours: success; theirs: .*vector cannot contain metrics with the same labelset"
    ),
    "3.9: a second match on the many side is an error also where the comparison filters it": (
        "ours: .*many-to-one matching must be explicit.*; theirs: success"
    ),
}
_NOT_YET = {"3.7: first_over_time": "first_over_time"}
# With both a time and an offset it misses samples near the end of a series, and only then.
_TIMESTAMP = {"3.5: timestamp() of a selector with @ and offset": r"timestamp\(.*offset .* @ "}
NEWER = Dialect(not_asked={**_TIMESTAMP, **_NOT_YET}, known=_CHANGED_LATER)
OLDER = Dialect(
    # Its ranges are closed at their start: no sample may stand just there.
    late=217,
    beyond=137,
    has_remarks=False,
    rewrites={"1_0": "10", r"\[0x1e\]": "[30s]", r"\[300\]": "[5m]"},
    not_asked={
        **_TIMESTAMP,
        **_NOT_YET,
        "3.4: durations are computed": r"\[[^]]*[-+*/%^(]|offset [-+]?\(|\[[^]]*:[^]]*[-+*/%^(][^]]*\]",
        "3.4: histogram_fraction of classic histograms": "histogram_fraction",
        "2.53: the zero point of a counter is looked at after the threshold": r"rate\(|increase\(",
        "3.0: standard deviations are compensated, and NaN where anything is infinite": "std",
        "3.0: a duration is a number": r"(?<!\[)(?<!:)(?<!offset )\b5m\b(?![:\]])",
        "2.45: atan2 drops the name": "atan2",
        "later: what does not move stays in place where a parameter moves": r"(predict_linear|quantile_over_time).*@",
        "3.0: the first step of a subquery inside a subquery is at the start": r":[^]]*\].*:[^]]*\]",
        "later: count_values by labels keeps them all": r"count_values by",
    },
    known={
        **_CHANGED_LATER,
        "3.0: sums are compensated, and keep what is infinite": "wild.*ours [+-]Inf; theirs NaN",
        "3.0: sums start at the first value, and keep the sign of a zero": "wild.*ours [+-]Inf; theirs [+-]Inf",
    },
)
