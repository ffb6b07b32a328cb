"""`vllm-monitor test-slack` against the stub: each thing that can be missing is named, and how to mend it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from monitor.cli import cli
from monitor.commands.slack_exam import BotExam, Finding, Outcome
from monitor.commands.slack_limits import burst, large
from monitor.notify.secret import Secret
from monitor.notify.slack.web_api import WebApi
from tests.slackstub.faults import Answer, Fault, Reset, SlackError, rate_limited, redirect
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import APP_TOKEN, CHANNEL, SCOPES, TOKEN

ALL = frozenset((*SCOPES, "files:write"))


@pytest.fixture
def stub() -> Iterator[SlackStub]:
    with SlackStub() as running:
        running.workspace.tokens[TOKEN] = ALL
        yield running


def run(stub: SlackStub, *arguments: str, channel: str = CHANNEL, **environment: str) -> Result:
    given = environment or {"SLACK_BOT_TOKEN": TOKEN, "SLACK_CHANNEL": channel}
    clean: dict[str, str | None] = {"SLACK_BASE_URL": stub.base_url, **given}
    done = CliRunner().invoke(cli, ["test-slack", *arguments], env=clean)
    assert TOKEN not in done.output
    assert stub.webhook_url not in done.output
    return done


def steps(done: Result) -> dict[str, str]:
    """Return the outcome of each step; of several, the worst."""
    found = re.findall(r"^  (ok|advice|left out|FAILED) +(\w+(?: \w+)?) ", done.output, re.MULTILINE)
    order = ("FAILED", "advice", "left out", "ok")
    return {step: min((one for one, name in found if name == step), key=order.index) for _, step in found}


def test_everything_works_and_nothing_is_left_behind(stub: SlackStub) -> None:
    done = run(stub)
    assert done.exit_code == 0, done.output
    assert steps(done) == dict.fromkeys(
        ("token", "scopes", "channel", "post", "look", "edit", "thread", "react", "upload", "delete"), "ok"
    )
    assert (stub.messages, stub.workspace.files) == ([], {})
    assert [request.name for request in stub.requests] == [
        *("auth.test", "conversations.info", "chat.postMessage", "conversations.history", "chat.update"),
        *("chat.postMessage", "reactions.add", "files.getUploadURLExternal", "upload", "files.completeUploadExternal"),
        *("files.delete", "chat.delete", "chat.delete"),
    ]


def test_what_is_kept_stands_in_the_channel_and_in_the_thread(stub: SlackStub) -> None:
    assert run(stub, "--keep").exit_code == 0
    root, reply = stub.messages
    assert (root.edits, reply.thread_ts) == (1, root.ts)
    (file,) = stub.workspace.files.values()
    assert (file.channel, file.thread_ts, file.content[:4]) == (CHANNEL, root.ts, b"\x89PNG")


def revoked(stub: SlackStub) -> None:
    stub.workspace.revoked.add(TOKEN)


def unknown(stub: SlackStub) -> None:
    del stub.workspace.tokens[TOKEN]


def without(scope: str) -> Callable[[SlackStub], None]:
    def change(stub: SlackStub) -> None:
        stub.workspace.tokens[TOKEN] = ALL - {scope}

    return change


def no_channel(stub: SlackStub) -> None:
    stub.workspace.channels.clear()


def archived(stub: SlackStub) -> None:
    stub.workspace.channels[CHANNEL] = replace(stub.workspace.channels[CHANNEL], archived=True)


def stranger(stub: SlackStub) -> None:
    stub.workspace.channels[CHANNEL] = replace(stub.workspace.channels[CHANNEL], member=False)


def fails(method: str, *faults: Fault) -> Callable[[SlackStub], None]:
    return lambda stub: stub.fail_next(*faults, method=method)


@pytest.mark.parametrize(
    ("change", "step", "what", "what_to_do"),
    [
        pytest.param(revoked, "token", "token_revoked", "Reinstall to Workspace", id="revoked"),
        pytest.param(unknown, "token", "invalid_auth", "this is not a token of Slack", id="unknown"),
        pytest.param(
            fails("auth.test", SlackError("not_allowed_token_type")), "token", "", "begins with xoxb-", id="app-token"
        ),
        pytest.param(fails("auth.test", rate_limited()), "token", "429", "wait a minute", id="429"),
        pytest.param(fails("auth.test", redirect("http://x")), "token", "redirect", "slack_base_url", id="redirect"),
        pytest.param(fails("auth.test", Answer(502, "<html>")), "token", "502", "stands between", id="502"),
        pytest.param(without("chat:write"), "scopes", "chat:write is missing", "reinstall the app", id="chat:write"),
        pytest.param(no_channel, "channel", "channel_not_found", "/invite", id="no channel"),
        pytest.param(archived, "channel", "is_archived", "unarchive it", id="archived"),
        pytest.param(stranger, "channel", "not_in_channel", "/invite", id="not a member"),
        pytest.param(
            fails("chat.postMessage", SlackError("restricted_action")), "post", "restricted", "its owner", id="post"
        ),
        pytest.param(fails("chat.postMessage", Reset(applied=False)), "post", "", "try again", id="reset"),
        pytest.param(
            fails("conversations.history", Answer(200, '{"ok":true,"messages":[]}')),
            "look",
            "not among the newest",
            "may appear twice",
            id="look",
        ),
        pytest.param(
            fails("chat.update", SlackError("edit_window_closed")), "edit", "", "changes are new messages", id="edit"
        ),
        pytest.param(
            fails("reactions.add", SlackError("missing_scope")),
            "react",
            "missing_scope",
            "lacks a permission",
            id="react",
        ),
        pytest.param(fails("upload", Answer(500)), "upload", "500", "try again", id="upload"),
        pytest.param(
            fails("chat.delete", SlackError("cant_delete_message")),
            "delete",
            "",
            "delete the test message",
            id="delete",
        ),
    ],
)
def test_what_fails_is_named_with_what_to_do(
    stub: SlackStub, change: Callable[[SlackStub], None], step: str, what: str, what_to_do: str
) -> None:
    change(stub)
    done = run(stub)
    assert done.exit_code == 1
    assert [name for name, outcome in steps(done).items() if outcome == "FAILED"] == [step]
    assert re.search(rf"FAILED +{step} .*{what}.*\n +→ .*{what_to_do}", done.output), done.output
    assert done.output.endswith("1 of the steps failed\n")


@pytest.mark.parametrize(
    ("scope", "step"),
    [
        ("channels:history", "look"),
        ("channels:read", "channel"),
        ("files:write", "upload"),
    ],
)
def test_a_scope_that_is_good_to_have_is_advice_and_its_step_is_left_out(
    stub: SlackStub, scope: str, step: str
) -> None:
    without(scope)(stub)
    done = run(stub)
    assert done.exit_code == 0, done.output
    assert (steps(done)["scopes"], steps(done)[step]) == ("advice", "left out")
    assert f"{scope}" in done.output
    assert stub.messages == []


def test_a_scope_that_the_daemon_does_without_is_only_tried_when_it_is_there(stub: SlackStub) -> None:
    without("reactions:write")(stub)
    assert (steps(run(stub))["scopes"], steps(run(stub))["react"]) == ("ok", "left out")


def test_a_name_in_the_place_of_an_id_works_but_is_not_advised(stub: SlackStub) -> None:
    done = run(stub, channel="#alerts")
    assert done.exit_code == 0, done.output
    assert steps(done)["channel"] == "advice"
    assert stub.messages == []


def test_a_webhook_posts_one_message(stub: SlackStub) -> None:
    done = run(stub, SLACK_WEBHOOK_URL=stub.webhook_url)
    assert done.exit_code == 0, done.output
    (message,) = stub.messages
    assert "vllm-monitor test-slack" in message.text


@pytest.mark.parametrize(
    ("url", "what_to_do"), [("/services/gone", "this webhook is gone"), ("", "look at the channel, or at the webhook")]
)
def test_a_webhook_that_does_not_work_is_named(stub: SlackStub, url: str, what_to_do: str) -> None:
    address = stub.origin + url if url else "http://127.0.0.1:1/x"
    done = run(stub, SLACK_WEBHOOK_URL=address)
    assert done.exit_code == 1
    assert "FAILED" in done.output
    assert (what_to_do if url else "Slack was not reached") in done.output


def test_every_slack_receiver_of_a_file_is_tried(stub: SlackStub, tmp_path: Path) -> None:
    (tmp_path / "monitor.yaml").write_text(
        f"""\
