"""
Labels are changed, and label sets are dropped, by a list of rules: `relabel_configs`, in Prometheus' words.

reference: Prometheus 3, model/relabel/relabel.go; names of labels are any text, as its default has it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import md5

from monitor.model.expansion import Parts, expand_template, expanded
from monitor.model.labels import Labels
from monitor.model.matcher import compile_anchored

ANYTHING, WHOLE, SEPARATOR = "(.*)", "$1", ";"

# The labels before and after; a step changes them in place and says whether they are kept.
Mutable = dict[str, str]
Step = Callable[[Mutable], bool]


class Action(StrEnum):
    REPLACE = "replace"
    KEEP = "keep"
    DROP = "drop"
    KEEPEQUAL = "keepequal"
    DROPEQUAL = "dropequal"
    HASHMOD = "hashmod"
    LABELMAP = "labelmap"
    LABELDROP = "labeldrop"
    LABELKEEP = "labelkeep"
    LOWERCASE = "lowercase"
    UPPERCASE = "uppercase"


@dataclass(frozen=True, slots=True)
class RelabelConfig:
    """One rule. `regex` is RE2 and anchored at both ends; raises MatchError when it does not compile."""

    action: Action = Action.REPLACE
    source_labels: tuple[str, ...] = ()
    separator: str = SEPARATOR
    target_label: str = ""
    regex: str = ANYTHING
    modulus: int = 0
    replacement: str = WHOLE
    apply: Step = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "apply", _STEPS[self.action](self))

    def value(self, labels: Mapping[str, str]) -> str:
        """Return the values of the source labels with the separator in between."""
        return self.separator.join([labels.get(name, "") for name in self.source_labels])


def relabel(labels: Mutable, configs: Iterable[RelabelConfig]) -> bool:
    """Apply the rules in their order; returns False when one of them drops the label set."""
    return all(config.apply(labels) for config in configs)


def relabelled(labels: Labels, configs: Iterable[RelabelConfig]) -> Labels | None:
    """Return what becomes of `labels`, or None when they are dropped."""
    changed = labels.as_dict()
    return Labels.of(changed) if relabel(changed, configs) else None


def problems(config: RelabelConfig) -> Iterator[tuple[str, str]]:
    """Yield the key and what is wrong with it, for every key that does not go with the action."""
    action = config.action
    if action is Action.HASHMOD and not config.modulus:
        yield "modulus", "hashmod needs a modulus that is not 0"
    if action in _WRITES and not config.target_label:
        yield "target_label", f"{action} needs a target_label"
    if action in _READS_ONLY and config.replacement != WHOLE:
        yield "replacement", f"{action} takes no replacement"
    if action in (Action.KEEPEQUAL, Action.DROPEQUAL):
        given = {"regex": (config.regex, ANYTHING), "modulus": (config.modulus, 0)}
        given["separator"] = config.separator, SEPARATOR
        yield from _not_taken(action, given, "nothing but source_labels and target_label")
    if action in (Action.LABELDROP, Action.LABELKEEP):
        given = {"source_labels": (config.source_labels, ()), "target_label": (config.target_label, "")}
        given |= {"modulus": (config.modulus, 0), "separator": (config.separator, SEPARATOR)}
        given["replacement"] = config.replacement, WHOLE
        yield from _not_taken(action, given, "nothing but regex")
    if action is Action.LABELMAP and not config.replacement:
        yield "replacement", "labelmap needs a replacement"


def _not_taken(action: Action, given: Mapping[str, tuple[object, object]], taken: str) -> Iterator[tuple[str, str]]:
    for key, (value, default) in given.items():
        if value != default:
            yield key, f"{action} takes {taken}"


_WRITES = (
    Action.REPLACE,
    Action.HASHMOD,
    Action.LOWERCASE,
    Action.UPPERCASE,
    Action.KEEPEQUAL,
    Action.DROPEQUAL,
)
_READS_ONLY = (Action.LOWERCASE, Action.UPPERCASE, Action.KEEPEQUAL, Action.DROPEQUAL)


def _set(labels: Mutable, name: str, value: str) -> None:
    if value:
        labels[name] = value
    else:
        # An empty value is the same as a missing label.
        labels.pop(name, None)


def _keep(config: RelabelConfig) -> Step:
    matches = compile_anchored(config.regex).fullmatch
    return lambda labels: matches(config.value(labels)) is not None


def _drop(config: RelabelConfig) -> Step:
    matches = compile_anchored(config.regex).fullmatch
    return lambda labels: matches(config.value(labels)) is None


def _keepequal(config: RelabelConfig) -> Step:
    return lambda labels: labels.get(config.target_label, "") == config.value(labels)


def _dropequal(config: RelabelConfig) -> Step:
    return lambda labels: labels.get(config.target_label, "") != config.value(labels)


def _template(config: RelabelConfig, text: str) -> Parts:
    pattern = compile_anchored(config.regex)
    return expand_template(text, dict(pattern.groupindex), pattern.groups)


def _replace(config: RelabelConfig) -> Step:
    matches = compile_anchored(config.regex).fullmatch
    target, replacement = _template(config, config.target_label), _template(config, config.replacement)

    def step(labels: Mutable) -> bool:
        found = matches(config.value(labels))
        name = expanded(target, found) if found is not None else ""
        if name:
            _set(labels, name, expanded(replacement, found))
        return True

    return step


def _hashmod(config: RelabelConfig) -> Step:
    def step(labels: Mutable) -> bool:
        # Nothing is kept secret by it, and every Prometheus shards by the same half of it.
        digest = md5(config.value(labels).encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
        labels[config.target_label] = str(int.from_bytes(digest[8:]) % max(config.modulus, 1))
        return True

    return step


def _labelmap(config: RelabelConfig) -> Step:
    matches, replacement = compile_anchored(config.regex).fullmatch, _template(config, config.replacement)

    def step(labels: Mutable) -> bool:
        for name, value in list(labels.items()):
            found = matches(name)
            if found is not None:
                _set(labels, expanded(replacement, found), value)
        return True

    return step


def _labeldrop(config: RelabelConfig) -> Step:
    matches = compile_anchored(config.regex).fullmatch

    def step(labels: Mutable) -> bool:
        for name in [name for name in labels if matches(name) is not None]:
            del labels[name]
        return True

    return step


def _labelkeep(config: RelabelConfig) -> Step:
    matches = compile_anchored(config.regex).fullmatch

    def step(labels: Mutable) -> bool:
        for name in [name for name in labels if matches(name) is None]:
            del labels[name]
        return True

    return step


def _cased(one: Callable[[str], str]) -> Callable[[RelabelConfig], Step]:
    def change(text: str) -> str:
        # Letter by letter, as Go does: what would become two letters stays as it is.
        return "".join([changed if len(changed := one(letter)) == 1 else letter for letter in text])

    def of(config: RelabelConfig) -> Step:
        def step(labels: Mutable) -> bool:
            value = config.value(labels)
            _set(labels, config.target_label, one(value) if value.isascii() else change(value))
            return True

        return step

    return of


_STEPS: dict[Action, Callable[[RelabelConfig], Step]] = {
    Action.REPLACE: _replace,
    Action.KEEP: _keep,
    Action.DROP: _drop,
    Action.KEEPEQUAL: _keepequal,
    Action.DROPEQUAL: _dropequal,
    Action.HASHMOD: _hashmod,
    Action.LABELMAP: _labelmap,
    Action.LABELDROP: _labeldrop,
    Action.LABELKEEP: _labelkeep,
    Action.LOWERCASE: _cased(str.lower),
    Action.UPPERCASE: _cased(str.upper),
}
