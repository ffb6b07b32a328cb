"""
Rule files, in Prometheus' format.

reference: Prometheus 3, model/rulefmt/rulefmt.go. Stricter in three things: whole numbers are decimal (no 0x10, 1_000
or 5.0), custom YAML tags are refused, and labels of a group with alerts must be templates, because they become labels
of those.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import Field

from monitor.rules.spec import AlertingRule, RecordingRule, Rule, RuleGroup, overlay
from monitor.yamldoc.compose import read_document
from monitor.yamldoc.kinds import Duration, Integer, LabelName, Text
from monitor.yamldoc.locate import place_inside
from monitor.yamldoc.mistake import DocumentError, Mistake, shown
from monitor.yamldoc.node import Loc, MappingNode, Node, Scalar, SequenceNode, find
from monitor.yamldoc.report import Report
from monitor.yamldoc.section import Section
from monitor.yamldoc.source import read_bytes


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with an expression or a template, and where inside its text (both from 1) when that is known."""

    what: str
    line: int | None = None
    column: int | None = None


# `rules` knows neither the expression language nor who evaluates it: the checks are handed in.
Check: TypeAlias = Callable[[str], Problem | None]


class _File(Section):
    groups: tuple[Any, ...] = ()


class _Group(Section):
    name: Text = ""
    interval: Duration = 0
    query_offset: Duration | None = None
    limit: Integer = 0
    labels: dict[LabelName, Text] = Field(default_factory=dict)
    rules: tuple[Any, ...] = ()

    def problems(self) -> Iterator[tuple[str, str]]:
        if not self.name:
            yield "name", 'a group needs a "name"'


class _Rule(Section):
    record: Text = ""
    alert: Text = ""
    expr: Text = ""
    for_: Duration = 0
    keep_firing_for: Duration = 0
    labels: dict[LabelName, Text] = Field(default_factory=dict)
    annotations: dict[Text, Text] = Field(default_factory=dict)

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.record and self.alert:
            yield "alert", 'only one of "record" and "alert" may be set'
        if not self.record and not self.alert:
            yield "alert", 'one of "record" and "alert" must be set'
        if not self.expr:
            yield "expr", '"expr" must be set'
        if "" in self.annotations:
            yield "annotations", "an annotation needs a name"
        if self.record:
            yield from self._recording_problems()

    def _recording_problems(self) -> Iterator[tuple[str, str]]:
        for name, given in (
            ("for_", self.for_),
            ("keep_firing_for", self.keep_firing_for),
            ("annotations", self.annotations),
        ):
            if given:
                yield name, f'"{name.rstrip("_")}" is not allowed in a recording rule'
        if set("{}") & set(self.record):
            yield "record", f"braces in the name {shown(self.record)} (do they belong in expr, or in labels?)"


def read_rules(paths: Iterable[Path], check_expr: Check, check_template: Check) -> tuple[RuleGroup, ...]:
    """Return the groups of several files in order; raises DocumentError with the mistakes of all of them."""
    groups: list[RuleGroup] = []
    mistakes: list[Mistake] = []
    for path in paths:
        try:
            groups.extend(parse_rules(read_bytes(path), str(path), check_expr, check_template))
        except DocumentError as err:
            mistakes.extend(err.mistakes)
    if mistakes:
        raise DocumentError(mistakes)
    return tuple(groups)


def parse_rules(data: bytes | str, path: str, check_expr: Check, check_template: Check) -> tuple[RuleGroup, ...]:
    """
    Return the groups of one rule file. Raises DocumentError with all its mistakes.

    `path` is only a name: it stands in the mistakes and in the groups.
    """
    document = read_document(data, path, first_only=True)
    if document.root is None:
        return ()
    reader = _Reader(Report(document, _where), check_expr, check_template)
    groups = reader.groups()
    reader.report.raise_if_wrong()
    return groups


