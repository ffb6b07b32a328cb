"""What the templates call, where a build does not show it."""

import re

import pytest

from monitor.rulebook.macros import more_names


@pytest.mark.parametrize("slots", [1, 2, 16, 64])
def test_a_label_with_more_names_than_its_number_is_told_from_one_with_as_many(slots: int) -> None:
    pattern = more_names([1, 2, 16, 64])
    told = {names for names in range(130) if re.fullmatch(pattern, f"{slots};{','.join(['sql-v2'] * names)}")}
    assert told == set(range(slots + 1, 130))


def test_of_a_number_that_has_no_pattern_nothing_is_told() -> None:
    assert not re.fullmatch(more_names([1, 2]), "3;a,b,c,d")
