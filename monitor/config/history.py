"""What is kept for weeks: `storage.history`, and what ships with the program."""

from typing import Annotated, Any

from pydantic import PlainValidator

from monitor.config.where import where
from monitor.model.matcher import Matcher
from monitor.promql import PromqlError, parse
from monitor.promql.selector import InstantSelector, Shift
from monitor.shipped import rules_folder
from monitor.storage.history.keep import RETENTION, Keep
from monitor.yamldoc.compose import read_document
from monitor.yamldoc.kinds import Duration, text
from monitor.yamldoc.mistake import shown
from monitor.yamldoc.report import Report
from monitor.yamldoc.section import Section
from monitor.yamldoc.source import read_bytes

SHIPPED = "history.yaml"


def series_selector(value: Any) -> tuple[Matcher, ...]:
    """Return the matchers of a selector as `match[]` has it: `up` or `{job="vllm"}`."""
    written = text(value)
    try:
        plan = parse(written)
    except PromqlError as err:
        raise ValueError(f"{shown(written)} is not a series selector: {err}") from err
    if not isinstance(plan.root, InstantSelector) or plan.root.shift != Shift():
        raise ValueError(f"{shown(written)} is not a series selector (write a name, or matchers in braces)")
    return plan.root.selection.matchers


SeriesSelector = Annotated[tuple[Matcher, ...], PlainValidator(series_selector)]


class HistoryConfig(Section):
    """How long, in milliseconds (0: not at all), and which series beside those that ship."""

    retention: Duration = RETENTION
    match: tuple[SeriesSelector, ...] = ()

    def keep(self) -> Keep:
        """Return what is kept, what ships among it. Raises DocumentError."""
        return Keep((*_shipped(), *self.match), self.retention)


class _Shipped(Section):
    match: tuple[SeriesSelector, ...]


def _shipped() -> tuple[tuple[Matcher, ...], ...]:
    path = rules_folder() / SHIPPED
    report = Report(read_document(read_bytes(path), str(path)), where)
    read = report.read(_Shipped)
    report.raise_if_wrong()
    return read.match if read is not None else ()
