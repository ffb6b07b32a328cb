"""How the failures of unit tests look: expected and got side by side, or one below the other where they are long."""

from collections.abc import Iterator

from rich.text import Text

from monitor.rules.unittest.compare import Line
from monitor.rules.unittest.run import Failure

_WIDEST_NAME = 60
_WIDEST_VALUE = 40
_INDENT = " " * 8
_STYLES = {"=": "dim", "!": "yellow", "-": "red", "+": "red"}
_EXPECTED, _GOT = "green", "red"


def report(failure: Failure, path: str, test: str) -> Iterator[Text]:
    """Yield the lines that tell of a failure of `test` in the file `path`."""
    at = f"{path}:{failure.place.line}:{failure.place.column}" if failure.place.line else path
    yield Text(f"    {at}: {test}, {failure.title}" + (":" if failure.lines else ""))
    beside = [line for line in failure.lines if _fits(line) and (line.expected or line.got)]
    name = min(max((len(_name(line)) for line in beside), default=0), _WIDEST_NAME)
    value = max((len(line.expected) for line in beside), default=0)
    value = max(value, len("expected"))
    if beside:
        yield Text(f"{_INDENT}{'':{name}}  {'expected':{value}}  got", style="bold")
    for line in failure.lines:
        yield from _line(line, name, value)


def _line(line: Line, name: int, value: int) -> Iterator[Text]:
    label = _name(line)
    style = _STYLES.get(line.mark, "")
    if not line.expected and not line.got:
        yield Text.assemble(_INDENT, (label, style))
    elif _fits(line):
        if len(label) > name:
            yield Text.assemble(_INDENT, (label, style))
            label = ""
        yield Text.assemble(
            _INDENT,
            (f"{label:{name}}", style),
            "  ",
            (f"{line.expected:{value}}", "dim" if line.mark == "=" else _EXPECTED),
            "  ",
            (line.got, "dim" if line.mark == "=" else _GOT),
        )
    else:
        yield Text.assemble(_INDENT, (label, style))
        yield from _stacked(line)


def _stacked(line: Line) -> Iterator[Text]:
    yield Text.assemble(_INDENT, "    expected  ", (line.expected, _EXPECTED))
    yield Text.assemble(_INDENT, "    got       ", (line.got, _GOT))
    pairs = enumerate(zip(line.expected, line.got, strict=False))
    same = next((at for at, (one, other) in pairs if one != other), min(len(line.expected), len(line.got)))
    if same:
        yield Text.assemble(_INDENT, " " * (len("    expected  ") + same), ("^ from here on", "yellow"))


def _name(line: Line) -> str:
    return f"{line.mark or '   '} {line.what}"


def _fits(line: Line) -> bool:
    return max(len(line.expected), len(line.got)) <= _WIDEST_VALUE and "\n" not in line.expected + line.got
