"""Why a page lacks a metric: what is known of it, against what runs."""

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache

from monitor.sight.offer import Offer
from monitor.sight.reason import Blind, Reason
from monitor.vllm.families import PREFIX, Engine, Family, canonical, families, family_of
from monitor.vllm.guess import Running

_DCGM = "DCGM_"
_SIMILAR = 0.6
# Names that people write for what vLLM has no metric of its own for, and what to read instead.
_MEANT = {
    "vllm:request_error_total": 'vllm:request_success_total{finished_reason="error"}',
    "vllm:request_errors_total": 'vllm:request_success_total{finished_reason="error"}',
    "vllm:request_failure_total": 'vllm:request_success_total{finished_reason="error"}',
    "vllm:num_requests_failed": 'vllm:request_success_total{finished_reason="error"}',
}


def absence(metric: str, offer: Offer) -> Blind:
    """Return why the page of `offer` has nothing of the name `metric`."""
    family = family_of(metric)
    if family is None:
        return _unknown(metric)
    if family.name in offer.described and metric != offer.here(metric):
        return Blind(Reason.PREFIX, f"`{metric}` is called `{offer.here(metric)}` by this server")
    if offer.running is None:
        return Blind(Reason.MISSING, f"`{metric}` is not on the page")
    return _by_version(metric, family, offer, offer.running)


def _by_version(metric: str, family: Family, offer: Offer, running: Running) -> Blind:
    if offer.stats_off and family.name.startswith(PREFIX):
        sentence = f"`{metric}`: the server shows nothing of its engine (--disable-log-stats)"
        return Blind(Reason.STATS_OFF, sentence)
    if not family.exists(running.version, running.engine):
        return _not_in(metric, family, running)
    if family.hidden is not None and running.version in family.hidden:
        flag = "--show-hidden-metrics-for-version"
        since = f"hidden since {family.hidden.first} ({flag})"
        return Blind(Reason.HIDDEN, f"`{metric}` is {since}; running {running}{_read(family)}")
    return _with_what_runs(metric, family, offer, running)


def _with_what_runs(metric: str, family: Family, offer: Offer, running: Running) -> Blind:
    """Return why a family is not on the page although version and engine have it."""
    needed = family.needs(running.engine)
    if family.python and offer.is_rust:
        needed = "the Python front-end"
    if needed:
        return Blind(Reason.CONDITION, f"`{metric}` needs {needed}")
    if family.lazy and running.engine is Engine.V0 and not offer.has_finished:
        return not_yet(metric)
    return Blind(Reason.MISSING, f"`{metric}` is not on the page, though {running} should have it")


def not_yet(metric: str) -> Blind:
    return Blind(Reason.NOT_YET, f"`{metric}` has no value before the first request")


def _not_in(metric: str, family: Family, running: Running) -> Blind:
    """Return why a version of an engine does not have a family."""
    span = family.spans.get(running.engine)
    # What only the V0 engine had may have gone before that engine did.
    last = family.spans.get(Engine.V0) if span is None else span
    older = _other_name(family, running)
    if span is not None and running.engine is Engine.V0 and family.exists(running.version, Engine.V1):
        return Blind(Reason.LATER, f"`{metric}` comes with the V1 engine; running V0, {running}")
    if last is not None and last.gone is not None and running.version >= last.gone:
        reason = Reason.RENAMED if family.instead in families() else Reason.REMOVED
        return Blind(reason, f"`{metric}` left in {last.gone}; running {running}{_read(family)}")
    if older is not None:
        return Blind(Reason.RENAMED, f"`{metric}` is called `{older}` here; running {running}")
    if span is not None:
        return Blind(Reason.LATER, f"`{metric}` comes with {span.first}; running {running}")
    if running.engine is Engine.V1:
        reason = Reason.RENAMED if family.instead in families() else Reason.REMOVED
        return Blind(reason, f"`{metric}` is of the V0 engine; running V1, {running}{_read(family)}")
    return Blind(Reason.LATER, f"`{metric}` is of the V1 engine; running V0, {running}")


def _other_name(family: Family, running: Running) -> str | None:
    """Return the name that the same quantity has in the version that runs, if it has one."""
    for other in families().values():
        if other.instead == family.name and other.shown(running.version, running.engine):
            return other.name
    return None


def _read(family: Family) -> str:
    return f"; read `{family.instead}`" if family.instead else ""


def _unknown(metric: str) -> Blind:
    name = canonical(metric)
    if name.startswith(_DCGM):
        return Blind(Reason.CONDITION, f"`{metric}` needs a DCGM exporter that has it among the targets")
    if not name.startswith(PREFIX):
        return Blind(Reason.MISSING, f"no target offers `{metric}`")
    meant = _meant(name)
    return Blind(Reason.UNKNOWN, f"no vLLM version has `{metric}`" + (f"; did you mean `{meant}`?" if meant else ""))


@cache
def _meant(name: str) -> str | None:
    if name in _MEANT:
        return _MEANT[name]
    known = dict.fromkeys(_known())
    for candidate in (f"{name}_total", name.removesuffix("_total"), f"{name}_bucket"):
        if candidate in known:
            return candidate
    return next(iter(get_close_matches(name, list(known), 1, _SIMILAR)), None)


def _known() -> Iterator[str]:
    for family in families().values():
        yield from family.metrics
