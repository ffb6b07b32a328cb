"""What was found is remembered until a series that the selector might find comes or goes."""

from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import Matcher, MatchType, equal
from monitor.storage.window import Window

ANY = (Matcher(METRIC_NAME, MatchType.REGEX, "a|b"),)


def test_a_new_series_of_another_name_outdates_nothing_but_what_asks_for_any_name() -> None:
    window = Window()
    block = window.block("writer")
    first = block.column(Labels.of(__name__="a"), counter=False)
    block.append(1, (first,), (1.0,))
    a, b, either = (equal(METRIC_NAME, "a"),), (equal(METRIC_NAME, "b"),), ANY
    found = window.select(a)
    assert (len(found), len(window.select(b)), len(window.select(either))) == (1, 0, 1)
    second = block.column(Labels.of(__name__="b"), counter=False)
    block.append(2, (first, second), (1.0, 2.0))
    assert window.select(a) is found
    assert (len(window.select(b)), len(window.select(either))) == (1, 2)
