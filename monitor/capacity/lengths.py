"""Which `--max-model-len` a pool takes, and how often, from what a log says of one length."""

from dataclasses import dataclass

# Lengths that people choose.
_USUAL = (131_072, 65_536, 32_768, 16_384, 8_192, 4_096, 2_048)
_MOST = 3
# Lengths above are offered in thousands, below as they are.
_ROUND = 2_000


@dataclass(frozen=True, slots=True)
class Length:
    """A length in tokens, and how many requests of it fit at once, in 16 bits and in 8."""

    tokens: int
    concurrency: float
    concurrency_fp8: float


def lengths(fits: float, wanted: int | None = None, *, already_8_bits: bool = False) -> list[Length]:
    """
    Return lengths that start, the longest first: the longest there is, the one that is wanted, and usual ones.

    `fits` is how many tokens one request can have. Tokens of a cache that has 8 bits already are not halved again.
    """
    if fits < 1:
        return []
    longest = int(fits // 1000 * 1000) if fits >= _ROUND else int(fits)
    asked = [wanted] if wanted is not None and wanted < fits else []
    usual = [tokens for tokens in _USUAL if tokens < longest and tokens not in asked]
    chosen = [longest, *asked, *usual][:_MOST]
    halves = 1 if already_8_bits else 2
    return [Length(tokens, fits / tokens, halves * fits / tokens) for tokens in chosen]


def shorter(fits: float, below: float, most: int = 2) -> list[Length]:
    """Return up to `most` lengths below `below` of which at least one request fits, the longest first."""
    longest = lengths(fits)[:1] if fits < below else []
    limit = min(below, fits, *(one.tokens for one in longest))
    usual = [Length(tokens, fits / tokens, 2 * fits / tokens) for tokens in _USUAL if tokens < limit]
    return [*longest, *usual][:most]
