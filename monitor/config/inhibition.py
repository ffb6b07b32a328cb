"""What mutes what: `inhibit_rules` in Alertmanager's words, and those that ship with the program."""

from collections.abc import Iterator
from itertools import chain
from typing import ClassVar

from monitor.config import not_yet
from monitor.config.fields import Matchers
from monitor.config.where import where
from monitor.dispatch.inhibit import InhibitRule
from monitor.shipped import rules_folder
from monitor.yamldoc.compose import read_document
from monitor.yamldoc.kinds import LabelName, Text
from monitor.yamldoc.node import SequenceNode, find
from monitor.yamldoc.report import Report
from monitor.yamldoc.section import Section
from monitor.yamldoc.source import read_bytes

SHIPPED = "inhibition.yaml"
KEY = "inhibit_rules"


class InhibitRuleSection(Section):
    """One rule; its matchers are lists, all of which must match."""

    not_yet: ClassVar[dict[str, str]] = not_yet.INHIBIT_RULE

    name: Text = ""
    source_matchers: tuple[Matchers, ...] = ()
    target_matchers: tuple[Matchers, ...] = ()
    equal: tuple[LabelName, ...] = ()

    def problems(self) -> Iterator[tuple[str, str]]:
        for side in ("source_matchers", "target_matchers"):
            # Alertmanager takes a rule without them to mean every alert, which nobody can want.
            if not getattr(self, side):
                yield side, f'"{side}" must be set: without it every alert is meant'

    def built(self) -> InhibitRule:
        return InhibitRule(
            tuple(chain.from_iterable(self.source_matchers)),
            tuple(chain.from_iterable(self.target_matchers)),
            self.equal,
            self.name,
        )


def inhibit_rules(report: Report) -> tuple[InhibitRule, ...]:
    """Return the rules of a document; a wrong one is noted in `report` and left out."""
    items = find(report.document.root, (KEY,))
    count = len(items) if isinstance(items, SequenceNode) else 0
    read = [report.read(InhibitRuleSection, (KEY, index)) for index in range(count)]
    return tuple(rule.built() for rule in read if rule is not None)


def shipped_inhibit_rules() -> tuple[InhibitRule, ...]:
    """Return the rules that hold where a configuration has none. Raises DocumentError."""
    path = rules_folder() / SHIPPED
    report = Report(read_document(read_bytes(path), str(path)), where)
    rules = inhibit_rules(report)
    report.raise_if_wrong()
    return rules
