"""
The outcome of unit tests as JUnit's XML, for CI servers.

reference: promtool 3.5.3 with --junit, observed: a suite for each file, a case for each test that was run, and a file
that could not be read is a case with an error.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring


@dataclass(frozen=True, slots=True)
class Case:
    """A test and the texts of its failures."""

    name: str
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suite:
    """A file; `error` is why nothing of it was run, or "". `timestamp` is in ISO 8601."""

    name: str
    timestamp: str
    cases: tuple[Case, ...] = ()
    error: str = ""


def junit_xml(suites: Iterable[Suite]) -> str:
    root = Element("testsuites")
    for suite in suites:
        counts = {
            "tests": len(suite.cases) + bool(suite.error),
            "failures": sum(len(case.failures) for case in suite.cases),
            "errors": int(bool(suite.error)),
            "skipped": 0,
        }
        numbers = {name: str(count) for name, count in counts.items()}
        element = SubElement(root, "testsuite", {"name": suite.name, **numbers, "timestamp": suite.timestamp})
        for case in suite.cases:
            child = SubElement(element, "testcase", {"name": case.name})
            for failure in case.failures:
                SubElement(child, "failure").text = _clean(failure)
        if suite.error:
            SubElement(SubElement(element, "testcase", {"name": "unknown"}), "error").text = _clean(suite.error)
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _clean(text: str) -> str:
    """Replace what no XML document may hold."""
    return "".join(char if char in "\t\n" or char >= " " else "\ufffd" for char in text)
