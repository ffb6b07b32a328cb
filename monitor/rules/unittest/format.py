"""
Files of unit tests, in the format of `promtool test rules`.

reference: Prometheus' documentation, configuration/unit_testing_rules, and promtool 3.5.3, observed. Stricter in this:
a series or an expression that is wrong keeps the whole file from being run, so that all mistakes are told at once; and
a line break inside of series notation is a mistake, for promtool passes over every series behind an empty line.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import Field

from monitor.model.instant import MINUTE
from monitor.model.labels import ALERT_NAME, EMPTY, Labels
from monitor.rules.rulefmt import Check
from monitor.rules.spec import overlay
from monitor.rules.unittest.errors import NotationError
from monitor.rules.unittest.kinds import Boolean, Number, Timestamp
from monitor.rules.unittest.metric import parse_metric
from monitor.rules.unittest.notation import Run, parse_values
from monitor.rules.unittest.patterns import PatternError, matching
from monitor.rules.unittest.spec import AlertCase, ExpectedAlert, ExprCase, InputSeries, UnitTest, UnitTestFile
from monitor.yamldoc.compose import read_document
from monitor.yamldoc.kinds import Duration, Text
from monitor.yamldoc.locate import place_inside
from monitor.yamldoc.mistake import shown
from monitor.yamldoc.node import Loc, Node, Scalar, SequenceNode, find, place_of
from monitor.yamldoc.report import Report
from monitor.yamldoc.section import Section
from monitor.yamldoc.source import read_bytes

Read = TypeVar("Read")


class _File(Section):
    rule_files: tuple[Text, ...] = ()
    evaluation_interval: Duration = 0
    group_eval_order: tuple[Text, ...] = ()
    fuzzy_compare: Boolean = False
    tests: tuple[Any, ...] = ()

    def problems(self) -> Iterator[tuple[str, str]]:
        twice = [name for number, name in enumerate(self.group_eval_order) if name in self.group_eval_order[:number]]
        for name in dict.fromkeys(twice):
            yield "group_eval_order", f"group_eval_order: {shown(name)} is given twice"


class _Test(Section):
    name: Text = ""
    interval: Duration = 0
    start_timestamp: Timestamp = 0
    input_series: tuple[Any, ...] = ()
    alert_rule_test: tuple[Any, ...] = ()
    promql_expr_test: tuple[Any, ...] = ()
    external_labels: dict[Text, Text] = Field(default_factory=dict)
    external_url: Text = ""


class _Series(Section):
    series: Text = ""
    values: Text = ""

    def problems(self) -> Iterator[tuple[str, str]]:
        if not self.series.strip():
            yield "series", '"series" must be set'


class _AlertCase(Section):
    eval_time: Duration = 0
    alertname: Text = ""
    exp_alerts: tuple[Any, ...] = ()

    def problems(self) -> Iterator[tuple[str, str]]:
        if not self.alertname:
            yield "alertname", '"alertname" must be set'


class _Alert(Section):
    exp_labels: dict[Text, Text] = Field(default_factory=dict)
    exp_annotations: dict[Text, Text] = Field(default_factory=dict)


class _ExprCase(Section):
    eval_time: Duration = 0
    expr: Text = ""
    exp_samples: tuple[Any, ...] = ()

    def problems(self) -> Iterator[tuple[str, str]]:
        if not self.expr:
            yield "expr", '"expr" must be set'


class _Sample(Section):
    not_yet: ClassVar[dict[str, str]] = {"histogram": "only float values are"}
    labels: Text = ""
    value: Number = 0.0


def read_unit_tests(path: Path, check_expr: Check) -> UnitTestFile:
    """Return what the file says; raises DocumentError with all its mistakes."""
    return parse_unit_tests(read_bytes(path), str(path), check_expr)


def parse_unit_tests(data: bytes | str, path: str, check_expr: Check) -> UnitTestFile:
    """Return what the document says; `path` is its name, and its folder is where rule files are looked for."""
    document = read_document(data, path, first_only=True)
    reader = _Reader(Report(document, _where), check_expr)
    file = reader.file()
    reader.report.raise_if_wrong()
    return file


def _where(root: Node | None, loc: Loc) -> str:
    """Return `test "name", alert_rule_test 2` for a path that leads there; without a name, its number from 1."""
    match loc:
        case ("tests", int(test), str(part), int(item), *_):
            return f"{_where(root, ('tests', test))}, {part} {item + 1}"
        case ("tests", int(test), *_):
            name = find(root, ("tests", test, "name"))
            return f"test {shown(name.text)}" if isinstance(name, Scalar) and name.text else f"test {test + 1}"
    return ""


class _Reader:
    """Reads one document; every mistake goes to `report`. What is returned is of use only when there is none."""

    def __init__(self, report: Report, check_expr: Check) -> None:
        self.report = report
        self._root = report.document.root
        self._check_expr = check_expr

    def file(self) -> UnitTestFile:
        file = self.report.read(_File) or _File()
        rule_files = {path: None for loc in self._items(("rule_files",)) for path in self._rule_files(loc)}
        interval = file.evaluation_interval or MINUTE
        tests = tuple(self._test(loc, interval) for loc in self._items(("tests",)))
        return UnitTestFile(
            path=self.report.document.path,
            rule_files=tuple(rule_files),
            evaluation_interval=interval,
            group_eval_order=file.group_eval_order,
            fuzzy_compare=file.fuzzy_compare,
            tests=tests,
            warnings=tuple(mistake for mistake in self.report.mistakes if mistake.warning),
        )

    def _rule_files(self, loc: Loc) -> tuple[Path, ...]:
        pattern = find(self._root, loc)
        if not isinstance(pattern, Scalar):
            return ()
        try:
            found = matching(Path(self.report.document.path).parent, pattern.text)
        except PatternError as err:
            self.report.add(loc, f"rule_files: {err}")
            return ()
        if not found:
            self.report.add(loc, f"rule_files: {shown(pattern.text)} matches no file", warning=True)
        return found

    def _items(self, loc: Loc) -> Iterator[Loc]:
        items = find(self._root, loc)
        if isinstance(items, SequenceNode):
            yield from ((*loc, index) for index in range(len(items)))

    def _test(self, loc: Loc, interval: int) -> UnitTest:
        test = self.report.read(_Test, loc) or _Test()
        return UnitTest(
            name=test.name,
            interval=test.interval or interval,
            start=test.start_timestamp,
            series=self._all_series((*loc, "input_series")),
            alert_cases=tuple(self._alert_case(at) for at in self._items((*loc, "alert_rule_test"))),
            expr_cases=tuple(self._expr_case(at) for at in self._items((*loc, "promql_expr_test"))),
            external_labels=Labels.of(test.external_labels),
            external_url=test.external_url,
        )

    def _all_series(self, loc: Loc) -> tuple[InputSeries, ...]:
        """Return the series of a test; of those with the same labels the last counts, as in promtool."""
        items = list(self._items(loc))
        series = [self._series(at, is_last=at == items[-1]) for at in items]
        return tuple({one.labels: one for one in series}.values())

    def _series(self, loc: Loc, *, is_last: bool) -> InputSeries:
        self.report.read(_Series, loc)
        labels = self._parsed((*loc, "series"), lambda text: _input_metric(text, is_last=is_last), EMPTY)
        nothing: tuple[Run, ...] = ()
        runs = self._parsed((*loc, "values"), lambda text: _input_values(text, is_last=is_last), nothing)
        return InputSeries(labels, runs)

    def _alert_case(self, loc: Loc) -> AlertCase:
        case = self.report.read(_AlertCase, loc) or _AlertCase(alertname="_")
        name = {ALERT_NAME: case.alertname}
        alerts = [self.report.read(_Alert, at) or _Alert() for at in self._items((*loc, "exp_alerts"))]
        expected = (ExpectedAlert(overlay(a.exp_labels, name), overlay({}, a.exp_annotations)) for a in alerts)
        return AlertCase(case.alertname, case.eval_time, tuple(expected), place_of(self._root, loc))

    def _expr_case(self, loc: Loc) -> ExprCase:
        case = self.report.read(_ExprCase, loc) or _ExprCase(expr="_")
        self._check((*loc, "expr"))
        expected = tuple(self._sample(at) for at in self._items((*loc, "exp_samples")))
        return ExprCase(case.expr, case.eval_time, expected, place_of(self._root, loc))

    def _sample(self, loc: Loc) -> tuple[Labels, float]:
        sample = self.report.read(_Sample, loc) or _Sample()
        return self._parsed((*loc, "labels"), parse_metric, EMPTY), sample.value

    def _parsed(self, loc: Loc, parse: Callable[[str], Read], instead: Read) -> Read:
        """Return what `parse` makes of the text at `loc`; `instead` where there is none, or a wrong one."""
        scalar = find(self._root, loc)
        if not isinstance(scalar, Scalar) or scalar.is_null:
            return instead
        try:
            return parse(scalar.text)
        except NotationError as err:
            self._add_inside(loc, scalar, (1, err.column), f"{loc[-1]}: {err}")
            return instead

    def _check(self, loc: Loc) -> None:
        scalar = find(self._root, loc)
        if not isinstance(scalar, Scalar) or scalar.is_null or not scalar.text:
            return
        problem = self._check_expr(scalar.text)
        if problem is not None:
            at = None if problem.line is None else (problem.line, problem.column or 1)
            self._add_inside(loc, scalar, at, f"expr: {problem.what}")

    def _add_inside(self, loc: Loc, scalar: Scalar, at: tuple[int, int] | None, what: str) -> None:
        place = scalar.place if at is None else place_inside(self.report.document.text, scalar, *at)
        self.report.add_at(place, loc, what)


def _input_metric(text: str, *, is_last: bool) -> Labels:
    labels = parse_metric(_one_line(text, is_last=is_last), blank_before_brace=False)
    if not labels and text.strip():
        raise NotationError("a series needs a label")
    return labels


def _input_values(text: str, *, is_last: bool) -> tuple[Run, ...]:
    return parse_values(_one_line(text, is_last=is_last))


def _one_line(text: str, *, is_last: bool) -> str:
    """Return `text`; raises NotationError where a line break in it ends what promtool reads."""
    if "\n" in (text.rstrip() if is_last else text):
        raise NotationError(
            "a line break ends the notation; promtool passes over all series behind it (write >- instead of >)"
        )
    return text
