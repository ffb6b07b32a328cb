"""What discovery finds: addresses with what is known of them."""

from dataclasses import dataclass

from monitor.model.labels import EMPTY, Labels


@dataclass(frozen=True, slots=True)
class TargetGroup:
    """
    Targets that share `labels`; each has at least an `__address__`, and its own labels go before the shared ones.

    `source` names the group within what has found it: a later group of the same source replaces it.
    """

    source: str
    targets: tuple[Labels, ...] = ()
    labels: Labels = EMPTY
