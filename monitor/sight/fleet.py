"""Needs against all targets: a selector may be about one target and not about another."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from monitor.model.labels import Labels
from monitor.promql.needs import AllOf, Leaf, Need
from monitor.sight.look import look
from monitor.sight.offer import Offer
from monitor.sight.reason import Blind, Reason
from monitor.vllm.families import family_of

_FIRST = (Reason.RENAMED, Reason.REMOVED, Reason.HIDDEN)
_NEVER = Blind(Reason.MISSING, "nothing can satisfy the expression")


@dataclass(frozen=True, slots=True)
class View:
    """What was seen of one target: which selectors find nothing, and why. `is_server`: it is a vLLM server."""

    target: Labels
    is_server: bool
    blind: Mapping[Leaf, Blind]

    @classmethod
    def of(cls, offer: Offer, leaves: Iterable[Leaf]) -> "View":
        """Look for all `leaves` on a page."""
        found = {leaf: blind for leaf in leaves if (blind := look(leaf, offer)) is not None}
        return cls(offer.labels, offer.running is not None, found)


class Fleet:
    """The views of all targets at one moment."""

    def __init__(self, views: Iterable[View]) -> None:
        self._views = tuple(views)

    def blind(self, need: Need, view: View) -> Blind | None:
        """Return why nothing can come of `need` on one target; None when something can."""
        if isinstance(need, Leaf):
            return self._leaf(need, view)
        found = [self.blind(part, view) for part in need.parts]
        missing = [one for one in found if one is not None]
        if isinstance(need, AllOf):
            # What is wrong with the rule comes before what the server only lacks: both must go.
            return min(missing, key=lambda one: one.reason.explained, default=None)
        if len(missing) < len(found):
            return None
        return min(missing, key=_as_alternative, default=_NEVER)

    def _leaf(self, leaf: Leaf, view: View) -> Blind | None:
        found = view.blind.get(leaf)
        if found is None or not (found.of_others or _is_foreign(leaf)):
            return found
        return None if any(leaf not in other.blind for other in self._views) else found


def _as_alternative(blind: Blind) -> tuple[bool, bool, bool]:
    """Order the reasons of alternatives: one that will do later, or elsewhere, is enough; then what tells the way."""
    return not blind.reason.explained, blind.reason is Reason.PREFIX, blind.reason not in _FIRST


def _is_foreign(leaf: Leaf) -> bool:
    """Say whether a metric is none of vLLM's: any target may have it."""
    return leaf.name is not None and family_of(leaf.name) is None
