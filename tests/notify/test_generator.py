"""The expression in the link of an alert."""

from monitor.notify.generator import expr_of


def test_the_expression_of_an_alert_is_read_from_the_link_that_prometheus_writes() -> None:
    assert expr_of("http://p:9090/graph?g0.expr=free%20%3C%3D%2010&g0.tab=1") == "free <= 10"
    assert expr_of("/graph?g0.expr=a+%2B+b+%3E+1&g0.tab=1") == "a + b > 1"


def test_where_there_is_none_or_somebody_made_one_up_there_is_none() -> None:
    assert expr_of("") == ""
    assert expr_of("http://[broken/graph?g0.expr=queue+%3E+10") == ""
    assert expr_of("http://m/graph?g0.expr=" + "9" * 20_000) == ""
