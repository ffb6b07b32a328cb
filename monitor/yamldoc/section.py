"""What every section of a document has in common: known keys, keys that are not supported yet, and unknown ones."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationInfo, model_validator

from monitor.yamldoc.node import MappingNode, Scalar


class ProblemsError(ValueError):
    """The fields of a section are right one by one but not together; pairs of a field's name and what is wrong."""

    def __init__(self, problems: Iterable[tuple[str, str]]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(what for _, what in self.problems))


@dataclass(frozen=True, slots=True)
class Reading:
    """
    What the fields of a document need to know, and what they leave behind.

    Relative paths are meant from `folder`. `unknown` fills with the keys that no section knows.
    """

    folder: Path
    unknown: list[tuple[MappingNode, str, type["Section"]]] = field(default_factory=list)


class Section(BaseModel):
    """
    A table of settings. Fields are keys; a key that is a Python keyword has an underscore behind it (`for_`).

    `not_yet` are keys that Prometheus or Alertmanager have and we do not, each with a hint or "".
    A key without a value is a key left out.
    """

    # Inputs hold secrets: they must not appear in the text of an error.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True)

    not_yet: ClassVar[dict[str, str]] = {}

    @classmethod
    def fields_by_key(cls) -> dict[str, str]:
        return {name.removesuffix("_"): name for name in cls.model_fields}

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any, info: ValidationInfo) -> Any:
        reading = info.context
        if not isinstance(data, MappingNode) or not isinstance(reading, Reading):
            return data
        fields = cls.fields_by_key()
        # Unknown keys are put aside, so that the mistakes in the known ones are found in the same run.
        reading.unknown.extend((data, key, cls) for key in data if key not in fields)
        return {fields[key]: node for key, node in data.items() if key in fields and not _is_null(node)}

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        problems = tuple(self.problems())
        if problems:
            raise ProblemsError(problems)
        return self

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield the name of a field and what is wrong with it beside the others, for every such problem."""
        yield from ()


def _is_null(node: Any) -> bool:
    return isinstance(node, Scalar) and node.is_null
