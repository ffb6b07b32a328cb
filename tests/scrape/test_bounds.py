"""What a page may cost beyond its bytes."""

import pytest

from monitor.scrape.bounds import ALWAYS_READ, BYTES_A_LABEL, BYTES_A_LINE, check_bounds
from monitor.scrape.errors import Reason, ScrapeError
from monitor.scrape.options import MEBIBYTE, ScrapeOptions

LIMIT = ScrapeOptions().body_size_limit
LINES, LABELS = LIMIT // BYTES_A_LINE, LIMIT // BYTES_A_LABEL


@pytest.mark.parametrize(
    ("most", "what"),
    [
        pytest.param(b"a 1\n" * LINES, "lines", id="samples"),
        pytest.param(b" \n" * LINES, "lines", id="nothing"),
        pytest.param(b"a{" + b'b="",' * LABELS + b"} 1\n", "labels", id="labels of one series"),
    ],
)
def test_a_page_has_at_most_so_many_lines_and_labels(most: bytes, what: str) -> None:
    check_bounds(most, LIMIT)
    with pytest.raises(ScrapeError, match=f"{what} are too many for a body_size_limit of {LIMIT} bytes") as caught:
        check_bounds(most + b'a{b=""} 1\n', LIMIT)
    assert caught.value.reason is Reason.BODY_TOO_LARGE


def test_no_page_of_an_ordinary_size_is_refused_however_small_the_limit() -> None:
    check_bounds(b"\n" * ALWAYS_READ, ALWAYS_READ)
    with pytest.raises(ScrapeError):
        check_bounds(b"\n" * (ALWAYS_READ + 1), MEBIBYTE)


def test_without_a_limit_there_is_none() -> None:
    check_bounds(b"\n" * 2 * LINES, 0)
