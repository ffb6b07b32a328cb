"""Just enough of the Dockerfile language to ask what an image is made of."""

import json
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Instruction:
    word: str
    rest: str

    def exec_form(self) -> list[str]:
        """Return the words of `["a", "b"]`; ValueError for the shell form."""
        found = re.search(r"\[.*\]\s*$", self.rest)
        if found is None:
            raise ValueError(f"{self.word} is in shell form")
        return [str(word) for word in json.loads(found[0])]


def stages(path: Path) -> list[list[Instruction]]:
    """Return the instructions of each stage, `FROM` first; continued lines are joined, comments left out."""
    lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    found: list[list[Instruction]] = []
    for line in filter(None, map(str.strip, joined.splitlines())):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            found.append([])
        found[-1].append(Instruction(word, rest.strip()))
    return found
