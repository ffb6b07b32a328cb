"""Log lines: one a line whatever they hold."""

import logging

import pytest

from monitor.logs import LogfmtFormatter


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("oncall", "oncall"),
        ("two words", '"two words"'),
        ('quo"te', '"quo\\"te"'),
        ("line\nbreak", '"line\\nbreak"'),
        ("", '""'),
        ("\x1b[31mred", '"\\u001b[31mred"'),
        ("über", "über"),
        ("nach\u202elinks", '"nach\\u202elinks"'),
        ("line\u2028break", '"line\\u2028break"'),
        ("no UTF-8: \udcff", '"no UTF-8: \\udcff"'),
    ],
)
def test_values_never_break_the_line(value: str, shown: str) -> None:
    record = logging.makeLogRecord({"msg": "alert %s", "args": ("fires",), "levelname": "INFO", "created": 0.0})
    record.receiver = value
    assert LogfmtFormatter().format(record) == (
        f'time=1970-01-01T00:00:00.000Z level=info msg="alert fires" receiver={shown}'
    )
