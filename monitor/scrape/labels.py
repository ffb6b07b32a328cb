"""
From the labels of a line to those that are stored: the target's are added, conflicts resolved, limits kept.

reference: Prometheus 3, scrape/scrape.go mutateSampleLabels, resolveConflictingExposedLabels, verifyLabelLimits.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from monitor.model.labels import EMPTY, METRIC_NAME, Labels
from monitor.model.relabel import RelabelConfig, relabelled
from monitor.scrape.errors import LimitError, Reason, readable
from monitor.scrape.line import Pairs

_EXPORTED = "exported_"


@dataclass(frozen=True, slots=True)
class LabelLimits:
    """How many labels a series may have, the name among them, and how long they may be; 0 is no limit."""

    label_limit: int = 0
    label_name_length_limit: int = 0
    label_value_length_limit: int = 0

    def check(self, labels: Labels) -> None:
        """Raise LimitError when `labels` are beyond a limit."""
        if 0 < self.label_limit < len(labels):
            raise LimitError(f"label_limit of {self.label_limit} exceeded by {len(labels)} labels")
        for name, value in labels:
            if 0 < self.label_name_length_limit < len(name.encode()):
                raise LimitError(f"label_name_length_limit of {self.label_name_length_limit} bytes exceeded")
            if 0 < self.label_value_length_limit < len(value.encode()):
                raise LimitError(
                    f"label_value_length_limit of {self.label_value_length_limit} bytes exceeded by {name}"
                )


NO_LIMITS = LabelLimits()


@dataclass(frozen=True, slots=True)
class LabelMaker:
    """
    Makes the labels to store of a line's.

    `honor_labels`: where both have a label, the line's wins; otherwise the target's does, and the line's is renamed
    `exported_…`. What comes of that is relabelled. Raises LimitError also for lines whose labels are no label set.
    """

    target: Labels = EMPTY
    honor_labels: bool = False
    limits: LabelLimits = NO_LIMITS
    relabel_configs: tuple[RelabelConfig, ...] = ()

    def __call__(self, name: str, pairs: Pairs) -> Labels | None:
        """Return the labels, None when a rule drops the line. Raises LimitError."""
        _check(name, pairs)
        exposed = dict(pairs)
        # An honoured label may be empty: then it keeps the target's away.
        merged = {**dict(self.target), **exposed} if self.honor_labels else self._renamed(exposed)
        labels = Labels.of({**merged, METRIC_NAME: name})
        if self.relabel_configs:
            changed = relabelled(labels, self.relabel_configs)
            if not changed:
                return None
            if not changed.name:
                raise LimitError("missing metric name (__name__ label) after relabelling", reason=Reason.PARSE)
            labels = changed
        self.limits.check(labels)
        return labels

    def _renamed(self, exposed: dict[str, str]) -> dict[str, str]:
        merged = {**exposed, **dict(self.target)}
        clashing = [label for label, _ in self.target if exposed.get(label)]
        for label in sorted(clashing, key=len):
            free = _EXPORTED + label
            while merged.get(free):
                free = _EXPORTED + free
            merged[free] = exposed[label]
        return merged


AS_EXPOSED = LabelMaker()


def _check(name: str, pairs: Pairs) -> None:
    names: Iterable[str] = (METRIC_NAME, *(label for label, _ in pairs))
    if not name:
        raise LimitError("missing metric name (__name__ label)", reason=Reason.PARSE)
    for label, count in Counter(names).items():
        if not label:
            raise LimitError("a label without a name", reason=Reason.PARSE)
        if count > 1:
            raise LimitError(f"label name {readable(label)} is not unique", reason=Reason.PARSE)
