"""
Numbers as logs have them, of which a line may have any.

An expression for one is bounded, so that a line of nothing but digits is read as quickly as another; and what is
larger than anything that a server counts is none.
"""

# With commas between thousands, or without; with decimals, or without.
NUMBER = r"(-?\d[\d,]{0,20}(?:\.\d{1,20})?(?!\d)|-?\.\d{1,20}(?!\d))"
WHOLE = r"(\d[\d,]{0,20})(?!\d)"
_LARGEST = 1e15


def number(written: str) -> float | None:
    """Return a number that may have commas between thousands; None where it is none, or larger than any that counts."""
    try:
        value = float(written.replace(",", ""))
    except ValueError:
        return None
    return value if abs(value) < _LARGEST else None
