"""The signs of our messages, drawn by ourselves: pictures must not depend on the emoji font of a machine."""

import re

_FRAME = '<svg class="sign" viewBox="0 0 20 20" role="img" aria-label="{sign}">{shape}</svg>'
_BELL = (
    '<path d="M10 2a5 5 0 0 0-5 5v4l-2 3h14l-2-3V7a5 5 0 0 0-5-5z" fill="#f2b632"/>'
    '<circle cx="10" cy="16.500" r="2" fill="#c98a0b"/>'
)
_SHAPES = {
    "🔴": '<circle cx="10" cy="10" r="8.500" fill="#dd2e44"/>',
    "🟠": '<circle cx="10" cy="10" r="8.500" fill="#f4900c"/>',
    "🔵": '<circle cx="10" cy="10" r="8.500" fill="#3b7ddd"/>',
    "⚪": '<circle cx="10" cy="10" r="8.500" fill="#e1e8ed" stroke="#8d8d8d" stroke-width="1"/>',
    "✅": '<rect x="1" y="1" width="18" height="18" rx="4" fill="#2eb67d"/>'
    '<path d="M5 10.500l3.500 3.500L15 6.500" fill="none" stroke="#fff" stroke-width="2.600"/>',
    "👀": '<g fill="#fff" stroke="#333" stroke-width="1"><ellipse cx="5.500" cy="10" rx="4.500" ry="7"/>'
    '<ellipse cx="14.500" cy="10" rx="4.500" ry="7"/></g>'
    '<circle cx="4" cy="11" r="2.500"/><circle cx="13" cy="11" r="2.500"/>',
    "🔔": _BELL,
    "🔕": _BELL + '<path d="M3 3l14 14" stroke="#d72b3f" stroke-width="2.400"/>',
}
_SIGN = re.compile("|".join(_SHAPES))


def drawn_signs(html: str) -> str:
    """Return `html` with every sign of ours as an inline picture."""
    return _SIGN.sub(lambda found: _FRAME.format(sign=found[0], shape=_SHAPES[found[0]]), html)
