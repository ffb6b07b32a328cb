"""Texts of alerts are shown to the letter, whatever markup their signs would be, and can be copied."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs.pictures.mrkdwn import mrkdwn
from monitor.notify.slack.escape import bold, link, literal, literal_lines
from tests.notify.samples import NOW

MARKUP = ("<b>", "<i>", "<q>", "mention", "<a ")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("42 requests waiting", "42 requests waiting"),
        ("vllm:num_requests_waiting", "vllm:num_requests_waiting"),
        ("--max-num-seqs 8*2 a_b~c", "--max-num-seqs 8*2 a_b~c"),
        ("meta/llama_3", "meta/llama_3"),
        ("*loud* host", "`*loud* host`"),
        ("_private_", "`_private_`"),
        ("host_", "`host_`"),
        ("~5 s", "`~5 s`"),
        ("> 5 s", "`&gt; 5 s`"),
        ("a > b", "a &gt; b"),
        ("on :fire: now", "`on :fire: now`"),
        ("", ""),
    ],
)
def test_what_would_be_markup_stands_in_a_code_span(text: str, shown: str) -> None:
    assert literal(text, 80) == shown
    assert bold(text, 80) == (shown if not shown or shown.startswith("`") else f"*{shown}*")


SIGNS = st.text(st.sampled_from("ab1*_~>`: \n&<é-"), max_size=30)


@given(SIGNS, SIGNS)
def test_nothing_in_a_text_changes_the_look_of_what_stands_beside_it(one: str, other: str) -> None:
    rendered = mrkdwn(f"• {literal(one, 80)} · limit {literal(other, 80)}\n{literal_lines(one, 80)}", NOW)
    assert not [tag for tag in MARKUP if tag in rendered]
    assert mrkdwn(f"x {bold(one, 80)} y", NOW).count("<b>") <= 1


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:3000/d/vllm",
        "http://LOCALHOST./d",
        "https://grafana.localhost/d",
        "http://127.0.0.1/d",
        "http://127.8.0.1:9109",
        "http://[::1]:3000/d",
        "http://0.0.0.0:3000",
        "javascript:alert(1)",
    ],
)
def test_a_link_that_leads_nowhere_on_a_phone_is_left_out(url: str) -> None:
    assert link(url, "Dashboard") == ""


@pytest.mark.parametrize("url", ["http://grafana:3000/d", "http://10.0.0.1/d", "https://localhost.example.com/d"])
def test_a_link_to_another_machine_stays(url: str) -> None:
    assert link(url, "Dashboard") == f"<{url}|Dashboard>"
