"""What labels and annotations may hold and no rendering passes on: characters that hide, reorder or break a line."""

import unicodedata

# Categories of characters without a shape of their own. Cf holds the bidirectional overrides and the zero-width ones.
_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn"))
_LINE_BREAKS = frozenset(("Zl", "Zp"))
# Letters and marks that show nothing, although their category says otherwise.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")

_LOOSE_END = 8


def cleaned(text: str) -> str:
    """Return `text` with its line breaks, and without every other character that cannot be seen."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def one_line(text: str) -> str:
    """Return `text` cleaned, its white space squeezed, on one line."""
    return " ".join(cleaned(text).split())


def shortened(text: str, longest: int) -> str:
    """Return at most `longest` characters of `text`, cut between words where that costs little, with an ellipsis."""
    if len(text) <= longest:
        return text
    kept = text[: max(longest - 1, 0)]
    words, space, _ = kept.rpartition(" ")
    if space and len(words) >= len(kept) - _LOOSE_END:
        kept = words
    return kept.rstrip() + "…"


def _shown(character: str) -> str:
    if character == "\n":
        return character
    if character in "\t\r\v\f":
        return " "
    category = unicodedata.category(character)
    if category in _LINE_BREAKS:
        return "\n"
    return "" if category in _INVISIBLE or character in _BLANK else character
