"""Whether a selector finds anything in a page, now or as soon as something happens that it counts."""

from collections.abc import Iterable, Sequence
from math import isinf, isnan

from monitor.model.labels import BUCKET, METRIC_NAME, Labels
from monitor.model.matcher import Matcher
from monitor.promql.needs import Leaf
from monitor.sight.absence import absence, not_yet
from monitor.sight.offer import Offer
from monitor.sight.reason import Blind, Reason
from monitor.vllm.buckets import edges, one_two_five
from monitor.vllm.families import Label, canonical, families, family_of

# What a server has from its start to its end.
_FIXED = frozenset(("model_name", "engine"))
_STATIC = frozenset(("vllm:cache_config_info", "python_info"))
_MOST_SHOWN = 30
# The buckets of token counts go as far as a request may be long; nobody's is longer than this.
_TOKENS, _LONGEST = "tokens", 100_000_000


def look(leaf: Leaf, offer: Offer) -> Blind | None:
    """Return why `leaf` finds nothing on the page of `offer`; None when it does, or may at any time."""
    series = _named(leaf, offer)
    others = [matcher for matcher in leaf.matchers if matcher.name != METRIC_NAME]
    if any(_satisfies(labels, others) for labels in series):
        return None
    if series:
        return _worst(_mismatch(leaf, matcher, series, offer) for matcher in others if not _some(series, matcher))
    if leaf.name is None:
        return _no_name(leaf, offer)
    family = family_of(leaf.name)
    if family is None or family.name not in offer.described or leaf.name != offer.here(leaf.name):
        return absence(leaf.name, offer)
    return _by_the_table(leaf, others, offer) or not_yet(leaf.name)


def _named(leaf: Leaf, offer: Offer) -> Sequence[Labels]:
    if leaf.name is not None:
        return offer.series.get(leaf.name, ())
    on_name = [matcher for matcher in leaf.matchers if matcher.name == METRIC_NAME]
    return [
        labels
        for name, some in offer.series.items()
        if all(matcher.matches(name) for matcher in on_name)
        for labels in some
    ]


def _no_name(leaf: Leaf, offer: Offer) -> Blind:
    """Return why no metric has a name as a selector wants it: what is true of one that could have it."""
    on_name = [matcher for matcher in leaf.matchers if matcher.name == METRIC_NAME]
    for family in families().values():
        for metric in map(offer.here, family.metrics):
            if on_name and all(matcher.matches(metric) for matcher in on_name):
                return absence(metric, offer)
    return Blind(Reason.MISSING, f"no series of the page satisfies `{leaf}`")


def _satisfies(labels: Labels, matchers: Iterable[Matcher]) -> bool:
    return all(matcher.accepts(labels) for matcher in matchers)


def _some(series: Iterable[Labels], matcher: Matcher) -> bool:
    return any(matcher.accepts(labels) for labels in series)


def _worst(found: Iterable[Blind | None]) -> Blind | None:
    """Return the first that nothing explains, else the first at all; one that may be of others comes last."""
    blind = [one for one in found if one is not None]
    return min(blind, key=lambda one: (one.of_others, one.reason.explained), default=None)


def _mismatch(leaf: Leaf, matcher: Matcher, series: Sequence[Labels], offer: Offer) -> Blind | None:
    """Return why no series satisfies `matcher`; None when one may come that does."""
    values = sorted({labels.value(matcher.name) for labels in series} - {""})
    name = leaf.name or str(leaf)
    if matcher.name == BUCKET:
        return _no_edge(name, [matcher], values)
    is_fixed = matcher.name in _FIXED or bool(offer.labels.value(matcher.name)) or canonical(name) in _STATIC
    known = _label(name, matcher.name, offer)
    if not values:
        return _no_label(name, matcher, series, known)
    if is_fixed:
        sentence = f"`{name}` has {_listed(matcher.name, values)} here, so that `{matcher}` finds nothing"
        return Blind(Reason.LABEL, sentence, of_others=True)
    return _no_value(name, matcher, known, offer)


def _no_edge(name: str, matchers: Sequence[Matcher], edges_there: Sequence[str]) -> Blind:
    numbers = {text: number for text in edges_there if (number := _number(text)) is not None}
    there = sorted(numbers, key=lambda text: numbers[text])[:_MOST_SHOWN]
    if not there:
        return Blind(Reason.BUCKET, f"`{name}` has no buckets")
    wanted = ", ".join(f"`{matcher}`" for matcher in matchers)
    family = family_of(name)
    longest = max((numbers[text] for text in there if not isinf(numbers[text])), default=0.0)
    further = [edge for edge in one_two_five(_LONGEST) if edge > longest]
    if family is not None and family.buckets == _TOKENS and any(_matches(matchers, edge) for edge in further):
        return Blind(Reason.CONDITION, f"`{name}` ends at {longest:g} here: {wanted} needs a larger --max-model-len")
    return Blind(Reason.BUCKET, f"`{name}` has no edge with {wanted}; its edges are {', '.join(there)}")


def _number(edge: str) -> float | None:
    """Return what an edge is; None for a text that is none, which a page may have all the same."""
    try:
        number = float(edge)
    except ValueError:
        return None
    return None if isnan(number) else number


def _matches(matchers: Iterable[Matcher], edge: float) -> bool:
    return all(matcher.matches("+Inf" if isinf(edge) else str(edge)) for matcher in matchers)


def _no_label(name: str, matcher: Matcher, series: Sequence[Labels], known: Label | None) -> Blind:
    if known is not None:
        since = f" comes with {known.since}" if known.since is not None else " is missing"
        return Blind(Reason.LATER, f"the label `{matcher.name}` of `{name}`{since}")
    there = sorted({key for labels in series for key, _ in labels} - {METRIC_NAME})
    return Blind(Reason.LABEL, f"`{name}` has no label `{matcher.name}`; it has {', '.join(there)}")


def _no_value(name: str, matcher: Matcher, known: Label | None, offer: Offer) -> Blind | None:
    if known is None or not known.values or offer.running is None:
        return None
    version = offer.running.version
    possible = known.values_in(version)
    if any(matcher.matches(value) for value in possible):
        return None
    later = [since for value, since in known.values if since is not None and since > version and matcher.matches(value)]
    if later:
        return Blind(Reason.LATER, f"`{matcher}` of `{name}` comes with {min(later)}; running {offer.running}")
    return Blind(Reason.LABEL, f"`{name}` never has `{matcher}`; {_listed(matcher.name, possible)}")


def _by_the_table(leaf: Leaf, matchers: Sequence[Matcher], offer: Offer) -> Blind | None:
    """Return what speaks against a selector of a family that has no series yet."""
    family = family_of(leaf.name or "")
    if family is None or offer.running is None or not family.buckets:
        return None
    known = edges(family.buckets, offer.running.version)
    on_edges = [matcher for matcher in matchers if matcher.name == BUCKET]
    if known is None or not on_edges or any(_matches(on_edges, edge) for edge in known):
        return None
    return _no_edge(leaf.name or "", on_edges, ["+Inf" if isinf(edge) else str(edge) for edge in known])


def _label(metric: str, label: str, offer: Offer) -> Label | None:
    """Return what the table knows of a label."""
    family = family_of(metric)
    if family is None or offer.running is None:
        return None
    return next((one for one in family.labels if one.name == label), None)


def _listed(label: str, values: Sequence[str]) -> str:
    shown = ", ".join(f'"{value}"' for value in values[:_MOST_SHOWN])
    return f"{label} {shown}"
