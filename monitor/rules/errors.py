"""The one exception of this part."""


class RuleError(Exception):
    """
    A rule could not be evaluated: its query failed, or its result makes no sense for it.

    It becomes the rule's health and goes no further; no alert changes its state because of it.
    """
