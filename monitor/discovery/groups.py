"""Lists of targets as files and URLs hold them, in YAML or in JSON: `[{targets: ["host:port"], labels: {…}}]`."""

import json
import re
from collections.abc import Mapping

from monitor.model.labels import EMPTY, Labels
from monitor.model.targetgroup import TargetGroup
from monitor.yamldoc.compose import read_document
from monitor.yamldoc.kinds import LabelSet, Text
from monitor.yamldoc.mistake import DocumentError, Mistake, Place
from monitor.yamldoc.node import Loc, Node, SequenceNode
from monitor.yamldoc.report import Report
from monitor.yamldoc.section import Section
from monitor.yamldoc.source import decode

ADDRESS = "__address__"
# JSON writes what lies beyond 16 bits as two escapes; YAML does not know them.
_ESCAPES = re.compile(r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")


class TargetGroupSection(Section):
    """Addresses and the labels that all of them get."""

    targets: tuple[Text, ...] = ()
    labels: LabelSet = EMPTY


def read_yaml(data: bytes | str, path: str, meta: Mapping[str, str]) -> tuple[TargetGroup, ...]:
    """Return the groups of a YAML document, each with the labels `meta`. Raises DocumentError with all mistakes."""
    report = Report(read_document(data, path), _where)
    root = report.document.root
    if root is not None and not isinstance(root, SequenceNode):
        report.add((), "must be a list of target groups")
    items = root if isinstance(root, SequenceNode) else ()
    sections = [report.read(TargetGroupSection, (index,)) for index in range(len(items))]
    report.raise_if_wrong()
    return tuple(_group(section, f"{path}:{number}", meta) for number, section in enumerate(sections) if section)


def read_json(data: bytes | str, path: str, meta: Mapping[str, str]) -> tuple[TargetGroup, ...]:
    """Return the groups of a JSON document. Raises DocumentError with all mistakes."""
    text = decode(data, path)
    try:
        json.loads(text)
    except json.JSONDecodeError as err:
        mistake = Mistake(path, Place(err.lineno, err.colno), "", f"is not valid JSON: {err.msg.lower()}")
        raise DocumentError([mistake]) from err
    except RecursionError as err:
        raise DocumentError([Mistake(path, Place(1, 1), "", "is nested too deep")]) from err
    # JSON is YAML, whose reader knows of each value where it stands.
    return read_yaml(_ESCAPES.sub(_unescaped, text), path, meta)


def _unescaped(found: re.Match[str]) -> str:
    return found[0] if found[0] == "\\\\" else str(json.loads(f'"{found[0]}"'))


def _group(section: TargetGroupSection, source: str, meta: Mapping[str, str]) -> TargetGroup:
    targets = tuple(Labels.of({ADDRESS: address}) for address in section.targets)
    return TargetGroup(source, targets, section.labels.with_(meta))


def _where(_root: Node | None, loc: Loc) -> str:
    return f"target group {int(loc[0]) + 1}" if loc else ""
