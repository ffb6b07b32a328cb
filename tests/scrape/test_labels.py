"""The labels to store: conflicts, limits, and what is no label set."""

import pytest

from monitor.model.labels import Labels
from monitor.scrape.errors import LimitError, Reason
from monitor.scrape.labels import LabelLimits, LabelMaker
from monitor.scrape.line import Pairs

TARGET = Labels.of(job="vllm", instance="a:1")


@pytest.mark.parametrize(
    ("pairs", "dishonoured", "honoured"),
    [
        ((), "m{instance='a:1',job='vllm'}", "m{instance='a:1',job='vllm'}"),
        ((("job", "x"),), "m{exported_job='x',instance='a:1',job='vllm'}", "m{instance='a:1',job='x'}"),
        ((("job", ""),), "m{instance='a:1',job='vllm'}", "m{instance='a:1'}"),
        (
            (("job", "x"), ("exported_job", "y")),
            "m{exported_exported_job='x',exported_job='y',instance='a:1',job='vllm'}",
            "m{exported_job='y',instance='a:1',job='x'}",
        ),
        (
            (("job", "x"), ("exported_job", "")),
            "m{exported_job='x',instance='a:1',job='vllm'}",
            "m{instance='a:1',job='x'}",
        ),
        ((("a", "1"), ("b", "")), "m{a='1',instance='a:1',job='vllm'}", "m{a='1',instance='a:1',job='vllm'}"),
    ],
)  # fmt: skip
def test_a_conflict_is_resolved(pairs: Pairs, dishonoured: str, honoured: str) -> None:
    assert shown(LabelMaker(TARGET)("m", pairs)) == dishonoured
    assert shown(LabelMaker(TARGET, honor_labels=True)("m", pairs)) == honoured


def shown(labels: Labels | None) -> str:
    assert labels is not None
    return str(labels).replace('"', "'").replace(", ", ",")


def test_of_two_conflicts_the_shorter_name_goes_first() -> None:
    target = Labels.of(job="vllm", exported_job="t")
    made = LabelMaker(target)("m", (("exported_job", "long"), ("job", "short")))
    assert made is not None
    assert made.value("exported_exported_job") == "short"
    assert made.value("exported_exported_exported_job") == "long"


@pytest.mark.parametrize(
    ("name", "pairs", "message"),
    [
        ("", (), "missing metric name (__name__ label)"),
        ("m", (("", "x"),), "a label without a name"),
        ("m", (("a", "1"), ("a", "1")), 'label name "a" is not unique'),
        ("m", (("__name__", "n"),), 'label name "__name__" is not unique'),
    ],
)
def test_what_is_no_label_set_is_refused(name: str, pairs: Pairs, message: str) -> None:
    with pytest.raises(LimitError) as caught:
        LabelMaker(TARGET)(name, pairs)
    assert (str(caught.value), caught.value.reason) == (message, Reason.PARSE)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (LabelLimits(label_limit=3), "label_limit of 3 exceeded by 4 labels"),
        (LabelLimits(label_name_length_limit=8), None),
        (LabelLimits(label_name_length_limit=7), "label_name_length_limit of 7 bytes exceeded"),
        (LabelLimits(label_value_length_limit=9), None),
        (LabelLimits(label_value_length_limit=8), "label_value_length_limit of 8 bytes exceeded by b"),
        (LabelLimits(label_limit=4), None),
    ],
)
def test_limits_count_the_labels_to_store(limits: LabelLimits, message: str | None) -> None:
    make, pairs = LabelMaker(TARGET, limits=limits), (("b", "€€€"),)
    if message is None:
        make("m", pairs)
        return
    with pytest.raises(LimitError) as caught:
        make("m", pairs)
    assert (str(caught.value), caught.value.reason) == (message, Reason.LIMIT)
