"""Text as Slack shows it."""

import pytest

from docs.pictures.mrkdwn import UnknownMarkupError, mrkdwn, plain
from docs.pictures.signs import drawn_signs
from monitor.model.instant import DAY, Instant
from monitor.notify.slack.escape import date, link, shown
from monitor.notify.slack.signs import RESOLVED_SIGN, SIGNS
from tests.notify.samples import NOW


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("*bold* and _slanted_", "<b>bold</b> and <i>slanted</i>"),
        ("*_both_*", "<b><i>both</i></b>"),
        ("two\nlines", "two<br>lines"),
        ("`a*b*c`", "<code>a*b*c</code>"),
        ("3 * 4 * 5, max_num_seqs", "3 * 4 * 5, max_num_seqs"),
        ("&lt;b&gt; &amp;amp; &quot;", "&lt;b&gt; &amp;amp; &amp;quot;"),
        ('"quoted"', "&quot;quoted&quot;"),
        ("a\n&gt; b", "a<br><q>b</q>"),
        ("<https://example.com/?a=1&amp;b|the *book*>", '<a href="https://example.com/?a=1&amp;b">the *book*</a>'),
        ("<https://example.com>", '<a href="https://example.com">https://example.com</a>'),
        ("<!here> <@U123ABC456>", '<span class="mention">@here</span> <span class="mention">@on-call</span>'),
        ("<!subteam^S0123456>", '<span class="mention">@on-call</span>'),
    ],
)
def test_what_stands_between_signs_is_marked_up(text: str, html: str) -> None:
    assert mrkdwn(text, NOW) == html


@pytest.mark.parametrize(
    ("now", "shows"),
    [(NOW, "today 06:05"), (NOW + DAY, "yesterday 06:05"), (NOW + 2 * DAY, "Nov 30, 2026 06:05")],
)
def test_a_date_is_told_in_utc_as_seen_from_now(now: Instant, shows: str) -> None:
    assert mrkdwn(date(NOW), now) == shows


@pytest.mark.parametrize("text", ["<javascript:alert(1)|x>", "<!date^1^{ago}|x>", "<>", "a < b", "<!unheard>"])
def test_markup_that_is_not_known_is_an_error(text: str) -> None:
    with pytest.raises(UnknownMarkupError):
        mrkdwn(text, NOW)


@pytest.mark.parametrize(
    "evil", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</style><b>", "&lt;script&gt;", "`<i>`"]
)
def test_what_a_label_says_is_text_and_never_html(evil: str) -> None:
    """Through the escaping of the messages and through that of the page it comes out as it was."""
    html = mrkdwn(shown(evil, 300), NOW)
    assert "<" not in html
    assert '"' not in html
    linked = mrkdwn(link(f"https://example.com/{evil}", evil), NOW)
    assert (linked.count("<"), linked.count('"')) == (2, 2)


def test_plain_text_knows_no_markup() -> None:
    assert plain("*a* `b` &lt;c&gt;") == "*a* `b` &lt;c&gt;"


@pytest.mark.parametrize("sign", [*SIGNS.values(), RESOLVED_SIGN, "👀", "🔕", "🔔"])
def test_every_sign_of_ours_is_drawn(sign: str) -> None:
    html = drawn_signs(f"{sign} text")
    assert html.startswith("<svg")
    assert html.endswith("</svg> text")
