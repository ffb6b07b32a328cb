"""The pictures that are committed show what the program says today."""

import json
from pathlib import Path

import pytest

from docs.pictures.alerts import BEGIN, flood
from docs.pictures.browser import BrowserError, browser, picture
from docs.pictures.gallery import IMAGES, MANIFEST, PHONE, manifest, pages
from docs.pictures.page import Post, page
from docs.pictures.png import size
from docs.pictures.story import Story, digest
from tests.docs.samples import golden
from tests.notify.samples import NOW
from tests.slackstub.blocks import problems

README = IMAGES.parent.parent / "README.md"


def test_the_pictures_are_of_the_messages_as_they_are_now() -> None:
    drawn, told = json.loads(MANIFEST.read_text(encoding="utf-8")), json.loads(manifest(pages()))
    stale = [name for name in told if told[name] != drawn.get(name)]
    assert stale == [], "the messages look otherwise now: run `make pictures`, and look at the pictures"
    assert sorted(path.stem for path in IMAGES.glob("slack-*.png")) == sorted(drawn)


def test_every_picture_says_what_it_is() -> None:
    for _, html in pages().values():
        assert "rendered from the blocks by vllm-monitor, not a screenshot of Slack" in html


def test_every_picture_is_small_and_stands_in_the_docs() -> None:
    docs = "".join(path.read_text(encoding="utf-8") for path in [README, *IMAGES.parent.glob("*.md")])
    for path in IMAGES.glob("slack-*.png"):
        assert path.stat().st_size < 100_000, path.name
        assert f"images/{path.name}" in docs, path.name


def test_a_digest_is_a_message_that_slack_takes() -> None:
    message, thread = digest(flood(), BEGIN)
    assert [problems(post.payload) for post in (message, *thread)] == [[], []]


def test_a_story_needs_a_beginning() -> None:
    with pytest.raises(ValueError, match="nothing was heard"):
        _ = Story().root


def test_without_a_browser_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BrowserError, match="apt-get install chromium"):
        browser()


def test_a_browser_that_fails_is_no_picture(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    with pytest.raises(BrowserError, match="exit status 3"):
        picture(page(Post(golden("firing"), NOW)), PHONE, tmp_path / "a.png")
    assert not (tmp_path / "a.png").exists()


def test_a_picture_is_as_wide_as_a_phone_and_as_high_as_the_message(tmp_path: Path) -> None:
    try:
        browser()
    except BrowserError as err:
        # Nothing that is shipped takes a browser, so continuous integration installs none.
        pytest.skip(str(err))
    shot = tmp_path / "a.png"
    picture(page(Post(golden("firing"), NOW)), PHONE, shot)
    width, height = size(shot.read_bytes())
    assert width == PHONE * 3 // 2
    assert 300 < height < 1_200
