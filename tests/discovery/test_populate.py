"""What is asked of a target whose address, path and parameters somebody else has written."""

import pytest

from monitor.discovery.populate import JobSettings, populate
from monitor.model.instant import SECOND
from monitor.model.labels import Labels
from monitor.model.targetgroup import TargetGroup

JOB = JobSettings("vllm", 15 * SECOND, 5 * SECOND, params=(("x", ("1", "2")),))


@pytest.mark.parametrize(
    ("labels", "url"),
    [
        ({"__address__": "a:8000"}, "http://a:8000/metrics?x=1&x=2"),
        ({"__address__": "[fe80::1%eth0]:8000"}, "http://[fe80::1%eth0]:8000/metrics?x=1&x=2"),
        ({"__address__": "10.0.0.1:8000@evil:80"}, "http://10.0.0.1:8000%40evil:80/metrics?x=1&x=2"),
        ({"__address__": "10.0.0.1:80?y"}, "http://10.0.0.1:80%3Fy/metrics?x=1&x=2"),
        ({"__address__": "10.0.0.1:80#\\\n "}, "http://10.0.0.1:80%23%5C%0A%20/metrics?x=1&x=2"),
        ({"__address__": "a", "__metrics_path__": "m?y=#\n"}, "http://a/m%3Fy=%23%0A?x=1&x=2"),
        ({"__address__": "a", "__param_x": "&"}, "http://a/metrics?x=%26&x=2"),
        ({"__address__": "a", "__param_y": "3"}, "http://a/metrics?x=1&x=2&y=3"),
    ],
)
def test_nothing_of_a_target_reaches_beyond_its_part_of_the_url(labels: dict[str, str], url: str) -> None:
    (found,) = populate([TargetGroup("s", (Labels.of(labels),))], JOB)
    assert found.target is not None
    assert found.target.url == url


@pytest.mark.parametrize(
    ("labels", "error"),
    [
        ({}, "no address"),
        ({"__address__": "a/b"}, '"a/b" is not a valid hostname'),
        ({"__address__": "a", "__scrape_interval__": "soon"}, "error parsing scrape interval"),
        ({"__address__": "a", "__scrape_timeout__": "0s"}, "scrape timeout cannot be 0"),
        ({"__address__": "a", "__scrape_timeout__": "1m"}, 'than scrape interval ("1m" > "15s")'),
    ],
)
def test_a_target_that_cannot_be_scraped_says_why(labels: dict[str, str], error: str) -> None:
    (found,) = populate([TargetGroup("s", (Labels.of(labels),))], JOB)
    assert found.target is None
    assert error in found.error
