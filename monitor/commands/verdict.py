"""What `check --target` prints: a table for people, or JSON for programs."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from monitor.commands.examine import Examined, Row, Seen
from monitor.commands.table import visible
from monitor.model.labels import INSTANCE, JOB
from monitor.probe.options import ROUND, Probe
from monitor.probe.questions import PATHS, Round

if TYPE_CHECKING:
    from monitor.commands.askedcheck import Asked

_STYLES = {"ok": "green", "nodata": "yellow", "err": "red"}
_BROKEN = "bold red"


def print_verdict(found: Sequence[Examined], console: Console) -> None:
    """Print a table of all rules for one target; for several, of those that find nothing."""
    for examined in found:
        console.print(Text(visible(f"{examined.seen.where}: {_what_runs(examined.seen)}"), "bold"))
        if examined.seen.probes is not None:
            console.print(Text(visible(" · ".join(_answers(examined.seen.probes))), "dim"))
        rows = [row for row in examined.rows if len(found) == 1 or row.health != "ok"]
        if rows:
            console.print(_table(rows))
        if examined.rows:
            console.print(Text(_summary(examined.rows), "" if examined.works else _BROKEN))


def as_json(found: Sequence[Examined], prometheus: "Asked | None" = None) -> str:
    """Return the same as one JSON object; `prometheus` is who evaluates the rules in our place, if anybody."""
    is_well = all(one.works for one in found) and (prometheus is None or prometheus.works)
    told = {} if prometheus is None else {"prometheus": prometheus.as_json()}
    return json.dumps({"ok": is_well, "targets": [_target(one) for one in found], **told}, indent=2)


def _what_runs(seen: Seen) -> str:
    if seen.offer is None:
        return seen.error
    running = seen.offer.running
    return "no vLLM server" if running is None else f"vLLM {running} ({running.engine})"


def _answers(probes: Round) -> Iterator[str]:
    """Yield what each path answered."""
    readings = probes.readings
    known = {
        Probe.HEALTH: readings.health.value if readings.health is not None else "",
        Probe.LOAD: "" if readings.server_load is None else f"{readings.server_load:g}",
        Probe.VERSION: readings.version,
        Probe.MODELS: ", ".join(f"{model.name} ({model.max_model_len} tokens)" for model in readings.models),
    }
    for probe in ROUND:
        if probe not in probes.done:
            yield f"{PATHS[probe]} not asked"
        else:
            reason = probes.done[probe]
            yield f"{PATHS[probe]} {known[probe] or 'says nothing'}" if reason is None else f"{PATHS[probe]} {reason}"


def _table(rows: Sequence[Row]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False)
    for name in ("", "rule"):
        table.add_column(name, overflow="fold")
    table.add_column("health")
    table.add_column("reason", overflow="fold")
    for row in rows:
        style = _STYLES[row.health] if row.works else _BROKEN
        reason = row.error or (f"{row.blind.reason}: {row.blind.sentence}" if row.blind is not None else "")
        cells = [Text(row.kind, "dim"), Text(visible(row.name)), Text(row.health, style), Text(visible(reason))]
        table.add_row(*cells)
    return table


def _summary(rows: Sequence[Row]) -> str:
    kinds = Counter(row.kind for row in rows)
    what = ", ".join(f"{count} {kind if count == 1 else _plural(kind)}" for kind, count in kinds.items())
    explained = sum(row.works and row.health != "ok" for row in rows)
    broken = sum(not row.works for row in rows)
    good = len(rows) - explained - broken
    return f"{what}: {good} find what they need, {explained} have nothing to find here, {broken} cannot work"


def _plural(kind: str) -> str:
    return "queries" if kind == "query" else f"{kind}s"


def _target(examined: Examined) -> dict[str, Any]:
    seen = examined.seen
    running = seen.offer.running if seen.offer is not None else None
    probes = seen.probes
    return {
        "job": seen.labels.value(JOB),
        "instance": seen.labels.value(INSTANCE),
        "where": seen.where,
        "ok": examined.works,
        "error": seen.error,
        "version": str(running.version) if running is not None else "",
        "exact": running is not None and running.exact,
        "engine": running.engine.value if running is not None else "",
        "probes": {probe.value: str(reason or "ok") for probe, reason in probes.done.items()} if probes else {},
        "rules": [_row(row) for row in examined.rows],
    }


def _row(row: Row) -> dict[str, Any]:
    blind = row.blind
    return {
        "kind": row.kind,
        "group": row.group,
        "name": row.name,
        "health": row.health,
        "reason": blind.reason.value if blind is not None else "",
        "explained": row.works,
        "message": row.error or (blind.sentence if blind is not None else ""),
    }
