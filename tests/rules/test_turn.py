"""At one instant what records goes before what reads it; the files keep their order."""

import pytest

from monitor.embedded import spelled_names
from monitor.model.instant import MINUTE
from monitor.model.labels import Labels
from monitor.rules.context import Context, reads_nothing
from monitor.rules.manager import Manager
from monitor.rules.spec import AlertingRule, RecordingRule, Rule, RuleGroup
from monitor.rules.turn import by_turn
from tests.rules.life import Life


def group(name: str, *rules: Rule) -> RuleGroup:
    return RuleGroup(name, rules=rules)


READER = group("reader", AlertingRule("High", "sum(rec:a) > 5"))
MIDDLE = group("middle", RecordingRule("rec:a", "rec:b * 2"))
SOURCE = group("source", RecordingRule("rec:b", "raw"))
ALONE = group("alone", AlertingRule("Alone", "raw > 5"), RecordingRule("rec:c", "rec:c"))
ROUND = group("round", RecordingRule("rec:b", "rec:a"))
ANYTHING = group("anything", AlertingRule("Any", '{__name__=~"rec:.*"}'))


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([READER, MIDDLE, SOURCE], "source middle reader"),
        ([ALONE, READER, SOURCE, MIDDLE], "alone source middle reader"),
        ([SOURCE, ALONE, MIDDLE, READER], "source alone middle reader"),
        # Two that read each other, and what waits for them, stay as they are.
        ([READER, MIDDLE, ROUND], "reader middle round"),
        ([MIDDLE, ROUND, READER], "middle round reader"),
        ([ANYTHING, SOURCE], "anything source"),
        ([], ""),
    ],
)
def test_what_records_goes_before_what_reads_it_and_else_the_order_of_the_files_stands(
    groups: list[RuleGroup], expected: str
) -> None:
    assert " ".join(groups[place].name for place in by_turn(groups, spelled_names)) == expected


@pytest.mark.parametrize("is_ordered", [True, False])
def test_an_alert_sees_what_a_file_behind_its_own_records_at_the_same_instant(*, is_ordered: bool) -> None:
    life = Life([])
    context = Context(life.query, life.appender, reads=spelled_names if is_ordered else reads_nothing)
    manager = Manager([READER, MIDDLE, SOURCE], context, MINUTE, lambda: 0.0)
    life.feed({Labels.of({"__name__": "raw"}): [3.0]}, 0)
    assert [alert.name for alert in manager.evaluate(0)] == (["High"] if is_ordered else [])
    assert [one.spec.name for one in manager.groups] == ["reader", "middle", "source"]
