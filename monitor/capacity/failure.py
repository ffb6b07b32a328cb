"""The one exception of this part."""


class CapacityError(Exception):
    """Something cannot be computed; the message says what is missing or contradicts itself."""
