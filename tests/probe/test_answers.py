"""What answers say, and that nothing hostile in them gets through."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.probe.answers import LONGEST_NAME, MOST_MODELS, has_token, load_of, models_of, version_of
from monitor.probe.errors import ProbeError
from monitor.probe.readings import Model
from tests.probe.vllm import listed

# As recorded from 0.32.0.
CARD = (
    b'{"object":"list","data":[{"id":"tiny-llama","object":"model","created":1796006534,"owned_by":"vllm",'
    b'"root":"/models/tiny-llama","parent":null,"max_model_len":512,"permission":[{"id":"modelperm-b0","organization":"*"}]}]}'
)


def test_what_a_real_server_answers() -> None:
    assert version_of(b'{"version":"0.9.0.1"}') == "0.9.0.1"
    assert version_of(b'{"version":"0.11.1rc2.dev5+gabc123.d20260101"}') == "0.11.1rc2.dev5+gabc123.d20260101"
    assert load_of(b'{"server_load":0}') == 0
    assert models_of(CARD) == (Model("tiny-llama", 512),)
    assert has_token(b'{"choices":[{"text":" go"}]}')


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"<html></html>",
        b'{"version":',
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"version": 5, "server_load": true, "data": {}}',
        b'{"version": "", "server_load": NaN, "data": null}',
        b'{"version": "a b", "server_load": Infinity, "data": "x"}',
        b'{"version": "1\\n2", "server_load": 1e999, "data": 5}',
        b'{"version": "' + b"9" * 65 + b'", "server_load": -1}',
        b'{"version": "\\"}{", "server_load": "5"}',
        b'{"server_load": 1' + b"0" * 300 + b"}",
        b'{"server_load": ' + b"9" * 5000 + b"}",
        b"\xff\xfe\x00",
        b'{"version": "\\ud800"}',
    ],
    ids=lambda body: repr(body[:24]),
)
@pytest.mark.parametrize("read", [version_of, load_of, models_of])
def test_what_is_not_vllms_is_an_error(read: Callable[[bytes], object], body: bytes) -> None:
    with pytest.raises(ProbeError) as caught:
        read(body)
    assert caught.value.answered
    assert not has_token(body)


@pytest.mark.parametrize("length", [0, -5, 1.5, True, "512", None, 2**60, float("inf")], ids=repr)
def test_a_model_without_a_length_is_left_out(length: object) -> None:
    assert models_of(listed(odd=length, good=512)) == (Model("good", 512),)


def test_adapters_and_nonsense_are_left_out() -> None:
    cards = [{"id": "lora", "parent": "base", "max_model_len": 512}, 5, None, {"max_model_len": 512}, {"id": "x"}]
    assert models_of(json.dumps({"data": cards}).encode()) == ()


@pytest.mark.parametrize("name", ['quoted "name"', "two\nlines", "back\\slash", "模型", "x" * LONGEST_NAME])
def test_odd_names_are_names(name: str) -> None:
    assert models_of(listed(**{name: 512})) == (Model(name, 512),)


@pytest.mark.parametrize("name", ["", "x" * (LONGEST_NAME + 1), "\ud800"], ids=repr)
def test_names_that_no_label_can_have_are_left_out(name: str) -> None:
    assert models_of(listed(**{name: 512})) == ()


def test_no_more_than_so_many_models_are_taken_each_once() -> None:
    assert len(models_of(listed(**{f"m{k}": 512 for k in range(1000)}))) == MOST_MODELS
    twice = json.dumps({"data": [{"id": "a", "max_model_len": 1}, {"id": "a", "max_model_len": 2}]}).encode()
    assert models_of(twice) == (Model("a", 2),)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda kids: (
            st.lists(kids)
            | st.dictionaries(
                st.sampled_from(["data", "id", "version", "server_load", "max_model_len", "choices"]), kids
            )
        ),
    )
)
def test_no_json_breaks_the_reading(tree: object) -> None:
    body = json.dumps(tree).encode()
    for read in (version_of, load_of, models_of, has_token):
        try:
            read(body)
        except ProbeError:
            continue
