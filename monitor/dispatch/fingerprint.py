"""The number that Alertmanager's API and its webhooks name an alert by."""

from functools import lru_cache

from monitor.model.labels import Labels

# The constants of FNV-1a, 64 bits.
_OFFSET = 0xCBF29CE484222325
_PRIME = 0x100000001B3
_MASK = (1 << 64) - 1


@lru_cache(maxsize=4096)
def fingerprint(labels: Labels) -> str:
    """
    Return the 16 hexadecimal digits.

    reference: prometheus/common, model/signature.go: each name and value is followed by a byte that is in no text.
    """
    digest = _OFFSET
    for pair in labels:
        for text in pair:
            for byte in (*text.encode(), 0xFF):
                digest = ((digest ^ byte) * _PRIME) & _MASK
    return f"{digest:016x}"
