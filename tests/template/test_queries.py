"""Which expressions a template asks for."""

import pytest

from monitor.template import parse
from monitor.template.queries import queries


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("plain, {{ $labels.instance }}", [], id="none"),
        pytest.param('{{ query "up" | first | value }}', ["up"], id="an argument"),
        pytest.param('{{ "up" | query | len }}', ["up"], id="what was before"),
        pytest.param(
            '{{ with printf "up{instance=%q}[%s]" $labels.instance "5m" | query }}{{ . | len }}{{ end }}',
            ['up{instance="0"}[1m]'],
            id="printf before",
        ),
        pytest.param(
            '{{ range query (printf "a %% 2 > %.2f" $value) }}{{ .Value }}{{ end }}', ["a % 2 > 0"], id="printf inside"
        ),
        pytest.param(
            '{{ if true }}{{ else }}{{ (query "a" | first).Value }}{{ end }}{{ query "b" | len }}',
            ["a", "b"],
            id="two, in their order",
        ),
        pytest.param('{{ define "t" }}{{ query "a" | len }}{{ end }}{{ template "t" }}', ["a"], id="a named template"),
        pytest.param('{{ $q := "up" }}{{ query $q | len }}', [None], id="a variable cannot be followed"),
        pytest.param('{{ "a" | printf "%s" | query | len }}', [None], id="nor a text that printf only passes on"),
    ],
)
def test_queries(text: str, expected: list[str | None]) -> None:
    assert list(queries(parse(text))) == expected
