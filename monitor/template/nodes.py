"""
The tree of a template.

Every node knows its place (characters from 0) and writes itself as Go does, because an error message quotes it.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Constant:
    """A string, a number, true, false or nil; `source` is how it was written."""

    position: int
    value: str | float | bool | None
    source: str

    def __str__(self) -> str:
        return self.source


@dataclass(frozen=True, slots=True)
class Dot:
    position: int

    def __str__(self) -> str:
        return "."


@dataclass(frozen=True, slots=True)
class Field:
    """`.Labels.x`: fields of the dot."""

    position: int
    names: tuple[str, ...]

    def __str__(self) -> str:
        return "".join(f".{name}" for name in self.names)


@dataclass(frozen=True, slots=True)
class Variable:
    """`$labels.x`: a variable and fields of it."""

    position: int
    name: str
    fields: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ".".join((self.name, *self.fields))


@dataclass(frozen=True, slots=True)
class Function:
    position: int
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Chain:
    """`(query "x" | first).Value`: fields of what something else gives."""

    position: int
    operand: "Operand"
    fields: tuple[str, ...]

    def __str__(self) -> str:
        return _operand(self.operand) + "".join(f".{name}" for name in self.fields)


@dataclass(frozen=True, slots=True)
class Command:
    """A function and its arguments, or one operand."""

    position: int
    arguments: tuple["Operand", ...]

    def __str__(self) -> str:
        return " ".join(_operand(argument) for argument in self.arguments)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands, each given the result of the one before; `variables` receive the last result."""

    position: int
    commands: tuple[Command, ...]
    variables: tuple[str, ...] = ()
    assigns: bool = False

    def __str__(self) -> str:
        text = " | ".join(str(command) for command in self.commands)
        if not self.variables:
            return text
        return f"{', '.join(self.variables)} {'=' if self.assigns else ':='} {text}"


Operand = Constant | Dot | Field | Variable | Function | Chain | Pipeline


@dataclass(frozen=True, slots=True)
class Text:
    position: int
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Action:
    """`{{ pipeline }}`: print the result, unless it is kept in a variable."""

    position: int
    pipeline: Pipeline

    def __str__(self) -> str:
        return f"{{{{{self.pipeline}}}}}"


@dataclass(frozen=True, slots=True)
class Branch:
    """`if` and `with`; `with` also moves the dot."""

    position: int
    pipeline: Pipeline
    then: tuple["Node", ...]
    otherwise: tuple["Node", ...]
    moves_dot: bool

    def __str__(self) -> str:
        return f"{{{{{'with' if self.moves_dot else 'if'} {self.pipeline}}}}}"


@dataclass(frozen=True, slots=True)
class Range:
    position: int
    pipeline: Pipeline
    body: tuple["Node", ...]
    otherwise: tuple["Node", ...]

    def __str__(self) -> str:
        return f"{{{{range {self.pipeline}}}}}"


@dataclass(frozen=True, slots=True)
class Leave:
    """`break` (`again` is false) and `continue`."""

    position: int
    again: bool

    def __str__(self) -> str:
        return "{{continue}}" if self.again else "{{break}}"


@dataclass(frozen=True, slots=True)
class Include:
    """`{{ template "name" pipeline }}`."""

    position: int
    name: str
    pipeline: Pipeline | None

    def __str__(self) -> str:
        argument = "" if self.pipeline is None else f" {self.pipeline}"
        return f'{{{{template "{self.name}"{argument}}}}}'


Node = Text | Action | Branch | Range | Leave | Include


@dataclass(frozen=True, slots=True)
class Tree:
    """The whole template, and the named ones defined in it."""

    root: tuple[Node, ...]
    defined: dict[str, tuple[Node, ...]] = field(default_factory=dict)


def _operand(operand: Operand) -> str:
    return f"({operand})" if isinstance(operand, Pipeline) else str(operand)
