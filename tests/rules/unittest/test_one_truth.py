from collections.abc import Hashable
from dataclasses import dataclass, field

from monitor.model.labels import Labels
from monitor.rules.context import Vector
from monitor.rules.unittest.one_truth import OneTruth

X = Labels.of({"__name__": "x"})


@dataclass
class Written:
    """Keeps what was written."""

    samples: list[tuple[Hashable, int, Vector]] = field(default_factory=list)

    def append(self, owner: Hashable, at: int, samples: Vector) -> None:
        self.samples.append((owner, at, samples))


def test_the_same_sample_again_is_nothing_and_another_value_is_refused() -> None:
    truth = OneTruth(Written())
    truth.append("a", 0, [(X, 1.0)])
    truth.append("b", 0, [(X, 1.0)])
    assert truth.refused == {}
    truth.append("c", 0, [(X, 2.0)])
    assert truth.refused == {"c": "duplicate sample of x: there is 1 already, and now 2"}


def test_an_end_contradicts_what_is_written_behind_it_but_not_what_stands_before() -> None:
    truth = OneTruth(Written())
    truth.append("a", 0, [(X, 1.0)])
    truth.append("b", 0, [(X, 1.0)])
    truth.append("a", 1, [(X, 1.0)])
    truth.append("b", 1, [])
    assert truth.refused == {}
    truth.append("a", 2, [])
    truth.append("b", 2, [(X, 1.0)])
    assert truth.refused == {"b": "duplicate sample of x: there is NaN already, and now 1"}


def test_a_sample_before_the_newest_is_refused() -> None:
    truth = OneTruth(Written())
    truth.append("a", 2, [(X, 1.0)])
    truth.append("late", 1, [(X, 1.0)])
    assert truth.refused == {"late": "out of order sample of x"}


def test_all_is_passed_on() -> None:
    written = Written()
    truth = OneTruth(written)
    truth.append("a", 0, [(X, 1.0)])
    truth.append("a", 1, [])
    assert written.samples == [("a", 0, [(X, 1.0)]), ("a", 1, [])]