global: {{slack_base_url: "{stub.base_url}"}}
scrape_configs: [{{job_name: vllm, static_configs: [{{targets: ["a:1"]}}]}}]
route: {{receiver: a}}
receivers:
  - name: a
    slack_configs: [{{channel: {CHANNEL}, bot_token: {TOKEN}}}, {{channel: C0MISSING00, bot_token: {TOKEN}}}]
  - {{name: b, slack_configs: [{{api_url: "{stub.webhook_url}"}}]}}
"""
    )
    done = run(stub, "--config", str(tmp_path / "monitor.yaml"))
    assert done.exit_code == 1
    assert re.findall(r"^\w+/slack\[\d\]$", done.output, re.MULTILINE) == ["a/slack[0]", "a/slack[1]", "b/slack[0]"]
    assert "1 of the steps failed" in done.output


@pytest.mark.parametrize(("token", "code"), [(APP_TOKEN, 0), ("xapp-wrong", 1)])
def test_the_token_of_the_buttons_is_tried_too(stub: SlackStub, tmp_path: Path, token: str, code: int) -> None:
    stub.workspace.open_socket = lambda: "ws://127.0.0.1:1/"
    (tmp_path / "monitor.yaml").write_text(
        f"""global: {{slack_base_url: "{stub.base_url}"}}
