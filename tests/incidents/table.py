"""The table that `make incidents` prints."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from monitor.model.instant import SECOND, Duration
from tests.incidents.firing import Firing
from tests.incidents.run import Told
from tests.incidents.story import Expect, Tell
from tests.incidents.verdict import Foreign, Found, Verdict


def print_table(console: Console, title: str, told: Sequence[Told]) -> None:
    """Print a row for each story: what must be told, who found it after how many seconds, and false alarms."""
    seldom = any(one.seldom for one in told)
    table = Table(title=title, box=box.SIMPLE, title_justify="left", title_style="bold", pad_edge=False)
    table.add_column("scenario")
    table.add_column("tell")
    table.add_column("by what", overflow="fold")
    for name in ("within", "daemon", "rules alone", *(["15 s scrapes"] if seldom else [])):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("false alarms", overflow="fold")
    for one in told:
        table.add_row(*_row(one, seldom=seldom))
    console.print(table)


def _row(told: Told, *, seldom: bool) -> Iterator[str]:
    story, columns = told.story, (told.daemon, told.rules, *([told.seldom] if seldom else []))
    verdicts = [one for one in columns if one is not None]
    yield story.name if all(one.is_good for one in verdicts) else f"[red]{story.name}[/]"
    yield story.tell.value
    yield "\n".join(_name(told, expect) for expect in story.expects)
    yield "\n".join(f"{expect.within / SECOND:g} s" for expect in story.expects)
    for verdict in columns:
        yield "\n".join(_after(verdict, expect) for expect in story.expects)
    yield _alarms([firing for verdict in verdicts for firing in verdict.false_alarms])


def _name(told: Told, expect: Expect) -> str:
    """Return who found it, or who should have."""
    by = next((found.by for found in told.daemon.found if found.expect == expect), "")
    return _short(by or expect.alerts[0])


def _after(verdict: Verdict | None, expect: Expect) -> str:
    found = next((one for one in verdict.found if one.expect == expect), None) if verdict else None
    return "" if found is None else _seconds(found)


def _seconds(found: Found) -> str:
    if found.after is None:
        return "[red]missed[/]"
    text = f"{found.after / SECOND:g} s" + ("" if found.severity_fits else " (no page)")
    return text if found.in_time else f"[red]{text}[/]"


def _alarms(alarms: Sequence[Firing]) -> str:
    named = {f"{_short(one.alert)}{' (page)' if one.pages else ''} at {one.begin // SECOND} s": 0 for one in alarms}
    return "\n".join(f"[red]{text}[/]" for text in named)


def print_foreign(console: Console, told: Sequence[Told]) -> None:
    """Print how other rule sets did beside ours: pages and tickets found, and false alarms."""
    names = list(told[0].foreign) if told else []
    table = Table(
        title="Beside other rule sets", box=box.SIMPLE, title_justify="left", title_style="bold", pad_edge=False
    )
    table.add_column("scenario")
    table.add_column("expected")
    for name in ("shipped rules", *names):
        table.add_column(name, overflow="fold")
    for one in told:
        table.add_row(one.story.name, one.story.tell.value, _ours(one), *(_theirs(one.foreign[name]) for name in names))
    console.print(table)
    for name in names:
        console.print(_count(name, [one.foreign[name] for one in told]))


def _ours(told: Told) -> str:
    verdict = told.rules or told.daemon
    if told.story.tell is not Tell.NOTHING and not verdict.found:
        verdict = told.daemon
    missed = [found for found in verdict.found if found.after is None]
    after = [found.after for found in verdict.found if found.after is not None]
    return _outcome(
        max(after, default=None), missed=bool(missed), false=len(verdict.false_alarms), tell=told.story.tell
    )


def _theirs(foreign: Foreign) -> str:
    missed = foreign.after is None or (foreign.story.tell is Tell.PAGE and foreign.page is None)
    return _outcome(foreign.after, missed=missed, false=len(foreign.false_alarms), tell=foreign.story.tell)


def _outcome(after: Duration | None, *, missed: bool, false: int, tell: Tell) -> str:
    alarms = f", [red]{false} false[/]" if false else ""
    if tell is Tell.NOTHING:
        return f"[red]{false} false[/]" if false else "quiet"
    if missed:
        return ("[red]missed[/]" if after is None else f"[yellow]no page, {after // SECOND} s[/]") + alarms
    return f"{(after or 0) // SECOND} s" + alarms


def _count(name: str, foreign: Sequence[Foreign]) -> str:
    pages = [one for one in foreign if one.story.tell is Tell.PAGE]
    tickets = [one for one in foreign if one.story.tell is Tell.TICKET]
    quiet = [one for one in foreign if one.story.tell is Tell.NOTHING]
    return (
        f"{name}: {sum(one.page is not None for one in pages)} of {len(pages)} pages,"
        f" {sum(one.alert is not None for one in tickets)} of {len(tickets)} tickets,"
        f" false alarms in {sum(bool(one.false_alarms) for one in foreign)} stories,"
        f" {sum(bool(one.false_alarms) for one in quiet)} of {len(quiet)} healthy ones"
    )


def _short(alert: str) -> str:
    return alert.removeprefix("VLLM")