def _where(root: Node | None, loc: Loc) -> str:
    """Return `group "kv", rule 1, "Name"` for a path that leads there."""
    match loc:
        case ("groups", int(group), "rules", int(rule), *_):
            node = find(root, loc[:4])
            name = _name(node, "alert") or _name(node, "record")
            return f"{_where(root, ('groups', group))}, rule {rule + 1}" + (f", {shown(name)}" if name else "")
        case ("groups", int(group), *_):
            name = _name(find(root, loc[:2]), "name")
            return f"group {shown(name)}" if name else f"group {group + 1}"
    return ""


def _name(node: Node | None, key: str) -> str:
    scalar = node.get(key) if isinstance(node, MappingNode) else None
    return scalar.text if isinstance(scalar, Scalar) and not scalar.is_null else ""


class _Reader:
    """Reads one document; every mistake goes to `report`."""

    def __init__(self, report: Report, check_expr: Check, check_template: Check) -> None:
        self.report = report
        self._path = report.document.path
        self._check_expr = check_expr
        self._check_template = check_template

    def groups(self) -> tuple[RuleGroup, ...]:
        self.report.read(_File)
        groups: list[RuleGroup] = []
        names: set[str] = set()
        for loc in self._items(("groups",)):
            name = _name(find(self.report.document.root, loc), "name")
            if name and name in names:
                self.report.add((*loc, "name"), f"the name {shown(name)} is taken by another group of this file")
            names.add(name)
            groups.extend(self._group(loc))
        return tuple(groups)

    def _items(self, loc: Loc) -> Iterator[Loc]:
        """Yield the path of every item of a list that is not null; Prometheus passes over those."""
        items = find(self.report.document.root, loc)
        if isinstance(items, SequenceNode):
            for index, item in enumerate(items):
                if not (isinstance(item, Scalar) and item.is_null):
                    yield (*loc, index)

    def _group(self, loc: Loc) -> Iterator[RuleGroup]:
        group = self.report.read(_Group, loc)
        under = group.labels if group is not None else {}
        rules = [rule for at in self._items((*loc, "rules")) for rule in self._rule(at, under)]
        if any(isinstance(rule, AlertingRule) for rule in rules):
            self._templates((*loc, "labels"))
        if group is not None:
            yield RuleGroup(
                name=group.name,
                file=self._path,
                interval=group.interval or None,
                query_offset=group.query_offset,
                limit=group.limit,
                labels=overlay({}, group.labels),
                rules=tuple(rules),
            )

    def _rule(self, loc: Loc, under: dict[str, str]) -> Iterator[Rule]:
        rule = self.report.read(_Rule, loc)
        node = find(self.report.document.root, loc)
        self._expression((*loc, "expr"))
        if _name(node, "alert"):
            self._templates((*loc, "labels"))
            self._templates((*loc, "annotations"))
        if rule is None or node is None:
            return
        labels = overlay(under, rule.labels)
        if rule.record:
            yield RecordingRule(rule.record, rule.expr, labels, node.place.line)
        else:
            annotations = overlay({}, rule.annotations)
            yield AlertingRule(
                rule.alert, rule.expr, rule.for_, rule.keep_firing_for, labels, annotations, node.place.line
            )

    def _expression(self, loc: Loc) -> None:
        self._text(loc, self._check_expr, "expr")

    def _templates(self, loc: Loc) -> None:
        table = find(self.report.document.root, loc)
        for name in table if isinstance(table, MappingNode) else ():
            self._text((*loc, name), self._check_template, f"{loc[-1]}.{name}")

    def _text(self, loc: Loc, check: Check, name: str) -> None:
        scalar = find(self.report.document.root, loc)
        if not isinstance(scalar, Scalar) or scalar.is_null or not scalar.text:
            return
        problem = check(scalar.text)
        if problem is not None:
            place = scalar.place
            if problem.line is not None:
                place = place_inside(self.report.document.text, scalar, problem.line, problem.column or 1)
            self.report.add_at(place, loc, f"{name}: {problem.what}")
