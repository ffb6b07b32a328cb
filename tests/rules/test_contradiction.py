"""
Two rules that write different values of one series at one instant.

As in Prometheus 2.42 and 3.5 (observed): the first one's value stands, and the second rule is not well.
"""

from math import nan

import pytest

from monitor.embedded import WindowAppender
from monitor.model.instant import MINUTE
from monitor.model.labels import Labels
from monitor.rules.errors import RuleError
from monitor.rules.group import Health
from monitor.storage.window import Window
from tests.rules.life import Life, groups_of

TWO = """\
groups:
  - name: g
    rules:
      - {record: a, expr: "1"}
      - {record: a, expr: "2"}
      - {record: b, expr: "1"}
      - {record: b, expr: "1"}
"""
ONE = TWO.replace('      - {record: a, expr: "1"}\n', "")
ALERTS = """\
groups:
  - name: g
    rules:
      - {alert: A, expr: vector(1)}
      - {alert: A, expr: x > 0}
"""


def healths(life: Life) -> list[tuple[Health, str]]:
    return [(verdict.health, verdict.error) for group in life.manager.groups for verdict in group.verdicts]


def test_the_second_value_is_its_rules_error_until_the_other_rule_is_gone() -> None:
    life = Life(groups_of(TWO))
    life.play({}, 2)
    duplicate = (Health.ERR, "duplicate sample of a: there is 1 already, and now 2")
    assert healths(life) == [(Health.OK, ""), duplicate, (Health.OK, ""), (Health.OK, "")]
    assert list(life.query("a", MINUTE)) == [(Labels.of(__name__="a"), 1.0)]
    life.reload(groups_of(ONE), MINUTE)
    life.manager.evaluate(2 * MINUTE)
    assert healths(life) == [(Health.OK, "")] * 3
    assert list(life.query("a", 2 * MINUTE)) == [(Labels.of(__name__="a"), 2.0)]


def test_the_alerts_of_a_rule_whose_series_contradicts_another_ones_are_told() -> None:
    life = Life(groups_of(ALERTS))
    x = Labels.of(__name__="x")
    life.play({x: [None, 1.0, 1.0]}, 2)
    life.feed({x: [None, 1.0, 1.0]}, 2)
    alerts = life.manager.evaluate(2 * MINUTE)
    assert [health for health, _ in healths(life)] == [Health.OK, Health.ERR]
    assert healths(life)[1][1].startswith('duplicate sample of ALERTS_FOR_STATE{alertname="A"}')
    assert [alert.starts_at for alert in alerts] == [0, MINUTE]


def test_values_that_are_no_numbers_are_alike_and_a_writer_that_stops_contradicts_nobody() -> None:
    appender, labels = WindowAppender(Window()), Labels.of(__name__="a")
    appender.append("first", 1, [(labels, nan)])
    appender.append("second", 1, [(labels, nan)])
    appender.append("first", 2, [])
    appender.append("second", 2, [(labels, 1.0)])
    appender.append("first", 3, [(labels, 2.0)])
    with pytest.raises(RuleError, match=r"^duplicate sample of a: there is 2 already, and now 3$"):
        appender.append("second", 3, [(labels, 3.0)])
