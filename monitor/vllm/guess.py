"""Which version a page comes from, where nobody says it: the one whose families it contradicts least."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from monitor.vllm.families import PREFIX, Engine, families
from monitor.vllm.version import Version

# From here on the V1 engine labels its series with `engine`.
ENGINE_LABEL = Version(0, 8, 3)
_KEPT = 64


@dataclass(frozen=True, slots=True)
class Running:
    """What runs: `exact` where the server said so, else at least `version`, or one that looks the same."""

    version: Version
    engine: Engine
    exact: bool = False

    def __str__(self) -> str:
        if self.exact:
            return str(self.version)
        return f"about {self.version}, by its page"


@dataclass(frozen=True, slots=True)
class Shown:
    """The families on a page, and whether a series has the label `engine`."""

    names: frozenset[str]
    engine_label: bool

    @classmethod
    def of(cls, names: Collection[str], *, engine_label: bool) -> "Shown":
        """Return what counts: names that the table has."""
        return cls(frozenset(name for name in names if name in families()), engine_label)


@lru_cache(_KEPT)
def guess(shown: Shown) -> Running:
    """Return what such a page comes from."""
    candidates = [(version, engine) for engine in (Engine.V1, Engine.V0) for version in _versions()]
    version, engine = min(candidates, key=lambda one: _contradictions(one[0], one[1], shown))
    return Running(version, engine)


def engine_of(version: Version, shown: Shown) -> Engine:
    """Return the engine of a known version."""
    return min((Engine.V1, Engine.V0), key=lambda engine: _contradictions(version, engine, shown))


@cache
def _versions() -> tuple[Version, ...]:
    """Return the versions that brought or took any family."""
    return tuple(sorted({ENGINE_LABEL, *_bounds()}))


def _bounds() -> Iterator[Version]:
    for family in families().values():
        for span in (*family.spans.values(), family.hidden):
            if span is not None:
                yield span.first
                if span.gone is not None:
                    yield span.gone


def _contradictions(version: Version, engine: Engine, shown: Shown) -> int:
    alien = sum(not families()[name].exists(version, engine) for name in shown.names)
    label = shown.engine_label != (engine is Engine.V1 and version >= ENGINE_LABEL)
    has_stats = any(name.startswith(PREFIX) for name in shown.names)
    return alien + label + (len(_certain(version, engine) - shown.names) if has_stats else 0)


@cache
def _certain(version: Version, engine: Engine) -> frozenset[str]:
    """Return the families that every page of this version has."""
    return frozenset(
        name
        for name, family in families().items()
        if name.startswith(PREFIX)
        and family.shown(version, engine)
        and not (family.needs(engine) or family.python or (family.lazy and engine is Engine.V0))
    )
