"""The blocks of commands in a page, and what the comment before each says of it."""

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

_BLOCK = re.compile(r"(?:<!-- (?P<mark>[^>]+) -->\n)? *```(?P<language>\w*)\n(?P<text>.*?)\n *```", re.DOTALL)
_CHECKED = re.compile(r"checked by (?P<by>.+?): (?P<why>.+)")
RUN, UNTIL_READY = "run", "run: until ready"


@dataclass(frozen=True, slots=True)
class Block:
    """
    Commands of a page.

    `mark` is `run`, `run: until ready` for a server, or `checked by TEST and TARGET: REASON`; "" when there is none.
    """

    page: str
    heading: str
    mark: str
    text: str

    @property
    def stands_for_it(self) -> tuple[list[str], str] | None:
        """Return the tests and targets of make that stand for it, and why it is not run; None where it is."""
        found = _CHECKED.fullmatch(self.mark)
        return (found["by"].split(" and "), found["why"]) if found else None


def blocks(path: Path) -> list[Block]:
    """Return the blocks of shell commands; other languages are not commands."""
    text = path.read_text()
    return [
        Block(path.name, _heading(text[: found.start()]), found["mark"] or "", _joined(found["text"]))
        for found in _BLOCK.finditer(text)
        if found["language"] in ("", "sh", "bash", "console")
    ]


def _joined(text: str) -> str:
    """Return commands without the indentation of a list, each on one line."""
    return dedent(text).replace("\\\n", " ") + "\n"


def _heading(before: str) -> str:
    headings = re.findall(r"(?m)^#+ (.+)$", before)
    return headings[-1] if headings else ""