scrape_configs: [{{job_name: vllm, static_configs: [{{targets: ["a:1"]}}]}}]
receivers: [{{name: a, slack_configs: [{{channel: {CHANNEL}, bot_token: {TOKEN}}}]}}]
slack: {{app_token: {token}}}
"""
    )
    done = run(stub, "--config", str(tmp_path / "monitor.yaml"))
    assert (done.exit_code, steps(done)["socket"]) == (code, "FAILED" if code else "ok")
    assert token not in done.output
    assert ("connections:write" in done.output) is bool(code)


def test_without_a_slack_receiver_there_is_nothing_to_try(stub: SlackStub) -> None:
    done = run(stub, SLACK_CHANNEL="")
    assert (done.exit_code, "there is no Slack receiver" in done.output) == (1, True)


def test_full_tries_sizes_and_a_burst_and_leaves_nothing(stub: SlackStub) -> None:
    done = run(stub, "--full")
    assert done.exit_code == 0, done.output
    assert steps(done) | dict.fromkeys(("large", "emoji", "hostile", "long edit", "burst"), "ok") == steps(done)
    assert stub.messages == []


@pytest.mark.parametrize(
    ("extra", "fault", "finding"),
    [
        (burst, rate_limited("30"), (Outcome.GOOD, "Slack asks for a pause after 0 messages at once, for 30 s")),
        (burst, Answer(500), (Outcome.BAD, "Slack failed (status 500)")),
        (large, SlackError("msg_blocks_too_long"), (Outcome.BAD, "Slack refused: msg_blocks_too_long")),
    ],
)
def test_full_says_when_slack_has_had_enough_and_which_limit_is_lower_than_thought(
    stub: SlackStub,
    extra: Callable[[BotExam], Iterator[Finding]],
    fault: Fault,
    finding: tuple[Outcome, str],
) -> None:
    exam = BotExam(WebApi(Secret(TOKEN), stub.base_url), CHANNEL, "stamp")
    stub.fail_next(fault, method="chat.postMessage")
    (found,) = extra(exam)
    assert (found.outcome, found.text) == finding
